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
