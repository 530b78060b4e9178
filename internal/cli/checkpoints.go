package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/millstream-io/millstream/internal/checkpoint"
	"github.com/millstream-io/millstream/internal/control"
)

func newCheckpoints(p *process) *cobra.Command {
	var s settings
	var verify bool
	var remove int64
	c := &cobra.Command{
		Use:   "checkpoints JOB|LOCATION",
		Short: "list the checkpoints of a job",
		Long: "Lists the checkpoints and savepoints of a job, running or not, or those at a location such as s3://bucket/path: number, time, size of the state, kind. With --verify every byte of them is read, and what is " +
			"damaged is named. With --delete one of them is removed; the newest one, from which the job goes on, is not.",
		Args: exactly(1, "checkpoints JOB"),
		RunE: func(c *cobra.Command, args []string) error {
			at, err := s.place(args[0])
			switch {
			case err != nil:
				return err
			case c.Flags().Changed("delete"):
				return p.deleteCheckpoint(at, remove)
			}
			return p.checkpoints(at, verify)
		},
	}
	s.dataFlag(c)
	s.defineFlag(c)
	c.Flags().BoolVar(&verify, "verify", false, "read every byte, and name what is damaged")
	c.Flags().Int64Var(&remove, "delete", 0, "remove the checkpoint with the number `ID`")
	c.MarkFlagsMutuallyExclusive("verify", "delete")
	return c
}

// checkpoints lists and verifies. Damage is a refusal, as it would be when the
// job starts.
func (p *process) checkpoints(at *place, verify bool) error {
	entries, err := checkpoint.List(at.checkpoints)
	if err != nil {
		return failed(err)
	}
	if len(entries) == 0 {
		what := "job " + at.name
		if at.dir == "" {
			what = at.name
		}
		_, err := fmt.Fprintf(p.stdout, "%s has no checkpoints\n", what)
		return errors.Join(err, p.failures(at))
	}
	var buf bytes.Buffer
	w := tabwriter.NewWriter(&buf, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "id\ttime\tsize\tkind")
	if verify {
		fmt.Fprint(w, "\tstate")
	}
	fmt.Fprintln(w)
	var damage []error
	for _, e := range entries {
		if e.Manifest == nil {
			damage = append(damage, e.Err)
			fmt.Fprintf(w, "?\t?\t?\tdamaged: %s\n", filepath.Base(e.File))
			continue
		}
		if err := list(w, at, e.Manifest, verify); err != nil {
			damage = append(damage, err)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if _, err := p.stdout.Write(buf.Bytes()); err != nil {
		return err
	}
	if err := errors.Join(damage...); err != nil {
		return &failure{status: statusRefused, err: err}
	}
	return p.failures(at)
}

// failures tells which checkpoints have failed in the process that runs the job,
// if one does.
func (p *process) failures(at *place) error {
	if at.dir == "" {
		return nil
	}
	ctx := context.Background()
	c, err := control.Dial(ctx, at.dir)
	if errors.Is(err, control.ErrNotRunning) {
		return nil
	}
	s := &control.Status{}
	if err == nil {
		s, err = c.Status(ctx)
		err = errors.Join(err, c.Close())
	}
	if err != nil {
		return at.remoteError(err)
	}
	return writeFailures(p.stdout, s)
}

func writeFailures(w io.Writer, s *control.Status) error {
	var b strings.Builder
	switch n := s.FailedCheckpoints; {
	case n == 0:
		return nil
	case n == 1:
		b.WriteString("1 checkpoint has failed since the job was started:\n")
	case n > int64(len(s.Failures)):
		fmt.Fprintf(&b, "%d checkpoints have failed since the job was started; the last %d:\n", n, len(s.Failures))
	default:
		fmt.Fprintf(&b, "%d checkpoints have failed since the job was started:\n", n)
	}
	for _, f := range s.Failures {
		fmt.Fprintf(&b, "%s  %s\n", time.UnixMilli(f.Time).Format("2006-01-02 15:04:05"), f.Error)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// list prints one line, and returns what is damaged.
func list(w io.Writer, at *place, m *checkpoint.Manifest, verify bool) error {
	fmt.Fprintf(w, "%d\t%s\t%s\t%s", m.ID, time.UnixMilli(m.Time).Format("2006-01-02 15:04:05"), bytesText(m.Size()), kind(m))
	if !verify {
		fmt.Fprintln(w)
		return nil
	}
	src, err := checkpoint.Find(at.checkpoints, m.ID)
	if err == nil {
		err = src.Verify()
	}
	state := "good"
	if err != nil {
		// A running job may have removed it meanwhile.
		if there, lookErr := checkpoint.Exists(at.checkpoints, m.ID); lookErr == nil && !there {
			state, err = "removed meanwhile", nil
		} else {
			state = "damaged"
		}
	}
	fmt.Fprintf(w, "\t%s\n", state)
	return err
}

func kind(m *checkpoint.Manifest) string {
	switch {
	case m.Drained && m.Savepoint:
		return "savepoint, drained"
	case m.Drained:
		return "drained"
	case m.Savepoint:
		return "savepoint"
	case m.Finished:
		return "end"
	}
	return "checkpoint"
}

// bytesText prints a size for people.
func bytesText(n int64) string {
	const units = "KMGT"
	if n < 1024 {
		return strconv.FormatInt(n, 10) + " B"
	}
	x, i := float64(n)/1024, 0
	for x >= 1024 && i < len(units)-1 {
		x, i = x/1024, i+1
	}
	return fmt.Sprintf("%.1f %ciB", x, units[i])
}

// deleteCheckpoint removes a checkpoint: by way of the process that runs the
// job, or, if there is none, with the lock on its directory.
func (p *process) deleteCheckpoint(at *place, id int64) error {
	if at.dir == "" {
		return &failure{status: statusUsage, err: errors.New("--delete is for the checkpoints of a job with a data directory here")}
	}
	ctx := context.Background()
	c, err := control.Dial(ctx, at.dir)
	switch {
	case err == nil:
		err = errors.Join(c.Delete(ctx, id), c.Close())
	case errors.Is(err, control.ErrNotRunning):
		err = at.deleteHere(id)
	}
	if err != nil {
		return at.remoteError(err)
	}
	_, err = fmt.Fprintf(p.stdout, "checkpoint %d of job %s was deleted\n", id, at.name)
	return err
}

func (p *place) deleteHere(id int64) error {
	at, err := p.runtime()
	if err != nil {
		return err
	}
	// In a store without locks, opening would take the job from the one that has it.
	owner, err := at.Owner()
	if err != nil {
		return err
	}
	if owner != "" {
		return &checkpoint.RefusedError{Msg: fmt.Sprintf("the job is run by %s, or was until that was killed; delete the checkpoint from where the job runs, or start the job here and stop it first", owner)}
	}
	data, err := at.OpenData(p.name)
	if err != nil {
		return err
	}
	return errors.Join(data.Delete(id), data.Close())
}
