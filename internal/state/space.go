package state

import (
	"math/bits"
	"slices"

	"github.com/millstream-io/millstream/batch"
)

// smallSpace is the number of rows up to which a space has no hash index and
// its slots are looked through.
const smallSpace = 8

// space is one namespace of a table. Its slots are extents of the table's
// columns; it only has a hash index of its own.
type space struct {
	t     *table
	ns    int64
	index []uint64
	ext   []extent
	// next and end bound what is unused of the last extent; virgin says that
	// it was never used by anyone.
	next, end int32
	virgin    bool
	// empty is set while the space is in the table's list of empty ones.
	empty bool
	// runIndex finds the runs of an ordered table by the hash of their prefix;
	// runs is their number.
	runIndex []uint64
	runs     int32
	// free has the slots of deleted rows.
	free []int32
	id   int32
	// heapAt is the place in the table's heap, -1 if there are no rows.
	heapAt int32
	rows   int32
	// cold is the number of rows that are on disk only.
	cold int64
	// groups has a bit for each key group that may have rows on disk.
	groups [2]uint64
}

// Upsert implements Space.
func (s *space) Upsert(k *Keys, slots []int32) ([]int32, error) {
	t := s.t
	var fresh []int32
	if s.cold > 0 && !t.mergeable() {
		absent, err := s.fetch(k, slots)
		if err != nil {
			return nil, err
		}
		fresh = s.upsertAbsent(k, slots, absent)
	} else {
		fresh = s.upsert(k, slots)
		t.touch(slots[:len(k.Rows)])
	}
	if t.mortal != nil {
		t.stampAt(slots, fresh)
		fresh = s.renew(slots[:len(k.Rows)], fresh)
	}
	if len(fresh) > 0 {
		if err := t.checkKeys(k, fresh[0]); err != nil {
			return nil, err
		}
	}
	return fresh, nil
}

// upsertAbsent is the part of Upsert for the keys at the indexes absent of k, which
// memory did not have before this call. The others have their slots.
func (s *space) upsertAbsent(k *Keys, slots, absent []int32) []int32 {
	t := s.t
	if len(absent) == 0 {
		t.touch(slots[:len(k.Rows)])
		return nil
	}
	part, found := t.subset(k, absent)
	fresh := s.upsert(part, found)
	for i, at := range absent {
		slots[at] = found[i]
	}
	t.touch(slots[:len(k.Rows)])
	t.arrived(found)
	for i, at := range fresh {
		fresh[i] = absent[at]
	}
	return fresh
}

// subset returns the keys at some indexes of k, with room for their slots.
func (t *table) subset(k *Keys, at []int32) (part *Keys, slots []int32) {
	t.partRows = t.partRows[:0]
	for _, i := range at {
		t.partRows = append(t.partRows, k.Rows[i])
	}
	t.partKeys = Keys{Cols: k.Cols, Hash: k.Hash, Group: k.Group, Rows: t.partRows}
	t.partSlots = slices.Grow(t.partSlots[:0], len(at))[:len(at)]
	return &t.partKeys, t.partSlots
}

// upsert is Upsert in memory. It runs column by column: first each row gets the
// slot of the first key with the same hash, or a new one, then the keys are
// compared. Rows whose slot has another key, one in millions, are done singly.
func (s *space) upsert(k *Keys, slots []int32) []int32 {
	t := s.t
	t.fresh, t.recycled = t.fresh[:0], t.recycled[:0]
	at := 0
	if s.index == nil {
		at = s.insertSmall(k, slots)
	}
	if at < len(k.Rows) {
		s.insertHashed(k, slots, at)
	}
	t.storeKeys(k, slots, t.fresh)
	if bad := t.compare(k, slots); len(bad) > 0 {
		s.insertUnsure(k, slots, bad)
	}
	if len(t.fresh) > 0 {
		if t.sorted != nil {
			t.sorted.link(s, k, slots, t.fresh)
		}
		for _, c := range t.vals {
			reset(c, t.recycled)
		}
		s.number(slots)
		s.listed()
	}
	return t.fresh
}

// insertSmall works through the rows until the space is no longer small, and
// returns how many it did.
func (s *space) insertSmall(k *Keys, slots []int32) int {
	groups := k.groups()
	for i, r := range k.Rows {
		low := uint32(k.Hash[r])
		slot := s.findSmall(low)
		if slot < 0 {
			if slot = s.add(low, groups[r], int32(i)); s.rows > smallSpace {
				s.makeIndex()
				slots[i] = slot
				return i + 1
			}
		}
		slots[i] = slot
	}
	return len(k.Rows)
}

func (s *space) findSmall(low uint32) int32 {
	t := s.t
	for _, e := range s.ext {
		for slot := e.start; slot < e.start+e.size; slot++ {
			if t.meta.at(slot).low == low && *t.flags.at(slot)&live != 0 {
				return slot
			}
		}
	}
	return -1
}

