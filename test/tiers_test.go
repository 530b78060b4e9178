package test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/millstream-io/millstream/"

// tiers are the packages from the bottom up: a package imports those of lower
// tiers only, and, where a folder holds a family of packages (fn, op, sql),
// those of its own family that it needs. The first matching prefix counts.
var tiers = []struct {
	tier     int
	prefixes []string
}{
	{10, []string{"internal/cli", "cmd/", "bench", "test"}},
	{9, []string{"internal/slt", "internal/sim", "connector/conformance", "internal/op/optest"}},
	{8, []string{"internal/runtime", "internal/sql/session"}},
	{7, []string{"internal/sql/physical", "internal/checkpoint", "internal/expr/exprtest"}},
	{6, []string{"internal/sql/optimize", "internal/sql/bind", "internal/sql/plan", "internal/sql/connect", "internal/sql/catalog", "internal/sql/config"}},
	{5, []string{"internal/sql/parse", "internal/sql/ast", "internal/graph", "connector/", "format/"}},
	{4, []string{"internal/op", "internal/expr", "connector"}},
	{3, []string{"fn", "internal/cast", "internal/state", "format"}},
	{2, []string{"internal/text", "internal/datepattern"}},
	{1, []string{"batch", "internal/blob"}},
	{0, []string{"types", "internal/real", "internal/diag", "internal/clock", "internal/sltfile", "internal/vfs", "internal/regex", "internal/control"}},
}

func tierOf(pkg string) (int, bool) {
	for _, t := range tiers {
		for _, p := range t.prefixes {
			if pkg == p || strings.HasPrefix(pkg, strings.TrimSuffix(p, "/")+"/") {
				return t.tier, true
			}
		}
	}
	return 0, false
}

// eachFile calls f for every Go file of the product.
func eachFile(t *testing.T, mode parser.Mode, f func(pkg, path string, file *ast.File, fset *token.FileSet)) {
	t.Helper()
	n := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := filepath.ToSlash(strings.TrimPrefix(path, "../"))
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != ".." || d.Name() == "testdata" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, mode)
		if err != nil {
			return err
		}
		n++
		f(filepath.ToSlash(filepath.Dir(rel)), rel, file, fset)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 100 {
		t.Fatalf("only %d files were looked at", n)
	}
}

// TestTiers checks that packages import lower tiers only.
func TestTiers(t *testing.T) {
	eachFile(t, parser.ImportsOnly, func(pkg, path string, file *ast.File, _ *token.FileSet) {
		tier, ok := tierOf(pkg)
		if !ok {
			t.Errorf("%s: package %s has no tier; add it to the list in this test", path, pkg)
			return
		}
		for _, imp := range file.Imports {
			name, _ := strconv.Unquote(imp.Path.Value)
			target, own := strings.CutPrefix(name, module)
			if !own {
				continue
			}
			if to, ok := tierOf(target); ok && to > tier {
				t.Errorf("%s: package %s (tier %d) imports %s (tier %d)", path, pkg, tier, target, to)
			}
		}
	})
}

// goAllowed are the packages that start goroutines: the runtime, the tree of the state
// store, which writes and merges beside the tasks, and the edges
// of the process that no job runs in.
var goAllowed = []string{"internal/runtime", "internal/cli", "internal/control", "internal/state/lsm", "bench", "connector/conformance"}

// TestGoroutines checks that nobody else does.
func TestGoroutines(t *testing.T) {
	eachFile(t, 0, func(pkg, path string, file *ast.File, fset *token.FileSet) {
		for _, p := range goAllowed {
			if pkg == p || strings.HasPrefix(pkg, p+"/") {
				return
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if g, ok := n.(*ast.GoStmt); ok {
				t.Errorf("%s: a goroutine is started outside of the runtime", fset.Position(g.Pos()))
			}
			return true
		})
	})
}
