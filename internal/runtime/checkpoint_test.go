package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/checkpoint"
	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/runtime"
	"github.com/millstream-io/millstream/internal/runtime/rttest"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/internal/vfs"
)

func openData(t *testing.T, fs vfs.FS) *runtime.Data {
	t.Helper()
	data, err := runtime.OpenData(fs, "/job", "job")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestAlignment: what comes behind a barrier on one input waits for the barrier
// on the other one, and nothing else does.
func TestAlignment(t *testing.T) {
	a, b := rttest.NewSource(1, rows(0, 5, 1)), rttest.NewSource(1, rows(100, 5, 1))
	sink := rttest.NewSink()
	g := &rttest.Graph{}
	g.Sink("sink", 1, sink, rttest.Rebalance(g.Source("a", 1, a, 0)), rttest.Rebalance(g.Source("b", 1, b, 0)))
	data := openData(t, vfs.NewMem())
	defer data.Close()
	j := newJob(t, &g.Graph, runtime.Config{QueueBatches: 100}, data)
	step := func(task, times int) {
		for range times {
			j.StepTask(task)
		}
	}
	seen := func(want ...string) {
		t.Helper()
		for j.StepTask(2) == runtime.Progress {
		}
		equal(t, sink.Seen(), want)
	}
	// The first two steps of a source take its splits.
	step(0, 3)
	step(1, 3)
	seen("0 1 0", "0 1 100")
	j.TriggerCheckpoint()
	step(0, 3) // the barrier of a, and two rows
	seen("0 1 0", "0 1 100")
	step(1, 1) // the barrier of b: all that waits is let go
	seen("0 1 0", "0 1 100", "0 1 1", "0 1 2")
	step(1, 1)
	seen("0 1 0", "0 1 100", "0 1 1", "0 1 2", "0 1 101")
	for j.StepControl() {
	}
	m := data.Latest()
	if m == nil || m.ID != 1 || len(m.Node("sink").Subtasks) != 1 {
		t.Fatalf("checkpoint is %v", m)
	}
	if got := string(m.Node("sink").Subtasks[0].Sink); !strings.Contains(got, `["0 1 0","0 1 100"]`) {
		t.Errorf("the sink has saved %s", got)
	}
}

func TestManifestOfAJob(t *testing.T) {
	src := &rttest.Source{Chunk: 10, Unbounded: true}
	src.Add("a").Feed(rows(0, 70, 4)...)
	src.Add("b").Feed(rows(0, 10, 4)...).Idle()
	src.Add("c").End()
	data := openData(t, vfs.NewMem())
	defer data.Close()
	sink := rttest.NewSink()
	j := newJob(t, tallyGraph(1, src, sink), runtime.Config{Job: "job"}, data)
	if err := j.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(data.Latest().String()) {
		if !strings.Contains(line, " file ") {
			lines = append(lines, line)
		}
	}
	want := `checkpoint 1 of job job, incarnation 1
source source
  split 0 "a" at 46, watermark 69
  split 1 "b" at 0a, watermark 9 idle
  split 2 "c" done
  [0] watermark 69
pass pass
  [0] watermark 69
tally tally
  [0] watermark 69
    table sums (BIGINT NOT NULL) -> (BIGINT NOT NULL)
sink sink
  [0] watermark 69, sink "[{\"Name\":\"1/0/1\",\"ID\":1,\"Rows\":[\"0 16 50\",\"1 16 50\",\"2 14 50\",\"3 14 50\"]}]"
`
	if got := strings.Join(lines, ""); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestRestart: a job that fails now and then goes on from its last checkpoint,
// and its output is what it would have been.
func TestRestart(t *testing.T) {
	src, sink := rttest.NewSource(10, split(rows(0, 5000, 20), 4)...), rttest.NewSink()
	var reads atomic.Int64
	src.OnRead = func(string) error {
		if n := reads.Add(1); n%150 == 0 && n < 1000 {
			return errors.New("connection lost")
		}
		return nil
	}
	var log []string
	cfg := runtime.Config{
		Job: "job", Checkpoint: checkpoint.Config{Interval: 1}, Log: func(l string) { log = append(log, l) },
		Restart: runtime.Restart{Attempts: 100, Delay: 1, MaxDelay: 5, Multiplier: 2},
	}
	data := openData(t, vfs.NewMem())
	defer data.Close()
	r := runtime.NewRunner(tallyGraph(3, src, sink), cfg, data)
	if err := r.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	equal(t, sink.Published(), tallies(5000, 20, 50))
	if r.Restarts() == 0 || len(log) != int(r.Restarts()) || !strings.HasPrefix(log[0], "job job failed and starts again in 1 ms (attempt 1): connection lost") {
		t.Errorf("%d restarts: %v", r.Restarts(), log)
	}
	if done := data.Finished(); !done {
		t.Errorf("finished %v", done)
	}
	if sink.OpenWriters() != 0 {
		t.Errorf("%d writers are open", sink.OpenWriters())
	}
}

func TestRestartGivesUp(t *testing.T) {
	row := fmt.Errorf("Calc[2]: %w", fn.Failf(3, "division by zero"))
	tests := []struct {
		name     string
		cfg      runtime.Restart
		data     bool
		err      error
		restarts int64
	}{
		{"bounded", runtime.Restart{Attempts: 3, Delay: 1, Multiplier: 1}, true, errors.New("lost"), 3},
		{"none", runtime.Restart{}, true, errors.New("lost"), 0},
		{"nothing kept", runtime.Restart{Attempts: 3, Delay: 1, Multiplier: 1}, false, errors.New("lost"), 0},
		{"an error of a row comes again", runtime.Restart{Attempts: 3, Delay: 1, Multiplier: 1}, true, row, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src := rttest.NewSource(10, rows(0, 100, 2))
			src.OnRead = func(string) error { return tt.err }
			var data *runtime.Data
			if tt.data {
				data = openData(t, vfs.NewMem())
				defer data.Close()
			}
			r := runtime.NewRunner(tallyGraph(1, src, rttest.NewSink()), runtime.Config{Restart: tt.cfg}, data)
			if err := r.Run(context.Background()); !errors.Is(err, tt.err) {
				t.Errorf("got %v", err)
			}
			if r.Restarts() != tt.restarts {
				t.Errorf("%d restarts, want %d", r.Restarts(), tt.restarts)
			}
		})
	}
}

func TestStopARunningJob(t *testing.T) {
	src := &rttest.Source{Chunk: 100, Unbounded: true}
	s := src.Add("a").Feed(rows(0, 1000, 5)...)
	sink := rttest.NewSink()
	fs := vfs.NewMem()
	for round := range int64(3) {
		data := openData(t, fs)
		r := runtime.NewRunner(tallyGraph(2, src, sink), runtime.Config{}, data)
		result := make(chan error, 1)
		go func() { result <- r.Run(context.Background()) }()
		if round == 2 {
			s.End()
		} else {
			for src.Read() < 1000*(round+1) {
			}
			s.Feed(rows(1000*(round+1), 1000, 5)...)
			r.Stop()
			r.Stop()
		}
		if err := <-result; err != nil {
			t.Fatal(err)
		}
		if done := data.Finished(); done != (round == 2) {
			t.Errorf("round %d: finished %v", round, done)
		}
		if err := data.Close(); err != nil {
			t.Fatal(err)
		}
	}
	equal(t, sink.Published(), tallies(3000, 5, 50))
}

func TestCancel(t *testing.T) {
	src := &rttest.Source{Chunk: 100, Unbounded: true}
	src.Add("a").Feed(rows(0, 1000, 5)...)
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	cancel(why)
	sink := rttest.NewSink()
	if err := runtime.Run(ctx, tallyGraph(2, src, sink), runtime.Config{}, nil); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	if len(sink.Published()) > 0 || sink.OpenWriters() > 0 {
		t.Error("a cancelled job has published something, or left a writer open")
	}
}

func TestFinishedJobStartsAnew(t *testing.T) {
	fs := vfs.NewMem()
	src, sink := rttest.NewSource(10, rows(0, 300, 3)), rttest.NewSink()
	for round := range 2 {
		data := openData(t, fs)
		if err := runtime.Run(context.Background(), tallyGraph(1, src, sink), runtime.Config{}, data); err != nil {
			t.Fatal(err)
		}
		if got := data.Latest().Incarnation; got != int64(round+1) {
			t.Errorf("incarnation %d in round %d", got, round)
		}
		if err := data.Close(); err != nil {
			t.Fatal(err)
		}
	}
	want := append(tallies(300, 3, 50), tallies(300, 3, 50)...)
	slices.Sort(want)
	equal(t, sink.Published(), want)
}

// TestEndedButNotPublished: a job that died between its last manifest and the
// end publishes and ends when it is started again.
func TestEndedButNotPublished(t *testing.T) {
	fs := vfs.NewMem()
	src, sink := rttest.NewSource(10, rows(0, 300, 3)), rttest.NewSink()
	data := openData(t, fs)
	j := newJob(t, tallyGraph(1, src, sink), runtime.Config{}, data)
	for data.Latest() == nil {
		for i := range j.Tasks() {
			j.StepTask(i)
		}
		j.StepControl()
	}
	if !data.Latest().Finished || j.Over() || len(sink.Published()) > 0 {
		t.Fatalf("finished %v, over %v, %d published", data.Latest().Finished, j.Over(), len(sink.Published()))
	}
	if err := errors.Join(j.Close(), data.Close()); err != nil {
		t.Fatal(err)
	}
	data = openData(t, fs)
	defer data.Close()
	if err := runtime.Run(context.Background(), tallyGraph(2, src, sink), runtime.Config{}, data); err != nil {
		t.Fatal(err)
	}
	equal(t, sink.Published(), tallies(300, 3, 50))
	if src.Read() != 300 {
		t.Errorf("%d rows were read", src.Read())
	}
}

func TestAnotherQuery(t *testing.T) {
	fs := vfs.NewMem()
	src := &rttest.Source{Chunk: 10, Unbounded: true}
	src.Add("a").Feed(rows(0, 100, 3)...)
	sink := rttest.NewSink()
	data := openData(t, fs)
	defer data.Close()
	j := newJob(t, tallyGraph(1, src, sink), runtime.Config{}, data)
	if err := errors.Join(j.Checkpoint(), j.Close(), data.Reload()); err != nil {
		t.Fatal(err)
	}
	var log []string
	cfg := runtime.Config{Log: func(l string) { log = append(log, l) }}
	_, err := runtime.NewJob(tallyFreeGraph(src, sink), cfg, data)
	var refused *checkpoint.RefusedError
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "tally (tally): table sums; the query does not have it any more") {
		t.Errorf("got %v", err)
	}
	// One more operator is no loss.
	g := &rttest.Graph{Graph: *tallyGraph(1, src, sink)}
	more := g.Nodes[len(g.Nodes)-1]
	g.Nodes = g.Nodes[:len(g.Nodes)-1]
	more.Inputs = []graph.Edge{rttest.Forward(g.Op("more", 1, rttest.Pass, more.Inputs...))}
	g.Nodes = append(g.Nodes, more)
	j = newJob(t, &g.Graph, cfg, data)
	drain(t, j)
	if len(log) != 1 || !strings.Contains(log[0], "the query is not the one that checkpoint 1 was taken with") {
		t.Errorf("log %v", log)
	}
}

