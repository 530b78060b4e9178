package optest

import (
	"testing"
	"time"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/types"
)

// Bench measures an operator over batches of a schema of BIGINT and TIMESTAMP
// columns: keys of 1,000 values and times that go up by 1 ms a row.
func Bench(b *testing.B, in *types.Schema, o op.Operator) {
	db, err := state.Open(state.Config{Name: "bench", Parallelism: 1})
	if err != nil {
		b.Fatal(err)
	}
	if opener, ok := o.(op.Opener); ok {
		err := opener.Open(&op.Context{
			Name: "bench", Parallelism: 1, State: db, Now: func() int64 { return 0 }, TimerAt: func(int64) {},
			Count: func(string, int64) {}, Sample: func(string, func() string) {},
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	wm, hasWM := o.(op.WatermarkHandler)
	var out void
	rows := 0
	var cpu time.Duration
	for b.Loop() {
		b.StopTimer()
		next := make([]*batch.Batch, benchBatches)
		for i := range next {
			next[i] = numbers(in, rows+i*batch.DefaultSize)
		}
		b.StartTimer()
		cpu -= cpuTime()
		for _, x := range next {
			rows += x.Size()
			err := o.OnBatch(0, x, &out)
			if err == nil && hasWM {
				_, err = wm.OnWatermark(int64(rows), &out)
			}
			if err == nil {
				err = db.EndEvent()
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		cpu += cpuTime()
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(cpu.Nanoseconds())/float64(rows), "cpu-ns/row")
}

// benchBatches is the number of batches of one round of a benchmark.
const benchBatches = 64

// numbers returns the batch that follows the first n rows.
func numbers(schema *types.Schema, n int) *batch.Batch {
	const size = batch.DefaultSize
	cols := make([]batch.Vector, schema.Len())
	for c, f := range schema.Fields {
		v := batch.MakeFixed[int64](f.Type, size)
		for i := range v.Values {
			if v.Values[i] = int64(n + i); f.Type.Kind == types.BigInt {
				v.Values[i] = int64(n+i) * 7919 % 1000
			}
		}
		cols[c] = v
	}
	return batch.Of(schema, cols, size)
}

// void is an output that keeps nothing.
type void struct{}

func (void) Emit(*batch.Batch)             {}
func (void) EmitSide(string, *batch.Batch) {}
func (void) Full() bool                    { return false }
