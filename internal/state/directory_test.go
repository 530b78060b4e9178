package state

import (
	"testing"

	"github.com/millstream-io/millstream/internal/vfs"
	"github.com/millstream-io/millstream/types"
)

// checkListed compares what a table that was just restored has taken from the
// snapshot's list with what the tree says.
func checkListed(t testing.TB, tb Table) {
	t.Helper()
	got := tb.(*table)
	for _, info := range got.db.restored {
		if info.ID != got.format.id || !info.Listed || got.db.cfg.Backend != Disk {
			continue
		}
		want := newTable(got.db, got.spec, info.ID)
		if err := want.readDirectory(); err != nil {
			t.Fatal(err)
		}
		if len(want.byNS) != len(got.byNS) {
			t.Errorf("%d namespaces are listed, the tree has %d", len(got.byNS), len(want.byNS))
		}
		for ns, w := range want.byNS {
			g := got.byNS[ns]
			if g == nil {
				t.Errorf("namespace %d is not listed; it has %d rows", ns, w.cold)
				continue
			}
			if more := [2]uint64{w.groups[0] &^ g.groups[0], w.groups[1] &^ g.groups[1]}; g.cold != w.cold || more != [2]uint64{} {
				t.Errorf("namespace %d is listed with %d rows in groups %x, the tree has %d in %x", ns, g.cold, g.groups, w.cold, w.groups)
			}
		}
	}
}

// TestDirectory restores tables with few and with many namespaces, some of which
// were dropped and made again while the snapshot was being copied.
func TestDirectory(t *testing.T) {
	for _, c := range []struct {
		namespaces int
		listed     bool
	}{{0, true}, {1, true}, {maxListed, true}, {maxListed + 1, false}} {
		fsys := vfs.NewMem()
		db := mustOpen(t, Config{Name: "test", Parallelism: 1, Backend: Disk, FS: fsys, Dir: "state"})
		spec := Spec{Name: "rows", Key: []types.Type{bigint}, Value: []types.Type{bigint}}
		tb := mustTable(t, db, spec)
		fill := func(from, n int) {
			for ns := from; ns < from+n; ns++ {
				slots := make([]int32, 3)
				if _, err := tb.Space(int64(ns)).Upsert(keysOf(longs(bigint, []int{ns + 1, ns + 2, ns + 3}, false)), slots); err != nil {
					t.Fatal(err)
				}
				tb.Space(int64(ns)).Dirty(slots)
			}
		}
		fill(0, c.namespaces)
		s, err := db.Begin(1)
		if err != nil {
			t.Fatal(err)
		}
		if err := tb.Drop(0); err != nil {
			t.Fatal(err)
		}
		fill(0, 1)
		fill(c.namespaces, 5)
		for db.Advance() {
		}
		part := keep(t, fsys, s, "checkpoint")
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if got := part.Info.Tables[0].Listed; got != c.listed {
			t.Errorf("%d namespaces: listed is %v", c.namespaces, got)
		}
		back, err := Restore(Config{Name: "test", Parallelism: 1, Backend: Disk, FS: fsys, Dir: "again"}, []Part{part})
		if err != nil {
			t.Fatal(err)
		}
		restored := mustTable(t, back, spec)
		if list, err := restored.Namespaces(1 << 40); err != nil || len(list) != c.namespaces {
			t.Errorf("%d namespaces came back of %d: %v", len(list), c.namespaces, err)
		}
		if err := back.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