func (s *space) insertHashed(k *Keys, slots []int32, from int) {
	index, hash, groups := s.index, k.Hash, k.groups()
	out := slots[from:len(k.Rows)]
	for i, r := range k.Rows[from:] {
		low := uint32(hash[r])
		p := home(low, len(index))
		for {
			x := index[p]
			if x == 0 {
				slot := s.add(low, groups[r], int32(from+i))
				out[i] = slot
				index[p] = entry(low, slot)
				if crammed(s.rows, index) {
					s.growIndex()
					index = s.index
				}
				break
			}
			if uint32(x>>32) == low {
				out[i] = int32(uint32(x)) - 1
				break
			}
			p = behind(p, index)
		}
	}
}

// insertUnsure finds or makes the rows at the indexes bad one by one.
func (s *space) insertUnsure(k *Keys, slots, bad []int32) {
	t := s.t
	slices.Sort(bad)
	before := len(t.fresh)
	for _, i := range bad {
		if slots[i] = s.findExact(k, i); slots[i] >= 0 {
			continue
		}
		r := k.Rows[i]
		low := uint32(k.Hash[r])
		slot := s.add(low, k.groups()[r], i)
		slots[i] = slot
		if s.index != nil {
			s.enter(low, slot)
			if crammed(s.rows, s.index) {
				s.growIndex()
			}
		} else if s.rows > smallSpace {
			s.makeIndex()
		}
		t.storeKeys(k, slots, t.fresh[len(t.fresh)-1:])
	}
	if len(t.fresh) > before {
		slices.Sort(t.fresh)
	}
}

// Lookup implements Space.
func (s *space) Lookup(k *Keys, slots []int32) error {
	t := s.t
	switch {
	case s.cold == 0:
		s.lookup(k, slots)
		t.touch(slots[:len(k.Rows)])
	case t.mergeable():
		if err := s.complete(k, slots); err != nil {
			return err
		}
		s.lookup(k, slots)
		t.touch(slots[:len(k.Rows)])
	default:
		absent, err := s.fetch(k, slots)
		if err != nil {
			return err
		}
		part, found := t.subset(k, absent)
		s.lookup(part, found)
		for i, at := range absent {
			slots[at] = found[i]
		}
		t.touch(slots[:len(k.Rows)])
		t.arrived(found)
	}
	if t.mortal != nil {
		s.disown(slots[:len(k.Rows)])
	}
	return nil
}

// lookup is Lookup in memory.
func (s *space) lookup(k *Keys, slots []int32) {
	slots = slots[:len(k.Rows)]
	if s.index == nil {
		for i, r := range k.Rows {
			slots[i] = s.findSmall(uint32(k.Hash[r]))
		}
	} else {
		index := s.index
		for i, r := range k.Rows {
			low := uint32(k.Hash[r])
			p := home(low, len(index))
			x := index[p]
			for x != 0 && uint32(x>>32) != low {
				p = behind(p, index)
				x = index[p]
			}
			slots[i] = int32(uint32(x)) - 1
		}
	}
	for _, i := range s.t.compare(k, slots) {
		slots[i] = s.findExact(k, i)
	}
}

// findExact returns the slot of the key of the row k.Rows[i], or -1.
func (s *space) findExact(k *Keys, i int32) int32 {
	low := uint32(k.Hash[k.Rows[i]])
	if s.index == nil {
		for _, e := range s.ext {
			for slot := e.start; slot < e.start+e.size; slot++ {
				if s.t.meta.at(slot).low == low && *s.t.flags.at(slot)&live != 0 && s.t.same(k, i, slot) {
					return slot
				}
			}
		}
		return -1
	}
	for p := home(low, len(s.index)); s.index[p] != 0; p = behind(p, s.index) {
		if x := s.index[p]; uint32(x>>32) == low {
			if slot := int32(uint32(x)) - 1; s.t.same(k, i, slot) {
				return slot
			}
		}
	}
	return -1
}

// add takes a slot for a new row, the i-th of a batch of keys. group is the hash
// that decides its key group. The index is up to the caller.
func (s *space) add(low uint32, group uint64, i int32) int32 {
	slot, recycled := s.takeSlot()
	t := s.t
	*t.meta.at(slot) = slotMeta{low: low, owner: s.id}
	*t.groups.at(slot) = keyGroup(group)
	t.fresh = append(t.fresh, i)
	if recycled {
		t.recycled = append(t.recycled, slot)
	}
	*t.flags.at(slot) = t.newFlags
	if t.newFlags&dirty != 0 {
		t.dirty.add(*t.groups.at(slot), slot)
	}
	s.rows++
	t.rows++
	return slot
}

func (s *space) takeSlot() (slot int32, recycled bool) {
	if n := len(s.free); n > 0 {
		slot = s.free[n-1]
		s.free = s.free[:n-1]
		return slot, true
	}
	if s.next == s.end {
		s.extend()
	}
	slot = s.next
	s.next++
	return slot, !s.virgin
}

