package blob

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/millstream-io/millstream/internal/vfs"
)

// Mem is a store in memory that behaves as S3 does: it has no files.
type Mem struct {
	*memObjects
	prefix string
}

type memObjects struct {
	mu      sync.Mutex
	objects map[string][]byte
	// fail is asked before each call.
	fail func(op, name string) error
}

// NewMem returns an empty store.
func NewMem() *Mem { return &Mem{memObjects: &memObjects{objects: map[string][]byte{}}} }

// FailWith makes calls fail with what f returns of their name (put, create, get,
// list, stat, remove) and that of their object; nil lets them pass.
func (m *Mem) FailWith(f func(op, name string) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = f
}

// begin locks the store and returns the whole name of an object.
func (m *Mem) begin(ctx context.Context, op, name string) (key string, err error) {
	m.mu.Lock()
	key = m.prefix + name
	if err = ctx.Err(); err == nil && m.fail != nil {
		err = m.fail(op, key)
	}
	return key, err
}

// Put implements Store.
func (m *Mem) Put(ctx context.Context, name string, data []byte) error {
	key, err := m.begin(ctx, "put", name)
	defer m.mu.Unlock()
	if err == nil {
		m.objects[key] = bytes.Clone(data)
	}
	return err
}

// Create implements Store.
func (m *Mem) Create(ctx context.Context, name string, data []byte) error {
	key, err := m.begin(ctx, "create", name)
	defer m.mu.Unlock()
	if err != nil {
		return err
	}
	if have, ok := m.objects[key]; ok && !bytes.Equal(have, data) {
		return ErrExist
	}
	m.objects[key] = bytes.Clone(data)
	return nil
}

// PutFile implements Store.
func (m *Mem) PutFile(ctx context.Context, name string, fsys vfs.FS, path string) error {
	data, err := vfs.ReadFile(fsys, path)
	if err != nil {
		return err
	}
	return m.Put(ctx, name, data)
}

// Sync implements Store.
func (m *Mem) Sync(context.Context, string) error { return nil }

// Get implements Store.
func (m *Mem) Get(ctx context.Context, name string) ([]byte, error) {
	key, err := m.begin(ctx, "get", name)
	defer m.mu.Unlock()
	if err != nil {
		return nil, err
	}
	data, ok := m.objects[key]
	if !ok {
		return nil, &fs.PathError{Op: "get", Path: m.Where(name), Err: fs.ErrNotExist}
	}
	return bytes.Clone(data), nil
}

// ReadAt implements Store.
func (m *Mem) ReadAt(ctx context.Context, name string, p []byte, off int64) error {
	data, err := m.Get(ctx, name)
	if err != nil {
		return err
	}
	if off+int64(len(p)) > int64(len(data)) {
		return fmt.Errorf("%s: %w", m.Where(name), io.ErrUnexpectedEOF)
	}
	copy(p, data[off:])
	return nil
}

// Stat implements Store.
func (m *Mem) Stat(ctx context.Context, name string) (int64, error) {
	key, err := m.begin(ctx, "stat", name)
	defer m.mu.Unlock()
	if err != nil {
		return 0, err
	}
	data, ok := m.objects[key]
	if !ok {
		return 0, &fs.PathError{Op: "stat", Path: m.Where(name), Err: fs.ErrNotExist}
	}
	return int64(len(data)), nil
}

// List implements Store.
func (m *Mem) List(ctx context.Context, dir string) ([]Info, error) {
	prefix, err := m.begin(ctx, "list", asPrefix(dir))
	defer m.mu.Unlock()
	if err != nil {
		return nil, err
	}
	var out []Info
	for key, data := range m.objects {
		name, ok := strings.CutPrefix(key, prefix)
		if !ok {
			continue
		}
		if dir, _, below := strings.Cut(name, "/"); below {
			out = append(out, Info{Name: dir + "/"})
		} else {
			out = append(out, Info{name, int64(len(data))})
		}
	}
	slices.SortFunc(out, byName)
	return slices.Compact(out), nil
}

func byName(a, b Info) int { return strings.Compare(a.Name, b.Name) }

// Remove implements Store.
func (m *Mem) Remove(ctx context.Context, name string) error {
	key, err := m.begin(ctx, "remove", name)
	defer m.mu.Unlock()
	if err == nil {
		delete(m.objects, key)
	}
	return err
}

// Where implements Store.
func (m *Mem) Where(name string) string { return "mem:" + m.prefix + name }

// Sub implements Store.
func (m *Mem) Sub(dir string) Store { return &Mem{m.memObjects, m.prefix + asPrefix(dir)} }

// File implements Store.
func (m *Mem) File(string) (vfs.FS, string, bool) { return nil, "", false }

// asPrefix is the beginning of the names of a directory's objects.
func asPrefix(dir string) string {
	dir = strings.Trim(dir, "/")
	if dir == "" {
		return ""
	}
	return dir + "/"
}
