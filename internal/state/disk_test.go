package state

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"go.uber.org/goleak"

	"github.com/millstream-io/millstream/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// saved is a snapshot in a checkpoint directory, and what the model had then.
type saved struct {
	part Part
	want map[int64]map[int]modelValue
}

// keep copies a snapshot into a directory, as the runtime does, and releases it.
func keep(t *testing.T, fsys vfs.FS, s *Snapshot, dir string) Part {
	t.Helper()
	info, err := s.Files()
	if err != nil {
		t.Fatal(err)
	}
	if err := vfs.MkdirAll(fsys, dir); err != nil {
		t.Fatal(err)
	}
	for _, f := range info.Files {
		if err := vfs.LinkOrCopy(fsys, s.Path(f), fsys.PathJoin(dir, f.Name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := vfs.SyncDir(fsys, dir); err != nil {
		t.Fatal(err)
	}
	if err := s.Release(); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(info)
	if err != nil {
		t.Fatal(err)
	}
	back := &Info{}
	if err := json.Unmarshal(text, back); err != nil {
		t.Fatal(err)
	}
	return partIn(fsys, dir, back)
}

func partIn(fsys vfs.FS, dir string, info *Info) Part {
	return Part{FS: fsys, Info: info, Path: func(f FileInfo) string { return fsys.PathJoin(dir, f.Name) }}
}

func cloneWant(want map[int64]map[int]modelValue) map[int64]map[int]modelValue {
	out := make(map[int64]map[int]modelValue)
	for ns, rows := range want {
		out[ns] = maps.Clone(rows)
	}
	return out
}

// TestModelWithRestores runs the model with snapshots, crashes, restores and
// eviction at random moments. Every crash loses what was not synced.
func TestModelWithRestores(t *testing.T) {
	seeds := uint64(6)
	if testing.Short() {
		seeds = 1
	}
	for kind, k := range keyKinds {
		for _, backend := range []Backend{Memory, Disk} {
			t.Run(fmt.Sprintf("%s/%s", k.name, backend), func(t *testing.T) {
				for seed := range seeds {
					runWithRestores(t, seed, kind, backend)
				}
			})
		}
	}
}

func runWithRestores(t *testing.T, seed uint64, kind int, backend Backend) {
	fsys := vfs.NewCrashFS()
	cfg := Config{Name: "test", Parallelism: 1, Backend: backend, FS: fsys, Dir: "state"}
	cfg.MaxRows = []int{0, 5, 100}[seed%3]
	if backend == Disk && seed >= 3 {
		cfg.Budget = NewBudget(Base+1<<20, seed == 4)
		if seed == 4 {
			cfg.Budget.SetLimit(Base+8<<20, true)
		}
	}
	m := newModel(t, seed, kind, cfg)
	cfg.Now = m.db.cfg.Now
	var last *saved
	for i := range 400 {
		m.step()
		switch p := m.rng.IntN(60); {
		case p < 2:
			last = &saved{want: cloneWant(m.want)}
			last.part = m.snapshot(fsys, i, seed%2 == 1, m.step)
		case p == 3:
			m.check(m.db.EndEvent())
			for _, t := range m.db.tables {
				t.rebuild()
			}
		case p == 4 && m.db.disk.pending == nil:
			compact(t, m.db)
		case p == 2:
			// A crash, and a restart from the last checkpoint.
			after := fsys.Crash(m.rng.IntN(101), m.rng)
			m.check(m.db.Close())
			fsys = after
			cfg.FS = fsys
			m.want = make(map[int64]map[int]modelValue)
			if last == nil {
				m.open(Open(cfg))
				continue
			}
			m.want = cloneWant(last.want)
			last.part.FS = fsys
			part := last.part
			if m.rng.IntN(4) == 0 {
				part = aged(t, part)
			}
			m.open(Restore(cfg, []Part{part}))
		}
	}
	m.expire()
	for ns := range int64(10) {
		m.scan(ns - 5)
	}
	m.outlive()
	m.check(m.db.Close())
	if _, err := fsys.Stat("state"); !vfs.IsNotExist(err) {
		t.Errorf("the state directory is left after Close (%v)", err)
	}
}

// snapshot takes a snapshot and goes on to change rows before its files are made;
// while, if the snapshot comes about gradually.
func (m *model) snapshot(fsys vfs.FS, i int, gradually bool, step func()) Part {
	dir := fmt.Sprintf("checkpoint-%d", i)
	if !gradually {
		s, err := m.db.Snapshot(int64(i))
		m.check(err)
		for range m.rng.IntN(8) {
			step()
		}
		return keep(m.t, fsys, s, dir)
	}
	m.check(m.db.EndEvent())
	m.db.minCopy = 1 + m.rng.IntN(20)
	s, err := m.db.Begin(int64(i))
	m.check(err)
	parts := make(chan Part)
	go func() { parts <- keep(m.t, fsys, s, dir) }()
	for range m.rng.IntN(25) {
		step()
	}
	for m.db.Advance() {
	}
	return <-parts
}

func newRNG(a, b uint64) *rand.Rand { return rand.New(rand.NewPCG(a, b)) }
