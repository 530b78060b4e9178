package lsm

import (
	"runtime"
	"strings"
	"time"

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
	if err == nil && strings.HasSuffix(base, ".sst") {
		return &tableFile{File: f, began: time.Now()}, nil
	}
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

// slice is how long a flush or a compaction goes on before it lets others have
// the processor. Where there are more goroutines than processors, each may
// otherwise have one for 10 ms at a time, and a task that has rows to handle waits
// as long for each of them.
const slice = 500 * time.Microsecond

// tableFile is a table that is being written.
type tableFile struct {
	vfs.File
	began time.Time
}

// Write implements vfs.File.
func (f *tableFile) Write(p []byte) (int, error) {
	if now := time.Now(); now.Sub(f.began) > slice {
		runtime.Gosched()
		f.began = time.Now()
	}
	return f.File.Write(p)
}

// OpenDir implements vfs.FS.
func (t treeFS) OpenDir(name string) (vfs.File, error) {
	f, err := t.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return looseDir{f}, nil
}

type looseDir struct{ vfs.File }

// Sync implements vfs.File.
func (looseDir) Sync() error { return nil }

// listFile is a file whose writes seem to succeed. After a failure of the tree
// it does nothing more: what a failed sync has lost, no other one brings back.
type listFile struct {
	vfs.File
	failure *failure
}

func (l listFile) do(f func() error) error {
	if l.failure.get() == nil {
		if err := f(); err != nil {
			l.failure.set(err)
		}
	}
	return nil
}

// Write implements vfs.File.
func (l listFile) Write(p []byte) (int, error) {
	return len(p), l.do(func() error { _, err := l.File.Write(p); return err })
}

// Preallocate implements vfs.File.
func (l listFile) Preallocate(offset, length int64) error {
	return l.do(func() error { return l.File.Preallocate(offset, length) })
}

// Sync implements vfs.File.
func (l listFile) Sync() error { return l.do(l.File.Sync) }

// SyncData implements vfs.File.
func (l listFile) SyncData() error { return l.do(l.File.SyncData) }

// SyncTo implements vfs.File. It says that not all is synced, which is always
// right.
func (l listFile) SyncTo(length int64) (full bool, err error) {
	return false, l.do(func() error { _, err := l.File.SyncTo(length); return err })
}

// Close implements vfs.File.
func (l listFile) Close() error {
	if err := l.File.Close(); err != nil {
		l.failure.set(err)
	}
	return nil
}
