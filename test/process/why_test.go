package process

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// whyScript counts events by window, of files in a directory and, where a script
// asks for it, of the standard input.
const whyScript = `
SET 'execution.checkpointing.interval' = '50 ms';
SET 'millstream.batch.size' = '1';
CREATE TABLE clicks (a BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
  WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'csv', 'source.monitor-interval' = '20 ms');
CREATE TABLE typed (a BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = '-', 'format' = 'csv');
CREATE TABLE counts (w TIMESTAMP(3), n BIGINT) WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'csv');
`

const (
	whyFiles = whyScript + `
INSERT INTO counts SELECT window_start, COUNT(*) FROM TUMBLE((SELECT * FROM clicks WHERE a > 0), DESCRIPTOR(ts), INTERVAL '10' SECOND)
GROUP BY window_start, window_end;
`
	whyBoth = whyScript + `
INSERT INTO counts SELECT window_start, COUNT(*) FROM TUMBLE((SELECT * FROM clicks UNION ALL SELECT * FROM typed), DESCRIPTOR(ts), INTERVAL '10' SECOND)
GROUP BY window_start, window_end;
`
)

// situations are jobs that give no results, and what shows that they have come
// as far as they can.
var situations = []struct {
	name, script, typed string
	files               map[string]string
	until               string
}{
	{name: "missing-path", script: whyFiles, until: "nothing to read"},
	{name: "filtered", script: whyFiles, files: map[string]string{"in/a.csv": "0,2024-01-01 00:00:01\n-1,2024-01-01 00:00:02\n"}, until: "2 rows were read"},
	{name: "last-window", script: whyFiles, files: map[string]string{"in/a.csv": "1,2024-01-01 00:00:01\n2,2024-01-01 00:00:03\n"}, until: "idle"},
	{name: "silent-split", script: whyBoth, typed: "1,2024-01-01 00:00:02\n",
		files: map[string]string{"in/a.csv": "1,2024-01-01 00:00:01\n2,2024-01-01 00:05:00\n"}, until: "it is at 2024-01-01 00:00:02"},
	{name: "unread-split", script: whyBoth, files: map[string]string{"in/a.csv": "1,2024-01-01 00:00:01\n2,2024-01-01 00:05:00\n"}, until: "no row with a time"},
	{name: "future-row", script: whyFiles, files: map[string]string{
		"in/a.csv": "1,2124-01-01 00:00:00\n2,2024-01-01 00:00:01\n3,2024-01-01 00:00:02\n4,2024-01-01 00:00:03\n"}, until: "3 rows came too late"},
}

// What differs from run to run.
var (
	elapsed = regexp.MustCompile(`(silent for|waited for) \d+ (ms|s|min)( \d+ s)?`)
	ahead   = regexp.MustCompile(`is \d+ d \d+ h ahead`)
	taken   = regexp.MustCompile(`checkpoint \d+ of \d{4}-\d\d-\d\d \d\d:\d\d:\d\d`)
)

func still(text string) string {
	text = elapsed.ReplaceAllString(text, "$1 N s")
	text = ahead.ReplaceAllString(text, "is N d ahead")
	return taken.ReplaceAllString(text, "checkpoint N of TIME")
}

// TestWhy asks jobs that give no results why, while they run, when they are
// stopped, and when they are not running.
func TestWhy(t *testing.T) {
	for _, s := range situations {
		t.Run(s.name, func(t *testing.T) {
			p := newPlace(t)
			p.write("job.sql", s.script)
			for name, text := range s.files {
				p.write(name, text)
			}
			pr, typed := p.startTyped("run", "job.sql")
			if _, err := io.WriteString(typed, s.typed); err != nil {
				t.Fatal(err)
			}
			var running outcome
			pr.until(s.until, func() bool {
				if _, err := os.Stat(p.path(".millstream/job/control.sock")); err != nil {
					return false
				}
				running = p.run("why", "job")
				return strings.Contains(running.stdout, s.until)
			})
			if o := p.run("why", "job", "--json"); !json.Valid([]byte(o.stdout)) || strings.Contains(o.stdout, "null,\n  \"") || o.code != 0 {
				t.Errorf("as JSON: %s", o)
			}
			pr.signal(syscall.SIGTERM)
			end := pr.wait()
			stopped := p.run("why", "job")
			got := "-- running --\n" + running.stdout + "-- at the end --\n" + end.stderr + "-- not running --\n" + stopped.stdout + stopped.stderr
			if running.code != 0 || end.code != 0 || stopped.code != 0 {
				t.Errorf("exit %d, %d, %d", running.code, end.code, stopped.code)
			}
			golden(t, filepath.Join("testdata", "why-"+s.name+".txt"), still(got))
		})
	}
}

// golden compares a text with a file.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", file, got, want)
	}
}

// TestWhyOfNothing asks for jobs that cannot be asked.
func TestWhyOfNothing(t *testing.T) {
	p := newPlace(t)
	if o := p.run("why", "job"); o.code != 2 || !strings.Contains(o.stderr, "there is no job job") {
		t.Errorf("no data directory: %s", o)
	}
	p.write(".millstream/job/lock", "")
	if o := p.run("why", "job"); o.code != 3 || !strings.Contains(o.stderr, "job job is not running, and has no checkpoint") {
		t.Errorf("no checkpoint: %s", o)
	}
}

// TestHint: a query that printed nothing ends with what is known of it, and one
// that printed something does not.
func TestHint(t *testing.T) {
	p := newPlace(t)
	p.write("in.csv", "1,2024-01-01 00:00:01\n")
	table := "CREATE TABLE t (a BIGINT, ts TIMESTAMP(3)) WITH ('connector' = 'filesystem', 'path' = 'in.csv', 'format' = 'csv');\n"
	p.write("none.sql", table+"SELECT * FROM t WHERE a > 1;")
	p.write("some.sql", table+"SELECT * FROM t;")
	want := "no row came out. This is what is known of it:\n  table t: 1 row was read, and none passed the conditions of the query\n"
	if o := p.run("run", "none.sql"); o.code != 0 || o.stderr != want {
		t.Errorf("nothing was printed: %s", o)
	}
	if o := p.run("run", "some.sql"); o.code != 0 || o.stderr != "" {
		t.Errorf("a row was printed: %s", o)
	}
}
