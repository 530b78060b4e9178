package expr

import (
	"testing"
	"time"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
)

// TestClockStandsStill shows that the calls of one evaluation read one time, and
// those of the next a later one.
func TestClockStandsStill(t *testing.T) {
	now := time.UnixMilli(1000)
	env := &fn.Env{Zone: time.UTC, Now: func() time.Time { now = now.Add(time.Millisecond); return now }}
	call := func(name string) Expr {
		e, err := NewCall(fn.Lookup(name), nil, nil, env)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	p, err := CompileAll([]Expr{call("NOW"), call("CURRENT_TIMESTAMP"), call("NOW")}, env)
	if err != nil {
		t.Fatal(err)
	}
	last := int64(0)
	for range 3 {
		out, err := p.Eval(batch.Of(nil, nil, 2))
		if err != nil {
			t.Fatal(err)
		}
		first := out[0].(*batch.Fixed[int64]).Values[0]
		for i, v := range out {
			for _, ms := range v.(*batch.Fixed[int64]).Values {
				if ms != first {
					t.Errorf("call %d read %d, the first %d", i, ms, first)
				}
			}
		}
		if first <= last {
			t.Errorf("the time did not go on: %d after %d", first, last)
		}
		last = first
	}
}
