package session_test

import (
	"testing"

	"github.com/millstream-io/millstream/connector/script"

	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/internal/sql/parse"
	"github.com/millstream-io/millstream/internal/sql/session"
)

const benchScript = `
CREATE TABLE ev (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'script');
CREATE VIEW big AS SELECT UPPER(k) AS k, v * 2 AS v, ts FROM ev WHERE v > 1;
SELECT k, window_start, COUNT(*) AS n, SUM(v) AS s FROM TUMBLE(TABLE big, DESCRIPTOR(ts), INTERVAL '10' SECOND)
GROUP BY k, window_start, window_end HAVING COUNT(*) > 1;`

// BenchmarkPlan measures what a script costs before its first row: parsing, binding, optimizing and planning.
func BenchmarkPlan(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		stmts, errs := parse.Script(benchScript)
		if len(errs) > 0 {
			b.Fatal(errs)
		}
		s, err := session.New(session.Config{Shared: map[string]any{script.HubKey: script.NewHub()}})
		if err != nil {
			b.Fatal(err)
		}
		for _, st := range stmts[:2] {
			if _, err := s.Execute(st); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := s.PlanQuery(stmts[2].(*ast.QueryStatement), sink{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "scripts/s")
}
