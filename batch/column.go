package batch

import "github.com/millstream-io/millstream/types"

// Column is a growable column addressed by slot: the form that values have in
// a state table. Its memory is in chunks, so that growth copies nothing and
// slots stay where they are; chunks hold no pointers. The concrete types are
// *Slab[T] for the fixed-width forms and *BytesSlab for the rest (nested values
// are stored in the binary form of EncodeValue).
type Column interface {
	// Type is the logical type of the values.
	Type() types.Type
	// Grow makes slots 0 to n-1 exist. New slots are null if the type is
	// nullable and zero otherwise.
	Grow(n int)
	// Reset makes a slot as it was when new.
	Reset(slot int32)
	// Null reports whether the slot holds a null.
	Null(slot int32) bool
	// SetNull makes the slot null.
	SetNull(slot int32)
	// Set copies values into slots: slots[i] gets v[rows[i]].
	Set(slots []int32, v Vector, rows []int32)
	// Vector returns the values at slots as a vector.
	Vector(slots []int32) Vector
	// MemBytes is the memory that the column takes.
	MemBytes() int
}

// chunkBits is the base-2 logarithm of the number of slots in a chunk.
const chunkBits = 10

const chunkMask = 1<<chunkBits - 1

// Slab is a Column of fixed-width values.
type Slab[T Value] struct {
	typ    types.Type
	chunks [][]T
	// nulls has one byte a slot, 1 for null; nil for types that are NOT NULL.
	nulls [][]uint8
	n     int
}

// NewSlab returns an empty slab.
func NewSlab[T Value](t types.Type) *Slab[T] { return &Slab[T]{typ: t} }

// Type implements Column.
func (s *Slab[T]) Type() types.Type { return s.typ }

// At returns the value in a slot; the pointer is good until the slab is dropped.
func (s *Slab[T]) At(slot int32) *T { return &s.chunks[slot>>chunkBits][slot&chunkMask] }

// Put stores a value that is not null.
func (s *Slab[T]) Put(slot int32, v T) {
	s.chunks[slot>>chunkBits][slot&chunkMask] = v
	if s.nulls != nil {
		s.nulls[slot>>chunkBits][slot&chunkMask] = 0
	}
}

// Grow implements Column. The first chunk grows by doubling, so that small
// tables stay small.
func (s *Slab[T]) Grow(n int) {
	if n <= s.n {
		return
	}
	nullable := s.typ.Nullable
	for len(s.chunks) == 0 || n > s.room() {
		last := len(s.chunks) - 1
		if last >= 0 && len(s.chunks[last]) <= chunkMask {
			size := max(2*len(s.chunks[last]), 8)
			s.chunks[last] = append(make([]T, 0, size), s.chunks[last]...)[:size]
			if nullable {
				s.nulls[last] = grown(s.nulls[last], size)
			}
			continue
		}
		size := 8
		if last >= 0 {
			size = chunkMask + 1
		}
		s.chunks = append(s.chunks, make([]T, size))
		if nullable {
			s.nulls = append(s.nulls, grown(nil, size))
		}
	}
	s.n = n
}

// grown returns a copy of b with the given size, the new bytes being 1.
func grown(b []uint8, size int) []uint8 {
	out := make([]uint8, size)
	for i := copy(out, b); i < size; i++ {
		out[i] = 1
	}
	return out
}

func (s *Slab[T]) room() int {
	last := len(s.chunks) - 1
	return last<<chunkBits + len(s.chunks[last])
}

// Reset implements Column.
func (s *Slab[T]) Reset(slot int32) {
	var zero T
	s.chunks[slot>>chunkBits][slot&chunkMask] = zero
	if s.nulls != nil {
		s.nulls[slot>>chunkBits][slot&chunkMask] = 1
	}
}

// Null implements Column.
func (s *Slab[T]) Null(slot int32) bool {
	return s.nulls != nil && s.nulls[slot>>chunkBits][slot&chunkMask] != 0
}

// SetNull implements Column.
func (s *Slab[T]) SetNull(slot int32) { s.nulls[slot>>chunkBits][slot&chunkMask] = 1 }

// Set implements Column.
func (s *Slab[T]) Set(slots []int32, v Vector, rows []int32) {
	f := v.(*Fixed[T])
	for i, slot := range slots {
		r := int(rows[i])
		if f.Valid.IsNull(r) {
			s.Reset(slot)
			continue
		}
		s.Put(slot, f.Values[r])
	}
}

// Vector implements Column.
func (s *Slab[T]) Vector(slots []int32) Vector {
	out := MakeFixed[T](s.typ, len(slots))
	for i, slot := range slots {
		out.Values[i] = s.chunks[slot>>chunkBits][slot&chunkMask]
		if s.Null(slot) {
			if out.Valid == nil {
				out.Valid = NewBitmap(len(slots))
			}
			out.Valid.Clear(i)
		}
	}
	return out
}

// MemBytes implements Column.
func (s *Slab[T]) MemBytes() int {
	if len(s.chunks) == 0 {
		return 0
	}
	size := width(&Fixed[T]{})
	if s.nulls != nil {
		size++
	}
	return s.room() * size
}
