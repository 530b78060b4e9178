package sim

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/millstream-io/millstream/connector/filesystem"
	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/internal/sql/parse"
	"github.com/millstream-io/millstream/internal/sql/session"
	"github.com/millstream-io/millstream/internal/vfs"

	_ "github.com/millstream-io/millstream/format/csv"  // a format of the shapes
	_ "github.com/millstream-io/millstream/format/json" // another one
)

// Shape is a kind of job: a script that reads the rows of Input and writes to
// files, whose committed lines are the same however it is disturbed.
type Shape struct {
	Name string
	// inserts are the INSERTs, sinks the tables that they write to.
	inserts, sinks string
}

// source is the table that all shapes read. Its one split makes late rows the
// same ones in each run.
const source = `
CREATE TABLE rides (
  id BIGINT, k INT, u STRING, v INT, x DOUBLE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${in}', 'format' = 'csv', 'csv.null-literal' = 'NULL', 'scan.parallelism' = '1',
  'source.split-size' = '0 kb');
`

// Input makes n rows, about a second apart in event time and out of order; one
// in fifty, whose u is 'late', comes a minute behind the others.
func Input(n int, seed uint64) string {
	rnd := rand.New(rand.NewPCG(seed, 7))
	base := time.Date(2024, 3, 1, 5, 0, 0, 0, time.UTC)
	var b strings.Builder
	for i := range n {
		at := base.Add(time.Duration(i)*time.Second - time.Duration(rnd.IntN(5000))*time.Millisecond)
		u := "u" + strconv.Itoa(rnd.IntN(4))
		if rnd.IntN(50) == 0 {
			at, u = at.Add(-time.Minute), "late"
		}
		v := strconv.Itoa(rnd.IntN(20))
		if rnd.IntN(12) == 0 {
			v = "NULL"
		}
		fmt.Fprintf(&b, "%d,%d,%s,%s,%d.5,%s\n", i, rnd.IntN(7), u, v, rnd.IntN(100), at.Format("2006-01-02 15:04:05.000"))
	}
	return b.String()
}

// Script is the text of the shape's script.
func (s Shape) Script(in, out string) string {
	return strings.NewReplacer("${in}", in, "${out}", out).Replace(source + s.sinks + s.inserts)
}

// windows are the window table functions, by name.
var windows = []struct{ name, call string }{
	{"tumble", "TUMBLE(TABLE rides, DESCRIPTOR(ts), INTERVAL '10' SECOND)"},
	{"tumble with an offset", "TUMBLE(TABLE rides, DESCRIPTOR(ts), INTERVAL '20' SECOND, INTERVAL '3' SECOND)"},
	{"hop", "HOP(TABLE rides, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '15' SECOND)"},
	{"cumulate", "CUMULATE(TABLE rides, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '20' SECOND)"},
	{"session", "SESSION(TABLE rides PARTITION BY k, DESCRIPTOR(ts), INTERVAL '6' SECOND)"},
}

// aggregates are lists of aggregates, by name; each gives text.
var aggregates = []struct {
	name  string
	calls []string
}{
	{"sums and extremes", []string{"COUNT(*)", "COUNT(v)", "SUM(v)", "MIN(id)", "MAX(u)", "AVG(x)"}},
	{"spread", []string{"STDDEV_POP(v)", "STDDEV_SAMP(v)", "VAR_POP(v)", "VAR_SAMP(v)", "MIN(u)"}},
	{"distinct", []string{"COUNT(DISTINCT u)", "SUM(DISTINCT v)", "COUNT(DISTINCT v)"}},
	{"filters", []string{"COUNT(*) FILTER (WHERE v > 5)", "SUM(v) FILTER (WHERE u = 'u1')", "COUNT(DISTINCT v) FILTER (WHERE u <> 'u2')"}},
	{"no aggregate", nil},
}

