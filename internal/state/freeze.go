package state

import (
	"runtime"
	"slices"
	"sync"
)

// A snapshot copies the rows that have changed since the one before, without
// holding the task up: its beginning only swaps the marks of dirty rows. A row
// with the older mark is copied before the operator gets it again, and the
// others a few at a time, at the end of events and when the task has nothing to
// do. Meanwhile another goroutine writes the copies.

const (
	// minCopy and maxCopy bound the number of rows that are copied at a time.
	minCopy, maxCopy = 1 << 10, 1 << 11
	// copiesAtOnce is the number of copies that are encoded at a time.
	copiesAtOnce = 1 << 13
	// copySteps is the number of times in which a copy should be done.
	copySteps = 1 << 8
	// copiesAhead is the number of memtables of copies that may wait to be written
	// while memory is short.
	copiesAhead = 2
)

// changes are all changes of a DB since the last ones, in copies that do not
// change any more. They are written once, by the task or by another goroutine,
// which waits for the copies.
type changes struct {
	db   *DB
	once sync.Once
	err  error
	// first is that of the graves, which the task may need gone before the rest.
	first    sync.Once
	firstErr error
	// left is the number of rows to copy at the beginning.
	left int

	// tree is held while copies are written, and for out: what is encoded, of each
	// queue, and waits to be written with more. Rows of all key groups do not get among
	// those of some.
	tree sync.Mutex
	out  [2]encoding
	// dirs are the directories with the changes, by table, of those that are not long.
	dirs map[uint16]directory

	mu   sync.Mutex
	more sync.Cond
	// tables have what was removed, and queues the copies that are not written, by table:
	// those that were made in the order of the key groups, and those of rows that
	// the operator came to first. bytes is their size.
	tables []tableChanges
	queues [][2]copyQueue
	bytes  int64
	// complete is set when there will be no more copies, gone when nobody wants
	// them, held while the task waits with more of them until fewer are left to
	// be written.
	complete, gone, held bool
	// failed is why some could not be written.
	failed error
}

// copyQueue are copies that wait to be written.
type copyQueue struct {
	rows  []*frozenRows
	n     int
	bytes int64
}

type tableChanges struct {
	format rowFormat
	graves graves
	rows   []*frozenRows
}

// freeze begins to take all changes. The rows count as saved from now on; so what
// is returned must be written, or the DB is of no use any more.
func (db *DB) freeze() *changes {
	db.track()
	c := &changes{db: db, dirs: make(map[uint16]directory)}
	c.more.L = &c.mu
	db.dirtyBit ^= dirty
	for _, t := range db.tables {
		c.tables = append(c.tables, tableChanges{format: t.format, graves: t.graves})
		if dir := t.directory(); dir != nil {
			c.dirs[t.format.id] = dir
		}
		t.graves = graves{}
		t.dead, t.buried = nil, 0
		t.newFlags = db.newFlags()
		t.frozen, t.dirty = t.dirty, slotList{}
		c.left += t.frozen.n
	}
	c.queues = make([][2]copyQueue, len(c.tables))
	return c
}

// freezing reports whether rows have to be copied yet.
func (db *DB) freezing() bool { return db.disk.pending != nil && !db.disk.pending.copied }

// Advance does a bounded part of the work that a snapshot has left for later,
// and reports whether there is more. Where memory is short it waits until copies
// that were made before are written; then the DB is woken.
func (db *DB) Advance() bool {
	if !db.freezing() || db.disk.pending.changes.hold() {
		return false
	}
	return db.copyMore()
}

// copyMore copies a few rows for the snapshot under way, and reports whether there
// are more.
func (db *DB) copyMore() bool {
	if !db.freezing() {
		return false
	}
	c := db.disk.pending.changes
	n := min(max(c.left/copySteps, db.minCopy), maxCopy)
	for _, t := range db.tables {
		t.copyBuf = t.frozen.take(n, t.copyBuf[:0])
		n -= len(t.copyBuf)
		t.copyRows(t.copyBuf, inOrder)
		if t.frozen.n > 0 {
			return true
		}
		t.frozen = slotList{}
	}
	db.disk.pending.copied = true
	c.end(false)
	return false
}

// The queues of changes.
const (
	inOrder = iota
	byTouch
)

// copyFirst is called with rows that the operator gets.
func (t *table) copyFirst(slots []int32) {
	if t.db.freezing() {
		t.copyBuf = append(t.copyBuf[:0], slots...)
		t.copyRows(t.copyBuf, byTouch)
	}
}

// copyRows copies those of the rows, -1 among them, that the snapshot under way
// has to have as they are. It uses the memory of slots.
func (t *table) copyRows(slots []int32, queue int) {
	mark := t.db.dirtyBit ^ dirty
	rows := slots[:0]
	for _, slot := range slots {
		if slot < 0 {
			continue
		}
		if f := t.flags.at(slot); *f&(live|mark) == live|mark {
			*f &^= mark
			rows = append(rows, slot)
		}
	}
	for part := range slices.Chunk(rows, flushRows) {
		copies := t.freeze(part)
		t.markDurable(part, copies)
		t.db.disk.pending.changes.add(slices.Index(t.db.tables, t), queue, copies)
	}
}

// copied is the size of copies that wait to be written.
func (db *DB) copied() int64 {
	if db.disk.pending == nil {
		return 0
	}
	c := db.disk.pending.changes
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}

