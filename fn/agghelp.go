package fn

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// Types of state columns that many accumulators have: a count, a sum of exact
// numbers, a sum of approximate ones.
var (
	countState = types.Of(types.BigInt).NotNull()
	exactState = types.DecimalOf(types.MaxPrecision, 0).NotNull()
	floatState = types.Of(types.Double).NotNull()
)

// Shorthands for the forms of state columns.
type (
	i64Slab  = batch.Slab[int64]
	i128Slab = batch.Slab[types.Int128]
	f64Slab  = batch.Slab[float64]
)

// noRetract is the Retract of aggregates over input that only grows.
type noRetract struct{}

// Retract implements Agg; it is never called, since Retractable is false.
func (noRetract) Retract([]batch.Column, []int32, []batch.Vector, []int32) error {
	panic("fn: a row is taken back from an aggregate that cannot give it back")
}

// aggArg checks that an aggregate has one argument of a class, and returns its
// type. A bare NULL has no type to aggregate.
func aggArg(c *Call, class Class) (types.Type, error) {
	if err := c.Arity(1, 1); err != nil {
		return types.Type{}, err
	}
	if c.Args[0].Type.Kind == types.Null {
		return types.Type{}, untyped(c, 0)
	}
	if _, err := c.Want(0, class); err != nil {
		return types.Type{}, err
	}
	return c.Args[0].Type.Plain(), nil
}

// untyped is the error for a NULL whose type nobody can know.
func untyped(c *Call, i int) error {
	return Argf(i, "argument %d of %s is a NULL without a type; write CAST(NULL AS ...) with the type that is meant", i+1, c.Def.Name)
}

// setNull marks position i of a result as null.
func setNull[T batch.Value](v *batch.Fixed[T], i int) {
	v.Valid = MarkNull(v.Valid, len(v.Values), i)
}

// oneSlot returns the slot to which all rows belong, as those of an aggregate
// without keys do: their sum need not go through memory.
func oneSlot(slots []int32) (slot int32, ok bool) {
	if len(slots) == 0 {
		return 0, false
	}
	slot = slots[0]
	for _, s := range slots {
		if s != slot {
			return 0, false
		}
	}
	return slot, true
}
