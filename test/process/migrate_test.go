package process

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestMigratedQuery widens columns of a job in the middle of a window: the rows
// that it had count on.
func TestMigratedQuery(t *testing.T) {
	p := newPlace(t)
	old := strings.Replace(sums, "SUM(v)", "MAX(v)", 1)
	p.write("job.sql", old)
	p.write("in/0.csv", events(0, 7)+events(1, 9))
	pr := p.startSums("-D", "parallelism.default=2")
	p.passed(pr, 0)
	p.good("stop", "job")
	pr.wait()

	now := strings.Replace(strings.Replace(old, "k STRING, v INT", "k STRING, v BIGINT", 1), "INSERT INTO", "SET 'parallelism.default' = '3';\nINSERT INTO", 1)
	p.write("new/job.sql", now)
	o := p.good("diff", "job.sql", "new/job.sql")
	for _, w := range []string{"kept      source:events", "migrated  sums/window-aggregate", "from INT to BIGINT", "by checkpoint "} {
		if !strings.Contains(o.stdout, w) {
			t.Errorf("diff does not say %q: %s", w, o)
		}
	}
	p.write("job.sql", now)
	p.write("in/1.csv", events(1, 5)+events(2, 3))
	pr = p.startSums()
	p.good("stop", "job", "--drain")
	if o := pr.wait(); o.code != 0 || !strings.Contains(o.stderr, "migrated: sums/window-aggregate") {
		t.Errorf("%s", o)
	}
	var want []string
	for m, rows := range [][2]int{{7, 6}, {14, 8}, {3, 2}} {
		for k := range 10 {
			want = append(want, fmt.Sprintf(".: k%d,\"2024-01-01 10:%02d:00\",%d,%d", k, m, rows[0], rows[1]*10+k))
		}
	}
	slices.Sort(want)
	same(t, "rows of the migrated job", p.lines("out"), want)
}

// passedOn is a job whose state has rows of the input: the two first ones of each
// key, its last one, and those of a join.
const passedOn = `
SET 'execution.checkpointing.interval' = '50 ms';
CREATE TABLE events (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'csv', 'csv.null-literal' = '', 'source.monitor-interval' = '20 ms');
CREATE TABLE best (k STRING, v INT, w TIMESTAMP(3), n BIGINT) WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'csv');
CREATE TABLE latest (k STRING, v INT, w TIMESTAMP(3)) WITH ('connector' = 'filesystem', 'path' = 'latest', 'format' = 'csv');
CREATE TABLE pairs (k STRING, v INT, r INT, w TIMESTAMP(3)) WITH ('connector' = 'filesystem', 'path' = 'pairs', 'format' = 'csv');
CREATE VIEW cut AS SELECT * FROM TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE);
EXECUTE STATEMENT SET BEGIN
INSERT INTO best SELECT k, v, window_start, n FROM
  (SELECT *, ROW_NUMBER() OVER (PARTITION BY k, window_start, window_end ORDER BY CAST(v AS BIGINT), ts) AS n FROM cut) WHERE n <= 2;
INSERT INTO latest SELECT k, v, window_start FROM
  (SELECT *, ROW_NUMBER() OVER (PARTITION BY k, window_start, window_end ORDER BY ts DESC) AS n FROM cut) WHERE n = 1;
INSERT INTO pairs SELECT l.k, l.v, r.v, l.window_start FROM cut AS l JOIN cut AS r
  ON l.k = r.k AND l.window_start = r.window_start AND l.window_end = r.window_end AND l.v < r.v;
END;
`

// TestMigratedRows: rows that wait in a rank, a deduplication and a join for the
// end of their window have one more column in the new query, and a wider one.
func TestMigratedRows(t *testing.T) {
	p := newPlace(t)
	p.write("job.sql", passedOn)
	p.write("in/0.csv", "a,1,2024-01-01 10:00:01\na,5,2024-01-01 10:01:01\na,4,2024-01-01 10:01:02\nb,3,2024-01-01 10:01:03\n")
	pr := p.startSums("-D", "parallelism.default=2")
	p.passed(pr, 0)
	p.good("stop", "job")
	pr.wait()

	// The new column comes first in the rows, so that values by position would be wrong.
	now := strings.NewReplacer("v INT, ts TIMESTAMP(3),", "v BIGINT, ts TIMESTAMP(3), more BIGINT,", "v INT", "v BIGINT, more BIGINT", "r INT", "r BIGINT, s BIGINT",
		"cut AS SELECT * FROM", "cut AS SELECT more, v, k, ts, window_start, window_end, window_time FROM", "SELECT k, v,", "SELECT k, v, more,", "SELECT l.k, l.v, r.v", "SELECT l.k, l.v, l.more, r.v, r.more").Replace(passedOn)
	p.write("new/job.sql", now)
	o := p.good("diff", "job.sql", "new/job.sql")
	for _, node := range []string{"best/window-rank", "latest/window-deduplicate", "pairs/window-join"} {
		want := regexp.MustCompile(`migrated +` + node + ` .*column more is new, and NULL in rows that are there; column v goes from INT to BIGINT(; column ts is left out)?\n`)
		if !want.MatchString(o.stdout) {
			t.Errorf("diff does not say %q: %s", want, o)
		}
	}
	p.write("job.sql", now)
	p.write("in/1.csv", "a,6,2024-01-01 10:01:04,70\na,5000000000,2024-01-01 10:01:05,\nb,1,2024-01-01 10:01:06,8\nc,1,2024-01-01 10:02:00,9\n")
	pr = p.startSums("-D", "parallelism.default=3")
	pr.until("the job", func() bool { return p.run("savepoint", "job").code == 0 })
	p.good("stop", "job", "--drain")
	if o := pr.wait(); o.code != 0 || !strings.Contains(o.stderr, "migrated: best/window-rank") {
		t.Errorf("%s", o)
	}
	const first, second, third = `"2024-01-01 10:00:00"`, `"2024-01-01 10:01:00"`, `"2024-01-01 10:02:00"`
	for dir, want := range map[string][]string{
		"out":    {"a,1," + first + ",1", "a,4,," + second + ",1", "a,5,," + second + ",2", "b,1,8," + second + ",1", "b,3,," + second + ",2", "c,1,9," + third + ",1"},
		"latest": {"a,1," + first, "a,5000000000,," + second, "b,1,8," + second, "c,1,9," + third},
		"pairs": {"a,4,,5,," + second, "a,4,,6,70," + second, "a,4,,5000000000,," + second, "a,5,,6,70," + second, "a,5,,5000000000,," + second,
			"a,6,70,5000000000,," + second, "b,1,8,3,," + second},
	} {
		for i := range want {
			want[i] = ".: " + want[i]
		}
		slices.Sort(want)
		same(t, "rows in "+dir, p.lines(dir), want)
	}
}
