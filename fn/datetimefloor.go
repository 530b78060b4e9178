package fn

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

// bindFloorTime is the Bind of FLOOR(x TO unit), and of CEIL with up set.
// CEIL gives the first beginning of a unit that is not before x; of a DATE and a
// TIME to DAY see stay.
func bindFloorTime(up bool) func(*Call) (*Bound, error) {
	return func(c *Call) (*Bound, error) {
		if err := c.Arity(2, 2); err != nil {
			return nil, err
		}
		t := c.Args[0].Type.Plain()
		if !t.IsDatetime() {
			return nil, c.Misfit(0, "a date, a time or a timestamp")
		}
		unit := c.Args[1].Symbol
		size, fixed := fixedUnits[unit]
		of := calendarUnits[unit]
		if !fixed && of == nil || t.Kind == types.Time && !fixed {
			return nil, Argf(1, "%s of a %s has no unit %s", c.Def.Name, t.WithNull(true), orValue(unit))
		}
		b := &Bound{Params: []types.Type{{}, {}}, Result: c.Strict(t)}
		zone := c.zoneOf(t)
		switch {
		case unit == "DAY" && !t.IsTimestamp():
			b.Kernel = floorKernel(b.Result, zone, stay(t, up), up, false)
		case fixed:
			f := func(ms int64) int64 { return floorFixed(ms, up, size) }
			b.Kernel = floorKernel(b.Result, zone, f, up, size <= text.MsPerHour)
		default:
			units := &calendar{unit: of, up: up}
			b.Kernel = floorKernel(b.Result, zone, units.floor, up, false)
		}
		return b, nil
	}
}

// stay is FLOOR, or CEIL with up set, of a DATE or a TIME to DAY: FLOOR keeps it,
// CEIL makes a day of it the next one, and adds a millisecond to a time, as Flink
// does.
func stay(t types.Type, up bool) func(ms int64) int64 {
	switch {
	case !up:
		return func(ms int64) int64 { return ms }
	case t.Kind == types.Date:
		return func(ms int64) int64 { return ms + text.MsPerDay }
	}
	return func(ms int64) int64 { return int64(text.TruncateTime(int32(ms+1), int(t.Precision))) }
}

func orValue(unit string) string {
	if unit == "" {
		return "that is a value; write a word such as HOUR"
	}
	return unit
}

// fixedUnits are the units of one length, in milliseconds.
var fixedUnits = map[string]int64{
	"MILLISECOND": 1, "SECOND": text.MsPerSecond, "MINUTE": text.MsPerMinute, "HOUR": text.MsPerHour, "DAY": text.MsPerDay,
}

// floorFixed goes back to the beginning of a unit, or on to the next.
func floorFixed(ms int64, up bool, size int64) int64 {
	r := floorMod(ms, size)
	switch {
	case r == 0:
		return ms
	case up:
		return ms - r + size
	}
	return ms - r
}

// span is the first day of a unit and that of the next one.
type span func(days int) (from, next int)

// calendarUnits are the units that the calendar makes.
var calendarUnits = map[string]span{
	"WEEK": func(days int) (int, int) {
		sunday := days - weekday(days)
		return sunday, sunday + 7
	},
	"MONTH":      months(1),
	"QUARTER":    months(3),
	"YEAR":       years(1, 0),
	"DECADE":     years(10, 0),
	"CENTURY":    years(100, 1),
	"MILLENNIUM": years(1000, 1),
}

func months(n int) span {
	return func(days int) (int, int) {
		y, m, _ := text.CivilFromDays(days)
		m -= (m - 1) % n
		return text.DaysFromCivil(y, m, 1), text.DaysFromCivil(y, m+n, 1)
	}
}

// years are units of n years, one of which begins with the year first.
func years(n, first int64) span {
	return func(days int) (int, int) {
		y, _, _ := text.CivilFromDays(days)
		y = int(floorDiv(int64(y)-first, n)*n + first)
		return text.DaysFromCivil(y, 1, 1), text.DaysFromCivil(y+int(n), 1, 1)
	}
}

// calendar rounds wall time to a unit. It remembers the last one that it met,
// since rows that follow each other are mostly of the same.
type calendar struct {
	unit       span
	up         bool
	from, next int64
}

func (c *calendar) floor(ms int64) int64 {
	if ms < c.from || ms >= c.next {
		from, next := c.unit(dayOf(ms))
		c.from, c.next = int64(from)*text.MsPerDay, int64(next)*text.MsPerDay
	}
	if c.up && ms != c.from {
		return c.next
	}
	return c.from
}

// floorKernel applies f to wall time. The nanoseconds within a millisecond are
// dropped; for CEIL they count as a millisecond begun. Short units end within
// the offset that the zone has at that moment, so that an hour which a switch
// repeats stays the one it is.
func floorKernel(t types.Type, zone *text.Zone, f func(ms int64) int64, up, short bool) Kernel {
	back := func(utc int64) int64 { return zone.ToUTC(f(zone.ToLocal(utc))) }
	switch {
	case zone == nil:
		back = f
	case short:
		back = func(utc int64) int64 {
			local := zone.ToLocal(utc)
			return utc + f(local) - local
		}
	}
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		ms := wallMillis(rows, args[0], t, nil)
		if v, ok := args[0].(*batch.Fixed[types.TS]); ok && up {
			for i, x := range v.Values {
				if x.Ns > 0 {
					ms[i]++
				}
			}
		}
		update(rows, ms, back)
		return fromMillis(ms, t), nil
	}
}

// fromMillis turns wall time, or moments, into values of a type. A time of day
// goes around the clock.
func fromMillis(ms []int64, t types.Type) batch.Vector {
	switch t.Phys() {
	case types.PhysI64:
		return &batch.Fixed[int64]{Typ: t, Values: ms}
	case types.PhysTS:
		out := batch.MakeFixed[types.TS](t, len(ms))
		for i, x := range ms {
			out.Values[i].Ms = x
		}
		return out
	}
	out := batch.MakeFixed[int32](t, len(ms))
	for i, x := range ms {
		if t.Kind == types.Date {
			out.Values[i] = int32(dayOf(x))
		} else {
			out.Values[i] = int32(floorMod(x, text.MsPerDay))
		}
	}
	return out
}
