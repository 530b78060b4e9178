package fn_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/bind"
	"github.com/millstream-io/millstream/internal/sql/parse"
	"github.com/millstream-io/millstream/internal/text"
)

// TestExamples runs the examples of every function, with and without folding.
func TestExamples(t *testing.T) {
	env := testEnv()
	for _, d := range fn.All() {
		if !d.Internal && (d.Doc == "" || d.Family == "" || d.Syntax == "" || len(d.Examples) == 0) {
			t.Errorf("%s has no family, syntax, documentation or examples", d.Name)
		}
		for _, e := range d.Examples {
			for _, fold := range []bool{false, true} {
				if got, err := eval(e.Expr, env, fold); got != e.Want {
					t.Errorf("%s (folded %t): got %s (%v), want %s", e.Expr, fold, got, err, e.Want)
				}
			}
		}
	}
}

// testEnv is the environment of tests: UTC, and a clock that stands still.
func testEnv() *fn.Env {
	now := time.Date(2024, 2, 29, 12, 34, 56, 789e6, time.UTC)
	return &fn.Env{Zone: time.UTC, Now: func() time.Time { return now }}
}

// eval evaluates an expression and returns value :: TYPE, or error with the
// reason.
func eval(src string, env *fn.Env, fold bool) (out string, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = "panic", fmt.Errorf("%v", r)
		}
	}()
	tree, errs := parse.Expr(src)
	if len(errs) > 0 {
		return "error", errs
	}
	e, err := (&bind.Binder{Env: env}).Expr(tree)
	if err != nil {
		return "error", err
	}
	if fold {
		e = expr.Fold(e, env)
	}
	p, err := expr.Compile(e, env)
	if err != nil {
		return "error", err
	}
	v, err := p.Eval(batch.Of(nil, nil, 1))
	if err != nil {
		return "error", err
	}
	cell := text.NewForm(env.Zone).AppendCell(nil, v, 0)
	return strings.TrimSpace(string(cell)) + " :: " + e.Type().String(), nil
}
