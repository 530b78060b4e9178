package state

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/millstream-io/millstream/internal/vfs"
	"github.com/millstream-io/millstream/types"
)

// mortalDB is a DB with a table whose rows live for a second, and its clock.
type mortalDB struct {
	*DB
	table   Table
	now     int64
	expired int64
}

var mortalSpec = Spec{Name: "pairs", Key: []types.Type{bigint}, Value: []types.Type{bigint}, TTL: 1000}

func (m *mortalDB) config(backend Backend, fsys vfs.FS) Config {
	return Config{Name: "test", Parallelism: 1, Backend: backend, FS: fsys, Dir: "state",
		Now: func() int64 { return m.now }, Expired: func(n int64) { m.expired += n }}
}

// reopen saves the DB and restores it with another declaration of its table.
func (m *mortalDB) reopen(t *testing.T, backend Backend, fsys vfs.FS, spec Spec) {
	t.Helper()
	part := keep(t, fsys, snapshot(t, m.DB, m.now), fmt.Sprintf("checkpoint-%d", m.now))
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	var err error
	if m.DB, err = Restore(m.config(backend, fsys), []Part{part}); err != nil {
		t.Fatal(err)
	}
	m.table = mustTable(t, m.DB, spec)
}

func (m *mortalDB) end(t *testing.T) {
	t.Helper()
	if err := m.EndEvent(); err != nil {
		t.Fatal(err)
	}
}

// living are the keys that can be found.
func (m *mortalDB) living(t *testing.T) string {
	t.Helper()
	var out []string
	for x := range int64(20) {
		slots := make([]int32, 1)
		if err := m.table.Space(0).Lookup(keysOf(longs(bigint, []int{int(x) + 1}, false)), slots); err != nil {
			t.Fatal(err)
		}
		if slots[0] >= 0 {
			out = append(out, fmt.Sprint(x))
		}
	}
	return strings.Join(out, " ")
}

// putOne writes one row: a key of longs is a multiple of a million and three.
func (m *mortalDB) putOne(t *testing.T, key int64) {
	t.Helper()
	put(t, m.DB, m.table, 0, []int64{key * 1_000_003}, 0)
	m.end(t)
}

// TestTimeToLive: rows expire so long after they were made or written, reading
// does not count, and another time to live counts from the same moment.
func TestTimeToLive(t *testing.T) {
	for _, backend := range []Backend{Memory, Disk} {
		fsys := vfs.NewMem()
		m := &mortalDB{now: 10_000}
		m.DB = mustOpen(t, m.config(backend, fsys))
		m.table = mustTable(t, m.DB, mortalSpec)
		m.putOne(t, 1)
		m.now += 500
		m.putOne(t, 2)
		m.now += 499
		if got := m.living(t); got != "1 2" {
			t.Errorf("%s: after 999 ms: %s", backend, got)
		}
		m.now++
		if got := m.living(t); got != "2" {
			t.Errorf("%s: after 1000 ms: %s", backend, got)
		}
		m.putOne(t, 2)
		m.reopen(t, backend, fsys, mortalSpec)
		m.now += 999
		if got := m.living(t); got != "2" {
			t.Errorf("%s: restored: %s", backend, got)
		}
		// An expired row comes back as a new one.
		m.now += 1
		slots := make([]int32, 1)
		fresh, err := m.table.Space(0).Upsert(keysOf(longs(bigint, []int{3}, false)), slots)
		if err != nil || len(fresh) != 1 {
			t.Errorf("%s: an expired row was found (%v, %v)", backend, fresh, err)
		}
		m.end(t)
		longer := mortalSpec
		longer.TTL = 5000
		m.reopen(t, backend, fsys, longer)
		m.now += 4999
		if got := m.living(t); got != "2" {
			t.Errorf("%s: after 4999 of 5000 ms: %s", backend, got)
		}
		shorter := mortalSpec
		shorter.TTL = 4999
		m.reopen(t, backend, fsys, shorter)
		if got := m.living(t); got != "" {
			t.Errorf("%s: after 4999 of 4999 ms: %s", backend, got)
		}
		if m.expired != 3 {
			t.Errorf("%s: %d rows have expired, want 3", backend, m.expired)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestExpiredRowsLeave: what nobody asks for leaves memory and disk, within about
// a quarter of the time to live and the work of a few events.
func TestExpiredRowsLeave(t *testing.T) {
	const n = 60_000
	fsys := vfs.NewMem()
	m := &mortalDB{now: 10_000}
	cfg := m.config(Disk, fsys)
	cfg.MaxRows = 1000
	m.DB = mustOpen(t, cfg)
	defer m.Close()
	m.table = mustTable(t, m.DB, mortalSpec)
	for from := int64(0); from < n; from += 1000 {
		put(t, m.DB, m.table, 0, numbers(from, from+1000), 0)
		m.end(t)
	}
	first := keep(t, fsys, snapshot(t, m.DB, 1), "one")
	if rows, _ := entries(t, m.DB); rows != n {
		t.Fatalf("%d rows are on disk, want %d", rows, n)
	}
	m.now += mortalSpec.TTL
	put(t, m.DB, m.table, 0, numbers(-5, 0), 0)
	for range 40 {
		m.now += 25
		put(t, m.DB, m.table, 0, numbers(-5, 0), 0)
		m.end(t)
	}
	rows, _ := entries(t, m.DB)
	if left, err := m.table.Space(0).Len(); err != nil || left != 5 || rows != 0 || m.expired != n {
		t.Errorf("%d rows are left (%v), %d of them on disk, and %d have expired", left, err, rows, m.expired)
	}
	// The files shrink when they are merged, in the background.
	size := func(p Part) (bytes int64) {
		for _, f := range p.Info.Files {
			bytes += f.Length
		}
		return bytes
	}
	for i := range int64(200) {
		if size(keep(t, fsys, snapshot(t, m.DB, i+2), fmt.Sprintf("later-%d", i))) < size(first)/20 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("the checkpoint of all rows has %d bytes, and one without them is not much smaller", size(first))
}

// TestTimeToLiveScans: expired rows are not met by scans and ranges.
func TestTimeToLiveScans(t *testing.T) {
	for _, order := range []int{0, 1} {
		m := &mortalDB{now: 10_000}
		cfg := m.config(Disk, vfs.NewMem())
		cfg.MaxRows = 10
		m.DB = mustOpen(t, cfg)
		spec := mortalSpec
		spec.Order = order
		m.table = mustTable(t, m.DB, spec)
		group := func(k *Keys) *Keys {
			if order > 0 {
				k.Group = make([]uint64, len(k.Hash))
			}
			return k
		}
		for i := range 60 {
			if _, err := m.table.Space(0).Upsert(group(keysOf(longs(bigint, []int{i}, false))), make([]int32, 1)); err != nil {
				t.Fatal(err)
			}
			m.now += 20
			m.end(t)
		}
		count := 0
		err := m.table.Space(0).Scan(7, func(slots []int32) error {
			count += len(slots)
			for _, slot := range slots {
				if *m.table.Space(0).Cols()[0].(interface{ At(int32) *int64 }).At(slot) != 0 {
					t.Error("a value is not that of the operator")
				}
			}
			return nil
		})
		if err != nil || count != 49 {
			t.Errorf("order %d: a scan gave %d rows (%v), want 49", order, count, err)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestTimeToLiveNeedsClock(t *testing.T) {
	db := mustOpen(t, Config{Name: "Distinct[1]", Parallelism: 1})
	_, err := db.Table(mortalSpec)
	if want := `Distinct[1]: table "pairs" has a time to live, and there is no clock`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
