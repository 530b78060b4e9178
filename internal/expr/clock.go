package expr

import (
	"time"

	"github.com/millstream-io/millstream/fn"
)

// clock stands still during an evaluation, so that all calls that read the time
// agree, and reads the time once a batch at the most.
type clock struct {
	real func() time.Time
	now  time.Time
	read bool
}

// withClock returns env with a clock that stands still until it is released.
func withClock(env *fn.Env) (*fn.Env, *clock) {
	c := &clock{}
	if env == nil {
		return nil, c
	}
	still := *env
	c.real, still.Now = env.Now, c.Now
	return &still, c
}

// Now returns the time at which the evaluation asked first.
func (c *clock) Now() time.Time {
	if !c.read {
		c.now, c.read = c.real(), true
	}
	return c.now
}

// release lets the time go on.
func (c *clock) release() { c.read = false }
