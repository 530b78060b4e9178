package lsm_test

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/internal/state/lsm"
	"github.com/millstream-io/millstream/internal/vfs"
)

// world is a map in random use, beside a model of it.
type world struct {
	gen
	t    *testing.T
	seed uint64
	fsys vfs.FS
	root string
	// caches are shared by all maps; nil is that of the process.
	caches []*lsm.Cache
	dirs   int

	db    *lsm.DB
	dir   string
	m     model
	views []view
	saved []saved
	// names are the contents of the tables of this map by their names.
	names map[string]uint64
}

// view is a reader, and what it must see.
type view struct {
	r *lsm.Reader
	m model
}

// saved is a checkpoint.
type saved struct {
	dir string
	m   model
	// files are the contents of its files.
	files map[string]uint64
}

func (w *world) check(err error, what string, args ...any) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("seed %d: %s: %v", w.seed, fmt.Sprintf(what, args...), err)
	}
}

func (w *world) newDir() string {
	w.dirs++
	return w.fsys.PathJoin(w.root, fmt.Sprintf("d%d", w.dirs))
}

func (w *world) options() lsm.Options {
	return lsm.Options{
		Cache:    pick(w.gen, w.caches...),
		MemTable: pick(w.gen, 4<<10, 4<<10, 16<<10, 64<<10, 1<<20, 0),
		InOrder:  w.one(40),
	}
}

func (w *world) open(dir string) *lsm.DB {
	w.t.Helper()
	o := w.options()
	db, err := lsm.Open(w.fsys, dir, o)
	w.check(err, "open %s with memtables of %d", dir, o.MemTable)
	if o.MemTable > 0 && db.MemTable() != o.MemTable || db.MemTable() <= 0 {
		w.t.Errorf("seed %d: the size of a memtable is %d, want %d", w.seed, db.MemTable(), o.MemTable)
	}
	return db
}

// sums are the contents of the files of a checkpoint.
func (w *world) sums(dir string) map[string]uint64 {
	w.t.Helper()
	names, err := w.fsys.List(dir)
	w.check(err, "list %s", dir)
	out := map[string]uint64{}
	for _, name := range names {
		_, sum, err := vfs.Checksum(w.fsys, w.fsys.PathJoin(dir, name))
		w.check(err, "read %s of %s", name, dir)
		out[name] = sum
	}
	return out
}

// unchanged checks that the files of a checkpoint are what they were.
func (w *world) unchanged(s saved) {
	w.t.Helper()
	now := w.sums(s.dir)
	for name, sum := range s.files {
		if got, ok := now[name]; !ok || got != sum {
			w.t.Fatalf("seed %d: %s of checkpoint %s has changed (there: %v)", w.seed, name, s.dir, ok)
		}
	}
	if len(now) != len(s.files) {
		w.t.Fatalf("seed %d: checkpoint %s has %d files, and had %d", w.seed, s.dir, len(now), len(s.files))
	}
}

// checkpoint makes one of db. What never changes keeps its name, and no other
// content ever gets it, since whoever keeps checkpoints knows it by that.
func (w *world) checkpoint(db *lsm.DB, m model, names map[string]uint64) saved {
	w.t.Helper()
	s := saved{dir: w.newDir(), m: m}
	w.check(db.Checkpoint(s.dir), "checkpoint %s", s.dir)
	s.files = w.sums(s.dir)
	for name, sum := range s.files {
		if !strings.HasSuffix(name, ".sst") {
			continue
		}
		if old, ok := names[name]; ok && old != sum {
			w.t.Fatalf("seed %d: table %s has another content in checkpoint %s", w.seed, name, s.dir)
		}
		names[name] = sum
	}
	return s
}

func tables(files map[string]uint64) map[string]uint64 {
	out := map[string]uint64{}
	for name, sum := range files {
		if strings.HasSuffix(name, ".sst") {
			out[name] = sum
		}
	}
	return out
}

// take puts the files of a checkpoint into another directory as a restore does: links
// to tables, and copies of what else there is.
func (w *world) take(s saved) string {
	w.t.Helper()
	dir := w.newDir()
	w.check(takeFiles(w.fsys, s.dir, dir), "take %s", s.dir)
	return dir
}

func takeFiles(fsys vfs.FS, from, to string) error {
	names, err := fsys.List(from)
	if err == nil {
		err = fsys.MkdirAll(to, 0o755)
	}
	for _, name := range names {
		if err != nil {
			return err
		}
		a, b := fsys.PathJoin(from, name), fsys.PathJoin(to, name)
		if strings.HasSuffix(name, ".sst") {
			err = vfs.LinkOrCopy(fsys, a, b)
		} else {
			err = vfs.Copy(fsys, a, fsys, b)
		}
	}
	return err
}

