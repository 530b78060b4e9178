package sim

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/millstream-io/millstream/internal/runtime"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/internal/vfs"
)

// TestMain prints what was tried, with -v.
func TestMain(m *testing.M) {
	code := m.Run()
	if testing.Verbose() {
		fmt.Print(&outcomes)
	}
	os.Exit(code)
}

// outcomes are the trials by kind of fault and outcome.
var outcomes tally

type tally struct {
	mu     sync.Mutex
	counts map[string]map[string]int
}

func (o *tally) add(kind, outcome string, n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.counts == nil {
		o.counts = map[string]map[string]int{}
	}
	if o.counts[kind] == nil {
		o.counts[kind] = map[string]int{}
	}
	o.counts[kind][outcome] += n
}

// String is a table, a line each kind.
func (o *tally) String() string {
	var b strings.Builder
	for _, kind := range slices.Sorted(maps.Keys(o.counts)) {
		total := 0
		var parts []string
		for _, outcome := range slices.Sorted(maps.Keys(o.counts[kind])) {
			n := o.counts[kind][outcome]
			total += n
			parts = append(parts, fmt.Sprintf("%d %s", n, outcome))
		}
		fmt.Fprintf(&b, "%-66s %7d   %s\n", kind, total, strings.Join(parts, ", "))
	}
	return b.String()
}

// trials is how many trials a test makes: those of the environment variable, or
// else a sample.
func trials(t *testing.T, variable string, sample int) int {
	t.Helper()
	v := os.Getenv(variable)
	switch {
	case v == "" && testing.Short():
		return sample / 4
	case v == "":
		return sample
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		t.Fatalf("%s=%s is no number", variable, v)
	}
	return n
}

// out is the directory of all sinks.
const out = "/out"

// tried is a shape with its input, and what an undisturbed run commits.
type tried struct {
	Shape
	in   string
	want []string
	// steps is how many steps a run with two subtasks takes.
	steps int
}

func inputFile(t *testing.T, n int) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "rides.csv")
	if err := os.WriteFile(name, []byte(Input(n, 7)), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// rows is the length of the input.
const rows = 120

func prepare(t *testing.T, s Shape, in string) *tried {
	t.Helper()
	x := &tried{Shape: s, in: in}
	for p := range 2 {
		r, got, err := x.run(Config{Seed: 1, Parallelisms: []int{p + 1}, CheckpointEvery: 10})
		if err != nil {
			t.Fatalf("%s: undisturbed: %v", s.Name, err)
		}
		if len(got) == 0 {
			t.Fatalf("%s: no output", s.Name)
		}
		if p > 0 && !slices.Equal(got, x.want) {
			t.Fatalf("%s, parallelism 2 against 1:\n%s", s.Name, differs(got, x.want))
		}
		x.want, x.steps = got, r.Steps
	}
	return x
}

// eachShape runs f for each shape.
func eachShape(t *testing.T, f func(t *testing.T, i int, x *tried)) { eachShapeOf(t, rows, f) }

// eachShapeOf is eachShape with an input of n rows.
func eachShapeOf(t *testing.T, n int, f func(t *testing.T, i int, x *tried)) {
	in := inputFile(t, n)
	for i, s := range shard(t, Shapes()) {
		t.Run(s.Name, func(t *testing.T) { f(t, i, prepare(t, s, in)) })
	}
}

// shard gives the shapes to try, by number: all, or with MILLSTREAM_SHARD=2/5 the
// second of each five.
func shard(t *testing.T, shapes []Shape) iter.Seq2[int, Shape] {
	t.Helper()
	first, each := 1, 1
	if v := os.Getenv("MILLSTREAM_SHARD"); v != "" {
		if n, _ := fmt.Sscanf(v, "%d/%d", &first, &each); n < 2 || first < 1 || first > each {
			t.Fatalf("MILLSTREAM_SHARD=%s is not like 2/5", v)
		}
	}
	return func(yield func(int, Shape) bool) {
		for i := first - 1; i < len(shapes); i += each {
			if !yield(i, shapes[i]) {
				return
			}
		}
	}
}

// run runs the shape and returns what was committed.
func (x *tried) run(c Config) (r Result, got []string, err error) {
	if c.MaxSteps = 200_000; c.Graph == nil {
		c.Graph = x.Graph(x.in, out)
	}
	c.Job.BatchSize = 4
	done := c.Done
	c.Done = func(disk vfs.CrashFS) (err error) {
		if done != nil {
			return done(disk)
		}
		got, err = Committed(disk, out)
		slices.Sort(got)
		return err
	}
	r, err = Run(c)
	return r, got, err
}

// try runs the shape, which has to come to its end and to commit what it should.
func (x *tried) try(t *testing.T, c Config) Result {
	t.Helper()
	r, wrong := x.attempt(c)
	if wrong != "" {
		t.Fatal(wrong)
	}
	return r
}

// attempt is try that says what is wrong.
func (x *tried) attempt(c Config) (r Result, wrong string) {
	r, got, err := x.run(c)
	if err == nil && slices.Equal(got, x.want) {
		return r, ""
	}
	var failed *runtime.Error
	if errors.As(err, &failed) && failed.Stack != nil {
		wrong = string(failed.Stack)
	}
	c.Graph, c.Done = nil, nil
	return r, wrong + fmt.Sprintf("%s: %v\n%s\n%+v\nof %+v", x.Name, err, differs(got, x.want), r, c)
}

// differs describes how the committed lines are not what they should be.
func differs(got, want []string) string {
	count := map[string]int{}
	for _, l := range got {
		count[l]++
	}
	for _, l := range want {
		count[l]--
	}
	var diff []string
	for l, n := range count {
		if n != 0 {
			diff = append(diff, fmt.Sprintf("%+d %s", n, l))
		}
	}
	slices.Sort(diff)
	if len(diff) > 12 {
		diff = append(diff[:12], fmt.Sprintf("and %d more", len(diff)-12))
	}
	return strings.Join(diff, "\n")
}

// backends are where state can be, by name.
var backends = []struct {
	name  string
	state runtime.StateConfig
}{
	{"in memory", runtime.StateConfig{Backend: state.Memory}},
	{"on disk", runtime.StateConfig{Backend: state.Disk}},
	{"on disk but for 3 rows", runtime.StateConfig{Backend: state.Disk, MaxRows: 3}},
}
