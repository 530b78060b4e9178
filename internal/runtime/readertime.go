package runtime

import (
	"fmt"
	"slices"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/op"
)

// This file holds how the rows of a reader move its time: the watermarks that
// its splits send, and when it counts as silent.

// emit sends the rows of a chunk on and notes the watermark that they allow.
func (r *reader) emit(s *split, c connector.Chunk) error {
	src := r.node.Source
	if c.HasWatermark && src.SourceWatermark {
		s.held = max(s.held, c.Watermark)
	}
	if rowsOf(c) == 0 {
		return nil
	}
	if s.watermark == nil {
		r.send(c.Batch)
		return nil
	}
	marks, err := s.watermark(c.Batch)
	if err != nil {
		return err
	}
	b, err := r.nullTimes(s, c.Batch, marks.HasTime)
	switch {
	case err != nil || b.Rows() == 0:
		return err
	case src.EachRow && !c.Hold:
		r.sendEach(s, b, marks)
		return nil
	}
	s.held = max(s.held, largest(b, marks))
	r.send(b)
	return nil
}

// largest is the largest watermark that the rows of a batch allow.
func largest(b *batch.Batch, m graph.Marks) int64 {
	if _, most, ok := batch.Range(m.Times, m.Valid, b.Sel, b.Size()); ok {
		return behind(most, m.Behind)
	}
	wm := int64(op.MinWatermark)
	for i := range b.Rows() {
		if p := b.At(i); !m.Valid.IsNull(p) {
			wm = max(wm, behind(m.Times[p], m.Behind))
		}
	}
	return wm
}

// behind is a time less a delay.
func behind(ms, delay int64) int64 {
	if wm := ms - delay; delay < 0 || wm <= ms {
		return wm
	}
	return op.MinWatermark
}

// The counters of rows without event time: those that were left out, and those
// that were sent on.
const (
	nullTimeRows    = "null_time_rows"
	nullTimeSkipped = "null_time_skipped"
)

// nullTimes does with rows without event time what the source says.
func (r *reader) nullTimes(s *split, b *batch.Batch, hasTime batch.Bitmap) (*batch.Batch, error) {
	src := r.node.Source
	if hasTime == nil || src.Nulls == graph.NullPass {
		return b, nil
	}
	sel := make([]int32, 0, b.Rows())
	for i := range b.Rows() {
		if p := b.At(i); !hasTime.IsNull(p) {
			sel = append(sel, int32(p))
		} else if src.Nulls == graph.NullFail {
			return nil, fn.Failf(p, "table %s, %s: column %q, the event time, is NULL; "+
				"SET 'table.exec.source.rowtime-null-handling' = 'DROP' leaves such rows out, 'SKIP_WATERMARK' keeps them", src.Table, s.ID, src.Column)
		}
	}
	nulls := b.Rows() - len(sel)
	if nulls == 0 {
		return b, nil
	}
	where := func() string { return fmt.Sprintf("a row of %s with NULL for column %q", s.ID, src.Column) }
	if src.Nulls == graph.NullSkip {
		r.stats.count(nullTimeSkipped, int64(nulls))
		r.stats.sample(nullTimeSkipped, where)
		return b, nil
	}
	r.stats.count(nullTimeRows, int64(nulls))
	r.stats.sample(nullTimeRows, where)
	return b.WithSel(sel), nil
}

// sendEach sends rows with a watermark behind each one that raises it.
func (r *reader) sendEach(s *split, b *batch.Batch, m graph.Marks) {
	first := 0
	for i := range b.Rows() {
		p := b.At(i)
		wm := behind(m.Times[p], m.Behind)
		if m.Valid.IsNull(p) || wm <= s.held {
			continue
		}
		r.sendRange(b, first, i+1)
		first = i + 1
		s.held, s.ready = wm, wm
		r.advance(s)
	}
	r.sendRange(b, first, b.Rows())
}

// sendRange sends the rows of a batch from one to before another.
func (r *reader) sendRange(b *batch.Batch, from, to int) {
	if from == to {
		return
	}
	sel := make([]int32, 0, to-from)
	for i := from; i < to; i++ {
		sel = append(sel, int32(b.At(i)))
	}
	r.send(b.WithSel(sel))
}

func (r *reader) send(b *batch.Batch) {
	if len(r.node.Source.Ops) == 0 {
		r.stats.out.Add(int64(b.Rows()))
	}
	r.task.chain.deliver(0, event{kind: evRows, batch: b})
}

