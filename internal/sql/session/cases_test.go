package session_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/connector"
	_ "github.com/millstream-io/millstream/connector/blackhole"
	_ "github.com/millstream-io/millstream/connector/checksum"
	_ "github.com/millstream-io/millstream/connector/datagen"
	_ "github.com/millstream-io/millstream/connector/filesystem"
	_ "github.com/millstream-io/millstream/connector/nexmark"
	_ "github.com/millstream-io/millstream/connector/print"
	"github.com/millstream-io/millstream/connector/script"
	_ "github.com/millstream-io/millstream/format/csv"
	_ "github.com/millstream-io/millstream/format/json"
	_ "github.com/millstream-io/millstream/format/raw"
	"github.com/millstream-io/millstream/internal/sltfile"
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/internal/sql/bind"
	"github.com/millstream-io/millstream/internal/sql/parse"
	"github.com/millstream-io/millstream/internal/sql/session"
)

// sink takes the rows of a query that is only planned.
type sink struct{ connector.Sink }

func (sink) Accepts() connector.Modes { return connector.AllModes }

func newSession(t *testing.T) *session.Session {
	t.Helper()
	s, err := session.New(session.Config{Shared: map[string]any{script.HubKey: script.NewHub()}, Stdout: os.Stdout, Stderr: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// plan plans a SELECT or an INSERT and prints its schema as a script does.
func plan(s *session.Session, stmt ast.Statement) ([]string, error) {
	var p *session.Planned
	var err error
	switch st := stmt.(type) {
	case *ast.QueryStatement:
		p, err = s.PlanQuery(st, sink{})
	case *ast.Insert:
		p, err = s.PlanInsert(st)
	default:
		return nil, fmt.Errorf("%T is no query", stmt)
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for _, f := range p.Schema.Fields {
		out = append(out, f.Name+" "+f.Type.Describe())
	}
	return out, nil
}

// TestCases plans every query of the test scripts: each gives the schema that Flink gives, or an error where Flink gives one,
// or says what is not supported yet.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("../../../test/cases/*/*.slt")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	var later, right int
	for _, path := range files {
		f, err := sltfile.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		s := newSession(t)
		for _, b := range f.Blocks {
			if b.Cmd != "query" && b.Cmd != "exec" {
				continue
			}
			got, err := runBlock(s, b)
			var missing *bind.Unsupported
			where := fmt.Sprintf("%s:%d", strings.TrimPrefix(path, "../../../test/cases/"), b.Line)
			wantError := len(b.Want) > 0 && strings.HasPrefix(b.Want[0], "error")
			switch {
			case errors.As(err, &missing):
				later++
			case err != nil && !wantError:
				t.Errorf("%s: %v", where, err)
			case err == nil && b.Cmd == "query" && wantError:
				t.Errorf("%s: planned, but Flink refuses: %s", where, strings.Join(b.Input, " "))
			case err == nil && b.Cmd == "query" && !slices.Equal(got, b.Want):
				t.Errorf("%s: got\n\t%s\nwant\n\t%s", where, strings.Join(got, "\n\t"), strings.Join(b.Want, "\n\t"))
			default:
				right++
			}
		}
	}
	t.Logf("%d right, %d not supported yet", right, later)
}

func runBlock(s *session.Session, b *sltfile.Block) ([]string, error) {
	stmts, errs := parse.Script(strings.Join(b.Input, "\n"))
	if len(errs) > 0 {
		return nil, errs
	}
	var all []error
	for _, st := range stmts {
		if b.Cmd == "query" {
			return plan(s, st)
		}
		if _, err := s.Execute(st); err != nil {
			all = append(all, err)
		}
	}
	return nil, errors.Join(all...)
}

// TestJobs plans the scripts of the cases for formats. Only what is wrong in the files themselves may come later, when the job
// runs.
func TestJobs(t *testing.T) {
	paths := files(t, "../../../test/cases/formats/*/job.sql")
	later := 0
	for _, path := range paths {
		dir := filepath.Dir(path)
		name := filepath.Base(dir)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		job := strings.NewReplacer("${DIR}", dir, "${OUT}", t.TempDir()).Replace(string(data))
		stmts, errs := parse.Script(job)
		if len(errs) > 0 {
			t.Errorf("%s: %v", name, errs)
			continue
		}
		_, refused := os.Stat(filepath.Join(dir, "expected-error"))
		s := newSession(t)
		for _, st := range stmts {
			_, err := statement(s, st)
			var missing *bind.Unsupported
			switch {
			case errors.As(err, &missing):
				later++
			case err != nil && refused != nil:
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	t.Logf("%d scripts, %d not supported yet", len(paths), later)
}

// TestNexmark plans the queries of the Nexmark benchmark that need no more than there is.
func TestNexmark(t *testing.T) {
	golden(t, "testdata/nexmark-queries", func(_, input string) string { return statements(newSession(t), input) })
}
