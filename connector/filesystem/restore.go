package filesystem

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/millstream-io/millstream/internal/vfs"
)

// restore brings the directory to the state of the checkpoint that the job goes
// on from: what was finished then is published, what was open goes on, and what
// came later is removed. Without a checkpoint, all that an earlier run has left
// half done is removed.
func (w *writer) restore(states [][]byte) error {
	if err := vfs.MkdirAll(w.fs, w.path); err != nil {
		return fmt.Errorf("the directory %s cannot be made: %w", w.path, err)
	}
	for _, b := range states {
		s, err := parseState(b)
		if err != nil {
			return err
		}
		if err := w.takeOver(s); err != nil {
			return err
		}
	}
	keep := map[string]bool{}
	hold := func(dir, name string) {
		keep[w.fs.PathJoin(w.dirPath(dir), w.hiddenName(name))] = true
		w.sawName(name)
	}
	for _, p := range w.open {
		hold(p.dir, p.name)
	}
	for _, d := range w.done {
		hold(d.Dir, d.Name)
	}
	// Where the parallelism has changed more than once, files with names of this
	// subtask may be those of another one now.
	for _, b := range w.ctx.Others {
		s, err := parseState(b)
		if err != nil {
			return err
		}
		for _, o := range s.Open {
			hold(o.Dir, o.Name)
		}
		for _, d := range s.Done {
			hold(d.Dir, d.Name)
		}
	}
	return w.clean("", len(w.keys), keep)
}

func parseState(b []byte) (*writerState, error) {
	s := &writerState{}
	if err := json.Unmarshal(b, s); err != nil {
		return nil, fmt.Errorf("the state of the sink cannot be read: %w", err)
	}
	if s.Version != stateVersion {
		return nil, fmt.Errorf("the state of the sink has version %d, this program knows %d", s.Version, stateVersion)
	}
	return s, nil
}

// takeOver goes on from the state of one writer of the last run.
func (w *writer) takeOver(s *writerState) error {
	if w.ctx.Published {
		// Its files may have been moved since, or be on another machine.
		s.Done = nil
	}
	if err := w.finishRenames(s.Done); err != nil {
		return err
	}
	if err := w.publish(s.Done); err != nil {
		return err
	}
	if s.Subtask == w.ctx.Subtask {
		w.next = max(w.next, s.Next)
	}
	for _, o := range s.Open {
		p, err := w.resume(o)
		if err != nil {
			return err
		}
		if w.open[o.Dir] == nil {
			w.open[o.Dir] = p
			continue
		}
		// Two writers of the last run wrote to this directory, and this one
		// takes both over.
		if err := p.sync(); err != nil {
			return err
		}
		if err := p.close(); err != nil {
			return err
		}
		w.done = append(w.done, doneFile{Dir: p.dir, Name: p.name, epoch: unbound})
	}
	return nil
}

// sawName makes sure that the numbers of new files are above n.
func (w *writer) sawName(name string) {
	if subtask, n, ok := w.parseName(name); ok && subtask == w.ctx.Subtask {
		w.next = max(w.next, n+1)
	}
}

// clean removes the hidden files of this sink, but for those in keep, from a
// directory and from the partitions below it, and looks at the numbers of the
// files that are there.
func (w *writer) clean(dir string, depth int, keep map[string]bool) error {
	full := w.dirPath(dir)
	names, err := w.fs.List(full)
	if err != nil {
		return err
	}
	removed := false
	for _, name := range names {
		path := w.fs.PathJoin(full, name)
		if depth > 0 {
			if k := w.keys[len(w.keys)-depth]; strings.HasPrefix(name, string(appendName(nil, []byte(k.Name)))+"=") {
				if err := w.clean(strings.TrimPrefix(dir+"/"+name, "/"), depth-1, keep); err != nil {
					return err
				}
			}
			continue
		}
		if !w.leftOver(name) {
			w.sawName(name)
			continue
		}
		if !keep[path] {
			if err := w.fs.Remove(path); err != nil && !vfs.IsNotExist(err) {
				return err
			}
			removed = true
		}
	}
	if removed {
		return vfs.SyncDir(w.fs, full)
	}
	return nil
}

