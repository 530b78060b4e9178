package runtime

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/millstream-io/millstream/internal/blob"
	"github.com/millstream-io/millstream/internal/checkpoint"
	"github.com/millstream-io/millstream/internal/vfs"
)

// Place says where a job keeps what it needs to go on.
type Place struct {
	// FS and Path are a directory on this machine, for this process alone.
	FS   vfs.FS
	Path string
	// Store has the checkpoints; nil means the same directory. In a store without
	// files of its own there may be other processes, on other machines: then the
	// last one that was started has the job.
	Store blob.Store
}

// Data is what a job keeps. In its directory are
//
//	lock, pid      held by the process that runs the job
//	state/         the tables of the running job; worthless after a crash
//	cache/         copies of state files, if the checkpoints are elsewhere
//
// and there or in another store
//
//	job            the job's identity, and which of its checkpoints count
//	checkpoints/   see checkpoint.Dir
//	checkpoints.N  others: which of them the job goes on from is said in job
//
// In a store that other processes may write, the log/ of what would be in job
// stands for it.
type Data struct {
	fs   vfs.FS
	path string
	// locks are those of this process.
	locks []io.Closer
	root  blob.Store
	// log is nil where a lock keeps others out; owner tells the records of this
	// process from those of others, and begun is set once it has written some.
	log   *blob.Log
	owner string
	begun bool
	meta  meta
	dir   *checkpoint.Dir
	holds holds
	end   context.CancelFunc
}

// meta is the content of job.
type meta struct {
	Job string `json:"job"`
	// ID tells the job from an earlier one of the same name.
	ID string `json:"id"`
	// Incarnation is the number of starts, restarts after failures included.
	Incarnation int64 `json:"incarnation"`
	// Dir is the directory of the checkpoints. Trash is one that is to be
	// removed: it has been replaced, or is not complete.
	Dir   string `json:"dir,omitempty"`
	Trash string `json:"trash,omitempty"`
	// Finished is the number of the checkpoint with which the job has ended and
	// published everything; 0 if it has not.
	Finished int64 `json:"finished,omitempty"`
	// Committed is the newest checkpoint that counts, and Owner the process that
	// has written this, in a log.
	Committed int64  `json:"committed,omitempty"`
	Owner     string `json:"owner,omitempty"`
}

const (
	metaMagic = "millstream-job"
	metaName  = "job"
	logName   = "log"
	// dirName is where checkpoints are unless some were set aside.
	dirName = "checkpoints"
)

// OpenData takes a place for this process. An error that the user has to deal
// with (another process has it, something is damaged) is a
// *checkpoint.RefusedError.
func (p Place) OpenData(job string) (*Data, error) { return p.open(job, (*Data).load) }

// OpenFresh is OpenData for a job that starts anew: what is there is set aside
// unread, so it may be damaged.
func (p Place) OpenFresh(job string) (*Data, error) { return p.open(job, (*Data).setAside) }

// OpenFrom is OpenData for a job that begins from a checkpoint of another
// place, or from an older one of its own. There must be no checkpoints, unless
// fresh is set: then they are set aside.
func (p Place) OpenFrom(job string, from *checkpoint.Source, fresh bool) (*Data, error) {
	return p.open(job, func(d *Data) error { return d.begins(from, fresh) })
}

