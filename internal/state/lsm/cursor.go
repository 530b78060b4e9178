package lsm

import (
	"bytes"
	"slices"
)

// cursor goes over the entries of one run, but for those that newer runs have removed.
type cursor struct {
	run    *run
	killed spans
	// ahead is how many bytes are read at a time at most. It begins with one block and
	// gets twice as much each time for who reads on; eager, it begins with all.
	ahead int
	eager bool

	// table is the index of the table that the cursor is in; ok is set while it has an
	// entry there.
	table int
	ok    bool
	no    int // the block
	block block
	at    int
	// blockOf is the table that the block is of, nil if there is none.
	blockOf *table

	key   []byte
	value []byte
	kind  kind

	// buf has the stored blocks from the one numbered bufFrom of bufOf on, and plain
	// is memory for one that was packed.
	buf     []byte
	bufOf   *table
	bufFrom int
	plain   []byte
	grown   int
}

// load makes a block the current one.
func (c *cursor) load(t *table, m *meta, no int) error {
	if c.blockOf == t && c.no == no {
		return nil
	}
	c.blockOf = nil
	stored, inMemory, err := c.stored(t, m, no)
	if err != nil {
		return err
	}
	if !inMemory {
		if why := check(stored); why != "" {
			return t.corrupt(why)
		}
	}
	b, plain, why := unpack(stored, c.plain)
	if c.plain = plain; why != "" {
		return t.corrupt(why)
	}
	c.block, c.no, c.blockOf = b, no, t
	return nil
}

// stored returns the bytes of a block, with its tail, and whether the table has them in
// memory.
func (c *cursor) stored(t *table, m *meta, no int) (bytes []byte, inMemory bool, err error) {
	from, to := int64(m.starts[no]), int64(m.starts[no+1])
	if blocks := t.blocks.Load(); blocks != nil {
		return (*blocks)[from:to], true, nil
	}
	if c.bufOf == t && no >= c.bufFrom {
		base := int64(m.starts[c.bufFrom])
		if to-base <= int64(len(c.buf)) {
			return c.buf[from-base : to-base], false, nil
		}
	}
	onward := c.bufOf == t && int64(m.starts[c.bufFrom])+int64(len(c.buf)) == from
	switch {
	case c.eager:
		c.grown = c.ahead
	case onward:
		c.grown = min(max(2*c.grown, 2*int(to-from)), c.ahead)
	default:
		c.grown = 0
	}
	last := no + 1
	for last < m.blocks() && int64(m.starts[last+1])-from <= int64(c.grown) {
		last++
	}
	size := int64(m.starts[last]) - from
	c.bufOf = nil
	c.buf = slices.Grow(c.buf[:0], int(size))[:size]
	if err := t.read(c.buf, from); err != nil {
		return nil, false, err
	}
	c.bufOf, c.bufFrom = t, no
	return c.buf[:to-from], false, nil
}

// take reads the entry that the cursor is at.
func (c *cursor) take() {
	rest, value, k := c.block.entry(c.at)
	c.key = append(append(c.key[:0], c.block.prefix...), rest...)
	c.value, c.kind = value, k
}

// seek goes to the first entry at or behind key.
func (c *cursor) seek(key []byte) error {
	for {
		if err := c.seekRaw(key); err != nil || !c.ok {
			return err
		}
		dead, ok := c.killed.of(c.key)
		if !ok {
			return nil
		}
		key = dead.to
	}
}

func (c *cursor) seekRaw(key []byte) error {
	c.ok = false
	c.table = c.run.find(key)
	for ; c.table < len(c.run.tables); c.table++ {
		t := c.run.tables[c.table]
		m, err := t.index()
		if err != nil {
			return err
		}
		no, at := 0, 0
		if bytes.Compare(key, t.first) > 0 {
			no = m.find(key)
		}
		for ; no < m.blocks(); no++ {
			if err := c.load(t, m, no); err != nil {
				return err
			}
			if at = c.block.search(key); at < c.block.n {
				c.at, c.ok = at, true
				c.take()
				return nil
			}
		}
	}
	return nil
}

// next goes to the next entry.
func (c *cursor) next() error {
	if c.at++; c.at < c.block.n {
		c.take()
	} else if err := c.nextBlock(); err != nil || !c.ok {
		return err
	}
	if dead, ok := c.killed.of(c.key); ok {
		return c.seek(dead.to)
	}
	return nil
}

func (c *cursor) nextBlock() error {
	c.ok = false
	no := c.no + 1
	for ; c.table < len(c.run.tables); c.table++ {
		t := c.run.tables[c.table]
		m, err := t.index()
		if err != nil {
			return err
		}
		if no < m.blocks() {
			if err := c.load(t, m, no); err != nil {
				return err
			}
			c.at, c.ok = 0, true
			c.take()
			return nil
		}
		no = 0
	}
	return nil
}

// seekBelow goes to the last entry below key.
func (c *cursor) seekBelow(key []byte) error {
	for {
		if err := c.seekBelowRaw(key); err != nil || !c.ok {
			return err
		}
		dead, ok := c.killed.of(c.key)
		if !ok {
			return nil
		}
		key = dead.from
	}
}

func (c *cursor) seekBelowRaw(key []byte) error {
	c.ok = false
	for c.table = min(c.run.find(key), len(c.run.tables)-1); c.table >= 0; c.table-- {
		t := c.run.tables[c.table]
		if bytes.Compare(t.first, key) >= 0 {
			continue
		}
		m, err := t.index()
		if err != nil {
			return err
		}
		for no := m.find(key); no >= 0; no-- {
			if err := c.load(t, m, no); err != nil {
				return err
			}
			if at := c.block.search(key); at > 0 {
				c.at, c.ok = at-1, true
				c.take()
				return nil
			}
		}
	}
	return nil
}

// previous goes to the entry before this one.
func (c *cursor) previous() error {
	if c.at == 0 || len(c.killed) > 0 {
		return c.seekBelow(bytes.Clone(c.key))
	}
	c.at--
	c.take()
	return nil
}
