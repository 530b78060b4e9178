// Package real computes the elementary functions of DOUBLEs to some 70 bits, so
// that the result is nearly always the DOUBLE next to the exact one. Those of
// package math are off by one in the last digit more often, and the answers
// would not be Flink's.
package real

import "math"

// dd is a number of twice the precision: the sum of its parts, of which lo is
// less than half of the last bit of hi.
type dd struct{ hi, lo float64 }

// The products below are explicitly converted: that keeps a compiler from fusing
// them with the sum around them.

// sum returns a+b without an error.
func sum(a, b float64) dd {
	s := a + b
	t := s - a
	return dd{s, (a - (s - t)) + (b - t)}
}

// norm returns a+b without an error, where |a| >= |b|.
func norm(a, b float64) dd {
	s := a + b
	return dd{s, b - (s - a)}
}

// prod returns a*b without an error.
func prod(a, b float64) dd {
	p := float64(a * b)
	return dd{p, math.FMA(a, b, -p)}
}

func (x dd) add(y dd) dd {
	s := sum(x.hi, y.hi)
	return norm(s.hi, s.lo+x.lo+y.lo)
}

func (x dd) neg() dd { return dd{-x.hi, -x.lo} }

func (x dd) sub(y dd) dd { return x.add(y.neg()) }

func (x dd) mul(y dd) dd {
	p := prod(x.hi, y.hi)
	return norm(p.hi, p.lo+(float64(x.hi*y.lo)+float64(x.lo*y.hi)))
}

// scale returns x*f, f being a power of two.
func (x dd) scale(f float64) dd { return dd{x.hi * f, x.lo * f} }

func (x dd) div(y dd) dd {
	q := x.hi / y.hi
	r := x.sub(y.mul(dd{q, 0}))
	return norm(q, r.hi/y.hi)
}

func (x dd) sqrt() dd {
	s := math.Sqrt(x.hi)
	if s == 0 {
		return dd{}
	}
	r := x.sub(prod(s, s))
	return norm(s, r.hi/(2*s))
}

// value is the DOUBLE next to x.
func (x dd) value() float64 { return x.hi + x.lo }

// Constants to 106 bits and more.
var (
	ln2       = dd{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56}
	perLn10   = dd{0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57}
	halfPi    = dd{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54}
	pi        = halfPi.scale(2)
	halfPiEnd = -0x1.f1976b7ed8fbcp-110
)
