// Package lsm wraps Pebble for the state store: one ordered map of bytes on
// disk, written in batches, read in sorted batches, and saved as a set of
// files.
//
// There is no log: what is not in a checkpoint is gone after a crash, which is
// what the store wants, since it goes on from a checkpoint anyway. Trouble in
// the background (a full disk, damage) makes every later call fail, so that the
// job restarts; nothing here ends the process or waits for a disk to get well.
package lsm

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"

	"github.com/millstream-io/millstream/internal/vfs"
)

const (
	// memTableSize is the usual size of a memtable.
	memTableSize = 4 << 20
	// blockSize is small: rows that have left memory come back one by one, and
	// each brings a block. pointRuns is the number of runs from which on they are
	// merged; a row that is looked for costs a look at a filter in each.
	blockSize = 4 << 10
	pointRuns = 8
	// orderedBlockSize is that for entries that are read in order, orderedRuns the
	// number of runs from which on they are merged. It costs some comparisons for
	// each entry that is read, and saves writing all of them several times. For the
	// same reason the runs are merged into a large level: orderedBase is what it
	// may take before there is another one above it. Files of runs are larger, so
	// that there are not many more of them.
	orderedBlockSize = 32 << 10
	orderedRuns      = 96
	orderedBase      = 512 << 20
	orderedFileSize  = 8 << 20
	// baseFileSize is the size of the files of the first level below the runs of
	// flushes; those of each further one are twice as large.
	baseFileSize = 16 << 20
	// Pebble's own memtables are for small writes only, and a fraction of what is
	// flushed at a time: a batch of more than half a memtable is a run of its own,
	// which is not sorted in by a skip list, and sets out a new memtable.
	arenaShare, minArena = 16, 32 << 10
)

// Options are the memory that a DB may take. The zero value means a cache that
// all such DBs of the process share, and memtables of the usual size.
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

// sharedCache is the block cache of all DBs of the process that are given none.
// It exists while there is such a DB, and takes memory as blocks are read.
var sharedCache struct {
	mu     sync.Mutex
	blocks *pebble.Cache
	users  int
}

const sharedCacheSize = 32 << 20

// Cache holds blocks of the files of any number of DBs.
type Cache struct{ blocks *pebble.Cache }

// NewCache returns a cache of the given size in bytes.
func NewCache(size int64) *Cache { return &Cache{pebble.NewCache(size)} }

// Close frees the cache once no DB uses it any more.
func (c *Cache) Close() { c.blocks.Unref() }

func acquireShared() *Cache {
	s := &sharedCache
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users == 0 {
		s.blocks = pebble.NewCache(sharedCacheSize)
	}
	s.users++
	return &Cache{s.blocks}
}

func releaseShared() {
	s := &sharedCache
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users--; s.users == 0 {
		s.blocks.Unref()
		s.blocks = nil
	}
}

// DB is the map. Its methods may be called by one goroutine at a time, and
// Checkpoint by another while none writes.
type DB struct {
	p   *pebble.DB
	dir string
	// unflushed is what was written since the last flush was asked for, and
	// flushing is closed when that one is done.
	unflushed int
	flushing  <-chan struct{}
	// shared is set if the DB uses the shared cache.
	shared bool
	// memTable is the size of a memtable; inOrder is that of Options.
	memTable int
	inOrder  bool
	// damaged is Options.Damaged.
	damaged func(file string) error

	failure
}

// failure keeps the first error of the background.
type failure struct {
	mu   sync.Mutex
	err  error
	told chan struct{}
}

func (f *failure) set(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
		close(f.told)
	}
}

func (f *failure) get() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
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

// Open opens the map in dir, and makes it if there is none.
func Open(fsys vfs.FS, dir string, o Options) (*DB, error) {
	db := &DB{dir: dir, memTable: o.MemTable, inOrder: o.InOrder, damaged: o.Damaged, failure: failure{told: make(chan struct{})}}
	if db.memTable == 0 {
		db.memTable = memTableSize
	}
	cache := o.Cache
	if cache == nil {
		cache = acquireShared()
		db.shared = true
	}
	compactions := newScheduler()
	p, err := pebble.Open(dir, db.options(fsys, cache, compactions))
	if err != nil {
		db.leaveCache()
		return nil, db.explain("open", err)
	}
	db.p = p
	if db.get() != nil {
		return nil, db.Close()
	}
	compactions.start()
	return db, nil
}

