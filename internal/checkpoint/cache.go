package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/millstream-io/millstream/internal/blob"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/internal/vfs"
)

// Cache keeps copies of a store's state files on this machine, under their names
// there: what a job here has written, or has fetched. A copy is used only if its
// length and the sum of its end are right, and its blocks are checked as they are
// read; what is wrong with it is no damage, since the store has the file. Files
// that are still being fetched have another name, since their holes do not show.
type Cache struct {
	FS   *blob.Lazy
	Path string
}

// partSuffix marks files with holes.
const partSuffix = ".part"

func (c *Cache) whole(f state.FileInfo) string { return c.FS.PathJoin(c.Path, contentName(f)) }
func (c *Cache) holed(f state.FileInfo) string { return c.whole(f) + partSuffix }

// clear removes what no checkpoint needs, and what has holes.
func (c *Cache) clear(refs map[string]int) error {
	if err := vfs.MkdirAll(c.FS, c.Path); err != nil {
		return err
	}
	names, err := c.FS.List(c.Path)
	if err != nil {
		return err
	}
	for _, name := range names {
		if refs[name] == 0 {
			if err := c.FS.Remove(c.FS.PathJoin(c.Path, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// add keeps a copy of a file that is in the store. Only those whose blocks are
// checked are worth it.
func (c *Cache) add(f state.FileInfo, src string) error {
	if f.Tail == "" {
		return nil
	}
	if err := c.remove(f); err != nil {
		return err
	}
	return vfs.LinkOrCopy(c.FS, src, c.whole(f))
}

func (c *Cache) remove(f state.FileInfo) error {
	var errs []error
	for _, path := range []string{c.whole(f), c.holed(f)} {
		if err := c.FS.Remove(path); !vfs.IsNotExist(err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// path is where a file is read.
func (c *Cache) path(f state.FileInfo) string {
	if _, err := c.FS.Stat(c.whole(f)); err == nil {
		return c.whole(f)
	}
	return c.holed(f)
}

// part is a Part whose files come from the store of d.
func (c *Cache) part(d *Dir, info *state.Info, spread state.Spread) state.Part {
	return state.Part{
		FS: c.FS, Info: info, Path: c.path, Spread: spread,
		Fetch: func(ctx context.Context, f state.FileInfo, whole bool) (bool, error) {
			return c.fetch(ctx, d, f, whole)
		},
		Proven: c.proven,
		Blame:  func(f state.FileInfo, err *state.DamageError) error { return c.blame(d, f, err) },
	}
}

// fetch makes a file readable, and reports whether it comes from the store: now if
// it is wanted as a whole, and otherwise as it is read.
func (c *Cache) fetch(ctx context.Context, d *Dir, f state.FileInfo, whole bool) (fresh bool, err error) {
	if f.Tail == "" {
		data, err := d.store.Get(ctx, dataName(f))
		if err != nil {
			return false, err
		}
		return false, vfs.WriteFile(c.FS, c.whole(f), data)
	}
	if state.Look(c.FS, c.whole(f), f) == nil {
		return false, nil
	}
	// Another subtask may have asked for it.
	if _, err := c.FS.Stat(c.holed(f)); err != nil {
		if err := c.remove(f); err != nil {
			return false, err
		}
		if err := c.FS.Place(c.holed(f), d.store, dataName(f), f.Length); err != nil {
			return false, err
		}
	}
	if whole {
		err = c.FS.Fill(ctx, c.holed(f))
	}
	return true, err
}

// proven gives a file that has come as a whole, and was verified, its name.
func (c *Cache) proven(f state.FileInfo) error {
	if _, err := c.FS.Stat(c.holed(f)); err != nil {
		return nil
	}
	err := c.FS.Rename(c.holed(f), c.whole(f))
	if vfs.IsNotExist(err) {
		return nil // it was discarded
	}
	return err
}

// blame says which file is damaged: that in the store, or only the copy, which
// another attempt fetches again.
func (c *Cache) blame(d *Dir, f state.FileInfo, err *state.DamageError) error {
	if strings.HasSuffix(err.File, partSuffix) {
		return &state.DamageError{File: d.Where(f), Expected: err.Expected, Found: err.Found}
	}
	return errors.Join(fmt.Errorf("the copy %s of %s was damaged: expected %s, found %s; it will be fetched again",
		err.File, d.Where(f), err.Expected, err.Found), c.remove(f))
}
