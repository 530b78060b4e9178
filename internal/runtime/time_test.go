package runtime_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/clock"
	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/runtime"
	"github.com/millstream-io/millstream/internal/runtime/rttest"
	"github.com/millstream-io/millstream/internal/vfs"
)

// watch is an operator that notes the watermarks that it sees.
type watch struct{ seen []int64 }

func (w *watch) OnBatch(_ int, b *batch.Batch, out op.Output) error { out.Emit(b); return nil }

func (w *watch) OnWatermark(wm int64, _ op.Output) (int64, error) {
	w.seen = append(w.seen, wm)
	return wm, nil
}

func (w *watch) last() string {
	if len(w.seen) == 0 {
		return "-"
	}
	if n := w.seen[len(w.seen)-1]; n != op.MaxWatermark {
		return fmt.Sprint(n)
	}
	return "max"
}

// timeScript is a job with two inputs a and b, which are splits of one source
// or two sources, and an idle timeout of 100 ms.
type timeScript struct {
	t      *testing.T
	clock  *clock.Manual
	splits map[byte]*rttest.Split
	graph  *rttest.Graph
	watch  *watch
	fs     vfs.FS
	data   *runtime.Data
	job    *runtime.Job
}

func newTimeScript(t *testing.T, sources int, change ...func(*graph.Node)) *timeScript {
	s := &timeScript{t: t, clock: clock.NewManual(0), splits: map[byte]*rttest.Split{}, graph: &rttest.Graph{}, fs: vfs.NewMem()}
	var edges []graph.Edge
	names := "ab"
	for i := range sources {
		src := &rttest.Source{Chunk: 1, Unbounded: true}
		for _, name := range names[i*2/sources : (i+1)*2/sources] {
			s.splits[byte(name)] = src.Add(string(name))
		}
		n := s.graph.Source(fmt.Sprint("source", i), 1, src, 0)
		n.Source.IdleTimeout = 100
		for _, f := range change {
			f(n)
		}
		edges = append(edges, rttest.Rebalance(n))
	}
	w := s.graph.Op("watch", 1, func() (op.Operator, error) { s.watch = &watch{}; return s.watch, nil }, edges...)
	s.graph.Sink("sink", 1, rttest.NewSink(), rttest.Forward(w))
	s.start()
	t.Cleanup(s.close)
	if err := s.job.Drain(); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *timeScript) start() {
	var err error
	if s.data, err = runtime.OpenData(s.fs, "/job", "job"); err != nil {
		s.t.Fatal(err)
	}
	if s.job, err = runtime.NewJob(&s.graph.Graph, runtime.Config{Clock: s.clock}, s.data); err != nil {
		s.t.Fatal(err)
	}
}

func (s *timeScript) close() {
	if err := s.job.Close(); err != nil {
		s.t.Error(err)
	}
	if err := s.data.Close(); err != nil {
		s.t.Error(err)
	}
}

// do carries out a word: a5 feeds a row of time 5 to a, a~ makes it idle, a$
// ends it, +70 moves the clock, ! goes back to a checkpoint taken now.
func (s *timeScript) do(word string) {
	s.t.Helper()
	var n int64
	switch arg := word[1:]; {
	case word[0] == '!':
		if err := s.job.Checkpoint(); err != nil {
			s.t.Fatal(err)
		}
		s.close()
		s.start()
	case word[0] == '+':
		if _, err := fmt.Sscan(arg, &n); err != nil {
			s.t.Fatal(err)
		}
		s.clock.Advance(time.Duration(n) * time.Millisecond)
	case arg == "~":
		s.splits[word[0]].Idle()
	case arg == "$":
		s.splits[word[0]].End()
	default:
		if _, err := fmt.Sscan(arg, &n); err != nil {
			s.t.Fatal(err)
		}
		s.splits[word[0]].Feed(rttest.Row{Key: 1, Time: n})
	}
	if err := s.job.Drain(); err != nil {
		s.t.Fatal(err)
	}
}

