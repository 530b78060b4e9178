package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/millstream-io/millstream/internal/blob"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/internal/vfs"
)

// The functions here read directories of checkpoints that belong to somebody
// else: to a running job, or to nobody, such as a copied savepoint. They change
// nothing there.

// Entry is a checkpoint that List has found.
type Entry struct {
	// Name is that of the manifest, File says where it is.
	Name, File string
	// Manifest is nil, and Err says why, if it cannot be read.
	Manifest *Manifest
	Err      error
}

// List reads all manifests of a directory, in the order of their numbers.
func List(store blob.Store) ([]Entry, error) {
	infos, err := store.List(bg, "")
	if err != nil {
		return nil, err
	}
	var out []Entry
	for _, i := range infos {
		if _, ok := manifestID(i.Name); !ok {
			continue
		}
		e := Entry{Name: i.Name, File: store.Where(i.Name)}
		data, err := store.Get(bg, i.Name)
		switch {
		case vfs.IsNotExist(err):
			continue // the job has removed it just now
		case err == nil:
			e.Manifest, e.Err = Decode(e.File, data)
		default:
			e.Err = err
		}
		out = append(out, e)
	}
	return out, nil
}

// Source is a checkpoint in a directory of somebody else.
type Source struct {
	// Store is the directory.
	Store    blob.Store
	Manifest *Manifest
	// Spread is how state files are copied and fetched; nil means one after the
	// other.
	Spread state.Spread
	// Scratch is a directory for the files of Inspect where the state files are not
	// on this machine; empty means one for temporary files.
	Scratch string
	// newer is set if the directory has a newer checkpoint: the job has gone
	// on, so all that belongs to this one was published.
	newer bool
}

// ErrEmpty says that a directory has no checkpoints, or does not exist.
var ErrEmpty = errors.New("there is no savepoint and no checkpoint in it")

// Find returns checkpoint id of a directory; with id 0, the newest one.
func Find(store blob.Store, id int64) (*Source, error) {
	// A job may put newer ones between this and the list, but it removes no
	// newest one.
	var latest int64
	var err error
	if id == 0 {
		if latest, err = readLatest(store); err != nil {
			return nil, err
		}
	}
	entries, err := List(store)
	if err != nil {
		return nil, err
	}
	var found *Source
	var ids []string
	for _, e := range entries {
		switch {
		case e.Err != nil:
			// It may be the one, or not; what is damaged is said if it matters.
			if id == 0 || e.Name == manifestName(id) {
				return nil, e.Err
			}
			continue
		case e.Manifest.ID == id || id == 0:
			found = &Source{Store: store, Manifest: e.Manifest}
		case found != nil:
			found.newer = true
		}
		ids = append(ids, fmt.Sprint(e.Manifest.ID))
	}
	switch {
	case latest > 0 && (found == nil || found.Manifest.ID < latest):
		return nil, lost(store, latest)
	case found != nil:
		return found, nil
	case len(ids) == 0:
		return nil, fmt.Errorf("%s: %w", strings.TrimSuffix(store.Where(""), "/"), ErrEmpty)
	}
	return nil, &RefusedError{Msg: fmt.Sprintf("%s holds no checkpoint %d; it holds %s", strings.TrimSuffix(store.Where(""), "/"), id, strings.Join(ids, ", "))}
}

// FindAt returns the checkpoint whose manifest is at a location, or, if that is a
// directory, its newest one.
func FindAt(location string, o blob.Options) (*Source, error) {
	return find(location, func(dir string) (blob.Store, error) { return blob.Open(dir, o) })
}

// FindFile is FindAt for a file system.
func FindFile(fs vfs.FS, path string) (*Source, error) {
	return find(path, func(dir string) (blob.Store, error) { return blob.NewDir(fs, dir), nil })
}

func find(location string, open func(dir string) (blob.Store, error)) (*Source, error) {
	location = strings.TrimRight(location, "/")
	dir, name := ".", location
	if i := strings.LastIndexByte(location, '/'); i >= 0 {
		dir, name = location[:i+1], location[i+1:]
	}
	digits, ok := manifestID(name)
	if !ok {
		dir = location
	}
	store, err := open(dir)
	if err != nil {
		return nil, err
	}
	if !ok {
		if fsys, path, local := store.File(""); local {
			if info, err := fsys.Stat(path); err == nil && !info.IsDir() {
				return nil, noSavepoint(location)
			}
		}
		return Find(store, 0)
	}
	id, err := parseID(digits)
	if err != nil || id <= 0 || manifestName(id) != name {
		return nil, noSavepoint(location)
	}
	return Find(store, id)
}

func noSavepoint(location string) error {
	return &RefusedError{Msg: fmt.Sprintf("%s is no savepoint: expected a directory, or the file of a manifest in one", location)}
}

// published reports whether all output that belongs to the checkpoint has been
// published for certain, so that sinks have nothing to finish. Only those of a
// savepoint have nothing open either.
func (s *Source) published() bool { return s.Manifest.Published || s.Manifest.Savepoint && s.newer }

// files are the state files, each of them once.
func (s *Source) files() (out []state.FileInfo) {
	seen := map[string]bool{}
	s.Manifest.files(func(file state.FileInfo) {
		if name := contentName(file); !seen[name] {
			seen[name] = true
			out = append(out, file)
		}
	})
	return out
}

