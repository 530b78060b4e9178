package state

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// This file orders key values as the bytes of batch.AppendKey are ordered, which
// is how the disk has them: NULL first, NaN last.

// heads writes to out, for the given rows of a key column, numbers that are
// ordered as the values are, as far as 64 bits go: different heads decide,
// equal ones need a look at the values. nullable is that of the table's column,
// on which the numbers depend; v may be a vector of another nullability.
func heads(v batch.Vector, nullable bool, rows []int32, out []uint64) {
	switch v := v.(type) {
	case *batch.Fixed[int64]:
		headEach(v, rows, out, func(x int64) uint64 { return uint64(x) ^ 1<<63 })
	case *batch.Fixed[int32]:
		headEach(v, rows, out, func(x int32) uint64 { return uint64(int64(x)) ^ 1<<63 })
	case *batch.Fixed[types.TS]:
		headEach(v, rows, out, func(x types.TS) uint64 { return uint64(x.Ms) ^ 1<<63 })
	case *batch.Fixed[int16]:
		headEach(v, rows, out, func(x int16) uint64 { return uint64(int64(x)) ^ 1<<63 })
	case *batch.Fixed[int8]:
		headEach(v, rows, out, func(x int8) uint64 { return uint64(int64(x)) ^ 1<<63 })
	case *batch.Fixed[bool]:
		headEach(v, rows, out, func(x bool) uint64 {
			if x {
				return 1 << 63
			}
			return 0
		})
	case *batch.Fixed[float64]:
		headEach(v, rows, out, floatHead)
	case *batch.Fixed[float32]:
		headEach(v, rows, out, func(x float32) uint64 { return floatHead(float64(x)) })
	case *batch.Fixed[types.Int128]:
		headEach(v, rows, out, headInt128)
	case *batch.Bytes:
		for i, r := range rows {
			if out[i] = 0; !v.Valid.IsNull(int(r)) {
				out[i] = headBytes(v.At(int(r)))
			}
		}
	default:
		clear(out[:len(rows)])
	}
	if !nullable {
		return
	}
	// Values make room for NULL below them.
	valid := v.Validity()
	for i, r := range rows {
		if !valid.IsNull(int(r)) {
			out[i] = out[i]>>1 | 1<<63
		}
	}
}

func headEach[T batch.Value](v *batch.Fixed[T], rows []int32, out []uint64, head func(T) uint64) {
	for i, r := range rows {
		if out[i] = 0; !v.Valid.IsNull(int(r)) {
			out[i] = head(v.Values[r])
		}
	}
}

func floatHead(f float64) uint64 {
	switch {
	case f == 0:
		return 1 << 63
	case f != f:
		return math.MaxUint64
	}
	if b := math.Float64bits(f); b>>63 == 0 {
		return b | 1<<63
	} else {
		return ^b
	}
}

func headInt128(x types.Int128) uint64 {
	switch {
	case x.IsInt64():
		return uint64(x.Int64()) ^ 1<<63
	case x.Hi < 0:
		return 0
	}
	return math.MaxUint64
}

func headBytes(b []byte) uint64 {
	var buf [8]byte
	copy(buf[:], b)
	return binary.BigEndian.Uint64(buf[:])
}

// collate compares the key in slot a of a column with the one in slot b.
func collate(col batch.Column, a, b int32) int {
	if x, y := col.Null(a), col.Null(b); x || y {
		return collateNulls(x, y)
	}
	switch c := col.(type) {
	case *batch.Slab[int64]:
		return cmp.Compare(*c.At(a), *c.At(b))
	case *batch.Slab[int32]:
		return cmp.Compare(*c.At(a), *c.At(b))
	case *batch.Slab[types.TS]:
		return collateTS(*c.At(a), *c.At(b))
	case *batch.Slab[int16]:
		return cmp.Compare(*c.At(a), *c.At(b))
	case *batch.Slab[int8]:
		return cmp.Compare(*c.At(a), *c.At(b))
	case *batch.Slab[bool]:
		return collateBools(*c.At(a), *c.At(b))
	case *batch.Slab[float64]:
		return collateFloats(*c.At(a), *c.At(b))
	case *batch.Slab[float32]:
		return collateFloats(*c.At(a), *c.At(b))
	case *batch.Slab[types.Int128]:
		return c.At(a).Compare(*c.At(b))
	case *batch.BytesSlab:
		if c.Type().Phys() == types.PhysBytes {
			return bytes.Compare(c.Get(a), c.Get(b))
		}
	}
	return collateNested(col, a, col.Vector([]int32{b}), 0)
}

// collateWith compares the key in a slot of a column with a row of a vector.
func collateWith(col batch.Column, slot int32, vec batch.Vector, row int32) int {
	r := int(row)
	if x, y := col.Null(slot), vec.Validity().IsNull(r); x || y {
		return collateNulls(x, y)
	}
	switch c := col.(type) {
	case *batch.Slab[int64]:
		return cmp.Compare(*c.At(slot), vec.(*batch.Fixed[int64]).Values[r])
	case *batch.Slab[int32]:
		return cmp.Compare(*c.At(slot), vec.(*batch.Fixed[int32]).Values[r])
	case *batch.Slab[types.TS]:
		return collateTS(*c.At(slot), vec.(*batch.Fixed[types.TS]).Values[r])
	case *batch.Slab[int16]:
		return cmp.Compare(*c.At(slot), vec.(*batch.Fixed[int16]).Values[r])
	case *batch.Slab[int8]:
		return cmp.Compare(*c.At(slot), vec.(*batch.Fixed[int8]).Values[r])
	case *batch.Slab[bool]:
		return collateBools(*c.At(slot), vec.(*batch.Fixed[bool]).Values[r])
	case *batch.Slab[float64]:
		return collateFloats(*c.At(slot), vec.(*batch.Fixed[float64]).Values[r])
	case *batch.Slab[float32]:
		return collateFloats(*c.At(slot), vec.(*batch.Fixed[float32]).Values[r])
	case *batch.Slab[types.Int128]:
		return c.At(slot).Compare(vec.(*batch.Fixed[types.Int128]).Values[r])
	case *batch.BytesSlab:
		if b, ok := vec.(*batch.Bytes); ok {
			return bytes.Compare(c.Get(slot), b.At(r))
		}
	}
	return collateNested(col, slot, vec, row)
}

func collateNulls(a, b bool) int { return collateBools(!a, !b) }

func collateBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func collateTS(a, b types.TS) int {
	if c := cmp.Compare(a.Ms, b.Ms); c != 0 {
		return c
	}
	return cmp.Compare(a.Ns, b.Ns)
}

// collateFloats has NaN last, where cmp.Compare has it first.
func collateFloats[T float32 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	}
	return collateBools(a != a, b != b)
}

func collateNested(col batch.Column, slot int32, vec batch.Vector, row int32) int {
	a := batch.AppendKey(nil, col.Vector([]int32{slot}), 0)
	return bytes.Compare(a, batch.AppendKey(nil, vec, int(row)))
}
