// Command bench compares Millstream with Flink on the Nexmark queries in one run, and writes the workload's events as
// files. See README.md.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

const usage = `bench compare [flags] [QUERY...]   run queries on Millstream and Flink in turn; print rates, ratio, and whether the answers agree
bench latency [flags] [QUERY...]   run queries at half of their speed; print how long after a window's end its rows come
bench generate [flags] --out FILE  write events as JSON lines or CSV
bench COMMAND -h                   list a command's flags
`

func main() {
	err := run(os.Args[1:])
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return
	case errors.As(err, new(usageError)):
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// A usageError is the caller's mistake on the command line.
type usageError struct{ error }

func badUsage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func run(args []string) error {
	if len(args) == 0 {
		return badUsage("a command is missing\n%s", usage)
	}
	switch command, rest := args[0], args[1:]; command {
	case "compare":
		return compare(rest, os.Stdout, os.Stderr)
	case "latency":
		return latency(rest, os.Stdout, os.Stderr)
	case "generate":
		return generate(rest, os.Stdout, os.Stderr)
	case "help", "-h", "--help":
		fmt.Print(usage)
		return nil
	default:
		return badUsage("unknown command %q\n%s", command, usage)
	}
}

// newFlags returns flags that report errors instead of ending the process.
func newFlags(command string, stderr *os.File) *flag.FlagSet {
	f := flag.NewFlagSet("bench "+command, flag.ContinueOnError)
	f.SetOutput(stderr)
	return f
}
