package windowrank

import (
	"bytes"
	"slices"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/types"
)

// best keeps several rows of each key.
type best struct {
	*rank
	// heads has for each key the number of rows that are kept, that of rows that
	// ever were, and the place of the worst, once there are as many as may be.
	heads state.Table
	// rows has the rows in their order: by key, place, and a number that goes up.
	rows state.Table
}

// The columns of heads.
const (
	headCount = iota
	headNext
	headWorst
)

var countType = types.Of(types.BigInt).NotNull()

func (h *best) open(s state.Store) (err error) {
	keys := h.types(h.Keys)
	worst := placeType.WithNull(true)
	if h.heads, err = s.Table(state.Spec{
		Name: "keys", Key: keys, Value: []types.Type{countType, countType, worst}, Columns: h.keyNames("rows", "next number", "worst place"),
	}); err != nil {
		return err
	}
	h.rows, err = s.Table(op.PassedOn(state.Spec{
		Name: "best", Key: append(keys[:len(keys):len(keys)], placeType, countType), Order: 2, Columns: h.keyNames(placeName, "number"),
	}, h.In, h.values))
	return err
}

func (h *best) table() state.Table { return h.rows }

func (h *best) column(c int, space state.Space, slots []int32) batch.Vector {
	return h.value(c, 0, space, slots)
}

func (h *best) live(_ int64, _ state.Space, slots []int32) ([]int32, error) { return slots, nil }

func (h *best) drop(end int64) error {
	if err := h.heads.Drop(end); err != nil {
		return err
	}
	return h.rows.Drop(end)
}

// add stores the rows that are better than the worst one kept, and then removes
// what is too much.
func (h *best) add(end int64, b *batch.Batch, keys *state.Keys) error {
	enc := h.encode(b, keys.Rows)
	slots := h.room(len(keys.Rows))
	heads := h.heads.Space(end)
	if _, err := heads.Upsert(keys, slots); err != nil {
		return err
	}
	chosen := h.candidates(heads, slots, enc)
	if len(chosen) == 0 {
		return nil
	}
	chosen = h.fewer(chosen, slots, enc)
	if err := h.store(end, b, keys, heads, chosen, slots, enc); err != nil {
		return err
	}
	return h.trim(end, keys, heads, chosen, slots)
}

// candidates returns the rows, as indexes into slots, that may be among the best.
func (h *best) candidates(heads state.Space, slots []int32, enc *encoded) []int32 {
	cols := heads.Cols()
	count, worst := cols[headCount].(*batch.Slab[int64]), cols[headWorst].(*batch.BytesSlab)
	out := make([]int32, 0, len(slots))
	for i, s := range slots {
		if *count.At(s) < h.To || bytes.Compare(enc.at(int32(i)), worst.Get(s)) < 0 {
			out = append(out, int32(i))
		}
	}
	return out
}

// fewer leaves out the candidates of a key behind its first ones, as many as are
// kept of it. The result is in the order of the keys' slots.
func (h *best) fewer(chosen, slots []int32, enc *encoded) []int32 {
	slices.SortFunc(chosen, func(a, b int32) int {
		if d := slots[a] - slots[b]; d != 0 {
			return int(d)
		}
		if d := bytes.Compare(enc.at(a), enc.at(b)); d != 0 {
			return d
		}
		return int(a - b)
	})
	out, n := chosen[:0], int64(0)
	last := int32(-1)
	for _, i := range chosen {
		if slots[i] != last {
			last, n = slots[i], 0
		}
		if n++; n <= h.To {
			out = append(out, i)
		}
	}
	return out
}

// store puts rows into the table.
func (h *best) store(end int64, b *batch.Batch, keys *state.Keys, heads state.Space, chosen, slots []int32, enc *encoded) error {
	cols := heads.Cols()
	count, next := cols[headCount].(*batch.Slab[int64]), cols[headNext].(*batch.Slab[int64])
	n := len(chosen)
	rows, touched := make([]int32, n), make([]int32, n)
	places, numbers := batch.NewBytes(placeType, n, len(enc.data)), batch.MakeFixed[int64](countType, n)
	for at, i := range chosen {
		p, s := keys.Rows[i], slots[i]
		rows[at], touched[at] = p, s
		places.Append(enc.at(i))
		last := next.At(s)
		numbers.Values[at] = *last
		*last++
		*count.At(s)++
	}
	heads.Dirty(touched)
	return h.keep(h.rows.Space(end), b, h.rowKeys(keys, rows, places, numbers), rows)
}

// trim removes the worst rows of keys that have too many, and notes the worst of
// those that are left. chosen are in the order of the keys' slots.
func (h *best) trim(end int64, keys *state.Keys, heads state.Space, chosen, slots []int32) error {
	cols := heads.Cols()
	count, worst := cols[headCount].(*batch.Slab[int64]), cols[headWorst].(*batch.BytesSlab)
	prefix := *keys
	prefix.Rows = nil
	var full []int32
	var excess []int64
	for k, i := range chosen {
		s := slots[i]
		if k+1 < len(chosen) && slots[chosen[k+1]] == s || *count.At(s) < h.To {
			continue
		}
		full, prefix.Rows = append(full, s), append(prefix.Rows, keys.Rows[i])
		excess = append(excess, *count.At(s)-h.To)
		*count.At(s) = h.To
	}
	if len(full) == 0 {
		return nil
	}
	space := h.rows.Space(end)
	place := len(h.Keys)
	heads.Dirty(full)
	var gone []int32
	q := &state.Ranges{Prefix: &prefix, Reverse: true, Limit: int(slices.Max(excess)) + 1}
	return space.Range(q, outRows, func(of, slots []int32) error {
		gone = gone[:0]
		places := space.Keys(slots)[place].(*batch.Bytes)
		for i, s := range slots {
			k := of[i]
			switch excess[k]--; {
			case excess[k] >= 0:
				gone = append(gone, s)
			case excess[k] == -1:
				worst.Put(full[k], places.At(i))
			}
		}
		space.Delete(gone)
		return nil
	})
}
