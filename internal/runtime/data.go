package runtime

import (
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

	"github.com/millstream-io/millstream/internal/checkpoint"
	"github.com/millstream-io/millstream/internal/vfs"
)

// Data is the directory of a job:
//
//	lock, pid      held by the process that runs the job
//	job            the job's identity and the number of its starts
//	checkpoints/   see checkpoint.Dir
//	state/         the tables of the running job; worthless after a crash
//	checkpoints.N  checkpoints that were set aside at start N
//	finished       the number of the checkpoint with which the job has ended
type Data struct {
	fs   vfs.FS
	path string
	lock io.Closer
	meta meta
	dir  *checkpoint.Dir
}

// meta is the content of the file "job".
type meta struct {
	Job string `json:"job"`
	// ID tells the job from an earlier one of the same name.
	ID string `json:"id"`
	// Incarnation is the number of starts, restarts after failures included.
	Incarnation int64 `json:"incarnation"`
}

const metaMagic = "millstream-job"

// OpenData takes the directory of a job for this process, and makes it if it
// does not exist. An error that the user has to deal with (another process has
// it, something is damaged) is a *checkpoint.RefusedError.
func OpenData(fsys vfs.FS, path, job string) (*Data, error) {
	return openData(fsys, path, job, (*Data).load)
}

// OpenFresh is OpenData for a job that starts anew: what is in the directory is
// set aside unread, so it may be damaged.
func OpenFresh(fsys vfs.FS, path, job string) (*Data, error) {
	return openData(fsys, path, job, (*Data).setAside)
}

// OpenFrom is OpenData for a job that begins from a checkpoint of another
// directory, or from an older one of its own. The directory must have no
// checkpoints, unless fresh is set: then they are set aside.
func OpenFrom(fsys vfs.FS, path, job string, from *checkpoint.Source, fresh bool) (*Data, error) {
	return openData(fsys, path, job, func(d *Data) error { return d.begins(from, fresh) })
}

func openData(fsys vfs.FS, path, job string, load func(*Data) error) (*Data, error) {
	d := &Data{fs: fsys, path: path, meta: meta{Job: job}}
	if err := vfs.MkdirAll(fsys, path); err != nil {
		return nil, err
	}
	if err := d.take(job); err != nil {
		return nil, err
	}
	if err := load(d); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

func (d *Data) file(name string) string { return d.fs.PathJoin(d.path, name) }

// take gets the lock, and leaves the number of this process beside it.
func (d *Data) take(job string) error {
	lock, err := vfs.Lock(d.fs, d.file("lock"))
	if held(err) {
		who := "another process"
		if pid, readErr := vfs.ReadFile(d.fs, d.file("pid")); readErr == nil {
			who = "process " + strings.TrimSpace(string(pid))
		}
		return &checkpoint.RefusedError{Msg: fmt.Sprintf("job %s is being run by %s: %s is locked; stop that process, or choose another directory with --data",
			job, who, d.path)}
	}
	if err != nil {
		return err
	}
	d.lock = lock
	f, err := vfs.Create(d.fs, d.file("pid"))
	if err != nil {
		return errors.Join(err, d.Close())
	}
	_, err = fmt.Fprintln(f, os.Getpid())
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, d.Close())
	}
	return nil
}

// held reports whether an attempt to lock a file failed because somebody has
// the lock, and not because the file could not be made.
func held(err error) bool {
	var file *fs.PathError
	var refused syscall.Errno
	return err != nil && !errors.As(err, &file) &&
		(errors.As(err, &refused) || strings.Contains(err.Error(), "lock held by current process"))
}

// load reads what is in the directory.
func (d *Data) load() error {
	if err := d.fs.RemoveAll(d.file("checkpoints.old")); err != nil {
		return err
	}
	if err := d.readMeta(); err != nil {
		return err
	}
	if err := d.swapIn(); err != nil {
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
			d.meta.Job, d.path)}
	case err != nil && !fresh:
		return err
	case err != nil:
		d.meta.Incarnation = time.Now().Unix() // see setAside
	}
	d.meta.Incarnation = max(d.meta.Incarnation, from.Manifest.Incarnation)
	d.meta.ID = ""
	if err := d.identify(); err != nil {
		return err
	}
	if err := d.fs.RemoveAll(d.file(incoming)); err != nil {
		return err
	}
	if err := from.Import(d.fs, d.file(incoming), d.meta.ID); err != nil {
		return errors.Join(err, d.fs.RemoveAll(d.file(incoming)))
	}
	if err := d.fs.Remove(d.file("finished")); err != nil && !vfs.IsNotExist(err) {
		return err
	}
	if err := d.writeMeta(); err != nil {
		return err
	}
	aside, err := d.aside()
	if err != nil {
		return err
	}
	if err := d.fs.Rename(d.file("checkpoints"), aside); err != nil && !vfs.IsNotExist(err) {
		return err
	}
	if err := d.swapIn(); err != nil {
		return err
	}
	return d.Reload()
}

// incoming is the directory of the checkpoint from which a job will begin.
const incoming = "checkpoints.new"

// swapIn makes the incoming directory that of the job's checkpoints, if these
// were moved out of its way. A copy that did not come to that is removed.
func (d *Data) swapIn() error {
	_, err := d.fs.Stat(d.file("checkpoints"))
	if err == nil || !vfs.IsNotExist(err) {
		return errors.Join(err, d.fs.RemoveAll(d.file(incoming)))
	}
	if err := d.fs.Rename(d.file(incoming), d.file("checkpoints")); err != nil {
		if vfs.IsNotExist(err) {
			return nil
		}
		return err
	}
	return vfs.SyncDir(d.fs, d.path)
}