func (c *changes) add(table, queue int, rows *frozenRows) {
	c.mu.Lock()
	defer c.mu.Unlock()
	q, size := &c.queues[table][queue], rows.bytes()
	q.rows = append(q.rows, rows)
	q.n += len(rows.ns)
	q.bytes += size
	c.bytes += size
	c.more.Signal()
}

// behind reports whether memory is short and so many copies are left to be written
// that no more should be made meanwhile.
func (c *changes) behind() bool {
	db := c.db
	return db.member != nil && c.bytes > copiesAhead*int64(db.cfg.Budget.memTable()) && db.cfg.Budget.over()
}

// hold is behind that has the DB woken when it is not so any more.
func (c *changes) hold() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held = c.behind(); c.held {
		c.more.Signal()
	}
	return c.held
}

// end says that there are no more copies, or that nobody wants them.
func (c *changes) end(gone bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.complete, c.gone = true, c.gone || gone
	c.more.Broadcast()
}

// copies are the first of a queue.
type copies struct {
	format rowFormat
	queue  int
	rows   []*frozenRows
	bytes  int64
}

// take removes the first copies, about as many as are encoded together.
func (q *copyQueue) take(bytes int64) (out copies) {
	n := 0
	for len(q.rows) > 0 && n < copiesAtOnce && out.bytes < bytes {
		r := q.rows[0]
		q.rows[0] = nil
		q.rows = q.rows[1:]
		out.rows = append(out.rows, r)
		n += len(r.ns)
		out.bytes += r.bytes()
	}
	q.n -= n
	q.bytes -= out.bytes
	return out
}

// next takes so many copies of a table that it is worth while to encode them; there
// are none at the end. wait says whether to wait for them.
func (c *changes) next(bytes int64, wait bool) (copies, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		if c.gone {
			return copies{}, errGivenUp
		}
		if c.failed != nil {
			return copies{}, c.failed
		}
		for i := range c.tables {
			for j := range c.queues[i] {
				q := &c.queues[i][j]
				if q.n == 0 || q.n < copiesAtOnce && q.bytes < bytes && !c.complete && !c.held {
					continue
				}
				out := q.take(bytes)
				out.format, out.queue = c.tables[i].format, j
				return out, nil
			}
		}
		if c.complete || !wait {
			return copies{}, nil
		}
		c.more.Wait()
	}
}

// write writes the changes, if that was not done before. It may open the tree;
// the task looks at the tree only after it has called write as well, or if it
// was open before.
func (c *changes) write() error {
	c.once.Do(func() { c.err = c.writeAll() })
	return c.err
}

func (c *changes) writeAll() error {
	if err := c.writeGraves(); err != nil {
		return err
	}
	for {
		more, err := c.writeSome(true)
		if err != nil {
			return err
		}
		if !more {
			if err := c.writeOut(inOrder, 0); err != nil {
				return err
			}
			return c.writeOut(byTouch, 0)
		}
		runtime.Gosched() // to a task that waits for a processor
	}
}

// help writes some of the copies on the task, if many are left, so that it does not
// run ahead of the other goroutine, or if there is none.
func (c *changes) help() error {
	c.mu.Lock()
	behind := c.behind()
	c.mu.Unlock()
	if !behind {
		return nil
	}
	if err := c.writeGraves(); err != nil {
		return err
	}
	_, err := c.writeSome(false)
	return err
}

// writeOut writes what is encoded of a queue, if it is at least so much. Many rows
// that are written together make one sorted run, which costs the tree much less than
// many small ones.
func (c *changes) writeOut(queue, least int) error {
	c.tree.Lock()
	defer c.tree.Unlock()
	e := &c.out[queue]
	if e.keys.len() == 0 || e.size() < least {
		return nil
	}
	return e.write(c.db.disk.lsm, c.dirs, runtime.Gosched)
}

// writeSome encodes the next copies, and writes them once there are many; there are
// no more at the end, or if it is not to wait for them.
func (c *changes) writeSome(wait bool) (more bool, err error) {
	most := c.db.disk.lsm.MemTable()
	part, err := c.next(int64(most), wait)
	if err != nil || len(part.rows) == 0 {
		return false, err
	}
	c.tree.Lock()
	for _, rows := range part.rows {
		c.out[part.queue].add(part.format, rows)
	}
	c.tree.Unlock()
	err = c.writeOut(part.queue, most)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes -= part.bytes
	if err != nil {
		c.failed = err
		return false, err
	}
	if c.held && !c.behind() {
		c.held = false
		c.db.member.wakeUp()
	}
	return true, nil
}

// writeGraves removes what was removed before the snapshot.
func (c *changes) writeGraves() error {
	c.first.Do(func() {
		if c.firstErr = c.db.openDisk(); c.firstErr != nil {
			return
		}
		for i := range c.tables {
			t := &c.tables[i]
			if t.graves.empty() {
				continue
			}
			b := c.db.disk.lsm.NewBatch()
			t.graves.write(t.format, b)
			if c.firstErr = b.Commit(); c.firstErr != nil {
				return
			}
			t.graves = graves{}
		}
	})
	return c.firstErr
}

// list adds the directories to the declarations of the tables, once all is written.
func (c *changes) list(infos []TableInfo) []TableInfo {
	out := slices.Clone(infos)
	for i, t := range c.tables {
		dir := c.dirs[t.format.id]
		if out[i].Listed = dir != nil; dir != nil {
			out[i].Directory = dir.encode()
		}
	}
	return out
}

// cancel makes sure that nothing is being written, nor will be.
func (c *changes) cancel() {
	c.once.Do(func() { c.err = errGivenUp })
}
