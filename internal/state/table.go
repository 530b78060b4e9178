package state

import (
	"fmt"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// table is one table of a DB. The rows of all its namespaces share the columns;
// a namespace owns extents of slots.
type table struct {
	db   *DB
	spec Spec
	// format is how the rows are written to disk.
	format rowFormat
	keys   []batch.Column
	// vals are the value columns, of types; mortal is nil for rows that live for
	// ever, otherwise the first of vals is not one of the operator.
	vals  []batch.Column
	types []types.Type
	// strings are the columns of both whose values take memory of their own.
	strings []*batch.BytesSlab
	mortal  *mortality
	meta    pages[slotMeta]
	flags   pages[uint8]
	// groups has the key group of each row.
	groups pages[uint8]
	// parts has the number of each row among the partials of its key, part is that
	// of rows that are made now; see number.
	parts pages[uint32]
	part  uint32
	alloc slotAlloc
	// sorted is nil for tables without an order.
	sorted *ordering

	byNS   map[int64]*space
	spaces []*space
	ids    []int32
	order  nsHeap
	last   *space
	// empty lists spaces that had no rows at some time in this event.
	empty   []*space
	pool    []*space
	indexes indexPool
	// rows is the number of rows in memory.
	rows int

	// newFlags are the flags of a row that is made.
	newFlags uint8
	// dirty lists the slots that were flagged dirty; some may be free by now,
	// or be listed twice.
	dirty  slotList
	graves graves
	// frozen lists the slots that the snapshot under way has to copy, as dirty
	// does.
	frozen slotList
	// dead are the keys among the graves, the first buried of them; only a read
	// beside a snapshot needs it.
	dead   map[string]bool
	buried int
	// wanted are the keys that fetch looks for.
	wanted keyList
	// absent are the indexes of the keys that memory did not have, partRows,
	// partSlots and partKeys those keys; see subset.
	absent              []int32
	partRows, partSlots []int32
	partKeys            Keys
	// hand is where the clock of eviction stands, leaving lists the rows that it
	// has picked; some may have gone by now, or be in use again.
	hand    int32
	leaving []int32
	// warmed has no meaning; see warm.
	warmed uint64

	// fresh and recycled are the rows that the last Upsert has made: their
	// indexes in the batch of keys, and the slots that were in use before.
	fresh, recycled []int32
	// rowBuf, slotBuf, bad, one and oneRow are scratch.
	rowBuf, slotBuf, bad []int32
	copyBuf              []int32
	hashBuf              []uint64
	one, oneRow          [1]int32
}

func newTable(db *DB, spec Spec, id uint16) *table {
	t := &table{db: db, spec: spec, format: rowFormat{id, spec.ByTask}, byNS: make(map[int64]*space), newFlags: db.newFlags(), part: 1}
	if t.types = spec.Value; spec.TTL > 0 {
		t.types = append([]types.Type{writtenType}, spec.Value...)
		t.mortal = &mortality{stretchRows: stretchRows}
	}
	t.setColumns()
	t.sorted = newOrdering(t)
	return t
}

func newColumns(list []types.Type) []batch.Column {
	out := make([]batch.Column, len(list))
	for i, typ := range list {
		out[i] = batch.NewColumn(typ)
	}
	return out
}

// Space implements Table.
func (t *table) Space(ns int64) Space { return t.space(ns) }

func (t *table) space(ns int64) *space {
	if t.last != nil && t.last.ns == ns {
		return t.last
	}
	s, ok := t.byNS[ns]
	if !ok {
		s = t.newSpace(ns)
		t.noteEmpty(s)
	}
	t.last = s
	return s
}

func (t *table) newSpace(ns int64) *space {
	var s *space
	if n := len(t.pool); n > 0 {
		s = t.pool[n-1]
		t.pool = t.pool[:n-1]
		*s = space{ext: s.ext[:0], free: s.free[:0]}
	} else {
		s = &space{}
	}
	s.t, s.ns, s.heapAt = t, ns, -1
	if n := len(t.ids); n > 0 {
		s.id = t.ids[n-1]
		t.ids = t.ids[:n-1]
		t.spaces[s.id] = s
	} else {
		s.id = int32(len(t.spaces))
		t.spaces = append(t.spaces, s)
	}
	t.byNS[ns] = s
	return s
}

func (t *table) noteEmpty(s *space) {
	if !s.empty {
		s.empty = true
		t.empty = append(t.empty, s)
	}
}

// Namespaces implements Table.
func (t *table) Namespaces(upTo int64) ([]int64, error) { return t.order.upTo(upTo), nil }

// First implements Table.
func (t *table) First() (ns int64, ok bool, err error) {
	if len(t.order) == 0 {
		return 0, false, nil
	}
	return t.order[0].ns, true, nil
}

// Drop implements Table. Its cost does not depend on the number of rows, but
// for one byte each.
func (t *table) Drop(ns int64) error {
	if s, ok := t.byNS[ns]; ok {
		t.buryAll(s, s.cold > 0)
		t.discard(s)
	}
	return nil
}

// discard takes back all that a space has in memory, and forgets it.
func (t *table) discard(s *space) {
	if s.heapAt >= 0 {
		t.order.remove(s)
	}
	t.rows -= int(s.rows)
	t.releaseMemory(s)
	delete(t.byNS, s.ns)
	t.spaces[s.id] = nil
	t.ids = append(t.ids, s.id)
	s.id, s.rows, s.cold, s.groups = -1, 0, 0, [2]uint64{}
	if t.last == s {
		t.last = nil
	}
	// A space that is listed as empty is pooled when the event is over.
	if !s.empty {
		t.keep(s)
	}
}

// releaseMemory gives the slots and the index of a space to others.
func (t *table) releaseMemory(s *space) {
	for _, e := range s.ext {
		t.clearFlags(e)
		t.alloc.release(e)
	}
	if s.index != nil {
		t.indexes.last = len(s.index)
		t.indexes.put(s.index)
	}
	if s.runIndex != nil {
		t.indexes.put(s.runIndex)
	}
	s.ext, s.free, s.index, s.runIndex = s.ext[:0], s.free[:0], nil, nil
	s.next, s.end, s.runs = 0, 0, 0
}

// keep pools the small struct of a space for the next one.
func (t *table) keep(s *space) {
	const most, mostExtents = 256, 64
	if len(t.pool) < most && cap(s.ext) <= mostExtents && cap(s.free) <= mostExtents {
		t.pool = append(t.pool, s)
	}
}

func (t *table) clearFlags(e extent) {
	for start := e.start; start < e.start+e.size; {
		page := t.flags[start>>pageBits]
		lo := int(start & pageMask)
		hi := min(lo+int(e.start+e.size-start), len(page))
		clear(page[lo:hi])
		start += int32(hi - lo)
	}
}

// sweep drops the spaces that have stayed empty.
func (t *table) sweep() {
	for i, s := range t.empty {
		t.empty[i] = nil
		s.empty = false
		switch {
		case s.id < 0:
			t.keep(s)
		case s.rows == 0 && s.cold == 0:
			t.buryAll(s, false)
			t.discard(s)
		}
	}
	t.empty = t.empty[:0]
}

// growTo makes slots up to n exist.
func (t *table) growTo(n int) {
	t.meta.grow(n)
	t.flags.grow(n)
	t.groups.grow(n)
	if t.sorted != nil {
		t.sorted.grow(n)
	}
	if t.parts != nil {
		t.parts.grow(n)
	}
	for _, c := range t.keys {
		c.Grow(n)
	}
	for _, c := range t.vals {
		c.Grow(n)
	}
}

// storeKeys writes the keys of new rows, those at the given indexes of k.
func (t *table) storeKeys(k *Keys, slots, at []int32) {
	if len(at) == 0 {
		return
	}
	rowBuf, slotBuf := t.rowBuf[:0], t.slotBuf[:0]
	for _, i := range at {
		rowBuf = append(rowBuf, k.Rows[i])
		slotBuf = append(slotBuf, slots[i])
	}
	for i, c := range t.keys {
		c.Set(slotBuf, k.Cols[i], rowBuf)
	}
	t.rowBuf, t.slotBuf = rowBuf, slotBuf
}

// groups are the hashes that decide the key groups.
func (k *Keys) groups() []uint64 {
	if k.Group != nil {
		return k.Group
	}
	return k.Hash
}

func keyGroup(h uint64) uint8 { return uint8(batch.KeyGroup(h)) }

// checkKeys looks at one new row of a batch, the i-th of k: rows whose hashes
// are not those of their keys would not be found again on disk, and rows of
// foreign key groups would be lost when the parallelism changes.
func (t *table) checkKeys(k *Keys, i int32) error {
	r := k.Rows[i]
	t.oneRow[0] = r
	t.hashBuf = batch.Hash(k.Cols, t.oneRow[:], len(k.Hash), t.hashBuf)
	if want := t.hashBuf[r]; k.Hash[r] != want {
		return fmt.Errorf("%s: table %q: a row has hash %#x, its key columns have %#x", t.db.cfg.Name, t.spec.Name, k.Hash[r], want)
	}
	lo, hi := t.db.keyGroups()
	if g := int(keyGroup(k.groups()[r])); !t.spec.ByTask && (g < lo || g >= hi) {
		return fmt.Errorf("%s: table %q: a row is of key group %d, subtask %d of %d has %d to %d",
			t.db.cfg.Name, t.spec.Name, g, t.db.cfg.Subtask, t.db.cfg.Parallelism, lo, hi-1)
	}
	return nil
}

// compare returns the indexes of the rows whose slots have other keys.
func (t *table) compare(k *Keys, slots []int32) []int32 {
	bad := t.bad[:0]
	for i, c := range t.keys {
		bad = match(c, k.Cols[i], k.Rows, slots[:len(k.Rows)], bad)
	}
	t.bad = bad
	return bad
}

// same reports whether the i-th row of k has the key that is in slot.
func (t *table) same(k *Keys, i, slot int32) bool {
	t.one[0], t.oneRow[0] = slot, k.Rows[i]
	for c, col := range t.keys {
		if len(match(col, k.Cols[c], t.oneRow[:], t.one[:], nil)) > 0 {
			return false
		}
	}
	return true
}

// touch is called with the slots that the operator gets, -1 among them: the
// snapshot under way copies the rows before they change, and the clock learns
// that they are in use.
func (t *table) touch(slots []int32) {
	t.copyFirst(slots)
	if !t.db.limited {
		return
	}
	for _, slot := range slots {
		if slot >= 0 {
			*t.flags.at(slot) |= used
		}
	}
}

// arrived is called with the slots of rows that have just come into memory. They
// are not in use until they are touched again: rows that are asked for once do
// not drive out those that are asked for often.
func (t *table) arrived(slots []int32) {
	if !t.db.limited {
		return
	}
	for _, slot := range slots {
		if slot >= 0 {
			*t.flags.at(slot) &^= used
		}
	}
}

func (t *table) keyVectors(slots []int32) []batch.Vector {
	out := make([]batch.Vector, len(t.keys))
	for i, c := range t.keys {
		out[i] = c.Vector(slots)
	}
	return out
}

// memBytes is the memory that the rows take.
func (t *table) memBytes() int {
	// A slot has its meta data, and one without a row a place in a list.
	const metaSize, freeSize, spaceSize = 10, 4, 256
	total := int(t.alloc.next)*metaSize + (int(t.alloc.next)-t.rows)*freeSize + len(t.byNS)*spaceSize + len(t.parts)<<(pageBits+2) + t.dirty.memBytes() + t.frozen.memBytes() + cap(t.graves.rows.buf)
	if t.sorted != nil {
		total += int(t.alloc.next) * nodeSize
	}
	if t.mortal != nil {
		total += t.mortal.disk.memBytes()
	}
	for _, c := range t.keys {
		total += c.MemBytes()
	}
	for _, c := range t.vals {
		total += c.MemBytes()
	}
	return total + 8*t.indexes.words
}
