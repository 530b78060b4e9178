package batch

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/millstream-io/millstream/types"
)

// AppendValue appends the value at position pos, which must not be null, in the
// compact encoding: integers as zigzag varints, strings with their length,
// nested values with a bitmap of their nulls where there are any. The encoding
// ends by itself and is part of what checkpoints hold. Unlike AppendKey it
// keeps each value exactly as it is, and has no order.
func AppendValue(buf []byte, v Vector, pos int) []byte {
	switch v := v.(type) {
	case *Fixed[int64]:
		return binary.AppendVarint(buf, v.Values[pos])
	case *Fixed[int32]:
		return binary.AppendVarint(buf, int64(v.Values[pos]))
	case *Bytes:
		s := v.At(pos)
		return append(binary.AppendUvarint(buf, uint64(len(s))), s...)
	case *Fixed[bool]:
		if v.Values[pos] {
			return append(buf, 1)
		}
		return append(buf, 0)
	case *Fixed[int8]:
		return append(buf, uint8(v.Values[pos]))
	case *Fixed[int16]:
		return binary.AppendVarint(buf, int64(v.Values[pos]))
	case *Fixed[float32]:
		return binary.LittleEndian.AppendUint32(buf, math.Float32bits(v.Values[pos]))
	case *Fixed[float64]:
		return binary.LittleEndian.AppendUint64(buf, math.Float64bits(v.Values[pos]))
	case *Fixed[types.Int128]:
		buf = binary.AppendVarint(buf, v.Values[pos].Hi)
		return binary.LittleEndian.AppendUint64(buf, v.Values[pos].Lo)
	case *Fixed[types.TS]:
		buf = binary.AppendVarint(buf, v.Values[pos].Ms)
		return binary.AppendUvarint(buf, uint64(v.Values[pos].Ns))
	case *List:
		lo, hi := int(v.Offsets[pos]), int(v.Offsets[pos+1])
		buf = binary.AppendUvarint(buf, uint64(hi-lo))
		return appendValues(buf, v.Elem, lo, hi)
	case *Map:
		lo, hi := int(v.Offsets[pos]), int(v.Offsets[pos+1])
		buf = binary.AppendUvarint(buf, uint64(hi-lo))
		return appendValues(appendValues(buf, v.Keys, lo, hi), v.Vals, lo, hi)
	case *Row:
		for _, c := range v.Cols {
			buf = appendValues(buf, c, pos, pos+1)
		}
		return buf
	}
	panic(fmt.Sprintf("batch: %s has no encoding", v.Type()))
}

// appendValues appends the values [lo, hi), if there are any: a byte that is 1
// if some are null, in that case a bitmap of the valid ones, and then these.
func appendValues(buf []byte, v Vector, lo, hi int) []byte {
	if lo == hi {
		return buf
	}
	valid := v.Validity()
	nulls := false
	for i := lo; i < hi && !nulls; i++ {
		nulls = valid.IsNull(i)
	}
	if !nulls {
		buf = append(buf, 0)
		for i := lo; i < hi; i++ {
			buf = AppendValue(buf, v, i)
		}
		return buf
	}
	buf = append(buf, 1)
	at := len(buf)
	buf = append(buf, make([]byte, (hi-lo+7)/8)...)
	for i := lo; i < hi; i++ {
		if valid.Get(i) {
			buf[at+(i-lo)/8] |= 1 << ((i - lo) % 8)
			buf = AppendValue(buf, v, i)
		}
	}
	return buf
}

