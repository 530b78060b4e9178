package parse

import (
	"encoding/binary"
	"math"

	"github.com/millstream-io/millstream/types"
)

const dayMs = 86_400_000

// Layout is a form of timestamps.
type Layout struct {
	// Sep stands between date and time: ' ' or 'T'.
	Sep byte
	// Zulu: a Z must follow. AnyCase takes t and z as well.
	Zulu, AnyCase bool
	// Seconds: they must be given.
	Seconds bool
	// Strict: the day must exist and the hour be below 24. Otherwise day 31
	// stands for the last day of a shorter month, and 24:00 for the next day.
	Strict bool
}

// The forms of Flink's formats.
var (
	SQL     = Layout{Sep: ' ', Seconds: true}
	SQLZulu = Layout{Sep: ' ', Seconds: true, Zulu: true}
	ISO     = Layout{Sep: 'T', Strict: true, AnyCase: true}
	ISOZulu = Layout{Sep: 'T', Zulu: true}
)

// Timestamp reads a timestamp: the milliseconds since 1970 and the nanoseconds
// within the last of them.
func Timestamp(b []byte, l *Layout) (ts types.TS, fault Fault) {
	if l.Zulu {
		if len(b) == 0 || b[len(b)-1] != 'Z' {
			return ts, Form
		}
		b = b[:len(b)-1]
	}
	days, n, fault := date(b, l.Strict)
	if fault != OK {
		return ts, fault
	}
	if n >= len(b) || b[n] != l.Sep && !(l.AnyCase && b[n] == l.Sep|0x20) {
		return ts, Form
	}
	nanos, next, fault := clock(b[n+1:], l.Seconds, l.Strict)
	if fault != OK {
		return ts, fault
	}
	if next {
		days++
	}
	if days > math.MaxInt64/dayMs-1 || days < math.MinInt64/dayMs+1 {
		return ts, Range
	}
	ms := nanos / 1e6
	return types.TS{Ms: days*dayMs + ms, Ns: int32(nanos - ms*1e6)}, OK
}

// Truncate cuts a point in time to a precision.
func Truncate(ts types.TS, precision int) types.TS {
	switch {
	case precision >= 9:
	case precision > 3:
		ts.Ns -= ts.Ns % int32(pow10[9-precision])
	default:
		ts.Ns = 0
		if precision < 3 {
			unit := int64(pow10[3-precision])
			ts.Ms -= ((ts.Ms % unit) + unit) % unit
		}
	}
	return ts
}

var pow10 = [...]int{1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000}

// Date reads year-month-day as ISO 8601 has it, and returns the days since 1970.
func Date(b []byte) (int32, Fault) {
	days, n, fault := date(b, true)
	switch {
	case fault != OK:
		return 0, fault
	case n != len(b):
		return 0, Form
	case days != int64(int32(days)):
		return 0, Range
	}
	return int32(days), OK
}

// LooseDate reads yyyy-[m]m-[d]d.
func LooseDate(b []byte) (int32, Fault) {
	if len(b) < 8 || len(b) > 10 || b[4] != '-' {
		return 0, Form
	}
	year, ok := digits(b[:4])
	rest := b[5:]
	i := 1
	if rest[1] != '-' {
		i = 2
	}
	if !ok || i >= len(rest) || rest[i] != '-' {
		return 0, Form
	}
	month, ok := digits(rest[:i])
	day, ok2 := digits(rest[i+1:])
	if !ok || !ok2 || len(rest)-i-1 > 2 || i+1 == len(rest) {
		return 0, Form
	}
	if month < 1 || month > 12 || day < 1 || day > daysIn(int64(year), month) {
		return 0, Calendar
	}
	return int32(Days(int64(year), month, day)), OK
}

// Time reads hh:mm:ss[.fraction], seconds being optional or not; 24:00:00
// stands for 0 unless strict. It returns milliseconds of the day, cut to the
// precision.
func Time(b []byte, seconds, strict bool, precision int) (int32, Fault) {
	nanos, _, fault := clock(b, seconds, strict)
	if fault != OK {
		return 0, fault
	}
	ms := int32(nanos / 1e6)
	if precision < 3 {
		ms -= ms % int32(pow10[3-precision])
	}
	return ms, OK
}

// date reads a date at the start of b: its days, and how long it is.
func date(b []byte, strict bool) (days int64, n int, fault Fault) {
	if len(b) < 10 {
		return 0, 0, Form
	}
	year, n := int64(0), 4
	if c := b[0]; c == '-' || c == '+' {
		year, n, fault = signedYear(b)
		if fault != OK {
			return 0, 0, fault
		}
	} else {
		y, ok := digits(b[:4])
		if !ok {
			return 0, 0, Form
		}
		year = int64(y)
	}
	if len(b) < n+6 || b[n] != '-' || b[n+3] != '-' {
		return 0, 0, Form
	}
	month, ok := digits(b[n+1 : n+3])
	day, ok2 := digits(b[n+4 : n+6])
	if !ok || !ok2 {
		return 0, 0, Form
	}
	if month < 1 || month > 12 || day < 1 || day > 31 {
		return 0, 0, Calendar
	}
	if day > 28 {
		if last := daysIn(year, month); day > last {
			if strict {
				return 0, 0, Calendar
			}
			day = last
		}
	}
	return Days(year, month, day), n + 6, OK
}

