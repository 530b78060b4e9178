package fn

import (
	"bytes"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// bindIn binds x IN (a, b, ...): TRUE if x equals an element, NULL if it does
// not and x or an element is null.
func bindIn(not bool) func(*Call) (*Bound, error) {
	return func(c *Call) (*Bound, error) {
		if err := c.Arity(2, -1); err != nil {
			return nil, err
		}
		t := c.Strict(types.Of(types.Boolean))
		p, err := c.inType()
		if err != nil {
			return nil, err
		}
		b := &Bound{Params: make([]types.Type, len(c.Args)), Result: t}
		for i := range c.Args {
			b.Params[i] = p
		}
		find := c.finder(p)
		b.Kernel = func(rows Rows, args []batch.Vector) (batch.Vector, error) {
			out, valid := batch.MakeFixed[bool](t, rows.N), args[0].Validity()
			look := find(args)
			for k, n := 0, rows.Len(); k < n; k++ {
				i := rows.At(k)
				found, unknown := false, true
				if valid.Get(i) {
					found, unknown = look(i)
				}
				out.Values[i] = found != not
				if !found && unknown {
					out.Valid = MarkNull(out.Valid, rows.N, i)
				}
			}
			return out, nil
		}
		return b, nil
	}
}

// inType returns the type in which the elements are compared. Between texts and
// other types that is the type on the left; texts of any length are compared as
// they are.
func (c *Call) inType() (types.Type, error) {
	left := c.Args[0].Type.Plain()
	all := []types.Type{left}
	for i, a := range c.Args[1:] {
		t := a.Type.Plain()
		switch {
		case left.Kind == types.Null || t.Kind == types.Null:
		case left.IsChar() != t.IsChar() && !left.IsNested() && !t.IsNested():
			continue
		default:
			if _, _, ok := comparable(left, t); !ok {
				return left, Argf(i+1, "cannot look for %s among %s", left.WithNull(true), t.WithNull(true))
			}
		}
		all = append(all, t)
	}
	t, ok := CommonType(all)
	if !ok {
		return left, Argf(-1, "the elements of %s have no common type", c.Def.Name)
	}
	if t.IsChar() {
		t = types.StringType()
	}
	return t.WithNull(true), nil
}

// look tells whether the value at a position is among the elements, and if not,
// whether it would be one if the nulls were known.
type look func(i int) (found, unknown bool)

// finder returns how to look values up: in a set, where all elements are
// constants of type p already, and by comparing with each otherwise.
func (c *Call) finder(p types.Type) func(args []batch.Vector) look {
	for _, a := range c.Args[1:] {
		if a.Const == nil || a.Type.Kind == types.Null || a.Type.Phys() != p.Phys() ||
			p.Phys() != types.PhysBytes && !a.Type.Same(p) {
			return lookEach
		}
	}
	switch p.Phys() {
	case types.PhysI8:
		return lookFixed[int8](c.Args[1:])
	case types.PhysI16:
		return lookFixed[int16](c.Args[1:])
	case types.PhysI32:
		return lookFixed[int32](c.Args[1:])
	case types.PhysI64:
		return lookFixed[int64](c.Args[1:])
	case types.PhysF32:
		return lookFixed[float32](c.Args[1:])
	case types.PhysF64:
		return lookFixed[float64](c.Args[1:])
	case types.PhysI128:
		return lookFixed[types.Int128](c.Args[1:])
	case types.PhysTS:
		return lookFixed[types.TS](c.Args[1:])
	case types.PhysBytes:
		return lookBytes(c.Args[1:])
	}
	return lookEach
}

// lookEach compares with one element after the other.
func lookEach(args []batch.Vector) look {
	equal := make([]func(i, j int) bool, len(args))
	for k := range args[1:] {
		if args[k+1].Type().Kind != types.Null && args[0].Type().Kind != types.Null {
			equal[k+1] = equalValues(args[0], args[k+1])
		}
	}
	return func(i int) (found, unknown bool) {
		for k, e := range args[1:] {
			switch {
			case equal[k+1] == nil || e.Validity().IsNull(i):
				unknown = true
			case equal[k+1](i, i):
				return true, false
			}
		}
		return false, unknown
	}
}

// few is the number of elements up to which they are compared one by one.
const few = 8

func lookFixed[T batch.Value](elems []Arg) func(args []batch.Vector) look {
	var list []T
	set := map[T]struct{}{}
	unknown := false
	for _, e := range elems {
		f := e.Const.(*batch.Fixed[T])
		if f.Valid.IsNull(0) {
			unknown = true
			continue
		}
		list = append(list, f.Values[0])
		set[f.Values[0]] = struct{}{}
	}
	return func(args []batch.Vector) look {
		x := args[0].(*batch.Fixed[T]).Values
		if len(list) > few {
			return func(i int) (bool, bool) { _, found := set[x[i]]; return found, unknown }
		}
		return func(i int) (bool, bool) {
			for _, v := range list {
				if v == x[i] {
					return true, false
				}
			}
			return false, unknown
		}
	}
}

func lookBytes(elems []Arg) func(args []batch.Vector) look {
	var list [][]byte
	set := map[string]struct{}{}
	unknown := false
	for _, e := range elems {
		b := e.Const.(*batch.Bytes)
		if b.Valid.IsNull(0) {
			unknown = true
			continue
		}
		list = append(list, b.At(0))
		set[string(b.At(0))] = struct{}{}
	}
	return func(args []batch.Vector) look {
		x := args[0].(*batch.Bytes)
		if len(list) > few {
			return func(i int) (bool, bool) { _, found := set[string(x.At(i))]; return found, unknown }
		}
		return func(i int) (bool, bool) {
			v := x.At(i)
			for _, e := range list {
				if bytes.Equal(e, v) {
					return true, false
				}
			}
			return false, unknown
		}
	}
}
