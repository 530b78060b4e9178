package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/millstream-io/millstream/internal/slt"
)

func newTest(p *process) *cobra.Command {
	var rewrite, quick bool
	var seed uint64
	c := &cobra.Command{
		Use:   "test FILE|FOLDER...",
		Short: "run test scripts",
		Long: `Runs test scripts (.slt): tables with rows and watermarks, a query, and the
answer after each step. Each script runs with small and large batches, with one
task and with four, undisturbed and with crashes; one answer must come out. The
last line counts the scripts; the exit status is 1 if one failed.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			files, err := slt.Files(args)
			if err != nil {
				return err
			}
			if len(files) == 0 {
				return fmt.Errorf("no scripts (.slt) in %q", args)
			}
			if rewrite {
				return p.rewriteScripts(files)
			}
			configs := slt.Matrix(seed)
			if quick {
				configs = slt.Quick
			}
			return p.runScripts(files, configs)
		},
	}
	c.Flags().BoolVar(&rewrite, "rewrite", false, "fill in the answers instead of comparing them")
	c.Flags().BoolVar(&quick, "quick", false, "run each script in one way only")
	c.Flags().Uint64Var(&seed, "seed", 1, "decides where the random crashes are")
	return c
}

func (p *process) rewriteScripts(files []string) error {
	for _, f := range files {
		if err := slt.Rewrite(f); err != nil {
			return &failure{status: statusFailed, err: err}
		}
	}
	fmt.Fprintf(p.stdout, "%d rewritten\n", len(files))
	return nil
}

func (p *process) runScripts(files []string, configs []slt.Config) error {
	passed, bad, skipped := 0, 0, 0
	for _, f := range files {
		r := slt.Run(f, configs)
		switch {
		case r.Passed():
			passed++
		case r.Skipped != "":
			skipped++
			fmt.Fprintf(p.stdout, "%s: skipped: %s\n", f, r.Skipped)
		default:
			bad++
			for _, text := range r.Failures {
				fmt.Fprintln(p.stdout, text)
			}
		}
	}
	fmt.Fprintf(p.stdout, "%d passed, %d failed, %d skipped\n", passed, bad, skipped)
	if bad > 0 {
		return &failure{status: statusFailed}
	}
	return nil
}
