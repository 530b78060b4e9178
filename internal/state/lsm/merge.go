package lsm

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/millstream-io/millstream/internal/vfs"
)

const (
	// pointFan is the number of neighbouring runs of about the same size from which on
	// they are merged into one, orderedFan that for entries that are read in order: to
	// read these costs some comparisons more, and each is written once or twice.
	pointFan, orderedFan = 8, 96
	// leastRun is the size below which runs count as equally large.
	leastRun = 16 << 10
	// maxRuns is the number of runs above which writers wait for merges.
	maxRuns = 512
	// maxMerges is the number of merges at a time: a small one need not wait for one
	// of everything.
	maxMerges = 2
)

// errClosing ends work in the background when the DB is closed.
var errClosing = errors.New("the tree is being closed")

// background runs f in a goroutine, and done behind it, which has db.mu. db.mu is held.
func (db *DB) background(f func() error, done func()) {
	db.work.Add(1)
	go func() {
		defer db.work.Done()
		err := errors.New("the background of the tree has ended")
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic in the background of the tree: %v\n%s", p, debug.Stack())
			}
			if err != nil && !errors.Is(err, errClosing) {
				db.set(err)
			}
			db.mu.Lock()
			defer db.mu.Unlock()
			done()
			db.startMerges()
			db.changed.Broadcast()
		}()
		err = f()
	}()
}

// startMerges begins the merges that are due. db.mu is held.
func (db *DB) startMerges() {
	for db.merging < maxMerges && !db.closing.Load() && db.get() == nil {
		if db.purgeDue && !db.purging {
			db.startPurge()
			continue
		}
		in := db.pick()
		if in == nil {
			return
		}
		db.merging++
		setBusy(in, true)
		v := db.held()
		db.background(func() error {
			defer v.drop()
			return db.mergeRuns(v, in)
		}, func() {
			db.merging--
			setBusy(in, false)
		})
	}
}

func (db *DB) mergeRuns(v *version, in []*run) error {
	out, err := db.mergeToDisk(v, in)
	if err != nil {
		return err
	}
	if out == nil || db.inOrder {
		db.install(in, out)
		return nil
	}
	// Blocks of the runs that are no more were kept perhaps, and there is room now.
	out.users.Add(1)
	defer out.drop()
	db.install(in, out)
	for _, t := range out.tables {
		if err := db.cache.keepOlder(t); err != nil {
			return err
		}
	}
	return nil
}

// pick chooses neighbouring runs to merge, nil for none. db.mu is held.
func (db *DB) pick() []*run {
	runs := db.now.runs
	for len(runs) > 0 && runs[0].fresh {
		runs = runs[1:]
	}
	fan := pointFan
	if db.inOrder {
		fan = orderedFan
	}
	// A run counts as at least as large as all newer ones, so that small ones do not
	// stay between large ones.
	class, from := 0, 0
	for i, r := range runs {
		if r.busy {
			class, from = 0, i+1
			continue
		}
		if c := sizeClass(r.size(), fan); c > class {
			class, from = c, i
		}
		if i+1-from >= fan && (i+1 == len(runs) || runs[i+1].busy || sizeClass(runs[i+1].size(), fan) > class) {
			return runs[from : i+1]
		}
	}
	if db.bottomHeavy(runs) {
		return runs
	}
	return nil
}

// sizeClass is how often the least size has to be multiplied with fan to be as much.
func sizeClass(size int64, fan int) (class int) {
	for size = size / leastRun; size >= int64(fan); size /= int64(fan) {
		class++
	}
	return class
}

// bottomHeavy reports whether all runs should be merged into one: where rows are read
// one by one, once the newer ones are as large as the oldest, so that what was replaced
// does not take more than what is there; and once half as many entries remove
// something as store something.
func (db *DB) bottomHeavy(runs []*run) bool {
	if len(runs) < 2 {
		return false
	}
	var newer, oldest, entries, removes int64
	for i, r := range runs {
		if r.busy {
			return false
		}
		if oldest = r.size(); i < len(runs)-1 {
			newer += oldest
		}
		for _, t := range r.tables {
			entries += t.entries
			removes += t.removes
		}
	}
	return removes > 0 && 3*removes >= entries || !db.inOrder && newer >= oldest && newer > 0
}

