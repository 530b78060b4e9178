package fn

import (
	"bytes"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

// comparison is one of the six comparison operators.
type comparison uint8

const (
	opEq comparison = iota
	opNe
	opLt
	opLe
	opGt
	opGe
)

// holds reports whether the operator is true for operands that compare as cmp.
func (op comparison) holds(cmp int) bool {
	switch op {
	case opEq:
		return cmp == 0
	case opNe:
		return cmp != 0
	case opLt:
		return cmp < 0
	case opLe:
		return cmp <= 0
	case opGt:
		return cmp > 0
	}
	return cmp >= 0
}

func bindCompare(op comparison) func(*Call) (*Bound, error) {
	return func(c *Call) (*Bound, error) {
		if err := c.Arity(2, 2); err != nil {
			return nil, err
		}
		t := c.Strict(types.Of(types.Boolean))
		a, b := c.Args[0].Type.Plain(), c.Args[1].Type.Plain()
		if op <= opNe && textWithBool(a, b) {
			return &Bound{Result: t, Kernel: equalTextBool(op, t)}, nil
		}
		comparedAs := comparable
		if op > opNe {
			comparedAs = inOrder
		}
		pa, pb, ok := comparedAs(a, b)
		if !ok || pa.IsNested() && op > opNe {
			return nil, c.mismatch()
		}
		if pa.Kind == types.Null { // NULL = NULL
			return &Bound{Result: t, Kernel: identity(t)}, nil
		}
		return &Bound{Params: []types.Type{pa, pb}, Result: t, Kernel: c.compareKernel(op, pa, pb, t)}, nil
	}
}

func textWithBool(a, b types.Type) bool {
	return a.IsChar() && b.Kind == types.Boolean || b.IsChar() && a.Kind == types.Boolean
}

// comparable returns the types in which values of two types are compared. They
// are the same, except that decimals may differ in scale. Texts are compared
// with dates and times as values of those types, but not with numbers.
func comparable(a, b types.Type) (pa, pb types.Type, ok bool) {
	same := func(t types.Type, ok bool) (types.Type, types.Type, bool) { return t, t, ok }
	switch {
	case a.Kind == types.Null:
		return same(b, true)
	case b.Kind == types.Null:
		return same(a, true)
	case a.IsNumeric() && b.IsNumeric():
		return comparableNumbers(a, b)
	case a.IsChar() && b.IsDatetime():
		return same(b, true)
	case b.IsChar() && a.IsDatetime():
		return same(a, true)
	case a.IsTimestamp() && b.IsTimestamp() && a.Kind != b.Kind:
		return same(types.TimeOf(types.TimestampLTZ, int(max(a.Precision, b.Precision))), true)
	case a.IsChar() && b.IsChar(), a.IsBinary() && b.IsBinary():
		return a, b, true // bytes are bytes
	}
	return same(common(a, b, false))
}

// inOrder returns the types in which values are compared by <, <=, > and >=.
// Other than for equality, a text may stand for a BOOLEAN, and for a number: it
// is read as if it were a BIGINT, in the common type of both.
func inOrder(a, b types.Type) (pa, pb types.Type, ok bool) {
	if a.IsChar() != b.IsChar() {
		other := a
		if a.IsChar() {
			other = b
		}
		switch {
		case other.Kind == types.Boolean:
			return other, other, true
		case other.IsNumeric():
			t := commonNumber(types.Of(types.BigInt), other)
			return t, t, true
		}
	}
	return distinguishable(a, b)
}

// distinguishable is comparable for IS DISTINCT FROM: a FLOAT and a DOUBLE are
// compared as DOUBLEs.
func distinguishable(a, b types.Type) (pa, pb types.Type, ok bool) {
	if a.IsApprox() && b.IsApprox() {
		t := types.Of(max(a.Kind, b.Kind))
		return t, t, true
	}
	return comparable(a, b)
}

// comparableNumbers: a FLOAT is compared with an integer as a FLOAT, with a
// DOUBLE as what the left operand is, and with a DECIMAL as a DOUBLE. Decimals
// and integers are compared as they are.
func comparableNumbers(a, b types.Type) (pa, pb types.Type, ok bool) {
	t := commonNumber(a, b)
	if t.Kind == types.Decimal {
		return a, b, true
	}
	return t, t, true
}

func (c *Call) compareKernel(op comparison, a, b, t types.Type) Kernel {
	if a.Kind == types.Decimal && !a.Same(b) || b.Kind == types.Decimal && !a.Same(b) {
		return compareDecimals(op, asDecimal(a), asDecimal(b), t)
	}
	switch a.Phys() {
	case types.PhysBool:
		return compareWith(op, t, func(x, y bool) int { return boolInt(x) - boolInt(y) })
	case types.PhysI8:
		return compareOrdered[int8](op, t)
	case types.PhysI16:
		return compareOrdered[int16](op, t)
	case types.PhysI32:
		return compareOrdered[int32](op, t)
	case types.PhysI64:
		return compareOrdered[int64](op, t)
	case types.PhysF32:
		return compareOrdered[float32](op, t)
	case types.PhysF64:
		return compareOrdered[float64](op, t)
	case types.PhysI128:
		return compareWith(op, t, types.Int128.Compare)
	case types.PhysTS:
		return compareWith(op, t, types.TS.Compare)
	case types.PhysBytes:
		return compareBytes(op, t, c.Args[1].Const)
	}
	return equalNested(op, t)
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// compareDecimals compares decimals of different types, and decimals with
// integers, at their larger scale.
func compareDecimals(op comparison, a, b, t types.Type) Kernel {
	scale := max(a.Scale, b.Scale)
	fa, fb := types.Pow10(int(scale-a.Scale)), types.Pow10(int(scale-b.Scale))
	whole := max(a.Precision-a.Scale, b.Precision-b.Scale)
	fits := int(whole+scale) <= types.MaxPrecision
	small := whole+scale <= 18
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		x, y := decimalsOf(args[0]), decimalsOf(args[1])
		out := batch.MakeFixed[bool](t, rows.N)
		for k, n := 0, rows.Len(); k < n; k++ {
			i := rows.At(k)
			var cmp int
			switch {
			case small:
				cmp = compareInts(x.small[i]*fa.Int64(), y.small[i]*fb.Int64())
			case fits:
				cmp = x.at(i).Mul(fa).Compare(y.at(i).Mul(fb))
			default:
				cmp = compareScaled(x.at(i), y.at(i), fa, fb)
			}
			out.Values[i] = op.holds(cmp)
		}
		return out, nil
	}
}

func compareInts(x, y int64) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// compareScaled compares x*fx with y*fy, one of the factors being 1.
func compareScaled(x, y, fx, fy types.Int128) int {
	u, ok := x.MulOK(fx)
	if !ok {
		return x.Sign()
	}
	w, ok := y.MulOK(fy)
	if !ok {
		return -y.Sign()
	}
	return u.Compare(w)
}

type ordered interface {
	int8 | int16 | int32 | int64 | float32 | float64
}

// compareOrdered compares numbers that Go can compare; NaN is equal to nothing.
// It also computes the rows that do not count, where most rows do.
func compareOrdered[T ordered](op comparison, t types.Type) Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		a, b := args[0].(*batch.Fixed[T]).Values[:rows.N], args[1].(*batch.Fixed[T]).Values[:rows.N]
		op := op
		if op == opGt || op == opGe { // a > b is b < a
			a, b = b, a
			op -= opGt - opLt
		}
		out := batch.MakeFixed[bool](t, rows.N)
		if rows.Sel != nil && len(rows.Sel) < rows.N/2 {
			compareSome(op, out.Values, a, b, rows.Sel)
		} else {
			compareAll(op, out.Values, a, b)
		}
		return out, nil
	}
}

