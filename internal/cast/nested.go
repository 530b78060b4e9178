package cast

import (
	"errors"
	"sort"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/types"
)

// part converts the parts of a nested type. With TRY_CAST a part that cannot be
// converted makes the whole value NULL.
type part struct {
	kernel fn.Kernel
	to     types.Type
}

// newPart returns how to convert a part; ok is false if it cannot be.
func (c *conversion) newPart(from, to types.Type) (p part, ok bool) {
	sub := *c
	sub.from, sub.to = from, to
	if c.try {
		sub.to = to.WithNull(true)
	}
	p = part{kernel: sub.kernel(), to: sub.to}
	return p, p.kernel != nil
}

// convert converts the values at the given positions, which nulls may be among.
func (p part) convert(n int, sel []int32, v batch.Vector) (batch.Vector, error) {
	rows := fn.Rows{N: n, Sel: sel}
	valid := v.Validity()
	if valid != nil {
		rows.Sel = make([]int32, 0, rows.Len())
		for k, m := 0, (fn.Rows{N: n, Sel: sel}).Len(); k < m; k++ {
			if i := (fn.Rows{N: n, Sel: sel}).At(k); valid.Get(i) {
				rows.Sel = append(rows.Sel, int32(i))
			}
		}
	}
	if valid != nil && len(rows.Sel) == 0 {
		return batch.Nulls(p.to.WithNull(true), n).WithType(p.to), nil
	}
	out, err := p.kernel(rows, []batch.Vector{v})
	if err != nil || valid == nil {
		return out, err
	}
	return fn.WithValid(out, out.Validity().And(valid, n)), nil
}

// nested converts ARRAYs, MAPs, MULTISETs and ROWs, part by part.
func (c *conversion) nested() fn.Kernel {
	switch c.from.Kind {
	case types.Array:
		elem, ok := c.newPart(*c.from.Elem, *c.to.Elem)
		if !ok {
			return nil
		}
		return func(rows fn.Rows, args []batch.Vector) (batch.Vector, error) {
			in := args[0].(*batch.List)
			out, valid, err := c.elements(elem, rows, in.Offsets, in.Elem, in.Valid)
			if err != nil {
				return nil, err
			}
			return &batch.List{Typ: c.to, Offsets: in.Offsets, Elem: out, Valid: valid}, nil
		}
	case types.Map:
		return c.mapKernel(*c.from.Key, *c.to.Key, *c.from.Elem, *c.to.Elem)
	case types.Multiset:
		count := types.Of(types.Int).NotNull()
		return c.mapKernel(*c.from.Elem, *c.to.Elem, count, count)
	}
	return c.rowKernel()
}

func (c *conversion) mapKernel(fromKey, toKey, fromVal, toVal types.Type) fn.Kernel {
	key, ok1 := c.newPart(fromKey, toKey)
	val, ok2 := c.newPart(fromVal, toVal)
	if !ok1 || !ok2 {
		return nil
	}
	return func(rows fn.Rows, args []batch.Vector) (batch.Vector, error) {
		in := args[0].(*batch.Map)
		keys, valid, err := c.elements(key, rows, in.Offsets, in.Keys, in.Valid)
		if err != nil {
			return nil, err
		}
		vals, valid, err := c.elements(val, rows, in.Offsets, in.Vals, valid)
		if err != nil {
			return nil, err
		}
		return fn.WithValid(fn.UniqueKeys(&batch.Map{Typ: c.to, Offsets: in.Offsets, Keys: keys, Vals: vals}), valid), nil
	}
}

// elements converts the elements of the rows that count, and returns them with
// the validity of the rows.
func (c *conversion) elements(p part, rows fn.Rows, offsets []int32, v batch.Vector, valid batch.Bitmap) (batch.Vector, batch.Bitmap, error) {
	sel := make([]int32, 0, v.Len())
	for k := range rows.Len() {
		i := rows.At(k)
		for e := offsets[i]; e < offsets[i+1]; e++ {
			sel = append(sel, e)
		}
	}
	out, err := p.convert(v.Len(), sel, v)
	if err != nil {
		var row *fn.RowError
		if errors.As(err, &row) {
			at := sort.Search(len(offsets)-1, func(i int) bool { return int(offsets[i+1]) > row.Pos })
			err = &fn.RowError{Pos: at, Msg: row.Msg}
		}
		return nil, nil, err
	}
	if !c.try || out.Validity() == nil {
		return out, valid, nil
	}
	for k := range rows.Len() {
		i := rows.At(k)
		for e := int(offsets[i]); e < int(offsets[i+1]); e++ {
			if out.Validity().IsNull(e) && v.Validity().Get(e) {
				valid = valid.Clone(rows.N)
				valid.Clear(i)
				break
			}
		}
	}
	return out, valid, nil
}

func (c *conversion) rowKernel() fn.Kernel {
	if len(c.from.Fields) != len(c.to.Fields) {
		return nil
	}
	parts := make([]part, len(c.from.Fields))
	for i, f := range c.from.Fields {
		var ok bool
		if parts[i], ok = c.newPart(f.Type, c.to.Fields[i].Type); !ok {
			return nil
		}
	}
	return func(rows fn.Rows, args []batch.Vector) (batch.Vector, error) {
		in := args[0].(*batch.Row)
		out := &batch.Row{Typ: c.to, Cols: make([]batch.Vector, len(parts)), N: in.N, Valid: in.Valid}
		for f, p := range parts {
			col, err := p.convert(in.N, rows.Sel, in.Cols[f])
			if err != nil {
				return nil, err
			}
			out.Cols[f] = col
			if c.try && col.Validity() != nil {
				out.Valid = failedRows(rows, in.Cols[f].Validity(), col.Validity(), out.Valid)
			}
		}
		if c.try {
			return fn.WithValid(out, out.Valid), nil
		}
		return out, nil
	}
}

// failedRows takes out the rows where a field became null that was not.
func failedRows(rows fn.Rows, before, after, valid batch.Bitmap) batch.Bitmap {
	cloned := false
	for k := range rows.Len() {
		if i := rows.At(k); before.Get(i) && after.IsNull(i) {
			if !cloned {
				valid, cloned = valid.Clone(rows.N), true
			}
			valid.Clear(i)
		}
	}
	return valid
}
