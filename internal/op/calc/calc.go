// Package calc is the operator that filters and projects rows. It keeps no
// state.
package calc

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/types"
)

// Config is what the operator does with each batch.
type Config struct {
	Out *types.Schema
	// Filter returns the positions, among those that the batch selects, of
	// the rows to keep. Nil keeps all.
	Filter func(b *batch.Batch) ([]int32, error)
	// Project computes the output columns at the batch's positions. Nil keeps
	// the columns as they are, under the names of Out.
	Project func(b *batch.Batch) ([]batch.Vector, error)
	// Time is told the watermark, for a Filter or a Project that asks for it. Nil
	// if none does.
	Time *Time
}

// Time is the watermark that an operator has seen.
type Time struct{ wm int64 }

// NewTime returns one of an operator that has seen none.
func NewTime() *Time { return &Time{op.MinWatermark} }

// Watermark returns it; op.MinWatermark if there was none yet.
func (t *Time) Watermark() int64 { return t.wm }

type calc struct{ Config }

// timed is a calc that has to know the watermark.
type timed struct{ calc }

// New returns the operator.
func New(c Config) op.Operator {
	if c.Time != nil {
		return &timed{calc{c}}
	}
	return &calc{c}
}

// OnWatermark implements op.WatermarkHandler.
func (t *timed) OnWatermark(wm int64, _ op.Output) (int64, error) {
	t.Time.wm = wm
	return wm, nil
}

// OnBatch implements op.Operator.
func (c *calc) OnBatch(_ int, b *batch.Batch, out op.Output) error {
	if c.Filter != nil {
		sel, err := c.Filter(b)
		if err != nil {
			return err
		}
		if len(sel) == 0 && b.Rows() > 0 {
			return nil
		}
		if len(sel) < b.Size() {
			b = b.WithSel(sel)
		}
	}
	cols := b.Cols
	if c.Project != nil {
		var err error
		if cols, err = c.Project(b); err != nil {
			return err
		}
	}
	out.Emit(b.WithCols(c.Out, cols))
	return nil
}