func compareAll[T ordered](op comparison, out []bool, a, b []T) {
	a, b = a[:len(out)], b[:len(out)]
	switch op {
	case opEq:
		for i := range out {
			out[i] = a[i] == b[i]
		}
	case opNe:
		for i := range out {
			out[i] = a[i] != b[i]
		}
	case opLt:
		for i := range out {
			out[i] = a[i] < b[i]
		}
	default:
		for i := range out {
			out[i] = a[i] <= b[i]
		}
	}
}

func compareSome[T ordered](op comparison, out []bool, a, b []T, sel []int32) {
	switch op {
	case opEq:
		for _, i := range sel {
			out[i] = a[i] == b[i]
		}
	case opNe:
		for _, i := range sel {
			out[i] = a[i] != b[i]
		}
	case opLt:
		for _, i := range sel {
			out[i] = a[i] < b[i]
		}
	default:
		for _, i := range sel {
			out[i] = a[i] <= b[i]
		}
	}
}

// compareWith compares values that have a function for it.
func compareWith[T batch.Value](op comparison, t types.Type, compare func(x, y T) int) Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		a, b := args[0].(*batch.Fixed[T]).Values, args[1].(*batch.Fixed[T]).Values
		out := batch.MakeFixed[bool](t, rows.N)
		for k, n := 0, rows.Len(); k < n; k++ {
			i := rows.At(k)
			out.Values[i] = op.holds(compare(a[i], b[i]))
		}
		return out, nil
	}
}

