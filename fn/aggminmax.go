package fn

import (
	"bytes"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

func init() { RegisterAgg(minDef, maxDef) }

var minDef = &AggDef{
	Name: "MIN", Syntax: "MIN(x)",
	Doc: "Returns the least of the values that are not NULL, and NULL if there are none. NaN is greater than all other numbers.",
	Examples: []AggExample{
		{Call: "MIN(x)", Type: "INT", Rows: []string{"3", "NULL", "-1"}, Want: "-1 :: INT"},
		{Call: "MIN(x)", Type: "STRING NOT NULL", Rows: []string{"b", "B", "é"}, Want: "B :: STRING NOT NULL"},
		{Call: "MIN(x)", Type: "DOUBLE", Rows: []string{"NaN", "2"}, Want: "2.0 :: DOUBLE"},
		{Call: "MIN(x)", Type: "BOOLEAN", Rows: []string{"TRUE", "FALSE"}, Want: "FALSE :: BOOLEAN"},
		{Call: "MIN(x)", Type: "DATE", Rows: nil, Want: "NULL :: DATE"},
	},
	Bind: func(c *Call) (*BoundAgg, error) { return bindExtreme(c, false) },
}

var maxDef = &AggDef{
	Name: "MAX", Syntax: "MAX(x)",
	Doc: "Returns the greatest of the values that are not NULL, and NULL if there are none. NaN is greater than all other numbers.",
	Examples: []AggExample{
		{Call: "MAX(x)", Type: "INT", Rows: []string{"3", "NULL", "-1"}, Want: "3 :: INT"},
		{Call: "MAX(x)", Type: "TIMESTAMP(3)", Rows: []string{"1969-12-31 23:59:59.999", "1970-01-01 00:00:00"},
			Want: "1970-01-01 00:00:00.000 :: TIMESTAMP(3)"},
		{Call: "MAX(x)", Type: "DECIMAL(30, 1)", Rows: []string{"-2.5", "1"}, Want: "1.0 :: DECIMAL(30, 1)"},
		{Call: "MAX(x)", Type: "FLOAT", Rows: []string{"Infinity", "NaN", "2"}, Want: "NaN :: FLOAT"},
	},
	Bind: func(c *Call) (*BoundAgg, error) { return bindExtreme(c, true) },
}

// orderedArg are the types whose values MIN and MAX compare.
var orderedArg = Class{Name: "a number, a string, a BOOLEAN, a date or a time", Has: func(t types.Type) bool {
	return t.IsNumeric() || t.IsChar() || t.IsDatetime() || t.Kind == types.Boolean
}}

func bindExtreme(c *Call, max bool) (*BoundAgg, error) {
	t, err := aggArg(c, orderedArg)
	if err != nil {
		return nil, err
	}
	b := &BoundAgg{
		Result: t, State: []types.Type{t.WithNull(true)},
		Agg: extremeOf(t, extreme{result: t, max: max}), Mergeable: true, Exact: true,
	}
	b.Updating = replay(b, t)
	return b, nil
}

func extremeOf(t types.Type, e extreme) Agg {
	switch t.Phys() {
	case types.PhysBool:
		return comparedExtreme[bool]{e, compareBools}
	case types.PhysI8:
		return orderedExtreme[int8]{e}
	case types.PhysI16:
		return orderedExtreme[int16]{e}
	case types.PhysI32:
		return orderedExtreme[int32]{e}
	case types.PhysI64:
		return orderedExtreme[int64]{e}
	case types.PhysF32:
		return orderedExtreme[float32]{e}
	case types.PhysF64:
		return orderedExtreme[float64]{e}
	case types.PhysI128:
		return comparedExtreme[types.Int128]{e, types.Int128.Compare}
	case types.PhysTS:
		return comparedExtreme[types.TS]{e, types.TS.Compare}
	}
	return textExtreme{e}
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// extreme is what all forms of MIN and MAX share. The state is the extreme
// value so far, null before the first one. Of equal values the first one stays,
// which is to be seen with 0.0 and -0.0.
type extreme struct {
	noRetract
	result types.Type
	max    bool
}

// Result implements Agg.
func (e extreme) Result(st []batch.Column, slots []int32) (batch.Vector, error) {
	return st[0].Vector(slots).WithType(e.result), nil
}

type orderedValue interface {
	int8 | int16 | int32 | int64 | float32 | float64
}

// beats reports whether x takes the place of best. NaN is the greatest number.
func beats[T orderedValue](x, best T, max bool) bool {
	if max {
		return x > best || x != x && best == best
	}
	return x < best || best != best && x == x
}

// orderedExtreme is MIN and MAX of what Go compares by itself.
type orderedExtreme[T orderedValue] struct{ extreme }

// Add implements Agg.
func (e orderedExtreme[T]) Add(st []batch.Column, slots []int32, args []batch.Vector, rows []int32) error {
	best, v, max := st[0].(*batch.Slab[T]), args[0].(*batch.Fixed[T]), e.max
	values, valid := v.Values, v.Valid
	for i, s := range slots {
		r := rows[i]
		if valid.IsNull(int(r)) {
			continue
		}
		if x := values[r]; best.Null(s) || beats(x, *best.At(s), max) {
			best.Put(s, x)
		}
	}
	return nil
}

// Merge implements Agg.
func (e orderedExtreme[T]) Merge(st []batch.Column, slots []int32, src []batch.Column, from []int32) error {
	best, more := st[0].(*batch.Slab[T]), src[0].(*batch.Slab[T])
	for i, s := range slots {
		if more.Null(from[i]) {
			continue
		}
		if x := *more.At(from[i]); best.Null(s) || beats(x, *best.At(s), e.max) {
			best.Put(s, x)
		}
	}
	return nil
}

// comparedExtreme is MIN and MAX of other values of fixed width.
type comparedExtreme[T batch.Value] struct {
	extreme
	compare func(a, b T) int
}

// Add implements Agg.
func (e comparedExtreme[T]) Add(st []batch.Column, slots []int32, args []batch.Vector, rows []int32) error {
	best, v := st[0].(*batch.Slab[T]), args[0].(*batch.Fixed[T])
	for i, s := range slots {
		if r := int(rows[i]); v.Valid.Get(r) {
			e.fold(best, s, v.Values[r])
		}
	}
	return nil
}

// Merge implements Agg.
func (e comparedExtreme[T]) Merge(st []batch.Column, slots []int32, src []batch.Column, from []int32) error {
	best, more := st[0].(*batch.Slab[T]), src[0].(*batch.Slab[T])
	for i, s := range slots {
		if !more.Null(from[i]) {
			e.fold(best, s, *more.At(from[i]))
		}
	}
	return nil
}

func (e comparedExtreme[T]) fold(best *batch.Slab[T], slot int32, x T) {
	if best.Null(slot) {
		best.Put(slot, x)
		return
	}
	if c := e.compare(x, *best.At(slot)); c < 0 && !e.max || c > 0 && e.max {
		best.Put(slot, x)
	}
}

// textExtreme is MIN and MAX of strings, in the order of their characters.
type textExtreme struct{ extreme }

// Add implements Agg.
func (e textExtreme) Add(st []batch.Column, slots []int32, args []batch.Vector, rows []int32) error {
	best, v := st[0].(*batch.BytesSlab), args[0].(*batch.Bytes)
	for i, s := range slots {
		if r := int(rows[i]); v.Valid.Get(r) {
			e.fold(best, s, v.At(r))
		}
	}
	return nil
}

// Merge implements Agg.
func (e textExtreme) Merge(st []batch.Column, slots []int32, src []batch.Column, from []int32) error {
	best, more := st[0].(*batch.BytesSlab), src[0].(*batch.BytesSlab)
	for i, s := range slots {
		if !more.Null(from[i]) {
			e.fold(best, s, more.Get(from[i]))
		}
	}
	return nil
}

func (e textExtreme) fold(best *batch.BytesSlab, slot int32, x []byte) {
	if best.Null(slot) {
		best.Put(slot, x)
		return
	}
	if c := bytes.Compare(x, best.Get(slot)); c < 0 && !e.max || c > 0 && e.max {
		best.Put(slot, x)
	}
}
