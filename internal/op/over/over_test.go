package over_test

import (
	"fmt"
	"testing"

	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/fold"
	"github.com/millstream-io/millstream/internal/op/optest"
	"github.com/millstream-io/millstream/internal/op/over"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/types"
)

var (
	ts = types.TimeOf(types.Timestamp, 3)
	in = types.NewSchema(types.Field{Name: "k", Type: types.StringType()}, types.Field{Name: "v", Type: types.Of(types.Int)}, types.Field{Name: "ts", Type: ts})
)

// agg is an aggregate of column v of a schema; COUNT is of all rows.
func agg(s *types.Schema, name string, distinct bool) over.Call {
	arg := s.Fields[1].Type
	call := &fn.Call{Def: &fn.Def{Name: name}, Env: &fn.Env{}, Args: []fn.Arg{{Type: arg}}}
	args := []int{1}
	if name == "COUNT" && !distinct {
		call.Args, args = nil, nil
	}
	b, err := fn.LookupAgg(name).Bind(call)
	if err != nil {
		panic(err)
	}
	return over.Call{Func: over.Aggregate, Agg: fold.Agg{Bound: b, Args: args, Filter: -1, Distinct: distinct}, Default: -1}
}

// config computes calls over a frame of the rows of a key.
func config(s *types.Schema, f over.Frame, calls ...over.Call) over.Config {
	c := over.Config{In: s, Out: &types.Schema{Fields: s.Fields[:3:3]}, Keys: []int{0}, Time: 2, Frame: f, Calls: calls, Marked: ts}
	for i, call := range calls {
		t := types.Of(types.BigInt)
		switch call.Func {
		case over.Aggregate:
			t = call.Bound.Result
		case over.Lag:
			t = s.Fields[call.Value].Type
		}
		c.Out.Fields = append(c.Out.Fields, types.Field{Name: fmt.Sprint("r", i), Type: t})
	}
	return c
}

func TestOver(t *testing.T) {
	for _, chunk := range []int{0, 1, 2, 3} {
		run := func(c over.Config) optest.Case {
			return optest.Case{In: []*types.Schema{in}, Keys: [][]int{c.Keys}, New: func() op.Operator {
				own := c
				own.Chunk = chunk
				return over.New(own)
			}}
		}
		t.Run(fmt.Sprint("chunk=", chunk), func(t *testing.T) {
			several := []over.Call{agg(in, "SUM", false), agg(in, "COUNT", false), agg(in, "COUNT", true), agg(in, "MIN", false)}
			optest.Run(t, "running-rows", run(config(in, over.Frame{Rows: true}, append(several, over.Call{Func: over.RowNumber, Default: -1})...)))
			ranks := []over.Call{{Func: over.Rank, Default: -1}, {Func: over.DenseRank, Default: -1}, {Func: over.Lag, Value: 1, Back: 2, Default: -1}, {Func: over.Lag, Value: 1, Back: 1, Default: 1}}
			optest.Run(t, "running-times", run(config(in, over.Frame{}, append(ranks, several...)...)))
			moving := append(several, agg(in, "LAST_VALUE", false), agg(in, "ARRAY_AGG", true))
			optest.Run(t, "moving-rows", run(config(in, over.Frame{Rows: true, Bounded: true, Preceding: 1}, moving...)))
			optest.Run(t, "moving-times", run(config(in, over.Frame{Bounded: true, Preceding: 2000}, moving...)))
			late := config(in, over.Frame{}, agg(in, "SUM", false))
			late.Keys = nil
			out := &types.Schema{Fields: append(in.Fields[:3:3], window.LateColumns(ts)...)}
			late.Taps = []window.LateTap{{Tag: "late:t", Cols: []int{0, 1, 2}, Source: -1, Out: out}}
			optest.Run(t, "no-keys", run(late))
			atOnce := config(in, over.Frame{Bounded: true, Preceding: 2000}, several...)
			atOnce.Time = -1
			optest.Run(t, "at-once", run(atOnce))
		})
	}
}

func bench(b *testing.B, f over.Frame, calls ...string) {
	long := types.Of(types.BigInt)
	in := types.NewSchema(types.Field{Name: "k", Type: long}, types.Field{Name: "v", Type: long}, types.Field{Name: "ts", Type: ts})
	var list []over.Call
	for _, name := range calls {
		list = append(list, agg(in, name, false))
	}
	optest.Bench(b, in, over.New(config(in, f, list...)))
}

func BenchmarkRunning(b *testing.B)     { bench(b, over.Frame{}, "SUM") }
func BenchmarkRunningRows(b *testing.B) { bench(b, over.Frame{Rows: true}, "SUM") }
func BenchmarkMovingRows(b *testing.B) {
	bench(b, over.Frame{Rows: true, Bounded: true, Preceding: 9}, "SUM", "COUNT")
}
func BenchmarkMovingTimes(b *testing.B) {
	bench(b, over.Frame{Bounded: true, Preceding: 10_000}, "SUM", "COUNT")
}
func BenchmarkMovingLeast(b *testing.B) {
	bench(b, over.Frame{Rows: true, Bounded: true, Preceding: 9}, "MIN")
}
