package fn_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/expr/exprtest"
	"github.com/millstream-io/millstream/types"
)

// BenchmarkFunctions measures functions of the families of text, numbers, hashes
// and collections over a batch: u is a URL, s a short text, w one that is not
// ASCII, n an INT, d a DOUBLE, m a DECIMAL.
func BenchmarkFunctions(b *testing.B) {
	rows := benchRows()
	for _, src := range []string{
		"CHAR_LENGTH(u)", "CHAR_LENGTH(w)", "LOWER(u)", "UPPER(w)", "INITCAP(s)", "CONCAT(s, u)", "CONCAT(s, '-', u)", "CONCAT_WS('-', s, u)",
		"SUBSTRING(u, 9, 5)", "SUBSTRING(w, 3, 5)", "SUBSTRING(u, n, n)", "LEFT(u, 4)", "RIGHT(u, 4)", "TRIM(s)", "LPAD(s, 20, '0')", "OVERLAY(u PLACING 'xx' FROM 5)",
		"REPLACE(u, '/', '-')", "REPLACE(u, s, 'x')", "TRANSLATE(u, 'abc', 'xyz')", "POSITION('item' IN u)", "STARTSWITH(u, 'https')",
		"SPLIT_INDEX(u, '/', 3)", "SPLIT_INDEX(u, '/', 5)", "SPLIT_INDEX(s, 'a', 0)", "SPLIT(u, '/')", "STR_TO_MAP(s, '&', '=')", "REVERSE(w)", "REPEAT(s, 3)",
		"s = 'item-50'", "u LIKE 'https%'", "u LIKE '%9'", "u LIKE '%item%'", "u LIKE '%item%9%'", "u LIKE 'https://___.%'", "u LIKE s", "u SIMILAR TO '%item[0-9]+'",
		"REGEXP(u, 'item/[0-9]+$')", "REGEXP_EXTRACT(u, '(&|^)id=([^&]*)', 2)", "REGEXP_EXTRACT(u, 'item/([0-9]*)', 1)", "REGEXP_REPLACE(u, '[0-9]+', '#')",
		"PRINTF('%s-%d', s, n)", "IS_DIGIT(s)", "MD5(u)", "SHA256(u)", "TO_BASE64(u)", "FROM_BASE64(TO_BASE64(u))", "HEX(u)", "URL_ENCODE(u)", "PARSE_URL(u, 'HOST')",
		"ABS(n)", "MOD(n, 100)", "ROUND(d, 2)", "ROUND(m, 1)", "FLOOR(d)", "FLOOR(m)", "POWER(d, 2)", "SQRT(d)", "LN(d)", "SIN(d)", "RAND()", "UUID()",
		"GREATEST(n, 500)", "GREATEST(s, u)", "ARRAY_CONTAINS(ARRAY[n, 5], 7)", "MAP_KEYS(MAP[s, n])",
	} {
		e, err := exprtest.Over(src, rows.Schema)
		if err != nil {
			b.Fatal(err)
		}
		p, err := expr.Compile(e, exprtest.Env())
		if err != nil {
			b.Fatal(err)
		}
		b.Run(src, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Eval(rows); err != nil {
					b.Fatal(err)
				}
			}
			total := float64(b.N) * float64(rows.Size())
			b.ReportMetric(total/b.Elapsed().Seconds(), "rows/s")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/total, "ns/row")
		})
	}
}

func benchRows() *batch.Batch {
	r := rand.New(rand.NewPCG(1, 2))
	notNull := func(t types.Type) types.Type { return t.NotNull() }
	b := batch.NewBatch(types.NewSchema(
		types.Field{Name: "u", Type: notNull(types.StringType())}, types.Field{Name: "s", Type: notNull(types.StringType())},
		types.Field{Name: "w", Type: notNull(types.StringType())}, types.Field{Name: "n", Type: notNull(types.Of(types.Int))},
		types.Field{Name: "d", Type: notNull(types.Of(types.Double))}, types.Field{Name: "m", Type: notNull(types.DecimalOf(12, 3))},
	), batch.DefaultSize)
	for range batch.DefaultSize {
		n := r.IntN(1000)
		b.Cols[0].(*batch.Bytes).AppendString(fmt.Sprintf("https://www.nexmark.com/q%d/item/%d?a=1&id=%d", n%7, n, n))
		b.Cols[1].(*batch.Bytes).AppendString(fmt.Sprintf("item-%d", n))
		b.Cols[2].(*batch.Bytes).AppendString(fmt.Sprintf("größe-%d-naïve", n))
		b.Cols[3].(*batch.Fixed[int32]).Append(int32(n))
		b.Cols[4].(*batch.Fixed[float64]).Append(r.Float64() * 1000)
		b.Cols[5].(*batch.Fixed[int64]).Append(r.Int64N(1e9))
	}
	b.SetSize(batch.DefaultSize)
	return b
}
