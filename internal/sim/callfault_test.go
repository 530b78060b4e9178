package sim

import (
	"testing"

	"github.com/millstream-io/millstream/internal/runtime"
	"github.com/millstream-io/millstream/internal/vfs"
)

// TestShapesCallsFail lets the n-th call of each kind of the file system fail,
// alone or with all that follow until the next start: MILLSTREAM_CALLS calls of
// each shape, kind, and place of its state. The job fails and starts
// again, or does without; in the end it has committed what it should. A sync
// that has failed is never tried again.
func TestShapesCallsFail(t *testing.T) {
	most := trials(t, "MILLSTREAM_CALLS", 0)
	eachShape(t, func(t *testing.T, i int, x *tried) {
		for b, where := range backends {
			// The sample leaves most shapes out.
			if most == 0 && (i%9 != 0 || i/9%3 != b) {
				continue
			}
			for _, kind := range vfs.AllCalls.EachCall() {
				c := Config{
					Seed: uint64(i), Parallelisms: []int{1, 2}, CheckpointEvery: 12, CrashEvery: 150, Fail: kind,
					Job: runtime.Config{State: where.state},
				}
				calls := x.try(t, c).Calls
				stride := max(1, calls/int64(max(most, 2)))
				for n := 1 + int64(i)%stride; n <= calls; n += stride {
					c.FailAt, c.FailCount = n, 1-n%2*2
					r := x.try(t, c)
					outcome := "went on with the right output"
					if r.Failures > 0 {
						outcome = "started again with the right output"
					}
					outcomes.add("failing "+kind.String(), outcome, 1)
				}
			}
		}
	})
}