// equalTextBool compares a text with a BOOLEAN, in either order. A text that is
// no boolean equals none.
func equalTextBool(op comparison, t types.Type) Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		texts, isText := args[0].(*batch.Bytes)
		bools := args[1]
		if !isText {
			texts, bools = args[1].(*batch.Bytes), args[0]
		}
		values := bools.(*batch.Fixed[bool]).Values
		return Fixed(t, rows, func(i int) (bool, bool, error) {
			v, ok := text.ParseBool(texts.At(i))
			return (ok && v == values[i]) == (op == opEq), true, nil
		})
	}
}

// compareBytes compares texts, by their bytes, or binary strings.
func compareBytes(op comparison, t types.Type, constant batch.Vector) Kernel {
	if c, ok := constant.(*batch.Bytes); ok && c.Valid == nil && op <= opNe {
		return equalBytes(op, t, c.At(0))
	}
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		a, b := args[0].(*batch.Bytes), args[1].(*batch.Bytes)
		out := batch.MakeFixed[bool](t, rows.N)
		for k, n := 0, rows.Len(); k < n; k++ {
			i := rows.At(k)
			if op <= opNe {
				out.Values[i] = bytes.Equal(a.At(i), b.At(i)) == (op == opEq)
			} else {
				out.Values[i] = op.holds(bytes.Compare(a.At(i), b.At(i)))
			}
		}
		return out, nil
	}
}

// equalBytes compares with a constant.
func equalBytes(op comparison, t types.Type, c []byte) Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		a := args[0].(*batch.Bytes)
		out := batch.MakeFixed[bool](t, rows.N)
		for k, n := 0, rows.Len(); k < n; k++ {
			i := rows.At(k)
			lo, hi := a.Offsets[i], a.Offsets[i+1]
			same := int(hi-lo) == len(c) && string(a.Data[lo:hi]) == string(c)
			out.Values[i] = same == (op == opEq)
		}
		return out, nil
	}
}

// bindDistinct binds IS [NOT] DISTINCT FROM: like <> and =, but a null equals a
// null.
func bindDistinct(distinct bool) func(*Call) (*Bound, error) {
	return func(c *Call) (*Bound, error) {
		if err := c.Arity(2, 2); err != nil {
			return nil, err
		}
		t := types.Of(types.Boolean).NotNull()
		a, b := c.Args[0].Type.Plain(), c.Args[1].Type.Plain()
		if textWithBool(a, b) {
			return &Bound{Result: t, Kernel: distinctKernel(equalTextBool(opEq, t), t, distinct)}, nil
		}
		pa, pb, ok := distinguishable(a, b)
		if !ok {
			return nil, c.mismatch()
		}
		var equal Kernel
		if pa.Kind != types.Null {
			equal = c.compareKernel(opEq, pa, pb, t)
		}
		return &Bound{Params: []types.Type{pa, pb}, Result: t, Kernel: distinctKernel(equal, t, distinct)}, nil
	}
}

// distinctKernel compares the rows where neither side is null, and settles the
// others.
func distinctKernel(equal Kernel, t types.Type, distinct bool) Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		va, vb := args[0].Validity(), args[1].Validity()
		if equal == nil {
			va = nil
		} else if va == nil && vb == nil {
			v, err := equal(rows, args)
			if err != nil || !distinct {
				return v, err
			}
			return notKernel(t)(rows, []batch.Vector{v})
		}
		out := batch.MakeFixed[bool](t, rows.N)
		var both []int32
		for k, n := 0, rows.Len(); k < n; k++ {
			i := rows.At(k)
			if equal != nil && va.Get(i) && vb.Get(i) {
				both = append(both, int32(i))
			} else {
				out.Values[i] = (equal == nil || va.Get(i) == vb.Get(i)) != distinct
			}
		}
		if len(both) == 0 {
			return out, nil
		}
		v, err := equal(Rows{N: rows.N, Sel: both}, args)
		if err != nil {
			return nil, err
		}
		same := v.(*batch.Fixed[bool]).Values
		for _, i := range both {
			out.Values[i] = same[i] != distinct
		}
		return out, nil
	}
}
