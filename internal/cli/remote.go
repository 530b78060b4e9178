package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/millstream-io/millstream/internal/blob"
	"github.com/millstream-io/millstream/internal/checkpoint"
	"github.com/millstream-io/millstream/internal/control"
	"github.com/millstream-io/millstream/internal/runtime"
	"github.com/millstream-io/millstream/internal/vfs"
)

// remote does what other processes ask of a job that runs here.
type remote struct {
	runner *runner
	name   string
	job    *runtime.Runner
	// ended is closed when the job has ended, with err.
	ended chan struct{}
	err   error
}

// listen lets other processes reach a job, until the function that it returns
// is called with the job's outcome. A job that cannot be reached runs all the
// same.
func (r *runner) listen(j *job, rr *runtime.Runner) (over func(error)) {
	h := &remote{runner: r, name: j.name, job: rr, ended: make(chan struct{})}
	server, err := control.Listen(r.settings.dataDir(j), h)
	if err != nil {
		fmt.Fprintf(r.screen.err(), "the commands stop and savepoint cannot reach job %s: %v\n", j.name, err)
		return func(error) {}
	}
	return func(err error) {
		h.err = err
		close(h.ended)
		if err := server.Close(); err != nil {
			fmt.Fprintf(r.screen.err(), "job %s: %v\n", j.name, err)
		}
	}
}

// Status implements control.Handler.
func (h *remote) Status() control.Status {
	m := h.job.Metrics()
	s := control.Status{
		Job: h.name, PID: os.Getpid(), Program: version, Checkpoint: m.Checkpoint, CheckpointTime: m.CheckpointTime,
		FailedCheckpoints: m.FailedCheckpoints, Restarts: h.job.Restarts(),
	}
	for _, f := range m.Failures {
		s.Failures = append(s.Failures, control.Failure{
			Checkpoint: f.ID, Time: f.Time, Phase: f.Phase.String(), Operator: f.Operator, Task: f.Task, Error: f.Error(),
		})
	}
	return s
}

// patient calls f again for some seconds if the job is not there just now: it is
// being started.
func (h *remote) patient(f func() error) error {
	for range 200 {
		err := f()
		if !errors.Is(err, runtime.ErrBetween) {
			return err
		}
		select {
		case <-h.ended:
			return err
		case <-time.After(50 * time.Millisecond):
		}
	}
	return runtime.ErrBetween
}

// Savepoint implements control.Handler.
func (h *remote) Savepoint(ctx context.Context) (id int64, err error) {
	err = h.patient(func() (err error) {
		id, err = h.job.Savepoint(ctx)
		return err
	})
	return id, err
}

// Delete implements control.Handler.
func (h *remote) Delete(ctx context.Context, id int64) error {
	return h.patient(func() error { return h.job.Delete(ctx, id) })
}

// Retain implements control.Handler.
func (h *remote) Retain(ctx context.Context, id int64) error {
	return h.patient(func() error { return h.job.Retain(ctx, id) })
}

// Hold implements control.Handler.
func (h *remote) Hold(ctx context.Context, reader string) (id int64, err error) {
	if !checkpoint.IsReader(reader) {
		return 0, &checkpoint.RefusedError{Msg: fmt.Sprintf("%q is not how a reader names its directory", reader)}
	}
	err = h.patient(func() (err error) {
		id, err = h.job.Hold(ctx)
		return err
	})
	return id, err
}

// Release implements control.Handler.
func (h *remote) Release(ctx context.Context, id int64, reader string) error {
	err := h.job.Release(ctx, id, reader)
	if err != nil && ctx.Err() == nil {
		fmt.Fprintf(h.runner.screen.err(), "job %s: checkpoint %d was read, and could not be removed: %v\n", h.name, id, err)
	}
	return err
}

// Stop implements control.Handler. No further job of the script begins, as after
// a signal.
func (h *remote) Stop(ctx context.Context, savepoint, drain bool) (id int64, err error) {
	h.runner.stopped.Store(true)
	h.runner.why.Store(h.job.Why(stopPatience))
	if savepoint || drain {
		err = h.patient(func() (err error) {
			id, err = h.job.StopWith(ctx, savepoint, drain)
			return err
		})
	} else {
		h.job.Stop()
	}
	if errors.Is(err, runtime.ErrBetween) {
		h.runner.stopped.Store(false)
		return 0, err
	}
	<-h.ended
	if h.err != nil {
		return 0, h.err
	}
	return id, err
}

