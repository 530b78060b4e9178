package checkpoint

import (
	"fmt"
	"slices"
)

// Config says when checkpoints are taken. Times are in ms.
type Config struct {
	// Interval between the starts of two checkpoints; 0: none but those that
	// are asked for, and the last one.
	Interval int64
	// Timeout after which a checkpoint is given up; 0: never.
	Timeout int64
	// MinPause is the least time between the end of one and the start of the next.
	MinPause int64
	// Retained is the number of checkpoints that are kept, at least 1.
	Retained int
	// Tolerable is how many checkpoints in a row may fail before the job does.
	Tolerable int
}

// Part is what one task has saved for a checkpoint.
type Part struct {
	// Task is the number of the task.
	Task int
	// Nodes are the instances that run in the task.
	Nodes []NodePart
}

// NodePart is what one instance of a node has saved.
type NodePart struct {
	Node string
	// Index is that of the instance among the node's subtasks.
	Index int
	Subtask
	Splits   []Split
	Counters []Counter
}

// Action is what the coordinator wants done. Actions are done in order.
type Action interface{ action() }

// The actions.
type (
	// Inject sends the barrier of a checkpoint into all sources; Last says that
	// they shall send nothing behind it, Savepoint that it is one.
	Inject struct {
		ID              int64
		Last, Savepoint bool
	}
	// Store writes the manifest of a checkpoint; the outcome goes to Stored.
	Store struct {
		ID, Time        int64
		Last, Savepoint bool
		Parts           []*Part
	}
	// Commit tells the sinks that a checkpoint is durable.
	Commit struct {
		ID              int64
		Last, Savepoint bool
	}
	// Discard removes a checkpoint that is not needed any more.
	Discard struct{ ID int64 }
	// Release forgets the files of a part that belongs to no checkpoint.
	Release struct{ Part *Part }
	// Failed says that a checkpoint was given up, and the job goes on.
	Failed struct{ Err *Failure }
	// Fail ends this run of the job.
	Fail struct{ Err *Failure }
)

func (Inject) action()  {}
func (Store) action()   {}
func (Commit) action()  {}
func (Discard) action() {}
func (Release) action() {}
func (Failed) action()  {}
func (Fail) action()    {}

// Coordinator decides when checkpoints begin, are complete, and are given up.
// It is told what happens, with the time at which it does, and answers with
// actions. One checkpoint is under way at a time.
type Coordinator struct {
	// Where tells how far tasks have come that have not answered to a checkpoint:
	// those first that the others wait for, and at least one.
	Where func(id int64, silent []int) []Blame

	cfg Config
	// tasks are the names of all tasks, for messages.
	tasks []string
	// last is the number of the newest checkpoint, begun or done.
	last     int64
	retained []int64
	now      *attempt
	// next is when the next periodic checkpoint may begin.
	next     int64
	failures int
	// late is the last checkpoint that was given up, while owed answers to such
	// ones are still to come: their barriers are under way. A task that takes
	// long for each would otherwise get one after the other and do nothing else.
	late *attempt
	owed int
	// wanted is set while a savepoint waits for the checkpoint under way, asked
	// while a checkpoint does that somebody has asked for.
	wanted, asked bool
	// quiet is set when the next checkpoint shall be the last one.
	quiet bool
	// closing is set when the last checkpoint is wanted, closed when it has begun.
	closing, closed bool
}

// attempt is a checkpoint under way.
type attempt struct {
	id, begun       int64
	last, savepoint bool
	parts           []*Part
	missing         int
	storing         bool
}

// New returns the coordinator of a job with the given tasks. last is the number
// of the newest checkpoint of earlier runs, retained are those that are kept
// from them until newer ones push them out, ascending.
func New(cfg Config, tasks []string, last int64, retained []int64, now int64) *Coordinator {
	return &Coordinator{cfg: cfg, tasks: tasks, last: last, retained: slices.Clone(retained), next: now + cfg.Interval}
}

