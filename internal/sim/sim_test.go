package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/runtime"
	"github.com/millstream-io/millstream/internal/runtime/rttest"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/internal/vfs"
)

// shape is a job to try, with the world that it works on.
type shape struct {
	name string
	// late is set where rows are late, which is the same in each run only
	// without parallelism.
	late  bool
	build func() (source *rttest.Source, sink *rttest.Sink, g func(p int) *graph.Graph)
}

// input makes rows of time that goes on and jumps, from a multiplicative walk.
func input(n, disorder int64) []rttest.Row {
	rows := make([]rttest.Row, n)
	for i := range rows {
		x := (int64(i)*7919 + 13) % 10007
		rows[i] = rttest.Row{Key: x % 11, Value: 1 + x%5, Time: max(int64(i)*3-x%(disorder+1), 0)}
	}
	return rows
}

func shapes() []shape {
	return []shape{
		{name: "windowed count", build: func() (*rttest.Source, *rttest.Sink, func(int) *graph.Graph) {
			// A file in three parts, and two others.
			src := &rttest.Source{Chunk: 5}
			long := input(60, 20)
			for i, rows := range [][]rttest.Row{long[:20], long[20:35], long[35:], input(45, 20), input(10, 20)} {
				s := src.Add(fmt.Sprint(i))
				s.Sequel = i == 1 || i == 2
				s.Feed(rows...).End()
			}
			sink := rttest.NewSink()
			return src, sink, func(p int) *graph.Graph {
				g := &rttest.Graph{}
				tally := g.Op("tally", p, rttest.NewTally(40), rttest.ByKey(g.Source("source", p, src, 20)))
				g.Sink("sink", p, sink, rttest.Forward(tally))
				return &g.Graph
			}
		}},
		{name: "late rows", late: true, build: func() (*rttest.Source, *rttest.Sink, func(int) *graph.Graph) {
			src := rttest.NewSource(5, input(120, 60))
			sink := rttest.NewSink()
			return src, sink, func(p int) *graph.Graph {
				g := &rttest.Graph{}
				tally := g.Op("tally", p, rttest.NewTally(40), rttest.ByKey(g.Source("source", 1, src, 5)))
				g.Sink("sink", p, sink, rttest.Rebalance(tally))
				return &g.Graph
			}
		}},
		{name: "cascade, fan-out and explosion", build: func() (*rttest.Source, *rttest.Sink, func(int) *graph.Graph) {
			src := rttest.NewSource(4, input(24, 10), input(16, 10))
			sink := rttest.NewSink()
			return src, sink, func(p int) *graph.Graph {
				g := &rttest.Graph{}
				s := g.Source("source", p, src, 10)
				a := g.Op("a", p, rttest.NewTally(20), rttest.ByKey(s))
				b := g.Op("b", 1, func() (op.Operator, error) { return &rttest.Explode{N: 3}, nil }, rttest.Gather(s))
				c := g.Op("c", p, rttest.NewTally(60), rttest.ByKey(a), rttest.ByKey(b), rttest.ByKey(a))
				g.Sink("sink", p, sink, rttest.Rebalance(c))
				return &g.Graph
			}
		}},
	}
}

// plain is for graphs that need no file system.
func plain(g func(p int) *graph.Graph) func(vfs.FS, int) (*graph.Graph, error) {
	return func(_ vfs.FS, p int) (*graph.Graph, error) { return g(p), nil }
}

// undisturbed returns what a run without any trouble commits.
func undisturbed(t *testing.T, s shape) (rows []string, steps int) {
	t.Helper()
	_, sink, g := s.build()
	r, err := Run(Config{Seed: 1, Graph: plain(g), Parallelisms: []int{1}, MaxSteps: 100_000, CheckpointEvery: 10})
	if err != nil {
		t.Fatal(err)
	}
	return sink.Published(), r.Steps
}

// try runs a shape and compares what it commits.
func try(t *testing.T, s shape, want []string, c Config) Result {
	t.Helper()
	_, sink, g := s.build()
	c.Graph, c.MaxSteps = plain(g), 200_000
	r, err := Run(c)
	if err != nil {
		t.Fatalf("seed %d: %v\n%+v", c.Seed, err, r)
	}
	if got := sink.Published(); !slices.Equal(got, want) {
		t.Fatalf("seed %d: committed\n%s\nwant\n%s\n%+v", c.Seed, strings.Join(got, "\n"), strings.Join(want, "\n"), r)
	}
	return r
}

