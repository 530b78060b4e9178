package fn

import (
	"fmt"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// bindConcat binds text || text.
func bindConcat(c *Call) (*Bound, error) {
	if err := c.operands(); err != nil {
		return nil, err
	}
	t := types.Type{Kind: types.Char}
	length := 0
	for i, a := range c.Args {
		if !a.Type.IsChar() {
			return nil, c.Misfit(i, "a string")
		}
		if a.Type.Kind == types.Varchar {
			t.Kind = types.Varchar
		}
		length = min(length+int(a.Type.Length), types.MaxLength)
	}
	t.Length = int32(length)
	t = c.Strict(t)
	return &Bound{Result: t, Kernel: Text2(t, func(dst, a, b []byte) []byte { return append(append(dst, a...), b...) })}, nil
}

// elementType returns the common type of arguments that become elements.
func (c *Call) elementType(args []Arg) (types.Type, error) {
	ts := make([]types.Type, len(args))
	for i, a := range args {
		ts[i] = a.Type
	}
	t, ok := CommonType(ts)
	if !ok || t.Kind == types.Null {
		return t, Argf(-1, "the elements of %s have no common type: %v", c.Def.Name, ts)
	}
	return t, nil
}

// interleave copies value i of each vector, one behind the other, for each row
// in turn. Offsets get the end of each row, also of those that do not count.
func interleave(t types.Type, rows Rows, args []batch.Vector) (values batch.Vector, offsets []int32) {
	all := batch.New(t, rows.N*len(args))
	starts := make([]int32, len(args))
	for a, v := range args {
		starts[a] = int32(all.Len())
		batch.AppendTake(all, v, rows.Sel)
	}
	order := make([]int32, 0, rows.Len()*len(args))
	offsets = make([]int32, rows.N+1)
	done := 0
	for k := range rows.Len() {
		i := rows.At(k)
		for ; done < i; done++ {
			offsets[done+1] = int32(len(order))
		}
		for _, s := range starts {
			order = append(order, s+int32(k))
		}
	}
	for ; done < rows.N; done++ {
		offsets[done+1] = int32(len(order))
	}
	return batch.Take(all, order), offsets
}

func bindArray(c *Call) (*Bound, error) {
	if err := c.Arity(1, -1); err != nil {
		return nil, err
	}
	elem, err := c.elementType(c.Args)
	if err != nil {
		return nil, err
	}
	t := types.ArrayOf(elem).NotNull()
	b := &Bound{Params: make([]types.Type, len(c.Args)), Result: t}
	for i := range c.Args {
		b.Params[i] = elem
	}
	b.Kernel = func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		values, offsets := interleave(elem, rows, args)
		return &batch.List{Typ: t, Offsets: offsets, Elem: values}, nil
	}
	return b, nil
}

// bindMap binds MAP[k, v, k, v, ...]; of equal keys the last one counts.
func bindMap(c *Call) (*Bound, error) {
	if len(c.Args) == 0 || len(c.Args)%2 != 0 {
		return nil, Argf(-1, "MAP takes pairs of a key and a value, not %d arguments", len(c.Args))
	}
	var keys, vals []Arg
	for i := 0; i < len(c.Args); i += 2 {
		keys, vals = append(keys, c.Args[i]), append(vals, c.Args[i+1])
	}
	key, err := c.elementType(keys)
	if err != nil {
		return nil, err
	}
	val, err := c.elementType(vals)
	if err != nil && val.Kind == types.Null { // only NULLs: Flink gives them the type of the keys
		val, err = key.WithNull(true), nil
	}
	if err != nil {
		return nil, err
	}
	t := types.MapOf(key, val).NotNull()
	b := &Bound{Params: make([]types.Type, len(c.Args)), Result: t}
	for i := range c.Args {
		b.Params[i] = [2]types.Type{key, val}[i%2]
	}
	b.Kernel = func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		k, v := make([]batch.Vector, len(args)/2), make([]batch.Vector, len(args)/2)
		for i := range k {
			k[i], v[i] = args[2*i], args[2*i+1]
		}
		keys, offsets := interleave(key, rows, k)
		vals, _ := interleave(val, rows, v)
		return UniqueKeys(&batch.Map{Typ: t, Offsets: offsets, Keys: keys, Vals: vals}), nil
	}
	return b, nil
}

// UniqueKeys keeps of equal keys of a map the last entry, at the place of the first.
func UniqueKeys(m *batch.Map) *batch.Map {
	equal := EqualTo(m.Keys, m.Keys)
	n := m.Len()
	keep, offsets := make([]int32, 0, m.Keys.Len()), make([]int32, n+1)
	for i := range n {
		start := len(keep)
	entries:
		for e := m.Offsets[i]; e < m.Offsets[i+1]; e++ {
			for k := start; k < len(keep); k++ {
				if equal(int(keep[k]), int(e)) {
					keep[k] = e
					continue entries
				}
			}
			keep = append(keep, e)
		}
		offsets[i+1] = int32(len(keep))
	}
	if len(keep) == m.Keys.Len() {
		return m
	}
	return &batch.Map{Typ: m.Typ, Offsets: offsets, Keys: batch.Take(m.Keys, keep), Vals: batch.Take(m.Vals, keep)}
}

func bindRow(c *Call) (*Bound, error) {
	if err := c.Arity(1, -1); err != nil {
		return nil, err
	}
	if err := c.noBareNull(); err != nil {
		return nil, err
	}
	fields := make([]types.Field, len(c.Args))
	for i, a := range c.Args {
		fields[i] = types.Field{Name: fmt.Sprintf("EXPR$%d", i), Type: a.Type.Plain()}
	}
	t := types.RowOf(fields...).NotNull()
	return &Bound{Result: t, Kernel: func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		return &batch.Row{Typ: t, Cols: append([]batch.Vector(nil), args...), N: rows.N}, nil
	}}, nil
}

