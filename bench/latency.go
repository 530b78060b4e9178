package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// latencyQueries are run when none is named.
var latencyQueries = []string{"latency-tumble", "latency-hop"}

// latencyRun is the command line of latency, and what its runs share.
type latencyRun struct {
	binary  string
	scratch string
	rate    int64
	load    float64
	seconds int64
	periods []time.Duration
	events  int64
	log     io.Writer
}

// latency runs queries whose input comes at a part of the rate that they can take, whether or not they keep up, and prints how
// long after a window's end its rows come to the sink.
func latency(args []string, stdout, stderr *os.File) error {
	f := newFlags("latency", stderr)
	l := &latencyRun{log: stderr}
	f.StringVar(&l.binary, "millstream", "bin/millstream", "the binary")
	f.Int64Var(&l.rate, "rate", 0, "events per second; 0: --load times the rate at which the query runs freely")
	f.Float64Var(&l.load, "load", 0.5, "the part of the free rate")
	f.Int64Var(&l.seconds, "seconds", 10, "of each run")
	periods := f.String("watermarks", "0s,10ms", "values of pipeline.auto-watermark-interval to run with; 0s leaves it unset: a watermark behind each batch")
	f.Int64Var(&l.events, "events", 10_000_000, "events of the run that finds the free rate")
	if err := f.Parse(args); err != nil {
		return usageError{err}
	}
	queries := f.Args()
	if len(queries) == 0 {
		queries = latencyQueries
	}
	for text := range strings.SplitSeq(*periods, ",") {
		d, err := time.ParseDuration(text)
		if err != nil {
			return usageError{err}
		}
		l.periods = append(l.periods, d)
	}
	var err error
	if l.binary, err = exec.LookPath(l.binary); err != nil {
		return badUsage("there is no binary %q: build it with `make build`, or name it with --millstream FILE (%w)", l.binary, err)
	}
	if l.scratch, err = os.MkdirTemp("", "millstream-bench"); err != nil {
		return err
	}
	defer os.RemoveAll(l.scratch)
	var rows []latencyRow
	for _, name := range queries {
		more, err := l.query(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		rows = append(rows, more...)
	}
	return printLatencies(stdout, rows)
}

// latencyRow is a line of the table. The delays are in ms, as the sink printed them.
type latencyRow struct {
	query                   string
	period                  time.Duration
	freeRate, rate          int64
	rows                    int64
	p50, p99, p999, longest string
	cpu                     float64 // s in a second
	rss                     int64   // MiB
}

func printLatencies(out io.Writer, rows []latencyRow) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "query\twatermarks\tfree events/s\tevents/s\tCPU s/s\trows\tp50 ms\tp99 ms\tp99.9 ms\tlongest ms\tMiB")
	for _, r := range rows {
		period := "each batch"
		if r.period > 0 {
			period = "every " + r.period.String()
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%.2f\t%s\t%s\t%s\t%s\t%s\t%d\n", r.query, period, thousands(r.freeRate), thousands(r.rate), r.cpu,
			thousands(r.rows), r.p50, r.p99, r.p999, r.longest, r.rss)
	}
	return w.Flush()
}

// query measures one query.
func (l *latencyRun) query(name string) ([]latencyRow, error) {
	rate, freeRate := l.rate, int64(0)
	if rate == 0 {
		free, err := l.run(name, 0, map[string]string{
			"events": strconv.FormatInt(l.events, 10), "rate": "1000000", "base": "0", "live": "false", "preload": "true", "sink": "count",
		})
		if err != nil {
			return nil, err
		}
		freeRate = int64(float64(l.events) / free.wall)
		rate = int64(float64(freeRate) * l.load)
		fmt.Fprintf(l.log, "%s: %s events/s freely\n", name, thousands(freeRate))
	}
	var rows []latencyRow
	for _, period := range l.periods {
		// The first event is due when the process is up.
		begin := time.Now().Add(2 * time.Second).UnixMilli()
		paced, err := l.run(name, period, map[string]string{
			"events": strconv.FormatInt(rate*l.seconds, 10), "rate": strconv.FormatInt(rate, 10), "base": strconv.FormatInt(begin, 10),
			"live": "true", "preload": "false", "sink": "latency",
		})
		if err != nil {
			return nil, err
		}
		line := latencyLine.FindStringSubmatch(paced.out)
		if line == nil {
			return nil, fmt.Errorf("found no delays in the output:\n%s", paced.out)
		}
		r := latencyRow{
			query: name, period: period, freeRate: freeRate, rate: rate, p50: line[2], p99: line[3], p999: line[4], longest: line[5],
			cpu: paced.cpu / float64(l.seconds), rss: paced.rss,
		}
		if r.rows, err = strconv.ParseInt(line[1], 10, 64); err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

var latencyLine = regexp.MustCompile(`(?m)^checksum \S+ \+I=(\d+) .* sum=- p50=(\S+) p99=(\S+) p99\.9=(\S+) p100=(\S+)$`)

// latencyResult is what one process did.
type latencyResult struct {
	out       string
	wall, cpu float64 // s
	rss       int64   // MiB
}

// run runs a query as a process; words are what stands in ${ } of its script.
func (l *latencyRun) run(name string, period time.Duration, words map[string]string) (r latencyResult, err error) {
	dir, err := os.MkdirTemp(l.scratch, "run")
	if err != nil {
		return r, err
	}
	var script strings.Builder
	script.WriteString("SET 'table.local-time-zone' = 'UTC';\n")
	if period > 0 {
		fmt.Fprintf(&script, "SET 'pipeline.auto-watermark-interval' = '%d ms';\n", period.Milliseconds())
	}
	for _, part := range []string{"latency-ddl", name} {
		text, err := ownQueries.ReadFile("queries/" + part + ".sql")
		if err != nil {
			return r, badUsage("there is no query %q in bench/queries", part)
		}
		filled, err := fill(string(text), words)
		if err != nil {
			return r, err
		}
		script.WriteString(filled)
	}
	file := filepath.Join(dir, name+".sql")
	if err := os.WriteFile(file, []byte(script.String()), 0o644); err != nil {
		return r, err
	}
	c := exec.Command(l.binary, "run", file)
	c.Env = append(os.Environ(), "MILLSTREAM_DATA="+filepath.Join(dir, "data"))
	var out bytes.Buffer
	log := &preloadWatch{}
	c.Stdout, c.Stderr = &out, log
	start := time.Now()
	if err := c.Start(); err != nil {
		return r, err
	}
	log.pid = c.Process.Pid
	if err := c.Wait(); err != nil {
		return r, fmt.Errorf("%w: %s", err, strings.TrimSpace(log.text.String()))
	}
	if !log.at.IsZero() {
		start = log.at
	}
	r.out, r.wall, r.rss = out.String(), time.Since(start).Seconds(), peakRSS(c.ProcessState)
	r.cpu = (c.ProcessState.UserTime() + c.ProcessState.SystemTime() - log.cpu).Seconds()
	return r, nil
}
