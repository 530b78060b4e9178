package state

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/millstream-io/millstream/batch"
)

// errStop ends a scan of memory that has done enough.
var errStop = errors.New("state: enough")

// Drain implements Space. What is on disk comes first, in the order of keys and
// with what memory has of the same keys, in slots that are no rows: they need no
// index. So what has gone is a range of keys, whatever their number.
func (s *space) Drain(limit int, f func(slots []int32) error) error {
	t := s.t
	if t.mortal != nil {
		return fmt.Errorf("%s: table %q: a table with a time to live cannot be drained", t.db.cfg.Name, t.spec.Name)
	}
	var gone []keyRange
	var err error
	if s.cold > 0 {
		gone, err = s.drainCold(limit, f)
	}
	if err == nil {
		err = s.drainMemory(limit, f)
	}
	if err == nil {
		t.buryAll(s, len(gone) > 0)
		t.discard(s)
		return nil
	}
	s.spare(gone)
	t.graves.ranges = append(t.graves.ranges, gone...)
	s.listed()
	return err
}

// spare looks after rows in memory that lie in ranges that will be removed from
// disk. There are such only beside a snapshot: it has them, but could not be
// read yet. They have to be written once more.
func (s *space) spare(gone []keyRange) {
	t := s.t
	if t.db.disk.pending == nil || len(gone) == 0 {
		return
	}
	slots := s.slots()
	t.copyFirst(slots)
	slots = slices.DeleteFunc(slots, func(slot int32) bool { return *t.flags.at(slot)&durable == 0 })
	var keys keyList
	cols := t.keyVectors(slots)
	for i, slot := range slots {
		t.format.appendPart(&keys, s.ns, *t.groups.at(slot), cols, i, t.partOf(slot))
		for r := range gone {
			if gone[r].has(keys.at(i)) {
				*t.flags.at(slot) &^= durable
				gone[r].rows++
				s.Dirty(slots[i : i+1])
			}
		}
	}
}

// drainMemory drains the rows in memory. Only if it stops early are they deleted.
func (s *space) drainMemory(limit int, f func(slots []int32) error) error {
	given := 0
	err := s.scanMemory(limit, 0, func(slots []int32) error {
		if err := f(slots); err != nil {
			return err
		}
		given += len(slots)
		return nil
	})
	if err == nil || given == 0 {
		return err
	}
	s.scanMemory(limit, 0, func(slots []int32) error {
		n := min(given, len(slots))
		s.Delete(slots[:n])
		if given -= n; given == 0 {
			return errStop
		}
		return nil
	})
	return err
}

// keyRange is a range of keys on disk that has gone: those of a key group from
// the namespace's first to the last that was drained. rows is their number.
type keyRange struct {
	from, to []byte
	rows     int64
}

func (r *keyRange) has(key []byte) bool {
	return bytes.Compare(r.from, key) <= 0 && bytes.Compare(key, r.to) < 0
}

// drainCold drains what is on disk.
func (s *space) drainCold(limit int, f func(slots []int32) error) (gone []keyRange, err error) {
	err = s.eachBatch(limit, func(l *loader) (bool, error) {
		g, err := l.gather(s)
		if err == nil {
			err = f(g.rows)
		}
		if err != nil {
			g.release(s)
			return false, err
		}
		for i, chain := range g.chains {
			s.cold -= int64(len(chain))
			if m := g.mem[i]; m >= 0 {
				s.cold++
				if !g.readAgain(i) {
					s.t.bury([]int32{m})
				}
				s.forget(m)
			}
		}
		g.release(s)
		gone = l.extend(gone)
		return true, nil
	})
	return gone, err
}

// extend adds the keys that were read to the ranges of keys that have gone.
func (l *loader) extend(gone []keyRange) []keyRange {
	for i := 0; i < len(l.spans); i++ {
		span := l.spans[i]
		if n := len(gone); n > 0 && bytes.Equal(gone[n-1].from, span.from) {
			gone[n-1].to = span.to
			gone[n-1].rows += span.rows
			continue
		}
		gone = append(gone, span)
	}
	return gone
}

// note counts a row that is read among those of its key group.
func (l *loader) note(prefix, key []byte) {
	n := len(l.spans)
	if n == 0 || !bytes.Equal(l.spans[n-1].from, prefix) {
		l.spans = append(l.spans, keyRange{from: slices.Clone(prefix)})
		n++
	}
	l.spans[n-1].rows++
	l.spans[n-1].to = append(append(l.spans[n-1].to[:0], key...), 0)
}

// eachBatch reads what the disk has of a space, in order, until f returns false.
// A batch has up to limit keys, each with all of its partials.
func (s *space) eachBatch(limit int, f func(l *loader) (more bool, err error)) (err error) {
	t := s.t
	limit = min(limit, batch.DefaultSize)
	r, err := t.db.newReader()
	if err != nil {
		return err
	}
	l, dead := t.newLoader(), t.deadKeys()
	more := true
	flush := func() error {
		if l.len() > 0 {
			more, err = f(l)
			l = t.loaderOf(l.len())
		}
		return err
	}
	t.format.eachGroup(s.groups, func(g int) {
		if err != nil || !more {
			return
		}
		prefix := appendPrefix(nil, g, t.format.id, s.ns)
		err = r.Range(prefix, after(prefix), func(key, value []byte) (bool, error) {
			if dead.has(key) {
				return true, nil
			}
			if l.full(key, limit) {
				if err := flush(); err != nil || !more {
					return false, err
				}
			}
			if err := l.add(key, value); err != nil {
				return false, err
			}
			l.note(prefix, key)
			return true, nil
		})
	})
	if err == nil && more {
		err = flush()
	}
	if cerr := r.Close(); err == nil {
		err = cerr
	}
	return err
}