// advance sends the watermark that a split may send, unless it is not yet time
// for one and no window waits for it.
func (r *reader) advance(s *split) {
	if period := r.node.Source.Period; period > 0 && !s.idle && s.ready > s.wm {
		now := r.task.clock()
		if now < r.emitAt && !r.node.Source.Ends.Between(s.wm, s.ready) {
			return
		}
		r.emitAt = now + period
	}
	s.wm = max(s.wm, s.ready)
	r.time.set(s.input, s.wm, s.idle)
	r.retime()
}

// retime sends the reader's time on where it has changed, and tells it to the
// alignment group.
func (r *reader) retime() {
	r.task.retime(r.time)
	r.stats.watermark.Store(r.time.out)
	r.report()
}

// report tells the alignment group how far the splits have come that are not
// idle. One that was not read yet holds the others back.
func (r *reader) report() {
	if r.member == nil {
		return
	}
	wm := int64(op.MaxWatermark)
	for _, s := range r.open {
		if !s.idle {
			wm = min(wm, s.held)
		}
	}
	r.member.report(wm)
}

// ahead reports whether a split has to wait for its alignment group.
func (r *reader) ahead(s *split) bool {
	if r.member == nil || s.held == op.MinWatermark {
		return false
	}
	if !r.member.ahead(s.held) {
		s.paused = false
		return false
	}
	// It has something to read, so it is not silent.
	s.paused, s.silent = true, unset
	r.lookAt = r.task.clock() + r.node.Source.UpdateInterval
	return true
}

// tick does what is due by the clock when there is nothing to read, and reports
// whether anything was.
func (r *reader) tick() bool {
	moved := r.markIdle()
	if r.overdue() {
		for _, s := range r.open {
			if s.ready > s.wm {
				s.wm, moved = s.ready, true
				r.time.set(s.input, s.wm, s.idle)
			}
		}
		r.emitAt = r.task.clock() + r.node.Source.Period
	}
	if moved {
		r.retime()
	}
	if at, ok := r.flushAt(); ok && at <= r.task.clock() {
		r.flushed = true
		r.task.chain.deliver(0, event{kind: evFlush})
		return true
	}
	return moved
}

// overdue reports whether a watermark waits for the clock, and its time has come.
func (r *reader) overdue() bool {
	return r.node.Source.Period > 0 && r.waits() && r.emitAt <= r.task.clock()
}

// waits reports whether a watermark is ready that was not sent.
func (r *reader) waits() bool {
	return slices.ContainsFunc(r.open, func(s *split) bool { return s.ready > s.wm })
}

// markIdle makes splits idle that were silent for too long.
func (r *reader) markIdle() (marked bool) {
	timeout := r.node.Source.IdleTimeout
	if timeout <= 0 {
		return false
	}
	for _, s := range r.open {
		if s.silent != unset && !s.idle && r.task.clock()-s.silent >= timeout {
			s.wm = max(s.wm, s.ready)
			s.idle, marked = true, true
			r.time.set(s.input, s.wm, true)
		}
	}
	return marked
}

// flushAt returns when the reader will have been silent for so long that open
// windows are closed; false if that will not be.
func (r *reader) flushAt() (int64, bool) {
	after := r.node.Source.FlushAfterIdle
	if after <= 0 || r.flushed || r.ended || r.stopped || len(r.queue) > 0 {
		return 0, false
	}
	since := r.emptySince
	for _, s := range r.open {
		if s.silent == unset {
			return 0, false
		}
		since = max(since, s.silent)
	}
	return since + after, since != unset
}

// due returns when something is to be done although nothing comes.
func (r *reader) due() int64 {
	at := int64(never)
	if r.stopped || r.ended {
		return at
	}
	for _, s := range r.open {
		if timeout := r.node.Source.IdleTimeout; timeout > 0 && s.silent != unset && !s.idle {
			at = min(at, s.silent+timeout)
		}
		if s.paused {
			at = min(at, r.lookAt)
		}
	}
	if r.node.Source.Period > 0 && r.waits() {
		at = min(at, r.emitAt)
	}
	if f, ok := r.flushAt(); ok {
		at = min(at, f)
	}
	return at
}

// pause takes d ms out of the silence of all splits.
func (r *reader) pause(d int64) {
	for _, s := range r.open {
		if s.silent != unset {
			s.silent = min(s.silent+d, r.task.clock())
		}
	}
}
