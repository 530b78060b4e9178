package fn

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// TestRoundFloat compares the short cut with the way over digits, near the
// middle between two results and elsewhere.
func TestRoundFloat(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	for range 200000 {
		digits := r.IntN(12) - 3
		var x float64
		switch r.IntN(4) {
		case 0: // halves of the last digit, and their neighbours
			x = (float64(r.IntN(200000)) + 0.5) / math.Pow10(max(digits, 0))
			for range r.IntN(3) {
				x = math.Nextafter(x, math.Inf(1-2*r.IntN(2)))
			}
		case 1: // the last digit itself
			x = float64(r.IntN(200000)) / math.Pow10(max(digits, 0))
		case 2:
			x = math.Float64frombits(r.Uint64())
		default:
			x = r.NormFloat64() * math.Pow10(r.IntN(20))
		}
		if math.IsNaN(x) || math.IsInf(x, 0) {
			continue
		}
		if r.IntN(2) == 0 {
			x = -x
		}
		for _, half := range []bool{true, false} {
			if got, want := roundFloat(x, digits, half), roundDigits(x, digits, half); got != want {
				t.Fatalf("%v to %d digits (to the nearest %t): got %v, want %v", x, digits, half, got, want)
			}
		}
	}
}

func TestRoundDigits(t *testing.T) {
	tests := []struct {
		x          float64
		digits     int
		round, cut float64
	}{
		{2.675, 2, 2.68, 2.67}, {-2.675, 2, -2.68, -2.67}, {1.005, 2, 1.01, 1}, {0.5, 0, 1, 0}, {-0.5, 0, -1, 0}, {0.4999999999999999, 0, 0, 0},
		{1e300, 5, 1e300, 1e300}, {1250, -2, 1300, 1200}, {49, -2, 0, 0}, {50, -2, 100, 0}, {999.95, 1, 1000, 999.9}, {5e-324, 400, 5e-324, 5e-324},
		{1.5, -400, 0, 0}, {0.1, 1, 0.1, 0.1}, {123456789.123456789, 25, 123456789.123456789, 123456789.123456789},
	}
	for _, tt := range tests {
		if got := roundFloat(tt.x, tt.digits, true); got != tt.round {
			t.Errorf("%v rounded to %d digits: %v, want %v", tt.x, tt.digits, got, tt.round)
		}
		if got := roundFloat(tt.x, tt.digits, false); got != tt.cut {
			t.Errorf("%v cut to %d digits: %v, want %v", tt.x, tt.digits, got, tt.cut)
		}
	}
	for _, x := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
		if got := roundFloat(x, 1, true); got != x && !math.IsNaN(x) {
			t.Errorf("%v rounded: %v", x, got)
		}
	}
}

// naiveRound rounds x, with so many digits behind the point, to fewer, and
// fills up with zeros.
func naiveRound(x *big.Int, digits int, half bool) *big.Int {
	p := bigPow10(digits)
	add := new(big.Int)
	if half {
		add.Mul(new(big.Int).Quo(p, big.NewInt(2)), big.NewInt(int64(x.Sign())))
	}
	q := new(big.Int).Quo(add.Add(x, add), p)
	return q.Mul(q, p)
}

func TestRoundInt(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 2))
	for range 20000 {
		x, digits := int64(r.Uint64())>>r.IntN(64), r.IntN(22)-20
		for _, half := range []bool{true, false} {
			want := naiveRound(big.NewInt(x), max(-digits, 0), half)
			got, ok := roundInt(x, digits, half)
			if ok != want.IsInt64() || ok && got != want.Int64() {
				t.Fatalf("%d to %d digits (to the nearest %t): got %d, %t, want %s", x, digits, half, got, ok, want)
			}
		}
	}
}

