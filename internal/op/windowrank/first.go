package windowrank

import (
	"bytes"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/types"
)

// first keeps one row of each key: with its place in the order, then the columns.
type first struct {
	*rank
	rows state.Table
	seen chosen
}

// placeName is the name of a row's place; it must be none of an input's columns.
const placeName = "place in the order"

var placeType = types.Of(types.Varbinary).NotNull()

func (f *first) open(s state.Store) (err error) {
	spec := state.Spec{Name: "first", Key: f.types(f.Keys), Value: []types.Type{placeType}, Columns: f.keyNames(placeName)}
	f.rows, err = s.Table(op.PassedOn(spec, f.In, f.values))
	return err
}

func (f *first) table() state.Table { return f.rows }

func (f *first) drop(end int64) error { return f.rows.Drop(end) }

func (f *first) column(c int, space state.Space, slots []int32) batch.Vector {
	return f.value(c, 1, space, slots)
}

func (f *first) live(_ int64, _ state.Space, slots []int32) ([]int32, error) { return slots, nil }

// add replaces the rows of keys for which a better one came.
func (f *first) add(end int64, b *batch.Batch, keys *state.Keys) error {
	n := len(keys.Rows)
	enc := f.encode(b, keys.Rows)
	slots := f.room(n)
	space := f.rows.Space(end)
	fresh, err := space.Upsert(keys, slots)
	if err != nil {
		return err
	}
	cols := space.Cols()
	places := cols[0].(*batch.BytesSlab)
	f.seen.reset(n)
	for i := range int32(n) {
		at := f.seen.at(slots[i])
		switch {
		case len(fresh) > 0 && fresh[0] == i:
			fresh = fresh[1:]
			*at = i
		case *at >= 0 && f.better(enc.at(i), enc.at(*at)):
			*at = i
		case *at < 0 && f.better(enc.at(i), places.Get(slots[i])):
			*at = i
		}
	}
	var to, rows []int32
	f.seen.each(func(slot, i int32) {
		to, rows = append(to, slot), append(rows, keys.Rows[i])
		places.Put(slot, enc.at(i))
	})
	for i, v := range f.values {
		cols[i+1].Set(to, b.Cols[v], rows)
	}
	space.Dirty(to)
	return nil
}

// better reports whether a row that came later takes the place of another.
func (f *first) better(late, early []byte) bool {
	d := bytes.Compare(late, early)
	return d < 0 || d == 0 && f.LastWins
}

// chosen has a row for each of a number of slots: a small hash table that is
// cleared for each batch.
type chosen struct {
	slots, rows []int32
	used        []int32
}

// none is the row of a slot that has none.
const none = -1

// reset empties the table and makes room for n slots.
func (c *chosen) reset(n int) {
	size := 16
	for size < 2*n {
		size *= 2
	}
	if len(c.slots) < size {
		c.slots, c.rows, c.used = make([]int32, size), make([]int32, size), c.used[:0]
		for i := range c.slots {
			c.slots[i] = none
		}
	}
	for _, p := range c.used {
		c.slots[p] = none
	}
	c.used = c.used[:0]
}

// at returns the row of a slot, none if the slot is new.
func (c *chosen) at(slot int32) *int32 {
	mask := uint32(len(c.slots) - 1)
	p := uint32(slot) * 0x9e3779b1 & mask
	for c.slots[p] != none && c.slots[p] != slot {
		p = (p + 1) & mask
	}
	if c.slots[p] == none {
		c.slots[p], c.rows[p] = slot, none
		c.used = append(c.used, int32(p))
	}
	return &c.rows[p]
}

// each calls f for the slots that have a row, in the order in which they came.
func (c *chosen) each(f func(slot, row int32)) {
	for _, p := range c.used {
		if c.rows[p] != none {
			f(c.slots[p], c.rows[p])
		}
	}
}
