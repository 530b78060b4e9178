// Package lsm is the tree of the state store: one ordered map of bytes on disk, written
// in batches, read in sorted batches or in ranges, and saved as a set of files.
//
// It is a log-structured merge tree: what is written together becomes a sorted run, and
// runs are merged in the background. Rows that have left memory come back one by one, so
// a look for a key must cost little: where the blocks are is in memory, a block is
// small, and what was read is not kept, since the system does that (docs/design/0042).
//
// There is no log: what is not in a checkpoint is gone after a crash, which is
// what the store wants, since it goes on from a checkpoint anyway. Trouble in
// the background (a full disk, damage) makes every later call fail, so that the
// job restarts; nothing here ends the process or waits for a disk to get well.
package lsm

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/millstream-io/millstream/internal/vfs"
)

const (
	// memTableSize is the usual size of a memtable.
	memTableSize = 4 << 20
	// blockSize is small: rows that have left memory come back one by one, and
	// each brings a block. orderedBlockSize is that for entries that are read in order.
	blockSize        = pageSize
	orderedBlockSize = maxBlock
	// A table ends at so many memtables, or at that size. Each file costs some time when a
	// job starts, and at each checkpoint; filters are made of what is noted of all keys of
	// a table, and their blocks are kept as a whole.
	pointTables, maxPointTable     = 4, 32 << 20
	orderedTables, maxOrderedTable = 8, 64 << 20
	// maxAhead is how much of a table is read at a time.
	maxAhead = 128 << 10
)

// Options are the memory that a DB may take. The zero value means a cache of its own, and
// memtables of the usual size.
type Options struct {
	Cache    *Cache
	MemTable int
	// InOrder says that entries are hardly ever read one by one: many runs of them
	// may lie beside each other until they are merged, in large blocks and without
	// filters.
	InOrder bool
	// Damaged may know better what is wrong with a file that cannot be read; it
	// returns nil if it does not. It is called from any goroutine.
	Damaged func(file string) error
}

// DB is the map. Its methods may be called by one goroutine at a time, but for
// NewReader and Checkpoint, which others may call as well; the latter while none writes.
// Readers are independent.
type DB struct {
	fs    vfs.FS
	dir   string
	cache *Cache
	// memTable is the size of a memtable; inOrder is that of Options.
	memTable int
	inOrder  bool
	// damaged is Options.Damaged.
	damaged func(file string) error
	// closing is set once the DB is being closed: files stay from then on.
	closing atomic.Bool

	mu  sync.Mutex
	now *version
	// last is the number of the last table.
	last uint64
	// flushing is set while runs are written that were in memory, merging is the
	// number of merges under way; changed is told when either changes.
	flushing bool
	merging  int
	changed  sync.Cond
	// purgeDue is set when runs have come that remove something of older ones, and
	// purging while tables are looked for that have nothing else any more.
	purgeDue, purging bool
	work              sync.WaitGroup
	// free are cursors with their memory.
	free []*cursor

	failure
}

// failure keeps the first error of the background.
type failure struct {
	failed atomic.Pointer[error]
}

func (f *failure) set(err error) { f.failed.CompareAndSwap(nil, &err) }

func (f *failure) get() error {
	if err := f.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// CorruptError says which file is damaged.
type CorruptError struct {
	File string
	Err  error
}

// Error names the file.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("state file %s is damaged: %v", e.File, e.Err)
}

// Unwrap returns what was wrong.
func (e *CorruptError) Unwrap() error { return e.Err }