// signedYear reads a year with a sign: + wants more than four digits, - at
// least four.
func signedYear(b []byte) (year int64, n int, fault Fault) {
	n = 1
	for n < len(b) && b[n]-'0' <= 9 {
		year = year*10 + int64(b[n]-'0')
		if n++; n > 11 {
			return 0, 0, Form
		}
	}
	if n < 5 || n == 5 && b[0] == '+' || n > 5 && b[1] == '0' {
		return 0, 0, Form
	}
	if year > 999_999_999 {
		return 0, 0, Range
	}
	if b[0] == '-' {
		year = -year
	}
	return year, n, OK
}

// clock reads a whole text as a time of day in nanoseconds; next says that it
// was 24:00.
func clock(b []byte, seconds, strict bool) (nanos int64, next bool, fault Fault) {
	if len(b) < 5 || b[2] != ':' {
		return 0, false, Form
	}
	h, ok := digits(b[:2])
	m, ok2 := digits(b[3:5])
	s, ok3 := 0, !seconds
	var frac int64
	if len(b) > 5 {
		if len(b) < 8 || b[5] != ':' {
			return 0, false, Form
		}
		s, ok3 = digits(b[6:8])
		if len(b) > 8 {
			if b[8] != '.' || len(b) > 18 {
				return 0, false, Form
			}
			f, okf := digits(b[9:])
			ok3 = ok3 && okf
			frac = int64(f) * int64(pow10[18-len(b)])
		}
	}
	if !ok || !ok2 || !ok3 {
		return 0, false, Form
	}
	if m > 59 || s > 59 || h > 24 {
		return 0, false, Calendar
	}
	nanos = (int64(h)*3600+int64(m)*60+int64(s))*1e9 + frac
	if h == 24 {
		if strict || nanos != 24*3600*1e9 {
			return 0, false, Calendar
		}
		return 0, true, OK
	}
	return nanos, false, OK
}

// digits reads a few digits; none of them is 0.
func digits(b []byte) (int, bool) {
	n := 0
	bad := byte(0)
	for _, c := range b {
		c -= '0'
		if c > 9 {
			bad = 1
		}
		n = n*10 + int(c)
	}
	return n, bad == 0
}

var monthDays = [...]int{0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

func daysIn(year int64, month int) int {
	if month == 2 && year&3 == 0 && (year%100 != 0 || year%400 == 0) {
		return 29
	}
	return monthDays[month]
}

// Days returns the days from 1970-01-01 to a date of the proleptic Gregorian
// calendar. The year is counted from March, so that the leap day is its last.
func Days(year int64, month, day int) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	era := year / 400
	if year < 0 {
		era = (year - 399) / 400
	}
	ofEra := year - era*400
	ofYear := (153*(month-3)+2)/5 + day - 1
	return era*146_097 + ofEra*365 + ofEra/4 - ofEra/100 + int64(ofYear) - 719_468
}

// FastTimestamp reads a timestamp of exactly 19 characters, or 23 with
// milliseconds, as nearly all are: date, separator, time, valid as they stand.
// Anything else it leaves to Timestamp.
func FastTimestamp(b []byte, sep byte) (ms int64, ok bool) {
	if len(b) != 19 && len(b) != 23 {
		return 0, false
	}
	// The separators are replaced by zeros, and the rest must be digits.
	w0 := binary.LittleEndian.Uint64(b)
	w1 := binary.LittleEndian.Uint64(b[8:])
	if b[4] != '-' || b[7] != '-' || b[10] != sep || b[13] != ':' || b[16] != ':' {
		return 0, false
	}
	const d0, d1 = 0x00ffff00ffffffff, 0xffff00ffff00ffff
	if !allDigits(w0&d0|'0'<<32|'0'<<56) || !allDigits(w1&d1|'0'<<16|'0'<<40) {
		return 0, false
	}
	two := func(i int) int { return int(b[i]-'0')*10 + int(b[i+1]-'0') }
	month, day := two(5), two(8)
	h, m := two(11), two(14)
	s1, s2 := b[17]-'0', b[18]-'0'
	s := int(s1)*10 + int(s2)
	if month-1 > 11 || month == 0 || day-1 > 27 || day == 0 || h > 23 || m > 59 || s1 > 5 || s2 > 9 {
		return 0, false
	}
	ms = Days(int64(two(0)*100+two(2)), month, day)*dayMs + int64((h*60+m)*60+s)*1000
	if len(b) == 23 {
		f1, f2, f3 := b[20]-'0', b[21]-'0', b[22]-'0'
		if b[19] != '.' || f1 > 9 || f2 > 9 || f3 > 9 {
			return 0, false
		}
		ms += int64(f1)*100 + int64(f2)*10 + int64(f3)
	}
	return ms, true
}

// allDigits reports whether all eight bytes of a word are decimal digits.
func allDigits(w uint64) bool {
	return (w&0xf0f0f0f0f0f0f0f0 | (w+0x0606060606060606)&0xf0f0f0f0f0f0f0f0>>4) == 0x3333333333333333
}
