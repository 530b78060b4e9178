package fn

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

func init() {
	Register(extractDef)
	for _, f := range []struct{ name, unit, doc, result string }{
		{"YEAR", "YEAR", "the year", "2024"},
		{"QUARTER", "QUARTER", "the quarter of the year, 1 to 4", "1"},
		{"MONTH", "MONTH", "the month, 1 to 12", "2"},
		{"WEEK", "WEEK", "the week of the year of ISO 8601, 1 to 53", "9"},
		{"DAYOFYEAR", "DOY", "the day of the year, 1 to 366", "60"},
		{"DAYOFMONTH", "DAY", "the day of the month, 1 to 31", "29"},
		{"DAYOFWEEK", "DOW", "the day of the week, from 1 for Sunday to 7", "5"},
		{"HOUR", "HOUR", "the hour, 0 to 23", "12"},
		{"MINUTE", "MINUTE", "the minute, 0 to 59", "34"},
		{"SECOND", "SECOND", "the second, 0 to 59", "56"},
	} {
		Register(&Def{
			Name: f.name, Family: familyTime, Syntax: f.name + "(x)",
			Doc: "Returns " + f.doc + "; the same as EXTRACT(" + f.unit + " FROM x).",
			Examples: []Example{
				{f.name + "(TIMESTAMP '2024-02-29 12:34:56')", f.result + " :: BIGINT NOT NULL"},
				{f.name + "(CAST(NULL AS TIMESTAMP))", "NULL :: BIGINT"},
				{f.name + "('2024-02-29')", "error"},
			},
			Bind: typed(func(c *Call) (*Bound, error) {
				if err := c.Arity(1, 1); err != nil {
					return nil, err
				}
				return c.bindExtract(f.unit, 0)
			}),
		})
	}
}

var extractDef = &Def{
	Name: "EXTRACT", Family: familyTime, Syntax: "EXTRACT(unit FROM x)",
	Doc: "Returns a field of a date, a time, a timestamp or an interval. Units are MILLENNIUM, CENTURY, DECADE, YEAR, ISOYEAR, QUARTER, " +
		"MONTH, WEEK (of ISO 8601), DAY, DOY (day of the year), DOW (1 for Sunday), ISODOW (1 for Monday), HOUR, MINUTE, SECOND, " +
		"MILLISECOND, MICROSECOND, NANOSECOND (each within its second) and EPOCH (seconds since 1970-01-01 00:00:00 UTC). " +
		"A TIMESTAMP_LTZ is seen in the session's time zone.",
	Examples: []Example{
		{"EXTRACT(YEAR FROM DATE '2024-02-29')", "2024 :: BIGINT NOT NULL"},
		{"EXTRACT(WEEK FROM DATE '2021-01-03')", "53 :: BIGINT NOT NULL"},
		{"EXTRACT(ISOYEAR FROM DATE '2021-01-03')", "2020 :: BIGINT NOT NULL"},
		{"EXTRACT(MILLISECOND FROM TIMESTAMP '2024-02-29 12:34:56.789')", "789 :: BIGINT NOT NULL"},
		{"EXTRACT(EPOCH FROM TIMESTAMP '1969-12-31 23:59:59.999')", "-1 :: BIGINT NOT NULL"},
		{"EXTRACT(HOUR FROM INTERVAL '-3 04:05:06' DAY TO SECOND)", "-4 :: BIGINT NOT NULL"},
		{"EXTRACT(YEAR FROM CAST(NULL AS DATE))", "NULL :: BIGINT"},
		{"EXTRACT(DAY FROM TIME '12:34:56')", "error"},
	},
	Bind: typed(func(c *Call) (*Bound, error) {
		if err := c.Arity(2, 2); err != nil {
			return nil, err
		}
		return c.bindExtract(c.Args[0].Symbol, 1)
	}),
}

// bindExtract binds the extraction of a field from argument i.
func (c *Call) bindExtract(unit string, i int) (*Bound, error) {
	t := c.Args[i].Type.Plain()
	b := &Bound{Result: c.Strict(types.Of(types.BigInt))}
	if nanos, ok := subMilli[unit]; ok && t.IsTimestamp() {
		b.Kernel = fractionKernel(b.Result, i, nanos)
		return b, nil
	}
	f, zone := fieldOf(unit, t), c.zoneOf(t)
	if f == nil {
		return nil, c.noField(unit, i)
	}
	if unit == "EPOCH" {
		zone = nil
	}
	b.Kernel = func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		out := wallMillis(rows, args[i], t, zone)
		update(rows, out, f)
		return &batch.Fixed[int64]{Typ: b.Result, Values: out}, nil
	}
	return b, nil
}

// noField says which fields a type has.
func (c *Call) noField(unit string, i int) error {
	t := c.Args[i].Type
	have := ""
	switch {
	case t.Kind == types.Time:
		have = "HOUR, MINUTE, SECOND and MILLISECOND"
	case t.Kind == types.Date:
		have = "YEAR to MILLISECOND and EPOCH"
	case t.Kind == types.IntervalDS:
		have = "DAY, HOUR, MINUTE, SECOND and MILLISECOND"
	case t.Kind == types.IntervalYM:
		have = "MILLENNIUM, CENTURY, YEAR, QUARTER and MONTH"
	case t.IsTimestamp():
		have = "MILLENNIUM to NANOSECOND and EPOCH"
	default:
		return c.Misfit(i, "a date, a time, a timestamp or an interval")
	}
	return Argf(i, "a value of type %s has no %s; it has %s", t.WithNull(true), unit, have)
}

