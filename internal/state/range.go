package state

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/state/lsm"
)

// ranger answers Ranges over memory and disk, in rounds: each brings rows of some
// prefixes from disk to memory, and gives what is in memory then, in order.
type ranger struct {
	s   *space
	q   *Ranges
	max int
	f   func(of, slots []int32) error

	// at is the prefix that is next. If some of its rows were given already,
	// given is their number, cursor the last one's order columns, and cursorKey its
	// key on disk.
	at        int
	given     int
	cursor    *bound
	cursorKey []byte

	// of and slots wait to be given; run is scratch.
	of, slots, run []int32
}

// Range implements Space.
func (s *space) Range(q *Ranges, max int, f func(of, slots []int32) error) error {
	if err := s.t.checkRanges(q); err != nil {
		return err
	}
	r := &ranger{s: s, q: q, max: max, f: f}
	id := s.id
	for s.id == id && r.at < len(q.Prefix.Rows) {
		if err := r.round(); err != nil {
			return err
		}
	}
	if s.id != id {
		return nil
	}
	return r.flush()
}

// checkRanges says what is wrong with a question, which is the operator's fault.
func (t *table) checkRanges(q *Ranges) error {
	if t.sorted == nil {
		return fmt.Errorf("%s: table %q has no order", t.db.cfg.Name, t.spec.Name)
	}
	if n := len(q.Prefix.Cols); n != t.sorted.prefix || len(q.From) > t.spec.Order || len(q.To) > t.spec.Order {
		return fmt.Errorf("%s: table %q: a range of %d columns before the order and %d in it; the table has %d and %d",
			t.db.cfg.Name, t.spec.Name, n, max(len(q.From), len(q.To)), t.sorted.prefix, t.spec.Order)
	}
	if len(q.Prefix.Rows) == 0 {
		return nil
	}
	r := q.Prefix.Rows[0]
	t.oneRow[0] = r
	t.hashBuf = batch.Hash(q.Prefix.Cols, t.oneRow[:], len(q.Prefix.Hash), t.hashBuf)
	if want := t.hashBuf[r]; q.Prefix.Hash[r] != want {
		return fmt.Errorf("%s: table %q: a range has hash %#x, its prefix has %#x", t.db.cfg.Name, t.spec.Name, q.Prefix.Hash[r], want)
	}
	return nil
}

// round gives the rows of the prefixes that are next, or a part of one.
func (r *ranger) round() error {
	s := r.s
	if s.cold == 0 {
		return r.give(len(r.q.Prefix.Rows), nil)
	}
	l, next, cut, err := r.read()
	if err != nil {
		return err
	}
	var end *bound
	if cut {
		end = s.t.sorted.bound(l.keys[s.t.sorted.prefix:], int32(l.len()-1), true)
	}
	var loaded []int32
	if l.len() > 0 {
		loaded = l.store(s)
		s.cold -= int64(len(loaded))
	}
	id := s.id
	if err := r.give(next, end); err != nil || s.id != id || len(loaded) == 0 || !s.t.db.crowded() {
		return err
	}
	if err := r.flush(); err != nil || s.id != id {
		return err
	}
	s.leaveClean(loaded)
	return nil
}

// read reads rows of the prefixes that are next from disk. It returns the first
// prefix that was not read to its end, and whether that was begun.
func (r *ranger) read() (l *loader, next int, cut bool, err error) {
	t := r.s.t
	disk, err := t.db.reader()
	if err != nil {
		return nil, 0, false, err
	}
	l = t.newLoader()
	dead, deadline := t.deadKeys(), t.deadline()
	most := min(r.max, batch.DefaultSize)
	for next = r.at; next < len(r.q.Prefix.Rows) && l.len() < most; next++ {
		left, whole := most-l.len(), false
		if r.q.Limit > 0 {
			wanted := r.q.Limit
			if next == r.at {
				wanted -= r.given
			}
			left, whole = min(left, wanted), wanted <= left
		}
		from, to := r.diskRange(next)
		n := 0
		err = r.scanDisk(disk, from, to, func(key, value []byte) (bool, error) {
			if dead.has(key) || t.writtenBefore(value, deadline) {
				return true, nil
			}
			n++
			r.cursorKey = append(r.cursorKey[:0], key...)
			return n < left, l.add(key, value)
		})
		if err != nil {
			return nil, 0, false, err
		}
		if n == left && !whole {
			return l, next, true, nil
		}
	}
	return l, next, false, nil
}

func (r *ranger) scanDisk(disk *lsm.Reader, from, to []byte, f func(key, value []byte) (bool, error)) error {
	switch {
	case from == nil || bytes.Compare(from, to) >= 0:
		return nil
	case r.q.Reverse:
		return disk.RangeBack(from, to, f)
	}
	return disk.Range(from, to, f)
}

// diskRange returns where the disk has the rows of a prefix that were not read
// yet, nil if it has none for sure.
func (r *ranger) diskRange(i int) (from, to []byte) {
	from, to = r.s.diskRange(r.q, r.q.Prefix.Rows[i])
	if from == nil || i > r.at || r.cursor == nil {
		return from, to
	}
	if r.q.Reverse {
		return from, slices.Clone(r.cursorKey)
	}
	return append(slices.Clone(r.cursorKey), 0), to
}

