package state

import (
	"github.com/millstream-io/millstream/internal/state/lsm"
)

// disk is the LSM tree of a DB, which is opened when it is first needed.
type disk struct {
	lsm *lsm.DB
	// view is a reader that is kept until something is written.
	view *lsm.Reader
	// pending is the last snapshot, until its files are made. Before that
	// nothing else may be written. Rows that are not in memory can be read: what
	// the snapshot has to write still is.
	pending *Snapshot
}

// liveDir is the directory of the tree.
func (db *DB) liveDir() string { return db.cfg.FS.PathJoin(db.cfg.Dir, "live") }

// openDisk opens the tree, which is empty unless a restore has put it there.
func (db *DB) openDisk() error {
	if db.disk.lsm != nil {
		return nil
	}
	if err := db.cfg.FS.MkdirAll(db.cfg.Dir, 0o755); err != nil {
		return err
	}
	tree, err := lsm.Open(db.cfg.FS, db.liveDir(), db.treeOptions())
	if err != nil {
		return err
	}
	db.disk.lsm = tree
	return nil
}

// write commits one batch of changes.
func (db *DB) write(f func(b *lsm.Batch)) error {
	if err := db.settle(); err != nil {
		return err
	}
	if err := db.openDisk(); err != nil {
		return err
	}
	if err := db.writeGone(); err != nil {
		return err
	}
	if err := db.closeView(); err != nil {
		return err
	}
	b := db.disk.lsm.NewBatch()
	f(b)
	return b.Commit()
}

// settle writes what the last snapshot has frozen, and makes its files, if that
// was not done elsewhere. If it cannot be written, this DB lacks rows for good.
func (db *DB) settle() error {
	s := db.disk.pending
	if s == nil {
		return nil
	}
	for db.copyMore() {
		if err := s.changes.help(); err != nil {
			return err
		}
	}
	if err := s.changes.write(); err != nil {
		return err
	}
	db.disk.pending = nil
	// An error in making the files is one of the snapshot only.
	s.write()
	return db.closeView()
}

// retire forgets the last snapshot if its files are made.
func (db *DB) retire() error {
	if s := db.disk.pending; s != nil && s.over.Load() {
		return db.settle()
	}
	return nil
}

func (db *DB) closeView() error {
	v := db.disk.view
	if v == nil {
		return nil
	}
	db.disk.view = nil
	return v.Close()
}

// reader returns a view of the disk as it is now. It is good until the next
// write.
func (db *DB) reader() (*lsm.Reader, error) {
	if err := db.retire(); err != nil {
		return nil, err
	}
	if !db.beside() {
		if err := db.removeGraves(); err != nil {
			return nil, err
		}
	}
	if err := db.writeGone(); err != nil {
		return nil, err
	}
	if db.disk.view != nil {
		return db.disk.view, nil
	}
	r, err := db.newReader()
	db.disk.view = r
	return r, err
}

// beside reports whether the disk is read while the last snapshot is written.
func (db *DB) beside() bool { return db.disk.pending != nil && db.disk.pending.hadTree }

// newReader returns a view that stays as it is; the caller closes it.
func (db *DB) newReader() (*lsm.Reader, error) {
	if err := db.retire(); err != nil {
		return nil, err
	}
	if db.beside() {
		if err := db.disk.pending.changes.writeGraves(); err != nil {
			return nil, err
		}
		return db.disk.lsm.NewReader()
	}
	if err := db.settle(); err != nil {
		return nil, err
	}
	if err := db.openDisk(); err != nil {
		return nil, err
	}
	if err := db.removeGraves(); err != nil {
		return nil, err
	}
	if err := db.writeGone(); err != nil {
		return nil, err
	}
	return db.disk.lsm.NewReader()
}

// treeOptions are the memory that the tree may take.
func (db *DB) treeOptions() lsm.Options {
	o := lsm.Options{Cache: db.cfg.Cache, InOrder: db.inOrder, Damaged: db.damaged}
	if b := db.cfg.Budget; b != nil {
		o.Cache, o.MemTable = b.cacheFor(db.inOrder), b.memTable()
	}
	return o
}