// commit writes a batch to the map.
func (w *world) commit() {
	ops := w.batch(w.m)
	w.check(commit(w.db, ops, w.rnd), "commit")
	w.m = w.m.after(ops)
}

func (w *world) openView() {
	r, err := w.db.NewReader()
	w.check(err, "read")
	w.views = append(w.views, view{r, w.m})
}

// closeView reads all that a view sees once more, and closes it.
func (w *world) closeView() {
	i := w.rnd.IntN(len(w.views))
	v := w.views[i]
	w.views = append(w.views[:i], w.views[i+1:]...)
	w.check(checkAll(v.r, v.m, 20), "an old view")
	w.check(v.r.Close(), "close a view")
}

// beside reads each view in a goroutine while this one writes.
func (w *world) beside() {
	done := make(chan error)
	for _, v := range w.views {
		g := newGen(w.seed, w.rnd.Uint64())
		go func() { done <- checkSome(v.r, v.m, g, 40) }()
	}
	for range 1 + w.rnd.IntN(4) {
		w.commit()
	}
	switch w.rnd.IntN(3) {
	case 0:
		w.compact()
	case 1:
		w.save()
	}
	for range w.views {
		w.check(<-done, "a view beside writes")
	}
}

// inside writes, and reads elsewhere, while a range is read in the same goroutine.
func (w *world) inside() {
	v := w.views[0]
	i := 0
	err := v.r.Range(nil, []byte(end), func(key, value []byte) (bool, error) {
		switch w.rnd.IntN(200) {
		case 0:
			w.commit()
		case 1:
			if other := pick(w.gen, w.views...); other.r != v.r {
				w.check(checkSome(other.r, other.m, w.gen, 3), "a view inside of another")
			}
		case 2:
			w.check(checkDB(w.db, w.m, 100), "live inside of a view")
		}
		if i >= len(v.m) || string(key) != v.m[i].key || string(value) != v.m[i].value {
			return false, fmt.Errorf("entry %d is %s", i, show(string(key), string(value)))
		}
		i++
		return true, nil
	})
	if err == nil && i != len(v.m) {
		err = fmt.Errorf("%d of %d entries", i, len(v.m))
	}
	w.check(err, "a view that is read while others are")
}

func (w *world) compact() {
	from, to := w.bounds(w.m)
	if w.one(50) || from >= to {
		from, to = "\x00", end
	}
	w.check(w.db.Compact(), "compact")
}

func (w *world) save() { w.saved = append(w.saved, w.checkpoint(w.db, w.m, w.names)) }

// drop removes the files of a checkpoint.
func (w *world) drop(i int) {
	s := w.saved[i]
	w.saved = append(w.saved[:i], w.saved[i+1:]...)
	w.unchanged(s)
	w.check(w.fsys.RemoveAll(s.dir), "remove %s", s.dir)
}

// excise cuts ranges out of a map that was just opened.
func (w *world) excise(db *lsm.DB, m model) model {
	for w.one(60) {
		from, to := w.bounds(m)
		if w.one(60) {
			from = string(rune(w.rnd.IntN(100)))
			to = string([]byte{from[0] + byte(1+w.rnd.IntN(120))})
		}
		if from >= to {
			continue
		}
		w.check(db.Excise([]byte(from), []byte(to)), "cut out %x to %x", from, to)
		m = m.without(from, to)
		if w.one(30) {
			w.check(checkDB(db, m, 50), "after %x to %x was cut out", from, to)
		}
	}
	return m
}

// branch opens a checkpoint, compares it, writes on in it, and saves that.
func (w *world) branch() {
	s := w.saved[w.rnd.IntN(len(w.saved))]
	w.unchanged(s)
	dir, m, names := w.take(s), s.m, tables(s.files)
	db := w.open(dir)
	w.check(checkDB(db, m, 10), "checkpoint %s", s.dir)
	if w.one(40) {
		m = w.excise(db, m)
	}
	for range w.rnd.IntN(6) {
		ops := w.batch(m)
		w.check(commit(db, ops, w.rnd), "commit to a copy")
		m = m.after(ops)
	}
	if w.one(30) {
		w.check(db.Compact(), "compact a copy")
	}
	if w.one(60) {
		w.saved = append(w.saved, w.checkpoint(db, m, names))
	}
	w.check(checkDB(db, m, 50), "a copy")
	w.check(db.Close(), "close a copy")
	w.check(w.fsys.RemoveAll(dir), "remove a copy")
	w.unchanged(s)
}

