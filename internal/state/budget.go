package state

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/millstream-io/millstream/internal/state/lsm"
)

// Budget is memory that any number of DBs share: for rows, and for what their trees
// keep in memory. A DB that finds the rows of all to take too much lets its own go,
// unless it has less than its share.
//
// Its methods may be called from any goroutine.
type Budget struct {
	// limit is the memory of the process, without Base.
	limit atomic.Int64
	// used is what the rows of all members take, as of their last events.
	used atomic.Int64
	// count is the number of members.
	count atomic.Int64
	// cache is for the trees of which rows are read one by one, ordered for those
	// that are read in order, which keep indexes only.
	cache, ordered atomic.Pointer[lsm.Cache]
	// lean makes rows leave memory early.
	lean atomic.Bool

	mu      sync.Mutex
	members map[*member]bool
}

// member is what a budget knows of a DB.
type member struct {
	charged atomic.Int64
	// asked is set once the DB was woken to give memory back.
	asked atomic.Bool
	wake  func()
}

// The shares of a budget, behind what the program needs in any case: rows may
// take half of it, what the trees keep in memory a quarter, rows between
// operators an eighth. The rest is for work.
const (
	rowShare = 2
	// cacheParts of cacheShare are for the trees: indexes and filters, and blocks that
	// were written last, where a row takes a third of the room that it takes in a table.
	// What is not written yet comes on top (see memTable).
	cacheParts, cacheShare = 4, 16
	// orderedShare is for the indexes of trees that are read in order.
	orderedShare = 32
	// leanShare is the share of rows where they are to leave memory early; the
	// trees take over the rest of theirs.
	leanShare = 16
	// QueueShare is that of rows between operators.
	QueueShare = 8
)

// MinBudget is the smallest sensible limit of a process, Base what it needs
// without any state, and minShare what each DB must have for rows.
const (
	MinBudget = 64 << 20
	Base      = 40 << 20
	minShare  = 512 << 10
)

// NewBudget returns a budget for a process that may take so many bytes. lean makes rows leave memory
// early and gives their room to the trees.
func NewBudget(limit int64, lean bool) *Budget {
	b := &Budget{members: make(map[*member]bool)}
	b.SetLimit(limit, lean)
	return b
}

// SetLimit changes the budget; DBs that are open adapt to it.
func (b *Budget) SetLimit(limit int64, lean bool) {
	limit = max(limit-Base, 0)
	if limit == b.limit.Load() && lean == b.lean.Load() {
		return
	}
	b.limit.Store(limit)
	b.lean.Store(lean)
	b.cache.Store(lsm.NewCache(b.cacheBytes()))
	b.ordered.Store(lsm.NewCache(b.orderedBytes()))
}

// cacheFor is the cache of a tree.
func (b *Budget) cacheFor(inOrder bool) *lsm.Cache {
	if inOrder {
		return b.ordered.Load()
	}
	return b.cache.Load()
}

// Limit is the memory of the process.
func (b *Budget) Limit() int64 { return b.limit.Load() + Base }

// Queues is the part that is for rows between operators.
func (b *Budget) Queues() int64 { return b.limit.Load() / QueueShare }

// Used is what the rows of all DBs took when their last events were over.
func (b *Budget) Used() int64 { return b.used.Load() }

// rowBytes is what the rows of all members may take.
func (b *Budget) rowBytes() int64 {
	if b.lean.Load() {
		return b.limit.Load() / leanShare
	}
	return b.limit.Load() / rowShare
}

// rowTarget is what they have when none has to wait: while the files of a snapshot are
// made no rows leave, and what comes in meanwhile takes the rest.
func (b *Budget) rowTarget() int64 { return b.rowBytes() / 10 * 9 }

func (b *Budget) cacheBytes() int64 {
	if b.lean.Load() {
		return b.limit.Load()*cacheParts/cacheShare + b.limit.Load()/rowShare - b.limit.Load()/leanShare
	}
	return b.limit.Load() * cacheParts / cacheShare
}

func (b *Budget) orderedBytes() int64 { return b.limit.Load() / orderedShare }

// memTable is how much one member writes at a time. It may be there several times:
// gathered, given to the tree, and on its way to the disk.
func (b *Budget) memTable() int {
	const least, most = 64 << 10, 8 << 20
	return int(min(max(b.cacheBytes()/8/max(b.count.Load(), 1), least), most))
}

// join adds a DB; wake is called when it is to give memory back though it has
// no events.
func (b *Budget) join(wake func()) (*member, error) {
	n := b.count.Add(1)
	if share := b.rowBytes() / n; share < minShare {
		b.count.Add(-1)
		least := Base + b.limit.Load()/max(b.rowBytes(), 1)*n*minShare
		return nil, fmt.Errorf("memory.limit is %d MiB, which %d operator instances with state share; they need at least %d MiB: raise memory.limit, or lower parallelism.default",
			b.Limit()>>20, n, (least+1<<20-1)>>20)
	}
	m := &member{wake: wake}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.members[m] = true
	return m, nil
}

func (b *Budget) leave(m *member) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.members[m] {
		delete(b.members, m)
		b.count.Add(-1)
		b.used.Add(-m.charged.Swap(0))
	}
}

// charge notes what the rows of a member take now.
func (b *Budget) charge(m *member, bytes int64) { b.used.Add(bytes - m.charged.Swap(bytes)) }

// over reports whether the rows of all take too much.
func (b *Budget) over() bool { return b.used.Load() > b.rowTarget() }

// target returns how many bytes the rows of a member may take, and whether that
// is less than they do.
func (b *Budget) target(m *member) (bytes int64, over bool) {
	all, used, own := b.rowTarget(), b.used.Load(), m.charged.Load()
	m.asked.Store(false)
	if used <= all {
		return all, false
	}
	share := all / max(b.count.Load(), 1)
	if own <= share {
		b.ask(share)
		return share, false
	}
	return max(share, all-(used-own)), true
}

// ask wakes the members that have more than their share.
func (b *Budget) ask(share int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for m := range b.members {
		if m.charged.Load() > share {
			m.wakeUp()
		}
	}
}

// wakeUp has EndEvent called soon, though there may be no events.
func (m *member) wakeUp() {
	if m.wake != nil && !m.asked.Swap(true) {
		m.wake()
	}
}
