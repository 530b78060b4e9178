// Package notnull leaves out rows that a sink cannot take, because a NULL
// stands where the sink's column is NOT NULL
// (table.exec.sink.not-null-enforcer = DROP). It counts them, and keeps no
// state.
package notnull

import (
	"fmt"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/types"
)

// Counter is the name of the counter of rows that were left out.
const Counter = "not_null_rows"

type notNull struct {
	out  *types.Schema
	cols []int
	ctx  *op.Context
}

// New returns the operator. The input has the columns of out, but those at the
// positions cols, which are NOT NULL in out, may hold NULLs.
func New(out *types.Schema, cols []int) op.Operator { return &notNull{out: out, cols: cols} }

// Open implements op.Opener.
func (n *notNull) Open(c *op.Context) error { n.ctx = c; return nil }

// OnBatch implements op.Operator.
func (n *notNull) OnBatch(_ int, b *batch.Batch, out op.Output) error {
	cols := append(make([]batch.Vector, 0, len(b.Cols)), b.Cols...)
	for _, c := range n.cols {
		if valid := cols[c].Validity(); valid != nil {
			b = n.drop(b, c, valid)
		}
		cols[c] = cols[c].WithType(n.out.Fields[c].Type)
	}
	out.Emit(b.WithCols(n.out, cols))
	return nil
}

// drop leaves the rows out that have a NULL in column c.
func (n *notNull) drop(b *batch.Batch, c int, valid batch.Bitmap) *batch.Batch {
	sel := make([]int32, 0, b.Rows())
	for i := range b.Rows() {
		if p := b.At(i); valid.Get(p) {
			sel = append(sel, int32(p))
		}
	}
	dropped := b.Rows() - len(sel)
	if dropped == 0 {
		return b
	}
	n.ctx.Count(Counter, int64(dropped))
	n.ctx.Sample(Counter, func() string {
		return fmt.Sprintf("a NULL for column %q", n.out.Fields[c].Name)
	})
	return b.WithSel(sel)
}
