package state

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// A table with a time to live has the time of each row's last write as a column
// before those of the operator, so that it is saved, evicted and restored with
// the row. A row that is too old is as if it were not there, wherever it is met;
// besides, a sweep goes round memory and disk and removes what nobody asks for.

// mortality is what a table with a time to live has besides.
type mortality struct {
	// written is the column of times, in ms since the epoch.
	written *batch.Slab[int64]
	// hand is where the sweep of memory stands, key where that of the disk does.
	hand int32
	key  []byte
	// memory and disk are the times up to which the sweeps have done their share.
	memory, disk int64
	old          []int32
}

var writtenType = types.Of(types.BigInt).NotNull()

// The sweep takes a quarter of the time to live for a round, as long as that is
// at most sweepSlots slots and sweepRows rows on disk an event; from disk it takes
// leastSweep rows at a time.
const (
	sweepRounds = 4
	sweepSlots  = 1 << 13
	sweepRows   = 1 << 12
	leastSweep  = 1 << 8
)

// setColumns makes the table's columns, without rows.
func (t *table) setColumns() {
	t.keys, t.vals = newColumns(t.spec.Key), newColumns(t.types)
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
	size := (len(t.types) + 7) / 8
	if t.mortal == nil || len(value) < size {
		return false // a damaged value is for the decoder
	}
	written, n := binary.Varint(value[size:])
	return n > 0 && written <= deadline
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

// portion returns how many of total things a sweep is to look at, at least so
// many or none, and at most; and moves the time on up to which it has done its
// share.
func (t *table) portion(total, least, most int, since *int64, now int64) int {
	if total == 0 || *since == 0 || *since > now {
		*since = now
		return 0
	}
	*since = max(*since, now-t.spec.TTL)
	round := float64(t.spec.TTL) / sweepRounds
	n := min(int(float64(total)*float64(now-*since)/round), total, most)
	if n < min(least, total) {
		return 0
	}
	*since += int64(round * float64(n) / float64(total))
	return n
}

func (t *table) sweepMemory(now int64) {
	m := t.mortal
	total := t.alloc.next
	n := t.portion(int(total), 1, sweepSlots, &m.memory, now)
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

// sweepDisk looks at some rows on disk and removes those that have expired and
// are not in memory, where they may be newer. It waits for snapshots to be
// written.
func (t *table) sweepDisk(now int64) error {
	m := t.mortal
	if t.db.disk.lsm == nil || t.db.disk.pending != nil {
		return nil
	}
	if now-m.disk < t.spec.TTL>>10 {
		return nil
	}
	cold := 0
	for _, s := range t.order {
		cold += int(s.cold)
	}
	n := t.portion(cold, leastSweep, sweepRows, &m.disk, now)
	if n == 0 {
		return nil
	}
	disk, err := t.db.reader()
	if err != nil {
		return err
	}
	lo, hi := t.db.keyGroups()
	if t.spec.ByTask {
		lo, hi = taskGroup, taskGroup+1
	}
	l, keys, deadline := t.newLoader(), &keyList{}, t.deadline()
	for g := lo; g < hi && n > 0; g++ {
		from := binary.BigEndian.AppendUint16([]byte{byte(g)}, t.format.id)
		to := after(from)
		if bytes.Compare(m.key, from) > 0 {
			from = m.key
		}
		err := disk.Range(from, to, func(key, value []byte) (bool, error) {
			n--
			m.key = append(append(m.key[:0], key...), 0)
			if !t.writtenBefore(value, deadline) {
				return n > 0, nil
			}
			keys.add(key)
			return n > 0, l.add(key, value)
		})
		if err != nil {
			return err
		}
	}
	if n > 0 {
		m.key = m.key[:0]
	}
	return t.buryCold(l, keys)
}

// buryCold removes those of the given rows of the disk that are not in memory.
func (t *table) buryCold(l *loader, keys *keyList) error {
	n := l.len()
	if n == 0 {
		return nil
	}
	k := &Keys{Cols: l.keys, Hash: batch.Hash(l.keys, nil, n, nil), Rows: make([]int32, 1)}
	buried := 0
	var slot [1]int32
	for i := range n {
		key := keys.at(i)
		s := t.space(nsOf(key))
		k.Rows[0] = int32(i)
		if s.lookup(k, slot[:]); slot[0] >= 0 {
			continue
		}
		t.graves.rows.add(key)
		s.cold--
		s.listed()
		buried++
	}
	t.db.expired(buried)
	return nil
}
