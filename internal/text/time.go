package text

import (
	"bytes"

	"github.com/millstream-io/millstream/types"
)

// ParseDate reads a DATE: 2024-02-29, 2024-2-9, 2024-2 and 2024 for the first of
// a month or year, with a space and anything behind it. Years are 0 to 9999.
func ParseDate(b []byte) (days int32, ok bool) {
	if i := bytes.IndexByte(b, ' '); i > 0 {
		b = b[:i]
	}
	year, rest, more := bytes.Cut(b, dash)
	var month, day []byte
	if more {
		month, day, more = bytes.Cut(rest, dash)
	}
	y, ok := number(year)
	m, d := 1, 1
	if month != nil && ok {
		m, ok = number(month)
	}
	if more && ok {
		d, ok = number(day)
	}
	if !ok || !validDate(y, m, d) {
		return 0, false
	}
	return int32(DaysFromCivil(y, m, d)), true
}

var dash = []byte{'-'}

func validDate(y, m, d int) bool {
	return y <= 9999 && m >= 1 && m <= 12 && d >= 1 && d <= DaysInMonth(y, m)
}

// number reads digits with space around them.
func number(b []byte) (n int, ok bool) {
	b = trimControls(b)
	if len(b) == 0 {
		return 0, false
	}
	for _, c := range b {
		if c < '0' || c > '9' || n > 1<<31/10 {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

// ParseTime reads a TIME(precision) as milliseconds of the day: 12:34:56.789,
// 12:34, 12. A zone offset behind it, such as +02:00, is added. A fourth digit
// of the fraction rounds the third.
func ParseTime(b []byte, precision int) (ms int32, ok bool) {
	sign, zone := -1, bytes.IndexByte(b, '-')
	if zone < 0 {
		sign, zone = 1, bytes.IndexByte(b, '+')
	}
	zoneHour, zoneMinute := 0, 0
	if zone >= 0 {
		hour, minute, more := bytes.Cut(b[zone+1:], colon)
		if zoneHour, ok = number(hour); !ok {
			return 0, false
		}
		if more {
			if zoneMinute, ok = number(minute); !ok {
				return 0, false
			}
		}
		b = b[:zone]
	}
	hour, b, more := bytes.Cut(b, colon)
	h, ok := number(hour)
	m, s, frac := 0, 0, 0
	if more && ok {
		minute, second, hasSecond := bytes.Cut(b, colon)
		m, ok = number(minute)
		if hasSecond && ok {
			whole, fraction, _ := bytes.Cut(second, dot)
			s, ok = number(whole)
			frac = millis(trimControls(fraction))
		}
	}
	h, m = h+sign*zoneHour, m+sign*zoneMinute
	if !ok || h < 0 || h > 23 || m < 0 || m > 59 || s > 59 {
		return 0, false
	}
	t := h*MsPerHour + m*MsPerMinute + s*MsPerSecond + frac
	return TruncateTime(int32(t), precision), t < MsPerDay
}

var colon, dot = []byte{':'}, []byte{'.'}

// millis reads a fraction of a second; what is no digit counts as 0.
func millis(b []byte) int {
	n, unit := 0, 100
	for i, c := range b {
		if i == 3 {
			if c >= '5' {
				n++
			}
			break
		}
		if c >= '0' && c <= '9' {
			n += unit * int(c-'0')
		}
		unit /= 10
	}
	return n
}

// TruncateTime cuts a time of day to a precision.
func TruncateTime(ms int32, precision int) int32 {
	if precision >= 3 {
		return ms
	}
	return ms - ms%msUnits[precision]
}

// msUnits holds the milliseconds of the last digit of a precision below 3.
var msUnits = [...]int32{1000, 100, 10, 1}

// nsUnits holds the nanoseconds of the last digit of a precision from 3.
var nsUnits = [...]int32{3: 1_000_000, 4: 100_000, 5: 10_000, 6: 1000, 7: 100, 8: 10, 9: 1}

// Truncate cuts a point in time to a precision, toward the past.
func Truncate(t types.TS, precision int) types.TS {
	if precision > 3 {
		t.Ns -= t.Ns % nsUnits[precision]
		return t
	}
	return types.TS{Ms: TruncateMs(t.Ms, precision)}
}

// TruncateMs cuts milliseconds since the epoch to a precision, toward the past.
func TruncateMs(ms int64, precision int) int64 {
	if precision >= 3 {
		return ms
	}
	unit := int64(msUnits[precision])
	r := ms % unit
	if r < 0 {
		r += unit
	}
	return ms - r
}

// ParseTimestamp reads the wall time of a TIMESTAMP(precision):
// 2024-02-29 12:34:56.789, with one digit or two in month, day, hour, minute and
// second, or the date alone. A day that its month does not have becomes the last
// one, 24:00:00 the next day.
func ParseTimestamp(b []byte, precision int) (t types.TS, ok bool) {
	if len(b) < 8 {
		return t, false
	}
	y, ok := number(b[:4])
	if !ok || !allDigits(b[:4]) || y == 0 {
		return t, false
	}
	s := scanner{rest: b[4:]}
	m, d := s.field('-', 2), s.field('-', 2)
	var hour, minute, second, ns int
	if len(s.rest) > 0 {
		hour, minute, second = s.field(' ', 2), s.field(':', 2), s.field(':', 2)
		ns = s.fraction()
	}
	if s.bad || len(s.rest) > 0 || m < 1 || m > 12 || d < 1 || d > 31 || minute > 59 || second > 59 ||
		hour > 24 || hour == 24 && minute+second+ns > 0 {
		return t, false
	}
	days := DaysFromCivil(y, m, min(d, DaysInMonth(y, m)))
	t.Ms = int64(days)*MsPerDay + int64(hour*MsPerHour+minute*MsPerMinute+second*MsPerSecond+ns/1_000_000)
	t.Ns = int32(ns % 1_000_000)
	return Truncate(t, precision), true
}

// scanner reads the fields of a time, and remembers that one was bad.
type scanner struct {
	rest []byte
	bad  bool
}

// field reads a separator and a number of 1 to width digits. Like Java's
// pattern [MM][M], it lets the number stand twice.
func (s *scanner) field(sep byte, width int) int {
	if s.bad || len(s.rest) < 2 || s.rest[0] != sep {
		s.bad = true
		return 0
	}
	b := s.rest[1:]
	n, i := 0, 0
	for i < len(b) && i < width && b[i] >= '0' && b[i] <= '9' {
		n = n*10 + int(b[i]-'0')
		i++
	}
	again, j := 0, i
	for j < len(b) && b[j] >= '0' && b[j] <= '9' {
		again = again*10 + int(b[j]-'0')
		j++
	}
	s.bad = i == 0 || j > i && again != n
	s.rest = b[j:]
	return n
}

// fraction reads a point and up to nine digits, or nothing, as nanoseconds.
func (s *scanner) fraction() int {
	if s.bad || len(s.rest) == 0 || s.rest[0] != '.' {
		return 0
	}
	s.rest = s.rest[1:]
	n, unit := 0, 100_000_000
	for unit > 0 && len(s.rest) > 0 && s.rest[0] >= '0' && s.rest[0] <= '9' {
		n += int(s.rest[0]-'0') * unit
		unit /= 10
		s.rest = s.rest[1:]
	}
	return n
}

// AppendDate prints a DATE: 2024-02-29.
func AppendDate(buf []byte, days int32) []byte {
	y, m, d := CivilFromDays(int(days))
	if y < 0 {
		buf = append(buf, '-')
		y = -y
	}
	if y > 9999 {
		buf = appendPadded(buf, y/10000, 1)
		y %= 10000
	}
	buf = appendPadded(buf, y, 4)
	buf = append(buf, '-', byte('0'+m/10), byte('0'+m%10))
	return append(buf, '-', byte('0'+d/10), byte('0'+d%10))
}

// AppendTime prints a TIME(precision): 12:34:56, and with a precision above 0
// as many digits of the fraction as matter, but one at the least.
func AppendTime(buf []byte, ms int32, precision int) []byte {
	buf = appendClock(buf, int(ms))
	if precision == 0 {
		return buf
	}
	buf = append(buf, '.')
	for frac := ms % MsPerSecond; precision > 0; precision-- {
		buf = append(buf, byte('0'+frac/100))
		frac = frac % 100 * 10
		if frac == 0 {
			break
		}
	}
	return buf
}

// AppendTimestamp prints a TIMESTAMP(precision): 2024-02-29 12:34:56.789, with
// all digits of the fraction.
func AppendTimestamp(buf []byte, t types.TS, precision int) []byte {
	days, ms := SplitDay(t.Ms)
	return appendTimeOfDay(AppendDate(buf, int32(days)), ms, t.Ns, precision)
}

// appendTimeOfDay prints what stands behind the date of a timestamp.
func appendTimeOfDay(buf []byte, ms int, ns int32, precision int) []byte {
	buf = appendClock(append(buf, ' '), ms)
	if precision == 0 {
		return buf
	}
	buf = append(buf, '.')
	at, frac := len(buf), ms%MsPerSecond
	buf = append(buf, byte('0'+frac/100), byte('0'+frac/10%10), byte('0'+frac%10))
	if precision <= 3 {
		return buf[:at+precision]
	}
	return appendPadded(buf, int(ns), 6)[:at+precision]
}

// appendClock prints hours, minutes and seconds.
func appendClock(buf []byte, ms int) []byte {
	s := ms / MsPerSecond
	h, m, s := s/3600, s/60%60, s%60
	return append(buf, byte('0'+h/10), byte('0'+h%10), ':', byte('0'+m/10), byte('0'+m%10), ':',
		byte('0'+s/10), byte('0'+s%10))
}

// appendPadded prints n >= 0 with zeros before it.
func appendPadded(buf []byte, n, width int) []byte {
	var tmp [20]byte
	i := len(tmp)
	for n > 0 || width > 0 {
		i--
		tmp[i] = byte('0' + n%10)
		n /= 10
		width--
	}
	return append(buf, tmp[i:]...)
}
