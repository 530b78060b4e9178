package windowagg

import (
	"math"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/types"
)

// front is the part of a sliding window up to its border, for the aggregates
// that need it.
//
// The slices before the border form a chain for each key: the window's row knows
// the first one that has the key (head), and each of them the one that follows
// (next). So when a slice leaves, the window's accumulator is copied from the
// next one.
type front struct {
	aggs []frontAgg
	// of[i] is the index in aggs of aggregate i, + 1.
	of map[int]int
	// head is a column of sliding.run, next one of the table of slices; nulls
	// end the chain.
	head, next int
}

// frontAgg says where the accumulators of an aggregate are: run in sliding.run,
// tail in the table of slices, which is that of the slice and those behind it.
type frontAgg struct {
	*placed
	run, tail, size int
	// scratch holds what is shown: that before the border with that behind it.
	scratch []batch.Column
}

// place adds the columns of aggregate i.
func (f *front) place(i int, p *placed, run, slices *state.Spec) {
	st := p.Bound.State
	a := frontAgg{placed: p, run: len(run.Value), tail: len(slices.Value), size: len(st)}
	run.Value, slices.Value = append(run.Value, st...), append(slices.Value, st...)
	for _, t := range st {
		a.scratch = append(a.scratch, batch.NewColumn(t))
		a.scratch[len(a.scratch)-1].Grow(fireRows)
	}
	f.aggs = append(f.aggs, a)
	if f.of == nil {
		f.of = map[int]int{}
	}
	f.of[i] = len(f.aggs)
}

// finish adds the columns of the chain, if any aggregate was placed.
func (f *front) finish(run, slices *state.Spec) {
	if len(f.aggs) == 0 {
		return
	}
	f.head, f.next = len(run.Value), len(slices.Value)
	link := types.Of(types.BigInt)
	run.Value, slices.Value = append(run.Value, link), append(slices.Value, link)
}

// holds reports whether aggregate i needs the front.
func (f *front) holds(i int) bool { return f.of[i] > 0 }

// has reports whether a slice lies before the border.
func (f *front) has(border, slice int64) bool { return len(f.aggs) > 0 && slice <= border }

// border returns the border in the window with that end, or before it.
func (s *sliding) border(end int64) int64 {
	if len(s.front.aggs) == 0 {
		return math.MinInt64
	}
	block := s.Window.Size / s.Window.Slide * s.Window.Slide
	grid := window.Assigner{Size: block, Offset: s.Window.Offset + s.Window.Size}
	return grid.SliceOf(end-1) - block
}

// nextBorder is the border in the window that closes next. prepare has made it when
// the one before was emitted; if the state was saved by a version that did that
// later, or before that, the border is made before the window is looked at.
func (s *sliding) nextBorder() int64 { return s.border(s.passed + s.Window.Step()) }

// prepare makes the border in the window with that end, if the window is the first
// that reaches beyond it. All slices before such a border have passed when the window
// before is emitted, so that is the time for it: the rows of the window that follows
// need not wait.
func (s *sliding) prepare(end int64) error {
	border := s.border(end)
	if border < end-s.Window.Step() || border == s.flipped {
		return nil
	}
	s.flipped = border
	return s.flip(border, end-s.Window.Size)
}