// place is a job as the commands see it that look at it from outside, or a
// directory of checkpoints that belongs to no job here.
type place struct {
	settings *settings
	name     string
	// dir is the job's directory; empty if it is only a store.
	dir     string
	storage runtime.Storage
	// checkpoints has them.
	checkpoints blob.Store
}

// runtime is the place as jobs know it.
func (p *place) runtime() (runtime.Place, error) {
	store, err := p.settings.jobStore(p.storage, p.name)
	return runtime.Place{FS: p.settings.disk(), Path: p.dir, Store: store}, err
}

// elsewhere finds a directory of checkpoints by its location.
func (s *settings) elsewhere(location string) (*place, error) {
	storage, err := s.storage("")
	if err != nil {
		return nil, err
	}
	store, err := blob.Open(location, s.stores(storage))
	if err != nil {
		return nil, err
	}
	p := &place{settings: s, name: location, storage: storage, checkpoints: store}
	if within, err := (runtime.Place{Store: store}).Checkpoints(); err == nil {
		if entries, err := checkpoint.List(within); err == nil && len(entries) > 0 {
			p.checkpoints = within // it is the whole of a job
		}
	}
	return p, nil
}

// place finds the directory of a job, which must exist.
func (s *settings) place(name string) (*place, error) {
	if strings.Contains(name, "://") {
		return s.elsewhere(name)
	}
	p := &place{settings: s, name: name, dir: s.dataDir(&job{name: name})}
	if _, err := s.disk().Stat(p.dir); !vfs.IsNotExist(err) {
		if err == nil {
			err = p.look()
		}
		return p, err
	}
	root := filepath.Dir(p.dir)
	names, err := s.jobs(root)
	if vfs.IsNotExist(err) {
		return nil, fmt.Errorf("there is no job %s: the data directory %s does not exist; name it with --data", name, root)
	}
	have := "no job"
	if len(names) > 0 {
		have = "jobs " + strings.Join(names, ", ")
	}
	return nil, fmt.Errorf("there is no job %s in %s, which has %s; another data directory is named with --data", name, root, have)
}

// jobs are the names of the jobs in a data directory.
func (s *settings) jobs(root string) (names []string, err error) {
	fs := s.disk()
	entries, err := fs.List(root)
	slices.Sort(entries)
	for _, e := range entries {
		info, err := fs.Stat(fs.PathJoin(root, e))
		if n, escaped := url.PathUnescape(e); err == nil && escaped == nil && info.IsDir() {
			names = append(names, n)
		}
	}
	return names, err
}

// look finds out where the job's checkpoints are.
func (p *place) look() (err error) {
	if p.storage, err = p.settings.storage(p.dir); err != nil {
		return err
	}
	at, err := p.runtime()
	if err == nil {
		p.checkpoints, err = at.Checkpoints()
	}
	return err
}

// dial connects to the process that runs the job.
func (p *place) dial(ctx context.Context) (*control.Client, error) {
	if p.dir == "" {
		return nil, &failure{status: statusUsage, err: fmt.Errorf("%s is no job that runs here", p.name)}
	}
	c, err := control.Dial(ctx, p.dir)
	if errors.Is(err, control.ErrNotRunning) {
		return nil, &failure{status: statusRefused, err: fmt.Errorf("job %s is not running", p.name)}
	}
	if err != nil {
		return nil, &failure{status: statusFailed, err: fmt.Errorf("job %s cannot be reached: %w", p.name, err)}
	}
	return c, nil
}

// remoteError gives what a process has answered its exit status.
func (p *place) remoteError(err error) error {
	if err == nil {
		return nil
	}
	status := statusFailed
	var remote *control.RemoteError
	var refused *checkpoint.RefusedError
	if errors.As(err, &remote) && remote.Refused() || errors.As(err, &refused) {
		status = statusRefused
	}
	return &failure{status: status, err: fmt.Errorf("job %s: %w", p.name, err)}
}

// released waits until the process that ran the job has given its directory
// back, so that the job can be started at once. If it takes its time with
// something else, so be it.
func (p *place) released() {
	for range 200 {
		lock, err := vfs.Lock(p.settings.disk(), filepath.Join(p.dir, "lock"))
		if err == nil {
			_ = lock.Close()
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}
