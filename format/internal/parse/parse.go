// Package parse reads scalar values from the text of a record. Its functions
// take bytes, keep no reference to them and allocate nothing; they follow what
// Java's parsers take, where Flink's formats use those. What is wrong with a
// value is said by a Fault, which costs nothing until it is printed.
package parse

import (
	"math"
	"math/bits"

	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

// Fault says why a text is not a value of a type.
type Fault uint8

const (
	// OK is no fault.
	OK Fault = iota
	// Form: the text has not the form of such a value.
	Form
	// Range: the value is too large or too small for the type.
	Range
	// Fraction: the value has a fraction that the type cannot hold.
	Fraction
	// Calendar: the calendar has no such day.
	Calendar
	// UTF8: the text is not valid UTF-8.
	UTF8
)

// Trim cuts off characters up to the blank at both ends, as Java's
// String.trim does.
func Trim(b []byte) []byte {
	for len(b) > 0 && b[0] <= ' ' {
		b = b[1:]
	}
	for len(b) > 0 && b[len(b)-1] <= ' ' {
		b = b[:len(b)-1]
	}
	return b
}

// Int reads a whole number: digits behind an optional sign, nothing else.
func Int(b []byte) (int64, Fault) {
	i, neg := 0, false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		neg, i = b[0] == '-', 1
	}
	if i == len(b) {
		return 0, Form
	}
	var n uint64
	// Numbers of up to 18 digits cannot overflow.
	if len(b)-i <= 18 {
		for ; i < len(b); i++ {
			c := b[i] - '0'
			if c > 9 {
				return 0, Form
			}
			n = n*10 + uint64(c)
		}
		if neg {
			return -int64(n), OK
		}
		return int64(n), OK
	}
	return longInt(b, i, neg)
}

func longInt(b []byte, i int, neg bool) (int64, Fault) {
	var n uint64
	fault := OK
	for ; i < len(b); i++ {
		c := b[i] - '0'
		if c > 9 {
			return 0, Form
		}
		hi, lo := bits.Mul64(n, 10)
		sum, carry := bits.Add64(lo, uint64(c), 0)
		if hi != 0 || carry != 0 {
			fault = Range
		}
		n = sum
	}
	switch {
	case fault != OK:
		return 0, fault
	case neg && n <= 1<<63:
		return -int64(n), OK
	case n > math.MaxInt64:
		return 0, Range
	}
	return int64(n), OK
}

// Integral reads a number in the form of JSON that may have a fraction and an
// exponent, and takes it if its value is whole: 1.0, 1e3, but not 1.5.
func Integral(b []byte) (int64, Fault) {
	v, null, fault := Decimal(b, 38, 0)
	if fault != OK {
		return 0, fault
	}
	if null || !v.IsInt64() {
		return 0, Range
	}
	if !whole(b) {
		return 0, Fraction
	}
	return v.Int64(), OK
}

// whole reports whether a well-formed number has no fraction.
func whole(b []byte) bool {
	n, _ := scan(b)
	return !n.any || n.point-n.trailing <= 0
}

// number is what scan finds out about a decimal number.
type number struct {
	// digits are those of the mantissa, from the first one that is not 0; they
	// may have the point among them.
	digits []byte
	// count is the number of those digits, point how many of them stand behind
	// the decimal point once the exponent is applied (it may be negative),
	// trailing the number of zeros at their end.
	count, point, trailing int
	neg, any               bool
}

// scan reads [+-] digits [. digits] [e [+-] digits], with at least one digit
// before the exponent. Exponents beyond a million are taken as a million.
func scan(b []byte) (n number, ok bool) {
	i := 0
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		n.neg, i = b[0] == '-', 1
	}
	first, point, seen := -1, -1, false
	for ; i < len(b); i++ {
		c := b[i]
		switch {
		case c-'0' <= 9:
			seen = true
			switch {
			case c != '0' && first < 0:
				first, n.any = i, true
				fallthrough
			case first >= 0:
				n.count++
				n.trailing++
				if c != '0' {
					n.trailing = 0
				}
			}
			if point >= 0 {
				n.point++
			}
			continue
		case c == '.' && point < 0:
			point = i
			continue
		}
		break
	}
	if !seen {
		return n, false
	}
	if first >= 0 {
		n.digits = b[first:i]
	}
	if i < len(b) {
		e, ok := exponent(b[i:])
		if !ok {
			return n, false
		}
		n.point -= e
	}
	return n, true
}

