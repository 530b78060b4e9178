package runtime

import "slices"

// timers are the processing times at which an operator wants to be called,
// ascending, each once.
type timers struct{ due []int64 }

// add asks for a call at ms.
func (t *timers) add(ms int64) {
	if i, found := slices.BinarySearch(t.due, ms); !found {
		t.due = slices.Insert(t.due, i, ms)
	}
}

// next returns the earliest time, if there is one.
func (t *timers) next() (int64, bool) {
	if len(t.due) == 0 {
		return 0, false
	}
	return t.due[0], true
}

// pop forgets the times up to now, and reports whether there were any.
func (t *timers) pop(now int64) bool {
	i, found := slices.BinarySearch(t.due, now)
	if found {
		i++
	}
	t.due = slices.Delete(t.due, 0, i)
	return i > 0
}
