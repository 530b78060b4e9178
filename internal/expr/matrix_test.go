package expr_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/expr/exprtest"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

// matrixColumns are columns of many types, each with its values as cells.
var matrixColumns = []struct {
	name  string
	typ   types.Type
	cells []string
}{
	{"f", types.Of(types.Boolean), []string{"TRUE", "FALSE", "NULL"}},
	{"y", types.Of(types.TinyInt), []string{"1", "-128", "NULL", "127", "0"}},
	{"i", types.Of(types.Int), []string{"1", "2", "NULL", "-7", "2147483647", "0", "3"}},
	{"b", types.Of(types.BigInt), []string{"10", "NULL", "-9223372036854775808", "3", "0", "9223372036854775807", "5"}},
	{"x", types.Of(types.Double), []string{"1.5", "NaN", "NULL", "-0.0", "0.0", "Infinity", "1e10", "2"}},
	{"z", types.Of(types.Float), []string{"0.1", "NULL", "2", "NaN", "-3.5"}},
	{"d", types.DecimalOf(10, 2), []string{"1.50", "NULL", "-0.05", "99999999.99", "0.00", "2.00"}},
	{"e", types.DecimalOf(38, 10), []string{"1.5", "9999999999999999999999999999.9999999999", "NULL", "-2", "0", "0.0000000001"}},
	{"s", types.StringType(), []string{"a", "''", "NULL", "bb", "12", "2024-02-29", "true", "😀", "1.5"}},
	{"c", types.CharOf(types.Char, 3), []string{"a", "NULL", "abc", "12"}},
	{"n", types.BytesType(), []string{"a", "NULL", "''", "xyz"}},
	{"dt", types.Of(types.Date), []string{"2024-02-29", "NULL", "1969-12-31", "1970-01-01"}},
	{"ti", types.TimeOf(types.Time, 3), []string{"00:00:00", "NULL", "23:59:59.999", "12:30:00.5"}},
	{"ts", types.TimeOf(types.Timestamp, 3), []string{"2024-02-29 12:34:56.789", "NULL", "1969-12-31 23:59:59.999", "1970-01-01 00:00:00"}},
	{"t9", types.TimeOf(types.Timestamp, 9), []string{"2024-02-29 12:34:56.123456789", "NULL", "1969-12-31 23:59:59.999999999"}},
	{"lz", types.TimeOf(types.TimestampLTZ, 3), []string{"2024-02-29 12:34:56.789", "NULL", "1969-12-31 23:59:59.999"}},
	{"ar", types.ArrayOf(types.Of(types.Int)), []string{"[1, 2, NULL]", "[]", "NULL", "[3]", "[1, 2]"}},
	{"at", types.ArrayOf(types.StringType()), []string{"[1, x]", "[]", "NULL", "[2, NULL]", "[7]"}},
	{"mp", types.MapOf(types.StringType(), types.Of(types.Int)), []string{"{a=1, bb=2}", "{}", "NULL", "{a=NULL}"}},
	{"ro", types.RowOf(types.Field{Name: "p", Type: types.Of(types.Int)}, types.Field{Name: "q", Type: types.StringType()}),
		[]string{"(1, a)", "(NULL, NULL)", "NULL", "(2, 12)"}},
}

