package runtime_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/millstream-io/millstream/internal/clock"
	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/internal/runtime"
	"github.com/millstream-io/millstream/internal/runtime/rttest"
	"github.com/millstream-io/millstream/internal/vfs"
)

// TestOnEvent: a watermark follows each row that raises it, and not only each
// batch, so that a row may be late for the one before it.
func TestOnEvent(t *testing.T) {
	for _, each := range []bool{false, true} {
		src := &rttest.Source{Chunk: 10}
		src.Add("a").Feed(rttest.Row{Time: 5}, rttest.Row{Time: 3}, rttest.Row{Time: 9}, rttest.Row{Time: 7}, rttest.Row{Time: 9})
		g, seen := &rttest.Graph{}, &behind{wm: op.MinWatermark}
		n := g.Source("source", 1, src, 0)
		n.Source.EachRow = each
		g.Sink("sink", 1, rttest.NewSink(), rttest.Forward(
			g.Op("behind", 1, func() (op.Operator, error) { return seen, nil }, rttest.Forward(n))))
		drain(t, newJob(t, &g.Graph, runtime.Config{}, nil))
		want := "[5 3 9 7 9] []"
		if each {
			want = "[5 3 9 7 9] [3 7]"
		}
		if got := fmt.Sprint(seen.rows, seen.late); got != want {
			t.Errorf("each row %t: rows and late ones are %s, want %s", each, got, want)
		}
	}
}

// TestPeriodic: with a period, watermarks go by the clock; what was held back is
// sent when its time has come, when the split is idle, and at the end.
func TestPeriodic(t *testing.T) {
	s := newTimeScript(t, 1, func(n *graph.Node) { n.Source.Period = 50 })
	var got []string
	for _, w := range strings.Fields("a1 b1 a5 b9 +49 +1 a7 b11 ! +50 a20 b20 b~ a$ b$") {
		s.do(w)
		got = append(got, s.watch.last())
	}
	if g, want := strings.Join(got, " "), "- - - - - 5 5 5 7 7 7 7 7 20 max"; g != want {
		t.Errorf("watermarks are %s, want %s", g, want)
	}
}

// aligned is a job of two sources of one alignment group.
func aligned(t *testing.T, c clock.Clock, fs vfs.FS, a, b *rttest.Source) (*runtime.Job, *runtime.Data) {
	g := &rttest.Graph{}
	var edges []graph.Edge
	for i, src := range []*rttest.Source{a, b} {
		n := g.Source(fmt.Sprint("source", i), 1, src, 0)
		n.Source.Timing = graph.Timing{Group: "g", MaxDrift: 10, UpdateInterval: 1000, IdleTimeout: 100}
		edges = append(edges, rttest.Rebalance(n))
	}
	g.Sink("sink", 1, rttest.NewSink(), rttest.Rebalance(g.Op("pass", 1, rttest.Pass, edges...)))
	data, err := runtime.OpenData(fs, "/job", "job")
	if err != nil {
		t.Fatal(err)
	}
	return newJob(t, &g.Graph, runtime.Config{Clock: c}, data), data
}