// restart goes on with a checkpoint; the live map goes away.
func (w *world) restart() {
	w.leave()
	i := w.rnd.IntN(len(w.saved))
	s := w.saved[i]
	if w.one(70) {
		w.dir = w.take(s)
	} else { // in the checkpoint's own directory
		w.saved = append(w.saved[:i], w.saved[i+1:]...)
		w.dir = s.dir
	}
	w.db, w.m, w.names = w.open(w.dir), s.m, tables(s.files)
	if w.one(40) {
		w.m = w.excise(w.db, w.m)
	}
}

// leave closes the live map and removes its files.
func (w *world) leave() {
	for len(w.views) > 0 {
		w.closeView()
	}
	w.check(w.db.Close(), "close")
	w.check(w.fsys.RemoveAll(w.dir), "remove %s", w.dir)
}

// step does something at random.
func (w *world) step() {
	switch k := w.rnd.IntN(100); {
	case k < 40:
		w.commit()
	case k < 52 && len(w.views) < 6:
		w.openView()
	case k < 62 && len(w.views) > 0:
		v := pick(w.gen, w.views...)
		w.check(checkSome(v.r, v.m, w.gen, 20), "a view")
	case k < 70 && len(w.views) > 0:
		w.closeView()
	case k < 80:
		w.beside()
	case k < 82:
		w.check(checkDB(w.db, w.m, 20), "live")
	case k < 84 && len(w.views) > 0:
		w.inside()
	case k < 88:
		w.compact()
	case k < 92:
		w.save()
	case k < 96 && len(w.saved) > 0:
		w.branch()
	case k < 98 && len(w.saved) > 0:
		w.restart()
	case len(w.saved) > 4:
		w.drop(w.rnd.IntN(len(w.saved)))
	}
}

// run does so many steps.
func (w *world) run(steps int) {
	sizes := []int64{1, 8 << 10, 256 << 10, 4 << 20}
	w.caches = []*lsm.Cache{nil, lsm.NewCache(pick(w.gen, sizes...)), lsm.NewCache(pick(w.gen, sizes...))}
	w.dir, w.names = w.newDir(), map[string]uint64{}
	w.db = w.open(w.dir)
	for range steps {
		w.step()
	}
	w.check(checkDB(w.db, w.m, 1), "live, at the end")
	w.caches = w.caches[:1]
	w.commit()
	w.save()
	w.check(checkDB(w.db, w.m, 10), "live, without its cache")
	w.leave()
	for len(w.saved) > 0 {
		s := w.saved[0]
		db := w.open(w.take(s))
		w.check(checkDB(db, s.m, 10), "checkpoint %s, at the end", s.dir)
		w.check(db.Close(), "close")
		w.drop(0)
	}
}

// TestRandom uses maps at random; MILLSTREAM_LSM multiplies their number.
func TestRandom(t *testing.T) {
	for seed := range uint64(trials(t, 10)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			defer guard(fmt.Sprintf("seed %d", seed))()
			w := &world{gen: newGen(seed), t: t, seed: seed, fsys: vfs.NewMem()}
			switch seed % 5 {
			case 3:
				w.fsys = vfs.NewCrashFS()
			case 4:
				w.fsys, w.root = vfs.OS(), t.TempDir()
			}
			w.run(100)
		})
	}
}

