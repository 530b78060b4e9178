package checkpoint

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/internal/vfs"
)

// The functions here read directories of checkpoints that belong to somebody
// else: to a running job, or to nobody, such as a copied savepoint. They change
// nothing there.

// Entry is a checkpoint that List has found.
type Entry struct {
	// File is the manifest's file.
	File string
	// Manifest is nil, and Err says why, if it cannot be read.
	Manifest *Manifest
	Err      error
}

// List reads all manifests of a directory, in the order of their numbers.
func List(fs vfs.FS, path string) ([]Entry, error) {
	names, err := fs.List(path)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var out []Entry
	for _, name := range names {
		if !strings.HasPrefix(name, manifestPrefix) || !strings.HasSuffix(name, manifestSuffix) {
			continue
		}
		e := Entry{File: fs.PathJoin(path, name)}
		data, err := vfs.ReadFile(fs, e.File)
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
	FS vfs.FS
	// Path is the directory.
	Path     string
	Manifest *Manifest
	// newer is set if the directory has a newer checkpoint: the job has gone
	// on, so all that belongs to this one was published.
	newer bool
}

// ErrEmpty says that a directory has no checkpoints.
var ErrEmpty = errors.New("there is no savepoint and no checkpoint in it")

// Find returns checkpoint id of a directory; with id 0, the newest one.
func Find(fs vfs.FS, path string, id int64) (*Source, error) {
	// A job may put newer ones between this and the list, but it removes no
	// newest one.
	var latest int64
	var err error
	if id == 0 {
		if latest, err = readLatest(fs, path); err != nil {
			return nil, err
		}
	}
	entries, err := List(fs, path)
	if err != nil {
		return nil, err
	}
	var found *Source
	var ids []string
	for _, e := range entries {
		switch {
		case e.Err != nil:
			// It may be the one, or not; what is damaged is said if it matters.
			if id == 0 || e.File == fs.PathJoin(path, manifestName(id)) {
				return nil, e.Err
			}
			continue
		case e.Manifest.ID == id || id == 0:
			found = &Source{FS: fs, Path: path, Manifest: e.Manifest}
		case found != nil:
			found.newer = true
		}
		ids = append(ids, fmt.Sprint(e.Manifest.ID))
	}
	switch {
	case latest > 0 && (found == nil || found.Manifest.ID < latest):
		return nil, lost(fs, path, latest)
	case found != nil:
		return found, nil
	case len(ids) == 0:
		return nil, fmt.Errorf("%s: %w", path, ErrEmpty)
	}
	return nil, &RefusedError{Msg: fmt.Sprintf("%s holds no checkpoint %d; it holds %s", path, id, strings.Join(ids, ", "))}
}

// FindFile returns the checkpoint of a manifest's file, or, for a directory,
// its newest one.
func FindFile(fs vfs.FS, path string) (*Source, error) {
	info, err := fs.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return Find(fs, path, 0)
	}
	var id int64
	if n, err := fmt.Sscanf(fs.PathBase(path), manifestPrefix+"%d"+manifestSuffix, &id); n != 1 || err != nil {
		return nil, &RefusedError{Msg: fmt.Sprintf("%s is no savepoint: expected a directory, or the file of a manifest in one", path)}
	}
	return Find(fs, fs.PathDir(path), id)
}

// file is where a state file is.
func (s *Source) file(f state.FileInfo) string {
	return s.FS.PathJoin(s.FS.PathJoin(s.Path, "data"), contentName(f))
}

// published reports whether all output that belongs to the checkpoint has been
// published for certain, so that sinks have nothing to finish. Only those of a
// savepoint have nothing open either.
func (s *Source) published() bool { return s.Manifest.Published || s.Manifest.Savepoint && s.newer }

// each calls f with each state file once.
func (s *Source) each(f func(state.FileInfo) error) error {
	seen := map[string]bool{}
	var errs []error
	s.Manifest.files(func(file state.FileInfo) {
		if name := contentName(file); !seen[name] {
			seen[name] = true
			errs = append(errs, f(file))
		}
	})
	return errors.Join(errs...)
}

// Verify reads every byte of the state files. The error names all that are
// damaged or missing.
func (s *Source) Verify() error {
	return s.each(func(f state.FileInfo) error { return verify(s.FS, s.file(f), f) })
}

func verify(fs vfs.FS, name string, f state.FileInfo) error {
	length, sum, err := vfs.Checksum(fs, name)
	switch got := hexSum(sum); {
	case vfs.IsNotExist(err):
		return &RefusedError{Msg: fmt.Sprintf("%s is missing: expected a state file of %d bytes, found no such file", name, f.Length)}
	case err != nil:
		return err
	case length != f.Length:
		return &RefusedError{Msg: fmt.Sprintf("%s is damaged: expected %d bytes, found %d", name, f.Length, length)}
	case got != f.Sum:
		return &RefusedError{Msg: fmt.Sprintf("%s is damaged: expected hash %s, found %s", name, f.Sum, got)}
	}
	return nil
}

// ManifestPath is the file of a checkpoint's manifest in a directory.
func ManifestPath(fs vfs.FS, dir string, id int64) string { return fs.PathJoin(dir, manifestName(id)) }

// Free refuses a directory that has something in it: a savepoint needs one of
// its own.
func Free(fs vfs.FS, dir string) error {
	names, err := fs.List(dir)
	switch {
	case vfs.IsNotExist(err):
		return nil
	case err != nil:
		return err
	case len(names) > 0:
		return &RefusedError{Msg: fmt.Sprintf("%s is not empty; a savepoint needs a directory of its own", dir)}
	}
	return nil
}

// Export copies a published savepoint into a free directory. The copy is durable, was read again, and shares
// nothing with the original.
func (s *Source) Export(fs vfs.FS, to string) error {
	if err := Free(fs, to); err != nil {
		return err
	}
	m := *s.Manifest
	m.Savepoint, m.Published = true, true
	return s.copyTo(fs, to, &m)
}

// Import copies the checkpoint into a new directory of checkpoints, of which it
// becomes the first.
func (s *Source) Import(fs vfs.FS, to, jobID string) error {
	m := *s.Manifest
	m.JobID, m.Savepoint, m.Published = jobID, false, s.published()
	return s.copyTo(fs, to, &m)
}

func (s *Source) copyTo(fs vfs.FS, to string, m *Manifest) error {
	d, err := Open(fs, to)
	if err != nil {
		return err
	}
	err = s.each(func(f state.FileInfo) error {
		if err := vfs.Copy(s.FS, s.file(f), fs, d.Path(f)); err != nil && !vfs.IsNotExist(err) {
			return err
		}
		if err := verify(s.FS, s.file(f), f); err != nil {
			return err
		}
		return verify(fs, d.Path(f), f)
	})
	if err == nil {
		err = d.Put(m)
	}
	return err
}

// hexSum is how a state.FileInfo has the hash of a file.
// Inspect calls f with the rows of a subtask's state, as state.Inspect does. name
// is that of a directory for files beside the checkpoint's, if that can be
// written.
func (s *Source) Inspect(info *state.Info, name string, f func(table uint16, key, value []byte) error) error {
	return state.Inspect(s.FS, s.FS.PathJoin(s.Path, name), state.Part{FS: s.FS, Info: info, Path: s.file}, f)
}

func hexSum(sum uint64) string { return fmt.Sprintf("%016x", sum) }
