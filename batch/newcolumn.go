package batch

import (
	"fmt"

	"github.com/millstream-io/millstream/types"
)

// NewColumn returns an empty column for values of type t.
func NewColumn(t types.Type) Column {
	switch t.Phys() {
	case types.PhysBool:
		return NewSlab[bool](t)
	case types.PhysI8:
		return NewSlab[int8](t)
	case types.PhysI16:
		return NewSlab[int16](t)
	case types.PhysI32:
		return NewSlab[int32](t)
	case types.PhysI64:
		return NewSlab[int64](t)
	case types.PhysF32:
		return NewSlab[float32](t)
	case types.PhysF64:
		return NewSlab[float64](t)
	case types.PhysI128:
		return NewSlab[types.Int128](t)
	case types.PhysTS:
		return NewSlab[types.TS](t)
	case types.PhysBytes, types.PhysList, types.PhysMap, types.PhysRow, types.PhysNull:
		return NewBytesSlab(t)
	}
	panic(fmt.Sprintf("batch: no column for type %s", t))
}
