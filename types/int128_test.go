package types

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

func toBig(a Int128) *big.Int {
	x := new(big.Int).Lsh(big.NewInt(a.Hi), 64)
	return x.Add(x, new(big.Int).SetUint64(a.Lo))
}

var (
	bigMin = new(big.Int).Neg(new(big.Int).Lsh(big.NewInt(1), 127))
	bigMax = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 127), big.NewInt(1))
)

func fitsBig(x *big.Int) bool { return x.Cmp(bigMin) >= 0 && x.Cmp(bigMax) <= 0 }

// randomInt128 prefers the edges: few bits, many bits, powers of two and of ten.
func randomInt128(r *rand.Rand) Int128 {
	x := Int128{int64(r.Uint64()), r.Uint64()}
	switch r.IntN(6) {
	case 0:
		x = Int128FromInt64(r.Int64N(21) - 10)
	case 1:
		x = Int128FromInt64(int64(x.Lo) >> r.UintN(64))
	case 2:
		x = Int128{x.Hi >> r.UintN(64), x.Lo}
	case 3:
		x = Pow10(r.IntN(39)).Add(Int128FromInt64(r.Int64N(3) - 1))
	case 4:
		x = Int128{1<<63 - 1 - r.Int64N(2), ^uint64(r.IntN(2))}
	}
	if r.IntN(2) == 0 {
		return x.Neg()
	}
	return x
}

func checkBig(t *testing.T, what string, a, b Int128, got Int128, ok bool, want *big.Int) {
	t.Helper()
	if ok != fitsBig(want) || ok && toBig(got).Cmp(want) != 0 {
		t.Fatalf("%s of %s and %s: got %s, %t, want %s", what, a, b, got, ok, want)
	}
}

func bigQuoRound(x, y *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(x, y, new(big.Int))
	if r.Abs(r).Lsh(r, 1).CmpAbs(y) >= 0 {
		q.Add(q, big.NewInt(int64(x.Sign()*y.Sign())))
	}
	return q
}

func TestInt128AgainstBig(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	rounds := 200_000
	if testing.Short() {
		rounds = 20_000
	}
	for range rounds {
		a, b, c := randomInt128(r), randomInt128(r), randomInt128(r)
		x, y, z := toBig(a), toBig(b), toBig(c)
		sum, ok := a.AddOK(b)
		checkBig(t, "sum", a, b, sum, ok, new(big.Int).Add(x, y))
		diff, ok := a.SubOK(b)
		checkBig(t, "difference", a, b, diff, ok, new(big.Int).Sub(x, y))
		prod, ok := a.MulOK(b)
		checkBig(t, "product", a, b, prod, ok, new(big.Int).Mul(x, y))
		if ok && prod != a.Mul(b) {
			t.Fatalf("%s * %s wraps to %s", a, b, a.Mul(b))
		}
		if got := a.Compare(b); got != x.Cmp(y) {
			t.Fatalf("compare %s, %s: %d", a, b, got)
		}
		if a.Sign() != x.Sign() {
			t.Fatalf("sign of %s: %d", a, a.Sign())
		}
		if y.Sign() != 0 {
			q, rem := new(big.Int).QuoRem(x, y, new(big.Int))
			if fitsBig(q) {
				gq, gr := a.QuoRem(b)
				checkBig(t, "quotient", a, b, gq, true, q)
				checkBig(t, "remainder", a, b, gr, true, rem)
				checkBig(t, "rounded quotient", a, b, a.QuoRound(b), true, bigQuoRound(x, y))
			}
		}
		if z.Sign() != 0 {
			got, ok := MulQuoRound(a, b, c)
			checkBig(t, "a*b/c", a, b, got, ok, bigQuoRound(new(big.Int).Mul(x, y), z))
		}
		if got := a.String(); got != x.String() {
			t.Fatalf("%s prints as %s", x, got)
		}
		if back, ok := ParseInt128([]byte(x.String())); a != (Int128{Hi: -1 << 63}) && (!ok || back != a) {
			t.Fatalf("%s reads as %s, %t", x, back, ok)
		}
		f, _ := new(big.Float).SetPrec(500).SetInt(x).Float64()
		if got := a.Float64(0); got != f {
			t.Fatalf("%s as a double is %v, want %v", a, got, f)
		}
	}
}

func TestMulInt64(t *testing.T) {
	edge := []int64{0, 1, -1, 2, 10, 1<<62 + 1, -1 << 63, 1<<63 - 1, -5_000_000_000}
	for _, a := range edge {
		for _, b := range edge {
			want := new(big.Int).Mul(big.NewInt(a), big.NewInt(b))
			if got := MulInt64(a, b); toBig(got).Cmp(want) != 0 {
				t.Errorf("%d * %d = %s, want %s", a, b, got, want)
			}
		}
	}
}

