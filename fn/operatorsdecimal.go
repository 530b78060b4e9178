package fn

import (
	"math/big"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

type decimalOp uint8

const (
	decAdd decimalOp = iota
	decSub
	decMul
	decDiv
	decRem
)

var decimalNames = [...]string{decAdd: "+", decSub: "-", decMul: "*", decDiv: "/", decRem: "%"}

// decimalPlan is an operator over decimals of certain scales. Operands are
// brought to a common scale by the factors fa and fb, and the result from the
// scale at which it comes out to that of its type.
type decimalPlan struct {
	op            decimalOp
	a, b, t       types.Type
	fa, fb        types.Int128
	common, scale int
	// exact: a result always fits, so nothing has to be checked.
	exact bool
}

// decimalKernel returns the code of an operator over DECIMALs of types a and b.
// A result that does not fit is NULL where the type allows it, as in Flink, and
// an error of the row otherwise.
func decimalKernel(op decimalOp, a, b, t types.Type) Kernel {
	p := &decimalPlan{op: op, a: a, b: b, t: t, scale: int(t.Scale), common: int(max(a.Scale, b.Scale))}
	p.fa = types.Pow10(p.common - int(a.Scale))
	p.fb = types.Pow10(p.common - int(b.Scale))
	switch op {
	case decAdd, decSub:
		whole := max(int(a.Precision)-int(a.Scale), int(b.Precision)-int(b.Scale))
		p.exact = whole+p.common+1 <= types.MaxPrecision
	case decMul:
		p.exact = int(a.Precision)+int(b.Precision) < types.MaxPrecision
	}
	if p.exact && op != decMul && t.Phys() == types.PhysI64 {
		return p.smallSum
	}
	if p.exact {
		return p.wideExact
	}
	return p.checked
}

// decimals reads a column of decimals of either width, or of integers.
type decimals struct {
	small []int64
	wide  []types.Int128
}

func decimalsOf(v batch.Vector) decimals {
	switch f := v.(type) {
	case *batch.Fixed[int64]:
		return decimals{small: f.Values}
	case *batch.Fixed[int32]:
		return decimals{small: widened(f.Values)}
	case *batch.Fixed[int16]:
		return decimals{small: widened(f.Values)}
	case *batch.Fixed[int8]:
		return decimals{small: widened(f.Values)}
	}
	return decimals{wide: v.(*batch.Fixed[types.Int128]).Values}
}

func widened[T integer](in []T) []int64 {
	out := make([]int64, len(in))
	convert(out, in)
	return out
}

func (d *decimals) at(i int) types.Int128 {
	if d.small != nil {
		return types.Int128FromInt64(d.small[i])
	}
	return d.wide[i]
}

// narrowDecimals converts decimals without a fraction to an integer type in
// which they fit.
func narrowDecimals(v batch.Vector, t types.Type) batch.Vector {
	d := decimalsOf(v)
	wide := batch.MakeFixed[int64](types.Of(types.BigInt), v.Len())
	for i := range wide.Values {
		wide.Values[i] = d.at(i).Int64()
	}
	return WithValid(intsAs(wide, t), v.Validity())
}

// smallSum adds or subtracts where operands and result have 18 digits at most.
func (p *decimalPlan) smallSum(rows Rows, args []batch.Vector) (batch.Vector, error) {
	a, b := decimalsOf(args[0]).small, decimalsOf(args[1]).small
	out := batch.MakeFixed[int64](p.t, rows.N)
	fa, fb := p.fa.Int64(), p.fb.Int64()
	if p.op == decSub {
		fb = -fb
	}
	if rows.Sel == nil {
		a, b := a[:len(out.Values)], b[:len(out.Values)]
		for i := range out.Values {
			out.Values[i] = a[i]*fa + b[i]*fb
		}
	}
	for _, i := range rows.Sel {
		out.Values[i] = a[i]*fa + b[i]*fb
	}
	return out, nil
}

// wideExact adds, subtracts or multiplies where the result always fits.
func (p *decimalPlan) wideExact(rows Rows, args []batch.Vector) (batch.Vector, error) {
	a, b := decimalsOf(args[0]), decimalsOf(args[1])
	out := newDecimals(p.t, rows.N)
	if p.op == decMul {
		mulExact(out, &a, &b, rows)
		return out.vector(), nil
	}
	fb := p.fb
	if p.op == decSub {
		fb = fb.Neg()
	}
	for k, n := 0, rows.Len(); k < n; k++ {
		i := rows.At(k)
		out.put(i, a.at(i).Mul(p.fa).Add(b.at(i).Mul(fb)))
	}
	return out.vector(), nil
}

func mulExact(out *decimalOut, a, b *decimals, rows Rows) {
	switch n := rows.Len(); {
	case a.small != nil && b.small != nil && out.wide != nil:
		for k := range n {
			i := rows.At(k)
			out.wide.Values[i] = types.MulInt64(a.small[i], b.small[i])
		}
	case a.wide != nil && b.small != nil:
		for k := range n {
			i := rows.At(k)
			out.wide.Values[i] = a.wide[i].Mul(types.Int128FromInt64(b.small[i]))
		}
	default:
		for k := range n {
			i := rows.At(k)
			out.put(i, a.at(i).Mul(b.at(i)))
		}
	}
}

// checked is the general case.
func (p *decimalPlan) checked(rows Rows, args []batch.Vector) (batch.Vector, error) {
	a, b := decimalsOf(args[0]), decimalsOf(args[1])
	out := newDecimals(p.t, rows.N)
	var valid batch.Bitmap
	for k, n := 0, rows.Len(); k < n; k++ {
		i := rows.At(k)
		x, y := a.at(i), b.at(i)
		if p.op >= decDiv && y.Sign() == 0 {
			return nil, Failf(i, "division of %s by zero; guard it, as in NULLIF(divisor, 0)", decimalText(x, p.a))
		}
		v, ok := p.compute(x, y)
		switch {
		case ok && v.FitsPrecision(int(p.t.Precision)):
			out.put(i, v)
		case p.t.Nullable:
			valid = MarkNull(valid, rows.N, i)
		default:
			return nil, Failf(i, "%s %s %s is out of the range of %s", decimalText(x, p.a), decimalNames[p.op],
				decimalText(y, p.b), p.t.WithNull(true))
		}
	}
	return out.withNulls(valid), nil
}

func decimalText(x types.Int128, t types.Type) string {
	return string(x.AppendDecimal(nil, int(t.Scale)))
}

// compute returns the result at the scale of its type, rounded half away from
// zero. ok is false if it does not fit in 128 bits.
func (p *decimalPlan) compute(x, y types.Int128) (v types.Int128, ok bool) {
	switch p.op {
	case decMul:
		drop := int(p.a.Scale) + int(p.b.Scale) - p.scale
		if drop == 0 {
			return x.MulOK(y)
		}
		if drop <= types.MaxPrecision {
			return types.MulQuoRound(x, y, types.Pow10(drop))
		}
	case decDiv:
		switch shift := p.scale - int(p.a.Scale) + int(p.b.Scale); {
		case shift >= 0 && shift <= types.MaxPrecision:
			return types.MulQuoRound(x, types.Pow10(shift), y)
		case shift < 0 && -shift <= types.MaxPrecision:
			if d, ok := y.MulOK(types.Pow10(-shift)); ok {
				return x.QuoRound(d), true
			}
		}
	default:
		u, ok1 := x.MulOK(p.fa)
		w, ok2 := y.MulOK(p.fb)
		if ok1 && ok2 {
			if v, ok = p.sum(u, w); ok {
				return v.Rescale(p.common, p.scale)
			}
		}
	}
	return p.computeBig(x, y)
}

// sum computes + - and % of operands at the common scale.
func (p *decimalPlan) sum(u, w types.Int128) (v types.Int128, ok bool) {
	switch p.op {
	case decAdd:
		return u.AddOK(w)
	case decSub:
		return u.SubOK(w)
	}
	_, v = u.QuoRem(w)
	return v, true
}

// computeBig is compute for what does not fit in 128 bits on the way.
func (p *decimalPlan) computeBig(x, y types.Int128) (v types.Int128, ok bool) {
	u, w := bigOf(x), bigOf(y)
	scale := p.common
	switch p.op {
	case decMul:
		u.Mul(u, w)
		scale = int(p.a.Scale) + int(p.b.Scale)
	case decDiv:
		// Two more digits than the result has, and one for what is behind them.
		shift := p.scale + 2 - int(p.a.Scale) + int(p.b.Scale)
		if shift >= 0 {
			u.Mul(u, bigPow10(shift))
		} else {
			w.Mul(w, bigPow10(-shift))
		}
		var rem big.Int
		u.QuoRem(u, w, &rem)
		u.Mul(u, big.NewInt(10))
		u.Add(u, big.NewInt(int64(rem.Sign()*w.Sign())))
		scale = p.scale + 3
	default:
		u.Mul(u, bigOf(p.fa))
		w.Mul(w, bigOf(p.fb))
		switch p.op {
		case decAdd:
			u.Add(u, w)
		case decSub:
			u.Sub(u, w)
		default:
			u.Rem(u, w)
		}
	}
	return bigRound(u, scale-p.scale)
}

// bigRound drops digits, rounding half away from zero.
func bigRound(u *big.Int, drop int) (v types.Int128, ok bool) {
	if drop > 0 {
		half := bigPow10(drop)
		half.Rsh(half, 1)
		if u.Sign() < 0 {
			half.Neg(half)
		}
		u.Add(u, half)
		u.Quo(u, bigPow10(drop))
	}
	return types.ParseInt128([]byte(u.String()))
}

func bigOf(x types.Int128) *big.Int {
	u := new(big.Int).Lsh(big.NewInt(x.Hi), 64)
	return u.Add(u, new(big.Int).SetUint64(x.Lo))
}

func bigPow10(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// newDecimals makes a result of either width.
func newDecimals(t types.Type, n int) *decimalOut {
	if t.Phys() == types.PhysI64 {
		f := batch.MakeFixed[int64](t, n)
		return &decimalOut{small: f}
	}
	return &decimalOut{wide: batch.MakeFixed[types.Int128](t, n)}
}

// decimalOut is a result of either width.
type decimalOut struct {
	small *batch.Fixed[int64]
	wide  *batch.Fixed[types.Int128]
}

func (d *decimalOut) put(i int, v types.Int128) {
	if d.small != nil {
		d.small.Values[i] = v.Int64()
		return
	}
	d.wide.Values[i] = v
}

func (d *decimalOut) vector() batch.Vector { return d.withNulls(nil) }

func (d *decimalOut) withNulls(valid batch.Bitmap) batch.Vector {
	if d.small != nil {
		d.small.Valid = valid
		return d.small
	}
	d.wide.Valid = valid
	return d.wide
}
