package state

import (
	"fmt"

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
	FS  vfs.FS
	Dir string
	// MaxRows is the number of rows in memory above which cold ones are
	// evicted when an event is over, MaxBytes the same for their size; 0 means
	// no limit. The Memory backend has none.
	MaxRows, MaxBytes int
}

// DB is a Store with the calls that the runtime makes. It is used on the task's
// goroutine only.
type DB struct {
	cfg    Config
	tables []*table
	// tracking is set once changes since the last snapshot are kept track of,
	// limited if rows in memory are.
	tracking, limited bool
}

// Open returns an empty DB.
func Open(cfg Config) (*DB, error) {
	return &DB{cfg: cfg, limited: cfg.Backend == Disk && (cfg.MaxRows > 0 || cfg.MaxBytes > 0)}, nil
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
	t := newTable(db, spec, uint16(len(db.tables)+1))
	db.tables = append(db.tables, t)
	return t, nil
}

// EndEvent is called after each event of the operator: slots and spaces that
// were handed out are void, and rows may leave memory.
func (db *DB) EndEvent() error {
	for _, t := range db.tables {
		if len(t.empty) > 0 {
			t.sweep()
		}
	}
	return nil
}

// MemBytes is the memory that the rows take.
func (db *DB) MemBytes() int {
	total := 0
	for _, t := range db.tables {
		total += t.memBytes()
	}
	return total
}

// Close releases the files of the DB and removes its directory.
func (db *DB) Close() error { return nil }
