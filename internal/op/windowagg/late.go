package windowagg

import (
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/window"
)

// newLate returns what takes the late rows of this instance.
func (c *Config) newLate(ctx *op.Context) *window.Late {
	return window.NewLate(ctx, c.In, c.Marked, c.Window.Zone, c.Taps)
}

// addLate notes a row whose windows are all closed. end is that of its window,
// or of its slice where windows overlap.
func (w *windowAgg) addLate(pos int32, end int64) {
	if !w.Attached {
		end = w.Window.Last(end)
	}
	w.late.Add(pos, w.Window.Start(end), end, w.Window.Due(end))
}

// addLate notes a row that meets no open session, and would begin one that is
// closed.
func (s *sessions) addLate(pos int32, ms int64) {
	end := ms + s.Window.Size
	s.late.Add(pos, s.Window.Wall(ms), s.Window.Wall(end), end-1)
}
