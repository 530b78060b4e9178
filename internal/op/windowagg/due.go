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
// newest session of a key may end; older ones may end before.
func (s *sessions) NextDue() (wm int64, ok bool) {
	if s.Proctime {
		return 0, false
	}
	from, ok, err := s.timers.First()
	if !ok || err != nil {
		return 0, false
	}
	wm = from + s.grain - 1
	older, err := s.table.Namespaces(wm + 1)
	for _, from := range older {
		if from != newest {
			wm = min(wm, from+s.olderGrain-1)
			break
		}
	}
	return wm, err == nil
}