// TestAlignmentGroup: a split whose watermark is more than the drift ahead of the
// slowest one of the group, in whatever table, waits; idle and ended splits hold
// nobody up; a restart changes nothing.
func TestAlignmentGroup(t *testing.T) {
	a, b := &rttest.Source{Chunk: 1, Unbounded: true}, &rttest.Source{Chunk: 1, Unbounded: true}
	fast, slow := a.Add("fast"), b.Add("slow")
	for ms := int64(1); ms <= 100; ms++ {
		fast.Feed(rttest.Row{Time: 5 * ms})
	}
	c, fs := clock.NewManual(0), vfs.NewMem()
	j, data := aligned(t, c, fs, a, b)
	read := func(want int64, why string) {
		t.Helper()
		drain(t, j)
		if got := j.Metrics().Nodes[0].Watermark; got != want {
			t.Errorf("the fast one is at %d, want %d: %s", got, want, why)
		}
	}
	read(5, "the slow one has not told its time")
	slow.Feed(rttest.Row{Time: 7})
	read(20, "it may be 10 ahead of 7, and is paused behind its next row")
	if err := errors.Join(j.Checkpoint(), j.Close(), data.Close()); err != nil {
		t.Fatal(err)
	}
	j, data = aligned(t, c, fs, a, b)
	read(20, "it is where it was")
	slow.Feed(rttest.Row{Time: 30})
	read(45, "the slow one is at 30")
	c.Advance(100 * time.Millisecond)
	read(500, "the slow one is idle")
	fast.Feed(rttest.Row{Time: 600})
	slow.Feed(rttest.Row{Time: 31})
	drain(t, j)
	fast.Feed(rttest.Row{Time: 610})
	read(600, "the slow one is back")
	slow.End()
	read(610, "the slow one has ended")
	if err := errors.Join(j.Close(), data.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestAlignmentOfSplits: the splits of one source wait for each other, too; one
// of them wakes the other, without waiting for the clock.
func TestAlignmentOfSplits(t *testing.T) {
	src := &rttest.Source{Chunk: 1, Unbounded: true}
	a, b := src.Add("a"), src.Add("b")
	var order []string
	src.OnRead = func(id string) error { order = append(order, id); return nil }
	for ms := int64(1); ms <= 3; ms++ {
		a.Feed(rttest.Row{Time: 100 * ms})
	}
	g := &rttest.Graph{}
	n := g.Source("source", 2, src, 0)
	n.Source.Timing = graph.Timing{Group: "g", MaxDrift: 50, UpdateInterval: 1000}
	g.Sink("sink", 1, rttest.NewSink(), rttest.Rebalance(n))
	j := newJob(t, &g.Graph, runtime.Config{Clock: clock.NewManual(0)}, nil)
	drain(t, j)
	if n := len(order); n < 2 || strings.Count(strings.Join(order, ""), "a") != 1 {
		t.Fatalf("read %v, want a once", order)
	}
	b.Feed(rttest.Row{Time: 60}, rttest.Row{Time: 140}, rttest.Row{Time: 160})
	drain(t, j)
	if got := strings.Count(strings.Join(order, ""), "a"); got != 3 {
		t.Errorf("a was read %d times, want 3: %v", got, order)
	}
}

// flushJob is two sources, one of them without rows, below a window of 10 ms and
// one of 100 ms over its results.
func flushJob(t *testing.T, c clock.Clock, fs vfs.FS, sources []*rttest.Source, sink *rttest.Sink) (*runtime.Job, *runtime.Data) {
	g := &rttest.Graph{}
	var edges []graph.Edge
	for i, src := range sources {
		n := g.Source(fmt.Sprint("source", i), 2, src, 0)
		n.Source.Timing = graph.Timing{FlushAfterIdle: 1000}
		edges = append(edges, rttest.ByKey(n))
	}
	small := g.Op("small", 2, rttest.NewTally(10), edges...)
	g.Sink("sink", 1, sink, rttest.Gather(g.Op("large", 2, rttest.NewTally(100), rttest.ByKey(small))))
	data, err := runtime.OpenData(fs, "/job", "job")
	if err != nil {
		t.Fatal(err)
	}
	return newJob(t, &g.Graph, runtime.Config{Clock: c}, data), data
}

// TestFlushAfterIdle: when all splits are silent for the time that was set, open
// windows close, those over their results, too; rows behind are late. One split
// that is not silent keeps them open. A restart begins the silence anew, and
// does not open again what was closed.
func TestFlushAfterIdle(t *testing.T) {
	a, b := &rttest.Source{Chunk: 1, Unbounded: true}, &rttest.Source{Chunk: 1, Unbounded: true}
	x, y := a.Add("x"), b.Add("y")
	sink, c, fs := rttest.NewSink(), clock.NewManual(0), vfs.NewMem()
	j, data := flushJob(t, c, fs, []*rttest.Source{a, b}, sink)
	expect := func(why string, want ...string) {
		t.Helper()
		drain(t, j)
		if got := sink.Seen(); strings.Join(got, ", ") != strings.Join(want, ", ") {
			t.Errorf("%s: the sink has %v, want %v", why, got, want)
		}
	}
	x.Feed(rttest.Row{Key: 1, Value: 5, Time: 3}, rttest.Row{Key: 2, Value: 7, Time: 14})
	drain(t, j)
	c.Advance(999 * time.Millisecond)
	y.Feed(rttest.Row{Key: 1, Value: 6, Time: 4})
	expect("y is not silent")
	c.Advance(999 * time.Millisecond)
	expect("y has been silent for 999 ms")
	c.Advance(time.Millisecond)
	expect("all are silent", "1 11 100", "2 7 100")
	x.Feed(rttest.Row{Key: 1, Value: 1, Time: 9}, rttest.Row{Key: 1, Value: 2, Time: 21})
	drain(t, j)
	c.Advance(time.Second)
	expect("one row is late, and so are the results of its window", "1 11 100", "2 7 100")
	late := func(node int) int64 { return j.Metrics().Nodes[node].Counters["late_rows"] }
	if late(2) != 1 || late(3) != 1 {
		t.Errorf("%d and %d rows were late, want 1 and 1", late(2), late(3))
	}
	y.Feed(rttest.Row{Key: 2, Value: 3, Time: 250})
	if err := errors.Join(j.Checkpoint(), j.Close(), data.Close()); err != nil {
		t.Fatal(err)
	}
	j, data = flushJob(t, c, fs, []*rttest.Source{a, b}, sink)
	x.Feed(rttest.Row{Key: 1, Value: 1, Time: 22})
	drain(t, j)
	if late(2) != 2 {
		t.Errorf("%d rows were late after the restart, want 2", late(2))
	}
	c.Advance(time.Second)
	expect("silent after the restart", "2 3 300")
	if err := errors.Join(j.Close(), data.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestClosingWatermark: with a period, a watermark that closes a window is sent at
// once; the next one that closes none waits for the clock again.
func TestClosingWatermark(t *testing.T) {
	ends := &window.Ends{}
	ends.Add(window.Assigner{Kind: window.Tumble, Size: 10})
	s := newTimeScript(t, 1, func(n *graph.Node) { n.Source.Period, n.Source.Ends = 50, ends })
	for _, step := range []struct{ word, want string }{
		{"b~", "-"}, {"a3", "3"}, {"a5", "3"}, {"a8", "3"}, {"a9", "9"}, {"a12", "9"}, {"a18", "9"}, {"a25", "25"}, {"a27", "25"}, {"+50", "27"}, {"a28", "27"}, {"a30", "30"},
	} {
		s.do(step.word)
		if got := s.watch.last(); got != step.want {
			t.Errorf("behind %s the watermark is %s, not %s", step.word, got, step.want)
		}
	}
}
