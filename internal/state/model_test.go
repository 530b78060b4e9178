package state

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// keyKinds are the keys that the model test runs over: each makes columns of n
// rows out of n small numbers; equal numbers give equal keys, others differ.
var keyKinds = []struct {
	name string
	key  []types.Type
	cols func(ids []int) []batch.Vector
}{
	{"none", nil, func([]int) []batch.Vector { return nil }},
	{"bigint", []types.Type{bigint}, func(ids []int) []batch.Vector { return []batch.Vector{longs(bigint, ids, false)} }},
	{"bigint null", []types.Type{types.Of(types.BigInt)}, func(ids []int) []batch.Vector {
		return []batch.Vector{longs(types.Of(types.BigInt), ids, true)}
	}},
	{"colliding bigint", []types.Type{bigint}, func(ids []int) []batch.Vector {
		v := batch.NewFixed[int64](bigint, len(ids))
		for _, id := range ids {
			v.Append(collider(id))
		}
		return []batch.Vector{v}
	}},
	{"int and bigint", []types.Type{types.Of(types.Int), types.Of(types.BigInt)}, func(ids []int) []batch.Vector {
		v := batch.NewFixed[int32](types.Of(types.Int), len(ids))
		for _, id := range ids {
			if id%5 == 1 {
				v.AppendNull()
				continue
			}
			v.Append(int32(id % 5))
		}
		return []batch.Vector{v, longs(types.Of(types.BigInt), ids, true)}
	}},
	{"string", []types.Type{types.StringType()}, func(ids []int) []batch.Vector {
		v := batch.NewBytes(types.StringType(), len(ids), 0)
		for _, id := range ids {
			switch id {
			case 0:
				v.AppendNull()
			case 1:
				v.AppendString("")
			case 2:
				v.AppendString("\x00")
			default:
				v.AppendString(fmt.Sprintf("key %0*d", id%70, id))
			}
		}
		return []batch.Vector{v}
	}},
	{"double, boolean, decimal", []types.Type{types.Of(types.Double), types.Of(types.Boolean), types.DecimalOf(30, 2)},
		func(ids []int) []batch.Vector {
			f := batch.NewFixed[float64](types.Of(types.Double), len(ids))
			b := batch.NewFixed[bool](types.Of(types.Boolean), len(ids))
			d := batch.NewFixed[types.Int128](types.DecimalOf(30, 2), len(ids))
			for i, id := range ids {
				switch {
				case id == 0 && i%2 == 0:
					f.Append(math.Copysign(0, -1))
				case id == 1:
					f.Append(math.NaN())
				default:
					f.Append(float64(id))
				}
				b.Append(id%3 == 0)
				d.Append(types.Int128{Hi: int64(id) - 3, Lo: uint64(id)})
			}
			return []batch.Vector{f, b, d}
		}},
	{"array and timestamp", []types.Type{types.ArrayOf(types.Of(types.Int)), types.TimeOf(types.Timestamp, 6)},
		func(ids []int) []batch.Vector {
			l := batch.New(types.ArrayOf(types.Of(types.Int)), 0).(*batch.List)
			ts := batch.NewFixed[types.TS](types.TimeOf(types.Timestamp, 6), len(ids))
			for _, id := range ids {
				for e := range id % 4 {
					l.Elem.(*batch.Fixed[int32]).Append(int32(id + e))
				}
				l.Close()
				ts.Append(types.TS{Ms: int64(id) - 50, Ns: int32(id)})
			}
			return []batch.Vector{l, ts}
		}},
}

// collider returns keys of which three in four have hashes with the same low
// half, which is all that the index knows. It turns around what batch.Hash does.
func collider(id int) int64 {
	const step, factor = 0xd6e8feb86659fd93, 0xe9846af9b1a615d
	inverse := uint64(factor)
	for range 6 {
		inverse *= 2 - factor*inverse
	}
	h := uint64(id)<<40 | 0x12345678
	if id%4 == 0 {
		h += uint64(id)
	}
	h ^= h>>28 ^ h>>56
	h *= inverse
	h ^= h >> 32
	h *= inverse
	h ^= h >> 32
	seed := uint64(0x9e3779b97f4a7c15)
	return int64(h - seed*step)
}

