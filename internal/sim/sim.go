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
	"slices"

	"github.com/millstream-io/millstream/internal/checkpoint"
	"github.com/millstream-io/millstream/internal/clock"
	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/runtime"
	"github.com/millstream-io/millstream/internal/vfs"
)

// Config describes a simulation.
type Config struct {
	Seed uint64
	// Graph makes the job anew for each start. Sources and sinks outlive the
	// job; they stand for the world outside, as the file system does to which
	// connectors may write.
	Graph func(fsys vfs.FS, parallelism int) (*graph.Graph, error)
	// Parallelisms are those to choose from at each start.
	Parallelisms []int
	// CrashAt are numbers of steps (counted over all starts) at which the
	// process crashes; CrashEvery crashes once in so many steps on average.
	CrashAt    []int
	CrashEvery int
	// RestartAt are numbers of steps at which the job ends like one that has
	// failed by itself, and starts again in the same process.
	RestartAt []int
	// Keep is the percentage of what was not synced that survives a crash.
	Keep int
	// FailAt makes the n-th call of the file system of one of the kinds in Fail
	// (by default those that change something) fail, and FailCount of those
	// behind it, all of them if it is below 0 (until the next start).
	FailAt, FailCount int64
	Fail              vfs.Calls
	// CrashAtFail makes the process crash where a call has failed. With a FailCount
	// below 0 that is a crash just before the call.
	CrashAtFail bool
	// Watch is told of each call that may fail, as FaultFS.Watch says.
	Watch func(kind vfs.Calls, path string)
	// Disk is what is there at the beginning; nil is an empty disk.
	Disk *vfs.CrashFS
	// StopAt is the number of the step at which the process crashes for good; 0:
	// never. SaveAt is that of a step at which somebody asks for a savepoint; the
	// process crashes for good when it is complete; or, if SaveStops is set, the job
	// stops with it.
	StopAt, SaveAt int
	SaveStops      bool
	// From is the directory of a savepoint on Disk from which the job begins; it
	// has no checkpoints of its own then.
	From string
	// Done is called with the disk when the job is over or has stopped.
	Done func(disk vfs.CrashFS) error
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
	// Restarts is how often RestartAt has ended the job.
	Restarts int
	// Checkpoints is the number of the last one.
	Checkpoints int64
	// Calls is the number of calls of the file system that may fail, Failed that
	// of those that did.
	Calls, Failed int64
	// Late is the number of late rows that the job has counted.
	Late int64
	// Savepoint is the number of the savepoint that SaveAt has asked for.
	Savepoint int64
}

// The directory of a job's data; that of one which begins from a savepoint.
const (
	Dir   = "/data/job"
	other = "/data/other"
)

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
	// before is the number of calls up to the last crash.
	before int64
	// saved tells the number of the savepoint that was asked for, or 0.
	saved func() (int64, error)
}

// Run runs the simulation until the job is over. An error is a failure of the
// job that does not come from a fault that was asked for, or a stuck job.
func Run(c Config) (Result, error) {
	w := &world{Config: c, rng: rand.New(rand.NewPCG(c.Seed, 1)), disk: vfs.NewCrashFS(), clock: clock.NewManual(1_000_000)}
	if c.Disk != nil {
		w.disk = *c.Disk
	}
	w.mount(c.FailAt)
	err := errors.Join(w.run(), w.drop(), w.syncedFiles())
	w.Failed += w.fault.Failed()
	if err == nil && c.Done != nil {
		err = c.Done(w.disk)
	}
	return w.Result, err
}

// mount puts faults over the disk, the n-th call from now on first.
func (w *world) mount(n int64) {
	kinds := w.Fail
	if kinds == 0 {
		kinds = vfs.Changes
	}
	w.fault = vfs.NewFaultFSOf(w.disk, kinds)
	w.fault.Watch(w.Watch)
	if n > 0 {
		w.fault.FailFrom(n, max(w.FailCount, 1))
		if w.FailCount < 0 {
			w.fault.FailFrom(n, -1)
		}
	}
}

