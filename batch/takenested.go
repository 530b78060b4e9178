package batch

import (
	"fmt"

	"github.com/millstream-io/millstream/types"
)

// appendWide is AppendTake for the wide and the nested forms.
func appendWide(dst, src Vector, pos []int32) {
	switch s := src.(type) {
	case *Fixed[types.Int128]:
		appendFixed(dst, s, pos)
	case *Fixed[types.TS]:
		appendFixed(dst, s, pos)
	case *List:
		d := dst.(*List)
		at := d.Len()
		pos = orAll(pos, s.Len())
		AppendTake(d.Elem, s.Elem, nonNil(spread(s.Offsets, pos)))
		d.Offsets = extend(d.Offsets, s.Offsets, pos)
		d.Valid = appendValid(d.Valid, at, s.Valid, pos, len(pos))
	case *Map:
		d := dst.(*Map)
		at := d.Len()
		pos = orAll(pos, s.Len())
		elems := nonNil(spread(s.Offsets, pos))
		AppendTake(d.Keys, s.Keys, elems)
		AppendTake(d.Vals, s.Vals, elems)
		d.Offsets = extend(d.Offsets, s.Offsets, pos)
		d.Valid = appendValid(d.Valid, at, s.Valid, pos, len(pos))
	case *Row:
		d := dst.(*Row)
		n := s.N
		if pos != nil {
			n = len(pos)
		}
		for i := range d.Cols {
			AppendTake(d.Cols[i], s.Cols[i], pos)
		}
		d.Valid = appendValid(d.Valid, d.N, s.Valid, pos, n)
		d.N += n
	case *Null:
		n := s.N
		if pos != nil {
			n = len(pos)
		}
		for range n {
			dst.AppendNull()
		}
	default:
		panic(fmt.Sprintf("batch: append of %T", src))
	}
}

func orAll(pos []int32, n int) []int32 {
	if pos == nil {
		return All(n)
	}
	return pos
}

// nonNil keeps "no positions" apart from nil, which means all.
func nonNil(pos []int32) []int32 {
	if pos == nil {
		return []int32{}
	}
	return pos
}

// extend appends the offsets of the given values of src, rebased.
func extend(dst, src, pos []int32) []int32 {
	end := dst[len(dst)-1]
	for _, p := range pos {
		end += src[p+1] - src[p]
		dst = append(dst, end)
	}
	return dst
}
