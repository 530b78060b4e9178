package fn

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

// MonthInterval and SecondInterval are the types of all intervals, whatever
// fields they were written with.
var (
	MonthInterval  = types.Type{Kind: types.IntervalYM, Nullable: true, Unit: types.UnitMonth, Precision: 2}
	SecondInterval = types.Type{Kind: types.IntervalDS, Nullable: true, Unit: types.UnitSecond, Precision: 2, Scale: 3}
)

// bindTime binds + and - (sign -1) where dates, times, timestamps or intervals
// are operands. It returns nil where they are not.
func (c *Call) bindTime(sign int64) (*Bound, error) {
	if err := c.operands(); err != nil {
		return nil, err
	}
	a, b := c.Args[0].Type.Plain(), c.Args[1].Type.Plain()
	switch {
	case a.IsDatetime() && b.IsInterval():
		return &Bound{Result: c.Strict(a), Kernel: shiftKernel(a, b, c.Strict(a), sign, 0)}, nil
	case a.IsInterval() && b.IsDatetime() && sign > 0:
		return &Bound{Result: c.Strict(b), Kernel: shiftKernel(b, a, c.Strict(b), sign, 1)}, nil
	case a.IsInterval() && a.Kind == b.Kind:
		kernel := addKernel
		if sign < 0 {
			kernel = subKernel
		}
		return &Bound{Result: c.Strict(a), Kernel: kernel(c.Strict(a), false)}, nil
	case a.IsDatetime() && b.IsDatetime() && sign < 0:
		return nil, Argf(-1, "the difference of two times needs a unit, as in (a - b) DAY; or use TIMESTAMPDIFF")
	case a.IsNumeric() && b.IsNumeric():
		return nil, nil
	}
	return nil, c.mismatch()
}

// bindScale binds interval * integer; the interval is argument at.
func (c *Call) bindScale(interval types.Type, at int) *Bound {
	t := c.Strict(interval.Plain())
	params := make([]types.Type, 2)
	params[1-at] = types.Of(types.BigInt)
	if interval.Kind == types.IntervalDS {
		return &Bound{Params: params, Result: t, Kernel: loopKernel(t, mulInt64, overflows[int64]("*", t))}
	}
	return &Bound{Params: params, Result: t, Kernel: func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		months, factor := args[at].(*batch.Fixed[int32]).Values, args[1-at].(*batch.Fixed[int64]).Values
		return Fixed(t, rows, func(i int) (int32, bool, error) {
			v, ok := types.MulInt64(int64(months[i]), factor[i]), true
			ok = v.IsInt64() && v.Int64() == int64(int32(v.Int64()))
			if !ok {
				return 0, false, Failf(i, "%s", overflows[int64]("*", t)(int64(months[i]), factor[i]))
			}
			return int32(v.Int64()), true, nil
		})
	}}
}

// shiftKernel adds an interval to a date, a time or a timestamp, which is
// argument at.
func shiftKernel(when, interval, t types.Type, sign int64, at int) Kernel {
	if interval.Kind == types.IntervalYM {
		return shiftMonths(when, t, int(sign), at)
	}
	switch when.Phys() {
	case types.PhysI32:
		shift := shiftTime
		if when.Kind == types.Date {
			shift = shiftDate
		}
		return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
			a, b := args[at].(*batch.Fixed[int32]).Values, args[1-at].(*batch.Fixed[int64]).Values
			return Fixed(t, rows, func(i int) (int32, bool, error) { return shift(a[i], sign*b[i]), true, nil })
		}
	case types.PhysTS:
		return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
			a, b := args[at].(*batch.Fixed[types.TS]).Values, args[1-at].(*batch.Fixed[int64]).Values
			return Fixed(t, rows, func(i int) (types.TS, bool, error) {
				return types.TS{Ms: a[i].Ms + sign*b[i], Ns: a[i].Ns}, true, nil
			})
		}
	}
	run := loop[int64](addWrap[int64])
	if sign < 0 {
		run = subWrap[int64]
	}
	kernel := loopKernel(t, run, nil)
	if at == 0 {
		return kernel
	}
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		return kernel(rows, []batch.Vector{args[1], args[0]})
	}
}

// shiftDate adds whole days; what is less than a day does not count.
func shiftDate(days int32, ms int64) int32 { return days + int32(ms/text.MsPerDay) }

