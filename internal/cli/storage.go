package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/millstream-io/millstream/internal/blob"
	"github.com/millstream-io/millstream/internal/checkpoint"
	"github.com/millstream-io/millstream/internal/runtime"
	"github.com/millstream-io/millstream/internal/vfs"
)

// A job whose checkpoints are not in its data directory leaves a file there that
// says where they are, for commands that know no script.

const (
	storageName  = "storage"
	storageMagic = "millstream-storage"
)

// jobDir is the name of a job's directory.
func jobDir(job string) string {
	name := url.PathEscape(job)
	if strings.Trim(name, ".") == "" {
		name = "_" + name
	}
	return name
}

// jobStore is the store of a job's checkpoints; nil if that is the data directory.
func (s *settings) jobStore(storage runtime.Storage, job string) (blob.Store, error) {
	if storage.Checkpoints == "" {
		return nil, nil
	}
	store, err := blob.Open(storage.Checkpoints, s.stores(storage))
	if err != nil {
		return nil, err
	}
	return store.Sub(jobDir(job)), nil
}

// placeOf is where a job of a script keeps things.
func (s *settings) placeOf(j *job) (runtime.Place, error) {
	store, err := s.jobStore(j.config.Storage, j.name)
	return runtime.Place{FS: s.disk(), Path: s.dataDir(j), Store: store}, err
}

// openHow is one of the ways of runtime.Place to open.
type openHow func(p runtime.Place, job string) (*runtime.Data, error)

// open opens the place of a job. The checkpoints of a job that goes on must be
// where they were.
func (s *settings) open(j *job, how openHow) (*runtime.Data, error) {
	at, err := s.placeOf(j)
	if err != nil {
		return nil, err
	}
	if !s.fresh && s.from == "" {
		if err := s.checkMoved(at, j); err != nil {
			return nil, err
		}
	}
	data, err := how(at, j.name)
	if err != nil {
		return nil, err
	}
	if err := writeStorage(at.FS, at.Path, j.config.Storage); err != nil {
		return nil, errors.Join(err, data.Close())
	}
	return data, nil
}

// checkMoved refuses a job that has checkpoints elsewhere than the script says: it
// would start anew.
func (s *settings) checkMoved(at runtime.Place, j *job) error {
	was, err := readStorage(at.FS, at.Path)
	if err != nil || was.Checkpoints == j.config.Storage.Checkpoints {
		return err
	}
	store, err := s.jobStore(was, j.name)
	if err != nil {
		return err
	}
	old, err := runtime.Place{FS: at.FS, Path: at.Path, Store: store}.Checkpoints()
	if err != nil {
		return err
	}
	src, err := checkpoint.Find(old, 0)
	if errors.Is(err, checkpoint.ErrEmpty) {
		return nil
	}
	if err != nil {
		return err
	}
	return &checkpoint.RefusedError{Msg: fmt.Sprintf("job %s has its checkpoints in %s, and execution.checkpointing.dir is another place now; to move it there, write --from %s",
		j.name, strings.TrimSuffix(old.Where(""), "/"), checkpoint.ManifestAt(old, src.Manifest.ID))}
}

func readStorage(fs vfs.FS, dir string) (runtime.Storage, error) {
	var s runtime.Storage
	name := fs.PathJoin(dir, storageName)
	data, err := vfs.ReadFile(fs, name)
	if vfs.IsNotExist(err) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	body, err := checkpoint.Unseal(storageMagic, name, data)
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(body, &s)
}

func writeStorage(fs vfs.FS, dir string, s runtime.Storage) error {
	was, err := readStorage(fs, dir)
	if err == nil && was == s {
		return nil
	}
	name := fs.PathJoin(dir, storageName)
	if s == (runtime.Storage{}) {
		err := fs.Remove(name)
		if vfs.IsNotExist(err) {
			return nil
		}
		return err
	}
	body, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return vfs.WriteFile(fs, name, checkpoint.Seal(storageMagic, append(body, '\n')))
}

// storage is what -D says about storage, and, where that is nothing, what a job has
// left in its directory, if one is given.
func (s *settings) storage(dir string) (runtime.Storage, error) {
	var left runtime.Storage
	options, err := s.options()
	if err == nil && dir != "" {
		left, err = readStorage(s.disk(), dir)
	}
	if err != nil {
		return left, err
	}
	said := runtime.NewStorage(func(name string) (string, bool) { v, ok := options[name]; return v, ok })
	for _, f := range []struct{ said, left *string }{
		{&said.Checkpoints, &left.Checkpoints}, {&said.Savepoints, &left.Savepoints},
		{&said.Endpoint, &left.Endpoint}, {&said.Region, &left.Region}, {&said.PathStyle, &left.PathStyle},
	} {
		if *f.said == "" {
			*f.said = *f.left
		}
	}
	return said, nil
}
