package notnull_test

import (
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/notnull"
	"github.com/millstream-io/millstream/internal/op/optest"
	"github.com/millstream-io/millstream/types"
)

func schemas() (in, out *types.Schema) {
	in = types.NewSchema(
		types.Field{Name: "k", Type: types.StringType()},
		types.Field{Name: "n", Type: types.Of(types.BigInt)},
		types.Field{Name: "m", Type: types.Of(types.BigInt)},
	)
	out = types.NewSchema(
		types.Field{Name: "k", Type: types.StringType().NotNull()},
		types.Field{Name: "n", Type: types.Of(types.BigInt).NotNull()},
		types.Field{Name: "m", Type: types.Of(types.BigInt)},
	)
	return in, out
}

func TestNotNull(t *testing.T) {
	in, out := schemas()
	optest.Run(t, "notnull", optest.Case{In: []*types.Schema{in}, New: func() op.Operator { return notnull.New(out, []int{0, 1}) }})
}

// collect keeps what an operator emits.
type collect struct{ batches []*batch.Batch }

func (c *collect) Emit(b *batch.Batch)           { c.batches = append(c.batches, b) }
func (c *collect) EmitSide(string, *batch.Batch) {}
func (c *collect) Full() bool                    { return false }

// TestCounts checks that what is left out is counted, and that the columns have the types of the sink.
func TestCounts(t *testing.T) {
	in, out := schemas()
	o := notnull.New(out, []int{0, 1})
	counts := map[string]int64{}
	var sample string
	err := o.(op.Opener).Open(&op.Context{
		Count:  func(name string, n int64) { counts[name] += n },
		Sample: func(_ string, text func() string) { sample = text() },
	})
	if err != nil {
		t.Fatal(err)
	}
	b := batch.NewBatch(in, 3)
	for i := range 3 {
		if i == 1 {
			b.Cols[0].AppendNull()
		} else {
			b.Cols[0].(*batch.Bytes).Append([]byte("k"))
		}
		if i == 2 {
			b.Cols[1].AppendNull()
		} else {
			b.Cols[1].(*batch.Fixed[int64]).Append(1)
		}
		b.Cols[2].AppendNull()
	}
	b.SetSize(3)
	var c collect
	if err := o.OnBatch(0, b, &c); err != nil {
		t.Fatal(err)
	}
	if counts[notnull.Counter] != 2 || sample == "" {
		t.Errorf("counted %v, sample %q", counts, sample)
	}
	if len(c.batches) != 1 || c.batches[0].Rows() != 1 || c.batches[0].At(0) != 0 {
		t.Fatalf("emitted %v", c.batches)
	}
	for i, v := range c.batches[0].Cols {
		if !v.Type().Equal(out.Fields[i].Type) {
			t.Errorf("column %d is %s", i, v.Type())
		}
	}
}

func BenchmarkNotNull(b *testing.B) {
	in, out := schemas()
	optest.Bench(b, in, notnull.New(out, []int{0, 1}))
}
