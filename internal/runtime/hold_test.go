package runtime_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millstream-io/millstream/internal/blob"
	"github.com/millstream-io/millstream/internal/checkpoint"
	"github.com/millstream-io/millstream/internal/runtime"
	"github.com/millstream-io/millstream/internal/runtime/rttest"
	"github.com/millstream-io/millstream/internal/vfs"
)

// retained are the checkpoints that a directory has.
func retained(t *testing.T, fs vfs.FS) (ids []int64) {
	t.Helper()
	entries, err := checkpoint.List(blob.NewDir(fs, "/job/checkpoints"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Manifest != nil {
			ids = append(ids, e.Manifest.ID)
		}
	}
	return ids
}

// later waits for some more checkpoints.
func (r *running) later(t *testing.T, n int64) {
	t.Helper()
	at := r.Metrics().Checkpoint
	eventually(t, func() bool { return r.Metrics().Checkpoint >= at+n })
}

// TestHold: a checkpoint that is read stays, with its files, while newer ones come,
// and may not be deleted; when its last reader is done, it goes, and so does what
// the reader has left. It is none that finishes what the sinks have open.
func TestHold(t *testing.T) {
	fs, ctx := vfs.NewMem(), context.Background()
	r := startEndless(t, fs)
	first, err := r.Hold(ctx)
	if err != nil {
		t.Fatal(err)
	}
	second, err := r.Hold(ctx)
	if err != nil || second <= first {
		t.Fatalf("checkpoint %d after %d, %v", second, first, err)
	}
	r.later(t, 3)
	if ids := retained(t, fs); !slices.Contains(ids, first) || !slices.Contains(ids, second) {
		t.Errorf("of %d and %d, there are %v", first, second, ids)
	}
	src, err := checkpoint.Find(blob.NewDir(fs, "/job/checkpoints"), first)
	if err != nil || src.Manifest.Savepoint {
		t.Fatalf("%v, %v", src, err)
	}
	if err := src.Verify(); err != nil {
		t.Error(err)
	}
	var refused *checkpoint.RefusedError
	if err := r.Delete(ctx, first); !errors.As(err, &refused) || !strings.Contains(err.Error(), "is being read by a query") {
		t.Errorf("deleted while it is read: %v", err)
	}
	reader := checkpoint.NewReader()
	for _, dir := range []string{"/job/checkpoints/", "/job/"} {
		if err := fs.MkdirAll(dir+reader, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(r.Release(ctx, first, reader), r.Release(ctx, second, "")); err != nil {
		t.Fatal(err)
	}
	if ids := retained(t, fs); slices.Contains(ids, first) || slices.Contains(ids, second) {
		t.Errorf("%d and %d are not read any more, there are %v", first, second, ids)
	}
	for _, dir := range []string{"/job/checkpoints", "/job"} {
		if names, err := fs.List(dir); err != nil || slices.Contains(names, reader) {
			t.Errorf("%s has %v, %v", dir, names, err)
		}
	}
	r.Stop()
	r.end(t)
	if _, err := r.Hold(ctx); !errors.Is(err, runtime.ErrBetween) {
		t.Errorf("of a job that has ended: %v", err)
	}
}

// TestHoldTwice: a checkpoint stays until the last of its readers is done.
func TestHoldTwice(t *testing.T) {
	fs, ctx := vfs.NewMem(), context.Background()
	r := startEndless(t, fs)
	type answer struct {
		id  int64
		err error
	}
	const readers = 8
	answers := make(chan answer, readers)
	for range readers {
		go func() {
			id, err := r.Hold(ctx)
			answers <- answer{id, err}
		}()
	}
	ids := map[int64]int{}
	for range readers {
		a := <-answers
		if a.err != nil {
			t.Fatal(a.err)
		}
		ids[a.id]++
	}
	r.later(t, 2)
	for id, n := range ids {
		for ; n > 0; n-- {
			if !slices.Contains(retained(t, fs), id) {
				t.Errorf("checkpoint %d has %d readers, and is gone", id, n)
			}
			if err := r.Release(ctx, id, ""); err != nil {
				t.Fatal(err)
			}
		}
		if slices.Contains(retained(t, fs), id) {
			t.Errorf("checkpoint %d is still there", id)
		}
	}
	r.Stop()
	r.end(t)
}

// TestHoldGivenUp: who does not wait for the checkpoint holds none.
func TestHoldGivenUp(t *testing.T) {
	fs := vfs.NewMem()
	r := startEndless(t, fs)
	for i := range 200 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i*10)*time.Microsecond)
		if id, err := r.Hold(ctx); err == nil {
			if err := r.Release(context.Background(), id, ""); err != nil {
				t.Error(err)
			}
		} else if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		cancel()
	}
	eventually(t, func() bool { return len(retained(t, fs)) <= 2 }) // the newest, and one that is about to go
	r.Stop()
	r.end(t)
	if ids := retained(t, fs); len(ids) != 1 {
		t.Errorf("left are %v", ids)
	}
}

// TestHoldOutlastsAFailure: a job that fails and starts again keeps what is read;
// a reader that is done just then is heard.
func TestHoldOutlastsAFailure(t *testing.T) {
	fs, ctx := vfs.NewMem(), context.Background()
	r := &running{src: &rttest.Source{Chunk: 10, Unbounded: true}, sink: rttest.NewSink(), data: openData(t, fs), err: make(chan error, 1)}
	var failing atomic.Bool
	r.sink.OnCheckpoint = func(call string) error {
		if call == "barrier" && failing.CompareAndSwap(true, false) {
			return errors.New("the sink is down")
		}
		return nil
	}
	r.part = r.src.Add("a").Feed(rows(0, 100, 3)...)
	cfg := runtime.Config{
		Job: "job", Checkpoint: checkpoint.Config{Interval: 1, Retained: 1},
		Restart: runtime.Restart{Attempts: 100, Delay: 50, MaxDelay: 50, Multiplier: 1},
	}
	r.Runner = runtime.NewRunner(tallyGraph(1, r.src, r.sink), cfg, r.data)
	go func() { r.err <- r.Run(ctx) }()
	eventually(t, func() bool { return r.Metrics().Checkpoint > 0 && r.src.Read() == 100 })
	id, err := r.Hold(ctx)
	if err != nil {
		t.Fatal(err)
	}
	r.later(t, 2)
	failing.Store(true)
	eventually(t, func() bool { return r.Restarts() == 1 && r.Metrics().Checkpoint > 0 })
	r.later(t, 3)
	if ids := retained(t, fs); !slices.Contains(ids, id) {
		t.Errorf("checkpoint %d is read, there are %v", id, ids)
	}
	failing.Store(true)
	if err := r.Release(ctx, id, ""); err != nil && !strings.Contains(err.Error(), "the job failed") {
		t.Error(err)
	}
	eventually(t, func() bool { return r.Restarts() == 2 && r.Metrics().Checkpoint > 0 })
	eventually(t, func() bool { return !slices.Contains(retained(t, fs), id) })
	r.Stop()
	r.end(t)
}
