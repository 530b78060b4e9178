package state

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/millstream-io/millstream/internal/vfs"
	"github.com/millstream-io/millstream/types"
)

// infoVersion is the version of the format of snapshots: of Info, the run file
// and the encoding of rows.
//
// Version 2 is version 1 with numbers of partials in keys, and with times of the
// last write before values; the memory backend uses it where there are any. In version
// 3, which the disk backend uses always, the files are those of lsm; before they were
// those of oldtree.
const infoVersion, partsVersion, treeVersion = 1, 2, 3

// Info says what a snapshot holds: all that is needed to restore it, besides
// its files. It is part of the checkpoint's manifest, as JSON.
type Info struct {
	Version     int         `json:"version"`
	Backend     string      `json:"backend"`
	Subtask     int         `json:"subtask"`
	Parallelism int         `json:"parallelism"`
	Tables      []TableInfo `json:"tables,omitempty"`
	Files       []FileInfo  `json:"files,omitempty"`
}

// TableInfo is the declaration of a table, with its number in the files.
type TableInfo struct {
	ID     uint16   `json:"id"`
	Name   string   `json:"name"`
	Key    []string `json:"key,omitempty"`
	Value  []string `json:"value,omitempty"`
	ByTask bool     `json:"byTask,omitempty"`
	// Columns are the names of keys and values.
	Columns []string `json:"columns,omitempty"`
	// TTL is set if each row has the time of its last write.
	TTL bool `json:"ttl,omitempty"`
	// Parts is the highest number that a partial may have.
	Parts uint32 `json:"parts,omitempty"`
	// Listed is set if Directory has all namespaces (see directory).
	Listed    bool   `json:"listed,omitempty"`
	Directory []byte `json:"directory,omitempty"`
}

func tableInfo(spec Spec, id uint16) TableInfo {
	return TableInfo{ID: id, Name: spec.Name, Key: typeNames(spec.Key), Value: typeNames(spec.Value), Columns: spec.Columns, ByTask: spec.ByTask, TTL: spec.TTL > 0}
}

// Info is the declaration as snapshots have it, with a number.
func (s Spec) Info(id uint16) TableInfo { return tableInfo(s, id) }

func typeNames(list []types.Type) []string {
	var out []string
	for _, t := range list {
		out = append(out, t.String())
	}
	return out
}

// String prints the declaration.
func (t TableInfo) String() string {
	by := ""
	if t.ByTask {
		by = " by task"
	}
	if t.TTL {
		by += " with a time to live"
	}
	return fmt.Sprintf("(%s) -> (%s)%s", strings.Join(t.Key, ", "), strings.Join(t.Value, ", "), by)
}

func (t TableInfo) same(u TableInfo) bool {
	return slices.Equal(t.Key, u.Key) && slices.Equal(t.Value, u.Value) && t.ByTask == u.ByTask && t.TTL == u.TTL
}

// Snapshot is the content of a DB at one moment. Taking it costs the task a copy
// of what has changed since the one before (see changes); the rest is done by
// Files, which may be called on another goroutine while the task goes on.
type Snapshot struct {
	ID   int64
	fs   vfs.FS
	dir  string
	info Info
	// changes are written by whoever needs them on disk first.
	changes *changes
	// make writes the files; it is called once.
	make     func() error
	once     sync.Once
	writeErr error
	sums     *sums
	// over is set when the files are made, or nobody wants them any more.
	over atomic.Bool
	// copied is set when all changes are copied; hadTree if there was a tree
	// before. Both are the task's.
	copied, hadTree bool
}

// Snapshot takes a snapshot, which must be released. It copies all that has
// changed.
func (db *DB) Snapshot(id int64) (*Snapshot, error) {
	s, err := db.Begin(id)
	if err == nil {
		for db.copyMore() {
		}
	}
	return s, err
}

