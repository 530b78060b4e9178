package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/clock"
	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/runtime"
	"github.com/millstream-io/millstream/internal/runtime/rttest"
	"github.com/millstream-io/millstream/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rows makes n rows of keys 0 to keys-1 with value 1, one ms apart.
func rows(from, n, keys int64) []rttest.Row {
	out := make([]rttest.Row, n)
	for i := range out {
		t := from + int64(i)
		out[i] = rttest.Row{Key: t % keys, Value: 1, Time: t}
	}
	return out
}

// tallies are the rows that a Tally of size ms makes of rows(0, n, keys).
func tallies(n, keys, size int64) []string {
	sums := map[rttest.Row]int64{}
	for _, r := range rows(0, n, keys) {
		sums[rttest.Row{Key: r.Key, Time: r.Time - r.Time%size + size}]++
	}
	var out []string
	for r, sum := range sums {
		r.Value = sum
		out = append(out, r.String())
	}
	slices.Sort(out)
	return out
}

// tallyGraph counts rows by key and window of 50 ms.
func tallyGraph(p int, src *rttest.Source, sink *rttest.Sink) *graph.Graph {
	return tallyOf(p, 50, src, sink)
}

// longWindow is that of a tally that keeps all rows of a test.
const longWindow = 1_000_000

// tallyOf is a tally in windows of so many ms.
func tallyOf(p int, size int64, src *rttest.Source, sink *rttest.Sink) *graph.Graph {
	g := &rttest.Graph{}
	s := g.Source("source", p, src, 0)
	pass := g.Op("pass", p, rttest.Pass, rttest.Forward(s))
	tally := g.Op("tally", p, rttest.NewTally(size), rttest.ByKey(pass))
	g.Sink("sink", p, sink, rttest.Forward(tally))
	return &g.Graph
}

func newJob(t *testing.T, g *graph.Graph, cfg runtime.Config, data *runtime.Data) *runtime.Job {
	t.Helper()
	j, err := runtime.NewJob(g, cfg, data)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}

func drain(t *testing.T, j *runtime.Job) {
	t.Helper()
	if err := j.Drain(); err != nil {
		t.Fatal(err)
	}
}

func equal(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %d rows, want %d:\n%s\nwant\n%s", len(got), len(want), first(got), first(want))
	}
}

func first(rows []string) string { return strings.Join(rows[:min(len(rows), 12)], "\n") }

// split cuts rows into n splits of successive rows.
func split(rows []rttest.Row, n int) [][]rttest.Row {
	var out [][]rttest.Row
	for i := range n {
		out = append(out, rows[i*len(rows)/n:(i+1)*len(rows)/n])
	}
	return out
}

func TestDrainToTheEnd(t *testing.T) {
	for _, p := range []int{1, 3} {
		for _, splits := range []int{1, 4} {
			t.Run(fmt.Sprintf("p%d splits%d", p, splits), func(t *testing.T) {
				sink := rttest.NewSink()
				j := newJob(t, tallyGraph(p, rttest.NewSource(7, split(rows(0, 1000, 9), splits)...), sink), runtime.Config{}, nil)
				drain(t, j)
				if !j.Over() || !j.Finished() {
					t.Fatal("the job has not come to its end")
				}
				equal(t, sink.Published(), tallies(1000, 9, 50))
				m := j.Metrics()
				if got := m.Nodes[0].In; got != 1000 {
					t.Errorf("source read %d rows", got)
				}
				if got := m.Nodes[2].In; got != 1000 || m.Nodes[2].Watermark != op.MaxWatermark {
					t.Errorf("tally got %d rows and watermark %d", got, m.Nodes[2].Watermark)
				}
				if m.Nodes[2].Out != m.Nodes[3].In || int(m.Nodes[3].In) != len(sink.Published()) {
					t.Errorf("tally sent %d, sink got %d", m.Nodes[2].Out, m.Nodes[3].In)
				}
			})
		}
	}
}

func TestRunToTheEnd(t *testing.T) {
	for _, p := range []int{1, 4} {
		sink := rttest.NewSink()
		g := tallyGraph(p, rttest.NewSource(100, split(rows(0, 20_000, 50), 8)...), sink)
		if err := runtime.Run(context.Background(), g, runtime.Config{}, nil); err != nil {
			t.Fatal(err)
		}
		equal(t, sink.Published(), tallies(20_000, 50, 50))
		if sink.OpenWriters() != 0 {
			t.Errorf("%d writers are open", sink.OpenWriters())
		}
	}
}

