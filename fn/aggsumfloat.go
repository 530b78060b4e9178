package fn

import (
	"math"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// floatSum is SUM and AVG of values of type T that are added up as numbers of
// type S. The state is the sum of the finite values, the number of all values,
// and the numbers of those that are not finite (see oddities): a NaN that is
// taken back leaves nothing behind.
type floatSum[T, S float32 | float64] struct {
	result types.Type
	avg    bool
}

// bindFloats adds FLOATs up as FLOATs, but for their mean as DOUBLEs.
func bindFloats(t types.Type, avg bool) *BoundAgg {
	sum := t
	if avg {
		sum = types.Of(types.Double)
	}
	b := &BoundAgg{Result: t, State: []types.Type{sum.NotNull(), countState, exactState}, Mergeable: true, Retractable: true}
	switch {
	case t.Kind == types.Double:
		b.Agg = floatSum[float64, float64]{t, avg}
	case avg:
		b.Agg = floatSum[float32, float64]{t, avg}
	default:
		b.Agg = floatSum[float32, float32]{t, avg}
	}
	return b
}

// Add implements Agg. The first value of a sum replaces the zero that is there,
// so that -0.0 is the sum of itself.
func (floatSum[T, S]) Add(st []batch.Column, slots []int32, args []batch.Vector, rows []int32) error {
	sums, counts, v := st[0].(*batch.Slab[S]), st[1].(*i64Slab), args[0].(*batch.Fixed[T])
	values, valid := v.Values, v.Valid
	for i, s := range slots {
		r := rows[i]
		if valid.IsNull(int(r)) {
			continue
		}
		x, n := values[r], counts.At(s)
		switch {
		case x-x != 0:
			addOdd(st[2].(*i128Slab).At(s), float64(x), 1)
		case *n == 0:
			*sums.At(s) = S(x)
		default:
			*sums.At(s) += S(x)
		}
		*n++
	}
	return nil
}

// Retract implements Agg. The sum of no values is 0 again, whatever was rounded
// on the way.
func (floatSum[T, S]) Retract(st []batch.Column, slots []int32, args []batch.Vector, rows []int32) error {
	sums, counts, v := st[0].(*batch.Slab[S]), st[1].(*i64Slab), args[0].(*batch.Fixed[T])
	for i, s := range slots {
		r := int(rows[i])
		if v.Valid.IsNull(r) {
			continue
		}
		x, n := v.Values[r], counts.At(s)
		*n--
		switch {
		case x-x != 0:
			addOdd(st[2].(*i128Slab).At(s), float64(x), -1)
		case *n == 0:
			*sums.At(s) = 0
		default:
			*sums.At(s) -= S(x)
		}
	}
	return nil
}

// Merge implements Agg.
func (floatSum[T, S]) Merge(st []batch.Column, slots []int32, src []batch.Column, from []int32) error {
	sums, counts, odd := st[0].(*batch.Slab[S]), st[1].(*i64Slab), st[2].(*i128Slab)
	more, moreCounts, moreOdd := src[0].(*batch.Slab[S]), src[1].(*i64Slab), src[2].(*i128Slab)
	for i, s := range slots {
		f := from[i]
		if *counts.At(s) == 0 {
			*sums.At(s) = *more.At(f)
		} else if *moreCounts.At(f) != 0 {
			*sums.At(s) += *more.At(f)
		}
		*counts.At(s) += *moreCounts.At(f)
		*odd.At(s) = odd.At(s).Add(*moreOdd.At(f))
	}
	return nil
}

// Result implements Agg.
func (a floatSum[T, S]) Result(st []batch.Column, slots []int32) (batch.Vector, error) {
	sums, counts, odd := st[0].(*batch.Slab[S]), st[1].(*i64Slab), st[2].(*i128Slab)
	out := batch.MakeFixed[T](a.result, len(slots))
	for i, s := range slots {
		n := *counts.At(s)
		if n == 0 {
			setNull(out, i)
			continue
		}
		sum := *sums.At(s)
		if o := *odd.At(s); o != (types.Int128{}) {
			sum = S(oddSum(o))
		}
		if a.avg {
			sum /= S(n)
		}
		out.Values[i] = T(sum)
	}
	return out, nil
}

// The values of a sum that are not finite are counted in one number of 128
// bits: those that are NaN from bit 84, +Infinity from bit 42, -Infinity from
// bit 0. Counts of one group stay far below 1 << 42.
const oddBits = 42

var (
	oddOneNaN      = types.Int128{Hi: 1 << (2*oddBits - 64)}
	oddOnePositive = types.Int128{Lo: 1 << oddBits}
	oddOneNegative = types.Int128{Lo: 1}
)

// addOdd counts a value that is not finite, or discounts it.
func addOdd(odd *types.Int128, x float64, by int) {
	one := oddOneNegative
	switch {
	case x != x:
		one = oddOneNaN
	case x > 0:
		one = oddOnePositive
	}
	if by < 0 {
		one = one.Neg()
	}
	*odd = odd.Add(one)
}

// oddSum is the sum of values some of which are not finite.
func oddSum(odd types.Int128) float64 {
	nan := odd.Hi >> (2*oddBits - 64)
	positive := uint64(odd.Hi)<<(64-oddBits)&(1<<oddBits-1) | odd.Lo>>oddBits
	negative := odd.Lo & (1<<oddBits - 1)
	switch {
	case nan != 0 || positive != 0 && negative != 0:
		return math.NaN()
	case positive != 0:
		return math.Inf(1)
	}
	return math.Inf(-1)
}
