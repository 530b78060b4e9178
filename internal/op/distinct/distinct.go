// Package distinct is SELECT DISTINCT: each row once, as long as the input has
// at least one copy of it.
package distinct

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/types"
)

type distinct struct {
	schema *types.Schema
	table  state.Table
	hash   []uint64
	slots  []int32
}

// New returns the operator; input and output have the same columns.
func New(schema *types.Schema) op.Operator { return &distinct{schema: schema} }

// Open implements op.Opener. The value is the number of copies.
func (d *distinct) Open(c *op.Context) (err error) {
	d.table, err = c.State.Table(state.Spec{
		Name: "rows", Key: d.schema.Types(), Value: []types.Type{types.Of(types.BigInt).NotNull()},
	})
	return err
}

// OnBatch implements op.Operator.
func (d *distinct) OnBatch(_ int, b *batch.Batch, out op.Output) error {
	n := b.Rows()
	if n == 0 {
		return nil
	}
	rows := make([]int32, n)
	for i := range rows {
		rows[i] = int32(b.At(i))
	}
	d.hash = batch.Hash(b.Cols, b.Sel, b.Size(), d.hash)
	if cap(d.slots) < n {
		d.slots = make([]int32, max(n, batch.DefaultSize))
	}
	slots := d.slots[:n]
	space := d.table.Space(0)
	if _, err := space.Upsert(&state.Keys{Cols: b.Cols, Hash: d.hash, Rows: rows}, slots); err != nil {
		return err
	}
	count := space.Cols()[0].(*batch.Slab[int64])
	var sel []int32
	var gone []int32
	for i, p := range rows {
		c := count.At(slots[i])
		if b.Kind(int(p)).IsAdd() {
			if *c++; *c == 1 {
				sel = append(sel, p)
			}
			continue
		}
		// A retraction of a row that never came changes nothing.
		if *c == 0 {
			gone = append(gone, slots[i])
			continue
		}
		if *c--; *c == 0 {
			sel = append(sel, p)
			gone = append(gone, slots[i])
		}
	}
	space.Dirty(slots)
	if sel != nil {
		out.Emit(d.changes(b, sel))
	}
	d.forget(space, count, gone)
	return nil
}

// changes returns the given rows as +I and -D.
func (d *distinct) changes(b *batch.Batch, sel []int32) *batch.Batch {
	b = b.WithCols(d.schema, b.Cols).WithSel(sel)
	if b.Kinds == nil {
		return b
	}
	kinds := make([]types.RowKind, len(b.Kinds))
	for _, p := range sel {
		if !b.Kinds[p].IsAdd() {
			kinds[p] = types.Delete
		}
	}
	b.Kinds = kinds
	return b
}

// forget removes the rows that have no copy left. A row may stand in gone
// twice, or have come back within the batch.
func (d *distinct) forget(space state.Space, count *batch.Slab[int64], gone []int32) {
	seen := make(map[int32]bool, len(gone))
	var del []int32
	for _, s := range gone {
		if !seen[s] && *count.At(s) == 0 {
			del = append(del, s)
		}
		seen[s] = true
	}
	if del != nil {
		space.Delete(del)
	}
}
