package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/millstream-io/millstream/internal/blob"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/internal/vfs"
)

// Dir keeps the checkpoints of one job in a directory of a store:
//
//	chk-00000007.manifest   one for each checkpoint
//	latest                  the number of the newest, so that its loss is noticed
//	data/                   state files by their content, shared between checkpoints
//
// Add and Release may be called from several goroutines; everything else from
// one. Who has opened a Dir must be the only one to write there: because it has a
// lock, or by way of Shared.
type Dir struct {
	store  blob.Store
	shared *Shared

	manifests map[int64]*Manifest
	// packed are parts of the manifest that was put last.
	packed packed

	// mu guards what follows. refs is the number of uses of each state file, by
	// manifests and by parts on their way to one; a file is there while it has
	// some. at is the At of the files that are there, by their contents. A content
	// that is being stored or removed is busy.
	mu   sync.Mutex
	refs map[string]int
	at   map[string]string
	busy map[string]chan struct{}
}

// Shared is what a Dir needs in a store that other processes may write as well.
type Shared struct {
	// Committed is the number of the newest checkpoint that counts; what is newer
	// was never committed.
	Committed int64
	// Commit makes a checkpoint count whose manifest and files are in the store.
	// Owned returns an error if another process has the directory now.
	Commit func(id int64) error
	Owned  func() error
	// Start is the number of this start of the job. Files get it into their names,
	// so that a process that has lost the directory cannot remove those of the one
	// that has it.
	Start int64
	// Cache keeps copies of state files on this machine.
	Cache *Cache
}

const (
	manifestPrefix = "chk-"
	manifestSuffix = ".manifest"
	latestName     = "latest"
	dataDir        = "data"
)

// bg is the context of what must not be interrupted; the store bounds its time.
var bg = context.Background()

// Open reads the directory, which is made if it does not exist. It verifies all manifests and removes what a run that
// was killed has left behind.
func Open(store blob.Store) (*Dir, error) {
	d := newDir(store, nil)
	if fsys, path, ok := store.File(dataDir); ok {
		if err := vfs.MkdirAll(fsys, path); err != nil {
			return nil, err
		}
	}
	if err := d.load(); err != nil {
		return nil, err
	}
	if err := d.checkLatest(); err != nil {
		return nil, err
	}
	if err := d.Sweep(); err != nil {
		return nil, err
	}
	// A manifest whose rename was not made durable counts from now on, so it
	// has to stay.
	return d, store.Sync(bg, "")
}

// OpenShared reads the directory, and changes nothing: another process may write
// there yet. Sweep is for when that has ended.
func OpenShared(store blob.Store, s Shared) (*Dir, error) {
	d := newDir(store, &s)
	if err := d.load(); err != nil {
		return nil, err
	}
	if s.Committed > 0 && d.manifests[s.Committed] == nil {
		return nil, missing(store.Where(manifestName(s.Committed)), "the newest checkpoint of the job")
	}
	return d, s.Cache.clear(d.refs)
}

func newDir(store blob.Store, s *Shared) *Dir {
	return &Dir{store: store, shared: s, manifests: map[int64]*Manifest{}, refs: map[string]int{}, at: map[string]string{}, busy: map[string]chan struct{}{}}
}

func manifestName(id int64) string {
	return fmt.Sprintf("%s%08d%s", manifestPrefix, id, manifestSuffix)
}

// manifestID is the number in the name of a manifest.
func manifestID(name string) (digits string, ok bool) {
	digits, ok = strings.CutPrefix(name, manifestPrefix)
	if !ok {
		return "", false
	}
	return strings.CutSuffix(digits, manifestSuffix)
}

func parseID(s string) (id int64, err error) { return strconv.ParseInt(s, 10, 64) }

// load reads the manifests, and looks whether the files that they name are there.
func (d *Dir) load() error {
	infos, err := d.store.List(bg, "")
	if err != nil {
		return err
	}
	for _, info := range infos {
		if err := d.loadManifest(info.Name); err != nil {
			return err
		}
	}
	return d.checkFiles()
}

