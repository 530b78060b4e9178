// Package union is UNION ALL: the rows of all inputs under one schema.
package union

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/types"
)

type union struct{ out *types.Schema }

// New returns the operator. Inputs have the columns of out by position; their
// values have the same physical form.
func New(out *types.Schema) op.Operator { return &union{out} }

// OnBatch implements op.Operator.
func (u *union) OnBatch(_ int, b *batch.Batch, out op.Output) error {
	cols := make([]batch.Vector, len(b.Cols))
	for i, c := range b.Cols {
		cols[i] = c.WithType(u.out.Fields[i].Type)
	}
	out.Emit(b.WithCols(u.out, cols))
	return nil
}
