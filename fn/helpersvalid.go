package fn

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// WithValid returns v with another validity bitmap.
func WithValid(v batch.Vector, valid batch.Bitmap) batch.Vector {
	switch v := v.(type) {
	case *batch.Fixed[bool]:
		return revalid(v, valid)
	case *batch.Fixed[int8]:
		return revalid(v, valid)
	case *batch.Fixed[int16]:
		return revalid(v, valid)
	case *batch.Fixed[int32]:
		return revalid(v, valid)
	case *batch.Fixed[int64]:
		return revalid(v, valid)
	case *batch.Fixed[float32]:
		return revalid(v, valid)
	case *batch.Fixed[float64]:
		return revalid(v, valid)
	case *batch.Fixed[types.Int128]:
		return revalid(v, valid)
	case *batch.Fixed[types.TS]:
		return revalid(v, valid)
	case *batch.Bytes:
		c := *v
		c.Valid = valid
		return &c
	case *batch.List:
		c := *v
		c.Valid = valid
		return &c
	case *batch.Map:
		c := *v
		c.Valid = valid
		return &c
	case *batch.Row: // a field of a null row is null as well
		c := batch.Row{Typ: v.Typ, Cols: make([]batch.Vector, len(v.Cols)), N: v.N, Valid: valid}
		for i, col := range v.Cols {
			c.Cols[i] = WithValid(col, col.Validity().And(valid, v.N))
		}
		return &c
	}
	return v // NULL
}

func revalid[T batch.Value](v *batch.Fixed[T], valid batch.Bitmap) batch.Vector {
	c := *v
	c.Valid = valid
	return &c
}
