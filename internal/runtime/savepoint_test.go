package runtime_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millstream-io/millstream/internal/blob"
	"github.com/millstream-io/millstream/internal/checkpoint"
	"github.com/millstream-io/millstream/internal/runtime"
	"github.com/millstream-io/millstream/internal/runtime/rttest"
	"github.com/millstream-io/millstream/internal/vfs"
)

// running is a job over a source without end, run by a Runner.
type running struct {
	*runtime.Runner
	src  *rttest.Source
	part *rttest.Split
	sink *rttest.Sink
	data *runtime.Data
	err  chan error
}

func startEndless(t *testing.T, fs vfs.FS) *running {
	t.Helper()
	r := &running{src: &rttest.Source{Chunk: 10, Unbounded: true}, sink: rttest.NewSink(), data: openData(t, fs), err: make(chan error, 1)}
	r.part = r.src.Add("a").Feed(rows(0, 100, 3)...)
	cfg := runtime.Config{Job: "job", Checkpoint: checkpoint.Config{Interval: 1, Retained: 1}}
	r.Runner = runtime.NewRunner(tallyGraph(2, r.src, r.sink), cfg, r.data)
	go func() { r.err <- r.Run(context.Background()) }()
	eventually(t, func() bool { return r.Metrics().Checkpoint > 0 && r.src.Read() == 100 })
	return r
}

func (r *running) end(t *testing.T) {
	t.Helper()
	if err := errors.Join(<-r.err, r.data.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestSavepoint(t *testing.T) {
	fs := vfs.NewMem()
	r := startEndless(t, fs)
	ctx := context.Background()
	first, err := r.Savepoint(ctx)
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]int64, 4)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			var err error
			if ids[i], err = r.Savepoint(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, id := range ids {
		if id <= first {
			t.Errorf("savepoint %d after %d", id, first)
		}
	}
	if err := r.Delete(ctx, first); err != nil {
		t.Error(err)
	}
	if err := r.Delete(ctx, first); err == nil || !strings.Contains(err.Error(), "has no checkpoint") {
		t.Errorf("deleted twice: %v", err)
	}
	if err := r.Retain(ctx, ids[0]); err != nil {
		t.Error(err)
	}
	last, err := r.StopWith(ctx, true, false)
	if err != nil {
		t.Fatal(err)
	}
	r.end(t)
	if _, err := r.Savepoint(ctx); err == nil || !strings.Contains(err.Error(), "not running") {
		t.Errorf("a savepoint of a job that has ended: %v", err)
	}
	d, err := checkpoint.Open(blob.NewDir(fs, "/job/checkpoints"))
	if err != nil {
		t.Fatal(err)
	}
	m := d.Latest()
	if m.ID != last || !m.Savepoint || m.Finished || m.Drained {
		t.Errorf("the last checkpoint is %s", m)
	}
	if d.Get(first) != nil || d.Get(ids[3]) == nil && ids[3] != ids[0] {
		t.Errorf("of %d and %v, %v are left", first, ids, d.Retained())
	}
	if _, err := runtime.NewRunner(tallyGraph(1, r.src, r.sink), runtime.Config{}, nil).Savepoint(ctx); err == nil {
		t.Error("a job that keeps nothing was saved")
	}
}

// TestDrain: the windows of a drained job are all closed, and it cannot go on.
func TestDrain(t *testing.T) {
	for _, savepoint := range []bool{false, true} {
		fs := vfs.NewMem()
		r := startEndless(t, fs)
		id, err := r.StopWith(context.Background(), savepoint, true)
		if err != nil {
			t.Fatal(err)
		}
		r.end(t)
		equal(t, r.sink.Published(), tallies(100, 3, 50))
		data := openData(t, fs)
		m := data.Latest()
		if !m.Drained || m.Finished || m.Savepoint != savepoint || savepoint && m.ID != id {
			t.Errorf("savepoint %d, and the last checkpoint is %s", id, m)
		}
		if len(m.Node("source").Splits) != 1 || m.Node("source").Splits[0].Position == nil {
			t.Errorf("the position is lost: %s", m)
		}
		err = runtime.Run(context.Background(), tallyGraph(1, r.src, r.sink), runtime.Config{}, data)
		var refused *checkpoint.RefusedError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), "was drained with checkpoint") {
			t.Errorf("a drained job goes on: %v", err)
		}
		if err := data.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// eventually waits until something is so.
func eventually(t *testing.T, ok func() bool) {
	t.Helper()
	for range 60_000 {
		if ok() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("it did not come to that")
}
