package lsm

import (
	"strings"

	pebblevfs "github.com/cockroachdb/pebble/v2/vfs"

	"github.com/millstream-io/millstream/internal/vfs"
)

// treeFS is the file system that Pebble sees. A live tree is thrown away after
// a crash or a failure, which allows two things:
//
// Directories are never synced: names in a live tree need not survive a crash,
// and whoever keeps a checkpoint gives its files names of his own. It saves
// time, and Pebble panics if the sync of a directory fails.
//
// An error in writing the list of files (the manifest) is noted as the failure
// of the tree, and hidden from Pebble: it could only end the process there, and
// its memory is not in order if it does not. Nobody uses the tree after that.
type treeFS struct {
	vfs.FS
	failure *failure
}

// Create implements vfs.FS.
func (t treeFS) Create(name string, category pebblevfs.DiskWriteCategory) (vfs.File, error) {
	f, err := t.FS.Create(name, category)
	base := t.PathBase(name)
	if !strings.HasPrefix(base, "MANIFEST-") && !strings.HasPrefix(base, "marker.manifest.") {
		return f, err
	}
	if err != nil {
		t.failure.set(err)
		if f, err = pebblevfs.NewMem().Create(base, category); err != nil {
			return nil, err
		}
	}
	return listFile{f, t.failure}, nil
}

// OpenDir implements vfs.FS.
func (t treeFS) OpenDir(name string) (vfs.File, error) {
	f, err := t.FS.OpenDir(name)
	return looseDir{f}, err
}

type looseDir struct{ vfs.File }

// Sync implements vfs.File.
func (looseDir) Sync() error { return nil }

// listFile is a file whose writes seem to succeed.
type listFile struct {
	vfs.File
	failure *failure
}

func (l listFile) note(err error) error {
	if err != nil {
		l.failure.set(err)
	}
	return nil
}

// Write implements vfs.File.
func (l listFile) Write(p []byte) (int, error) {
	_, err := l.File.Write(p)
	return len(p), l.note(err)
}

// Preallocate implements vfs.File.
func (l listFile) Preallocate(offset, length int64) error {
	return l.note(l.File.Preallocate(offset, length))
}

// Sync implements vfs.File.
func (l listFile) Sync() error { return l.note(l.File.Sync()) }

// SyncData implements vfs.File.
func (l listFile) SyncData() error { return l.note(l.File.SyncData()) }

// SyncTo implements vfs.File.
func (l listFile) SyncTo(length int64) (bool, error) {
	full, err := l.File.SyncTo(length)
	return full && err == nil, l.note(err)
}

// Close implements vfs.File.
func (l listFile) Close() error { return l.note(l.File.Close()) }
