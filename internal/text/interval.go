package text

import "bytes"

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
