package limit_test

import (
	"testing"

	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/limit"
	"github.com/millstream-io/millstream/internal/op/optest"
	"github.com/millstream-io/millstream/types"
)

func TestLimit(t *testing.T) {
	schema := types.NewSchema(types.Field{Name: "s", Type: types.StringType()})
	optest.Run(t, "limit", optest.Case{In: []*types.Schema{schema}, New: func() op.Operator { return limit.New(1, 3) }})
}

func BenchmarkLimit(b *testing.B) {
	schema := types.NewSchema(types.Field{Name: "n", Type: types.Of(types.BigInt)})
	optest.Bench(b, schema, limit.New(0, 1<<62))
}
