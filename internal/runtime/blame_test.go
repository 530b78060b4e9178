package runtime_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/millstream-io/millstream/internal/blob"
	"github.com/millstream-io/millstream/internal/checkpoint"
	"github.com/millstream-io/millstream/internal/clock"
	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/runtime"
	"github.com/millstream-io/millstream/internal/runtime/rttest"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/internal/vfs"
)

// twoInputs joins two sources in one tally.
func twoInputs() *graph.Graph {
	a, b := &rttest.Source{Chunk: 1, Unbounded: true}, &rttest.Source{Chunk: 1, Unbounded: true}
	a.Add("a").Feed(rows(0, 200, 3)...)
	b.Add("b").Feed(rows(0, 200, 3)...)
	g := &rttest.Graph{}
	tally := g.Op("tally", 1, rttest.NewTally(1), rttest.ByKey(g.Source("a", 1, a, 0)), rttest.ByKey(g.Source("b", 1, b, 0)))
	g.Sink("sink", 2, rttest.NewSink(), rttest.Rebalance(tally))
	return &g.Graph
}

// TestBlameOfATimeout lets a checkpoint expire while some tasks stand still, and
// looks whom it blames.
func TestBlameOfATimeout(t *testing.T) {
	const stopped = "checkpoint 1 failed in phase align, operator "
	const late = ": it took longer than 100 ms"
	tests := []struct {
		name string
		// still are the tasks that are not stepped.
		still []string
		want  string
	}{
		{"a source", []string{"b 0/1"}, stopped + "b, task b 0/1 (the source has not sent the barrier, since the task is busy)" + late},
		{"two sources", []string{"a 0/1", "b 0/1"}, stopped + "a, task a 0/1 (the source has not sent the barrier, since the task is busy)" + late +
			"; also phase align, operator b, task b 0/1 (the source has not sent the barrier, since the task is busy)"},
		{"an operator", []string{"tally 0/1"}, stopped + "tally, task tally 0/1 (the barrier waits in its input from a 0/1)" + late},
		{"one of two sinks", []string{"sink 1/2"}, stopped + "sink, task sink 1/2 (the barrier waits in its input from tally 0/1)" + late},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := expire(t, twoInputs(), 1000, tt.still, 0); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	// A sink that takes nothing holds the barrier up far in front of it.
	want := stopped + "sink, task sink 1/2 (its input from tally 0/1 is full, behind which the barrier waits)" + late
	if got := expire(t, twoInputs(), 1, []string{"sink 1/2"}, 500); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// expire steps the tasks of a job so many times, but for some of them all the
// time, triggers a checkpoint, steps on until it expires, and returns what is
// logged. With steps 0 all tasks have nothing left to do before the checkpoint.
func expire(t *testing.T, g *graph.Graph, queue int, still []string, steps int) (log string) {
	t.Helper()
	now := clock.NewManual(0)
	data := openData(t, vfs.NewMem())
	defer data.Close()
	j := newJob(t, g, runtime.Config{
		QueueBatches: queue, Clock: now, Log: func(l string) { log += l },
		Checkpoint: checkpoint.Config{Timeout: 100, Tolerable: 1},
	}, data)
	if steps == 0 {
		drain(t, j)
	}
	step := func() {
		for range max(steps, 500) {
			for i := range j.Tasks() {
				if !strings.Contains(strings.Join(still, ","), j.TaskName(i)) {
					j.StepTask(i)
				}
			}
		}
	}
	if steps > 0 {
		for j.StepControl() {
		}
		step()
	}
	j.TriggerCheckpoint()
	step()
	now.Advance(100 * time.Millisecond)
	for j.StepControl() {
	}
	if n := j.Metrics().Failures; len(n) != 1 || n[0].Error() != log || n[0].Time != 100 {
		t.Errorf("the failures are %v", n)
	}
	return log
}

// TestBlameOfAnError fails each phase of a checkpoint that can fail.
func TestBlameOfAnError(t *testing.T) {
	full := errors.New("it is full")
	tests := []struct {
		name string
		// sink and store fail calls.
		sink  string
		store string
		disk  string
		want  string
	}{
		{name: "a sink does not save", sink: "barrier", want: "checkpoint 1 failed in phase snapshot, operator sink, task sink 0/1: it is full"},
		{name: "a sink does not publish", sink: "committed", want: "checkpoint 1 failed in phase commit, operator sink, task sink 0/1: it is full"},
		{name: "state is not written", disk: "/", want: "checkpoint 1 failed in phase write, operator tally, task tally 0/1: "},
		{name: "state is not uploaded", store: "data/", want: "checkpoint 1 failed in phase upload, operator tally, task tally 0/1: it is full"},
		{name: "the manifest is not put", store: "chk-", want: "checkpoint 1 failed in phase commit: it is full"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			store, disk := blob.NewMem(), vfs.NewFaultFS(vfs.NewMem())
			sink := rttest.NewSink()
			g := &rttest.Graph{}
			src := &rttest.Source{Chunk: 10, Unbounded: true}
			src.Add("a").Feed(rows(0, 100, 3)...)
			tally := g.Op("tally", 1, rttest.NewTally(50), rttest.ByKey(g.Source("source", 1, src, 0)))
			g.Sink("sink", 1, sink, rttest.ByKey(tally))
			data, err := runtime.Place{FS: disk, Path: "/job", Store: store}.OpenData("job")
			if err != nil {
				t.Fatal(err)
			}
			defer data.Close()
			var log string
			j := newJob(t, &g.Graph, runtime.Config{
				Log: func(l string) { log += l }, Checkpoint: checkpoint.Config{Tolerable: 1}, State: runtime.StateConfig{Backend: state.Memory},
			}, data)
			drain(t, j)
			sink.OnCheckpoint = func(call string) error {
				if call == tt.sink {
					return full
				}
				return nil
			}
			store.FailWith(func(op, name string) error {
				if tt.store != "" && op != "remove" && strings.Contains(name, tt.store) {
					return full
				}
				return nil
			})
			disk.FailOn(tt.disk)
			_ = j.Checkpoint()
			disk.FailOn("")
			if err := j.Err(); err != nil {
				log += err.Error()
			}
			if !strings.HasPrefix(log, tt.want) {
				t.Errorf("got  %s\nwant %s", log, tt.want)
			}
			if n := j.Metrics().Failures; len(n) != 1 {
				t.Errorf("the failures are %v", n)
			}
		})
	}
}

// TestBlameOfASlowStore: an upload that does not end is named when the checkpoint
// expires.
func TestBlameOfASlowStore(t *testing.T) {
	store := blob.NewMem()
	src := &rttest.Source{Chunk: 10, Unbounded: true}
	part := src.Add("a").Feed(rows(0, 100, 3)...)
	goOn, log := make(chan struct{}), make(chan string, 1)
	store.FailWith(func(op, name string) error {
		if op == "put" && strings.Contains(name, "data/") {
			<-goOn
		}
		return nil
	})
	cfg := runtime.Config{
		Checkpoint: checkpoint.Config{Interval: 1, Timeout: 20, Tolerable: 1000},
		State:      runtime.StateConfig{Backend: state.Memory},
		Log: func(l string) {
			select {
			case log <- l:
				close(goOn)
				part.End()
			default:
			}
		},
	}
	data := machine(t, vfs.NewMem(), store)
	defer data.Close()
	sink := rttest.NewSink()
	if err := runtime.Run(context.Background(), tallyGraph(1, src, sink), cfg, data); err != nil {
		t.Fatal(err)
	}
	if got := <-log; !strings.Contains(got, "failed in phase upload, operator tally, task ") || !strings.HasSuffix(got, ": it took longer than 20 ms") {
		t.Errorf("got %s", got)
	}
	equal(t, sink.Published(), tallies(100, 3, 50))
}