// matrixExprs covers each operator, cast and node.
var matrixExprs = []string{
	"i + 1", "y + y", "b - i", "i * i", "b * b", "b / i", "i % 3", "d % i", "-b", "-y", "x + z", "x / 0", "z * 2", "d + e", "d * i",
	"e * e", "e / d", "d - b", "e - 1", "-e", "i = b", "i < 2", "x = x", "x <> 0", "x <= z", "d = e", "d > i", "e < b", "s = 'a'", "s < c",
	"c = 'a  '", "n = X'61'", "f = FALSE", "f < TRUE", "dt = s", "s = f", "ts = lz", "ts < t9", "ar = ar", "ar <> ARRAY[3]", "mp = mp", "ro = ro",
	"i IS DISTINCT FROM 2", "s IS NOT DISTINCT FROM c", "x IS DISTINCT FROM x", "ro IS DISTINCT FROM ro", "i IS NULL", "s IS NOT NULL",
	"f IS TRUE", "f IS NOT TRUE", "f IS FALSE", "f IS NOT FALSE", "f IS UNKNOWN", "NOT f", "f AND i > 1", "f OR b / i > 1", "f AND i > 0 AND x > 0",
	"i > 0 OR f OR s = 'a'", "i IN (1, 2)", "i NOT IN (1, NULL)", "b IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)", "s IN ('a', 'bb', NULL)", "x IN (0, 1.5)",
	"i IN (y, b)", "i BETWEEN 0 AND 2", "i NOT BETWEEN b AND 2", "s || c", "s || '!'", "ar[1]", "ar[i]", "mp['a']", "mp[s]", "ro.p", "ro.q", "CARDINALITY(ar)",
	"CARDINALITY(mp)", "ARRAY[i, 2]", "ARRAY[s, c]", "MAP[s, i, c, 2]", "ROW(i, s)", "ROW(i, s) = ROW(1, 'a')", "ROW(ar, ro)", "ARRAY[ro, ro][2].q",
	"CASE WHEN f THEN i WHEN i > 1 THEN 5 ELSE y END", "CASE WHEN i > 1 THEN s END", "CASE WHEN f THEN ar ELSE ARRAY[i] END", "CASE i WHEN 1 THEN 'one' END",
	"COALESCE(i, y, 0)", "COALESCE(s, c, 'x')", "COALESCE(ro, ROW(7, 'z'))", "COALESCE(NULL, d, e)", "IF(f, x, z)", "NULLIF(i, 2)",
	"CASE WHEN i <> 0 THEN b / i ELSE -1 END", "i <> 0 AND b / i > 1", "i + 1 > 2 AND i + 1 < 9 OR i + 1 = 0",
	"dt + INTERVAL '1' MONTH", "dt - INTERVAL '36' HOUR", "ti + INTERVAL '1' HOUR", "ts + INTERVAL '1' DAY", "INTERVAL '1' YEAR + t9", "lz - INTERVAL '1' MONTH",
	"t9 + INTERVAL '1.5' SECOND", "INTERVAL '1' DAY * i", "CAST(i AS BOOLEAN)", "CAST(i AS TINYINT)", "CAST(b AS INT)", "CAST(b AS DECIMAL(19, 0))",
	"CAST(i AS DECIMAL(5, 2))", "CAST(x AS INT)", "CAST(x AS DECIMAL(10, 3))", "CAST(z AS DOUBLE)", "CAST(d AS INT)", "CAST(e AS DECIMAL(12, 3))", "CAST(d AS DOUBLE)",
	"CAST(e AS FLOAT)", "CAST(f AS INT)", "CAST(f AS DECIMAL(3, 1))", "CAST(i AS STRING)", "CAST(x AS VARCHAR(3))", "CAST(d AS CHAR(6))", "CAST(f AS STRING)", "CAST(ts AS STRING)",
	"CAST(t9 AS TIMESTAMP(3))", "CAST(ts AS TIMESTAMP(9))", "CAST(ts AS DATE)", "CAST(lz AS TIMESTAMP(3))", "CAST(ts AS TIMESTAMP_LTZ(6))", "CAST(dt AS TIMESTAMP_LTZ(3))",
	"CAST(t9 AS TIME(0))", "CAST(ti AS TIME(0))", "CAST(ti AS TIMESTAMP(9))", "CAST(s AS BYTES)", "CAST(n AS STRING)", "CAST(s AS CHAR(2))", "CAST(n AS BINARY(2))", "CAST(c AS VARCHAR(2))",
	"TRY_CAST(s AS INT)", "TRY_CAST(s AS DECIMAL(5, 2))", "TRY_CAST(s AS DOUBLE)", "TRY_CAST(s AS BOOLEAN)", "TRY_CAST(s AS DATE)", "TRY_CAST(s AS TIMESTAMP(3))", "TRY_CAST(s AS TIME(0))",
	"CAST(s AS INT)", "CAST(s AS DATE)", "CAST(ar AS STRING)", "CAST(ar AS ARRAY<BIGINT>)", "TRY_CAST(`at` AS ARRAY<INT>)", "CAST(`at` AS ARRAY<INT>)", "CAST(mp AS MAP<CHAR(1), STRING>)",
	"CAST(ro AS ROW<a BIGINT, b CHAR(2)>)", "TRY_CAST(ro AS ROW<a TINYINT, b INT>)", "CAST(mp AS STRING)", "CAST(ro AS VARCHAR(4))", "(i + 1) * (i + 1) + (i + 1)",
}

// TestMatrix compares evaluation over batches, with nulls and selections and
// with constants in the place of columns, to the evaluation of each row alone.
func TestMatrix(t *testing.T) {
	full := matrixBatch(t)
	for _, src := range matrixExprs {
		t.Run(src, func(t *testing.T) {
			e := exprtest.MustOver(t, src, full.Schema)
			checkRows(t, e, full)
			for _, c := range expr.Columns(e) {
				for _, r := range []int{0, 1, 2, 5} {
					lit := batch.Take(full.Cols[c], []int32{int32(r)})
					fixed := expr.Rewrite(e, func(x expr.Expr) expr.Expr {
						if col, ok := x.(*expr.Col); ok && col.Index == c {
							return expr.NewLit(lit)
						}
						return x
					})
					if _, err := expr.Compile(fixed, exprtest.Env()); errors.As(err, new(*fn.ArgError)) {
						continue // a constant that can never be right, such as a[0]
					}
					cols := append([]batch.Vector(nil), full.Cols...)
					cols[c] = batch.Take(lit, make([]int32, full.Size()))
					checkSame(t, fixed, e, full, full.WithCols(full.Schema, cols))
				}
			}
		})
	}
}

