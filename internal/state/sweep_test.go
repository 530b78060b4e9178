package state

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/millstream-io/millstream/internal/vfs"
)

// tick lets time pass, in events.
func (m *mortalDB) tick(t *testing.T, ms int64) {
	t.Helper()
	const step = 10
	for ; ms > 0; ms -= step {
		m.now += min(step, ms)
		m.end(t)
	}
}

// compact merges all that is on disk into one run.
func compact(t *testing.T, db *DB) {
	t.Helper()
	if err := db.writeGone(); err != nil {
		t.Fatal(err)
	}
	if db.disk.lsm == nil {
		return
	}
	if err := db.disk.lsm.Compact(); err != nil {
		t.Fatal(err)
	}
}

// checkCalendar checks that the stretches of a table lie one behind the other, and
// are all in its calendar.
func checkCalendar(t *testing.T, tb Table) {
	t.Helper()
	c := tb.(*table).mortal.disk
	if c == nil {
		return
	}
	first := (*c)[0]
	for i, s := range *c {
		if s.at != i || i > 0 && s.due < (*c)[(i-1)/2].due {
			t.Fatalf("stretch %d is at %d of the heap, or due before that above it", i, s.at)
		}
		if bytes.Compare(s.from, first.from) < 0 {
			first = s
		}
	}
	n := 1
	for s := first; s.next != nil; s = s.next {
		n++
		if bytes.Compare(s.from, s.next.from) >= 0 {
			t.Fatalf("a stretch from %x is followed by one from %x", s.from, s.next.from)
		}
	}
	if n != len(*c) {
		t.Fatalf("%d stretches lie in a row, and the calendar has %d", n, len(*c))
	}
}

// TestSweepReadsWhatExpires: rows on disk are looked at once when they come, and not
// again before some have expired, wherever merges have put them; whether they are
// spread over key groups, or one has many stretches.
func TestSweepReadsWhatExpires(t *testing.T) {
	for _, byTask := range []bool{false, true} {
		testSweepReads(t, byTask)
	}
}

func testSweepReads(t *testing.T, byTask bool) {
	const n = 40_000
	m := &mortalDB{now: 10_000}
	fsys := vfs.NewMem()
	cfg := m.config(Disk, fsys)
	cfg.MaxRows = 500
	m.DB = mustOpen(t, cfg)
	defer func() { m.Close() }()
	spec := mortalSpec
	spec.ByTask = byTask
	m.table = mustTable(t, m.DB, spec)
	for from := int64(0); from < n; from += 1000 {
		put(t, m.DB, m.table, 0, numbers(from, from+1000), 0)
		m.end(t)
		checkCalendar(t, m.table)
	}
	m.reopen(t, Disk, fsys, spec)
	mortal := m.table.(*table).mortal
	m.tick(t, 300)
	compact(t, m.DB)
	checkCalendar(t, m.table)
	if mortal.looked != n {
		t.Errorf("by task %v: the first round has looked at %d rows of %d", byTask, mortal.looked, n)
	}
	if got, want := len(*mortal.disk), n/stretchRows; byTask && got < want {
		t.Errorf("there are %d stretches, want %d or more", got, want)
	}
	before := mortal.looked
	m.tick(t, 690)
	if mortal.looked > before {
		t.Errorf("by task %v: %d rows were looked at, and all are young", byTask, mortal.looked-before)
	}
	before = mortal.looked
	// Each row is read when it has expired, a quarter of the time to live later; it takes
	// some events.
	m.tick(t, 300)
	checkCalendar(t, m.table)
	m.tick(t, 200)
	if got := mortal.looked - before; got != n {
		t.Errorf("by task %v: %d rows were looked at when %d had expired", byTask, got, n)
	}
	rows, _ := entries(t, m.DB)
	if left, err := m.table.Space(0).Len(); err != nil || left != 0 || rows != 0 || m.expired != n {
		t.Errorf("by task %v: %d rows are left (%v), %d of them on disk, and %d have expired", byTask, left, err, rows, m.expired)
	}
	if _, ok, err := m.table.First(); ok || err != nil {
		t.Errorf("by task %v: a namespace without rows is listed (%v)", byTask, err)
	}
}

