package state

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/vfs"
	"github.com/millstream-io/millstream/types"
)

func (m *model) prefixHash(keys []batch.Vector) []uint64 {
	return batch.Hash(keys[:len(keys)-m.spec.Order], nil, keys[0].Len(), nil)
}

// modelRange is a random question about a model's rows, and its answer.
type modelRange struct {
	q   *Ranges
	ids []int
}

// question asks for ranges around random keys.
func (m *model) question() *modelRange {
	ids := m.randomIDs()[:1]
	for range m.rng.IntN(4) {
		ids = append(ids, m.rng.IntN(m.ids))
	}
	bounds := make([]int, len(ids))
	for i := range bounds {
		bounds[i] = m.rng.IntN(m.ids)
	}
	prefix := len(m.spec.Key) - m.spec.Order
	cols := m.cols(ids)
	q := &Ranges{Prefix: &Keys{Cols: cols[:prefix], Hash: m.prefixHash(cols)}}
	for i := range ids {
		if m.rng.IntN(4) > 0 {
			q.Prefix.Rows = append(q.Prefix.Rows, int32(i))
		}
	}
	q.From = cols[prefix : prefix+m.rng.IntN(m.spec.Order+1)]
	q.To = m.cols(bounds)[prefix : prefix+m.rng.IntN(m.spec.Order+1)]
	q.FromOpen, q.ToOpen = m.rng.IntN(2) == 0, m.rng.IntN(2) == 0
	if m.rng.IntN(2) == 0 {
		q.Limit = 1 + m.rng.IntN(6)
	}
	q.Reverse = m.rng.IntN(2) == 0
	return &modelRange{q, ids}
}

// answer returns the ids of the rows in the i-th range.
func (r *modelRange) answer(m *model, ns int64, i int) []int {
	prefix := len(m.spec.Key) - m.spec.Order
	row := int(r.q.Prefix.Rows[i])
	want := rowKey(r.q.Prefix.Cols, row)
	type keyed struct {
		key string
		id  int
	}
	var list []keyed
	for id := range m.want[ns] {
		cols := m.cols([]int{id})
		if rowKey(cols[:prefix], 0) != want {
			continue
		}
		low := cmp.Compare(rowKey(cols[prefix:prefix+len(r.q.From)], 0), rowKey(r.q.From, row))
		high := cmp.Compare(rowKey(cols[prefix:prefix+len(r.q.To)], 0), rowKey(r.q.To, row))
		if len(r.q.From) > 0 && (low < 0 || low == 0 && r.q.FromOpen) || len(r.q.To) > 0 && (high > 0 || high == 0 && r.q.ToOpen) {
			continue
		}
		list = append(list, keyed{rowKey(cols, 0), id})
	}
	slices.SortFunc(list, func(a, b keyed) int { return cmp.Compare(a.key, b.key) })
	if r.q.Reverse {
		slices.Reverse(list)
	}
	if r.q.Limit > 0 {
		list = list[:min(len(list), r.q.Limit)]
	}
	var out []int
	for _, k := range list {
		out = append(out, k.id)
	}
	return out
}

// ranges asks for ranges, checks the rows, and removes some if it can.
func (m *model) ranges(ns int64) {
	r := m.question()
	var want []string
	byKey := make(map[string]int)
	for i := range r.q.Prefix.Rows {
		for _, id := range r.answer(m, ns, i) {
			key := rowKey(m.cols([]int{id}), 0)
			want = append(want, fmt.Sprintf("%d %q", i, key))
			byKey[key] = id
		}
	}
	// A row that is removed is not given again.
	mayDelete := len(byKey) == len(want) && m.rng.IntN(3) == 0
	var got []string
	limit := 1 + m.rng.IntN(20)
	s := m.table.Space(ns)
	m.check(s.Range(r.q, limit, func(of, slots []int32) error {
		if len(slots) == 0 || len(slots) > limit || len(of) != len(slots) {
			m.t.Fatalf("a range of %d rows at a time gave %d (%d)", limit, len(slots), len(of))
		}
		keys := s.Keys(slots)
		var gone []int32
		for i, slot := range slots {
			key := rowKey(keys, i)
			got = append(got, fmt.Sprintf("%d %q", of[i], key))
			id, ok := byKey[key]
			if !ok {
				m.t.Fatalf("namespace %d: a range gave %q, which is not in it", ns, key)
			}
			m.checkRow(s, slot, m.want[ns][id])
			if mayDelete && m.rng.IntN(4) == 0 {
				gone = append(gone, slot)
				delete(m.want[ns], id)
			}
		}
		s.Delete(gone)
		return nil
	}))
	if !slices.Equal(got, want) {
		m.t.Fatalf("namespace %d, %+v: got\n%q\nwant\n%q", ns, *r.q, got, want)
	}
}

