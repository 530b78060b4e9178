package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/millstream-io/millstream/internal/sql/session"
)

func newExplain(p *process) *cobra.Command {
	var s settings
	var ofState bool
	c := &cobra.Command{
		Use:   "explain FILE.sql",
		Short: "print the plans of a script",
		Long: "Prints the plan of each job of a script: as written, optimized, as operators, and as the graph that runs. With --state it tells what each operator keeps, " +
			"what bounds that, and about how many bytes a row takes; it is measured in the newest checkpoint of the job, if there is one in the data directory, or otherwise with the first rows of the input. Nothing is written.",
		Args: exactly(1, "explain FILE.sql"),
		RunE: func(_ *cobra.Command, args []string) error { return p.explain(args[0], &s, ofState) },
	}
	s.defineFlag(c)
	s.dataFlag(c)
	c.Flags().BoolVar(&ofState, "state", false, "print what the operators keep, and what bounds it")
	return c
}

func (p *process) explain(file string, s *settings, ofState bool) error {
	sc, err := p.planOnly(file, s)
	if err != nil {
		return err
	}
	first := true
	for _, st := range sc.steps {
		if st.job == nil {
			continue
		}
		if !first {
			fmt.Fprintln(p.stdout)
		}
		first = false
		name := st.job.name
		if name == "" {
			name = "result of a SELECT"
		} else {
			name = "job " + name
		}
		text := st.job.explain
		if ofState {
			if text, err = s.explainState(st.job); err != nil {
				return err
			}
		}
		fmt.Fprintf(p.stdout, "-- %s\n%s", name, text)
	}
	return sc.err()
}

// planOnly plans a script for a look at it.
func (p *process) planOnly(file string, s *settings) (*script, error) {
	text, err := readScript(file, p.stdin)
	if err != nil {
		return nil, err
	}
	options, err := s.options()
	if err != nil {
		return nil, err
	}
	host := session.Config{Options: options, Shared: s.shared(), Stdin: p.stdin, Stdout: io.Discard, Stderr: io.Discard, MeasureState: measureSample}
	return planScript(file, text, host, outputForm{"changelog", io.Discard})
}

func newCheck(p *process) *cobra.Command {
	var s settings
	var to string
	c := &cobra.Command{
		Use:   "check FILE.sql",
		Short: "print the errors and warnings of a script",
		Long:  "Prints the errors and warnings of a script. Nothing runs. With --to flink it also lists what Flink does not have or answers differently.",
		Args:  exactly(1, "check FILE.sql"),
		RunE: func(_ *cobra.Command, args []string) error {
			if to != "" && to != "flink" {
				return fmt.Errorf("--to %s: the only place to go to is flink", to)
			}
			return p.check(args[0], &s, to == "flink")
		},
	}
	s.defineFlag(c)
	c.Flags().StringVar(&to, "to", "", "say what would not run, or differ, on `flink`")
	return c
}

func (p *process) check(file string, s *settings, toFlink bool) error {
	sc, err := p.planOnly(file, s)
	if err != nil {
		return err
	}
	p.warn(sc)
	if toFlink {
		for _, d := range flinkDifferences(sc.stmts) {
			fmt.Fprintln(p.stdout, d.In(file))
		}
	}
	return sc.err()
}
