package expr_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/expr/exprtest"
	"github.com/millstream-io/millstream/types"
)

// benchBatch has columns of the types that benchmarks use, without nulls, with
// some, and with a selection of every second row.
func benchBatch(nulls, selected bool) *batch.Batch {
	r := rand.New(rand.NewPCG(1, 2))
	fields := []types.Field{
		{Name: "a", Type: types.Of(types.BigInt)}, {Name: "b", Type: types.Of(types.BigInt)},
		{Name: "x", Type: types.Of(types.Double)}, {Name: "y", Type: types.Of(types.Double)},
		{Name: "d", Type: types.DecimalOf(12, 2)}, {Name: "e", Type: types.DecimalOf(25, 4)},
		{Name: "i", Type: types.Of(types.Int)}, {Name: "s", Type: types.StringType()},
		{Name: "t", Type: types.TimeOf(types.Timestamp, 3)}, {Name: "f", Type: types.Of(types.Boolean)},
	}
	if !nulls {
		for i := range fields {
			fields[i].Type = fields[i].Type.NotNull()
		}
	}
	b := batch.NewBatch(types.NewSchema(fields...), batch.DefaultSize)
	for range batch.DefaultSize {
		n := r.Int64N(1_000_000)
		b.Cols[0].(*batch.Fixed[int64]).Append(n)
		b.Cols[1].(*batch.Fixed[int64]).Append(r.Int64N(1000) + 1)
		b.Cols[2].(*batch.Fixed[float64]).Append(r.Float64() * 1000)
		b.Cols[3].(*batch.Fixed[float64]).Append(r.Float64())
		b.Cols[4].(*batch.Fixed[int64]).Append(n)
		b.Cols[5].(*batch.Fixed[types.Int128]).Append(types.Int128FromInt64(n * 1_000_000))
		b.Cols[6].(*batch.Fixed[int32]).Append(int32(n % 1000))
		b.Cols[7].(*batch.Bytes).AppendString(fmt.Sprintf("item-%d", n))
		b.Cols[8].(*batch.Fixed[int64]).Append(1_700_000_000_000 + n*1000)
		b.Cols[9].(*batch.Fixed[bool]).Append(n%3 == 0)
	}
	b.SetSize(batch.DefaultSize)
	if nulls {
		for c, v := range b.Cols {
			valid := batch.NewBitmap(batch.DefaultSize)
			for i := c; i < batch.DefaultSize; i += 10 {
				valid.Clear(i)
			}
			setValid(v, valid)
		}
	}
	if selected {
		sel := make([]int32, 0, batch.DefaultSize/2)
		for i := 0; i < batch.DefaultSize; i += 2 {
			sel = append(sel, int32(i))
		}
		b = b.WithSel(sel)
	}
	return b
}

func setValid(v batch.Vector, valid batch.Bitmap) {
	switch v := v.(type) {
	case *batch.Fixed[int64]:
		v.Valid = valid
	case *batch.Fixed[int32]:
		v.Valid = valid
	case *batch.Fixed[float64]:
		v.Valid = valid
	case *batch.Fixed[bool]:
		v.Valid = valid
	case *batch.Fixed[types.Int128]:
		v.Valid = valid
	case *batch.Bytes:
		v.Valid = valid
	}
}

func BenchmarkEval(b *testing.B) {
	exprs := []string{
		"a + b", "a + 7", "a * b", "a / b", "a % 10", "i + 1", "x * y", "d + d", "e + e", "e * i", "e / d", "d * b", "-a",
		"a < b", "a = 5", "x >= y", "d > e", "s = 'item-5'", "s < 'item-5'", "a IN (1, 2, 3)", "s IN ('item-1', 'item-2')",
		"a > 10 AND b < 500 AND x > 3", "CASE WHEN a > 500000 THEN b ELSE 0 END", "COALESCE(a, b)", "a IS NULL", "NOT f",
		"CAST(a AS STRING)", "CAST(a AS INT)", "CAST(i AS BIGINT)", "CAST(a AS DOUBLE)", "CAST(x AS STRING)", "CAST(d AS DOUBLE)",
		"CAST(t AS STRING)", "CAST(t AS DATE)", "t + INTERVAL '1' HOUR", "t + INTERVAL '1' MONTH", "s || '!'", "ARRAY[a, b][1]",
	}
	for _, src := range exprs {
		for _, mode := range []string{"dense", "nulls", "half"} {
			bt := benchBatch(mode == "nulls", mode == "half")
			p, err := expr.Compile(exprtest.MustOver(b, src, bt.Schema), exprtest.Env())
			if err != nil {
				b.Fatal(err)
			}
			b.Run(src+"/"+mode, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := p.Eval(bt); err != nil {
						b.Fatal(err)
					}
				}
				rows := float64(b.N) * float64(bt.Rows())
				b.ReportMetric(rows/b.Elapsed().Seconds(), "rows/s")
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/rows, "ns/row")
			})
		}
	}
}

func BenchmarkFilter(b *testing.B) {
	for _, src := range []string{"a > 500000", "a > 500000 AND b < 500", "f", "s = 'item-5'", "a > 500000 OR b < 500"} {
		bt := benchBatch(false, false)
		p, err := expr.Compile(exprtest.MustOver(b, src, bt.Schema), exprtest.Env())
		if err != nil {
			b.Fatal(err)
		}
		b.Run(src, func(b *testing.B) {
			for b.Loop() {
				if _, err := p.Filter(bt); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*float64(bt.Rows())/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
