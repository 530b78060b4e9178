// Package windowtvf is a window table function without aggregation: each row
// with the window_start, window_end and window_time of each of its windows.
// Sessions are elsewhere: their bounds are not known when a row comes.
package windowtvf

import (
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
	t.b, t.next = b, 0
	_, err := t.Resume(out)
	return err
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
			starts, ends, marks = append(starts, t.Window.Start(end)), append(ends, end), append(marks, t.Window.Due(end))
		}
	}
	if !same || len(rows) != b.Size() {
		b = b.Take(rows)
	}
	cols := append(make([]batch.Vector, 0, len(b.Cols)+3), b.Cols...)
	for i, ms := range [][]int64{starts, ends, marks} {
		cols = append(cols, window.TimeVector(t.Out.Fields[len(b.Cols)+i].Type, ms))
	}
	out.Emit(b.WithCols(t.Out, cols))
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
