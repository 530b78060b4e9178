// Package windowagg aggregates rows by key and window.
//
// Where a row lies in one window only, each window is a namespace of one table,
// so firing a window is a scan of its namespace, and forgetting it is a drop.
// Windows that overlap are made of slices (see package window): a namespace
// holds what is known of a slice, and one more table what the windows that are
// under way have in common (see sliding).
package windowagg

import (
	"fmt"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/fold"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/types"
)

// Agg is one aggregate; Distinct counts each value once a group and window.
type Agg = fold.Agg

// Config describes the operator.
type Config struct {
	// In is the input; Out has the key columns, then the aggregates, then Props.
	In, Out *types.Schema
	// Keys are positions of input columns; none for a global aggregate.
	Keys []int
	Aggs []Agg
	// Time is the position of the time column, which Window cuts into windows;
	// or of a window_end column where Attached is set.
	Time     int
	Attached bool
	Window   window.Assigner
	// Props are columns of the window.
	Props []window.Source
	// Updating is set where the input holds -U and -D rows.
	Updating bool
	// Rows is set for sessions that are not aggregated: each row is passed on with
	// its session, once that has ended. Out is then the input's columns and Props.
	Rows bool
	// Proctime is set where the time of a row is the time at which it comes,
	// and windows are closed by the clock. Attached windows are not.
	Proctime bool
	// Marked is the type of the event time that the watermark belongs to.
	Marked types.Type
	// Taps take the rows that come too late.
	Taps []window.LateTap
	// Emit is set for windows that show results besides at their end.
	Emit *Emit
}

// New returns the operator.
func New(c Config) op.Operator {
	w := &windowAgg{Config: c, wm: op.MinWatermark}
	if c.Window.Kind == window.Session && !c.Attached {
		return &sessions{windowAgg: w}
	}
	if c.Emit != nil {
		return &emitter{windowAgg: w}
	}
	return w
}

type windowAgg struct {
	Config
	ctx *op.Context
	// table has a namespace for each window, or for each slice.
	table    state.Table
	distinct []*distinctSet
	aggs     []placed
	late     *window.Late
	wm       int64
	// due are the ends of windows that wait to be fired.
	due []int64
	// slide is set where windows overlap.
	slide *sliding
	// armed is the time of the last timer that was asked for.
	armed int64

	hash []uint64
	// rows are the positions that count in the batch at hand, ends the ends of
	// their windows: one for all of them, or one for each.
	rows []int32
	ends []int64
	// rowRoom, endRoom, numbers and slots are scratch; numbers counts from 0.
	rowRoom []int32
	endRoom []int64
	numbers []int32
	slots   []int32
}

// placed is an aggregate whose accumulator is in columns from to to of the
// table.
type placed struct {
	Agg
	from, to int
	// set is the distinct set that the aggregate takes its rows from, or nil.
	set *distinctSet
	// refolds is set in a sliding window for one with a set that is computed anew
	// for each window.
	refolds bool
}

// overlapping reports whether a row may lie in several windows.
func (c *Config) overlapping() bool {
	return !c.Attached && (c.Window.Kind == window.Hop || c.Window.Kind == window.Cumulate) && c.Window.Slide < c.Window.Size
}

// keyTypes are the types of the key columns.
func (c *Config) keyTypes() []types.Type {
	var out []types.Type
	for _, k := range c.Keys {
		out = append(out, c.In.Fields[k].Type)
	}
	return out
}

// columnNames are names for the columns of a table with the keys and with the
// accumulators of the aggregates, which are called as their results are. first
// are the names of the first values.
func (w *windowAgg) columnNames(spec *state.Spec, aggs []placed, first ...string) []string {
	out := append(w.keyNames(), first...)
	for i := len(first); i < len(spec.Value); i++ {
		out = append(out, fmt.Sprintf("state%d", i+1))
	}
	for i, p := range aggs {
		name := w.Out.Fields[len(w.Keys)+i].Name
		for at := p.from; at < p.to; at++ {
			out[len(w.Keys)+at] = name
			if at > p.from {
				out[len(w.Keys)+at] = fmt.Sprintf("%s_%d", name, at-p.from+1)
			}
		}
	}
	return out
}

// keyNames are the names of the key columns.
func (c *Config) keyNames() []string {
	var out []string
	for _, k := range c.Keys {
		out = append(out, c.In.Fields[k].Name)
	}
	return out
}

