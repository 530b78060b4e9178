package lsm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/millstream-io/millstream/internal/vfs"
)

// table is a sorted piece of a run: a file, or blocks in memory that are not in a
// file yet. Its entries never change. It lives as long as a run has it.
type table struct {
	db     *DB
	number uint64
	// size is the length of the file.
	size int64
	// first and last are its first and last key.
	first, last []byte
	// entries and removes are the number of entries, and of those that remove
	// something.
	entries, removes int64
	// blocks are the table's blocks if they are in memory. There is no file if the
	// number is 0.
	blocks atomic.Pointer[[]byte]

	meta  atomic.Pointer[meta]
	used  atomic.Bool // since the cache came by
	users atomic.Int32

	// mu is held to read the file, and alone to open and to close it. It is closed when
	// the meta data leave memory, so that there are not more open files than fit there.
	mu   sync.RWMutex
	file vfs.File

	// covered are the bytes of entries that newer runs have removed, of total,
	// by what was found for coveredBy. Only who merges uses them.
	covered, total int64
	coveredBy      *span
}

const tableSuffix = ".sst"

// tableName is the name of a table with a number.
func tableName(n uint64) string { return fmt.Sprintf("%06d%s", n, tableSuffix) }

func (t *table) path() string { return t.db.path(t.number) }

// onDisk reports whether there is a file.
func (t *table) onDisk() bool { return t.number > 0 }

// drop says that a run has the table no more. The file goes with the last.
func (t *table) drop() {
	if t.users.Add(-1) > 0 {
		return
	}
	if !t.onDisk() {
		return
	}
	t.db.cache.forget(t)
	err := t.closeFile()
	if err == nil && !t.db.closing.Load() {
		err = t.db.fs.Remove(t.path())
	}
	if err != nil {
		t.db.set(err)
	}
}

func (t *table) closeFile() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.file
	t.file = nil
	if f == nil {
		return nil
	}
	return f.Close()
}

// open opens the file if it is not.
func (t *table) open() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file != nil {
		return nil
	}
	f, err := t.db.fs.Open(t.path(), vfs.RandomReads)
	if vfs.IsNotExist(err) {
		return &CorruptError{File: t.path(), Err: err}
	}
	if err == nil {
		t.file = f
	}
	return err
}

// read reads a part of the file.
func (t *table) read(buf []byte, at int64) error {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for t.file == nil { // it may be closed in between
		t.mu.RUnlock()
		err := t.open()
		t.mu.RLock()
		if err != nil {
			return err
		}
	}
	n, err := t.file.ReadAt(buf, at)
	if n == len(buf) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return t.corrupt(fmt.Sprintf("it ends at %d", at+int64(n)))
	}
	return err
}

func (t *table) corrupt(why string) error {
	return &CorruptError{File: t.path(), Err: errors.New(why)}
}

// index returns the table's meta data, and reads them if they are not in memory.
func (t *table) index() (*meta, error) {
	if m := t.meta.Load(); m != nil {
		if !t.used.Load() {
			t.used.Store(true)
		}
		return m, nil
	}
	t.db.cache.mu.Lock() // one at a time: the others mostly want the same
	defer t.db.cache.mu.Unlock()
	if m := t.meta.Load(); m != nil {
		return m, nil
	}
	m, err := t.readMeta()
	if err != nil {
		return nil, err
	}
	t.db.cache.admit(t, m)
	return m, nil
}

func (t *table) readMeta() (*meta, error) {
	var end [fileTail]byte
	if t.size < fileTail {
		return nil, t.corrupt("it is too short")
	}
	if err := t.read(end[:], t.size-fileTail); err != nil {
		return nil, err
	}
	length, sum := int64(binary.LittleEndian.Uint32(end[:])), binary.LittleEndian.Uint32(end[4:])
	if binary.LittleEndian.Uint64(end[8:]) != fileMark || length > t.size-fileTail {
		return nil, t.corrupt("its end is not that of a table")
	}
	data := make([]byte, length)
	if err := t.read(data, t.size-fileTail-length); err != nil {
		return nil, err
	}
	if checksum(data) != sum {
		return nil, t.corrupt("the checksum of its index is wrong")
	}
	m, ok := parseMeta(data)
	if !ok || int64(m.starts[m.blocks()]) != t.size-fileTail-length {
		return nil, t.corrupt("its index does not fit")
	}
	return m, nil
}

