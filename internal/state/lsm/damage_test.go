package lsm_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/internal/state/lsm"
	"github.com/millstream-io/millstream/internal/vfs"
)

// victim is a checkpoint whose files are damaged one after another.
type victim struct {
	gen
	fsys vfs.FS
	dir  string
	m    model
	o    lsm.Options
	// data are the contents of its files.
	data map[string][]byte
}

// newVictim makes a checkpoint with runs, merged runs, and what lies upon them.
func newVictim(t *testing.T, seed uint64, o lsm.Options) *victim {
	t.Helper()
	v := &victim{gen: newGen(seed, 11), fsys: vfs.NewMem(), dir: "whole", o: o, data: map[string][]byte{}}
	db, err := lsm.Open(v.fsys, "live", o)
	if err != nil {
		t.Fatal(err)
	}
	write := func(ops []op) {
		if err := commit(db, ops, v.rnd); err != nil {
			t.Fatal(err)
		}
		v.m = v.m.after(ops)
	}
	const rows = 300
	write(small(v.rows(rows)))
	if err := db.Compact(); err != nil {
		t.Fatal(err)
	}
	write(small(v.rows(rows)))
	write(small(v.mixed(v.m, 30)))
	from, to := v.m[len(v.m)/3].key, v.m[len(v.m)/2].key
	write([]op{{kind: removeRange, key: from, to: to}, {kind: add, key: countOf(v.prefix()), n: -3}})
	if err := errors.Join(db.Checkpoint(v.dir), db.Close()); err != nil {
		t.Fatal(err)
	}
	names, err := v.fsys.List(v.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if v.data[name], err = vfs.ReadFile(v.fsys, v.fsys.PathJoin(v.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	checkAt(t, v.fsys, v.dir, v.m)
	return v
}

// with puts the checkpoint into another directory, with another content of a file;
// without the file if that is nil.
func (v *victim) with(t *testing.T, name string, data []byte) (dir string) {
	t.Helper()
	dir = "damaged"
	err := errors.Join(v.fsys.RemoveAll(dir), v.fsys.MkdirAll(dir, 0o755))
	for other, whole := range v.data {
		if other == name {
			whole = data
		}
		if whole != nil {
			err = errors.Join(err, vfs.WriteFile(v.fsys, v.fsys.PathJoin(dir, other), whole))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// ways of using a damaged checkpoint.
var ways = []func(v *victim, db *lsm.DB) error{
	func(v *victim, db *lsm.DB) error { return v.readAll(db, v.m) },
	func(v *victim, db *lsm.DB) error {
		if err := db.Compact(); err != nil {
			return err
		}
		return v.readAll(db, v.m)
	},
	func(v *victim, db *lsm.DB) error {
		from, to := []byte{1}, []byte{64}
		if err := db.Excise(from, to); err != nil {
			return err
		}
		return v.readAll(db, v.m.without(string(from), string(to)))
	},
	func(v *victim, db *lsm.DB) error {
		ops := v.rows(20)
		if err := commit(db, ops, v.rnd); err != nil {
			return err
		}
		m := v.m.after(ops)
		if err := db.Checkpoint("copy"); err != nil {
			return err
		}
		other, err := lsm.Open(v.fsys, "copy", v.o)
		if err != nil {
			return err
		}
		return errors.Join(v.readAll(other, m), other.Close())
	},
}

// readAll reads each key in all ways. Each of them must give an error or be right.
func (v *victim) readAll(db *lsm.DB, m model) error {
	r, err := db.NewReader()
	if err != nil {
		return err
	}
	list := []error{checkRange(r, m, "", end, false, -1), checkRange(r, m, "", end, true, -1)}
	const most = 4 // errors; each may take some time
	failed := 0
	for i := 0; i < len(m) && failed < most; i++ {
		for _, key := range []string{m[i].key, m[i].key + "\x00"} {
			if err := checkGet(r, m, key); err != nil {
				failed++
				list = append(list, err)
			}
		}
	}
	list = append(list, r.Close())
	// What is wrong comes first.
	slices.SortStableFunc(list, func(a, b error) int { return rank(a) - rank(b) })
	return list[0]
}

func rank(err error) int {
	var wrong *mismatch
	switch {
	case errors.As(err, &wrong):
		return 0
	case err != nil:
		return 1
	}
	return 2
}

// try damages a file, and checks what comes of it. It reports whether that was found.
func (v *victim) try(t *testing.T, name string, data []byte, what string, way int) (found bool) {
	t.Helper()
	dir := v.with(t, name, data)
	defer guard(fmt.Sprintf("%s of %s, way %d:", what, name, way))()
	err := v.use(dir, ways[way])
	if cerr := v.fsys.RemoveAll("copy"); cerr != nil {
		t.Fatal(cerr)
	}
	var corrupt *lsm.CorruptError
	var wrong *mismatch
	table := strings.HasSuffix(name, ".sst")
	switch {
	case errors.As(err, &wrong):
		t.Errorf("%s of %s, way %d: %v", what, name, way, err)
	case err == nil:
		return false
	case !table || data == nil:
	case !errors.As(err, &corrupt):
		t.Errorf("%s of %s, way %d: %v, want a CorruptError", what, name, way, err)
	case corrupt.File != v.fsys.PathJoin(dir, name) && corrupt.File != v.fsys.PathJoin("copy", name):
		t.Errorf("%s of %s, way %d: the error is about %s", what, name, way, corrupt.File)
	}
	return true
}

func (v *victim) use(dir string, way func(v *victim, db *lsm.DB) error) error {
	db, err := lsm.Open(v.fsys, dir, v.o)
	if err != nil {
		return err
	}
	err = way(v, db)
	if cerr := db.Close(); err == nil {
		err = cerr
	}
	return err
}

// damage is one way to damage a file at a place.
type damage struct {
	name string
	do   func(v *victim, data []byte, at int) []byte
}

var damages = []damage{
	{"a bit", func(v *victim, data []byte, at int) []byte {
		data[at] ^= 1 << v.rnd.IntN(8)
		return data
	}},
	{"a byte", func(v *victim, data []byte, at int) []byte {
		data[at] += byte(1 + v.rnd.IntN(255))
		return data
	}},
	{"the rest cut off", func(v *victim, data []byte, at int) []byte { return data[:at] }},
	{"zeros", func(v *victim, data []byte, at int) []byte {
		clear(data[at:min(len(data), at+512)])
		return data
	}},
	{"something inserted", func(v *victim, data []byte, at int) []byte {
		return slices.Insert(data, at, byte(v.rnd.Uint32()), 0)
	}},
	{"some bytes missing", func(v *victim, data []byte, at int) []byte {
		return slices.Delete(data, at, min(len(data), at+1+v.rnd.IntN(4)))
	}},
}

// places are some places of a file: many of its beginning and its end.
func (v *victim) places(size, n int) []int {
	var out []int
	for i := range n {
		switch {
		case i%4 == 0:
			out = append(out, max(0, size-1-v.rnd.IntN(64)))
		case i%4 == 1:
			out = append(out, max(0, size-1-v.rnd.IntN(512)))
		case i == 2:
			out = append(out, 0)
		default:
			out = append(out, (size-1)*i/n)
		}
	}
	return out
}

// TestDamage damages the files of a checkpoint. Each damage of a table is a
// CorruptError that names it, or does no harm.
func TestDamage(t *testing.T) {
	for seed := range uint64(trials(t, 1)) {
		for _, inOrder := range []bool{false, true} {
			cache := lsm.NewCache(1 << 20)
			v := newVictim(t, seed, lsm.Options{Cache: cache, MemTable: 16 << 10, InOrder: inOrder})
			n := 60
			if testing.Short() {
				n = 12
			}
			tried, found := 0, 0
			for _, name := range slices.Sorted(maps.Keys(v.data)) {
				whole := v.data[name]
				for i, at := range v.places(len(whole), n) {
					d := damages[i%len(damages)]
					if len(whole) == 0 {
						continue
					}
					data := d.do(v, slices.Clone(whole), at)
					tried++
					if v.try(t, name, data, fmt.Sprintf("seed %d: %s at %d of %d", seed, d.name, at, len(whole)), v.rnd.IntN(len(ways))) {
						found++
					}
				}
				v.try(t, name, nil, "the whole", 0)
			}
			if t.Logf("%d files, %d entries: %d of %d damages were found", len(v.data), len(v.m), found, tried); found == 0 {
				t.Error("no damage was found")
			}
		}
	}
}

// TestDamagedKnowsBetter: what Options.Damaged says of a table is the error, if it says
// anything.
func TestDamagedKnowsBetter(t *testing.T) {
	better := errors.New("better")
	cache := lsm.NewCache(64 << 10)
	for _, known := range []bool{true, false} {
		v := newVictim(t, 1, lsm.Options{Cache: cache, MemTable: 16 << 10})
		asked := map[string]bool{}
		v.o.Damaged = func(file string) error {
			asked[file] = true
			if known {
				return better
			}
			return nil
		}
		tables := 0
		for name, data := range v.data {
			if !strings.HasSuffix(name, ".sst") {
				continue
			}
			tables++
			data = slices.Clone(data)
			scribble(data[:len(data)/2])
			dir := v.with(t, name, data)
			clear(asked)
			err := v.use(dir, ways[0])
			var corrupt *lsm.CorruptError
			if errors.Is(err, better) != known || errors.As(err, &corrupt) == known {
				t.Errorf("%s: got %v", name, err)
			}
			if len(asked) != 1 || !asked[v.fsys.PathJoin(dir, name)] {
				t.Errorf("%s: it was asked about %v", name, asked)
			}
		}
		if tables == 0 {
			t.Error("there are no tables")
		}
	}
}
