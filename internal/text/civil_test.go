package text

import (
	"testing"
	"time"
)

// TestCivilAgainstGo compares dates with those of package time: each day from 1890 to
// 2110, and days far from there.
func TestCivilAgainstGo(t *testing.T) {
	check := func(days int) {
		t.Helper()
		y, m, d := CivilFromDays(days)
		want := time.Unix(int64(days)*86400, 0).UTC()
		if y != want.Year() || m != int(want.Month()) || d != want.Day() {
			t.Fatalf("day %d is %d-%d-%d, want %s", days, y, m, d, want.Format(time.DateOnly))
		}
		if back := DaysFromCivil(y, m, d); back != days {
			t.Fatalf("%d-%d-%d is day %d, want %d", y, m, d, back, days)
		}
	}
	for days := -29_000; days < 51_500; days++ {
		check(days)
	}
	for days := -800_000_000; days < 800_000_000; days += 100_003 {
		check(days)
	}
}

func BenchmarkCivilFromDays(b *testing.B) {
	sum, days := 0, 0
	for b.Loop() {
		y, m, d := CivilFromDays(days & 0x7fff)
		sum += y + m + d
		days += 77
	}
	if sum == 0 {
		b.Fatal("no date")
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
