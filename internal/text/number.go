package text

import (
	"errors"
	"math"
	"strconv"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"github.com/millstream-io/millstream/types"
)

// ParseBool reads true, t, yes, y, 1 and false, f, no, n, 0, in any case.
func ParseBool(b []byte) (value, ok bool) {
	var low [5]byte
	if len(b) > len(low) {
		return false, false
	}
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		low[i] = c
	}
	switch string(low[:len(b)]) {
	case "true", "t", "yes", "y", "1":
		return true, true
	case "false", "f", "no", "n", "0":
		return false, true
	}
	return false, false
}

// AppendBool prints TRUE or FALSE.
func AppendBool(buf []byte, v bool) []byte {
	if v {
		return append(buf, "TRUE"...)
	}
	return append(buf, "FALSE"...)
}

// ParseInt reads an integer: spaces around it are allowed, and a fraction is cut
// off. ok is false for anything else, and for what does not fit.
func ParseInt(b []byte) (value int64, ok bool) {
	b = TrimSpaces(b)
	neg := false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		neg = b[0] == '-'
		b = b[1:]
	}
	if len(b) == 0 {
		return 0, false
	}
	var n uint64
	for i, c := range b {
		d := c - '0'
		if d > 9 {
			if c != '.' || !allDigits(b[i+1:]) {
				return 0, false
			}
			break
		}
		if n > (1<<63)/10 {
			return 0, false
		}
		n = n*10 + uint64(d)
	}
	if neg {
		return -int64(n), n <= 1<<63
	}
	return int64(n), n < 1<<63
}

// ParseIntN is ParseInt for an integer of 8, 16, 32 or 64 bits.
func ParseIntN(b []byte, bits int) (value int64, ok bool) {
	value, ok = ParseInt(b)
	shift := 64 - bits
	return value, ok && value<<shift>>shift == value
}

func allDigits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// TrimSpaces cuts spaces, and nothing else, off both ends.
func TrimSpaces(b []byte) []byte {
	for len(b) > 0 && b[0] == ' ' {
		b = b[1:]
	}
	for len(b) > 0 && b[len(b)-1] == ' ' {
		b = b[:len(b)-1]
	}
	return b
}

// trimControls cuts spaces and control characters off both ends, as Java's trim.
func trimControls(b []byte) []byte {
	for len(b) > 0 && b[0] <= ' ' {
		b = b[1:]
	}
	for len(b) > 0 && b[len(b)-1] <= ' ' {
		b = b[:len(b)-1]
	}
	return b
}

// ParseDouble reads a DOUBLE as Java does: decimal and hexadecimal floats, with
// a d or f behind them or not, NaN and Infinity; what is too large is infinite.
func ParseDouble(b []byte) (value float64, ok bool) { return parseJava(b, 64) }

// ParseFloat is ParseDouble for a FLOAT.
func ParseFloat(b []byte) (value float32, ok bool) {
	f, ok := parseJava(b, 32)
	return float32(f), ok
}

func parseJava(b []byte, bits int) (value float64, ok bool) {
	b = trimControls(b)
	neg := len(b) > 0 && b[0] == '-'
	if neg || len(b) > 0 && b[0] == '+' {
		b = b[1:]
	}
	switch string(b) {
	case "NaN":
		return math.NaN(), true
	case "Infinity":
		value = math.Inf(1)
	default:
		if value, ok = parseUnsigned(b, bits); !ok {
			return 0, false
		}
	}
	if neg {
		value = -value
	}
	return value, true
}

func parseUnsigned(b []byte, bits int) (value float64, ok bool) {
	if len(b) > 1 {
		switch b[len(b)-1] {
		case 'd', 'D', 'f', 'F':
			b = b[:len(b)-1]
		}
	}
	if len(b) == 0 || (b[0] < '0' || b[0] > '9') && b[0] != '.' {
		return 0, false
	}
	hex := len(b) > 1 && b[1]|0x20 == 'x'
	for _, c := range b {
		switch low := c | 0x20; {
		case c >= '0' && c <= '9', c == '.', c == '+', c == '-', low == 'e':
		case hex && (low >= 'a' && low <= 'f' || low == 'x' || low == 'p'):
		default:
			return 0, false
		}
	}
	value, err := strconv.ParseFloat(view(b), bits)
	return value, err == nil || errors.Is(err, strconv.ErrRange)
}

// view returns the bytes as a string that lives as long as they do.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// ParseDecimal reads a DECIMAL(precision, scale) and rounds it half away from
// zero. It is as lenient, and as strict, as Flink: short texts for short
// decimals may have one letter behind the number, but no more digits, leading
// zeros included, than the type has. Where rounding made one digit more, the
// value does not fit the precision.
func ParseDecimal(b []byte, precision, scale int) (value types.Int128, ok bool) {
	if precision <= 18 && len(b) <= 18 {
		n, ok := parseShortDecimal(b, precision, scale)
		return types.Int128FromInt64(n), ok
	}
	return parseLongDecimal(b, precision, scale)
}

