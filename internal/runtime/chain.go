package runtime

import (
	"slices"
	"sync/atomic"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/op"
)

// eventKind says what passes through a chain.
type eventKind uint8

const (
	// evRows is a batch of input in.
	evRows eventKind = iota
	// evWatermark is the watermark n.
	evWatermark
	// evIdle says that the task's inputs became idle, or active again.
	evIdle
	// evBarrier is the barrier of checkpoint n.
	evBarrier
	// evEnd is the end of input in.
	evEnd
	// evFlush says that nothing was there to read for so long that open windows
	// shall be closed.
	evFlush
)

// event is one thing that passes through the stages of a chain in order.
type event struct {
	kind eventKind
	// flag is idle for evIdle, last for evBarrier.
	flag bool
	// savepoint is set for the barrier of one.
	savepoint bool

	in    int
	batch *batch.Batch
	n     int64
}

// tail takes what leaves the last stage of a chain.
type tail interface {
	leave(ev event)
	leaveSide(tag string, b *batch.Batch)
	full() bool
	// passed is called when the rows before a barrier have gone through stage s,
	// and nothing behind it has: the moment of its snapshot.
	passed(s *stage, barrier event) error
	// giving tells that a stage begins to give out what time has let go, or has
	// done so.
	giving(begins bool)
	// givenUp reports whether nobody wants the output any more.
	givenUp() bool
}

// chain is a row of stages that run in one task: what one emits, the next
// handles within the same call.
type chain struct {
	stages []*stage
	tail   tail
	// pending is the number of stages whose operator has more to say to an
	// event (op.Resumer).
	pending int
	// cur is the stage that is at work, for messages; nil between two steps.
	cur atomic.Pointer[stage]
	err *Error
}

// stage is one operator or sink in a chain.
type stage struct {
	chain *chain
	index int
	node  *graph.Node
	ctx   *op.Context
	store *store
	stats *stats
	// rowsIn and rowsOut count rows; stats has them, but for the operators
	// inside of a source.
	rowsIn, rowsOut *atomic.Int64

	op        op.Operator
	watermark op.WatermarkHandler
	timer     op.TimerHandler
	barrier   op.BarrierHandler
	resumer   op.Resumer
	end       op.EndHandler
	waiter    op.Waiter
	// writer is set, and op is not, for a sink.
	writer connector.Writer

	// in is the watermark that the operator has seen, out the one forwarded.
	in, out int64
	// resume is the watermark that a restored operator had seen.
	resume int64
	// open is the number of inputs that have not ended in this run, ended
	// those whose end the operator has seen in this or an earlier one.
	open   int
	ended  []int
	timers timers

	// saidFull is set when the operator was told that the output is full, so
	// that it may have left its event half done.
	saidFull bool
	// half is set while it is; what remains of that event, and all that came
	// since, wait until Resume has finished it.
	half    bool
	after   event
	waiting []event
}

// bind looks once for the optional methods of an operator.
func (s *stage) bind(o op.Operator) {
	s.op = o
	s.watermark, _ = o.(op.WatermarkHandler)
	s.timer, _ = o.(op.TimerHandler)
	s.barrier, _ = o.(op.BarrierHandler)
	s.resumer, _ = o.(op.Resumer)
	s.end, _ = o.(op.EndHandler)
	s.waiter, _ = o.(op.Waiter)
}

// Emit implements op.Output.
func (s *stage) Emit(b *batch.Batch) {
	n := b.Rows()
	if n == 0 || s.chain.err != nil {
		return
	}
	s.rowsOut.Add(int64(n))
	s.chain.deliver(s.index+1, event{kind: evRows, batch: b})
	s.chain.cur.Store(s)
}

// EmitSide implements op.Output.
func (s *stage) EmitSide(tag string, b *batch.Batch) {
	if b.Rows() > 0 && s.chain.err == nil && s.index == len(s.chain.stages)-1 {
		s.chain.tail.leaveSide(tag, b)
	}
}

// Full implements op.Output.
func (s *stage) Full() bool {
	if s.chain.tail.full() || s.chain.tail.givenUp() {
		s.saidFull = true
		return true
	}
	return false
}

// deliver hands an event to stage i, or out of the chain.
func (c *chain) deliver(i int, ev event) {
	switch {
	case c.err != nil:
	case i == len(c.stages):
		c.tail.leave(ev)
	case c.stages[i].half:
		c.stages[i].waiting = append(c.stages[i].waiting, ev)
	default:
		c.stages[i].handle(ev)
	}
}

// fail notes the first error; nothing is delivered after it.
func (c *chain) fail(s *stage, err error) {
	if c.err == nil {
		c.err = &Error{Node: s.node.ID, Name: s.node.Name, Subtask: s.ctx.Subtask, Err: err, speaks: s.writer != nil}
	}
}

