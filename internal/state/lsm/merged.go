package lsm

import "bytes"

// merged goes over the keys of several runs, in order.
type merged struct {
	cursors []*cursor // newest first
	// heap has those of the cursors that have an entry, by their keys, newest first
	// where they are the same; back turns the order of the keys around.
	heap       []int
	back       bool
	key, value []byte
	fold       fold
	ok         bool
	// known is set if nothing older than the cursors may have the key.
	known bool
	err   error
}

// less is the order of the heap.
func (m *merged) less(a, b int) bool {
	c := bytes.Compare(m.cursors[a].key, m.cursors[b].key)
	if m.back {
		c = -c
	}
	return c < 0 || c == 0 && a < b
}

func (m *merged) down(i int) {
	h := m.heap
	for {
		least := 2*i + 1
		if least >= len(h) {
			return
		}
		if right := least + 1; right < len(h) && m.less(h[right], h[least]) {
			least = right
		}
		if !m.less(h[least], h[i]) {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}

// seek goes to the first key at or behind key.
func (m *merged) seek(key []byte) { m.start(false, func(c *cursor) error { return c.seek(key) }) }

// seekBelow goes to the last key below key.
func (m *merged) seekBelow(key []byte) {
	m.start(true, func(c *cursor) error { return c.seekBelow(key) })
}

func (m *merged) start(back bool, seek func(c *cursor) error) {
	m.back, m.heap, m.err = back, m.heap[:0], nil
	for i, c := range m.cursors {
		if m.err = seek(c); m.err != nil {
			m.ok = false
			return
		}
		if c.ok {
			m.heap = append(m.heap, i)
		}
	}
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		m.down(i)
	}
	m.next()
}

// next goes to the next key, back or forth. It skips those that are removed, if
// known is set.
func (m *merged) next() {
	for m.ok = false; m.err == nil && len(m.heap) > 0; {
		if m.err = m.one(); m.err != nil {
			return
		}
		if m.ok = !m.known || m.fold.kind != remove; m.ok {
			return
		}
	}
}

// one takes all entries of the first key.
func (m *merged) one() error {
	m.key = append(m.key[:0], m.cursors[m.heap[0]].key...)
	m.fold = fold{}
	more := true
	for len(m.heap) > 0 {
		c := m.cursors[m.heap[0]]
		if !bytes.Equal(c.key, m.key) {
			break
		}
		if more {
			var err error
			if more, err = m.fold.take(c.value, c.kind); err != nil {
				return err
			}
			if !more {
				// The cursor's bytes go when it moves on.
				m.value = append(m.value[:0], m.fold.value...)
				m.fold.value = m.value
			}
		}
		if err := m.advance(c); err != nil {
			return err
		}
	}
	if more {
		m.fold.end(m.known)
	}
	return nil
}

// advance moves the first cursor of the heap on.
func (m *merged) advance(c *cursor) error {
	step := c.next
	if m.back {
		step = c.previous
	}
	if err := step(); err != nil {
		return err
	}
	if !c.ok {
		last := len(m.heap) - 1
		m.heap[0] = m.heap[last]
		m.heap = m.heap[:last]
	}
	m.down(0)
	return nil
}