// Due returns the time at which Tick has something to do; false if never, as
// far as is known.
func (c *Coordinator) Due() (at int64, ok bool) {
	switch {
	case c.now == nil && (c.cfg.Interval <= 0 || c.closed || c.quiet):
		return 0, false
	case c.now == nil && c.owed > 0:
		return c.next + c.cfg.Timeout, c.cfg.Timeout > 0
	case c.now == nil:
		return c.next, true
	case c.expires():
		return c.now.begun + c.cfg.Timeout, true
	}
	return 0, false
}

// expires reports whether the checkpoint under way may be given up. The last
// one may not: its barrier cannot be sent a second time.
func (c *Coordinator) expires() bool {
	return c.cfg.Timeout > 0 && !c.now.storing && !c.now.last
}

// Tick begins a periodic checkpoint or gives up one that takes too long.
func (c *Coordinator) Tick(now int64) []Action {
	at, ok := c.Due()
	if !ok || now < at {
		return nil
	}
	switch {
	case c.now == nil && c.owed > 0:
		c.next = now
		return c.failed(c.late, c.overdue(c.late, fmt.Errorf("no other one could begin for %d ms, since its barrier is still under way", c.cfg.Timeout)))
	case c.now == nil:
		return c.begin(now)
	}
	return c.giveUp(now, c.overdue(c.now, fmt.Errorf("it took longer than %d ms", c.cfg.Timeout)), c.now.missing)
}

// Trigger begins a checkpoint now and returns its number, or 0 if one is under
// way or the job is about to end.
func (c *Coordinator) Trigger(now int64) (id int64, _ []Action) {
	if c.now != nil || c.closing || c.quiet {
		return 0, nil
	}
	actions := c.begin(now)
	return c.now.id, actions
}

// Savepoint asks for a savepoint: a checkpoint that stays until it is deleted.
// It begins as soon as none is under way, and is the last one if the job ends
// before that. Those who ask before it begins share it. ok is false if the last
// checkpoint has begun already.
func (c *Coordinator) Savepoint(now int64) (_ []Action, ok bool) {
	if c.closed {
		return nil, false
	}
	c.wanted = true
	return c.proceed(now), true
}

// Request asks for an ordinary checkpoint, as Savepoint does for one that stays.
func (c *Coordinator) Request(now int64) (_ []Action, ok bool) {
	if c.closed {
		return nil, false
	}
	c.asked = true
	return c.proceed(now), true
}

// Forget drops a checkpoint from those that wait to be pushed out: it was
// deleted. The newest one cannot be, nor can one under way.
func (c *Coordinator) Forget(id int64) {
	c.retained = slices.DeleteFunc(c.retained, func(r int64) bool { return r == id })
}

// Retain makes a savepoint one that newer checkpoints push out.
func (c *Coordinator) Retain(id int64) {
	if i, found := slices.BinarySearch(c.retained, id); !found {
		c.retained = slices.Insert(c.retained, i, id)
	}
}

// Quiet says that no checkpoint shall begin any more but the last one: the job
// is on its way to an end that it cannot turn back from.
func (c *Coordinator) Quiet() { c.quiet = true }

// Close begins the last checkpoint of the run, as soon as none is under way:
// all input has ended, or the job is to stop. It is a savepoint if one is
// wanted; ok is false if that comes too late.
func (c *Coordinator) Close(now int64, savepoint bool) (_ []Action, ok bool) {
	if c.closed {
		return nil, !savepoint
	}
	c.closing = true
	c.wanted = c.wanted || savepoint
	return c.proceed(now), true
}

// proceed begins what waits for the checkpoint under way.
func (c *Coordinator) proceed(now int64) []Action {
	if c.now != nil || c.closed || !c.closing && (!c.wanted && !c.asked || c.quiet) {
		return nil
	}
	return c.begin(now)
}