func (m *model) deleteRange(ns int64) {
	r := m.question()
	r.q.Limit = 0
	for i := range r.q.Prefix.Rows {
		for _, id := range r.answer(m, ns, i) {
			delete(m.want[ns], id)
		}
	}
	r.q.Limit = m.rng.IntN(3)
	m.check(m.table.Space(ns).DeleteRange(r.q))
}

// TestCollation compares the orders of values in memory with that of the bytes
// of keys.
func TestCollation(t *testing.T) {
	floats := []float64{math.NaN(), math.Inf(-1), -2, math.Copysign(0, -1), 0, 1e-300, 3, math.Inf(1)}
	for _, typ := range []types.Type{
		types.Of(types.Boolean), types.Of(types.TinyInt), types.Of(types.SmallInt), types.Of(types.Int), types.Of(types.BigInt),
		types.Of(types.Float), types.Of(types.Double), types.DecimalOf(38, 0), types.TimeOf(types.Timestamp, 9),
		types.StringType(), types.ArrayOf(types.Of(types.Int)),
	} {
		for _, typ := range []types.Type{typ, typ.NotNull()} {
			v := batch.New(typ, 0)
			rng := newRNG(1, uint64(len(typ.String())))
			if typ.Nullable {
				v.AppendNull()
			}
			for i := range 40 {
				x := rng.Int64N(5) - 2 + rng.Int64N(2)<<(i%7*10)
				switch v := v.(type) {
				case *batch.Fixed[bool]:
					v.Append(x > 0)
				case *batch.Fixed[int8]:
					v.Append(int8(x))
				case *batch.Fixed[int16]:
					v.Append(int16(x))
				case *batch.Fixed[int32]:
					v.Append(int32(x))
				case *batch.Fixed[int64]:
					v.Append(x)
				case *batch.Fixed[float32]:
					v.Append(float32(floats[i%len(floats)]))
				case *batch.Fixed[float64]:
					v.Append(floats[i%len(floats)])
				case *batch.Fixed[types.Int128]:
					v.Append(types.Int128{Hi: x, Lo: uint64(rng.Int64N(3) - 1)})
				case *batch.Fixed[types.TS]:
					v.Append(types.TS{Ms: x, Ns: int32(rng.Int64N(3))})
				case *batch.Bytes:
					v.AppendString("some text\x00\x00\x01\xff"[:5+i%9] + string(rune('a'+i%3)))
				case *batch.List:
					for range i % 3 {
						v.Elem.(*batch.Fixed[int32]).Append(int32(x))
					}
					v.Close()
				}
			}
			checkCollation(t, typ, v)
		}
	}
}

func checkCollation(t *testing.T, typ types.Type, v batch.Vector) {
	t.Helper()
	n := v.Len()
	rows := make([]int32, n)
	for i := range rows {
		rows[i] = int32(i)
	}
	col := batch.NewColumn(typ)
	col.Grow(n)
	col.Set(rows, v, rows)
	h := make([]uint64, n)
	heads(v, typ.Nullable, rows, h)
	for a := range rows {
		for b := range rows {
			want := bytes.Compare(batch.AppendKey(nil, v, a), batch.AppendKey(nil, v, b))
			if got := collate(col, rows[a], rows[b]); got != want {
				t.Fatalf("%s: rows %d and %d: %d, want %d", typ, a, b, got, want)
			}
			if got := collateWith(col, rows[a], v, rows[b]); got != want {
				t.Fatalf("%s: row %d with value %d: %d, want %d", typ, a, b, got, want)
			}
			if got := cmp.Compare(h[a], h[b]); got != 0 && got != want {
				t.Fatalf("%s: heads of rows %d and %d: %d, want %d", typ, a, b, got, want)
			}
		}
	}
}

