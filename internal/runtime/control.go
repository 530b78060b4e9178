package runtime

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/millstream-io/millstream/internal/checkpoint"
)

// control is the part of a job that is outside of the data: it tells the
// coordinator what happens and does what that wants.
type control struct {
	job   *Job
	coord *checkpoint.Coordinator
	// readers is the number of source tasks whose input has not ended.
	readers int
	// finished is set when all input has ended, drained if that is only because
	// the job was told so.
	finished, drained atomic.Bool
	saving            savepoints
	stopping          stopWatch

	mu      sync.Mutex
	notices []notice
	// deaf is set when nothing looks at notices any more.
	deaf  bool
	sleep chan struct{}
}

// notice is something that happened in the job.
type notice struct {
	kind  noticeKind
	id    int64
	task  int
	part  *checkpoint.Part
	snaps []nodeSnapshot
	err   *checkpoint.Failure
	ask   *ask
}

type noticeKind uint8

const (
	// noticeSaved: a task has passed barrier id; snaps are still to be written.
	noticeSaved noticeKind = iota
	// noticeWritten: all of a task's part is in files.
	noticeWritten
	// noticeSourceEnded: the input of one source task has ended.
	noticeSourceEnded
	// noticeStop: the job shall stop behind one more checkpoint.
	noticeStop
	// noticeAsk: somebody wants a savepoint, or something done with one.
	noticeAsk
	// noticePublished: a sink has published what belongs to checkpoint id.
	noticePublished
)

// start makes the coordinator, behind the checkpoints that are kept.
func (c *control) start(from *checkpoint.Manifest) {
	j := c.job
	c.sleep = make(chan struct{}, 1)
	names := make([]string, len(j.tasks))
	for i, t := range j.tasks {
		names[i] = t.name
		if t.reader != nil {
			c.readers++
		}
	}
	var last int64
	var retained []int64
	cfg := j.cfg.Checkpoint
	if j.data != nil {
		retained = j.data.dir.Ordinary()
	} else {
		// There is nothing to go back to, so only the last barrier matters,
		// at which sinks finish their work.
		cfg = checkpoint.Config{Retained: 1}
	}
	if from != nil {
		last = from.ID
		j.lastCheckpoint.Store(from.ID)
		j.lastCheckpointTime.Store(from.Time)
	}
	c.coord = checkpoint.New(cfg, names, last, retained, j.cfg.Clock.Now())
	c.coord.Where = j.blames
}

// tell adds a notice, from any goroutine. It reports whether anybody will look
// at it: nobody does once the job is closed.
func (c *control) tell(n notice) bool {
	c.mu.Lock()
	deaf := c.deaf
	if !deaf {
		c.notices = append(c.notices, n)
	}
	c.mu.Unlock()
	select {
	case c.sleep <- struct{}{}:
	default:
	}
	return !deaf
}

func (c *control) next() (notice, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.notices) == 0 {
		return notice{}, false
	}
	n := c.notices[0]
	c.notices = c.notices[1:]
	return n, true
}

// saved is called by a task that has passed a barrier. Its state is written
// elsewhere, so that the task can go on.
func (j *Job) saved(t *task, id int64, part *checkpoint.Part, snaps []nodeSnapshot) {
	n := notice{kind: noticeSaved, id: id, task: t.id, part: part, snaps: snaps}
	switch {
	case len(snaps) == 0:
		n.kind = noticeWritten
	case j.concurrent:
		j.spawn(&j.wg, func() error { j.control.tell(j.writeAside(n)); return nil }, failure)
		return
	}
	j.control.tell(n)
}

// sourceEnded is called by a source task whose input has ended.
func (j *Job) sourceEnded() { j.control.tell(notice{kind: noticeSourceEnded}) }

// Stop makes the job stop behind one more checkpoint: what was read is
// processed and published, and the job can go on from there. It may be called
// from any goroutine.
func (j *Job) Stop() { j.control.tell(notice{kind: noticeStop}) }

