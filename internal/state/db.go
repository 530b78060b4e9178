package state

import (
	"errors"
	"fmt"
	"slices"

	"github.com/millstream-io/millstream/internal/state/lsm"
	"github.com/millstream-io/millstream/internal/vfs"
	"github.com/millstream-io/millstream/types"
)

// Backend says where rows go that are not in memory, and how snapshots are
// taken.
type Backend uint8

const (
	// Memory keeps all rows in memory; a snapshot is one file with all of them.
	Memory Backend = iota
	// Disk writes changed rows behind to an LSM tree; a snapshot is a set of
	// files of which most are those of the one before.
	Disk
)

// String returns the name as state.backend.type has it.
func (b Backend) String() string { return [...]string{"memory", "disk"}[b] }

// Config says whose rows a DB holds and where.
type Config struct {
	// Name names the operator instance in errors: "WindowAggregate[3] 0/4".
	Name string
	// Subtask of Parallelism instances, from 0. It decides the key groups.
	Subtask, Parallelism int
	Backend              Backend
	// FS and Dir are where the DB keeps its files. The directory belongs to
	// the DB: what it finds there is removed. It is made when the first row
	// has to be written, so a job that neither saves nor evicts has no files.
	// A nil FS means that all rows stay in memory and nothing is saved.
	FS  vfs.FS
	Dir string
	// MaxRows is the number of rows in memory above which cold ones are
	// evicted when an event is over; 0 means no limit. The Memory backend has
	// none. It is for tests; see Budget.
	MaxRows int
	// Scratch is set if FS and Dir are for rows that leave memory only: there
	// will be no snapshots.
	Scratch bool
	// Budget bounds the memory of this and other DBs; nil means no bound. Wake
	// is called, from any goroutine, when the DB should give memory back though
	// it has no events: by EndEvent, soon.
	Budget *Budget
	Wake   func()
	// Now is the processing time in ms since the epoch, which may not change
	// during an event. Tables with a time to live need it. Expired, which may be
	// nil, is told how many of their rows were removed.
	Now     func() int64
	Expired func(n int64)
	// Cache is what the tree of a DB without a Budget keeps in memory; nil means one of
	// its own.
	Cache *lsm.Cache
}

// DB is a Store with the calls that the runtime makes. It is used on the task's
// goroutine only.
type DB struct {
	cfg    Config
	tables []*table
	// tracking is set once changes since the last snapshot are kept track of,
	// limited if rows in memory are.
	tracking, limited bool
	// inOrder is set if all tables are mergeable: their rows are read in order.
	inOrder bool
	// dirtyBit marks rows that change now.
	dirtyBit uint8
	// minCopy is the constant of that name; tests change it.
	minCopy int
	// member is the DB's place in the budget; before is the number of rows
	// when the last event was over.
	member *member
	before int
	disk   disk
	sums   sums
	// gone are rows that have left memory and are to be written together with the
	// next ones, or before the tree is looked at.
	gone encoding
	// restored are the tables that the saved state has, waiting are rows of
	// them that the memory backend has not filled in yet, by table.
	restored []TableInfo
	waiting  map[uint16][]savedRow
	// taken are the files of the checkpoint that the DB has taken unread, by
	// their paths here. The map does not change once the DB is restored.
	taken map[string]Taken
}

// Open returns an empty DB.
func Open(cfg Config) (*DB, error) {
	db := &DB{
		cfg: cfg,
		// Most jobs keep checkpoints; the first must not find all rows unmarked.
		tracking: cfg.Backend == Disk && cfg.FS != nil && !cfg.Scratch,
		dirtyBit: dirtyA,
		minCopy:  minCopy,
		limited:  cfg.Budget != nil || cfg.Backend == Disk && cfg.FS != nil && cfg.MaxRows > 0,
		sums:     sums{known: make(map[string]FileInfo)},
		taken:    make(map[string]Taken),
		waiting:  make(map[uint16][]savedRow),
	}
	if cfg.Parallelism < 1 || cfg.Parallelism > MaxParallelism || cfg.Subtask < 0 || cfg.Subtask >= cfg.Parallelism {
		return nil, fmt.Errorf("%s: there is no subtask %d of %d (the parallelism goes to %d)",
			cfg.Name, cfg.Subtask, cfg.Parallelism, MaxParallelism)
	}
	if cfg.FS != nil {
		if err := cfg.FS.RemoveAll(cfg.Dir); err != nil {
			return nil, fmt.Errorf("%s: cannot clear its state directory: %w", cfg.Name, err)
		}
	}
	if cfg.Budget != nil {
		var err error
		if db.member, err = cfg.Budget.join(cfg.Wake); err != nil {
			return nil, err
		}
	}
	return db, nil
}