// TestLarge writes many rows in sorted batches, over and over, so that there are many
// files, and blocks in each.
func TestLarge(t *testing.T) {
	for seed := range uint64(trials(t, 2)) {
		done := guard(fmt.Sprintf("seed %d", seed))
		t.Cleanup(done)
		g, fsys, now := newGen(seed, 20), vfs.NewMem(), map[string]string{}
		o := lsm.Options{MemTable: 64 << 10, InOrder: seed%2 == 1}
		db, err := lsm.Open(fsys, "live", o)
		if err != nil {
			t.Fatal(err)
		}
		var views []view
		for turn := range 24 {
			var ops []op
			for _, n := range g.rnd.Perm(40_000)[:4000] {
				key := string(binary.BigEndian.AppendUint32([]byte{byte(n % 3), 0, 1}, uint32(n)))
				ops = append(ops, op{kind: set, key: key, val: g.bytes(g.rnd.IntN(60))})
				now[key] = ops[len(ops)-1].val
			}
			slices.SortFunc(ops, func(a, b op) int { return cmp.Compare(a.key, b.key) })
			if turn%8 == 7 {
				o := op{kind: removeRange, key: ops[1000].key, to: ops[1600].key}
				ops = append(ops, o)
				maps.DeleteFunc(now, func(key, _ string) bool { return o.key <= key && key < o.to })
			}
			if err := commit(db, ops, g.rnd); err != nil {
				t.Fatal(err)
			}
			if turn%8 == 7 {
				r, err := db.NewReader()
				if err != nil {
					t.Fatal(err)
				}
				views = append(views, view{r, modelOf(now)})
			}
		}
		for i, v := range views {
			if err := errors.Join(checkAll(v.r, v.m, 5), checkSome(v.r, v.m, g, 50), v.r.Close()); err != nil {
				t.Errorf("seed %d, view %d: %v", seed, i, err)
			}
		}
		if err := errors.Join(db.Checkpoint("saved"), db.Compact(), checkDB(db, modelOf(now), 5), db.Close()); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		checkAt(t, fsys, "saved", modelOf(now))
		done()
	}
}

func modelOf(entries map[string]string) model {
	m := make(model, 0, len(entries))
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		m = append(m, entry{key, entries[key]})
	}
	return m
}