// TestOrderedRescale checks that rows and their order survive a change of the
// parallelism.
func TestOrderedRescale(t *testing.T) {
	spec := Spec{Name: "runs", Key: []types.Type{bigint, bigint}, Value: []types.Type{bigint}, Order: 1}
	for _, backend := range []Backend{Memory, Disk} {
		fsys := vfs.NewMem()
		var parts []Part
		for round, par := range []int{2, 3, 1} {
			var next []Part
			seen := 0
			for sub := range par {
				db, err := Restore(Config{Name: "test", Subtask: sub, Parallelism: par, Backend: backend, FS: fsys, Dir: fmt.Sprintf("state-%d-%d", round, sub)}, parts)
				if err != nil {
					t.Fatal(err)
				}
				table := mustTable(t, db, spec)
				seen += checkRuns(t, db, table, round)
				s := snapshot(t, db, int64(round))
				next = append(next, keep(t, fsys, s, fmt.Sprintf("checkpoint-%d-%d", round, sub)))
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if seen != round*500 {
				t.Errorf("%s, round %d: %d rows came back, want %d", backend, round, seen, round*500)
			}
			parts = next
		}
	}
}

// checkRuns checks that the runs of the DB have 50 rows from each earlier round,
// and adds 50.
func checkRuns(t *testing.T, db *DB, table Table, round int) (seen int) {
	t.Helper()
	lo, hi := db.keyGroups()
	s := table.Space(7)
	for key := range 10 {
		n := batch.NewFixed[int64](bigint, 50)
		k := batch.NewFixed[int64](bigint, 50)
		for i := range int64(50) {
			k.Append(int64(key))
			n.Append((i*31%50)*10 + int64(round))
		}
		keys := keysOf(k, n)
		keys.Group = batch.Hash(keys.Cols[:1], nil, 50, nil)
		if g := batch.KeyGroup(keys.Group[0]); g < lo || g >= hi {
			continue
		}
		q := &Ranges{Prefix: &Keys{Cols: keys.Cols[:1], Hash: keys.Group, Rows: []int32{3}}, Reverse: true}
		last := int64(math.MaxInt64)
		err := s.Range(q, 30, func(_, slots []int32) error {
			for _, x := range s.Keys(slots)[1].(*batch.Fixed[int64]).Values {
				if x >= last {
					t.Errorf("%d comes behind %d", x, last)
				}
				last = x
				seen++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Upsert(keys, make([]int32, 50)); err != nil {
			t.Fatal(err)
		}
	}
	return seen
}

func TestRangeErrors(t *testing.T) {
	db := mustOpen(t, Config{Name: "Join[4]", Parallelism: 1})
	if _, err := db.Table(Spec{Name: "x", Key: []types.Type{bigint}, Order: 2}); err == nil || err.Error() != `Join[4]: table "x": an order of 2 of 1 key columns` {
		t.Error(err)
	}
	none := mustTable(t, db, pairSpec)
	runs := mustTable(t, db, Spec{Name: "runs", Key: []types.Type{bigint, bigint}, Order: 1})
	one := keysOf(longs(bigint, []int{1}, false))
	never := func(_, slots []int32) error { t.Error("a range without an answer"); return nil }
	for want, err := range map[string]error{
		`Join[4]: table "pairs" has no order`: none.Space(0).Range(&Ranges{Prefix: one}, 1, never),
		`Join[4]: table "runs": a range of 0 columns before the order and 0 in it; the table has 1 and 1`: runs.Space(0).DeleteRange(&Ranges{Prefix: &Keys{}}),
		fmt.Sprintf(`Join[4]: table "runs": a range has hash 0x1, its prefix has %#x`, one.Hash[0]):       runs.Space(0).Range(&Ranges{Prefix: &Keys{Cols: one.Cols, Hash: []uint64{1}, Rows: one.Rows}}, 1, never),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if err := runs.Space(0).Range(&Ranges{Prefix: one}, 1, never); err != nil {
		t.Error(err)
	}
}