// Open opens the map in dir: what a checkpoint has put there, or an empty one. It
// removes and replaces files in dir.
func Open(fsys vfs.FS, dir string, o Options) (*DB, error) {
	db := &DB{fs: fsys, dir: dir, cache: o.Cache, memTable: o.MemTable, inOrder: o.InOrder, damaged: o.Damaged}
	db.changed.L = &db.mu
	if db.memTable == 0 {
		db.memTable = memTableSize
	}
	if db.cache == nil {
		db.cache = NewCache(defaultCache)
	}
	if err := fsys.MkdirAll(dir, 0o755); err != nil {
		return nil, db.explain("open", err)
	}
	runs, err := db.readList()
	if err != nil {
		return nil, db.explain("open", err)
	}
	db.now = newVersion(runs, nil)
	for _, r := range runs {
		db.purgeDue = db.purgeDue || len(r.dead) > 0
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.startMerges()
	return db, nil
}

// explain names the file that an error is about where it is known, and the
// directory otherwise.
func (db *DB) explain(what string, err error) error {
	var corrupt *CorruptError
	if !errors.As(err, &corrupt) {
		return fmt.Errorf("state in %s: %s: %w", db.dir, what, err)
	}
	if db.damaged != nil {
		if better := db.damaged(corrupt.File); better != nil {
			return better
		}
	}
	return corrupt
}

// Close waits for the background to end. The files stay.
func (db *DB) Close() error {
	db.closing.Store(true)
	db.work.Wait()
	db.now.drop()
	return db.check()
}

// check returns the error that made the map unusable, if there is one.
func (db *DB) check() error {
	if err := db.get(); err != nil {
		return db.explain("write", err)
	}
	return nil
}

// MemTable is the size of a memtable in bytes.
func (db *DB) MemTable() int { return db.memTable }

// Excise removes the keys in [from, to) without reading or writing them. Nothing must
// have been written yet.
func (db *DB) Excise(from, to []byte) error {
	b := db.NewBatch()
	b.DeleteRange(from, to)
	return b.Commit()
}

// acquire returns the map as it is now; who has it must drop it.
func (db *DB) acquire() *version {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.held()
}

// held is acquire where db.mu is held.
func (db *DB) held() *version {
	db.now.users.Add(1)
	return db.now
}

// replace makes a list of runs the current one. db.mu is held. What is returned must be
// dropped without it.
func (db *DB) replace(runs []*run) (old *version) {
	old = db.now
	db.now = newVersion(runs, old)
	return old
}

// cursors returns cursors of all runs of a version.
func (db *DB) cursors(v *version, ahead int) []*cursor {
	out := make([]*cursor, len(v.runs))
	db.mu.Lock()
	defer db.mu.Unlock()
	for i, r := range v.runs {
		c := &cursor{}
		if n := len(db.free); n > 0 {
			c = db.free[n-1]
			db.free = db.free[:n-1]
		}
		c.run, c.killed, c.ahead = r, v.killed[i], ahead
		out[i] = c
	}
	return out
}

// maxFree bounds the number of cursors whose memory is kept, freeSize what is kept of
// one.
const maxFree, freeSize = 64, 64 << 10

// release takes cursors back.
func (db *DB) release(list []*cursor) {
	db.mu.Lock()
	defer db.mu.Unlock()
	for _, c := range list {
		if len(db.free) < maxFree && cap(c.buf)+cap(c.plain)+cap(c.key) <= freeSize {
			db.free = append(db.free, &cursor{buf: c.buf[:0], plain: c.plain[:0], key: c.key[:0]})
		}
	}
}

// ahead is how much each of n cursors may read at a time.
func (db *DB) ahead(n int) int { return min(maxAhead, db.memTable/max(n, 1)) }

// Checkpoint makes dir, which must not exist, a copy of the map. Its files are
// hard links where they never change. What is in the files is durable then, the
// names are not.
func (db *DB) Checkpoint(dir string) error {
	if err := db.flush(); err != nil {
		return err
	}
	v := db.acquire()
	defer v.drop()
	if err := db.save(v, dir); err != nil {
		return db.explain("checkpoint", err)
	}
	return nil
}

func (db *DB) save(v *version, dir string) error {
	if _, err := db.fs.Stat(dir); !vfs.IsNotExist(err) {
		return errors.Join(err, fmt.Errorf("%s is there already", dir))
	}
	if err := db.fs.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, r := range v.runs {
		for _, t := range r.tables {
			if err := vfs.LinkOrCopy(db.fs, t.path(), db.fs.PathJoin(dir, tableName(t.number))); err != nil {
				return err
			}
		}
	}
	return writeList(db.fs, db.fs.PathJoin(dir, listName), v)
}

// Compact writes all that is in memory, and merges everything into one run. It is for
// tests: otherwise that goes on by itself.
func (db *DB) Compact() error {
	if err := db.flush(); err != nil {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	for db.merging > 0 && db.get() == nil {
		db.changed.Wait()
	}
	if err := db.check(); err != nil || len(db.now.runs) == 0 {
		return err
	}
	v := db.held()
	in := v.runs
	setBusy(in, true)
	db.mu.Unlock()
	err := db.mergeRuns(v, in)
	v.drop()
	db.mu.Lock()
	setBusy(in, false)
	if err != nil {
		return db.explain("compact", err)
	}
	return nil
}