// flip makes a border that the window has just reached beyond: all that it has
// lies before. Slices up to start have left.
func (s *sliding) flip(border, start int64) error {
	run := s.space()
	err := run.Scan(fireRows, func(slots []int32) error {
		cols := run.Cols()
		for _, a := range s.front.aggs {
			place := s.aggs[s.index(&a)]
			reset(cols[place.from:place.to], slots)
		}
		s.clearFront(cols, slots)
		run.Dirty(slots)
		return nil
	})
	if err != nil {
		return err
	}
	for slice := border; slice > start; slice -= s.Window.Slice() {
		space := s.table.Space(slice)
		err := space.Scan(fireRows, func(slots []int32) error {
			at := s.room(len(slots))
			if err := run.Lookup(s.keysOf(space.Keys(slots), len(slots)), at); err != nil {
				return err
			}
			return s.chain(slice, space, slots, at)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// index returns the index of the aggregate in sliding.aggs.
func (s *sliding) index(a *frontAgg) int {
	for i := range s.aggs {
		if s.aggs[i].placed == a.placed {
			return i
		}
	}
	panic("windowagg: an aggregate that is not there")
}

func reset(cols []batch.Column, slots []int32) {
	for _, c := range cols {
		for _, r := range slots {
			c.Reset(r)
		}
	}
}

// clearFront makes the front of rows of the window empty.
func (s *sliding) clearFront(cols []batch.Column, slots []int32) {
	for _, a := range s.front.aggs {
		reset(cols[a.run:a.run+a.size], slots)
	}
	reset(cols[s.front.head:s.front.head+1], slots)
}

// chain puts a slice at the head of the chains of its keys: slots are its rows,
// at those of the window.
func (s *sliding) chain(slice int64, space state.Space, slots, at []int32) error {
	run := s.space()
	cols, own := run.Cols(), space.Cols()
	for _, a := range s.front.aggs {
		tail, front := own[a.tail:a.tail+a.size], cols[a.run:a.run+a.size]
		reset(tail, slots)
		if err := a.Bound.Agg.Merge(tail, slots, own[a.from:a.to], slots); err != nil {
			return err
		}
		if err := a.Bound.Agg.Merge(tail, slots, front, at); err != nil {
			return err
		}
		reset(front, at)
		if err := a.Bound.Agg.Merge(front, at, tail, slots); err != nil {
			return err
		}
	}
	head, next := cols[s.front.head].(*batch.Slab[int64]), own[s.front.next].(*batch.Slab[int64])
	for i, r := range at {
		if head.Null(r) {
			next.SetNull(slots[i])
		} else {
			next.Put(slots[i], *head.At(r))
		}
		head.Put(r, slice)
	}
	space.Dirty(slots)
	run.Dirty(at)
	return nil
}

// rechain makes the chains of keys anew, after rows came for a slice before the
// border. at are the slots of the rows; they may repeat.
func (s *sliding) rechain(keys *state.Keys, at []int32) error {
	own := *keys
	own.Rows = nil
	var runs []int32
	seen := make(map[int32]bool, len(at))
	for i, r := range at {
		if !seen[r] {
			seen[r] = true
			own.Rows, runs = append(own.Rows, keys.Rows[i]), append(runs, r)
		}
	}
	s.clearFront(s.space().Cols(), runs)
	s.space().Dirty(runs)
	found := make([]int32, len(runs))
	last := s.passed + s.Window.Slide - s.Window.Size
	for slice := s.nextBorder(); slice > last; slice -= s.Window.Slice() {
		space := s.table.Space(slice)
		if err := space.Lookup(&own, found); err != nil {
			return err
		}
		var slots, their []int32
		for i, r := range found {
			if r >= 0 {
				slots, their = append(slots, r), append(their, runs[i])
			}
		}
		if len(slots) == 0 {
			continue
		}
		if err := s.chain(slice, space, slots, their); err != nil {
			return err
		}
	}
	return nil
}

// moveHeads is told that a slice leaves: chains that begin with it begin with
// the next one.
func (s *sliding) moveHeads(slice int64, keys *state.Keys, slots, at []int32) error {
	if len(s.front.aggs) == 0 {
		return nil
	}
	cols := s.space().Cols()
	head := cols[s.front.head].(*batch.Slab[int64])
	next := s.table.Space(slice).Cols()[s.front.next].(*batch.Slab[int64])
	var ends, rows = make([]int64, 0, len(at)), make([]int32, 0, len(at))
	moved := make([]int32, 0, len(at))
	for i, r := range at {
		if head.Null(r) || *head.At(r) != slice {
			continue
		}
		moved = append(moved, r)
		if !next.Null(slots[i]) {
			ends, rows = append(ends, *next.At(slots[i])), append(rows, int32(i))
		}
	}
	s.clearFront(cols, moved)
	if len(rows) == 0 {
		return nil
	}
	own := *keys
	return window.Each(ends, rows, func(slice int64, rows []int32) error {
		own.Rows = rows // keysOf numbers rows from 0
		space := s.table.Space(slice)
		from, to := make([]int32, len(rows)), pickSlots(at, rows)
		if err := space.Lookup(&own, from); err != nil {
			return err
		}
		src := space.Cols()
		for _, a := range s.front.aggs {
			if err := a.Bound.Agg.Merge(cols[a.run:a.run+a.size], to, src[a.tail:a.tail+a.size], from); err != nil {
				return err
			}
		}
		for _, r := range to {
			head.Put(r, slice)
		}
		return nil
	})
}

// both returns the values of aggregate i at slots: of what lies before the
// border and behind it.
func (s *sliding) both(i int, cols []batch.Column, slots []int32) (batch.Vector, error) {
	f, a := &s.front.aggs[s.front.of[i]-1], &s.aggs[i]
	all := s.upTo(len(slots))
	reset(f.scratch, all)
	if err := f.Bound.Agg.Merge(f.scratch, all, cols[f.run:f.run+f.size], slots); err != nil {
		return nil, err
	}
	if err := f.Bound.Agg.Merge(f.scratch, all, cols[a.from:a.to], slots); err != nil {
		return nil, err
	}
	return f.Bound.Agg.Result(f.scratch, all)
}
