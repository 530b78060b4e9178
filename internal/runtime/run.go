package runtime

import (
	"context"
	"time"
)

// Run runs the job on goroutines until it is over, fails, or ctx ends. It
// closes the job.
func (j *Job) Run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, j.cancel)
	defer stop()
	j.start()
	select {
	case <-j.over:
	case <-j.ctx.Done():
	}
	err := j.Close()
	switch {
	case j.Err() != nil:
		return j.Err()
	case !j.Over():
		return context.Cause(ctx)
	}
	return err
}

// start starts the job's goroutines. A question that comes before is answered on
// the goroutine that asks it, so none may be under way.
func (j *Job) start() {
	j.inspecting.Lock()
	defer j.inspecting.Unlock()
	j.concurrent = true
	if j.data != nil {
		j.spawn(&j.wg, j.data.tidy, failure)
	}
	if files := j.taken(); len(files) > 0 {
		j.spawn(&j.wg, func() error { return j.verify(files) }, failure)
	}
	for _, t := range j.tasks {
		j.spawn(&j.wg, func() error { t.loop(); return nil }, failure)
	}
	for _, d := range j.sources {
		if d.due != never {
			j.spawn(&j.wg, d.loop, d.failure)
		}
	}
	j.spawn(&j.wg, func() error { j.control.loop(); return nil }, failure)
}

// loop steps a task until it is done.
func (t *task) loop() {
	s := newSleeper(t.job.ctx, t.sleep)
	defer t.over.Store(true)
	for t.job.ctx.Err() == nil {
		switch t.step() {
		case Progress:
		case Done, Failed:
			return
		default:
			s.until(t.due(), t.job.cfg.Clock.Now)
		}
	}
}

// loop does what the coordinator wants until the job ends.
func (c *control) loop() {
	s := newSleeper(c.job.ctx, c.sleep)
	for c.job.ctx.Err() == nil {
		if !c.step() {
			s.until(c.due(), c.job.cfg.Clock.Now)
		}
	}
}

// loop looks for new splits until the job ends.
func (d *discovery) loop() error {
	s := newSleeper(d.job.ctx, nil)
	for d.job.ctx.Err() == nil {
		if d.job.cfg.Clock.Now() < d.due {
			s.until(d.due, d.job.cfg.Clock.Now)
			continue
		}
		if err := d.again(); err != nil {
			return err
		}
	}
	return nil
}

// sleeper waits for a wake-up, a time, or the end of the job.
type sleeper struct {
	ctx   context.Context
	wake  <-chan struct{}
	timer *time.Timer
}

func newSleeper(ctx context.Context, wake <-chan struct{}) *sleeper {
	return &sleeper{ctx: ctx, wake: wake}
}

func (s *sleeper) until(at int64, now func() int64) {
	var due <-chan time.Time
	if at != never {
		d := time.Duration(max(at-now(), 0)) * time.Millisecond
		if s.timer == nil {
			s.timer = time.NewTimer(d)
		} else {
			s.timer.Reset(d)
		}
		defer s.timer.Stop()
		due = s.timer.C
	}
	select {
	case <-s.wake:
	case <-due:
	case <-s.ctx.Done():
	}
}
