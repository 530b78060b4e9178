package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/millstream-io/millstream/internal/checkpoint"
	"github.com/millstream-io/millstream/internal/sql/session"
)

func newDiff(p *process) *cobra.Command {
	var s settings
	c := &cobra.Command{
		Use:   "diff OLD.sql NEW.sql",
		Short: "tell what a changed script keeps of a job's state",
		Long: "Tells for each operator that keeps something what becomes of its state when a job of the script OLD.sql goes on as NEW.sql: kept; migrated, where columns are new or have become wider; rebuilt, where the " +
			"operator is new and begins empty; lost, where the new query has no use for it. Nothing is touched. If the data directory has a checkpoint of the job, that is " +
			"what is looked at. The exit status is 3 if something would be lost: `millstream run` refuses that without --allow-loss.",
		Args: exactly(2, "diff OLD.sql NEW.sql"),
		RunE: func(_ *cobra.Command, args []string) error { return p.diff(args[0], args[1], &s) },
	}
	s.defineFlag(c)
	s.dataFlag(c)
	return c
}

func (p *process) diff(oldFile, newFile string, s *settings) error {
	before, err := p.jobs(oldFile, s)
	if err != nil {
		return err
	}
	after, err := p.jobs(newFile, s)
	if err != nil {
		return err
	}
	if len(before) != len(after) {
		return fmt.Errorf("%s has %d jobs and %s has %d; they are compared one by one", oldFile, len(before), newFile, len(after))
	}
	lossy := false
	for i, j := range before {
		lost, err := p.diffJob(j, after[i], s)
		if err != nil {
			return failed(err)
		}
		lossy = lossy || lost
	}
	if lossy {
		return &failure{status: statusRefused, err: errors.New("state would be lost; run refuses that without --allow-loss")}
	}
	return nil
}

// jobs plans a script and returns its jobs that keep something.
func (p *process) jobs(file string, s *settings) ([]*job, error) {
	text, err := readScript(file, p.stdin)
	if err != nil {
		return nil, err
	}
	options, err := s.options()
	if err != nil {
		return nil, err
	}
	sc, err := planScript(file, text, session.Config{Options: options, Shared: s.shared(), Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard},
		outputForm{"changelog", io.Discard})
	if err != nil {
		return nil, err
	}
	if err := sc.err(); err != nil {
		return nil, err
	}
	var out []*job
	for _, st := range sc.steps {
		if st.job != nil && st.job.name != "" {
			out = append(out, st.job)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no INSERT, so nothing is kept", file)
	}
	return out, nil
}

// diffJob prints what becomes of one job, and reports whether that is a loss.
func (p *process) diffJob(before, after *job, s *settings) (lossy bool, err error) {
	held, err := checkpoint.PlanHeld(before.graph)
	if err != nil {
		return false, err
	}
	of := "the plan"
	src, err := s.newest(before)
	switch {
	case err == nil:
		m := src.Manifest
		held, of = m.Held(), fmt.Sprintf("checkpoint %d", m.ID)
		if m.Plan != before.graph.Fingerprint() {
			of += ", which was taken with another query than the old one"
		}
	case !isEmpty(err):
		return false, err
	}
	var buf bytes.Buffer
	fmt.Fprintf(&buf, "job %s, by %s:\n", after.name, of)
	w := tabwriter.NewWriter(&buf, 0, 0, 2, ' ', 0)
	changes, err := checkpoint.Compare(held, after.graph)
	if err != nil {
		return false, err
	}
	for _, c := range changes {
		lossy = lossy || c.Fate == checkpoint.Lost
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", c.Fate, c.Node, c.Name, strings.TrimSuffix(c.What+"; "+c.Why, "; "))
	}
	if err := w.Flush(); err != nil {
		return false, err
	}
	_, err = p.stdout.Write(buf.Bytes())
	return lossy, err
}

// newest finds the checkpoint that a job goes on from.
func (s *settings) newest(j *job) (*checkpoint.Source, error) { return s.own(j, 0) }

// own finds one of the checkpoints of a job; 0 is the newest.
func (s *settings) own(j *job, id int64) (*checkpoint.Source, error) {
	at, err := s.placeOf(j)
	if err != nil {
		return nil, err
	}
	store, err := at.Checkpoints()
	if err != nil {
		return nil, err
	}
	return checkpoint.Find(store, id)
}

// isEmpty reports whether a directory has no checkpoints.
func isEmpty(err error) bool { return errors.Is(err, checkpoint.ErrEmpty) }
