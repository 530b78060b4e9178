package cast

import (
	"math"
	"strconv"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

type integer interface{ int8 | int16 | int32 | int64 }

type float interface{ float32 | float64 }

// fromNumber converts numbers and booleans to numbers and booleans.
func (c *conversion) fromNumber() fn.Kernel {
	if !c.to.IsNumeric() && c.to.Kind != types.Boolean {
		return nil
	}
	switch c.from.Kind {
	case types.Boolean:
		return c.fromBool()
	case types.TinyInt:
		return fromInts[int8](c)
	case types.SmallInt:
		return fromInts[int16](c)
	case types.Int:
		return fromInts[int32](c)
	case types.BigInt:
		return fromInts[int64](c)
	case types.Float:
		return fromFloats[float32](c)
	case types.Double:
		return fromFloats[float64](c)
	}
	return c.fromDecimal()
}

// every converts all values, also of rows that do not count, with a loop that
// cannot fail.
func every[F, T batch.Value](to types.Type, loop func(out []T, in []F)) fn.Kernel {
	return func(rows fn.Rows, args []batch.Vector) (batch.Vector, error) {
		out := batch.MakeFixed[T](to, rows.N)
		loop(out.Values, args[0].(*batch.Fixed[F]).Values[:rows.N])
		return out, nil
	}
}

func (c *conversion) fromBool() fn.Kernel {
	switch c.to.Kind {
	case types.TinyInt:
		return every(c.to, boolTo[int8])
	case types.SmallInt:
		return every(c.to, boolTo[int16])
	case types.Int:
		return every(c.to, boolTo[int32])
	case types.BigInt:
		return every(c.to, boolTo[int64])
	case types.Float:
		return every(c.to, boolTo[float32])
	case types.Double:
		return every(c.to, boolTo[float64])
	case types.Decimal:
		return c.toDecimal(func(args []batch.Vector) func(i int) (types.Int128, int, bool) {
			in := args[0].(*batch.Fixed[bool]).Values
			return func(i int) (types.Int128, int, bool) {
				if in[i] {
					return types.Int128{Lo: 1}, 0, true
				}
				return types.Int128{}, 0, true
			}
		})
	}
	return nil
}

func boolTo[T integer | float](out []T, in []bool) {
	for i, b := range in {
		out[i] = 0
		if b {
			out[i] = 1
		}
	}
}

func isNotZero[F integer | float](out []bool, in []F) {
	for i, x := range in {
		out[i] = x != 0
	}
}

func widen[F, T integer | float](out []T, in []F) {
	for i, x := range in {
		out[i] = T(x)
	}
}

func fromInts[F integer](c *conversion) fn.Kernel {
	switch c.to.Kind {
	case types.Boolean:
		return every(c.to, isNotZero[F])
	case types.TinyInt:
		return intsTo[F, int8](c)
	case types.SmallInt:
		return intsTo[F, int16](c)
	case types.Int:
		return intsTo[F, int32](c)
	case types.BigInt:
		return intsTo[F, int64](c)
	case types.Float:
		return every(c.to, widen[F, float32])
	case types.Double:
		return every(c.to, widen[F, float64])
	}
	if p, _ := fn.DecimalOf(c.from); p+int(c.to.Scale) <= int(c.to.Precision) {
		return scaledInts[F](c.to)
	}
	return c.toDecimal(func(args []batch.Vector) func(i int) (types.Int128, int, bool) {
		in := args[0].(*batch.Fixed[F]).Values
		return func(i int) (types.Int128, int, bool) { return types.Int128FromInt64(int64(in[i])), 0, true }
	})
}

// scaledInts converts integers to a DECIMAL that holds them all.
func scaledInts[F integer](to types.Type) fn.Kernel {
	unit := types.Pow10(int(to.Scale))
	if to.Phys() == types.PhysI64 {
		return every(to, func(out []int64, in []F) {
			for i, x := range in {
				out[i] = int64(x) * unit.Int64()
			}
		})
	}
	return every(to, func(out []types.Int128, in []F) {
		for i, x := range in {
			out[i] = types.Int128FromInt64(int64(x)).Mul(unit)
		}
	})
}

// intsTo widens or narrows integers.
func intsTo[F, T integer](c *conversion) fn.Kernel {
	if c.to.Kind > c.from.Kind || c.wrap {
		return every(c.to, widen[F, T])
	}
	return func(rows fn.Rows, args []batch.Vector) (batch.Vector, error) {
		in := args[0].(*batch.Fixed[F]).Values
		return convert(c, rows, func(o *outcome, i int, to *T) bool {
			*to = T(in[i])
			return F(*to) == in[i] || o.outOfRange(i, strconv.FormatInt(int64(in[i]), 10))
		})
	}
}

// outOfRange notes that a number is too large for an integer type.
func (o *outcome) outOfRange(pos int, value string) bool {
	return o.fail(pos, "%s is out of the range of %s; cast to a wider type, or use TRY_CAST to get NULL", value, o.to.Kind)
}

func fromFloats[F float](c *conversion) fn.Kernel {
	switch c.to.Kind {
	case types.Boolean:
		return every(c.to, isNotZero[F])
	case types.TinyInt:
		return floatsTo[F, int8](c, math.MinInt8, math.MaxInt8)
	case types.SmallInt:
		return floatsTo[F, int16](c, math.MinInt16, math.MaxInt16)
	case types.Int:
		return floatsTo[F, int32](c, math.MinInt32, math.MaxInt32)
	case types.BigInt:
		return floatsTo[F, int64](c, math.MinInt64, math.MaxInt64)
	case types.Float:
		return every(c.to, widen[F, float32])
	case types.Double:
		return every(c.to, widen[F, float64])
	}
	return c.toDecimal(func(args []batch.Vector) func(i int) (types.Int128, int, bool) {
		in := args[0].(*batch.Fixed[F]).Values
		scale := int(c.to.Scale)
		var buf []byte
		return func(i int) (types.Int128, int, bool) {
			buf = appendFloat(buf[:0], in[i])
			v, ok := text.ParseDecimal(buf, types.MaxPrecision, scale)
			return v, scale, ok
		}
	})
}

func appendFloat[F float](buf []byte, f F) []byte {
	if x, ok := any(f).(float32); ok {
		return text.AppendFloat(buf, x)
	}
	return text.AppendDouble(buf, float64(f))
}

// floatsTo cuts the fraction off. Where integers wrap around, what is out of
// range becomes the nearest INT or BIGINT, of which narrower types keep the low
// bits, and NaN becomes 0.
func floatsTo[F float, T integer](c *conversion, low, high int64) fn.Kernel {
	return func(rows fn.Rows, args []batch.Vector) (batch.Vector, error) {
		in := args[0].(*batch.Fixed[F]).Values
		return convert(c, rows, func(o *outcome, i int, to *T) bool {
			f := math.Trunc(float64(in[i]))
			if f >= float64(low) && f < float64(high)+1 {
				*to = T(f)
				return true
			}
			if !c.wrap {
				return o.outOfRange(i, string(appendFloat(nil, in[i])))
			}
			*to = T(saturate(f, low < math.MinInt32))
			return true
		})
	}
}

// saturate returns the nearest INT, or BIGINT, of a whole number.
func saturate(f float64, long bool) int64 {
	low, high := int64(math.MinInt32), int64(math.MaxInt32)
	if long {
		low, high = math.MinInt64, math.MaxInt64
	}
	switch {
	case f != f:
		return 0
	case f < float64(low):
		return low
	case f >= float64(high):
		return high
	}
	return int64(f)
}

// toDecimal converts to DECIMAL: reader gives the unscaled value at a position
// and its scale, or false if it is out of any range.
func (c *conversion) toDecimal(reader func([]batch.Vector) func(i int) (types.Int128, int, bool)) fn.Kernel {
	precision, scale := int(c.to.Precision), int(c.to.Scale)
	one := func(o *outcome, args []batch.Vector, read func(i int) (types.Int128, int, bool), i int) (types.Int128, bool) {
		v, at, ok := read(i)
		if ok {
			v, ok = v.Rescale(at, scale)
		}
		if ok && v.FitsPrecision(precision) {
			return v, true
		}
		return types.Int128{}, o.overflow(i, string(new(text.Form).Append(nil, args[0], i)))
	}
	if c.to.Phys() == types.PhysI64 {
		return func(rows fn.Rows, args []batch.Vector) (batch.Vector, error) {
			read := reader(args)
			return convert(c, rows, func(o *outcome, i int, to *int64) bool {
				v, more := one(o, args, read, i)
				*to = v.Int64()
				return more
			})
		}
	}
	return func(rows fn.Rows, args []batch.Vector) (batch.Vector, error) {
		read := reader(args)
		return convert(c, rows, func(o *outcome, i int, to *types.Int128) bool {
			v, more := one(o, args, read, i)
			*to = v
			return more
		})
	}
}

// decimals reads the unscaled values of a DECIMAL of either width.
func decimals(v batch.Vector) func(i int) types.Int128 {
	if f, ok := v.(*batch.Fixed[int64]); ok {
		return func(i int) types.Int128 { return types.Int128FromInt64(f.Values[i]) }
	}
	f := v.(*batch.Fixed[types.Int128])
	return func(i int) types.Int128 { return f.Values[i] }
}

func (c *conversion) fromDecimal() fn.Kernel {
	scale := int(c.from.Scale)
	switch c.to.Kind {
	case types.Boolean:
		return decimalsTo(c, func(o *outcome, i int, x types.Int128, to *bool) bool { *to = x.Sign() != 0; return true })
	case types.TinyInt:
		return decimalsTo(c, decimalToInt[int8](scale))
	case types.SmallInt:
		return decimalsTo(c, decimalToInt[int16](scale))
	case types.Int:
		return decimalsTo(c, decimalToInt[int32](scale))
	case types.BigInt:
		return decimalsTo(c, decimalToInt[int64](scale))
	case types.Float:
		return decimalsTo(c, func(o *outcome, i int, x types.Int128, to *float32) bool { *to = x.Float32(scale); return true })
	case types.Double:
		return decimalsTo(c, func(o *outcome, i int, x types.Int128, to *float64) bool { *to = x.Float64(scale); return true })
	}
	if c.widensDecimal() {
		return func(rows fn.Rows, args []batch.Vector) (batch.Vector, error) {
			if args[0].Type().Phys() == c.to.Phys() && c.from.Scale == c.to.Scale {
				return args[0].WithType(c.to), nil
			}
			return c.rescaled(rows, args)
		}
	}
	return c.rescaled
}

// widensDecimal reports whether each value has a place in the new type.
func (c *conversion) widensDecimal() bool {
	return c.to.Scale >= c.from.Scale && c.to.Precision-c.to.Scale >= c.from.Precision-c.from.Scale
}

// rescaled converts a DECIMAL to another one.
func (c *conversion) rescaled(rows fn.Rows, args []batch.Vector) (batch.Vector, error) {
	scale := int(c.from.Scale)
	return c.toDecimal(func(args []batch.Vector) func(i int) (types.Int128, int, bool) {
		in := decimals(args[0])
		return func(i int) (types.Int128, int, bool) { return in(i), scale, true }
	})(rows, args)
}

func decimalsTo[T batch.Value](c *conversion, f func(o *outcome, i int, x types.Int128, to *T) bool) fn.Kernel {
	return func(rows fn.Rows, args []batch.Vector) (batch.Vector, error) {
		in := decimals(args[0])
		return convert(c, rows, func(o *outcome, i int, to *T) bool { return f(o, i, in(i), to) })
	}
}

// decimalToInt cuts the fraction off. Where integers wrap around, the low bits
// are kept.
func decimalToInt[T integer](scale int) func(o *outcome, i int, x types.Int128, to *T) bool {
	unit := types.Pow10(scale)
	return func(o *outcome, i int, x types.Int128, to *T) bool {
		q, _ := x.QuoRem(unit)
		*to = T(q.Int64())
		if o.wrap || types.Int128FromInt64(int64(*to)) == q {
			return true
		}
		return o.outOfRange(i, string(x.AppendDecimal(nil, scale)))
	}
}
