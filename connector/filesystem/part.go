package filesystem

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/millstream-io/millstream/internal/vfs"
)

// part is a file that is being written.
type part struct {
	fs vfs.FS
	f  vfs.File
	// dir is the directory below the table's path, name what the file will be
	// called, path where it is until then.
	dir, name, path string
	// size is what was written, buf what was not yet.
	size int64
	buf  []byte
	// created and written are when the file was made and last written to.
	created, written int64
	// fresh says that the directory was not synced since the file was made.
	fresh bool
	// dirty says that something was written since the last sync.
	dirty bool
	// sel are the file's rows in the current batch, if inBatch is set.
	sel     []int32
	inBatch bool
}

// flushSize is how much is written at a time.
const flushSize = 1 << 18

func (p *part) length() int64 { return p.size + int64(len(p.buf)) }

func (p *part) flush() error {
	if len(p.buf) == 0 {
		return nil
	}
	n, err := p.f.WriteAt(p.buf, p.size)
	if err != nil {
		return fmt.Errorf("%s: %w", p.path, err)
	}
	p.size += int64(n)
	p.buf = p.buf[:0]
	p.dirty = true
	return nil
}

// sync makes all that was written durable.
func (p *part) sync() error {
	if err := p.flush(); err != nil {
		return err
	}
	if !p.dirty {
		return nil
	}
	if err := p.f.Sync(); err != nil {
		return fmt.Errorf("%s: %w", p.path, err)
	}
	p.dirty = false
	return nil
}

func (p *part) close() error {
	if p.f == nil {
		return nil
	}
	err := p.f.Close()
	p.f = nil
	return err
}

// tagOf makes the tag of a sink's hidden files.
func tagOf(job, id string) string {
	return fmt.Sprintf("%08x", uint32(xxh3.HashString(job+"\x00"+id)))
}

func (w *writer) dirPath(dir string) string {
	if dir == "" {
		return w.path
	}
	return w.fs.PathJoin(w.path, dir)
}

// hiddenName is what a file is called before it is published.
func (w *writer) hiddenName(name string) string { return "." + name + "." + w.tag + ".tmp" }

// finalName is the name of file n of a subtask.
func (w *writer) finalName(n int64) string {
	return "part-" + strconv.Itoa(w.ctx.Subtask) + "-" + strconv.FormatInt(n, 10) + "." + w.table.Format.Name
}

// parseName is the inverse of finalName, for any subtask.
func (w *writer) parseName(name string) (subtask int, n int64, ok bool) {
	rest, ok := strings.CutPrefix(name, "part-")
	if !ok {
		return 0, 0, false
	}
	if rest, ok = strings.CutSuffix(rest, "."+w.table.Format.Name); !ok {
		return 0, 0, false
	}
	a, b, ok := strings.Cut(rest, "-")
	subtask, err := strconv.Atoi(a)
	n, err2 := strconv.ParseInt(b, 10, 64)
	return subtask, n, ok && err == nil && err2 == nil
}

// create makes a new file in a directory.
func (w *writer) create(dir string, now int64) (*part, error) {
	full := w.dirPath(dir)
	if !w.made[dir] {
		if err := vfs.MkdirAll(w.fs, full); err != nil {
			return nil, err
		}
		w.made[dir] = true
	}
	p := &part{fs: w.fs, dir: dir, created: now, written: now, fresh: true, dirty: true}
	for {
		p.name = w.finalName(w.next)
		w.next++
		// A file of that name can be one of another job.
		there, err := exists(w.fs, w.fs.PathJoin(full, p.name))
		if err != nil {
			return nil, err
		}
		if !there {
			break
		}
	}
	p.path = w.fs.PathJoin(full, w.hiddenName(p.name))
	f, err := vfs.OpenReadWrite(w.fs, p.path)
	if err != nil {
		return nil, err
	}
	p.f = f
	p.buf = append(p.buf, w.enc.Header()...)
	return p, nil
}

// resume opens a file that a checkpoint knows, as long as it was then.
func (w *writer) resume(o openFile) (*part, error) {
	p := &part{fs: w.fs, dir: o.Dir, name: o.Name, size: o.Size, created: o.Created, written: o.Created}
	p.path = w.fs.PathJoin(w.dirPath(o.Dir), w.hiddenName(o.Name))
	info, err := w.fs.Stat(p.path)
	switch {
	case vfs.IsNotExist(err):
		return nil, fmt.Errorf("the file %s, which the checkpoint goes on with, is gone: it was removed, or it is complete "+
			"because the job has run on since that checkpoint", p.path)
	case err != nil:
		return nil, err
	case info.Size() < o.Size:
		return nil, fmt.Errorf("the file %s has %d bytes, but at the checkpoint it had %d: it was changed", p.path, info.Size(), o.Size)
	case info.Size() > o.Size:
		if err := truncate(w.fs, p.path, o.Size); err != nil {
			return nil, err
		}
	}
	p.f, err = vfs.OpenReadWrite(w.fs, p.path)
	return p, err
}

// truncate cuts a file to a size. On file systems of tests, which cannot do
// that, the beginning is copied to a new file that takes the old one's place.
func truncate(fsys vfs.FS, path string, size int64) error {
	f, err := vfs.OpenReadWrite(fsys, path)
	if err != nil {
		return err
	}
	const noFile = ^uintptr(0)
	if f.Fd() != noFile {
		if err = os.Truncate(path, size); err == nil {
			err = f.Sync()
		}
		return errors.Join(err, f.Close())
	}
	data := make([]byte, size)
	_, err = io.ReadFull(f, data)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return vfs.WriteFile(fsys, path, data)
}

func exists(fsys vfs.FS, path string) (bool, error) {
	_, err := fsys.Stat(path)
	if vfs.IsNotExist(err) {
		return false, nil
	}
	return err == nil, err
}
