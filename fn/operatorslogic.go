package fn

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

func bindNot(c *Call) (*Bound, error) {
	if err := c.Arity(1, 1); err != nil {
		return nil, err
	}
	if err := c.noBareNull(); err != nil {
		return nil, err
	}
	p, err := c.Want(0, BoolArg)
	if err != nil {
		return nil, err
	}
	t := c.Strict(types.Of(types.Boolean))
	return &Bound{Params: []types.Type{p}, Result: t, Kernel: notKernel(t)}, nil
}

func notKernel(t types.Type) Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		in, out := args[0].(*batch.Fixed[bool]).Values[:rows.N], batch.MakeFixed[bool](t, rows.N)
		for i, b := range in {
			out.Values[i] = !b
		}
		return out, nil
	}
}

func bindIsNull(null bool) func(*Call) (*Bound, error) {
	return func(c *Call) (*Bound, error) {
		if err := c.Arity(1, 1); err != nil {
			return nil, err
		}
		t := types.Of(types.Boolean).NotNull()
		return &Bound{Result: t, Kernel: func(rows Rows, args []batch.Vector) (batch.Vector, error) {
			out, valid := batch.MakeFixed[bool](t, rows.N), args[0].Validity()
			if valid == nil {
				fill(out.Values, !null)
				return out, nil
			}
			for i := range out.Values {
				out.Values[i] = valid.Get(i) != null
			}
			return out, nil
		}}, nil
	}
}

func fill(out []bool, v bool) {
	for i := range out {
		out[i] = v
	}
}

// bindIsBool binds IS [NOT] TRUE and IS [NOT] FALSE.
func bindIsBool(want, is bool) func(*Call) (*Bound, error) {
	return func(c *Call) (*Bound, error) {
		if err := c.Arity(1, 1); err != nil {
			return nil, err
		}
		if err := c.noBareNull(); err != nil {
			return nil, err
		}
		p, err := c.Want(0, BoolArg)
		if err != nil {
			return nil, err
		}
		t := types.Of(types.Boolean).NotNull()
		return &Bound{Params: []types.Type{p}, Result: t, Kernel: func(rows Rows, args []batch.Vector) (batch.Vector, error) {
			in, out := args[0].(*batch.Fixed[bool]), batch.MakeFixed[bool](t, rows.N)
			for i, b := range in.Values[:rows.N] {
				out.Values[i] = (b == want && in.Valid.Get(i)) == is
			}
			return out, nil
		}}, nil
	}
}
