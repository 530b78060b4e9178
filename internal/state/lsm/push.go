package lsm

import (
	"errors"
	"slices"

	"github.com/millstream-io/millstream/internal/vfs"
)

// memWriter makes a table in memory, of the same form as in a file, of so many entries
// whose keys and values have some bytes.
func (db *DB) memWriter(entries, bytes int) *writer {
	w := &writer{format: db.format(true), out: make([]byte, 0, bytes)}
	if w.filter {
		w.hashes = make([]uint32, 0, entries)
	}
	return w
}

func (db *DB) format(filter bool) format {
	if db.inOrder {
		return format{block: orderedBlockSize}
	}
	return format{block: blockSize, filter: filter}
}

// inMemory ends a table in memory.
func (w *writer) inMemory(db *DB) (*table, error) {
	m, err := w.close()
	if err != nil {
		return nil, err
	}
	t := &table{db: db, size: int64(len(w.out)), first: w.first, last: w.last, entries: w.entries, removes: w.removes}
	blocks := slices.Clip(w.out)
	if 5*len(blocks) < 4*cap(w.out) {
		blocks = slices.Clone(blocks)
	}
	t.blocks.Store(&blocks)
	t.meta.Store(m)
	return t, nil
}

// push makes a run in memory the newest one. Once they are as much as a memtable they
// are written; if that many are being written already, it waits for these. It also
// waits for a merge if there are very many runs.
func (db *DB) push(r *run) error {
	db.mu.Lock()
	old := db.replace(slices.Insert(slices.Clone(db.now.runs), 0, r))
	db.mu.Unlock()
	old.drop()
	if err := db.tidy(); err != nil {
		return db.explain("write", err)
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.unwritten() < int64(db.memTable) {
		return nil
	}
	for len(db.now.runs) > maxRuns && db.merging > 0 && db.get() == nil {
		db.changed.Wait()
	}
	for db.flushing && db.get() == nil {
		db.changed.Wait()
	}
	if db.get() == nil {
		db.startFlush(false)
	}
	return db.check()
}

// spanSize is about what a span takes.
const spanSize = 128

// unwritten is the size of the runs in memory that are not being written. db.mu is
// held.
func (db *DB) unwritten() (n int64) {
	for _, r := range db.now.runs {
		if !r.fresh {
			break
		}
		if !r.busy {
			n += r.size() + spanSize*int64(len(r.dead))
		}
	}
	return n
}

// The number of runs in memory above which they are merged even if they are not
// as small as that.
const maxFresh, smallRun = 8, 64 << 10

// tidy merges small runs in memory, so that there are few of them, and each entry is
// merged a few times only.
func (db *DB) tidy() error {
	for {
		db.mu.Lock()
		v := db.now
		two := len(v.runs) > 1 && db.alike(v.runs[0], v.runs[1]) && (v.runs[1].size() < smallRun || v.fresh() > maxFresh)
		if !two {
			db.mu.Unlock()
			return nil
		}
		db.held()
		in := v.runs[:2]
		setBusy(in, true)
		db.mu.Unlock()
		out, err := db.mergeInMemory(v, in)
		db.mu.Lock()
		setBusy(in, false)
		var old *version
		if err == nil {
			old = db.replace(substitute(db.now.runs, in, out))
		}
		db.mu.Unlock()
		v.drop()
		if err != nil {
			return err
		}
		old.drop()
	}
}

// alike reports whether two runs are small ones in memory, the newer of which is not
// much smaller.
func (db *DB) alike(newer, older *run) bool {
	if !newer.fresh || !older.fresh || newer.busy || older.busy {
		return false
	}
	const least = 1 << 10
	return older.size() < int64(db.memTable/2) && 2*max(newer.size(), least) >= older.size()
}

func (db *DB) mergeInMemory(v *version, in []*run) (*run, error) {
	entries, bytes := 0, 0
	for _, r := range in {
		for _, t := range r.tables {
			entries += int(t.entries)
			bytes += int(t.size)
		}
	}
	w := db.memWriter(entries, bytes)
	err := db.mergeInto(v, in, false, func(key, value []byte, k kind) error { return w.add(key, value, k) })
	if err != nil {
		return nil, err
	}
	dead := in[0].dead.with(in[1].dead)
	var tables []*table
	if w.entries > 0 {
		t, err := w.inMemory(db)
		if err != nil {
			return nil, err
		}
		tables = []*table{t}
	}
	r := newRun(tables, dead)
	r.fresh = true
	return r, nil
}

// substitute replaces neighbouring runs of a list by another one, nil for none.
func substitute(list, in []*run, out *run) []*run {
	at := slices.Index(list, in[0])
	var middle []*run
	if out != nil {
		middle = []*run{out}
	}
	return slices.Concat(list[:at], middle, list[at+len(in):])
}

// mergeInto calls f with what some neighbouring runs of a version come to. bottom is
// set if there are no older ones.
func (db *DB) mergeInto(v *version, in []*run, bottom bool, f func(key, value []byte, k kind) error) error {
	var cursors []*cursor
	at := slices.Index(v.runs, in[0])
	for i, r := range in {
		cursors = append(cursors, &cursor{run: r, killed: v.killed[at+i], ahead: db.ahead(len(in)), eager: true})
	}
	return db.mergeCursors(cursors, bottom, f)
}

func (db *DB) mergeCursors(cursors []*cursor, bottom bool, f func(key, value []byte, k kind) error) error {
	m := &merged{cursors: cursors, known: bottom}
	n := 0
	for m.seek(nil); m.ok; m.next() {
		if n++; n%1024 == 0 && db.closing.Load() {
			return errClosing
		}
		if err := f(m.key, m.fold.value, m.fold.kind); err != nil {
			return err
		}
	}
	return m.err
}

// startFlush begins to write runs that are in memory: all of them, or as many as is
// worth while. db.mu is held.
func (db *DB) startFlush(all bool) {
	parts := db.toFlush(all)
	if len(parts) == 0 {
		return
	}
	db.flushing = true
	for _, p := range parts {
		setBusy(p, true)
	}
	v := db.held()
	db.background(func() error {
		defer v.drop()
		for _, p := range parts {
			if err := db.flushPart(v, p); err != nil {
				return err
			}
		}
		return nil
	}, func() { db.flushing = false })
}

// flush writes all runs that are in memory.
func (db *DB) flush() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	for db.get() == nil {
		if db.closing.Load() {
			return errClosing
		}
		if db.flushing {
			db.changed.Wait()
			continue
		}
		if len(db.now.runs) == 0 || !db.now.runs[0].fresh {
			break
		}
		db.startFlush(true)
	}
	return db.check()
}