func TestColliders(t *testing.T) {
	v := longs(bigint, []int{}, false)
	for id := range 100 {
		v.Append(collider(id))
	}
	same := 0
	for _, h := range batch.Hash([]batch.Vector{v}, nil, 100, nil) {
		if uint32(h) == 0x12345678 {
			same++
		}
	}
	if same < 75 {
		t.Errorf("%d of 100 keys collide, want 75", same)
	}
}

func longs(t types.Type, ids []int, nulls bool) *batch.Fixed[int64] {
	v := batch.NewFixed[int64](t, len(ids))
	for _, id := range ids {
		if nulls && id == 0 {
			v.AppendNull()
			continue
		}
		v.Append(int64(id-1) * 1_000_003)
	}
	return v
}

// modelValue is what the model has of a row: a number, 0 for null, and a text.
type modelValue struct {
	n    int64
	text string
	// at is when it was written.
	at int64
}

var modelValues = []types.Type{types.Of(types.BigInt), types.StringType().NotNull(), types.ArrayOf(types.StringType()),
	types.ArrayOf(types.Of(types.Int)).NotNull()}

// model drives a table and a Go map with the same random operations.
type model struct {
	t     *testing.T
	rng   *rand.Rand
	db    *DB
	table Table
	spec  Spec
	cols  func(ids []int) []batch.Vector
	ids   int
	// now is the time, which goes on between events.
	now  int64
	want map[int64]map[int]modelValue
}

func (m *model) keys(ids []int) *Keys {
	cols := m.cols(ids)
	k := &Keys{Cols: cols, Hash: batch.Hash(cols, nil, len(ids), nil), Rows: make([]int32, len(ids))}
	for i := range k.Rows {
		k.Rows[i] = int32(i)
	}
	if m.spec.Order > 0 {
		k.Group = batch.Hash(cols[:len(cols)-m.spec.Order], nil, len(ids), nil)
	}
	return k
}

func (m *model) randomIDs() []int {
	ids := make([]int, 1+m.rng.IntN(40))
	for i := range ids {
		ids[i] = m.rng.IntN(m.ids)
	}
	if len(m.spec.Key) == 0 {
		clear(ids)
	}
	return ids
}

