package state

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/state/lsm"
	"github.com/millstream-io/millstream/internal/vfs"
	"github.com/millstream-io/millstream/types"
)

// entries counts what the disk holds: rows, and entries of the directory.
func entries(t *testing.T, db *DB) (rows, dirs int) {
	t.Helper()
	r, err := db.newReader()
	if err != nil {
		t.Fatal(err)
	}
	err = r.Range(nil, []byte{0xff}, func(key, value []byte) (bool, error) {
		if key[1] == 0 && key[2] == 0 {
			dirs++
		} else {
			rows++
		}
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return rows, dirs
}

func snapshot(t *testing.T, db *DB, id int64) *Snapshot {
	t.Helper()
	s, err := db.Snapshot(id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestShortLivedRowsNeverReachTheDisk(t *testing.T) {
	fsys := vfs.NewMem()
	db := mustOpen(t, Config{Name: "test", Parallelism: 1, Backend: Disk, FS: fsys, Dir: "state"})
	defer db.Close()
	table := mustTable(t, db, pairSpec)
	for ns := range int64(50) {
		put(t, db, table, ns, numbers(0, 100), 0)
		if err := table.Drop(ns); err != nil {
			t.Fatal(err)
		}
		if err := db.EndEvent(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := fsys.Stat("state"); !vfs.IsNotExist(err) {
		t.Fatalf("a job that saves nothing has files (%v)", err)
	}
	put(t, db, table, 100, numbers(0, 10), 0)
	if err := snapshot(t, db, 1).Release(); err != nil {
		t.Fatal(err)
	}
	put(t, db, table, 101, numbers(0, 1000), 0)
	if err := table.Drop(101); err != nil {
		t.Fatal(err)
	}
	put(t, db, table, 100, numbers(10, 500), 0)
	deleteKeys(t, table, 100, numbers(5, 490))
	if err := snapshot(t, db, 2).Release(); err != nil {
		t.Fatal(err)
	}
	if rows, _ := entries(t, db); rows != 15 {
		t.Errorf("the disk has %d rows, want 15", rows)
	}
	// What is dropped or deleted to the last row leaves nothing.
	deleteKeys(t, table, 100, numbers(0, 500))
	put(t, db, table, 102, numbers(0, 1000), 0)
	put(t, db, table, 103, numbers(0, 3), 0)
	if err := db.EndEvent(); err != nil {
		t.Fatal(err)
	}
	if err := snapshot(t, db, 3).Release(); err != nil {
		t.Fatal(err)
	}
	if rows, dirs := entries(t, db); rows != 1003 || dirs < 100 {
		t.Errorf("the disk has %d rows and %d directory entries, want 1003 and one for each key group", rows, dirs)
	}
	for ns := range int64(2) {
		if err := table.Drop(102 + ns); err != nil {
			t.Fatal(err)
		}
	}
	if rows, dirs := entries(t, db); rows != 0 || dirs != 0 {
		t.Errorf("the disk has %d rows and %d directory entries, want none", rows, dirs)
	}
}

func deleteKeys(t *testing.T, table Table, ns int64, keys []int64) {
	t.Helper()
	v := batch.NewFixed[int64](bigint, len(keys))
	for _, x := range keys {
		v.Append(x)
	}
	slots := make([]int32, len(keys))
	s := table.Space(ns)
	if err := s.Lookup(keysOf(v), slots); err != nil {
		t.Fatal(err)
	}
	s.Delete(slices.DeleteFunc(slots, func(slot int32) bool { return slot < 0 }))
}

// TestMaxRows writes many times more than fits, and reads all of it again.
func TestMaxRows(t *testing.T) {
	cfg := Config{Name: "test", Parallelism: 1, Backend: Disk, FS: vfs.NewMem(), Dir: "state", MaxRows: 1000}
	db := mustOpen(t, cfg)
	table := mustTable(t, db, pairSpec).(*table)
	for i := range int64(200) {
		put(t, db, table, i%3, numbers(i*100, i*100+100), 1)
		if err := db.EndEvent(); err != nil {
			t.Fatal(err)
		}
		if table.rows > cfg.MaxRows {
			t.Fatalf("%d rows are in memory, the limit is %d", table.rows, cfg.MaxRows)
		}
	}
	if n := len(dump(t, table)); n != 20_000 {
		t.Errorf("%d rows, want 20000", n)
	}
	if table.rows > cfg.MaxRows+100 {
		t.Errorf("reading all rows has left %d in memory, the limit is %d", table.rows, cfg.MaxRows)
	}
	put(t, db, table, 1, numbers(100, 110), 5)
	if got := dump(t, table); len(got) != 20_000 || !slices.Contains(got, "1/105=110") || !slices.Contains(got, "1/115=116") {
		t.Errorf("%d rows after writing to cold ones", len(got))
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestSmallNamespaces holds the memory of a hundred thousand namespaces of one
// to three rows.
func TestSmallNamespaces(t *testing.T) {
	const n = 100_000
	var before, after runtime.MemStats
	db := mustOpen(t, Config{Name: "test", Parallelism: 1})
	table := mustTable(t, db, pairSpec)
	k := keysOf(longs(bigint, []int{1, 2, 3}, false))
	slots := make([]int32, 3)
	fill := func() {
		for ns := range int64(n) {
			k.Rows = []int32{0, 1, 2}[:1+ns%3]
			if _, err := table.Space(ns*7919%n).Upsert(k, slots); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.EndEvent(); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&before)
	fill()
	runtime.GC()
	runtime.ReadMemStats(&after)
	per := float64(after.HeapAlloc-before.HeapAlloc) / n
	t.Logf("%.0f bytes a namespace", per)
	if per > 500 {
		t.Errorf("a namespace takes %.0f bytes, want at most 500", per)
	}
	for {
		ns, ok, err := table.First()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		if err := table.Drop(ns); err != nil {
			t.Fatal(err)
		}
	}
	used := db.tables[0].alloc.next
	fill()
	if now := db.tables[0].alloc.next; now != used {
		t.Errorf("slots of dropped namespaces are not used again: %d, then %d", used, now)
	}
	runtime.KeepAlive(db)
}

// TestFailingCalls makes each call to the file system fail in turn. The store
// must say so, or do without; and the last checkpoint must come back whole.
func TestFailingCalls(t *testing.T) {
	step := int64(1)
	if testing.Short() {
		step = 7
	}
	for _, backend := range []Backend{Memory, Disk} {
		for n := int64(1); ; n += step {
			mem := vfs.NewCrashFS()
			fsys := vfs.NewFaultFS(mem)
			fsys.FailFrom(n, 1)
			last, err := writeWithFaults(t, fsys, backend)
			if err != nil && !strings.Contains(err.Error(), vfs.ErrInjected.Error()) {
				t.Fatalf("%s, call %d: %v", backend, n, err)
			}
			after := mem.Crash(0, nil)
			if last != nil {
				last.FS = after
				db, err := Restore(Config{Name: "test", Parallelism: 1, Backend: backend, FS: after, Dir: "again"}, []Part{*last})
				if err != nil {
					t.Fatalf("%s, call %d: %v", backend, n, err)
				}
				rows := len(dump(t, mustTable(t, db, pairSpec)))
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
				if want := (last.Info.Tables[0].ID); rows%100 != 0 || rows == 0 || want != 1 {
					t.Fatalf("%s, call %d: %d rows came back", backend, n, rows)
				}
			}
			if fsys.Calls() < n {
				break // all calls have had their turn
			}
		}
	}
}

// writeWithFaults writes, saves and evicts until something fails, and returns
// the last checkpoint that was complete.
func writeWithFaults(t *testing.T, fsys vfs.FS, backend Backend) (last *Part, err error) {
	db, err := Open(Config{Name: "test", Parallelism: 1, Backend: backend, FS: fsys, Dir: "state", MaxRows: 150})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	table := mustTable(t, db, pairSpec)
	for i := range int64(4) {
		v := longs(bigint, []int{}, false)
		for _, x := range numbers(i*100, i*100+100) {
			v.Append(x)
		}
		if _, err := table.Space(0).Upsert(keysOf(v), make([]int32, 100)); err != nil {
			return last, err
		}
		if err := db.EndEvent(); err != nil {
			return last, err
		}
		s, err := db.Snapshot(i)
		if err != nil {
			return last, err
		}
		info, err := s.Files()
		if err != nil {
			return last, err
		}
		dir := fmt.Sprintf("checkpoint-%d", i)
		if err := vfs.MkdirAll(fsys, dir); err != nil {
			return last, err
		}
		for _, f := range info.Files {
			if err := vfs.LinkOrCopy(fsys, s.Path(f), fsys.PathJoin(dir, f.Name)); err != nil {
				return last, err
			}
		}
		if err := vfs.SyncDir(fsys, dir); err != nil {
			return last, err
		}
		part := partIn(fsys, dir, info)
		last = &part
		if err := s.Release(); err != nil {
			return last, err
		}
	}
	return last, nil
}

// TestRunFileIsForever pins the format of rows on disk.
func TestRunFileIsForever(t *testing.T) {
	db := mustOpen(t, Config{Name: "test", Parallelism: 1})
	table := mustTable(t, db, Spec{Name: "t", Key: []types.Type{types.Of(types.BigInt), types.StringType()},
		Value: []types.Type{types.Of(types.BigInt).NotNull(), types.StringType(), types.ArrayOf(types.StringType()), types.DecimalOf(38, 2)}})
	str := batch.NewBytes(types.StringType(), 2, 0)
	str.AppendString("flink")
	str.AppendNull()
	for _, ns := range []int64{0, -1} {
		slots := make([]int32, 2)
		s := table.Space(ns)
		if _, err := s.Upsert(keysOf(longs(types.Of(types.BigInt), []int{2, 0}, true), str), slots); err != nil {
			t.Fatal(err)
		}
		s.Cols()[0].(*batch.Slab[int64]).Put(slots[0], 77)
		s.Cols()[1].(*batch.BytesSlab).Put(slots[0], []byte("text"))
		s.Cols()[2].Set(slots[:1], listOf("x"), []int32{0})
		s.Cols()[3].(*batch.Slab[types.Int128]).Put(slots[0], types.Int128{Hi: -1, Lo: 12})
	}
	got := hex.Dump(runFile(db.freezeAll()))
	want, err := os.ReadFile(filepath.Join("testdata", "run.golden"))
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("the format of rows has changed, which no checkpoint survives; got\n%s", got)
	}
}

// TestFilesAreShared checks that the files of a second snapshot are those of
// the first, but for what has changed.
func TestFilesAreShared(t *testing.T) {
	fsys := vfs.NewMem()
	cache := lsm.NewCache(1 << 20)
	db := mustOpen(t, Config{Name: "test", Parallelism: 1, Backend: Disk, FS: fsys, Dir: "state", Cache: cache})
	defer db.Close()
	table := mustTable(t, db, pairSpec)
	put(t, db, table, 0, numbers(0, 50_000), 0)
	first := keep(t, fsys, snapshot(t, db, 1), "one")
	put(t, db, table, 1, numbers(0, 10), 0)
	second := keep(t, fsys, snapshot(t, db, 2), "two")
	size := func(p Part, without []FileInfo) (n int64) {
		for _, f := range p.Info.Files {
			if !slices.Contains(without, f) {
				n += f.Length
			}
		}
		return n
	}
	if all, more := size(first, nil), size(second, first.Info.Files); more > all/10 {
		t.Errorf("the first snapshot has %d bytes, the second adds %d", all, more)
	}
}

// TestFilesOffTheTask makes the files of snapshots on another goroutine while
// the task goes on to write.
func TestFilesOffTheTask(t *testing.T) {
	for _, backend := range []Backend{Memory, Disk} {
		fsys := vfs.NewMem()
		db := mustOpen(t, Config{Name: "test", Parallelism: 1, Backend: backend, FS: fsys, Dir: "state"})
		table := mustTable(t, db, pairSpec)
		var last chan Part
		var done sync.WaitGroup
		for i := range int64(20) {
			put(t, db, table, 0, numbers(i*50, i*50+100), i)
			s := snapshot(t, db, i)
			parts := make(chan Part, 1)
			last = parts
			done.Go(func() { parts <- keep(t, fsys, s, fmt.Sprintf("checkpoint-%d", i)) })
			put(t, db, table, i, numbers(0, 30), 1000)
			if err := table.Drop(i - 2); err != nil {
				t.Fatal(err)
			}
		}
		done.Wait()
		part := <-last
		put(t, db, table, 0, numbers(0, 5000), 0)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		db, err := Restore(Config{Name: "test", Parallelism: 1, Backend: backend, FS: fsys, Dir: "again"}, []Part{part})
		if err != nil {
			t.Fatal(err)
		}
		if got := dump(t, mustTable(t, db, pairSpec)); !slices.Contains(got, "0/1049=1068") || slices.Contains(got, "0/1050=1050") || len(got) < 100 {
			t.Errorf("%s: %d rows came back", backend, len(got))
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
