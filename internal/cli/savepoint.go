package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/millstream-io/millstream/internal/blob"
	"github.com/millstream-io/millstream/internal/checkpoint"
	"github.com/millstream-io/millstream/internal/runtime"
	"github.com/millstream-io/millstream/internal/vfs"
)

// dataFlag adds --data for commands that look at a job from outside.
func (s *settings) dataFlag(c *cobra.Command) {
	c.Flags().StringVar(&s.data, "data", "", "the data directory `DIR` of the job (or MILLSTREAM_DATA; otherwise "+defaultData+")")
}

func newSavepoint(p *process) *cobra.Command {
	var s settings
	var to string
	c := &cobra.Command{
		Use:   "savepoint JOB",
		Short: "save a running job",
		Long: "Takes a savepoint of a running job: a checkpoint that stays until it is deleted. The job runs on. With --to the savepoint is copied into a directory of its " +
			"own, or to s3://bucket/path, from which `millstream run --from` starts a job on this or another machine; the one beside the job's checkpoints then goes as they do.",
		Args: exactly(1, "savepoint JOB"),
		RunE: func(_ *cobra.Command, args []string) error { return p.savepoint(args[0], to, &s) },
	}
	s.dataFlag(c)
	s.defineFlag(c)
	c.Flags().StringVar(&to, "to", "", "copy the savepoint into the new directory `PATH`, which may be s3://bucket/path")
	return c
}

func (p *process) savepoint(name, to string, s *settings) error {
	at, err := s.place(name)
	if err != nil {
		return err
	}
	var free blob.Store
	if to != "" {
		if free, err = blob.Open(to, s.stores(at.storage)); err != nil {
			return err
		}
		if err := checkpoint.Free(free); err != nil {
			return failed(err)
		}
	}
	ctx := context.Background()
	c, err := at.dial(ctx)
	if err != nil {
		return err
	}
	id, err := c.Savepoint(ctx)
	if usual := at.usual(id); err == nil && to == "" && usual != "" {
		to = usual
		free, err = blob.Open(to, s.stores(at.storage))
	}
	if err == nil && to != "" {
		if err = at.export(id, free); err == nil {
			err = c.Retain(ctx, id)
		}
	}
	if err = errors.Join(err, c.Close()); err != nil {
		return at.remoteError(err)
	}
	if to == "" {
		to = at.manifest(id)
	}
	_, err = fmt.Fprintf(p.stdout, "savepoint %d of job %s: %s\n", id, name, to)
	return err
}

// manifest is where a checkpoint is; a path is relative to where the user is.
func (p *place) manifest(id int64) string { return checkpoint.ManifestAt(p.checkpoints, id) }

// usual is where a savepoint is copied to if nothing else is said; empty if it
// stays where it is.
func (p *place) usual(id int64) string {
	if p.storage.Savepoints == "" {
		return ""
	}
	return fmt.Sprintf("%s/savepoint-%s-%d", strings.TrimRight(p.storage.Savepoints, "/"), jobDir(p.name), id)
}

// export copies a savepoint out of a job. Then it has not to be kept there any
// longer.
func (p *place) export(id int64, to blob.Store) error {
	src, err := checkpoint.Find(p.checkpoints, id)
	if err != nil {
		return err
	}
	src.Spread = runtime.Spread
	if err := src.Export(to); err != nil {
		return fmt.Errorf("savepoint %d was taken, but not copied; it is %s: %w", id, p.manifest(id), err)
	}
	return nil
}

// source finds what --from names: a checkpoint of the job by its number, or a
// savepoint by its place.
func (s *settings) source(j *job) (*checkpoint.Source, error) {
	src, err := s.find(j)
	switch {
	case errors.Is(err, checkpoint.ErrEmpty) && s.nowhere():
		return nil, fmt.Errorf("--from %s: there is no such file or directory; write the number of a checkpoint of the job, or the place of a savepoint", s.from)
	case err != nil:
		return nil, fmt.Errorf("--from %s: %w", s.from, err)
	}
	src.Spread = runtime.Spread
	return src, nil
}

// nowhere reports whether --from is a path that does not exist.
func (s *settings) nowhere() bool {
	_, err := s.disk().Stat(s.from)
	return !blob.Remote(s.from) && vfs.IsNotExist(err)
}

func (s *settings) find(j *job) (*checkpoint.Source, error) {
	id, err := strconv.ParseInt(s.from, 10, 64)
	if err != nil || id <= 0 {
		return checkpoint.FindAt(s.from, s.stores(j.config.Storage))
	}
	if !s.fresh {
		return nil, &checkpoint.RefusedError{Msg: "to go back to an older checkpoint of the job, write --fresh as well: it sets the newer ones aside"}
	}
	return s.own(j, id)
}
