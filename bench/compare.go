package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/millstream-io/millstream/connector/nexmark/gen"
)

// options is the command line of compare.
type options struct {
	params      *gen.Params
	flinkEvents int64
	checkEvents int64
	parallelism int
	preload     bool
	repeat      int

	shared, binary, tsv string
	engines             string
	set, flink          string
	objectReuse         string
	keys                int64
	warmEvents          int64
	verbose             bool
	queries             []string
}

func parseOptions(args []string, stderr *os.File) (*options, error) {
	o := &options{}
	f := newFlags("compare", stderr)
	o.params = workloadFlags(f, 5_000_000)
	f.Int64Var(&o.flinkEvents, "flink-events", 0, "events for Flink, if not as many as --events; rates are per event")
	f.Int64Var(&o.checkEvents, "check-events", 100_000, "events of the runs that compare answers; for 100000 and 1000000 the answers are known; 0: no such runs")
	f.Int64Var(&o.keys, "keys", 0, "keys of the query keyed; 0: a quarter of the events")
	f.IntVar(&o.parallelism, "parallelism", 1, "of each job")
	f.BoolVar(&o.preload, "preload", false, "make the events before the measured time")
	f.IntVar(&o.repeat, "repeat", 3, "measured runs of each engine, in turn; the table has the medians; 0: only compare answers")
	f.StringVar(&o.shared, "shared", "../shared/nexmark", "the folder of the workload")
	f.StringVar(&o.binary, "millstream", "bin/millstream", "the binary")
	f.StringVar(&o.tsv, "tsv", "", "also append each run to this file")
	f.StringVar(&o.engines, "engines", "millstream,flink", "which engines run")
	f.StringVar(&o.set, "set", "", "more settings for Millstream: k=v;k=v")
	f.StringVar(&o.flink, "flink", "", "more arguments for Flink's runner, such as '--state rocksdb'")
	f.StringVar(&o.objectReuse, "object-reuse", "on", "Flink's pipeline.object-reuse; on is its best setting")
	f.Int64Var(&o.warmEvents, "warmup-events", 2_000_000, "events of the unmeasured run before each of Flink's measured ones")
	f.BoolVar(&o.verbose, "v", false, "show what Flink's runner says")
	if err := f.Parse(args); err != nil {
		return nil, usageError{err}
	}
	o.queries = f.Args()
	if len(o.queries) == 0 {
		o.queries = defaultQueries
	}
	if o.flinkEvents == 0 {
		o.flinkEvents = o.params.Events
	}
	if err := o.params.Validate(); err != nil {
		return nil, usageError{err}
	}
	return o, o.checkPaths()
}

// checkPaths says what is missing before an hour of runs is over, and makes the paths absolute.
func (o *options) checkPaths() (err error) {
	if o.shared, err = filepath.Abs(o.shared); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(o.shared, "queries", "ddl.sql")); err != nil {
		return badUsage("the workload's queries are not in %q: say where the folder nexmark is with --shared DIR (%w)", o.shared, err)
	}
	if o.runs("millstream") {
		if _, err := exec.LookPath(o.binary); err != nil {
			return badUsage("there is no binary %q: build it with `make build`, or name it with --millstream FILE (%w)", o.binary, err)
		}
		if o.binary, err = filepath.Abs(o.binary); err != nil {
			return err
		}
	}
	return nil
}

func (o *options) runs(engine string) bool {
	return slices.Contains(strings.Split(o.engines, ","), engine)
}

// makeEngines returns the engines that were asked for.
func (o *options) makeEngines(scratch string, stderr io.Writer) ([]engine, error) {
	var engines []engine
	for name := range strings.SplitSeq(o.engines, ",") {
		switch name {
		case "millstream":
			var set []string
			for kv := range strings.SplitSeq(o.set, ";") {
				if kv = strings.TrimSpace(kv); kv != "" {
					set = append(set, kv)
				}
			}
			engines = append(engines, &millstream{binary: o.binary, shared: o.shared, scratch: scratch, set: set})
		case "flink":
			log := io.Discard
			if o.verbose {
				log = stderr
			}
			engines = append(engines, &flink{
				shared: o.shared, scratch: scratch, reuse: o.objectReuse, warmEvents: o.warmEvents, extra: strings.Fields(o.flink), log: log,
			})
		default:
			return nil, badUsage("--engines takes millstream and flink, not %q", name)
		}
	}
	return engines, nil
}

