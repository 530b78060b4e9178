package expr_test

import (
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/expr/exprtest"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

// A CASE over a few constants gives the same as one whose branches are computed, which takes the general way.
func TestSwitchOverConstants(t *testing.T) {
	for _, nulls := range []bool{false, true} {
		for _, selected := range []bool{false, true} {
			b := benchBatch(nulls, selected)
			col := func(i int) expr.Expr {
				f := b.Schema.Fields[i]
				return expr.NewCol(i, f.Name, f.Type)
			}
			on := call(t, "%", col(6), expr.Int(5)) // no column: the general way
			plain := caseOf(t, on, col(0), col(1), expr.Null(types.Of(types.BigInt)))
			cols := append([]batch.Vector{}, b.Cols...)
			cols[6] = valuesOf(t, on, b)
			fast := caseOf(t, expr.NewCol(6, "i", on.Type()), col(0), col(1), expr.Null(types.Of(types.BigInt)))
			want, got := valuesOf(t, plain, b), valuesOf(t, fast, b.WithCols(b.Schema, cols))
			for i := range b.Rows() {
				p := b.At(i)
				if want, got := string(text.AppendCell(nil, want, p)), string(text.AppendCell(nil, got, p)); got != want {
					t.Fatalf("nulls %v, selected %v, row %d: %s, want %s", nulls, selected, p, got, want)
				}
			}
		}
	}
}

func TestGiven(t *testing.T) {
	i, j := expr.NewCol(0, "i", types.Of(types.Int)), expr.NewCol(1, "i", types.Of(types.Int))
	a, b, c := expr.NewCol(2, "a", types.Of(types.BigInt)), expr.NewCol(3, "b", types.Of(types.BigInt)), expr.NewCol(4, "c", types.Of(types.BigInt))
	choice := caseOf(t, i, a, b, c)
	is := func(x expr.Expr, n int32) expr.Expr { return call(t, "=", x, expr.Int(n)) }
	and := must(t)(expr.NewLogic(false, []expr.Expr{is(j, 7), is(i, 3)}, exprtest.Env()))
	or := must(t)(expr.NewLogic(true, []expr.Expr{is(j, 7), is(i, 3)}, exprtest.Env()))
	for _, x := range []struct {
		cond expr.Expr
		want string
	}{
		{is(i, 0), "a"},
		{is(i, 1), "b"},
		{is(i, 2), "c"},
		{and, "c"},
		{or, choice.String()},
		{is(j, 0), choice.String()}, // another column of that name
		{call(t, ">", i, expr.Int(1)), choice.String()},
	} {
		if got := expr.Given(x.cond, choice); got.String() != x.want || !got.Type().Equal(choice.Type()) {
			t.Errorf("given %s it is %s %s, want %s %s", x.cond, got, got.Type(), x.want, choice.Type())
		}
	}
}

func valuesOf(t *testing.T, e expr.Expr, b *batch.Batch) batch.Vector {
	t.Helper()
	p, err := expr.Compile(e, exprtest.Env())
	if err != nil {
		t.Fatal(err)
	}
	v, err := p.Eval(b)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// caseOf is CASE x WHEN 0 THEN a WHEN 1 THEN b ELSE c END.
func caseOf(t *testing.T, x, a, b, c expr.Expr) expr.Expr {
	t.Helper()
	return must(t)(expr.NewCase([]expr.Expr{call(t, "=", x, expr.Int(0)), call(t, "=", expr.Int(1), x)}, []expr.Expr{a, b}, c, exprtest.Env()))
}
