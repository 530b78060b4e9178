package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestOneRow(t *testing.T) {
	p := newPlace(t)
	p.write("job.sql", "SELECT 1 + 1 AS two, 'x' AS x;\n")
	if o := p.good("run", "job.sql"); o.stdout != "+I | 2 | x\n" {
		t.Errorf("%s", o)
	}
	if _, err := os.Stat(p.path(".millstream")); !os.IsNotExist(err) {
		t.Errorf("a script with only a SELECT left a data directory (%v)", err)
	}
	for form, want := range map[string]string{
		"json":  "{\"two\":2,\"x\":\"x\"}\n",
		"csv":   "two,x\n2,x\n",
		"table": "two | x\n----+--\n  2 | x\n",
	} {
		if o := p.good("run", "--output", form, "job.sql"); o.stdout != want {
			t.Errorf("--output %s: %s", form, o)
		}
	}
}

func TestStdinToStdout(t *testing.T) {
	p := newPlace(t)
	p.write("job.sql", `
CREATE TABLE lines (word STRING, n INT) WITH ('connector' = 'filesystem', 'path' = '-', 'format' = 'csv');
CREATE TABLE big (word STRING, n INT) WITH ('connector' = 'filesystem', 'path' = '-', 'format' = 'json');
INSERT INTO big SELECT UPPER(word), n FROM lines WHERE n > 1;
`)
	o := p.start("a,1\nb,2\nc,3\n", "run", "job.sql").wait()
	if want := "{\"word\":\"B\",\"n\":2}\n{\"word\":\"C\",\"n\":3}\n"; o.code != 0 || o.stdout != want {
		t.Errorf("%s", o)
	}
}

// TestTwoInsertsIntoOneTable: the files of one do not replace those of the
// other.
func TestTwoInsertsIntoOneTable(t *testing.T) {
	p := newPlace(t)
	p.write("job.sql", `
CREATE TABLE numbers (n INT) WITH ('connector' = 'datagen', 'number-of-rows' = '1000',
  'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '1000');
CREATE TABLE o (n INT) WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'csv');
INSERT INTO o SELECT n FROM numbers;
INSERT INTO o SELECT n + 1000 FROM numbers;
SET 'parallelism.default' = '2';
INSERT INTO o SELECT n + 2000 FROM numbers;
`)
	p.good("run", "job.sql")
	got := p.numbers("out")
	if len(got) != 3000 || got[0] != 1 || got[2999] != 3000 {
		t.Errorf("%d numbers", len(got))
	}
}

func TestCommandLine(t *testing.T) {
	p := newPlace(t)
	p.write("bad.sql", "SELECT 1 +;\nSELEC 2;\n")
	p.write("job.sql", "SELECT 1;\n")
	for _, c := range []struct {
		code  int
		words []string
		args  []string
	}{
		{2, []string{"bad.sql:1:11:", "bad.sql:2:1:"}, []string{"run", "bad.sql"}},
		{2, []string{"bad.sql:1:11:", "bad.sql:2:1:"}, []string{"check", "bad.sql"}},
		{2, []string{"bad.sql:1:11:"}, []string{"explain", "bad.sql"}},
		{2, []string{"nothere.sql"}, []string{"run", "nothere.sql"}},
		{2, []string{"run FILE.sql"}, []string{"run"}},
		{2, []string{"--outptu"}, []string{"run", "--outptu", "json", "job.sql"}},
		{2, []string{"xml", "table, changelog, json, csv"}, []string{"run", "--output", "xml", "job.sql"}},
		{2, []string{"rnu", "run"}, []string{"rnu", "job.sql"}},
		{2, []string{"parallelism.default", "must be at least 1"}, []string{"run", "-D", "parallelism.default=0", "job.sql"}},
		{2, []string{"key=value"}, []string{"run", "-D", "parallelism.default", "job.sql"}},
	} {
		p.refused(c.code, c.words, c.args...)
	}
	if o := p.good("version"); !strings.HasPrefix(o.stdout, "millstream ") {
		t.Errorf("%s", o)
	}
}

