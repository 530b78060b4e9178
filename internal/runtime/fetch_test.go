package runtime_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millstream-io/millstream/internal/blob"
	"github.com/millstream-io/millstream/internal/checkpoint"
	"github.com/millstream-io/millstream/internal/runtime"
	"github.com/millstream-io/millstream/internal/runtime/rttest"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/internal/vfs"
)

// gateStore is a store whose calls about state files wait until so many are under
// way, once, but for the first ones; and of which a call may fail.
type gateStore struct {
	blob.Store
	*gate
}

type gate struct {
	// open is closed when want calls are under way at the same time. The first free
	// calls do not wait.
	want, free int
	open       chan struct{}
	// fail is the number of the call that fails with what is in err.
	fail int
	err  error

	mu                 sync.Mutex
	calls, under, most int
}

func gated(s blob.Store, want, fail int) gateStore {
	g := &gate{want: want, open: make(chan struct{}), fail: fail, err: errors.New("the store is down")}
	if want == 0 {
		close(g.open)
	}
	return gateStore{s, g}
}

// enter counts a call, and waits for the others.
func (g *gate) enter(ctx context.Context, name string) (leave func(), err error) {
	if !strings.Contains(name, "data/") {
		return func() {}, nil
	}
	g.mu.Lock()
	g.calls++
	g.under++
	g.most = max(g.most, g.under)
	if g.want > 0 && g.under == g.want {
		close(g.open)
		g.want = 0
	}
	if g.calls == g.fail {
		err = g.err
	}
	free := g.calls <= g.free
	g.mu.Unlock()
	if free {
		return g.leave, err
	}
	select {
	case <-g.open:
	case <-ctx.Done():
		err = ctx.Err()
	case <-time.After(time.Minute):
		err = errors.New("the calls that are waited for are never under way at once")
	}
	return g.leave, err
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.under--
}

// Sub implements blob.Store.
func (s gateStore) Sub(dir string) blob.Store { return gateStore{s.Store.Sub(dir), s.gate} }

// Get implements blob.Store.
func (s gateStore) Get(ctx context.Context, name string) ([]byte, error) {
	leave, err := s.enter(ctx, name)
	defer leave()
	if err != nil {
		return nil, err
	}
	return s.Store.Get(ctx, name)
}

// ReadAt implements blob.Store.
func (s gateStore) ReadAt(ctx context.Context, name string, p []byte, off int64) error {
	leave, err := s.enter(ctx, name)
	defer leave()
	if err != nil {
		return err
	}
	return s.Store.ReadAt(ctx, name, p, off)
}

// Put implements blob.Store.
func (s gateStore) Put(ctx context.Context, name string, data []byte) error {
	leave, err := s.enter(ctx, name)
	defer leave()
	if err != nil {
		return err
	}
	return s.Store.Put(ctx, name, data)
}

// stored is a job with a checkpoint in a store, taken with parallelism 2.
type stored struct {
	store *blob.Mem
	src   *rttest.Source
	part  *rttest.Split
	sink  *rttest.Sink
	cfg   runtime.Config
}

func newStored(t *testing.T, backend state.Backend) *stored {
	t.Helper()
	s := &stored{store: blob.NewMem(), src: &rttest.Source{Chunk: 10, Unbounded: true}, sink: rttest.NewSink()}
	s.part = s.src.Add("a").Feed(rows(0, 1000, 200)...)
	s.cfg = runtime.Config{Job: "job", State: runtime.StateConfig{Backend: backend, MaxRows: 30}}
	data := machine(t, vfs.NewMem(), s.store)
	j, err := runtime.NewJob(tallyOf(2, longWindow, s.src, s.sink), s.cfg, data)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(j.Checkpoint(), j.Close(), data.Close()); err != nil {
		t.Fatal(err)
	}
	return s
}

