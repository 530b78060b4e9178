package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/millstream-io/millstream/internal/blob"
	"github.com/millstream-io/millstream/internal/runtime"
	"github.com/millstream-io/millstream/internal/sql/session"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/internal/vfs"
)

// defaultData is the data directory if nothing else is said.
const defaultData = ".millstream"

// settings are what flags and the environment say.
type settings struct {
	defines []string
	data    string
	fresh   bool
	// from is the checkpoint to begin from, or empty.
	from string
	// allowLoss lets a job go on with a query that loses some of its state.
	allowLoss bool
	output    string
	// fs has the data directory; nil means the machine's. Tests crash it.
	fs vfs.FS
}

// disk is the file system of the data directory.
func (s *settings) disk() vfs.FS {
	if s.fs == nil {
		return vfs.OS()
	}
	return s.fs
}

// stores are the options for places where storage says that checkpoints and
// savepoints are.
func (s *settings) stores(storage runtime.Storage) blob.Options {
	o := storage.Options()
	o.FS = s.disk()
	return o
}

// defineFlag adds -D.
func (s *settings) defineFlag(c *cobra.Command) {
	c.Flags().StringArrayVarP(&s.defines, "define", "D", nil, "set an option before the script, as `key=value`")
}

// jobFlags add the flags of commands that run jobs.
func (s *settings) jobFlags(c *cobra.Command) {
	s.defineFlag(c)
	c.Flags().StringVar(&s.data, "data", "", "keep checkpoints and state in `DIR` (or MILLSTREAM_DATA; otherwise "+defaultData+")")
	c.Flags().StringVar(&s.output, "output", "", "print rows as `FORM`: "+strings.Join(outputs, ", ")+" (table on a terminal, otherwise changelog)")
}

// options are the values of -D.
func (s *settings) options() (map[string]string, error) {
	out := map[string]string{}
	for _, d := range s.defines {
		key, value, ok := strings.Cut(d, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("-D %s: write -D key=value", d)
		}
		key = strings.TrimSpace(key)
		if err := runtime.CheckOption(key); err != nil {
			return nil, fmt.Errorf("-D: %w", err)
		}
		out[key] = strings.TrimSpace(value)
	}
	return out, nil
}

// form is the value of --output.
func (s *settings) form(terminal bool) (string, error) {
	switch {
	case slices.Contains(outputs, s.output):
		return s.output, nil
	case s.output != "":
		return "", fmt.Errorf("unknown output %q; it is one of %s", s.output, strings.Join(outputs, ", "))
	case terminal:
		return "table", nil
	}
	return "changelog", nil
}

// dataDir is the directory of a job.
func (s *settings) dataDir(j *job) string {
	dir := s.data
	for _, otherwise := range []string{j.data, os.Getenv("MILLSTREAM_DATA"), defaultData} {
		if dir == "" {
			dir = otherwise
		}
	}
	return filepath.Join(dir, jobDir(j.name))
}

func newRun(p *process) *cobra.Command {
	var s settings
	c := &cobra.Command{
		Use:   "run FILE.sql",
		Short: "run a script",
		Long: "Runs a script. SELECTs print their rows. INSERTs run until their input ends, or until the program is told to stop; those that stand together, up to the " +
			"next SELECT or the end of the script, run as one job. A job that was stopped or killed goes on from its last checkpoint. FILE - is the standard input.",
		Args: exactly(1, "run FILE.sql"),
		RunE: func(_ *cobra.Command, args []string) error { return p.run(args[0], &s) },
	}
	s.jobFlags(c)
	c.Flags().BoolVar(&s.fresh, "fresh", false, "set checkpoints of earlier runs aside and start anew")
	c.Flags().BoolVar(&s.allowLoss, "allow-loss", false, "go on although the script has changed so that state is lost (millstream diff tells what)")
	c.Flags().StringVar(&s.from, "from", "", "begin from a savepoint, at the `PATH|ID` of its directory or manifest; or, with --fresh, from the checkpoint of the job with that number")
	return c
}

// exactly is cobra.ExactArgs with a message that shows the use.
func exactly(n int, use string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return fmt.Errorf("%d arguments: write millstream %s", len(args), use)
		}
		return nil
	}
}

// run plans the whole script, and then runs it.
func (p *process) run(file string, s *settings) error {
	text, err := readScript(file, p.stdin)
	if err != nil {
		return err
	}
	scr := &screen{stdout: p.stdout, stderr: p.stderr, live: isTerminal(p.stderr)}
	form, err := s.form(isTerminal(p.stdout))
	if err != nil {
		return err
	}
	options, err := s.options()
	if err != nil {
		return err
	}
	host := session.Config{Options: options, Shared: s.shared(), Stdin: p.stdin, Stdout: scr.out(), Stderr: scr.err(), MeasureState: measureSample}
	sc, err := planScript(file, text, host, outputForm{form, scr.out()})
	if err != nil {
		return err
	}
	if err := sc.err(); err != nil {
		return err
	}
	p.warn(sc)
	r := &runner{screen: scr, settings: s, form: form}
	defer onSignals(r.signal)()
	return r.steps(sc)
}