// Table implements Store.
func (db *DB) Table(spec Spec) (Table, error) {
	for _, t := range db.tables {
		if t.spec.Name == spec.Name {
			return nil, fmt.Errorf("%s: table %q is declared twice", db.cfg.Name, spec.Name)
		}
	}
	for _, list := range [][]types.Type{spec.Key, spec.Value} {
		for _, typ := range list {
			if p := typ.Phys(); p == types.PhysNone || p == types.PhysObjects {
				return nil, fmt.Errorf("%s: table %q: values of type %s cannot be kept", db.cfg.Name, spec.Name, typ)
			}
		}
	}
	if n := len(spec.Columns); n > 0 && n != len(spec.Key)+len(spec.Value) {
		return nil, fmt.Errorf("%s: table %q has %d columns and names for %d", db.cfg.Name, spec.Name, len(spec.Key)+len(spec.Value), n)
	}
	if spec.TTL > 0 && db.cfg.Now == nil {
		return nil, fmt.Errorf("%s: table %q has a time to live, and there is no clock", db.cfg.Name, spec.Name)
	}
	if spec.Merge != nil && (spec.Order > 0 || spec.TTL > 0) {
		return nil, fmt.Errorf("%s: table %q: a mergeable table has no order and no time to live", db.cfg.Name, spec.Name)
	}
	if spec.Order < 0 || spec.Order > len(spec.Key) {
		return nil, fmt.Errorf("%s: table %q: an order of %d of %d key columns", db.cfg.Name, spec.Name, spec.Order, len(spec.Key))
	}
	db.inOrder = spec.Merge != nil && (len(db.tables) == 0 || db.inOrder)
	t, err := db.declare(spec)
	if err != nil {
		return nil, err
	}
	db.tables = append(db.tables, t)
	return t, nil
}

// declare makes a table, with the rows that were restored for it.
func (db *DB) declare(spec Spec) (*table, error) {
	id := uint16(1)
	for _, t := range db.tables {
		id = max(id, t.format.id+1)
	}
	for _, saved := range db.restored {
		id = max(id, saved.ID+1)
		if saved.Name != spec.Name {
			continue
		}
		return db.revive(spec, saved)
	}
	return newTable(db, spec, id), nil
}

// revive makes a table of saved rows.
func (db *DB) revive(spec Spec, saved TableInfo) (*table, error) {
	m, why := saved.migration(spec)
	if why != "" {
		return nil, fmt.Errorf("%s: table %q cannot go on with its saved rows: %s", db.cfg.Name, spec.Name, why)
	}
	id := saved.ID
	if len(m.changes) > 0 {
		for _, other := range slices.Concat(db.restored, db.infos()) {
			id = max(id, other.ID+1)
		}
	}
	t := newTable(db, spec, id)
	if saved.Parts > 0 {
		t.part, t.parts = saved.Parts+1, make(pages[uint32], 0)
	}
	rows := db.waiting[saved.ID]
	delete(db.waiting, saved.ID)
	switch {
	case len(m.changes) == 0 && db.cfg.Backend == Disk && saved.Listed:
		t.takeDirectory(saved.Directory)
		return t, db.openDisk()
	case len(m.changes) == 0 && db.cfg.Backend == Disk:
		return t, t.readDirectory()
	case len(m.changes) == 0:
		return t, t.fill(rows)
	case db.cfg.Backend == Memory:
		return t, db.newMigrator(m, saved, t).fill(rows)
	}
	if err := db.newMigrator(m, saved, t).rewrite(); err != nil {
		return nil, err
	}
	return t, t.readDirectory()
}

// infos are the declarations so far.
func (db *DB) infos() []TableInfo {
	var out []TableInfo
	for _, t := range db.tables {
		out = append(out, tableInfo(t.spec, t.format.id))
	}
	return out
}

// EndEvent is called after each event of the operator: slots and spaces that
// were handed out are void, and rows may leave memory.
func (db *DB) EndEvent() error {
	db.Advance()
	if err := db.sweepExpired(); err != nil {
		return err
	}
	rows := 0
	for _, t := range db.tables {
		if len(t.empty) > 0 {
			t.sweep()
		}
		if t.dirty.n > 2*t.rows+flushRows {
			t.pruneDirty()
		}
		rows += t.rows
	}
	if !db.limited {
		return nil
	}
	return db.balance(rows)
}

// Asked reports whether the budget has woken the DB, and EndEvent was not called
// since.
func (db *DB) Asked() bool { return db.member != nil && db.member.asked.Load() }

// MemBytes is the memory that the rows take.
func (db *DB) MemBytes() int {
	total := 0
	for _, t := range db.tables {
		total += t.memBytes()
	}
	return total + db.gone.memBytes()
}

// Close closes the files of the DB and removes its directory, and with it the
// files of snapshots that were not released before.
func (db *DB) Close() error {
	if s := db.disk.pending; s != nil {
		s.GiveUp()
		s.cancel()
		s.changes.cancel()
	}
	if db.member != nil {
		db.cfg.Budget.leave(db.member)
	}
	err := db.closeView()
	if db.disk.lsm != nil {
		err = errors.Join(err, db.disk.lsm.Close())
		db.disk.lsm = nil
	}
	if db.cfg.FS != nil {
		err = errors.Join(err, db.cfg.FS.RemoveAll(db.cfg.Dir))
	}
	return err
}
