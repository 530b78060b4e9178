package window

import (
	"math"
	"slices"
)

// Ends are the times at which windows end, those of all kinds that a job has.
type Ends struct {
	of []Assigner
}

// Add adds the windows of a kind. Sessions end when nobody knows beforehand.
func (e *Ends) Add(a Assigner) {
	if a.Kind != Session && !slices.Contains(e.of, a) {
		e.of = append(e.of, a)
	}
}

// Between reports whether a watermark closes windows, with rows or without, that
// an earlier one did not. A nil e has no windows.
func (e *Ends) Between(earlier, later int64) bool {
	const limit = math.MaxInt64 / 4
	if e == nil || len(e.of) == 0 {
		return false
	}
	if earlier < -limit || later > limit {
		return true
	}
	return slices.ContainsFunc(e.of, func(a Assigner) bool { return a.Passed(later) > a.Passed(earlier) })
}
