package distinct_test

import (
	"testing"

	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/distinct"
	"github.com/millstream-io/millstream/internal/op/optest"
	"github.com/millstream-io/millstream/types"
)

func TestDistinct(t *testing.T) {
	schema := types.NewSchema(
		types.Field{Name: "s", Type: types.StringType()}, types.Field{Name: "n", Type: types.Of(types.Int)})
	optest.Run(t, "distinct", optest.Case{In: []*types.Schema{schema}, Keys: [][]int{{0, 1}}, New: func() op.Operator { return distinct.New(schema, 0) }})
	optest.Run(t, "ttl", optest.Case{In: []*types.Schema{schema}, Keys: [][]int{{0, 1}}, New: func() op.Operator { return distinct.New(schema, 1000) }})
}

func BenchmarkDistinct(b *testing.B) {
	schema := types.NewSchema(types.Field{Name: "n", Type: types.Of(types.BigInt)})
	optest.Bench(b, schema, distinct.New(schema, 0))
}