func parallelisms(s shape) []int {
	if s.late {
		return []int{1, 2, 3}
	}
	return []int{1, 2, 5}
}

// backend chooses where state is: mostly in memory, since a tree on disk takes
// its time to open.
func backend(n int) runtime.StateConfig {
	switch n % 16 {
	case 3:
		return runtime.StateConfig{Backend: state.Disk}
	case 6:
		return runtime.StateConfig{Backend: state.Disk, MaxRows: 3}
	}
	return runtime.StateConfig{Backend: state.Memory}
}

func TestRandomCrashes(t *testing.T) {
	seeds := uint64(40)
	if testing.Short() {
		seeds = 8
	}
	for _, s := range shapes() {
		t.Run(s.name, func(t *testing.T) {
			want, _ := undisturbed(t, s)
			var crashes int
			var late int64 = -1
			for seed := range seeds {
				r := try(t, s, want, Config{
					Seed: seed, Parallelisms: parallelisms(s), CrashEvery: 60 + int(seed)*7, Keep: int(seed%3) * 50,
					CheckpointEvery: 15, Job: runtime.Config{State: backend(int(seed))},
				})
				crashes += r.Crashes
				if late >= 0 && r.Late != late {
					t.Errorf("seed %d: %d late rows, %d before", seed, r.Late, late)
				}
				late = r.Late
			}
			if crashes < int(seeds) {
				t.Errorf("only %d crashes", crashes)
			}
			if s.late != (late > 0) {
				t.Errorf("%d late rows", late)
			}
		})
	}
}

// TestCrashAtEachStep crashes once, at each step of the job in turn.
func TestCrashAtEachStep(t *testing.T) {
	for _, s := range shapes() {
		t.Run(s.name, func(t *testing.T) {
			want, steps := undisturbed(t, s)
			stride := 1
			if testing.Short() {
				stride = 1 + steps/20
			}
			for n := 1; n <= steps; n += stride {
				try(t, s, want, Config{
					Seed: 1, Parallelisms: []int{2}, CrashAt: []int{n}, Keep: n % 2 * 100, CheckpointEvery: 10,
					Job: runtime.Config{State: backend(n)},
				})
			}
		})
	}
}

// TestEachCallFails lets changing calls of the file system fail, once or until
// the next start; where there are very many of them, not all.
func TestEachCallFails(t *testing.T) {
	s := shapes()[0]
	want, _ := undisturbed(t, s)
	for _, backend := range []state.Backend{state.Memory, state.Disk} {
		t.Run(backend.String(), func(t *testing.T) {
			cfg := Config{Seed: 3, Parallelisms: []int{2}, CheckpointEvery: 10, Job: runtime.Config{State: runtime.StateConfig{Backend: backend}}}
			calls := try(t, s, want, cfg).Calls
			most := int64(200)
			if testing.Short() {
				most = 20
			}
			stride := 1 + calls/most
			trials, failures := 0, 0
			for n := int64(1); n <= calls; n += stride {
				cfg.FailAt, cfg.FailCount = n, 1-n%2*2
				failures += try(t, s, want, cfg).Failures
				trials++
			}
			// A file that could not be removed matters to nobody.
			if failures < trials/2 {
				t.Errorf("%d calls failed, and only %d made the job start again", trials, failures)
			}
		})
	}
}

func TestSameSeedSameRun(t *testing.T) {
	s := shapes()[2]
	cfg := Config{Seed: 5, Parallelisms: []int{1, 3}, CrashEvery: 80, CheckpointEvery: 10, Job: runtime.Config{State: backend(0)}}
	want, _ := undisturbed(t, s)
	a, b := try(t, s, want, cfg), try(t, s, want, cfg)
	if a != b {
		t.Errorf("%+v\n%+v", a, b)
	}
}

func TestStuckJobIsNoticed(t *testing.T) {
	g := &rttest.Graph{}
	src := &rttest.Source{Chunk: 1, Unbounded: true}
	src.Add("a")
	g.Sink("sink", 1, rttest.NewSink(), rttest.Forward(g.Source("source", 1, src, 0)))
	_, err := Run(Config{Graph: plain(func(int) *graph.Graph { return &g.Graph }), Parallelisms: []int{1}, MaxSteps: 10_000})
	if err == nil || !strings.Contains(err.Error(), "stuck") {
		t.Errorf("got %v", err)
	}
}