// sinkForms are the ways to write a result, by name: options, and columns of
// PARTITIONED BY.
var sinkForms = []struct{ name, format, partitions string }{
	{"csv", "csv", ""},
	{"json", "json", ""},
	{"partitioned json", "json", " PARTITIONED BY (k)"},
	{"rolling csv", "csv', 'sink.rolling-policy.file-size' = '200b", ""},
}

// table is the definition of a sink with some columns of text behind k.
func table(name string, columns, form int) string {
	f := sinkForms[form%len(sinkForms)]
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE %s (k INT, w STRING", name)
	for i := range columns {
		fmt.Fprintf(&b, ", c%d STRING", i)
	}
	fmt.Fprintf(&b, ")%s WITH ('connector' = 'filesystem', 'path' = '${out}/%s', 'format' = '%s');\n", f.partitions, name, f.format)
	return b.String()
}

// text makes a list of expressions one of texts, each behind a comma.
func text(calls []string) string {
	var b strings.Builder
	for _, c := range calls {
		fmt.Fprintf(&b, ", CAST(%s AS STRING)", c)
	}
	return b.String()
}

const span = "CAST(window_start AS STRING) || '/' || CAST(window_end AS STRING)"

// Shapes returns the stateful kinds of jobs there are.
func Shapes() []Shape {
	var out []Shape
	for i, w := range windows {
		for j, a := range aggregates {
			insert := fmt.Sprintf("INSERT INTO o SELECT k, %s%s\nFROM %s GROUP BY k, window_start, window_end;\n", span, text(a.calls), w.call)
			out = append(out, Shape{w.name + ", " + a.name, insert, table("o", len(a.calls), i+j)})
		}
	}
	all := aggregates[0].calls
	// Of a union of two sources, which rows are late depends on which is faster,
	// so those that may be are left out there.
	for _, s := range []struct{ name, insert string }{
		{"grouping sets", "SELECT k, " + span + ", u" + text(all) + " FROM " + windows[0].call +
			" GROUP BY window_start, window_end, GROUPING SETS ((k), (u), (k, u), ())"},
		{"rollup over hop", "SELECT k, " + span + ", u" + text(all) + " FROM " + windows[2].call + " GROUP BY window_start, window_end, ROLLUP (k, u)"},
		{"cube, distinct", "SELECT k, " + span + ", u" + text(aggregates[2].calls) + " FROM " + windows[3].call + " GROUP BY window_start, window_end, CUBE (k, u)"},
		{"first and last", "SELECT k, " + span + text([]string{"FIRST_VALUE(v)", "LAST_VALUE(v)", "FIRST_VALUE(u)", "LAST_VALUE(u)"}) + " FROM " + windows[0].call +
			" GROUP BY k, window_start, window_end"},
		{"no key", "SELECT CAST(NULL AS INT), " + span + text(all) + " FROM " + windows[1].call + " GROUP BY window_start, window_end"},
		{"having", "SELECT k, " + span + text(all) + " FROM " + windows[4].call + " GROUP BY k, window_start, window_end HAVING COUNT(*) > 2"},
		{"cascade", "SELECT k, " + span + ", CAST(SUM(n) AS STRING), CAST(MAX(n) AS STRING) FROM TUMBLE(TABLE inner_windows, DESCRIPTOR(rowtime), INTERVAL '30' SECOND)" +
			" GROUP BY k, window_start, window_end"},
		{"cascade of sessions", "SELECT k, " + span + ", CAST(SUM(n) AS STRING) FROM SESSION(TABLE inner_windows PARTITION BY k, DESCRIPTOR(rowtime), INTERVAL '10' SECOND)" +
			" GROUP BY k, window_start, window_end"},
		{"group window", "SELECT k, CAST(HOP_START(ts, INTERVAL '5' SECOND, INTERVAL '10' SECOND) AS STRING)" + text(all) +
			" FROM rides GROUP BY k, HOP(ts, INTERVAL '5' SECOND, INTERVAL '10' SECOND)"},
		{"windows of a union", "SELECT k, " + span + text(all) + " FROM TUMBLE(TABLE both_halves, DESCRIPTOR(ts), INTERVAL '10' SECOND) GROUP BY k, window_start, window_end"},
		{"best of each window", "SELECT k, " + span + ", CAST(n AS STRING), CAST(rn AS STRING) FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end " +
			"ORDER BY n DESC, k) AS rn FROM (SELECT k, window_start, window_end, COUNT(*) AS n FROM " + windows[2].call + " GROUP BY k, window_start, window_end)) WHERE rn <= 3"},
		{"last row of each window", "SELECT k, " + span + ", CAST(id AS STRING) FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k " +
			"ORDER BY ts DESC) AS rn FROM " + windows[0].call + ") WHERE rn = 1"},
		{"join of windows", "SELECT l.k, CAST(l.window_start AS STRING), CAST(l.n AS STRING), CAST(r.s AS STRING) FROM (SELECT k, window_start, window_end, COUNT(*) AS n FROM " +
			windows[0].call + " GROUP BY k, window_start, window_end) AS l LEFT JOIN (SELECT k, window_start, window_end, SUM(v) AS s FROM " + windows[0].call +
			" WHERE v > 9 GROUP BY k, window_start, window_end) AS r ON l.k = r.k AND l.window_start = r.window_start AND l.window_end = r.window_end"},
		{"rows in order of time", "SELECT k, CAST(ts AS STRING), CAST(id AS STRING), u FROM rides ORDER BY ts, v DESC, id"},
		{"running aggregates", "SELECT k, CAST(id AS STRING)" + text([]string{"SUM(v) OVER w", "COUNT(DISTINCT u) OVER w", "MAX(u) OVER w", "LAG(v, 2, -1) OVER w", "RANK() OVER w"}) +
			" FROM rides WINDOW w AS (PARTITION BY k ORDER BY ts)"},
		{"aggregates of the last rows", "SELECT k, CAST(id AS STRING)" + text([]string{"SUM(v) OVER w", "COUNT(DISTINCT u) OVER w", "MIN(v) OVER w", "FIRST_VALUE(u) OVER w"}) +
			" FROM rides WINDOW w AS (PARTITION BY k ORDER BY ts ROWS BETWEEN 3 PRECEDING AND CURRENT ROW)"},
		{"aggregates of the last seconds", "SELECT k, CAST(id AS STRING)" + text([]string{"SUM(v) OVER w", "COUNT(DISTINCT u) OVER w", "MIN(v) OVER w"}) +
			" FROM rides WINDOW w AS (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '20' SECOND PRECEDING AND CURRENT ROW)"},
		{"rows of windows", "SELECT k, " + span + ", CAST(id AS STRING), u FROM " + windows[2].call},
	} {
		columns := strings.Count(topLevel(s.insert), ",") - 1
		views := `
CREATE VIEW inner_windows AS SELECT k, window_time AS rowtime, COUNT(*) AS n FROM ` + windows[0].call + ` GROUP BY k, window_start, window_end, window_time;
CREATE VIEW both_halves AS SELECT k, id, u, v, x, ts FROM rides WHERE u <> 'late' AND id >= 20
  UNION ALL SELECT k + 100, id, u, v, x, ts FROM rides WHERE u <> 'late' AND v > 5;
`
		out = append(out, Shape{s.name, views + "INSERT INTO o " + s.insert + ";\n", table("o", columns, len(out))})
	}
	return append(out, severalSinks(), lateRows())
}

// topLevel is the list of a SELECT without what is in parentheses.
func topLevel(query string) string {
	var b strings.Builder
	depth := 0
	for i, c := range query {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case depth == 0 && strings.HasPrefix(query[i:], " FROM "):
			return b.String()
		case depth == 0:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// severalSinks is a statement set with a sink of each form, two of which hang
// on one window.
func severalSinks() Shape {
	return Shape{
		Name: "statement set with four sinks",
		sinks: table("a", 3, 0) + table("b", 3, 1) + table("c", 2, 2) + table("d", 3, 3) + `
CREATE VIEW counted AS SELECT k, window_start, window_end, COUNT(*) AS n, SUM(v) AS s FROM ` + windows[0].call + ` GROUP BY k, window_start, window_end;
`,
		inserts: `EXECUTE STATEMENT SET BEGIN
INSERT INTO a SELECT k, ` + span + text([]string{"n", "s", "n + s"}) + ` FROM counted;
INSERT INTO b SELECT k, ` + span + text(aggregates[2].calls) + ` FROM ` + windows[4].call + ` GROUP BY k, window_start, window_end;
INSERT INTO c SELECT k, 'ride', CAST(id AS STRING), u FROM rides WHERE v > 3;
INSERT INTO d SELECT k, ` + span + text([]string{"n", "s", "n - s"}) + ` FROM counted WHERE n > 1;
END;
`,
	}
}

// lateRows is a statement set whose rows are in the results of two windows, or
// among the late rows of one.
func lateRows() Shape {
	return Shape{
		Name:  "late rows beside results",
		sinks: table("a", 1, 0) + table("b", 2, 1) + table("c", 5, 3),
		inserts: `EXECUTE STATEMENT SET BEGIN
INSERT INTO a SELECT k, ` + span + text([]string{"COUNT(*)"}) + ` FROM ` + windows[2].call + ` GROUP BY k, window_start, window_end;
INSERT INTO b SELECT k, ` + span + text([]string{"id", "v"}) + ` FROM ` + windows[4].call + `;
INSERT INTO c SELECT k, late_operator` + text([]string{"id", "u", "late_window_end", "late_watermark", "late_by_ms"}) + ` FROM LATE(rides);
END;
`,
	}
}

// Graph returns what makes the shape's graph, with its input in the file in and
// its output below out on a simulated file system.
func (s Shape) Graph(in, out string) func(fsys vfs.FS, parallelism int) (*graph.Graph, error) {
	script := s.Script(in, out)
	return func(fsys vfs.FS, parallelism int) (*graph.Graph, error) {
		stmts, errs := parse.Script(script)
		if len(errs) > 0 {
			return nil, errs
		}
		sess, err := session.New(session.Config{
			Options: map[string]string{"parallelism.default": strconv.Itoa(parallelism)},
			Stdin:   strings.NewReader(""), Stdout: os.Stdout, Stderr: os.Stderr,
			Shared: map[string]any{filesystem.FSKey: fsys},
		})
		if err != nil {
			return nil, err
		}
		var inserts []*ast.Insert
		for _, st := range stmts {
			switch st := st.(type) {
			case *ast.Insert:
				inserts = append(inserts, st)
			case *ast.StatementSet:
				inserts = append(inserts, st.Inserts...)
			default:
				if _, err := sess.Execute(st); err != nil {
					return nil, err
				}
			}
		}
		p, err := sess.PlanInsert(inserts...)
		if err != nil {
			return nil, err
		}
		return p.Graph, nil
	}
}

// Committed returns the lines of all files below a directory that have appeared
// there, each behind the name of its directory.
func Committed(fsys vfs.FS, dir string) ([]string, error) {
	names, err := fsys.List(dir)
	if vfs.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range names {
		path := fsys.PathJoin(dir, name)
		info, err := fsys.Stat(path)
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			below, err := Committed(fsys, path)
			if err != nil {
				return nil, err
			}
			out = append(out, below...)
			continue
		}
		if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
			continue
		}
		data, err := vfs.ReadFile(fsys, path)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(data)) {
			out = append(out, filepath.ToSlash(dir)+": "+strings.TrimSuffix(line, "\n"))
		}
	}
	return out, nil
}
