// Package batch holds the columnar form of rows: vectors in Arrow layout and
// batches of them.
//
// A vector under construction belongs to whoever appends to it. Once it is in
// a batch that was emitted it is immutable, and any number of batches may share
// it. Layouts differ from Arrow's in two places, for speed: BOOLEAN values are
// one byte each, and TIMESTAMP above precision 3 is a pair (types.TS).
package batch

import (
	"fmt"

	"github.com/millstream-io/millstream/types"
)

// Vector is one column of values. The concrete types are *Fixed[T], *Bytes,
// *List, *Map, *Row and *Null; code that handles values switches on them, or
// knows which it has from Type().Phys().
type Vector interface {
	// Type is the logical type of the values.
	Type() types.Type
	// Len is the number of values, nulls included.
	Len() int
	// Validity has a bit set for each value that is not null; nil means that
	// no value is null.
	Validity() Bitmap
	// Slice returns values [i, j) without copying them. The result must not
	// be appended to.
	Slice(i, j int) Vector
	// AppendNull adds a null.
	AppendNull()
	// WithType returns the same values under another type of the same
	// physical form.
	WithType(t types.Type) Vector
}

// Value is the set of fixed-width physical forms.
type Value interface {
	bool | int8 | int16 | int32 | int64 | float32 | float64 | types.Int128 | types.TS
}

// Fixed is a vector of fixed-width values. The value under a null is
// unspecified.
type Fixed[T Value] struct {
	Typ    types.Type
	Values []T
	Valid  Bitmap
}

// Bytes is a vector of strings or byte strings: value i is
// Data[Offsets[i]:Offsets[i+1]]. Offsets has one more element than there are
// values, and its first element need not be 0.
type Bytes struct {
	Typ     types.Type
	Offsets []int32
	Data    []byte
	Valid   Bitmap
}

// List is a vector of ARRAYs: value i is the elements Offsets[i] to Offsets[i+1].
type List struct {
	Typ     types.Type
	Offsets []int32
	Elem    Vector
	Valid   Bitmap
}

// Map is a vector of MAPs, or of MULTISETs (the values are then INT counts).
type Map struct {
	Typ     types.Type
	Offsets []int32
	Keys    Vector
	Vals    Vector
	Valid   Bitmap
}

// Row is a vector of ROWs: one vector a field, each of length N. A field of a
// null row is null as well.
type Row struct {
	Typ   types.Type
	Cols  []Vector
	N     int
	Valid Bitmap
}

// Null is a vector of type NULL.
type Null struct{ N int }

// New returns an empty vector for values of type t with room for n of them.
func New(t types.Type, n int) Vector {
	switch t.Phys() {
	case types.PhysBool:
		return NewFixed[bool](t, n)
	case types.PhysI8:
		return NewFixed[int8](t, n)
	case types.PhysI16:
		return NewFixed[int16](t, n)
	case types.PhysI32:
		return NewFixed[int32](t, n)
	case types.PhysI64:
		return NewFixed[int64](t, n)
	case types.PhysF32:
		return NewFixed[float32](t, n)
	case types.PhysF64:
		return NewFixed[float64](t, n)
	case types.PhysI128:
		return NewFixed[types.Int128](t, n)
	case types.PhysTS:
		return NewFixed[types.TS](t, n)
	case types.PhysBytes:
		return NewBytes(t, n, 0)
	case types.PhysList:
		return &List{Typ: t, Offsets: append(make([]int32, 0, n+1), 0), Elem: New(*t.Elem, n)}
	case types.PhysMap:
		val := types.Of(types.Int).NotNull()
		key := t.Elem
		if t.Kind == types.Map {
			val, key = *t.Elem, t.Key
		}
		return &Map{Typ: t, Offsets: append(make([]int32, 0, n+1), 0), Keys: New(*key, n), Vals: New(val, n)}
	case types.PhysRow:
		r := &Row{Typ: t, Cols: make([]Vector, len(t.Fields))}
		for i, f := range t.Fields {
			r.Cols[i] = New(f.Type, n)
		}
		return r
	case types.PhysNull:
		return &Null{}
	}
	panic(fmt.Sprintf("batch: no vector for type %s", t))
}

