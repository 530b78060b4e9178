// Package distinct is SELECT DISTINCT: each row once, as long as the input has
// at least one copy of it.
//
// With a time to live, a row that has not come for so long counts as new. One that
// does come, and changes nothing, is then told again as an update, so that
// operators behind do not forget it.
package distinct

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/types"
)

type distinct struct {
	schema *types.Schema
	ttl    int64
	table  state.Table
	hash   []uint64
	slots  []int32
}

// New returns the operator; input and output have the same columns. ttl is the
// time to live in ms, 0 for ever.
func New(schema *types.Schema, ttl int64) op.Operator { return &distinct{schema: schema, ttl: ttl} }

// Open implements op.Opener. The value is the number of copies.
func (d *distinct) Open(c *op.Context) (err error) {
	d.table, err = c.State.Table(state.Spec{
		Name: "rows", Key: d.schema.Types(), Value: []types.Type{types.Of(types.BigInt).NotNull()}, TTL: d.ttl,
		Columns: append(d.schema.Names(), "copies"),
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
	var to changes
	var gone []int32
	for i, p := range rows {
		c := count.At(slots[i])
		if b.Kind(int(p)).IsAdd() {
			if *c++; *c == 1 {
				to.add(p, types.Insert)
			} else if d.ttl > 0 {
				to.again(p)
			}
			continue
		}
		// A retraction of a row that never came changes nothing.
		if *c == 0 {
			gone = append(gone, slots[i])
			continue
		}
		if *c--; *c == 0 {
			to.add(p, types.Delete)
			gone = append(gone, slots[i])
		} else if d.ttl > 0 {
			to.again(p)
		}
	}
	space.Dirty(slots)
	if len(to.rows) > 0 {
		out.Emit(to.of(d.schema, b))
	}
	d.forget(space, count, gone)
	return nil
}

// changes are rows of a batch to emit, and their kinds.
type changes struct {
	rows  []int32
	kinds []types.RowKind
	// repeats is set if a row is in it twice.
	repeats bool
}

func (c *changes) add(row int32, kind types.RowKind) {
	c.rows = append(c.rows, row)
	c.kinds = append(c.kinds, kind)
}

// again says that a row is what it was.
func (c *changes) again(row int32) {
	c.repeats = true
	c.add(row, types.UpdateBefore)
	c.add(row, types.UpdateAfter)
}

// of returns the changes as a batch.
func (c *changes) of(schema *types.Schema, b *batch.Batch) *batch.Batch {
	if !c.repeats {
		b, kinds := b.WithCols(schema, b.Cols).WithSel(c.rows), b.Kinds
		if kinds == nil {
			return b
		}
		b.Kinds = make([]types.RowKind, len(kinds))
		for i, p := range c.rows {
			b.Kinds[p] = c.kinds[i]
		}
		return b
	}
	cols := make([]batch.Vector, len(b.Cols))
	for i, v := range b.Cols {
		cols[i] = batch.Take(v, c.rows)
	}
	out := batch.Of(schema, cols, len(c.rows))
	out.Kinds = c.kinds
	return out
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
