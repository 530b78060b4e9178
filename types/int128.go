package types

import (
	"math"
	"math/bits"
	"strconv"
)

// Int128FromInt64 returns x.
func Int128FromInt64(x int64) Int128 { return Int128{Hi: x >> 63, Lo: uint64(x)} }

// IsInt64 reports whether a fits in an int64.
func (a Int128) IsInt64() bool { return a.Hi == int64(a.Lo)>>63 }

// Int64 returns the low 64 bits of a, which are a itself if IsInt64.
func (a Int128) Int64() int64 { return int64(a.Lo) }

// Sign returns -1, 0 or 1.
func (a Int128) Sign() int {
	switch {
	case a.Hi < 0:
		return -1
	case a.Hi == 0 && a.Lo == 0:
		return 0
	}
	return 1
}

// Compare orders two numbers.
func (a Int128) Compare(b Int128) int {
	switch {
	case a.Less(b):
		return -1
	case a == b:
		return 0
	}
	return 1
}

// Less reports whether a < b.
func (a Int128) Less(b Int128) bool { return a.Hi < b.Hi || a.Hi == b.Hi && a.Lo < b.Lo }

// Neg returns -a; the smallest number is its own negative.
func (a Int128) Neg() Int128 {
	lo, borrow := bits.Sub64(0, a.Lo, 0)
	return Int128{Hi: -a.Hi - int64(borrow), Lo: lo}
}

// Add returns a+b, wrapped around.
func (a Int128) Add(b Int128) Int128 {
	lo, carry := bits.Add64(a.Lo, b.Lo, 0)
	return Int128{Hi: a.Hi + b.Hi + int64(carry), Lo: lo}
}

// Sub returns a-b, wrapped around.
func (a Int128) Sub(b Int128) Int128 {
	lo, borrow := bits.Sub64(a.Lo, b.Lo, 0)
	return Int128{Hi: a.Hi - b.Hi - int64(borrow), Lo: lo}
}

// AddOK returns a+b, and whether it fits.
func (a Int128) AddOK(b Int128) (sum Int128, ok bool) {
	sum = a.Add(b)
	return sum, (a.Hi^sum.Hi)&(b.Hi^sum.Hi) >= 0
}

// SubOK returns a-b, and whether it fits.
func (a Int128) SubOK(b Int128) (diff Int128, ok bool) {
	diff = a.Sub(b)
	return diff, (a.Hi^b.Hi)&(a.Hi^diff.Hi) >= 0
}

// MulOK returns a*b, and whether it fits.
func (a Int128) MulOK(b Int128) (Int128, bool) {
	if a.IsInt64() && b.IsInt64() {
		return MulInt64(int64(a.Lo), int64(b.Lo)), true
	}
	neg := a.Hi^b.Hi < 0
	x, y := a.abs(), b.abs()
	if x.hi != 0 && y.hi != 0 {
		return Int128{}, false
	}
	h1, l1 := bits.Mul64(x.hi, y.lo)
	h2, l2 := bits.Mul64(x.lo, y.hi)
	hi, lo := bits.Mul64(x.lo, y.lo)
	hi, c1 := bits.Add64(hi, l1, 0)
	hi, c2 := bits.Add64(hi, l2, 0)
	if h1|h2|c1|c2 != 0 {
		return Int128{}, false
	}
	return uint128{hi, lo}.signed(neg)
}

// Mul returns a*b, wrapped around.
func (a Int128) Mul(b Int128) Int128 {
	hi, lo := bits.Mul64(a.Lo, b.Lo)
	return Int128{Hi: int64(hi) + a.Hi*int64(b.Lo) + int64(a.Lo)*b.Hi, Lo: lo}
}

// MulInt64 returns a*b.
func MulInt64(a, b int64) Int128 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return Int128{Hi: int64(hi) - a>>63&b - b>>63&a, Lo: lo}
}