// TestNothingLate: the splits of a bounded source are each in order, and wait
// for each other.
func TestNothingLate(t *testing.T) {
	sink := rttest.NewSink()
	src := rttest.NewSource(10, rows(0, 500, 5), rows(0, 500, 5), rows(0, 500, 5))
	j := newJob(t, tallyGraph(2, src, sink), runtime.Config{}, nil)
	drain(t, j)
	if n := j.Metrics().Nodes[2].Counters["late_rows"]; n != 0 {
		t.Errorf("%d late rows", n)
	}
}

// TestSequel: a part of a file goes on where the part before it ended, so that
// time moves between them, and what is late in the whole is late in the parts.
func TestSequel(t *testing.T) {
	all := append(rows(0, 300, 3), rttest.Row{Key: 1, Value: 1, Time: 10})
	all = append(all, rows(300, 300, 3)...)
	for _, parts := range []int{1, 2, 5} {
		src := &rttest.Source{Chunk: 10}
		for i, rows := range split(all, parts) {
			s := src.Add(fmt.Sprint(i))
			s.Sequel = i > 0
			s.Feed(rows...).End()
		}
		sink := rttest.NewSink()
		j := newJob(t, tallyGraph(1, src, sink), runtime.Config{}, nil)
		drain(t, j)
		n := j.Metrics().Nodes[2]
		if n.Counters["late_rows"] != 1 || len(n.Samples["late_rows"]) != 1 {
			t.Errorf("%d parts: %d late rows, samples %v", parts, n.Counters["late_rows"], n.Samples["late_rows"])
		}
		equal(t, sink.Published(), tallies(600, 3, 50))
	}
}

// TestPartsOfSeveralFiles: files of the same hours, cut in parts, read by
// several readers: a reader that is done with its parts of the first file must
// not let time run on while another one reads the second file.
func TestPartsOfSeveralFiles(t *testing.T) {
	for p := 1; p <= 4; p++ {
		src := &rttest.Source{Chunk: 5}
		for file := range 3 {
			for i, rows := range split(rows(0, 600, 3), 5) {
				s := src.Add(fmt.Sprint(file, ":", i))
				s.Sequel = i > 0
				s.Feed(rows...).End()
			}
		}
		sink := rttest.NewSink()
		j := newJob(t, tallyGraph(p, src, sink), runtime.Config{}, nil)
		drain(t, j)
		if n := j.Metrics().Nodes[2].Counters["late_rows"]; n != 0 {
			t.Errorf("parallelism %d: %d late rows", p, n)
		}
	}
}

func TestFanOutAndSeveralInputs(t *testing.T) {
	src := rttest.NewSource(10, rows(0, 200, 4))
	all, odd, both := rttest.NewSink(), rttest.NewSink(), rttest.NewSink()
	g := &rttest.Graph{}
	s := g.Source("source", 1, src, 0)
	g.Sink("all", 1, all, rttest.Forward(s))
	filter := g.Op("odd", 2, func() (op.Operator, error) {
		return rttest.Func(func(_ int, b *batch.Batch, out op.Output) error {
			var sel []int32
			for i, k := range rttest.Column(b, 0) {
				if k%2 == 1 {
					sel = append(sel, int32(i))
				}
			}
			out.Emit(b.WithSel(sel))
			return nil
		}), nil
	}, rttest.Rebalance(s))
	g.Sink("oddsink", 1, odd, rttest.Gather(filter))
	// A node that reads one node over two edges, and another one.
	mark := g.Op("mark", 3, func() (op.Operator, error) {
		return rttest.Func(func(in int, b *batch.Batch, out op.Output) error {
			var marked []rttest.Row
			for _, r := range rttest.Rows(b) {
				marked = append(marked, rttest.Row{Key: r.Key, Value: int64(in), Time: r.Time})
			}
			out.Emit(rttest.Batch(marked...))
			return nil
		}), nil
	}, rttest.ByKey(s), rttest.ByKey(s), rttest.ByKey(filter))
	g.Sink("both", 3, both, rttest.Forward(mark))
	j := newJob(t, &g.Graph, runtime.Config{}, nil)
	drain(t, j)
	var wantAll, wantOdd, wantBoth []string
	for _, r := range rows(0, 200, 4) {
		wantAll = append(wantAll, r.String())
		for in := range int64(2) {
			wantBoth = append(wantBoth, rttest.Row{Key: r.Key, Value: in, Time: r.Time}.String())
		}
		if r.Key%2 == 1 {
			wantOdd = append(wantOdd, r.String())
			wantBoth = append(wantBoth, rttest.Row{Key: r.Key, Value: 2, Time: r.Time}.String())
		}
	}
	for _, w := range [][]string{wantAll, wantOdd, wantBoth} {
		slices.Sort(w)
	}
	equal(t, all.Published(), wantAll)
	equal(t, odd.Published(), wantOdd)
	equal(t, both.Published(), wantBoth)
}

