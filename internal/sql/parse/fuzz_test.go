package parse

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/internal/diag"
)

// FuzzParse checks that no text makes the parser panic, that what parses without an error prints as SQL that parses to the
// same tree, and that all places lie within the text.
func FuzzParse(f *testing.F) {
	for _, file := range []string{"errors.txt", "statements.txt"} {
		b, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			f.Fatal(err)
		}
		for _, block := range strings.Split(string(b), "\n====\n") {
			input, _, _ := strings.Cut(block, "\n----\n")
			f.Add(input)
		}
	}
	f.Fuzz(func(t *testing.T, src string) {
		stmts, errs := Script(src)
		if len(errs) > diag.Max {
			t.Fatalf("%d errors", len(errs))
		}
		for _, e := range errs {
			if !e.Pos.Known() {
				t.Fatalf("an error without a place: %v", e)
			}
		}
		if len(errs) > 0 {
			return
		}
		for _, s := range stmts {
			checkSpans(t, src, reflect.ValueOf(s))
			checkRoundTrip(t, s)
		}
	})
}

func TestDeepNesting(t *testing.T) {
	for name, src := range map[string]string{
		"parentheses": "SELECT " + strings.Repeat("(", 100000) + "1",
		"subqueries":  strings.Repeat("SELECT * FROM (", 100000) + "SELECT 1",
		"minus":       "SELECT " + strings.Repeat("- ", 100000) + "1",
		"not":         "SELECT " + strings.Repeat("NOT ", 100000) + "TRUE",
		"arrays":      "SELECT " + strings.Repeat("ARRAY[", 100000) + "1",
		"case":        "SELECT " + strings.Repeat("CASE WHEN ", 100000) + "1",
		"types":       "CREATE TABLE t (a " + strings.Repeat("ARRAY<", 100000) + "INT",
		"joins":       "SELECT * FROM " + strings.Repeat("(a JOIN ", 100000) + "b",
		"patterns":    "SELECT * FROM t MATCH_RECOGNIZE (PATTERN (" + strings.Repeat("(", 100000) + "A",
		"sets":        strings.Repeat("(", 100000) + "SELECT 1" + strings.Repeat(" UNION SELECT 1)", 100000),
		"explain":     strings.Repeat("EXPLAIN ", 100000) + "SELECT 1",
		"args":        "SELECT f(" + strings.Repeat("a => ", 100000) + "1)",
		"chain":       "SELECT 1" + strings.Repeat(" + 1", 100000),
		"grouping":    "SELECT 1 FROM t GROUP BY " + strings.Repeat("ROLLUP (", 100000) + "a",
	} {
		_, errs := Script(src)
		if len(errs) == 0 {
			t.Errorf("%s: no error", name)
			continue
		}
		if msg := errs.Error(); !strings.Contains(msg, "levels deep") && !strings.Contains(msg, "follow each other") && !strings.Contains(msg, "after EXPLAIN") {
			t.Errorf("%s: %s", name, msg)
		}
	}
}

func TestManyErrors(t *testing.T) {
	_, errs := Script(strings.Repeat("FOO;\n", 100))
	if len(errs) != diag.Max {
		t.Fatalf("%d errors, want %d", len(errs), diag.Max)
	}
	for i, e := range errs {
		if e.Pos.Line != i+1 {
			t.Errorf("error %d stands in line %d", i, e.Pos.Line)
		}
	}
}

func BenchmarkScript(b *testing.B) {
	src := readBench(b)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if _, errs := Script(src); len(errs) > 0 {
			b.Fatal(errs)
		}
	}
	b.ReportMetric(float64(strings.Count(src, ";"))*float64(b.N)/b.Elapsed().Seconds(), "statements/s")
}

// readBench returns all statements of the goldens as one script.
func readBench(b *testing.B) string {
	text, err := os.ReadFile(filepath.Join("testdata", "statements.txt"))
	if err != nil {
		b.Fatal(err)
	}
	var script strings.Builder
	for _, block := range strings.Split(string(text), "\n====\n") {
		input, _, _ := strings.Cut(block, "\n----\n")
		script.WriteString(strings.TrimRight(input, "; \n"))
		script.WriteString(";\n")
	}
	return script.String()
}