// QuoRem returns the quotient, truncated toward zero, and the remainder, which
// has the sign of a. b must not be 0.
func (a Int128) QuoRem(b Int128) (quo, rem Int128) {
	if a.IsInt64() && b.IsInt64() && a.Int64() != math.MinInt64 {
		x, y := a.Int64(), b.Int64()
		return Int128FromInt64(x / y), Int128FromInt64(x % y)
	}
	q, r := a.abs().quoRem(b.abs())
	quo, rem = Int128{int64(q.hi), q.lo}, Int128{int64(r.hi), r.lo}
	if a.Hi^b.Hi < 0 {
		quo = quo.Neg()
	}
	if a.Hi < 0 {
		rem = rem.Neg()
	}
	return quo, rem
}

// QuoRound returns a/b rounded half away from zero (Java's HALF_UP). b must not
// be 0.
func (a Int128) QuoRound(b Int128) Int128 {
	q, r := a.abs().quoRem(b.abs())
	if r.atLeastHalf(b.abs()) {
		q = q.inc()
	}
	out := Int128{int64(q.hi), q.lo}
	if a.Hi^b.Hi < 0 {
		return out.Neg()
	}
	return out
}

// MulQuoRound returns a*b/c, computed exactly and rounded half away from zero,
// and whether it fits. c must not be 0.
func MulQuoRound(a, b, c Int128) (Int128, bool) {
	neg := (a.Hi^b.Hi)^c.Hi < 0
	p := mulWide(a.abs(), b.abs())
	q, r, ok := p.quoRem(c.abs())
	if !ok {
		return Int128{}, false
	}
	if r.atLeastHalf(c.abs()) {
		if q = q.inc(); q == (uint128{}) {
			return Int128{}, false
		}
	}
	return q.signed(neg)
}

// pow10 holds the powers of ten that fit.
var pow10 = func() (p [MaxPrecision + 1]Int128) {
	p[0] = Int128{Lo: 1}
	for i := 1; i < len(p); i++ {
		p[i], _ = p[i-1].MulOK(Int128{Lo: 10})
	}
	return p
}()

// Pow10 returns 10 to the power of n, which is 0 to 38.
func Pow10(n int) Int128 { return pow10[n] }

// FitsPrecision reports whether a has at the most p decimal digits.
func (a Int128) FitsPrecision(p int) bool {
	if p > MaxPrecision {
		return true
	}
	limit := pow10[p]
	return a.Less(limit) && limit.Neg().Less(a)
}

// Digits returns the number of decimal digits of a; 0 has one.
func (a Int128) Digits() int {
	for p := 1; p <= MaxPrecision; p++ {
		if a.FitsPrecision(p) {
			return p
		}
	}
	return MaxPrecision + 1
}

// Rescale returns the unscaled value of the decimal a * 10^-from at the scale
// to, rounded half away from zero, and whether it fits in 128 bits.
func (a Int128) Rescale(from, to int) (Int128, bool) {
	switch d := to - from; {
	case d == 0:
		return a, true
	case d > MaxPrecision:
		return a, a.Sign() == 0
	case d > 0:
		return a.MulOK(pow10[d])
	case -d > MaxPrecision:
		return Int128{}, true
	default:
		return a.QuoRound(pow10[-d]), true
	}
}

// Float64 returns the double nearest to a * 10^-scale.
func (a Int128) Float64(scale int) float64 {
	if x := a.Int64(); a.IsInt64() && x > -1<<53 && x < 1<<53 && scale >= 0 && scale < len(float64Pow10) {
		return float64(x) / float64Pow10[scale]
	}
	f, _ := strconv.ParseFloat(a.exponential(scale), 64)
	return f
}

// Float32 returns the float nearest to a * 10^-scale.
func (a Int128) Float32(scale int) float32 {
	f, _ := strconv.ParseFloat(a.exponential(scale), 32)
	return float32(f)
}

// float64Pow10 holds the powers of ten that a double represents exactly.
var float64Pow10 = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
	1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

