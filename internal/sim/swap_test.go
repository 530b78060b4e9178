package sim

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/internal/checkpoint"
	"github.com/millstream-io/millstream/internal/runtime"
	"github.com/millstream-io/millstream/internal/vfs"
)

// swap is something that commands do to the directory of a job that does not run.
type swap struct {
	name string
	do   func(fs vfs.FS) error
	// again tells that it may be done once more after a crash.
	again bool
}

func closed(data *runtime.Data, err error) error {
	if err != nil {
		return err
	}
	return data.Close()
}

var swaps = []swap{
	{"run --fresh", func(fs vfs.FS) error {
		return closed(runtime.Place{FS: fs, Path: Dir}.OpenFresh("job"))
	}, true},
	{"run --fresh --from", func(fs vfs.FS) error {
		from, err := checkpoint.FindFile(fs, "/savepoint")
		if err != nil {
			return err
		}
		return closed(runtime.Place{FS: fs, Path: Dir}.OpenFrom("job", from, true))
	}, true},
	{"run --fresh --from, an older one of its own", func(fs vfs.FS) error {
		data, err := runtime.OpenData(fs, Dir, "job")
		if err != nil {
			return err
		}
		oldest := data.Retained()[0]
		if err := data.Close(); err != nil {
			return err
		}
		store, err := runtime.Place{FS: fs, Path: Dir}.Checkpoints()
		if err != nil {
			return err
		}
		from, err := checkpoint.Find(store, oldest)
		if err != nil {
			return err
		}
		return closed(runtime.Place{FS: fs, Path: Dir}.OpenFrom("job", from, true))
	}, false},
	{"checkpoints --delete", func(fs vfs.FS) error {
		data, err := runtime.OpenData(fs, Dir, "job")
		if err != nil {
			return err
		}
		return errors.Join(data.Delete(data.Retained()[0]), data.Close())
	}, false},
}

// identity says from where a job goes on.
func identity(disk vfs.FS) (string, error) {
	data, err := runtime.OpenData(disk, Dir, "job")
	if err != nil {
		return "", err
	}
	at := "nothing"
	if m := data.Latest(); m != nil {
		at = fmt.Sprintf("checkpoint %d of %s", m.ID, m.JobID)
	}
	return at, data.Close()
}

// TestSwapCrash crashes at each call that changes the file system while a job is
// made to start from something else, or a checkpoint is deleted. The job then goes
// on from what it had or from the new place, and has committed in the end what it
// does from there when nothing crashes.
func TestSwapCrash(t *testing.T) {
	eachShape(t, func(t *testing.T, i int, x *tried) {
		if i%16 != 0 {
			return // what is done to the directory does not depend on the job
		}
		rnd := rand.New(rand.NewPCG(uint64(i), 11))
		v := x.swapped(t, rnd, backends[i/16%3].state)
		for _, s := range swaps {
			v.swap(t, s, rnd)
		}
	})
}

// swapped is a job that was stopped, with a savepoint from before beside it, and
// more than one checkpoint.
func (x *tried) swapped(t *testing.T, rnd *rand.Rand, where runtime.StateConfig) *victim {
	t.Helper()
	for range 20 {
		v := x.victim(t, rnd, where, true)
		v.config.From = ""
		c := v.config
		c.Disk, c.CheckpointEvery, c.Keep = &v.disk, 10, 100
		c.Job.Checkpoint.Retained = 3
		c.StopAt = 40 + rnd.IntN(x.steps/3)
		c.Done = func(disk vfs.CrashFS) error { v.disk = disk; return nil }
		if _, _, err := x.run(c); err != nil {
			t.Fatalf("%s: %v", x.Name, err)
		}
		data, err := runtime.OpenData(v.disk, Dir, "job")
		if err != nil {
			t.Fatal(err)
		}
		n := len(data.Retained())
		if err := data.Close(); err != nil {
			t.Fatal(err)
		}
		if n > 1 {
			return v
		}
	}
	t.Fatalf("%s: no job with several checkpoints", x.Name)
	return nil
}

