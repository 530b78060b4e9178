package checkpoint

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/internal/vfs"
)

// Dir keeps the checkpoints of one job in a directory:
//
//	chk-00000007.manifest   one for each checkpoint
//	latest                  the number of the newest, so that its loss is noticed
//	data/                   state files by their content, shared between checkpoints
//
// Add may be called from several goroutines; everything else from one.
type Dir struct {
	fs   vfs.FS
	path string

	manifests map[int64]*Manifest

	// mu guards refs, and that a file is there while it has some: the number of
	// uses of each state file, by manifests and by parts on their way to one.
	mu   sync.Mutex
	refs map[string]int
}

const (
	manifestPrefix = "chk-"
	manifestSuffix = ".manifest"
	latestName     = "latest"
)

// Open reads the directory, which is made if it does not exist. It verifies all
// manifests and removes what a run that was killed has left behind.
func Open(fs vfs.FS, path string) (*Dir, error) {
	d := &Dir{fs: fs, path: path, manifests: map[int64]*Manifest{}, refs: map[string]int{}}
	if err := vfs.MkdirAll(fs, d.data()); err != nil {
		return nil, err
	}
	names, err := fs.List(path)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if err := d.load(name); err != nil {
			return nil, err
		}
	}
	if err := d.checkLatest(); err != nil {
		return nil, err
	}
	if err := d.sweep(); err != nil {
		return nil, err
	}
	// A manifest whose rename was not made durable counts from now on, so it
	// has to stay.
	return d, vfs.SyncDir(fs, path)
}

func (d *Dir) data() string             { return d.fs.PathJoin(d.path, "data") }
func (d *Dir) manifest(id int64) string { return d.fs.PathJoin(d.path, manifestName(id)) }
func manifestName(id int64) string {
	return fmt.Sprintf("%s%08d%s", manifestPrefix, id, manifestSuffix)
}
func parseID(s string) (id int64, err error)  { return strconv.ParseInt(s, 10, 64) }
func (d *Dir) remove(name string) (err error) { return ignoreMissing(d.fs.Remove(name)) }

// load reads one directory entry.
func (d *Dir) load(name string) error {
	full := d.fs.PathJoin(d.path, name)
	if strings.HasSuffix(name, ".tmp") {
		return d.remove(full)
	}
	digits, ok := strings.CutPrefix(name, manifestPrefix)
	if !ok || !strings.HasSuffix(digits, manifestSuffix) {
		return nil
	}
	data, err := vfs.ReadFile(d.fs, full)
	if err != nil {
		return err
	}
	m, err := Decode(full, data)
	if err != nil {
		return err
	}
	if manifestName(m.ID) != name {
		return damaged(full, "checkpoint "+strings.TrimSuffix(digits, manifestSuffix), "checkpoint "+strconv.FormatInt(m.ID, 10))
	}
	d.manifests[m.ID] = m
	m.files(func(f state.FileInfo) { d.refs[contentName(f)]++ })
	return nil
}

// checkLatest notices that the newest manifest is gone.
func (d *Dir) checkLatest() error {
	id, err := readLatest(d.fs, d.path)
	if err == nil && id > 0 && d.manifests[id] == nil {
		err = lost(d.fs, d.path, id)
	}
	return err
}

