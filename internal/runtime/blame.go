package runtime

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/millstream-io/millstream/internal/checkpoint"
)

// barrierTrack is how far a task has come with its newest barrier. The task
// writes it, and who looks for the culprit of a slow checkpoint reads it from
// another goroutine.
type barrierTrack struct {
	// begun is the checkpoint whose barrier has come on all inputs, left that whose
	// barrier was sent on.
	begun, left atomic.Int64
	// stage is the one that the barrier has come to in between.
	stage atomic.Int32
	// blocked is set while the task finds its output full.
	blocked atomic.Bool
	// giving is the number of the output of windows that the task is busy with; 0 if
	// it is not. gave is the last number.
	giving atomic.Int64
	gave   int64
	// writing is what is being made durable of the task's state; nil before.
	writing atomic.Pointer[writing]
}

// writing is the way of an operator's state to where it is durable.
type writing struct {
	checkpoint int64
	operator   string
	phase      checkpoint.Phase
}

// blames tells how far tasks have come that have not answered to a checkpoint.
// Tasks that only wait for another one of them are left out.
func (j *Job) blames(id int64, silent []int) []checkpoint.Blame {
	var out []checkpoint.Blame
	for _, i := range silent {
		if b, ok := j.tasks[i].blame(id); ok && !slices.Contains(out, b) {
			out = append(out, b)
		}
	}
	if len(out) == 0 { // they have all come further just now
		t := j.tasks[silent[0]]
		out = append(out, checkpoint.Blame{Phase: checkpoint.PhaseAlign, Operator: t.operator(0), Task: t.name})
	}
	return out
}

// operator is the ID of the node of a stage; that of the source for a stage
// inside of it.
func (t *task) operator(stage int) string {
	switch {
	case stage < len(t.chain.stages):
		return t.chain.stages[stage].node.ID
	case len(t.chain.stages) > 0:
		return t.chain.stages[len(t.chain.stages)-1].node.ID
	}
	return t.reader.node.ID
}

// atWork is the ID of the node that handles an event just now; the first one of
// the task if none does.
func (t *task) atWork() string {
	switch s := t.chain.cur.Load(); {
	case s != nil:
		return s.node.ID
	case t.reader != nil:
		return t.reader.node.ID
	}
	return t.operator(0)
}

// blame tells how far the task is with a barrier. It returns false if the task
// waits for others that are to be asked too.
func (t *task) blame(id int64) (b checkpoint.Blame, ok bool) {
	k := &t.track
	b.Task = t.name
	switch {
	case k.left.Load() >= id:
		b.Phase, b.Operator = checkpoint.PhaseWrite, t.operator(len(t.chain.stages))
		if w := k.writing.Load(); w != nil && w.checkpoint == id {
			b.Phase, b.Operator = w.phase, w.operator
		}
		return b, true
	case k.begun.Load() >= id:
		b.Phase, b.Operator = checkpoint.PhaseSnapshot, t.operator(int(k.stage.Load()))
		return b, true
	}
	b.Phase = checkpoint.PhaseAlign
	b.Operator = t.atWork()
	if t.reader != nil {
		b.Detail = "the source has not sent the barrier, since the task is busy"
		return t.behind(b), true
	}
	for _, in := range t.inputs {
		if in.barrier.Load() >= id {
			continue
		}
		from := in.ch.from.(*task)
		if from.track.left.Load() >= id {
			b.Detail = fmt.Sprintf("the barrier waits in its input from %s", from.name)
			return t.behind(b), true
		}
	}
	return b, false
}

// behind blames, in place of a task whose output is full, the one that does not
// take what is there.
func (t *task) behind(b checkpoint.Blame) checkpoint.Blame {
	for t.track.blocked.Load() {
		to := t.fullReceiver()
		if to == nil {
			return b // it has room again
		}
		b.Operator, b.Task = to.atWork(), to.name
		b.Detail = fmt.Sprintf("its input from %s is full, behind which the barrier waits", t.name)
		t = to
	}
	return b
}

func (t *task) fullReceiver() *task {
	for _, e := range t.outs {
		for _, c := range e.chans {
			if c.full.Load() {
				return c.to.(*task)
			}
		}
	}
	return nil
}

// blameStage makes an error of a stage that of a checkpoint. A job that keeps
// nothing has none: its only barrier is how sinks learn of the end.
func (t *task) blameStage(s *stage, id int64, phase checkpoint.Phase, err error) error {
	if err == nil || t.job.data == nil {
		return err
	}
	return &checkpoint.Failure{ID: id, Blame: checkpoint.Blame{Phase: phase, Operator: s.node.ID, Task: t.name}, Err: err}
}

// CheckpointFailure is a checkpoint that was given up, for whoever looks at the
// job.
type CheckpointFailure struct {
	*checkpoint.Failure
	// Time is when it was, in ms since the epoch.
	Time int64
}

// maxFailures is how many failed checkpoints are remembered.
const maxFailures = 5

// failedCheckpoints remembers them over the attempts of a runner.
type failedCheckpoints struct {
	mu    sync.Mutex
	count int64
	last  []CheckpointFailure
}

// add notes an error if it is that of a checkpoint.
func (f *failedCheckpoints) add(err error, now int64) {
	var failure *checkpoint.Failure
	if !errors.As(err, &failure) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count++
	f.last = append(f.last, CheckpointFailure{failure, now})
	if len(f.last) > maxFailures {
		f.last = slices.Clone(f.last[1:])
	}
}

// read returns the number of failures and the last ones, the newest behind.
func (f *failedCheckpoints) read() (int64, []CheckpointFailure) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count, slices.Clone(f.last)
}