// swap crashes at each call of one swap.
func (v *victim) swap(t *testing.T, s swap, rnd *rand.Rand) {
	t.Helper()
	before, err := identity(v.disk)
	if err != nil {
		t.Fatal(err)
	}
	whole := v.disk.Crash(100, rnd)
	if err := s.do(whole); err != nil {
		t.Fatalf("%s: %s: %v", v.Name, s.name, err)
	}
	anew := v.outcome(t, whole)
	same := s.name == "checkpoints --delete"
	if same && !slices.Equal(anew, v.want) {
		t.Fatalf("%s: %s changes the output:\n%s", v.Name, s.name, differs(anew, v.want))
	}
	seen := map[string]int{}
	for n := int64(1); ; n++ {
		disk := v.disk.Crash(100, rnd)
		fault := vfs.NewFaultFS(disk)
		fault.FailFrom(n, -1)
		err := s.do(fault)
		if fault.Failed() == 0 {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
		disk = disk.Crash(int(n%3)*50, rnd)
		at, err := identity(disk)
		if err != nil {
			t.Fatalf("%s: %s, crash at call %d: %v", v.Name, s.name, n, err)
		}
		want, place := anew, "new"
		if at == before {
			want, place = v.want, "old"
		}
		seen[place]++
		if s.again && n%2 == 0 {
			want = anew
			if err := s.do(disk); err != nil {
				t.Fatalf("%s: %s, again after a crash at call %d: %v", v.Name, s.name, n, err)
			}
		}
		if got := v.outcome(t, disk); !slices.Equal(got, want) {
			t.Fatalf("%s: %s, crash at call %d, on from the %s place, %s:\n%s", v.Name, s.name, n, place, at, differs(got, want))
		}
		outcomes.add("crash amid "+s.name, "went on from the "+place+" place", 1)
	}
	if seen["old"] == 0 || !same && seen["new"] == 0 {
		t.Errorf("%s: %s: not both places were met: %v", v.Name, s.name, seen)
	}
}

// outcome runs the job to its end. One that goes back to an older checkpoint of its
// own may be refused by a file that was complete since.
func (v *victim) outcome(t *testing.T, disk vfs.CrashFS) []string {
	t.Helper()
	c := v.config
	c.Disk = &disk
	_, got, err := v.run(c)
	switch {
	case err != nil && strings.Contains(err.Error(), "because the job has run on since that checkpoint"):
		return []string{err.Error()}
	case err != nil:
		t.Fatalf("%s: %v", v.Name, err)
	}
	return got
}

// TestStopCrash crashes at calls that change the file system between the request
// to stop with a savepoint and the end of the job.
func TestStopCrash(t *testing.T) {
	eachShape(t, func(t *testing.T, i int, x *tried) {
		if i%8 != 0 || i > 24 {
			return // what is stopped does not depend on the job
		}
		c := Config{Seed: uint64(i), Parallelisms: []int{1, 2}, CheckpointEvery: 20, SaveStops: true, Job: runtime.Config{State: backends[i/8%3].state}}
		first, last := x.stopped(t, &c)
		crashes := 0
		for n := first; n <= last; n += 1 + (last-first)/50 {
			var left vfs.CrashFS
			c.FailAt, c.FailCount, c.CrashAtFail, c.Keep = n, -1, true, int(n%3)*50
			c.Done = func(disk vfs.CrashFS) error { left = disk; return nil }
			r, _, err := x.run(c)
			if err != nil {
				t.Fatalf("%s: stop --savepoint, crash at call %d: %v", x.Name, n, err)
			}
			crashes += r.Crashes
			again := c
			again.Disk, again.SaveAt, again.FailAt, again.Done = &left, 0, 0, nil
			x.try(t, again)
			outcomes.add("crash amid stop --savepoint", "went on with the right output", r.Crashes)
		}
		if crashes == 0 {
			t.Errorf("%s: nothing crashed", x.Name)
		}
	})
}

// stopped finds a step at which the job can be asked to stop with a savepoint, and
// returns the numbers of the first and the last call of the file system that
// follow.
func (x *tried) stopped(t *testing.T, c *Config) (first, last int64) {
	t.Helper()
	for part := 2; part < 12; part++ {
		c.SaveAt = x.steps / part
		asked := *c
		asked.StopAt, asked.Done = c.SaveAt, func(vfs.CrashFS) error { return nil }
		before, _, err := x.run(asked)
		if err != nil {
			t.Fatal(err)
		}
		asked.StopAt = 0
		r, _, err := x.run(asked)
		if err == nil && r.Savepoint > 0 && r.Calls > before.Calls {
			return before.Calls + 1, r.Calls
		}
	}
	t.Fatalf("%s: it could not be stopped", x.Name)
	return 0, 0
}
