package fn

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

func bindAdd(c *Call) (*Bound, error) {
	if b, err := c.bindTime(1); b != nil || err != nil {
		return b, err
	}
	return c.bindNumbers(sumType, addKernel)
}

func bindSub(c *Call) (*Bound, error) {
	if b, err := c.bindTime(-1); b != nil || err != nil {
		return b, err
	}
	return c.bindNumbers(sumType, subKernel)
}

func bindMul(c *Call) (*Bound, error) {
	if err := c.operands(); err != nil {
		return nil, err
	}
	a, b := c.Args[0].Type, c.Args[1].Type
	switch {
	case a.IsInterval() && b.IsInteger():
		return c.bindScale(a, 0), nil
	case a.IsInteger() && b.IsInterval():
		return c.bindScale(b, 1), nil
	}
	return c.bindNumbers(productType, mulKernel)
}

func bindDiv(c *Call) (*Bound, error) { return c.bindNumbers(quotientType, divKernel) }

// bindRem: the remainder has the type of the divisor, unless one of them has a
// scale.
func bindRem(c *Call) (*Bound, error) {
	if err := c.operands(); err != nil {
		return nil, err
	}
	for i, a := range c.Args {
		if !a.Type.IsExact() {
			return nil, c.Misfit(i, "an integer or a DECIMAL")
		}
	}
	a, b := c.Args[0].Type, c.Args[1].Type
	if a.IsInteger() && b.IsInteger() {
		t := c.Strict(types.Of(b.Kind))
		return &Bound{Result: t, Kernel: remIntKernel(types.Of(max(a.Kind, b.Kind)), t)}, nil
	}
	t := b.Plain()
	if a.Scale > 0 || b.Scale > 0 {
		t = remainderType(a, b)
	}
	t = c.Strict(t)
	k := decimalKernel(decRem, asDecimal(a), asDecimal(b), asDecimal(t).WithNull(t.Nullable))
	if !t.IsInteger() {
		return &Bound{Result: t, Kernel: k}, nil
	}
	return &Bound{Result: t, Kernel: func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		v, err := k(rows, args)
		if err != nil {
			return nil, err
		}
		return narrowDecimals(v, t), nil
	}}, nil
}

func bindNegate(c *Call) (*Bound, error) {
	if err := c.Arity(1, 1); err != nil {
		return nil, err
	}
	if err := c.noBareNull(); err != nil {
		return nil, err
	}
	t := c.Args[0].Type.Plain()
	if !t.IsNumeric() && !t.IsInterval() {
		return nil, c.Misfit(0, "a number or an interval")
	}
	return &Bound{Result: t, Kernel: negKernel(t, c.wraps(t))}, nil
}

// operands checks that there are two operands with types.
func (c *Call) operands() error {
	if err := c.Arity(2, 2); err != nil {
		return err
	}
	return c.noBareNull()
}

// wraps reports whether arithmetic of a type wraps around where it overflows.
func (c *Call) wraps(t types.Type) bool { return c.Env != nil && c.Env.WrapIntegers && !t.IsInterval() }

// bindNumbers binds an arithmetic operator over two numbers. Integers and floats
// are computed in the type of the result.
func (c *Call) bindNumbers(decimal func(a, b types.Type) types.Type, kernel func(t types.Type, wrap bool) Kernel) (*Bound, error) {
	if err := c.operands(); err != nil {
		return nil, err
	}
	a, b := c.Args[0].Type, c.Args[1].Type
	if !a.IsNumeric() || !b.IsNumeric() {
		return nil, c.mismatch()
	}
	if a.IsExact() && b.IsExact() && !(a.IsInteger() && b.IsInteger()) {
		return c.bindDecimals(decimal(a, b)), nil
	}
	t := commonNumber(a, b)
	return &Bound{
		Params: []types.Type{t, t},
		Result: c.Strict(t),
		Kernel: kernel(c.Strict(t), c.wraps(t)),
	}, nil
}

// bindDecimals binds an operator over two exact numbers; integers are read as
// decimals without a cast.
func (c *Call) bindDecimals(t types.Type) *Bound {
	t = c.Strict(t)
	pa, pb := asDecimal(c.Args[0].Type), asDecimal(c.Args[1].Type)
	op := map[string]decimalOp{"+": decAdd, "-": decSub, "*": decMul, "/": decDiv}[c.Def.Name]
	return &Bound{Result: t, Kernel: decimalKernel(op, pa, pb, t)}
}

// asDecimal returns the DECIMAL type that holds an exact number.
func asDecimal(t types.Type) types.Type {
	p, s := DecimalOf(t)
	return types.DecimalOf(p, s)
}

// The types of decimal results are those of SQL Server, which Flink follows: a
// type of more than 38 digits gives up digits of its fraction, but keeps six of
// them.

func sumType(a, b types.Type) types.Type {
	pa, sa := DecimalOf(a)
	pb, sb := DecimalOf(b)
	scale := max(sa, sb)
	return adjusted(max(pa-sa, pb-sb)+scale+1, scale)
}

func productType(a, b types.Type) types.Type {
	pa, sa := DecimalOf(a)
	pb, sb := DecimalOf(b)
	return adjusted(pa+pb+1, sa+sb)
}

func quotientType(a, b types.Type) types.Type {
	pa, sa := DecimalOf(a)
	pb, sb := DecimalOf(b)
	scale := max(6, sa+pb+1)
	return adjusted(pa-sa+sb+scale, scale)
}

func remainderType(a, b types.Type) types.Type {
	pa, sa := DecimalOf(a)
	pb, sb := DecimalOf(b)
	scale := max(sa, sb)
	return adjusted(min(pa-sa, pb-sb)+scale, scale)
}

func adjusted(precision, scale int) types.Type {
	if precision <= types.MaxPrecision {
		return types.DecimalOf(precision, scale)
	}
	whole := precision - scale
	return types.DecimalOf(types.MaxPrecision, max(types.MaxPrecision-whole, min(scale, 6)))
}