func TestParseInt128Refuses(t *testing.T) {
	for _, s := range []string{"", "-", "+", "1a", " 1", "170141183460469231731687303715884105728",
		"999999999999999999999999999999999999999999999"} {
		if v, ok := ParseInt128([]byte(s)); ok {
			t.Errorf("%q reads as %s", s, v)
		}
	}
}

func TestRescale(t *testing.T) {
	tests := []struct {
		in       int64
		from, to int
		want     string
		ok       bool
	}{
		{12345, 3, 2, "1235", true}, {-12345, 3, 2, "-1235", true}, {12344, 3, 2, "1234", true},
		{5, 1, 0, "1", true}, {-5, 1, 0, "-1", true}, {1, 0, 38, "100000000000000000000000000000000000000", true},
		{2, 0, 38, "", false}, {7, 38, 0, "0", true}, {0, 0, 60, "0", true}, {7, 60, 0, "0", true},
	}
	for _, tt := range tests {
		got, ok := Int128FromInt64(tt.in).Rescale(tt.from, tt.to)
		if ok != tt.ok || ok && got.String() != tt.want {
			t.Errorf("%d from scale %d to %d: %s, %t; want %s, %t", tt.in, tt.from, tt.to, got, ok, tt.want, tt.ok)
		}
	}
}

func TestAppendDecimal(t *testing.T) {
	tests := []struct {
		in    string
		scale int
		want  string
	}{
		{"0", 0, "0"}, {"0", 2, "0.00"}, {"-5", 2, "-0.05"}, {"1230", 2, "12.30"}, {"-100", 2, "-1.00"},
		{"99999999999999999999999999999999999999", 38, "0.99999999999999999999999999999999999999"},
		{"-10000000000000000000", 1, "-1000000000000000000.0"},
	}
	for _, tt := range tests {
		v, _ := ParseInt128([]byte(tt.in))
		if got := string(v.AppendDecimal(nil, tt.scale)); got != tt.want {
			t.Errorf("%s at scale %d: %s, want %s", tt.in, tt.scale, got, tt.want)
		}
	}
}

func TestDigitsAndPrecision(t *testing.T) {
	for n := range 38 {
		low, high := Pow10(n), Pow10(n+1).Sub(Int128{Lo: 1})
		if low.Digits() != n+1 || high.Neg().Digits() != n+1 || !high.FitsPrecision(n+1) || n > 0 && low.FitsPrecision(n) {
			t.Errorf("digits of 10^%d: %d, %d", n, low.Digits(), high.Digits())
		}
	}
}

func TestFloats(t *testing.T) {
	tests := []struct {
		in    string
		scale int
		f64   float64
		f32   float32
	}{
		{"12345", 3, 12.345, 12.345}, {"-5", 3, -0.005, -0.005}, {"9007199254740993", 0, 9007199254740992, 9007199254740992},
		{"12345678901234567890123456789", 10, 1234567890123456789.0123456789, 1234567890123456789.0123456789},
		{"1", 38, 1e-38, 1e-38}, {"16777217", 0, 16777217, 16777216},
	}
	for _, tt := range tests {
		v, _ := ParseInt128([]byte(tt.in))
		if got := v.Float64(tt.scale); got != tt.f64 {
			t.Errorf("%s at scale %d: %v, want %v", tt.in, tt.scale, got, tt.f64)
		}
		if got := v.Float32(tt.scale); got != tt.f32 {
			t.Errorf("%s at scale %d: %v, want %v", tt.in, tt.scale, got, tt.f32)
		}
	}
}

func BenchmarkInt128(b *testing.B) {
	xs := make([]Int128, 1024)
	for i := range xs {
		xs[i] = Int128{int64(i), uint64(i) * 0x9E3779B97F4A7C15}
	}
	var sink Int128
	run := func(name string, f func(a, b Int128) Int128) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for i := 1; i < len(xs); i++ {
					sink = f(xs[i], xs[i-1])
				}
			}
			b.ReportMetric(float64(b.N)*float64(len(xs)-1)/b.Elapsed().Seconds(), "rows/s")
		})
	}
	run("add", func(a, b Int128) Int128 { s, _ := a.AddOK(b); return s })
	run("mul64", func(a, b Int128) Int128 { s, _ := a.MulOK(Int128FromInt64(int64(b.Hi))); return s })
	run("quo", func(a, b Int128) Int128 { return a.QuoRound(Int128{Hi: b.Hi | 1, Lo: b.Lo}) })
	run("mulquo", func(a, b Int128) Int128 { s, _ := MulQuoRound(a, Pow10(20), Int128{Hi: b.Hi | 1, Lo: b.Lo}); return s })
	_ = sink
}
