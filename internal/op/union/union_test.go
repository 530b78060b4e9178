package union_test

import (
	"testing"

	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/optest"
	"github.com/millstream-io/millstream/internal/op/union"
	"github.com/millstream-io/millstream/types"
)

func TestUnion(t *testing.T) {
	a := types.NewSchema(types.Field{Name: "a", Type: types.StringType()})
	b := types.NewSchema(types.Field{Name: "b", Type: types.StringType().NotNull()})
	optest.Run(t, "union", optest.Case{In: []*types.Schema{a, b}, New: func() op.Operator { return union.New(a) }})
}

func BenchmarkUnion(b *testing.B) {
	schema := types.NewSchema(types.Field{Name: "n", Type: types.Of(types.BigInt)})
	optest.Bench(b, schema, union.New(schema))
}
