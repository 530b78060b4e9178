// Package windowtvf is a window table function without aggregation: each row
// with the window_start, window_end and window_time of its window.
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
	Tumble window.Tumble
}

type tvf struct {
	Config
	ctx *op.Context
}

// New returns the operator.
func New(c Config) op.Operator { return &tvf{Config: c} }

// Open implements op.Opener.
func (t *tvf) Open(c *op.Context) error { t.ctx = c; return nil }

// OnBatch implements op.Operator. Rows whose time is null belong to no window:
// they are dropped and counted.
func (t *tvf) OnBatch(_ int, b *batch.Batch, out op.Output) error {
	col := b.Cols[t.Time]
	times, valid := window.Times(col), col.Validity()
	if valid != nil {
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
	n := b.Size()
	starts, ends, marks := make([]int64, n), make([]int64, n), make([]int64, n)
	for i := range b.Rows() {
		p := b.At(i)
		end := t.Tumble.End(times[p])
		starts[p], ends[p], marks[p] = end-t.Tumble.Size, end, t.Tumble.Due(end)
	}
	cols := append(make([]batch.Vector, 0, len(b.Cols)+3), b.Cols...)
	for i, ms := range [][]int64{starts, ends, marks} {
		cols = append(cols, window.TimeVector(t.Out.Fields[len(b.Cols)+i].Type, ms))
	}
	out.Emit(b.WithCols(t.Out, cols))
	return nil
}
