package emit

import (
	"testing"

	"github.com/millstream-io/millstream/types"
)

// TestDigits compares with what Java's new BigDecimal(number).toString() gives.
func TestDigits(t *testing.T) {
	for in, want := range map[string]string{
		"0.0": "0.0", "-0.0": "0.0", "1.5": "1.5", "-1.5": "-1.5", "1.0E9": "1.0E+9", "1.0E-7": "1.0E-7", "1.0E-5": "0.000010",
		"1.234E-4": "0.0001234", "4.9E-324": "4.9E-324", "1.7976931348623157E308": "1.7976931348623157E+308", "1234560.0": "1234560.0",
		"-2.0E-7": "-2.0E-7", "0.001": "0.001", "12345.678": "12345.678",
	} {
		if got := string(Digits([]byte("x"), []byte(in))); got != "x"+want {
			t.Errorf("%s: got %s, want x%s", in, got, want)
		}
	}
}

// TestDecimals compares the two ways of writing a decimal.
func TestDecimals(t *testing.T) {
	tests := []struct {
		v             int64
		scale         int
		scaled, short string
	}{
		{250, 2, "2.50", "2.5"}, {100, 2, "1.00", "1"}, {0, 2, "0.00", "0"}, {0, 18, "0E-18", "0"}, {-5, 0, "-5", "-5"},
		{1000, 0, "1000", "1E+3"}, {1, 7, "1E-7", "1E-7"}, {100000000, 18, "1.00000000E-10", "1E-10"}, {-1, 3, "-0.001", "-0.001"},
	}
	for _, tt := range tests {
		v := types.Int128FromInt64(tt.v)
		if got := string(Scaled(nil, v, tt.scale)); got != tt.scaled {
			t.Errorf("%d of scale %d: got %s, want %s", tt.v, tt.scale, got, tt.scaled)
		}
		if got := string(Decimal(nil, v, tt.scale, false)); got != tt.short {
			t.Errorf("%d of scale %d: got %s, want %s", tt.v, tt.scale, got, tt.short)
		}
	}
}
