package state

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// A table with a time to live has the time of each row's last write as a column
// before those of the operator, so that it is saved, evicted and restored with
// the row. A row that is too old is as if it were not there, wherever it is met;
// besides, sweeps go round memory and disk and remove what nobody asks for.

// mortality is what a table with a time to live has besides.
type mortality struct {
	// written is the column of times, in ms since the epoch.
	written *batch.Slab[int64]
	// hand is where the sweep of memory stands, and memory the time up to which it
	// has done its share.
	hand   int32
	memory int64
	old    []int32
	// disk says when what is on disk is looked at, nil as long as there is nothing;
	// wait is when that is next. looked is the number of rows that were looked at.
	disk   *calendar
	wait   int64
	looked int64
	// stretchRows is the constant of that name; tests change it.
	stretchRows int
}

var writtenType = types.Of(types.BigInt).NotNull()

// The sweep of memory takes a quarter of the time to live for a round, as long as
// that is at most sweepSlots slots an event.
const (
	sweepRounds = 4
	sweepSlots  = 1 << 13
)

// setColumns makes the table's columns, without rows.
func (t *table) setColumns() {
	t.keys, t.vals, t.strings = newColumns(t.spec.Key), newColumns(t.types), nil
	for _, c := range slices.Concat(t.keys, t.vals) {
		if b, ok := c.(*batch.BytesSlab); ok {
			t.strings = append(t.strings, b)
		}
	}
	if t.mortal != nil {
		t.mortal.written = t.vals[0].(*batch.Slab[int64])
	}
}

// now is the time of the event.
func (t *table) now() int64 { return t.db.cfg.Now() }

// stamp notes that rows are written.
func (t *table) stamp(slots []int32) {
	now := t.now()
	for _, slot := range slots {
		*t.mortal.written.At(slot) = now
	}
}

// stampAt is stamp for the given indexes of slots.
func (t *table) stampAt(slots, at []int32) {
	now := t.now()
	for _, i := range at {
		*t.mortal.written.At(slots[i]) = now
	}
}

// deadline is the time at or before which rows were written that have expired.
func (t *table) deadline() int64 {
	if t.mortal == nil {
		return math.MinInt64
	}
	return t.now() - t.spec.TTL
}

// writtenBefore reports whether a row with the given value on disk was last
// written at or before the deadline.
func (t *table) writtenBefore(value []byte, deadline int64) bool {
	if t.mortal == nil {
		return false
	}
	written, ok := t.timeIn(value)
	return ok && written <= deadline
}

// timeIn returns the time of the last write that a value on disk begins with, behind
// its bitmap.
func (t *table) timeIn(value []byte) (ms int64, ok bool) {
	bitmap := (len(t.types) + 7) / 8
	if len(value) < bitmap {
		return 0, false // a damaged value is for the decoder
	}
	ms, n := binary.Varint(value[bitmap:])
	return ms, n > 0
}

// renew makes rows anew that Upsert has found and that have expired: they are
// listed as fresh. It returns that list.
func (s *space) renew(slots, fresh []int32) []int32 {
	t := s.t
	now, deadline := t.now(), t.deadline()
	old := t.mortal.old[:0]
	for i, slot := range slots {
		w := t.mortal.written.At(slot)
		if *w > deadline {
			continue
		}
		*w = now
		old = append(old, slot)
		fresh = append(fresh, int32(i))
	}
	t.mortal.old = old
	if len(old) == 0 {
		return fresh
	}
	for _, c := range t.vals[1:] {
		reset(c, old)
	}
	s.mark(old)
	t.db.expired(len(old))
	slices.Sort(fresh)
	t.fresh = fresh
	return fresh
}

// disown takes back what Lookup has found and has expired.
func (s *space) disown(slots []int32) {
	t := s.t
	deadline := t.deadline()
	old := t.mortal.old[:0]
	for i, slot := range slots {
		if slot >= 0 && *t.mortal.written.At(slot) <= deadline {
			old = append(old, slot)
			slots[i] = -1
		}
	}
	if t.mortal.old = old; len(old) > 0 {
		slices.Sort(old)
		s.expel(slices.Compact(old))
	}
}

// living takes expired rows out of a list of rows, and removes them.
func (s *space) living(slots []int32) []int32 {
	t := s.t
	if t.mortal == nil {
		return slots
	}
	deadline := t.deadline()
	old := t.mortal.old[:0]
	out := slots[:0]
	for _, slot := range slots {
		if *t.mortal.written.At(slot) <= deadline {
			old = append(old, slot)
			continue
		}
		out = append(out, slot)
	}
	t.mortal.old = old
	s.expel(old)
	return out
}

// expel removes expired rows.
func (s *space) expel(slots []int32) {
	if len(slots) == 0 {
		return
	}
	s.t.copyFirst(slots)
	s.Delete(slots)
	s.t.db.expired(len(slots))
}

// expired counts rows.
func (db *DB) expired(n int) {
	if db.cfg.Expired != nil {
		db.cfg.Expired(int64(n))
	}
}

// sweepExpired goes on with the sweeps of the tables that have a time to live.
func (db *DB) sweepExpired() error {
	for _, t := range db.tables {
		if t.mortal == nil {
			continue
		}
		now := t.now()
		t.sweepMemory(now)
		if err := t.sweepDisk(now); err != nil {
			return err
		}
	}
	return nil
}

// portion returns how many of total slots the sweep of memory is to look at by now;
// and moves the time on up to which it has done its share.
func (t *table) portion(total int, now int64) int {
	since := &t.mortal.memory
	if total == 0 || *since == 0 || *since > now {
		*since = now
		return 0
	}
	*since = max(*since, now-t.spec.TTL)
	round := float64(t.spec.TTL) / sweepRounds
	n := min(int(float64(total)*float64(now-*since)/round), total, sweepSlots)
	*since += int64(round * float64(n) / float64(total))
	return n
}

func (t *table) sweepMemory(now int64) {
	m := t.mortal
	total := t.alloc.next
	n := t.portion(int(total), now)
	old, deadline := t.mortal.old[:0], t.deadline()
	for ; n > 0; n-- {
		if m.hand >= total {
			m.hand = 0
		}
		slot := m.hand
		m.hand++
		if *t.flags.at(slot)&live != 0 && *m.written.At(slot) <= deadline {
			old = append(old, slot)
		}
	}
	t.mortal.old = old
	for len(old) > 0 {
		s, k := t.spaces[t.meta.at(old[0]).owner], 1
		for k < len(old) && t.meta.at(old[k]).owner == s.id {
			k++
		}
		s.expel(old[:k])
		old = old[k:]
	}
}