func TestSideOutput(t *testing.T) {
	late, sink := rttest.NewSink(), rttest.NewSink()
	g := &rttest.Graph{}
	src := rttest.NewSource(10, append(rows(0, 200, 4), rows(5, 3, 4)...))
	tally := g.Op("tally", 2, rttest.NewTally(50), rttest.ByKey(g.Source("source", 1, src, 0)))
	g.Sink("sink", 2, sink, rttest.Forward(tally))
	edge := rttest.Gather(tally)
	edge.Side = "late"
	g.Sink("late", 1, late, edge)
	j := newJob(t, &g.Graph, runtime.Config{}, nil)
	drain(t, j)
	equal(t, late.Published(), []string{"1 1 5", "2 1 6", "3 1 7"})
	equal(t, sink.Published(), tallies(200, 4, 50))
}

// TestResume: an operator that makes much of one row stops while there is no
// room, and nothing overtakes what it has left.
func TestResume(t *testing.T) {
	sink := rttest.NewSink()
	g := &rttest.Graph{}
	s := g.Source("source", 1, rttest.NewSource(5, rows(0, 60, 4)), 0)
	explode := func() (op.Operator, error) { return &rttest.Explode{N: 20}, nil }
	twice := g.Op("twice", 1, explode, rttest.Forward(g.Op("once", 1, explode, rttest.Forward(s))))
	g.Sink("sink", 2, sink, rttest.Rebalance(twice))
	j := newJob(t, &g.Graph, runtime.Config{QueueBatches: 2}, nil)
	most := 0
	for !j.Over() {
		for i := range j.Tasks() {
			j.StepTask(i)
			j.StepControl()
		}
		if err := j.Err(); err != nil {
			t.Fatal(err)
		}
		in := j.Metrics().Nodes[3].In
		most = max(most, int(j.Metrics().Nodes[2].Out-in))
	}
	var want []string
	for _, r := range rows(0, 60, 4) {
		for range 400 {
			want = append(want, r.String())
		}
	}
	slices.Sort(want)
	equal(t, sink.Published(), want)
	// Two channels of two batches of 5 rows, and the one that was one too much.
	if most > 30 {
		t.Errorf("%d rows were on their way", most)
	}
}

// TestBackPressure: a slow sink stops the source. The number of rows between
// them is bounded by the queues.
func TestBackPressure(t *testing.T) {
	src := rttest.NewSource(10, rows(0, 100_000, 10))
	sink := rttest.NewSink()
	j := newJob(t, tallyFreeGraph(src, sink), runtime.Config{QueueBatches: 4}, nil)
	var stuck []int64
	for i := range 200 {
		for range 1000 {
			if j.StepTask(0) != runtime.Progress {
				break
			}
		}
		if i%20 == 0 {
			j.StepTask(1) // the sink takes a batch now and then
		}
		stuck = append(stuck, src.Read())
	}
	if j.StepTask(0) != runtime.Blocked {
		t.Error("the source is not blocked")
	}
	// Ten steps of the sink and four batches on their way.
	if last := stuck[len(stuck)-1]; last > 150 {
		t.Errorf("the source read %d rows although the sink took 100", last)
	}
	for i := range j.Tasks() {
		t.Log(j.TaskName(i))
	}
	drain(t, j)
	if src.Read() != 100_000 || len(sink.Published()) != 100_000 {
		t.Errorf("read %d, published %d", src.Read(), len(sink.Published()))
	}
}

