package runtime

import "github.com/millstream-io/millstream/internal/op"

// combiner merges the event time of several inputs into one watermark: that of
// the splits of a reader, or of the channels of a task.
//
// The result is the minimum over the inputs that count. An input does not count
// while it is idle, once it has ended, and, after it was idle, until it has
// caught up with the result. A new input counts at once, although nothing is
// known of it yet. If all inputs that have not ended are idle, the result rises
// to the largest watermark that they had reached, and no further: what an ended
// input allowed does not matter then, since the idle ones may come back.
type combiner struct {
	inputs []inputTime
	// out is the result, idle whether nothing holds it back or moves it.
	out  int64
	idle bool
	// hold is the number of inputs that are known to exist, and of whose time
	// nothing may be concluded yet: they hold the result where it is.
	hold int
}

// inputTime is what is known of one input.
type inputTime struct {
	wm   int64
	idle bool
	// behind is set for an input that came back from idle and has not caught
	// up yet.
	behind bool
	ended  bool
}

// newCombiner returns a combiner of n inputs that have sent nothing yet.
func newCombiner(n int) *combiner {
	c := &combiner{out: op.MinWatermark}
	for range n {
		c.add(inputTime{wm: op.MinWatermark})
	}
	return c
}

// add makes one more input and returns its number. Numbers of ended inputs are
// used again.
func (c *combiner) add(t inputTime) int {
	for i := range c.inputs {
		if c.inputs[i].ended {
			c.inputs[i] = t
			return i
		}
	}
	c.inputs = append(c.inputs, t)
	return len(c.inputs) - 1
}

// set says that input i has reached wm, and whether it is idle now.
func (c *combiner) set(i int, wm int64, idle bool) {
	in := &c.inputs[i]
	in.wm = max(in.wm, wm)
	switch {
	case idle:
		in.idle, in.behind = true, false
	case in.idle:
		in.idle, in.behind = false, true
	}
}

// announce is set for an input of which nothing was known so far. In a restored
// combiner, one that lies behind the result did not count before, either.
func (c *combiner) announce(i int, wm int64, idle bool) {
	c.inputs[i] = inputTime{wm: wm, idle: idle, behind: !idle && wm < c.out}
	c.hold--
}

// end says that input i has ended.
func (c *combiner) end(i int) { c.inputs[i] = inputTime{ended: true} }

// combine computes the result anew, and reports whether it or its idleness
// changed.
func (c *combiner) combine() bool {
	wm, idle := c.out, c.idle
	c.merge()
	return c.out != wm || c.idle != idle
}

func (c *combiner) merge() {
	var (
		low, high          int64 = op.MaxWatermark, op.MinWatermark
		open, active, some bool
	)
	for i := range c.inputs {
		in := &c.inputs[i]
		switch {
		case in.ended || in.wm == op.MaxWatermark:
			// The last watermark comes right before the end.
			continue
		case in.idle:
			high = max(high, in.wm)
		default:
			active = true
			if in.behind && in.wm >= c.out {
				in.behind = false
			}
			if !in.behind {
				some, low = true, min(low, in.wm)
			}
		}
		open = true
	}
	switch {
	case c.hold > 0:
		c.idle = false
	case some:
		c.out, c.idle = max(c.out, low), false
	case active:
		c.idle = false
	case open:
		c.out, c.idle = max(c.out, high), true
	default:
		c.out, c.idle = op.MaxWatermark, false
	}
}
