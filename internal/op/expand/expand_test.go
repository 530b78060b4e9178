package expand_test

import (
	"testing"

	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/expand"
	"github.com/millstream-io/millstream/internal/op/optest"
	"github.com/millstream-io/millstream/types"
)

// config is GROUPING SETS ((a, b), (a), ()).
func config(first types.Type) (in, out *types.Schema, copies []int, sets [][]bool) {
	big := types.Of(types.BigInt)
	in = types.NewSchema(types.Field{Name: "a", Type: first}, types.Field{Name: "b", Type: big}, types.Field{Name: "v", Type: big})
	out = types.NewSchema(append(append([]types.Field{}, in.Fields...), in.Fields[0], in.Fields[1],
		types.Field{Name: "$set", Type: big.NotNull()})...)
	return in, out, []int{0, 1}, [][]bool{{true, true}, {true, false}, {false, false}}
}

func TestExpand(t *testing.T) {
	in, out, copies, sets := config(types.StringType())
	optest.Run(t, "expand", optest.Case{In: []*types.Schema{in}, New: func() op.Operator { return expand.New(out, copies, sets) }})
}

func BenchmarkExpand(b *testing.B) {
	in, out, copies, sets := config(types.Of(types.BigInt))
	optest.Bench(b, in, expand.New(out, copies, sets))
}
