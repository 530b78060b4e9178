package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/millstream-io/millstream/internal/blob"
)

func newStop(p *process) *cobra.Command {
	var s settings
	var savepoint, drain bool
	c := &cobra.Command{
		Use:   "stop JOB",
		Short: "stop a running job",
		Long: "Stops a running job behind one more checkpoint: what was read is processed and published, and the next run goes on from there. The command returns when the " +
			"job has ended. With --drain the job is told that its input has ended, so that all windows close; such a job cannot go on.",
		Args: exactly(1, "stop JOB"),
		RunE: func(_ *cobra.Command, args []string) error { return p.stop(args[0], savepoint, drain, &s) },
	}
	s.dataFlag(c)
	s.defineFlag(c)
	c.Flags().BoolVar(&savepoint, "savepoint", false, "keep the last checkpoint until it is deleted, and copy it to execution.checkpointing.savepoint-dir if that is set")
	c.Flags().BoolVar(&drain, "drain", false, "close all windows, as at the end of the input")
	return c
}

func (p *process) stop(name string, savepoint, drain bool, s *settings) error {
	at, err := s.place(name)
	if err != nil {
		return err
	}
	ctx := context.Background()
	c, err := at.dial(ctx)
	if err != nil {
		return err
	}
	id, err := c.Stop(ctx, savepoint, drain)
	if err = errors.Join(err, c.Close()); err != nil {
		return at.remoteError(err)
	}
	at.released()
	how := "was stopped"
	if drain {
		how = "was drained"
	}
	if savepoint {
		where, err := at.exportStopped(id)
		if err != nil {
			return at.remoteError(err)
		}
		how += fmt.Sprintf(" with savepoint %d: %s", id, where)
	}
	_, err = fmt.Fprintf(p.stdout, "job %s %s\n", name, how)
	return err
}

// exportStopped copies the savepoint with which a job was stopped to where
// savepoints usually go, and returns where it is then. The one beside the job's
// checkpoints stays too: the job goes on from it.
func (p *place) exportStopped(id int64) (where string, err error) {
	where = p.usual(id)
	if where == "" {
		return p.manifest(id), nil
	}
	to, err := blob.Open(where, p.settings.stores(p.storage))
	if err != nil {
		return "", err
	}
	return where, p.export(id, to)
}
