// Package sim runs jobs under a seeded scheduler: one goroutine steps tasks,
// checkpoints and the clock in random order, over queues of random size, and
// the process may crash, the disk may fail, and the job may come back with
// another parallelism after every single step. The same seed gives the same
// run. What is committed in the end must be what an undisturbed run commits.
package sim

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/millstream-io/millstream/internal/clock"
	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/runtime"
	"github.com/millstream-io/millstream/internal/vfs"
)

// Config describes a simulation.
type Config struct {
	Seed uint64
	// Graph makes the job anew for each start. Sources and sinks outlive the
	// job; they stand for the world outside.
	Graph func(parallelism int) *graph.Graph
	// Parallelisms are those to choose from at each start.
	Parallelisms []int
	// CrashAt are numbers of steps (counted over all starts) at which the
	// process crashes; CrashEvery crashes once in so many steps on average.
	CrashAt    []int
	CrashEvery int
	// Keep is the percentage of what was not synced that survives a crash.
	Keep int
	// FailAt makes the n-th changing call of the file system fail, and
	// FailCount of those behind it, all of them if it is below 0 (until the
	// next start).
	FailAt, FailCount int64
	// CheckpointEvery takes a checkpoint once in so many steps on average; 0:
	// only the last one.
	CheckpointEvery int
	// Job is the job's configuration; queues and the clock are chosen here.
	Job runtime.Config
	// MaxSteps is the number of steps after which the simulation is given up.
	MaxSteps int
}

// Result says what happened.
type Result struct {
	Steps, Crashes, Failures int
	// Checkpoints is the number of the last one.
	Checkpoints int64
	// Calls is the number of changing calls of the file system.
	Calls int64
	// Late is the number of late rows that the job has counted.
	Late int64
}

const dir = "/data/job"

// world is a simulation under way.
type world struct {
	Config
	Result
	rng   *rand.Rand
	disk  vfs.CrashFS
	fault *vfs.FaultFS
	clock *clock.Manual
	data  *runtime.Data
	job   *runtime.Job
	// crashes holds what is left of CrashAt.
	crashes map[int]bool
}

// Run runs the simulation until the job is over. An error is a failure of the
// job that does not come from a fault that was asked for, or a stuck job.
func Run(c Config) (Result, error) {
	w := &world{Config: c, rng: rand.New(rand.NewPCG(c.Seed, 1)), disk: vfs.NewCrashFS(), clock: clock.NewManual(1_000_000), crashes: map[int]bool{}}
	for _, n := range c.CrashAt {
		w.crashes[n] = true
	}
	w.fault = vfs.NewFaultFS(w.disk)
	if c.FailAt > 0 {
		w.fault.FailFrom(c.FailAt, max(c.FailCount, 1))
		if c.FailCount < 0 {
			w.fault.FailFrom(c.FailAt, -1)
		}
	}
	err := w.run()
	return w.Result, errors.Join(err, w.drop())
}

func (w *world) run() error {
	for {
		if err := w.start(); err != nil {
			if !w.forgive(err) {
				return err
			}
			if err := w.drop(); err != nil && !errors.Is(err, vfs.ErrInjected) {
				return err
			}
			continue
		}
		again, err := w.steps()
		if err != nil || !again {
			return err
		}
	}
}

// start opens the directory and makes a job.
func (w *world) start() (err error) {
	if w.data == nil {
		if w.data, err = runtime.OpenData(w.fault, dir, "job"); err != nil {
			return err
		}
	} else if err = w.data.Reload(); err != nil {
		return err
	}
	cfg := w.Job
	cfg.Job, cfg.Clock = "job", w.clock
	cfg.QueueBatches = 1 + w.rng.IntN(4)
	p := w.Parallelisms[w.rng.IntN(len(w.Parallelisms))]
	w.job, err = runtime.NewJob(w.Graph(p), cfg, w.data)
	return err
}

// forgive reports whether an error comes from a fault that was asked for; the
// disk is well again afterwards.
func (w *world) forgive(err error) bool {
	if !errors.Is(err, vfs.ErrInjected) {
		return false
	}
	w.Failures++
	w.fault.FailFrom(0, 0)
	return true
}

// steps runs the job until it is over (false), or has to start again.
func (w *world) steps() (again bool, err error) {
	idle := 0
	for {
		if w.Steps++; w.Steps > w.MaxSteps {
			return false, fmt.Errorf("the job is not over after %d steps", w.MaxSteps)
		}
		if w.crashes[w.Steps] || w.CrashEvery > 0 && w.rng.IntN(w.CrashEvery) == 0 {
			return true, w.crash()
		}
		if w.CheckpointEvery > 0 && w.rng.IntN(w.CheckpointEvery) == 0 {
			w.job.TriggerCheckpoint()
		}
		if w.step() {
			idle = 0
		} else if idle++; idle > 100*w.job.Tasks() {
			return false, errors.New("the job is stuck")
		}
		if err := w.job.Err(); err != nil {
			if !w.forgive(err) {
				return false, err
			}
			return true, w.end()
		}
		if w.job.Over() {
			return false, w.finish()
		}
	}
}

// step lets one party do one thing.
func (w *world) step() (progress bool) {
	n := w.job.Tasks()
	switch i := w.rng.IntN(n + 2); i {
	case n:
		return w.job.StepControl()
	case n + 1:
		w.clock.Set(w.clock.Now() + int64(w.rng.IntN(50)))
		return false
	default:
		return w.job.StepTask(i) == runtime.Progress
	}
}

// note takes over the job's figures.
func (w *world) note() {
	m := w.job.Metrics()
	w.Checkpoints = m.Checkpoint
	w.Late = 0
	for _, n := range m.Nodes {
		w.Late += n.Counters["late_rows"]
	}
	w.Calls = w.fault.Calls()
}

// end closes a job that has failed.
func (w *world) end() error {
	w.note()
	err := w.job.Close()
	w.job = nil
	if errors.Is(err, vfs.ErrInjected) {
		return nil
	}
	return err
}

// crash loses the process and what the disk had not synced. The old world is
// tidied up afterwards, which nobody sees.
func (w *world) crash() error {
	w.Crashes++
	w.note()
	disk := w.disk.Crash(w.Keep, rand.New(rand.NewPCG(w.Seed, uint64(w.Steps))))
	w.fault.FailFrom(0, 0)
	err := w.drop()
	calls := w.fault.Calls()
	w.disk, w.fault = disk, vfs.NewFaultFS(disk)
	if w.FailAt > calls {
		w.fault.FailFrom(w.FailAt-calls, max(w.FailCount, 1))
	}
	if errors.Is(err, vfs.ErrInjected) {
		return nil
	}
	return err
}

// drop closes everything.
func (w *world) drop() error {
	var errs []error
	if w.job != nil {
		errs = append(errs, w.job.Close())
		w.job = nil
	}
	if w.data != nil {
		errs = append(errs, w.data.Close())
		w.data = nil
	}
	return errors.Join(errs...)
}

func (w *world) finish() error {
	w.note()
	return w.end()
}
