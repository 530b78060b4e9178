package raw

import (
	"encoding/binary"
	"math"

	"github.com/millstream-io/millstream/batch"
)

// number appends the value of the bytes b, which are as many as the type has.
func (c *codec) number(b []byte, v batch.Vector) {
	var order binary.ByteOrder = binary.BigEndian
	if c.little {
		order = binary.LittleEndian
	}
	switch v := v.(type) {
	case *batch.Fixed[bool]:
		v.Append(b[0] != 0)
	case *batch.Fixed[int8]:
		v.Append(int8(b[0]))
	case *batch.Fixed[int16]:
		v.Append(int16(order.Uint16(b)))
	case *batch.Fixed[int32]:
		v.Append(int32(order.Uint32(b)))
	case *batch.Fixed[int64]:
		v.Append(int64(order.Uint64(b)))
	case *batch.Fixed[float32]:
		v.Append(math.Float32frombits(order.Uint32(b)))
	case *batch.Fixed[float64]:
		v.Append(math.Float64frombits(order.Uint64(b)))
	}
}

// appendNumber appends the bytes of value i.
func (c *codec) appendNumber(buf []byte, v batch.Vector, i int) []byte {
	var order binary.AppendByteOrder = binary.BigEndian
	if c.little {
		order = binary.LittleEndian
	}
	switch v := v.(type) {
	case *batch.Fixed[bool]:
		if v.Values[i] {
			return append(buf, 1)
		}
		return append(buf, 0)
	case *batch.Fixed[int8]:
		return append(buf, byte(v.Values[i]))
	case *batch.Fixed[int16]:
		return order.AppendUint16(buf, uint16(v.Values[i]))
	case *batch.Fixed[int32]:
		return order.AppendUint32(buf, uint32(v.Values[i]))
	case *batch.Fixed[int64]:
		return order.AppendUint64(buf, uint64(v.Values[i]))
	case *batch.Fixed[float32]:
		return order.AppendUint32(buf, math.Float32bits(v.Values[i]))
	case *batch.Fixed[float64]:
		return order.AppendUint64(buf, math.Float64bits(v.Values[i]))
	}
	return buf
}
