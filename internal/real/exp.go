package real

import "math"

// logs holds the logarithms of i/128 and the reciprocals of these numbers, from
// 90/128 on; exps holds the powers of two to i/64.
var (
	logs = logTable()
	exps = expTable()
)

const firstLog, lastLog = 90, 182

type logEntry struct {
	reciprocal float64
	log        dd
}

// logTable adds up the logarithms of (i+1)/i, to both sides of 1, where the
// logarithm is 0.
func logTable() (t [lastLog - firstLog + 1]logEntry) {
	step := func(i int) dd { return atanh(dd{1, 0}.div(dd{float64(2*i + 1), 0})).scale(2) }
	exact := [len(t)]dd{}
	for i := 128; i < lastLog; i++ {
		exact[i+1-firstLog] = exact[i-firstLog].add(step(i))
	}
	for i := 127; i >= firstLog; i-- {
		exact[i-firstLog] = exact[i+1-firstLog].sub(step(i))
	}
	for i := range t {
		// The reciprocal is rounded, which the logarithm has to make up for.
		c := dd{float64(i+firstLog) / 128, 0}
		r := 1 / c.hi
		off := c.mul(dd{r, 0}).sub(dd{1, 0})
		t[i] = logEntry{r, exact[i].sub(off)}
	}
	return t
}

// atanh of a small number.
func atanh(x dd) dd {
	x2, term, total := x.mul(x), x, x
	for k := 3.0; math.Abs(term.hi) > math.Abs(x.hi)*0x1p-108; k += 2 {
		term = term.mul(x2)
		total = total.add(term.div(dd{k, 0}))
	}
	return total
}

func expTable() (t [64]dd) {
	for i := range t {
		x := ln2.mul(dd{float64(i) / 64, 0})
		term, total := dd{1, 0}, dd{1, 0}
		for k := 1.0; term.hi > 0x1p-110; k++ {
			term = term.mul(x).div(dd{k, 0})
			total = total.add(term)
		}
		t[i] = total
	}
	return t
}

// logOf returns the natural logarithm of a positive, finite number.
func logOf(x float64) dd {
	frac, exp := math.Frexp(x)
	if frac < math.Sqrt2/2 {
		frac, exp = 2*frac, exp-1
	}
	e := &logs[int(frac*128+0.5)-firstLog]
	// frac = (1+z) / reciprocal, and log(1+z) = 2 atanh(z / (2+z)).
	p := prod(frac, e.reciprocal)
	z := norm(p.hi-1, p.lo)
	s := z.div(norm(2, z.hi).add(dd{z.lo, 0}))
	s2 := s.hi * s.hi
	tail := s.hi * s2 * (1.0/3 + s2*(1.0/5+s2*(1.0/7+s2/9)))
	out := e.log.add(norm(2*s.hi, 2*(s.lo+tail)))
	if exp == 0 {
		return out
	}
	n := float64(exp)
	return prod(n, ln2.hi).add(dd{n * ln2.lo, 0}).add(out)
}

// expOf returns e to the power of x as a number near 1 and a power of two.
func expOf(x dd) (dd, int) {
	k := math.RoundToEven(x.hi * (64 / math.Ln2))
	a := prod(k, ln2.hi/64)
	r := sum(x.hi-a.hi, x.lo-a.lo-k*(ln2.lo/64))
	square := prod(r.hi, r.hi)
	h := r.hi
	tail := h * square.hi * (1.0/6 + h*(1.0/24+h*(1.0/120+h/720)))
	p := r.add(dd{square.hi / 2, square.lo/2 + h*r.lo + tail})
	t := exps[int(k)&63]
	return t.add(t.mul(p)), int(k) >> 6
}

// Log returns the natural logarithm.
func Log(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) {
		return math.Log(x)
	}
	return logOf(x).value()
}

// Log10 returns the logarithm to base 10.
func Log10(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) {
		return math.Log(x)
	}
	return logOf(x).mul(perLn10).value()
}

// expLimit is beyond what the logarithms of DOUBLEs are.
const expLimit = 750

// Exp returns e to the power of x.
func Exp(x float64) float64 {
	if !(math.Abs(x) < expLimit) {
		return math.Exp(x)
	}
	m, e := expOf(dd{x, 0})
	return math.Ldexp(m.value(), e)
}

// Pow returns x to the power of y. As in Java, it is NaN where y is, and where
// |x| is 1 and y infinite.
func Pow(x, y float64) float64 {
	switch ax := math.Abs(x); {
	case y != y || ax == 1 && math.IsInf(y, 0):
		return math.NaN()
	case x == 0 || y == 0 || y == 1 || ax == 1 || math.IsInf(x, 0) || math.IsInf(y, 0) || x != x,
		x < 0 && y != math.Trunc(y):
		return math.Pow(x, y)
	}
	l := logOf(math.Abs(x)).mul(dd{y, 0})
	if !(math.Abs(l.hi) < expLimit) {
		return math.Pow(x, y) // too large, or too small
	}
	m, e := expOf(l)
	out := math.Ldexp(m.value(), e)
	if x < 0 && math.Mod(y, 2) != 0 {
		return -out
	}
	return out
}

// less1 returns e to the power of x, less 1.
func less1(x float64) float64 {
	m, e := expOf(dd{x, 0})
	return dd{math.Ldexp(m.hi, e), math.Ldexp(m.lo, e)}.sub(dd{1, 0}).value()
}

// The hyperbolic functions are made of exponential functions that are rounded to
// a DOUBLE, by the formulas that Java's library has, so that the last digit is
// that of Flink.

// hyperbolicLimit is where e to the power of -x no longer counts.
const hyperbolicLimit = 22

// Sinh returns the hyperbolic sine.
func Sinh(x float64) float64 {
	a := math.Abs(x)
	if !(a < hyperbolicLimit) || a < 0x1p-28 {
		return math.Sinh(x)
	}
	t := less1(a)
	if a < 1 {
		t = float64(2*t) - float64(t*t)/(t+1)
	} else {
		t += t / (t + 1)
	}
	return math.Copysign(t/2, x)
}

// Cosh returns the hyperbolic cosine.
func Cosh(x float64) float64 {
	a := math.Abs(x)
	switch {
	case !(a < hyperbolicLimit):
		return math.Cosh(x)
	case a < math.Ln2/2:
		t := less1(a)
		return 1 + float64(t*t)/(2*(1+t))
	}
	t := Exp(a)
	return t/2 + 0.5/t
}

// Tanh returns the hyperbolic tangent.
func Tanh(x float64) float64 {
	a := math.Abs(x)
	switch {
	case !(a < hyperbolicLimit) || a < 0x1p-55:
		return math.Tanh(x)
	case a >= 1:
		return math.Copysign(1-2/(less1(2*a)+2), x)
	}
	t := less1(-2 * a)
	return math.Copysign(-t/(t+2), x)
}
