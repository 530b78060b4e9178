package runtime_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/internal/blob"
	"github.com/millstream-io/millstream/internal/checkpoint"
	"github.com/millstream-io/millstream/internal/runtime"
	"github.com/millstream-io/millstream/internal/runtime/rttest"
	"github.com/millstream-io/millstream/internal/vfs"
)

// TestOlderCheckpoint: with a damaged newest checkpoint the job is refused, though
// there are older ones; it goes on from one of those only when that is asked for
// in so many words.
func TestOlderCheckpoint(t *testing.T) {
	fs := vfs.NewMem()
	src, sink := &rttest.Source{Chunk: 10, Unbounded: true}, rttest.NewSink()
	part := src.Add("a")
	cfg := runtime.Config{Job: "job", Checkpoint: checkpoint.Config{Retained: 3}}
	data := openData(t, fs)
	j := newJob(t, tallyGraph(2, src, sink), cfg, data)
	var second []string
	for n := range int64(3) {
		part.Feed(rows(n*500, 500, 20)...)
		if err := j.Checkpoint(); err != nil {
			t.Fatal(err)
		}
		if n == 1 {
			second = sink.Published()
		}
	}
	if err := errors.Join(j.Close(), data.Close()); err != nil {
		t.Fatal(err)
	}
	const newest = "/job/checkpoints/chk-00000003.manifest"
	spoil(t, fs, newest, "flip")
	refused := func(what string, err error) {
		t.Helper()
		var r *checkpoint.RefusedError
		if !errors.As(err, &r) || !strings.HasPrefix(err.Error(), newest+" is damaged: expected hash ") ||
			!strings.HasSuffix(err.Error(), "; restore the file, or start anew with --fresh") {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := runtime.OpenData(fs, "/job", "job")
	refused("going on", err)
	store := blob.NewDir(fs, "/job/checkpoints")
	_, err = checkpoint.Find(store, 0)
	refused("the newest", err)
	older, err := checkpoint.Find(store, 2)
	if err != nil {
		t.Fatal(err)
	}
	at := runtime.Place{FS: fs, Path: "/job"}
	_, err = at.OpenFrom("job", older, false)
	refused("an older one, not asked to set the others aside", err)
	data, err = at.OpenFrom("job", older, true)
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	if m := data.Latest(); m == nil || m.ID != 2 {
		t.Fatalf("it goes on from %v", m)
	}
	part.End()
	again := rttest.NewSink()
	drain(t, newJob(t, tallyGraph(2, src, again), cfg, data))
	// The restored sink publishes once more what the checkpoint holds for it, and
	// then what comes behind.
	all := slices.Concat(second, again.Published())
	slices.Sort(all)
	equal(t, slices.Compact(all), tallies(1500, 20, 50))
}
