package batch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/millstream-io/millstream/types"
)

// ErrEncoding is what decoding bytes that no encoder has written gives.
var ErrEncoding = errors.New("batch: bytes are not an encoded value of the type")

// The first byte of each encoded key value. NULL comes first in order.
const (
	keyNull = 0
	keyHere = 1
)

// Strings in keys end with 0, 1; a zero byte inside is followed by 0xff.
const (
	keyEscape = 0xff
	keyEnd    = 1
)

// AppendKey appends the value at position pos in the key encoding: two keys are
// equal if and only if their bytes are, and bytes.Compare orders them as SQL
// does, with NULL first and NaN last. -0.0 is written as 0.0 and every NaN as
// the same one; entries of maps and multisets are written in the order of their
// keys. The encoding of a value ends by itself, so those of several columns are
// simply strung together. It is part of what checkpoints hold.
func AppendKey(buf []byte, v Vector, pos int) []byte {
	if v.Validity().IsNull(pos) {
		return append(buf, keyNull)
	}
	buf = append(buf, keyHere)
	switch v := v.(type) {
	case *Fixed[int64]:
		return appendOrdered64(buf, v.Values[pos])
	case *Fixed[int32]:
		return binary.BigEndian.AppendUint32(buf, uint32(v.Values[pos])^1<<31)
	case *Bytes:
		return appendKeyBytes(buf, v.At(pos))
	case *Fixed[bool]:
		if v.Values[pos] {
			return append(buf, 1)
		}
		return append(buf, 0)
	case *Fixed[int8]:
		return append(buf, uint8(v.Values[pos])^1<<7)
	case *Fixed[int16]:
		return binary.BigEndian.AppendUint16(buf, uint16(v.Values[pos])^1<<15)
	case *Fixed[float32]:
		return appendOrderedFloat32(buf, v.Values[pos])
	case *Fixed[float64]:
		return appendOrderedFloat64(buf, v.Values[pos])
	case *Fixed[types.Int128]:
		buf = appendOrdered64(buf, v.Values[pos].Hi)
		return binary.BigEndian.AppendUint64(buf, v.Values[pos].Lo)
	case *Fixed[types.TS]:
		buf = appendOrdered64(buf, v.Values[pos].Ms)
		return binary.BigEndian.AppendUint32(buf, uint32(v.Values[pos].Ns))
	}
	return appendKeyNested(buf, v, pos)
}

// appendKeyNested writes lists and maps with a 1 before each element and a 0
// after the last one, so that a list comes before those that it begins.
func appendKeyNested(buf []byte, v Vector, pos int) []byte {
	switch v := v.(type) {
	case *List:
		for e := v.Offsets[pos]; e < v.Offsets[pos+1]; e++ {
			buf = AppendKey(append(buf, 1), v.Elem, int(e))
		}
		return append(buf, 0)
	case *Map:
		var entries []string
		var scratch []byte
		for e := v.Offsets[pos]; e < v.Offsets[pos+1]; e++ {
			scratch = AppendKey(scratch[:0], v.Keys, int(e))
			scratch = AppendKey(scratch, v.Vals, int(e))
			entries = append(entries, string(scratch))
		}
		slices.Sort(entries)
		for _, e := range entries {
			buf = append(append(buf, 1), e...)
		}
		return append(buf, 0)
	case *Row:
		for _, c := range v.Cols {
			buf = AppendKey(buf, c, pos)
		}
		return buf
	}
	panic(fmt.Sprintf("batch: %s cannot be a key", v.Type()))
}

func appendOrdered64(buf []byte, x int64) []byte {
	return binary.BigEndian.AppendUint64(buf, uint64(x)^1<<63)
}

func appendOrderedFloat64(buf []byte, f float64) []byte {
	b := floatBits(f)
	if b>>63 != 0 {
		return binary.BigEndian.AppendUint64(buf, ^b)
	}
	return binary.BigEndian.AppendUint64(buf, b|1<<63)
}

func appendOrderedFloat32(buf []byte, f float32) []byte {
	b := math.Float32bits(f)
	switch {
	case f == 0:
		b = 0
	case f != f:
		b = 0x7fc00000
	}
	if b>>31 != 0 {
		return binary.BigEndian.AppendUint32(buf, ^b)
	}
	return binary.BigEndian.AppendUint32(buf, b|1<<31)
}

func appendKeyBytes(buf, s []byte) []byte {
	for {
		i := bytes.IndexByte(s, 0)
		if i < 0 {
			break
		}
		buf = append(append(buf, s[:i+1]...), keyEscape)
		s = s[i+1:]
	}
	return append(append(buf, s...), 0, keyEnd)
}