// handle calls the operator. Unless that leaves the event half done, the event
// goes on to the next stage.
func (s *stage) handle(ev event) {
	c := s.chain
	if ev.kind == evFlush && !s.closeAll() {
		s.waiting = append(s.waiting, ev)
		return
	}
	c.cur.Store(s)
	s.saidFull = false
	gives := s.resumer != nil && ev.kind != evRows
	if gives {
		c.tail.giving(true)
	}
	if err := s.call(&ev); err != nil {
		c.fail(s, err)
		return
	}
	if s.saidFull && s.resumer != nil {
		s.half, s.after = true, ev
		c.pending++
		return
	}
	if gives {
		c.tail.giving(false)
	}
	s.pass(ev)
}

// closeAll brings the operator's time on until it holds nothing back. It returns
// false if that is half done because the output was full.
func (s *stage) closeAll() bool {
	for s.waiter != nil && s.chain.err == nil {
		next, ok := s.waiter.NextDue()
		if !ok || next <= s.in {
			break
		}
		if s.handle(event{kind: evWatermark, n: next}); s.half {
			return false
		}
	}
	return true
}

func (s *stage) call(ev *event) (err error) {
	switch ev.kind {
	case evRows:
		s.rowsIn.Add(int64(ev.batch.Rows()))
		if s.writer != nil {
			return s.writer.Write(ev.batch)
		}
		return s.op.OnBatch(ev.in, ev.batch, s)
	case evWatermark:
		if ev.n <= s.in {
			ev.n = op.MinWatermark
			return nil
		}
		s.in = ev.n
		s.stats.watermark.Store(ev.n)
		if s.watermark != nil {
			ev.n, err = s.watermark.OnWatermark(ev.n, s)
		}
	case evBarrier:
		if s.barrier != nil {
			return s.barrier.OnBarrier(ev.n, s)
		}
	case evEnd:
		s.open--
		if slices.Contains(s.ended, ev.in) {
			return nil
		}
		s.ended = append(s.ended, ev.in)
		if s.end != nil {
			return s.end.OnEnd(ev.in, s)
		}
	}
	return err
}

// pass sends a handled event on to the next stage.
func (s *stage) pass(ev event) {
	c := s.chain
	switch ev.kind {
	case evRows:
		return
	case evWatermark:
		if ev.n <= s.out {
			return
		}
		s.out = ev.n
	case evBarrier:
		if err := c.tail.passed(s, ev); err != nil {
			c.fail(s, err)
			return
		}
	case evEnd:
		if s.open > 0 {
			return
		}
		ev.in = 0
		// What the operator held back of the watermark has no meaning any more.
		if s.out < op.MaxWatermark {
			s.out = op.MaxWatermark
			c.deliver(s.index+1, event{kind: evWatermark, n: op.MaxWatermark})
		}
	}
	c.deliver(s.index+1, ev)
}

// fire tells a stage that processing-time timers are due.
func (c *chain) fire(s *stage, now int64) {
	c.cur.Store(s)
	s.saidFull = false
	if err := s.timer.OnTimer(now, s); err != nil {
		c.fail(s, err)
		return
	}
	if s.saidFull && s.resumer != nil {
		s.half, s.after = true, event{kind: evRows}
		c.pending++
	}
}

// resume goes on with the last half-done event of the chain: what it makes
// cannot pile up in front of another one.
func (c *chain) resume() {
	i := len(c.stages) - 1
	for !c.stages[i].half {
		i--
	}
	s := c.stages[i]
	c.cur.Store(s)
	more, err := s.resumer.Resume(s)
	if err != nil {
		c.fail(s, err)
		return
	}
	if more {
		return
	}
	s.half = false
	c.pending--
	c.tail.giving(false)
	s.pass(s.after)
	s.after = event{}
	for len(s.waiting) > 0 && !s.half && c.err == nil {
		ev := s.waiting[0]
		s.waiting[0] = event{}
		s.waiting = s.waiting[1:]
		s.handle(ev)
	}
}

// endEvent tells the tables of the chain that what they handed out is void.
func (c *chain) endEvent() {
	for _, s := range c.stages {
		if s.store == nil {
			continue
		}
		if err := s.store.endEvent(); err != nil {
			c.fail(s, err)
			return
		}
	}
}

// advance lets the tables do what a snapshot has left for a time when the task
// has nothing else to do, and reports whether there is more.
func (c *chain) advance() (more bool) {
	for _, s := range c.stages {
		if s.store != nil && s.store.db != nil && s.store.db.Advance() {
			more = true
		}
	}
	return more
}

// asked reports whether the tables should give memory back though the task has
// nothing to do.
func (c *chain) asked() bool {
	for _, s := range c.stages {
		if s.store != nil && s.store.db != nil && s.store.db.Asked() {
			return true
		}
	}
	return false
}
