package fn

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

func init() { RegisterAgg(firstDef, lastDef) }

var firstDef = &AggDef{
	Name: "FIRST_VALUE", Syntax: "FIRST_VALUE(x)",
	Doc: "Returns the value that came first of those that are not NULL, and NULL if there are none.",
	Examples: []AggExample{
		{Call: "FIRST_VALUE(x)", Type: "INT", Rows: []string{"NULL", "3", "1"}, Want: "3 :: INT"},
		{Call: "FIRST_VALUE(x)", Type: "ARRAY<INT>", Rows: []string{"[1, NULL]", "[2]"}, Want: "[1, NULL] :: ARRAY<INT>"},
		{Call: "FIRST_VALUE(x)", Type: "STRING", Rows: nil, Want: "NULL :: STRING"},
	},
	Bind: func(c *Call) (*BoundAgg, error) { return bindPick(c, false) },
}

var lastDef = &AggDef{
	Name: "LAST_VALUE", Syntax: "LAST_VALUE(x)",
	Doc: "Returns the value that came last of those that are not NULL, and NULL if there are none.",
	Examples: []AggExample{
		{Call: "LAST_VALUE(x)", Type: "INT", Rows: []string{"3", "1", "NULL"}, Want: "1 :: INT"},
		{Call: "LAST_VALUE(x)", Type: "STRING NOT NULL", Rows: []string{"a", "longer", ""}, Want: "'' :: STRING NOT NULL"},
	},
	Bind: func(c *Call) (*BoundAgg, error) { return bindPick(c, true) },
}

func bindPick(c *Call, last bool) (*BoundAgg, error) {
	t, err := aggArg(c, AnyArg)
	if err != nil {
		return nil, err
	}
	b := &BoundAgg{Result: t, State: []types.Type{t.WithNull(true)}, Mergeable: true, Exact: true}
	if last {
		b.Agg = lastValue{picked{result: t}}
	} else {
		b.Agg = firstValueOf(t, picked{result: t})
	}
	b.Updating = replay(b, t)
	return b, nil
}

func firstValueOf(t types.Type, p picked) Agg {
	switch t.Phys() {
	case types.PhysBool:
		return firstFixed[bool]{p}
	case types.PhysI8:
		return firstFixed[int8]{p}
	case types.PhysI16:
		return firstFixed[int16]{p}
	case types.PhysI32:
		return firstFixed[int32]{p}
	case types.PhysI64:
		return firstFixed[int64]{p}
	case types.PhysF32:
		return firstFixed[float32]{p}
	case types.PhysF64:
		return firstFixed[float64]{p}
	case types.PhysI128:
		return firstFixed[types.Int128]{p}
	case types.PhysTS:
		return firstFixed[types.TS]{p}
	}
	return firstBytes{p}
}

// picked is what FIRST_VALUE and LAST_VALUE share. The state is the value. When
// two accumulators are merged, the rows of the one that is merged into count as
// the earlier ones.
type picked struct {
	noRetract
	result types.Type
}

// Result implements Agg.
func (p picked) Result(st []batch.Column, slots []int32) (batch.Vector, error) {
	return st[0].Vector(slots).WithType(p.result), nil
}

// firstFixed is FIRST_VALUE of values of fixed width.
type firstFixed[T batch.Value] struct{ picked }

// Add implements Agg.
func (firstFixed[T]) Add(st []batch.Column, slots []int32, args []batch.Vector, rows []int32) error {
	first, v := st[0].(*batch.Slab[T]), args[0].(*batch.Fixed[T])
	for i, s := range slots {
		if r := int(rows[i]); first.Null(s) && v.Valid.Get(r) {
			first.Put(s, v.Values[r])
		}
	}
	return nil
}

// Merge implements Agg.
func (firstFixed[T]) Merge(st []batch.Column, slots []int32, src []batch.Column, from []int32) error {
	first, more := st[0].(*batch.Slab[T]), src[0].(*batch.Slab[T])
	for i, s := range slots {
		if first.Null(s) && !more.Null(from[i]) {
			first.Put(s, *more.At(from[i]))
		}
	}
	return nil
}

// firstBytes is FIRST_VALUE of strings and of nested values.
type firstBytes struct{ picked }

// Add implements Agg.
func (firstBytes) Add(st []batch.Column, slots []int32, args []batch.Vector, rows []int32) error {
	first, valid := st[0].(*batch.BytesSlab), args[0].Validity()
	for i, s := range slots {
		if first.Null(s) && valid.Get(int(rows[i])) {
			first.Set(slots[i:i+1], args[0], rows[i:i+1])
		}
	}
	return nil
}

// Merge implements Agg.
func (firstBytes) Merge(st []batch.Column, slots []int32, src []batch.Column, from []int32) error {
	first, more := st[0].(*batch.BytesSlab), src[0].(*batch.BytesSlab)
	for i, s := range slots {
		if first.Null(s) && !more.Null(from[i]) {
			first.Put(s, more.Get(from[i]))
		}
	}
	return nil
}

// lastValue is LAST_VALUE: a column sets its slots in order, so that the last
// one of several values for a slot stays.
type lastValue struct{ picked }

// Add implements Agg.
func (lastValue) Add(st []batch.Column, slots []int32, args []batch.Vector, rows []int32) error {
	if valid := args[0].Validity(); valid != nil {
		slots, rows = notNull(valid, slots, rows)
	}
	st[0].Set(slots, args[0], rows)
	return nil
}

// Merge implements Agg.
func (l lastValue) Merge(st []batch.Column, slots []int32, src []batch.Column, from []int32) error {
	rows := make([]int32, len(from))
	for i := range rows {
		rows[i] = int32(i)
	}
	return l.Add(st, slots, []batch.Vector{src[0].Vector(from)}, rows)
}

// notNull keeps the rows whose value is not null.
func notNull(valid batch.Bitmap, slots, rows []int32) (s, r []int32) {
	s, r = make([]int32, 0, len(slots)), make([]int32, 0, len(rows))
	for i, row := range rows {
		if valid.Get(int(row)) {
			s, r = append(s, slots[i]), append(r, row)
		}
	}
	return s, r
}
