package windowagg

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/state"
)

// mergeDistinct counts the values of a slice in the window, or discounts them.
// Aggregates get the values that are new there, and give back those that are
// gone.
func (s *sliding) mergeDistinct(d *distinctSet, slice, sign int64) error {
	space := d.table.Space(slice)
	return space.Scan(fireRows, func(slots []int32) error {
		n := len(slots)
		cols := space.Keys(slots)
		keys := s.keysOf(cols, n)
		at := s.room(n)
		run := s.space()
		if err := run.Lookup(keys, at); err != nil {
			return err
		}
		s.valHash = batch.Hash(cols, nil, n, s.valHash)
		own := &state.Keys{Cols: cols, Hash: s.valHash, Group: keys.Hash, Rows: keys.Rows}
		values := d.slide.Space(0)
		valSlots := make([]int32, n)
		if _, err := values.Upsert(own, valSlots); err != nil {
			return err
		}
		here, there := space.Cols()[0].(*batch.Slab[int64]), values.Cols()[0].(*batch.Slab[int64])
		var came, left, none []int32
		for i, v := range valSlots {
			was := *there.At(v)
			now := was + sign**here.At(slots[i])
			*there.At(v) = now
			switch {
			case was <= 0 && now > 0:
				came = append(came, int32(i))
			case was > 0 && now <= 0:
				left = append(left, int32(i))
			}
			if now == 0 {
				none = append(none, v)
			}
		}
		values.Dirty(valSlots)
		if none != nil {
			values.Delete(none)
		}
		run.Dirty(at)
		return foldValues(s.inRun, d, run.Cols(), at, cols[len(s.Keys):], came, left)
	})
}

// foldValues gives the aggregates of a set the values at positions came of args,
// and takes those at left back. at are the slots of all positions in cols.
func foldValues(aggs []placed, d *distinctSet, cols []batch.Column, at []int32, args []batch.Vector, came, left []int32) error {
	for i := range aggs {
		a := &aggs[i]
		if a.set != d || a.refolds {
			continue
		}
		st := cols[a.from:a.to]
		if len(came) > 0 {
			if err := a.Bound.Agg.Add(st, pickSlots(at, came), args, came); err != nil {
				return err
			}
		}
		if len(left) > 0 {
			if err := a.Bound.Agg.Retract(st, pickSlots(at, left), args, left); err != nil {
				return err
			}
		}
	}
	return nil
}

func pickSlots(at, which []int32) []int32 {
	out := make([]int32, len(which))
	for i, p := range which {
		out[i] = at[p]
	}
	return out
}

// refoldDistinct computes the aggregates anew that cannot give a value back
// without a trace, such as sums of floating-point numbers: from all values of the
// window.
func (s *sliding) refoldDistinct() error {
	for _, d := range s.distinct {
		var aggs []placed
		for _, a := range s.inRun {
			if a.set == d && a.refolds {
				aggs = append(aggs, a)
			}
		}
		if aggs == nil {
			continue
		}
		if err := s.refold(d, aggs); err != nil {
			return err
		}
	}
	return nil
}

func (s *sliding) refold(d *distinctSet, aggs []placed) error {
	run := s.space()
	err := run.Scan(fireRows, func(slots []int32) error {
		for _, a := range aggs {
			reset(run.Cols()[a.from:a.to], slots)
		}
		run.Dirty(slots)
		return nil
	})
	if err != nil {
		return err
	}
	values := d.slide.Space(0)
	return values.Scan(fireRows, func(slots []int32) error {
		slots = alive(values.Cols()[0].(*batch.Slab[int64]), slots)
		cols, at := values.Keys(slots), s.room(len(slots))
		keys := s.keysOf(cols, len(slots))
		if err := run.Lookup(keys, at); err != nil {
			return err
		}
		for _, a := range aggs {
			if err := a.Bound.Agg.Add(run.Cols()[a.from:a.to], at, cols[len(s.Keys):], keys.Rows); err != nil {
				return err
			}
		}
		return nil
	})
}
