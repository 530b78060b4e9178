package windowjoin

import (
	"fmt"
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/optest"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/types"
)

var ts = types.TimeOf(types.Timestamp, 3)

// schema has a key, a number, and the window's start and end.
var schema = types.NewSchema(
	types.Field{Name: "k", Type: types.StringType()}, types.Field{Name: "v", Type: types.Of(types.BigInt)},
	types.Field{Name: "window_start", Type: ts}, types.Field{Name: "window_end", Type: ts})

// config joins two sides by key, in windows of 10 s.
func config(change func(*Config)) Config {
	side := Side{Schema: schema, End: 3, Sources: []window.Source{window.Row, window.Row, window.Start, window.End}}
	c := Config{In: [2]Side{side, side}, Keys: []Key{{}}, Marked: ts, Window: window.Assigner{Size: 10_000}, Out: &types.Schema{}}
	change(&c)
	for i, s := range c.In {
		if i == 0 || !c.LeftOnly {
			c.Out.Fields = append(c.Out.Fields, s.Schema.Fields...)
		}
	}
	return c
}

// less lets those pairs be partners whose left number is below the right one.
func less(c *Config) {
	c.FilterCols = []int{1, 5}
	c.Filter = func(b *batch.Batch) ([]int32, error) {
		l, r := b.Cols[1].(*batch.Fixed[int64]), b.Cols[5].(*batch.Fixed[int64])
		sel := []int32{}
		for i := range b.Rows() {
			if l.Valid.Get(i) && r.Valid.Get(i) && l.Values[i] < r.Values[i] {
				sel = append(sel, int32(i))
			}
		}
		return sel, nil
	}
}

// each runs a script with blocks of some sizes, so that the rows of a key come in
// one or in several.
func each(t *testing.T, c Config, run func(t *testing.T, oc optest.Case)) {
	for _, block := range []int{1, 2, blockRows} {
		by := []int{0}
		if len(c.Keys) == 0 {
			by = []int{3} // rows travel by their window
		}
		t.Run(fmt.Sprint("block=", block), func(t *testing.T) {
			run(t, optest.Case{In: []*types.Schema{schema, schema}, Keys: [][]int{by, by}, New: func() op.Operator { return newSized(c, block) }})
		})
	}
}

func TestInner(t *testing.T) {
	each(t, config(func(*Config) {}), func(t *testing.T, c optest.Case) { optest.Run(t, "inner", c) })
}

func TestFull(t *testing.T) {
	c := config(func(c *Config) {
		less(c)
		c.In[0].Keep, c.In[1].Keep = true, true
	})
	each(t, c, func(t *testing.T, c optest.Case) { optest.Run(t, "full", c) })
}

func TestSemi(t *testing.T) {
	each(t, config(func(c *Config) { c.LeftOnly = true }), func(t *testing.T, c optest.Case) { optest.Run(t, "semi", c) })
}

// TestAnti: without keys, all rows of a window are compared.
func TestAnti(t *testing.T) {
	c := config(func(c *Config) {
		less(c)
		c.Keys, c.LeftOnly, c.In[0].Keep = nil, true, true
	})
	each(t, c, func(t *testing.T, c optest.Case) { optest.Run(t, "anti", c) })
}

// TestAtOnce: pairs come at once, late left rows have partners, too.
func TestAtOnce(t *testing.T) {
	c := config(func(c *Config) { c.AtOnce = true })
	each(t, c, func(t *testing.T, c optest.Case) { optest.Run(t, "at-once", c) })
}

// twoInputs gives batches to both inputs in turn, in windows of 4 s.
type twoInputs struct {
	op.Operator
	n      int
	window window.Assigner
}

func (o *twoInputs) Open(c *op.Context) error { return o.Operator.(op.Opener).Open(c) }

func (o *twoInputs) OnWatermark(wm int64, out op.Output) (int64, error) {
	return o.Operator.(op.WatermarkHandler).OnWatermark(wm, out)
}

func (o *twoInputs) OnBatch(_ int, b *batch.Batch, out op.Output) error {
	ends := batch.MakeFixed[int64](ts, b.Size())
	for i, ms := range b.Cols[1].(*batch.Fixed[int64]).Values {
		ends.Values[i] = o.window.SliceOf(ms)
	}
	o.n++
	return o.Operator.OnBatch(o.n&1, b.WithCols(b.Schema, []batch.Vector{b.Cols[0], ends}), out)
}

// BenchmarkJoin joins 4,096 rows of each side a window, which have 1,000 keys: each
// row has some four partners.
func BenchmarkJoin(b *testing.B) {
	in := types.NewSchema(types.Field{Name: "k", Type: types.Of(types.BigInt)}, types.Field{Name: "window_end", Type: ts})
	side := Side{Schema: in, End: 1, Sources: []window.Source{window.Row, window.End}}
	out := &types.Schema{Fields: append(in.Fields[:2:2], in.Fields...)}
	c := Config{In: [2]Side{side, side}, Keys: []Key{{}}, Marked: ts, Window: window.Assigner{Size: 8192}, Out: out}
	for _, c.AtOnce = range []bool{false, true} {
		b.Run(fmt.Sprint("atOnce=", c.AtOnce), func(b *testing.B) {
			optest.Bench(b, in, &twoInputs{Operator: New(c), window: c.Window})
		})
	}
}