// begin begins a checkpoint, which is the last one if that is wanted.
func (c *Coordinator) begin(now int64) []Action {
	c.last++
	c.now = &attempt{
		id: c.last, begun: now, last: c.closing, savepoint: c.wanted, parts: make([]*Part, len(c.tasks)), missing: len(c.tasks),
	}
	c.next = now + c.cfg.Interval
	c.closed, c.wanted, c.asked = c.closing, false, false
	return []Action{Inject{ID: c.last, Last: c.now.last, Savepoint: c.now.savepoint}}
}

// Ack takes in the part of one task.
func (c *Coordinator) Ack(now, id int64, p *Part) []Action {
	a := c.now
	switch {
	case a == nil || a.id != id:
		c.answered(id, p.Task, p)
		return []Action{Release{p}}
	case a.parts[p.Task] != nil:
		return []Action{Release{p}}
	}
	a.parts[p.Task] = p
	if a.missing--; a.missing > 0 {
		return nil
	}
	a.storing = true
	return []Action{Store{ID: id, Time: a.begun, Last: a.last, Savepoint: a.savepoint, Parts: a.parts}}
}

// Decline takes in that a task could not save its part, and why: the error says
// which phase and which operator are to blame.
func (c *Coordinator) Decline(now, id int64, task int, why *Failure) []Action {
	if c.now == nil || c.now.id != id {
		c.answered(id, task, &Part{Task: task})
		return nil
	}
	why.Task = c.tasks[task]
	return c.giveUp(now, why, c.now.missing-1)
}

// answered takes in an answer to a checkpoint that was given up.
func (c *Coordinator) answered(id int64, task int, p *Part) {
	if c.owed--; c.late != nil && c.late.id == id {
		c.late.parts[task] = p
	}
}

// Stored takes in whether the manifest is durable. If that is not certain, the
// run ends: only the next start can see which checkpoint is the newest.
func (c *Coordinator) Stored(now, id int64, err error) []Action {
	a := c.now
	if err != nil {
		return []Action{Fail{&Failure{ID: id, Blame: Blame{Phase: PhaseCommit}, Err: err}}}
	}
	c.now, c.failures = nil, 0
	c.next = max(c.next, now+c.cfg.MinPause)
	if !a.savepoint {
		c.retained = append(c.retained, id)
	}
	actions := []Action{Commit{ID: id, Last: a.last, Savepoint: a.savepoint}}
	for len(c.retained) > max(c.cfg.Retained, 1) {
		actions = append(actions, Discard{c.retained[0]})
		c.retained = c.retained[1:]
	}
	return append(actions, c.proceed(now)...)
}

// giveUp ends the checkpoint under way, to which so many answers are to come.
func (c *Coordinator) giveUp(now int64, why *Failure, owed int) []Action {
	a := c.now
	var actions []Action
	for _, p := range a.parts {
		if p != nil {
			actions = append(actions, Release{p})
		}
	}
	c.now, c.late = nil, a
	c.owed += owed
	c.next = max(c.next, now+c.cfg.MinPause)
	actions = append(actions, c.failed(a, why)...)
	if _, over := actions[len(actions)-1].(Fail); over {
		return actions
	}
	return append(actions, c.proceed(now)...)
}

// failed counts a failure of a checkpoint.
func (c *Coordinator) failed(a *attempt, why *Failure) []Action {
	why.ID = a.id
	if c.failures++; c.failures > c.cfg.Tolerable || a.last {
		return []Action{Fail{why}}
	}
	return []Action{Failed{why}}
}

// overdue blames the tasks that have not answered in time.
func (c *Coordinator) overdue(a *attempt, err error) *Failure {
	var silent []int
	for i, p := range a.parts {
		if p == nil {
			silent = append(silent, i)
		}
	}
	blames := c.Where(a.id, silent)
	return &Failure{Blame: blames[0], Others: blames[1:], Err: err}
}
