package state

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/millstream-io/millstream/internal/state/lsm"
	"github.com/millstream-io/millstream/internal/vfs"
)

// FileInfo is a file of a snapshot. Length and Sum (xxh3 in hexadecimal)
// identify its content; the same name may have another content in a snapshot
// of another run.
type FileInfo struct {
	Name   string `json:"name"`
	Length int64  `json:"length"`
	Sum    string `json:"sum"`
	// Tail is the hash of the last tailSize bytes of a file whose blocks have
	// sums of their own. It tells in no time whether a file is the right one;
	// whether each of its blocks is good shows when the block is read. It is
	// empty in snapshots of older versions, whose files are read as a whole.
	Tail string `json:"tail,omitempty"`
	// At tells the file from others with the same content in a store that several
	// processes may write: it is the start of the job that has stored the file.
	At string `json:"at,omitempty"`
}

// tailSize is the length of the end of a file that Tail is about: it has the checksum
// of the index, which says what the file's blocks are and where.
const tailSize = 4 << 10

// shared reports whether a file never changes under its name, and has a sum in
// each of its blocks.
func shared(name string) bool { return strings.HasSuffix(name, ".sst") }

// sums remembers the checksums of files that never change.
type sums struct {
	mu    sync.Mutex
	known map[string]FileInfo
}

func (c *sums) add(f FileInfo) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[f.Name] = f
}

// file describes a file of a directory.
func (c *sums) file(fsys vfs.FS, dir, name string) (FileInfo, error) {
	if shared(name) {
		c.mu.Lock()
		f, ok := c.known[name]
		c.mu.Unlock()
		if ok {
			return f, nil
		}
	}
	path := fsys.PathJoin(dir, name)
	length, sum, err := vfs.Checksum(fsys, path)
	if err != nil {
		return FileInfo{}, err
	}
	f := FileInfo{Name: name, Length: length, Sum: sumString(sum)}
	if shared(name) {
		if f.Tail, err = tailSum(fsys, path, length); err != nil {
			return FileInfo{}, err
		}
		c.add(f)
	}
	return f, nil
}

func sumString(sum uint64) string {
	return hex.EncodeToString(binary.BigEndian.AppendUint64(nil, sum))
}

// tailSum is the Tail of a file.
func tailSum(fsys vfs.FS, path string, length int64) (string, error) {
	f, err := fsys.Open(path, vfs.RandomReads)
	if err != nil {
		return "", err
	}
	buf := make([]byte, min(length, tailSize))
	_, err = f.ReadAt(buf, length-int64(len(buf)))
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return sumString(xxh3.Hash(buf)), errors.Join(err, f.Close())
}

// fetch puts all files of a part into dir: links where the files never change
// and are on the same file system, and copies otherwise. Those that are copied
// are read and checked as a whole; the others are looked at (see FileInfo.Tail),
// and are among db.taken from then on. whole says that all of them will be read.
func (db *DB) fetch(p Part, dir string, whole bool) error {
	fsys, files := db.cfg.FS, p.Info.Files
	if err := fsys.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	taken := make([]bool, len(files))
	err := p.spread(len(files), func(ctx context.Context, i int) (err error) {
		taken[i], err = p.put(ctx, files[i], fsys, fsys.PathJoin(dir, files[i].Name), whole)
		return err
	})
	if err != nil {
		return err
	}
	for i, f := range files {
		if taken[i] {
			db.taken[fsys.PathJoin(dir, f.Name)] = Taken{FileInfo: f, Path: p.Path(f), part: p}
		}
	}
	return nil
}

// put puts one file where fetch wants it, and reports whether it was taken
// without being read.
func (p Part) put(ctx context.Context, f FileInfo, fsys vfs.FS, to string, whole bool) (taken bool, err error) {
	fresh := false
	if p.Fetch != nil {
		if fresh, err = p.Fetch(ctx, f, whole); err != nil {
			return false, err
		}
	}
	if !shared(f.Name) || fsys != p.FS {
		return false, p.copy(ctx, f, fsys, to)
	}
	taken = f.Tail != ""
	switch {
	case !taken:
		err = p.read(ctx, f, io.Discard)
	case !fresh:
		err = p.blame(f, Look(p.FS, p.Path(f), f))
	}
	if err != nil {
		return false, err
	}
	return taken, vfs.LinkOrCopy(fsys, p.Path(f), to)
}

// remember makes snapshots list the files of a part that was taken over without
// reading them again.
func (db *DB) remember(p Part) (err error) {
	for _, f := range p.Info.Files {
		if !shared(f.Name) {
			continue
		}
		if f.Tail == "" {
			if f.Tail, err = tailSum(p.FS, p.Path(f), f.Length); err != nil {
				return err
			}
		}
		db.sums.add(f)
	}
	return nil
}

