package state

import (
	"testing"

	"github.com/millstream-io/millstream/internal/state/lsm"
	"github.com/millstream-io/millstream/internal/vfs"
)

// TestDropIsARange: the rows of a window that is over leave the disk by ranges.
// What is written for that does not depend on their number.
func TestDropIsARange(t *testing.T) {
	var sizes []int
	for _, rows := range []int64{2000, 20000} {
		db := mustOpen(t, Config{Name: "test", Parallelism: 1, Backend: Disk, FS: vfs.NewMem(), Dir: "state"})
		tb := mustTable(t, db, pairSpec)
		put(t, db, tb, 7, numbers(0, rows), 0)
		if err := snapshot(t, db, 1).Release(); err != nil {
			t.Fatal(err)
		}
		if n, _ := entries(t, db); n != int(rows) {
			t.Fatalf("the disk has %d rows, want %d", n, rows)
		}
		if err := tb.Drop(7); err != nil {
			t.Fatal(err)
		}
		own := tb.(*table)
		if err := db.write(func(b *lsm.Batch) {
			before := b.Size()
			own.graves.write(own.format, b)
			sizes = append(sizes, b.Size()-before)
		}); err != nil {
			t.Fatal(err)
		}
		if n, _ := entries(t, db); n != 0 {
			t.Errorf("%d rows are left", n)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if sizes[0] != sizes[1] || sizes[0] == 0 {
		t.Errorf("to drop 2000 and 20000 rows, %d bytes were written", sizes)
	}
}
