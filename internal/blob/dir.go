package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/millstream-io/millstream/internal/vfs"
)

// dir is a directory of a file system.
type dir struct {
	fs   vfs.FS
	path string
	// there is set once the directory was seen. It is not made again then: one
	// that disappears while it is in use shall be missed.
	there atomic.Bool
}

// NewDir returns the store of the files of a directory. It is made with the first
// object. Files that PutFile stores are hard links where the file system has them.
func NewDir(fsys vfs.FS, path string) Store { return &dir{fs: fsys, path: path} }

func (d *dir) join(name string) string {
	path := d.path
	for part := range strings.SplitSeq(name, "/") {
		if part != "" {
			path = d.fs.PathJoin(path, part)
		}
	}
	return path
}

// make makes the directory of an object if there is none.
func (d *dir) make(name string) (path string, err error) {
	path = d.join(name)
	parent := d.fs.PathDir(path)
	if _, err := d.fs.Stat(parent); err == nil {
		d.there.Store(true)
		return path, nil
	}
	if d.there.Load() {
		if _, err := d.fs.Stat(d.path); err != nil {
			return "", err
		}
	}
	if err := vfs.MkdirAll(d.fs, parent); err != nil {
		return "", err
	}
	d.there.Store(true)
	return path, nil
}

// Put implements Store.
func (d *dir) Put(_ context.Context, name string, data []byte) error {
	path, err := d.make(name)
	if err != nil {
		return err
	}
	return vfs.WriteFile(d.fs, path, data)
}

// Create implements Store. The link of a file that has its content already is
// what only one can make.
func (d *dir) Create(ctx context.Context, name string, data []byte) error {
	path, err := d.make(name)
	if err != nil {
		return err
	}
	tmp := fmt.Sprintf("%s.%016x", path, rand.Uint64())
	if err := vfs.WriteFile(d.fs, tmp, data); err != nil {
		return err
	}
	if err = d.fs.Link(tmp, path); errors.Is(err, fs.ErrExist) {
		// Who has made it may have removed it since: it was there all the same.
		err = ErrExist
		if have, rerr := d.Get(ctx, name); rerr == nil && bytes.Equal(have, data) {
			err = nil
		}
	}
	return errors.Join(err, d.fs.Remove(tmp), vfs.SyncDir(d.fs, d.fs.PathDir(path)))
}

// PutFile implements Store.
func (d *dir) PutFile(ctx context.Context, name string, fsys vfs.FS, path string) error {
	to, err := d.make(name)
	if err != nil {
		return err
	}
	if err := d.Remove(ctx, name); err != nil {
		return err
	}
	if fsys == d.fs {
		err = vfs.LinkOrCopy(d.fs, path, to)
	} else {
		err = vfs.Copy(fsys, path, d.fs, to)
	}
	if err != nil {
		return errors.Join(err, d.Remove(ctx, name))
	}
	return nil
}

// Sync implements Store.
func (d *dir) Sync(_ context.Context, name string) error {
	err := vfs.SyncDir(d.fs, d.join(name))
	if vfs.IsNotExist(err) {
		return nil
	}
	return err
}

// Get implements Store.
func (d *dir) Get(_ context.Context, name string) ([]byte, error) {
	return vfs.ReadFile(d.fs, d.join(name))
}

// ReadAt implements Store.
func (d *dir) ReadAt(_ context.Context, name string, p []byte, off int64) error {
	f, err := d.fs.Open(d.join(name), vfs.RandomReads)
	if err != nil {
		return err
	}
	n, err := f.ReadAt(p, off)
	switch {
	case n == len(p):
		err = nil
	case errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	}
	return errors.Join(err, f.Close())
}

// Stat implements Store.
func (d *dir) Stat(_ context.Context, name string) (int64, error) {
	info, err := d.fs.Stat(d.join(name))
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// List implements Store.
func (d *dir) List(_ context.Context, name string) ([]Info, error) {
	path := d.join(name)
	names, err := d.fs.List(path)
	if vfs.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Info
	for _, n := range names {
		info, err := d.fs.Stat(d.fs.PathJoin(path, n))
		switch {
		case vfs.IsNotExist(err): // it was removed just now
		case err != nil:
			return nil, err
		case info.IsDir():
			out = append(out, Info{Name: n + "/"})
		default:
			out = append(out, Info{n, info.Size()})
		}
	}
	slices.SortFunc(out, byName)
	return out, nil
}

// Remove implements Store.
func (d *dir) Remove(_ context.Context, name string) error {
	err := d.fs.Remove(d.join(name))
	if vfs.IsNotExist(err) {
		return nil
	}
	return err
}

// Where implements Store.
func (d *dir) Where(name string) string { return d.join(name) }

// Sub implements Store.
func (d *dir) Sub(name string) Store { return NewDir(d.fs, d.join(name)) }

// File implements Store.
func (d *dir) File(name string) (vfs.FS, string, bool) { return d.fs, d.join(name), true }