// step handles one notice or timer, and reports whether there was any.
func (c *control) step() (progress bool) {
	now := c.job.cfg.Clock.Now()
	n, ok := c.next()
	if !ok && c.stopping.at > 0 && now >= c.stopping.at {
		c.watch(now)
		return true
	}
	if !ok {
		if at, timed := c.coord.Due(); !timed || now < at {
			return false
		}
		c.do(c.coord.Tick(now))
		return true
	}
	switch n.kind {
	case noticeSaved:
		c.tell(c.job.write(n))
	case noticeWritten:
		if n.err != nil {
			c.release(n.part)
			c.do(c.coord.Decline(now, n.id, n.task, n.err))
		} else {
			c.do(c.coord.Ack(now, n.id, n.part))
		}
	case noticeStop:
		if !c.drained.Load() {
			c.close(now)
			if c.stopping.at == 0 {
				c.watch(now)
			}
		}
	case noticeSourceEnded:
		if c.readers--; c.readers == 0 {
			c.finished.Store(true)
			c.close(now)
		}
	case noticeAsk:
		c.answer(now, n.ask)
	case noticePublished:
		c.saving.published(n.id)
	}
	return true
}

// close begins the last checkpoint.
func (c *control) close(now int64) {
	actions, _ := c.coord.Close(now, false)
	c.do(actions)
}

// due is when step has something to do even if nothing happens.
func (c *control) due() int64 {
	due := int64(never)
	if at, ok := c.coord.Due(); ok {
		due = at
	}
	if c.stopping.at > 0 {
		due = min(due, c.stopping.at)
	}
	return due
}

// do carries out actions in order.
func (c *control) do(actions []checkpoint.Action) {
	for len(actions) > 0 {
		a := actions[0]
		actions = actions[1:]
		switch a := a.(type) {
		case checkpoint.Inject:
			c.saving.begin(a.ID, a.Savepoint)
			for _, t := range c.job.tasks {
				if t.reader != nil {
					t.post(letter{kind: letterBarrier, id: a.ID, last: a.Last, savepoint: a.Savepoint})
				}
			}
		case checkpoint.Store:
			err := c.store(a)
			actions = append(c.coord.Stored(c.job.cfg.Clock.Now(), a.ID, err), actions...)
		case checkpoint.Commit:
			c.commit(a)
		case checkpoint.Discard:
			if err := c.job.data.discard(a.ID); err != nil {
				c.job.cfg.Log(fmt.Sprintf("checkpoint %d could not be removed: %v", a.ID, err))
			}
		case checkpoint.Release:
			c.release(a.Part)
		case checkpoint.Failed:
			c.job.failed.add(a.Err, c.job.cfg.Clock.Now())
			c.job.cfg.Log(a.Err.Error())
			c.saving.fail(a.Err.ID, a.Err)
		case checkpoint.Fail:
			c.job.fail(&Error{Err: a.Err})
		}
	}
}

// commit tells the sinks that a checkpoint is durable.
func (c *control) commit(a checkpoint.Commit) {
	sinks := 0
	for _, t := range c.job.tasks {
		if t.sink != nil {
			sinks++
			t.post(letter{kind: letterCommitted, id: a.ID, last: a.Last, savepoint: a.Savepoint})
		}
	}
	c.saving.commit(a.ID, sinks, func(id int64, readers int) { c.job.data.holds.hold(id, readers) })
}

// store makes a manifest of the parts and commits it.
func (c *control) store(a checkpoint.Store) error {
	j := c.job
	if j.data == nil {
		return nil
	}
	m := &checkpoint.Manifest{
		Job: j.cfg.Job, JobID: j.data.meta.ID, ID: a.ID, Incarnation: j.data.meta.Incarnation, Time: a.Time,
		Plan: j.graph.Fingerprint(), Savepoint: a.Savepoint,
	}
	if a.Last && c.finished.Load() {
		m.Drained = c.drained.Load()
		m.Finished = !m.Drained
	}
	for _, n := range j.graph.Nodes {
		m.Nodes = append(m.Nodes, checkpoint.Node{ID: n.ID, Name: n.Name, Keeps: n.Keeps, Subtasks: make([]checkpoint.Subtask, n.Parallelism)})
	}
	m.Add(a.Parts)
	if err := j.data.dir.Put(m); err != nil {
		return err
	}
	j.lastCheckpoint.Store(m.ID)
	j.lastCheckpointTime.Store(m.Time)
	return nil
}

// release gives up the files of a part that no checkpoint takes.
func (c *control) release(p *checkpoint.Part) {
	if c.job.data == nil {
		return
	}
	var errs []error
	for _, n := range p.Nodes {
		if n.State == nil {
			continue
		}
		for _, f := range n.State.Files {
			errs = append(errs, c.job.data.dir.Release(f))
		}
	}
	if err := errors.Join(errs...); err != nil {
		c.job.cfg.Log(fmt.Sprintf("state files of a failed checkpoint could not be removed: %v", err))
	}
}