// aside is a name for checkpoints that the job does not go on from.
func (d *Data) aside() (string, error) {
	for n := d.meta.Incarnation; ; n++ {
		name := d.file(fmt.Sprintf("checkpoints.%d", n))
		switch _, err := d.fs.Stat(name); {
		case vfs.IsNotExist(err):
			return name, nil
		case err != nil:
			return "", err
		}
	}
}

func (d *Data) readMeta() error {
	data, err := vfs.ReadFile(d.fs, d.file("job"))
	if vfs.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	body, err := checkpoint.Unseal(metaMagic, d.file("job"), data)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, &d.meta); err != nil {
		return fmt.Errorf("%s: %w", d.file("job"), err)
	}
	return nil
}

// setAside renames the checkpoints, so that the job starts anew.
func (d *Data) setAside() error {
	if err := d.readMeta(); err != nil {
		// The number of starts is lost. It has to go on rising, since targets
		// tell the output of different starts by it.
		d.meta.Incarnation = time.Now().Unix()
	}
	aside, err := d.aside()
	if err != nil {
		return err
	}
	return d.reset(aside)
}

// Reload reads the checkpoints again, as a new process would: after a job on
// this directory has failed or was given up, and was closed.
func (d *Data) Reload() (err error) {
	if err := d.clearState(); err != nil {
		return err
	}
	if d.dir, err = checkpoint.Open(d.fs, d.file("checkpoints")); err != nil {
		return err
	}
	if d.dir.Latest() != nil && d.meta.ID == "" {
		return &checkpoint.RefusedError{Msg: fmt.Sprintf("%s is missing: expected the identity of the job that has the checkpoints beside it, found no such file; "+
			"restore it, or start anew with --fresh", d.file("job"))}
	}
	return nil
}

// Latest describes the checkpoint from which the job goes on; nil if it starts
// anew.
func (d *Data) Latest() *checkpoint.Manifest { return d.dir.Latest() }

// Incarnation is the number of starts so far.
func (d *Data) Incarnation() int64 { return d.meta.Incarnation }

// Finished reports whether the job ran to its end and all its output was
// published.
func (d *Data) Finished() (bool, error) {
	data, err := vfs.ReadFile(d.fs, d.file("finished"))
	if vfs.IsNotExist(err) {
		return false, nil
	}
	m := d.dir.Latest()
	return m == nil || strings.TrimSpace(string(data)) == fmt.Sprint(m.ID), err
}

// finish notes that the job has ended and its output is published.
func (d *Data) finish() error {
	m := d.dir.Latest()
	return vfs.WriteFile(d.fs, d.file("finished"), fmt.Appendln(nil, m.ID))
}

// restart makes a job that has finished start anew. If there are savepoints,
// they are set aside.
func (d *Data) restart() error {
	if len(d.dir.Ordinary()) < len(d.dir.Retained()) {
		return d.setAside()
	}
	old := d.file("checkpoints.old")
	if err := d.reset(old); err != nil {
		return err
	}
	return d.fs.RemoveAll(old)
}

// reset gives the checkpoints another name and forgets them.
func (d *Data) reset(old string) error {
	if err := d.fs.Rename(d.file("checkpoints"), old); err != nil && !vfs.IsNotExist(err) {
		return err
	}
	if err := vfs.SyncDir(d.fs, d.path); err != nil {
		return err
	}
	// A crash before this leaves a job without checkpoints that has finished,
	// which starts anew as well.
	if err := d.fs.Remove(d.file("finished")); err != nil && !vfs.IsNotExist(err) {
		return err
	}
	d.meta.ID = ""
	return d.Reload()
}

// begin counts a start.
func (d *Data) begin() error {
	d.meta.Incarnation++
	if err := d.identify(); err != nil {
		return err
	}
	return d.writeMeta()
}

// identify gives the job an identity if it has none.
func (d *Data) identify() error {
	if d.meta.ID != "" {
		return nil
	}
	var id [8]byte
	if _, err := rand.Read(id[:]); err != nil {
		return err
	}
	d.meta.ID = hex.EncodeToString(id[:])
	return nil
}

func (d *Data) writeMeta() error {
	body, err := json.Marshal(d.meta)
	if err != nil {
		return err
	}
	return vfs.WriteFile(d.fs, d.file("job"), checkpoint.Seal(metaMagic, append(body, '\n')))
}

// Delete removes a checkpoint, but not the newest one: the job goes on from it.
func (d *Data) Delete(id int64) error {
	switch m := d.dir.Latest(); {
	case d.dir.Get(id) == nil:
		return &checkpoint.RefusedError{Msg: fmt.Sprintf("job %s has no checkpoint %d", d.meta.Job, id)}
	case m.ID == id:
		return &checkpoint.RefusedError{Msg: fmt.Sprintf("checkpoint %d is the newest one of job %s, which goes on from it; it is not deleted", id, d.meta.Job)}
	}
	return d.dir.Discard(id)
}

func (d *Data) discard(id int64) error { return d.dir.Discard(id) }

// stateDir is where an instance keeps its tables while it runs.
func (d *Data) stateDir(node, subtask int) string {
	return d.fs.PathJoin(d.file("state"), fmt.Sprintf("%d-%d", node, subtask))
}

// clearState removes the tables of a run that has ended.
func (d *Data) clearState() error { return d.fs.RemoveAll(d.file("state")) }

// Close gives the directory back.
func (d *Data) Close() error { return d.lock.Close() }
