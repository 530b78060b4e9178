package windowagg

import (
	"fmt"
	"slices"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/types"
)

// distinctSet knows which values of some columns were seen in each group and
// window, and how often. Aggregates over the same columns under the same
// filter share one.
type distinctSet struct {
	args   []int
	filter int
	// table counts the values of each window, or of each slice; slide those of
	// the window that is under way, where windows overlap.
	table, slide state.Table
	hash         []uint64
	// rows and slots are the result of pick: the rows of the current batch
	// that bring a new value (or take the last copy of one away), and their
	// groups' slots.
	rows, slots []int32
}

// distinctSet finds or makes the set that an aggregate needs.
func (w *windowAgg) distinctSet(c *op.Context, a Agg) (*distinctSet, error) {
	for _, s := range w.distinct {
		if slices.Equal(s.args, a.Args) && s.filter == a.Filter {
			return s, nil
		}
	}
	spec := state.Spec{
		Name:  fmt.Sprintf("distinct%d", len(w.distinct)),
		Key:   w.keyTypes(),
		Value: []types.Type{types.Of(types.BigInt).NotNull()},
	}
	spec.Columns = w.keyNames()
	for _, k := range a.Args {
		spec.Key = append(spec.Key, w.In.Fields[k].Type)
		spec.Columns = append(spec.Columns, w.In.Fields[k].Name)
	}
	spec.Columns = append(spec.Columns, "copies")
	t, err := c.State.Table(spec)
	if err != nil {
		return nil, err
	}
	s := &distinctSet{args: a.Args, filter: a.Filter, table: t}
	if w.overlapping() {
		spec.Name += "-slide"
		if s.slide, err = c.State.Table(spec); err != nil {
			return nil, err
		}
	}
	w.distinct = append(w.distinct, s)
	return s, nil
}

// pick counts the values of rows in a namespace of one of the set's tables, and
// finds the rows that bring new ones.
func (s *distinctSet) pick(table state.Table, ns int64, b *batch.Batch, keys *state.Keys, slots []int32) error {
	rows := keys.Rows
	if s.filter >= 0 {
		rows, slots = whereTrue(b.Cols[s.filter], rows, slots)
	}
	s.rows, s.slots = s.rows[:0], s.slots[:0]
	if len(rows) == 0 {
		return nil
	}
	own := &state.Keys{Group: keys.Hash, Rows: rows}
	own.Cols = append(own.Cols, keys.Cols...)
	for _, c := range s.args {
		own.Cols = append(own.Cols, b.Cols[c])
	}
	s.hash = batch.Hash(own.Cols, rows, b.Size(), s.hash)
	own.Hash = s.hash
	space := table.Space(ns)
	at := make([]int32, len(rows))
	if _, err := space.Upsert(own, at); err != nil {
		return err
	}
	count := space.Cols()[0].(*batch.Slab[int64])
	for i, p := range rows {
		n := count.At(at[i])
		add := b.Kind(int(p)).IsAdd()
		if add {
			*n++
		} else {
			*n--
		}
		if add && *n == 1 || !add && *n == 0 {
			s.rows, s.slots = append(s.rows, p), append(s.slots, slots[i])
		}
	}
	space.Dirty(at)
	return nil
}
