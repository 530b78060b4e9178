package real

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

const bits = 220

func exact(x float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(x) }

func op(f func(z, x, y *big.Float) *big.Float, x, y *big.Float) *big.Float {
	return f(new(big.Float).SetPrec(bits), x, y)
}

// bigExp adds up the series of x/1024 and squares the sum ten times.
func bigExp(x *big.Float) *big.Float {
	small := op((*big.Float).Quo, x, exact(1024))
	term, total := exact(1), exact(1)
	for k := 1; k < 60; k++ {
		term = op((*big.Float).Quo, op((*big.Float).Mul, term, small), exact(float64(k)))
		total = op((*big.Float).Add, total, term)
	}
	for range 10 {
		total = op((*big.Float).Mul, total, total)
	}
	return total
}

// bigLog improves an approximation: log x = y + (x/e^y - 1) - ...
func bigLog(x *big.Float) *big.Float {
	f, _ := x.Float64()
	y := exact(math.Log(f))
	for range 4 {
		q := op((*big.Float).Quo, x, bigExp(y))
		d := op((*big.Float).Sub, q, exact(1))
		half := op((*big.Float).Quo, op((*big.Float).Mul, d, d), exact(2))
		y = op((*big.Float).Add, y, op((*big.Float).Sub, d, half))
	}
	return y
}

// bigSin adds up the series, which is long enough for angles up to 30.
func bigSin(x *big.Float, odd bool) *big.Float {
	term, total, k := exact(1), exact(0), 1.0
	if odd {
		term, k = x, 2
	}
	minus := op((*big.Float).Sub, exact(0), op((*big.Float).Mul, x, x))
	for range 90 {
		total = op((*big.Float).Add, total, term)
		term = op((*big.Float).Quo, op((*big.Float).Mul, term, minus), exact(k*(k+1)))
		k += 2
	}
	return total
}

// bigAtan improves an approximation by the tangent of the difference.
func bigAtan(y, x *big.Float) *big.Float {
	fy, _ := y.Float64()
	fx, _ := x.Float64()
	a := exact(math.Atan2(fy, fx))
	for range 4 {
		s, c := bigSin(a, true), bigSin(a, false)
		num := op((*big.Float).Sub, op((*big.Float).Mul, y, c), op((*big.Float).Mul, x, s))
		den := op((*big.Float).Add, op((*big.Float).Mul, x, c), op((*big.Float).Mul, y, s))
		a = op((*big.Float).Add, a, op((*big.Float).Quo, num, den))
	}
	return a
}

func bigRoot(x *big.Float) *big.Float { return new(big.Float).SetPrec(bits).Sqrt(x) }

// legs returns x and the square root of 1 - x*x.
func legs(x *big.Float) (a, b *big.Float) {
	return x, bigRoot(op((*big.Float).Sub, exact(1), op((*big.Float).Mul, x, x)))
}

func half(x *big.Float, sign func(z, x, y *big.Float) *big.Float) *big.Float {
	up, down := bigExp(x), bigExp(op((*big.Float).Sub, exact(0), x))
	return op((*big.Float).Quo, op(sign, up, down), exact(2))
}