// NewFixed returns an empty vector with room for n values.
func NewFixed[T Value](t types.Type, n int) *Fixed[T] {
	return &Fixed[T]{Typ: t, Values: make([]T, 0, n)}
}

// MakeFixed returns a vector of n zero values, to be filled in place.
func MakeFixed[T Value](t types.Type, n int) *Fixed[T] {
	return &Fixed[T]{Typ: t, Values: make([]T, n)}
}

// NewBytes returns an empty vector with room for n values of size bytes in all.
func NewBytes(t types.Type, n, size int) *Bytes {
	return &Bytes{Typ: t, Offsets: append(make([]int32, 0, n+1), 0), Data: make([]byte, 0, size)}
}

// Type implements Vector.
func (v *Fixed[T]) Type() types.Type { return v.Typ }

// Len implements Vector.
func (v *Fixed[T]) Len() int { return len(v.Values) }

// Validity implements Vector.
func (v *Fixed[T]) Validity() Bitmap { return v.Valid }

// Slice implements Vector.
func (v *Fixed[T]) Slice(i, j int) Vector {
	return &Fixed[T]{Typ: v.Typ, Values: v.Values[i:j:j], Valid: v.Valid.Slice(i, j)}
}

// WithType implements Vector.
func (v *Fixed[T]) WithType(t types.Type) Vector { c := *v; c.Typ = t; return &c }

// Append adds a value.
func (v *Fixed[T]) Append(x T) {
	v.Values = append(v.Values, x)
	if v.Valid != nil {
		v.Valid = v.Valid.Append(len(v.Values)-1, true)
	}
}

// AppendNull implements Vector.
func (v *Fixed[T]) AppendNull() {
	var zero T
	v.Values = append(v.Values, zero)
	v.Valid = v.Valid.Append(len(v.Values)-1, false)
}

// Type implements Vector.
func (v *Bytes) Type() types.Type { return v.Typ }

// Len implements Vector.
func (v *Bytes) Len() int { return len(v.Offsets) - 1 }

// Validity implements Vector.
func (v *Bytes) Validity() Bitmap { return v.Valid }

// At returns value i; the bytes must not be changed.
func (v *Bytes) At(i int) []byte { return v.Data[v.Offsets[i]:v.Offsets[i+1]] }

// Slice implements Vector.
func (v *Bytes) Slice(i, j int) Vector {
	return &Bytes{Typ: v.Typ, Offsets: v.Offsets[i : j+1 : j+1], Data: v.Data, Valid: v.Valid.Slice(i, j)}
}

// WithType implements Vector.
func (v *Bytes) WithType(t types.Type) Vector { c := *v; c.Typ = t; return &c }

// Append adds a copy of x.
func (v *Bytes) Append(x []byte) {
	v.Data = append(v.Data, x...)
	v.Close()
}

// AppendString adds x.
func (v *Bytes) AppendString(x string) {
	v.Data = append(v.Data, x...)
	v.Close()
}

// Close ends a value whose bytes were appended to v.Data directly.
func (v *Bytes) Close() {
	v.Offsets = append(v.Offsets, int32(len(v.Data)))
	if v.Valid != nil {
		v.Valid = v.Valid.Append(len(v.Offsets)-2, true)
	}
}

// AppendNull implements Vector.
func (v *Bytes) AppendNull() {
	v.Offsets = append(v.Offsets, int32(len(v.Data)))
	v.Valid = v.Valid.Append(len(v.Offsets)-2, false)
}

// Type implements Vector.
func (v *List) Type() types.Type { return v.Typ }

// Len implements Vector.
func (v *List) Len() int { return len(v.Offsets) - 1 }

// Validity implements Vector.
func (v *List) Validity() Bitmap { return v.Valid }