// files are the state files of the checkpoint, by instance.
func (s *stored) files(t *testing.T) (out [][]state.FileInfo) {
	t.Helper()
	src, err := checkpoint.Find(s.store.Sub("checkpoints"), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range src.Manifest.Nodes {
		for _, sub := range n.Subtasks {
			if sub.State != nil {
				out = append(out, sub.State.Files)
			}
		}
	}
	return out
}

// restore goes on with parallelism 1 on a machine that has nothing yet: one of the
// old instances is taken over, and the rows of the other are copied.
func (s *stored) restore(t *testing.T, fs vfs.FS, store blob.Store) (*runtime.Job, *runtime.Data, error) {
	t.Helper()
	data := machine(t, fs, store)
	j, err := runtime.NewJob(tallyOf(1, longWindow, s.src, s.sink), s.cfg, data)
	return j, data, err
}

// TestFetchesAtOnce: the state files that a restored job needs at once are fetched
// from the store several at a time.
func TestFetchesAtOnce(t *testing.T) {
	s := newStored(t, state.Disk)
	files := s.files(t)
	if len(files) != 2 {
		t.Fatalf("%d instances have files", len(files))
	}
	// Of the larger instance, which is taken over, only the list of files is fetched,
	// of the other one all.
	size := func(list []state.FileInfo) (n int64) {
		for _, f := range list {
			n += f.Length
		}
		return n
	}
	copied := files[0]
	if size(files[1]) < size(copied) {
		copied = files[1]
	}
	want := min(len(copied), 4)
	if want < 2 {
		t.Fatalf("only %d files to fetch: %v", want, files)
	}
	store := gated(s.store, want, 0)
	store.free = 1
	j, data, err := s.restore(t, vfs.NewMem(), store)
	if err != nil {
		t.Fatal(err)
	}
	s.part.End()
	drain(t, j)
	if err := errors.Join(j.Close(), data.Close()); err != nil {
		t.Error(err)
	}
	if store.most < want || store.most > 4 || store.under != 0 {
		t.Errorf("%d calls at once, want %d to 4; %d are left", store.most, want, store.under)
	}
	equal(t, s.sink.Published(), tallies(1000, 200, longWindow))
}

// TestFetchFails lets each call fail with which a restored job fetches its files.
// It does not start, nothing goes on behind its back, and what it had made is gone;
// it starts with the right state when the store is there again.
func TestFetchFails(t *testing.T) {
	for _, backend := range []state.Backend{state.Disk, state.Memory} {
		t.Run(backend.String(), func(t *testing.T) {
			s := newStored(t, backend)
			// Files without a Tail are fetched as a whole, each with a call.
			fs, fails, least := vfs.NewMem(), 0, 0
			for _, f := range slices.Concat(s.files(t)...) {
				if f.Tail == "" {
					least++
				}
			}
			for n := 1; ; n++ {
				store := gated(s.store, 0, n)
				j, data, err := s.restore(t, fs, store)
				if store.under != 0 {
					t.Fatalf("call %d fails: %d calls are under way", n, store.under)
				}
				if err == nil {
					if store.calls >= n {
						t.Errorf("call %d failed, and the job does not mind", n)
					}
					s.part.End()
					drain(t, j)
					if err := errors.Join(j.Close(), data.Close()); err != nil {
						t.Error(err)
					}
					break
				}
				fails++
				if !errors.Is(err, store.err) || strings.Contains(err.Error(), context.Canceled.Error()) {
					t.Errorf("call %d fails: %v", n, err)
				}
				if err := data.Close(); err != nil {
					t.Error(err)
				}
				names, err := fs.List("/job")
				if err != nil || slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, "state-") }) {
					t.Errorf("call %d fails: left are %v, %v", n, names, err)
				}
				// A machine that has fetched nothing meanwhile.
				fs = vfs.NewMem()
			}
			equal(t, s.sink.Published(), tallies(1000, 200, longWindow))
			if least < 2 || fails < least {
				t.Errorf("%d calls failed, of at least %d", fails, least)
			}
		})
	}
}

// source is the checkpoint as run --from and savepoint --to find it.
func (s *stored) source(t *testing.T, store blob.Store) *checkpoint.Source {
	t.Helper()
	src, err := checkpoint.Find(store.Sub("checkpoints"), 0)
	if err != nil {
		t.Fatal(err)
	}
	src.Spread = runtime.Spread
	return src
}

// TestCopiesAtOnce: savepoints are copied four files at a time, out of a store and
// into one.
func TestCopiesAtOnce(t *testing.T) {
	s := newStored(t, state.Disk)
	// How many files the tree has depends on what was merged meanwhile.
	files := objects(t, s.store, "checkpoints/data/")
	want := min(len(files), 4)
	if want < 2 {
		t.Fatalf("there are only %v", files)
	}
	from, to := gated(s.store, want, 0), gated(blob.NewMem(), want, 0)
	if err := s.source(t, from).Export(blob.NewDir(vfs.NewMem(), "/saved")); err != nil {
		t.Fatal(err)
	}
	if err := s.source(t, s.store).Export(to); err != nil {
		t.Fatal(err)
	}
	for what, store := range map[string]gateStore{"from": from, "to": to} {
		if store.most != want || store.under != 0 {
			t.Errorf("%s: %d calls at once, want %d; %d are left", what, store.most, want, store.under)
		}
	}
}

// TestCopyFails lets each call fail that is about a state file, of a savepoint that
// is copied out of a job, and of one that a job begins from. Nothing of the copy is
// left, and it can be made again.
func TestCopyFails(t *testing.T) {
	s := newStored(t, state.Disk)
	copies := map[string]func(from, to blob.Store) error{
		"export": func(from, to blob.Store) error { return s.source(t, from).Export(to) },
		"import": func(from, to blob.Store) error {
			data, err := runtime.Place{FS: vfs.NewMem(), Path: "/other", Store: to}.OpenFrom("other", s.source(t, from), false)
			if err != nil {
				return err
			}
			return data.Close()
		},
	}
	for name, do := range copies {
		for _, which := range []string{"from", "to"} {
			t.Run(name+" "+which, func(t *testing.T) {
				target := blob.NewMem()
				fails := 0
				for n := 1; ; n++ {
					from, to := gated(s.store, 0, 0), gated(target, 0, 0)
					broken := to
					if which == "from" {
						broken = from
					}
					broken.fail = n
					err := do(from, to)
					if broken.under != 0 {
						t.Fatalf("call %d fails: %d calls are under way", n, broken.under)
					}
					if broken.calls < n {
						if err != nil {
							t.Fatal(err)
						}
						break
					}
					fails++
					if !errors.Is(err, broken.err) || strings.Contains(err.Error(), context.Canceled.Error()) {
						t.Errorf("call %d fails: %v", n, err)
					}
					if left := objects(t, target, ""); slices.ContainsFunc(left, func(o string) bool { return !strings.HasPrefix(o, "log/") }) {
						t.Errorf("call %d fails: left are %v", n, left)
					}
				}
				if least := len(objects(t, s.store, "checkpoints/data/")); fails < least {
					t.Errorf("%d calls failed, with %d files", fails, least)
				}
			})
		}
	}
}

// objects are the names of all objects below a directory.
func objects(t *testing.T, store blob.Store, dir string) (out []string) {
	t.Helper()
	infos, err := store.List(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range infos {
		if strings.HasSuffix(i.Name, "/") {
			out = append(out, objects(t, store, dir+i.Name)...)
		} else {
			out = append(out, dir+i.Name)
		}
	}
	return out
}