// TestNearest compares with exact arithmetic: each result is the nearest
// DOUBLE. Those that follow Java's formulas may be off by some units in the last
// place.
func TestNearest(t *testing.T) {
	functions := []struct {
		name  string
		f     func(float64) float64
		exact func(*big.Float) *big.Float
		limit float64
		least float64
		off   float64
	}{
		{"Exp", Exp, bigExp, 30, -30, 0}, {"Log", Log, bigLog, 1000, 0, 0}, {"Log near 1", Log, bigLog, 1.01, 0.99, 0},
		{"Log10", Log10, func(x *big.Float) *big.Float { return op((*big.Float).Quo, bigLog(x), bigLog(exact(10))) }, 1000, 0, 0},
		{"Sin", Sin, func(x *big.Float) *big.Float { return bigSin(x, true) }, 25, -25, 0},
		{"Cos", Cos, func(x *big.Float) *big.Float { return bigSin(x, false) }, 25, -25, 0},
		{"Tan", Tan, func(x *big.Float) *big.Float { return op((*big.Float).Quo, bigSin(x, true), bigSin(x, false)) }, 25, -25, 0},
		{"Atan", Atan, func(x *big.Float) *big.Float { return bigAtan(x, exact(1)) }, 5, -5, 0},
		{"Asin", Asin, func(x *big.Float) *big.Float { a, b := legs(x); return bigAtan(a, b) }, 1, -1, 0},
		{"Acos", Acos, func(x *big.Float) *big.Float { a, b := legs(x); return bigAtan(b, a) }, 1, -1, 0},
		{"Sinh", Sinh, func(x *big.Float) *big.Float { return half(x, (*big.Float).Sub) }, 10, -10, 2},
		{"Sinh near 0", Sinh, func(x *big.Float) *big.Float { return half(x, (*big.Float).Sub) }, 0.4, -0.4, 2},
		{"Cosh", Cosh, func(x *big.Float) *big.Float { return half(x, (*big.Float).Add) }, 10, -10, 2},
		{"Tanh", Tanh, func(x *big.Float) *big.Float {
			return op((*big.Float).Quo, half(x, (*big.Float).Sub), half(x, (*big.Float).Add))
		}, 10, -10, 2},
		{"Pow 1.7", func(x float64) float64 { return Pow(x, 1.7) }, func(x *big.Float) *big.Float {
			return bigExp(op((*big.Float).Mul, bigLog(x), exact(1.7)))
		}, 100, 0, 0},
		{"Pow -3.25", func(x float64) float64 { return Pow(x, -3.25) }, func(x *big.Float) *big.Float {
			return bigExp(op((*big.Float).Mul, bigLog(x), exact(-3.25)))
		}, 100, 0, 0},
		{"Atan2", func(x float64) float64 { return Atan2(x, -3) }, func(x *big.Float) *big.Float { return bigAtan(x, exact(-3)) }, 5, -5, 2},
	}
	n := 400
	if testing.Short() {
		n = 40
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, fn := range functions {
		for range n {
			x := fn.least + r.Float64()*(fn.limit-fn.least)
			want, _ := fn.exact(exact(x)).Float64()
			if got := fn.f(x); math.Abs(got-want) > fn.off*0x1p-52*math.Abs(want) {
				t.Errorf("%s(%v) = %v, want %v", fn.name, x, got, want)
			}
		}
	}
}

func TestSpecialValues(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	tests := []struct {
		name      string
		got, want float64
	}{
		{"Log(0)", Log(0), -inf}, {"Log(-1)", Log(-1), nan}, {"Log(+Inf)", Log(inf), inf}, {"Log(1)", Log(1), 0},
		{"Log(smallest)", Log(5e-324), -744.4400719213812}, {"Log10(1000)", Log10(1000), 3}, {"Log10(1e-5)", Log10(1e-5), -5}, {"Log10(0)", Log10(0), -inf},
		{"Exp(0)", Exp(0), 1}, {"Exp(1000)", Exp(1000), inf}, {"Exp(-1000)", Exp(-1000), 0}, {"Exp(-745)", Exp(-745), 5e-324}, {"Exp(720)", Exp(720), inf}, {"Exp(NaN)", Exp(nan), nan},
		{"Pow(2, 10)", Pow(2, 10), 1024}, {"Pow(-2, 3)", Pow(-2, 3), -8}, {"Pow(-2, 2)", Pow(-2, 2), 4}, {"Pow(-8, 1/3)", Pow(-8, 1.0/3), nan},
		{"Pow(0, 0)", Pow(0, 0), 1}, {"Pow(0, -1)", Pow(0, -1), inf}, {"Pow(1, NaN)", Pow(1, nan), nan}, {"Pow(-1, Inf)", Pow(-1, inf), nan}, {"Pow(2, Inf)", Pow(2, inf), inf},
		{"Pow(NaN, 0)", Pow(nan, 0), 1}, {"Pow(10, 400)", Pow(10, 400), inf}, {"Pow(10, -400)", Pow(10, -400), 0}, {"Pow(10, 308)", Pow(10, 308), 1e308}, {"Pow(3, 40)", Pow(3, 40), 12157665459056929000},
		{"Sin(0)", Sin(0), 0}, {"Sin(Inf)", Sin(inf), nan}, {"Sin(pi)", Sin(math.Pi), 1.2246467991473532e-16}, {"Cos(0)", Cos(0), 1},
		{"Tan(0)", Tan(0), 0}, {"Atan(Inf)", Atan(inf), math.Pi / 2}, {"Atan(-1e-310)", Atan(-1e-310), -1e-310}, {"Atan(1)", Atan(1), math.Pi / 4},
		{"Atan2(0, -1)", Atan2(0, -1), math.Pi}, {"Atan2(1, 0)", Atan2(1, 0), math.Pi / 2}, {"Atan2(-1, -1)", Atan2(-1, -1), -3 * math.Pi / 4},
		{"Asin(1)", Asin(1), math.Pi / 2}, {"Asin(2)", Asin(2), nan}, {"Acos(-1)", Acos(-1), math.Pi}, {"Acos(0)", Acos(0), math.Pi / 2}, {"Acos(1)", Acos(1), 0},
		{"Sinh(1000)", Sinh(1000), inf}, {"Sinh(-730)", Sinh(-730), -inf}, {"Cosh(1000)", Cosh(1000), inf}, {"Cosh(730)", Cosh(730), inf}, {"Tanh(100)", Tanh(100), 1}, {"Tanh(0)", Tanh(0), 0},
	}
	for _, tt := range tests {
		if tt.got != tt.want && !(tt.got != tt.got && tt.want != tt.want) {
			t.Errorf("%s = %v, want %v", tt.name, tt.got, tt.want)
		}
	}
	if zero := math.Copysign(0, -1); !math.Signbit(Sin(zero)) || !math.Signbit(Tan(zero)) || !math.Signbit(Tanh(zero)) || !math.Signbit(Sinh(zero)) {
		t.Error("-0 loses its sign")
	}
}

// TestPowersOfTen: their logarithms are whole.
func TestPowersOfTen(t *testing.T) {
	for e := -307; e <= 308; e++ {
		if got := Log10(math.Pow10(e)); got != float64(e) {
			t.Errorf("logarithm of 1e%d: %v", e, got)
		}
	}
}

func BenchmarkFunctions(b *testing.B) {
	for _, f := range []struct {
		name string
		f    func(float64) float64
	}{{"Log", Log}, {"Exp", Exp}, {"Sin", Sin}, {"Tan", Tan}, {"Atan", Atan}, {"Pow", func(x float64) float64 { return Pow(x, 1.7) }}} {
		b.Run(f.name, func(b *testing.B) {
			x, total := 0.5, 0.0
			for b.Loop() {
				total += f.f(x)
				x += 0.001
				if x > 10 {
					x = 0.5
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			if math.IsNaN(total) {
				b.Fatal("NaN")
			}
		})
	}
}
