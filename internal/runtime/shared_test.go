package runtime_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/millstream-io/millstream/internal/blob"
	"github.com/millstream-io/millstream/internal/blob/blobtest"
	"github.com/millstream-io/millstream/internal/checkpoint"
	"github.com/millstream-io/millstream/internal/runtime"
	"github.com/millstream-io/millstream/internal/runtime/rttest"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/internal/vfs"
)

// shared are stores that several machines may use.
func sharedStores(t *testing.T) map[string]blob.Store {
	return map[string]blob.Store{"mem": blob.NewMem(), "s3": blobtest.New(t).Store(t, "jobs/job")}
}

// machine opens the job on a machine with a disk of its own.
func machine(t *testing.T, fs vfs.FS, store blob.Store) *runtime.Data {
	t.Helper()
	data, err := runtime.Place{FS: fs, Path: "/job", Store: store}.OpenData("job")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestAnotherMachine takes a job over a chain of machines, each with nothing but
// the store, or with what it had when it had the job before.
func TestAnotherMachine(t *testing.T) {
	for kind, store := range sharedStores(t) {
		for _, backend := range []state.Backend{state.Memory, state.Disk} {
			t.Run(kind+" "+backend.String(), func(t *testing.T) {
				store := store.Sub(backend.String())
				src, sink := &rttest.Source{Chunk: 10, Unbounded: true}, rttest.NewSink()
				part := src.Add("a")
				cfg := runtime.Config{Job: "job", State: runtime.StateConfig{Backend: backend, MaxRows: 30}}
				disks := []vfs.FS{vfs.NewMem(), vfs.NewMem()}
				for round := range 6 {
					data := machine(t, disks[round/2%2], store)
					if m := data.Latest(); (m != nil) != (round > 0) {
						t.Fatalf("round %d goes on from %v", round, m)
					}
					j, err := runtime.NewJob(tallyGraph(1+round%3, src, sink), cfg, data)
					if err != nil {
						t.Fatal(err)
					}
					for step := range int64(2) {
						part.Feed(rows(1000*int64(round)+500*step, 500, 20)...)
						if err := j.Checkpoint(); err != nil {
							t.Fatal(err)
						}
					}
					if round == 5 {
						part.End()
						drain(t, j)
					}
					if err := errors.Join(j.Close(), data.Close()); err != nil {
						t.Fatal(err)
					}
				}
				equal(t, sink.Published(), tallies(6000, 20, 50))
			})
		}
	}
}

// TestFence: of two processes that run one job from one store, the one that was
// started last has it. What the other one does then is never committed, and
// removes nothing.
func TestFence(t *testing.T) {
	for kind, store := range sharedStores(t) {
		t.Run(kind, func(t *testing.T) {
			src, sink := &rttest.Source{Chunk: 10, Unbounded: true}, rttest.NewSink()
			part, fed := src.Add("a"), int64(0)
			cfg := runtime.Config{Job: "job", State: runtime.StateConfig{Backend: state.Disk, MaxRows: 30}}
			begin := func() (*runtime.Data, *runtime.Job) {
				data := machine(t, vfs.NewMem(), store)
				j, err := runtime.NewJob(tallyGraph(2, src, sink), cfg, data)
				if err != nil {
					t.Fatal(err)
				}
				return data, j
			}
			some := func(j *runtime.Job) {
				part.Feed(rows(fed, 500, 20)...)
				fed += 500
				if err := j.Drain(); err != nil {
					t.Fatal(err)
				}
			}
			firstData, first := begin()
			some(first)
			if err := first.Checkpoint(); err != nil {
				t.Fatal(err)
			}
			some(first)
			secondData, second := begin()
			some(second)
			err := first.Checkpoint()
			var refused *checkpoint.RefusedError
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), "was taken over by process ") {
				t.Errorf("the first process commits: %v", err)
			}
			if err := second.Checkpoint(); err != nil {
				t.Fatal(err)
			}
			some(second)
			if err := errors.Join(first.Close(), firstData.Close()); err != nil {
				t.Error(err)
			}
			if err := errors.Join(second.Checkpoint(), second.Close(), secondData.Close()); err != nil {
				t.Error(err)
			}
			thirdData, third := begin()
			if m := thirdData.Latest(); m.ID != 3 || m.Incarnation != 2 {
				t.Errorf("goes on from %s", m)
			}
			part.End()
			drain(t, third)
			if err := errors.Join(third.Close(), thirdData.Close()); err != nil {
				t.Error(err)
			}
			equal(t, sink.Published(), tallies(fed, 20, 50))
		})
	}
}

