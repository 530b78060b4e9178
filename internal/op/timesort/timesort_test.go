package timesort_test

import (
	"fmt"
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/optest"
	"github.com/millstream-io/millstream/internal/op/timesort"
	"github.com/millstream-io/millstream/internal/op/waiting"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/types"
)

var (
	ts = types.TimeOf(types.Timestamp, 3)
	in = types.NewSchema(types.Field{Name: "k", Type: types.StringType()}, types.Field{Name: "v", Type: types.Of(types.Int)}, types.Field{Name: "ts", Type: ts})
)

// config sorts by ts, and sends late rows to a side output.
func config() waiting.Config {
	out := &types.Schema{Fields: append(in.Fields[:3:3], window.LateColumns(ts)...)}
	return waiting.Config{In: in, Time: 2, Marked: ts, Taps: []window.LateTap{{Tag: "late:t", Cols: []int{0, 1, 2}, Source: -1, Out: out}}}
}

// numbered adds to each row its place among those of one watermark.
type numbered struct {
	op.Operator
	next int64
}

// numbering is an output that does it.
type numbering struct {
	op.Output
	o *numbered
}

func (n numbering) Emit(b *batch.Batch) {
	v := batch.MakeFixed[int64](types.Of(types.BigInt), b.Size())
	for i := range v.Values {
		n.o.next++
		v.Values[i] = n.o.next
	}
	n.Output.Emit(batch.Of(b.Schema, append([]batch.Vector{v}, b.Cols...), b.Size()))
}

func (o *numbered) Open(c *op.Context) error { return o.Operator.(op.Opener).Open(c) }

func (o *numbered) OnWatermark(wm int64, out op.Output) (int64, error) {
	o.next = 0
	return o.Operator.(op.WatermarkHandler).OnWatermark(wm, numbering{out, o})
}

func (o *numbered) Resume(out op.Output) (bool, error) {
	return o.Operator.(op.Resumer).Resume(numbering{out, o})
}

func TestSort(t *testing.T) {
	for _, chunk := range []int{0, 1, 2, 3} {
		run := func(order []waiting.Sort) optest.Case {
			return optest.Case{In: []*types.Schema{in}, Keys: [][]int{{}}, New: func() op.Operator {
				c := config()
				c.Order, c.Chunk = order, chunk
				return &numbered{Operator: timesort.New(c)}
			}}
		}
		t.Run(fmt.Sprint("chunk=", chunk), func(t *testing.T) {
			optest.Run(t, "by-clock", optest.Case{In: []*types.Schema{in}, Keys: [][]int{{}}, New: func() op.Operator {
				c := config()
				c.Proctime, c.Chunk, c.Taps, c.Order = true, chunk, nil, []waiting.Sort{{Col: 1}}
				return timesort.New(c)
			}})
			optest.Run(t, "by-time", run(nil))
			optest.Run(t, "by-time-and-more", run([]waiting.Sort{{Col: 1, Direction: batch.Direction{Descending: true, NullsLast: true}}, {Col: 0}}))
		})
	}
}

// late lets the watermark stay half a second behind the rows.
type late struct{ op.Operator }

func (o late) Open(c *op.Context) error { return o.Operator.(op.Opener).Open(c) }

func (o late) OnWatermark(wm int64, out op.Output) (int64, error) {
	return o.Operator.(op.WatermarkHandler).OnWatermark(wm-500, out)
}

func bench(b *testing.B, order []waiting.Sort) {
	long := types.Of(types.BigInt)
	in := types.NewSchema(types.Field{Name: "k", Type: long}, types.Field{Name: "v", Type: long}, types.Field{Name: "ts", Type: ts})
	optest.Bench(b, in, late{timesort.New(waiting.Config{In: in, Time: 2, Marked: ts, Order: order})})
}

func BenchmarkByTime(b *testing.B)        { bench(b, nil) }
func BenchmarkByTimeAndMore(b *testing.B) { bench(b, []waiting.Sort{{Col: 0}}) }