// DecodeKey appends to dst the value that AppendKey has written at the start of
// buf, and returns what follows it. After an error dst is unusable.
func DecodeKey(dst Vector, buf []byte) (rest []byte, err error) {
	if len(buf) == 0 || buf[0] > keyHere {
		return nil, ErrEncoding
	}
	if buf[0] == keyNull {
		dst.AppendNull()
		return buf[1:], nil
	}
	buf = buf[1:]
	if b, ok := dst.(*Bytes); ok {
		return decodeKeyBytes(b, buf)
	}
	if size := keyWidth(dst); size > 0 {
		if len(buf) < size {
			return nil, ErrEncoding
		}
		decodeKeyFixed(dst, buf)
		return buf[size:], nil
	}
	return decodeKeyNested(dst, buf)
}

// keyWidth is the size of a fixed-width value in a key, 0 for other forms.
func keyWidth(v Vector) int {
	switch v.(type) {
	case *Fixed[bool], *Fixed[int8]:
		return 1
	case *Fixed[int16]:
		return 2
	case *Fixed[int32], *Fixed[float32]:
		return 4
	case *Fixed[int64], *Fixed[float64]:
		return 8
	case *Fixed[types.TS]:
		return 12
	case *Fixed[types.Int128]:
		return 16
	}
	return 0
}

func decodeKeyFixed(dst Vector, buf []byte) {
	be := binary.BigEndian
	switch d := dst.(type) {
	case *Fixed[bool]:
		d.Append(buf[0] != 0)
	case *Fixed[int8]:
		d.Append(int8(buf[0] ^ 1<<7))
	case *Fixed[int16]:
		d.Append(int16(be.Uint16(buf) ^ 1<<15))
	case *Fixed[int32]:
		d.Append(int32(be.Uint32(buf) ^ 1<<31))
	case *Fixed[int64]:
		d.Append(int64(be.Uint64(buf) ^ 1<<63))
	case *Fixed[float32]:
		b := be.Uint32(buf)
		if b>>31 != 0 {
			d.Append(math.Float32frombits(b ^ 1<<31))
		} else {
			d.Append(math.Float32frombits(^b))
		}
	case *Fixed[float64]:
		b := be.Uint64(buf)
		if b>>63 != 0 {
			d.Append(math.Float64frombits(b ^ 1<<63))
		} else {
			d.Append(math.Float64frombits(^b))
		}
	case *Fixed[types.TS]:
		d.Append(types.TS{Ms: int64(be.Uint64(buf) ^ 1<<63), Ns: int32(be.Uint32(buf[8:]))})
	case *Fixed[types.Int128]:
		d.Append(types.Int128{Hi: int64(be.Uint64(buf) ^ 1<<63), Lo: be.Uint64(buf[8:])})
	}
}

func decodeKeyBytes(dst *Bytes, buf []byte) (rest []byte, err error) {
	for {
		i := bytes.IndexByte(buf, 0)
		if i < 0 || i+1 == len(buf) {
			return nil, ErrEncoding
		}
		dst.Data = append(dst.Data, buf[:i]...)
		mark := buf[i+1]
		buf = buf[i+2:]
		switch mark {
		case keyEnd:
			dst.Close()
			return buf, nil
		case keyEscape:
			dst.Data = append(dst.Data, 0)
		default:
			return nil, ErrEncoding
		}
	}
}

func decodeKeyNested(dst Vector, buf []byte) (rest []byte, err error) {
	switch d := dst.(type) {
	case *List:
		buf, err = decodeKeyEntries(buf, d.Elem)
		if err == nil {
			d.Close()
		}
	case *Map:
		buf, err = decodeKeyEntries(buf, d.Keys, d.Vals)
		if err == nil {
			d.Close()
		}
	case *Row:
		for _, c := range d.Cols {
			if buf, err = DecodeKey(c, buf); err != nil {
				return nil, err
			}
		}
		d.Close()
	default:
		return nil, ErrEncoding
	}
	return buf, err
}

func decodeKeyEntries(buf []byte, cols ...Vector) (rest []byte, err error) {
	for {
		if len(buf) == 0 || buf[0] > 1 {
			return nil, ErrEncoding
		}
		more := buf[0] == 1
		buf = buf[1:]
		if !more {
			return buf, nil
		}
		for _, c := range cols {
			if buf, err = DecodeKey(c, buf); err != nil {
				return nil, err
			}
		}
	}
}
