package session_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/internal/sql/parse"
)

// TestTimingOfTables: how long a table may be silent before it is idle, and
// when all windows close behind the last row, is said by the job, by the table,
// and by a hint: the nearest one counts.
func TestTimingOfTables(t *testing.T) {
	const job = "SET 'table.exec.source.idle-timeout' = '5 s'; SET 'millstream.watermark.flush-after-idle' = '9 s'; "
	const hint = " /*+ OPTIONS('scan.watermark.idle-timeout' = '7 s', 'millstream.watermark.flush-after-idle' = '0 s') */"
	for _, c := range []struct{ set, table, hint, want string }{
		{"", "plain", "", "0 0"},
		{"", "own", "", "60000 2000"},
		{"", "own", hint, "7000 0"},
		{job, "plain", "", "5000 9000"},
		{job, "own", "", "60000 2000"},
		{job, "plain", hint, "7000 0"},
	} {
		s := newSession(t)
		stmts, errs := parse.Script(`
CREATE TABLE plain (v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'script');
CREATE TABLE own (v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'script', 'scan.watermark.idle-timeout' = '1 min', 'millstream.watermark.flush-after-idle' = '2 s');
` + c.set + "SELECT v, COUNT(*) FROM TUMBLE((SELECT * FROM " + c.table + c.hint +
			"), DESCRIPTOR(ts), INTERVAL '1' MINUTE) GROUP BY v, window_start, window_end;")
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		last := len(stmts) - 1
		for _, st := range stmts[:last] {
			if _, err := s.Execute(st); err != nil {
				t.Fatal(err)
			}
		}
		p, err := s.PlanQuery(stmts[last].(*ast.QueryStatement), sink{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, n := range p.Graph.Nodes {
			if n.Source != nil {
				got = append(got, fmt.Sprint(n.Source.IdleTimeout, " ", n.Source.FlushAfterIdle))
			}
		}
		if !slices.Equal(got, []string{c.want}) {
			t.Errorf("%q, table %s%s: idle timeout and flush are %q, want %q", c.set, c.table, c.hint, got, c.want)
		}
	}
}
