// Package limit is LIMIT and OFFSET over rows in arrival order. It runs as one
// instance.
package limit

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/types"
)

type limit struct {
	offset, limit int64
	table         state.Table
}

// New returns the operator: it drops the first offset rows and passes the next
// n on. The input is insert-only.
func New(offset, n int64) op.Operator { return &limit{offset: offset, limit: n} }

// Open implements op.Opener. The only state is how many rows have come.
func (l *limit) Open(c *op.Context) (err error) {
	l.table, err = c.State.Table(state.Spec{
		Name: "seen", Value: []types.Type{types.Of(types.BigInt).NotNull()}, ByTask: true,
	})
	return err
}

// OnBatch implements op.Operator.
func (l *limit) OnBatch(_ int, b *batch.Batch, out op.Output) error {
	space := l.table.Space(0)
	slots := make([]int32, 1)
	if _, err := space.Upsert(&state.Keys{Hash: batch.Hash(nil, nil, 1, nil), Rows: []int32{0}}, slots); err != nil {
		return err
	}
	seen := space.Cols()[0].(*batch.Slab[int64]).At(slots[0])
	n := int64(b.Rows())
	first := min(max(l.offset-*seen, 0), n)
	last := min(max(l.offset+l.limit-*seen, first), n)
	if *seen < l.offset+l.limit {
		*seen += n
		space.Dirty(slots)
	}
	if first == 0 && last == n {
		out.Emit(b)
		return nil
	}
	if first == last {
		return nil
	}
	sel := make([]int32, 0, last-first)
	for i := first; i < last; i++ {
		sel = append(sel, int32(b.At(int(i))))
	}
	out.Emit(b.WithSel(sel))
	return nil
}
