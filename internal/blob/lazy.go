package blob

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"

	own "github.com/millstream-io/millstream/internal/vfs"
)

const (
	// blockSize is what is fetched for a read somewhere, mostBlocks how many are
	// fetched at once for one that goes on where the last has ended.
	blockSize  = 256 << 10
	mostBlocks = 32
)

// Lazy is a file system some of whose files are objects of a store: what is read
// of them is fetched, and kept in a file of the same length, which has holes until
// all was read once.
type Lazy struct {
	own.FS
	ctx context.Context

	mu sync.Mutex
	// files are those with holes, by each of their paths.
	files map[string]*sparse
}

// NewLazy returns a file system that adds files of stores to fsys, fetched while
// ctx lasts.
func NewLazy(ctx context.Context, fsys own.FS) *Lazy {
	return &Lazy{FS: fsys, ctx: ctx, files: map[string]*sparse{}}
}

// sparse is a file with holes.
type sparse struct {
	store Store
	name  string
	size  int64

	mu   sync.Mutex
	path string
	have []bool
	left int
}

// Place makes a file of an object with size bytes.
func (l *Lazy) Place(path string, store Store, name string, size int64) error {
	f, err := own.Create(l.FS, path)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil || size == 0 {
		return err
	}
	s := &sparse{store: store, name: name, size: size, path: path, have: make([]bool, (size+blockSize-1)/blockSize)}
	s.left = len(s.have)
	// The last byte gives the file its length.
	if err := s.write(l.FS, make([]byte, 1), size-1); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.files[path] = s
	return nil
}

// Fill fetches what is missing of a file.
func (l *Lazy) Fill(ctx context.Context, path string) error {
	s := l.find(path)
	if s == nil {
		return nil
	}
	blocks := int64(len(s.have))
	for from := int64(0); from < blocks; from += mostBlocks {
		if err := s.fetch(ctx, l.FS, from, min(from+mostBlocks, blocks)); err != nil {
			return err
		}
	}
	return nil
}

// Whole reports whether all of a file is here.
func (l *Lazy) Whole(path string) bool {
	s := l.find(path)
	if s == nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left == 0
}

func (l *Lazy) find(path string) *sparse {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.files[path]
}

// Open implements vfs.FS.
func (l *Lazy) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	f, err := l.FS.Open(name, opts...)
	s := l.find(name)
	if err != nil || s == nil {
		return f, err
	}
	return &lazyFile{File: f, l: l, s: s}, nil
}

// Link implements vfs.FS.
func (l *Lazy) Link(from, to string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.FS.Link(from, to)
	if s := l.files[from]; s != nil && err == nil {
		l.files[to] = s
	}
	return err
}

// Rename implements vfs.FS.
func (l *Lazy) Rename(from, to string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.FS.Rename(from, to)
	if s := l.files[from]; s != nil && err == nil {
		delete(l.files, from)
		l.files[to] = s
		s.mu.Lock()
		s.path = to
		s.mu.Unlock()
	}
	return err
}

// Remove implements vfs.FS.
func (l *Lazy) Remove(name string) error {
	l.forget(func(path string) bool { return path == name })
	return l.FS.Remove(name)
}

// RemoveAll implements vfs.FS.
func (l *Lazy) RemoveAll(name string) error {
	below := l.PathJoin(name, "x")
	below = below[:len(below)-1]
	l.forget(func(path string) bool { return path == name || strings.HasPrefix(path, below) })
	return l.FS.RemoveAll(name)
}

func (l *Lazy) forget(gone func(path string) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for path := range l.files {
		if gone(path) {
			delete(l.files, path)
		}
	}
}

// missing returns the blocks [from, to) that are to be fetched first of those in
// [from, to) given; ok is false if none is.
func (s *sparse) missing(from, to int64) (first, last int64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left == 0 {
		return 0, 0, false
	}
	for first = from; first < to && s.have[first]; first++ {
	}
	for last = first; last < to && !s.have[last]; last++ {
	}
	return first, last, first < to
}

// fetch brings the blocks that lie in [from, to).
func (s *sparse) fetch(ctx context.Context, fsys own.FS, from, to int64) error {
	for {
		first, last, ok := s.missing(from, to)
		if !ok {
			return nil
		}
		buf := make([]byte, min(last*blockSize, s.size)-first*blockSize)
		if err := s.store.ReadAt(ctx, s.name, buf, first*blockSize); err != nil {
			if own.IsNotExist(err) {
				err = fmt.Errorf("it is missing in the store: %w", err)
			}
			return err
		}
		if err := s.write(fsys, buf, first*blockSize); err != nil {
			return err
		}
		s.mu.Lock()
		for ; first < last; first++ {
			if !s.have[first] {
				s.have[first] = true
				s.left--
			}
		}
		s.mu.Unlock()
	}
}

func (s *sparse) write(fsys own.FS, p []byte, off int64) error {
	s.mu.Lock()
	path := s.path
	s.mu.Unlock()
	f, err := own.OpenReadWrite(fsys, path)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(p, off)
	return errors.Join(err, f.Close())
}

// lazyFile is an open file that may have holes.
type lazyFile struct {
	vfs.File
	l *Lazy
	s *sparse
	// pos is where Read is, next where a read in order would go on, and ahead the
	// number of blocks that it would fetch.
	pos         int64
	mu          sync.Mutex
	next, ahead int64
}

// need brings what lies in [off, off+n).
func (f *lazyFile) need(off, n int64) error {
	end := min(off+n, f.s.size)
	if off >= end {
		return nil
	}
	from, to := off/blockSize, (end+blockSize-1)/blockSize
	if _, _, missing := f.s.missing(from, to); !missing {
		return nil
	}
	f.mu.Lock()
	if from == f.next && from > 0 {
		f.ahead = min(max(2*f.ahead, 2), mostBlocks)
	} else {
		f.ahead = 0
	}
	to = min(max(to, from+f.ahead), int64(len(f.s.have)))
	f.next = to
	f.mu.Unlock()
	return f.s.fetch(f.l.ctx, f.l.FS, from, to)
}

// ReadAt implements io.ReaderAt.
func (f *lazyFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.need(off, int64(len(p))); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

// Read implements io.Reader.
func (f *lazyFile) Read(p []byte) (int, error) {
	if err := f.need(f.pos, int64(len(p))); err != nil {
		return 0, err
	}
	n, err := f.File.Read(p)
	f.pos += int64(n)
	return n, err
}

// Prefetch implements vfs.File: what is not here is fetched when it is read.
func (f *lazyFile) Prefetch(int64, int64) error { return nil }
