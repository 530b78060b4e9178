package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/millstream-io/millstream/internal/checkpoint"
)

// savepoints are the savepoints that somebody waits for.
type savepoints struct {
	// asked wait for the barrier of one to be sent, readers for that of any
	// checkpoint.
	asked, readers []*ask
	pending        []*pendingSavepoint
}

// pendingSavepoint is a savepoint whose barrier was sent, or a checkpoint that is
// to be read.
type pendingSavepoint struct {
	id   int64
	asks []*ask
	// read is set if it is to be read. What the sinks do does not matter then.
	read bool
	// committed is set once it is durable; sinks have still to publish then.
	committed bool
	sinks     int
}

// ask is something that a job is asked for from outside. Its outcome is sent
// once, into a channel that has room for it.
type ask struct {
	kind askKind
	id   int64
	done chan outcome
}

type askKind uint8

const (
	// askSavepoint wants a savepoint, askStop one with which the job stops.
	askSavepoint askKind = iota
	askStop
	// askDrain wants the sources to end, and with them the job; askDrainSaved
	// wants the same, with a savepoint at the end.
	askDrain
	askDrainSaved
	// askDelete wants checkpoint id removed, askRetain wants savepoint id to be
	// like any checkpoint.
	askDelete
	askRetain
	// askHold wants a checkpoint now that is held until it is released, askRelease
	// wants those removed that are held no longer.
	askHold
	askRelease
)

// outcome is the number of a savepoint that is durable and published, or why
// there is none.
type outcome struct {
	id  int64
	err error
}

func (s *savepoints) begin(id int64, savepoint bool) {
	if savepoint {
		s.pending = append(s.pending, &pendingSavepoint{id: id, asks: s.asked})
		s.asked = nil
	}
	if len(s.readers) > 0 {
		s.pending = append(s.pending, &pendingSavepoint{id: id, asks: s.readers, read: true})
		s.readers = nil
	}
}

// commit notes that a checkpoint is durable, and holds it for its readers.
func (s *savepoints) commit(id int64, sinks int, hold func(id int64, readers int)) {
	for _, p := range s.pending {
		switch {
		case p.id != id:
		case p.read:
			p.committed = true
			hold(id, len(p.asks))
		default:
			p.committed, p.sinks = true, sinks
		}
	}
	s.settle()
}

// published notes that one more sink has published.
func (s *savepoints) published(id int64) {
	for _, p := range s.pending {
		if p.id == id {
			p.sinks--
		}
	}
	s.settle()
}

// settle answers those whose savepoint is complete.
func (s *savepoints) settle() {
	keep := s.pending[:0]
	for _, p := range s.pending {
		if p.committed && p.sinks == 0 {
			p.tell(outcome{id: p.id})
			continue
		}
		keep = append(keep, p)
	}
	s.pending = keep
}

// fail answers those whose savepoint was given up.
func (s *savepoints) fail(id int64, err error) {
	keep := s.pending[:0]
	for _, p := range s.pending {
		if p.id == id {
			p.tell(outcome{err: err})
			continue
		}
		keep = append(keep, p)
	}
	s.pending = keep
}

func (p *pendingSavepoint) tell(o outcome) {
	for _, a := range p.asks {
		a.done <- o
	}
}

// end answers all that still wait when the job is over. If it has come to its
// end, all that is durable is published.
func (s *savepoints) end(over bool, why error) {
	for _, p := range s.pending {
		if over && p.committed {
			p.tell(outcome{id: p.id})
		} else {
			p.tell(outcome{err: why})
		}
	}
	for _, a := range slices.Concat(s.asked, s.readers) {
		a.done <- outcome{err: why}
	}
	*s = savepoints{}
}

var errKeepsNothing = &checkpoint.RefusedError{Msg: "the job keeps nothing, so there is nothing to save"}

// errEnding says that a request has come too late.
var errEnding = errors.New("the job is about to end; its last checkpoint was begun before the request came")

// answer does what was asked for.
func (c *control) answer(now int64, a *ask) {
	switch a.kind {
	case askSavepoint, askStop:
		c.savepoint(now, a)
	case askDrain, askDrainSaved:
		c.drain(now, a)
	case askDelete:
		err := c.job.data.Delete(a.id)
		if err == nil {
			c.coord.Forget(a.id)
		}
		a.done <- outcome{id: a.id, err: err}
	case askRetain:
		err := c.job.data.dir.Retain(a.id)
		if err == nil {
			c.coord.Retain(a.id)
		}
		a.done <- outcome{id: a.id, err: err}
	case askHold:
		actions, ok := c.coord.Request(now)
		if !ok {
			a.done <- outcome{err: errEnding}
			return
		}
		c.saving.readers = append(c.saving.readers, a)
		c.do(actions)
	case askRelease:
		a.done <- outcome{err: c.job.data.clearHolds(c.coord.Forget)}
	}
}

// savepoint has a savepoint taken. Who asks waits in the list when the barrier
// is sent.
func (c *control) savepoint(now int64, a *ask) {
	var actions []checkpoint.Action
	var ok bool
	if a.kind == askStop {
		actions, ok = c.coord.Close(now, true)
	} else {
		actions, ok = c.coord.Savepoint(now)
	}
	if !ok {
		a.done <- outcome{err: errEnding}
		return
	}
	c.saving.asked = append(c.saving.asked, a)
	c.do(actions)
}