// Begin takes a snapshot of the DB as it is, which must be released, and leaves
// the copying of rows for later: it is done as the operator comes to them, and by
// EndEvent and Advance. Files, on another goroutine, waits for it; GiveUp ends
// that.
func (db *DB) Begin(id int64) (*Snapshot, error) {
	s := &Snapshot{ID: id, fs: db.cfg.FS, sums: &db.sums, info: Info{
		Version:     infoVersion,
		Backend:     db.cfg.Backend.String(),
		Subtask:     db.cfg.Subtask,
		Parallelism: db.cfg.Parallelism,
	}}
	if db.cfg.FS == nil {
		return nil, fmt.Errorf("%s: there is no place for its snapshots", db.cfg.Name)
	}
	if err := db.allDeclared(); err != nil {
		return nil, err
	}
	for _, t := range db.tables {
		info := tableInfo(t.spec, t.format.id)
		if t.parts != nil {
			info.Parts, s.info.Version = t.part, partsVersion
		}
		if info.TTL {
			s.info.Version = partsVersion
		}
		if db.cfg.Backend == Disk {
			s.info.Version = treeVersion
		}
		s.info.Tables = append(s.info.Tables, info)
	}
	if len(db.tables) == 0 {
		s.make = func() error { return nil }
		return s, nil
	}
	s.dir = db.cfg.FS.PathJoin(db.cfg.Dir, fmt.Sprintf("snapshot-%d", id))
	if db.cfg.Backend == Memory {
		rows := db.freezeAll()
		s.make = func() error { return writeRun(s.fs, s.dir, runFile(rows)) }
		return s, nil
	}
	if err := db.settle(); err != nil {
		return nil, err
	}
	if err := errors.Join(db.writeGone(), db.closeView()); err != nil {
		return nil, err
	}
	c := db.freeze()
	s.changes, s.hadTree = c, db.disk.lsm != nil
	s.make = func() error {
		if err := c.write(); err != nil {
			return err
		}
		return db.disk.lsm.Checkpoint(s.dir)
	}
	db.disk.pending = s
	return s, nil
}

// allDeclared makes sure that no restored table is left out of a snapshot.
func (db *DB) allDeclared() error {
	for _, info := range db.restored {
		if !slices.ContainsFunc(db.tables, func(t *table) bool { return t.spec.Name == info.Name }) {
			return fmt.Errorf("%s: the saved state has a table %q %s that the job does not declare any more", db.cfg.Name, info.Name, info)
		}
	}
	return nil
}

// write makes the files, once.
func (s *Snapshot) write() error {
	s.once.Do(func() {
		s.writeErr = s.make()
		s.over.Store(true)
	})
	return s.writeErr
}

// Files makes the files in the snapshot's own directory, with durable content,
// and returns what it holds. Path says where each file is. Their names there are
// not durable: the caller links or copies them, and syncs that directory.
func (s *Snapshot) Files() (*Info, error) {
	if err := s.write(); err != nil {
		return nil, err
	}
	info := s.info
	info.Files = nil
	if s.changes != nil {
		info.Tables = s.changes.list(info.Tables)
	}
	if s.dir == "" {
		return &info, nil
	}
	names, err := s.fs.List(s.dir)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	for _, name := range names {
		f, err := s.sums.file(s.fs, s.dir, name)
		if err != nil {
			return nil, err
		}
		info.Files = append(info.Files, f)
	}
	return &info, nil
}

// Path returns where a file of the snapshot is, until Release.
func (s *Snapshot) Path(f FileInfo) string { return s.fs.PathJoin(s.dir, f.Name) }

var errGivenUp = errors.New("the snapshot was given up before its files were made")

// cancel makes sure that the files are not being made, nor will be.
func (s *Snapshot) cancel() {
	s.once.Do(func() {
		s.writeErr = errGivenUp
		s.over.Store(true)
	})
}

// GiveUp makes Files return, with an error if it waits for copies. The DB is of
// no use then. It may be called from any goroutine.
func (s *Snapshot) GiveUp() {
	if s.changes != nil {
		s.changes.end(true)
	}
}

// Release removes the snapshot's own files. Hard links to them stay good.
func (s *Snapshot) Release() error {
	s.cancel()
	if s.dir == "" {
		return nil
	}
	return s.fs.RemoveAll(s.dir)
}
