package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/millstream-io/millstream/connector/nexmark/gen"
)

// workloadFlags are the parameters of the event stream.
func workloadFlags(f *flag.FlagSet, events int64) *gen.Params {
	p := gen.Defaults(events)
	f.Int64Var(&p.Events, "events", p.Events, "events in the stream")
	f.Int64Var(&p.Rate, "rate", p.Rate, "events per second of event time")
	f.Int64Var(&p.Seed, "seed", p.Seed, "seed of all draws")
	f.Int64Var(&p.Base, "base-ms", p.Base, "time of the first event, in ms since 1970-01-01 UTC")
	f.Int64Var(&p.Disorder, "disorder", p.Disorder, "shuffle within groups of so many events")
	f.Int64Var(&p.Late, "late", p.Late, "so many events of a thousand carry an earlier time")
	f.Int64Var(&p.LateMs, "late-ms", p.LateMs, "by how many ms at most")
	return &p
}

// generate is the command that writes events to a file.
func generate(args []string, stdout, stderr *os.File) error {
	f := newFlags("generate", stderr)
	p := workloadFlags(f, 1_000_000)
	format := f.String("format", "json", "json or csv")
	only := f.String("only", "all", "person, auction or bid: only these, each as a record of its own columns")
	out := f.String("out", "", "the file to write; - is the standard output")
	if err := f.Parse(args); err != nil {
		return usageError{err}
	}
	switch {
	case f.NArg() > 0:
		return badUsage("unexpected argument %q", f.Arg(0))
	case *out == "":
		return badUsage("--out is missing")
	}
	w, err := newEventWriter(*p, *format, *only)
	if err != nil {
		return usageError{err}
	}
	file := stdout
	if *out != "-" {
		if file, err = os.Create(*out); err != nil {
			return err
		}
	}
	rows, bytes, err := w.write(file)
	if *out != "-" {
		if closed := file.Close(); err == nil {
			err = closed
		}
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "%d rows, %d bytes\n", rows, bytes)
	return nil
}

// An eventWriter writes the events of a stream, a line each.
type eventWriter struct {
	params gen.Params
	gen    *gen.Generator
	want   func(k gen.Kind) bool
	append func(r *gen.Rows, dst []byte, i int) []byte
}

func newEventWriter(p gen.Params, format, only string) (*eventWriter, error) {
	g, err := gen.New(p)
	if err != nil {
		return nil, err
	}
	w := &eventWriter{params: p, gen: g}
	switch only {
	case "all":
		w.want = func(gen.Kind) bool { return true }
	case gen.Person.Name(), gen.Auction.Name(), gen.Bid.Name():
		w.want = func(k gen.Kind) bool { return k.Name() == only }
	default:
		return nil, fmt.Errorf("--only takes person, auction or bid, not %s", only)
	}
	switch {
	case format == "json" && only == "all":
		w.append = (*gen.Rows).AppendEvent
	case format == "json":
		w.append = (*gen.Rows).AppendJSON
	case format == "csv" && only == "all":
		return nil, fmt.Errorf("csv needs --only person, auction or bid: their columns differ")
	case format == "csv":
		w.append = (*gen.Rows).AppendCSV
	default:
		return nil, fmt.Errorf("--format takes json or csv, not %s", format)
	}
	return w, nil
}

// write writes all events that are wanted, and tells how many rows and bytes those are.
func (w *eventWriter) write(out io.Writer) (rows, bytes int64, err error) {
	const run = 4096
	buffered := bufio.NewWriterSize(out, 1<<18)
	r := w.gen.NewRows()
	var line []byte
	for from := int64(0); from < w.params.Events; from += run {
		n := int(min(run, w.params.Events-from))
		r.Read(gen.Whole, from, n)
		for i := range n {
			if !w.want(r.Kind(i)) {
				continue
			}
			line = append(w.append(r, line[:0], i), '\n')
			if _, err := buffered.Write(line); err != nil {
				return rows, bytes, err
			}
			rows++
			bytes += int64(len(line))
		}
	}
	return rows, bytes, buffered.Flush()
}
