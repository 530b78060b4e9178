package state

import (
	"bytes"
	"maps"

	"github.com/millstream-io/millstream/batch"
)

// graves lists what has to be removed from disk, in this order: single rows,
// ranges of them, then whole namespaces. Rows that are written come after all.
type graves struct {
	rows   keyList
	ranges []keyRange
	drops  []drop
}

// drop is a namespace that has gone. Its rows are removed one by one, and are
// among the graves already, or as a range of each key group.
type drop struct {
	ns     int64
	groups [2]uint64
	ranges bool
}

func (g *graves) empty() bool { return g.rows.len() == 0 && len(g.ranges) == 0 && len(g.drops) == 0 }

// fewRows is the number of rows up to which a namespace is removed row by row:
// the disk bears many single deletions better than many ranges.
const fewRows = 64

// bury notes that rows in memory are to be removed from disk.
func (t *table) bury(slots []int32) {
	if !t.db.tracking {
		return
	}
	var gone []int32
	for _, slot := range slots {
		if *t.flags.at(slot)&durable != 0 {
			gone = append(gone, slot)
		}
	}
	if len(gone) == 0 {
		return
	}
	cols := t.keyVectors(gone)
	for i, slot := range gone {
		t.format.appendPart(&t.graves.rows, t.spaces[t.meta.at(slot).owner].ns, *t.groups.at(slot), cols, i, t.partOf(slot))
	}
}

// buryAll notes that a space has gone. more says that the disk has, or may have,
// other rows than those in memory.
func (t *table) buryAll(s *space, more bool) {
	if t.db.freezing() {
		t.copyFirst(s.slots())
	}
	if !t.db.tracking || s.groups == [2]uint64{} {
		return
	}
	d := drop{ns: s.ns, groups: s.groups, ranges: more || s.rows > fewRows}
	if !d.ranges {
		t.bury(s.slots())
	}
	t.graves.drops = append(t.graves.drops, d)
}

// dead are rows that were removed and are still on disk, because a snapshot is
// being written. What it has does not change any more.
type dead struct {
	keys   map[string]bool
	ranges []keyRange
}

func (d *dead) has(key []byte) bool {
	if d.keys[string(key)] {
		return true
	}
	for _, r := range d.ranges {
		if r.has(key) {
			return true
		}
	}
	return false
}

func (t *table) deadKeys() dead {
	if t.db.disk.pending == nil {
		return dead{}
	}
	if n := t.graves.rows.len(); n > t.buried {
		keys := make(map[string]bool, n)
		maps.Copy(keys, t.dead)
		for ; t.buried < n; t.buried++ {
			keys[string(t.graves.rows.at(t.buried))] = true
		}
		t.dead = keys
	}
	return dead{t.dead, t.graves.ranges}
}

// slots returns the slots of all rows in memory.
func (s *space) slots() []int32 { return s.t.slotsOf(s) }

func (t *table) slotsOf(s *space) []int32 {
	out := make([]int32, 0, s.rows)
	for _, e := range s.ext {
		for slot := e.start; slot < e.start+e.size; slot++ {
			if *t.flags.at(slot)&live != 0 {
				out = append(out, slot)
			}
		}
	}
	return out
}

// fetch finds the rows of k that are in memory, and brings those that are on disk
// only back. It returns the indexes of the keys that memory did not have; their
// slots are -1 yet. The list is good until the next call.
func (s *space) fetch(k *Keys, slots []int32) (absent []int32, err error) {
	t := s.t
	s.lookup(k, slots)
	keys := &t.wanted
	keys.reset()
	t.absent = t.absent[:0]
	groups := k.groups()
	for i, r := range k.Rows {
		if slots[i] < 0 {
			t.absent = append(t.absent, int32(i))
			t.format.appendKey(keys, s.ns, keyGroup(groups[r]), k.Cols, int(r))
		}
	}
	if keys.len() == 0 {
		return nil, nil
	}
	r, err := t.db.reader()
	if err != nil {
		return nil, err
	}
	l, dead := t.newLoader(), t.deadKeys()
	var last []byte
	for _, i := range keys.sorted() {
		key := keys.at(int(i))
		if bytes.Equal(key, last) {
			continue
		}
		last = key
		value, ok, err := r.Get(key)
		if err != nil {
			return nil, err
		}
		if !ok || dead.has(key) {
			continue
		}
		if err := l.add(key, value); err != nil {
			return nil, err
		}
	}
	if n := l.len(); n > 0 {
		_, came := l.insert(s, l.rowKeys(), batch.All(n))
		s.cold -= int64(len(came))
	}
	return t.absent, nil
}

// scanCold is the part of Scan behind the rows in memory. It brings the rest
// into memory in the order of their keys, and calls f with them. Where there is
// no room, what f has not changed goes again at once.
func (s *space) scanCold(limit int, f func(slots []int32) error) (err error) {
	t, id := s.t, s.id
	limit = min(limit, batch.DefaultSize)
	r, err := t.db.newReader()
	if err != nil {
		return err
	}
	l, dead, deadline := t.newLoader(), t.deadKeys(), t.deadline()
	flush := func() (more bool, err error) {
		if l.len() == 0 {
			return true, nil
		}
		slots := l.store(s)
		l = t.newLoader()
		s.cold -= int64(len(slots))
		if len(slots) > 0 {
			err = f(slots)
		}
		if err == nil && s.id == id && t.db.crowded() {
			s.leaveClean(slots)
		}
		return err == nil && s.id == id, err
	}
	more := true
	t.format.eachGroup(s.groups, func(g int) {
		if err != nil || !more {
			return
		}
		from := appendPrefix(nil, g, t.format.id, s.ns)
		err = r.Range(from, after(from), func(key, value []byte) (bool, error) {
			if dead.has(key) || t.writtenBefore(value, deadline) {
				return true, nil
			}
			if err := l.add(key, value); err != nil {
				return false, err
			}
			if l.len() < limit {
				return true, nil
			}
			more, err = flush()
			return more, err
		})
	})
	if err == nil && more {
		_, err = flush()
	}
	if cerr := r.Close(); err == nil {
		err = cerr
	}
	return err
}

// leaveClean makes those of the given rows leave memory that are on disk as they
// are. Some may have been deleted.
func (s *space) leaveClean(slots []int32) {
	t := s.t
	for _, slot := range slots {
		if *t.flags.at(slot)&(live|dirty|durable) == live|durable && t.meta.at(slot).owner == s.id {
			t.leave(slot)
		}
	}
	t.nextPart()
	s.listed()
}