// mergeToDisk writes what neighbouring runs of a version come to; nil if that is nothing.
func (db *DB) mergeToDisk(v *version, in []*run) (*run, error) {
	bottom := v.oldest(in[len(in)-1])
	o := &output{db: db, format: db.format(!bottom), most: db.tableSize()}
	if err := db.mergeInto(v, in, bottom, o.add); err != nil {
		return nil, errors.Join(err, o.undo())
	}
	if err := o.close(); err != nil {
		return nil, errors.Join(err, o.undo())
	}
	var dead spans
	if !bottom {
		for _, r := range in {
			dead = dead.with(r.dead)
		}
		var err error
		if dead, err = v.needed(dead, in[len(in)-1]); err != nil {
			return nil, errors.Join(err, o.undo())
		}
	}
	return runOf(o.tables, dead), nil
}

// runOf returns a run, nil for an empty one.
func runOf(tables []*table, dead spans) *run {
	if len(tables) == 0 && len(dead) == 0 {
		return nil
	}
	return newRun(tables, dead)
}

// needed returns those spans that runs older than the given one may have keys in.
func (v *version) needed(dead spans, last *run) (spans, error) {
	older := v.runs[slices.Index(v.runs, last)+1:]
	var out spans
	for _, s := range dead {
		for _, r := range older {
			has, err := r.mayHave(s)
			if err != nil {
				return nil, err
			}
			if has {
				out = append(out, s)
				break
			}
		}
	}
	return out, nil
}

// tableSize is how large tables get.
func (db *DB) tableSize() int {
	if db.inOrder {
		return min(maxOrderedTable, orderedTables*db.memTable)
	}
	return min(maxPointTable, pointTables*db.memTable)
}

// install puts a run, or none, in the place of others.
func (db *DB) install(in []*run, out *run) {
	db.exchange(in, out).drop()
}

// exchange is install, and returns the version before.
func (db *DB) exchange(in []*run, out *run) (old *version) {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.purgeDue = db.purgeDue || out != nil && len(out.dead) > 0
	return db.replace(substitute(db.now.runs, in, out))
}

// output writes entries to tables.
type output struct {
	db *DB
	format
	most   int
	w      *writer
	file   vfs.File
	number uint64
	buf    []byte // that of the last writer
	tables []*table
}

func (o *output) add(key, value []byte, k kind) error {
	if o.w == nil {
		if err := o.begin(); err != nil {
			return err
		}
	}
	if err := o.w.add(key, value, k); err != nil {
		return err
	}
	if o.w.size() < o.most {
		return nil
	}
	return o.end()
}

func (o *output) begin() (err error) {
	if o.number, o.file, err = o.db.create(); err != nil {
		return err
	}
	o.w = &writer{format: o.format, file: o.file, out: o.buf[:0]}
	return nil
}

// end makes what was written a table.
func (o *output) end() error {
	m, err := o.w.close()
	if err != nil {
		return err
	}
	o.w.out = m.appendTo(o.w.out)
	if err := o.w.write(); err != nil {
		return err
	}
	file := o.file
	o.file = nil
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return err
	}
	w := o.w
	o.w, o.buf = nil, w.out
	o.tables = append(o.tables, &table{db: o.db, number: o.number, size: int64(w.written), first: w.first, last: w.last, entries: w.entries, removes: w.removes})
	return nil
}

func (o *output) close() error {
	if o.w == nil {
		return nil
	}
	return o.end()
}

// undo removes what was written.
func (o *output) undo() (err error) {
	if o.file != nil {
		err = o.file.Close()
	}
	if o.w != nil {
		err = errors.Join(err, o.db.removeTable(o.number))
	}
	for _, t := range o.tables {
		err = errors.Join(err, o.db.removeTable(t.number))
	}
	return err
}

// create makes the file of a new table.
func (db *DB) create() (number uint64, file vfs.File, err error) {
	db.mu.Lock()
	db.last++
	number = db.last
	db.mu.Unlock()
	file, err = vfs.Create(db.fs, db.path(number))
	return number, file, err
}

// removeTable removes what there may be of a file that is no table.
func (db *DB) removeTable(number uint64) error {
	if err := db.fs.Remove(db.path(number)); !vfs.IsNotExist(err) {
		return err
	}
	return nil
}

// path is that of the table with a number.
func (db *DB) path(number uint64) string { return db.fs.PathJoin(db.dir, tableName(number)) }
