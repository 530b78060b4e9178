package state

import (
	"bytes"

	"github.com/millstream-io/millstream/batch"
)

// scanOrdered is Scan for ordered tables: the rows come by key group and key, as
// the disk has them.
func (s *space) scanOrdered(limit int, f func(slots []int32) error) error {
	m := &merger{s: s, id: s.id, limit: limit, f: f, mem: s.t.sorted.all(s)}
	for s.cold > 0 && !m.ended {
		if err := m.round(); err != nil || s.id != m.id {
			return err
		}
	}
	for _, slot := range m.mem {
		if err := m.give(slot); err != nil || s.id != m.id {
			return err
		}
	}
	return m.flush()
}

// merger merges the rows of a space in memory with those on disk.
type merger struct {
	s     *space
	id    int32
	limit int
	f     func(slots []int32) error
	// mem are the rows that were in memory at the beginning, in order, and are not
	// given yet; memKeys are the keys of the first few.
	mem     []int32
	memKeys keyList
	memAt   int
	// from is where the disk goes on.
	from  []byte
	ended bool
	out   []int32
}

// round brings a few rows from disk, and gives them with those in memory that
// come before the last of them.
func (m *merger) round() error {
	s := m.s
	var keys keyList
	l, err := m.read(&keys)
	if err != nil || l.len() == 0 {
		return err
	}
	slots, loaded := l.place(s)
	s.cold -= int64(len(loaded))
	for i, slot := range slots {
		for len(m.mem) > 0 {
			c := bytes.Compare(m.memKey(), keys.at(i))
			if c > 0 {
				break
			}
			first := m.mem[0]
			m.mem, m.memAt = m.mem[1:], m.memAt+1
			if c == 0 {
				break // that is the row itself
			}
			if err := m.give(first); err != nil || s.id != m.id {
				return err
			}
		}
		if err := m.give(slot); err != nil || s.id != m.id {
			return err
		}
	}
	if len(loaded) == 0 || !s.t.db.crowded() {
		return nil
	}
	if err := m.flush(); err != nil || s.id != m.id {
		return err
	}
	s.leaveClean(loaded)
	return nil
}

// memKey returns the disk key of the first row in mem.
func (m *merger) memKey() []byte {
	if m.memAt == m.memKeys.len() {
		t := m.s.t
		part := m.mem[:min(len(m.mem), batch.DefaultSize)]
		m.memKeys.reset()
		m.memAt = 0
		cols := t.keyVectors(part)
		for i, slot := range part {
			t.format.appendKey(&m.memKeys, m.s.ns, *t.groups.at(slot), cols, i)
		}
	}
	return m.memKeys.at(m.memAt)
}

// read reads the next rows from disk, and their keys.
func (m *merger) read(keys *keyList) (*loader, error) {
	s := m.s
	t := s.t
	disk, err := t.db.reader()
	if err != nil {
		return nil, err
	}
	l, dead, deadline := t.newLoader(), t.deadKeys(), t.deadline()
	most := min(m.limit, batch.DefaultSize)
	t.format.eachGroup(s.groups, func(g int) {
		from := appendPrefix(nil, g, t.format.id, s.ns)
		to := after(from)
		if bytes.Compare(m.from, from) > 0 {
			from = m.from
		}
		if err != nil || l.len() == most || bytes.Compare(from, to) >= 0 {
			return
		}
		err = disk.Range(from, to, func(key, value []byte) (bool, error) {
			if dead.has(key) || t.writtenBefore(value, deadline) {
				return true, nil
			}
			keys.add(key)
			return l.len()+1 < most, l.add(key, value)
		})
	})
	if err != nil {
		return nil, err
	}
	if m.ended = l.len() < most; !m.ended {
		m.from = append(append(m.from[:0], keys.at(keys.len()-1)...), 0)
	}
	return l, nil
}

func (m *merger) give(slot int32) error {
	if m.out = append(m.out, slot); len(m.out) < m.limit {
		return nil
	}
	return m.flush()
}

func (m *merger) flush() error {
	if len(m.out) == 0 {
		return nil
	}
	out := m.out
	m.out = m.out[:0]
	m.s.t.touch(out)
	return m.f(out)
}
