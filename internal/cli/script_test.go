package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	_ "github.com/millstream-io/millstream/connector/checksum"
	_ "github.com/millstream-io/millstream/connector/filesystem"
	_ "github.com/millstream-io/millstream/connector/nexmark"
	_ "github.com/millstream-io/millstream/format/csv"
	"github.com/millstream-io/millstream/internal/sql/parse"
	"github.com/millstream-io/millstream/internal/sql/session"
)

// tables are what the scripts below read and write.
const tables = `
CREATE TABLE events (event_type INT) WITH ('connector' = 'nexmark', 'events' = '10');
CREATE TABLE a (event_type INT) WITH ('connector' = 'checksum');
CREATE TABLE b (event_type INT) WITH ('connector' = 'checksum');
`

func plan(t *testing.T, text string) *script {
	t.Helper()
	sc, err := planScript("dir/job.sql", text, session.Config{Stdout: io.Discard, Stderr: io.Discard}, outputForm{"changelog", io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	return sc
}

// describe lists the steps of a script, a job with its sinks.
func describe(sc *script) string {
	var out []string
	for _, s := range sc.steps {
		if s.answer != nil {
			out = append(out, "answer")
			continue
		}
		var sinks []string
		for _, n := range s.job.graph.Nodes {
			if n.Sink != nil {
				sinks = append(sinks, n.ID)
			}
		}
		out = append(out, strings.TrimSpace(s.job.name+" "+strings.Join(sinks, "+")))
	}
	return strings.Join(out, "; ")
}

func TestJobsOfAScript(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"one", "INSERT INTO a SELECT * FROM events;", "job sink:a"},
		{"two together", "INSERT INTO a SELECT * FROM events; INSERT INTO b SELECT * FROM events;", "job sink:a+sink:b"},
		{"a set and one", "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT * FROM events; END; INSERT INTO b SELECT * FROM events;", "job sink:a+sink:b"},
		{"a table between", "INSERT INTO a SELECT * FROM events; CREATE TABLE c (n INT) WITH ('connector' = 'checksum'); INSERT INTO c SELECT * FROM events;",
			"job sink:a+sink:c"},
		{"an option between", "INSERT INTO a SELECT * FROM events; SET 'parallelism.default' = '2'; INSERT INTO b SELECT * FROM events;", "job sink:a+sink:b"},
		{"a table that is dropped", "INSERT INTO a SELECT * FROM events; DROP TABLE a; INSERT INTO b SELECT * FROM events;", "job sink:a+sink:b"},
		{"the same table after an option", "INSERT INTO a SELECT * FROM events; SET 'x' = 'y'; INSERT INTO a SELECT * FROM events;", "job sink:a+sink:a/2"},
		{"a query between", "INSERT INTO a SELECT * FROM events; SELECT * FROM events; INSERT INTO b SELECT * FROM events;",
			"job sink:a; sink:result; job-2 sink:b"},
		{"a name", "SET 'pipeline.name' = 'n'; INSERT INTO a SELECT * FROM events; SELECT 1; SET 'pipeline.name' = 'm'; INSERT INTO b SELECT * FROM events;",
			"n sink:a; sink:result; m sink:b"},
		{"answers", "SHOW TABLES; DESCRIBE a; SELECT 1;", "answer; answer; sink:result"},
	} {
		sc := plan(t, tables+c.script)
		if got := describe(sc); got != c.want || len(sc.errs) > 0 {
			t.Errorf("%s: got %q, want %q; errors: %v", c.name, got, c.want, sc.errs)
		}
	}
}

// TestOptionsBetweenInserts: an INSERT is planned under the options that stand
// in front of it.
func TestOptionsBetweenInserts(t *testing.T) {
	sc := plan(t, tables+"INSERT INTO a SELECT * FROM events; SET 'parallelism.default' = '3'; INSERT INTO b SELECT * FROM events;")
	got := map[string]int{}
	for _, n := range sc.steps[0].job.graph.Nodes {
		if n.Source != nil {
			got[n.ID] = n.Parallelism
		}
	}
	if len(got) != 2 || got["source:events"]+got["source:events/2"] != 4 {
		t.Errorf("got %v", got)
	}
}

