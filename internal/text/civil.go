package text

import "time"

// Milliseconds of the units of time.
const (
	MsPerSecond = 1000
	MsPerMinute = 60 * MsPerSecond
	MsPerHour   = 60 * MsPerMinute
	MsPerDay    = 24 * MsPerHour
)

// DaysFromCivil returns the days from 1970-01-01 to a date of the proleptic
// Gregorian calendar, which is the one of SQL. Months and days outside of their
// range carry over.
func DaysFromCivil(year, month, day int) int {
	month--
	year += floorDiv(month, 12)
	month = floorMod(month, 12) + 1
	// Count years from March, so that the leap day is the last of its year.
	if month <= 2 {
		year--
		month += 12
	}
	era := floorDiv(year, 400)
	yearOfEra := year - era*400
	dayOfYear := (153*(month-3)+2)/5 + day - 1
	dayOfEra := yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + dayOfYear
	return era*146097 + dayOfEra - 719468
}

// CivilFromDays is the inverse of DaysFromCivil.
func CivilFromDays(days int) (year, month, day int) {
	// Count days from 0000-03-01, so that a leap day is the last of its year.
	// What would be negative is brought into the first 400 years.
	days += 719468
	era := 0
	if days < 0 {
		era = floorDiv(days, 146097)
		days -= era * 146097
	}
	// 4 centuries have 146097 days, 4 years 1461: in quarters of a day, the
	// last quarter of each, the divisions are exact. Months from March on have
	// 30.6 days, about 65536/2141.
	quarters := uint64(days)*4 + 3
	century := quarters / 146097
	quarters = quarters%146097 | 3
	months := quarters%1461/4*2141 + 197913
	year = era*400 + int(century*100+quarters/1461)
	month, day = int(months>>16), int(months&0xffff)/2141+1
	if month > 12 {
		month -= 12
		year++
	}
	return year, month, day
}

// DaysInMonth returns the length of a month of the Gregorian calendar.
func DaysInMonth(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if IsLeap(year) {
			return 29
		}
		return 28
	}
	return 31
}

// IsLeap reports whether a year has a 29th of February.
func IsLeap(year int) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

// AddMonths returns the date some months later; a day that the month does not
// have becomes its last one.
func AddMonths(days, months int) int {
	y, m, d := CivilFromDays(days)
	m += months - 1
	y, m = y+floorDiv(m, 12), floorMod(m, 12)+1
	return DaysFromCivil(y, m, min(d, DaysInMonth(y, m)))
}

// SplitDay divides milliseconds since the epoch into days and the milliseconds
// of the day.
func SplitDay(ms int64) (days int, msOfDay int) {
	d := ms / MsPerDay
	r := ms % MsPerDay
	if r < 0 {
		d--
		r += MsPerDay
	}
	return int(d), int(r)
}

// Zone converts between the wall time of a time zone and UTC, both in
// milliseconds since the epoch. It keeps the last offset, so it belongs to one
// goroutine. A nil *Zone is UTC.
type Zone struct {
	loc        *time.Location
	start, end int64 // UTC range in which offset holds
	offset     int64
}

// NewZone returns the converter of a location, nil for UTC.
func NewZone(loc *time.Location) *Zone {
	if loc == nil || loc == time.UTC || loc.String() == "UTC" {
		return nil
	}
	return &Zone{loc: loc}
}

// Offset returns what the zone adds to a moment in UTC.
func (z *Zone) Offset(utc int64) int64 {
	if z == nil {
		return 0
	}
	if utc >= z.start && utc < z.end {
		return z.offset
	}
	t := time.UnixMilli(utc).In(z.loc)
	_, offset := t.Zone()
	z.offset = int64(offset) * MsPerSecond
	z.start, z.end = -1<<63, 1<<63-1
	start, end := t.ZoneBounds()
	if !start.IsZero() {
		z.start = start.UnixMilli()
	}
	if !end.IsZero() {
		z.end = end.UnixMilli()
	}
	return z.offset
}

// ToLocal returns the wall time of a moment in UTC.
func (z *Zone) ToLocal(utc int64) int64 { return utc + z.Offset(utc) }

// ToUTC returns the moment of a wall time. Where a switch repeats it, that is
// the first of the two; where a switch skips it, it is moved on by what was
// skipped. This is what Java does.
func (z *Zone) ToUTC(local int64) int64 {
	if z == nil {
		return local
	}
	if utc := local - z.offset; utc-MsPerDay >= z.start && utc+MsPerDay < z.end {
		return utc
	}
	before, after := z.Offset(local-MsPerDay), z.Offset(local+MsPerDay)
	utc := local - before
	if before == after || z.Offset(utc) == before {
		return utc
	}
	if late := local - after; z.Offset(late) == after {
		return late
	}
	return utc
}

func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func floorMod(a, b int) int {
	r := a % b
	if r < 0 {
		r += b
	}
	return r
}
