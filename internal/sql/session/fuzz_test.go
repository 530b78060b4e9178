package session_test

import (
	"os"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/connector/script"
	"github.com/millstream-io/millstream/internal/sql/parse"
	"github.com/millstream-io/millstream/internal/sql/session"
)

const fuzzTables = `
CREATE TABLE t (k STRING, v INT NOT NULL, d DECIMAL(10, 2), x DOUBLE, b BOOLEAN, y BYTES, dt DATE, tm TIME(3), z TIMESTAMP_LTZ(3),
  r ROW<a INT, c ROW<e STRING>>, l ARRAY<INT>, m MAP<STRING, INT>, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
  WITH ('connector' = 'script');
CREATE TABLE u (k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'script', 'changelog' = 'upsert');
CREATE TABLE s (k STRING, n BIGINT) WITH ('connector' = 'script', 'changelog' = 'retract');
CREATE VIEW w AS SELECT k, v + 1 AS v1, ts FROM t WHERE v > 0;`

// FuzzPlan plans whatever parses: it may be refused, but nothing may break.
func FuzzPlan(f *testing.F) {
	for _, path := range []string{"testdata/errors.txt", "testdata/later.txt", "testdata/ddl.txt"} {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, block := range strings.Split(string(data), "\n\n") {
			head, _, _ := strings.Cut(block, "\n----")
			if _, sql, ok := strings.Cut(head, "\n"); ok {
				f.Add(strings.NewReplacer("flights", "t", "sums", "s", "keyed", "u", "late", "w").Replace(sql))
			}
		}
	}
	for _, sql := range []string{
		"SELECT k, window_start, COUNT(*) FROM TUMBLE(TABLE w, DESCRIPTOR(ts), INTERVAL '1' HOUR) GROUP BY k, window_start, window_end",
		"INSERT INTO s SELECT k, v FROM t WHERE r.c.e = 'x' UNION ALL SELECT 'a', l[1] FROM t",
		"SELECT CASE WHEN b THEN d ELSE x END, COALESCE(k, 'a'), IF(b, v, 1), NULLIF(v, 2) FROM t",
		"SELECT DISTINCT k FROM (SELECT k FROM t LIMIT 3) AS q WHERE k LIKE 'a%' AND v BETWEEN 1 AND 2 OR v IN (1, 2)",
		"WITH c AS (SELECT ROW(v, k) AS p, MAP['a', v] AS q FROM t) SELECT p.EXPR$0, q['a'] FROM c",
		"EXPLAIN CHANGELOG_MODE SELECT MAX(x) FILTER (WHERE b) FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' DAY, INTERVAL '1' HOUR) GROUP BY window_end, window_start",
	} {
		f.Add(sql)
	}
	tables, errs := parse.Script(fuzzTables)
	if len(errs) > 0 {
		f.Fatal(errs)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		stmts, errs := parse.Script(sql)
		if len(errs) > 0 {
			return
		}
		s, err := session.New(session.Config{Shared: map[string]any{script.HubKey: script.NewHub()}})
		if err != nil {
			t.Fatal(err)
		}
		for _, st := range tables {
			if _, err := s.Execute(st); err != nil {
				t.Fatal(err)
			}
		}
		for _, st := range stmts {
			if _, err := statement(s, st); err != nil && strings.TrimSpace(errorText(err)) == "" {
				t.Errorf("an error without a text: %#v", err)
			}
		}
	})
}
