package runtime_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/millstream-io/millstream/internal/clock"
	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/runtime"
	"github.com/millstream-io/millstream/internal/runtime/rttest"
	"github.com/millstream-io/millstream/internal/vfs"
)

// told prints what an explanation says of its waiting operators.
func told(w *runtime.Why) string {
	var b strings.Builder
	num := func(n *int64) string {
		if n == nil {
			return "-"
		}
		return fmt.Sprint(*n)
	}
	for _, o := range w.Waits {
		fmt.Fprintf(&b, "%s at %s needs %s:", o.ID, num(o.Watermark), num(o.Needs))
		for _, h := range o.Holders {
			fmt.Fprintf(&b, " %s/%s %s wm=%s time=%s silent=%s needs=%s more=%d", h.Table, h.Split, h.Cause, num(h.Watermark), num(h.EventTime), num(h.SilentSince),
				num(h.NeedsEventTime), h.More)
		}
	}
	return b.String()
}

// TestWhy follows the time of a window back to the splits that hold it.
func TestWhy(t *testing.T) {
	a, b := &rttest.Source{Chunk: 1, Unbounded: true}, &rttest.Source{Chunk: 1, Unbounded: true}
	x, y := a.Add("x"), b.Add("y")
	g, c := &rttest.Graph{}, clock.NewManual(1000)
	var edges []graph.Edge
	for i, src := range []*rttest.Source{a, b} {
		n := g.Source(fmt.Sprint("t", i), 2, src, 2)
		n.Source.Timing = graph.Timing{DelayKnown: true, Delay: 2, Group: "g", MaxDrift: 50, IdleTimeout: 500}
		edges = append(edges, rttest.ByKey(n))
	}
	tally := g.Op("tally", 2, rttest.NewTally(10), rttest.ByKey(g.Op("pass", 2, rttest.Pass, edges...)))
	g.Sink("sink", 1, rttest.NewSink(), rttest.Gather(tally))
	fs := vfs.NewMem()
	data, err := runtime.OpenData(fs, "/job", "job")
	if err != nil {
		t.Fatal(err)
	}
	j := newJob(t, &g.Graph, runtime.Config{Clock: c}, data)
	expect := func(want string) {
		t.Helper()
		drain(t, j)
		if got := told(j.Why(0)); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	expect("")
	x.Feed(rttest.Row{Key: 1, Time: 5}, rttest.Row{Key: 2, Time: 14})
	expect("tally at - needs 9: t1/y unread wm=- time=- silent=1000 needs=11 more=0")
	y.Feed(rttest.Row{Key: 1, Time: 8})
	c.Advance(100 * time.Millisecond)
	expect("tally at 6 needs 9: t1/y silent wm=6 time=8 silent=1100 needs=11 more=0")
	x.Feed(rttest.Row{Key: 1, Time: 90}, rttest.Row{Key: 1, Time: 91}, rttest.Row{Key: 1, Time: 92})
	expect("tally at 6 needs 9: t1/y silent wm=6 time=8 silent=1100 needs=11 more=0")
	y.Feed(rttest.Row{Key: 1, Time: 12}, rttest.Row{Key: 1, Time: 200})
	expect("tally at 90 needs 99: t0/x silent wm=90 time=92 silent=1100 needs=101 more=0")
	c.Advance(time.Second)
	drain(t, j)
	if w := j.Why(0); len(w.Waits) != 1 || !w.Waits[0].AllIdle || w.Waits[0].Holders[0].Cause != runtime.CauseIdle || w.Sinks[0].Rows == 0 || w.Tables[0].Rows != 5 {
		t.Errorf("all idle: %+v", w)
	}
	if err := j.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	w := runtime.WhyOf(data.Latest())
	if w.Running || len(w.Waits) != 1 || w.Waits[0].Needs != nil || *w.Waits[0].Watermark != 198 || w.Checkpoint != 1 {
		t.Errorf("by the checkpoint: %+v", w)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := data.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestWhyQueued: a file that waits for its turn holds time.
func TestWhyQueued(t *testing.T) {
	src := &rttest.Source{Chunk: 1, Unbounded: true}
	a, b := src.Add("a"), src.Add("b")
	a.Ends, b.Ends = true, true
	a.Feed(rttest.Row{Key: 1, Time: 5})
	g := &rttest.Graph{}
	g.Sink("sink", 1, rttest.NewSink(), rttest.Forward(g.Op("tally", 1, rttest.NewTally(10), rttest.Forward(g.Source("t", 1, src, 0)))))
	j := newJob(t, &g.Graph, runtime.Config{}, nil)
	drain(t, j)
	w := j.Why(0)
	if len(w.Waits) != 1 || len(w.Waits[0].Holders) == 0 || w.Waits[0].Holders[0].Cause != runtime.CauseQueued || w.Waits[0].Holders[0].Split != "b" {
		t.Errorf("it is told %s", told(w))
	}
}

// TestWhySlow: a task that has no room for its input is named, and tasks answer
// while they are blocked.
func TestWhySlow(t *testing.T) {
	src := &rttest.Source{Chunk: 1}
	split := src.Add("a")
	for ms := range int64(50) {
		split.Feed(rttest.Row{Time: ms})
	}
	g := &rttest.Graph{}
	g.Sink("sink", 1, rttest.NewSink(), rttest.Rebalance(g.Source("t", 1, src, 0)))
	j := newJob(t, &g.Graph, runtime.Config{QueueBatches: 2, Clock: clock.NewManual(7)}, nil)
	for j.StepTask(0) == runtime.Progress {
	}
	if w := j.Why(0); len(w.Slow) != 1 || !strings.HasPrefix(w.Slow[0].Name, "sink") || w.Slow[0].Since != 7 {
		t.Errorf("slow are %+v", w.Slow)
	}
}

// TestWhyOfARunningJob asks a job on goroutines, whose tasks sleep.
func TestWhyOfARunningJob(t *testing.T) {
	src := &rttest.Source{Chunk: 1, Unbounded: true}
	src.Add("a").Feed(rttest.Row{Key: 1, Time: 5})
	g := &rttest.Graph{}
	g.Sink("sink", 1, rttest.NewSink(), rttest.Forward(g.Op("tally", 1, rttest.NewTally(10), rttest.Forward(g.Source("t", 1, src, 0)))))
	j := newJob(t, &g.Graph, runtime.Config{}, nil)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- j.Run(ctx) }()
	for len(j.Why(time.Minute).Waits) == 0 {
		time.Sleep(time.Millisecond)
	}
	if w := j.Why(time.Minute); len(w.Busy) > 0 || *w.Waits[0].Needs != 9 || *w.Waits[0].Watermark != 5 {
		t.Errorf("it is told %s, busy %v", told(w), w.Busy)
	}
	cancel()
	<-ended
	if w := j.Why(time.Minute); len(w.Waits) > 0 || len(w.Busy) > 0 {
		t.Errorf("after the end: %s, busy %v", told(w), w.Busy)
	}
}