// DecodeValue appends to dst the value that AppendValue has written at the
// start of buf, and returns what follows it. After an error dst is unusable.
func DecodeValue(dst Vector, buf []byte) (rest []byte, err error) {
	switch d := dst.(type) {
	case *Fixed[int64]:
		x, rest, err := readVarint(buf)
		d.Append(x)
		return rest, err
	case *Fixed[int32]:
		return decodeInt(d, buf)
	case *Fixed[int16]:
		return decodeInt(d, buf)
	case *Bytes:
		n, rest, err := readCount(buf)
		if err != nil || n > len(rest) {
			return nil, ErrEncoding
		}
		d.Append(rest[:n])
		return rest[n:], nil
	case *List:
		n, rest, err := readCount(buf)
		if err == nil {
			rest, err = decodeValues(d.Elem, rest, n)
		}
		if err == nil {
			d.Close()
		}
		return rest, err
	case *Map:
		n, rest, err := readCount(buf)
		if err == nil {
			rest, err = decodeValues(d.Keys, rest, n)
		}
		if err == nil {
			rest, err = decodeValues(d.Vals, rest, n)
		}
		if err == nil {
			d.Close()
		}
		return rest, err
	case *Row:
		for _, c := range d.Cols {
			if buf, err = decodeValues(c, buf, 1); err != nil {
				return nil, err
			}
		}
		d.Close()
		return buf, nil
	}
	return decodeFixed(dst, buf)
}

// decodeFixed decodes the forms that are not integers in varints.
func decodeFixed(dst Vector, buf []byte) (rest []byte, err error) {
	if t, ok := dst.(*Fixed[types.TS]); ok {
		ms, rest, err := readVarint(buf)
		if err != nil {
			return nil, err
		}
		ns, n := binary.Uvarint(rest)
		if n <= 0 || ns > 999_999 {
			return nil, ErrEncoding
		}
		t.Append(types.TS{Ms: ms, Ns: int32(ns)})
		return rest[n:], nil
	}
	if i, ok := dst.(*Fixed[types.Int128]); ok {
		hi, rest, err := readVarint(buf)
		if err != nil || len(rest) < 8 {
			return nil, ErrEncoding
		}
		i.Append(types.Int128{Hi: hi, Lo: binary.LittleEndian.Uint64(rest)})
		return rest[8:], nil
	}
	size := keyWidth(dst)
	if size == 0 || len(buf) < size {
		return nil, ErrEncoding
	}
	switch d := dst.(type) {
	case *Fixed[bool]:
		d.Append(buf[0] != 0)
	case *Fixed[int8]:
		d.Append(int8(buf[0]))
	case *Fixed[float32]:
		d.Append(math.Float32frombits(binary.LittleEndian.Uint32(buf)))
	case *Fixed[float64]:
		d.Append(math.Float64frombits(binary.LittleEndian.Uint64(buf)))
	}
	return buf[size:], nil
}

func decodeInt[T int16 | int32](dst *Fixed[T], buf []byte) (rest []byte, err error) {
	x, rest, err := readVarint(buf)
	if err == nil && int64(T(x)) != x {
		err = ErrEncoding
	}
	dst.Append(T(x))
	return rest, err
}

// decodeValues is the inverse of appendValues.
func decodeValues(dst Vector, buf []byte, n int) (rest []byte, err error) {
	if n == 0 {
		return buf, nil
	}
	if len(buf) == 0 || buf[0] > 1 {
		return nil, ErrEncoding
	}
	nulls := buf[0] == 1
	buf = buf[1:]
	var valid []byte
	if nulls {
		size := (n + 7) / 8
		if len(buf) < size {
			return nil, ErrEncoding
		}
		valid, buf = buf[:size], buf[size:]
	}
	for i := range n {
		if nulls && valid[i/8]&(1<<(i%8)) == 0 {
			dst.AppendNull()
			continue
		}
		if buf, err = DecodeValue(dst, buf); err != nil {
			return nil, err
		}
	}
	return buf, nil
}

func readVarint(buf []byte) (x int64, rest []byte, err error) {
	x, n := binary.Varint(buf)
	if n <= 0 {
		return 0, nil, ErrEncoding
	}
	return x, buf[n:], nil
}

// readCount reads a number of bytes or elements. Each takes a byte, or a bit
// at least, of what follows, so that damage cannot ask for more memory than
// there is.
func readCount(buf []byte) (n int, rest []byte, err error) {
	x, used := binary.Uvarint(buf)
	if used <= 0 {
		return 0, nil, ErrEncoding
	}
	rest = buf[used:]
	if x > 8*uint64(len(rest)) {
		return 0, nil, ErrEncoding
	}
	return int(x), rest, nil
}