// Verify reads every byte of the state files. The error names all that are
// damaged or missing.
func (s *Source) Verify() error {
	var errs []error
	for _, f := range s.files() {
		errs = append(errs, verify(bg, s.Store, f))
	}
	return errors.Join(errs...)
}

// verifyChunk is the length of the parts in which files are verified.
const verifyChunk = 4 << 20

func verify(ctx context.Context, store blob.Store, f state.FileInfo) error {
	name, where := dataName(f), store.Where(dataName(f))
	length, err := store.Stat(ctx, name)
	switch {
	case vfs.IsNotExist(err):
		return &RefusedError{Msg: fmt.Sprintf("%s is missing: expected a state file of %d bytes, found no such file", where, f.Length)}
	case err != nil:
		return err
	case length != f.Length:
		return &RefusedError{Msg: fmt.Sprintf("%s is damaged: expected %d bytes, found %d", where, f.Length, length)}
	}
	h := xxh3.New()
	buf := make([]byte, min(length, verifyChunk))
	for off := int64(0); off < length; off += int64(len(buf)) {
		buf = buf[:min(length-off, verifyChunk)]
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := store.ReadAt(ctx, name, buf, off); err != nil {
			return err
		}
		_, _ = h.Write(buf) // a hash takes everything
	}
	if got := hexSum(h.Sum64()); got != f.Sum {
		return &RefusedError{Msg: fmt.Sprintf("%s is damaged: expected hash %s, found %s", where, f.Sum, got)}
	}
	return nil
}

// ManifestAt says where a checkpoint's manifest is in a directory.
func ManifestAt(store blob.Store, id int64) string { return store.Where(manifestName(id)) }

// Exists reports whether a directory has a checkpoint.
func Exists(store blob.Store, id int64) (bool, error) {
	_, err := store.Stat(bg, manifestName(id))
	if vfs.IsNotExist(err) {
		return false, nil
	}
	return err == nil, err
}

// Free refuses a directory that has something in it: a savepoint needs one of
// its own.
func Free(store blob.Store) error {
	infos, err := store.List(bg, "")
	if err != nil {
		return err
	}
	if len(infos) > 0 {
		return &RefusedError{Msg: fmt.Sprintf("%s is not empty; a savepoint needs a directory of its own", strings.TrimSuffix(store.Where(""), "/"))}
	}
	return nil
}

// Export copies a published savepoint into a free directory. The copy is durable, was read again, and shares
// nothing with the original. After an error nothing of it is there.
func (s *Source) Export(to blob.Store) error {
	if err := Free(to); err != nil {
		return err
	}
	m := *s.Manifest
	m.Savepoint, m.Published = true, true
	return s.copyTo(to, &m)
}

// Import copies the checkpoint into a new directory of checkpoints, of which it
// becomes the first.
func (s *Source) Import(to blob.Store, jobID string) error {
	m := *s.Manifest
	m.JobID, m.Savepoint, m.Published = jobID, false, s.published()
	return s.copyTo(to, &m)
}

func (s *Source) copyTo(to blob.Store, m *Manifest) error {
	files, spread := s.files(), s.Spread
	if spread == nil {
		spread = state.InOrder
	}
	err := spread(len(files), func(ctx context.Context, i int) error { return s.copyFile(ctx, to, files[i]) })
	if err == nil {
		err = newDir(to, nil).Put(m)
	}
	if err == nil {
		return nil
	}
	// The manifest goes first, so that there is none without its files.
	errs := []error{err, to.Remove(bg, manifestName(m.ID)), to.Remove(bg, latestName)}
	return errors.Join(append(errs, blob.Clear(to, dataDir))...)
}

// copyFile copies one state file and reads the copy again.
func (s *Source) copyFile(ctx context.Context, to blob.Store, f state.FileInfo) error {
	err := blob.Copy(ctx, s.Store, dataName(f), to, dataName(f))
	if err == nil {
		err = verify(ctx, to, f)
	}
	if err != nil && ctx.Err() == nil {
		// It may be the original that is not as it should be.
		if damage := verify(ctx, s.Store, f); damage != nil {
			return damage
		}
	}
	return err
}

// Inspect calls f with the rows of a subtask's state, as state.Inspect does.
// reader, from NewReader, names a directory for files beside the checkpoint's, if
// those are files, and otherwise in Scratch; it is gone when Inspect returns.
func (s *Source) Inspect(info *state.Info, reader string, f func(table uint16, key, value []byte) error) (err error) {
	d := newDir(s.Store, nil)
	if fsys, path, ok := s.Store.File(reader); ok {
		return state.Inspect(fsys, path, d.Part(info, s.Spread), f)
	}
	dir := filepath.Join(s.Scratch, reader)
	if s.Scratch == "" {
		if dir, err = os.MkdirTemp("", "millstream-inspect-*"); err != nil {
			return err
		}
	}
	c := &Cache{FS: blob.NewLazy(bg, vfs.OS()), Path: filepath.Join(dir, "cache")}
	if err = c.clear(nil); err == nil {
		err = state.Inspect(c.FS, filepath.Join(dir, "tables"), c.part(d, info, s.Spread), f)
	}
	return errors.Join(err, os.RemoveAll(dir))
}

// hexSum is how a state.FileInfo has the hash of a file.
func hexSum(sum uint64) string { return fmt.Sprintf("%016x", sum) }
