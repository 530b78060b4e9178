package expr

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// Null returns NULL of a type; the type NULL itself stands for a bare NULL.
func Null(t types.Type) *Lit {
	if t.Kind == types.Null {
		return NewLit(&batch.Null{N: 1})
	}
	return NewLit(batch.Nulls(t.WithNull(true), 1))
}

// Bool returns TRUE or FALSE.
func Bool(b bool) *Lit { return fixed(types.Boolean, b) }

// Int returns an INT.
func Int(i int32) *Lit { return fixed(types.Int, i) }

// BigInt returns a BIGINT.
func BigInt(i int64) *Lit { return fixed(types.BigInt, i) }

// Double returns a DOUBLE.
func Double(f float64) *Lit { return fixed(types.Double, f) }

func fixed[T batch.Value](k types.Kind, v T) *Lit {
	return NewLit(&batch.Fixed[T]{Typ: types.Of(k).NotNull(), Values: []T{v}})
}
