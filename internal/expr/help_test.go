package expr_test

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
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

// testEnv is the environment of tests: UTC, and a clock that stands still.
func testEnv() *fn.Env {
	now := time.Date(2024, 2, 29, 12, 34, 56, 789e6, time.UTC)
	return &fn.Env{Zone: time.UTC, Now: func() time.Time { return now }}
}

// constant binds an expression without columns.
func constant(src string, env *fn.Env) (expr.Expr, error) {
	tree, errs := parse.Expr(src)
	if len(errs) > 0 {
		return nil, errs
	}
	return (&bind.Binder{Env: env}).Expr(tree)
}

// eval evaluates a constant expression and returns value :: TYPE, or the error.
func eval(src string, env *fn.Env, fold bool) (string, error) {
	e, err := constant(src, env)
	if err != nil {
		return "", err
	}
	if fold {
		e = expr.Fold(e, env)
	}
	p, err := expr.Compile(e, env)
	if err != nil {
		return "", err
	}
	v, err := p.Eval(batch.Of(nil, nil, 1))
	if err != nil {
		return "", err
	}
	return string(text.NewForm(env.Zone).AppendCell(nil, v, 0)) + " :: " + e.Type().String(), nil
}

// bindOver binds an expression over the columns of a schema.
func bindOver(t testing.TB, src string, schema *types.Schema) expr.Expr {
	t.Helper()
	e, err := tryBindOver(src, schema)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return e
}

// tryBindOver binds SELECT src FROM (VALUES (...)) with columns of the types of
// the schema, and takes the expression out of the plan.
func tryBindOver(src string, schema *types.Schema) (expr.Expr, error) {
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
	sql := fmt.Sprintf("SELECT %s FROM (VALUES (%s)) AS t(%s)", src, strings.Join(values, ", "), strings.Join(names, ", "))
	tree, errs := parse.Query(sql)
	if len(errs) > 0 {
		return nil, errs
	}
	return exprOf((&bind.Binder{Env: testEnv()}).Query(tree))
}

func exprOf(n plan.Node, err error) (expr.Expr, error) {
	if err != nil {
		return nil, err
	}
	return n.(*plan.Project).Exprs[0], nil
}