func (w *world) run() error {
	for {
		if err := w.start(); err != nil {
			if !w.forgive(err) {
				return err
			}
			if w.CrashAtFail {
				if err := w.crash(); err != nil {
					return err
				}
				continue
			}
			if err := w.synced(); err != nil {
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
	if err := w.syncedFiles(); err != nil {
		return err
	}
	w.fault.ForgetSyncs()
	if w.data != nil {
		err = w.data.Reload()
	} else {
		w.data, err = w.open()
	}
	if err != nil {
		return err
	}
	cfg := w.Job
	if cfg.Job, cfg.Clock = "job", w.clock; w.From != "" {
		cfg.Job = "other"
	}
	cfg.QueueBatches = 1 + w.rng.IntN(4)
	p := w.Parallelisms[w.rng.IntN(len(w.Parallelisms))]
	g, err := w.Graph(w.fault, p)
	if err != nil {
		return err
	}
	w.job, err = runtime.NewJob(g, cfg, w.data)
	return err
}

// open opens the job's directory as a new process does.
func (w *world) open() (*runtime.Data, error) {
	if w.From == "" {
		return runtime.OpenData(w.fault, Dir, "job")
	}
	data, err := runtime.OpenData(w.fault, other, "other")
	if err != nil || data.Latest() != nil {
		return data, err
	}
	if err := data.Close(); err != nil {
		return nil, err
	}
	from, err := checkpoint.FindFile(w.fault, w.From)
	if err != nil {
		return nil, err
	}
	return runtime.Place{FS: w.fault, Path: other}.OpenFrom("other", from, false)
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

// synced reports what was synced again after that had failed, which would take
// lost data for durable.
func (w *world) synced() error { return triedAgain(w.fault.SyncedAgain()) }

// syncedFiles is synced without directories, which have no content to lose: a name
// that has to be durable fails the job.
func (w *world) syncedFiles() error {
	return triedAgain(slices.DeleteFunc(slices.Clone(w.fault.SyncedAgain()), func(name string) bool {
		info, err := w.disk.Stat(name)
		return err == nil && info.IsDir()
	}))
}

func triedAgain(names []string) error {
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("a sync that has failed was tried again: %q", names)
}

// steps runs the job until it is over (false), or has to start again.
func (w *world) steps() (again bool, err error) {
	idle := 0
	for {
		if w.Steps++; w.Steps > w.MaxSteps {
			return false, fmt.Errorf("the job is not over after %d steps", w.MaxSteps)
		}
		if over, err := w.stops(); over || err != nil {
			return false, err
		}
		if slices.Contains(w.RestartAt, w.Steps) {
			w.Restarts++
			return true, w.end()
		}
		if slices.Contains(w.CrashAt, w.Steps) || w.CrashEvery > 0 && w.rng.IntN(w.CrashEvery) == 0 {
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
			if w.CrashAtFail {
				return true, w.crash()
			}
			return true, errors.Join(w.synced(), w.end())
		}
		if w.job.Over() {
			return false, w.finish()
		}
	}
}

// stops ends the simulation where that is asked for.
func (w *world) stops() (over bool, err error) {
	if w.Steps == w.SaveAt {
		w.saved = w.job.TriggerSavepoint(w.SaveStops)
	}
	if w.saved != nil && w.Savepoint == 0 {
		if w.Savepoint, err = w.saved(); err != nil {
			return true, err
		}
	}
	if over = w.Steps == w.StopAt || w.Savepoint > 0 && !w.SaveStops; over {
		err = w.crash()
	}
	return over, err
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
	w.Calls = w.before + w.fault.Calls()
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
	if err := w.syncedFiles(); err != nil {
		return err
	}
	w.fault.FailFrom(0, 0)
	w.before += w.fault.Calls()
	w.Failed += w.fault.Failed()
	w.fault.Watch(nil)
	err := w.drop()
	w.disk = disk
	w.mount(max(w.FailAt-w.before, 0))
	if errors.Is(err, vfs.ErrInjected) {
		return nil
	}
	return err
}

// drop closes everything.
func (w *world) drop() error {
	var errs []error
	w.saved = nil // who has asked is gone
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
	if err := w.end(); err != nil || w.saved == nil || !w.SaveStops {
		return err
	}
	// A savepoint with which the job stops is told when all is over.
	var err error
	w.Savepoint, err = w.saved()
	return err
}
