package runtime

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/millstream-io/millstream/internal/checkpoint"
	"github.com/millstream-io/millstream/internal/graph"
)

// Runner runs a graph to its end, through failures: after each it starts a new
// Job from the last checkpoint, until the restart strategy gives up.
type Runner struct {
	graph *graph.Graph
	cfg   Config
	data  *Data

	mu      sync.Mutex
	job     *Job
	stopped bool
	// stop is closed by Stop.
	stop     chan struct{}
	restarts int64
	// failed are the checkpoints that have failed in any attempt.
	failed *failedCheckpoints
}

// NewRunner returns a runner. data is nil for jobs that need nothing durable;
// they are not restarted, since they could only begin again.
func NewRunner(g *graph.Graph, cfg Config, data *Data) *Runner {
	cfg = cfg.Defaults()
	if data == nil {
		cfg.Restart = Restart{}
	}
	return &Runner{graph: g, cfg: cfg, data: data, stop: make(chan struct{}), failed: &failedCheckpoints{}}
}

// Run is NewRunner and Run.
func Run(ctx context.Context, g *graph.Graph, cfg Config, data *Data) error {
	return NewRunner(g, cfg, data).Run(ctx)
}

// Stop makes Run return behind one more checkpoint. It may be called from any
// goroutine, and more than once.
func (r *Runner) Stop() {
	if r.halt() {
		r.tell(notice{kind: noticeStop})
	}
}

// halt makes this attempt the last one; false if that was said before.
func (r *Runner) halt() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return false
	}
	r.stopped = true
	close(r.stop)
	return true
}

// Metrics returns the figures of the current attempt.
func (r *Runner) Metrics() Metrics {
	r.mu.Lock()
	j := r.job
	r.mu.Unlock()
	if j == nil {
		return Metrics{}
	}
	return j.Metrics()
}

// Why tells what the results of the current attempt wait for; nil between two
// attempts.
func (r *Runner) Why(patience time.Duration) *Why {
	r.mu.Lock()
	j := r.job
	r.mu.Unlock()
	if j == nil {
		return nil
	}
	return j.Why(patience)
}

// Restarts returns how often the job was started again after a failure.
func (r *Runner) Restarts() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.restarts
}

// Run runs the job until all input has been processed and published, or Stop
// was called (nil), until it fails for good, or until ctx ends (the cause).
// A job that had finished earlier starts anew.
func (r *Runner) Run(ctx context.Context) error {
	if err := r.prepare(); err != nil {
		return err
	}
	b := backoff{Restart: r.cfg.Restart}
	for {
		began := r.cfg.Clock.Now()
		started, err := r.attempt(ctx)
		if err == nil || ctx.Err() != nil || !started || !retryable(err) {
			return err
		}
		delay, ok := b.next(r.cfg.Clock.Now() - began)
		if !ok {
			return err
		}
		r.cfg.Log(fmt.Sprintf("job %s failed and starts again in %d ms (attempt %d): %v", r.cfg.Job, delay, b.used, err))
		select {
		case <-time.After(time.Duration(delay) * time.Millisecond):
		case <-r.stop:
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		r.mu.Lock()
		r.restarts++
		r.mu.Unlock()
	}
}

// retryable reports whether another attempt may have another outcome.
func retryable(err error) bool {
	var refused *checkpoint.RefusedError
	return !Recurs(err) && !errors.As(err, &refused)
}

// prepare makes a job that has finished start anew, and says where another one
// goes on.
func (r *Runner) prepare() error {
	if r.data == nil {
		return nil
	}
	if r.data.Finished() {
		return r.data.restart()
	}
	if m := r.data.Latest(); m != nil {
		r.cfg.Log(fmt.Sprintf("job %s goes on from checkpoint %d of %s", r.cfg.Job, m.ID,
			time.UnixMilli(m.Time).Format("2006-01-02 15:04:05")))
	}
	return nil
}

// attempt runs the job once. started tells whether it got as far as running:
// what cannot be opened will not open the next time either.
func (r *Runner) attempt(ctx context.Context) (started bool, err error) {
	again := r.Restarts() > 0
	if r.data != nil && again {
		if err := r.data.Reload(); err != nil {
			return true, err
		}
	}
	j, err := NewJob(r.graph, r.cfg, r.data)
	if err != nil {
		return again, err
	}
	j.failed = r.failed
	r.mu.Lock()
	r.job = j
	if r.stopped {
		j.Stop()
	}
	r.mu.Unlock()
	if err := j.Run(ctx); err != nil {
		return true, err
	}
	if r.data != nil && j.Over() && j.Finished() {
		return true, r.data.finish()
	}
	return true, nil
}
