package text

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"
)

// AppendDouble prints f as Java's Double.toString does, which is what Flink
// prints: 0.1, 1.0E10, NaN, -Infinity. Java 17, Flink's platform, does not
// always find the shortest digits (2e23 is 1.9999999999999998E23, 2^-44 has one
// digit too many); this function gives the digits that it gives.
func AppendDouble(buf []byte, f float64) []byte {
	return appendJava(buf, f, 64)
}

// AppendFloat prints f as Java's Float.toString does.
func AppendFloat(buf []byte, f float32) []byte {
	return appendJava(buf, float64(f), 32)
}

func appendJava(buf []byte, f float64, size int) []byte {
	switch {
	case f != f:
		return append(buf, "NaN"...)
	case math.IsInf(f, 1):
		return append(buf, "Infinity"...)
	case math.IsInf(f, -1):
		return append(buf, "-Infinity"...)
	}
	if math.Signbit(f) {
		buf = append(buf, '-')
		f = -f
	}
	if f == 0 {
		return append(buf, "0.0"...)
	}
	var tmp [32]byte
	digits, exp := javaDigits(tmp[:0], f, size)
	return appendDigits(buf, digits, exp)
}

// appendDigits prints 0.d1d2d3... * 10^exp in Java's form.
func appendDigits(buf, digits []byte, exp int) []byte {
	switch {
	case exp > 0 && exp < 8:
		for i := range exp {
			if i < len(digits) {
				buf = append(buf, digits[i])
			} else {
				buf = append(buf, '0')
			}
		}
		buf = append(buf, '.')
		if len(digits) <= exp {
			return append(buf, '0')
		}
		return append(buf, digits[exp:]...)
	case exp <= 0 && exp > -3:
		buf = append(buf, "0."...)
		for range -exp {
			buf = append(buf, '0')
		}
		return append(buf, digits...)
	}
	buf = append(buf, digits[0], '.')
	if len(digits) > 1 {
		buf = append(buf, digits[1:]...)
	} else {
		buf = append(buf, '0')
	}
	buf = append(buf, 'E')
	return strconv.AppendInt(buf, int64(exp-1), 10)
}

// javaDigits returns the significant digits of f > 0, and the exponent that
// makes it 0.digits * 10^exp.
func javaDigits(buf []byte, f float64, size int) (digits []byte, exp int) {
	mant, e, precision := decompose(f, size)
	// f = mant * 2^e, mant odd.
	if e >= 0 && bits.Len64(mant)+e <= 63 {
		return integerDigits(buf, mant<<uint(e), bits.Len64(mant)+e-precision-2)
	}
	buf = strconv.AppendFloat(buf, f, 'e', -1, size)
	digits, exp = shortest(buf)
	// Java's digits are the shortest ones, except that it takes a power of two
	// for closer to its neighbours than it is, asks for two digits before an
	// exponent, and takes no number that lies on the border to the next float.
	small, large := 1e-3, 1e7
	if mant != 1 && f < 1<<63 && (len(digits) > 1 || f >= small && f < large) {
		return digits, exp
	}
	return steele(mant, e, precision)
}

// decompose returns f > 0 as mant * 2^e with an odd mant, and the number of bits
// that floats of its size have there.
func decompose(f float64, size int) (mant uint64, e, precision int) {
	b := math.Float64bits(f)
	mant, e = b&(1<<52-1), int(b>>52)-1075
	if e == -1075 {
		e++
	} else {
		mant |= 1 << 52
	}
	precision = bits.Len64(mant)
	if size == 32 {
		precision = 24
		if f < 0x1p-126 { // subnormal
			precision = bits.Len32(math.Float32bits(float32(f)))
		}
	}
	tz := bits.TrailingZeros64(mant)
	return mant >> tz, e + tz, precision
}

// shortest turns d.ddde+xx into digits and an exponent.
func shortest(buf []byte) (digits []byte, exp int) {
	i := len(buf) - 1
	for buf[i] != 'e' {
		i--
	}
	exp, _ = strconv.Atoi(string(buf[i+1:]))
	digits = buf[:1]
	if i > 1 {
		digits = append(digits, buf[2:i]...)
	}
	return digits, exp + 1
}

// integerDigits prints an integer; surplus is the number of bits that it has
// beyond those of the float, whose decimal digits say nothing and are rounded
// away.
func integerDigits(buf []byte, n uint64, surplus int) (digits []byte, exp int) {
	drop := 0
	if surplus > 1 {
		drop = int(float64(surplus) * 0.30103)
	}
	if drop > 0 {
		p := uint64(1)
		for range drop {
			p *= 10
		}
		n = (n + p/2) / p
	}
	buf = strconv.AppendUint(buf, n, 10)
	exp = len(buf) + drop
	for len(buf) > 1 && buf[len(buf)-1] == '0' {
		buf = buf[:len(buf)-1]
	}
	return buf, exp
}

