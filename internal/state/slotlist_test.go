package state

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSlotList compares a list with a plain one: what is added comes out once,
// the buckets in their order, and the memory goes with it.
func TestSlotList(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	groups := make([]uint8, 100_000)
	for i := range groups {
		groups[i] = uint8(rng.IntN(128))
	}
	bucket := func(slot int32) int { return int(groups[slot]) * slotBuckets / 128 }
	var l slotList
	want := map[int32]bool{}
	for i, g := range groups {
		l.add(g, int32(i))
		want[int32(i)] = true
	}
	even := func(slot int32) bool { return slot%2 == 0 }
	l.keep(even)
	if l.n != len(groups)/2 || l.memBytes() > 5*len(groups) {
		t.Fatalf("%d slots in %d bytes are left", l.n, l.memBytes())
	}
	var got []int32
	for l.n > 0 {
		n := 1 + rng.IntN(1000)
		before, left := len(got), l.n
		if got = l.take(n, got); len(got)-before != min(n, left) {
			t.Fatalf("%d of %d slots came where %d were asked for", len(got)-before, left, n)
		}
	}
	if !slices.IsSortedFunc(got, func(a, b int32) int { return bucket(a) - bucket(b) }) {
		t.Error("the buckets are out of order")
	}
	for _, slot := range got {
		if !want[slot] || !even(slot) {
			t.Fatalf("slot %d comes twice, or should have gone", slot)
		}
		delete(want, slot)
	}
	if len(want) != len(groups)/2 || l.memBytes() != 0 {
		t.Errorf("%d slots are missing, %d bytes are left", len(want)-len(groups)/2, l.memBytes())
	}
	// A bucket before the ones that were emptied may be filled again.
	l.add(0, 7)
	if got := l.take(5, nil); !slices.Equal(got, []int32{7}) {
		t.Errorf("got %v, want [7]", got)
	}
}
