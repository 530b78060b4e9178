package text

import (
	"bytes"
	"fmt"
)

// AppendMonths prints an INTERVAL of years and months: +1-02, -0-01.
func AppendMonths(buf []byte, months int32) []byte {
	n := int(months)
	buf, n = appendSign(buf, n)
	buf = appendPadded(buf, n/12, 1)
	buf = append(buf, '-')
	return appendPadded(buf, n%12, 2)
}

// AppendMillis prints an INTERVAL of days to seconds: +1 02:03:04.567.
func AppendMillis(buf []byte, ms int64) []byte {
	buf, n := appendSign(buf, int(ms))
	u := uint64(n) // the smallest number is its own negative
	buf = appendPadded(buf, int(u/MsPerDay), 1)
	buf = append(buf, ' ')
	rest := int(u % MsPerDay)
	buf = append(appendClock(buf, rest), '.')
	return appendPadded(buf, rest%MsPerSecond, 3)
}

func appendSign(buf []byte, n int) ([]byte, int) {
	if n < 0 {
		return append(buf, '-'), -n
	}
	return append(buf, '+'), n
}

// ParseMonths reads what AppendMonths prints; the sign may be missing.
func ParseMonths(b []byte) (months int32, ok bool) {
	neg, b := cutSign(b)
	year, month, _ := bytes.Cut(b, dash)
	y, ok1 := number(year)
	m, ok2 := number(month)
	n := y*12 + m
	if neg {
		n = -n
	}
	return int32(n), ok1 && ok2 && m < 12 && n == int(int32(n))
}

// ParseMillis reads what AppendMillis prints; the sign and the fraction may be
// missing.
func ParseMillis(b []byte) (ms int64, ok bool) {
	neg, b := cutSign(b)
	day, clock, _ := bytes.Cut(b, []byte{' '})
	d, ok1 := number(day)
	t, ok2 := ParseTime(clock, 3)
	ms = int64(d)*MsPerDay + int64(t)
	if neg {
		ms = -ms
	}
	return ms, ok1 && ok2
}

func cutSign(b []byte) (neg bool, rest []byte) {
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		return b[0] == '-', b[1:]
	}
	return false, b
}

// intervalUnit is a field of an interval literal: its size in months or in
// milliseconds, the bound of its values unless it leads, and what stands before
// it.
type intervalUnit struct {
	name   string
	size   int64
	bound  int
	before byte
}

var monthUnits = []intervalUnit{{"YEAR", 12, 0, 0}, {"MONTH", 1, 12, '-'}}

var timeUnits = []intervalUnit{
	{"DAY", MsPerDay, 0, 0}, {"HOUR", MsPerHour, 24, ' '}, {"MINUTE", MsPerMinute, 60, ':'}, {"SECOND", MsPerSecond, 60, ':'},
}

// ParseInterval reads the text of an INTERVAL literal with the fields from to
// to; to is empty for a single one. precision is the number of digits that the
// leading field may have. Years, quarters and months give months, the rest gives
// milliseconds.
func ParseInterval(s, from, to string, precision int) (value int64, months bool, err error) {
	fail := func(format string, args ...any) (int64, bool, error) {
		return 0, false, fmt.Errorf("illegal interval '%s': %s", s, fmt.Sprintf(format, args...))
	}
	units, scale := timeUnits, int64(1)
	switch from {
	case "YEAR", "MONTH":
		units, months = monthUnits, true
	case "QUARTER":
		units, months, scale, from = monthUnits, true, 3, "MONTH"
	case "WEEK":
		scale, from = 7, "DAY"
	}
	first := unitIndex(units, from)
	last := first
	if to != "" {
		last = unitIndex(units, to)
	}
	if first < 0 || last < first {
		return fail("no such fields as %s TO %s", from, to)
	}
	neg, rest := cutSign(trimControls([]byte(s)))
	for i := first; i <= last; i++ {
		u := units[i]
		if i > first {
			if len(rest) == 0 || rest[0] != u.before {
				return fail("it needs a value for %s", u.name)
			}
			rest = rest[1:]
		}
		digits := 0
		for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' {
			digits++
		}
		n, ok := number(rest[:digits])
		switch {
		case !ok:
			return fail("it needs a value for %s", u.name)
		case i > first && n >= u.bound:
			return fail("%s is not below %d", u.name, u.bound)
		case i == first && significant(rest[:digits]) > precision:
			return fail("%s has more than %d digits; write %s(%d)", u.name, precision, u.name, significant(rest[:digits]))
		}
		rest = rest[digits:]
		value += int64(n) * u.size * scale
		if u.name == "SECOND" && len(rest) > 1 && rest[0] == '.' && len(rest) <= 10 && allDigits(rest[1:]) {
			value += int64(millis(rest[1:min(len(rest), 4)]))
			rest = nil
		}
	}
	if len(rest) > 0 {
		return fail("%q is too much", rest)
	}
	if neg {
		value = -value
	}
	return value, months, nil
}

func unitIndex(units []intervalUnit, name string) int {
	for i, u := range units {
		if u.name == name {
			return i
		}
	}
	return -1
}

// significant counts the digits behind leading zeros.
func significant(b []byte) int { return len(bytes.TrimLeft(b, "0")) }
