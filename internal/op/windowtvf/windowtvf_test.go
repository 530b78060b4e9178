package windowtvf_test

import (
	"testing"

	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/optest"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/internal/op/windowtvf"
	"github.com/millstream-io/millstream/types"
)

var ts = types.TimeOf(types.Timestamp, 3)

func config(first types.Type) (in *types.Schema, c windowtvf.Config) {
	in = types.NewSchema(types.Field{Name: "s", Type: first}, types.Field{Name: "ts", Type: ts})
	out := types.NewSchema(append(append([]types.Field{}, in.Fields...), types.Field{Name: "window_start", Type: ts.NotNull()},
		types.Field{Name: "window_end", Type: ts.NotNull()}, types.Field{Name: "window_time", Type: ts.NotNull()})...)
	return in, windowtvf.Config{Out: out, Time: 1, Window: window.Assigner{Size: 10_000, Offset: 1000}}
}

func TestTumble(t *testing.T) {
	in, c := config(types.StringType())
	optest.Run(t, "windowtvf", optest.Case{In: []*types.Schema{in}, New: func() op.Operator { return windowtvf.New(c) }})
}

func TestHop(t *testing.T) {
	in, c := config(types.StringType())
	c.Window = window.Assigner{Kind: window.Hop, Size: 10_000, Slide: 4000}
	optest.Run(t, "hop", optest.Case{In: []*types.Schema{in}, New: func() op.Operator { return windowtvf.New(c) }})
	c.Window = window.Assigner{Kind: window.Hop, Size: 4000, Slide: 10_000}
	optest.Run(t, "gaps", optest.Case{In: []*types.Schema{in}, New: func() op.Operator { return windowtvf.New(c) }})
}

func TestCumulate(t *testing.T) {
	in, c := config(types.StringType())
	c.Window = window.Assigner{Kind: window.Cumulate, Size: 9000, Slide: 3000, Offset: 1000}
	optest.Run(t, "cumulate", optest.Case{In: []*types.Schema{in}, New: func() op.Operator { return windowtvf.New(c) }})
}

func BenchmarkTumble(b *testing.B) {
	in, c := config(types.Of(types.BigInt))
	optest.Bench(b, in, windowtvf.New(c))
}

func BenchmarkHop(b *testing.B) {
	in, c := config(types.Of(types.BigInt))
	c.Window = window.Assigner{Kind: window.Hop, Size: 10_000, Slide: 2500}
	optest.Bench(b, in, windowtvf.New(c))
}
