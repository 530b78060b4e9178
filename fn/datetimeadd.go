package fn

import (
	"strings"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

func init() { Register(timestampAddDef, timestampDiffDef) }

var timestampAddDef = &Def{
	Name: "TIMESTAMPADD", Family: familyTime, Syntax: "TIMESTAMPADD(unit, n, x)",
	Doc: "Returns x plus n units: MILLISECOND, SECOND, MINUTE, HOUR, DAY, WEEK, MONTH, QUARTER, YEAR, DECADE, CENTURY or MILLENNIUM, " +
		"also with SQL_TSI_ before the name. A day that the month does not have becomes its last one. A DATE plus a unit below a day is " +
		"a TIMESTAMP(6); a TIME goes around the clock.",
	Examples: []Example{
		{"TIMESTAMPADD(DAY, 1, DATE '2024-02-28')", "2024-02-29 :: DATE NOT NULL"},
		{"TIMESTAMPADD(MONTH, 1, TIMESTAMP '2024-01-31 23:30:00')", "2024-02-29 23:30:00 :: TIMESTAMP(0) NOT NULL"},
		{"TIMESTAMPADD(HOUR, 1, DATE '2024-01-31')", "2024-01-31 01:00:00.000000 :: TIMESTAMP(6) NOT NULL"},
		{"TIMESTAMPADD(HOUR, 25, TIME '00:00:00')", "01:00:00 :: TIME(0) NOT NULL"},
		{"TIMESTAMPADD(DAY, CAST(NULL AS INT), DATE '2024-02-28')", "NULL :: DATE"},
		{"TIMESTAMPADD(DAY, 9223372036854775807, DATE '2024-02-28')", "error"},
	},
	Bind: typed(bindTimestampAdd),
}

var timestampDiffDef = &Def{
	Name: "TIMESTAMPDIFF", Family: familyTime, Syntax: "TIMESTAMPDIFF(unit, from, to)",
	Doc: "Returns how many whole units lie between two dates, timestamps or times: NANOSECOND, MICROSECOND, and the units of " +
		"TIMESTAMPADD. It is negative where to is before from. The result is an INT, a BIGINT for NANOSECOND; what does not fit is an error.",
	Examples: []Example{
		{"TIMESTAMPDIFF(DAY, DATE '2024-03-01', DATE '2024-02-01')", "-29 :: INT NOT NULL"},
		{"TIMESTAMPDIFF(MONTH, DATE '2024-01-31', DATE '2024-02-29')", "1 :: INT NOT NULL"},
		{"TIMESTAMPDIFF(HOUR, TIMESTAMP '2024-01-01 00:59:59', TIMESTAMP '2024-01-01 02:00:00')", "1 :: INT NOT NULL"},
		{"TIMESTAMPDIFF(MILLISECOND, TIMESTAMP '2024-01-01 00:00:00.1', TIMESTAMP '2024-01-01 00:00:00.456')", "356 :: INT NOT NULL"},
		{"TIMESTAMPDIFF(DAY, CAST(NULL AS DATE), DATE '2024-01-01')", "NULL :: INT"},
		{"TIMESTAMPDIFF(MILLISECOND, DATE '2023-01-01', DATE '2024-01-01')", "error"},
		{"TIMESTAMPDIFF(DAY, DATE '2024-01-01', TIME '10:00:00')", "error"},
	},
	Bind: typed(bindTimestampDiff),
}

// duration is a unit of TIMESTAMPADD and TIMESTAMPDIFF: a number of months, of
// milliseconds, or of parts of a millisecond.
type duration struct{ months, ms, parts int64 }

var durations = map[string]duration{
	"NANOSECOND": {parts: 1_000_000}, "MICROSECOND": {parts: 1000},
	"MILLISECOND": {ms: 1}, "SECOND": {ms: text.MsPerSecond}, "MINUTE": {ms: text.MsPerMinute}, "HOUR": {ms: text.MsPerHour},
	"DAY": {ms: text.MsPerDay}, "WEEK": {ms: 7 * text.MsPerDay},
	"MONTH": {months: 1}, "QUARTER": {months: 3}, "YEAR": {months: 12},
	"DECADE": {months: 120}, "CENTURY": {months: 1200}, "MILLENNIUM": {months: 12000},
}

// durationOf reads the unit in argument 0.
func (c *Call) durationOf() (duration, error) {
	name := c.Args[0].Symbol
	switch name {
	case "FRAC_SECOND":
		name = "MICROSECOND"
	case "SQL_TSI_FRAC_SECOND":
		name = "NANOSECOND"
	}
	d, ok := durations[strings.TrimPrefix(name, "SQL_TSI_")]
	if !ok {
		return d, Argf(0, "%s has no unit %s", c.Def.Name, orValue(c.Args[0].Symbol))
	}
	return d, nil
}

func bindTimestampAdd(c *Call) (*Bound, error) {
	if err := c.Arity(3, 3); err != nil {
		return nil, err
	}
	d, err := c.durationOf()
	if err != nil {
		return nil, err
	}
	n, err := c.Want(1, IntegerArg)
	if err != nil {
		return nil, err
	}
	t := c.Args[2].Type.Plain()
	if !t.IsDatetime() {
		return nil, c.Misfit(2, "a date, a time or a timestamp")
	}
	to := t
	switch {
	case d.parts != 0 || d.ms == 1 && !t.IsTimestamp():
		return nil, Argf(0, "a value of type %s cannot be moved by a %s", t.WithNull(true), c.Args[0].Symbol)
	case d.ms == 1:
		to.Precision = max(to.Precision, 3)
	case t.Kind == types.Date && d.ms > 0 && d.ms < text.MsPerDay:
		to = types.TimeOf(types.Timestamp, 6)
	}
	b := &Bound{Params: []types.Type{{}, n, {}}, Result: c.Strict(to)}
	b.Kernel = moveKernel(t, b.Result, d)
	return b, nil
}

// moveKernel adds args[1] times d to args[2].
func moveKernel(from, t types.Type, d duration) Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		times, ms := args[1].(*batch.Fixed[int64]).Values, wallMillis(rows, args[2], from, nil)
		for k, n := 0, rows.Len(); k < n; k++ {
			i := rows.At(k)
			moved, ok := d.move(ms[i], times[i], t)
			if !ok {
				return nil, Failf(i, "the result is out of the range of %s", t.WithNull(true))
			}
			ms[i] = moved
		}
		out := fromMillis(ms, t)
		if v, ok := args[2].(*batch.Fixed[types.TS]); ok {
			for i, x := range v.Values {
				out.(*batch.Fixed[types.TS]).Values[i].Ns = x.Ns
			}
		}
		return out, nil
	}
}