// runner runs the steps of a script.
type runner struct {
	screen   *screen
	settings *settings
	form     string
	// stopped is set once the program was told to stop.
	stopped atomic.Bool
	// job is the one that runs, or nil.
	job atomic.Pointer[runtime.Runner]
	// why is what the job waited for when it was told to stop, or nil.
	why atomic.Pointer[runtime.Why]
}

// signal makes the job that runs take a last checkpoint and end, and no other
// begin. A second signal ends the process.
func (r *runner) signal(os.Signal) {
	if r.stopped.Swap(true) {
		os.Exit(statusFailed)
	}
	r.stopJob()
}

// stopJob stops the job that runs, and reports whether there is one.
func (r *runner) stopJob() bool {
	j := r.job.Load()
	if j != nil {
		r.why.Store(j.Why(stopPatience))
		j.Stop()
	}
	return j != nil
}

// steps runs the steps of a script in order. Jobs that have finished in a run
// of the script which then was killed are not run again.
func (r *runner) steps(sc *script) (err error) {
	p, err := r.begin(sc)
	defer func() { err = errors.Join(err, failed(p.close())) }()
	if err != nil {
		if errors.As(err, new(*failure)) {
			return err
		}
		return &failure{status: statusRefused, err: err}
	}
	for _, s := range sc.steps {
		if r.stopped.Load() {
			return nil
		}
		var err error
		switch {
		case s.answer != nil:
			err = failed(printAnswer(r.screen.out(), r.form, s.answer))
		case s.job.name == "":
			err = r.runJob(s.job, nil)
		default:
			err = r.runDurable(s.job, p)
		}
		if err != nil {
			return err
		}
	}
	if r.stopped.Load() {
		return nil
	}
	return failed(p.end())
}

// runDurable runs a job that keeps checkpoints.
func (r *runner) runDurable(j *job, p *progress) error {
	data := p.take(j)
	var err error
	if p.done(j, data) {
		fmt.Fprintf(r.screen.err(), "job %s has finished in the run before, which did not come to its end; --fresh runs it again\n", j.name)
	} else {
		j.config.State.Backend = state.Disk
		err = r.runJob(j, data)
	}
	return errors.Join(err, failed(data.Close()))
}

// runJob runs one job and says how it went.
func (r *runner) runJob(j *job, data *runtime.Data) error {
	j.config.Job = j.name
	j.config.AllowLoss = r.settings.allowLoss
	j.config.Log = func(line string) { fmt.Fprintln(r.screen.err(), line) }
	rr := runtime.NewRunner(j.graph, j.config, data)
	r.job.Store(rr)
	if r.stopped.Load() {
		rr.Stop()
	}
	defer r.job.Store(nil)
	unwatch := r.screen.watch(rr.Metrics)
	over := func(error) {}
	if data != nil {
		over = r.listen(j, rr)
	}
	err := rr.Run(context.Background())
	over(err)
	unwatch()
	if j.result != nil {
		err = errors.Join(err, j.result.finish())
	}
	for _, line := range lossLines(rr.Metrics()) {
		fmt.Fprintln(r.screen.err(), line)
	}
	if err == nil {
		r.ended(j, rr, data)
	}
	if f, ok := failed(err).(*failure); ok {
		if f.status == statusFailed && data != nil && data.Latest() != nil {
			f.next = fmt.Sprintf("job %s failed; the script goes on from checkpoint %d when it is run again, or anew with --fresh",
				j.name, data.Latest().ID)
		}
		return f
	}
	return nil
}

// ended says what there is to say of a job that has come to its end, or was
// stopped.
func (r *runner) ended(j *job, rr *runtime.Runner, data *runtime.Data) {
	why := r.why.Load()
	if now := rr.Why(stopPatience); why == nil || now != nil && now.Finished {
		why = now
	}
	r.lastWord(why)
	if data == nil || !r.stopped.Load() {
		return
	}
	// The input may have ended just then.
	if !data.Finished() {
		fmt.Fprintf(r.screen.err(), "job %s was stopped; run the script again to go on\n", j.name)
	}
}

// warn prints the warnings of a script.
func (p *process) warn(sc *script) {
	sc.warnings.Sort()
	for _, w := range sc.warnings {
		w.Msg = "warning: " + w.Msg
		fmt.Fprintln(p.stderr, w.In(sc.file))
	}
}
