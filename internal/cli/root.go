// Package cli is the command line: it reads scripts, plans their statements,
// runs their jobs, and says what happened.
package cli

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/internal/checkpoint"
	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/runtime"
)

// The exit statuses.
const (
	// statusDone: the script ran to its end, or was stopped cleanly.
	statusDone = iota
	// statusFailed: a job failed.
	statusFailed
	// statusUsage: the script or the command line is wrong.
	statusUsage
	// statusRefused: the state or a target refuses: locked, damaged.
	statusRefused
)

// version is set by the linker.
var version = "dev"

// process is what a command knows of its surroundings.
type process struct {
	stdin          io.Reader
	stdout, stderr io.Writer
}

// Main runs the command line and returns the exit status.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) (status int) {
	p := &process{stdin: stdin, stdout: stdout, stderr: stderr}
	defer func() {
		if v := recover(); v != nil {
			p.internal(fmt.Sprint(v), debug.Stack())
			status = statusFailed
		}
	}()
	root := newRoot(p)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.Execute()
	if err != nil {
		p.report(err)
	}
	return statusOf(err)
}

func newRoot(p *process) *cobra.Command {
	root := &cobra.Command{
		Use:           "millstream",
		Version:       version,
		Short:         "Flink SQL in one program",
		Long:          "Millstream runs Flink SQL scripts over streams and files.",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SuggestionsMinimumDistance = 2
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newRun(p), newExplain(p), newCheck(p), newShell(p), newTest(p), newSavepoint(p), newStop(p), newCheckpoints(p), newDiff(p), newWhy(p), newVersion(p), newDocs())
	return root
}

// noCommand refuses a command that does not exist.
func noCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		return fmt.Errorf("unknown command %q; did you mean %q?", args[0], near[0])
	}
	return fmt.Errorf("unknown command %q", args[0])
}

func newVersion(p *process) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version",
		Long:  "Prints the version of the program.",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(p.stdout, "millstream %s\n", version)
			return err
		},
	}
}

// failure is an error whose exit status is settled. Without an error it was
// reported already.
type failure struct {
	status int
	err    error
	// next says what can be done now, if anything.
	next string
}

// Error implements error.
func (f *failure) Error() string {
	if f.err == nil {
		return fmt.Sprintf("exit status %d", f.status)
	}
	return f.err.Error()
}

// Unwrap gives the cause.
func (f *failure) Unwrap() error { return f.err }

// failed gives an error of a job its exit status.
func failed(err error) error {
	var refused *checkpoint.RefusedError
	var changed *connector.ChangedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused), errors.As(err, &changed):
		return &failure{status: statusRefused, err: err}
	}
	return &failure{status: statusFailed, err: err}
}

// statusOf is the exit status of a command that ended with err. What is no
// failure of its own is a mistake in the command line.
func statusOf(err error) int {
	var f *failure
	switch {
	case err == nil:
		return statusDone
	case errors.As(err, &f):
		return f.status
	}
	return statusUsage
}

// scriptErrors are the mistakes in a script.
type scriptErrors struct {
	file string
	list diag.List
}

// Error implements error.
func (e *scriptErrors) Error() string { return e.list.In(e.file) }

// report prints an error for the user.
func (p *process) report(err error) {
	var f *failure
	var crash *runtime.Error
	text := printable(err.Error())
	switch {
	case errors.As(err, &f) && f.err == nil:
		return
	case errors.As(err, &crash) && crash.Stack != nil:
		p.internal(text, crash.Stack)
	case f != nil || errors.As(err, new(*scriptErrors)):
		fmt.Fprintln(p.stderr, text)
	default:
		fmt.Fprintf(p.stderr, "millstream: %s (millstream help says more)\n", text)
	}
	if f != nil && f.next != "" {
		fmt.Fprintln(p.stderr, f.next)
	}
}

// printable escapes control characters, so that data in a message cannot
// command a terminal.
func printable(s string) string {
	plain := func(r rune) bool { return r == '\n' || r == '\t' || !unicode.IsControl(r) }
	if !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if plain(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\x%02x`, r)
		}
	}
	return b.String()
}

// internal reports a fault of the program itself.
func (p *process) internal(what string, stack []byte) {
	fmt.Fprintf(p.stderr, "internal error: %s\nThis is a fault of millstream %s, not of your script. Please report it, with the script and these lines:\n%s",
		what, version, stack)
}