func TestErrorsOfAScript(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"all syntax errors", "SELECT 1 +;\nSELEC 2;\n", "dir/job.sql:1:11: expected an expression, found \";\"\ndir/job.sql:2:1: "},
		{"errors of several statements", tables + "SELECT x FROM events;\nSELECT y FROM events;\n", "dir/job.sql:5:8: unknown column \"x\""},
		{"no repetition for a broken table", "CREATE TABLE t (n INTEGR) WITH ('connector' = 'checksum');\nINSERT INTO t SELECT 1;\nSELECT * FROM t;\n", "dir/job.sql:1:19: "},
	} {
		sc := plan(t, c.script)
		err := sc.err()
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
	if sc := plan(t, "CREATE TABLE t (n INTEGR) WITH ('connector' = 'checksum');\nINSERT INTO t SELECT 1;\nSELECT * FROM t;\n"); len(sc.errs) != 1 {
		t.Errorf("got %v", sc.errs)
	}
}

func TestWarnings(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{"SET 'pipline.name' = 'x'; SELECT 1;", `1:5: option "pipline.name" is unknown and has no effect; did you mean "pipeline.name"?`},
		{"SET 'some.thing.else' = 'x'; SELECT 1;", `1:5: option "some.thing.else" is unknown and has no effect`},
		{"SET 'parallelism.default' = '1'; SELECT 1;", ""},
		{"SET 'execution.checkpointing.interval' = '1 s'; SELECT 1;", ""},
		{"CREATE TABLE e (k INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen');\n" +
			"SELECT ARRAY_AGG(k ORDER BY ts), COLLECT(k) WITHIN GROUP (ORDER BY ts) FROM TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '1' DAY) GROUP BY window_start, window_end;",
			"2:29: ORDER BY has no effect in ARRAY_AGG, as in Flink: values stand in the order in which they came"},
		{"CREATE TABLE t (n INT) WITH ('connector' = 'checksum');", "the script has no SELECT and no INSERT, so nothing runs"},
	} {
		if got := plan(t, c.script).warnings.Error(); got != c.want {
			t.Errorf("%s: got %q, want %q", c.script, got, c.want)
		}
	}
}

func TestFlinkDifferences(t *testing.T) {
	sc := plan(t, `
SET 'arithmetic.overflow' = 'wrap';
SET 'parallelism.default' = '2';
CREATE TABLE e (event_type INT) WITH ('connector' = 'nexmark', 'events' = '10');
SELECT * FROM e;
`)
	got := flinkDifferences(sc.stmts).Error()
	for _, want := range []string{`2:5: option "arithmetic.overflow" does not exist in Flink`, `4:53: Flink has no connector "nexmark"`} {
		if !strings.Contains(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if n := strings.Count(got, "\n") + 1; n != 2 {
		t.Errorf("%d differences: %s", n, got)
	}
}

// TestFlinkHasNot: what of a query Flink has not is found wherever it stands.
func TestFlinkHasNot(t *testing.T) {
	stmts, errs := parse.Script(`CREATE TABLE e (k INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'filesystem', 'path' = 'in', 'format' = 'csv', 'csv.header' = 'true',
  'late-rows' = 'emit', 'allowed-lateness' = '1 s', 'source.monitor-interval' = '1 s');
CREATE VIEW v AS SELECT k FROM LATE(e) WHERE k IN (SELECT k FROM e /*+ OPTIONS('late-rows' = 'drop', 'path' = 'x') */);
EXPLAIN STATE SELECT DISTINCT k FROM e;
EXECUTE STATEMENT SET BEGIN
  INSERT INTO o SELECT k FROM (SELECT * FROM STATE('job', 'op')) UNION ALL SELECT k FROM v;
END;
SELECT k FROM TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '1' SECOND);
SELECT COUNT(k) FILTER (WHERE k > 1), JSON_ARRAYAGG(k) FILTER (WHERE k > 1) FROM e;
`)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var got []string
	for _, d := range flinkDifferences(stmts) {
		got = append(got, fmt.Sprintf("%d:%d: %s", d.Pos.Line, d.Pos.Col, strings.SplitN(d.Msg, ":", 2)[0]))
	}
	want := []string{
		`2:64: option "csv.header" does not exist in Flink`,
		`3:3: option "late-rows" does not exist in Flink`,
		`3:25: option "allowed-lateness" does not exist in Flink`,
		"4:32: Flink has no table function LATE, the late rows of a table or view",
		`4:80: option "late-rows" does not exist in Flink`,
		"5:1: Flink has no EXPLAIN STATE",
		"7:46: Flink has no table function STATE, the state of an operator of a job",
		"10:70: Flink takes no FILTER behind JSON_ARRAYAGG",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
