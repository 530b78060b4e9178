package state

import (
	"bytes"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// unsure marks a row whose slot has the right hash but another key.
const unsure = -2

// match compares the key in each slot with that of its row, in one column.
// Where they differ it marks the slot as unsure and appends its index to bad.
// Slots below 0 are passed over.
func match(col batch.Column, v batch.Vector, rows, slots, bad []int32) []int32 {
	switch c := col.(type) {
	case *batch.Slab[int64]:
		return matchFixed(c, v, rows, slots, bad)
	case *batch.Slab[int32]:
		return matchFixed(c, v, rows, slots, bad)
	case *batch.BytesSlab:
		if b, ok := v.(*batch.Bytes); ok {
			return matchBytes(c, b, rows, slots, bad)
		}
		return matchNested(c, v, rows, slots, bad)
	case *batch.Slab[int16]:
		return matchFixed(c, v, rows, slots, bad)
	case *batch.Slab[int8]:
		return matchFixed(c, v, rows, slots, bad)
	case *batch.Slab[bool]:
		return matchFixed(c, v, rows, slots, bad)
	case *batch.Slab[types.Int128]:
		return matchFixed(c, v, rows, slots, bad)
	case *batch.Slab[types.TS]:
		return matchFixed(c, v, rows, slots, bad)
	case *batch.Slab[float64]:
		return matchFloats(c, v, rows, slots, bad)
	case *batch.Slab[float32]:
		return matchFloats(c, v, rows, slots, bad)
	}
	return matchNested(col, v, rows, slots, bad)
}

type exact interface {
	bool | int8 | int16 | int32 | int64 | types.Int128 | types.TS
}

type exactValue interface {
	exact
	batch.Value
}

func matchFixed[T exactValue](c *batch.Slab[T], vec batch.Vector, rows, slots, bad []int32) []int32 {
	v := vec.(*batch.Fixed[T])
	var zero T
	for i, slot := range slots {
		if slot < 0 {
			continue
		}
		r := rows[i]
		x := v.Values[r]
		switch {
		case v.Valid != nil && v.Valid.IsNull(int(r)):
			if c.Null(slot) {
				continue
			}
		// A null is kept as zero, so only zeros have to be told from it.
		case *c.At(slot) == x && (x != zero || !c.Null(slot)):
			continue
		}
		slots[i] = unsure
		bad = append(bad, int32(i))
	}
	return bad
}

func matchFloats[T float32 | float64](c *batch.Slab[T], vec batch.Vector, rows, slots, bad []int32) []int32 {
	v := vec.(*batch.Fixed[T])
	for i, slot := range slots {
		if slot < 0 {
			continue
		}
		r := rows[i]
		x, y := v.Values[r], *c.At(slot)
		null := v.Valid.IsNull(int(r))
		if null != c.Null(slot) || !null && x != y && (x == x || y == y) {
			slots[i] = unsure
			bad = append(bad, int32(i))
		}
	}
	return bad
}

func matchBytes(c *batch.BytesSlab, v *batch.Bytes, rows, slots, bad []int32) []int32 {
	for i, slot := range slots {
		if slot < 0 {
			continue
		}
		r := int(rows[i])
		x := v.At(r)
		switch {
		case v.Valid != nil && v.Valid.IsNull(r):
			if c.Null(slot) {
				continue
			}
		case bytes.Equal(c.Get(slot), x) && (len(x) > 0 || !c.Null(slot)):
			continue
		}
		slots[i] = unsure
		bad = append(bad, int32(i))
	}
	return bad
}

// matchNested compares nested values by their key encoding: two maps are equal
// whatever the order of their entries.
func matchNested(c batch.Column, v batch.Vector, rows, slots, bad []int32) []int32 {
	var a, b []byte
	for i, slot := range slots {
		if slot < 0 {
			continue
		}
		a = batch.AppendKey(a[:0], v, int(rows[i]))
		b = batch.AppendKey(b[:0], c.Vector([]int32{slot}), 0)
		if !bytes.Equal(a, b) {
			slots[i] = unsure
			bad = append(bad, int32(i))
		}
	}
	return bad
}

// reset makes recycled slots of a value column as if they were new.
func reset(col batch.Column, slots []int32) {
	switch c := col.(type) {
	case *batch.Slab[int64]:
		for _, s := range slots {
			c.Reset(s)
		}
	case *batch.Slab[int32]:
		for _, s := range slots {
			c.Reset(s)
		}
	case *batch.Slab[float64]:
		for _, s := range slots {
			c.Reset(s)
		}
	case *batch.BytesSlab:
		for _, s := range slots {
			c.Reset(s)
		}
	default:
		for _, s := range slots {
			col.Reset(s)
		}
	}
}
