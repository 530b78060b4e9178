package fn_test

import (
	"testing"

	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/expr/exprtest"
)

// TestExamples runs the examples of every function, with and without folding.
func TestExamples(t *testing.T) {
	env := exprtest.Env()
	for _, d := range fn.All() {
		if !d.Internal && (d.Doc == "" || d.Family == "" || d.Syntax == "" || len(d.Examples) == 0) {
			t.Errorf("%s has no family, syntax, documentation or examples", d.Name)
		}
		for _, e := range d.Examples {
			for _, fold := range []bool{false, true} {
				if got, err := exprtest.Eval(e.Expr, env, fold); got != e.Want {
					t.Errorf("%s (folded %t): got %s (%v), want %s", e.Expr, fold, got, err, e.Want)
				}
			}
		}
	}
}
