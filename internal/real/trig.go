package real

import "math"

// steps is the distance of the entries of the tables below: 1/steps.
const steps = 64

// sines holds sine and cosine of i/64 up to a quarter of pi, atans the arc
// tangents of i/64 up to 1.
var (
	sines = sineTable()
	atans = atanTable()
)

type sineEntry struct{ sin, cos dd }

func sineTable() (t [52]sineEntry) {
	for i := range t {
		x := dd{float64(i) / steps, 0}
		x2 := x.mul(x).neg()
		term := dd{1, 0}
		for k := 1.0; math.Abs(term.hi) > 0x1p-110; k += 2 {
			t[i].cos = t[i].cos.add(term)
			odd := term.mul(x).div(dd{k, 0})
			t[i].sin = t[i].sin.add(odd)
			term = term.mul(x2).div(dd{k * (k + 1), 0})
		}
	}
	return t
}

// atanTable adds up the arc tangents of the steps, of which each is that of a
// small number.
func atanTable() (t [steps + 1]dd) {
	for i := 1; i < len(t); i++ {
		x := dd{steps, 0}.div(dd{float64(steps*steps + i*(i-1)), 0})
		x2, term, total := x.mul(x).neg(), x, x
		for k := 3.0; math.Abs(term.hi) > 0x1p-110; k += 2 {
			term = term.mul(x2)
			total = total.add(term.div(dd{k, 0}))
		}
		t[i] = t[i-1].add(total)
	}
	return t
}

// angleLimit is the largest angle that can be reduced here.
const angleLimit = 1e6

// reduce returns what is left of an angle when quarters of a turn are taken
// away, and the number of these.
func reduce(x float64) (rest dd, quarters int) {
	n := math.RoundToEven(x * (2 / math.Pi))
	a, b := prod(n, halfPi.hi), prod(n, halfPi.lo)
	return sum(x-a.hi, -a.lo).sub(b).sub(dd{n * halfPiEnd, 0}), int(n)
}

// sinCos returns sine and cosine of an angle of a quarter of pi at the most.
func sinCos(x dd) (sin, cos dd) {
	if x.hi < 0 {
		sin, cos = sinCos(x.neg())
		return sin.neg(), cos
	}
	i := math.RoundToEven(x.hi * steps)
	b := norm(x.hi-i/steps, x.lo)
	t := &sines[int(i)]
	square := prod(b.hi, b.hi)
	b2 := square.hi
	s := norm(b.hi, b.lo-b.hi*b2/6*(1-b2/20*(1-b2/42)))
	c := dd{-b2 / 2, -square.lo/2 - b.hi*b.lo + b2*b2/24*(1-b2/30)} // cos(b) - 1
	return t.sin.add(t.sin.mul(c).add(t.cos.mul(s))), t.cos.add(t.cos.mul(c).sub(t.sin.mul(s)))
}

// turned returns sine and cosine of any angle.
func turned(x float64) (sin, cos dd) {
	rest, quarters := reduce(x)
	s, c := sinCos(rest)
	switch quarters & 3 {
	case 1:
		return c, s.neg()
	case 2:
		return s.neg(), c.neg()
	case 3:
		return c.neg(), s
	}
	return s, c
}

// Sin returns the sine.
func Sin(x float64) float64 {
	if !(math.Abs(x) < angleLimit) || x == 0 {
		return math.Sin(x)
	}
	s, _ := turned(x)
	return s.value()
}

// Cos returns the cosine.
func Cos(x float64) float64 {
	if !(math.Abs(x) < angleLimit) {
		return math.Cos(x)
	}
	_, c := turned(x)
	return c.value()
}

// Tan returns the tangent.
func Tan(x float64) float64 {
	if !(math.Abs(x) < angleLimit) || x == 0 {
		return math.Tan(x)
	}
	s, c := turned(x)
	return s.div(c).value()
}

// atanOf returns the arc tangent of y/x, both of them positive or zero, but not
// both zero.
func atanOf(y, x dd) dd {
	if y.hi > x.hi {
		return halfPi.sub(atanOf(x, y))
	}
	t := y.div(x)
	i := math.RoundToEven(t.hi * steps)
	u := t
	if i > 0 {
		c := dd{i / steps, 0}
		u = t.sub(c).div(dd{1, 0}.add(t.mul(c)))
	}
	u2 := u.hi * u.hi
	tail := u.hi * u2 * (1.0/3 - u2*(1.0/5-u2*(1.0/7-u2/9)))
	return atans[int(i)].add(norm(u.hi, u.lo-tail))
}

// Atan returns the arc tangent.
func Atan(x float64) float64 {
	if !(math.Abs(x) < 1e300) || math.Abs(x) < 1e-300 {
		return math.Atan(x)
	}
	return math.Copysign(atanOf(dd{math.Abs(x), 0}, dd{1, 0}).value(), x)
}

// Atan2 returns the angle to a point: the arc tangent of the quotient, which is
// rounded to a DOUBLE as in Java's library.
func Atan2(y, x float64) float64 {
	q := math.Abs(y / x)
	if !(q < 1e18 && q > 1e-18) {
		return math.Atan2(y, x)
	}
	a := Atan(q)
	if x < 0 {
		a = pi.hi - (a - pi.lo)
	}
	return math.Copysign(a, y)
}

// Asin returns the arc sine; NaN beyond 1.
func Asin(x float64) float64 {
	if !(math.Abs(x) < 1) || math.Abs(x) < 1e-150 {
		return math.Asin(x)
	}
	return math.Copysign(atanOf(dd{math.Abs(x), 0}, other(x)).value(), x)
}

// Acos returns the arc cosine; NaN beyond 1.
func Acos(x float64) float64 {
	if !(math.Abs(x) < 1) || math.Abs(x) < 1e-150 {
		return math.Acos(x)
	}
	a := atanOf(other(x), dd{math.Abs(x), 0})
	if x < 0 {
		a = pi.sub(a)
	}
	return a.value()
}

// other returns the square root of 1 - x*x.
func other(x float64) dd { return sum(1, -x).mul(sum(1, x)).sqrt() }
