package windowagg

import (
	"testing"

	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/optest"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/types"
)

// emitting returns a config of COUNT(*), COUNT(DISTINCT v) and COUNT(*) FILTER (WHERE f) by key.
func emitting(t testing.TB, w window.Assigner, e Emit) Config {
	in := types.NewSchema(
		types.Field{Name: "k", Type: types.StringType()}, types.Field{Name: "v", Type: types.Of(types.Int)},
		types.Field{Name: "f", Type: types.Of(types.Boolean)}, types.Field{Name: "ts", Type: ts})
	out := types.NewSchema(
		in.Fields[0], types.Field{Name: "n", Type: big.NotNull()}, types.Field{Name: "d", Type: big.NotNull()},
		types.Field{Name: "c", Type: big.NotNull()}, types.Field{Name: "window_end", Type: ts})
	return Config{
		In: in, Out: out, Keys: []int{0}, Time: 3, Window: w, Props: []window.Source{window.End}, Marked: ts, Emit: &e,
		Taps: []window.LateTap{{Tag: "late", Cols: []int{0, 1}, Source: -1, Out: types.NewSchema(append(in.Fields[:2:2], window.LateColumns(ts)...)...)}},
		Aggs: []Agg{
			{Filter: -1, Bound: count(t)},
			{Filter: -1, Bound: count(t, in.Fields[1].Type), Args: []int{1}, Distinct: true},
			{Filter: 2, Bound: count(t)},
		},
	}
}

func TestEmit(t *testing.T) {
	tumble, hop := window.Assigner{Size: 10_000}, window.Assigner{Kind: window.Hop, Size: 10_000, Slide: 5000}
	c := emitting(t, tumble, Emit{Early: Never, Late: 0, Lateness: 5000})
	optest.Run(t, "emit-late", optest.Case{In: []*types.Schema{c.In}, Keys: [][]int{{0}}, New: func() op.Operator { return New(c) }})
	u := c
	u.Updating = true
	optest.Run(t, "emit-updating", optest.Case{In: []*types.Schema{c.In}, Keys: [][]int{{0}}, New: func() op.Operator { return New(u) }})
	h := emitting(t, hop, Emit{Early: Never, Late: 0, Lateness: 5000})
	optest.Run(t, "emit-hop", optest.Case{In: []*types.Schema{c.In}, Keys: [][]int{{0}}, New: func() op.Operator { return New(h) }})
	d := emitting(t, tumble, Emit{Early: 3000, Late: 1000, Lateness: 5000})
	optest.Run(t, "emit-delays", optest.Case{In: []*types.Schema{c.In}, Keys: [][]int{{0}}, New: func() op.Operator { return New(d) }})
	p := emitting(t, tumble, Emit{Early: 2000, Late: Never})
	p.Proctime = true
	optest.Run(t, "emit-clock", optest.Case{In: []*types.Schema{c.In}, Keys: [][]int{{0}}, New: func() op.Operator { return New(p) }})
}

// BenchmarkEmitLate counts rows by key in windows of 10,000 rows and 1,000 keys
// that are kept for one more window.
func BenchmarkEmitLate(b *testing.B) {
	in := types.NewSchema(types.Field{Name: "k", Type: big}, types.Field{Name: "ts", Type: ts})
	out := types.NewSchema(in.Fields[0], types.Field{Name: "n", Type: big.NotNull()}, types.Field{Name: "window_end", Type: ts})
	optest.Bench(b, in, New(Config{
		In: in, Out: out, Keys: []int{0}, Time: 1, Window: window.Assigner{Size: 10_000}, Props: []window.Source{window.End},
		Aggs: []Agg{{Filter: -1, Bound: count(b)}}, Emit: &Emit{Early: Never, Lateness: 10_000},
	}))
}
