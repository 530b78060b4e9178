package process

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestStateTables reads the state of a job by SQL: while it runs, from its
// checkpoints when it does not, and from a savepoint elsewhere.
func TestStateTables(t *testing.T) {
	p := newPlace(t)
	p.write("job.sql", sums)
	p.write("in/0.csv", events(0, 7)+events(1, 5)+"a key that is longer than the others,1,2024-01-01 10:01:59\n")
	pr := p.startSums("-D", "parallelism.default=2")
	p.passed(pr, 0)
	ask := func(from string) []string {
		p.write("ask.sql", "SELECT k, `EXPR$2`, `EXPR$3` FROM STATE("+from+");\n")
		lines := strings.Split(strings.TrimSpace(p.good("run", "ask.sql").stdout), "\n")
		if len(lines) != 11 || lines[0] != "+I | a key that is longer than the others | 1 | 1" {
			t.Errorf("STATE(%s): %q", from, lines)
		}
		slices.Sort(lines)
		return lines
	}
	want := ask("'job', 'sums/window-aggregate'")
	if want[1] != "+I | k0 | 5 | 100" {
		t.Errorf("%q", want)
	}
	p.good("savepoint", "job", "--to", "sp")
	p.good("stop", "job")
	pr.wait()
	for _, from := range []string{"'job', 'sums/window-aggregate'", "'job', 'WindowAggregate'", "'job', 'sums/window-aggregate/windows'", "'job', 'sums/window-aggregate', 'sp'"} {
		if got := ask(from); !slices.Equal(got, want) {
			t.Errorf("STATE(%s): %q, want %q", from, got, want)
		}
	}
	for from, words := range map[string][]string{
		"'jop', 'sums/window-aggregate'":          {"ask.sql:1:21: STATE: there is no job jop", `did you mean "job"?`},
		"'job', 'sums/window-agregate'":           {"ask.sql:1:28: STATE: job job has no operator sums/window-agregate with state; it has sums/window-aggregate", `did you mean "sums/window-aggregate"?`},
		"'job', 'sums/window-aggregate/w'":        {"has no table w; it has sums/window-aggregate/windows"},
		"'job', 'sums/window-aggregate', '99999'": {"ask.sql:1:53: STATE: ", "holds no checkpoint 99999"},
		"'job'": {"ask.sql:1:15: STATE takes a job, an operator, and perhaps a checkpoint, as text"},
	} {
		p.write("ask.sql", "SELECT * FROM STATE("+from+");\n")
		p.refused(2, words, "run", "ask.sql")
	}
}

// TestStateOfAJobThatHasEnded: nothing is left of it but in savepoints from before.
func TestStateOfAJobThatHasEnded(t *testing.T) {
	p := newPlace(t)
	p.write("in/0.csv", events(0, 7)+events(1, 5))
	p.write("job.sql", sums)
	pr := p.startSums()
	p.passed(pr, 0)
	p.good("savepoint", "job")
	p.good("stop", "job", "--drain")
	pr.wait()
	p.write("ask.sql", "SELECT * FROM STATE('job', 'sums/window-aggregate');\n")
	p.refused(2, []string{"ask.sql:1:28: STATE: job job has come to the end of its input with checkpoint ", "so none is kept; as the third argument you can name a checkpoint from before: "},
		"run", "ask.sql")
}

// TestExplainStateMeasures: what EXPLAIN STATE says of a query's state is measured
// with the first rows of its input, or in the checkpoint of its job.
func TestExplainStateMeasures(t *testing.T) {
	p := newPlace(t)
	var in strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&in, "user %d,1,2024-01-01 %02d:%02d:%02d\n", i%1000+i/2000*500, i/3600, i/60%60, i%60)
	}
	p.write("in/0.csv", in.String())
	table := "CREATE TABLE ev (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = '%s', 'format' = 'csv');\n"
	queries := "EXPLAIN STATE SELECT DISTINCT k, v FROM ev;\n" +
		"EXPLAIN STATE SELECT k, COUNT(*) FROM TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '10' MINUTE) GROUP BY k, window_start, window_end;\n"
	p.write("ask.sql", fmt.Sprintf(table, "in")+queries)
	same(t, "a sample", strings.Split(strings.TrimSpace(p.good("run", "ask.sql").stdout), "\n"), []string{
		"result/distinct: Distinct(columns=[k, v]) parallelism=[1]",
		"  table rows: key (k STRING, v INT), values (copies BIGINT NOT NULL)",
		"    one row for each key: about 79 bytes in memory, 42 on disk",
		"    unbounded: it grows with each new key; table.exec.state.ttl makes rows go that are not written any more",
		"    measured: 1500 rows of 1500 keys; 70 bytes in memory and 29 on disk for a row",
		"    growth: 250 rows (17.2 KiB in memory) for each 1000 rows read",
		"Sizes are for one row, by the types of its columns; a text, a list or a row counts as 16 bytes.",
		"Measured: all 4000 rows of ev. On disk is before compression.",
		"result/window-aggregate: WindowAggregate(window=[TUMBLE(time=[ts], size=[10 min])], groupBy=[k], select=[COUNT(*) AS EXPR$1], emit=[]) parallelism=[1]",
		"  table windows: key (k STRING), values (EXPR$1 BIGINT NOT NULL)",
		"    one row for each key and window: about 74 bytes in memory, 36 on disk",
		"    bounded: a row goes when the watermark has passed the end of its window, and allowed lateness",
		"    measured: 400 rows of 400 keys; 67 bytes in memory and 25 on disk for a row",
		"    growth: 100 rows (6.54 KiB in memory) for each 1000 rows read, 360 rows (23.6 KiB in memory) for each hour of event time",
		"Sizes are for one row, by the types of its columns; a text, a list or a row counts as 16 bytes.",
		"Measured: all 4000 rows of ev. On disk is before compression.",
	})
	p.write("ask.sql", fmt.Sprintf(table, "-")+queries)
	if got := p.good("run", "ask.sql").stdout; strings.Count(got, "Nothing was measured: reading table ev for a look would take its rows away, or change something.\n") != 2 {
		t.Errorf("standard input: %s", got)
	}
	p.write("ask.sql", fmt.Sprintf(table, "missing")+queries)
	if got := p.good("run", "ask.sql").stdout; strings.Count(got, "Nothing was measured: table ev: there is no file or directory missing.\n") != 2 {
		t.Errorf("no input: %s", got)
	}
	pr := p.firstSums(sums)
	p.good("stop", "job")
	pr.wait()
	got := p.good("explain", "--state", "job.sql").stdout
	for _, want := range []string{"    measured: ", "Measured: checkpoint ", " of job job"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
