package windowagg

import (
	"math"
	"slices"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/types"
)

// sliding is the window that is under way where windows overlap: a table with
// one row for each key that has rows in it. When time closes a window, the slice
// at its end is merged into that table, the rows of the table come out, and the
// slice that the next window does not have is taken out of it. So the cost of a
// window does not depend on the number of its slices.
//
// Aggregates that cannot give back what was merged (see fn.Unmerger) have two
// accumulators in the table instead: of the slices up to a border, and of those
// behind it. Borders are fixed in time and so near to each other that each
// window reaches back to one; its last one counts. When a window first reaches
// beyond a border, each slice before it gets, for each key, the aggregate of itself and of the later
// slices up to the border (front.go). Each slice costs two merges a key, however
// long the window is.
//
// The windows of Cumulate only grow, until all is forgotten at once.
type sliding struct {
	*windowAgg
	// run is the table. Its one namespace is 0.
	run  state.Table
	aggs []slidingAgg
	// inRun are the aggregates, with their places in run.
	inRun []placed
	// refs is the column that counts the slices that have the key, shown that
	// with the end of the window that was emitted last, count that of rows.
	refs, shown, count int
	front              front
	// passed is the end of the last window that was closed. current is the one
	// that is being emitted, if emitting is set.
	passed, current int64
	emitting        bool
	// flipped is the last border that was made since the start.
	flipped int64

	runSlots []int32
	hash     []uint64
	valHash  []uint64
}

// slidingAgg is an aggregate with the places of its columns in sliding.run.
type slidingAgg struct {
	*placed
	from, to int
	// undo is set for aggregates that need only one accumulator.
	undo fn.Unmerger
}

// cumulates reports whether windows only grow.
func (s *sliding) cumulates() bool { return s.Window.Kind == window.Cumulate }

// openSliding declares the tables, and adds to the spec of the table of slices
// what sliding keeps there.
func openSliding(w *windowAgg, c *op.Context, slices *state.Spec) (*sliding, error) {
	s := &sliding{windowAgg: w, passed: math.MinInt64 / 2, flipped: math.MinInt64}
	bigint := types.Of(types.BigInt)
	spec := state.Spec{Name: "sliding", Key: w.keyTypes(), Value: []types.Type{bigint.NotNull(), bigint, bigint.NotNull()}}
	s.refs, s.shown, s.count = 0, 1, 2
	for i := range w.aggs {
		p := &w.aggs[i]
		a := slidingAgg{placed: p, from: len(spec.Value)}
		spec.Value = append(spec.Value, p.Bound.State...)
		a.to = len(spec.Value)
		a.undo, _ = p.Bound.Agg.(fn.Unmerger)
		if a.undo == nil && p.set == nil && !s.cumulates() {
			s.front.place(len(s.aggs), p, &spec, slices)
		}
		s.aggs = append(s.aggs, a)
		s.inRun = append(s.inRun, placed{
			Agg: p.Agg, from: a.from, to: a.to, set: p.set, refolds: p.set != nil && !p.Bound.Exact && !s.cumulates(),
		})
	}
	s.front.finish(&spec, slices)
	var err error
	spec.Columns = w.columnNames(&spec, s.inRun, "refs", "shown", "count")
	s.run, err = c.State.Table(spec)
	return s, err
}

// space is the namespace of the table.
func (s *sliding) space() state.Space { return s.run.Space(0) }

// restored finds out, after a start, which windows a watermark has closed: rows
// in the table are there because it has.
func (s *sliding) restored(wm int64) error {
	if _, has, err := s.run.First(); err != nil || !has {
		return err
	}
	s.passed = s.Window.Passed(wm)
	return nil
}

// recall finds the last window that the clock had closed before a start.
func (s *sliding) recall() error {
	space := s.space()
	err := space.Scan(1, func(slots []int32) error {
		s.passed = *s.column(s.shown).At(slots[0])
		s.wm = s.Window.Due(s.passed)
		return errFull
	})
	if err == errFull {
		return nil
	}
	return err
}

func (s *sliding) column(i int) *batch.Slab[int64] { return s.space().Cols()[i].(*batch.Slab[int64]) }

// first returns the end of the next window that will fire.
func (s *sliding) first() (end int64, ok bool, err error) {
	_, has, err := s.run.First()
	if err != nil {
		return 0, false, err
	}
	if has {
		return s.passed + s.Window.Step(), true, nil
	}
	slice, ok, err := s.table.First()
	return s.Window.First(slice), ok, err
}

