package batch

import "math/bits"

// Bitmap is a validity bitmap: bit i of word i/64 is set if value i is not
// null. A nil Bitmap means that no value is null. Bits beyond the vector's
// length are unspecified.
type Bitmap []uint64

// NewBitmap returns a bitmap of n bits, all set.
func NewBitmap(n int) Bitmap {
	b := make(Bitmap, (n+63)/64)
	for i := range b {
		b[i] = ^uint64(0)
	}
	return b
}

// Get reports whether value i is not null.
func (b Bitmap) Get(i int) bool { return b == nil || b[i>>6]&(1<<(uint(i)&63)) != 0 }

// IsNull reports whether value i is null.
func (b Bitmap) IsNull(i int) bool { return b != nil && b[i>>6]&(1<<(uint(i)&63)) == 0 }

// All reports whether the values at all the given positions are not null; b must
// not be nil.
func (b Bitmap) All(sel []int32) bool {
	all := uint64(1)
	for _, p := range sel {
		all &= b[p>>6] >> (uint(p) & 63)
	}
	return all&1 == 1
}

// Set marks value i as not null; b must not be nil.
func (b Bitmap) Set(i int) { b[i>>6] |= 1 << (uint(i) & 63) }

// Clear marks value i as null; b must not be nil.
func (b Bitmap) Clear(i int) { b[i>>6] &^= 1 << (uint(i) & 63) }

// Append returns b, which covers n values, extended by value n. A nil bitmap
// stays nil as long as values are valid, and is made when the first null comes.
func (b Bitmap) Append(n int, valid bool) Bitmap {
	if b == nil {
		if valid {
			return nil
		}
		b = append(make(Bitmap, 0, n/64+8), NewBitmap(n)...)
	}
	for len(b) <= n>>6 {
		b = append(b, 0)
	}
	if valid {
		b.Set(n)
	} else {
		b.Clear(n)
	}
	return b
}

// Slice returns the bits [i, j). It shares memory where i is a multiple of 64.
func (b Bitmap) Slice(i, j int) Bitmap {
	if b == nil {
		return nil
	}
	words := (j - i + 63) / 64
	lo, sh := i>>6, uint(i)&63
	if sh == 0 {
		return b[lo : lo+words : lo+words]
	}
	out := make(Bitmap, words)
	for k := range out {
		out[k] = b[lo+k] >> sh
		if lo+k+1 < len(b) {
			out[k] |= b[lo+k+1] << (64 - sh)
		}
	}
	return out
}

// And returns the intersection of two bitmaps over n values: not null in both.
// It may return one of its arguments.
func (b Bitmap) And(c Bitmap, n int) Bitmap {
	if b == nil {
		return c
	}
	if c == nil {
		return b
	}
	out := make(Bitmap, (n+63)/64)
	for i := range out {
		out[i] = b[i] & c[i]
	}
	return out
}

// Clone returns a copy over n values that may be changed; never nil.
func (b Bitmap) Clone(n int) Bitmap {
	if b == nil {
		return NewBitmap(n)
	}
	out := make(Bitmap, (n+63)/64)
	copy(out, b)
	return out
}

// CountValid returns how many of the first n values are not null.
func (b Bitmap) CountValid(n int) int {
	if b == nil {
		return n
	}
	c, full := 0, n/64
	for _, w := range b[:full] {
		c += bits.OnesCount64(w)
	}
	if r := uint(n) & 63; r != 0 {
		c += bits.OnesCount64(b[full] & (1<<r - 1))
	}
	return c
}