// TestNewReadersBesideWriter makes readers while another goroutine commits and makes
// checkpoints: each sees the batches up to one of them, and none by half.
func TestNewReadersBesideWriter(t *testing.T) {
	for seed := range uint64(trials(t, 3)) {
		done := guard(fmt.Sprintf("seed %d", seed))
		t.Cleanup(done)
		g := newGen(seed, 1)
		fsys := vfs.NewMem()
		db, err := lsm.Open(fsys, "live", lsm.Options{MemTable: 8 << 10, InOrder: g.one(50)})
		if err != nil {
			t.Fatal(err)
		}
		const last = "\x00last"
		states := []model{{{last, count(0)}}}
		batches := [][]op{{{kind: set, key: last, val: count(0)}}}
		for i := 1; i < 150; i++ {
			ops := append([]op{{kind: set, key: last, val: count(int64(i))}}, g.batch(states[i-1])...)
			ops = append(ops, op{kind: set, key: last, val: count(int64(i))})
			batches, states = append(batches, ops), append(states, states[i-1].after(ops))
		}
		if err := commit(db, batches[0], g.rnd); err != nil {
			t.Fatal(err)
		}
		written := make(chan error, 1)
		go func() {
			rnd := rand.New(rand.NewPCG(seed, 2))
			var err error
			for i := 1; i < len(batches) && err == nil; i++ {
				if err = commit(db, batches[i], rnd); err == nil && i%20 == 0 {
					err = db.Checkpoint(fmt.Sprint("at", i))
				}
			}
			written <- err
		}()
		seen, over := 0, false
		for !over {
			select {
			case err := <-written:
				if over = true; err != nil {
					t.Errorf("seed %d: writer: %v", seed, err)
				}
			default:
			}
			if seen, err = readMoment(db, states, last, seen, g); err != nil {
				t.Errorf("seed %d: %v", seed, err)
				over = over || <-written == nil
			}
		}
		if seen != len(states)-1 && !t.Failed() {
			t.Errorf("seed %d: the last batch that is seen is %d of %d", seed, seen, len(states)-1)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		for i := 20; i < len(states); i += 20 {
			checkAt(t, fsys, fmt.Sprint("at", i), states[i])
		}
		done()
	}
}

// readMoment makes a reader and compares what it sees.
func readMoment(db *lsm.DB, states []model, last string, seen int, g gen) (int, error) {
	r, err := db.NewReader()
	if err != nil {
		return seen, err
	}
	value, ok, err := r.Get([]byte(last))
	if err == nil && !ok {
		err = errors.New("there is no first batch")
	}
	n := int64(0)
	if err == nil {
		n, err = lsm.Count(value)
	}
	if err == nil && int(n) < seen {
		err = fmt.Errorf("sees batch %d, and one before saw %d", n, seen)
	}
	if err == nil && g.one(50) {
		err = checkSome(r, states[n], g, 20)
	}
	if err == nil {
		err = checkAll(r, states[n], 10)
	}
	return int(n), errors.Join(err, r.Close())
}

// checkAt opens a map and compares all of it.
func checkAt(t *testing.T, fsys vfs.FS, dir string, m model) {
	t.Helper()
	db, err := lsm.Open(fsys, dir, lsm.Options{MemTable: 64 << 10})
	if err != nil {
		t.Errorf("open %s: %v", dir, err)
		return
	}
	if err := errors.Join(checkDB(db, m, 1), db.Close()); err != nil {
		t.Errorf("%s: %v", dir, err)
	}
}

// TestCheckpointBesideReads makes checkpoints in a goroutine while this one reads.
func TestCheckpointBesideReads(t *testing.T) {
	defer guard("a checkpoint beside reads")()
	g := newGen(7)
	fsys := vfs.NewMem()
	db, err := lsm.Open(fsys, "live", lsm.Options{MemTable: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	var m model
	for i := range trials(t, 15) {
		for range 4 {
			ops := g.batch(m)
			if err := commit(db, ops, g.rnd); err != nil {
				t.Fatal(err)
			}
			m = m.after(ops)
		}
		made := make(chan error, 1)
		dir := fmt.Sprint("c", i)
		go func() { made <- db.Checkpoint(dir) }()
		for over := false; !over; {
			select {
			case err := <-made:
				if over = true; err != nil {
					t.Fatal(err)
				}
			default:
			}
			r, err := db.NewReader()
			if err == nil {
				err = errors.Join(checkSome(r, m, g, 5), r.Close())
			}
			if err != nil {
				t.Fatalf("trial %d: %v", i, err)
			}
		}
		checkAt(t, fsys, dir, m)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// TestOneCacheForMany uses maps beside each other that have one cache: some are copies
// of each other, some have the directories of others that are gone.
func TestOneCacheForMany(t *testing.T) {
	fsys := vfs.NewMem()
	for _, cache := range []*lsm.Cache{nil, lsm.NewCache(64 << 10), lsm.NewCache(8 << 20)} {
		o := lsm.Options{Cache: cache, MemTable: 4 << 10}
		for turn := range 3 {
			g := newGen(uint64(turn), 3)
			var dbs []*lsm.DB
			var models []model
			for i := range 4 {
				db, err := lsm.Open(fsys, fmt.Sprint("many", i), o)
				if err != nil {
					t.Fatal(err)
				}
				ops := g.rows(300)
				m := model(nil).after(ops)
				if err := errors.Join(commit(db, ops, g.rnd), db.Compact(), checkDB(db, m, 1)); err != nil {
					t.Fatal(err)
				}
				dbs, models = append(dbs, db), append(models, m)
			}
			if err := dbs[0].Checkpoint("twin"); err != nil {
				t.Fatal(err)
			}
			twin, err := lsm.Open(fsys, "twin", o)
			if err != nil {
				t.Fatal(err)
			}
			ops := g.rows(200)
			dbs, models = append(dbs, twin), append(models, models[0].after(ops))
			if err := errors.Join(commit(twin, ops, g.rnd), twin.Compact()); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				for i, db := range dbs {
					if err := checkDB(db, models[i], 1); err != nil {
						t.Errorf("map %d: %v", i, err)
					}
				}
			}
			for i, db := range dbs {
				if err := errors.Join(db.Close(), fsys.RemoveAll(fmt.Sprint("many", i)), fsys.RemoveAll("twin")); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// TestFilesAreClosed looks for open files of maps that are closed, or could not be
// opened.
func TestFilesAreClosed(t *testing.T) {
	if links, _ := filepath.Glob("/proc/self/fd/*"); len(links) == 0 {
		t.Skip("this system does not list the open files of a process")
	}
	w := &world{gen: newGen(5), t: t, seed: 5, fsys: vfs.OS(), root: t.TempDir()}
	w.run(60)
	names, err := w.fsys.List(w.root)
	w.check(err, "list")
	for _, name := range names { // what is left are copies of checkpoints
		files, err := w.fsys.List(w.fsys.PathJoin(w.root, name))
		w.check(err, "list")
		for _, f := range files {
			file, err := vfs.Create(w.fsys, w.fsys.PathJoin(w.root, name, f))
			w.check(err, "damage")
			w.check(file.Close(), "damage")
		}
		if db, err := lsm.Open(w.fsys, w.fsys.PathJoin(w.root, name), lsm.Options{}); err == nil {
			db.Close() // with or without an error: its files are empty
		}
	}
	links, err := filepath.Glob("/proc/self/fd/*")
	w.check(err, "list open files")
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && strings.HasPrefix(to, w.root) {
			t.Errorf("%s is open", to)
		}
	}
}
