package fn

import (
	"math"
	"strconv"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

func init() {
	Register(roundDef, truncateDef, floorDef, ceilDef)
}

var roundDef = &Def{
	Name: "ROUND", Family: familyArithmetic, Syntax: "ROUND(number [, digits])",
	Doc: "Returns the number rounded, half away from zero, to digits behind the point; 0 if they are not given. " +
		"Negative digits round before the point. A DECIMAL loses the digits behind that place where digits is a literal.",
	Examples: []Example{
		{"ROUND(1.259, 2)", "1.26 :: DECIMAL(4, 2) NOT NULL"},
		{"ROUND(-2.5)", "-3 :: DECIMAL(2, 0) NOT NULL"},
		{"ROUND(2.675e0, 2)", "2.68 :: DOUBLE NOT NULL"},
		{"ROUND(1250, -2)", "1300 :: INT NOT NULL"},
		{"ROUND(1.5, CAST(NULL AS INT))", "NULL :: DECIMAL(2, 1)"},
	},
	Bind: typed(roundBind("ROUND", true)),
}

var truncateDef = &Def{
	Name: "TRUNCATE", Family: familyArithmetic, Syntax: "TRUNCATE(number [, digits])",
	Doc: "Returns the number cut, toward zero, to digits behind the point; 0 if they are not given. " +
		"Negative digits cut before the point. A DECIMAL loses the digits behind that place where digits is a literal.",
	Examples: []Example{
		{"TRUNCATE(-1.259, 2)", "-1.25 :: DECIMAL(4, 2) NOT NULL"},
		{"TRUNCATE(1259, -2)", "1200 :: INT NOT NULL"},
		{"TRUNCATE(42.345e0, 2)", "42.34 :: DOUBLE NOT NULL"},
	},
	Bind: typed(roundBind("TRUNCATE", false)),
}

var floorDef = &Def{
	Name: "FLOOR", Family: familyArithmetic, Syntax: "FLOOR(number) or FLOOR(time TO unit)",
	Doc: "Returns the greatest whole number that is not above the number; or the beginning of the unit that a date, time or timestamp lies in. " +
		"Units are MILLENNIUM, CENTURY, DECADE, YEAR, QUARTER, MONTH, WEEK (from Sunday), DAY, HOUR, MINUTE, SECOND and MILLISECOND. " +
		"A TIMESTAMP_LTZ is seen in the session's time zone.",
	Examples: []Example{
		{"FLOOR(-1.1)", "-2 :: DECIMAL(2, 0) NOT NULL"},
		{"FLOOR(1.9e0)", "1.0 :: DOUBLE NOT NULL"},
		{"FLOOR(TIMESTAMP '2024-05-17 13:45:59.987' TO MONTH)", "2024-05-01 00:00:00.000 :: TIMESTAMP(3) NOT NULL"},
		{"FLOOR('1.5')", "error"},
	},
	Bind: typed(wholeBind(false, math.Floor)),
}

var ceilDef = &Def{
	Name: "CEIL", Aliases: []string{"CEILING"}, Family: familyArithmetic, Syntax: "CEIL(number) or CEIL(time TO unit)",
	Doc: "Returns the least whole number that is not below the number; or the next beginning of a unit, seen from a date, time or timestamp. " +
		"For the units see FLOOR.",
	Examples: []Example{
		{"CEIL(1.1)", "2 :: DECIMAL(2, 0) NOT NULL"},
		{"CEILING(-1.1e0)", "-1.0 :: DOUBLE NOT NULL"},
		{"CEIL(TIMESTAMP '2024-05-17 13:45:59.987' TO HOUR)", "2024-05-17 14:00:00.000 :: TIMESTAMP(3) NOT NULL"},
		{"CEIL(CAST(NULL AS DATE) TO YEAR)", "NULL :: DATE"},
	},
	Bind: typed(wholeBind(true, math.Ceil)),
}

// wholeBind is the Bind of FLOOR and CEIL, of numbers and of times.
func wholeBind(up bool, round func(float64) float64) func(*Call) (*Bound, error) {
	ofTime := bindFloorTime(up)
	return func(c *Call) (*Bound, error) {
		if len(c.Args) == 2 {
			return ofTime(c)
		}
		params, err := c.Check(1, NumericArg)
		if err != nil {
			return nil, err
		}
		t := c.Args[0].Type
		b := &Bound{Params: params, Result: t}
		switch {
		case t.IsInteger():
			b.Kernel = func(_ Rows, args []batch.Vector) (batch.Vector, error) { return args[0], nil }
		case t.Kind == types.Float:
			b.Kernel = Map1(t, func(x float32) float32 { return float32(round(float64(x))) })
		case t.Kind == types.Double:
			b.Kernel = Map1(t, round)
		default:
			b.Result = types.DecimalOf(int(t.Precision), 0).WithNull(t.Nullable)
			b.Kernel = wholeDecimals(b.Result, types.Pow10(int(t.Scale)), up)
		}
		return b, nil
	}
}

// wholeDecimals rounds DECIMALs down, or up.
func wholeDecimals(t types.Type, one types.Int128, up bool) Kernel {
	return mapDecimal(t, func(x types.Int128) (types.Int128, bool, error) {
		q, rest := x.QuoRem(one)
		switch s := rest.Sign(); {
		case s > 0 && up:
			q = q.Add(types.Int128FromInt64(1))
		case s < 0 && !up:
			q = q.Sub(types.Int128FromInt64(1))
		}
		return q, q.FitsPrecision(int(t.Precision)), nil
	})
}

// rounding is a call of ROUND or TRUNCATE.
type rounding struct {
	name string
	// half: to the nearest, otherwise toward zero.
	half bool
	wrap bool
	t    types.Type
	// digits is their number if constant; otherwise it is in the second
	// argument.
	digits   int
	constant bool
}

func roundBind(name string, half bool) func(*Call) (*Bound, error) {
	return func(c *Call) (*Bound, error) {
		params, err := c.Check(1, NumericArg, IntArg)
		if err != nil {
			return nil, err
		}
		r := &rounding{name: name, half: half, wrap: c.wraps(c.Args[0].Type), constant: true}
		if len(c.Args) == 2 {
			n, ok := c.ConstInt(1)
			r.digits, r.constant = int(n), ok
		}
		r.t = c.Strict(r.result(c.Args[0].Type))
		return &Bound{Params: params, Result: r.t, Kernel: r.kernel()}, nil
	}
}

// result is the type of the result for an argument type.
func (r *rounding) result(t types.Type) types.Type {
	p, s := int(t.Precision), int(t.Scale)
	switch {
	case t.Kind != types.Decimal || !r.constant || r.digits >= s:
		return t
	case r.digits < 0:
		return types.DecimalOf(min(types.MaxPrecision, 1+p-s), 0)
	}
	return types.DecimalOf(1+p-s+r.digits, r.digits)
}

// at returns the accessor of the digits.
func (r *rounding) at(args []batch.Vector) func(int) int {
	if r.constant {
		return func(int) int { return r.digits }
	}
	v := args[1].(*batch.Fixed[int32])
	return func(i int) int { return int(v.Values[i]) }
}

func (r *rounding) kernel() Kernel {
	switch r.t.Phys() {
	case types.PhysI8:
		return roundInts[int8](r, math.MinInt8, math.MaxInt8)
	case types.PhysI16:
		return roundInts[int16](r, math.MinInt16, math.MaxInt16)
	case types.PhysI32:
		return roundInts[int32](r, math.MinInt32, math.MaxInt32)
	case types.PhysF32:
		return roundFloats[float32](r)
	case types.PhysF64:
		return roundFloats[float64](r)
	}
	if r.t.Kind == types.Decimal {
		return r.decimals()
	}
	return roundInts[int64](r, math.MinInt64, math.MaxInt64)
}

func roundInts[T int8 | int16 | int32 | int64](r *rounding, lo, hi int64) Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		x, digits := args[0].(*batch.Fixed[T]), r.at(args)
		return Fixed(r.t, rows, func(i int) (T, bool, error) {
			n := digits(i)
			v, ok := roundInt(int64(x.Values[i]), n, r.half)
			if (!ok || v < lo || v > hi) && !r.wrap {
				return 0, false, overflow("%s(%d, %d)", r.name, x.Values[i], n)
			}
			return T(v), true, nil
		})
	}
}

