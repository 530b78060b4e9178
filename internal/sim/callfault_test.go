package sim

import (
	"path"
	"regexp"
	goruntime "runtime"
	"testing"

	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/runtime"
	"github.com/millstream-io/millstream/internal/vfs"
)

// TestShapesCallsFail lets calls of the file system fail: of each shape, with its
// state in each place, the n-th call of its kind, alone or with all of its kind that
// follow until the next start, or with all that follow of any kind. The run has a
// start, a start after a crash, one after a failure, and checkpoints between them.
// The job starts again, or does without; in the end it has committed what it
// should. A sync that has failed is never tried again.
//
// MILLSTREAM_CALLS=1 lets each call fail. A greater number k takes each k-th, besides
// the first from each place in the code to each kind of file. Without it, there is
// a sample of those first ones, which has each kind of call and each shape.
func TestShapesCallsFail(t *testing.T) {
	each := trials(t, "MILLSTREAM_CALLS", 0)
	eachShapeOf(t, 40, func(t *testing.T, i int, x *tried) {
		t.Parallel()
		for b, where := range backends {
			if each == 0 && i%3 != b {
				continue
			}
			c := x.phases(t, i, where.state)
			all := x.calls(t, c)
			calls := all
			if each == 0 {
				calls = sampled(all, i)
			}
			failed, missed := 0, 0
			for n, call := range calls {
				if call.first || each > 0 && n%each == i%each {
					failed++
					if !call.fail(t, x, c, failed+i) {
						missed++
					}
				}
			}
			t.Logf("state %s: %d of %d calls failed, %d of them were not met again", where.name, failed, len(all), missed)
			if missed > 3+failed/50 {
				t.Error("too many calls were not met again")
			}
		}
	})
}

// phases is a run that crashes, and later ends as after a failure, each between
// checkpoints.
func (x *tried) phases(t *testing.T, i int, where runtime.StateConfig) Config {
	t.Helper()
	c := Config{
		Seed: uint64(i), Graph: x.planned(t, 1, 2), Parallelisms: []int{1, 2}, Keep: i % 3 * 50, Fail: vfs.AllCalls,
		Job: runtime.Config{State: where},
	}
	steps := x.try(t, c).Steps
	c.CheckpointEvery, c.CrashAt = steps/6, []int{2 * steps / 5}
	c.RestartAt = []int{(c.CrashAt[0] + x.try(t, c).Steps) / 2}
	if r := x.try(t, c); r.Crashes != 1 || r.Restarts != 1 || r.Checkpoints < 2 {
		t.Fatalf("%s: not all phases are there: %+v", x.Name, r)
	}
	return c
}

// planned gives the same graphs to each start, since to plan them takes a third of
// the time of a run.
func (x *tried) planned(t *testing.T, parallelisms ...int) func(vfs.FS, int) (*graph.Graph, error) {
	t.Helper()
	disk := &struct{ vfs.FS }{vfs.NewCrashFS()}
	graphs := map[int]*graph.Graph{}
	for _, p := range parallelisms {
		g, err := x.Graph(x.in, out)(disk, p)
		if err != nil {
			t.Fatal(err)
		}
		graphs[p] = g
	}
	return func(fsys vfs.FS, p int) (*graph.Graph, error) {
		disk.FS = fsys
		return graphs[p], nil
	}
}

// call is the n-th call of its kind, and of all kinds.
type call struct {
	kind     vfs.Calls
	n, ofAll int64
	// first is set if it is the first one from its place in the code to a file of
	// its kind.
	first bool
}

// calls are those of a run, in order.
func (x *tried) calls(t *testing.T, c Config) []call {
	t.Helper()
	var all []call
	type place struct {
		kind vfs.Calls
		name string
		code [64]uintptr
	}
	counts, seen := map[vfs.Calls]int64{}, map[place]bool{}
	c.Watch = func(kind vfs.Calls, name string) {
		counts[kind]++
		from := place{kind: kind, name: number.ReplaceAllString(path.Base(name), "#")}
		goruntime.Callers(1, from.code[:])
		all = append(all, call{kind, counts[kind], int64(len(all)) + 1, !seen[from]})
		seen[from] = true
	}
	x.try(t, c)
	return all
}

// number is what differs between the names of two files of one kind: a number, or
// an identity in hexadecimal.
var number = regexp.MustCompile(`[0-9a-f]*[0-9][0-9a-f]*`)

// sampled keeps the first call from some place, of each third kind; which ones
// depends on the number of the shape.
func sampled(calls []call, number int) []call {
	var out []call
	for i, kind := range vfs.AllCalls.EachCall() {
		var first []call
		for _, c := range calls {
			if c.first && c.kind == kind {
				first = append(first, c)
			}
		}
		if i%3 == number/3%3 && len(first) > 0 {
			out = append(out, first[number*5%len(first)])
		}
	}
	return out
}

// fail makes a call fail in a run, alone or with others; variant chooses. It reports
// whether the call was made: the tree makes calls in goroutines of its own, so that
// not each run has as many.
func (l call) fail(t *testing.T, x *tried, c Config, variant int) bool {
	t.Helper()
	how := "alone"
	c.Fail, c.FailAt, c.FailCount = l.kind, l.n, 1
	switch variant % 3 {
	case 1:
		how, c.FailCount = "with all of its kind behind it", -1
	case 2:
		how, c.Fail, c.FailAt, c.FailCount = "with all behind it", vfs.AllCalls, l.ofAll, -1
	}
	r, wrong := x.attempt(c)
	outcome := "went on with the right output"
	switch {
	case wrong != "":
		outcome = "WRONG"
		t.Errorf("%s, state %s: call %d, a %s, failed %s: %s", x.Name, c.Job.State.Backend, l.ofAll, l.kind, how, wrong)
	case r.Failed == 0:
		outcome = "not met again"
	case r.Failures > 0:
		outcome = "started again with the right output"
	}
	outcomes.add("failing "+l.kind.String()+", "+how, outcome, 1)
	return r.Failed > 0
}
