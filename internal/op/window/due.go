package window

import (
	"errors"
	"math"

	"github.com/millstream-io/millstream/internal/op"
)

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

// ErrFull stops a scan when the output has no room left.
var ErrFull = errors.New("output full")

// Fire fires the windows that are due, as long as there is room; more is set if
// some are left. fire returns ErrFull where it has not done with a window: it is
// called again for it.
func Fire(due *[]int64, out op.Output, fire func(end int64) error) (more bool, err error) {
	for len(*due) > 0 {
		if out.Full() {
			return true, nil
		}
		if err := fire((*due)[0]); err == ErrFull {
			return true, nil
		} else if err != nil {
			return false, err
		}
		*due = (*due)[1:]
	}
	return false, nil
}

// zoneSlack is more than any zone is away from UTC, in ms, and more than the
// 1 ms between a window's last instant and its end.
const zoneSlack = 26 * 3600_000
