package state

import (
	"bytes"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/state/lsm"
)

// flushRows is the number of rows that are sorted and written at a time.
const flushRows = 1 << 14

// track begins to keep track of changes: all that is there is one.
func (db *DB) track() {
	if db.tracking {
		return
	}
	db.tracking = true
	for _, t := range db.tables {
		t.newFlags = db.newFlags()
		for _, s := range t.spaces {
			if s != nil {
				s.Dirty(s.slots())
			}
		}
	}
}

// newFlags are the flags of a row that an operator makes.
func (db *DB) newFlags() uint8 {
	if db.tracking {
		return live | dirty
	}
	return live
}

// flush writes all changes to disk.
func (db *DB) flush() error {
	db.track()
	if err := db.removeGraves(); err != nil {
		return err
	}
	for _, t := range db.tables {
		rows := t.takeDirty()
		for len(rows) > 0 {
			n := min(len(rows), flushRows)
			if err := t.writeRows(rows[:n]); err != nil {
				return err
			}
			rows = rows[n:]
		}
	}
	return nil
}

// takeDirty returns the slots of the dirty rows, which are so no more.
func (t *table) takeDirty() []int32 {
	rows := t.dirty[:0]
	for _, slot := range t.dirty {
		if f := t.flags.at(slot); *f&(live|dirty) == live|dirty {
			*f &^= dirty
			rows = append(rows, slot)
		}
	}
	t.dirty = t.dirty[:0]
	return rows
}

// pruneDirty takes out of the list of dirty rows what was removed again.
func (t *table) pruneDirty() {
	rows := t.takeDirty()
	for _, slot := range rows {
		*t.flags.at(slot) |= dirty
	}
	t.dirty = rows
}

// encode calls f with the disk key and value of rows, in order of the keys.
func (t *table) encode(slots []int32, f func(slot int32, key, value []byte)) {
	var keys keyList
	t.diskKeys(slots, &keys)
	vals := t.rawVectors(slots)
	var value []byte
	for _, i := range keys.sorted() {
		value = appendRow(value[:0], vals, int(i))
		f(slots[i], keys.at(int(i)), value)
	}
}

// writeRows writes rows in one batch.
func (t *table) writeRows(slots []int32) error {
	return t.db.write(func(b *lsm.Batch) {
		count := tally{b: b}
		t.encode(slots, func(slot int32, key, value []byte) {
			b.Set(key, value)
			f := t.flags.at(slot)
			if *f&durable == 0 {
				*f |= durable
				count.add(key, 1)
				setGroup(&t.spaces[t.meta.at(slot).owner].groups, int(key[0]))
			}
		})
		count.close()
	})
}

// removeGraves removes from disk what was removed from memory.
func (db *DB) removeGraves() error {
	for _, t := range db.tables {
		if t.graves.empty() {
			continue
		}
		if err := db.write(t.removeGraves); err != nil {
			return err
		}
	}
	return nil
}

func (t *table) removeGraves(b *lsm.Batch) {
	g := &t.graves
	count := tally{b: b}
	for _, i := range g.rows.sorted() {
		key := g.rows.at(int(i))
		b.Delete(key)
		count.add(key, -1)
	}
	count.close()
	var buf []byte
	for _, d := range g.drops {
		t.eachGroup(d.groups, func(group int) {
			buf = appendPrefix(buf[:0], group, t.id, d.ns)
			if d.ranges {
				b.DeleteRange(buf, after(buf))
			}
			b.Delete(appendDirKey(nil, buf))
		})
	}
	g.rows.reset()
	g.drops = g.drops[:0]
}

// tally sums up the changes to the directory; rows come sorted.
type tally struct {
	b   *lsm.Batch
	key []byte
	n   int64
}

// add counts n rows more under the namespace of a row's key.
func (c *tally) add(rowKey []byte, n int64) {
	if c.n != 0 && bytes.Equal(c.key[:1], rowKey[:1]) && bytes.Equal(c.key[3:], rowKey[1:rowKeyHead]) {
		c.n += n
		return
	}
	c.close()
	c.key = appendDirKey(c.key[:0], rowKey)
	c.n = n
}

func (c *tally) close() {
	if c.n != 0 {
		c.b.Add(c.key, c.n)
	}
	c.n = 0
}

// readDirectory learns which namespaces of a restored table are on disk.
func (t *table) readDirectory() (err error) {
	lo, hi := t.db.keyGroups()
	if t.spec.ByTask {
		lo, hi = taskGroup, taskGroup+1
	}
	r, err := t.db.reader()
	if err != nil {
		return err
	}
	for g := lo; g < hi && err == nil; g++ {
		from := append([]byte{byte(g), 0, 0}, byte(t.id>>8), byte(t.id))
		err = r.Range(from, after(from), func(key, value []byte) (bool, error) {
			n, err := lsm.Count(value)
			if err == nil && n > 0 {
				s := t.space(nsOf(key[2:]))
				s.cold += n
				setGroup(&s.groups, g)
				s.listed()
			}
			return true, err
		})
	}
	return err
}

// keyGroups returns the key groups [lo, hi) of the DB.
func (db *DB) keyGroups() (lo, hi int) {
	return batch.KeyGroupRange(db.cfg.Subtask, db.cfg.Parallelism)
}
