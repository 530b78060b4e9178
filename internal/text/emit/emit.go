// Package emit prints scalar values as Flink's formats write them.
package emit

import (
	"bytes"
	"encoding/base64"
	"strconv"

	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

// Date appends yyyy-mm-dd; years beyond four digits have a sign.
func Date(buf []byte, days int) []byte {
	y, m, d := text.CivilFromDays(days)
	switch {
	case y > 9999:
		buf = append(buf, '+')
		buf = strconv.AppendInt(buf, int64(y), 10)
	case y < 0:
		buf = append(buf, '-')
		buf = padded(buf, -y)
	default:
		buf = padded(buf, y)
	}
	buf = append(buf, '-')
	buf = two(buf, m)
	buf = append(buf, '-')
	return two(buf, d)
}

func padded(buf []byte, y int) []byte {
	for p := 1000; p > y && p > 1; p /= 10 {
		buf = append(buf, '0')
	}
	return strconv.AppendInt(buf, int64(y), 10)
}

func two(buf []byte, n int) []byte { return append(buf, byte('0'+n/10), byte('0'+n%10)) }

// Clock appends hh:mm:ss, and the fraction of a second without its zeros.
func Clock(buf []byte, ms, ns int) []byte {
	s := ms / 1000
	buf = two(buf, s/3600)
	buf = append(buf, ':')
	buf = two(buf, s/60%60)
	buf = append(buf, ':')
	buf = two(buf, s%60)
	frac := ms%1000*1_000_000 + ns
	if frac == 0 {
		return buf
	}
	buf = append(buf, '.')
	for p := 100_000_000; frac > 0; p /= 10 {
		buf = append(buf, byte('0'+frac/p))
		frac %= p
	}
	return buf
}

// Timestamp appends date, separator and time.
func Timestamp(buf []byte, ts types.TS, sep byte) []byte {
	days, ms := text.SplitDay(ts.Ms)
	buf = append(Date(buf, days), sep)
	return Clock(buf, ms, int(ts.Ns))
}

// Decimal appends an unscaled value with its scale as Java's BigDecimal prints
// it once zeros at its end are cut off: 1.5, 1E+2, 1E-7; or, if plain, always
// without an exponent.
func Decimal(buf []byte, v types.Int128, scale int, plain bool) []byte {
	var room [48]byte
	digits := v.Append(room[:0])
	if digits[0] == '-' {
		buf = append(buf, '-')
		digits = digits[1:]
	}
	if len(digits) == 1 && digits[0] == '0' {
		return append(buf, '0')
	}
	for digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
		scale--
	}
	return appendDigits(buf, digits, scale, plain)
}

// Scaled appends an unscaled value with its scale as Java's BigDecimal prints
// it, with the zeros at its end: 1.50, 0.00, 0E-7.
func Scaled(buf []byte, v types.Int128, scale int) []byte {
	var room [48]byte
	digits := v.Append(room[:0])
	if digits[0] == '-' {
		buf = append(buf, '-')
		digits = digits[1:]
	}
	return appendDigits(buf, digits, scale, false)
}

// Digits appends a number, written as 0.0012 or 1.0E-7, as Java's BigDecimal
// prints what it reads there; it knows no -0.
func Digits(buf, number []byte) []byte {
	minus := number[0] == '-'
	if minus {
		number = number[1:]
	}
	scale := 0
	if e := bytes.IndexByte(number, 'E'); e >= 0 {
		exp, _ := strconv.Atoi(string(number[e+1:]))
		number, scale = number[:e], -exp
	}
	digits := number
	if point := bytes.IndexByte(number, '.'); point >= 0 {
		digits = append(append(make([]byte, 0, len(number)), number[:point]...), number[point+1:]...)
		scale += len(number) - point - 1
	}
	for len(digits) > 1 && digits[0] == '0' {
		digits = digits[1:]
	}
	if minus && (len(digits) > 1 || digits[0] != '0') {
		buf = append(buf, '-')
	}
	return appendDigits(buf, digits, scale, false)
}

// appendDigits appends an unscaled value, given by its digits.
func appendDigits(buf, digits []byte, scale int, plain bool) []byte {
	exp := len(digits) - 1 - scale
	if !plain && (scale < 0 || exp < -6) {
		buf = append(buf, digits[0])
		if len(digits) > 1 {
			buf = append(append(buf, '.'), digits[1:]...)
		}
		buf = append(buf, 'E')
		if exp > 0 {
			buf = append(buf, '+')
		}
		return strconv.AppendInt(buf, int64(exp), 10)
	}
	switch whole := len(digits) - scale; {
	case scale <= 0:
		buf = append(buf, digits...)
		for ; scale < 0; scale++ {
			buf = append(buf, '0')
		}
	case whole > 0:
		buf = append(buf, digits[:whole]...)
		buf = append(append(buf, '.'), digits[whole:]...)
	default:
		buf = append(buf, '0', '.')
		for ; whole < 0; whole++ {
			buf = append(buf, '0')
		}
		buf = append(buf, digits...)
	}
	return buf
}

// Base64 appends bytes in base64 with padding.
func Base64(buf, b []byte) []byte { return base64.StdEncoding.AppendEncode(buf, b) }
