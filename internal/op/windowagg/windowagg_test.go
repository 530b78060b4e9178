package windowagg

import (
	"slices"
	"testing"

	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/optest"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/types"
)

var (
	big = types.Of(types.BigInt)
	ts  = types.TimeOf(types.Timestamp, 3)
)

func count(t testing.TB, args ...types.Type) *fn.BoundAgg {
	t.Helper()
	c := &fn.Call{Env: &fn.Env{}}
	for _, a := range args {
		c.Args = append(c.Args, fn.Arg{Type: a})
	}
	b, err := fn.LookupAgg("COUNT").Bind(c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestWindowAgg(t *testing.T) {
	in := types.NewSchema(
		types.Field{Name: "k", Type: types.StringType()}, types.Field{Name: "v", Type: types.Of(types.Int)},
		types.Field{Name: "f", Type: types.Of(types.Boolean)}, types.Field{Name: "ts", Type: ts})
	out := types.NewSchema(
		in.Fields[0], types.Field{Name: "n", Type: big.NotNull()}, types.Field{Name: "d", Type: big.NotNull()},
		types.Field{Name: "c", Type: big.NotNull()}, types.Field{Name: "window_end", Type: ts})
	c := Config{
		In: in, Out: out, Keys: []int{0}, Time: 3, Window: window.Assigner{Size: 10_000}, Props: []window.Source{window.End},
		Aggs: []Agg{
			{Filter: -1, Bound: count(t)},
			{Filter: -1, Bound: count(t, in.Fields[1].Type), Args: []int{1}, Distinct: true},
			{Filter: 2, Bound: count(t)},
		},
	}
	optest.Run(t, "windowagg", optest.Case{In: []*types.Schema{in}, Keys: [][]int{{0}}, New: func() op.Operator { return New(c) }})
	c.Updating = true
	optest.Run(t, "updating", optest.Case{In: []*types.Schema{in}, Keys: [][]int{{0}}, New: func() op.Operator { return New(c) }})
}

func TestEachWindow(t *testing.T) {
	type part struct {
		end  int64
		rows []int32
	}
	for _, c := range []struct {
		ends []int64
		want []part
	}{
		{[]int64{5, 5, 5}, []part{{5, []int32{10, 11, 12}}}},
		{[]int64{5, 9, 5, 9, 1}, []part{{5, []int32{10, 12}}, {9, []int32{11, 13}}, {1, []int32{14}}}},
	} {
		rows := []int32{10, 11, 12, 13, 14}[:len(c.ends)]
		var got []part
		err := window.Each(c.ends, rows, func(end int64, rows []int32) error {
			got = append(got, part{end, slices.Clone(rows)})
			return nil
		})
		if err != nil || len(got) != len(c.want) {
			t.Fatalf("%v: got %v, %v", c.ends, got, err)
		}
		for i := range got {
			if got[i].end != c.want[i].end || !slices.Equal(got[i].rows, c.want[i].rows) {
				t.Errorf("%v: part %d is %v, want %v", c.ends, i, got[i], c.want[i])
			}
		}
	}
}

// BenchmarkCount counts rows by key in windows of 10,000 rows and 1,000 keys.
func BenchmarkCount(b *testing.B) {
	in := types.NewSchema(types.Field{Name: "k", Type: big}, types.Field{Name: "ts", Type: ts})
	out := types.NewSchema(in.Fields[0], types.Field{Name: "n", Type: big.NotNull()}, types.Field{Name: "window_end", Type: ts})
	optest.Bench(b, in, New(Config{
		In: in, Out: out, Keys: []int{0}, Time: 1, Window: window.Assigner{Size: 10_000}, Props: []window.Source{window.End},
		Aggs: []Agg{{Filter: -1, Bound: count(b)}},
	}))
}
