package plan

import "strings"

// Emit says when a window shows its results besides at its end. They are then an updating result.
type Emit struct {
	// Early is the delay, in ms, after which rows show in a window that is open, Late that after its end; 0 is at once, Never is
	// not at all.
	Early, Late int64
	// Lateness is how long, in ms of event time, a window takes rows after its end.
	Lateness int64
}

// Never is the delay of what does not happen.
const Never = -1

// String prints what is set: early after 5 s, late at once within 10 s.
func (e *Emit) String() string {
	var parts []string
	if e.Early != Never {
		parts = append(parts, "early "+delay(e.Early))
	}
	if e.Late != Never {
		parts = append(parts, "late "+delay(e.Late)+" within "+Millis(e.Lateness))
	}
	return strings.Join(parts, ", ")
}

func delay(ms int64) string {
	if ms == 0 {
		return "at once"
	}
	return "after " + Millis(ms)
}

// LatenessOf returns the longest allowed lateness, in ms, of the tables that a node reads.
func LatenessOf(n Node) int64 {
	var out int64
	Walk(n, func(n Node) {
		if s, is := n.(*Scan); is {
			out = max(out, s.Lateness)
		}
	})
	return out
}