// extend adds an extent as large as all that the space has.
func (s *space) extend() {
	size := int32(0)
	for i := len(s.ext) - 1; i >= 0 && size < pageMask; i-- {
		size += s.ext[i].size
	}
	size = min(max(size, 1), pageMask+1)
	e, virgin := s.t.alloc.alloc(1 << (bits.Len32(uint32(size)) - 1))
	if virgin {
		s.t.growTo(int(s.t.alloc.next))
	}
	s.ext = append(s.ext, e)
	s.next, s.end, s.virgin = e.start, e.start+e.size, virgin
}

// makeIndex gives a space that has grown an index of all its rows.
func (s *space) makeIndex() {
	s.index = s.t.indexes.get(4 * smallSpace)
	for _, e := range s.ext {
		for slot := e.start; slot < e.start+e.size; slot++ {
			if *s.t.flags.at(slot)&live != 0 {
				s.enter(s.t.meta.at(slot).low, slot)
			}
		}
	}
}

// enter puts a slot into the index, which has room.
func (s *space) enter(low uint32, slot int32) { putEntry(s.index, entry(low, slot)) }

// growIndex makes the index larger, or as large as that of the space that went
// last, if the two seem to be alike.
func (s *space) growIndex() {
	t := s.t
	size := indexSize(len(s.index) + 1)
	if like := t.indexes.last; like > size && like <= 4*size {
		size = like
	}
	s.index = t.indexes.grow(s.index, size)
}

// leave takes a slot out of the index.
func (s *space) leave(slot int32) { removeEntry(s.index, entry(s.t.meta.at(slot).low, slot)) }

// Cols implements Space.
func (s *space) Cols() []batch.Column { return s.t.vals[len(s.t.vals)-len(s.t.spec.Value):] }

// Keys implements Space.
func (s *space) Keys(slots []int32) []batch.Vector { return s.t.keyVectors(slots) }

// Len implements Space.
func (s *space) Len() (int, error) { return int(s.rows) + int(s.cold), nil }

// Dirty implements Space.
func (s *space) Dirty(slots []int32) {
	if s.t.mortal != nil {
		s.t.stamp(slots)
	}
	s.mark(slots)
}

// mark notes that rows differ from those on disk.
func (s *space) mark(slots []int32) {
	t := s.t
	if !t.db.tracking {
		return
	}
	for _, slot := range slots {
		if f := t.flags.at(slot); *f&t.db.dirtyBit == 0 {
			*f |= t.db.dirtyBit
			t.dirty.add(*t.groups.at(slot), slot)
		}
	}
}

// Delete implements Space.
func (s *space) Delete(slots []int32) {
	t := s.t
	t.bury(slots)
	for _, slot := range slots {
		s.forget(slot)
	}
	s.listed()
}

// forget frees the slot of a row.
func (s *space) forget(slot int32) {
	if s.index != nil {
		s.leave(slot)
	}
	if s.t.sorted != nil {
		s.t.sorted.unlink(s, slot)
	}
	*s.t.flags.at(slot) = 0
	s.free = append(s.free, slot)
	s.rows--
	s.t.rows--
}

// listed keeps the space in the table's order of namespaces if and only if it
// has rows. An empty one keeps its memory until the event is over.
func (s *space) listed() {
	t := s.t
	has := s.rows > 0 || s.cold > 0
	switch {
	case has && s.heapAt < 0:
		t.order.push(s)
	case !has && s.heapAt >= 0:
		t.order.remove(s)
		t.noteEmpty(s)
	}
}

// Scan implements Space.
func (s *space) Scan(limit int, f func(slots []int32) error) error {
	if s.t.sorted != nil {
		return s.scanOrdered(limit, f)
	}
	if s.cold > 0 && s.t.mergeable() {
		return s.scanPartials(limit, f)
	}
	id := s.id
	if err := s.scanMemory(limit, 0, f); err != nil || s.cold == 0 || s.id != id {
		return err
	}
	return s.scanCold(limit, f)
}

// scanMemory is the part of Scan for the rows in memory, without those that have
// a flag of skip.
func (s *space) scanMemory(limit int, skip uint8, f func(slots []int32) error) error {
	buf := make([]int32, 0, min(limit, int(s.rows)+1))
	t, id := s.t, s.id
	// f may delete rows and so empty the space; it cannot add any.
	ext, next, end := s.ext, s.next, s.end
	for _, e := range ext {
		last := e.start + e.size
		if last == end {
			last = next
		}
		for slot := e.start; slot < last; slot++ {
			if *t.flags.at(slot)&(live|skip) != live {
				continue
			}
			buf = append(buf, slot)
			if len(buf) < limit {
				continue
			}
			t.copyFirst(buf)
			if buf = s.living(buf); len(buf) > 0 {
				if err := f(buf); err != nil {
					return err
				}
			}
			buf = buf[:0]
			if s.id != id {
				return nil
			}
		}
	}
	if len(buf) > 0 {
		t.copyFirst(buf)
		if buf = s.living(buf); len(buf) > 0 {
			return f(buf)
		}
	}
	return nil
}