func TestTime(t *testing.T) {
	tests := []struct{ name, script, want string }{
		{"minimum", "a5 b3 b9", "- 3 5"},
		{"a split counts from its assignment", "a5 a9 b1", "- - 1"},
		{"ended input", "a5 b$ a7 a$", "- 5 7 max"},
		{"idle by word", "a5 b3 b~ a9", "- 3 5 9"},
		{"idle by silence", "a5 +60 b3 +60 b4 +99 +1", "- - 3 3 4 4 5"},
		{"silence counts from the last row", "a5 b3 +70 a6 +29 +1", "- 3 3 3 3 6"},
		{"both silent", "a5 b3 +100", "- 3 5"},
		{"never any row", "+100 a5 b1", "- 5 5"},
		{"back and behind", "a5 b3 b~ a9 b4 a12 b12 a15 b13", "- 3 5 9 9 12 12 12 13"},
		{"silent beside ended", "a5 b9 b$ +100 a7 a$", "- 5 5 5 7 max"},
		{"restored as it was", "a5 b3 ! b9 ! a7", "- 3 3 5 5 7"},
		{"restored idle", "a5 b3 b~ ! a9 ! b4 a12", "- 3 5 5 9 9 9 12"},
		{"restored behind", "a5 b3 b~ a9 b4 ! a12 ! b12 a15 b13", "- 3 5 9 9 9 12 12 12 12 13"},
		{"restored ended", "a5 b$ ! a7 a$", "- 5 5 7 max"},
	}
	for _, tt := range tests {
		for sources := 1; sources <= 2; sources++ {
			t.Run(fmt.Sprintf("%s, %d sources", tt.name, sources), func(t *testing.T) {
				s := newTimeScript(t, sources)
				var got []string
				for _, w := range strings.Fields(tt.script) {
					s.do(w)
					got = append(got, s.watch.last())
				}
				if g := strings.Join(got, " "); g != tt.want {
					t.Errorf("%s\n got %s\nwant %s", tt.script, g, tt.want)
				}
			})
		}
	}
}

// behind is an operator that notes which rows come behind the watermark.
type behind struct {
	wm         int64
	late, rows []int64
}

func (b *behind) OnBatch(_ int, in *batch.Batch, out op.Output) error {
	for _, r := range rttest.Rows(in) {
		b.rows = append(b.rows, r.Time)
		if r.Time < b.wm {
			b.late = append(b.late, r.Time)
		}
	}
	out.Emit(in)
	return nil
}

func (b *behind) OnWatermark(wm int64, _ op.Output) (int64, error) {
	b.wm = wm
	return wm, nil
}

