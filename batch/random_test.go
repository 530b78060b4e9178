package batch

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/millstream-io/millstream/types"
)

// allTypes has a type of each physical form, nullable and not, and nested ones.
var allTypes = []types.Type{
	types.Of(types.Boolean), types.Of(types.TinyInt), types.Of(types.SmallInt), types.Of(types.Int),
	types.Of(types.BigInt), types.Of(types.BigInt).NotNull(), types.Of(types.Float), types.Of(types.Double),
	types.DecimalOf(10, 2), types.DecimalOf(38, 5), types.StringType(), types.StringType().NotNull(),
	types.BytesType(), types.Of(types.Date), types.TimeOf(types.Timestamp, 3), types.TimeOf(types.TimestampLTZ, 9),
	types.Of(types.Null),
	types.ArrayOf(types.Of(types.Int)), types.ArrayOf(types.ArrayOf(types.StringType())).NotNull(),
	types.MapOf(types.StringType().NotNull(), types.Of(types.Double)), types.MultisetOf(types.Of(types.Int)),
	types.RowOf(types.Field{Name: "a", Type: types.Of(types.BigInt)}, types.Field{Name: "b", Type: types.ArrayOf(types.TimeOf(types.Timestamp, 6))}),
}

var interesting = []int64{0, 1, -1, 2, -2, 127, -128, 300, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64}

// appendRandom appends n random values to v; small ones come often, so that
// some are equal.
func appendRandom(rng *rand.Rand, v Vector, n int) {
	for range n {
		if v.Type().Nullable && rng.IntN(5) == 0 {
			v.AppendNull()
			continue
		}
		appendOne(rng, v)
	}
}

func appendOne(rng *rand.Rand, v Vector) {
	x := interesting[rng.IntN(len(interesting))]
	switch v := v.(type) {
	case *Fixed[bool]:
		v.Append(x&1 == 0)
	case *Fixed[int8]:
		v.Append(int8(x))
	case *Fixed[int16]:
		v.Append(int16(x))
	case *Fixed[int32]:
		v.Append(int32(x))
	case *Fixed[int64]:
		v.Append(x)
	case *Fixed[float32]:
		v.Append([]float32{0, float32(math.Inf(1)), float32(math.Inf(-1)), float32(x), 0.1, -0.1}[rng.IntN(6)])
	case *Fixed[float64]:
		v.Append([]float64{0, math.Inf(1), math.Inf(-1), float64(x), 0.1, -math.SmallestNonzeroFloat64}[rng.IntN(6)])
	case *Fixed[types.Int128]:
		v.Append(types.Int128{Hi: x, Lo: uint64(interesting[rng.IntN(len(interesting))])})
	case *Fixed[types.TS]:
		v.Append(types.TS{Ms: x, Ns: rng.Int32N(1_000_000)})
	case *Bytes:
		b := make([]byte, rng.IntN(5))
		for i := range b {
			b[i] = []byte{0, 1, 0xff, 'a', 'b'}[rng.IntN(5)]
		}
		v.Append(b)
	case *List:
		appendRandom(rng, v.Elem, rng.IntN(4))
		v.Close()
	case *Map:
		n := rng.IntN(3)
		for i := range n {
			if b, ok := v.Keys.(*Bytes); ok {
				b.AppendString(fmt.Sprint("k", i))
			} else {
				v.Keys.(*Fixed[int32]).Append(int32(i))
			}
		}
		appendRandom(rng, v.Vals, n)
		v.Close()
	case *Row:
		for _, c := range v.Cols {
			appendRandom(rng, c, 1)
		}
		v.Close()
	case *Null:
		v.AppendNull()
	}
}

// show prints a value in full, for comparisons.
func show(v Vector, i int) string {
	if v.Validity().IsNull(i) {
		return "null"
	}
	switch v := v.(type) {
	case *Fixed[bool]:
		return fmt.Sprint(v.Values[i])
	case *Fixed[int8]:
		return fmt.Sprint(v.Values[i])
	case *Fixed[int16]:
		return fmt.Sprint(v.Values[i])
	case *Fixed[int32]:
		return fmt.Sprint(v.Values[i])
	case *Fixed[int64]:
		return fmt.Sprint(v.Values[i])
	case *Fixed[float32]:
		return fmt.Sprintf("%x", v.Values[i])
	case *Fixed[float64]:
		return fmt.Sprintf("%x", v.Values[i])
	case *Fixed[types.Int128]:
		return fmt.Sprint(v.Values[i])
	case *Fixed[types.TS]:
		return fmt.Sprint(v.Values[i])
	case *Bytes:
		return fmt.Sprintf("%q", v.At(i))
	case *List:
		out := "["
		for e := v.Offsets[i]; e < v.Offsets[i+1]; e++ {
			out += show(v.Elem, int(e)) + ","
		}
		return out + "]"
	case *Map:
		out := "{"
		for e := v.Offsets[i]; e < v.Offsets[i+1]; e++ {
			out += show(v.Keys, int(e)) + ":" + show(v.Vals, int(e)) + ","
		}
		return out + "}"
	case *Row:
		out := "("
		for _, c := range v.Cols {
			out += show(c, i) + ","
		}
		return out + ")"
	}
	return "?"
}