// shiftTime goes around the clock.
func shiftTime(t int32, ms int64) int32 {
	out := (int64(t) + ms%text.MsPerDay) % text.MsPerDay
	if out < 0 {
		out += text.MsPerDay
	}
	return int32(out)
}

// shiftMonths adds months to the date; a time of day has none and stays.
func shiftMonths(when, t types.Type, sign, at int) Kernel {
	moved := func(ms int64, months int32) int64 {
		days, rest := text.SplitDay(ms)
		return int64(text.AddMonths(days, sign*int(months)))*text.MsPerDay + int64(rest)
	}
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		months := args[1-at].(*batch.Fixed[int32]).Values
		switch a := args[at].(type) {
		case *batch.Fixed[int64]:
			return Fixed(t, rows, func(i int) (int64, bool, error) { return moved(a.Values[i], months[i]), true, nil })
		case *batch.Fixed[types.TS]:
			return Fixed(t, rows, func(i int) (types.TS, bool, error) {
				return types.TS{Ms: moved(a.Values[i].Ms, months[i]), Ns: a.Values[i].Ns}, true, nil
			})
		case *batch.Fixed[int32]:
			if when.Kind == types.Time {
				return a.WithType(t), nil
			}
			return Fixed(t, rows, func(i int) (int32, bool, error) {
				return int32(text.AddMonths(int(a.Values[i]), sign*int(months[i]))), true, nil
			})
		}
		panic("fn: months cannot be added to " + when.String())
	}
}

// bindMinusDate binds (a - b) unit: MINUS DATE(a, b, MONTH) counts months,
// MINUS DATE(a, b, SECOND) milliseconds.
func bindMinusDate(c *Call) (*Bound, error) {
	if err := c.Arity(3, 3); err != nil {
		return nil, err
	}
	unit, err := c.WantSymbol(2, "MONTH", "SECOND")
	if err != nil {
		return nil, err
	}
	a, b := c.Args[0].Type, c.Args[1].Type
	if !a.IsDatetime() || a.Kind != b.Kind {
		return nil, Argf(-1, "cannot take %s from %s: both must be dates, times, or timestamps of one kind",
			b.WithNull(true), a.WithNull(true))
	}
	if unit == "SECOND" {
		t := c.Strict(SecondInterval)
		return &Bound{Result: t, Kernel: differenceKernel(t, a, func(x, y int64) int64 { return x - y })}, nil
	}
	t := c.Strict(MonthInterval)
	return &Bound{Result: t, Kernel: differenceKernel(t, a, monthsBetween)}, nil
}

func differenceKernel[R int32 | int64](t, operand types.Type, diff func(x, y int64) R) Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		a, b := millisOf(args[0], operand), millisOf(args[1], operand)
		return Fixed(t, rows, func(i int) (R, bool, error) { return diff(a(i), b(i)), true, nil })
	}
}

// millisOf reads dates, times and timestamps as milliseconds since the epoch.
func millisOf(v batch.Vector, t types.Type) func(i int) int64 {
	switch v := v.(type) {
	case *batch.Fixed[types.TS]:
		return func(i int) int64 { return v.Values[i].Ms }
	case *batch.Fixed[int32]:
		unit := int64(1)
		if t.Kind == types.Date {
			unit = text.MsPerDay
		}
		return func(i int) int64 { return int64(v.Values[i]) * unit }
	}
	values := v.(*batch.Fixed[int64]).Values
	return func(i int) int64 { return values[i] }
}

// monthsBetween counts the whole months from y to x by the days, as Flink does;
// the times of day count only where the days are whole months apart, and then
// always for the earlier month.
func monthsBetween(x, y int64) int32 {
	dx, tx := text.SplitDay(x)
	dy, ty := text.SplitDay(y)
	months := wholeMonths(dx, dy)
	if tx < ty && text.AddMonths(dy, months) == dx {
		months--
	}
	return int32(months)
}

// wholeMonths counts the whole months between two days.
func wholeMonths(x, y int) int {
	if x < y {
		return -wholeMonths(y, x)
	}
	yearX, monthX, _ := text.CivilFromDays(x)
	yearY, monthY, _ := text.CivilFromDays(y)
	months := (yearX-yearY)*12 + monthX - monthY
	if text.AddMonths(y, months) > x {
		months--
	}
	return months
}
