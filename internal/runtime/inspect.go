package runtime

import (
	"time"

	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/op"
)

// inspection asks a task what it knows of time. The task answers between two
// events, also when it is blocked.
type inspection struct {
	done   chan struct{}
	report *taskReport
}

// taskReport is what a task knows of time.
type taskReport struct {
	task   *task
	stages []stageReport
	inputs []inputReport
	reader *readerReport
	// wm is the combined watermark of the inputs or splits, idle whether none of
	// them counts.
	wm   int64
	idle bool
	// blocked is since when the task's output has been full, or unset.
	blocked int64
	// now is the processing time of the report.
	now int64
}

// stageReport is what one operator says.
type stageReport struct {
	node *graph.Node
	// in is the watermark that the operator has seen, due the one that it waits
	// for, if waits is set.
	in, due int64
	waits   bool
}

// inputReport is what a task knows of a sender.
type inputReport struct {
	inputTime
	from *task
	// silent is set for a sender that has not spoken.
	silent bool
}

// readerReport is what a reader knows of its splits.
type readerReport struct {
	splits []splitReport
	// queued are the splits that wait for their turn.
	queued []string
	// more is set while further splits may be found.
	more, ended bool
}

// splitReport is the time of an open split.
type splitReport struct {
	inputTime
	id string
	// held is the watermark that the split's rows allow.
	held   int64
	silent int64
	paused bool
}

// answer tells an inspection what the task knows.
func (t *task) answer() {
	if i := t.asked.Swap(nil); i != nil {
		i.report = t.report()
		close(i.done)
	}
}

func (t *task) report() *taskReport {
	r := &taskReport{task: t, blocked: t.blockedSince, now: t.job.cfg.Clock.Now()}
	for _, s := range t.chain.stages {
		sr := stageReport{node: s.node, in: s.in}
		if s.waiter != nil {
			sr.due, sr.waits = s.waiter.NextDue()
		}
		r.stages = append(r.stages, sr)
	}
	c := t.time
	if t.reader != nil {
		c, r.reader = t.reader.time, t.reader.inspect()
	}
	r.wm, r.idle = c.out, c.idle
	for k, in := range t.inputs {
		from, _ := in.ch.from.(*task)
		r.inputs = append(r.inputs, inputReport{inputTime: c.inputs[k], from: from, silent: in.silent})
	}
	return r
}

func (r *reader) inspect() *readerReport {
	out := &readerReport{more: r.more, ended: r.ended}
	for _, s := range r.open {
		t := r.time.inputs[s.input]
		out.splits = append(out.splits, splitReport{inputTime: t, id: s.ID, held: s.held, silent: s.silent, paused: s.paused})
	}
	for _, s := range r.queue {
		out.queued = append(out.queued, s.ID)
	}
	return out
}

// inspect asks all tasks, and waits for their answers as long as it may. The
// report of a task that is busy for longer is nil; so is that of all once the job
// is being closed.
func (j *Job) inspect(patience time.Duration) []*taskReport {
	j.inspecting.Lock()
	defer j.inspecting.Unlock()
	out := make([]*taskReport, len(j.tasks))
	if j.ctx.Err() != nil {
		return out
	}
	asked := make([]*inspection, len(j.tasks))
	for i, t := range j.tasks {
		if !j.concurrent || t.over.Load() {
			out[i] = t.report()
			continue
		}
		asked[i] = &inspection{done: make(chan struct{})}
		t.asked.Store(asked[i])
		t.wake()
	}
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for i, a := range asked {
		if a == nil {
			continue
		}
		select {
		case <-a.done:
			out[i] = a.report
		case <-limit.C:
			limit.Reset(0) // for those behind, which may have answered
		}
	}
	return out
}

// known reports whether a watermark says anything.
func known(wm int64) bool { return wm != op.MinWatermark && wm != op.MaxWatermark }