func (m *model) check(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

// write upserts random keys, checks what it finds there and writes new values.
func (m *model) write(ns int64) {
	ids := m.randomIDs()
	slots := make([]int32, len(ids))
	s := m.table.Space(ns)
	fresh, err := s.Upsert(m.keys(ids), slots)
	m.check(err)
	rows := m.want[ns]
	if rows == nil {
		rows = make(map[int]modelValue)
		m.want[ns] = rows
	}
	seen := make(map[int]int32)
	var wantFresh []int32
	for i, id := range ids {
		if slot, ok := seen[id]; ok && slot != slots[i] {
			m.t.Fatalf("key %d has slots %d and %d", id, slot, slots[i])
		}
		if _, ok := rows[id]; !ok {
			rows[id] = modelValue{}
			wantFresh = append(wantFresh, int32(i))
		}
		seen[id] = slots[i]
		m.checkRow(s, slots[i], rows[id])
	}
	if !slices.Equal(fresh, wantFresh) {
		m.t.Fatalf("fresh rows %v, want %v", fresh, wantFresh)
	}
	numbers, texts, lists := s.Cols()[0].(*batch.Slab[int64]), s.Cols()[1].(*batch.BytesSlab), s.Cols()[2]
	for _, id := range slices.Sorted(maps.Keys(seen)) {
		v := modelValue{n: m.rng.Int64N(5) - 2, text: fmt.Sprintf("%0*d", m.rng.IntN(50), m.rng.IntN(1000)), at: m.now}
		slot := seen[id]
		if v.n == 0 {
			numbers.SetNull(slot)
		} else {
			numbers.Put(slot, v.n)
		}
		texts.Put(slot, []byte(v.text))
		lists.Set([]int32{slot}, listOf(v.text), []int32{0})
		rows[id] = v
		s.Dirty([]int32{slot})
	}
}

func listOf(text string) *batch.List {
	l := batch.New(types.ArrayOf(types.StringType()), 1).(*batch.List)
	l.Elem.AppendNull()
	l.Elem.(*batch.Bytes).AppendString(text)
	l.Close()
	return l
}

func (m *model) checkRow(s Space, slot int32, want modelValue) {
	m.t.Helper()
	numbers, texts := s.Cols()[0].(*batch.Slab[int64]), s.Cols()[1].(*batch.BytesSlab)
	if numbers.Null(slot) != (want.n == 0) || want.n != 0 && *numbers.At(slot) != want.n {
		m.t.Fatalf("slot %d: number %d (null %v), want %d", slot, *numbers.At(slot), numbers.Null(slot), want.n)
	}
	if got := string(texts.Get(slot)); got != want.text {
		m.t.Fatalf("slot %d: text %q, want %q", slot, got, want.text)
	}
	if l := s.Cols()[3].Vector([]int32{slot}).(*batch.List); l.Valid.IsNull(0) || l.Elem.Len() > 0 {
		m.t.Fatalf("slot %d: the list that is not null and was never set has %d elements", slot, l.Elem.Len())
	}
	l := s.Cols()[2].Vector([]int32{slot}).(*batch.List)
	if want == (modelValue{}) {
		if !l.Valid.IsNull(0) {
			m.t.Fatalf("slot %d: a new row's list is not null", slot)
		}
		return
	}
	if e := l.Elem.(*batch.Bytes); l.Offsets[1] != 2 || !e.Valid.IsNull(0) || string(e.At(1)) != want.text {
		m.t.Fatalf("slot %d: list %q, want one of null and %q", slot, e.Data, want.text)
	}
}

func (m *model) lookup(ns int64) {
	ids := m.randomIDs()
	slots := make([]int32, len(ids))
	s := m.table.Space(ns)
	m.check(s.Lookup(m.keys(ids), slots))
	for i, id := range ids {
		want, ok := m.want[ns][id]
		if ok != (slots[i] >= 0) {
			m.t.Fatalf("namespace %d, key %d: slot %d, want a row: %v", ns, id, slots[i], ok)
		}
		if ok {
			m.checkRow(s, slots[i], want)
		}
	}
}

func (m *model) remove(ns int64) {
	ids := m.randomIDs()
	slots := make([]int32, len(ids))
	s := m.table.Space(ns)
	m.check(s.Lookup(m.keys(ids), slots))
	var gone []int32
	for i, id := range ids {
		if _, ok := m.want[ns][id]; ok {
			delete(m.want[ns], id)
			gone = append(gone, slots[i])
		}
	}
	s.Delete(gone)
}

// scan visits all rows, checks them, and removes some.
func (m *model) scan(ns int64) {
	rows := m.want[ns]
	byKey := make(map[string]int)
	for id := range rows {
		byKey[rowKey(m.cols([]int{id}), 0)] = id
	}
	s := m.table.Space(ns)
	n, err := s.Len()
	m.check(err)
	if n != len(rows) && (m.spec.TTL == 0 || n < len(rows)) {
		m.t.Fatalf("namespace %d: Len is %d, want %d", ns, n, len(rows))
	}
	visits, limit, last := 0, 1+m.rng.IntN(20), ""
	m.check(s.Scan(limit, func(slots []int32) error {
		if len(slots) == 0 || len(slots) > limit {
			m.t.Fatalf("scan of %d rows at a time gave %d", limit, len(slots))
		}
		keys := s.Keys(slots)
		var gone []int32
		for i, slot := range slots {
			if m.spec.Order > 0 {
				at := string(batch.AppendKey([]byte{byte(batch.KeyGroup(m.prefixHash(keys)[i]))}, keys[0], i)) + rowKey(keys[1:], i)
				if at <= last {
					m.t.Fatalf("namespace %d: scan gave %q behind %q", ns, at, last)
				}
				last = at
			}
			id, ok := byKey[rowKey(keys, i)]
			if !ok {
				m.t.Fatalf("namespace %d: scan gave an unknown or a repeated row, slot %d", ns, slot)
			}
			delete(byKey, rowKey(keys, i))
			m.checkRow(s, slot, rows[id])
			visits++
			if m.rng.IntN(6) == 0 {
				gone = append(gone, slot)
				delete(rows, id)
			}
		}
		s.Delete(gone)
		return nil
	}))
	if len(byKey) > 0 {
		m.t.Fatalf("namespace %d: scan gave %d of %d rows", ns, visits, len(byKey)+visits)
	}
}

func rowKey(cols []batch.Vector, pos int) string {
	var buf []byte
	for _, c := range cols {
		buf = batch.AppendKey(buf, c, pos)
	}
	return string(buf)
}

func (m *model) namespaces() {
	if m.spec.TTL > 0 {
		return // expired rows may count
	}
	var want []int64
	for ns, rows := range m.want {
		if len(rows) > 0 {
			want = append(want, ns)
		}
	}
	slices.Sort(want)
	first, ok, err := m.table.First()
	m.check(err)
	if ok != (len(want) > 0) || ok && first != want[0] {
		m.t.Fatalf("First gave %d, %v; want the first of %v", first, ok, want)
	}
	limit := m.rng.Int64N(12) - 6
	got, err := m.table.Namespaces(limit)
	m.check(err)
	i, _ := slices.BinarySearch(want, limit+1)
	if !slices.Equal(got, want[:i]) {
		m.t.Fatalf("Namespaces(%d) gave %v, want %v", limit, got, want[:i])
	}
}

// step does one random operation.
func (m *model) step() {
	m.expire()
	ns := m.rng.Int64N(10) - 5
	switch p := m.rng.IntN(100); {
	case p < 45:
		m.write(ns)
	case p < 60:
		m.lookup(ns)
	case p < 72:
		m.remove(ns)
	case p < 80:
		m.scan(ns)
	case p < 85:
		m.check(m.table.Drop(ns))
		delete(m.want, ns)
	case p < 94 && m.spec.Order > 0:
		m.ranges(ns)
	case p < 96 && m.spec.Order > 0:
		m.deleteRange(ns)
	default:
		m.namespaces()
	}
	if m.rng.IntN(3) == 0 {
		m.check(m.db.EndEvent())
		m.now += m.rng.Int64N(10)
	}
}

// outlive lets all rows with a time to live expire, and waits until they have left.
func (m *model) outlive() {
	if m.spec.TTL == 0 {
		return
	}
	for range 200 {
		m.now += max(m.spec.TTL/100, 1)
		m.check(m.db.EndEvent())
		checkCalendar(m.t, m.table)
	}
	if list, err := m.table.Namespaces(math.MaxInt64); err != nil || len(list) > 0 {
		m.t.Fatalf("all rows have expired, and namespaces %v are left (%v)", list, err)
	}
	if rows := m.db.rows(); rows > 0 {
		m.t.Fatalf("all rows have expired, and %d are in memory", rows)
	}
	if m.db.cfg.Backend == Memory {
		return
	}
	if rows, dirs := entries(m.t, m.db); rows > 0 {
		m.t.Fatalf("all rows have expired, and %d are on disk, in %d parts of namespaces", rows, dirs)
	}
}

// expire forgets rows whose time is over.
func (m *model) expire() {
	for _, rows := range m.want {
		for id, v := range rows {
			if m.spec.TTL > 0 && m.now-v.at >= m.spec.TTL {
				delete(rows, id)
			}
		}
	}
}

func newModel(t *testing.T, seed uint64, kind int, cfg Config) *model {
	k := keyKinds[kind]
	m := &model{t: t, rng: newRNG(seed, uint64(kind)), cols: k.cols, want: make(map[int64]map[int]modelValue)}
	m.ids = []int{10, 60, 1500}[m.rng.IntN(3)]
	m.spec = Spec{Name: "rows", Key: k.key, Value: modelValues, Order: m.rng.IntN(len(k.key) + 1)}
	m.spec.TTL = []int64{0, 30, 300}[m.rng.IntN(3)]
	m.now = 1
	cfg.Now = func() int64 { return m.now }
	m.open(Open(cfg))
	return m
}

func (m *model) open(db *DB, err error) {
	m.check(err)
	m.db = db
	m.table, err = db.Table(m.spec)
	m.check(err)
	if mortal := m.table.(*table).mortal; mortal != nil {
		mortal.stretchRows = 1 + m.rng.IntN(20)
	}
	checkListed(m.t, m.table)
}

func TestModelInMemory(t *testing.T) {
	for kind, k := range keyKinds {
		t.Run(k.name, func(t *testing.T) {
			for seed := range uint64(6) {
				m := newModel(t, seed, kind, Config{Name: "test", Parallelism: 1})
				for range 600 {
					m.step()
				}
			}
		})
	}
}
