package physical_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/connector/script"
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/internal/sql/parse"
	"github.com/millstream-io/millstream/internal/sql/session"
)

// anySink takes the rows of a query that is only planned.
type anySink struct{ connector.Sink }

// Accepts implements connector.Sink.
func (anySink) Accepts() connector.Modes { return connector.AllModes }

// keepsOf plans the query at the end of a script and prints what its nodes keep.
func keepsOf(t *testing.T, text string) string {
	t.Helper()
	stmts, errs := parse.Script(text)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	s, err := session.New(session.Config{Shared: map[string]any{script.HubKey: script.NewHub()}})
	if err != nil {
		t.Fatal(err)
	}
	last := len(stmts) - 1
	for _, st := range stmts[:last] {
		if _, err := s.Execute(st); err != nil {
			t.Fatal(err)
		}
	}
	p, err := s.PlanQuery(stmts[last].(*ast.QueryStatement), anySink{})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, n := range p.Graph.Nodes {
		if len(n.Keeps) > 0 {
			out = append(out, n.ID+": "+strings.Join(n.Keeps, "; "))
		}
	}
	return strings.Join(out, "\n")
}

// TestKeeps: queries that say the same in other words keep the same, and
// queries that differ in what their state means do not.
func TestKeeps(t *testing.T) {
	const ddl = `CREATE TABLE ev (k STRING, v INT, w INT, ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'script');
CREATE VIEW doubled AS SELECT v * 2 AS d, k, ts FROM ev WHERE w > 1;`
	const query = `SELECT k, SUM(v) FILTER (WHERE w > 1) AS s FROM TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '1' DAY) GROUP BY k, window_start, window_end`
	base := keepsOf(t, ddl+query)
	if want := "window=TUMBLE of 86400000 ms"; !strings.Contains(base, want) || !strings.Contains(base, "source:ev: connector=script") {
		t.Errorf("%s", base)
	}
	for _, same := range []string{
		strings.Replace(query, "FROM TUMBLE", "FROM TUMBLE", 1) + " HAVING SUM(v) FILTER (WHERE w > 1) > 3",
		`SELECT SUM(v) FILTER (WHERE w > 1) AS other, k, window_end FROM TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '24' HOUR) GROUP BY k, window_start, window_end`,
	} {
		if got := keepsOf(t, ddl+same); got != base {
			t.Errorf("%s\nkeeps\n%s\nnot\n%s", same, got, base)
		}
	}
	seen := []string{base}
	for _, c := range [][2]string{
		{"SUM(v)", "SUM(w)"}, {"SUM(v)", "SUM(v * 2)"}, {"SUM(v)", "SUM(DISTINCT v)"}, {"SUM(v)", "MAX(v)"}, {"w > 1", "w > 2"},
		{"'1' DAY", "'2' DAY"}, {"GROUP BY k", "GROUP BY v"}, {"SUM(v)", "COUNT(*) AS n, SUM(v)"},
	} {
		changed := strings.Replace(query, c[0], c[1], 1)
		if c[0] == "GROUP BY k" {
			changed = strings.Replace(changed, "SELECT k,", "SELECT v,", 1)
		}
		got := keepsOf(t, ddl+changed)
		if slices.Contains(seen, got) {
			t.Errorf("%s keeps the same as another query:\n%s", changed, got)
		}
		seen = append(seen, got)
	}
	if got := keepsOf(t, "SET 'table.local-time-zone' = 'Europe/Berlin';"+ddl+query); slices.Contains(seen, got) {
		t.Errorf("in another time zone: %s", got)
	}
}

// TestKeepsOfRows: operators that pass rows on do not say which columns these
// have, but by what they are told apart and ordered, with types.
func TestKeepsOfRows(t *testing.T) {
	const ddl = `CREATE TABLE ev (k STRING, v INT, w INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'script');
CREATE VIEW cut AS SELECT * FROM TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '1' DAY);`
	const (
		rank = `SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k, window_start, window_end ORDER BY v) AS n FROM cut) WHERE n <= 3`
		join = `SELECT l.v FROM cut AS l JOIN cut AS r ON l.k = r.k AND l.window_start = r.window_start AND l.window_end = r.window_end AND l.v > r.w`
	)
	for _, c := range []struct {
		query, from, to string
		same            bool
	}{
		{rank, "SELECT k, v", "SELECT k, v, w, n", true},
		{rank, "n <= 3", "n = 2 AND n <= 3", false},
		{rank, "n <= 3", "n <= 4", false},
		{rank, "ORDER BY v", "ORDER BY w", false},
		{rank, "ORDER BY v", "ORDER BY v DESC", false},
		{rank, "ORDER BY v", "ORDER BY CAST(v AS BIGINT)", false},
		{rank, "BY k,", "BY v,", false},
		{rank, "'1' DAY", "'2' DAY", false},
		{join, "SELECT l.v", "SELECT r.w, l.k", true},
		{join, "l.v > r.w", "l.v > r.v", true},
		{join, " JOIN", " LEFT JOIN", false},
		{join, "l.k = r.k", "l.k IS NOT DISTINCT FROM r.k", false},
		{join, "l.k = r.k", "l.v = r.v", false},
		{join, "'1' DAY", "'2' DAY", false},
	} {
		old := keepsOf(t, ddl+c.query)
		now := keepsOf(t, strings.Replace(ddl+c.query, c.from, c.to, 1))
		if same := old == now; same != c.same {
			t.Errorf("%s\nwith %s: same %t\n%s\n%s", c.query, c.to, same, old, now)
		}
	}
}