// fieldOf returns the field that a unit names in values of a type, nil if there
// is none.
func fieldOf(unit string, t types.Type) func(ms int64) int64 {
	switch {
	case t.Kind == types.IntervalYM:
		return monthFields[unit]
	case t.Kind == types.IntervalDS:
		return spanFields[unit]
	case t.Kind == types.Time:
		return clockFields[unit]
	case t.Kind == types.Date || t.IsTimestamp():
		if f := clockFields[unit]; f != nil {
			return f
		}
		return dateFields[unit]
	}
	return nil
}

// monthFields are those of an interval in months.
var monthFields = map[string]func(int64) int64{
	"MILLENNIUM": func(m int64) int64 { return m / 12000 },
	"CENTURY":    func(m int64) int64 { return m / 1200 },
	"YEAR":       func(m int64) int64 { return m / 12 },
	"QUARTER":    func(m int64) int64 { return (m%12-1)/3 + 1 },
	"MONTH":      func(m int64) int64 { return m % 12 },
}

// spanFields are those of an interval in milliseconds; they have its sign.
var spanFields = map[string]func(int64) int64{
	"DAY":         func(ms int64) int64 { return ms / text.MsPerDay },
	"HOUR":        func(ms int64) int64 { return ms % text.MsPerDay / text.MsPerHour },
	"MINUTE":      func(ms int64) int64 { return ms % text.MsPerHour / text.MsPerMinute },
	"SECOND":      func(ms int64) int64 { return ms % text.MsPerMinute / text.MsPerSecond },
	"MILLISECOND": func(ms int64) int64 { return ms % text.MsPerSecond },
}

// clockFields are those of a time of day.
var clockFields = map[string]func(int64) int64{
	"HOUR":        func(ms int64) int64 { return floorMod(ms, text.MsPerDay) / text.MsPerHour },
	"MINUTE":      func(ms int64) int64 { return floorMod(ms, text.MsPerHour) / text.MsPerMinute },
	"SECOND":      func(ms int64) int64 { return floorMod(ms, text.MsPerMinute) / text.MsPerSecond },
	"MILLISECOND": func(ms int64) int64 { return floorMod(ms, text.MsPerSecond) },
}

// dateFields are those of a date.
var dateFields = map[string]func(int64) int64{
	"EPOCH":      func(ms int64) int64 { return floorDiv(ms, text.MsPerSecond) },
	"MILLENNIUM": func(ms int64) int64 { return floorDiv(yearOf(ms)-1, 1000) + 1 },
	"CENTURY":    func(ms int64) int64 { return floorDiv(yearOf(ms)-1, 100) + 1 },
	"DECADE":     func(ms int64) int64 { return floorDiv(yearOf(ms), 10) },
	"YEAR":       yearOf,
	"QUARTER":    func(ms int64) int64 { return (monthOf(ms)-1)/3 + 1 },
	"MONTH":      monthOf,
	"DAY": func(ms int64) int64 {
		_, _, d := text.CivilFromDays(dayOf(ms))
		return int64(d)
	},
	"DOY": func(ms int64) int64 {
		days := dayOf(ms)
		y, _, _ := text.CivilFromDays(days)
		return int64(days - text.DaysFromCivil(y, 1, 1) + 1)
	},
	"DOW":    func(ms int64) int64 { return int64(weekday(dayOf(ms))) + 1 },
	"ISODOW": func(ms int64) int64 { return (int64(weekday(dayOf(ms)))+6)%7 + 1 },
	"WEEK": func(ms int64) int64 {
		_, week := isoWeek(dayOf(ms))
		return int64(week)
	},
	"ISOYEAR": func(ms int64) int64 {
		year, _ := isoWeek(dayOf(ms))
		return int64(year)
	},
}

func dayOf(ms int64) int { return int(floorDiv(ms, text.MsPerDay)) }

func yearOf(ms int64) int64 {
	y, _, _ := text.CivilFromDays(dayOf(ms))
	return int64(y)
}

func monthOf(ms int64) int64 {
	_, m, _ := text.CivilFromDays(dayOf(ms))
	return int64(m)
}

// weekday returns 0 for a Sunday to 6 for a Saturday; 1970-01-01 was a Thursday.
func weekday(days int) int { return int(floorMod(int64(days)+4, 7)) }

// isoWeek returns the week of ISO 8601, which begins on Monday and belongs to
// the year of its Thursday.
func isoWeek(days int) (year, week int) {
	thursday := days - (weekday(days)+6)%7 + 3
	year, _, _ = text.CivilFromDays(thursday)
	return year, (thursday-text.DaysFromCivil(year, 1, 1))/7 + 1
}

// subMilli are the units below a millisecond, by their nanoseconds.
var subMilli = map[string]int64{"MICROSECOND": 1000, "NANOSECOND": 1}

// fractionKernel gives the fraction of a second of timestamps.
func fractionKernel(t types.Type, at int, nanos int64) Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		out := batch.MakeFixed[int64](t, rows.N)
		switch v := args[at].(type) {
		case *batch.Fixed[int64]:
			for i, ms := range v.Values {
				out.Values[i] = floorMod(ms, text.MsPerSecond) * 1_000_000 / nanos
			}
		case *batch.Fixed[types.TS]:
			for i, x := range v.Values {
				out.Values[i] = (floorMod(x.Ms, text.MsPerSecond)*1_000_000 + int64(x.Ns)) / nanos
			}
		}
		return out, nil
	}
}
