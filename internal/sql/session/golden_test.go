package session_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/internal/sql/bind"
	"github.com/millstream-io/millstream/internal/sql/parse"
	"github.com/millstream-io/millstream/internal/sql/session"
	"github.com/millstream-io/millstream/internal/text"
)

var update = flag.Bool("update", false, "write the answers into the golden files")

// golden runs a file of blocks: a command, its input, a line ----, and the answer up to a blank line. Lines that begin with #
// before a block are comments.
func golden(t *testing.T, path string, run func(cmd, input string) string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, block := range strings.Split(strings.TrimSpace(string(data)), "\n\n") {
		head, want, _ := strings.Cut(block, "\n----")
		var comments []string
		lines := strings.Split(head, "\n")
		for len(lines) > 0 && strings.HasPrefix(lines[0], "#") {
			comments, lines = append(comments, lines[0]), lines[1:]
		}
		if len(lines) == 0 {
			out.WriteString(block + "\n\n")
			continue
		}
		got := strings.TrimSpace(withoutBlankLines(run(lines[0], strings.Join(lines[1:], "\n"))))
		if want = strings.TrimSpace(want); got != want && !*update {
			t.Errorf("%s:\n%s\ngot:\n%s\nwant:\n%s", path, head, got, want)
		}
		if len(comments) > 0 {
			out.WriteString(strings.Join(comments, "\n") + "\n")
		}
		out.WriteString(strings.Join(lines, "\n") + "\n----\n" + got + "\n\n")
	}
	if *update {
		if err := os.WriteFile(path, []byte(strings.TrimRight(out.String(), "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func withoutBlankLines(s string) string {
	var out []string
	for _, line := range strings.Split(s, "\n") {
		if strings.TrimSpace(line) != "" {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// statements runs a script and gives what it prints: results as rows, errors one a line.
func statements(s *session.Session, input string) string {
	stmts, errs := parse.Script(input)
	if len(errs) > 0 {
		return errs.In("job.sql")
	}
	var out []string
	for _, st := range stmts {
		text, err := statement(s, st)
		if err != nil {
			text = errorText(err)
		}
		out = append(out, text)
	}
	return strings.Join(out, "\n")
}

func errorText(err error) string {
	switch e := err.(type) {
	case diag.List:
		return e.In("job.sql")
	case *bind.Unsupported:
		return e.In("job.sql")
	}
	return err.Error()
}

func statement(s *session.Session, st ast.Statement) (string, error) {
	switch st := st.(type) {
	case *ast.StatementSet:
		_, err := s.PlanInsert(st.Inserts...)
		return "planned", err
	case *ast.QueryStatement, *ast.Insert:
		lines, err := plan(s, st)
		return strings.Join(lines, "\n"), err
	}
	r, err := s.Execute(st)
	if err != nil || r.Rows == nil {
		return "ok", err
	}
	return rows(r), nil
}

func rows(r *session.Result) string {
	if r.Text {
		return string(r.Rows.Cols[0].(interface{ At(int) []byte }).At(0))
	}
	var out []string
	for i := range r.Rows.Rows() {
		cells := make([]string, len(r.Rows.Cols))
		for c, v := range r.Rows.Cols {
			cells[c] = string(text.AppendCell(nil, v, i))
		}
		out = append(out, strings.Join(cells, " | "))
	}
	return strings.Join(out, "\n")
}

// TestStatements runs statements that start no job, and the errors of all kinds.
func TestStatements(t *testing.T) {
	for _, path := range files(t, "testdata/*.txt") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			s := newSession(t)
			golden(t, path, func(cmd, input string) string {
				if cmd == "new" {
					s = newSession(t)
				}
				return statements(s, input)
			})
		})
	}
}

// TestPlans prints the plans of queries at each stage.
func TestPlans(t *testing.T) {
	for _, path := range files(t, "../../../test/plan/*.txt") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			s := newSession(t)
			golden(t, path, func(cmd, input string) string {
				switch cmd {
				case "new":
					s = newSession(t)
				case "explain":
					input = "EXPLAIN CHANGELOG_MODE " + input
				}
				return statements(s, input)
			})
		})
	}
}

func files(t *testing.T, pattern string) []string {
	t.Helper()
	out, err := filepath.Glob(pattern)
	if err != nil || len(out) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	return out
}
