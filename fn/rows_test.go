package fn_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/expr/exprtest"
	"github.com/millstream-io/millstream/internal/sql/bind"
	"github.com/millstream-io/millstream/internal/sql/parse"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

// TestExamplesOverColumns runs the examples with their literals in columns: what
// a function does with arguments that are not constant is the same.
func TestExamplesOverColumns(t *testing.T) {
	env := exprtest.Env()
	ran := 0
	for _, d := range fn.All() {
		for _, e := range d.Examples {
			if d.Volatile || e.Want == "error" {
				continue
			}
			tree, errs := parse.Expr(e.Expr)
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			bound, err := (&bind.Binder{Env: env}).Expr(tree)
			if err != nil {
				t.Fatal(err)
			}
			over, cols := lift(bound)
			p, err := expr.Compile(over, env)
			if err != nil || len(cols) == 0 {
				continue // the function wants a constant there
			}
			ran++
			out, err := p.Eval(batch.Of(nil, cols, 4).WithSel([]int32{1, 3}))
			if err != nil {
				t.Errorf("%s over columns: %v", e.Expr, err)
				continue
			}
			form := text.NewForm(env.Zone)
			want, _, _ := strings.Cut(e.Want, " :: ")
			for _, i := range []int{1, 3} {
				if got := strings.TrimSpace(string(form.AppendCell(nil, out, i))); got != want {
					t.Errorf("%s over columns: got %s, want %s", e.Expr, got, want)
				}
			}
		}
	}
	if ran < 300 {
		t.Errorf("only %d examples ran", ran)
	}
}

// lift replaces the literals of an expression by columns, which are parts of
// longer vectors.
func lift(e expr.Expr) (expr.Expr, []batch.Vector) {
	var cols []batch.Vector
	return expr.Rewrite(e, func(e expr.Expr) expr.Expr {
		lit, ok := e.(*expr.Lit)
		if !ok || lit.Type().Kind == types.Null {
			return e
		}
		cols = append(cols, batch.Take(lit.Value, make([]int32, 9)).Slice(3, 7))
		return expr.NewCol(len(cols)-1, "c", lit.Type())
	}), cols
}

// rowExprs are expressions over the columns s, p and q (texts), n and k (small
// integers), d (DOUBLE), m (DECIMAL) and b (BYTES). None of them fails.
var rowExprs = []string{
	"CHAR_LENGTH(s)", "UPPER(s)", "LOWER(s)", "INITCAP(s)", "CONCAT(s, p)", "CONCAT(s, '-', p)", "CONCAT_WS(p, s, q, s)", "s || p",
	"SUBSTRING(s, n)", "SUBSTRING(s, n, k)", "SUBSTRING(s, 2, 3)", "LEFT(s, n)", "RIGHT(s, n)",
	"TRIM(s)", "TRIM(BOTH p FROM s)", "TRIM(LEADING 'ab' FROM s)", "RTRIM(s, p)", "LTRIM(s)", "BTRIM(s, 'é ')",
	"LPAD(s, k, p || '-')", "RPAD(s, k, '*')", "OVERLAY(s PLACING p FROM n)", "OVERLAY(s PLACING p FROM n FOR k)",
	"POSITION(p IN s)", "LOCATE(p, s, n)", "INSTR(s, p, n)", "INSTR(s, p, n, 2)", "STARTSWITH(s, p)", "ENDSWITH(s, p)", "STARTSWITH(b, b)",
	"REPLACE(s, p, q)", "REPLACE(s, 'a', 'bb')", "REPLACE(s, p, '')", "TRANSLATE(s, p, q)", "TRANSLATE(s, 'ab', 'é')",
	"SPLIT_INDEX(s, p, k)", "SPLIT_INDEX(s, 'a', k)", "SPLIT_INDEX(s, 'a', 1)", "SPLIT_INDEX(s, 97, 0)", "SPLIT_INDEX(s, '', k)", "SPLIT(s, p)",
	"STR_TO_MAP(s, p, q)", "STR_TO_MAP(s)", "REPEAT(s, n)", "REVERSE(s)", "ASCII(s)", "CHR(n + 100)", "ELT(n, s, p, q)",
	"s LIKE p", "s LIKE 'a%'", "s LIKE '%a_%b'", "s LIKE '%é%'", "s NOT LIKE p", "s LIKE q || '%'", "s SIMILAR TO 'a(b|é)*%'", "s SIMILAR TO p || '%'",
	"REGEXP(s, p)", "REGEXP_REPLACE(s, p || '|b', q)", "REGEXP_EXTRACT(s, '(a)|b', 1)", "REGEXP_EXTRACT(s, p)", "REGEXP_EXTRACT_ALL(s, 'a.')", "REGEXP_COUNT(s, 'a')",
	"REGEXP_INSTR(s, p || 'a')", "REGEXP_SUBSTR(s, '[ab]+')",
	"PRINTF('%s-%5d|%.3f', s, n, d)", "PRINTF(s, n)", "IS_ALPHA(s)", "IS_DIGIT(s)", "IS_DECIMAL(s)",
	"TO_BASE64(s)", "FROM_BASE64(TO_BASE64(s))", "HEX(s)", "HEX(n)", "UNHEX(s)", "UNHEX(HEX(s))", "BIN(n)", "ENCODE(s, 'UTF-16')", "DECODE(b, 'UTF-8')", "DECODE(b, 'UTF-16LE')",
	"MD5(s)", "SHA1(s)", "SHA256(s)", "SHA2(s, 512)", "URL_ENCODE(s)", "URL_DECODE(s)", "PARSE_URL('http://' || s, 'HOST')", "PARSE_URL('http://h/p?a=' || s, 'QUERY', 'a')",
	"ABS(n)", "ABS(m)", "SIGN(d)", "SIGN(m)", "MOD(n, k + 1)", "POWER(d, n)", "SQRT(d)", "EXP(d)", "LN(ABS(d) + 1)", "LOG(2, ABS(d) + 1)", "SIN(d)", "ATAN2(d, m)",
	"CEIL(d)", "FLOOR(m)", "ROUND(d, n)", "ROUND(m, n)", "ROUND(m, 1)", "ROUND(n, -1)", "TRUNCATE(d, 1)", "TRUNCATE(m, n)",
	"GREATEST(s, p, q)", "LEAST(n, k)", "GREATEST(d, m)", "COALESCE(s, p)", "NULLIF(s, p)", "IF(n > 0, s, p)", "IFNULL(n, k)",
	"CARDINALITY(SPLIT(s, p))", "ELEMENT(ARRAY[s])", "ARRAY_CONTAINS(SPLIT(s, p), q)", "MAP_KEYS(STR_TO_MAP(s, p, q))", "MAP_VALUES(STR_TO_MAP(s, 'a', 'b'))",
}

