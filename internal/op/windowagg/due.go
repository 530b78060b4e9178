package windowagg

// NextDue implements op.Waiter.
func (w *windowAgg) NextDue() (wm int64, ok bool) {
	if w.Proctime {
		return 0, false
	}
	end, ok, err := w.first()
	return w.Window.Due(end), ok && err == nil
}

// NextDue implements op.Waiter: a timer tells the stretch of time in which the
// first session may end.
func (s *sessions) NextDue() (wm int64, ok bool) {
	if s.Proctime {
		return 0, false
	}
	from, ok, err := s.timers.First()
	return from + s.grain - 1, ok && err == nil
}