func (p Place) open(job string, load func(*Data) error) (*Data, error) {
	d := &Data{fs: p.FS, path: p.Path, root: p.Store, meta: meta{Job: job}, end: func() {}}
	if err := vfs.MkdirAll(p.FS, p.Path); err != nil {
		return nil, err
	}
	err := d.take(job, p.Path)
	if err == nil {
		err = d.open(job)
	}
	if err == nil {
		err = load(d)
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// open opens the store.
func (d *Data) open(job string) (err error) {
	if d.root == nil {
		d.root = blob.NewDir(d.fs, d.path)
		return nil
	}
	if hasFiles(d.root) {
		fsys, path, _ := d.root.File("")
		if err := vfs.MkdirAll(fsys, path); err != nil {
			return err
		}
		return d.take(job, path)
	}
	ctx, cancel := context.WithCancel(context.Background())
	d.end = cancel
	d.fs = blob.NewLazy(ctx, d.fs)
	host, _ := os.Hostname()
	d.owner = fmt.Sprintf(ownerForm+")", os.Getpid(), host, randomID())
	d.log, _, err = blob.OpenLog(ctx, d.root.Sub(logName))
	return err
}

// hasFiles reports whether a lock can keep others out of a store.
func hasFiles(s blob.Store) bool {
	_, _, ok := s.File("")
	return ok
}

func (d *Data) file(name string) string { return d.fs.PathJoin(d.path, name) }

// take gets the lock of a directory, and leaves the number of this process beside
// it.
func (d *Data) take(job, path string) error {
	pid := d.fs.PathJoin(path, "pid")
	lock, err := vfs.Lock(d.fs, d.fs.PathJoin(path, "lock"))
	if held(err) {
		who := "another process"
		if text, readErr := vfs.ReadFile(d.fs, pid); readErr == nil {
			who = "process " + strings.TrimSpace(string(text))
		}
		return &checkpoint.RefusedError{Msg: fmt.Sprintf("job %s is being run by %s: %s is locked; stop that process, or choose another directory with --data",
			job, who, path)}
	}
	if err != nil {
		return err
	}
	d.locks = append(d.locks, lock)
	f, err := vfs.Create(d.fs, pid)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, os.Getpid())
	return errors.Join(err, f.Close())
}

// held reports whether an attempt to lock a file failed because somebody has
// the lock, and not because the file could not be made.
func held(err error) bool {
	var file *fs.PathError
	var refused syscall.Errno
	return err != nil && !errors.As(err, &file) &&
		(errors.As(err, &refused) || strings.Contains(err.Error(), "lock held by current process"))
}

// load reads what is there. Where others may write, the job is taken over first: a
// process that has it yet removes checkpoints while they are read.
func (d *Data) load() error {
	if err := d.readMeta(); err != nil {
		return err
	}
	if err := d.takeOver(); err != nil {
		return err
	}
	return d.Reload()
}

// begins makes the job begin from a checkpoint. It is copied before anything
// that is there is touched.
func (d *Data) begins(from *checkpoint.Source, fresh bool) error {
	err := d.load()
	switch {
	case err == nil && d.Latest() != nil && !fresh:
		return &checkpoint.RefusedError{Msg: fmt.Sprintf("job %s has checkpoints of its own in %s; with --fresh they are set aside, and the job begins from the other one",
			d.meta.Job, strings.TrimSuffix(d.root.Where(""), "/"))}
	case err != nil && !fresh:
		return err
	case err != nil:
		d.lostMeta()
	}
	dir, ferr := d.freeDir()
	if ferr != nil {
		return ferr
	}
	d.meta.Incarnation = max(d.meta.Incarnation, from.Manifest.Incarnation)
	if err == nil {
		// If the copy does not come to its end, it is removed later.
		d.meta.Trash = dir
		d.identify()
		if err := d.writeMeta(); err != nil {
			return err
		}
	}
	id := randomID()
	if err := from.Import(d.root.Sub(dir), id); err != nil {
		return errors.Join(err, blob.Clear(d.root, dir))
	}
	d.meta.ID = id
	return d.turn(dir, "", from.Manifest.ID)
}

// turn makes another directory that of the job's checkpoints, with one put: before
// it the job goes on from what it had, and behind it from the newest checkpoint
// there, if there is one.
func (d *Data) turn(dir, trash string, committed int64) error {
	d.meta.Dir, d.meta.Trash, d.meta.Finished = dir, trash, 0
	if d.log != nil {
		d.meta.Committed = committed
	}
	d.identify()
	if err := d.writeMeta(); err != nil {
		return err
	}
	return d.Reload()
}

// lostMeta makes up for a lost number of starts. It has to go on rising, since
// targets tell the output of different starts by it.
func (d *Data) lostMeta() { d.meta.Incarnation = max(d.meta.Incarnation, time.Now().Unix()) }

// checkpointDir is the name of the directory of the checkpoints.
func (d *Data) checkpointDir() string {
	if d.meta.Dir == "" {
		return dirName
	}
	return d.meta.Dir
}

// checkpointDirs are all directories of checkpoints, those set aside among them.
func (d *Data) checkpointDirs() (map[string]bool, error) {
	infos, err := d.root.List(context.Background(), "")
	out := map[string]bool{}
	for _, i := range infos {
		if name, ok := strings.CutSuffix(i.Name, "/"); ok && (name == dirName || strings.HasPrefix(name, dirName+".")) {
			out[name] = true
		}
	}
	return out, err
}

// freeDir is a name for a new directory of checkpoints.
func (d *Data) freeDir() (string, error) {
	taken, err := d.checkpointDirs()
	name := dirName
	for n := d.meta.Incarnation; taken[name]; n++ {
		name = fmt.Sprintf("%s.%d", dirName, n)
	}
	return name, err
}

func (d *Data) readMeta() error {
	var data []byte
	var err error
	where := d.root.Where(metaName)
	if d.log != nil {
		data, err = d.log.Refresh(context.Background())
		where = d.log.Where()
	} else if data, err = d.root.Get(context.Background(), metaName); vfs.IsNotExist(err) {
		data, err = nil, nil
	}
	if err != nil || data == nil {
		return err
	}
	body, err := checkpoint.Unseal(metaMagic, where, data)
	if err != nil {
		return err
	}
	var m meta
	if err := json.Unmarshal(body, &m); err != nil {
		return fmt.Errorf("%s: %w", where, err)
	}
	if d.begun && m.Owner != d.owner {
		return d.fenced(m.Owner)
	}
	d.meta = m
	return nil
}

// fenced says that another process has the job now.
func (d *Data) fenced(by string) error {
	return &checkpoint.RefusedError{Msg: fmt.Sprintf("job %s was taken over by %s, which uses the same %s; this process commits nothing any more",
		d.meta.Job, cmp.Or(by, "another process"), strings.TrimSuffix(d.root.Where(""), "/"))}
}

func (d *Data) writeMeta() error {
	d.meta.Owner = d.owner
	body, err := json.Marshal(d.meta)
	if err != nil {
		return err
	}
	record := checkpoint.Seal(metaMagic, append(body, '\n'))
	if d.log == nil {
		return d.root.Put(context.Background(), metaName, record)
	}
	err = d.log.Append(context.Background(), record)
	if errors.Is(err, blob.ErrFenced) && d.begun {
		if err := d.readMeta(); err != nil {
			return err
		}
		return d.fenced("")
	}
	d.begun = d.begun || err == nil
	return err
}

// takeOver makes this process the owner of the job, where there is a log: what
// others have committed until then counts, and nothing that they do after it. A
// process that commits all the time may be faster a few times.
func (d *Data) takeOver() error {
	if d.log == nil || d.begun {
		return nil
	}
	const tries = 1000
	err := blob.ErrFenced
	for range tries {
		if !errors.Is(err, blob.ErrFenced) {
			break
		}
		if err = d.readMeta(); errors.As(err, new(*checkpoint.RefusedError)) {
			return err // the record is damaged
		}
		if err == nil {
			err = d.writeMeta()
		}
	}
	return err
}

// setAside makes the job start anew, with another directory for its checkpoints.
func (d *Data) setAside() error {
	if err := errors.Join(d.readMeta(), d.takeOver()); err != nil {
		d.lostMeta()
	}
	dir, err := d.freeDir()
	if err != nil {
		return err
	}
	d.meta.ID = ""
	return d.turn(dir, "", 0)
}

// Reload reads the checkpoints again, as a new process would: after a job on
// this place has failed or was given up, and was closed.
func (d *Data) Reload() (err error) {
	if d.log == nil {
		if err := d.takeOut(); err != nil {
			return err
		}
		if d.dir, err = checkpoint.Open(d.root.Sub(d.checkpointDir())); err != nil {
			return err
		}
		return d.checkIdentity()
	}
	if err := d.readMeta(); err != nil {
		return err
	}
	d.dir, err = checkpoint.OpenShared(d.root.Sub(d.checkpointDir()), checkpoint.Shared{
		Committed: d.meta.Committed,
		Commit:    d.commit,
		Owned:     d.readMeta,
		Start:     d.meta.Incarnation + 1,
		Cache:     &checkpoint.Cache{FS: d.fs.(*blob.Lazy), Path: d.file("cache")},
	})
	if err != nil {
		return err
	}
	return d.checkIdentity()
}

// commit makes a checkpoint count, in a store that others may write.
func (d *Data) commit(id int64) error {
	d.meta.Committed = id
	return d.writeMeta()
}

// takeOut removes what is to be removed.
func (d *Data) takeOut() error {
	if d.meta.Trash == "" {
		return nil
	}
	err := blob.Clear(d.root, d.meta.Trash)
	if err == nil {
		d.meta.Trash = ""
	}
	return err
}

// checkIdentity refuses checkpoints of a job whose identity is lost.
func (d *Data) checkIdentity() error {
	if d.meta.ID != "" {
		return nil
	}
	dirs, err := d.checkpointDirs()
	if err != nil {
		return err
	}
	for dir := range dirs {
		entries, err := checkpoint.List(d.root.Sub(dir))
		if err != nil {
			return err
		}
		if len(entries) > 0 {
			return &checkpoint.RefusedError{Msg: fmt.Sprintf("%s is missing: expected the identity of the job that has the checkpoints beside it, found no such file; "+
				"restore it, or start anew with --fresh", d.root.Where(metaName))}
		}
	}
	return nil
}

// Latest describes the checkpoint from which the job goes on; nil if it starts
// anew, or if that could not be read.
func (d *Data) Latest() *checkpoint.Manifest {
	if d.dir == nil {
		return nil
	}
	return d.dir.Latest()
}

// Retained returns the numbers of the checkpoints that the job has, ascending.
func (d *Data) Retained() []int64 { return d.dir.Retained() }

// Incarnation is the number of starts so far.
func (d *Data) Incarnation() int64 { return d.meta.Incarnation }

// Finished reports whether the job ran to its end and all its output was
// published.
func (d *Data) Finished() bool {
	m := d.Latest()
	return m != nil && m.ID == d.meta.Finished
}

// finish notes that the job has ended and its output is published.
func (d *Data) finish() error {
	d.meta.Finished = d.dir.Latest().ID
	return d.writeMeta()
}

// restart makes a job that has finished start anew. If there are savepoints,
// its checkpoints are set aside, and otherwise removed.
func (d *Data) restart() error {
	dir, err := d.freeDir()
	if err != nil {
		return err
	}
	trash := d.checkpointDir()
	if len(d.dir.Ordinary()) < len(d.dir.Retained()) {
		trash = ""
	}
	d.meta.ID = ""
	return d.turn(dir, trash, 0)
}

// begin counts a start.
func (d *Data) begin() error {
	d.meta.Incarnation++
	d.identify()
	if err := d.writeMeta(); err != nil {
		return err
	}
	if d.log != nil {
		if err := errors.Join(d.takeOut(), d.dir.Sweep()); err != nil {
			return err
		}
	}
	return d.clearHolds(func(int64) {})
}

// identify gives the job an identity if it has none.
func (d *Data) identify() {
	if d.meta.ID == "" {
		d.meta.ID = randomID()
	}
}

func randomID() string {
	var id [8]byte
	_, _ = rand.Read(id[:]) // which never fails
	return hex.EncodeToString(id[:])
}

// Delete removes a checkpoint, but not the newest one: the job goes on from it.
func (d *Data) Delete(id int64) error {
	switch m := d.dir.Latest(); {
	case d.dir.Get(id) == nil:
		return &checkpoint.RefusedError{Msg: fmt.Sprintf("job %s has no checkpoint %d", d.meta.Job, id)}
	case m.ID == id:
		return &checkpoint.RefusedError{Msg: fmt.Sprintf("checkpoint %d is the newest one of job %s, which goes on from it; it is not deleted", id, d.meta.Job)}
	case d.holds.has(id):
		return &checkpoint.RefusedError{Msg: fmt.Sprintf("checkpoint %d of job %s is being read by a query; delete it when that has ended", id, d.meta.Job)}
	}
	return d.dir.Discard(id)
}

// discard removes a checkpoint that newer ones have pushed out, once nobody reads
// it any more.
func (d *Data) discard(id int64) error {
	if d.holds.keep(id) {
		return nil
	}
	return d.dir.Discard(id)
}

// statePrefix is how the names of the directories begin in which the instances
// keep their tables while they run, one for each start of a process.
const statePrefix = "state-"

func (d *Data) stateRoot() string { return fmt.Sprintf("%s%d", statePrefix, d.meta.Incarnation) }

// stateDir is where an instance keeps its tables while it runs.
func (d *Data) stateDir(node, subtask int) string {
	return d.fs.PathJoin(d.file(d.stateRoot()), fmt.Sprintf("%d-%d", node, subtask))
}

// clearState removes the tables of a run of this process that has ended.
func (d *Data) clearState() error { return d.fs.RemoveAll(d.file(d.stateRoot())) }

// tidy removes the tables of processes that were killed, those of versions that
// had one directory for all, and what killed readers have left. That may take a while where there are many; a
// job that runs does not mind.
func (d *Data) tidy() error {
	names, err := d.fs.List(d.path)
	for _, name := range names {
		state := (name == "state" || strings.HasPrefix(name, statePrefix)) && name != d.stateRoot()
		if state || checkpoint.ReaderLeft(name) {
			err = errors.Join(err, d.fs.RemoveAll(d.file(name)))
		}
	}
	return err
}

// Close gives the place back.
func (d *Data) Close() error {
	if d.begun {
		// Who does not hear of it takes the job for one that may be running.
		_ = d.letGo()
	}
	d.end()
	var errs []error
	for _, l := range d.locks {
		errs = append(errs, l.Close())
	}
	return errors.Join(errs...)
}

// letGo notes in the log that no process has the job.
func (d *Data) letGo() error {
	if err := d.readMeta(); err != nil {
		return err // another one has it
	}
	d.owner = ""
	return d.writeMeta()
}

// ownerForm is how a process names itself.
const ownerForm = "process %d on %s (%s"

// Owner names the process that runs the job from a store that others may write,
// or may still run it, since it has not said that it has ended; empty if none
// does, and where a lock tells.
func (p Place) Owner() (string, error) {
	if p.Store == nil || hasFiles(p.Store) {
		return "", nil
	}
	d := &Data{fs: p.FS, path: p.Path, root: p.Store}
	var err error
	if d.log, _, err = blob.OpenLog(context.Background(), d.root.Sub(logName)); err == nil {
		err = d.readMeta()
	}
	if err != nil || d.meta.Owner == "" {
		return "", err
	}
	var pid int
	var at, id string
	if n, _ := fmt.Sscanf(d.meta.Owner, ownerForm, &pid, &at, &id); n < 2 {
		return d.meta.Owner, nil
	}
	if host, _ := os.Hostname(); host != at {
		return d.meta.Owner, nil
	}
	if process, err := os.FindProcess(pid); err == nil && errors.Is(process.Signal(syscall.Signal(0)), os.ErrProcessDone) {
		return "", nil // it was killed
	}
	return d.meta.Owner, nil
}

// Checkpoints is the store with the checkpoints that the job goes on from, for
// whoever only reads: the job may be running.
func (p Place) Checkpoints() (blob.Store, error) {
	d := &Data{fs: p.FS, path: p.Path, root: p.Store}
	switch {
	case d.root == nil:
		d.root = blob.NewDir(d.fs, d.path)
	case !hasFiles(d.root):
		var err error
		if d.log, _, err = blob.OpenLog(context.Background(), d.root.Sub(logName)); err != nil {
			return nil, err
		}
	}
	// With an identity that is damaged, what is usual is as good a guess as any.
	err := d.readMeta()
	if refused := (*checkpoint.RefusedError)(nil); errors.As(err, &refused) {
		err = nil
	}
	return d.root.Sub(d.checkpointDir()), err
}

// OpenData is Place.OpenData for a place with everything in one directory.
func OpenData(fsys vfs.FS, path, job string) (*Data, error) {
	return Place{FS: fsys, Path: path}.OpenData(job)
}
