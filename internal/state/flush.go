package state

import (
	"bytes"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/state/lsm"
)

// flushRows is the number of rows that are sorted and written at a time.
const flushRows = 1 << 15

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
				s.mark(s.slots())
			}
		}
	}
}

// newFlags are the flags of a row that an operator makes.
func (db *DB) newFlags() uint8 {
	if db.tracking {
		return live | db.dirtyBit
	}
	return live
}

func (t *table) markDurable(slots []int32, rows *frozenRows) {
	for i, slot := range slots {
		if rows.fresh[i] {
			*t.flags.at(slot) |= durable
			setGroup(&t.spaces[t.meta.at(slot).owner].groups, int(rows.groups[i]))
		}
	}
}

// write writes the rows as one sorted batch, and forgets them. dirs are the
// directories, by table, that are told of them; pause is called now and then.
func (e *encoding) write(tree *lsm.DB, dirs map[uint16]directory, pause func()) error {
	const counts = 32 * batch.KeyGroups // those of a namespace or two
	b := tree.NewBatchOf(e.keys.len(), e.size()+counts)
	count := tally{b: b, dirs: dirs}
	e.each(pause, func(fresh bool, key, value []byte) {
		b.Set(key, value)
		if fresh {
			count.add(key, 1)
		}
	})
	count.close()
	e.reset()
	return b.Commit()
}

// writeFrozen writes rows that are in memory no more, with others that go about the
// same time: many rows that are written together make one sorted run, which costs the
// tree much less than many small ones. They are written before the tree is looked
// at.
func (db *DB) writeFrozen(format rowFormat, rows *frozenRows) error {
	if err := db.settle(); err != nil {
		return err
	}
	if err := db.openDisk(); err != nil {
		return err
	}
	if db.gone.add(format, rows); db.gone.size() < db.disk.lsm.MemTable() {
		return nil
	}
	return db.writeGone()
}

// writeGone writes the rows that writeFrozen has put off.
func (db *DB) writeGone() error {
	if db.gone.keys.len() == 0 {
		return nil
	}
	if err := db.closeView(); err != nil {
		return err
	}
	return db.gone.write(db.disk.lsm, nil, func() {})
}

// pruneDirty takes out of the list of dirty rows what was removed again, and what
// is there twice.
func (t *table) pruneDirty() {
	bit := t.db.dirtyBit
	t.dirty.keep(func(slot int32) bool {
		f := t.flags.at(slot)
		dirty := *f&(live|bit) == live|bit
		if dirty {
			*f &^= bit
		}
		return dirty
	})
	t.dirty.keep(func(slot int32) bool {
		*t.flags.at(slot) |= bit
		return true
	})
}

// removeGraves removes from disk what was removed from memory.
func (db *DB) removeGraves() error {
	for _, t := range db.tables {
		if t.graves.empty() {
			continue
		}
		err := db.write(func(b *lsm.Batch) { t.graves.write(t.format, b) })
		if err != nil {
			return err
		}
		t.graves.rows.reset()
		t.graves.ranges = nil
		t.graves.drops = t.graves.drops[:0]
		t.dead, t.buried = nil, 0
	}
	return nil
}

func (g *graves) write(format rowFormat, b *lsm.Batch) {
	count := tally{b: b}
	for _, i := range g.rows.sorted() {
		key := g.rows.at(int(i))
		b.Delete(key)
		count.add(key, -1)
	}
	for _, r := range g.ranges {
		b.DeleteRange(r.from, r.to)
		count.add(r.from, -r.rows)
	}
	count.close()
	var buf []byte
	for _, d := range g.drops {
		format.eachGroup(d.groups, func(group int) {
			buf = appendPrefix(buf[:0], group, format.id, d.ns)
			if d.ranges {
				b.DeleteRange(buf, after(buf))
			}
			b.Delete(appendDirKey(nil, buf))
		})
	}
}

// tally sums up the changes to the directory; rows come sorted.
type tally struct {
	b    *lsm.Batch
	dirs map[uint16]directory
	key  []byte
	n    int64
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
		c.dirs[tableOf(c.key[2:])].note(c.key)
	}
	c.n = 0
}

// keyGroups returns the key groups [lo, hi) of the DB.
func (db *DB) keyGroups() (lo, hi int) {
	return batch.KeyGroupRange(db.cfg.Subtask, db.cfg.Parallelism)
}
