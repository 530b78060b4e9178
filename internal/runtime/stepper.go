package runtime

import (
	"fmt"
	"reflect"
)

// The methods here run a job on the caller's goroutine, one event at a time:
// for test scripts and for the simulator. They must not be mixed with Run.

// Tasks returns the number of tasks.
func (j *Job) Tasks() int { return len(j.tasks) }

// TaskName returns what task i runs.
func (j *Job) TaskName(i int) string { return j.tasks[i].name }

// Stateful returns the packages of the operators that have tables.
func (j *Job) Stateful() []string {
	var out []string
	for _, t := range j.tasks {
		for _, s := range t.chain.stages {
			if s.store == nil || s.store.db == nil {
				continue
			}
			typ := reflect.TypeOf(s.op)
			if typ.Kind() == reflect.Pointer {
				typ = typ.Elem()
			}
			out = append(out, typ.PkgPath())
		}
	}
	return out
}

// StepTask lets task i handle one event.
func (j *Job) StepTask(i int) Status {
	if j.failure.Load() != nil {
		return Failed
	}
	return j.tasks[i].step()
}

// StepControl does one thing outside of the data, if there is any: write a
// snapshot, commit a checkpoint, begin one that is due, look for splits.
func (j *Job) StepControl() (progress bool) {
	defer func() {
		if v := recover(); v != nil {
			j.fail(panicked("", v))
			progress = false
		}
	}()
	if j.failure.Load() != nil {
		return false
	}
	now := j.cfg.Clock.Now()
	for _, d := range j.sources {
		if d.due <= now {
			if err := d.again(); err != nil {
				j.fail(d.failure(err))
			}
			return true
		}
	}
	return j.control.step()
}

// Drain handles events until there is nothing more to do at this time of the
// clock. It returns the job's failure, if it has one.
func (j *Job) Drain() error {
	for {
		progress := j.StepControl()
		for i := range j.tasks {
			for j.StepTask(i) == Progress {
				progress = true
			}
		}
		if err := j.Err(); err != nil || !progress {
			return err
		}
	}
}

// Checkpoint takes a checkpoint, commits it, and handles all events until then.
func (j *Job) Checkpoint() error {
	if err := j.Drain(); err != nil {
		return err
	}
	id := j.TriggerCheckpoint()
	if id == 0 {
		return fmt.Errorf("no checkpoint can be taken: the job is ending")
	}
	if err := j.Drain(); err != nil {
		return err
	}
	if done := j.lastCheckpoint.Load(); j.data != nil && done != id {
		return fmt.Errorf("checkpoint %d did not come to its end", id)
	}
	return nil
}

// TriggerSavepoint asks for a savepoint, with which the job stops if stop is set.
// The result tells its number once it is durable and published; 0 before.
func (j *Job) TriggerSavepoint(stop bool) (saved func() (id int64, err error)) {
	a := &ask{kind: askSavepoint, done: make(chan outcome, 1)}
	if stop {
		a.kind = askStop
	}
	j.control.tell(notice{kind: noticeAsk, ask: a})
	return func() (int64, error) {
		select {
		case o := <-a.done:
			return o.id, o.err
		default:
			return 0, nil
		}
	}
}

// TriggerCheckpoint sends the barrier of a checkpoint and returns its number; 0
// if one is under way or the job is ending.
func (j *Job) TriggerCheckpoint() int64 {
	id, actions := j.control.coord.Trigger(j.cfg.Clock.Now())
	j.control.do(actions)
	return id
}