// maxDays is the last day that a DATE can hold.
const maxDays = 1<<31 - 1

// move adds n units to a moment.
func (d duration) move(ms, n int64, t types.Type) (moved int64, ok bool) {
	if d.months > 0 {
		if t.Kind == types.Time {
			return ms, true
		}
		months := types.MulInt64(n, d.months)
		if !months.IsInt64() || months.Int64() != int64(int32(months.Int64())) {
			return 0, false
		}
		days, rest := text.SplitDay(ms)
		moved = int64(text.AddMonths(days, int(months.Int64())))*text.MsPerDay + int64(rest)
	} else {
		sum := types.MulInt64(n, d.ms).Add(types.Int128FromInt64(ms))
		if !sum.IsInt64() {
			return 0, false
		}
		moved = sum.Int64()
	}
	return moved, t.Kind != types.Date || dayOf(moved) <= maxDays && dayOf(moved) >= -maxDays
}

func bindTimestampDiff(c *Call) (*Bound, error) {
	if err := c.Arity(3, 3); err != nil {
		return nil, err
	}
	d, err := c.durationOf()
	if err != nil {
		return nil, err
	}
	a, b := c.Args[1].Type.Plain(), c.Args[2].Type.Plain()
	for i, t := range []types.Type{a, b} {
		if !t.IsDatetime() {
			return nil, c.Misfit(i+1, "a date, a time or a timestamp")
		}
	}
	if diffFamily(a) != diffFamily(b) {
		return nil, Argf(2, "cannot take %s from %s; CAST one of them", a.WithNull(true), b.WithNull(true))
	}
	kind := types.Int
	if d.parts == 1_000_000 {
		kind = types.BigInt
	}
	out := &Bound{Result: c.Strict(types.Of(kind))}
	read := func(rows Rows, args []batch.Vector) diffs {
		return diffs{from: wallMillis(rows, args[1], a, nil), to: wallMillis(rows, args[2], b, nil),
			fromNs: nanosOf(args[1]), toNs: nanosOf(args[2])}
	}
	if kind == types.BigInt {
		out.Kernel = diffKernel[int64](c, out.Result, d, read)
	} else {
		out.Kernel = diffKernel[int32](c, out.Result, d, read)
	}
	return out, nil
}

// diffFamily is equal for types that can be taken from each other.
func diffFamily(t types.Type) types.Kind {
	if t.Kind == types.Date {
		return types.Timestamp
	}
	return t.Kind
}

// diffs are two columns of moments; the nanoseconds are nil where there are
// none.
type diffs struct {
	from, to     []int64
	fromNs, toNs []types.TS
}

func nanosOf(v batch.Vector) []types.TS {
	if v, ok := v.(*batch.Fixed[types.TS]); ok {
		return v.Values
	}
	return nil
}

// nanos returns the difference of the nanoseconds within a millisecond.
func (d diffs) nanos(i int) int64 {
	ns := int64(0)
	if d.toNs != nil {
		ns = int64(d.toNs[i].Ns)
	}
	if d.fromNs != nil {
		ns -= int64(d.fromNs[i].Ns)
	}
	return ns
}

func diffKernel[T int32 | int64](c *Call, t types.Type, unit duration, read func(Rows, []batch.Vector) diffs) Kernel {
	wrap, name := c.Env.WrapIntegers, c.Args[0].Symbol
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		d, out := read(rows, args), batch.MakeFixed[T](t, rows.N)
		for k, n := 0, rows.Len(); k < n; k++ {
			i := rows.At(k)
			x := unit.between(d.from[i], d.to[i], d.nanos(i))
			out.Values[i] = T(x.Int64())
			if !wrap && (!x.IsInt64() || int64(T(x.Int64())) != x.Int64()) {
				return nil, Failf(i, "the difference of %s %s does not fit in its type %s; take a larger unit, or "+
					"SET 'arithmetic.overflow' = 'wrap' to let it wrap around as in Flink", x, name, t.WithNull(true))
			}
		}
		return out, nil
	}
}

// between returns the number of whole units from one moment to another, where
// ns is the difference of the nanoseconds within their milliseconds.
func (d duration) between(from, to, ns int64) types.Int128 {
	if d.parts != 0 {
		whole := types.MulInt64(to-from, 1_000_000).Add(types.Int128FromInt64(ns))
		q, _ := whole.QuoRem(types.Int128FromInt64(1_000_000 / d.parts))
		return q
	}
	// Cut what is no whole millisecond, toward zero.
	switch {
	case to > from && ns < 0:
		to--
	case to < from && ns > 0:
		to++
	}
	if d.months != 0 {
		return types.Int128FromInt64(int64(monthsBetween(to, from)) / d.months)
	}
	return types.Int128FromInt64((to - from) / d.ms)
}