// loadManifest reads one directory entry.
func (d *Dir) loadManifest(name string) error {
	digits, ok := manifestID(name)
	if !ok {
		return nil
	}
	full := d.store.Where(name)
	data, err := d.store.Get(bg, name)
	if err != nil {
		return err
	}
	m, err := Decode(full, data)
	if err != nil {
		if id, idErr := parseID(digits); d.shared != nil && idErr == nil && id > d.shared.Committed {
			return nil
		}
		return err
	}
	if manifestName(m.ID) != name {
		return damaged(full, "checkpoint "+digits, "checkpoint "+strconv.FormatInt(m.ID, 10))
	}
	if d.shared != nil && m.ID > d.shared.Committed {
		return nil
	}
	d.hold(m)
	return nil
}

// hold notes a manifest that is in the store, and the uses of its files.
func (d *Dir) hold(m *Manifest) {
	d.manifests[m.ID] = m
	m.files(func(f state.FileInfo) {
		d.refs[contentName(f)]++
		d.at[content(f)] = f.At
	})
}

// checkFiles notices state files that are gone or have another length.
func (d *Dir) checkFiles() error {
	infos, err := d.store.List(bg, dataDir)
	if err != nil {
		return err
	}
	sizes := make(map[string]int64, len(infos))
	for _, i := range infos {
		sizes[i.Name] = i.Size
	}
	for _, id := range d.Retained() {
		var bad error
		d.manifests[id].files(func(f state.FileInfo) {
			size, ok := sizes[contentName(f)]
			switch {
			case bad != nil:
			case !ok:
				bad = missing(d.Where(f), fmt.Sprintf("a state file of checkpoint %d with %d bytes", id, f.Length))
			case size != f.Length:
				bad = damaged(d.Where(f), fmt.Sprintf("%d bytes", f.Length), strconv.FormatInt(size, 10))
			}
		})
		if bad != nil {
			return bad
		}
	}
	return nil
}

// checkLatest notices that the newest manifest is gone.
func (d *Dir) checkLatest() error {
	id, err := readLatest(d.store)
	if err == nil && id > 0 && d.manifests[id] == nil {
		err = lost(d.store, id)
	}
	return err
}

