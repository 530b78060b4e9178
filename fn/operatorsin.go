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
		find, known := c.finder(p)
		if known {
			b.Reads = 1
		}
		b.Kernel = func(rows Rows, args []batch.Vector) (batch.Vector, error) {
			out := batch.MakeFixed[bool](t, rows.N)
			valid := find(rows, args, out.Values)
			if not {
				for i, found := range out.Values {
					out.Values[i] = !found
				}
			}
			out.Valid = valid.And(args[0].Validity(), rows.N)
			return out, nil
		}
		return b, nil
	}
}

// inType returns the type in which the elements are compared. Between texts and
// other types, and where a FLOAT or a DOUBLE is looked for, that is the type on
// the left; texts of any length are compared as they are.
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
	if ok && t.IsNumeric() && left.IsApprox() {
		t = left
	}
	if !ok {
		return left, Argf(-1, "the elements of %s have no common type", c.Def.Name)
	}
	if t.IsChar() {
		t = types.StringType()
	}
	return t.WithNull(true), nil
}

// finder tells for each row whether its value is among the elements. Where it is
// not, but would perhaps be if the nulls among them were known, the bit of the
// result is cleared.
type finder func(rows Rows, args []batch.Vector, found []bool) (known batch.Bitmap)

// finder returns how to look values up: in a set, where all elements are known,
// that is, constants of type p already; and by comparing with each otherwise.
func (c *Call) finder(p types.Type) (find finder, known bool) {
	for _, a := range c.Args[1:] {
		if a.Const == nil || a.Type.Kind == types.Null || a.Type.Phys() != p.Phys() ||
			p.Phys() != types.PhysBytes && !a.Type.Same(p) {
			return findEach, false
		}
	}
	switch p.Phys() {
	case types.PhysI8:
		return findFixed[int8](c.Args[1:]), true
	case types.PhysI16:
		return findFixed[int16](c.Args[1:]), true
	case types.PhysI32:
		return findFixed[int32](c.Args[1:]), true
	case types.PhysI64:
		return findFixed[int64](c.Args[1:]), true
	case types.PhysF32:
		return findFixed[float32](c.Args[1:]), true
	case types.PhysF64:
		return findFixed[float64](c.Args[1:]), true
	case types.PhysI128:
		return findFixed[types.Int128](c.Args[1:]), true
	case types.PhysTS:
		return findFixed[types.TS](c.Args[1:]), true
	case types.PhysBytes:
		return findBytes(c.Args[1:]), true
	}
	return findEach, false
}

// findEach compares with one element after the other.
func findEach(rows Rows, args []batch.Vector, found []bool) (known batch.Bitmap) {
	equal := make([]func(i, j int) bool, len(args))
	for k := 1; k < len(args); k++ {
		if args[k].Type().Kind != types.Null && args[0].Type().Kind != types.Null {
			equal[k] = equalValues(args[0], args[k])
		}
	}
	for n := range rows.Len() {
		i := rows.At(n)
		null := false
		for k := 1; k < len(args) && !found[i]; k++ {
			if equal[k] == nil || args[k].Validity().IsNull(i) {
				null = true
			} else {
				found[i] = equal[k](i, i)
			}
		}
		if null && !found[i] {
			known = MarkNull(known, rows.N, i)
		}
	}
	return known
}

// few is the number of elements up to which they are compared one by one.
const few = 8

// unknowns clears the bits of the rows that were not found, if there is a null
// among the elements.
func unknowns(null bool, rows Rows, found []bool) (known batch.Bitmap) {
	if !null {
		return nil
	}
	for k := range rows.Len() {
		if i := rows.At(k); !found[i] {
			known = MarkNull(known, rows.N, i)
		}
	}
	return known
}

func findFixed[T batch.Value](elems []Arg) finder {
	var list []T
	set := map[T]struct{}{}
	null := false
	for _, e := range elems {
		f := e.Const.(*batch.Fixed[T])
		if f.Valid.IsNull(0) {
			null = true
			continue
		}
		list = append(list, f.Values[0])
		set[f.Values[0]] = struct{}{}
	}
	return func(rows Rows, args []batch.Vector, found []bool) batch.Bitmap {
		x := args[0].(*batch.Fixed[T]).Values
		for k, n := 0, rows.Len(); k < n; k++ {
			i := rows.At(k)
			if len(list) > few {
				_, found[i] = set[x[i]]
				continue
			}
			for _, v := range list {
				if v == x[i] {
					found[i] = true
					break
				}
			}
		}
		return unknowns(null, rows, found)
	}
}

func findBytes(elems []Arg) finder {
	var list [][]byte
	set := map[string]struct{}{}
	null := false
	for _, e := range elems {
		b := e.Const.(*batch.Bytes)
		if b.Valid.IsNull(0) {
			null = true
			continue
		}
		list = append(list, b.At(0))
		set[string(b.At(0))] = struct{}{}
	}
	return func(rows Rows, args []batch.Vector, found []bool) batch.Bitmap {
		x := args[0].(*batch.Bytes)
		for k, n := 0, rows.Len(); k < n; k++ {
			i := rows.At(k)
			v := x.At(i)
			if len(list) > few {
				_, found[i] = set[string(v)]
				continue
			}
			for _, e := range list {
				if bytes.Equal(e, v) {
					found[i] = true
					break
				}
			}
		}
		return unknowns(null, rows, found)
	}
}
