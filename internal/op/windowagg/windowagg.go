// Package windowagg aggregates rows by key and window. Each window is a
// namespace of one table, so firing a window is a scan of its namespace, and
// forgetting it is a drop.
package windowagg

import (
	"errors"
	"math"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

// Prop is a property of the window that the output shows.
type Prop uint8

// The properties: window_start, window_end, window_time.
const (
	Start Prop = iota
	End
	Time
)

// Agg is one aggregate.
type Agg struct {
	Bound *fn.BoundAgg
	// Args are positions of input columns, of the types in Bound.Params.
	Args []int
	// Filter is the position of a BOOLEAN column, or -1: rows where it is not
	// true do not count.
	Filter int
	// Distinct counts each value of Args once a group and window.
	Distinct bool
}

// Config describes the operator.
type Config struct {
	// In is the input; Out has the key columns, then the aggregates, then Props.
	In, Out *types.Schema
	// Keys are positions of input columns; none for a global aggregate.
	Keys []int
	Aggs []Agg
	// Time is the position of the time column, which Tumble cuts into windows;
	// or of a window_end column where Attached is set.
	Time     int
	Attached bool
	Tumble   window.Tumble
	Props    []Prop
	// Updating is set where the input holds -U and -D rows.
	Updating bool
}

// New returns the operator.
func New(c Config) op.Operator { return &windowAgg{Config: c, wm: op.MinWatermark} }

type windowAgg struct {
	Config
	ctx      *op.Context
	table    state.Table
	distinct []*distinctSet
	// aggs[i] says where the accumulator of Aggs[i] stands in the table.
	aggs []placed
	wm   int64
	// due are the ends of windows that wait to be fired.
	due []int64

	hash  []uint64
	rows  []int32
	ends  []int64
	slots []int32
}

type placed struct {
	Agg
	from, to int
	// set is the distinct set that the aggregate takes its rows from, or nil.
	set *distinctSet
}

// Open implements op.Opener.
func (w *windowAgg) Open(c *op.Context) error {
	w.ctx = c
	spec := state.Spec{Name: "windows"}
	for _, k := range w.Keys {
		spec.Key = append(spec.Key, w.In.Fields[k].Type)
	}
	if w.Updating {
		spec.Value = append(spec.Value, types.Of(types.BigInt).NotNull())
	}
	for _, a := range w.Aggs {
		p := placed{Agg: a, from: len(spec.Value)}
		spec.Value = append(spec.Value, a.Bound.State...)
		p.to = len(spec.Value)
		if a.Distinct {
			var err error
			if p.set, err = w.distinctSet(c, a); err != nil {
				return err
			}
		}
		w.aggs = append(w.aggs, p)
	}
	var err error
	w.table, err = c.State.Table(spec)
	return err
}

// OnBatch implements op.Operator.
func (w *windowAgg) OnBatch(_ int, b *batch.Batch, _ op.Output) error {
	if err := w.assign(b); err != nil {
		return err
	}
	if len(w.rows) == 0 {
		return nil
	}
	keys := &state.Keys{Cols: make([]batch.Vector, len(w.Keys)), Hash: w.hashes(b)}
	for i, k := range w.Keys {
		keys.Cols[i] = b.Cols[k]
	}
	return eachWindow(w.ends, w.rows, func(end int64, rows []int32) error {
		keys.Rows = rows
		return w.add(end, b, keys)
	})
}

func (w *windowAgg) hashes(b *batch.Batch) []uint64 {
	cols := make([]batch.Vector, len(w.Keys))
	for i, k := range w.Keys {
		cols[i] = b.Cols[k]
	}
	w.hash = batch.Hash(cols, b.Sel, b.Size(), w.hash)
	return w.hash
}

// assign finds the window of each row. It leaves in w.rows the positions of
// the rows that are not late, and in w.ends the ends of their windows.
func (w *windowAgg) assign(b *batch.Batch) error {
	col := b.Cols[w.Time]
	times, valid := window.Times(col), col.Validity()
	n := b.Rows()
	if cap(w.rows) < n {
		w.rows, w.ends = make([]int32, n), make([]int64, n)
	}
	rows, ends, kept := w.rows[:n], w.ends[:n], 0
	// Most rows are in the window of the row before: lo to hi are the times
	// that surely are.
	var end, lo, hi int64
	late, lateNow := 0, false
	for i := range n {
		p := b.At(i)
		if valid.IsNull(p) {
			return w.nullTime(p)
		}
		if ms := times[p]; ms < lo || ms >= hi {
			end, lo, hi = w.windowOf(ms)
			lateNow = w.Tumble.Due(end) <= w.wm
		}
		if lateNow {
			late++
			if late == 1 {
				w.sampleLate(times[p])
			}
			continue
		}
		rows[kept], ends[kept] = int32(p), end
		kept++
	}
	w.rows, w.ends = rows[:kept], ends[:kept]
	if late > 0 {
		w.ctx.Count("late_rows", int64(late))
	}
	return nil
}

// windowOf returns the end of a row's window, and a range of values of the
// time column that are in the same window, which is empty where none is known.
func (w *windowAgg) windowOf(ms int64) (end, lo, hi int64) {
	if w.Attached {
		return ms, ms, ms + 1
	}
	end = w.Tumble.End(ms)
	if w.Tumble.Zone != nil {
		return end, ms, ms
	}
	return end, end - w.Tumble.Size, end
}

func (w *windowAgg) nullTime(p int) error {
	name := w.In.Fields[w.Time].Name
	return fn.Failf(p, "column %q is NULL; a row without event time belongs to no window. Filter such rows out (WHERE %s IS NOT NULL)", name, name)
}

func (w *windowAgg) sampleLate(ms int64) {
	wm := w.wm
	w.ctx.Sample("late_rows", func() string {
		return "a row of " + timeText(ms) + " came when the watermark was " + timeText(wm)
	})
}

func timeText(ms int64) string {
	return string(text.AppendTimestamp(nil, types.TS{Ms: ms}, 3))
}

// add folds the rows of one window in.
func (w *windowAgg) add(end int64, b *batch.Batch, keys *state.Keys) error {
	space := w.table.Space(end)
	if cap(w.slots) < len(keys.Rows) {
		w.slots = make([]int32, max(len(keys.Rows), batch.DefaultSize))
	}
	slots := w.slots[:len(keys.Rows)]
	if _, err := space.Upsert(keys, slots); err != nil {
		return err
	}
	cols := space.Cols()
	for _, s := range w.distinct {
		if err := s.pick(end, b, keys, slots); err != nil {
			return err
		}
	}
	for i := range w.aggs {
		a := &w.aggs[i]
		if err := w.fold(a, cols[a.from:a.to], b, keys.Rows, slots); err != nil {
			return err
		}
	}
	if w.Updating {
		count := cols[0].(*batch.Slab[int64])
		for i, s := range slots {
			*count.At(s) += delta(b.Kind(int(keys.Rows[i])))
		}
	}
	space.Dirty(slots)
	return nil
}

func delta(k types.RowKind) int64 {
	if k.IsAdd() {
		return 1
	}
	return -1
}

// fold gives an aggregate the rows that count for it.
func (w *windowAgg) fold(a *placed, st []batch.Column, b *batch.Batch, rows, slots []int32) error {
	switch {
	case a.set != nil:
		rows, slots = a.set.rows, a.set.slots
	case a.Filter >= 0:
		rows, slots = whereTrue(b.Cols[a.Filter], rows, slots)
	}
	args := make([]batch.Vector, len(a.Args))
	for i, c := range a.Args {
		args[i] = b.Cols[c]
	}
	return signed(b, rows, func(from, to int, add bool) error {
		if add {
			return a.Bound.Agg.Add(st, slots[from:to], args, rows[from:to])
		}
		return a.Bound.Agg.Retract(st, slots[from:to], args, rows[from:to])
	})
}

// whereTrue keeps the rows where a BOOLEAN column is true.
func whereTrue(v batch.Vector, rows, slots []int32) (r, s []int32) {
	f := v.(*batch.Fixed[bool])
	r, s = make([]int32, 0, len(rows)), make([]int32, 0, len(rows))
	for i, p := range rows {
		if f.Values[p] && f.Valid.Get(int(p)) {
			r, s = append(r, p), append(s, slots[i])
		}
	}
	return r, s
}

// signed calls f for the runs of rows that all add, or all take away.
func signed(b *batch.Batch, rows []int32, f func(from, to int, add bool) error) error {
	if b.Kinds == nil {
		if len(rows) == 0 {
			return nil
		}
		return f(0, len(rows), true)
	}
	for from := 0; from < len(rows); {
		add, to := b.Kinds[rows[from]].IsAdd(), from+1
		for to < len(rows) && b.Kinds[rows[to]].IsAdd() == add {
			to++
		}
		if err := f(from, to, add); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// errFull stops a scan when the output has no room left.
var errFull = errors.New("output full")

// OnWatermark implements op.WatermarkHandler.
func (w *windowAgg) OnWatermark(wm int64, out op.Output) (int64, error) {
	w.wm = wm
	first, ok, err := w.table.First()
	if err != nil || !ok || w.Tumble.Due(first) > wm {
		return wm, err
	}
	upTo := wm
	if wm < math.MaxInt64-zoneSlack {
		upTo = wm + zoneSlack
	}
	all, err := w.table.Namespaces(upTo)
	if err != nil {
		return wm, err
	}
	for _, end := range all {
		if w.Tumble.Due(end) <= wm {
			w.due = append(w.due, end)
		}
	}
	_, err = w.Resume(out)
	return wm, err
}

// zoneSlack is more than any zone is away from UTC, in ms, and more than the
// 1 ms between a window's last instant and its end.
const zoneSlack = 26 * 3600_000

// Resume implements op.Resumer: it fires windows as long as there is room.
func (w *windowAgg) Resume(out op.Output) (bool, error) {
	for len(w.due) > 0 {
		if out.Full() {
			return true, nil
		}
		if err := w.fire(w.due[0], out); err == errFull {
			return true, nil
		} else if err != nil {
			return false, err
		}
		w.due = w.due[1:]
	}
	return false, nil
}

// fireRows is the number of rows in a batch of results.
const fireRows = 2048

// fire emits a window's rows and drops the window. If the output fills up it
// removes what it has emitted and returns errFull.
func (w *windowAgg) fire(end int64, out op.Output) error {
	space := w.table.Space(end)
	var done []int32
	err := space.Scan(fireRows, func(slots []int32) error {
		if out.Full() {
			return errFull
		}
		done = append(done, slots...)
		return w.emit(space, end, slots, out)
	})
	if err == errFull {
		space.Delete(done)
		return err
	}
	if err != nil {
		return err
	}
	for _, s := range w.distinct {
		if err := s.table.Drop(end); err != nil {
			return err
		}
	}
	return w.table.Drop(end)
}

func (w *windowAgg) emit(space state.Space, end int64, slots []int32, out op.Output) error {
	st := space.Cols()
	if w.Updating {
		slots = w.alive(st[0].(*batch.Slab[int64]), slots)
	}
	cols := make([]batch.Vector, 0, len(w.Out.Fields))
	cols = append(cols, space.Keys(slots)...)
	for _, a := range w.aggs {
		v, err := a.Bound.Agg.Result(st[a.from:a.to], slots)
		if err != nil {
			return err
		}
		cols = append(cols, v)
	}
	for _, p := range w.Props {
		cols = append(cols, w.prop(p, end, len(slots), w.Out.Fields[len(cols)].Type))
	}
	for i, f := range w.Out.Fields {
		cols[i] = cols[i].WithType(f.Type)
	}
	out.Emit(batch.Of(w.Out, cols, len(slots)))
	return nil
}

// alive leaves out groups whose rows were all taken back.
func (w *windowAgg) alive(count *batch.Slab[int64], slots []int32) []int32 {
	out := make([]int32, 0, len(slots))
	for _, s := range slots {
		if *count.At(s) > 0 {
			out = append(out, s)
		}
	}
	return out
}

func (w *windowAgg) prop(p Prop, end int64, n int, t types.Type) batch.Vector {
	ms := end
	switch p {
	case Start:
		ms = end - w.Tumble.Size
	case Time:
		ms = w.Tumble.Due(end)
	}
	all := make([]int64, n)
	for i := range all {
		all[i] = ms
	}
	return window.TimeVector(t, all)
}
