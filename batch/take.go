package batch

import (
	"fmt"
	"unsafe"
)

// Take returns the values at the given positions, in that order.
func Take(v Vector, pos []int32) Vector {
	out := New(v.Type(), len(pos))
	if b, ok := v.(*Bytes); ok {
		size := 0
		for _, p := range pos {
			size += int(b.Offsets[p+1] - b.Offsets[p])
		}
		out.(*Bytes).Data = make([]byte, 0, size)
	}
	AppendTake(out, v, pos)
	return out
}

// AppendTake appends to dst the values of src at the given positions; nil
// means all. Both have the same physical form.
func AppendTake(dst, src Vector, pos []int32) {
	switch s := src.(type) {
	case *Fixed[int64]:
		appendFixed(dst, s, pos)
	case *Fixed[int32]:
		appendFixed(dst, s, pos)
	case *Bytes:
		appendBytes(dst.(*Bytes), s, pos)
	default:
		appendOther(dst, src, pos)
	}
}

func appendOther(dst, src Vector, pos []int32) {
	switch s := src.(type) {
	case *Fixed[bool]:
		appendFixed(dst, s, pos)
	case *Fixed[int8]:
		appendFixed(dst, s, pos)
	case *Fixed[int16]:
		appendFixed(dst, s, pos)
	case *Fixed[float32]:
		appendFixed(dst, s, pos)
	case *Fixed[float64]:
		appendFixed(dst, s, pos)
	default:
		appendWide(dst, src, pos)
	}
}

func appendFixed[T Value](dst Vector, s *Fixed[T], pos []int32) {
	d, ok := dst.(*Fixed[T])
	if !ok {
		panic(fmt.Sprintf("batch: append of %s to %s", s.Typ, dst.Type()))
	}
	at := len(d.Values)
	if pos == nil {
		d.Values = append(d.Values, s.Values...)
	} else {
		for _, p := range pos {
			d.Values = append(d.Values, s.Values[p])
		}
	}
	d.Valid = appendValid(d.Valid, at, s.Valid, pos, len(d.Values)-at)
}

// appendValid extends dst, which covers at values, by n values of src.
func appendValid(dst Bitmap, at int, src Bitmap, pos []int32, n int) Bitmap {
	if dst == nil && src == nil {
		return nil
	}
	for i := range n {
		p := i
		if pos != nil {
			p = int(pos[i])
		}
		dst = dst.Append(at+i, src.Get(p))
	}
	return dst
}

func appendBytes(d, s *Bytes, pos []int32) {
	at := d.Len()
	if pos == nil {
		base, end := s.Offsets[0], s.Offsets[len(s.Offsets)-1]
		shift := int32(len(d.Data)) - base
		d.Data = append(d.Data, s.Data[base:end]...)
		for _, o := range s.Offsets[1:] {
			d.Offsets = append(d.Offsets, o+shift)
		}
	} else {
		for _, p := range pos {
			d.Data = append(d.Data, s.Data[s.Offsets[p]:s.Offsets[p+1]]...)
			d.Offsets = append(d.Offsets, int32(len(d.Data)))
		}
	}
	d.Valid = appendValid(d.Valid, at, s.Valid, pos, d.Len()-at)
}

// spread returns the element positions of the given list values.
func spread(offsets []int32, pos []int32) []int32 {
	var out []int32
	for _, p := range pos {
		for e := offsets[p]; e < offsets[p+1]; e++ {
			out = append(out, e)
		}
	}
	return out
}

// All returns the positions 0 to n-1.
func All(n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i)
	}
	return out
}

// MemSize estimates the bytes of memory that a vector's values take.
func MemSize(v Vector) int {
	n := len(v.Validity()) * 8
	switch v := v.(type) {
	case *Bytes:
		return n + len(v.Offsets)*4 + int(v.Offsets[len(v.Offsets)-1]-v.Offsets[0])
	case *List:
		return n + len(v.Offsets)*4 + MemSize(v.Elem)
	case *Map:
		return n + len(v.Offsets)*4 + MemSize(v.Keys) + MemSize(v.Vals)
	case *Row:
		for _, c := range v.Cols {
			n += MemSize(c)
		}
		return n
	case *Null:
		return 0
	}
	return n + v.Len()*width(v)
}

func width(v Vector) int {
	switch v.(type) {
	case *Fixed[bool], *Fixed[int8]:
		return 1
	case *Fixed[int16]:
		return 2
	case *Fixed[int32], *Fixed[float32]:
		return 4
	case *Fixed[int64], *Fixed[float64]:
		return 8
	}
	return int(unsafe.Sizeof([2]uint64{}))
}
