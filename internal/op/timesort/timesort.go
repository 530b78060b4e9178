// Package timesort gives rows in the order of their event time: ORDER BY a time
// attribute, with further columns or without. Rows wait until the watermark has
// passed their time; those that come behind it are late.
package timesort

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/waiting"
)

// New returns the operator, of which there is one instance. Keys of the
// configuration must be empty. By processing time, rows that come in one
// millisecond are sorted.
func New(c waiting.Config) op.Operator {
	s := &timeSort{config: c}
	if c.Proctime {
		return &byClock{timeSort: s}
	}
	return s
}

type timeSort struct {
	config waiting.Config
	ctx    *op.Context
	rows   *waiting.Rows
}

// Open implements op.Opener.
func (s *timeSort) Open(c *op.Context) (err error) {
	s.rows, err = waiting.Open(c, s.config)
	return err
}

// OnBatch implements op.Operator.
func (s *timeSort) OnBatch(_ int, b *batch.Batch, out op.Output) error { return s.rows.Add(b, out) }

// OnWatermark implements op.WatermarkHandler.
func (s *timeSort) OnWatermark(wm int64, out op.Output) (int64, error) {
	if err := s.rows.Rise(wm); err != nil {
		return 0, err
	}
	_, err := s.Resume(out)
	return wm, err
}

// Resume implements op.Resumer.
func (s *timeSort) Resume(out op.Output) (more bool, err error) {
	for {
		c, err := s.rows.Next(false)
		if c == nil || err != nil {
			return false, err
		}
		out.Emit(c.Batch)
		if out.Full() {
			return true, nil
		}
	}
}

// NextDue implements op.Waiter.
func (s *timeSort) NextDue() (wm int64, ok bool) { return s.rows.NextDue() }

// byClock is the operator by processing time: the clock does what the watermark
// does otherwise.
type byClock struct {
	*timeSort
	// armed is the time of the last timer that was asked for.
	armed int64
}

// Open implements op.Opener.
func (s *byClock) Open(c *op.Context) error {
	s.ctx = c
	if err := s.timeSort.Open(c); err != nil {
		return err
	}
	s.arm()
	return nil
}

// arm asks for a timer behind the first row that waits.
func (s *byClock) arm() {
	if first, ok := s.rows.NextDue(); ok && first >= s.armed {
		s.armed = first + 1
		s.ctx.TimerAt(s.armed)
	}
}

// OnBatch implements op.Operator.
func (s *byClock) OnBatch(in int, b *batch.Batch, out op.Output) error {
	if err := s.timeSort.OnBatch(in, b, out); err != nil {
		return err
	}
	s.arm()
	return nil
}

// OnTimer implements op.TimerHandler.
func (s *byClock) OnTimer(now int64, out op.Output) error {
	if _, err := s.timeSort.OnWatermark(now-1, out); err != nil {
		return err
	}
	s.arm()
	return nil
}

// OnWatermark implements op.WatermarkHandler: what waits comes at the end of the
// input at the latest.
func (s *byClock) OnWatermark(wm int64, out op.Output) (int64, error) {
	if wm == op.MaxWatermark {
		return s.timeSort.OnWatermark(wm, out)
	}
	return wm, nil
}

// NextDue implements op.Waiter: rows wait for the clock alone.
func (s *byClock) NextDue() (wm int64, ok bool) { return 0, false }