// toFlush parts the runs in memory, oldest first: large ones are written as they
// are, small ones together.
func (db *DB) toFlush(all bool) (parts [][]*run) {
	runs, fresh := db.now.runs, db.now.fresh()
	large := func(r *run) bool { return r.size() >= int64(db.memTable/2) }
	for end := fresh; end > 0; {
		from := end - 1
		for !large(runs[end-1]) && from > 0 && !large(runs[from-1]) {
			from--
		}
		p := runs[from:end]
		small := int64(0)
		for _, r := range p {
			small += r.size()
		}
		if all || from > 0 || small >= int64(db.memTable/2) {
			parts = append(parts, p)
		}
		end = from
	}
	return parts
}

// flushPart writes neighbouring runs that are in memory.
func (db *DB) flushPart(v *version, in []*run) error {
	if len(in) > 1 {
		return db.mergeRuns(v, in)
	}
	r := in[0]
	var tables []*table
	for _, t := range r.tables {
		file, err := db.writeOut(t, !v.oldest(r))
		if err != nil {
			return err
		}
		tables = append(tables, file)
	}
	dead, err := v.needed(r.dead, r)
	if err != nil {
		return err
	}
	db.install(in, runOf(tables, dead))
	return nil
}

// writeOut writes a table in memory to a file as it is, with its filter or without.
func (db *DB) writeOut(t *table, filter bool) (*table, error) {
	m := *t.meta.Load()
	if !filter {
		m.filter = nil
	}
	number, file, err := db.create()
	if err != nil {
		return nil, err
	}
	blocks := *t.blocks.Load()
	size, err := writeParts(file, blocks, m.appendTo(nil))
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, errors.Join(err, db.removeTable(number))
	}
	out := &table{db: db, number: number, size: size, first: t.first, last: t.last, entries: t.entries, removes: t.removes}
	if !db.inOrder {
		db.cache.keep(out, blocks)
	}
	return out, nil
}

// writeParts writes bytes that are being read by others: a file may change those that
// it is given.
func writeParts(file vfs.File, parts ...[]byte) (size int64, err error) {
	var y yielder
	var buf []byte
	for _, data := range parts {
		size += int64(len(data))
		for part := range slices.Chunk(data, writeSize) {
			y.now()
			buf = append(buf[:0], part...)
			if _, err := file.Write(buf); err != nil {
				return 0, err
			}
		}
	}
	return size, nil
}
