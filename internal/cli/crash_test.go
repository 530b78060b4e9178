package cli

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/millstream-io/millstream/connector"
	_ "github.com/millstream-io/millstream/connector/datagen"
	"github.com/millstream-io/millstream/internal/runtime/rttest"
	"github.com/millstream-io/millstream/internal/vfs"
)

// targets are the tables of the connector target: places outside that publish
// exactly once.
var targets struct {
	mu     sync.Mutex
	tables map[string]*rttest.Sink
}

func init() {
	connector.Register(&connector.Def{
		Name: "target", Doc: "A table of a test.",
		NewSink: func(t *connector.Table) (connector.Sink, error) {
			targets.mu.Lock()
			defer targets.mu.Unlock()
			if targets.tables[t.Name] == nil {
				targets.tables[t.Name] = rttest.NewSink()
			}
			return targets.tables[t.Name], nil
		},
	})
}

// published is how often the rows of the tables were published: "a 1, b 1". Other
// rows, or a part of them, are an error.
func published(t *testing.T) string {
	t.Helper()
	var out []string
	for name, sink := range targets.tables {
		n := map[string]int{}
		for _, row := range sink.Published() {
			n[row]++
		}
		times := n["1 1 1"]
		for i := range crashRows {
			if row := fmt.Sprintf("%d %d %d", i+1, i+1, i+1); n[row] != times {
				t.Fatalf("table %s has row %s %d times, and another one %d times", name, row, n[row], times)
			}
		}
		if len(n) > crashRows {
			t.Fatalf("table %s has too many rows: %v", name, n)
		}
		if times > 0 {
			out = append(out, fmt.Sprint(name, " ", times))
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

const crashRows = 40

// crashScript is a script of two jobs.
var crashScript = fmt.Sprintf(`
SET 'restart-strategy.type' = 'none';
CREATE TABLE e (k BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '%d', 'fields.k.kind' = 'sequence', 'fields.k.start' = '1', 'fields.k.end' = '%[1]d');
CREATE TABLE a (k BIGINT, v BIGINT, t BIGINT) WITH ('connector' = 'target');
CREATE TABLE b (k BIGINT, v BIGINT, t BIGINT) WITH ('connector' = 'target');
INSERT INTO a SELECT DISTINCT k, k, k FROM e;
%[2]s`, crashRows, secondJob)

const secondJob = "SELECT 1;\nINSERT INTO b SELECT DISTINCT k, k, k FROM e;\n"

// crashed is one use of the program on a disk.
type crashed struct {
	name string
	// before are runs that came to their end, with one output of each table.
	before int
	// first is what was run then, and settings what crashes.
	first, settings settings
	// again is what is run after the crash: the first of them that is not refused.
	again []settings
	// one is set for a script of one job.
	one bool
}

const elsewhere = "execution.checkpointing.dir=/elsewhere"

var crashedRuns = []crashed{
	{name: "run", again: []settings{{}}},
	{name: "run a second time", before: 1, again: []settings{{}}},
	{name: "run --fresh", before: 1, settings: settings{fresh: true}, again: []settings{{fresh: true}}},
	{name: "run, with checkpoints elsewhere", settings: settings{defines: []string{elsewhere}}, again: []settings{{defines: []string{elsewhere}}}},
	{name: "run --fresh, with checkpoints elsewhere from now on", before: 1,
		settings: settings{fresh: true, defines: []string{elsewhere}}, again: []settings{{fresh: true, defines: []string{elsewhere}}}},
	{name: "run --fresh, with checkpoints elsewhere no longer", before: 1, first: settings{defines: []string{elsewhere}},
		settings: settings{fresh: true}, again: []settings{{fresh: true}}},
	{name: "run --from, to move the checkpoints elsewhere", before: 1, one: true,
		settings: settings{from: "/data/job/checkpoints", defines: []string{elsewhere}},
		again: []settings{{defines: []string{elsewhere}}, {from: "/data/job/checkpoints", defines: []string{elsewhere}},
			{fresh: true, from: "/data/job/checkpoints", defines: []string{elsewhere}}}},
}

// outcomeOf runs the program's part that is behind the command line.
type outcomeOf struct {
	status int
	text   string
}

func (o outcomeOf) String() string { return fmt.Sprintf("status %d: %s", o.status, o.text) }

func ask(do func(p *process) error) outcomeOf {
	var out bytes.Buffer
	p := &process{stdin: strings.NewReader(""), stdout: &out, stderr: &out}
	err := do(p)
	if err != nil {
		p.report(err)
	}
	return outcomeOf{statusOf(err), out.String()}
}

// on is the settings for a disk.
func (s settings) on(fs vfs.FS) *settings {
	s.fs, s.data = fs, "/data"
	return &s
}

// TestRunCrash crashes at each call that changes the file system while the program
// runs a script: from the moment at which it makes its directories to the end of
// the last job. What it leaves is understood by checkpoints and savepoint, and by
// the next run, which ends well. Each job has then published its rows once, also
// where the script has several. MILLSTREAM_CRASHES makes it crash at each call, and
// not only at a sample.
func TestRunCrash(t *testing.T) {
	file := filepath.Join(t.TempDir(), "job.sql")
	for i, c := range crashedRuns {
		text := crashScript
		if c.one {
			text = strings.TrimSuffix(text, secondJob)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Run(c.name, func(t *testing.T) { c.crash(t, file, uint64(i)) })
	}
}

func (c crashed) crash(t *testing.T, file string, seed uint64) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 17))
	stride := int64(3)
	switch {
	case os.Getenv("MILLSTREAM_CRASHES") != "":
		stride = 1
	case testing.Short():
		stride = 7
	}
	crashes := 0
	for n := int64(1); ; n += stride {
		targets.tables = map[string]*rttest.Sink{}
		disk := vfs.NewCrashFS()
		for range c.before {
			if o := ask(func(p *process) error { return p.run(file, c.first.on(disk)) }); o.status != statusDone {
				t.Fatalf("%s: before: %s", c.name, o)
			}
			// The end of a script is not made durable (see progress.end); it is by now.
			if err := vfs.SyncDir(disk, "/data/job"); err != nil {
				t.Fatal(err)
			}
		}
		if c.settings.fresh {
			// What was there before does not count, nor does its number of starts.
			targets.tables = map[string]*rttest.Sink{}
		}
		fault := vfs.NewFaultFS(disk)
		fault.FailFrom(n, -1)
		o := ask(func(p *process) error { return p.run(file, c.settings.on(fault)) })
		if fault.Failed() == 0 {
			if o.status != statusDone {
				t.Fatalf("%s: %s", c.name, o)
			}
			break
		}
		crashes++
		keep := int(n/stride%3) * 50
		c.after(t, file, disk.Crash(keep, rnd), fmt.Sprintf("%s, crash at call %d, %d %% kept", c.name, n, keep))
	}
	if crashes < 50/int(stride) {
		t.Errorf("%s: only %d crashes", c.name, crashes)
	}
	t.Logf("%s: %d crashes", c.name, crashes)
}

// after is what users do after a crash.
func (c crashed) after(t *testing.T, file string, disk vfs.CrashFS, what string) {
	t.Helper()
	for _, job := range []string{"job", "job-2"} {
		o := ask(func(p *process) error {
			at, err := c.again[0].on(disk).place(job)
			if err != nil {
				return err
			}
			return p.checkpoints(at, true)
		})
		if o.status != statusDone && !strings.Contains(o.text, "there is no job "+job) {
			t.Errorf("%s: checkpoints %s: %s", what, job, o)
		}
		o = ask(func(p *process) error { return p.savepoint(job, "", c.again[0].on(disk)) })
		if !strings.Contains(o.text, "job "+job+" is not running") && !strings.Contains(o.text, "there is no job "+job) {
			t.Errorf("%s: savepoint %s: %s", what, job, o)
		}
	}
	_, err := disk.Stat("/data/job/" + progressName)
	amid := err == nil
	at := published(t)
	for i, again := range c.again {
		o := ask(func(p *process) error { return p.run(file, again.on(disk)) })
		if o.status == statusDone {
			break
		}
		if o.status != statusRefused || i == len(c.again)-1 {
			t.Fatalf("%s: run again: %s", what, o)
		}
	}
	c.check(t, what, at, published(t), amid)
	if _, err := disk.Stat("/data/job/" + progressName); err == nil {
		t.Errorf("%s: the note of the script's progress is left", what)
	}
}

// check compares what was published before the last run and behind it. amid is set
// if the one that crashed had begun and not come to its end.
func (c crashed) check(t *testing.T, what, at, got string, amid bool) {
	t.Helper()
	want := func(n int) string { return fmt.Sprintf("a %d, b %[1]d", n) }
	good := false
	switch {
	case c.one:
		good = got == "a 1" // it goes on behind its end
	case c.settings.fresh:
		// It does all again, with what the first one may have committed.
		good = got != at && strings.Contains(got, "a ") && strings.Contains(got, "b ")
	case !amid && at == want(c.before+1):
		good = got == want(c.before+2) // the script had come to its end
	default:
		good = got == want(c.before+1)
	}
	if !good {
		t.Errorf("%s: published before is %q, and then %q", what, at, got)
	}
}
