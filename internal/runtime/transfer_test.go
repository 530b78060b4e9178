package runtime_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millstream-io/millstream/internal/blob"
	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/runtime"
	"github.com/millstream-io/millstream/internal/runtime/rttest"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/internal/vfs"
)

// slowStore is a store that counts the uploads under way.
type slowStore struct {
	blob.Store
	*uploads
}

type uploads struct {
	// put is called for each upload, with how many are under way.
	put func(ctx context.Context, name string, under int) error

	mu          sync.Mutex
	under, most int
}

// Sub implements blob.Store.
func (s slowStore) Sub(dir string) blob.Store { return slowStore{s.Store.Sub(dir), s.uploads} }

// PutFile implements blob.Store.
func (s slowStore) PutFile(ctx context.Context, name string, fsys vfs.FS, path string) error {
	s.mu.Lock()
	s.under++
	s.most = max(s.most, s.under)
	under := s.under
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.under--
		s.mu.Unlock()
	}()
	if err := s.put(ctx, name, under); err != nil {
		return err
	}
	return s.Store.PutFile(ctx, name, fsys, path)
}

// uploading is what makes a job with state on disk whose checkpoints go to a store.
func uploading(t *testing.T, parallelism int, put func(ctx context.Context, name string, under int) error) (*graph.Graph, *rttest.Source, *runtime.Data, slowStore) {
	t.Helper()
	store := slowStore{blob.NewMem(), &uploads{put: put}}
	data := machine(t, vfs.NewMem(), store)
	t.Cleanup(func() {
		if err := data.Close(); err != nil {
			t.Error(err)
		}
	})
	src := &rttest.Source{Chunk: 1000, Unbounded: true}
	for i := range parallelism {
		src.Add(string(rune('a' + i))).Feed(rows(int64(uploadRows*i), uploadRows, longWindow)...)
	}
	return tallyOf(parallelism, longWindow, src, rttest.NewSink()), src, data, store
}

// uploadRows is the number of rows in the state of an instance. They are more than 2 MB, in
// files of 512 KB: a budget has the least memory that it may have, for each.
const uploadRows = 100_000

func uploadConfig(parallelism int64) runtime.Config {
	budget := state.NewBudget(state.Base+2*parallelism<<20, false)
	return runtime.Config{Job: "job", State: runtime.StateConfig{Backend: state.Disk, Budget: budget}}
}

// uploadingJob is one with a single task that has state.
func uploadingJob(t *testing.T, put func(ctx context.Context, name string, under int) error) (*runtime.Job, slowStore) {
	t.Helper()
	g, _, data, store := uploading(t, 1, put)
	return newJob(t, g, uploadConfig(1), data), store
}

// TestUploadsAtOnce: four files of a snapshot are uploaded at the same time, and
// not more.
func TestUploadsAtOnce(t *testing.T) {
	four := make(chan struct{})
	var once sync.Once
	j, store := uploadingJob(t, func(ctx context.Context, _ string, under int) error {
		if under == 4 {
			once.Do(func() { close(four) })
		}
		select {
		case <-four:
			return nil
		case <-time.After(time.Minute):
			return errors.New("four uploads are never under way")
		}
	})
	if err := j.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	if store.most != 4 || store.under != 0 {
		t.Errorf("%d uploads at once, %d are left", store.most, store.under)
	}
}

// TestUploadFails: the first error is told, those that are under way are given up,
// and no file is left.
func TestUploadFails(t *testing.T) {
	full := errors.New("the store is full")
	var others sync.WaitGroup
	others.Add(3)
	j, store := uploadingJob(t, func(ctx context.Context, _ string, under int) error {
		if under == 4 {
			others.Wait()
			return full
		}
		others.Done()
		<-ctx.Done()
		return ctx.Err()
	})
	err := j.Checkpoint()
	if !errors.Is(err, full) && !strings.Contains(err.Error(), full.Error()) || strings.Contains(err.Error(), context.Canceled.Error()) {
		t.Errorf("the checkpoint: %v", err)
	}
	if left, err := store.List(context.Background(), "checkpoints/data"); err != nil || len(left) > 0 || store.under > 0 {
		t.Errorf("left: %v %v, %d under way", left, err, store.under)
	}
}

// TestUploadPanics: a panic amid an upload fails the job, and tells where it was.
func TestUploadPanics(t *testing.T) {
	j, store := uploadingJob(t, func(ctx context.Context, _ string, under int) error {
		if under == 4 {
			panic("no store")
		}
		<-ctx.Done()
		return ctx.Err()
	})
	err := j.Checkpoint()
	var failure *runtime.Error
	if !errors.As(err, &failure) || failure.Stack == nil || !strings.Contains(err.Error(), "no store") {
		t.Errorf("the checkpoint: %v", err)
	}
	if store.under != 0 {
		t.Errorf("%d uploads are left", store.under)
	}
}

// TestUploadsOfTasks: of the uploads of several tasks as many are under way as
// there are tasks, at most. A job that is to end does not wait for them.
func TestUploadsOfTasks(t *testing.T) {
	const tasks = 6
	g, src, data, store := uploading(t, tasks/2, func(ctx context.Context, _ string, _ int) error {
		<-ctx.Done()
		return ctx.Err()
	})
	// With memory for all rows, no task waits for its snapshot to be written.
	cfg := uploadConfig(tasks)
	cfg.State.Budget = nil
	r := runtime.NewRunner(g, cfg, data)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	eventually(t, func() bool { return src.Read() == tasks/2*uploadRows })
	go func() { _, _ = r.Savepoint(ctx) }()
	// Files with the same content wait for each other before they are uploaded.
	eventually(t, func() bool { return store.busy() >= 4 })
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the job ends with %v", err)
	}
	if store.busy() != 0 || store.most > tasks {
		t.Errorf("%d uploads at once, %d are left", store.most, store.busy())
	}
}

func (u *uploads) busy() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.under
}
