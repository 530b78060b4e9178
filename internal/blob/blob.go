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
	"io/fs"
	"strings"

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
	// List returns the objects of a directory and the directories in it, in the
	// order of their names; none if there is no such directory.
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

// Info is an object or a directory in a list.
type Info struct {
	// Name is that within its directory; that of a directory ends with a slash.
	Name string
	Size int64
}

// ErrNotExist says that there is no object of a name.
var ErrNotExist = fs.ErrNotExist

// ErrExist says that a name is taken.
var ErrExist = errors.New("the object exists")

// Clear removes a directory with all that is in it.
func Clear(store Store, dir string) error {
	if fsys, path, ok := store.File(dir); ok {
		return fsys.RemoveAll(path)
	}
	ctx := context.Background()
	infos, err := store.List(ctx, dir)
	if err != nil {
		return err
	}
	for _, i := range infos {
		name := asPrefix(dir) + i.Name
		if strings.HasSuffix(name, "/") {
			err = Clear(store, name)
		} else {
			err = store.Remove(ctx, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Copy copies an object from one store to another. It shares nothing with the
// original, and is durable as one that PutFile stores.
func Copy(ctx context.Context, from Store, name string, to Store, as string) error {
	if fsys, path, ok := from.File(name); ok {
		return to.PutFile(ctx, as, copied{fsys}, path)
	}
	if fsys, path, ok := to.File(as); ok {
		return download(ctx, from, name, fsys, path)
	}
	data, err := from.Get(ctx, name)
	if err != nil {
		return err
	}
	return to.Put(ctx, as, data)
}

// copied is a file system whose files are copied and not linked, since it is no
// other one's.
type copied struct{ vfs.FS }

// chunk is the length of the parts in which an object is downloaded.
const chunk = 8 << 20

// download makes a synced file of an object.
func download(ctx context.Context, from Store, name string, fsys vfs.FS, path string) error {
	size, err := from.Stat(ctx, name)
	if err != nil {
		return err
	}
	if err := vfs.MkdirAll(fsys, fsys.PathDir(path)); err != nil {
		return err
	}
	f, err := vfs.Create(fsys, path)
	if err != nil {
		return err
	}
	buf := make([]byte, min(size, chunk))
	for off := int64(0); off < size && err == nil; off += int64(len(buf)) {
		buf = buf[:min(size-off, chunk)]
		if err = from.ReadAt(ctx, name, buf, off); err == nil {
			_, err = f.Write(buf)
		}
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
