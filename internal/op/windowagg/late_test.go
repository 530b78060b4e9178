package windowagg

import (
	"testing"

	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/optest"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/types"
)

// tapped returns a config of COUNT(*) by key with a tap for late rows.
func tapped(t *testing.T) Config {
	in := types.NewSchema(
		types.Field{Name: "k", Type: types.StringType()}, types.Field{Name: "place", Type: types.StringType()}, types.Field{Name: "ts", Type: ts})
	out := types.NewSchema(in.Fields[0], types.Field{Name: "n", Type: big.NotNull()}, types.Field{Name: "window_end", Type: ts})
	side := types.NewSchema(append([]types.Field{in.Fields[0], in.Fields[2]}, window.LateColumns(ts)...)...)
	return Config{
		In: in, Out: out, Keys: []int{0}, Time: 2, Props: []window.Source{window.End}, Aggs: []Agg{{Filter: -1, Bound: count(t)}}, Marked: ts,
		Taps: []window.LateTap{{Tag: "late", Cols: []int{0, 2}, Source: 1, Out: side}},
	}
}

func TestLate(t *testing.T) {
	c := tapped(t)
	c.Window = window.Assigner{Kind: window.Hop, Size: 10_000, Slide: 5000}
	optest.Run(t, "late-hop", optest.Case{In: []*types.Schema{c.In}, Keys: [][]int{{0}}, New: func() op.Operator { return New(c) }})
	s := tapped(t)
	s.Window = window.Assigner{Kind: window.Session, Size: 2000}
	optest.Run(t, "late-session", optest.Case{In: []*types.Schema{s.In}, Keys: [][]int{{0}}, New: func() op.Operator { return New(s) }})
}