// TestRows compares whole batches, with nulls and without, parts of batches and
// selections with the same rows on their own.
func TestRows(t *testing.T) {
	const size = 150
	for _, nullable := range []bool{true, false} {
		all := randomRows(size, nullable)
		part := all.Slice(17, 120)
		chosen := []int32{}
		for i := range int32(part.Size()) {
			if i%3 != 1 {
				chosen = append(chosen, i)
			}
		}
		for _, src := range rowExprs {
			e, err := exprtest.Over(src, all.Schema)
			if err != nil {
				t.Fatalf("%s: %v", src, err)
			}
			whole, rest := evalRows(t, e, all), evalRows(t, e, part.WithSel(chosen))
			single := make([]string, size)
			for i := range single {
				single[i] = evalRows(t, e, all.Slice(i, i+1))[0]
				if whole[i] != single[i] {
					t.Fatalf("%s: row %d of a batch is %s, on its own %s", src, i, whole[i], single[i])
				}
			}
			for k, i := range chosen {
				if rest[k] != single[17+i] {
					t.Fatalf("%s: row %d of a selection is %s, on its own %s", src, i, rest[k], single[17+i])
				}
			}
		}
	}
}

// evalRows evaluates an expression and prints the rows that count.
func evalRows(t *testing.T, e expr.Expr, b *batch.Batch) []string {
	t.Helper()
	p, err := expr.Compile(e, exprtest.Env())
	if err != nil {
		t.Fatalf("%s: %v", e, err)
	}
	v, err := p.Eval(b)
	if err != nil {
		t.Fatalf("%s: %v", e, err)
	}
	out := make([]string, b.Rows())
	for i := range out {
		out[i] = string(text.AppendCell(nil, v, b.At(i)))
	}
	return out
}

// randomRows makes rows whose texts share few characters, so that they are
// found in each other.
func randomRows(size int, nullable bool) *batch.Batch {
	r := rand.New(rand.NewPCG(7, 8))
	of := func(t types.Type) types.Type { return t.WithNull(nullable) }
	b := batch.NewBatch(types.NewSchema(
		types.Field{Name: "s", Type: of(types.StringType())}, types.Field{Name: "p", Type: of(types.StringType())},
		types.Field{Name: "q", Type: of(types.StringType())}, types.Field{Name: "n", Type: of(types.Of(types.Int))},
		types.Field{Name: "k", Type: of(types.Of(types.Int))}, types.Field{Name: "d", Type: of(types.Of(types.Double))},
		types.Field{Name: "m", Type: of(types.DecimalOf(10, 3))}, types.Field{Name: "b", Type: of(types.BytesType())},
	), size)
	for range size {
		for _, c := range b.Cols {
			if nullable && r.IntN(8) == 0 {
				c.(interface{ AppendNull() }).AppendNull()
				continue
			}
			switch c {
			case b.Cols[0]:
				b.Cols[0].(*batch.Bytes).AppendString(randomText(r, 12))
			case b.Cols[1], b.Cols[2]:
				c.(*batch.Bytes).AppendString(randomText(r, 2))
			case b.Cols[3]:
				c.(*batch.Fixed[int32]).Append(r.Int32N(9) - 4)
			case b.Cols[4]:
				c.(*batch.Fixed[int32]).Append(r.Int32N(5))
			case b.Cols[5]:
				c.(*batch.Fixed[float64]).Append(math.Round(r.NormFloat64()*1e5) / 1e4)
			case b.Cols[6]:
				c.(*batch.Fixed[int64]).Append(r.Int64N(2e6) - 1e6)
			case b.Cols[7]:
				c.(*batch.Bytes).AppendString(randomText(r, 6))
			}
		}
	}
	b.SetSize(size)
	return b
}

func randomText(r *rand.Rand, most int) string {
	chars := []string{"a", "b", "A", "é", " ", "1"}
	if r.IntN(2) == 0 {
		chars = []string{"a", "b", "B", "1"} // ASCII alone
	}
	var out strings.Builder
	for range r.IntN(most + 1) {
		out.WriteString(chars[r.IntN(len(chars))])
	}
	return out.String()
}