func (a Int128) exponential(scale int) string {
	buf := a.Append(make([]byte, 0, 48))
	buf = append(buf, 'e')
	return string(strconv.AppendInt(buf, int64(-scale), 10))
}

// Append appends the decimal digits of a.
func (a Int128) Append(buf []byte) []byte {
	if a.IsInt64() {
		return strconv.AppendInt(buf, a.Int64(), 10)
	}
	var tmp [40]byte
	i, u := len(tmp), a.abs()
	for {
		var r uint64
		u, r = u.quoRem64(1e19)
		at := i
		for r > 0 || i == at {
			i--
			tmp[i] = byte('0' + r%10)
			r /= 10
		}
		if u == (uint128{}) {
			break
		}
		for ; i > at-19; i-- {
			tmp[i-1] = '0'
		}
	}
	if a.Hi < 0 {
		buf = append(buf, '-')
	}
	return append(buf, tmp[i:]...)
}

// AppendDecimal appends a * 10^-scale without an exponent: 12.30, -0.05.
func (a Int128) AppendDecimal(buf []byte, scale int) []byte {
	if scale <= 0 {
		return a.Append(buf)
	}
	if a.Hi < 0 {
		buf = append(buf, '-')
		a = a.Neg()
	}
	var tmp [48]byte
	digits := a.Append(tmp[:0])
	if len(digits) > scale {
		buf = append(buf, digits[:len(digits)-scale]...)
		buf = append(buf, '.')
		return append(buf, digits[len(digits)-scale:]...)
	}
	buf = append(buf, '0', '.')
	for range scale - len(digits) {
		buf = append(buf, '0')
	}
	return append(buf, digits...)
}

// String returns the decimal digits of a.
func (a Int128) String() string { return string(a.Append(nil)) }

// ParseInt128 reads digits with or without a sign before them.
func ParseInt128(s []byte) (Int128, bool) {
	neg := false
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		neg = s[0] == '-'
		s = s[1:]
	}
	if len(s) == 0 {
		return Int128{}, false
	}
	var u uint128
	for _, c := range s {
		if c < '0' || c > '9' || u.hi > 1<<63/10 {
			return Int128{}, false
		}
		hi, lo := bits.Mul64(u.lo, 10)
		lo, carry := bits.Add64(lo, uint64(c-'0'), 0)
		u = uint128{u.hi*10 + hi + carry, lo}
	}
	return u.signed(neg)
}

// uint128 is the magnitude of an Int128.
type uint128 struct{ hi, lo uint64 }

func (a Int128) abs() uint128 {
	if a.Hi < 0 {
		a = a.Neg()
	}
	return uint128{uint64(a.Hi), a.Lo}
}

// signed returns u or -u, and whether it fits.
func (u uint128) signed(neg bool) (Int128, bool) {
	out := Int128{int64(u.hi), u.lo}
	if neg {
		out = out.Neg()
		return out, out.Hi < 0 || u == uint128{}
	}
	return out, out.Hi >= 0
}

func (u uint128) inc() uint128 {
	lo, carry := bits.Add64(u.lo, 1, 0)
	return uint128{u.hi + carry, lo}
}

func (u uint128) less(v uint128) bool { return u.hi < v.hi || u.hi == v.hi && u.lo < v.lo }

func (u uint128) sub(v uint128) uint128 {
	lo, borrow := bits.Sub64(u.lo, v.lo, 0)
	return uint128{u.hi - v.hi - borrow, lo}
}

// atLeastHalf reports whether the remainder u is half of v or more.
func (u uint128) atLeastHalf(v uint128) bool { return !u.less(v.sub(u)) }

func (u uint128) quoRem64(v uint64) (q uint128, r uint64) {
	q.hi, r = u.hi/v, u.hi%v
	q.lo, r = bits.Div64(r, u.lo, v)
	return q, r
}

