package lsm

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/millstream-io/millstream/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, fsys vfs.FS, dir string) *DB {
	t.Helper()
	db, err := Open(fsys, dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func contents(t *testing.T, db *DB) string {
	t.Helper()
	r, err := db.NewReader()
	if err != nil {
		t.Fatal(err)
	}
	out := ""
	err = r.Range(nil, []byte{0xff}, func(key, value []byte) (bool, error) {
		if key[0] == 'n' {
			n, err := Count(value)
			out += fmt.Sprintf("%s=%d ", key, n)
			return true, err
		}
		out += fmt.Sprintf("%s=%s ", key, value)
		return true, nil
	})
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestCheckpointHoldsWhatWasCommitted(t *testing.T) {
	fsys := vfs.NewCrashFS()
	db := open(t, fsys, "live")
	b := db.NewBatch()
	for i := range 5 {
		b.Set(fmt.Appendf(nil, "a%d", i), fmt.Appendf(nil, "%d", i))
	}
	b.Add([]byte("n"), 5)
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := db.Checkpoint("one"); err != nil {
		t.Fatal(err)
	}
	b = db.NewBatch()
	b.DeleteRange([]byte("a1"), []byte("a3"))
	b.Delete([]byte("a4"))
	b.Set([]byte("a2"), []byte("again"))
	b.Add([]byte("n"), -2)
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := db.Checkpoint("two"); err != nil {
		t.Fatal(err)
	}
	b = db.NewBatch()
	b.Set([]byte("late"), nil)
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	if got, want := contents(t, db), "a0=0 a2=again a3=3 late= n=3 "; got != want {
		t.Errorf("live: %s, want %s", got, want)
	}
	for _, dir := range []string{"one", "two", ""} {
		if err := vfs.SyncDir(fsys, dir); err != nil {
			t.Fatal(err)
		}
	}
	after := fsys.Crash(0, nil)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		"one": "a0=0 a1=1 a2=2 a3=3 a4=4 n=5 ",
		"two": "a0=0 a2=again a3=3 n=3 ",
	} {
		db := open(t, after, dir)
		if got := contents(t, db); got != want {
			t.Errorf("checkpoint %s after a crash: %s, want %s", dir, got, want)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestGet(t *testing.T) {
	db := open(t, vfs.NewMem(), "db")
	defer db.Close()
	b := db.NewBatch()
	b.Set([]byte("b"), []byte("1"))
	b.Set([]byte("d"), []byte("2"))
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	r, err := db.NewReader()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for key, want := range map[string]string{"a": "", "b": "1", "c": "", "d": "2", "e": ""} {
		v, ok, err := r.Get([]byte(key))
		if err != nil || ok != (want != "") || string(v) != want {
			t.Errorf("Get(%s) = %q, %v, %v; want %q", key, v, ok, err, want)
		}
	}
}

// TestDeadDisk checks that a disk that fails gives errors, and no hanging.
func TestDeadDisk(t *testing.T) {
	for _, after := range []int64{1, 5, 10, 20, 40} {
		fsys := vfs.NewFaultFS(vfs.NewMem())
		db := open(t, fsys, "db")
		fsys.FailFrom(after, -1)
		var err error
		value := make([]byte, 1<<16)
		for i := 0; err == nil && i < 1000; i++ {
			b := db.NewBatch()
			b.Set(fmt.Appendf(nil, "%d", i), value)
			if err = b.Commit(); err == nil && i%20 == 19 {
				err = db.Checkpoint(fmt.Sprintf("checkpoint-%d", i))
			}
		}
		if !errors.Is(err, vfs.ErrInjected) {
			t.Errorf("after %d calls: got %v, want the injected error", after, err)
		}
		fsys.FailFrom(1, 0)
		db.Close()
	}
}

// TestSpansGo removes one window after the other, beside rows that stay for ever, older
// and newer ones in the order of keys. What is noted of the windows goes as well.
func TestSpansGo(t *testing.T) {
	db, err := Open(vfs.NewMem(), "db", Options{InOrder: true, MemTable: 16 << 10})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	key := func(window, i int) []byte { return fmt.Appendf(nil, "g%010d%06d", window, i) }
	const windows, rows = 300, 100
	b := db.NewBatch()
	b.Set(key(0, 1), nil)
	b.Set(key(1e9, 1), nil)
	if err := errors.Join(b.Commit(), db.flush()); err != nil {
		t.Fatal(err)
	}
	for w := 1; w <= windows; w++ {
		b := db.NewBatch()
		for i := range rows {
			b.Set(key(1000*w, i), make([]byte, 20))
		}
		b.DeleteRange(key(1000*(w-1), 0)[:11], key(1000*(w-1)+1, 0)[:11])
		if err := b.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.flush(); err != nil {
		t.Fatal(err)
	}
	spans := 0
	for range 1000 {
		db.mu.Lock()
		idle := db.merging == 0 && !db.flushing
		spans = 0
		for _, r := range db.now.runs {
			spans += len(r.dead)
		}
		db.mu.Unlock()
		if idle && spans < windows/10 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d spans are left of %d windows", spans, windows)
}
