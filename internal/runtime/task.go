package runtime

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/internal/checkpoint"
	"github.com/millstream-io/millstream/internal/op"
)

// Status says what a step did.
type Status uint8

const (
	// Progress: an event was handled; there may be more.
	Progress Status = iota
	// Idle: there is nothing to do until the task is woken or a timer is due.
	Idle
	// Blocked: a receiver has no room; the task is woken when it has.
	Blocked
	// Done: the task has nothing to do any more.
	Done
	// Failed: the job has failed.
	Failed
)

// String returns the name of the status.
func (s Status) String() string {
	return [...]string{"progress", "idle", "blocked", "done", "failed"}[s]
}

const (
	// never is a time that does not come.
	never = 1<<63 - 1
	// unset is no time at all.
	unset = -1 << 63
)

// task runs one subtask of a chain. It is a state machine: step handles one
// event and never waits. All methods but wake and post are called from one
// goroutine at a time.
type task struct {
	job     *Job
	id      int
	name    string
	subtask int
	chain   chain
	// reader is set for the tasks of sources, inputs for all others.
	reader *reader
	inputs []*input
	// open[i] is the number of channels of edge i that have not ended.
	open []int
	outs []*outEdge
	// sink is the last stage if it is one.
	sink *stage

	// time combines the time of the inputs. (A reader has its own.)
	time *combiner
	// outTime and outIdle are what was sent on last.
	outTime int64
	outIdle bool

	// turn is the input to look at first.
	turn int
	// aligned is the number of inputs that stand at barrier.
	aligned int
	barrier int64
	// part collects what the task saves for the barrier under way, snaps the
	// state that has still to be written.
	part  *checkpoint.Part
	snaps []nodeSnapshot
	// timer is the earliest time that an operator wants to be called at.
	timer int64

	track barrierTrack

	started, done bool
	// spoken is set once the task has told its receivers its time, which is the
	// first thing that it tells them.
	spoken bool
	// blockedSince is when the task found its output full, or unset.
	blockedSince int64
	// now is the processing time of this step, or unset.
	now   int64
	mail  mailbox
	sleep chan struct{}
	// asked is a question that the task has not answered yet, over is set when
	// nothing steps it any more.
	asked atomic.Pointer[inspection]
	over  atomic.Bool
}

// input is the receiving end of one channel.
type input struct {
	ch   *channel
	edge int
	// aligned is set while the input stands at a barrier and is not read.
	aligned bool
	// silent is set until the sender has told its time, which is the first thing
	// that it sends.
	silent bool
	// flushed is set from an itemFlush until rows come.
	flushed bool
	// barrier is the newest checkpoint whose barrier has come.
	barrier atomic.Int64
}

// letter is a message from the job to a task, outside of the data.
type letter struct {
	kind letterKind
	id   int64
	last bool
	// savepoint is that of a barrier or a commit.
	savepoint bool
	splits    []*split
}

type letterKind uint8

const (
	// letterBarrier tells a source to send a barrier.
	letterBarrier letterKind = iota
	// letterCommitted tells a sink that a checkpoint is durable.
	letterCommitted
	// letterSplits brings new splits to a source; last: there will be no more.
	letterSplits
	// letterDrain tells a source that its input has ended.
	letterDrain
)

// mailbox holds the letters that a task has not read.
type mailbox struct {
	count   atomic.Int32
	mu      sync.Mutex
	letters []letter
}

// post adds a letter and wakes the task.
func (t *task) post(l letter) {
	t.mail.mu.Lock()
	t.mail.letters = append(t.mail.letters, l)
	t.mail.count.Store(int32(len(t.mail.letters)))
	t.mail.mu.Unlock()
	t.wake()
}