func (u uint128) quoRem(v uint128) (q, r uint128) {
	if v.hi == 0 {
		q, rem := u.quoRem64(v.lo)
		return q, uint128{0, rem}
	}
	// v has more than 64 bits, so the quotient has fewer. Estimate it from the
	// leading bits; the estimate is one too large at the most.
	n := uint(bits.LeadingZeros64(v.hi))
	top := v.shl(n).hi
	half := u.shr(1)
	est, _ := bits.Div64(half.hi, half.lo, top)
	est >>= 63 - n
	if est > 0 {
		est--
	}
	hi, lo := bits.Mul64(est, v.lo)
	r = u.sub(uint128{hi + est*v.hi, lo})
	if !r.less(v) {
		est++
		r = r.sub(v)
	}
	return uint128{0, est}, r
}

func (u uint128) shl(n uint) uint128 {
	return uint128{u.hi<<n | u.lo>>(64-n), u.lo << n}
}

func (u uint128) shr(n uint) uint128 {
	return uint128{u.hi >> n, u.lo>>n | u.hi<<(64-n)}
}

// uint256 is the product of two magnitudes.
type uint256 struct{ hi, lo uint128 }

func mulWide(a, b uint128) uint256 {
	h0, l0 := bits.Mul64(a.lo, b.lo)
	h1, l1 := bits.Mul64(a.lo, b.hi)
	h2, l2 := bits.Mul64(a.hi, b.lo)
	h3, l3 := bits.Mul64(a.hi, b.hi)
	w1, c1 := bits.Add64(h0, l1, 0)
	w2, c2 := bits.Add64(h1, h2, c1)
	w3 := h3 + c2
	w1, c1 = bits.Add64(w1, l2, 0)
	w2, c2 = bits.Add64(w2, l3, c1)
	return uint256{uint128{w3 + c2, w2}, uint128{w1, l0}}
}

// quoRem divides; ok is false if the quotient has more than 128 bits.
func (u uint256) quoRem(v uint128) (q, r uint128, ok bool) {
	if u.hi == (uint128{}) {
		q, r = u.lo.quoRem(v)
		return q, r, true
	}
	if !u.hi.less(v) {
		return q, r, false
	}
	if v.hi == 0 {
		var rem uint64
		q.hi, rem = bits.Div64(u.hi.lo, u.lo.hi, v.lo)
		q.lo, rem = bits.Div64(rem, u.lo.lo, v.lo)
		return q, uint128{0, rem}, true
	}
	// Schoolbook division by a two-word divisor whose top bit is set.
	n := uint(bits.LeadingZeros64(v.hi))
	v = v.shl(n)
	hi, lo := u.hi.shl(n), u.lo.shl(n)
	hi.lo |= u.lo.hi >> (64 - n)
	q.hi, hi = div3by2(hi, lo.hi, v)
	q.lo, hi = div3by2(hi, lo.lo, v)
	return q, hi.shr(n), true
}

// div3by2 divides the three words hi, lo by v, whose top bit is set and which is
// above hi.
func div3by2(hi uint128, lo uint64, v uint128) (q uint64, r uint128) {
	q, rem, over := ^uint64(0), uint64(0), uint64(0)
	if hi.hi < v.hi {
		q, rem = bits.Div64(hi.hi, hi.lo, v.hi)
	} else { // hi.hi == v.hi: the largest digit, remainder hi.lo + v.hi
		rem, over = bits.Add64(hi.lo, v.hi, 0)
	}
	ph, pl := bits.Mul64(q, v.lo)
	for over == 0 && (ph > rem || ph == rem && pl > lo) {
		q--
		var c uint64
		rem, c = bits.Add64(rem, v.hi, 0)
		over += c
		var b uint64
		pl, b = bits.Sub64(pl, v.lo, 0)
		ph -= b
	}
	rl, b := bits.Sub64(lo, pl, 0)
	rh, _ := bits.Sub64(rem, ph, b)
	return q, uint128{rh, rl}
}