func (db *DB) options(fsys vfs.FS, cache *Cache, compactions *scheduler) *pebble.Options {
	o := &pebble.Options{
		FS:                 treeFS{fsys, &db.failure},
		Cache:              cache.blocks,
		DisableWAL:         true,
		FormatMajorVersion: pebble.FormatTableFormatV6,
		MemTableSize:       uint64(max(db.memTable/arenaShare, minArena)),
		// The list of files is copied into each checkpoint.
		MaxManifestFileSize: 1 << 20,
		Merger:              counts,
		Logger:              quiet{&db.failure},
		// Writers never wait inside of Pebble, where a full disk would make
		// them wait for ever; Commit holds them back instead.
		MemTableStopWritesThreshold: 1000,
		L0StopWritesThreshold:       1000,
		CompactionConcurrencyRange:  func() (int, int) { return 1, 2 },
		EventListener: &pebble.EventListener{
			BackgroundError: func(err error) { db.set(err) },
			DataCorruption: func(info pebble.DataCorruptionInfo) {
				db.set(&CorruptError{File: info.Path, Err: info.Details})
			},
		},
	}
	// Fewer and larger files than usual: each costs some time when a job starts, and
	// at each checkpoint. Those of flushes stay small.
	o.TargetFileSizes[0], o.TargetFileSizes[1] = 2<<20, baseFileSize
	o.Experimental.FileCacheShards = 1
	o.Experimental.CompactionScheduler = compactions
	// Pebble compacts from half of its threshold on.
	if db.inOrder {
		o.L0CompactionThreshold = 2 * orderedRuns
		o.L0CompactionFileThreshold = 1 << 14
		o.LBaseMaxBytes, o.TargetFileSizes[0] = orderedBase, orderedFileSize
		for i := range o.Levels {
			o.Levels[i] = pebble.LevelOptions{BlockSize: orderedBlockSize, FilterPolicy: pebble.NoFilterPolicy}
		}
		return o
	}
	o.L0CompactionThreshold = 2 * pointRuns
	for i := range o.Levels {
		o.Levels[i] = pebble.LevelOptions{
			BlockSize: blockSize, FilterPolicy: bloom.FilterPolicy(10),
			Compression: func() *sstable.CompressionProfile { return &worthCompressing },
		}
	}
	// Nearly all rows are on the last level. Filters for them would be large and
	// push everything else out of a small cache, to save reads of rows that do
	// not exist.
	o.Levels[len(o.Levels)-1].FilterPolicy = pebble.NoFilterPolicy
	return o
}

// worthCompressing compresses blocks that become half as large or less. Those of small
// rows hardly get smaller, since Pebble leaves out what keys have in common; to unpack
// a block costs nearly as much as to read it, and each row that comes back takes one. (Pebble
// could find out from samples whether compressing is worth while, but chooses them at
// random: the same writes would not make the same files.)
var worthCompressing = func() sstable.CompressionProfile {
	p := *sstable.SnappyCompression
	p.MinReductionPercent = 50
	return p
}()

// quiet drops what Pebble says, except that it cannot go on.
type quiet struct{ f *failure }

// Infof implements pebble.Logger.
func (quiet) Infof(string, ...any) {}

// Errorf implements pebble.Logger. Errors that matter are background errors.
func (quiet) Errorf(string, ...any) {}

// Fatalf implements pebble.Logger.
func (q quiet) Fatalf(format string, args ...any) {
	for _, a := range args {
		if err, ok := a.(error); ok {
			q.f.set(err)
			return
		}
	}
	q.f.set(fmt.Errorf(format, args...))
}

// explain names the file that an error is about where it is known, and the
// directory otherwise.
func (db *DB) explain(what string, err error) error {
	var corrupt *CorruptError
	if !errors.As(err, &corrupt) {
		info := pebble.ExtractDataCorruptionInfo(err)
		if info == nil {
			return fmt.Errorf("state in %s: %s: %w", db.dir, what, err)
		}
		corrupt = &CorruptError{File: info.Path, Err: err}
	}
	if db.damaged != nil {
		if better := db.damaged(corrupt.File); better != nil {
			return better
		}
	}
	return corrupt
}

func (db *DB) leaveCache() {
	if db.shared {
		db.shared = false
		releaseShared()
	}
}

// Close waits for the background to end. The files stay.
func (db *DB) Close() error {
	err := db.p.Close()
	db.leaveCache()
	if failed := db.check(); failed != nil {
		return failed
	}
	if err != nil {
		return db.explain("close", err)
	}
	return nil
}

// flush makes files of all that was written.
func (db *DB) flush() error {
	done, err := db.p.AsyncFlush()
	if err != nil {
		return db.explain("flush", err)
	}
	db.unflushed, db.flushing = 0, nil
	return db.wait(done)
}

func (db *DB) wait(done <-chan struct{}) error {
	select {
	case <-done:
	case <-db.told:
	}
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

// Excise removes the keys in [from, to) without reading or writing them: files
// that have others as well are seen in part from then on. Nothing must have been
// written yet.
func (db *DB) Excise(from, to []byte) error {
	if err := db.p.Excise(context.Background(), pebble.KeyRange{Start: from, End: to}); err != nil {
		return db.explain("cut", err)
	}
	return db.check()
}

// Compact makes files of all that was written, and merges those that have keys in
// [from, to) down to the last level. It is for tests: otherwise that goes on by
// itself.
func (db *DB) Compact(from, to []byte) error {
	if err := db.flush(); err != nil {
		return err
	}
	if err := db.p.Compact(context.Background(), from, to, false); err != nil {
		return db.explain("compact", err)
	}
	return db.check()
}

// Checkpoint makes dir, which must not exist, a copy of the map. Its files are
// hard links where they never change. What is in the files is durable then, the
// names are not.
func (db *DB) Checkpoint(dir string) error {
	if err := db.flush(); err != nil {
		return err
	}
	if err := db.p.Checkpoint(dir); err != nil {
		return db.explain("checkpoint", err)
	}
	// The files are no good if Pebble could not write its list of them.
	return db.check()
}
