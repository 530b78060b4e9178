package state

import "github.com/millstream-io/millstream/batch"

// slotList lists slots, those of neighbouring key groups together: rows that are
// written in its order make few sorted runs, however the list came about.
type slotList struct {
	// buckets have the last chunk of each; first is the first that may have one.
	buckets [slotBuckets]*slotChunk
	first   int
	// n is the number of slots, chunks that of chunks.
	n, chunks int
}

// slotBuckets is the number of buckets: few enough that their ends stay in the
// processor's cache.
const slotBuckets = 32

// slotChunk is a piece of a bucket, one KiB.
type slotChunk struct {
	before *slotChunk
	n      int
	slots  [252]int32
}

const slotChunkSize = 1 << 10

// add lists a slot whose row is of the key group.
func (l *slotList) add(group uint8, slot int32) {
	b := int(group) * slotBuckets / batch.KeyGroups
	c := l.buckets[b]
	if c == nil || c.n == len(c.slots) {
		c = &slotChunk{before: c}
		l.buckets[b] = c
		l.first = min(l.first, b)
		l.chunks++
	}
	c.slots[c.n] = slot
	c.n++
	l.n++
}

// take moves up to n slots from the list to the end of out.
func (l *slotList) take(n int, out []int32) []int32 {
	for n > 0 && l.n > 0 {
		c := l.buckets[l.first]
		if c == nil {
			l.first++
			continue
		}
		k := min(n, c.n)
		out = append(out, c.slots[c.n-k:c.n]...)
		c.n -= k
		l.n -= k
		n -= k
		if c.n == 0 {
			l.buckets[l.first] = c.before
			l.chunks--
		}
	}
	return out
}

// keep removes the slots for which ok is false.
func (l *slotList) keep(ok func(slot int32) bool) {
	for b, last := range l.buckets {
		for c := last; c != nil; c = c.before {
			kept := 0
			for _, slot := range c.slots[:c.n] {
				if ok(slot) {
					c.slots[kept] = slot
					kept++
				}
			}
			l.n -= c.n - kept
			c.n = kept
		}
		l.buckets[b] = l.compact(last)
	}
}

// compact drops the empty chunks of a bucket.
func (l *slotList) compact(c *slotChunk) *slotChunk {
	var first *slotChunk
	at := &first
	for ; c != nil; c = c.before {
		if c.n == 0 {
			l.chunks--
			continue
		}
		*at = c
		at = &c.before
	}
	*at = nil
	return first
}

func (l *slotList) memBytes() int { return l.chunks * slotChunkSize }