// roundInt rounds x to a power of ten; ok is false where the result, which is
// then wrapped, needs more than 64 bits.
func roundInt(x int64, digits int, half bool) (v int64, ok bool) {
	if digits >= 0 {
		return x, true
	}
	if digits < -19 {
		return 0, true
	}
	p := types.Pow10(-digits)
	q, _ := types.Int128FromInt64(x).QuoRem(p)
	if half {
		q = types.Int128FromInt64(x).QuoRound(p)
	}
	out, _ := q.MulOK(p)
	return out.Int64(), out.IsInt64()
}

func roundFloats[T float32 | float64](r *rounding) Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		x, digits := args[0].(*batch.Fixed[T]), r.at(args)
		return Fixed(r.t, rows, func(i int) (T, bool, error) {
			return T(roundFloat(float64(x.Values[i]), digits(i), r.half)), true, nil
		})
	}
}

// roundFloat rounds the decimal number that x prints as. That number, moved by
// some digits, is off the float t by less than t * 2^-50; where that cannot
// decide, arithmetic on floats finds the same: a whole number below 2^53 divided
// by a power of ten up to 10^22 is the float nearest to the quotient.
func roundFloat(x float64, digits int, half bool) float64 {
	if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return x + 0
	}
	if digits >= 0 && digits <= 22 {
		p := math.Pow10(digits)
		if t := math.Abs(x) * p; t < 1<<52 {
			whole := math.Floor(t)
			frac := t - whole
			near := min(frac, 1-frac)
			if half {
				whole, near = math.Floor(t+0.5), math.Abs(frac-0.5)
			}
			if near > t*0x1p-50 {
				return math.Copysign(whole, x)/p + 0
			}
		}
	}
	return roundDigits(x, digits, half)
}