// matrixBatch has as many rows as the columns' cycles need to meet often.
func matrixBatch(t *testing.T) *batch.Batch {
	const n = 150
	var fields []types.Field
	for _, c := range matrixColumns {
		fields = append(fields, types.Field{Name: "`" + c.name + "`", Type: c.typ})
	}
	b := batch.NewBatch(types.NewSchema(fields...), n)
	for k, c := range matrixColumns {
		for i := range n {
			cell := c.cells[(i/(k%3+1)+k)%len(c.cells)]
			if err := text.ParseCell(b.Cols[k], cell); err != nil {
				t.Fatal(err)
			}
		}
	}
	b.SetSize(n)
	return b
}

// answer is what an expression gives for one row.
type answer struct {
	cell string
	err  error
}

// alone evaluates each row in a batch of its own.
func alone(t *testing.T, e expr.Expr, b *batch.Batch) []answer {
	t.Helper()
	p := compile(t, e)
	out := make([]answer, b.Size())
	for i := range out {
		v, err := p.Eval(b.Slice(i, i+1))
		out[i].err = err
		if err == nil {
			out[i].cell = string(text.AppendCell(nil, v, 0))
		}
	}
	return out
}

func compile(t *testing.T, e expr.Expr) *expr.Program {
	t.Helper()
	p, err := expr.Compile(e, exprtest.Env())
	if err != nil {
		t.Fatalf("%s: %v", e, err)
	}
	return p
}

// checkRows evaluates an expression over several selections of a batch.
func checkRows(t *testing.T, e expr.Expr, b *batch.Batch) {
	t.Helper()
	checkSame(t, e, e, b, b)
}

// checkSame checks that e over b gives what ref gives for each row of rb alone.
func checkSame(t *testing.T, e, ref expr.Expr, b, rb *batch.Batch) {
	t.Helper()
	want := alone(t, ref, rb)
	good, bad := []int32{}, []int32{}
	for i, w := range want {
		if w.err == nil {
			good = append(good, int32(i))
		} else {
			bad = append(bad, int32(i))
		}
	}
	sels := [][]int32{good, every(good, 2), every(good, 7), {}}
	if len(bad) == 0 {
		sels = append(sels, nil)
	}
	p := compile(t, e)
	for _, sel := range sels {
		v, err := p.Eval(b.WithSel(sel))
		if err != nil {
			t.Fatalf("%s with %d rows selected: %v", e, len(sel), err)
		}
		if v.Len() != b.Size() || !v.Type().Equal(e.Type()) {
			t.Fatalf("%s gives %d values of type %s, not %d of type %s", e, v.Len(), v.Type(), b.Size(), e.Type())
		}
		for k := range b.WithSel(sel).Rows() {
			i := b.WithSel(sel).At(k)
			if got := string(text.AppendCell(nil, v, i)); got != want[i].cell {
				t.Fatalf("%s, row %d of %d selected: got %s, want %s", e, i, len(sel), got, want[i].cell)
			}
		}
		if e.Type().Kind == types.Boolean {
			checkFilter(t, p, b.WithSel(sel), want)
		}
	}
	if len(bad) == 0 {
		return
	}
	var row *fn.RowError
	if _, err := p.Eval(b.WithSel(nil)); !errors.As(err, &row) || want[row.Pos].err == nil {
		t.Fatalf("%s over rows that fail: %v", e, err)
	}
	if got, alone := row.Error(), want[row.Pos].err.Error(); reason(got) != reason(alone) {
		t.Fatalf("%s: error %q over the batch, %q alone", e, got, alone)
	}
}

// reason is the message of an error without the expression before it.
func reason(msg string) string {
	_, why, _ := strings.Cut(msg, "): ")
	return why
}

func checkFilter(t *testing.T, p *expr.Program, b *batch.Batch, want []answer) {
	t.Helper()
	sel, err := p.Filter(b)
	if err != nil || sel == nil {
		t.Fatalf("filter: %v, %v", sel, err)
	}
	var wanted []int32
	for k := range b.Rows() {
		if i := b.At(k); want[i].cell == "TRUE" {
			wanted = append(wanted, int32(i))
		}
	}
	if fmt.Sprint(sel) != fmt.Sprint(wanted) {
		t.Fatalf("filter: got %v, want %v", sel, wanted)
	}
}

func every(in []int32, n int) []int32 {
	out := []int32{}
	for i := 0; i < len(in); i += n {
		out = append(out, in[i])
	}
	return out
}

// TestNaNIsNotEqual keeps the matrix honest: NaN cells print alike.
func TestNaNIsNotEqual(t *testing.T) {
	b := matrixBatch(t)
	v, err := compile(t, exprtest.MustOver(t, "x = x", b.Schema)).Eval(b)
	if err != nil {
		t.Fatal(err)
	}
	x := b.Cols[4].(*batch.Fixed[float64])
	for i, f := range x.Values {
		if math.IsNaN(f) && v.(*batch.Fixed[bool]).Values[i] {
			t.Fatal("NaN = NaN is true")
		}
	}
}
