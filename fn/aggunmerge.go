package fn

import "github.com/millstream-io/millstream/batch"

// Unmerger is implemented by an Agg whose Merge can be undone without a trace,
// so that a sliding window can drop its oldest part. Sums of floating-point
// numbers are none: what was rounded would stay.
type Unmerger interface {
	// Unmerge takes the accumulators src[from[i]], which were merged into
	// st[slots[i]] before, out again.
	Unmerge(st []batch.Column, slots []int32, src []batch.Column, from []int32) error
}

// Unmerge implements Unmerger.
func (countAgg) Unmerge(st []batch.Column, slots []int32, src []batch.Column, from []int32) error {
	n, less := st[0].(*i64Slab), src[0].(*i64Slab)
	for i, s := range slots {
		*n.At(s) -= *less.At(from[i])
	}
	return nil
}

// Unmerge implements Unmerger.
func (exactBase) Unmerge(st []batch.Column, slots []int32, src []batch.Column, from []int32) error {
	sums, counts := st[0].(*i128Slab), st[1].(*i64Slab)
	less, lessCounts := src[0].(*i128Slab), src[1].(*i64Slab)
	for i, s := range slots {
		sum, ok := sums.At(s).SubOK(*less.At(from[i]))
		if !ok {
			return errSumTooLarge
		}
		*sums.At(s) = sum
		*counts.At(s) -= *lessCounts.At(from[i])
	}
	return nil
}