func compare(args []string, stdout, stderr *os.File) error {
	o, err := parseOptions(args, stderr)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "millstream-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	engines, err := o.makeEngines(scratch, stderr)
	if err != nil {
		return err
	}
	c := &comparison{options: o, scratch: scratch, engines: engines, inputs: map[inputKey]input{}, log: stderr}
	rows, err := c.run()
	if err != nil {
		return err
	}
	if err := printTable(stdout, engines, rows); err != nil {
		return err
	}
	if o.tsv != "" {
		if err := appendTSV(o.tsv, rows); err != nil {
			return err
		}
	}
	if bad := failures(rows); bad > 0 {
		return fmt.Errorf("%d of %d queries failed, or their answers differ", bad, len(rows))
	}
	return nil
}

// comparison runs queries on several engines in turn.
type comparison struct {
	*options
	scratch string
	engines []engine
	inputs  map[inputKey]input
	log     io.Writer
}

// row is what the comparison has to say of one query.
type row struct {
	query   string
	verdict verdict
	runs    map[string][]result // by engine
	failed  map[string]error
}

func (c *comparison) run() ([]row, error) {
	queries := make([]query, len(c.queries))
	for i, name := range c.queries {
		var err error
		if queries[i], err = findQuery(c.shared, c.scratch, name, c.keys); err != nil {
			return nil, err
		}
	}
	var rows []row
	for _, q := range queries {
		r := row{query: q.name, runs: map[string][]result{}, failed: map[string]error{}}
		if err := c.check(q, &r); err != nil {
			return nil, err
		}
		for i := range c.repeat {
			if err := c.measure(q, i, &r); err != nil {
				return nil, err
			}
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// check runs the query on each engine for its answer.
func (c *comparison) check(q query, r *row) error {
	if c.checkEvents == 0 {
		r.verdict = verdict{text: "not compared"}
		return nil
	}
	p := *c.params
	p.Events = c.checkEvents
	want, err := expectedAnswer(c.shared, p, q.name)
	if err != nil {
		return err
	}
	got := map[string]answer{}
	for _, e := range c.engines {
		j, err := c.job(q, p)
		if err != nil {
			return err
		}
		j.sink = "hash"
		result, err := e.run(j)
		if err != nil {
			c.fail(r, e, err)
			continue
		}
		fmt.Fprintf(c.log, "%s %s: %d events give %s\n", q.name, e.name(), result.events, result.answer)
		got[e.name()] = result.answer
	}
	r.verdict = judge(c.engines, want, got)
	return nil
}

// measure runs the query once on each engine that has not failed.
func (c *comparison) measure(q query, i int, r *row) error {
	for _, e := range c.engines {
		if r.failed[e.name()] != nil {
			continue
		}
		p := *c.params
		if e.name() == "flink" {
			p.Events = c.flinkEvents
		}
		j, err := c.job(q, p)
		if err != nil {
			return err
		}
		j.sink, j.preload, j.warm = "count", c.preload && j.input == "", true
		result, err := e.run(j)
		if err != nil {
			c.fail(r, e, err)
			continue
		}
		fmt.Fprintf(c.log, "%s %s run %d: %d events, %.2f s CPU, %.2f s, %.2f M events per CPU-second, peak %d MiB\n",
			q.name, e.name(), i+1, result.events, result.cpu, result.wall, result.perCPUSecond()/1e6, result.rss)
		r.runs[e.name()] = append(r.runs[e.name()], result)
	}
	return nil
}

func (c *comparison) fail(r *row, e engine, err error) {
	fmt.Fprintf(c.log, "%s %s failed: %v\n", r.query, e.name(), err)
	r.failed[e.name()] = err
}

// job is a run of a query over so many events, with its file if it reads one.
func (c *comparison) job(q query, p gen.Params) (job, error) {
	j := job{query: q, params: p, parallelism: c.parallelism}
	if q.format() == "" {
		return j, nil
	}
	in, err := c.input(q.format(), p)
	j.input, j.inputRows = in.file, in.rows
	return j, err
}

// input is a file of bids.
type input struct {
	file string
	rows int64
}

type inputKey struct {
	format string
	params gen.Params
}

// input returns the file of the bids of a stream, which it writes when it is first asked for.
func (c *comparison) input(format string, p gen.Params) (in input, err error) {
	key := inputKey{format, p}
	if in, ok := c.inputs[key]; ok {
		return in, nil
	}
	w, err := newEventWriter(p, format, gen.Bid.Name())
	if err != nil {
		return input{}, err
	}
	in.file = filepath.Join(c.scratch, fmt.Sprintf("bids-%d.%s", p.Events, format))
	f, err := os.Create(in.file)
	if err != nil {
		return input{}, err
	}
	in.rows, _, err = w.write(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return input{}, err
	}
	c.inputs[key] = in
	return in, nil
}
