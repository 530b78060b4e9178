// Package exprtest evaluates expressions from their text, for the tests of
// functions and expressions.
package exprtest

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/bind"
	"github.com/millstream-io/millstream/internal/sql/parse"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

// Env is the environment of tests: UTC, and a clock that stands still.
func Env() *fn.Env {
	now := time.Date(2024, 2, 29, 12, 34, 56, 789e6, time.UTC)
	return &fn.Env{Zone: time.UTC, Now: func() time.Time { return now }}
}

// Constant binds an expression without columns.
func Constant(src string, env *fn.Env) (expr.Expr, error) {
	tree, errs := parse.Expr(src)
	if len(errs) > 0 {
		return nil, errs
	}
	return (&bind.Binder{Env: env}).Expr(tree)
}

// Eval evaluates an expression without columns, folded or not, and returns
// "value :: TYPE", or "error" or "panic" with the reason.
func Eval(src string, env *fn.Env, fold bool) (out string, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = "panic", fmt.Errorf("%v", r)
		}
	}()
	e, err := Constant(src, env)
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

// Answer is an expression and what Eval shall return for it.
type Answer = struct{ Src, Want string }

// Check evaluates each expression, folded and not.
func Check(t *testing.T, env *fn.Env, answers []Answer) {
	t.Helper()
	for _, a := range answers {
		for _, fold := range []bool{false, true} {
			if got, err := Eval(a.Src, env, fold); got != a.Want {
				t.Errorf("%s (folded %t): got %s (%v), want %s", a.Src, fold, got, err, a.Want)
			}
		}
	}
}

// CheckFile compares with what Flink answers: lines "expression  =>  answer" of
// a file. Integers wrap around, as there.
func CheckFile(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var answers []Answer
	for line := range strings.Lines(string(data)) {
		if src, want, ok := strings.Cut(strings.TrimSpace(line), "  =>  "); ok {
			answers = append(answers, Answer{src, want})
		}
	}
	if len(answers) == 0 {
		t.Fatalf("%s has no answers", file)
	}
	env := Env()
	env.WrapIntegers = true
	Check(t, env, answers)
}

// Over binds an expression over the columns of a schema: it binds SELECT src
// FROM (VALUES (...)) with columns of those types, and takes the expression out
// of the plan.
func Over(src string, schema *types.Schema) (expr.Expr, error) {
	var names, values []string
	for _, f := range schema.Fields {
		names = append(names, f.Name)
		value := "NULL"
		if !f.Type.Nullable {
			value = "'1'"
			if f.Type.IsDatetime() {
				value = "'2024-01-01'"
			}
		}
		values = append(values, fmt.Sprintf("CAST(%s AS %s)", value, f.Type.WithNull(true)))
	}
	tree, errs := parse.Query(fmt.Sprintf("SELECT %s FROM (VALUES (%s)) AS t(%s)", src, strings.Join(values, ", "), strings.Join(names, ", ")))
	if len(errs) > 0 {
		return nil, errs
	}
	n, err := (&bind.Binder{Env: Env()}).Query(tree)
	if err != nil {
		return nil, err
	}
	return n.(*plan.Project).Exprs[0], nil
}

// MustOver is Over for expressions that are right.
func MustOver(t testing.TB, src string, schema *types.Schema) expr.Expr {
	t.Helper()
	e, err := Over(src, schema)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return e
}