// Slice implements Vector.
func (v *List) Slice(i, j int) Vector {
	return &List{Typ: v.Typ, Offsets: v.Offsets[i : j+1 : j+1], Elem: v.Elem, Valid: v.Valid.Slice(i, j)}
}

// WithType implements Vector.
func (v *List) WithType(t types.Type) Vector { c := *v; c.Typ = t; return &c }

// Close ends a value whose elements were appended to v.Elem.
func (v *List) Close() {
	v.Offsets = append(v.Offsets, int32(v.Elem.Len()))
	if v.Valid != nil {
		v.Valid = v.Valid.Append(len(v.Offsets)-2, true)
	}
}

// AppendNull implements Vector.
func (v *List) AppendNull() {
	v.Offsets = append(v.Offsets, int32(v.Elem.Len()))
	v.Valid = v.Valid.Append(len(v.Offsets)-2, false)
}

// Type implements Vector.
func (v *Map) Type() types.Type { return v.Typ }

// Len implements Vector.
func (v *Map) Len() int { return len(v.Offsets) - 1 }

// Validity implements Vector.
func (v *Map) Validity() Bitmap { return v.Valid }

// Slice implements Vector.
func (v *Map) Slice(i, j int) Vector {
	return &Map{Typ: v.Typ, Offsets: v.Offsets[i : j+1 : j+1], Keys: v.Keys, Vals: v.Vals, Valid: v.Valid.Slice(i, j)}
}

// WithType implements Vector.
func (v *Map) WithType(t types.Type) Vector { c := *v; c.Typ = t; return &c }

// Close ends a value whose entries were appended to v.Keys and v.Vals.
func (v *Map) Close() {
	v.Offsets = append(v.Offsets, int32(v.Keys.Len()))
	if v.Valid != nil {
		v.Valid = v.Valid.Append(len(v.Offsets)-2, true)
	}
}

// AppendNull implements Vector.
func (v *Map) AppendNull() {
	v.Offsets = append(v.Offsets, int32(v.Keys.Len()))
	v.Valid = v.Valid.Append(len(v.Offsets)-2, false)
}

// Type implements Vector.
func (v *Row) Type() types.Type { return v.Typ }

// Len implements Vector.
func (v *Row) Len() int { return v.N }

// Validity implements Vector.
func (v *Row) Validity() Bitmap { return v.Valid }

// Slice implements Vector.
func (v *Row) Slice(i, j int) Vector {
	r := &Row{Typ: v.Typ, Cols: make([]Vector, len(v.Cols)), N: j - i, Valid: v.Valid.Slice(i, j)}
	for c, col := range v.Cols {
		r.Cols[c] = col.Slice(i, j)
	}
	return r
}

// WithType implements Vector.
func (v *Row) WithType(t types.Type) Vector { c := *v; c.Typ = t; return &c }

// Close ends a row whose fields were appended to v.Cols.
func (v *Row) Close() {
	v.N++
	if v.Valid != nil {
		v.Valid = v.Valid.Append(v.N-1, true)
	}
}

// AppendNull implements Vector.
func (v *Row) AppendNull() {
	for _, c := range v.Cols {
		c.AppendNull()
	}
	v.N++
	v.Valid = v.Valid.Append(v.N-1, false)
}

// Type implements Vector.
func (v *Null) Type() types.Type { return types.Of(types.Null) }

// Len implements Vector.
func (v *Null) Len() int { return v.N }

// Validity implements Vector.
func (v *Null) Validity() Bitmap { return make(Bitmap, (v.N+63)/64) }

// Slice implements Vector.
func (v *Null) Slice(i, j int) Vector { return &Null{N: j - i} }

// WithType implements Vector: the result is a vector of t with only nulls.
func (v *Null) WithType(t types.Type) Vector { return Nulls(t, v.N) }

// AppendNull implements Vector.
func (v *Null) AppendNull() { v.N++ }

// Nulls returns a vector of n nulls of type t.
func Nulls(t types.Type, n int) Vector {
	v := New(t, n)
	for range n {
		v.AppendNull()
	}
	return v
}
