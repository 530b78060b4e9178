package lsm_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/millstream-io/millstream/internal/state/lsm"
	"github.com/millstream-io/millstream/internal/vfs"
)

// story is a short life of a map on a disk that fails: what it reads is right, or it
// fails with the error of the disk.
type story struct {
	gen
	fsys  *vfs.FaultFS
	root  string
	cache *lsm.Cache
	// steps says what was done, for errors.
	steps []string
	// made are the checkpoints that were made.
	made map[string]model
	// wrong is what should not be.
	wrong error
}

// fails notes a step, and reports whether it failed as it may.
func (s *story) fails(err error, what string, args ...any) bool {
	what = fmt.Sprintf(what, args...)
	s.steps = append(s.steps, what)
	if err == nil {
		return false
	}
	s.steps = append(s.steps, fmt.Sprintf("(failed: %v)", err))
	var corrupt *lsm.CorruptError
	switch {
	case s.wrong != nil:
	case !errors.Is(err, vfs.ErrInjected):
		s.wrong = fmt.Errorf("%s: %w, want the injected error", what, err)
	case errors.As(err, &corrupt):
		s.wrong = fmt.Errorf("%s: %w, but nothing is damaged", what, err)
	case s.fsys.Failed() == 0:
		s.wrong = fmt.Errorf("%s: %w, but nothing has failed", what, err)
	}
	return true
}

// open opens a map; it is nil if that fails.
func (s *story) open(dir string) *lsm.DB {
	db, err := lsm.Open(s.fsys, dir, lsm.Options{Cache: s.cache, MemTable: 4 << 10, InOrder: s.one(30)})
	if s.fails(err, "open %s", dir) && db != nil && s.wrong == nil {
		s.wrong = errors.New("Open gives a map and an error")
	}
	return db
}

// read compares what is there with what may be. It may fail, and succeed the next time.
func (s *story) read(db *lsm.DB, m ...model) {
	for failed, turn := true, 0; failed && turn < 2; turn++ {
		r, err := db.NewReader()
		if failed = s.fails(err, "make a reader"); failed {
			continue
		}
		for again := true; again && turn < 2; turn++ {
			err = checkAll(r, m[0], 3)
			for _, other := range m[1:] {
				if wrong := (*mismatch)(nil); errors.As(err, &wrong) {
					err = checkAll(r, other, 3)
				}
			}
			again = s.fails(err, "read all")
			failed = failed || again
		}
		s.fails(r.Close(), "close a reader")
	}
}

// commit writes something to m; a map does not survive if that fails.
func (s *story) commit(db *lsm.DB, m *model) (ok bool) {
	ops := small(append(s.rows(30), s.mixed(*m, 10)...))
	before := *m
	*m = m.after(ops)
	if s.fails(commit(db, ops, s.rnd), "commit %d writes", len(ops)) {
		s.read(db, before, *m)
		return false
	}
	return true
}

// checkpoint makes a checkpoint, or another one if that fails: what is there stays.
func (s *story) checkpoint(db *lsm.DB, m model, dir string) {
	for _, dir := range []string{dir, dir + "-again"} {
		dir = s.root + "/" + dir
		if !s.fails(db.Checkpoint(dir), "checkpoint %s", dir) {
			s.made[dir] = m
			return
		}
		s.read(db, m)
	}
}

// live writes a map, and makes two checkpoints.
func (s *story) live() {
	db := s.open(s.root + "/live")
	if db == nil {
		return
	}
	defer func() { s.fails(db.Close(), "close") }()
	var m model
	for i := range 6 {
		if !s.commit(db, &m) {
			return
		}
		switch i {
		case 1:
			s.checkpoint(db, m, "one")
		case 3:
			s.read(db, m)
			if s.fails(db.Compact(), "compact") {
				s.read(db, m)
				return
			}
		case 5:
			s.checkpoint(db, m, "two")
		}
	}
	s.read(db, m)
}

// copy goes on with a copy of a checkpoint.
func (s *story) copy() {
	m := s.made[s.root+"/two"]
	dir := s.root + "/copy"
	if s.fails(takeFiles(s.fsys, s.root+"/two", dir), "copy") {
		return
	}
	db := s.open(dir)
	if db == nil {
		return
	}
	defer func() { s.fails(db.Close(), "close") }()
	s.read(db, m)
	left := m.without("\x01", "\x02")
	if s.fails(db.Excise([]byte{1}, []byte{2}), "cut out") {
		s.read(db, m, left)
		return
	}
	s.read(db, left)
	if s.commit(db, &left) {
		s.checkpoint(db, left, "next")
		s.read(db, left)
	}
}

// inPlace opens a checkpoint in its own directory, twice. A failure ends what is there:
// the directory is that of a map in use from then on.
func (s *story) inPlace() {
	dir := s.root + "/one"
	m := s.made[dir]
	for range 2 {
		failed := s.fsys.Failed()
		if db := s.open(dir); db != nil {
			s.read(db, m)
			s.fails(db.Close(), "close")
		}
		if s.fsys.Failed() > failed {
			delete(s.made, dir)
			return
		}
	}
}

