package text

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestJavaFloats holds digits that Java 17 prints; several are not the shortest.
func TestJavaFloats(t *testing.T) {
	doubles := []struct {
		f    float64
		want string
	}{
		{0, "0.0"}, {math.Copysign(0, -1), "-0.0"}, {1, "1.0"}, {-2.5, "-2.5"}, {100, "100.0"}, {1e-3, "0.001"}, {9.5e-4, "9.5E-4"},
		{1e6, "1000000.0"}, {9999999, "9999999.0"}, {1e7, "1.0E7"}, {12345678, "1.2345678E7"}, {123456789.5, "1.234567895E8"},
		{0.30000000000000004, "0.30000000000000004"}, {1.0 / 3, "0.3333333333333333"}, {9007199254740992, "9.007199254740992E15"},
		{1e21, "1.0E21"}, {math.MaxFloat64, "1.7976931348623157E308"}, {4.9e-324, "4.9E-324"}, {1.5e-323, "1.5E-323"},
		{2.2250738585072014e-308, "2.2250738585072014E-308"}, {math.NaN(), "NaN"}, {math.Inf(1), "Infinity"}, {math.Inf(-1), "-Infinity"},
		{2e23, "1.9999999999999998E23"}, {1e23, "9.999999999999999E22"}, {8.41e21, "8.409999999999999E21"},
		{1.0 / (1 << 44), "5.6843418860808015E-14"}, {1 << 60, "1.15292150460684698E18"}, {1 << 63, "9.223372036854776E18"},
	}
	for _, tt := range doubles {
		if got := string(AppendDouble(nil, tt.f)); got != tt.want {
			t.Errorf("%v prints as %s, want %s", tt.f, got, tt.want)
		}
	}
	floats := []struct {
		f    float32
		want string
	}{
		{0.1, "0.1"}, {float32(1.0) / 3, "0.33333334"}, {16777216, "1.6777216E7"}, {123456792, "1.23456792E8"}, {3.4e38, "3.4E38"},
		{1e-45, "1.4E-45"}, {3e-45, "2.8E-45"}, {1e10, "1.0E10"}, {math.Float32frombits(0x69000000), "9.6714065E24"},
		{float32(math.NaN()), "NaN"}, {-0.005, "-0.005"}, {33554432, "3.3554432E7"}, {9.2233720e18, "9.223372E18"},
	}
	for _, tt := range floats {
		if got := string(AppendFloat(nil, tt.f)); got != tt.want {
			t.Errorf("%v prints as %s, want %s", tt.f, got, tt.want)
		}
	}
}

// TestFloatsReadBack: whatever the digits are, they mean the same number.
func TestFloatsReadBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50_000 {
		f := math.Float64frombits(r.Uint64())
		if f != f || math.IsInf(f, 0) {
			continue
		}
		s := AppendDouble(nil, f)
		if back, err := strconv.ParseFloat(string(s), 64); err != nil || back != f {
			t.Fatalf("%v prints as %s, which is %v", f, s, back)
		}
		if back, ok := ParseDouble(s); !ok || back != f {
			t.Fatalf("%s reads as %v", s, back)
		}
		g := math.Float32frombits(r.Uint32())
		if g != g {
			continue
		}
		s = AppendFloat(s[:0], g)
		if back, ok := ParseFloat(s); !ok || back != g {
			t.Fatalf("%v prints as %s, which is %v", g, s, back)
		}
	}
}

func BenchmarkAppendDouble(b *testing.B) {
	fs := make([]float64, 1024)
	for i := range fs {
		fs[i] = float64(i) * 1.0001
	}
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = buf[:0]
		for _, f := range fs {
			buf = AppendDouble(buf, f)
		}
	}
	b.ReportMetric(float64(b.N)*float64(len(fs))/b.Elapsed().Seconds(), "rows/s")
}
