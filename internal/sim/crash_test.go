package sim

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/millstream-io/millstream/internal/runtime"
)

// TestShapesCrash crashes each shape at random steps, again and again, with
// none, a part or all of what was not synced on the disk afterwards, and with
// another parallelism at each start. There are MILLSTREAM_CRASHES crashes.
func TestShapesCrash(t *testing.T) {
	each := 1 + trials(t, "MILLSTREAM_CRASHES", 300)/len(Shapes())
	eachShape(t, func(t *testing.T, i int, x *tried) {
		n := 0
		for k := 0; n < each && k < 100*each; k++ {
			seed := uint64(100*k + i)
			rnd := rand.New(rand.NewPCG(seed, 3))
			keep, where := (k+i)%3*50, backends[(k+i)/3%3]
			r := x.try(t, Config{
				Seed: seed, Parallelisms: []int{1, 2, 3}, CheckpointEvery: 4 + rnd.IntN(40), CrashEvery: x.steps/4 + rnd.IntN(x.steps), Keep: keep,
				Job: runtime.Config{State: where.state},
			})
			outcomes.add(fmt.Sprintf("crash, %d %% of unsynced data kept, state %s", keep, where.name), "recovered with the right output", r.Crashes)
			n += r.Crashes
		}
		if n < each {
			t.Errorf("only %d of %d runs crashed", n, 100*each)
		}
	})
}