// newStory returns a story on the disk, in which nothing fails yet.
func newStory(inner vfs.FS, root string, kinds vfs.Calls, seed uint64) *story {
	return &story{
		gen: newGen(seed, 4), root: root, made: map[string]model{},
		fsys: vfs.NewFaultFSOf(inner, kinds), cache: lsm.NewCache(16 << 10),
	}
}

// end checks the checkpoints that were made, on a disk that has got well.
func (s *story) end() error {
	s.fsys.FailFrom(1, 0)
	for dir, m := range s.made {
		db, err := lsm.Open(s.fsys, dir, lsm.Options{Cache: s.cache})
		if err == nil {
			err = errors.Join(checkDB(db, m, 1), db.Close())
		}
		if err != nil && s.wrong == nil {
			s.wrong = fmt.Errorf("checkpoint %s that was reported as made: %w", dir, err)
		}
	}
	if again := s.fsys.SyncedAgain(); len(again) > 0 && s.wrong == nil {
		s.wrong = fmt.Errorf("synced again after a sync had failed: %s", again)
	}
	if s.wrong != nil {
		return fmt.Errorf("%w\nafter: %s", s.wrong, strings.Join(s.steps, "; "))
	}
	return nil
}

// restore gives a story the checkpoints of another one.
func (s *story) restore(t *testing.T, inner vfs.FS, of *story) {
	t.Helper()
	for dir, m := range of.made {
		to := s.root + strings.TrimPrefix(dir, of.root)
		if err := takeFiles(inner, dir, to); err != nil {
			t.Fatal(err)
		}
		s.made[to] = m
	}
}

// eachCall runs f for every call, or each of so many, until there are none that fail.
func eachCall(t *testing.T, what string, stride int64, f func(n int64) (over bool, err error)) {
	t.Helper()
	if testing.Short() {
		stride = 17
	}
	runs, began := 0, time.Now()
	for n := int64(1); ; n += stride {
		done := guard(fmt.Sprintf("%s from call %d on: it", what, n))
		over, err := f(n)
		done()
		if err != nil {
			t.Fatalf("%s from call %d on: %v", what, n, err)
		}
		if runs++; over {
			t.Logf("%s: %d runs in %v", what, runs, time.Since(began))
			return
		}
	}
}

// TestFaults lets one call of the disk after another fail, or all from it on, while a
// map is written, and while one goes on from a checkpoint.
func TestFaults(t *testing.T) {
	for seed := range uint64(trials(t, 1)) {
		inner := vfs.NewMem()
		origin := newStory(inner, "origin", 0, seed)
		origin.live()
		if err := origin.end(); err != nil || len(origin.made) != 2 {
			t.Fatalf("without a failure: %d checkpoints, %v", len(origin.made), err)
		}
		for _, kinds := range []vfs.Calls{vfs.Changes, vfs.Opens | vfs.Lists | vfs.Stats, vfs.Reads} {
			for _, count := range []int64{1, -1} {
				stride := int64(1)
				if kinds == vfs.Reads && seed == 0 {
					stride = 3 // there are many; other seeds do not leave any out
				}
				what := fmt.Sprintf("seed %d: %s fails (%d) in ", seed, kinds, count)
				eachCall(t, what+"writing", stride, func(n int64) (over bool, err error) {
					s := newStory(vfs.NewMem(), "first", kinds, seed)
					s.fsys.FailFrom(n, count)
					s.live()
					return s.fsys.Failed() == 0, s.end()
				})
				eachCall(t, what+"going on", stride, func(n int64) (over bool, err error) {
					s := newStory(inner, "second", kinds, seed)
					s.restore(t, inner, origin)
					s.fsys.FailFrom(n, count)
					s.copy()
					s.inPlace()
					return s.fsys.Failed() == 0, errors.Join(s.end(), inner.RemoveAll(s.root))
				})
			}
		}
	}
}