// Open implements op.Opener.
func (w *windowAgg) Open(c *op.Context) error {
	w.ctx, w.late = c, w.newLate(c)
	spec := state.Spec{Name: "windows", Key: w.keyTypes()}
	if w.Updating {
		spec.Value = append(spec.Value, types.Of(types.BigInt).NotNull())
	}
	overlap := w.overlapping()
	for _, a := range w.Aggs {
		if overlap && !a.Bound.Retractable {
			// MIN, MAX and their like care little for how often a value is there.
			a.Distinct = false
		}
		p := placed{Agg: a, from: len(spec.Value)}
		if a.Distinct {
			var err error
			if p.set, err = w.distinctSet(c, a); err != nil {
				return err
			}
		}
		if !a.Distinct || !overlap {
			spec.Value = append(spec.Value, a.Bound.State...)
		}
		p.to = len(spec.Value)
		w.aggs = append(w.aggs, p)
	}
	var err error
	if overlap {
		if w.slide, err = openSliding(w, c, &spec); err != nil {
			return err
		}
	}
	if w.mergeable() {
		spec.Merge = w.mergeRows
	}
	spec.Columns = w.columnNames(&spec, w.aggs)
	if w.table, err = c.State.Table(spec); err != nil || !w.Proctime {
		return err
	}
	if overlap {
		if err := w.slide.recall(); err != nil {
			return err
		}
	}
	return w.arm()
}

// mergeable reports whether the rows of a key can be aggregated in parts, in
// whatever way they are split up.
func (w *windowAgg) mergeable() bool {
	for i := range w.aggs {
		if a := &w.aggs[i]; a.set != nil || !a.Bound.Mergeable || !a.Bound.Exact {
			return false
		}
	}
	return w.slide == nil || len(w.slide.front.aggs) == 0
}

// mergeRows merges rows of the table; see state.Spec.Merge.
func (w *windowAgg) mergeRows(vals []batch.Column, into, from []int32) error {
	if w.Updating {
		addCounts(vals[0], into, vals[0], from, 1)
	}
	for i := range w.aggs {
		st := vals[w.aggs[i].from:w.aggs[i].to]
		if err := w.aggs[i].Bound.Agg.Merge(st, into, st, from); err != nil {
			return err
		}
	}
	return nil
}

// OnBatch implements op.Operator.
func (w *windowAgg) OnBatch(_ int, b *batch.Batch, out op.Output) error {
	if err := w.assign(b); err != nil {
		return err
	}
	w.late.Flush(b, w.wm, out)
	if len(w.rows) == 0 {
		return nil
	}
	keys := &state.Keys{Cols: make([]batch.Vector, len(w.Keys))}
	for i, k := range w.Keys {
		keys.Cols[i] = b.Cols[k]
	}
	w.hash = batch.Hash(keys.Cols, b.Sel, b.Size(), w.hash)
	keys.Hash = w.hash
	err := window.Each(w.ends, w.rows, func(end int64, rows []int32) error {
		keys.Rows = rows
		if w.slide != nil {
			return w.slide.add(end, b, keys)
		}
		_, _, err := w.add(end, b, keys)
		return err
	})
	if err != nil || !w.Proctime {
		return err
	}
	return w.arm()
}

// assign finds the window, or the slice, of each row: w.rows and w.ends.
func (w *windowAgg) assign(b *batch.Batch) error {
	if w.Proctime && !w.Attached {
		w.assignNow(b)
		return nil
	}
	col := b.Cols[w.Time]
	times, valid := window.Times(col), col.Validity()
	if w.assignAll(b, times, valid) {
		return nil
	}
	rows, ends := w.room(b.Rows())
	kept := 0
	// Most rows are in the window of the row before: lo to hi are the times
	// that surely are.
	var end, lo, hi int64
	none, lateNow := false, false
	for i := range b.Rows() {
		p := b.At(i)
		if valid.IsNull(p) {
			return w.nullTime(p)
		}
		if ms := times[p]; ms < lo || ms >= hi {
			var last int64
			end, last, lo, hi = w.windowOf(ms)
			none = last < end
			lateNow = !none && !w.Proctime && w.Window.Due(last) <= w.wm
		}
		switch {
		case none:
		case lateNow:
			w.addLate(int32(p), end)
		default:
			rows[kept], ends[kept] = int32(p), end
			kept++
		}
	}
	w.rows, w.ends = rows[:kept], ends[:kept]
	return nil
}

