package calc_test

import (
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/calc"
	"github.com/millstream-io/millstream/internal/op/optest"
	"github.com/millstream-io/millstream/types"
)

var schema = types.NewSchema(types.Field{Name: "n", Type: types.Of(types.BigInt)})

// config keeps n > 1 and doubles it.
var config = calc.Config{
	Out: schema,
	Filter: func(b *batch.Batch) ([]int32, error) {
		n := b.Cols[0].(*batch.Fixed[int64])
		sel := []int32{}
		for i := range b.Rows() {
			if p := b.At(i); n.Valid.Get(p) && n.Values[p] > 1 {
				sel = append(sel, int32(p))
			}
		}
		return sel, nil
	},
	Project: func(b *batch.Batch) ([]batch.Vector, error) {
		n := b.Cols[0].(*batch.Fixed[int64])
		out := batch.MakeFixed[int64](n.Typ, len(n.Values))
		for i := range b.Rows() {
			p := b.At(i)
			out.Values[p] = 2 * n.Values[p]
		}
		return []batch.Vector{out}, nil
	},
}

func TestCalc(t *testing.T) {
	optest.Run(t, "calc", optest.Case{In: []*types.Schema{schema}, New: func() op.Operator { return calc.New(config) }})
}

// TestTime projects the watermark that the operator has seen: 0 before the first.
func TestTime(t *testing.T) {
	optest.Run(t, "time", optest.Case{In: []*types.Schema{schema}, New: func() op.Operator {
		time := calc.NewTime()
		return calc.New(calc.Config{Out: schema, Time: time, Project: func(b *batch.Batch) ([]batch.Vector, error) {
			out := batch.MakeFixed[int64](b.Cols[0].Type(), b.Size())
			for i := range out.Values {
				out.Values[i] = max(time.Watermark(), 0)
			}
			return []batch.Vector{out}, nil
		}})
	}})
}

func BenchmarkCalc(b *testing.B) { optest.Bench(b, schema, calc.New(config)) }