// bindItem binds array[i], from 1, and map[key]. What is not there is NULL.
func bindItem(c *Call) (*Bound, error) {
	if err := c.operands(); err != nil {
		return nil, err
	}
	from, index := c.Args[0].Type, c.Args[1].Type
	switch from.Kind {
	case types.Array:
		if index.Kind != types.Int {
			return nil, c.Misfit(1, "an INT")
		}
		if n, ok := c.ConstInt(1); ok && n < 1 {
			return nil, Argf(1, "the index of an array counts from 1, it cannot be %d", n)
		}
		t := from.Elem.WithNull(true)
		return &Bound{Result: t, Kernel: itemOfArray(t)}, nil
	case types.Map:
		return c.bindMapItem(from, index)
	}
	return nil, c.Misfit(0, "an ARRAY, a MAP or a ROW")
}

func itemOfArray(t types.Type) Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		list, index := args[0].(*batch.List), args[1].(*batch.Fixed[int32]).Values
		return pickElement(t, list.Elem, rows, func(i int) int32 {
			if k := index[i]; k >= 1 && k <= list.Offsets[i+1]-list.Offsets[i] {
				return list.Offsets[i] + k - 1
			}
			return -1
		}), nil
	}
}

// pickElement takes for each row the value at a position, or null where it is below 0.
func pickElement(t types.Type, from batch.Vector, rows Rows, at func(i int) int32) batch.Vector {
	if from.Len() == 0 {
		return batch.Nulls(t, rows.N)
	}
	pos := make([]int32, rows.N)
	var missing batch.Bitmap
	for k := range rows.Len() {
		i := rows.At(k)
		if pos[i] = at(i); pos[i] < 0 {
			pos[i] = 0
			missing = MarkNull(missing, rows.N, i)
		}
	}
	out := batch.Take(from, pos).WithType(t)
	if missing == nil {
		return out
	}
	return WithValid(out, out.Validity().And(missing, rows.N))
}

// bindMapItem binds map[key]. Integers of any width, and texts of any length, are
// compared as they are; other keys are cast to the type of the map's.
func (c *Call) bindMapItem(from, index types.Type) (*Bound, error) {
	key, t := from.Key.Plain(), from.Elem.WithNull(true)
	b := &Bound{Params: make([]types.Type, 2), Result: t}
	integers := key.IsInteger() && index.IsInteger()
	if !integers && !(key.IsChar() && index.IsChar()) && !(key.IsBinary() && index.IsBinary()) {
		if wider, ok := common(key, index.Plain(), false); !ok || !wider.Same(key) {
			return nil, Argf(1, "the keys of this map are %s, not %s", key.WithNull(true), index.WithNull(true))
		}
		b.Params[1] = key
	}
	b.Kernel = func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		m := args[0].(*batch.Map)
		var equal func(i, j int) bool
		if integers {
			x, y := integersOf(args[1]), integersOf(m.Keys)
			valid := m.Keys.Validity()
			equal = func(i, j int) bool { return x(i) == y(j) && valid.Get(j) }
		} else {
			equal = EqualTo(args[1], m.Keys)
		}
		return pickElement(t, m.Vals, rows, func(i int) int32 {
			for e := m.Offsets[i]; e < m.Offsets[i+1]; e++ {
				if equal(i, int(e)) {
					return e
				}
			}
			return -1
		}), nil
	}
	return b, nil
}

// integersOf reads integers of any width.
func integersOf(v batch.Vector) func(i int) int64 {
	switch v := v.(type) {
	case *batch.Fixed[int8]:
		return func(i int) int64 { return int64(v.Values[i]) }
	case *batch.Fixed[int16]:
		return func(i int) int64 { return int64(v.Values[i]) }
	case *batch.Fixed[int32]:
		return func(i int) int64 { return int64(v.Values[i]) }
	}
	values := v.(*batch.Fixed[int64]).Values
	return func(i int) int64 { return values[i] }
}

func bindCardinality(c *Call) (*Bound, error) {
	if err := c.Arity(1, 1); err != nil {
		return nil, err
	}
	if k := c.Args[0].Type.Kind; k != types.Array && k != types.Map && k != types.Multiset {
		return nil, c.Misfit(0, "an ARRAY, a MAP or a MULTISET")
	}
	t := c.Strict(types.Of(types.Int))
	return &Bound{Result: t, Kernel: func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		var offsets []int32
		multiset := args[0].Type().Kind == types.Multiset
		switch v := args[0].(type) {
		case *batch.List:
			offsets = v.Offsets
		case *batch.Map:
			offsets = v.Offsets
			if multiset {
				return multisetSizes(t, rows, v), nil
			}
		}
		out := batch.MakeFixed[int32](t, rows.N)
		for i := range out.Values {
			out.Values[i] = offsets[i+1] - offsets[i]
		}
		return out, nil
	}}, nil
}

// multisetSizes adds up the counts.
func multisetSizes(t types.Type, rows Rows, m *batch.Map) batch.Vector {
	counts, out := m.Vals.(*batch.Fixed[int32]).Values, batch.MakeFixed[int32](t, rows.N)
	for i := range out.Values {
		for e := m.Offsets[i]; e < m.Offsets[i+1]; e++ {
			out.Values[i] += counts[e]
		}
	}
	return out
}