// add folds rows into a slice, and into the window that is under way if it has
// that slice already.
func (s *sliding) add(slice int64, b *batch.Batch, keys *state.Keys) error {
	merged := slice <= s.passed
	if merged && s.cumulates() {
		return s.addMerged(slice, b, keys, nil)
	}
	if merged {
		// What is new in the slice must be known for sure.
		if err := s.table.Space(slice).Lookup(keys, s.room(len(keys.Rows))); err != nil {
			return err
		}
	}
	_, fresh, err := s.windowAgg.add(slice, b, keys)
	if err != nil || !merged {
		return err
	}
	return s.addMerged(slice, b, keys, fresh)
}

// addMerged folds rows of a slice that was merged before into the window that
// is under way. fresh are the indexes of rows whose keys are new in the slice.
func (s *sliding) addMerged(slice int64, b *batch.Batch, keys *state.Keys, fresh []int32) error {
	space := s.space()
	at := s.room(len(keys.Rows))
	if _, err := space.Upsert(keys, at); err != nil {
		return err
	}
	cols := space.Cols()
	refs := cols[s.refs].(*batch.Slab[int64])
	for _, i := range fresh {
		*refs.At(at[i])++
	}
	for _, d := range s.distinct {
		if err := d.Pick(d.slide.Space(0), b, keys, at); err != nil {
			return err
		}
	}
	inFront := s.front.has(s.nextBorder(), slice)
	for i := range s.aggs {
		a := &s.aggs[i]
		if inFront && s.front.holds(i) {
			continue
		}
		if err := a.fold(cols[a.from:a.to], b, keys.Rows, at); err != nil {
			return err
		}
	}
	if s.Updating {
		countRows(cols[s.count].(*batch.Slab[int64]), b, keys.Rows, at)
	}
	space.Dirty(at)
	if inFront {
		return s.rechain(keys, at)
	}
	return nil
}

func (s *sliding) room(n int) []int32 {
	if cap(s.runSlots) < n {
		s.runSlots = make([]int32, max(n, batch.DefaultSize))
	}
	return s.runSlots[:n]
}

// keysOf makes keys of columns, of which the first ones are the stream's key.
func (s *sliding) keysOf(cols []batch.Vector, n int) *state.Keys {
	k := cols[:len(s.Keys)]
	s.hash = batch.Hash(k, nil, n, s.hash)
	return &state.Keys{Cols: k, Hash: s.hash, Rows: s.upTo(n)}
}

// resume fires windows as long as there is room.
func (s *sliding) resume(out op.Output) (more bool, err error) {
	for {
		if !s.emitting {
			end, ok, err := s.first()
			if err != nil {
				return false, err
			}
			if !ok || s.Window.Due(end) > s.wm {
				s.pass()
				return false, nil
			}
			if err := s.slideTo(end); err != nil {
				return false, err
			}
			s.emitting = true
		}
		if out.Full() {
			return true, nil
		}
		if err := s.show(out); err == errFull {
			return true, nil
		} else if err != nil {
			return false, err
		}
		s.emitting = false
		if err := s.expire(); err != nil {
			return false, err
		}
		if err := s.prepare(s.current + s.Window.Step()); err != nil {
			return false, err
		}
	}
}

// pass notes that windows without rows were closed as well.
func (s *sliding) pass() {
	const limit = math.MaxInt64 / 4
	if s.wm > -limit && s.wm < limit && s.Window.Due(s.passed+s.Window.Step()) <= s.wm {
		s.passed = max(s.passed, s.Window.Passed(s.wm))
	}
}

// slideTo moves on to a window: it merges the slices that the window before did
// not have.
func (s *sliding) slideTo(end int64) error {
	if err := s.prepare(end); err != nil {
		return err
	}
	step := s.Window.Slice()
	for slice := end - s.Window.Step() + step; slice <= end; slice += step {
		if err := s.merge(slice); err != nil {
			return err
		}
	}
	s.passed, s.current = end, end
	return s.refoldDistinct()
}

