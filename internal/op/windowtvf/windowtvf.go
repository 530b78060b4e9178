// Package windowtvf is a window table function without aggregation: each row
// with the window_start, window_end and window_time of each of its windows.
// Sessions are elsewhere: their bounds are not known when a row comes.
package windowtvf

import (
	"slices"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/types"
)

// Config describes the function.
type Config struct {
	// Out is the input's columns followed by window_start, window_end and
	// window_time.
	Out *types.Schema
	// Time is the position of the time column.
	Time   int
	Window window.Assigner
	// Proctime is set where the time of a row is the time at which it comes.
	Proctime bool
}

type tvf struct {
	Config
	ctx *op.Context
	// b is the batch that is under way, next the first of its rows that was not
	// passed on yet.
	b    *batch.Batch
	next int
	// same are the columns of a window for rows that all lie in it: batches are
	// not changed any more, so they can share them.
	same    []batch.Vector
	sameEnd int64
}

// New returns the operator.
func New(c Config) op.Operator { return &tvf{Config: c} }

// Open implements op.Opener.
func (t *tvf) Open(c *op.Context) error { t.ctx = c; return nil }

// OnBatch implements op.Operator. Rows whose time is null belong to no window:
// they are dropped and counted.
func (t *tvf) OnBatch(_ int, b *batch.Batch, out op.Output) error {
	if valid := b.Cols[t.Time].Validity(); valid != nil && !t.Proctime {
		sel := make([]int32, 0, b.Rows())
		for i := range b.Rows() {
			if p := b.At(i); valid.Get(p) {
				sel = append(sel, int32(p))
			}
		}
		if dropped := b.Rows() - len(sel); dropped > 0 {
			t.ctx.Count("null_time_rows", int64(dropped))
			b = b.WithSel(sel)
		}
	}
	if !t.overlaps() {
		t.single(b, out)
		return nil
	}
	t.b, t.next = b, 0
	_, err := t.Resume(out)
	return err
}

// overlaps reports whether a row may have several windows.
func (t *tvf) overlaps() bool {
	return t.Window.Kind != window.Tumble && t.Window.Slide < t.Window.Size
}

// single gives each row its one window: the rows stay where they are, and their
// other columns, too. Rows in the gaps between windows are left out.
func (t *tvf) single(b *batch.Batch, out op.Output) {
	times, n := t.times(b), b.Size()
	if cols := t.inOne(b, times); cols != nil {
		out.Emit(b.WithCols(t.Out, append(slices.Clip(b.Cols), cols...)))
		return
	}
	starts, ends, marks := make([]int64, n), make([]int64, n), make([]int64, n)
	rows := make([]int32, 0, b.Rows())
	// Most rows are in the window of the row before: lo to hi are the times that
	// surely are.
	var start, end, mark, lo, hi int64
	for i := range b.Rows() {
		p := b.At(i)
		if ms := times[p]; ms < lo || ms >= hi {
			slice := t.Window.SliceOf(t.Window.Wall(ms))
			first := t.Window.First(slice)
			if t.Window.Last(slice) < first {
				continue
			}
			start, end, mark = t.Window.Start(first), first, t.Window.Time(first)
			if t.Window.Zone == nil {
				lo, hi = slice-t.Window.Slice(), slice
			}
		}
		starts[p], ends[p], marks[p] = start, end, mark
		rows = append(rows, int32(p))
	}
	switch {
	case len(rows) == 0:
		return
	case len(rows) < b.Rows():
		b = b.WithSel(rows)
	}
	t.send(b, starts, ends, marks, out)
}

// inOne returns the columns of the window if all rows lie in one.
func (t *tvf) inOne(b *batch.Batch, times []int64) []batch.Vector {
	least, most, ok := batch.Range(times, nil, b.Sel, b.Size())
	if !ok || t.Window.Zone != nil {
		return nil
	}
	slice := t.Window.SliceOf(least)
	end := t.Window.First(slice)
	if most >= slice || t.Window.Last(slice) < end {
		return nil
	}
	n := b.Size()
	if t.same == nil || t.sameEnd != end || t.same[0].Len() < n {
		all := func(ms int64) []int64 { return slices.Repeat([]int64{ms}, max(n, batch.DefaultSize)) }
		t.sameEnd, t.same = end, t.columns(len(b.Cols), all(t.Window.Start(end)), all(end), all(t.Window.Time(end)))
	}
	cols := make([]batch.Vector, len(t.same))
	for i, v := range t.same {
		cols[i] = v.Slice(0, n)
	}
	return cols
}

// columns makes the columns that tell of windows, which stand behind others.
func (t *tvf) columns(behind int, starts, ends, marks []int64) []batch.Vector {
	var out []batch.Vector
	for i, ms := range [][]int64{starts, ends, marks} {
		out = append(out, window.TimeVector(t.Out.Fields[behind+i].Type, ms))
	}
	return out
}

// send emits rows with their windows.
func (t *tvf) send(b *batch.Batch, starts, ends, marks []int64, out op.Output) {
	out.Emit(b.WithCols(t.Out, append(slices.Clip(b.Cols), t.columns(len(b.Cols), starts, ends, marks)...)))
}

// outRows is about the number of rows in a batch of results.
const outRows = 4096

// Resume implements op.Resumer: a row may have very many windows.
func (t *tvf) Resume(out op.Output) (bool, error) {
	for t.b != nil {
		if out.Full() {
			return true, nil
		}
		t.emit(out)
		if t.next == t.b.Rows() {
			t.b = nil
		}
	}
	return false, nil
}

// emit passes on the next rows, one for each of their windows.
func (t *tvf) emit(out op.Output) {
	b := t.b
	times := t.times(b)
	var rows []int32
	var starts, ends, marks []int64
	same := true
	for ; t.next < b.Rows() && len(ends) < outRows; t.next++ {
		p := b.At(t.next)
		slice := t.Window.SliceOf(t.Window.Wall(times[p]))
		for end := t.Window.First(slice); end <= t.Window.Last(slice); end += t.Window.Step() {
			rows = append(rows, int32(p))
			same = same && len(rows)-1 == p
			starts, ends, marks = append(starts, t.Window.Start(end)), append(ends, end), append(marks, t.Window.Time(end))
		}
	}
	if !same || len(rows) != b.Size() {
		b = b.Take(rows)
	}
	t.send(b, starts, ends, marks, out)
}

// times returns the times of a batch's rows, by position.
func (t *tvf) times(b *batch.Batch) []int64 {
	if !t.Proctime {
		return window.Times(b.Cols[t.Time])
	}
	out := make([]int64, b.Size())
	now := t.ctx.Now()
	for i := range out {
		out[i] = now
	}
	return out
}
