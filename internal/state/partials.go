package state

import (
	"bytes"
	"encoding/binary"

	"github.com/millstream-io/millstream/batch"
)

// The rows of a mergeable table are written blind: a key that is not in memory
// gets a new row there without a look at the disk, where older ones may be, its
// partials. Each has a number that is part of its key on disk, so that none
// overwrites another, and so that they come in the order in which they were
// made. A row of number 0 is all that there is of its key.

func (t *table) mergeable() bool { return t.spec.Merge != nil }

// partOf returns the number of a row among the partials of its key.
func (t *table) partOf(slot int32) uint32 {
	if t.parts == nil {
		return 0
	}
	return *t.parts.at(slot)
}

func (t *table) setPart(slot int32, part uint32) {
	if t.parts == nil {
		if part == 0 {
			return
		}
		t.parts = make(pages[uint32], 0)
		t.parts.grow(int(t.alloc.next))
	}
	*t.parts.at(slot) = part
}

// number gives the rows that upsert has made their number: 0 while the disk has
// no rows of the namespace but those in memory, and otherwise one that no row
// on disk has.
func (s *space) number(slots []int32) {
	t, part := s.t, uint32(0)
	if t.mergeable() && s.cold > 0 {
		part = t.part
	}
	if part == 0 && t.parts == nil {
		return
	}
	for _, i := range t.fresh {
		t.setPart(slots[i], part)
	}
}

// nextPart is called when rows have left memory: those of their keys that are
// made from now on are others.
func (t *table) nextPart() {
	if t.mergeable() {
		t.part++
	}
}

// number notes the number of a row that is read, and whether its key is a new
// one. rest is what follows the key columns in key.
func (l *loader) number(key, rest []byte) error {
	part := uint32(0)
	switch {
	case len(rest) == partSize && l.t.mergeable():
		part = binary.BigEndian.Uint32(rest)
		key = key[:len(key)-partSize]
	case len(rest) > 0:
		return batch.ErrEncoding
	}
	if !l.t.mergeable() {
		return nil
	}
	if !l.repeats(key) {
		l.heads = append(l.heads, int32(len(l.parts)))
		l.last = append(l.last[:0], key...)
	}
	l.parts = append(l.parts, part)
	return nil
}

// repeats reports whether key, without its head, is that of the last row. No key
// begins with another one.
func (l *loader) repeats(key []byte) bool {
	return len(l.heads) > 0 && bytes.HasPrefix(key, l.last)
}

// count is the number of different keys that were read.
func (l *loader) count() int {
	if l.t.mergeable() {
		return len(l.heads)
	}
	return l.len()
}

// full reports whether the row under key should wait for the next batch of at
// most limit keys.
func (l *loader) full(key []byte, limit int) bool {
	return l.count() >= limit && !l.repeats(key[rowKeyHead:])
}

// gathering is what is known of keys that were read from disk, one place each.
type gathering struct {
	l *loader
	// rows has the values: slots that are no rows of the space, or rows.
	rows []int32
	// mem are the rows in memory, or -1.
	mem []int32
	// slots has what was read, by index in l; it is given back at the end.
	slots []int32
	// chains are the slots of a key in the order in which they were made, that in
	// memory last.
	chains [][]int32
}

// gather merges what was read from disk with what memory has of the same keys,
// in slots of its own. Rows on disk that are older forms of those in memory are
// left out.
func (l *loader) gather(s *space) (*gathering, error) {
	t, n := l.t, l.len()
	if !t.mergeable() {
		l.heads = batch.All(n)
	}
	k := &Keys{Cols: l.keys, Hash: batch.Hash(l.keys, nil, n, nil), Group: l.groups, Rows: l.heads}
	g := &gathering{l: l, mem: make([]int32, len(l.heads)), slots: make([]int32, n)}
	s.lookup(k, g.mem)
	t.copyFirst(g.mem)
	for i := range g.slots {
		slot, _ := s.takeSlot()
		*t.meta.at(slot) = slotMeta{low: uint32(k.Hash[i]), owner: s.id}
		*t.groups.at(slot) = keyGroup(l.groups[i])
		g.slots[i] = slot
	}
	all := batch.All(n)
	for i, c := range t.keys {
		c.Set(g.slots, l.keys[i], all)
	}
	for i, c := range t.vals {
		c.Set(g.slots, l.vals[i], all)
	}
	g.link()
	return g, g.merge()
}

// partials are the indexes in l of the partials of the i-th key, from and to.
func (g *gathering) partials(i int) (from, to int) {
	if i+1 < len(g.l.heads) {
		return int(g.l.heads[i]), int(g.l.heads[i+1])
	}
	return int(g.l.heads[i]), g.l.len()
}

// stale reports whether what was read at index at is an older form of the row m
// in memory.
func (g *gathering) stale(at int, m int32) bool {
	return m >= 0 && (!g.l.t.mergeable() || g.l.parts[at] == g.l.t.partOf(m))
}

// readAgain reports whether an older form of the row that memory has of the i-th
// key was read. It was not if only a snapshot that is not written yet has it.
func (g *gathering) readAgain(i int) bool {
	from, to := g.partials(i)
	for at := from; at < to; at++ {
		if g.stale(at, g.mem[i]) {
			return true
		}
	}
	return false
}

// link makes the chains.
func (g *gathering) link() {
	buf := make([]int32, 0, len(g.slots)+len(g.mem))
	g.chains, g.rows = make([][]int32, 0, len(g.mem)), make([]int32, 0, len(g.mem))
	for i, m := range g.mem {
		start := len(buf)
		from, to := g.partials(i)
		for at := from; at < to; at++ {
			if !g.stale(at, m) {
				buf = append(buf, g.slots[at])
			}
		}
		if m >= 0 {
			buf = append(buf, m)
		}
		g.chains = append(g.chains, buf[start:])
		g.rows = append(g.rows, buf[start])
	}
}