// merge takes a slice into the window.
func (s *sliding) merge(slice int64) error {
	space := s.table.Space(slice)
	err := space.Scan(fireRows, func(slots []int32) error {
		keys := s.keysOf(space.Keys(slots), len(slots))
		at := s.room(len(slots))
		run := s.space()
		if _, err := run.Upsert(keys, at); err != nil {
			return err
		}
		cols, src := run.Cols(), space.Cols()
		refs := cols[s.refs].(*batch.Slab[int64])
		for _, r := range at {
			*refs.At(r)++
		}
		if s.Updating {
			addCounts(cols[s.count], at, src[0], slots, 1)
		}
		for i := range s.aggs {
			a := &s.aggs[i]
			if a.set != nil {
				continue
			}
			if err := a.Bound.Agg.Merge(cols[a.from:a.to], at, src[a.placed.from:a.placed.to], slots); err != nil {
				return err
			}
		}
		run.Dirty(at)
		return nil
	})
	if err != nil {
		return err
	}
	for _, d := range s.distinct {
		if err := s.mergeDistinct(d, slice, 1); err != nil {
			return err
		}
	}
	if s.cumulates() {
		return s.drop(slice)
	}
	return nil
}

func addCounts(dst batch.Column, at []int32, src batch.Column, slots []int32, sign int64) {
	to, from := dst.(*batch.Slab[int64]), src.(*batch.Slab[int64])
	for i, r := range at {
		*to.At(r) += sign * *from.At(slots[i])
	}
}

// expire takes out of the table what the next window does not have.
func (s *sliding) expire() error {
	if s.cumulates() {
		if s.current < s.Window.Last(s.current) {
			return nil
		}
		for _, d := range s.distinct {
			if err := d.slide.Drop(0); err != nil {
				return err
			}
		}
		return s.run.Drop(0)
	}
	step := s.Window.Slice()
	start := s.current - s.Window.Size
	for slice := start + step; slice <= start+s.Window.Slide; slice += step {
		if err := s.unmerge(slice); err != nil {
			return err
		}
	}
	return nil
}

// unmerge takes a slice out of the window, and forgets it.
func (s *sliding) unmerge(slice int64) error {
	for _, d := range s.distinct {
		if err := s.mergeDistinct(d, slice, -1); err != nil {
			return err
		}
	}
	space := s.table.Space(slice)
	err := space.Scan(fireRows, func(slots []int32) error {
		keys := s.keysOf(space.Keys(slots), len(slots))
		at := s.room(len(slots))
		run := s.space()
		if err := run.Lookup(keys, at); err != nil {
			return err
		}
		cols, src := run.Cols(), space.Cols()
		if s.Updating {
			addCounts(cols[s.count], at, src[0], slots, -1)
		}
		for i := range s.aggs {
			a := &s.aggs[i]
			if a.set != nil || a.undo == nil {
				continue
			}
			if err := a.undo.Unmerge(cols[a.from:a.to], at, src[a.placed.from:a.placed.to], slots); err != nil {
				return err
			}
		}
		run.Dirty(at)
		if err := s.moveHeads(slice, keys, slots, at); err != nil {
			return err
		}
		s.release(run, at)
		return nil
	})
	if err != nil {
		return err
	}
	return s.drop(slice)
}

// release removes keys that are in no slice any more.
func (s *sliding) release(run state.Space, at []int32) {
	refs := run.Cols()[s.refs].(*batch.Slab[int64])
	var gone []int32
	for _, r := range at {
		if *refs.At(r)--; *refs.At(r) == 0 {
			gone = append(gone, r)
		}
	}
	if gone != nil {
		run.Delete(gone)
	}
}

// show emits the window's rows. If the output fills up, it goes on behind those
// that were emitted when it is called again.
func (s *sliding) show(out op.Output) error {
	space := s.space()
	return space.Scan(fireRows, func(slots []int32) error {
		cols := space.Cols()
		shown := cols[s.shown].(*batch.Slab[int64])
		slots = slices.DeleteFunc(slices.Clone(slots), func(r int32) bool {
			return !shown.Null(r) && *shown.At(r) == s.current
		})
		if len(slots) == 0 {
			return nil
		}
		if out.Full() {
			return errFull
		}
		for _, r := range slots {
			shown.Put(r, s.current)
		}
		if s.Proctime {
			space.Dirty(slots)
		}
		if s.Updating {
			slots = alive(cols[s.count].(*batch.Slab[int64]), slots)
		}
		return s.emit(space, s.current, slots, out, func(i int) (batch.Vector, error) {
			a := &s.aggs[i]
			if s.front.holds(i) {
				return s.both(i, cols, slots)
			}
			return a.Bound.Agg.Result(cols[a.from:a.to], slots)
		})
	})
}
