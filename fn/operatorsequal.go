package fn

import (
	"bytes"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// equalNested compares arrays, maps and rows; within them a null equals a null.
func equalNested(op comparison, t types.Type) Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		equal := EqualTo(args[0], args[1])
		out := batch.MakeFixed[bool](t, rows.N)
		for k := range rows.Len() {
			i := rows.At(k)
			out.Values[i] = equal(i, i) == (op == opEq)
		}
		return out, nil
	}
}

// EqualTo returns a function that compares value i of a with value j of b, which
// have the same physical form. A null equals a null; NaN equals nothing, and
// minus zero equals zero.
func EqualTo(a, b batch.Vector) func(i, j int) bool {
	values := equalValues(a, b)
	va, vb := a.Validity(), b.Validity()
	if va == nil && vb == nil {
		return values
	}
	return func(i, j int) bool {
		if va.Get(i) && vb.Get(j) {
			return values(i, j)
		}
		return va.Get(i) == vb.Get(j)
	}
}

func equalValues(a, b batch.Vector) func(i, j int) bool {
	switch a := a.(type) {
	case *batch.Fixed[bool]:
		return equalFixed(a, b)
	case *batch.Fixed[int8]:
		return equalFixed(a, b)
	case *batch.Fixed[int16]:
		return equalFixed(a, b)
	case *batch.Fixed[int32]:
		return equalFixed(a, b)
	case *batch.Fixed[int64]:
		return equalFixed(a, b)
	case *batch.Fixed[float32]:
		return equalFixed(a, b)
	case *batch.Fixed[float64]:
		return equalFixed(a, b)
	case *batch.Fixed[types.Int128]:
		return equalFixed(a, b)
	case *batch.Fixed[types.TS]:
		return equalFixed(a, b)
	case *batch.Bytes:
		other := b.(*batch.Bytes)
		return func(i, j int) bool { return bytes.Equal(a.At(i), other.At(j)) }
	case *batch.List:
		return equalLists(a, b.(*batch.List))
	case *batch.Map:
		return equalMaps(a, b.(*batch.Map))
	case *batch.Row:
		return equalRows(a, b.(*batch.Row))
	}
	return func(i, j int) bool { return true } // NULLs
}

func equalFixed[T batch.Value](a *batch.Fixed[T], b batch.Vector) func(i, j int) bool {
	other := b.(*batch.Fixed[T])
	return func(i, j int) bool { return a.Values[i] == other.Values[j] }
}

func equalLists(a, b *batch.List) func(i, j int) bool {
	elem := EqualTo(a.Elem, b.Elem)
	return func(i, j int) bool {
		from, to := int(a.Offsets[i]), int(a.Offsets[i+1])
		other := int(b.Offsets[j])
		if to-from != int(b.Offsets[j+1])-other {
			return false
		}
		for k := from; k < to; k++ {
			if !elem(k, other+k-from) {
				return false
			}
		}
		return true
	}
}

// equalMaps: the order of entries has no meaning.
func equalMaps(a, b *batch.Map) func(i, j int) bool {
	key, val := EqualTo(a.Keys, b.Keys), EqualTo(a.Vals, b.Vals)
	return func(i, j int) bool {
		from, to := int(a.Offsets[i]), int(a.Offsets[i+1])
		if to-from != int(b.Offsets[j+1]-b.Offsets[j]) {
			return false
		}
		for k := from; k < to; k++ {
			found := false
			for m := int(b.Offsets[j]); m < int(b.Offsets[j+1]) && !found; m++ {
				found = key(k, m) && val(k, m)
			}
			if !found {
				return false
			}
		}
		return true
	}
}

func equalRows(a, b *batch.Row) func(i, j int) bool {
	fields := make([]func(i, j int) bool, len(a.Cols))
	for f := range a.Cols {
		fields[f] = EqualTo(a.Cols[f], b.Cols[f])
	}
	return func(i, j int) bool {
		for _, equal := range fields {
			if !equal(i, j) {
				return false
			}
		}
		return true
	}
}
