package expr_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/expr/exprtest"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

// counter is a function INT -> INT that counts the rows that it sees.
type counter struct {
	def  fn.Def
	rows int
}

func newCounter(volatile bool) *counter {
	c := &counter{def: fn.Def{Name: "SEEN", Volatile: volatile}}
	c.def.Bind = func(call *fn.Call) (*fn.Bound, error) {
		return &fn.Bound{Result: call.Args[0].Type, Kernel: func(rows fn.Rows, args []batch.Vector) (batch.Vector, error) {
			c.rows += rows.Len()
			return args[0], nil
		}}, nil
	}
	return c
}

func (c *counter) of(t *testing.T, arg expr.Expr) expr.Expr {
	t.Helper()
	return must(t)(expr.NewCall(&c.def, []expr.Expr{arg}, nil, exprtest.Env()))
}

// must fails the test on an error of a constructor.
func must(t *testing.T) func(expr.Expr, error) expr.Expr {
	return func(e expr.Expr, err error) expr.Expr {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
}

func call(t *testing.T, name string, args ...expr.Expr) expr.Expr {
	t.Helper()
	return must(t)(expr.NewCall(fn.Lookup(name), args, nil, exprtest.Env()))
}

// numbers is a batch of one INT column with the values 0 to n-1, in which every
// fifth is null.
func numbers(n int) *batch.Batch {
	b := batch.NewBatch(types.NewSchema(types.Field{Name: "i", Type: types.Of(types.Int)}), n)
	col := b.Cols[0].(*batch.Fixed[int32])
	for i := range n {
		if i%5 == 4 {
			col.AppendNull()
		} else {
			col.Append(int32(i))
		}
	}
	b.SetSize(n)
	return b
}

var colI = expr.NewCol(0, "i", types.Of(types.Int))

func TestSharedPartsAreEvaluatedOnce(t *testing.T) {
	c := newCounter(false)
	b := numbers(100) // 80 rows without null
	seen := c.of(t, colI)
	exprs := []expr.Expr{
		call(t, "+", seen, expr.Int(1)),
		call(t, "*", c.of(t, colI), call(t, "+", c.of(t, colI), expr.Int(1))),
		colI,
	}
	p, err := expr.CompileAll(exprs, exprtest.Env())
	if err != nil {
		t.Fatal(err)
	}
	for round := 1; round <= 2; round++ {
		out, err := p.Eval(b)
		if err != nil {
			t.Fatal(err)
		}
		if c.rows != 80*round {
			t.Fatalf("round %d: the shared call saw %d rows, want %d", round, c.rows, 80*round)
		}
		if out[2] != b.Cols[0] {
			t.Error("a bare column was copied")
		}
		if got := string(text.AppendCell(nil, out[1], 3)); got != "12" {
			t.Errorf("3 * 4 = %s", got)
		}
	}
}

func TestVolatileCallsAreNotShared(t *testing.T) {
	c := newCounter(true)
	once := c.of(t, colI)
	p, err := expr.CompileAll([]expr.Expr{once, once, c.of(t, colI)}, exprtest.Env())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Eval(numbers(10)); err != nil {
		t.Fatal(err)
	}
	if c.rows != 16 {
		t.Errorf("two calls of a volatile function saw %d rows, want 16", c.rows)
	}
	if e := expr.Fold(c.of(t, expr.Int(1)), exprtest.Env()); fmt.Sprintf("%T", e) != "*expr.Call" {
		t.Errorf("a volatile call was folded to %s", e)
	}
}

func TestBranchesAreLazy(t *testing.T) {
	c := newCounter(false)
	b := numbers(100)
	small := call(t, "<", colI, expr.Int(10)) // 8 rows, and 20 nulls
	tests := []struct {
		name string
		e    expr.Expr
		want int
	}{
		{"CASE", must(t)(expr.NewCase([]expr.Expr{small}, []expr.Expr{c.of(t, colI)}, expr.Int(0), exprtest.Env())), 8},
		{"ELSE", must(t)(expr.NewCase([]expr.Expr{small}, []expr.Expr{expr.Int(0)}, c.of(t, colI), exprtest.Env())), 72},
		{"AND", must(t)(expr.NewLogic(false, []expr.Expr{small, call(t, "=", c.of(t, colI), expr.Int(1))}, exprtest.Env())), 8},
		{"OR", must(t)(expr.NewLogic(true, []expr.Expr{small, call(t, "=", c.of(t, colI), expr.Int(1))}, exprtest.Env())), 72},
		// COALESCE asks once, although its CASE has the argument twice.
		{"COALESCE", must(t)(expr.NewCoalesce([]expr.Expr{c.of(t, colI), expr.Int(7)}, exprtest.Env())), 80},
	}
	for _, tt := range tests {
		c.rows = 0
		if _, err := compile(t, tt.e).Eval(b); err != nil {
			t.Fatal(err)
		}
		if c.rows != tt.want {
			t.Errorf("%s evaluated its operand for %d rows, want %d", tt.name, c.rows, tt.want)
		}
	}
}

func TestFold(t *testing.T) {
	schema := types.NewSchema(types.Field{Name: "i", Type: types.Of(types.Int)}, types.Field{Name: "f", Type: types.Of(types.Boolean)})
	tests := []struct{ src, want string }{
		{"1 + 2 * 3", "7"},
		{"i + (1 + 2)", "(i + 3)"},
		{"i + 1 / 0", "(i + (1 / 0))"},
		{"CASE WHEN 1 = 1 THEN i ELSE 5 END", "i"},
		{"CASE WHEN 1 = 2 THEN i ELSE 5 END", "5"},
		{"CASE WHEN f THEN i WHEN TRUE THEN 3 ELSE 4 END", "CASE WHEN f THEN i ELSE 3 END"},
		{"CASE WHEN CAST(NULL AS BOOLEAN) THEN i END", "NULL"},
		{"f AND 1 = 1", "f"},
		{"f AND 1 = 2 AND 1 / i = 0", "(f AND FALSE)"},
		{"1 = 2 AND f", "FALSE"},
		{"f OR 1 = 1 OR i = 2", "(f OR TRUE)"},
		{"1 = 2 OR f OR i = 2", "(f OR (i = 2))"},
		{"'a' || 'b' || CAST(1 + 1 AS STRING)", "'ab2'"},
		{"COALESCE(i, CAST('7' AS INT))", "CASE WHEN (i IS NOT NULL) THEN i ELSE 7 END"},
		{"ARRAY[1, 2][2]", "2"},
		{"COALESCE(1, i)", "1"},
		{"CASE WHEN 1 = 1 THEN i + 1 END", "(i + 1)"},
	}
	for _, tt := range tests {
		e := exprtest.MustOver(t, tt.src, schema)
		folded := expr.Fold(e, exprtest.Env())
		if got := folded.String(); got != tt.want {
			t.Errorf("%s folds to %s, want %s", tt.src, got, tt.want)
		}
		if !folded.Type().Equal(e.Type()) {
			t.Errorf("%s: folding changes the type from %s to %s", tt.src, e.Type(), folded.Type())
		}
	}
}

func TestString(t *testing.T) {
	schema := types.NewSchema(
		types.Field{Name: "i", Type: types.Of(types.Int)}, types.Field{Name: "s", Type: types.StringType()},
		types.Field{Name: "a", Type: types.ArrayOf(types.Of(types.Int))},
		types.Field{Name: "r", Type: types.RowOf(types.Field{Name: "p", Type: types.Of(types.Int)})},
		types.Field{Name: "ts", Type: types.TimeOf(types.Timestamp, 3)},
	)
	tests := []struct{ src, want string }{
		{"i + 1", "(i + 1)"},
		{"-i * 2", "(-(i) * 2)"},
		{"NOT i = 1", "(i <> 1)"},
		{"NOT (i IS NULL)", "NOT (i IS NULL)"},
		{"i IN (1, 2)", "(i IN (1, 2))"},
		{"s = 'it''s' OR s IS NULL", "((s = 'it''s') OR (s IS NULL))"},
		{"a[i]", "a[i]"},
		{"r.p", "r.p"},
		{"TRY_CAST(s AS DECIMAL(5, 2))", "TRY_CAST(s AS DECIMAL(5, 2))"},
		{"i + CAST(1 AS BIGINT)", "(CAST(i AS BIGINT) + CAST(1 AS BIGINT))"},
		{"ts + INTERVAL '1' DAY", "(ts + INTERVAL '+1 00:00:00.000')"},
		{"CASE WHEN i = 1 THEN 'a' END", "CASE WHEN (i = 1) THEN 'a' END"},
		{"ROW(i, X'0aff')", "ROW(i, X'0AFF')"},
		{"ARRAY[i, 2]", "ARRAY[i, 2]"},
		{"CARDINALITY(a)", "CARDINALITY(a)"},
		{"DATE '2024-01-01' = CAST(ts AS DATE)", "(DATE '2024-01-01' = CAST(ts AS DATE))"},
	}
	for _, tt := range tests {
		if got := exprtest.MustOver(t, tt.src, schema).String(); got != tt.want {
			t.Errorf("%s prints as %s, want %s", tt.src, got, tt.want)
		}
	}
	if got := (&expr.Col{Index: 3}).String(); got != "$3" {
		t.Errorf("a column without name prints as %s", got)
	}
}

func TestColumnsAndRemap(t *testing.T) {
	schema := types.NewSchema()
	for i := range 6 {
		schema.Fields = append(schema.Fields, types.Field{Name: fmt.Sprintf("c%d", i), Type: types.Of(types.Int)})
	}
	e := exprtest.MustOver(t, "CASE WHEN c5 > 1 AND c1 < 2 THEN COALESCE(c3, c1) ELSE CAST('1' AS INT) END", schema)
	if got := fmt.Sprint(expr.Columns(e)); got != "[1 3 5]" {
		t.Errorf("columns: %s", got)
	}
	if got := fmt.Sprint(expr.Columns(expr.ShiftColumns(e, 10))); got != "[11 13 15]" {
		t.Errorf("shifted: %s", got)
	}
	back := expr.Remap(e, func(i int) int { return i })
	if back != e {
		t.Error("a rewrite that changes nothing made a copy")
	}
	if expr.Constant(e) || !expr.Constant(expr.Int(1)) || expr.Volatile(e) {
		t.Error("Constant or Volatile is wrong")
	}
	nodes := 0
	expr.Walk(e, func(expr.Expr) bool { nodes++; return nodes == 1 })
	if nodes != 1+len(expr.Children(e)) {
		t.Errorf("Walk visited %d nodes", nodes)
	}
}

func TestErrorsNameExpressionAndRow(t *testing.T) {
	b := numbers(10)
	tests := []struct {
		src, msg string
		pos      int
	}{
		{"7 / (i - 3)", "(7 / (i - 3)) at 1:8: division of 7 by zero; guard it, as in NULLIF(divisor, 0)", 3},
		{"i + 2147483640", "(i + 2147483640) at 1:8: 8 + 2147483640 is out of the range of INT; cast an operand to a wider type", 8},
		{"CAST(CAST(i AS STRING) || 'x' AS INT)", "CAST((CAST(i AS STRING) || 'x') AS INT) at 1:8: cannot read '0x' as INT; use TRY_CAST to get NULL for it", 0},
		{"CASE WHEN i = 7 THEN CAST(1000 * i AS TINYINT) ELSE CAST(1 AS TINYINT) END", "CAST((1000 * i) AS TINYINT) at 1:29: 7000 is out of the range of TINYINT", 7},
	}
	for _, tt := range tests {
		_, err := compile(t, exprtest.MustOver(t, tt.src, b.Schema)).Eval(b)
		var row *fn.RowError
		if !errors.As(err, &row) || row.Pos != tt.pos || !strings.HasPrefix(row.Msg, tt.msg) {
			t.Errorf("%s: got %v, want %q at row %d", tt.src, err, tt.msg, tt.pos)
		}
	}
}

func TestRefusals(t *testing.T) {
	schema := types.NewSchema(
		types.Field{Name: "i", Type: types.Of(types.Int)}, types.Field{Name: "s", Type: types.StringType()},
		types.Field{Name: "d", Type: types.Of(types.Date)}, types.Field{Name: "a", Type: types.ArrayOf(types.Of(types.Int))},
		types.Field{Name: "m", Type: types.MapOf(types.StringType(), types.Of(types.Int))},
	)
	tests := []struct{ src, want string }{
		{"i = s", "cannot apply = to INT and STRING"},
		{"i + d", "cannot apply + to INT and DATE"},
		{"d - d", "needs a unit"},
		{"i + NULL", "cannot tell the type of NULL"},
		{"a < a", "cannot apply < to"},
		{"a[0]", "counts from 1"},
		{"a[CAST(1 AS BIGINT)]", "must be an INT"},
		{"m[1]", "the keys of this map are STRING"},
		{"s || 1", "must be a string"},
		{"ARRAY[1, 'a']", "no common type"},
		{"CAST(d AS INT)", "cannot cast DATE to INT"},
		{"CASE WHEN i = 1 THEN 1 ELSE 'a' END", "common type"},
		{"d IN (1)", "cannot look for DATE among INT"},
		{"5e0 % 2", "must be an integer or a DECIMAL"},
	}
	for _, tt := range tests {
		if e, err := exprtest.Over(tt.src, schema); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, %v, want an error with %q", tt.src, e, err, tt.want)
		}
	}
}

func TestEmptyBatch(t *testing.T) {
	b := numbers(0)
	for _, src := range []string{"i + 1", "CASE WHEN i > 1 THEN 'a' ELSE 'b' END", "i > 1 AND i < 3", "COALESCE(i, 1)", "ARRAY[i]", "5", "i IN (1, 2)",
		"i = NULL", "TRY_CAST(NULL AS ARRAY<INT>)[1]"} {
		p := compile(t, exprtest.MustOver(t, src, b.Schema))
		v, err := p.Eval(b)
		if err != nil || v.Len() != 0 {
			t.Errorf("%s over no rows: %v, %v", src, v, err)
		}
	}
}
