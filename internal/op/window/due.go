package window

import "math"

// Open is a table whose namespaces are windows, named by their ends.
type Open interface {
	// First returns the smallest namespace that has rows.
	First() (ns int64, ok bool, err error)
	// Namespaces returns those that have rows and are <= upTo, ascending.
	Namespaces(upTo int64) ([]int64, error)
}

// DueEnds returns the windows of a table, ascending, that watermark wm closes.
func (a *Assigner) DueEnds(t Open, wm int64) ([]int64, error) {
	first, ok, err := t.First()
	if err != nil || !ok || a.Due(first) > wm {
		return nil, err
	}
	upTo := wm
	if wm < math.MaxInt64-zoneSlack {
		upTo = wm + zoneSlack
	}
	all, err := t.Namespaces(upTo)
	if err != nil {
		return nil, err
	}
	due := all[:0]
	for _, end := range all {
		if a.Due(end) <= wm {
			due = append(due, end)
		}
	}
	return due, nil
}

// zoneSlack is more than any zone is away from UTC, in ms, and more than the
// 1 ms between a window's last instant and its end.
const zoneSlack = 26 * 3600_000
