package state

import (
	"fmt"
	"slices"

	"github.com/millstream-io/millstream/batch"
)

const (
	// minEvict is the least number of rows that leave memory at a time, maxEvict the
	// most unless more come in.
	minEvict, maxEvict = 1 << 10, 1 << 14
	// pickShare is the share of the rows that is picked at a time to leave memory:
	// many rows make long sorted runs, which are cheap to write and to merge. Up to
	// pickRows it may be half of them; picking takes some ns for each.
	// chunkShare is the share that leaves in one event, pointShare that where rows
	// are read one by one: what has left is written before the next read, so that
	// many rows have to leave at a time to be a long run.
	pickShare, pickRows, chunkShare, pointShare = 8, 1 << 21, 64, 8
	// rebuildRows is the number of rows up to which a DB's memory may be made
	// anew in one event.
	rebuildRows = 1 << 16
)

// balance makes cold rows leave memory where there are too many. Under a budget
// its work is bounded by that of the event: what came into memory goes out
// again, twice over; only where the bounds are passed by far, all that has to go
// goes at once.
func (db *DB) balance(rows int) error {
	grown := rows - db.before
	db.before = rows
	if most := db.cfg.MaxRows; most > 0 && rows > most {
		return db.evict(rows-most+most/8, true)
	}
	if db.member == nil {
		return nil
	}
	if err := db.retire(); err != nil {
		return err
	}
	size := int64(db.MemBytes()) + db.copied()
	db.cfg.Budget.charge(db.member, size)
	bytes, over := db.cfg.Budget.target(db.member)
	if !over {
		return nil
	}
	if db.cfg.Backend == Memory || db.cfg.FS == nil {
		return fmt.Errorf("%s: its tables take %d MiB, and with those of the other operators more than their part of memory.limit (%d MiB); "+
			"rows leave memory for the disk with state.backend.type = auto, or raise memory.limit", db.cfg.Name, size>>20, db.cfg.Budget.Limit()>>20)
	}
	if db.disk.pending != nil && size < bytes+bytes/4 {
		return nil // until its files are made nothing can be written
	}
	slots := int64(db.slots())
	most := int(bytes * slots / max(size, 1))
	share := chunkShare
	if !db.inOrder {
		share = pointShare
	}
	n := max(2*grown, minEvict, min(most/share, maxEvict))
	switch {
	case rows > most+most/8:
		return db.evict(rows-most, true)
	case rows > most:
		return db.evict(n, false)
	case size < bytes+bytes/2:
		// Memory that rows leave is used again.
	case rows <= rebuildRows && slots > 2*int64(rows):
		if err := db.settle(); err != nil {
			return err
		}
		db.rebuild()
	default:
		// It is given back once so few rows are left that they can be moved.
		return db.evict(min(n, rows/2+1), false)
	}
	return nil
}

// slots is the number of slots of all tables, in use or not.
func (db *DB) slots() int {
	n := 0
	for _, t := range db.tables {
		n += int(t.alloc.next)
	}
	return n
}

// crowded reports whether rows that nobody asked for should not stay in memory.
func (db *DB) crowded() bool {
	if db.member != nil && db.cfg.Budget.over() {
		return true
	}
	return db.limited && db.cfg.MaxRows > 0 && db.rows() >= db.cfg.MaxRows
}

func (db *DB) rows() int {
	n := 0
	for _, t := range db.tables {
		n += t.rows
	}
	return n
}

// evict makes about n rows leave memory: of each table as many as it has of all.
// surely looks at as many as it takes; otherwise rows that are in use may save
// others from being found.
func (db *DB) evict(n int, surely bool) error {
	if err := db.settle(); err != nil {
		return err
	}
	db.track()
	have := max(db.rows(), 1)
	cold := make([][]int32, len(db.tables))
	dirty := false
	for i, t := range db.tables {
		cold[i] = t.coldest((n*t.rows+have-1)/have, surely)
		dirty = dirty || slices.ContainsFunc(cold[i], t.isDirty)
	}
	if dirty {
		if err := db.writeRows(cold); err != nil {
			return err
		}
	}
	for i, t := range db.tables {
		for part := range slices.Chunk(cold[i], 64) {
			t.warm(part)
			for _, slot := range part {
				t.leave(slot)
			}
		}
		t.nextPart()
		t.indexes.trim()
	}
	db.before = db.rows()
	return nil
}

func (t *table) isDirty(slot int32) bool { return *t.flags.at(slot)&dirty != 0 }

// coldest returns up to n rows that leave memory, in the order of their key groups
// as far as they were picked together; surely, even if they are in use again.
func (t *table) coldest(n int, surely bool) []int32 {
	out := make([]int32, 0, n)
	for len(out) < n {
		if len(t.leaving) == 0 && !t.pick(max(n, t.rows/pickShare, min(t.rows/2, pickRows)), surely) {
			break
		}
		slot := t.leaving[0]
		t.leaving = t.leaving[1:]
		switch f := t.flags.at(slot); {
		case *f&(live|picked) != live|picked:
			// It has gone, and the slot may have another row.
		case *f&used != 0 && !surely:
			*f &^= picked
		default:
			out = append(out, slot)
		}
	}
	return out
}