// TestSweepWithCompactions lets rows of three namespaces expire, with a compaction, or
// a checkpoint and a restore, at one point after another. It changes nothing: what
// expires is gone, each row counts once, and no namespace without rows stays.
func TestSweepWithCompactions(t *testing.T) {
	const n, points = 600, 40
	spec := mortalSpec
	for _, restore := range []bool{false, true} {
		for point := range int64(points) {
			fsys := vfs.NewMem()
			m := &mortalDB{now: 10_000}
			cfg := m.config(Disk, fsys)
			cfg.MaxRows = 50
			m.DB = mustOpen(t, cfg)
			m.table = mustTable(t, m.DB, spec)
			for ns := range int64(3) {
				for from := int64(0); from < n; from += 100 {
					put(t, m.DB, m.table, ns, numbers(from, from+100), 0)
					m.end(t)
				}
			}
			// A few rows are written again before they expire.
			for i := range int64(points) {
				m.now += 50
				if i < 19 {
					put(t, m.DB, m.table, 0, numbers(10*i, 10*i+10), 1)
				}
				m.end(t)
				checkCalendar(t, m.table)
				if i != point {
					continue
				}
				if compact(t, m.DB); restore {
					m.reopen(t, Disk, fsys, spec)
				}
			}
			m.tick(t, 800)
			list, err := m.table.Namespaces(1 << 40)
			if rows, _ := entries(t, m.DB); err != nil || rows != 0 || len(list) != 0 {
				t.Errorf("point %d: %d rows are left, in namespaces %v (%v)", point, rows, list, err)
			}
			if m.expired != 3*n {
				t.Errorf("point %d: %d rows have expired, want %d", point, m.expired, 3*n)
			}
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestSweepAfterRestore restores rows that have all expired, at the same and at another
// parallelism.
func TestSweepAfterRestore(t *testing.T) {
	const n = 3000
	for _, parallelism := range []int{1, 2} {
		fsys := vfs.NewMem()
		m := &mortalDB{now: 10_000}
		m.DB = mustOpen(t, m.config(Disk, fsys))
		m.table = mustTable(t, m.DB, mortalSpec)
		put(t, m.DB, m.table, 7, numbers(0, n), 0)
		m.end(t)
		part := keep(t, fsys, snapshot(t, m.DB, 1), "checkpoint")
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		m.now += mortalSpec.TTL
		for subtask := range parallelism {
			cfg := m.config(Disk, fsys)
			cfg.Subtask, cfg.Parallelism, cfg.Dir = subtask, parallelism, fmt.Sprintf("again-%d", subtask)
			var err error
			if m.DB, err = Restore(cfg, []Part{part}); err != nil {
				t.Fatal(err)
			}
			m.table = mustTable(t, m.DB, mortalSpec)
			m.tick(t, 400)
			if rows, _ := entries(t, m.DB); rows != 0 {
				t.Errorf("subtask %d of %d: %d rows are left", subtask, parallelism, rows)
			}
			if _, ok, err := m.table.First(); ok || err != nil {
				t.Errorf("subtask %d of %d: a namespace without rows is listed (%v)", subtask, parallelism, err)
			}
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if m.expired != n {
			t.Errorf("parallelism %d: %d rows have expired, want %d", parallelism, m.expired, n)
		}
	}
}

// TestSweepOfClockSetBack: rows expire though the clock was once wrong.
func TestSweepOfClockSetBack(t *testing.T) {
	m := &mortalDB{now: 1_000_000}
	cfg := m.config(Disk, vfs.NewMem())
	cfg.MaxRows = 10
	m.DB = mustOpen(t, cfg)
	defer m.Close()
	m.table = mustTable(t, m.DB, mortalSpec)
	put(t, m.DB, m.table, 0, numbers(0, 100), 0)
	m.tick(t, 100)
	put(t, m.DB, m.table, 0, numbers(100, 200), 0)
	m.end(t)
	m.now = 10_000
	put(t, m.DB, m.table, 0, numbers(200, 300), 0)
	m.tick(t, 1500)
	if m.expired != 100 {
		t.Errorf("%d rows have expired, want the 100 of now", m.expired)
	}
}
