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
// configuration must be empty.
func New(c waiting.Config) op.Operator { return &timeSort{config: c} }

type timeSort struct {
	config waiting.Config
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