// tallyFreeGraph copies rows from a source to a sink in another task.
func tallyFreeGraph(src *rttest.Source, sink *rttest.Sink) *graph.Graph {
	g := &rttest.Graph{}
	g.Sink("sink", 1, sink, rttest.Rebalance(g.Source("source", 1, src, 0)))
	return &g.Graph
}

func TestPanicNamesTheOperator(t *testing.T) {
	for _, run := range []bool{false, true} {
		g := &rttest.Graph{}
		s := g.Source("source", 1, rttest.NewSource(10, rows(0, 100, 3)), 0)
		pass := g.Op("pass", 1, rttest.Pass, rttest.Forward(s))
		bad := g.Op("Divide[3]", 1, func() (op.Operator, error) {
			return rttest.Func(func(_ int, b *batch.Batch, out op.Output) error {
				if rttest.Column(b, 2)[0] > 50 {
					panic("oh no")
				}
				return nil
			}), nil
		}, rttest.Forward(pass))
		g.Sink("sink", 1, rttest.NewSink(), rttest.Forward(bad))
		var err error
		if run {
			err = runtime.Run(context.Background(), &g.Graph, runtime.Config{}, nil)
		} else {
			j := newJob(t, &g.Graph, runtime.Config{}, nil)
			err = j.Drain()
		}
		var failed *runtime.Error
		if !errors.As(err, &failed) || failed.Node != "Divide[3]" || failed.Stack == nil ||
			!strings.HasPrefix(err.Error(), "Divide[3]: panic: oh no") {
			t.Errorf("got %v", err)
		}
	}
}

func TestPanicNamesTheSource(t *testing.T) {
	src := rttest.NewSource(10, rows(0, 100, 3))
	src.OnRead = func(string) error {
		if src.Read() > 50 {
			panic("oh no")
		}
		return nil
	}
	j := newJob(t, tallyGraph(1, src, rttest.NewSink()), runtime.Config{}, nil)
	var failed *runtime.Error
	if err := j.Drain(); !errors.As(err, &failed) || failed.Node != "source" || failed.Stack == nil {
		t.Errorf("got %v", err)
	}
}

func TestErrorsOfConnectorsSpeakForThemselves(t *testing.T) {
	src, sink := rttest.NewSource(10, rows(0, 100, 3)), rttest.NewSink()
	src.OnRead = func(string) error { return errors.New("flights.csv:7: no number") }
	err := runtime.Run(context.Background(), tallyFreeGraph(src, sink), runtime.Config{}, nil)
	if err == nil || err.Error() != "flights.csv:7: no number" {
		t.Errorf("got %v", err)
	}
	src.OnRead = nil
	sink.OnWrite = func(*batch.Batch) error { return errors.New("out/part-0: disk full") }
	err = runtime.Run(context.Background(), tallyFreeGraph(src, sink), runtime.Config{}, nil)
	if err == nil || err.Error() != "out/part-0: disk full" {
		t.Errorf("got %v", err)
	}
}

func TestStopAndGoOn(t *testing.T) {
	fs := vfs.NewMem()
	src := &rttest.Source{Chunk: 10, Unbounded: true}
	s := src.Add("a").Feed(rows(0, 120, 4)...)
	sink := rttest.NewSink()
	for round := range int64(3) {
		data, err := runtime.OpenData(fs, "/job", "job")
		if err != nil {
			t.Fatal(err)
		}
		j := newJob(t, tallyGraph(1+int(round), src, sink), runtime.Config{Clock: clock.NewManual(1)}, data)
		drain(t, j)
		if j.Over() {
			t.Fatal("over although the input has no end")
		}
		s.Feed(rows(120+round*60, 60, 4)...)
		if round == 2 {
			s.End()
		}
		drain(t, j)
		j.Stop()
		drain(t, j)
		if !j.Over() || j.Finished() != (round == 2) {
			t.Fatalf("round %d: over %v, finished %v", round, j.Over(), j.Finished())
		}
		if err := errors.Join(j.Close(), data.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if src.Read() != 300 {
		t.Errorf("%d rows were read", src.Read())
	}
	equal(t, sink.Published(), tallies(300, 4, 50))
}