// endless is a job that runs until it is told to stop. It writes to out.
const endless = `
SET 'execution.checkpointing.interval' = '50 ms';
CREATE TABLE ticks (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '1000',
  'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '100000000');
CREATE TABLE seen (n BIGINT) WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'csv', 'sink.rolling-policy.rollover-interval' = '50 ms');
INSERT INTO seen SELECT n FROM ticks;
`

// published reports whether a directory has whole files.
func (p *place) published(dir string) bool {
	files, err := filepath.Glob(p.path(dir + "/[^._]*"))
	return err == nil && len(files) > 0
}

func TestSecondProcess(t *testing.T) {
	p := newPlace(t)
	p.write("job.sql", endless)
	first := p.start("", "run", "job.sql")
	first.until("the first checkpoint", func() bool { return p.published("out") })
	p.refused(3, []string{fmt.Sprintf("process %d", first.cmd.Process.Pid), "--data"}, "run", "job.sql")
	p.good("run", "--data", "elsewhere", "-D", "pipeline.name=other", p.oneRow())
	first.signal(syscall.SIGTERM)
	if o := first.wait(); o.code != 0 {
		t.Errorf("%s", o)
	}
}

// oneRow is a script that ends by itself.
func (p *place) oneRow() string {
	p.write("one.sql", "CREATE TABLE o (n INT) WITH ('connector' = 'blackhole');\nINSERT INTO o VALUES (1);\n")
	return "one.sql"
}

// TestStop stops a job by each signal, and lets it go on: no number is lost
// or doubled.
func TestStop(t *testing.T) {
	p := newPlace(t)
	p.write("job.sql", endless)
	for i, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGTERM} {
		before := len(p.numbers("out"))
		pr := p.start("", "run", "job.sql")
		pr.until("new rows", func() bool { return p.published("out") && len(p.numbers("out")) > before })
		pr.signal(s)
		o := pr.wait()
		if o.code != 0 {
			t.Fatalf("%v: %s", s, o)
		}
		if goesOn := strings.Contains(o.stderr, "goes on from checkpoint"); goesOn != (i > 0) {
			t.Errorf("run %d: %s", i, o)
		}
	}
	p.lines("out")
	for i, n := range p.numbers("out") {
		if n != i+1 {
			t.Fatalf("number %d at place %d", n, i+1)
		}
	}
}

// TestScriptGoesOn kills a script after its first job has finished: the next
// run does not write that job's rows again, but a run after the script's end
// does.
func TestScriptGoesOn(t *testing.T) {
	const insert = `
CREATE TABLE numbers (n INT) WITH ('connector' = 'datagen', 'number-of-rows' = '1000',
  'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '1000');
CREATE TABLE o (n INT) WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'csv');
INSERT INTO o SELECT n FROM numbers;
`
	p := newPlace(t)
	p.write("job.sql", insert+strings.Split(endless, "CREATE TABLE seen")[0]+"SELECT n FROM ticks;\n")
	for i, s := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		pr := p.start("", "run", "job.sql")
		pr.until("a row of the SELECT", func() bool { return strings.Contains(pr.stdout.String(), "+I | 1\n") })
		pr.signal(s)
		o := pr.wait()
		if goesOn := strings.Contains(o.stderr, "job job has finished in the run before"); goesOn != (i > 0) {
			t.Errorf("run %d: %s", i, o)
		}
	}
	p.write("job.sql", insert+"SELECT 1;\n")
	for _, want := range []int{1000, 2000, 3000} {
		p.good("run", "job.sql")
		if got := len(p.numbers("out")); got != want {
			t.Errorf("%d rows, want %d", got, want)
		}
	}
}

// TestStopSelect stops a SELECT, which keeps nothing.
func TestStopSelect(t *testing.T) {
	p := newPlace(t)
	p.write("job.sql", strings.Split(endless, "CREATE TABLE seen")[0]+"SELECT n FROM ticks;\n")
	pr := p.start("", "run", "job.sql")
	pr.until("a row", func() bool { return strings.Contains(pr.stdout.String(), "+I | 1\n") })
	pr.signal(syscall.SIGINT)
	if o := pr.wait(); o.code != 0 || !strings.HasSuffix(o.stdout, "\n") {
		t.Errorf("%s", o)
	}
}
