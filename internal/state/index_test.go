package state

import (
	"math/rand/v2"
	"testing"
)

// TestIndex grows an index over sizes of both kinds, takes out half of what is in
// it, and looks for all.
func TestIndex(t *testing.T) {
	for _, n := range []int32{20, 3000, 4100, 5000, 60_000, 90_000, 150_000} {
		rng := rand.New(rand.NewPCG(1, uint64(n)))
		var pool indexPool
		index := pool.get(indexSize(1))
		lows := make([]uint32, n)
		for slot := range n {
			if crammed(slot+1, index) {
				index = pool.grow(index, indexSize(len(index)+1))
			}
			lows[slot] = rng.Uint32() >> rng.IntN(2) // some lie close together
			putEntry(index, entry(lows[slot], slot))
		}
		if per := float64(len(index)) / float64(n); n > keptIndex && (per < 1.5 || per > 2.26) {
			t.Errorf("%d rows have %d places", n, len(index))
		}
		for slot := int32(0); slot < n; slot += 2 {
			removeEntry(index, entry(lows[slot], slot))
		}
		for slot, low := range lows {
			p := home(low, len(index))
			for index[p] != 0 && index[p] != entry(low, int32(slot)) {
				p = behind(p, index)
			}
			if found := index[p] != 0; found != (slot%2 == 1) {
				t.Fatalf("%d rows: slot %d is found: %t", n, slot, found)
			}
		}
		left := 0
		for _, x := range index {
			if x != 0 {
				left++
			}
		}
		if left != int(n)/2 || pool.words < len(index) {
			t.Errorf("%d rows: %d entries are left, %d words are counted for %d", n, left, pool.words, len(index))
		}
	}
}
