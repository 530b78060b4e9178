package fn

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

func init() { Register(overlapsDef) }

// overlapsDef is (a, b) OVERLAPS (c, d). The periods may be written backwards,
// and overlap if they touch.
var overlapsDef = &Def{
	Name: "OVERLAPS", Internal: true,
	Bind: typed(func(c *Call) (*Bound, error) {
		if err := c.Arity(4, 4); err != nil {
			return nil, err
		}
		first := c.Args[0].Type
		for i, a := range c.Args {
			if !a.Type.IsDatetime() {
				return nil, Argf(i, "OVERLAPS needs dates, times or timestamps, not %s", a.Type.WithNull(true))
			}
			if a.Type.Kind != first.Kind {
				return nil, Argf(i, "OVERLAPS cannot compare %s with %s; CAST one of them", a.Type.WithNull(true), first.WithNull(true))
			}
		}
		t := c.Strict(types.Of(types.Boolean))
		return &Bound{Result: t, Kernel: overlapsKernel(t)}, nil
	}),
}

func overlapsKernel(t types.Type) Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		var at [4]func(i int) types.TS
		for k, a := range args {
			ms, ns := wallMillis(rows, a, a.Type(), nil), nanosOf(a)
			at[k] = func(i int) types.TS {
				if ns != nil {
					return ns[i]
				}
				return types.TS{Ms: ms[i]}
			}
		}
		return Fixed(t, rows, func(i int) (bool, bool, error) {
			a, b, c, d := at[0](i), at[1](i), at[2](i), at[3](i)
			if b.Compare(a) < 0 {
				a, b = b, a
			}
			if d.Compare(c) < 0 {
				c, d = d, c
			}
			return b.Compare(c) >= 0 && d.Compare(a) >= 0, true, nil
		})
	}
}
