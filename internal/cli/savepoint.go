package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/millstream-io/millstream/internal/checkpoint"
	"github.com/millstream-io/millstream/internal/control"
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
			"own, from which `millstream run --from` starts a job on this or another machine; the one beside the job's checkpoints then goes as they do.",
		Args: exactly(1, "savepoint JOB"),
		RunE: func(_ *cobra.Command, args []string) error { return p.savepoint(args[0], to, &s) },
	}
	s.dataFlag(c)
	c.Flags().StringVar(&to, "to", "", "copy the savepoint into the new directory `PATH`")
	return c
}

func (p *process) savepoint(name, to string, s *settings) error {
	at, err := s.place(name)
	if err != nil {
		return err
	}
	if to != "" {
		if err := checkpoint.Free(vfs.OS(), to); err != nil {
			return failed(err)
		}
	}
	ctx := context.Background()
	c, err := at.dial(ctx)
	if err != nil {
		return err
	}
	id, err := c.Savepoint(ctx)
	if err == nil && to != "" {
		err = at.export(ctx, c, id, to)
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

// manifest is the file of a checkpoint, relative to where the user is.
func (p *place) manifest(id int64) string {
	return checkpoint.ManifestPath(vfs.OS(), p.checkpoints(), id)
}

// export copies a savepoint out of a job that runs. Then it has not to be kept
// there any longer.
func (p *place) export(ctx context.Context, c *control.Client, id int64, to string) error {
	src, err := checkpoint.Find(vfs.OS(), p.checkpoints(), id)
	if err != nil {
		return err
	}
	if err := src.Export(vfs.OS(), to); err != nil {
		return fmt.Errorf("savepoint %d was taken, but not copied; it is %s: %w", id, p.manifest(id), err)
	}
	return c.Retain(ctx, id)
}

// source finds what --from names: a checkpoint of the job by its number, or a
// savepoint by its place.
func (s *settings) source(j *job) (*checkpoint.Source, error) {
	dir := filepath.Join(s.dataDir(j), "checkpoints")
	src, err := s.find(dir)
	switch {
	case vfs.IsNotExist(err):
		return nil, fmt.Errorf("--from %s: there is no such file or directory; write the number of a checkpoint of the job, or the place of a savepoint", s.from)
	case err != nil:
		return nil, fmt.Errorf("--from %s: %w", s.from, err)
	}
	return src, nil
}

func (s *settings) find(dir string) (*checkpoint.Source, error) {
	if id, err := strconv.ParseInt(s.from, 10, 64); err == nil && id > 0 {
		if !s.fresh {
			return nil, &checkpoint.RefusedError{Msg: "to go back to an older checkpoint of the job, write --fresh as well: it sets the newer ones aside"}
		}
		return checkpoint.Find(vfs.OS(), dir, id)
	}
	return checkpoint.FindFile(vfs.OS(), strings.TrimRight(s.from, string(filepath.Separator)))
}