// merge folds each chain into its first slot.
func (g *gathering) merge() error {
	t := g.l.t
	var into, from []int32
	for j := 1; ; j++ {
		into, from = into[:0], from[:0]
		for _, c := range g.chains {
			if len(c) > j {
				into, from = append(into, c[0]), append(from, c[j])
			}
		}
		if len(into) == 0 {
			return nil
		}
		if err := t.spec.Merge(t.vals, into, from); err != nil {
			return err
		}
	}
}

// release gives the slots back that have not become rows.
func (g *gathering) release(s *space) {
	t := s.t
	for _, slot := range g.slots {
		if *t.flags.at(slot)&live == 0 {
			s.free = append(s.free, slot)
			t.dropBytes(slot)
		}
	}
}

// dropBytes gives up the strings of a slot that holds no row.
func (t *table) dropBytes(slot int32) {
	for _, c := range t.strings {
		c.Reset(slot)
	}
}

// adopt makes rows of the space of what was gathered, and returns their slots.
// Where a key had several partials, those on disk are void from now on.
func (g *gathering) adopt(s *space) []int32 {
	t, l := s.t, g.l
	var changed []int32
	for i, head := range l.heads {
		chain, m := g.chains[i], g.mem[i]
		read := len(chain)
		if m >= 0 {
			read--
		}
		s.cold -= int64(read)
		if read == 0 {
			continue
		}
		if len(chain) > 1 {
			g.bury(s, i)
		}
		switch {
		case m >= 0:
			move(t.vals, []int32{m}, t.vals, chain[:1], []int32{0})
			g.rows[i] = m
			t.setPart(m, 0)
			*t.flags.at(m) &^= durable
			changed = append(changed, m)
		case read > 1:
			s.enroll(chain[0], live)
			t.setPart(chain[0], 0)
			changed = append(changed, chain[0])
		default:
			s.enroll(chain[0], live|durable)
			t.setPart(chain[0], l.parts[head])
		}
	}
	g.release(s)
	s.listed()
	s.Dirty(changed)
	t.touch(g.rows)
	return g.rows
}

// loaded are the rows of keys that memory did not have. (Others may be in memory
// only, though they are clean: a snapshot has copied them and is not written yet.)
func (g *gathering) loaded() []int32 {
	var out []int32
	for i, m := range g.mem {
		if m < 0 {
			out = append(out, g.rows[i])
		}
	}
	return out
}

// bury removes the partials of the i-th key from disk, and the row in memory.
func (g *gathering) bury(s *space, i int) {
	t, l, m := s.t, g.l, g.mem[i]
	if !t.db.tracking {
		return
	}
	if m >= 0 {
		t.bury([]int32{m})
	}
	from, to := g.partials(i)
	for at := from; at < to; at++ {
		if !g.stale(at, m) {
			t.format.appendPart(&t.graves.rows, s.ns, keyGroup(l.groups[at]), l.keys, at, l.parts[at])
		}
	}
}

// enroll makes a row of a slot that the space has taken and filled.
func (s *space) enroll(slot int32, flags uint8) {
	t := s.t
	*t.flags.at(slot) = flags
	s.rows++
	t.rows++
	switch {
	case s.index != nil:
		s.enter(t.meta.at(slot).low, slot)
		if crammed(s.rows, s.index) {
			s.growIndex()
		}
	case s.rows > smallSpace:
		s.makeIndex()
	}
}

// complete merges what disk and memory have of the keys of k, in memory. slots
// is scratch.
func (s *space) complete(k *Keys, slots []int32) error {
	t := s.t
	s.lookup(k, slots)
	keys := &t.wanted
	keys.reset()
	groups := k.groups()
	for i, r := range k.Rows {
		if slots[i] < 0 || t.partOf(slots[i]) > 0 {
			t.format.appendKey(keys, s.ns, keyGroup(groups[r]), k.Cols, int(r))
		}
	}
	if keys.len() == 0 {
		return nil
	}
	r, err := t.db.reader()
	if err != nil {
		return err
	}
	l, dead := t.newLoader(), t.deadKeys()
	var last []byte
	for _, i := range keys.sorted() {
		key := keys.at(int(i))
		if last != nil && bytes.Equal(key, last) {
			continue
		}
		last = key
		err := r.Range(key, after(key), func(key, value []byte) (bool, error) {
			if dead.has(key) {
				return true, nil
			}
			return true, l.add(key, value)
		})
		if err != nil {
			return err
		}
	}
	if l.len() == 0 {
		return nil
	}
	g, err := l.gather(s)
	if err != nil {
		g.release(s)
		return err
	}
	g.adopt(s)
	return nil
}

// scanPartials is Scan of a mergeable table with rows on disk: first come the
// keys that are there, merged with what memory has of them, and then the others.
func (s *space) scanPartials(limit int, f func(slots []int32) error) error {
	t, id := s.t, s.id
	err := s.eachBatch(limit, func(l *loader) (bool, error) {
		g, err := l.gather(s)
		if err != nil {
			g.release(s)
			return false, err
		}
		slots := g.adopt(s)
		for _, slot := range slots {
			*t.flags.at(slot) |= seen
		}
		if err := f(slots); err != nil {
			return false, err
		}
		if s.id == id && t.db.crowded() {
			s.leaveClean(g.loaded())
		}
		return s.id == id, nil
	})
	if s.id != id {
		return err
	}
	if err == nil {
		err = s.scanMemory(limit, seen, f)
	}
	if s.id == id {
		for _, slot := range s.slots() {
			*t.flags.at(slot) &^= seen
		}
	}
	return err
}