// readLatest returns the number of the newest checkpoint, as the file beside it
// has it; 0 if there is no such file.
func readLatest(fs vfs.FS, path string) (id int64, err error) {
	name := fs.PathJoin(path, latestName)
	data, err := vfs.ReadFile(fs, name)
	if vfs.IsNotExist(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if id, err = parseID(strings.TrimSpace(string(data))); err != nil || id <= 0 {
		return 0, damaged(name, "the number of a checkpoint", fmt.Sprintf("%q", data[:min(len(data), 60)]))
	}
	return id, nil
}

// lost says that the manifest of the newest checkpoint is not there.
func lost(fs vfs.FS, path string, id int64) error {
	return missing(ManifestPath(fs, path, id), fmt.Sprintf("the newest checkpoint, which %s names", fs.PathJoin(path, latestName)))
}

// sweep removes state files that no manifest needs, and notices those that
// are gone or have another length.
func (d *Dir) sweep() error {
	names, err := d.fs.List(d.data())
	if err != nil {
		return err
	}
	for _, name := range names {
		if d.refs[name] == 0 {
			if err := d.remove(d.fs.PathJoin(d.data(), name)); err != nil {
				return err
			}
		}
	}
	for _, id := range d.Retained() {
		var bad error
		d.manifests[id].files(func(f state.FileInfo) {
			if bad == nil {
				bad = d.stat(id, f)
			}
		})
		if bad != nil {
			return bad
		}
	}
	return nil
}

func (d *Dir) stat(id int64, f state.FileInfo) error {
	name := d.Path(f)
	info, err := d.fs.Stat(name)
	switch {
	case vfs.IsNotExist(err):
		return missing(name, fmt.Sprintf("a state file of checkpoint %d with %d bytes", id, f.Length))
	case err != nil:
		return err
	case info.Size() != f.Length:
		return damaged(name, fmt.Sprintf("%d bytes", f.Length), strconv.FormatInt(info.Size(), 10))
	}
	return nil
}

// Retained returns the numbers of the checkpoints, ascending.
func (d *Dir) Retained() []int64 {
	ids := make([]int64, 0, len(d.manifests))
	for id := range d.manifests {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Latest returns the newest checkpoint; nil if there is none.
func (d *Dir) Latest() *Manifest {
	ids := d.Retained()
	if len(ids) == 0 {
		return nil
	}
	return d.manifests[ids[len(ids)-1]]
}

// contentName is the name of a state file: its content decides it, so that
// checkpoints share what they have in common.
func contentName(f state.FileInfo) string { return fmt.Sprintf("%s-%d-%s", f.Sum, f.Length, f.Name) }

// Path returns where a state file of a checkpoint is.
func (d *Dir) Path(f state.FileInfo) string { return d.fs.PathJoin(d.data(), contentName(f)) }

// Add keeps the file src, which must be durable and not change any more. It
// stays until a manifest that was put with it is discarded, or Release is
// called.
func (d *Dir) Add(f state.FileInfo, src string) error {
	name, to := contentName(f), d.Path(f)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refs[name] == 0 {
		if err := errors.Join(d.remove(to), vfs.LinkOrCopy(d.fs, src, to)); err != nil {
			return errors.Join(err, d.remove(to))
		}
	}
	d.refs[name]++
	return nil
}

// Has reports whether a state file has a use.
func (d *Dir) Has(f state.FileInfo) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.refs[contentName(f)] > 0
}

// Release drops a use that Add made.
func (d *Dir) Release(f state.FileInfo) error {
	name := contentName(f)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refs[name]--; d.refs[name] > 0 {
		return nil
	}
	delete(d.refs, name)
	return d.remove(d.Path(f))
}

// Put commits a checkpoint. It takes over the uses of the manifest's files.
// After an error it is unknown whether the checkpoint exists; Open tells.
func (d *Dir) Put(m *Manifest) error {
	data, err := m.Encode()
	if err != nil {
		return err
	}
	if err := vfs.SyncDir(d.fs, d.data()); err != nil {
		return err
	}
	if err := vfs.WriteFile(d.fs, d.manifest(m.ID), data); err != nil {
		return err
	}
	d.manifests[m.ID] = m
	return vfs.WriteFile(d.fs, d.fs.PathJoin(d.path, latestName), fmt.Appendln(nil, m.ID))
}

// Ordinary returns the numbers of the checkpoints that are no savepoints,
// ascending.
func (d *Dir) Ordinary() []int64 {
	return slices.DeleteFunc(d.Retained(), func(id int64) bool { return d.manifests[id].Savepoint })
}

// Get returns a checkpoint; nil if there is no such.
func (d *Dir) Get(id int64) *Manifest { return d.manifests[id] }

// Retain makes an ordinary checkpoint of a savepoint.
func (d *Dir) Retain(id int64) error {
	m := d.manifests[id]
	if m == nil || !m.Savepoint {
		return nil
	}
	ordinary := *m
	ordinary.Savepoint = false
	data, err := ordinary.Encode()
	if err != nil {
		return err
	}
	if err := vfs.WriteFile(d.fs, d.manifest(id), data); err != nil {
		return err
	}
	d.manifests[id] = &ordinary
	return nil
}

// Discard removes a checkpoint, and the files that no other one needs.
func (d *Dir) Discard(id int64) error {
	m := d.manifests[id]
	if m == nil {
		return nil
	}
	delete(d.manifests, id)
	if err := d.remove(d.manifest(id)); err != nil {
		return err
	}
	if err := vfs.SyncDir(d.fs, d.path); err != nil {
		return err
	}
	var failed error
	m.files(func(f state.FileInfo) { failed = errors.Join(failed, d.Release(f)) })
	return failed
}

func ignoreMissing(err error) error {
	if vfs.IsNotExist(err) {
		return nil
	}
	return err
}
