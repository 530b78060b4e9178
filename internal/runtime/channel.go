package runtime

import (
	"sync"
	"sync/atomic"

	"github.com/millstream-io/millstream/batch"
)

// itemKind says what travels between two tasks.
type itemKind uint8

const (
	// itemRows carries a batch.
	itemRows itemKind = iota
	// itemTime carries the sender's watermark and whether it is idle.
	itemTime
	// itemBarrier stands between what belongs to a checkpoint and what does not.
	itemBarrier
	// itemEnd says that no more rows will come. Barriers still may.
	itemEnd
	// itemFlush says that nothing was there to read for long; see evFlush.
	itemFlush
)

// item is one thing that travels from a task to the next, in order with the
// others.
type item struct {
	kind itemKind
	// last is set for the last barrier of all.
	last bool
	// savepoint is set for the barrier of one.
	savepoint bool
	// idle is that of itemTime.
	idle  bool
	batch *batch.Batch
	// n is the watermark of itemTime, or the checkpoint of itemBarrier.
	n int64
	// bytes is what the item takes of the channel's room.
	bytes int
}

// channel is the queue from one task to another. It has one sender and one
// receiver.
//
// Its bound is soft: put always succeeds, and a sender that finds one of its
// channels full does not start another event. So a channel holds at most its
// bound and what one event makes, and nobody ever waits within an event.
//
// A receiver that is slow gets a smaller bound, so that what waits is done within
// drainTime: a barrier comes behind all of it. One batch may always wait.
type channel struct {
	from, to wakeable

	maxItems, maxBytes int
	// taken is when the receiver took the last item while others waited, or unset,
	// and pace the smoothed time for each, in ms. Both are the receiver's.
	taken int64
	pace  float64

	// full and count mirror what mu guards, for a look without the lock.
	full  atomic.Bool
	count atomic.Int32

	mu    sync.Mutex
	ring  []item
	head  int
	n     int
	bytes int
	// room is the number of items that may wait, maxItems at most.
	room int
}

// drainTime is the time in ms in which the receiver should be done with what waits
// in a channel, and paceShare the weight of the last item in its pace.
const drainTime, paceShare = 100, 1. / 8

// wakeable is a task that may be asleep.
type wakeable interface{ wake() }

func newChannel(from, to wakeable, maxItems, maxBytes int) *channel {
	return &channel{from: from, to: to, maxItems: max(maxItems, 1), maxBytes: maxBytes, room: max(maxItems, 1), taken: unset}
}

// put adds an item and wakes the receiver.
func (c *channel) put(it item) {
	if it.batch != nil {
		it.bytes = batchBytes(it.batch)
	}
	c.mu.Lock()
	if it.kind == itemTime && c.mergeTime(it) {
		c.mu.Unlock()
		return
	}
	if c.n == len(c.ring) {
		c.grow()
	}
	c.ring[(c.head+c.n)%len(c.ring)] = it
	c.n++
	c.bytes += it.bytes
	if c.n >= c.room || c.bytes >= c.maxBytes {
		c.full.Store(true)
	}
	c.count.Store(int32(c.n))
	first := c.n == 1
	c.mu.Unlock()
	if first {
		c.to.wake()
	}
}

// mergeTime lets a watermark replace the one just before it, so that a sender
// whose rows are all filtered out does not fill the channel with watermarks.
func (c *channel) mergeTime(it item) bool {
	if c.n == 0 {
		return false
	}
	last := &c.ring[(c.head+c.n-1)%len(c.ring)]
	if last.kind != itemTime || last.idle != it.idle {
		return false
	}
	last.n = it.n
	return true
}

func (c *channel) grow() {
	ring := make([]item, max(2*len(c.ring), 4))
	for i := range c.n {
		ring[i] = c.ring[(c.head+i)%len(c.ring)]
	}
	c.ring, c.head = ring, 0
}

// take removes the first item, and wakes the sender if it was waiting and half
// of the room is there again. (Less would wake it for each single item.) now is the
// time in ms.
func (c *channel) take(now int64) (item, bool) {
	if c.count.Load() == 0 {
		return item{}, false
	}
	room := c.measure(now)
	c.mu.Lock()
	c.room = room
	it := c.ring[c.head]
	c.ring[c.head] = item{}
	c.head = (c.head + 1) % len(c.ring)
	c.n--
	c.bytes -= it.bytes
	c.count.Store(int32(c.n))
	if c.n == 0 || it.kind == itemBarrier {
		c.taken = unset // what follows may have to wait for others
	}
	wake := c.full.Load() && c.n <= c.room/2 && c.bytes <= c.maxBytes/2
	if wake {
		c.full.Store(false)
	}
	c.mu.Unlock()
	if wake {
		c.from.wake()
	}
	return it, true
}

// measure notes that the receiver takes an item, and returns how many may wait.
func (c *channel) measure(now int64) (room int) {
	if c.taken != unset {
		c.pace += (float64(now-c.taken) - c.pace) * paceShare
	}
	c.taken = now
	if float64(c.maxItems)*c.pace <= drainTime {
		return c.maxItems
	}
	return max(int(drainTime/c.pace), 1)
}

// batchBytes estimates the memory of the rows that count: a selection of a few
// rows shares its columns with others.
func batchBytes(b *batch.Batch) int {
	n := b.Bytes()
	if b.Sel != nil && b.Size() > 0 {
		n = n * len(b.Sel) / b.Size()
	}
	return n + 4*len(b.Sel) + 64
}