// weigh returns how many bytes entries take, and those of them that are in the given
// spans for sure.
func (t *table) weigh(l spans) (covered, total int64, err error) {
	if len(l) == 0 {
		return 0, 1, nil
	}
	if t.coveredBy == &l[0] {
		return t.covered, t.total, nil
	}
	m, err := t.index()
	if err != nil {
		return 0, 0, err
	}
	t.covered, t.total, t.coveredBy = 0, 0, &l[0]
	at := 0
	for i, n := range m.weights {
		head := m.heads.at(i)
		for at < len(l) && bytes.Compare(l[at].to, head) <= 0 {
			at++
		}
		if t.total += int64(n); at < len(l) && l[at].all(head) {
			t.covered += int64(n)
		}
	}
	t.total = max(t.total, 1)
	return t.covered, t.total, nil
}

// mayHave reports whether the table may have keys in a span, as far as is known of their
// heads.
func (t *table) mayHave(s span) (bool, error) {
	if bytes.Compare(t.first, s.to) >= 0 || bytes.Compare(t.last, s.from) < 0 {
		return false, nil
	}
	m, err := t.index()
	if err != nil || len(m.weights) == 0 {
		return true, err
	}
	i := sort.Search(m.heads.len(), func(i int) bool { return bytes.Compare(m.heads.at(i), s.from) >= 0 })
	if i < m.heads.len() && bytes.Compare(m.heads.at(i), s.to) < 0 {
		return true, nil
	}
	return i > 0 && bytes.HasPrefix(s.from, m.heads.at(i-1)), nil
}

// run is one sorted list of entries; its tables do not overlap and are in order. A
// run is older or newer than another: what a newer one has under a key counts.
type run struct {
	tables []*table
	// dead is what older runs have no more.
	dead  spans
	users atomic.Int32
	// fresh is set while it is in memory.
	fresh bool
	// busy is set while it is being merged with others.
	busy bool
}

func newRun(tables []*table, dead spans) *run {
	r := &run{tables: tables, dead: dead}
	for _, t := range tables {
		t.users.Add(1)
		r.fresh = r.fresh || !t.onDisk()
	}
	return r
}

// drop says that a version has the run no more.
func (r *run) drop() {
	if r.users.Add(-1) > 0 {
		return
	}
	for _, t := range r.tables {
		t.drop()
	}
}

// size is the number of bytes of its tables.
func (r *run) size() (n int64) {
	for _, t := range r.tables {
		n += t.size
	}
	return n
}

// find returns the first table that ends at or behind a key, len(r.tables) if there
// is none.
func (r *run) find(key []byte) int {
	if len(r.tables) == 1 {
		if bytes.Compare(r.tables[0].last, key) < 0 {
			return 1
		}
		return 0
	}
	return sort.Search(len(r.tables), func(i int) bool { return bytes.Compare(r.tables[i].last, key) >= 0 })
}

// mayHave reports whether one of the run's tables may have keys in a span.
func (r *run) mayHave(s span) (bool, error) {
	for _, t := range r.tables[r.find(s.from):] {
		if bytes.Compare(t.first, s.to) >= 0 {
			break
		}
		if has, err := t.mayHave(s); has || err != nil {
			return has, err
		}
	}
	return false, nil
}

func setBusy(list []*run, busy bool) {
	for _, r := range list {
		r.busy = busy
	}
}

// version is the list of runs at a moment, newest first. It never changes.
type version struct {
	runs []*run
	// killed are, for each run, what newer ones have removed of it: their spans.
	killed []spans
	users  atomic.Int32
}

// newVersion makes a version with one user. before is one from which it may take
// what is the same.
func newVersion(runs []*run, before *version) *version {
	v := &version{runs: runs, killed: make([]spans, len(runs))}
	var all spans
	for i, r := range runs {
		r.users.Add(1)
		v.killed[i] = all
		if len(r.dead) > 0 {
			all = before.union(all, r)
		}
	}
	v.users.Store(1)
	return v
}

// union returns the spans of all with those of a run, from this version if it has
// them: then they are the same in memory, by which table.weigh knows them.
func (v *version) union(all spans, r *run) spans {
	if v == nil {
		return all.with(r.dead)
	}
	for i, own := range v.runs {
		if own != r || i+1 == len(v.runs) || len(v.killed[i]) != len(all) {
			continue
		}
		if len(all) == 0 || &v.killed[i][0] == &all[0] {
			return v.killed[i+1]
		}
	}
	return all.with(r.dead)
}

// fresh is the number of runs in memory.
func (v *version) fresh() (n int) {
	for n < len(v.runs) && v.runs[n].fresh {
		n++
	}
	return n
}

// oldest reports whether a run is the oldest one.
func (v *version) oldest(r *run) bool { return v.runs[len(v.runs)-1] == r }

func (v *version) drop() {
	if v.users.Add(-1) > 0 {
		return
	}
	for _, r := range v.runs {
		r.drop()
	}
}