func exponent(b []byte) (int, bool) {
	if len(b) < 2 || b[0] != 'e' && b[0] != 'E' {
		return 0, false
	}
	b = b[1:]
	neg := b[0] == '-'
	if neg || b[0] == '+' {
		b = b[1:]
	}
	if len(b) == 0 {
		return 0, false
	}
	e := 0
	for _, c := range b {
		if c-'0' > 9 {
			return 0, false
		}
		e = min(e*10+int(c-'0'), 1_000_000)
	}
	if neg {
		e = -e
	}
	return e, true
}

// Decimal reads a decimal number, rounds it half up to the scale and returns
// its unscaled value. null says that it has more digits than the precision
// allows, which Flink reads as NULL.
func Decimal(b []byte, precision, scale int) (v types.Int128, null bool, fault Fault) {
	n, ok := scan(b)
	if !ok {
		return v, false, Form
	}
	if !n.any {
		return v, false, OK
	}
	// keep is how many digits stand before the place to which is rounded.
	keep := n.count - n.point + scale
	if keep < 0 {
		return v, false, OK
	}
	if keep > precision {
		return v, true, OK
	}
	// A value of 38 digits is made of two words of 19.
	var hi, lo uint64
	up, at := false, 0
	for _, c := range n.digits {
		if c == '.' {
			continue
		}
		if at == keep {
			up = c >= '5'
			break
		}
		if at < keep-19 {
			hi = hi*10 + uint64(c-'0')
		} else {
			lo = lo*10 + uint64(c-'0')
		}
		at++
	}
	for ; at < keep; at++ {
		if at < keep-19 {
			hi *= 10
		} else {
			lo *= 10
		}
	}
	if up {
		lo++
	}
	h, l := bits.Mul64(hi, 1e19)
	l, carry := bits.Add64(l, lo, 0)
	v = types.Int128{Hi: int64(h + carry), Lo: l}
	if n.neg {
		v = v.Neg()
	}
	return v, !v.FitsPrecision(precision), OK
}

// exact10 are the powers of ten that a float64 holds exactly.
var exact10 = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// Double reads a floating-point number as Java does, without blanks around it:
// decimal or hexadecimal, with a suffix d or f, NaN and Infinity. Beyond the
// range it is a fault, not infinity.
func Double(b []byte) (float64, Fault) {
	if f, ok := shortDouble(b); ok {
		return f, OK
	}
	f, ok := text.ParseDouble(b)
	return f, floatFault(b, f, ok)
}

// Float is Double for FLOAT.
func Float(b []byte) (float32, Fault) {
	f, ok := text.ParseFloat(b)
	return f, floatFault(b, float64(f), ok)
}

func floatFault(b []byte, f float64, ok bool) Fault {
	switch {
	case !ok:
		return Form
	case math.IsInf(f, 0) && b[len(b)-1] != 'y':
		return Range
	}
	return OK
}

// shortDouble reads [-]digits[.digits] of at most 15 digits, which one division
// of two exact numbers gives correctly rounded.
func shortDouble(b []byte) (float64, bool) {
	i, neg := 0, false
	if len(b) > 0 && b[0] == '-' {
		neg, i = true, 1
	}
	if len(b)-i > 16 || i == len(b) {
		return 0, false
	}
	var m uint64
	point, digits := -1, 0
	for ; i < len(b); i++ {
		c := b[i] - '0'
		if c > 9 {
			if b[i] != '.' || point >= 0 {
				return 0, false
			}
			point = digits
			continue
		}
		m = m*10 + uint64(c)
		digits++
	}
	if digits == 0 || digits > 15 {
		return 0, false
	}
	f := float64(m)
	if point >= 0 {
		f /= exact10[digits-point]
	}
	if neg {
		f = -f
	}
	return f, true
}

// Bool reads true or false in any case.
func Bool(b []byte) (bool, Fault) {
	switch len(b) {
	case 4:
		if b[0]|0x20 == 't' && b[1]|0x20 == 'r' && b[2]|0x20 == 'u' && b[3]|0x20 == 'e' {
			return true, OK
		}
	case 5:
		if b[0]|0x20 == 'f' && b[1]|0x20 == 'a' && b[2]|0x20 == 'l' && b[3]|0x20 == 's' && b[4]|0x20 == 'e' {
			return false, OK
		}
	}
	return false, Form
}