func TestDataIsLocked(t *testing.T) {
	fs := vfs.NewMem()
	data := openData(t, fs)
	_, err := runtime.OpenData(fs, "/job", "job")
	var refused *checkpoint.RefusedError
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), fmt.Sprintf("is being run by process %d", os.Getpid())) {
		t.Errorf("got %v", err)
	}
	if err := data.Close(); err != nil {
		t.Fatal(err)
	}
	if err := openData(t, fs).Close(); err != nil {
		t.Fatal(err)
	}
}

// TestDamagedData damages each file of a job with a checkpoint, in each way.
// The job is refused, and can be started anew.
func TestDamagedData(t *testing.T) {
	for _, backend := range []state.Backend{state.Memory, state.Disk} {
		cfg := runtime.Config{State: runtime.StateConfig{Backend: backend}}
		fresh := func() (vfs.FS, []string) {
			fs := vfs.NewMem()
			src := &rttest.Source{Chunk: 10, Unbounded: true}
			src.Add("a").Feed(rows(0, 100, 3)...)
			data := openData(t, fs)
			j := newJob(t, tallyGraph(2, src, rttest.NewSink()), cfg, data)
			if err := errors.Join(j.Checkpoint(), j.Close(), data.Close()); err != nil {
				t.Fatal(err)
			}
			files := []string{"/job/job", "/job/checkpoints/chk-00000001.manifest"}
			names, _ := fs.List("/job/checkpoints/data")
			for _, n := range names {
				files = append(files, "/job/checkpoints/data/"+n)
			}
			return fs, files
		}
		_, files := fresh()
		if len(files) < 3 {
			t.Fatalf("only the files %v", files)
		}
		for i := range files {
			for _, how := range []string{"flip", "cut", "delete"} {
				fs, files := fresh()
				if info, err := fs.Stat(files[i]); err == nil && info.Size() == 0 && how != "delete" {
					continue
				}
				spoil(t, fs, files[i], how)
				err := start(fs, cfg)
				var refused *checkpoint.RefusedError
				if !errors.As(err, &refused) {
					t.Errorf("%s %s: %v", how, files[i], err)
					continue
				}
				for _, want := range []string{files[i], "expected", "found"} {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("%s %s: no %q in: %v", how, files[i], want, err)
					}
				}
				data, err := runtime.Place{FS: fs, Path: "/job"}.OpenFresh("job")
				if err != nil || data.Latest() != nil {
					t.Fatalf("%s %s: cannot be started anew: %v", how, files[i], err)
				}
				if err := data.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

func start(fs vfs.FS, cfg runtime.Config) error {
	data, err := runtime.OpenData(fs, "/job", "job")
	if err != nil {
		return err
	}
	src := &rttest.Source{Chunk: 10, Unbounded: true}
	src.Add("a").Feed(rows(0, 100, 3)...)
	j, err := runtime.NewJob(tallyGraph(3, src, rttest.NewSink()), cfg, data)
	if err == nil {
		err = errors.Join(j.Drain(), j.Close())
	}
	return errors.Join(err, data.Close())
}

func spoil(t *testing.T, fs vfs.FS, name, how string) {
	t.Helper()
	data, err := vfs.ReadFile(fs, name)
	if err != nil {
		t.Fatal(err)
	}
	switch how {
	case "flip":
		data[len(data)/2] ^= 16
	case "cut":
		data = data[:len(data)/2]
	}
	if err := fs.Remove(name); err != nil {
		t.Fatal(err)
	}
	if how != "delete" {
		if err := vfs.WriteFile(fs, name, data); err != nil {
			t.Fatal(err)
		}
	}
}

// TestUnalignedSpeeds: sources of very different speed meet in one job, with
// checkpoints all the time.
func TestUnalignedSpeeds(t *testing.T) {
	slow, fast := rttest.NewSource(1, rows(0, 300, 6)), rttest.NewSource(500, rows(0, 50_000, 6))
	sink := rttest.NewSink()
	g := &rttest.Graph{}
	a, b := g.Source("slow", 1, slow, 0), g.Source("fast", 2, fast, 0)
	sinkNode := g.Op("tally", 2, rttest.NewTally(50), rttest.ByKey(a), rttest.ByKey(b))
	g.Sink("sink", 2, sink, rttest.Forward(sinkNode))
	data := openData(t, vfs.NewMem())
	defer data.Close()
	cfg := runtime.Config{Checkpoint: checkpoint.Config{Interval: 1}}
	slow.OnRead = func(string) error { time.Sleep(10 * time.Microsecond); return nil }
	if err := runtime.Run(context.Background(), &g.Graph, cfg, data); err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, r := range sink.Published() {
		var k, v, at int
		if _, err := fmt.Sscan(r, &k, &v, &at); err != nil {
			t.Fatal(err)
		}
		total += v
	}
	if total != 50_300 {
		t.Errorf("the sums hold %d rows", total)
	}
}

// BenchmarkChain measures a source, operators and a sink in one task.
func BenchmarkChain(b *testing.B) {
	for _, ops := range []int{0, 2, 8} {
		b.Run(fmt.Sprintf("operators=%d", ops), func(b *testing.B) { benchmark(b, ops, 1, rttest.Forward) })
	}
}

// BenchmarkExchange measures a source and a sink in different tasks.
func BenchmarkExchange(b *testing.B) {
	for name, ship := range map[string]func(*graph.Node) graph.Edge{"hash": rttest.ByKey, "rebalance": rttest.Rebalance} {
		for _, p := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/p=%d", name, p), func(b *testing.B) { benchmark(b, 1, p, ship) })
		}
	}
}

func benchmark(b *testing.B, ops, p int, ship func(*graph.Node) graph.Edge) {
	const size = batch.DefaultSize
	src := &stock{batch: rttest.Batch(rows(0, size, 100)...), left: int64(b.N)}
	g := &rttest.Graph{}
	n := g.Source("source", 1, nil, 0)
	n.Source.Source, n.Source.Watermark = src, nil
	for i := range ops {
		n = g.Op(fmt.Sprint("op", i), p, rttest.Pass, ship(n))
	}
	s := g.Sink("sink", p, nil, rttest.Forward(n))
	s.Sink.Sink = hole{}
	b.ResetTimer()
	if err := runtime.Run(context.Background(), &g.Graph, runtime.Config{}, nil); err != nil {
		b.Fatal(err)
	}
	total := float64(size) * float64(b.N)
	b.ReportMetric(total/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/total, "ns/row")
}