// diskRange returns where the disk has the rows of the range in a row of q, nil
// if it has none for sure.
func (s *space) diskRange(q *Ranges, row int32) (from, to []byte) {
	g := int(keyGroup(q.Prefix.groups()[row]))
	if s.t.spec.ByTask {
		g = taskGroup
	} else if s.groups[g>>6]&(1<<(g&63)) == 0 {
		return nil, nil
	}
	prefix := appendKeys(appendPrefix(nil, g, s.t.format.id, s.ns), q.Prefix.Cols, row)
	from, to = prefix, after(prefix)
	if len(q.From) > 0 {
		from = appendKeys(slices.Clone(prefix), q.From, row)
		if q.FromOpen {
			from = after(from)
		}
	}
	if len(q.To) > 0 {
		to = appendKeys(slices.Clone(prefix), q.To, row)
		if !q.ToOpen {
			to = after(to)
		}
	}
	return from, to
}

func appendKeys(buf []byte, cols []batch.Vector, row int32) []byte {
	for _, c := range cols {
		buf = batch.AppendKey(buf, c, int(row))
	}
	return buf
}

// give passes on the rows in memory of the prefixes before next, and of that one
// those that do not come after end, if it is given.
func (r *ranger) give(next int, end *bound) error {
	id := r.s.id
	for ; r.at < next; r.at++ {
		if err := r.giveRun(nil); err != nil || r.s.id != id {
			return err
		}
		r.cursor, r.given = nil, 0
	}
	if end == nil {
		return nil
	}
	last := *end
	last.open = false
	if err := r.giveRun(&last); err != nil || r.s.id != id {
		return err
	}
	if r.cursor = end; r.given == r.q.Limit && r.given > 0 {
		r.at++
		r.cursor, r.given = nil, 0
	}
	return nil
}

// giveRun passes on rows of the prefix that is next, up to the given one.
func (r *ranger) giveRun(end *bound) error {
	o, q := r.s.t.sorted, r.q
	row := q.Prefix.Rows[r.at]
	root := o.find(r.s, q.Prefix.Cols, q.Prefix.Hash[row], row)
	if root < 0 {
		return nil
	}
	from, to := o.bound(q.From, row, q.FromOpen), o.bound(q.To, row, q.ToOpen)
	first, last := &from, &to
	if q.Reverse {
		first, last = last, first
	}
	if r.cursor != nil {
		*first = r.cursor
	}
	if end != nil {
		*last = end
	}
	limit := r.s.t.rows
	if q.Limit > 0 {
		limit = q.Limit - r.given
	}
	r.run = o.collect(root, from, to, q.Reverse, limit, r.s.t.deadline(), r.run[:0])
	r.given += len(r.run)
	id := r.s.id
	for run := r.run; len(run) > 0; {
		n := min(len(run), r.max-len(r.slots))
		r.slots = append(r.slots, run[:n]...)
		for range n {
			r.of = append(r.of, int32(r.at))
		}
		run = run[n:]
		if len(r.slots) < r.max {
			continue
		}
		if err := r.flush(); err != nil || r.s.id != id {
			return err
		}
	}
	return nil
}

func (r *ranger) flush() error {
	if len(r.slots) == 0 {
		return nil
	}
	of, slots := r.of, r.slots
	r.of, r.slots = r.of[:0], r.slots[:0]
	r.s.t.touch(slots)
	return r.f(of, slots)
}

// DeleteRange implements Space.
func (s *space) DeleteRange(q *Ranges) error {
	if err := s.t.checkRanges(q); err != nil {
		return err
	}
	o := s.t.sorted
	var slots []int32
	for _, row := range q.Prefix.Rows {
		if root := o.find(s, q.Prefix.Cols, q.Prefix.Hash[row], row); root >= 0 {
			slots = o.collect(root, o.bound(q.From, row, q.FromOpen), o.bound(q.To, row, q.ToOpen), false, s.t.rows, math.MinInt64, slots[:0])
			s.t.touch(slots)
			s.Delete(slots)
		}
	}
	for _, row := range q.Prefix.Rows {
		if s.cold == 0 {
			break
		}
		if err := s.deleteCold(s.diskRange(q, row)); err != nil {
			return err
		}
	}
	s.listed()
	return nil
}

// deleteCold removes the rows in a range of the disk, none of which is in memory.
func (s *space) deleteCold(from, to []byte) error {
	t := s.t
	for from != nil && bytes.Compare(from, to) < 0 {
		disk, err := t.db.reader()
		if err != nil {
			return err
		}
		n, dead := 0, t.deadKeys()
		err = disk.Range(from, to, func(key, _ []byte) (bool, error) {
			if dead.has(key) {
				return true, nil
			}
			n++
			t.graves.rows.add(key)
			from = append(append(from[:0], key...), 0)
			return n < flushRows, nil
		})
		if s.cold -= int64(n); err != nil || n < flushRows {
			return err
		}
	}
	return nil
}