// TestStoreOutage: a store that does not answer fails checkpoints, which name what
// was done and where, and the job goes on from the last one when it is back. The
// input has no end before that has happened to the state of an operator.
func TestStoreOutage(t *testing.T) {
	store := blob.NewMem()
	src, sink := rttest.NewSource(10, split(rows(0, 5000, 20), 4)...), rttest.NewSink()
	held := src.Add("held")
	calls := 0
	var named atomic.Int64
	store.FailWith(func(op, name string) error {
		// State that has not changed is not written again: it fails each time until that
		// was told twice.
		if calls++; calls%47 == 0 || named.Load() < 2 && op == "put" && strings.Contains(name, "data/") {
			return errors.New(op + " " + name + ": the store is down")
		}
		return nil
	})
	log := func(l string) {
		if strings.Contains(l, "failed in phase upload, operator tally, task ") && strings.Contains(l, "the store is down") {
			if named.Add(1) == 2 {
				held.End()
			}
		}
	}
	cfg := runtime.Config{
		Job: "job", Checkpoint: checkpoint.Config{Interval: 1, Tolerable: 1}, Log: log,
		Restart: runtime.Restart{Attempts: 1000, Delay: 1, MaxDelay: 1, Multiplier: 1}, State: runtime.StateConfig{Backend: state.Disk, MaxRows: 30},
	}
	disk := vfs.NewMem()
	for range 1000 {
		data, err := runtime.Place{FS: disk, Path: "/job", Store: store}.OpenData("job")
		if err == nil {
			err = errors.Join(runtime.Run(context.Background(), tallyGraph(3, src, sink), cfg, data), data.Close())
		}
		if err == nil {
			break
		}
		if !strings.Contains(err.Error(), "the store is down") {
			t.Fatal(err)
		}
	}
	equal(t, sink.Published(), tallies(5000, 20, 50))
	if n := named.Load(); n < 2 {
		t.Errorf("%d failed checkpoints name the operator", n)
	}
}

// busyStore lets something happen before a record is appended to a log.
type busyStore struct {
	blob.Store
	before func()
}

// Sub implements blob.Store.
func (b busyStore) Sub(dir string) blob.Store { return busyStore{b.Store.Sub(dir), b.before} }

// Create implements blob.Store.
func (b busyStore) Create(ctx context.Context, name string, data []byte) error {
	if strings.Contains(b.Where(name), "log/") {
		b.before()
	}
	return b.Store.Create(ctx, name, data)
}

// TestTakeOverABusyJob: a process that commits again and again, just when another
// one takes the job over, does not keep it.
func TestTakeOverABusyJob(t *testing.T) {
	store := blob.NewMem()
	src, sink := &rttest.Source{Chunk: 10, Unbounded: true}, rttest.NewSink()
	part := src.Add("a").Feed(rows(0, 500, 20)...)
	cfg := runtime.Config{Job: "job"}
	firstData := machine(t, vfs.NewMem(), store)
	first, err := runtime.NewJob(tallyGraph(1, src, sink), cfg, firstData)
	if err != nil {
		t.Fatal(err)
	}
	commits := 0
	busy := busyStore{store, func() {
		if commits < 5 {
			commits++
			if err := first.Checkpoint(); err != nil {
				t.Error(err)
			}
		}
	}}
	secondData := machine(t, vfs.NewMem(), busy)
	second, err := runtime.NewJob(tallyGraph(1, src, sink), cfg, secondData)
	if err != nil {
		t.Fatal(err)
	}
	if m := secondData.Latest(); m == nil || m.ID != 5 {
		t.Errorf("the second process goes on from %v", m)
	}
	var refused *checkpoint.RefusedError
	if err := first.Checkpoint(); !errors.As(err, &refused) {
		t.Errorf("the first process commits: %v", err)
	}
	if err := errors.Join(first.Close(), firstData.Close()); err != nil {
		t.Error(err)
	}
	part.End()
	drain(t, second)
	if err := errors.Join(second.Close(), secondData.Close()); err != nil {
		t.Error(err)
	}
	equal(t, sink.Published(), tallies(500, 20, 50))
}

// reads counts what is read of state files of a store.
type reads struct {
	blob.Store
	n *atomic.Int64
}

func (r reads) Sub(dir string) blob.Store { return reads{r.Store.Sub(dir), r.n} }

func (r reads) ReadAt(ctx context.Context, name string, p []byte, off int64) error {
	if strings.Contains(name, ".sst") {
		r.n.Add(1)
	}
	return r.Store.ReadAt(ctx, name, p, off)
}

// TestLocalFilesAreReused starts a job again where its files are, where one of them
// is damaged, and where there are none: only what is not there, or does not fit, is
// read from the store.
func TestLocalFilesAreReused(t *testing.T) {
	mem := blob.NewMem()
	src, sink := &rttest.Source{Chunk: 10, Unbounded: true}, rttest.NewSink()
	part := src.Add("a")
	cfg := runtime.Config{Job: "job", State: runtime.StateConfig{Backend: state.Disk, MaxRows: 30}}
	fed := int64(0)
	run := func(fs vfs.FS) int64 {
		t.Helper()
		store := reads{mem, new(atomic.Int64)}
		data := machine(t, fs, store)
		j, err := runtime.NewJob(tallyOf(1, longWindow, src, sink), cfg, data)
		if err != nil {
			t.Fatal(err)
		}
		part.Feed(rows(fed, 500, 200)...)
		fed += 500
		if err := errors.Join(j.Checkpoint(), j.Close(), data.Close()); err != nil {
			t.Fatal(err)
		}
		return store.n.Load()
	}
	home := vfs.NewMem()
	run(home)
	if n := run(home); n != 0 {
		t.Errorf("the same machine read %d parts of state files from the store", n)
	}
	if n := run(vfs.NewMem()); n == 0 {
		t.Error("another machine read nothing from the store")
	}
	// The files of home are older now, but for those that have not changed.
	run(home)
	names, err := home.List("/job/cache")
	if err != nil {
		t.Fatal(err)
	}
	cut := 0
	for _, name := range names {
		if strings.Contains(name, ".sst") {
			cut++
			path := "/job/cache/" + name
			content, err := vfs.ReadFile(home, path)
			if err != nil {
				t.Fatal(err)
			}
			content[len(content)-1] ^= 1
			if err := vfs.WriteFile(home, path, content); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := run(home); cut == 0 || n == 0 {
		t.Errorf("of %d damaged files, nothing was read from the store again", cut)
	}
}
