package state

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/vfs"
	"github.com/millstream-io/millstream/types"
)

// total is what the model of a mergeable table has of a key: a sum, and texts in
// the order in which they came.
type total struct {
	sum  int64
	text string
}

var totalValues = []types.Type{bigint, types.StringType()}

// mergeTotals is the Merge of that table.
func mergeTotals(vals []batch.Column, into, from []int32) error {
	sums, texts := vals[0].(*batch.Slab[int64]), vals[1].(*batch.BytesSlab)
	for i, slot := range into {
		*sums.At(slot) += *sums.At(from[i])
		text := append(slices.Clone(texts.Get(slot)), texts.Get(from[i])...)
		texts.Put(slot, text)
	}
	return nil
}

// totals is a model of a mergeable table.
type totals struct {
	*model
	want map[int64]map[int]total
}

func (m *totals) step() {
	ns := m.rng.Int64N(6) - 3
	switch p := m.rng.IntN(100); {
	case p < 55:
		m.add(ns, false)
	case p < 62:
		m.add(ns, true)
	case p < 70:
		m.lookup(ns)
	case p < 74:
		m.remove(ns)
	case p < 79:
		m.scan(ns)
	case p < 88:
		m.drain(ns)
	case p < 92:
		m.check(m.table.Drop(ns))
		delete(m.want, ns)
	default:
		m.namespaces()
	}
	if m.rng.IntN(2) == 0 {
		m.check(m.db.EndEvent())
	}
}

// add adds to random keys, of which it knows nothing, or all.
func (m *totals) add(ns int64, exactly bool) {
	ids := m.randomIDs()
	slots := make([]int32, len(ids))
	s, k := m.table.Space(ns), m.keys(ids)
	if exactly {
		m.check(s.Lookup(k, slots))
	}
	fresh, err := s.Upsert(k, slots)
	m.check(err)
	if m.want[ns] == nil {
		m.want[ns] = make(map[int]total)
	}
	rows := m.want[ns]
	sums, texts := s.Cols()[0].(*batch.Slab[int64]), s.Cols()[1].(*batch.BytesSlab)
	for _, i := range fresh {
		if *sums.At(slots[i]) != 0 || !texts.Null(slots[i]) {
			m.t.Fatalf("a new row is not empty")
		}
		if _, ok := rows[ids[i]]; ok && exactly {
			m.t.Fatalf("key %d is new, though it was looked up", ids[i])
		}
	}
	for i, id := range ids {
		n, text := m.rng.Int64N(100), string(rune('a'+m.rng.IntN(26)))
		*sums.At(slots[i]) += n
		texts.Put(slots[i], append(slices.Clone(texts.Get(slots[i])), text...))
		was := rows[id]
		rows[id] = total{was.sum + n, was.text + text}
		if exactly {
			m.checkTotal(s, slots[i], rows[id])
		}
	}
	s.Dirty(slots)
}

func (m *totals) checkTotal(s Space, slot int32, want total) {
	m.t.Helper()
	got := total{*s.Cols()[0].(*batch.Slab[int64]).At(slot), string(s.Cols()[1].(*batch.BytesSlab).Get(slot))}
	if got != want {
		m.t.Fatalf("slot %d: got %v, want %v", slot, got, want)
	}
}

func (m *totals) lookup(ns int64) {
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
			m.checkTotal(s, slots[i], want)
		}
	}
}

