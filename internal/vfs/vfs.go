// Package vfs is the file system under state, checkpoints and output logs: the
// real one, or one in memory that can crash and fail for tests.
//
// The interface is the one that Pebble defines, so that everything that is
// written goes through one seam and one crash simulation; the functions here
// add what durable files need and are easily got wrong.
package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/zeebo/xxh3"
)

// FS is a file system, File an open file or directory of it.
type (
	FS   = vfs.FS
	File = vfs.File
)

// OS returns the file system of the machine.
func OS() FS { return vfs.Default }

// NewMem returns an empty file system in memory; it cannot crash.
func NewMem() FS { return vfs.NewMem() }

// Create makes an empty file, replacing one of the same name.
func Create(fsys FS, name string) (File, error) {
	return fsys.Create(name, vfs.WriteCategoryUnspecified)
}

// OpenReadWrite opens a file to read and write it anywhere; it makes an empty
// one if there is none.
func OpenReadWrite(fsys FS, name string) (File, error) {
	return fsys.OpenReadWrite(name, vfs.WriteCategoryUnspecified)
}

// RandomReads is an option of FS.Open: the file is read here and there.
var RandomReads = vfs.RandomReadsOption

// SequentialReads is an option of FS.Open: the file is read from its beginning to
// its end.
var SequentialReads = vfs.SequentialReadsOption

// ReadFile returns the content of a file.
func ReadFile(fsys FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(f)
	return data, errors.Join(err, f.Close())
}

// WriteFile makes a file durable under its name or not at all: it writes and
// syncs a temporary file in the same directory, renames it and syncs the
// directory.
func WriteFile(fsys FS, name string, data []byte) error {
	tmp := name + ".tmp"
	if err := writeSynced(fsys, tmp, data); err != nil {
		return errors.Join(err, ignoreMissing(fsys.Remove(tmp)))
	}
	if err := fsys.Rename(tmp, name); err != nil {
		return errors.Join(err, ignoreMissing(fsys.Remove(tmp)))
	}
	return SyncDir(fsys, fsys.PathDir(name))
}

func writeSynced(fsys FS, name string, data []byte) error {
	f, err := Create(fsys, name)
	if err != nil {
		return err
	}
	// A File may change the bytes that it is given.
	_, err = f.Write(slices.Clone(data))
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// SyncDir makes the names in a directory durable.
func SyncDir(fsys FS, dir string) error {
	d, err := fsys.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// MkdirAll makes a directory and those above it, durably. One that is there
// already may be what a run has left that ended before it was durable; those
// above it are durable then.
func MkdirAll(fsys FS, dir string) error {
	parent := fsys.PathDir(dir)
	if _, err := fsys.Stat(dir); err == nil {
		// Where the parent may not be read, it was not this program that made
		// the directory.
		if err := SyncDir(fsys, parent); !errors.Is(err, fs.ErrPermission) {
			return err
		}
		return nil
	}
	if parent != dir {
		if err := MkdirAll(fsys, parent); err != nil {
			return err
		}
	}
	if err := fsys.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return SyncDir(fsys, parent)
}

// LinkOrCopy gives a file a second name, by a hard link where the file system
// has them, otherwise by a synced copy. The new name is not durable before
// SyncDir of its directory.
func LinkOrCopy(fsys FS, from, to string) error { return vfs.LinkOrCopy(fsys, from, to) }

// Copy makes a synced copy of a file, on the same or another file system.
func Copy(src FS, from string, dst FS, to string) error {
	return vfs.CopyAcrossFS(src, from, dst, to)
}

// Checksum reads a file and returns its length and the xxh3 hash of its content.
func Checksum(fsys FS, name string) (length int64, sum uint64, err error) {
	f, err := fsys.Open(name, vfs.SequentialReadsOption)
	if err != nil {
		return 0, 0, err
	}
	h := xxh3.New()
	length, err = io.Copy(h, f)
	return length, h.Sum64(), errors.Join(err, f.Close())
}

// Lock takes the lock file name for this process, and says who else may have
// it if that fails. Closing the result releases it.
func Lock(fsys FS, name string) (io.Closer, error) {
	l, err := fsys.Lock(name)
	if err != nil {
		return nil, fmt.Errorf("%s is locked by another process: %w", name, err)
	}
	return l, nil
}

// IsNotExist reports whether err says that a file does not exist.
func IsNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }

func ignoreMissing(err error) error {
	if IsNotExist(err) {
		return nil
	}
	return err
}