// pick chooses up to n rows that leave memory next, those that were not touched
// since the clock came by the last time. They leave in several events, a part of
// the key groups in each, so that what is written in all of them is one sorted
// run. It reports whether there are any.
func (t *table) pick(n int, surely bool) bool {
	total := t.alloc.next
	steps := 2 * int64(total)
	if !surely {
		steps = min(steps, 16*int64(n))
	}
	var byGroup [batch.KeyGroups + 1]int
	found := t.leaving[:0]
	for ; len(found) < n && steps > 0; steps-- {
		if t.hand >= total {
			t.hand = 0
		}
		slot := t.hand
		t.hand++
		f := t.flags.at(slot)
		switch {
		case *f&(live|picked) != live:
		case *f&used != 0:
			*f &^= used
		default:
			*f |= picked
			found = append(found, slot)
			byGroup[*t.groups.at(slot)+1]++
		}
	}
	for g := range batch.KeyGroups {
		byGroup[g+1] += byGroup[g]
	}
	t.leaving = make([]int32, len(found))
	for _, slot := range found {
		at := &byGroup[*t.groups.at(slot)]
		t.leaving[*at] = slot
		*at++
	}
	return len(found) > 0
}

// writeRows writes those of the rows that are dirty to disk, by table.
func (db *DB) writeRows(slots [][]int32) error {
	if err := db.removeGraves(); err != nil {
		return err
	}
	for i, t := range db.tables {
		for part := range slices.Chunk(slices.DeleteFunc(slices.Clone(slots[i]), func(s int32) bool { return !t.isDirty(s) }), flushRows) {
			rows := t.freeze(part)
			t.markDurable(part, rows)
			for _, slot := range part {
				*t.flags.at(slot) &^= dirty
			}
			if err := db.writeFrozen(t.format, rows); err != nil {
				return err
			}
		}
	}
	return nil
}

// warm looks at the places in memory that leave needs, so that the processor waits
// for many at a time instead of one after the other.
func (t *table) warm(slots []int32) {
	for _, slot := range slots {
		m := t.meta.at(slot)
		if s := t.spaces[m.owner]; s.index != nil {
			t.warmed += s.index[home(m.low, len(s.index))]
		}
	}
}

// leave makes one row leave memory.
func (t *table) leave(slot int32) {
	s := t.spaces[t.meta.at(slot).owner]
	s.forget(slot)
	s.cold++
	t.dropBytes(slot)
	if s.rows == 0 {
		t.releaseMemory(s)
	}
}

// rebuild gives the memory of rows that have gone back, by moving the others to
// new columns.
func (db *DB) rebuild() {
	for _, t := range db.tables {
		t.rebuild()
	}
	db.cfg.Budget.charge(db.member, int64(db.MemBytes()))
}

func (t *table) rebuild() {
	old := *t
	t.setColumns()
	t.meta, t.flags, t.groups, t.alloc = nil, nil, nil, slotAlloc{}
	if t.parts != nil {
		t.parts = make(pages[uint32], 0)
	}
	t.indexes, t.hand, t.dirty, t.leaving, t.pool, t.sorted = indexPool{}, 0, slotList{}, nil, nil, newOrdering(t)
	for _, s := range t.spaces {
		if s == nil {
			continue
		}
		from := old.slotsOf(s)
		s.ext, s.free, s.index, s.next, s.end, s.runIndex, s.runs = nil, nil, nil, 0, 0, nil, 0
		to, rows := make([]int32, len(from)), make([]int32, len(from))
		for i, slot := range from {
			to[i], _ = s.takeSlot()
			rows[i] = int32(i)
			*t.meta.at(to[i]) = *old.meta.at(slot)
			*t.groups.at(to[i]) = *old.groups.at(slot)
			*t.flags.at(to[i]) = *old.flags.at(slot) &^ picked
			t.setPart(to[i], old.partOf(slot))
			if t.isDirty(to[i]) {
				t.dirty.add(*t.groups.at(to[i]), to[i])
			}
		}
		move(t.keys, to, old.keys, from, rows)
		move(t.vals, to, old.vals, from, rows)
		if t.sorted != nil {
			t.sorted.relink(s, to, from, old.sorted)
		}
		if len(from) > smallSpace {
			s.index = t.indexes.get(indexSize(len(from) * 2))
			for _, slot := range to {
				s.enter(t.meta.at(slot).low, slot)
			}
		}
	}
}

// move copies values between the columns of a table.
func move(dst []batch.Column, to []int32, src []batch.Column, from, rows []int32) {
	for i, c := range src {
		if b, ok := c.(*batch.BytesSlab); ok {
			dst[i].Set(to, b.Raw(from), rows)
			continue
		}
		dst[i].Set(to, c.Vector(from), rows)
	}
}
