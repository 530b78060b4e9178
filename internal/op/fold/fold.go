// Package fold gives aggregates the rows that count for them: those for which a
// FILTER is true, each value once where DISTINCT is asked for, and takes back the
// rows of updates and deletes.
package fold

import (
	"slices"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/state"
)

// Agg is one aggregate.
type Agg struct {
	Bound *fn.BoundAgg
	// Args are positions of input columns, of the types in Bound.Params.
	Args []int
	// Filter is the position of a BOOLEAN column, or -1: rows where it is not
	// true do not count.
	Filter int
	// Distinct counts each value of Args once a group.
	Distinct bool
}

// Fold gives an aggregate rows of a batch, whose accumulators are at slots of st.
// set is that of a distinct aggregate, whose Pick was called for the rows; nil for
// others.
func (a *Agg) Fold(set *Distinct, st []batch.Column, b *batch.Batch, rows, slots []int32) error {
	switch {
	case set != nil:
		rows, slots = set.rows, set.slots
	case a.Filter >= 0:
		rows, slots = whereTrue(b.Cols[a.Filter], rows, slots)
	}
	args := make([]batch.Vector, len(a.Args))
	for i, c := range a.Args {
		args[i] = b.Cols[c]
	}
	return signed(b, rows, func(from, to int, add bool) error {
		if add {
			return a.Bound.Agg.Add(st, slots[from:to], args, rows[from:to])
		}
		return a.Bound.Agg.Retract(st, slots[from:to], args, rows[from:to])
	})
}

// whereTrue keeps the rows where a BOOLEAN column is true.
func whereTrue(v batch.Vector, rows, slots []int32) (r, s []int32) {
	f := v.(*batch.Fixed[bool])
	r, s = make([]int32, 0, len(rows)), make([]int32, 0, len(rows))
	for i, p := range rows {
		if f.Values[p] && f.Valid.Get(int(p)) {
			r, s = append(r, p), append(s, slots[i])
		}
	}
	return r, s
}

// signed calls f for the runs of rows that all add, or all take away.
func signed(b *batch.Batch, rows []int32, f func(from, to int, add bool) error) error {
	if b.Kinds == nil {
		if len(rows) == 0 {
			return nil
		}
		return f(0, len(rows), true)
	}
	for from := 0; from < len(rows); {
		add, to := b.Kinds[rows[from]].IsAdd(), from+1
		for to < len(rows) && b.Kinds[rows[to]].IsAdd() == add {
			to++
		}
		if err := f(from, to, add); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// Distinct finds the rows that bring a new value of some columns. Aggregates over
// the same columns under the same filter share one.
type Distinct struct {
	Args   []int
	Filter int
	// Forget removes values of which no copy is left.
	Forget bool
	hash   []uint64
	// rows and slots are the result of Pick: the rows that bring a new value, or
	// take the last copy of one away, and their groups' slots.
	rows, slots []int32
}

// Pick counts the values of rows, the keys of whose groups are given, in a table
// of the keys, the values, and the number of copies. slots are those of the rows'
// groups, for Fold.
func (d *Distinct) Pick(space state.Space, b *batch.Batch, keys *state.Keys, slots []int32) error {
	rows := keys.Rows
	if d.Filter >= 0 {
		rows, slots = whereTrue(b.Cols[d.Filter], rows, slots)
	}
	d.rows, d.slots = d.rows[:0], d.slots[:0]
	if len(rows) == 0 {
		return nil
	}
	own := &state.Keys{Group: keys.Hash, Rows: rows}
	own.Cols = append(own.Cols, keys.Cols...)
	for _, c := range d.Args {
		own.Cols = append(own.Cols, b.Cols[c])
	}
	d.hash = batch.Hash(own.Cols, rows, b.Size(), d.hash)
	own.Hash = d.hash
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
			d.rows, d.slots = append(d.rows, p), append(d.slots, slots[i])
		}
	}
	space.Dirty(at)
	if d.Forget {
		forget(space, count, at)
	}
	return nil
}

// forget removes the values that have no copies.
func forget(space state.Space, count *batch.Slab[int64], at []int32) {
	var none []int32
	for _, s := range at {
		if *count.At(s) == 0 {
			none = append(none, s)
		}
	}
	slices.Sort(none)
	if none = slices.Compact(none); len(none) > 0 {
		space.Delete(none)
	}
}