// readLatest returns the number of the newest checkpoint, as the file beside it
// has it; 0 if there is no such file.
func readLatest(store blob.Store) (id int64, err error) {
	data, err := store.Get(bg, latestName)
	if vfs.IsNotExist(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if id, err = parseID(strings.TrimSpace(string(data))); err != nil || id <= 0 {
		return 0, damaged(store.Where(latestName), "the number of a checkpoint", fmt.Sprintf("%q", data[:min(len(data), 60)]))
	}
	return id, nil
}

// lost says that the manifest of the newest checkpoint is not there.
func lost(store blob.Store, id int64) error {
	return missing(ManifestAt(store, id), fmt.Sprintf("the newest checkpoint, which %s names", store.Where(latestName)))
}

// Sweep removes what no checkpoint needs: left by a run that was killed, or has
// lost the directory to this one.
func (d *Dir) Sweep() error {
	infos, err := d.store.List(bg, "")
	if err != nil {
		return err
	}
	for _, i := range infos {
		digits, manifest := manifestID(i.Name)
		id, err := parseID(digits)
		if strings.HasSuffix(i.Name, ".tmp") || manifest && err == nil && d.manifests[id] == nil {
			if err := d.store.Remove(bg, i.Name); err != nil {
				return err
			}
		}
	}
	if err := d.sweepReaders(infos); err != nil {
		return err
	}
	if infos, err = d.store.List(bg, dataDir); err != nil {
		return err
	}
	for _, i := range infos {
		if d.refs[i.Name] == 0 {
			if err := d.store.Remove(bg, dataDir+"/"+i.Name); err != nil {
				return err
			}
		}
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

// content says what is in a state file, and its name in the tree of which it is a
// part.
func content(f state.FileInfo) string { return fmt.Sprintf("%s-%d-%s", f.Sum, f.Length, f.Name) }

// contentName is the name of a state file: its content decides it, so that
// checkpoints share what they have in common.
func contentName(f state.FileInfo) string {
	if f.At == "" {
		return content(f)
	}
	return f.At + "-" + content(f)
}

// dataName is the name of a state file in the store.
func dataName(f state.FileInfo) string { return dataDir + "/" + contentName(f) }

// Where says where a state file of a checkpoint is, for messages.
func (d *Dir) Where(f state.FileInfo) string { return d.store.Where(dataName(f)) }

// Part is what a restore needs of the state of one subtask. spread is how its
// files are fetched.
func (d *Dir) Part(info *state.Info, spread state.Spread) state.Part {
	if d.shared != nil {
		return d.shared.Cache.part(d, info, spread)
	}
	fsys, _, _ := d.store.File("")
	return state.Part{FS: fsys, Info: info, Path: d.Where, Spread: spread}
}

// claim waits until nobody else stores or removes a content, and returns the uses
// of the file that has it.
func (d *Dir) claim(f *state.FileInfo) (uses int) {
	key := content(*f)
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.busy[key] != nil {
		wait := d.busy[key]
		d.mu.Unlock()
		<-wait
		d.mu.Lock()
	}
	d.busy[key] = make(chan struct{})
	if at, ok := d.at[key]; ok {
		f.At = at
		return d.refs[contentName(*f)]
	}
	f.At = ""
	if d.shared != nil {
		f.At = strconv.FormatInt(d.shared.Start, 10)
	}
	return 0
}

// use sets the uses of a file that was claimed, and gives its content free.
func (d *Dir) use(f state.FileInfo, n int) {
	key := content(f)
	d.mu.Lock()
	defer d.mu.Unlock()
	close(d.busy[key])
	delete(d.busy, key)
	d.refs[contentName(f)], d.at[key] = n, f.At
	if n == 0 {
		delete(d.refs, contentName(f))
		delete(d.at, key)
	}
}

// Add keeps the file src, which must be durable and not change any more, and
// returns f as manifests list it. The file stays until a manifest that was put
// with it is discarded, or Release is called.
func (d *Dir) Add(ctx context.Context, f state.FileInfo, fsys vfs.FS, src string) (state.FileInfo, error) {
	n := d.claim(&f)
	if n > 0 {
		d.use(f, n+1)
		return f, nil
	}
	err := d.store.PutFile(ctx, dataName(f), fsys, src)
	if err == nil && d.shared != nil {
		err = d.shared.Cache.add(f, src)
	}
	if err != nil {
		err = errors.Join(err, d.store.Remove(bg, dataName(f)))
		d.use(f, 0)
		return f, err
	}
	d.use(f, 1)
	return f, nil
}

// Has reports whether a state file has a use.
func (d *Dir) Has(f state.FileInfo) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.refs[contentName(f)] > 0
}

// Release drops a use that Add made, of a file as Add has returned it.
func (d *Dir) Release(f state.FileInfo) error {
	n := d.claim(&f)
	var err error
	if n <= 1 {
		err = d.store.Remove(bg, dataName(f))
		if d.shared != nil {
			err = errors.Join(err, d.shared.Cache.remove(f))
		}
	}
	d.use(f, max(n-1, 0))
	return err
}

// Put commits a checkpoint. It takes over the uses of the manifest's files.
// After an error it is unknown whether the checkpoint exists; Open tells.
func (d *Dir) Put(m *Manifest) error {
	now := packed{}
	data, err := m.encode(d.packed, now)
	if err != nil {
		return err
	}
	d.packed = now
	if err := d.store.Sync(bg, dataDir); err != nil {
		return err
	}
	if d.shared != nil {
		return d.putShared(m, data)
	}
	if err := d.store.Put(bg, manifestName(m.ID), data); err != nil {
		return err
	}
	d.manifests[m.ID] = m
	return d.store.Put(bg, latestName, fmt.Appendln(nil, m.ID))
}

// putShared is Put where a process that has lost the directory may not know it
// yet: it must not write over this one's manifest. What it has put itself was
// never committed.
func (d *Dir) putShared(m *Manifest, data []byte) error {
	name := manifestName(m.ID)
	err := d.store.Create(bg, name, data)
	for tries := 0; errors.Is(err, blob.ErrExist) && tries < 3; tries++ {
		if err := d.shared.Owned(); err != nil {
			return err
		}
		if err := d.store.Remove(bg, name); err != nil {
			return err
		}
		err = d.store.Create(bg, name, data)
	}
	if err == nil {
		err = d.shared.Commit(m.ID)
	}
	if err != nil {
		return err
	}
	d.shared.Committed = m.ID
	d.manifests[m.ID] = m
	return nil
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
	if err := d.store.Put(bg, manifestName(id), data); err != nil {
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
	if err := d.store.Remove(bg, manifestName(id)); err != nil {
		return err
	}
	if err := d.store.Sync(bg, ""); err != nil {
		return err
	}
	var failed error
	m.files(func(f state.FileInfo) { failed = errors.Join(failed, d.Release(f)) })
	return failed
}