// TestRoundDecimals compares with exact arithmetic, for digits that are literals
// and for those that are not.
func TestRoundDecimals(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 3))
	for range 3000 {
		scale := r.IntN(39)
		in := types.DecimalOf(min(scale+1+r.IntN(20), 38), scale)
		digits, half, constant := r.IntN(45)-5, r.IntN(2) == 0, r.IntN(2) == 0
		ro := &rounding{name: "ROUND", half: half, digits: digits, constant: constant}
		ro.t = ro.result(in)
		const n = 20
		x := randomDecimals(r, in, n)
		args := []batch.Vector{x}
		if !constant {
			d := batch.MakeFixed[int32](types.Of(types.Int), n)
			for i := range d.Values {
				d.Values[i] = int32(digits)
			}
			args = append(args, d)
		}
		out, err := ro.kernel()(Rows{N: n}, args)
		if err != nil {
			t.Fatal(err)
		}
		from, got := decimalsOf(x), decimalsOf(out)
		for i := range n {
			want := naiveRound(bigOf(from.at(i)), max(scale-digits, 0), half)
			want.Quo(want, bigPow10(max(scale-int(ro.t.Scale), 0)))
			ok := want.CmpAbs(bigPow10(int(ro.t.Precision))) < 0
			if ok != out.Validity().Get(i) || ok && bigOf(got.at(i)).Cmp(want) != 0 {
				t.Fatalf("%s of type %s to %d digits (literal %t, to the nearest %t) as %s: got %s (%t), want %s", decimalText(from.at(i), in), in, digits, constant, half, ro.t,
					decimalText(got.at(i), ro.t), out.Validity().Get(i), want)
			}
		}
	}
}

// TestWholeDecimals has FLOOR and CEIL against exact arithmetic.
func TestWholeDecimals(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 4))
	for range 500 {
		scale := r.IntN(39)
		in := types.DecimalOf(min(scale+1+r.IntN(20), 38), scale)
		result := types.DecimalOf(int(in.Precision), 0)
		x := randomDecimals(r, in, 20)
		one := bigPow10(scale)
		for _, up := range []bool{false, true} {
			out, err := wholeDecimals(result, types.Pow10(scale), up)(Rows{N: 20}, []batch.Vector{x})
			if err != nil {
				t.Fatal(err)
			}
			from, got := decimalsOf(x), decimalsOf(out)
			for i := range 20 {
				want, rest := new(big.Int).DivMod(bigOf(from.at(i)), one, new(big.Int))
				if up && rest.Sign() > 0 {
					want.Add(want, big.NewInt(1))
				}
				if bigOf(got.at(i)).Cmp(want) != 0 && out.Validity().Get(i) {
					t.Fatalf("%s (up %t): got %s, want %s", decimalText(from.at(i), in), up, decimalText(got.at(i), result), want)
				}
			}
		}
	}
}

// TestJavaRandom has the numbers of java.util.Random.
func TestJavaRandom(t *testing.T) {
	var r javaRandom
	r.seed(42)
	for _, want := range []int32{30, 63, 48, 84, 70} {
		if got := r.int31n(100); got != want {
			t.Errorf("below 100: %d, want %d", got, want)
		}
	}
	r.seed(42)
	for _, want := range []float64{0.7275636800328681, 0.6832234717598454, 0.30871945533265976} {
		if got := r.float64(); got != want {
			t.Errorf("below 1: %v, want %v", got, want)
		}
	}
	r.seed(-7)
	for range 1000 {
		if got := r.int31n(1<<30 + 1); got < 0 || got > 1<<30 {
			t.Fatalf("a number of %d", got)
		}
		if got := r.int31n(64); got < 0 || got > 63 {
			t.Fatalf("a number of %d", got)
		}
	}
}

func TestUUID(t *testing.T) {
	if got := string(appendUUID(nil, math.MaxUint64, 0)); got != "ffffffff-ffff-4fff-8000-000000000000" {
		t.Error(got)
	}
	if got := string(appendUUID(nil, 0, math.MaxUint64)); got != "00000000-0000-4000-bfff-ffffffffffff" {
		t.Error(got)
	}
}