// leftOver reports whether a name is that of a hidden file of this sink which
// this writer looks after. (With another parallelism, there may be files of
// subtasks that are no more.)
func (w *writer) leftOver(name string) bool {
	rest, ok := strings.CutPrefix(name, ".")
	if !ok {
		return false
	}
	// The copy that a crash while truncating may leave has one more ending.
	rest = strings.TrimSuffix(rest, ".tmp.tmp")
	rest = strings.TrimSuffix(rest, ".tmp")
	final, ok := strings.CutSuffix(rest, "."+w.tag)
	if !ok {
		return false
	}
	subtask, _, ok := w.parseName(final)
	return ok && subtask%w.ctx.Parallelism == w.ctx.Subtask
}

// publish gives finished files their names. It may have been done before.
func (w *writer) publish(files []doneFile) error {
	var dirs []string
	for _, d := range files {
		dirs = append(dirs, d.Dir)
		if err := w.rename(d); err != nil {
			return err
		}
	}
	if err := w.syncDirs(dirs); err != nil {
		return err
	}
	if w.success == "" {
		return nil
	}
	for _, d := range dirs {
		path := w.fs.PathJoin(w.dirPath(d), w.success)
		if there, err := exists(w.fs, path); err != nil || there {
			if err != nil {
				return err
			}
			continue
		}
		if err := vfs.WriteFile(w.fs, path, nil); err != nil {
			return err
		}
	}
	return nil
}

// finishRenames removes the hidden names of files that have got their names
// already, where a crash has left both: not every file system renames in one step.
// A file of another job that has taken such a name has other rows.
func (w *writer) finishRenames(files []doneFile) error {
	var dirs []string
	for _, d := range files {
		full := w.dirPath(d.Dir)
		from := w.fs.PathJoin(full, w.hiddenName(d.Name))
		if same, err := sameContent(w.fs, from, w.fs.PathJoin(full, d.Name)); err != nil || !same {
			if err != nil {
				return err
			}
			continue
		}
		if err := w.fs.Remove(from); err != nil {
			return err
		}
		dirs = append(dirs, d.Dir)
	}
	return w.syncDirs(dirs)
}

// sameContent reports whether two files are there and have the same bytes.
func sameContent(fsys vfs.FS, a, b string) (bool, error) {
	var files [2]vfs.File
	var size [2]int64
	for i, name := range []string{a, b} {
		f, err := fsys.Open(name, vfs.SequentialReads)
		if vfs.IsNotExist(err) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return false, err
		}
		files[i], size[i] = f, info.Size()
	}
	if size[0] != size[1] {
		return false, nil
	}
	var sums [2]uint64
	for i, f := range files {
		h := xxh3.New()
		if _, err := io.Copy(h, f); err != nil {
			return false, err
		}
		sums[i] = h.Sum64()
	}
	return sums[0] == sums[1], nil
}

// renaming is held while a free name is looked for and taken: several sinks of
// this process may write to one directory.
var renaming sync.Mutex

// rename gives one file its name. If a file of another job has it, the next
// number that is free is taken.
func (w *writer) rename(d doneFile) error {
	renaming.Lock()
	defer renaming.Unlock()
	full := w.dirPath(d.Dir)
	from, to := w.fs.PathJoin(full, w.hiddenName(d.Name)), w.fs.PathJoin(full, d.Name)
	fromThere, err := exists(w.fs, from)
	if err != nil {
		return err
	}
	toThere, err := exists(w.fs, to)
	switch {
	case err != nil:
		return err
	case !fromThere && toThere:
		return nil
	case !fromThere:
		return fmt.Errorf("the file %s, which the checkpoint has finished, is gone, and so is %s: it was removed", from, to)
	}
	for toThere {
		to = w.fs.PathJoin(full, w.finalName(w.next))
		w.next++
		if toThere, err = exists(w.fs, to); err != nil {
			return err
		}
	}
	return w.fs.Rename(from, to)
}
