package windowrank

import (
	"bytes"
	"slices"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/types"
)

// ties keeps all rows of each key that have the best place: they are numbered
// from 0. When a better one comes, the numbers begin anew, so that rows with a
// number that does not count any more may be left behind.
type ties struct {
	*rank
	// heads has for each key the best place and the number of rows that have it.
	heads state.Table
	// rows has the rows, by key and number.
	rows state.Table
}

// The columns of ties.heads.
const (
	tiesPlace = iota
	tiesCount
)

func (t *ties) open(s state.Store) (err error) {
	keys := t.types(t.Keys)
	heads := state.Spec{Name: "keys", Key: keys, Value: []types.Type{placeType.WithNull(true), countType}, Columns: t.keyNames(placeName, "rows")}
	if t.TakesLate {
		heads.TTL = t.TTL
	}
	if t.heads, err = s.Table(heads); err != nil {
		return err
	}
	spec := state.Spec{Name: "ties", Key: append(keys[:len(keys):len(keys)], countType), Columns: t.keyNames("number")}
	t.rows, err = s.Table(op.PassedOn(spec, t.In, t.values))
	return err
}

func (t *ties) table() state.Table { return t.rows }

func (t *ties) column(c int, space state.Space, slots []int32) batch.Vector {
	return t.value(c, 0, space, slots)
}

// drop forgets the rows of a window; what the best was is kept for late rows.
func (t *ties) drop(end int64) error {
	if t.TakesLate {
		return t.rows.Drop(end)
	}
	if err := t.heads.Drop(end); err != nil {
		return err
	}
	return t.rows.Drop(end)
}

// hopeful returns the rows of a batch that may be kept: NULL is no place, and
// without keys only those matter that are the best of the batch.
func (t *ties) hopeful(b *batch.Batch, rows []int32) []int32 {
	by := t.Order[0]
	v := b.Cols[by.Col]
	if len(t.Keys) == 0 {
		if best, ok := batch.Extreme(v, rows, by.Direction.Descending); ok {
			return best
		}
	}
	valid := v.Validity()
	if valid == nil {
		return rows
	}
	return slices.DeleteFunc(slices.Clone(rows), func(p int32) bool { return valid.IsNull(int(p)) })
}

func (t *ties) add(end int64, b *batch.Batch, keys *state.Keys) error {
	own := *keys
	if own.Rows = t.hopeful(b, keys.Rows); len(own.Rows) == 0 {
		return nil
	}
	slots := t.room(len(own.Rows))
	heads := t.heads.Space(end)
	if _, err := heads.Upsert(&own, slots); err != nil {
		return err
	}
	enc := t.encode(b, own.Rows)
	cols := heads.Cols()
	places, counts := cols[tiesPlace].(*batch.BytesSlab), cols[tiesCount].(*batch.Slab[int64])
	for i, s := range slots {
		at, count := enc.at(int32(i)), counts.At(s)
		if places.Null(s) || bytes.Compare(at, places.Get(s)) < 0 {
			places.Put(s, at)
			*count = 0
		}
	}
	numbers := batch.NewFixed[int64](countType, len(slots))
	var rows, touched []int32
	for i, s := range slots {
		if bytes.Equal(enc.at(int32(i)), places.Get(s)) {
			rows, touched = append(rows, own.Rows[i]), append(touched, s)
			count := counts.At(s)
			numbers.Append(*count)
			*count++
		}
	}
	if len(rows) == 0 {
		return nil
	}
	heads.Dirty(touched)
	return t.keep(t.rows.Space(end), b, t.rowKeys(keys, rows, numbers), rows)
}

// live leaves out rows that were the best once.
func (t *ties) live(end int64, space state.Space, slots []int32) ([]int32, error) {
	cols := space.Keys(slots)
	n := len(t.Keys)
	keys, at := t.keysOf(end, cols[:n], len(slots)), make([]int32, len(slots))
	heads := t.heads.Space(end)
	if err := heads.Lookup(keys, at); err != nil {
		return nil, err
	}
	counts, numbers := heads.Cols()[tiesCount].(*batch.Slab[int64]), cols[n].(*batch.Fixed[int64]).Values
	out := make([]int32, 0, len(slots))
	for i, s := range slots {
		// Without a head, the time for which it was kept is over.
		if at[i] < 0 || numbers[i] < *counts.At(at[i]) {
			out = append(out, s)
		}
	}
	return out, nil
}

// late gives those rows of a window that is over that are as good as its best.
func (t *ties) late(end int64, b *batch.Batch, keys *state.Keys, out op.Output) error {
	start, due := t.Window.Start(end), t.Window.Due(end)
	for _, p := range keys.Rows {
		t.inTime.Late.Add(p, start, end, due)
	}
	slots := t.room(len(keys.Rows))
	heads := t.heads.Space(end)
	if err := heads.Lookup(keys, slots); err != nil {
		return err
	}
	enc := t.encode(b, keys.Rows)
	places := heads.Cols()[tiesPlace].(*batch.BytesSlab)
	var rows []int32
	for i, s := range slots {
		if s >= 0 && bytes.Equal(enc.at(int32(i)), places.Get(s)) {
			rows = append(rows, keys.Rows[i])
		}
	}
	if len(rows) == 0 {
		return nil
	}
	cols := make([]batch.Vector, len(b.Cols))
	for i, v := range b.Cols {
		cols[i] = batch.Take(v, rows)
	}
	out.Emit(batch.Of(t.Out, cols, len(rows)))
	return nil
}