// TestLateAfterARestart: which rows are late does not depend on which sender of
// a restored task is the first to speak.
func TestLateAfterARestart(t *testing.T) {
	src := &rttest.Source{Chunk: 1}
	a := src.Add("a").Feed(rttest.Row{Time: 10})
	var seen *behind
	g := &rttest.Graph{}
	w := g.Op("behind", 1, func() (op.Operator, error) { seen = &behind{}; return seen, nil }, rttest.Gather(g.Source("source", 2, src, 0)))
	g.Sink("sink", 1, rttest.NewSink(), rttest.Forward(w))
	fs := vfs.NewMem()
	start := func() (*runtime.Job, *runtime.Data) {
		data, err := runtime.OpenData(fs, "/job", "job")
		if err != nil {
			t.Fatal(err)
		}
		return newJob(t, &g.Graph, runtime.Config{}, data), data
	}
	j, data := start()
	if err := errors.Join(j.Checkpoint(), j.Close(), data.Close()); err != nil {
		t.Fatal(err)
	}
	a.Feed(rttest.Row{Time: 30}, rttest.Row{Time: 20})
	j, data = start()
	for _, task := range []int{0, 2, 1} {
		for j.StepTask(task) == runtime.Progress {
		}
	}
	drain(t, j)
	if fmt.Sprint(seen.rows, seen.late) != "[30 20] [20]" {
		t.Errorf("of the rows %d, %d were late, want 20 behind 30", seen.rows, seen.late)
	}
	if err := errors.Join(j.Close(), data.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestLateInAnyOrder: which rows of a split are late does not depend on the order
// in which tasks run, neither at the start nor after a restart with another
// parallelism: readers that have nothing to read say so before any row counts.
func TestLateInAnyOrder(t *testing.T) {
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		src := &rttest.Source{Chunk: 1}
		split := src.Add("a").Feed(rttest.Row{Time: 30}, rttest.Row{Time: 20}, rttest.Row{Time: 40})
		var late []string
		fs := vfs.NewMem()
		for _, parallelism := range []int{1 + int(seed%4), 1 + int(seed/4%4)} {
			g, seen := &rttest.Graph{}, []*behind{}
			pass := g.Op("pass", 1, rttest.Pass, rttest.Gather(g.Source("source", parallelism, src, 0)))
			w := g.Op("behind", 2, func() (op.Operator, error) {
				b := &behind{}
				seen = append(seen, b)
				return b, nil
			}, rttest.ByKey(pass))
			g.Sink("sink", 2, rttest.NewSink(), rttest.Forward(w))
			data, err := runtime.OpenData(fs, "/job", "job")
			if err != nil {
				t.Fatal(err)
			}
			j := newJob(t, &g.Graph, runtime.Config{}, data)
			drainShuffled(t, j, rnd)
			if err := errors.Join(j.Checkpoint(), j.Close(), data.Close()); err != nil {
				t.Fatal(err)
			}
			for _, b := range seen {
				for _, l := range b.late {
					late = append(late, fmt.Sprint(l))
				}
			}
			split.Feed(rttest.Row{Time: 39}, rttest.Row{Time: 35}, rttest.Row{Time: 60}, rttest.Row{Time: 41})
		}
		if got := strings.Join(late, " "); got != "20 39 35 41" {
			t.Fatalf("seed %d: late were %s, want 20 39 35 41", seed, got)
		}
	}
}

// drainShuffled handles all events, each of a task by chance.
func drainShuffled(t *testing.T, j *runtime.Job, rnd *rand.Rand) {
	t.Helper()
	for quiet := 0; quiet < 3; {
		quiet++
		for _, i := range rnd.Perm(j.Tasks()) {
			for range rnd.IntN(3) {
				if j.StepTask(i) == runtime.Progress {
					quiet = 0
				}
			}
		}
	}
	drain(t, j)
}

// TestBackPressureStopsTheIdleClock: a reader that had no chance to read was
// not silent.
func TestBackPressureStopsTheIdleClock(t *testing.T) {
	src := &rttest.Source{Chunk: 1, Unbounded: true}
	a, b := src.Add("a"), src.Add("b")
	b.Feed(rttest.Row{Time: 3})
	g := &rttest.Graph{}
	s := g.Source("source", 1, src, 0)
	s.Source.IdleTimeout = 100
	g.Sink("sink", 1, rttest.NewSink(), rttest.Rebalance(s))
	c := clock.NewManual(0)
	j := newJob(t, &g.Graph, runtime.Config{Clock: c, QueueBatches: 2}, nil)
	drain(t, j)
	wm := func() int64 { return j.Metrics().Nodes[0].Watermark }
	c.Advance(90 * time.Millisecond)
	a.Feed(rttest.Row{Time: 7}, rttest.Row{Time: 8}, rttest.Row{Time: 9})
	for j.StepTask(0) == runtime.Progress {
	}
	c.Advance(time.Hour)
	drain(t, j)
	if wm() != 3 {
		t.Fatalf("watermark is %d after an hour of back-pressure", wm())
	}
	c.Advance(9 * time.Millisecond)
	drain(t, j)
	if wm() != 3 {
		t.Fatalf("watermark is %d: b is idle too early", wm())
	}
	c.Advance(time.Millisecond)
	drain(t, j)
	if wm() != 9 {
		t.Fatalf("watermark is %d: b is not idle", wm())
	}
}

// alarm emits a row at each processing time that it asked for.
type alarm struct{ ctx *op.Context }

func (a *alarm) Open(c *op.Context) error {
	a.ctx = c
	for _, ms := range []int64{300, 100, 100, 200} {
		c.TimerAt(ms)
	}
	return nil
}

func (a *alarm) OnBatch(_ int, b *batch.Batch, _ op.Output) error {
	for _, r := range rttest.Rows(b) {
		a.ctx.TimerAt(r.Time)
	}
	return nil
}

func (a *alarm) OnTimer(now int64, out op.Output) error {
	out.Emit(rttest.Batch(rttest.Row{Time: now, Value: a.ctx.Now()}))
	return nil
}

func TestTimers(t *testing.T) {
	src := &rttest.Source{Chunk: 1, Unbounded: true}
	split := src.Add("a")
	sink := rttest.NewSink()
	g := &rttest.Graph{}
	a := g.Op("alarm", 1, func() (op.Operator, error) { return &alarm{}, nil }, rttest.Forward(g.Source("source", 1, src, 0)))
	g.Sink("sink", 1, sink, rttest.Forward(a))
	c := clock.NewManual(50)
	j := newJob(t, &g.Graph, runtime.Config{Clock: c}, nil)
	for _, ms := range []int64{50, 99, 100, 150, 250, 299, 310} {
		if ms == 150 {
			split.Feed(rttest.Row{Time: 140}, rttest.Row{Time: 260})
		}
		c.Set(ms)
		drain(t, j)
	}
	equal(t, sink.Seen(), []string{"0 100 100", "0 150 150", "0 250 250", "0 299 299", "0 310 310"})
}