func (m *totals) remove(ns int64) {
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

// visit returns a function that checks the rows that a scan gives.
func (m *totals) visit(ns int64, s Space, limit int, each func(slots []int32, ids []int) error) func(slots []int32) error {
	byKey := make(map[string]int)
	for id := range m.want[ns] {
		byKey[rowKey(m.cols([]int{id}), 0)] = id
	}
	return func(slots []int32) error {
		if len(slots) == 0 || len(slots) > limit {
			m.t.Fatalf("a scan of %d rows at a time gave %d", limit, len(slots))
		}
		keys := s.Keys(slots)
		ids := make([]int, len(slots))
		for i, slot := range slots {
			id, ok := byKey[rowKey(keys, i)]
			if !ok {
				m.t.Fatalf("namespace %d: a scan gave an unknown or a repeated row", ns)
			}
			delete(byKey, rowKey(keys, i))
			m.checkTotal(s, slot, m.want[ns][id])
			ids[i] = id
		}
		return each(slots, ids)
	}
}

// scan visits all rows, changes some and removes some.
func (m *totals) scan(ns int64) {
	s := m.table.Space(ns)
	limit, visits, want := 1+m.rng.IntN(20), 0, len(m.want[ns])
	n, err := s.Len()
	m.check(err)
	if n < want {
		m.t.Fatalf("Len is %d, and there are %d keys", n, want)
	}
	m.check(s.Scan(limit, m.visit(ns, s, limit, func(slots []int32, ids []int) error {
		var gone []int32
		for i, slot := range slots {
			switch visits++; m.rng.IntN(8) {
			case 0:
				gone = append(gone, slot)
				delete(m.want[ns], ids[i])
			case 1:
				*s.Cols()[0].(*batch.Slab[int64]).At(slot)++
				s.Dirty(slots[i : i+1])
				was := m.want[ns][ids[i]]
				m.want[ns][ids[i]] = total{was.sum + 1, was.text}
			}
		}
		s.Delete(gone)
		return nil
	})))
	if visits != want {
		m.t.Fatalf("namespace %d: a scan gave %d of %d rows", ns, visits, want)
	}
}

var errEnough = errors.New("enough")

// drain takes all rows, or as many as it likes.
func (m *totals) drain(ns int64) {
	s := m.table.Space(ns)
	limit, want := 1+m.rng.IntN(20), len(m.want[ns])
	stop := m.rng.IntN(2*want + 1)
	visits := 0
	err := s.Drain(limit, m.visit(ns, s, limit, func(slots []int32, ids []int) error {
		if visits >= stop && m.rng.IntN(2) == 0 {
			return errEnough
		}
		for _, id := range ids {
			delete(m.want[ns], id)
		}
		visits += len(ids)
		return nil
	}))
	switch {
	case err == nil && visits != want:
		m.t.Fatalf("namespace %d: %d rows of %d were drained", ns, visits, want)
	case err != nil && err != errEnough:
		m.t.Fatal(err)
	}
}

// namespaces checks that no namespace with rows is missing. One whose rows were
// removed while they were partials may be listed until it is dropped.
func (m *totals) namespaces() {
	listed, err := m.table.Namespaces(100)
	m.check(err)
	var want []int64
	for ns, rows := range m.want {
		if len(rows) > 0 {
			want = append(want, ns)
		}
	}
	slices.Sort(want)
	if !slices.Equal(listed, want) {
		m.t.Fatalf("Namespaces gave %v, want %v", listed, want)
	}
	first, ok, err := m.table.First()
	m.check(err)
	if ok != (len(want) > 0) || ok && first != want[0] {
		m.t.Fatalf("First gave %d, %v; want the first of %v", first, ok, want)
	}
}

func cloneTotals(want map[int64]map[int]total) map[int64]map[int]total {
	out := make(map[int64]map[int]total)
	for ns, rows := range want {
		out[ns] = maps.Clone(rows)
	}
	return out
}

// TestPartials runs the model of a mergeable table with snapshots, crashes,
// restores (to both backends) and eviction at random moments.
func TestPartials(t *testing.T) {
	seeds := uint64(12)
	if testing.Short() {
		seeds = 2
	}
	for kind, k := range keyKinds {
		t.Run(k.name, func(t *testing.T) {
			for seed := range seeds {
				runPartials(t, seed, kind)
			}
		})
	}
}

func runPartials(t *testing.T, seed uint64, kind int) {
	fsys := vfs.NewCrashFS()
	cfg := Config{Name: "test", Parallelism: 1, Backend: Disk, FS: fsys, Dir: "state", MaxRows: []int{1, 20, 0}[seed%3]}
	if seed%3 == 2 {
		cfg.Budget = NewBudget(Base+1<<20, true)
		cfg.Budget.SetLimit(Base+8<<20, true)
	}
	m := &totals{model: &model{t: t, rng: newRNG(seed, uint64(kind)+100), cols: keyKinds[kind].cols}, want: map[int64]map[int]total{}}
	m.ids = []int{3, 60, 1500}[m.rng.IntN(3)]
	m.spec = Spec{Name: "totals", Key: keyKinds[kind].key, Value: totalValues, Merge: mergeTotals}
	m.open(Open(cfg))
	var last *saved
	var lastWant map[int64]map[int]total
	for i := range 400 {
		m.step()
		switch p := m.rng.IntN(60); {
		case p < 2:
			lastWant = cloneTotals(m.want)
			last = &saved{part: m.snapshot(fsys, i, seed%2 == 1 && cfg.Backend == Disk, m.step)}
		case p == 3:
			m.check(m.db.EndEvent())
			for _, t := range m.db.tables {
				t.rebuild()
			}
		case p == 2:
			after := fsys.Crash(m.rng.IntN(101), m.rng)
			m.check(m.db.Close())
			fsys = after
			cfg.FS = fsys
			m.want = cloneTotals(lastWant)
			if last == nil {
				m.open(Open(cfg))
				continue
			}
			last.part.FS = fsys
			cfg.Backend = Disk
			if m.rng.IntN(3) == 0 {
				cfg.Backend = Memory
			}
			part := last.part
			if m.rng.IntN(4) == 0 {
				part = aged(t, part)
			}
			m.open(Restore(cfg, []Part{part}))
		}
	}
	for ns := range int64(6) {
		m.scan(ns - 3)
		m.drain(ns - 3)
	}
	m.check(m.db.Close())
}

// TestPartialsRescale writes partials of the same keys again and again, with few
// rows in memory, and saves and restores at several parallelisms.
func TestPartialsRescale(t *testing.T) {
	fsys := vfs.NewMem()
	spec := Spec{Name: "totals", Key: []types.Type{bigint}, Value: []types.Type{bigint}, Merge: addUp}
	var parts []Part
	const keys = 300
	sum := int64(0)
	for round, par := range []int{1, 3, 2, 7, 1} {
		var next []Part
		rows := 0
		for sub := range par {
			cfg := Config{Name: "test", Subtask: sub, Parallelism: par, Backend: Disk, FS: fsys, Dir: fmt.Sprintf("state-%d-%d", round, sub), MaxRows: 10}
			db, err := Restore(cfg, parts)
			if err != nil {
				t.Fatal(err)
			}
			table := mustTable(t, db, spec)
			s := table.Space(1)
			check := func(slots []int32) error {
				rows += len(slots)
				for _, slot := range slots {
					if got := *s.Cols()[0].(*batch.Slab[int64]).At(slot); got != sum {
						t.Fatalf("round %d: a key has %d, want %d", round, got, sum)
					}
				}
				return nil
			}
			if err := s.Scan(50, check); err != nil {
				t.Fatal(err)
			}
			for add := range int64(5) {
				addTo(t, db, table, keys, add)
				if err := db.EndEvent(); err != nil {
					t.Fatal(err)
				}
			}
			snap, err := db.Snapshot(int64(round))
			if err != nil {
				t.Fatal(err)
			}
			part := keep(t, fsys, snap, fmt.Sprintf("checkpoint-%d-%d", round, sub))
			if round == 1 {
				part = aged(t, part)
			}
			next = append(next, part)
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if round > 0 && rows != keys {
			t.Fatalf("round %d: %d keys came back, want %d", round, rows, keys)
		}
		parts, sum = next, sum+10
	}
	if v := parts[0].Info.Version; v != treeVersion {
		t.Errorf("a snapshot with partials has version %d", v)
	}
	db, err := Restore(Config{Name: "test", Parallelism: 1, Backend: Disk, FS: fsys, Dir: "other"}, parts)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	spec.Merge = nil
	if _, err := db.Table(spec); err == nil {
		t.Error("a table with partials was declared as one that cannot be merged")
	}
}

// addTo adds n to the keys below the given one that belong to the DB.
func addTo(t *testing.T, db *DB, table Table, keys, n int64) {
	t.Helper()
	v := batch.NewFixed[int64](bigint, int(keys))
	for x := range keys {
		v.Append(x)
	}
	k := keysOf(v)
	lo, hi := db.keyGroups()
	k.Rows = slices.DeleteFunc(k.Rows, func(r int32) bool {
		g := batch.KeyGroup(k.Hash[r])
		return g < lo || g >= hi
	})
	slots := make([]int32, len(k.Rows))
	s := table.Space(1)
	if _, err := s.Upsert(k, slots); err != nil {
		t.Fatal(err)
	}
	for _, slot := range slots {
		*s.Cols()[0].(*batch.Slab[int64]).At(slot) += n
	}
	s.Dirty(slots)
}

func addUp(vals []batch.Column, into, from []int32) error {
	sums := vals[0].(*batch.Slab[int64])
	for i, slot := range into {
		*sums.At(slot) += *sums.At(from[i])
	}
	return nil
}

// TestDrainPlain drains a table that is not mergeable, with rows on disk and in
// memory, in pieces, with a snapshot between them.
func TestDrainPlain(t *testing.T) {
	fsys := vfs.NewMem()
	cfg := Config{Name: "test", Parallelism: 1, Backend: Disk, FS: fsys, Dir: "state", MaxRows: 200}
	db := mustOpen(t, cfg)
	table := mustTable(t, db, pairSpec)
	const n = 1000
	for at := int64(0); at < n; at += 100 {
		put(t, db, table, 5, numbers(at, at+100), 1)
		if err := db.EndEvent(); err != nil {
			t.Fatal(err)
		}
	}
	seen := make(map[int64]bool)
	var part Part
	for round := 0; ; round++ {
		given := 0
		s := table.Space(5)
		err := s.Drain(30, func(slots []int32) error {
			if given > 100 {
				return errEnough
			}
			given += len(slots)
			for _, key := range s.Keys(slots)[0].(*batch.Fixed[int64]).Values {
				if seen[key] {
					t.Fatalf("key %d comes twice", key)
				}
				seen[key] = true
			}
			return nil
		})
		if err == nil {
			break
		}
		snap, err := db.Snapshot(int64(round))
		if err != nil {
			t.Fatal(err)
		}
		part = keep(t, fsys, snap, fmt.Sprintf("checkpoint-%d", round))
		if round == 4 {
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if db, err = Restore(cfg, []Part{part}); err != nil {
				t.Fatal(err)
			}
			table = mustTable(t, db, pairSpec)
		}
	}
	if len(seen) != n {
		t.Errorf("%d rows were drained, want %d", len(seen), n)
	}
	if _, ok, err := table.First(); ok || err != nil {
		t.Errorf("a drained namespace is still there (%v)", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