// copy copies a file and checks it.
func (p Part) copy(ctx context.Context, f FileInfo, fsys vfs.FS, to string) error {
	out, err := vfs.Create(fsys, to)
	if err != nil {
		return err
	}
	// A checkpoint may link it.
	err = p.read(ctx, f, out)
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

// Look checks the length of a file that has a Tail, and that.
func Look(fsys vfs.FS, path string, f FileInfo) error {
	info, err := fsys.Stat(path)
	switch {
	case vfs.IsNotExist(err):
		return noFile(path, f)
	case err != nil:
		return err
	case info.Size() != f.Length:
		return &DamageError{File: path, Expected: fmt.Sprintf("%d bytes", f.Length), Found: fmt.Sprint(info.Size())}
	}
	tail, err := tailSum(fsys, path, f.Length)
	if err == nil && tail != f.Tail {
		err = &DamageError{File: path, Expected: fmt.Sprintf("checksum %s of its last %d bytes", f.Tail, min(f.Length, tailSize)), Found: tail}
	}
	return err
}

// blame lets the part say what is damaged.
func (p Part) blame(f FileInfo, err error) error {
	var damage *DamageError
	if p.Blame != nil && errors.As(err, &damage) {
		return p.Blame(f, damage)
	}
	return err
}

// read copies a file to w and checks its length and checksum.
func (p Part) read(ctx context.Context, f FileInfo, w io.Writer) error {
	return p.blame(f, readFile(ctx, p.FS, p.Path(f), f, w))
}

func readFile(ctx context.Context, fsys vfs.FS, path string, f FileInfo, w io.Writer) error {
	file, err := fsys.Open(path)
	if vfs.IsNotExist(err) {
		return noFile(path, f)
	}
	if err != nil {
		return err
	}
	h := xxh3.New()
	// The hash comes first: a file may change the bytes that it writes.
	n, err := io.Copy(io.MultiWriter(h, w), until{ctx, file})
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("state file %s: %w", path, err)
	}
	if n != f.Length {
		return &DamageError{File: path, Expected: fmt.Sprintf("%d bytes", f.Length), Found: fmt.Sprint(n)}
	}
	if sum := sumString(h.Sum64()); sum != f.Sum {
		return &DamageError{File: path, Expected: "checksum " + f.Sum, Found: sum}
	}
	return nil
}

// until reads while a context lasts.
type until struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (u until) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}

// Taken is a file of a checkpoint that a restored DB uses, and that nobody has
// read as a whole.
type Taken struct {
	FileInfo
	// Path is where the checkpoint has the file.
	Path string
	part Part
}

// Verify reads every byte of the file. Damage is a *DamageError. pace is called
// between parts of it.
func (t Taken) Verify(ctx context.Context, pace func()) error {
	if err := readFile(ctx, t.part.FS, t.Path, t.FileInfo, paced(pace)); err != nil {
		return t.part.blame(t.FileInfo, err)
	}
	if t.part.Proven == nil {
		return nil
	}
	return t.part.Proven(t.FileInfo)
}

// paced is a writer that only takes its time.
type paced func()

// Write implements io.Writer.
func (p paced) Write(b []byte) (int, error) {
	p()
	return len(b), nil
}

// Taken returns the files that the DB has taken as they are, without reading all
// of them.
func (db *DB) Taken() []Taken {
	var out []Taken
	for _, t := range db.taken {
		out = append(out, t)
	}
	return out
}

// damaged explains why a file of the tree cannot be read: if it is one that was
// taken from a checkpoint, what was expected of it there, and what is found.
func (db *DB) damaged(path string) error {
	t, ok := db.taken[path]
	if !ok {
		return nil
	}
	err := readFile(context.Background(), t.part.FS, path, t.FileInfo, io.Discard)
	if damage := (*DamageError)(nil); errors.As(err, &damage) {
		// The checkpoint has the same file under another name.
		damage.File = t.Path
		return t.part.blame(t.FileInfo, damage)
	}
	return nil
}

// blame says it better, if it can, that a file of a tree is damaged.
func (db *DB) blame(err error) error {
	if corrupt := (*lsm.CorruptError)(nil); errors.As(err, &corrupt) {
		if better := db.damaged(corrupt.File); better != nil {
			return better
		}
	}
	return err
}

// DamageError says that a file of a snapshot is not what it was.
type DamageError struct {
	File            string
	Expected, Found string
}

// Error names the file, and what was expected and found.
func (e *DamageError) Error() string {
	return fmt.Sprintf("state file %s is damaged: expected %s, found %s", e.File, e.Expected, e.Found)
}

func noFile(path string, f FileInfo) error {
	return &DamageError{File: path, Expected: fmt.Sprintf("%d bytes", f.Length), Found: "no such file"}
}

// IsDamage reports whether an error says that a state file is damaged.
func IsDamage(err error) bool {
	var damage *DamageError
	var corrupt *lsm.CorruptError
	return errors.As(err, &damage) || errors.As(err, &corrupt)
}