// steele makes digits of mant * 2^e, one after the other, until what is left is
// less than half of the distance to the next float. It works on whole numbers
// with f = b / s * 10^exp, where m is half of that distance in the scale of b.
//
// The exponent of ten is estimated first. The estimate may be one too high, and
// whether it is decides in Java how many digits there are at the least. Whether
// the numbers fit in an int or a long matters as well: Java lets them wrap there,
// which now and then rounds the last digit the wrong way.
func steele(mant uint64, e, precision int) (digits []byte, exp int) {
	mantBits := bits.Len64(mant)
	binExp := mantBits + e - 1
	frac := math.Float64frombits(math.Float64bits(float64(mant))&(1<<52-1) | 1023<<52)
	est := float64(float64(frac-1.5)*0.289529654) + 0.176091259
	exp = int(math.Floor(est + float64(float64(binExp)*0.301029995663981)))

	// Powers of five and of two in b, s and m.
	b5, s5 := max(0, -exp), max(0, exp)
	b2, s2 := b5+max(0, e), s5+max(0, -e)
	m2 := b5 + max(0, -e) + binExp - precision
	common := min(b2, s2)
	b2, s2, m2 = b2-common, s2-common, m2-common
	if mant == 1 {
		m2--
	}
	if m2 < 0 {
		b2, s2, m2 = b2-m2, s2-m2, 0
	}
	size := max(mantBits+b2+bitsOfPow5(b5), s2+1+bitsOfPow5(s5+1))
	g := generator{digits: make([]byte, 0, 24), exp: exp}
	switch {
	case size < 32:
		generate(&g, int32(mant*pow5(b5))<<b2, int32(pow5(s5))<<s2, int32(pow5(b5))<<m2)
	case size < 64:
		generate(&g, int64(mant*pow5(b5))<<b2, int64(pow5(s5))<<s2, int64(pow5(b5))<<m2)
	default:
		generateBig(&g, bigProduct(mant, b5, b2), bigProduct(1, s5, s2), bigProduct(1, b5, m2))
	}
	return g.digits, g.exp + 1
}

// bitsOfPow5 bounds the number of bits of 5^n, the way that Java does.
func bitsOfPow5(n int) int {
	switch {
	case n == 0:
		return 0
	case n < 27:
		return bits.Len64(pow5(n))
	}
	return n * 3
}

func pow5(n int) uint64 {
	p := uint64(1)
	for range n {
		p *= 5
	}
	return p
}

func bigProduct(mant uint64, n5, n2 int) *big.Int {
	p := new(big.Int).Exp(big.NewInt(5), big.NewInt(int64(n5)), nil)
	p.Mul(p, new(big.Int).SetUint64(mant))
	return p.Lsh(p, uint(n2))
}

// generator collects digits.
type generator struct {
	digits []byte
	exp    int
	begun  bool
}

// add takes the next digit, and returns whether generation may end with it:
// a number that is printed with an exponent has two digits at the least, unless
// its first one was a zero that does not count.
func (g *generator) add(digit byte, high bool) bool {
	first := !g.begun
	g.begun = true
	if first && digit == 0 && !high {
		g.exp--
	} else {
		g.digits = append(g.digits, '0'+digit)
	}
	return !first || g.exp >= -3 && g.exp < 8
}

// end rounds the last digit: up if only the next number above is near enough,
// and to the nearer one, an even digit in a tie, if both are.
func (g *generator) end(low, high bool, toMiddle int) {
	last := len(g.digits) - 1
	if !high || low && (toMiddle < 0 || toMiddle == 0 && g.digits[last]&1 == 0) {
		return
	}
	for last >= 0 && g.digits[last] == '9' {
		g.digits[last] = '0'
		last--
	}
	if last < 0 {
		g.digits[0] = '1'
		g.exp++
		return
	}
	g.digits[last]++
}

// generate makes the digits where the numbers are small.
func generate[T int32 | int64](g *generator, b, s, m T) {
	tens := s * 10
	for {
		digit := byte(b / s)
		b = b % s * 10
		m *= 10
		low, high := true, true
		if m > 0 {
			low, high = b < m, b+m > tens
		}
		if g.add(digit, high) && (low || high) {
			g.end(low, high, int(b<<1-tens))
			return
		}
	}
}

func generateBig(g *generator, b, s, m *big.Int) {
	var q, t big.Int
	ten := big.NewInt(10)
	for {
		q.QuoRem(b, s, b)
		low, high := b.Cmp(m) < 0, t.Add(b, m).Cmp(s) > 0
		if g.add(byte(q.Uint64()), high) && (low || high) {
			g.end(low, high, t.Lsh(b, 1).Cmp(s))
			return
		}
		b.Mul(b, ten)
		m.Mul(m, ten)
	}
}
