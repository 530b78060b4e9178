package filesystem

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// file is a file to read.
type file struct {
	path  string
	size  int64
	mtime int64 // ms
}

// list returns the files that the path means, in the order of their names.
// Where new ones are waited for, the path need not be there yet.
func (s *source) list(ctx context.Context) ([]file, error) {
	info, err := os.Stat(s.path)
	var out []file
	switch {
	case err == nil && info.IsDir():
		err = s.walk(ctx, s.path, &out)
	case err == nil:
		out = append(out, fileOf(s.path, info))
	case errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(s.path, "*?["):
		out, err = s.glob(ctx)
	case errors.Is(err, fs.ErrNotExist) && s.interval > 0:
		err = nil
	case errors.Is(err, fs.ErrNotExist):
		err = fmt.Errorf("table %s: there is no file or directory %s", s.table.Name, s.path)
	}
	if err != nil || s.regex == nil {
		return out, err
	}
	kept := out[:0]
	for _, f := range out {
		full, err := filepath.Abs(f.path)
		if err != nil {
			return nil, err
		}
		if s.regex.MatchString(full) {
			kept = append(kept, f)
		}
	}
	return kept, nil
}

func fileOf(path string, info fs.FileInfo) file {
	return file{path: path, size: info.Size(), mtime: info.ModTime().UnixMilli()}
}

// hidden reports whether files and directories of that name are left out.
func hidden(name string) bool { return name[0] == '.' || name[0] == '_' }

// walk adds the files in a directory and below it. A file that disappears in
// the meantime is no error.
func (s *source) walk(ctx context.Context, dir string, out *[]file) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, fs.ErrNotExist) && path != dir:
			return nil
		case err != nil:
			return err
		case path != dir && hidden(e.Name()):
			if e.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case e.IsDir():
			return nil
		}
		// Stat, so that a symbolic link is what it leads to.
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case info.IsDir():
			return nil
		}
		*out = append(*out, fileOf(path, info))
		return nil
	})
}

func (s *source) glob(ctx context.Context) ([]file, error) {
	paths, err := filepath.Glob(s.path)
	if err != nil {
		return nil, fmt.Errorf("option %q: %q is no pattern: %w", optPath, s.path, err)
	}
	var out []file
	for _, p := range paths {
		if name := filepath.Base(p); hidden(name) && !hidden(filepath.Base(s.path)) {
			continue
		}
		info, err := os.Stat(p)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		case info.IsDir():
			if err := s.walk(ctx, p, &out); err != nil {
				return nil, err
			}
		default:
			out = append(out, fileOf(p, info))
		}
	}
	if len(out) == 0 && s.interval == 0 {
		return nil, fmt.Errorf("table %s: no file matches %s", s.table.Name, s.path)
	}
	return out, nil
}