func parseShortDecimal(b []byte, precision, scale int) (value int64, ok bool) {
	for len(b) > 0 && isBlank(b[0]) {
		b = b[1:]
	}
	if len(b) == 0 {
		return 0, false
	}
	neg := b[0] == '-'
	if neg || b[0] == '+' {
		b = b[1:]
	}
	if len(b) == 0 {
		return 0, false
	}
	digits, point := 0, -1
	i := 0
	var last byte
	for i < len(b) {
		last = b[i]
		i++
		if last == '.' && point < 0 {
			point = digits
		} else if last >= '0' && last <= '9' {
			value = value*10 + int64(last-'0')
			digits++
		} else if last == '.' {
			return 0, false
		} else {
			break
		}
	}
	if point < 0 {
		point = digits
	}
	exp := point - digits
	if (last == 'e' || last == 'E') && i < len(b) {
		e, used, good := shortExponent(b[i:])
		if !good {
			return 0, false
		}
		exp += e
		i += used
	}
	for ; i < len(b); i++ {
		if !isBlank(b[i]) {
			return 0, false
		}
	}
	if digits+exp+scale > precision || exp+scale < -18 {
		return 0, false
	}
	if neg {
		value = -value
	}
	v, ok := types.Int128FromInt64(value).Rescale(0, exp+scale)
	return v.Int64(), ok
}

// shortExponent reads the digits behind e, and one character more.
func shortExponent(b []byte) (exp, used int, ok bool) {
	neg := b[0] == '-'
	if neg || b[0] == '+' {
		used = 1
		if len(b) == 1 {
			return 0, 0, false
		}
	}
	for used < len(b) {
		c := b[used]
		used++
		if c < '0' || c > '9' {
			break
		}
		if exp < 40 {
			exp = exp*10 + int(c-'0')
		}
	}
	if neg {
		exp = -exp
	}
	return exp, used, true
}

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' }

// parseLongDecimal reads what Java's BigDecimal reads.
func parseLongDecimal(b []byte, precision, scale int) (value types.Int128, ok bool) {
	for len(b) > 0 && isBlank(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isBlank(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	if v, frac, plain := parsePlain(b); plain {
		v, ok = v.Rescale(frac, scale)
		return v, ok && v.FitsPrecision(precision)
	}
	var d decimal
	if !d.scan(b) {
		return types.Int128{}, false
	}
	v, ok := d.at(scale)
	return v, ok && v.FitsPrecision(precision)
}

// parsePlain reads digits with a sign and a point, as most numbers are; frac is
// the number of digits behind the point.
func parsePlain(b []byte) (value types.Int128, frac int, ok bool) {
	var digits [types.MaxPrecision + 1]byte
	n := 0
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		digits[0] = b[0]
		n, b = 1, b[1:]
	}
	point := -1
	for i, c := range b {
		switch {
		case c == '.' && point < 0:
			point = i
		case c < '0' || c > '9' || n == len(digits):
			return value, 0, false
		default:
			digits[n] = c
			n++
		}
	}
	if point >= 0 {
		frac = len(b) - 1 - point
	}
	value, ok = types.ParseInt128(digits[:n])
	return value, frac, ok
}

// decimal is a number as it was written: digits without leading zeros, and the
// power of ten of the last one.
type decimal struct {
	neg    bool
	digits []byte
	exp    int
	buf    [64]byte
}

// scan reads [sign] digits [. digits] [e [sign] digits].
func (d *decimal) scan(b []byte) (ok bool) {
	d.digits = d.buf[:0]
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		d.neg = b[0] == '-'
		b = b[1:]
	}
	seen, point := false, false
	for len(b) > 0 && b[0]|0x20 != 'e' {
		if b[0] == '.' && !point {
			point = true
			b = b[1:]
			continue
		}
		c, size := digit(b)
		if size == 0 {
			return false
		}
		b = b[size:]
		seen = true
		if c != '0' || len(d.digits) > 0 {
			d.digits = append(d.digits, c)
		}
		if point {
			d.exp--
		}
	}
	if len(b) == 0 || !seen {
		return seen
	}
	e, err := strconv.ParseInt(view(b[1:]), 10, 32)
	d.exp += int(e)
	return err == nil
}

// digit returns the first digit of b, of any script, as ASCII, with its size.
func digit(b []byte) (c byte, size int) {
	if b[0] < utf8.RuneSelf {
		if b[0] >= '0' && b[0] <= '9' {
			return b[0], 1
		}
		return 0, 0
	}
	r, size := utf8.DecodeRune(b)
	if !unicode.IsDigit(r) {
		return 0, 0
	}
	zero := r
	for unicode.IsDigit(zero-1) && r-zero < 9 {
		zero--
	}
	return byte('0' + r - zero), size
}

// at returns the unscaled value at a scale, rounded half away from zero.
func (d *decimal) at(scale int) (value types.Int128, ok bool) {
	digits, shift := d.digits, d.exp+scale
	if len(digits) == 0 || len(digits)+shift < 0 {
		return value, true
	}
	if len(digits)+shift > types.MaxPrecision+1 {
		return value, false
	}
	up := false
	if shift < 0 {
		keep := len(digits) + shift
		digits, up = digits[:keep], digits[keep] >= '5'
	}
	if len(digits) > 0 {
		if value, ok = types.ParseInt128(digits); !ok {
			return value, false
		}
	}
	if shift > 0 {
		if value, ok = value.MulOK(types.Pow10(shift)); !ok {
			return value, false
		}
	}
	if up {
		value = value.Add(types.Int128{Lo: 1})
	}
	if d.neg {
		value = value.Neg()
	}
	return value, true
}
