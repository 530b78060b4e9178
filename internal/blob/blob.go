// Package blob stores objects under names: in a directory, in memory, or in a
// store with S3's interface. What checkpoints and savepoints need of such a store
// is one contract here, which all three keep.
//
// Names have slashes and never begin with one. A missing object is an error that
// is fs.ErrNotExist (vfs.IsNotExist).
package blob

import (
	"context"
	"errors"

	"github.com/millstream-io/millstream/internal/vfs"
)

// Store is a place for objects. Its methods may be called from any goroutine.
type Store interface {
	// Put stores an object, in place of the one that had its name. It is there
	// as a whole or not at all, and durable when Put returns.
	Put(ctx context.Context, name string, data []byte) error
	// Create is Put for a name that is free; otherwise the error is ErrExist. Of
	// several who try, from whatever machine, one succeeds. The data must be the
	// caller's alone: by them it knows its own object again when the answer to
	// the first attempt was lost.
	Create(ctx context.Context, name string, data []byte) error
	// PutFile stores the content of a file that does not change any more. It is
	// durable once Sync was called.
	PutFile(ctx context.Context, name string, fsys vfs.FS, path string) error
	// Sync makes the objects of a directory ("" or "a/b") durable that PutFile
	// has stored.
	Sync(ctx context.Context, dir string) error

	// Get returns an object.
	Get(ctx context.Context, name string) ([]byte, error)
	// ReadAt fills p with the part of an object that begins at off; an object
	// that ends before is io.ErrUnexpectedEOF.
	ReadAt(ctx context.Context, name string, p []byte, off int64) error
	// Stat returns the length of an object.
	Stat(ctx context.Context, name string) (int64, error)
	// List returns the objects of a directory, without those of the directories
	// in it, in the order of their names; none if there is no such directory.
	List(ctx context.Context, dir string) ([]Info, error)
	// Remove removes an object; one that is not there is no error.
	Remove(ctx context.Context, name string) error

	// Where says where an object is, for messages: a path, or an s3:// address.
	Where(name string) string
	// Sub is the store of the objects of a directory.
	Sub(dir string) Store
	// File returns where an object is, or will be, as a file. ok is false for
	// stores that have none.
	File(name string) (fsys vfs.FS, path string, ok bool)
}

// Info is an object in a list.
type Info struct {
	// Name is that within its directory.
	Name string
	Size int64
}

// ErrExist says that a name is taken.
var ErrExist = errors.New("the object exists")

// copySize is the length of the parts in which objects are copied.
const copySize = 8 << 20
