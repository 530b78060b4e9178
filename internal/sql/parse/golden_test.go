package parse

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/internal/sql/ast"
)

var update = flag.Bool("update", false, "rewrite the expected outputs in testdata")

// runGolden runs f over the inputs of a file in testdata: blocks of an input, a line "----" and the expected output, parted by
// lines "====".
func runGolden(t *testing.T, file string, f func(t *testing.T, input string) string) {
	path := filepath.Join("testdata", file)
	blocks := strings.Split(strings.TrimSuffix(readFile(t, path), "\n"), "\n====\n")
	for i, block := range blocks {
		input, want, _ := strings.Cut(block, "\n----\n")
		input = strings.TrimSuffix(input, "\n----")
		got := f(t, input)
		if !*update && got != want {
			t.Errorf("%s\ngot:\n%s\nwant:\n%s", input, got, want)
		}
		blocks[i] = input + "\n----\n" + got
	}
	if *update {
		if err := os.WriteFile(path, []byte(strings.Join(blocks, "\n====\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestErrors(t *testing.T) {
	runGolden(t, "errors.txt", func(t *testing.T, input string) string {
		_, errs := Script(input)
		return errs.Error()
	})
}

func TestStatements(t *testing.T) {
	runGolden(t, "statements.txt", func(t *testing.T, input string) string {
		stmts, errs := Script(input)
		if len(errs) > 0 {
			t.Errorf("%s\n%v", input, errs)
		}
		var lines []string
		for _, s := range stmts {
			checkRoundTrip(t, s)
			lines = append(lines, ast.String(s)+";")
		}
		return strings.Join(lines, "\n")
	})
}

// TestExpressions prints each expression with all its parentheses, which shows the precedences.
func TestExpressions(t *testing.T) {
	runGolden(t, "expressions.txt", func(t *testing.T, input string) string {
		var lines []string
		for _, line := range strings.Split(input, "\n") {
			e, errs := Expr(line)
			if len(errs) > 0 {
				lines = append(lines, "error: "+errs.Error())
				continue
			}
			lines = append(lines, grouped(e))
		}
		return strings.Join(lines, "\n")
	})
}

// grouped prints operators as (op left right), and everything else as SQL.
func grouped(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Binary:
		return "(" + e.Op + " " + grouped(e.L) + " " + grouped(e.R) + ")"
	case *ast.Unary:
		return "(" + e.Op + " " + grouped(e.X) + ")"
	case *ast.IsTest:
		return "(is " + e.What + " " + grouped(e.X) + ")"
	case *ast.IsDistinct:
		return "(distinct " + grouped(e.L) + " " + grouped(e.R) + ")"
	case *ast.Between:
		return "(between " + grouped(e.X) + " " + grouped(e.Lo) + " " + grouped(e.Hi) + ")"
	case *ast.Like:
		return "(" + strings.ToLower(e.Op) + " " + grouped(e.X) + " " + grouped(e.Pattern) + ")"
	case *ast.In:
		return "(in " + grouped(e.X) + " " + ast.String(&ast.RowExpr{Elems: e.List}) + ")"
	case *ast.FieldAccess:
		return "(. " + grouped(e.X) + " " + e.Name.Name + ")"
	case *ast.Index:
		return "([] " + grouped(e.X) + " " + grouped(e.Index) + ")"
	}
	return ast.String(e)
}

func TestTypes(t *testing.T) {
	runGolden(t, "types.txt", func(t *testing.T, input string) string {
		var lines []string
		for _, line := range strings.Split(input, "\n") {
			typ, errs := Type(line)
			if len(errs) > 0 {
				lines = append(lines, "error: "+errs.Error())
				continue
			}
			lines = append(lines, ast.String(typ))
		}
		return strings.Join(lines, "\n")
	})
}