// TestCrash ends the power at some moment after checkpoints, whose names are durable
// where they are, or where somebody has linked the files to.
func TestCrash(t *testing.T) {
	for seed := range uint64(trials(t, 20)) {
		g := newGen(seed, 5)
		fsys := vfs.NewCrashFS()
		db, err := lsm.Open(fsys, "live", lsm.Options{MemTable: pick(g, 4<<10, 64<<10), InOrder: g.one(50)})
		if err != nil {
			t.Fatal(err)
		}
		var m model
		write := func(n int) {
			for range n {
				ops := g.batch(m)
				if err := commit(db, ops, g.rnd); err != nil {
					t.Fatal(err)
				}
				m = m.after(ops)
			}
		}
		kept := map[string]model{}
		for i := range 3 {
			write(1 + g.rnd.IntN(5))
			if g.one(30) {
				if err := db.Compact(); err != nil {
					t.Fatal(err)
				}
			}
			dir := fmt.Sprint("checkpoint", i)
			if err := db.Checkpoint(dir); err != nil {
				t.Fatal(err)
			}
			if g.one(50) {
				from := dir
				dir = fmt.Sprint("kept", i)
				if err := linkAll(fsys, from, dir); err != nil {
					t.Fatal(err)
				}
				if err := fsys.RemoveAll(from); err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(vfs.SyncDir(fsys, dir), vfs.SyncDir(fsys, "")); err != nil {
				t.Fatal(err)
			}
			kept[dir] = m
		}
		write(g.rnd.IntN(5))
		var disks []vfs.FS
		for _, keep := range []int{0, 50, 100} {
			disks = append(disks, fsys.Crash(keep, rand.New(rand.NewPCG(seed, 6))))
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		for i, disk := range disks {
			for dir, m := range kept {
				if checkAt(t, disk, dir, m); t.Failed() {
					t.Fatalf("seed %d, %d %% of what was not synced is left", seed, 50*i)
				}
			}
		}
	}
}

func linkAll(fsys vfs.FS, from, to string) error {
	names, err := fsys.List(from)
	err = errors.Join(err, fsys.MkdirAll(to, 0o755))
	for _, name := range names {
		err = errors.Join(err, vfs.LinkOrCopy(fsys, fsys.PathJoin(from, name), fsys.PathJoin(to, name)))
	}
	return err
}

// TestCheckpointIntoExistingDirectory: what is there stays, and the map goes on.
func TestCheckpointIntoExistingDirectory(t *testing.T) {
	fsys, g := vfs.NewMem(), newGen(8)
	db, err := lsm.Open(fsys, "live", lsm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ops := g.rows(100)
	m := model(nil).after(ops)
	if err := errors.Join(commit(db, ops, g.rnd), db.Checkpoint("c")); err != nil {
		t.Fatal(err)
	}
	more := g.rows(100)
	if err := commit(db, more, g.rnd); err != nil {
		t.Fatal(err)
	}
	if err := db.Checkpoint("c"); err == nil {
		t.Error("a checkpoint is made over another one")
	}
	if err := errors.Join(db.Checkpoint("d"), db.Close()); err != nil {
		t.Fatal(err)
	}
	checkAt(t, fsys, "c", m)
	checkAt(t, fsys, "d", m.after(more))
}

// TestNoList: tables without their list are damage, and not an empty map. So it is with
// the directory of a map that was in use.
func TestNoList(t *testing.T) {
	g, fsys := newGen(9), vfs.NewMem()
	db, err := lsm.Open(fsys, "live", lsm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(commit(db, g.rows(10), g.rnd), db.Compact(), db.Close()); err != nil {
		t.Fatal(err)
	}
	_, err = lsm.Open(fsys, "live", lsm.Options{})
	if corrupt := (*lsm.CorruptError)(nil); !errors.As(err, &corrupt) || corrupt.File != fsys.PathJoin("live", "LIST") {
		t.Errorf("got %v, want damage of the list", err)
	}
}

// size is that of all files in a directory.
func size(t *testing.T, fsys vfs.FS, dir string) (n int64) {
	t.Helper()
	names, err := fsys.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		info, err := fsys.Stat(fsys.PathJoin(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		n += info.Size()
	}
	return n
}

// TestSpace writes the same rows over and over: what they were takes no space for ever,
// nor do rows that are removed, nor runs that a reader has kept until it was closed.
func TestSpace(t *testing.T) {
	const rows, length = 300, 1000
	g := newGen(10)
	fsys := vfs.NewMem()
	db, err := lsm.Open(fsys, "live", lsm.Options{MemTable: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	for turn := range 30 {
		b := db.NewBatch()
		for i := range rows {
			b.Set(fmt.Appendf(nil, "%05d", i), []byte(g.text("abcdefghijklmnopqrstuvwxyz", length)))
		}
		if err := b.Commit(); err != nil {
			t.Fatal(err)
		}
		if turn%10 == 5 {
			r, err := db.NewReader()
			if err := errors.Join(err, db.Compact()); err != nil {
				t.Fatal(err)
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(db.Compact(), db.Checkpoint("full")); err != nil {
		t.Fatal(err)
	}
	b := db.NewBatch()
	b.DeleteRange([]byte("00000"), []byte("00150"))
	for i := 150; i < rows; i++ {
		b.Delete(fmt.Appendf(nil, "%05d", i))
	}
	if err := errors.Join(b.Commit(), db.Compact(), db.Checkpoint("empty"), db.Close()); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"full", "empty", "live"} {
		most := int64(64 << 10)
		if dir == "full" {
			most += 3 * rows * length / 2
		}
		if n := size(t, fsys, dir); n > most {
			t.Errorf("%s has %d bytes, want %d at most", dir, n, most)
		}
	}
}