// assignAll is assign for a batch whose rows all lie in one window, and in time:
// it returns false, and does nothing, for all others.
func (w *windowAgg) assignAll(b *batch.Batch, times []int64, valid batch.Bitmap) bool {
	least, most, ok := batch.Range(times, valid, b.Sel, b.Size())
	if !ok {
		return false
	}
	end, last, lo, hi := w.windowOf(least)
	if most >= hi || least < lo || last < end || w.Window.Due(last) <= w.wm {
		return false
	}
	w.assignTo(b, end)
	return true
}

// assignTo puts all rows into one window.
func (w *windowAgg) assignTo(b *batch.Batch, end int64) {
	_, ends := w.room(1)
	ends[0] = end
	w.rows, w.ends = b.Sel, ends
	if b.Sel == nil {
		w.rows = w.upTo(b.Size())
	}
}

// upTo returns 0, 1 up to n-1.
func (w *windowAgg) upTo(n int) []int32 {
	for len(w.numbers) < n {
		w.numbers = append(w.numbers, int32(len(w.numbers)))
	}
	return w.numbers[:n]
}

// room returns scratch for n rows.
func (w *windowAgg) room(n int) (rows []int32, ends []int64) {
	if cap(w.rowRoom) < n {
		w.rowRoom, w.endRoom = make([]int32, n), make([]int64, n)
	}
	return w.rowRoom[:n], w.endRoom[:n]
}

// assignNow gives all rows the time at which they come, which is behind all
// windows that were closed.
func (w *windowAgg) assignNow(b *batch.Batch) {
	now := max(w.ctx.Now(), w.wm+1)
	end, last, _, _ := w.windowOf(now)
	if w.assignTo(b, end); last < end {
		w.rows = nil
	}
}

// windowOf returns the end of a row's window, or of its slice where windows
// overlap; the end of the last window that has the row, which is smaller if none
// has; and a range of values of the time column for which all that is the same,
// which is empty where none is known.
func (w *windowAgg) windowOf(ms int64) (end, last, lo, hi int64) {
	if w.Attached {
		return ms, ms, ms, ms + 1
	}
	slice := w.Window.SliceOf(w.Window.Wall(ms))
	end, last = slice, w.Window.Last(slice)
	if w.slide == nil {
		end = w.Window.First(slice)
	}
	if w.Window.Zone != nil {
		return end, last, ms, ms
	}
	return end, last, slice - w.Window.Slice(), slice
}

func (w *windowAgg) nullTime(p int) error {
	name := w.In.Fields[w.Time].Name
	return fn.Failf(p, "column %q is NULL; a row without event time belongs to no window. Filter such rows out (WHERE %s IS NOT NULL)", name, name)
}

// add folds rows into a namespace of the table. It returns the slots of the
// rows' groups, and the indexes in slots of those that are new.
func (w *windowAgg) add(end int64, b *batch.Batch, keys *state.Keys) (slots, fresh []int32, err error) {
	space := w.table.Space(end)
	if cap(w.slots) < len(keys.Rows) {
		w.slots = make([]int32, max(len(keys.Rows), batch.DefaultSize))
	}
	slots = w.slots[:len(keys.Rows)]
	if fresh, err = space.Upsert(keys, slots); err != nil {
		return nil, nil, err
	}
	cols := space.Cols()
	for _, s := range w.distinct {
		if err := s.Pick(s.table.Space(end), b, keys, slots); err != nil {
			return nil, nil, err
		}
	}
	for i := range w.aggs {
		a := &w.aggs[i]
		if a.from == a.to {
			continue
		}
		if err := a.fold(cols[a.from:a.to], b, keys.Rows, slots); err != nil {
			return nil, nil, err
		}
	}
	if w.Updating {
		countRows(cols[0].(*batch.Slab[int64]), b, keys.Rows, slots)
	}
	space.Dirty(slots)
	return slots, fresh, nil
}

// countRows counts how many rows each group has.
func countRows(count *batch.Slab[int64], b *batch.Batch, rows, slots []int32) {
	for i, s := range slots {
		if b.Kind(int(rows[i])).IsAdd() {
			*count.At(s)++
		} else {
			*count.At(s)--
		}
	}
}

// fold gives an aggregate the rows that count for it.
func (a *placed) fold(st []batch.Column, b *batch.Batch, rows, slots []int32) error {
	if a.set == nil {
		return a.Fold(nil, st, b, rows, slots)
	}
	return a.Fold(&a.set.Distinct, st, b, rows, slots)
}
