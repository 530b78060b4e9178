package lsm

import (
	"slices"
	"sync"
)

// Cache bounds the memory that the meta data of tables take, which say where their blocks
// are, and filters; and keeps the blocks of tables that were written last, as far as
// there is room: rows that have left memory last are those that come back most often, and
// there they take less room. Other blocks are not kept: the system does that. A cache is
// for any number of DBs.
type Cache struct {
	limit int64
	// maxIn bounds the number of tables whose meta data are in memory, since each may have
	// an open file, of which a process may often have some ten thousands only.
	maxIn int

	mu sync.Mutex
	// in are the tables whose meta data are in memory, and used is their size; hand is
	// where the clock is.
	in   []*table
	hand int
	used int64
	// kept are the tables whose blocks are, oldest first, and keptBytes is their size.
	kept      []*table
	keptBytes int64
}

// defaultCache is the size of a cache of its own that a DB has if it is given none.
const defaultCache = 32 << 20

// NewCache returns a cache of the given size in bytes.
func NewCache(size int64) *Cache { return &Cache{limit: size, maxIn: maxIn} }

// maxIn is the usual maxIn of a Cache.
const maxIn = 8000

// admit takes the meta data of a table in, and those of others out if they become
// too many. c.mu is held.
func (c *Cache) admit(t *table, m *meta) {
	t.meta.Store(m)
	c.in = append(c.in, t)
	c.used += m.memBytes()
	c.trim()
	for looks := 2 * len(c.in); (c.used > c.limit || len(c.in) > c.maxIn) && looks > 0; looks-- {
		if c.hand >= len(c.in) {
			c.hand = 0
		}
		switch other := c.in[c.hand]; {
		case other == t:
			c.hand++
		case other.used.Swap(false):
			c.hand++
		default:
			c.remove(c.hand)
		}
	}
}

// remove takes the meta data of the i-th table out, and closes its file.
func (c *Cache) remove(i int) {
	t, last := c.in[i], len(c.in)-1
	if err := t.closeFile(); err != nil {
		t.db.set(err)
	}
	c.used -= t.meta.Load().memBytes()
	t.meta.Store(nil)
	c.in[i] = c.in[last]
	c.in[last] = nil
	c.in = c.in[:last]
}

// keep keeps the blocks of a table that was written just now.
func (c *Cache) keep(t *table, blocks []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t.blocks.Store(&blocks)
	c.kept = append(c.kept, t)
	c.keptBytes += int64(cap(blocks))
	c.trim()
}

// keepOlder keeps the blocks of a table that was made of others, if there is room
// without giving up any.
func (c *Cache) keepOlder(t *table) error {
	// The index of a table that is too large would only take the place of others.
	if !c.hasRoom(t.size) {
		return nil
	}
	m, err := t.index()
	if err != nil || !c.hasRoom(m.end()) {
		return err
	}
	blocks := make([]byte, m.end())
	if err := t.read(blocks, 0); err != nil {
		return err
	}
	var y yielder
	for i := range m.blocks() {
		y.now()
		if why := check(blocks[m.starts[i]:m.starts[i+1]]); why != "" {
			return t.corrupt(why)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t.blocks.Store(&blocks)
	c.kept = slices.Insert(c.kept, 0, t)
	c.keptBytes += int64(len(blocks))
	c.trim()
	return nil
}

func (c *Cache) hasRoom(n int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.used+c.keptBytes+n <= c.limit
}

// trim gives up blocks that are kept if there is no room for them.
func (c *Cache) trim() {
	for len(c.kept) > 0 && c.used+c.keptBytes > c.limit {
		c.drop(0)
	}
}

// drop gives up the blocks of the i-th table of those kept.
func (c *Cache) drop(i int) {
	t := c.kept[i]
	c.keptBytes -= int64(cap(*t.blocks.Swap(nil)))
	c.kept = slices.Delete(c.kept, i, i+1)
}

// forget takes out a table that is no more.
func (c *Cache) forget(t *table) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.Index(c.in, t); i >= 0 {
		c.remove(i)
	}
	if i := slices.Index(c.kept, t); i >= 0 {
		c.drop(i)
	}
}