// roundDigits rounds x by its shortest digits.
func roundDigits(x float64, digits int, half bool) float64 {
	d, exp := shortestDigits(math.Abs(x))
	n := exp + digits
	if n >= len(d) {
		return x
	}
	carry := false
	switch {
	case n < 0:
		return 0
	case half:
		d, carry = rounded(d, n)
	default:
		d = d[:n]
	}
	if carry {
		exp++
	}
	if len(d) == 0 {
		return 0
	}
	v, _ := strconv.ParseFloat("0."+string(d)+"e"+strconv.Itoa(exp), 64)
	return math.Copysign(v, x) + 0
}

// decimals rounds DECIMALs: away go the digits of the argument's scale, and
// those of the result's are filled up with zeros.
func (r *rounding) decimals() Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		digits, from, to := r.at(args), int(args[0].Type().Scale), int(r.t.Scale)
		precision := int(r.t.Precision)
		return decimalRows(r.t, rows, args[0], func(x types.Int128, i int) (types.Int128, bool, error) {
			n := digits(i)
			if n >= from {
				out, ok := x.Rescale(from, to)
				return out, ok && out.FitsPrecision(precision), nil
			}
			if from-n > types.MaxPrecision {
				return types.Int128{}, true, nil
			}
			p := types.Pow10(from - n)
			q, _ := x.QuoRem(p)
			if r.half {
				q = x.QuoRound(p)
			}
			if q == (types.Int128{}) {
				return q, true, nil
			}
			out, ok := q.MulOK(types.Pow10(to - n))
			return out, ok && out.FitsPrecision(precision), nil
		})
	}
}
