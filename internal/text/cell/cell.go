// Package cell says how the decoders and encoders of text formats treat the
// values of each type, and gives them the vector of a column as what it is.
package cell

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// Op says how a value of a type is read and written.
type Op uint8

const (
	// Skip: the value is not wanted.
	Skip Op = iota
	Null
	Bool
	I8
	I16
	I32
	I64
	F32
	F64
	// Dec64 and Dec128 are DECIMALs by the width of their vectors, as TS64 and
	// TS are timestamps.
	Dec64
	Dec128
	Date
	Time
	TS64
	TS
	Text
	Binary
	List
	Map
	Row
)

// OpOf returns the Op of a type.
func OpOf(t types.Type) Op {
	switch t.Kind {
	case types.Date:
		return Date
	case types.Time:
		return Time
	case types.Decimal:
		if t.Phys() == types.PhysI64 {
			return Dec64
		}
		return Dec128
	case types.Timestamp, types.TimestampLTZ:
		if t.Phys() == types.PhysI64 {
			return TS64
		}
		return TS
	case types.Binary, types.Varbinary:
		return Binary
	}
	return [...]Op{types.PhysBool: Bool, types.PhysI8: I8, types.PhysI16: I16, types.PhysI32: I32, types.PhysI64: I64,
		types.PhysF32: F32, types.PhysF64: F64, types.PhysBytes: Text, types.PhysList: List, types.PhysMap: Map,
		types.PhysRow: Row, types.PhysNull: Null}[t.Phys()]
}

// Column is the vector that values go to, or come from: as Vec, and under the one
// of the other names that fits its type.
type Column struct {
	Vec  batch.Vector
	Bool *batch.Fixed[bool]
	I8   *batch.Fixed[int8]
	I16  *batch.Fixed[int16]
	I32  *batch.Fixed[int32]
	I64  *batch.Fixed[int64]
	F32  *batch.Fixed[float32]
	F64  *batch.Fixed[float64]
	Dec  *batch.Fixed[types.Int128]
	TS   *batch.Fixed[types.TS]
	Text *batch.Bytes
	List *batch.List
	Map  *batch.Map
	Row  *batch.Row
}

// Set makes v the vector. Those of elements are the caller's to pass on.
func (c *Column) Set(v batch.Vector) {
	c.Vec = v
	switch v := v.(type) {
	case *batch.Fixed[bool]:
		c.Bool = v
	case *batch.Fixed[int8]:
		c.I8 = v
	case *batch.Fixed[int16]:
		c.I16 = v
	case *batch.Fixed[int32]:
		c.I32 = v
	case *batch.Fixed[int64]:
		c.I64 = v
	case *batch.Fixed[float32]:
		c.F32 = v
	case *batch.Fixed[float64]:
		c.F64 = v
	case *batch.Fixed[types.Int128]:
		c.Dec = v
	case *batch.Fixed[types.TS]:
		c.TS = v
	case *batch.Bytes:
		c.Text = v
	case *batch.List:
		c.List = v
	case *batch.Map:
		c.Map = v
	case *batch.Row:
		c.Row = v
	}
}