// drain tells the sources that their input has ended; when all have, the job
// takes its last checkpoint.
func (c *control) drain(now int64, a *ask) {
	draining := c.readers > 0 // otherwise the job is about to end by itself
	if draining {
		// A checkpoint on the way there would hold windows that are half closed.
		c.drained.Store(true)
		c.coord.Quiet()
	}
	if a.kind == askDrain {
		a.done <- outcome{}
	} else {
		c.savepoint(now, a)
	}
	for _, t := range c.job.tasks {
		if t.reader != nil && draining {
			t.post(letter{kind: letterDrain})
		}
	}
}

// end answers whoever still waits for something. It is called when no goroutine
// of the job runs any more.
func (c *control) end() {
	c.mu.Lock()
	c.deaf = true
	notices := c.notices
	c.notices = nil
	c.mu.Unlock()
	err := errors.New("the job ended before that was done")
	if failure := c.job.Err(); failure != nil {
		err = fmt.Errorf("the job failed: %w", failure)
	}
	c.saving.end(c.job.Over(), err)
	for _, n := range notices {
		if n.ask != nil {
			n.ask.done <- outcome{err: err}
		}
	}
}

// ErrBetween says that a job that is to be asked does not run just now.
var ErrBetween = errors.New("the job is not running just now: it is starting, or it has failed and waits to be started again; try again")

// ask hands a request to the job and waits for its outcome.
func (r *Runner) ask(ctx context.Context, a *ask) (int64, error) {
	if r.data == nil {
		return 0, errKeepsNothing
	}
	a.done = make(chan outcome, 1)
	if !r.tell(notice{kind: noticeAsk, ask: a}) {
		return 0, ErrBetween
	}
	return a.wait(ctx)
}

// tell gives the job a notice, and reports whether there is one that hears it.
func (r *Runner) tell(n notice) bool {
	r.mu.Lock()
	j := r.job
	r.mu.Unlock()
	return j != nil && j.control.tell(n)
}

func (a *ask) wait(ctx context.Context) (int64, error) {
	select {
	case o := <-a.done:
		return o.id, o.err
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// Savepoint takes a savepoint and returns its number once it is durable and the
// sinks have published all that belongs to it. It may be called from any
// goroutine, as may the methods below.
func (r *Runner) Savepoint(ctx context.Context) (id int64, err error) {
	return r.ask(ctx, &ask{kind: askSavepoint})
}

// Delete removes a checkpoint.
func (r *Runner) Delete(ctx context.Context, id int64) error {
	_, err := r.ask(ctx, &ask{kind: askDelete, id: id})
	return err
}

// Retain makes a savepoint a checkpoint like others, which newer ones push out.
func (r *Runner) Retain(ctx context.Context, id int64) error {
	_, err := r.ask(ctx, &ask{kind: askRetain, id: id})
	return err
}

// Hold takes a checkpoint and returns its number once it is durable. It is not
// removed until Release is called as often as Hold has returned its number, or the
// process has ended.
func (r *Runner) Hold(ctx context.Context) (id int64, err error) {
	if r.data == nil {
		return 0, errKeepsNothing
	}
	a := &ask{kind: askHold, done: make(chan outcome, 1)}
	if !r.tell(notice{kind: noticeAsk, ask: a}) {
		return 0, ErrBetween
	}
	select {
	case o := <-a.done:
		return o.id, o.err
	case <-ctx.Done():
		go func() { // it may come yet
			if o := <-a.done; o.err == nil {
				_ = r.Release(context.Background(), o.id, "")
			}
		}()
		return 0, context.Cause(ctx)
	}
}

// Release gives a checkpoint up that Hold has returned, and removes it if newer
// ones have pushed it out. reader is the directory of who has read it (see
// checkpoint.NewReader), which is removed as well, or empty. If the job does not
// run just now, both happens when it is started again.
func (r *Runner) Release(ctx context.Context, id int64, reader string) error {
	if r.data == nil {
		return errKeepsNothing
	}
	r.data.holds.release(id, reader)
	_, err := r.ask(ctx, &ask{kind: askRelease})
	if errors.Is(err, ErrBetween) {
		return nil
	}
	return err
}

// StopWith is Stop; with savepoint set, the last checkpoint of the job is a
// savepoint, whose number it returns when all is published. With drain set, the
// sources end first, and with them all windows.
func (r *Runner) StopWith(ctx context.Context, savepoint, drain bool) (id int64, err error) {
	a := &ask{kind: askStop, done: make(chan outcome, 1)}
	switch {
	case savepoint && r.data == nil:
		return 0, errKeepsNothing
	case !savepoint && !drain:
		r.Stop()
		return 0, nil
	case drain && savepoint:
		a.kind = askDrainSaved
	case drain:
		a.kind = askDrain
	}
	if !r.tell(notice{kind: noticeAsk, ask: a}) {
		return 0, ErrBetween
	}
	r.halt()
	return a.wait(ctx)
}
