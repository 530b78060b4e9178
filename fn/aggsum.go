package fn

import (
	"errors"
	"fmt"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

func init() { RegisterAgg(sumDef) }

var sumDef = &AggDef{
	Name: "SUM", Syntax: "SUM(x)",
	Doc: "Returns the sum of the values that are not NULL, and NULL if there are none. The sum of integers has their type, and is " +
		"an error where it does not fit; the sum of DECIMAL(p, s) is a DECIMAL(38, s).",
	Examples: []AggExample{
		{Call: "SUM(x)", Type: "INT", Rows: []string{"1", "NULL", "41"}, Want: "42 :: INT"},
		{Call: "SUM(x)", Type: "BIGINT NOT NULL", Rows: []string{"-1"}, Want: "-1 :: BIGINT NOT NULL"},
		{Call: "SUM(x)", Type: "TINYINT", Rows: []string{"100", "100"}, Want: "error"},
		{Call: "SUM(x)", Type: "DECIMAL(4, 2)", Rows: []string{"99.99", "0.02"}, Want: "100.01 :: DECIMAL(38, 2)"},
		{Call: "SUM(x)", Type: "DOUBLE", Rows: []string{"1.5", "2"}, Want: "3.5 :: DOUBLE"},
		{Call: "SUM(x)", Type: "DOUBLE", Rows: []string{"Infinity", "2", "-Infinity"}, Want: "NaN :: DOUBLE"},
		{Call: "SUM(x)", Type: "INT", Rows: []string{"NULL"}, Want: "NULL :: INT"},
	},
	Bind: bindSum,
}

func bindSum(c *Call) (*BoundAgg, error) {
	t, err := aggArg(c, NumericArg)
	if err != nil {
		return nil, err
	}
	switch {
	case t.IsApprox():
		return bindFloats(t, false), nil
	case t.Kind == types.Decimal:
		result := types.DecimalOf(types.MaxPrecision, int(t.Scale)).WithNull(t.Nullable)
		return bindExact(t, exactBase{result, decimalSum(result)}), nil
	case c.Env.WrapIntegers:
		return bindExact(t, exactBase{t, wrapSum}), nil
	}
	return bindExact(t, exactBase{t, integerSum(t)}), nil
}

// wrapSum keeps the bits that fit, as Flink does.
func wrapSum(sum types.Int128, _ int64) (types.Int128, error) { return sum, nil }

// integerSum checks that a sum fits into the type of what was summed up.
func integerSum(t types.Type) exactFinish {
	limit := int64(1) << (8*integerBytes(t) - 1)
	wider := "BIGINT"
	if t.Kind == types.BigInt {
		wider = "DECIMAL(38, 0)"
	}
	return func(sum types.Int128, _ int64) (types.Int128, error) {
		// limit is -1 << 63 for BIGINT, which makes limit-1 the largest one.
		if x := sum.Int64(); sum.IsInt64() && x <= limit-1 && x >= -(limit-1)-1 {
			return sum, nil
		}
		return sum, fmt.Errorf("SUM(x) is %s, which does not fit in its type %s; write SUM(CAST(x AS %s)), or "+
			"SET 'arithmetic.overflow' = 'wrap' to let integers wrap around as Flink does", sum, t.NotNull().WithNull(true), wider)
	}
}

func integerBytes(t types.Type) int {
	switch t.Kind {
	case types.TinyInt:
		return 1
	case types.SmallInt:
		return 2
	case types.Int:
		return 4
	}
	return 8
}

// decimalSum checks that a sum has no more digits than a DECIMAL can have.
func decimalSum(t types.Type) exactFinish {
	return func(sum types.Int128, _ int64) (types.Int128, error) {
		if !sum.FitsPrecision(types.MaxPrecision) {
			return sum, tooManyDigits("SUM", t)
		}
		return sum, nil
	}
}

func tooManyDigits(name string, t types.Type) error {
	return fmt.Errorf("%s(x) has more digits than its type %s; CAST x to a DECIMAL with a smaller scale, or to DOUBLE", name, t.WithNull(true))
}

// exactFinish makes the result of n > 0 values, unscaled.
type exactFinish func(sum types.Int128, n int64) (types.Int128, error)

// exactBase is what SUM and AVG of integers and decimals share. The state is
// the unscaled sum in 128 bits and the number of values. So sums of integers
// never overflow; whether the result fits is seen when it is asked for, and
// does not depend on the order of the rows.
type exactBase struct {
	result types.Type
	finish exactFinish
}

func bindExact(t types.Type, base exactBase) *BoundAgg {
	b := &BoundAgg{Result: base.result, State: []types.Type{exactState, countState}, Mergeable: true, Exact: true, Retractable: true}
	switch t.Phys() {
	case types.PhysI8:
		b.Agg = intSum[int8]{base}
	case types.PhysI16:
		b.Agg = intSum[int16]{base}
	case types.PhysI32:
		b.Agg = intSum[int32]{base}
	case types.PhysI64:
		b.Agg = intSum[int64]{base}
	default:
		b.Agg = bigSum{base}
	}
	return b
}

// Merge implements Agg.
func (exactBase) Merge(st []batch.Column, slots []int32, src []batch.Column, from []int32) error {
	sums, counts := st[0].(*i128Slab), st[1].(*i64Slab)
	more, moreCounts := src[0].(*i128Slab), src[1].(*i64Slab)
	for i, s := range slots {
		sum, ok := sums.At(s).AddOK(*more.At(from[i]))
		if !ok {
			return errSumTooLarge
		}
		*sums.At(s) = sum
		*counts.At(s) += *moreCounts.At(from[i])
	}
	return nil
}

var errSumTooLarge = errors.New("a sum does not fit in 128 bits; CAST its argument to a DECIMAL with a smaller scale, or to DOUBLE")

// Result implements Agg.
func (a exactBase) Result(st []batch.Column, slots []int32) (batch.Vector, error) {
	switch a.result.Phys() {
	case types.PhysI8:
		return exactResult(a, st, slots, narrow[int8])
	case types.PhysI16:
		return exactResult(a, st, slots, narrow[int16])
	case types.PhysI32:
		return exactResult(a, st, slots, narrow[int32])
	case types.PhysI64:
		return exactResult(a, st, slots, narrow[int64])
	}
	return exactResult(a, st, slots, func(x types.Int128) types.Int128 { return x })
}

func narrow[T int8 | int16 | int32 | int64](x types.Int128) T { return T(x.Int64()) }

func exactResult[T batch.Value](a exactBase, st []batch.Column, slots []int32, conv func(types.Int128) T) (batch.Vector, error) {
	sums, counts := st[0].(*i128Slab), st[1].(*i64Slab)
	out := batch.MakeFixed[T](a.result, len(slots))
	for i, s := range slots {
		n := *counts.At(s)
		if n == 0 {
			setNull(out, i)
			continue
		}
		v, err := a.finish(*sums.At(s), n)
		if err != nil {
			return nil, err
		}
		out.Values[i] = conv(v)
	}
	return out, nil
}

// intSum sums up integers, and decimals of up to 18 digits.
type intSum[T int8 | int16 | int32 | int64] struct{ exactBase }

// Add implements Agg.
func (intSum[T]) Add(st []batch.Column, slots []int32, args []batch.Vector, rows []int32) error {
	sums, v := st[0].(*i128Slab), args[0].(*batch.Fixed[T])
	countRows(st[1].(*i64Slab), slots, args, rows, 1)
	if v.Valid != nil {
		slots, rows = notNull(v.Valid, slots, rows)
	}
	if slot, ok := oneSlot(slots); ok {
		p := sums.At(slot)
		*p = p.Add(total(v.Values, rows))
		return nil
	}
	values, rows := v.Values, rows[:len(slots)]
	for i, s := range slots {
		p := sums.At(s)
		*p = p.Add(types.Int128FromInt64(int64(values[rows[i]])))
	}
	return nil
}

// Retract implements Agg.
func (intSum[T]) Retract(st []batch.Column, slots []int32, args []batch.Vector, rows []int32) error {
	sums, v := st[0].(*i128Slab), args[0].(*batch.Fixed[T])
	countRows(st[1].(*i64Slab), slots, args, rows, -1)
	for i, s := range slots {
		if r := int(rows[i]); v.Valid.Get(r) {
			p := sums.At(s)
			*p = p.Sub(types.Int128FromInt64(int64(v.Values[r])))
		}
	}
	return nil
}

// total sums up integers.
func total[T int8 | int16 | int32 | int64](values []T, rows []int32) types.Int128 {
	var sum types.Int128
	for _, r := range rows {
		sum = sum.Add(types.Int128FromInt64(int64(values[r])))
	}
	return sum
}

// bigSum sums up decimals of more than 18 digits.
type bigSum struct{ exactBase }

// Add implements Agg.
func (bigSum) Add(st []batch.Column, slots []int32, args []batch.Vector, rows []int32) error {
	return addBig(st, slots, args[0].(*batch.Fixed[types.Int128]), rows, types.Int128.AddOK, 1)
}

// Retract implements Agg.
func (bigSum) Retract(st []batch.Column, slots []int32, args []batch.Vector, rows []int32) error {
	return addBig(st, slots, args[0].(*batch.Fixed[types.Int128]), rows, types.Int128.SubOK, -1)
}

func addBig(st []batch.Column, slots []int32, v *batch.Fixed[types.Int128], rows []int32,
	add func(a, b types.Int128) (types.Int128, bool), by int64) error {
	sums, counts := st[0].(*i128Slab), st[1].(*i64Slab)
	for i, s := range slots {
		r := int(rows[i])
		if v.Valid.IsNull(r) {
			continue
		}
		sum, ok := add(*sums.At(s), v.Values[r])
		if !ok {
			return rowError(r, errSumTooLarge)
		}
		*sums.At(s) = sum
		*counts.At(s) += by
	}
	return nil
}