func (m *mailbox) take() (letter, bool) {
	if m.count.Load() == 0 {
		return letter{}, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.letters[0]
	m.letters = m.letters[1:]
	m.count.Store(int32(len(m.letters)))
	return l, true
}

// wake implements wakeable.
func (t *task) wake() {
	select {
	case t.sleep <- struct{}{}:
	default:
	}
}

// clock is the processing time, read once a step.
func (t *task) clock() int64 {
	if t.now == unset {
		t.now = t.job.cfg.Clock.Now()
	}
	return t.now
}

// step handles one event.
func (t *task) step() (status Status) {
	defer func() {
		if v := recover(); v != nil {
			t.panicked(v)
			status = Failed
		}
	}()
	t.now = unset
	t.answer()
	status = t.next()
	if t.chain.pending == 0 && t.chain.err == nil && (status == Progress || status == Idle && t.chain.asked()) {
		t.chain.endEvent()
	}
	if (status == Idle || status == Blocked) && t.chain.advance() {
		status = Progress
	}
	t.chain.cur.Store(nil)
	if t.chain.err != nil {
		t.job.fail(t.chain.err)
		return Failed
	}
	return status
}

func (t *task) panicked(v any) {
	err := panicked(t.name, v)
	if s := t.chain.cur.Load(); s != nil {
		err.Node, err.Name = s.node.ID, s.node.Name
	} else if t.reader != nil {
		err.Node, err.Name = t.reader.node.ID, t.reader.node.Name
	}
	err.Subtask = t.subtask
	t.chain.err = err
	t.job.fail(err)
}

// next finds the event that comes first and handles it.
func (t *task) next() Status {
	switch {
	case t.done:
		return Done
	case t.chain.err != nil:
		return Failed
	case t.full():
		if t.blockedSince == unset {
			t.blockedSince = t.clock()
			t.track.blocked.Store(true)
		}
		return Blocked
	}
	if t.blockedSince != unset {
		t.unblocked()
	}
	switch {
	case !t.started:
		t.start()
		return Progress
	case t.chain.pending > 0:
		t.chain.resume()
		return Progress
	}
	if l, ok := t.mail.take(); ok {
		t.read(l)
		return Progress
	}
	if t.timer != never && t.timer <= t.clock() {
		t.fire()
		return Progress
	}
	if t.reader != nil {
		return t.reader.step()
	}
	return t.receive()
}

// due returns the time at which the task wants to be stepped if nothing wakes
// it earlier.
func (t *task) due() int64 {
	if t.done || t.blockedSince != unset {
		return never
	}
	if t.reader != nil {
		return min(t.timer, t.reader.due())
	}
	return t.timer
}

// unblocked takes the time that the task was blocked out of the idleness of
// its splits: who could not be asked was not silent.
func (t *task) unblocked() {
	since := t.blockedSince
	t.blockedSince = unset
	t.track.blocked.Store(false)
	if t.reader != nil {
		t.reader.pause(t.clock() - since)
	}
}

// start is the first event: a restored task tells its operators the time at
// which it goes on.
func (t *task) start() {
	t.started = true
	if !t.job.restored {
		return
	}
	for i, s := range t.chain.stages {
		if s.resume > op.MinWatermark {
			t.chain.deliver(i, event{kind: evWatermark, n: s.resume})
		}
	}
	if t.reader != nil {
		t.reader.start()
	}
}

// speak tells the receivers the time for the first time: when a reader has its
// splits, or has nothing to read, and when all senders of another task have
// spoken. Receivers handle no rows until then, so that it does not depend on who
// is the first to speak which of them are late.
func (t *task) speak() {
	if !t.spoken {
		t.spoken = true
		t.sendTime()
	}
}

// read does what a letter says.
func (t *task) read(l letter) {
	switch l.kind {
	case letterBarrier:
		t.begin(l.id, l.last, l.savepoint)
	case letterDrain:
		t.reader.drain()
	case letterSplits:
		t.reader.assign(l.splits, l.last)
	case letterCommitted:
		t.chain.cur.Store(t.sink)
		if err := t.sink.writer.Committed(l.id); err != nil {
			t.chain.fail(t.sink, t.blameStage(t.sink, l.id, checkpoint.PhaseCommit, err))
			return
		}
		if l.savepoint {
			t.job.control.tell(notice{kind: noticePublished, id: l.id})
		}
		if l.last {
			t.done = true
			t.job.ended(t)
		}
	}
}

// at asks for a call of a stage's timer at a time.
func (t *task) at(s *stage, ms int64) {
	s.timers.add(ms)
	t.timer = min(t.timer, ms)
}

func (t *task) fire() {
	now := t.clock()
	for _, s := range t.chain.stages {
		if s.timer != nil && s.timers.pop(now) && t.chain.err == nil {
			t.chain.fire(s, now)
		}
	}
	t.timer = never
	for _, s := range t.chain.stages {
		if ms, ok := s.timers.next(); ok {
			t.timer = min(t.timer, ms)
		}
	}
}

// receive takes one item from the inputs in turn.
func (t *task) receive() Status {
	for i := range t.inputs {
		k := t.turn + i
		if k >= len(t.inputs) {
			k -= len(t.inputs)
		}
		in := t.inputs[k]
		// Rows that come before all senders have spoken would be measured by a
		// time that stands still, and might pass although they are late.
		if in.aligned || t.time.hold > 0 && !in.silent {
			continue
		}
		if it, ok := in.ch.take(t.clock()); ok {
			t.turn = k + 1
			if t.turn == len(t.inputs) {
				t.turn = 0
			}
			t.handle(k, in, it)
			return Progress
		}
	}
	return t.rest()
}

// rest sends what was collected, since nothing is there to fill it up with.
func (t *task) rest() Status {
	for _, e := range t.outs {
		e.flush()
	}
	return Idle
}

func (t *task) handle(k int, in *input, it item) {
	switch it.kind {
	case itemRows:
		in.flushed = false
		t.chain.deliver(0, event{kind: evRows, in: in.edge, batch: it.batch})
	case itemTime:
		if in.silent {
			in.silent = false
			t.time.announce(k, it.n, it.idle)
		} else {
			t.time.set(k, it.n, it.idle)
		}
		t.retime(t.time)
		if t.time.hold == 0 {
			t.speak()
		}
	case itemBarrier:
		t.align(in, it)
	case itemEnd:
		t.time.end(k)
		t.retime(t.time)
		if t.open[in.edge]--; t.open[in.edge] == 0 {
			t.chain.deliver(0, event{kind: evEnd, in: in.edge})
		}
		t.flush()
	case itemFlush:
		in.flushed = true
		t.flush()
	}
}

// flush lets a flush pass once all inputs that have not ended are silent.
func (t *task) flush() {
	some := false
	for k, in := range t.inputs {
		if !in.flushed && !t.time.inputs[k].ended {
			return
		}
		some = some || in.flushed
	}
	if some {
		t.chain.deliver(0, event{kind: evFlush})
	}
}

// retime lets a change of the combined time pass through the chain.
func (t *task) retime(c *combiner) {
	wm, idle := c.out, c.idle
	if !c.combine() {
		return
	}
	if c.out != wm {
		t.chain.deliver(0, event{kind: evWatermark, n: c.out})
	}
	if c.idle != idle {
		t.chain.deliver(0, event{kind: evIdle, flag: c.idle})
	}
}

// align holds an input at its barrier until all inputs have come to it.
func (t *task) align(in *input, it item) {
	if t.aligned > 0 && it.n != t.barrier {
		panic(fmt.Sprintf("barrier %d beside barrier %d", it.n, t.barrier))
	}
	in.aligned, t.barrier = true, it.n
	in.barrier.Store(it.n)
	if t.aligned++; t.aligned < len(t.inputs) {
		return
	}
	t.aligned = 0
	for _, in := range t.inputs {
		in.aligned = false
	}
	t.begin(it.n, it.last, it.savepoint)
}

// begin lets a barrier pass through the chain.
func (t *task) begin(id int64, last, savepoint bool) {
	t.track.stage.Store(0)
	t.track.begun.Store(id)
	t.part = &checkpoint.Part{Task: t.id}
	if t.reader != nil {
		t.part.Nodes = append(t.part.Nodes, t.reader.save())
		t.reader.stopped = last
	}
	t.chain.deliver(0, event{kind: evBarrier, n: id, flag: last, savepoint: savepoint})
}

// passed implements tail.
func (t *task) passed(s *stage, barrier event) error {
	err := t.saveStage(s, barrier)
	t.track.stage.Store(int32(s.index + 1))
	return t.blameStage(s, barrier.n, checkpoint.PhaseSnapshot, err)
}

// saveStage adds what a stage keeps to the task's part of a checkpoint.
func (t *task) saveStage(s *stage, barrier event) error {
	if s.node.Source != nil {
		return nil // what a source keeps is with its reader
	}
	p := checkpoint.NodePart{Node: s.node.ID, Index: t.subtask, Counters: s.stats.counts()}
	p.Watermark, p.Ended = s.in, slices.Clone(s.ended)
	if s.writer != nil {
		state, err := s.save(barrier)
		if err != nil {
			return err
		}
		p.Sink = state
	}
	t.part.Nodes = append(t.part.Nodes, p)
	if s.store == nil || barrier.flag && !barrier.savepoint && s.open == 0 {
		return nil // an operator that has seen the end of all input needs its tables no more
	}
	// The last barrier is the end of the task, which will have no time later.
	snap, err := s.store.snapshot(barrier.n, t.job.concurrent && !barrier.flag)
	if snap != nil {
		t.snaps = append(t.snaps, nodeSnapshot{snap, len(t.part.Nodes) - 1})
	}
	return err
}

// save lets a writer save what it needs to go on from a barrier.
func (s *stage) save(barrier event) ([]byte, error) {
	if f, ok := s.writer.(connector.Finisher); ok && barrier.savepoint {
		if err := f.Finish(); err != nil {
			return nil, err
		}
	}
	return s.writer.Barrier(barrier.n, barrier.flag)
}

// leave implements tail.
func (t *task) leave(ev event) {
	switch ev.kind {
	case evRows:
		t.speak()
		for _, e := range t.outs {
			if e.side == "" {
				e.send(ev.batch)
			}
		}
	case evWatermark:
		if ev.n > t.outTime {
			t.outTime = ev.n
			t.sendTime()
		}
	case evIdle:
		t.outIdle = ev.flag
		t.sendTime()
	case evEnd:
		t.speak()
		t.broadcast(item{kind: itemEnd})
	case evFlush:
		t.broadcast(item{kind: itemFlush})
	case evBarrier:
		t.broadcast(item{kind: itemBarrier, n: ev.n, last: ev.flag, savepoint: ev.savepoint})
		part, snaps := t.part, t.snaps
		t.part, t.snaps = nil, nil
		if ev.flag && t.sink == nil {
			t.done = true
			t.job.ended(t)
		}
		t.track.left.Store(ev.n)
		t.job.saved(t, ev.n, part, snaps)
	}
}

// sendTime tells the receivers a new time, once the task has spoken.
func (t *task) sendTime() {
	if t.spoken {
		t.broadcast(item{kind: itemTime, n: t.outTime, idle: t.outIdle})
	}
}

func (t *task) broadcast(it item) {
	for _, e := range t.outs {
		e.broadcast(it)
	}
}

// leaveSide implements tail.
func (t *task) leaveSide(tag string, b *batch.Batch) {
	t.speak()
	for _, e := range t.outs {
		if e.side == tag {
			e.send(b)
		}
	}
}

// full implements tail.
func (t *task) full() bool {
	for _, e := range t.outs {
		if e.full() {
			return true
		}
	}
	return false
}
