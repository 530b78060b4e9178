package bind

import (
	"testing"
	"time"

	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/catalog"
	"github.com/millstream-io/millstream/internal/sql/config"
	"github.com/millstream-io/millstream/internal/sql/connect"
	"github.com/millstream-io/millstream/internal/sql/parse"
	"github.com/millstream-io/millstream/internal/text"
)

func newBinder() *Binder {
	env := &fn.Env{Zone: time.FixedZone("", 3600), Now: time.Now}
	return New(catalog.New(), &config.Settings{}, &connect.Host{Env: env})
}

// TestLiterals gives the value and the type of literals, as Flink has them; "error" for those that it refuses.
func TestLiterals(t *testing.T) {
	tests := []struct{ text, want string }{
		{"1", "1 :: INT NOT NULL"},
		{"-2147483648", "-2147483648 :: INT NOT NULL"},
		{"2147483648", "2147483648 :: BIGINT NOT NULL"},
		{"-9223372036854775808", "-9223372036854775808 :: BIGINT NOT NULL"},
		{"9223372036854775808", "error"},
		{"00012", "12 :: INT NOT NULL"},
		{"1.", "1 :: INT NOT NULL"},
		{".5", "0.5 :: DECIMAL(1, 1) NOT NULL"},
		{"0.5", "0.5 :: DECIMAL(2, 1) NOT NULL"},
		{"-000.50", "-0.50 :: DECIMAL(3, 2) NOT NULL"},
		{"0.001", "0.001 :: DECIMAL(4, 3) NOT NULL"},
		{"100.00", "100.00 :: DECIMAL(5, 2) NOT NULL"},
		{"1234567890123456.789", "1234567890123456.789 :: DECIMAL(19, 3) NOT NULL"},
		{"-1234567890123456.789", "-1234567890123456.789 :: DECIMAL(19, 3) NOT NULL"},
		{"0.00000000000000000000000000000000000001", "0.00000000000000000000000000000000000001 :: DECIMAL(38, 38) NOT NULL"},
		{"0.000000000000000000000000000000000000001", "error"},
		{"9.9223372036854775807", "error"},
		{"1e3", "1000.0 :: DOUBLE NOT NULL"},
		{"1e400", "error"},
		{"1e-400", "0.0 :: DOUBLE NOT NULL"},
		{"'it''s'", "it's :: CHAR(4) NOT NULL"},
		{"''", "'' :: CHAR(0) NOT NULL"},
		{"'😀'", "😀 :: CHAR(2) NOT NULL"},
		{"X'4142'", "AB :: BINARY(2) NOT NULL"},
		{"TRUE", "TRUE :: BOOLEAN NOT NULL"},
		{"UNKNOWN", "NULL :: BOOLEAN"},
		{"DATE '2024-02-29'", "2024-02-29 :: DATE NOT NULL"},
		{"DATE '24-2-3'", "0024-02-03 :: DATE NOT NULL"},
		{"DATE '2023-02-29'", "error"},
		{"DATE ' 2024-02-29'", "error"},
		{"DATE '0000-01-01'", "error"},
		{"TIME '1:2:3'", "01:02:03 :: TIME(0) NOT NULL"},
		{"TIME '10:00:00.1234567'", "10:00:00.123 :: TIME(3) NOT NULL"},
		{"TIME '24:00:00'", "error"},
		{"TIME '10:00'", "error"},
		{"TIMESTAMP '2024-01-01'", "2024-01-01 00:00:00 :: TIMESTAMP(0) NOT NULL"},
		{"TIMESTAMP '2024-1-1  1:1:1.'", "2024-01-01 01:01:01 :: TIMESTAMP(0) NOT NULL"},
		{"TIMESTAMP '2024-01-01 10:00:00.1234567890'", "2024-01-01 10:00:00.123456789 :: TIMESTAMP(9) NOT NULL"},
		{"TIMESTAMP '1969-12-31 23:59:59.5'", "1969-12-31 23:59:59.5 :: TIMESTAMP(1) NOT NULL"},
		{"TIMESTAMP '2024-01-01 10:00'", "error"},
		{"TIMESTAMP '2024-13-01 10:00:00'", "error"},
		{"TIMESTAMP WITH LOCAL TIME ZONE '2024-01-01 10:00:00'", "2024-01-01 10:00:00 :: TIMESTAMP_LTZ(0) NOT NULL"},
		{"INTERVAL '1' DAY", "+1 00:00:00.000 :: INTERVAL SECOND(3) NOT NULL"},
		{"INTERVAL -'1 02:03:04.567' DAY TO SECOND", "-1 02:03:04.567 :: INTERVAL SECOND(3) NOT NULL"},
		{"INTERVAL '-1-2' YEAR TO MONTH", "-1-02 :: INTERVAL MONTH NOT NULL"},
		{"INTERVAL ' 2 ' WEEK", "+14 00:00:00.000 :: INTERVAL SECOND(3) NOT NULL"},
		{"INTERVAL '1' QUARTER", "+0-03 :: INTERVAL MONTH NOT NULL"},
		{"INTERVAL '1.5' SECOND", "+0 00:00:01.500 :: INTERVAL SECOND(3) NOT NULL"},
		{"INTERVAL '100' DAY(3)", "+100 00:00:00.000 :: INTERVAL SECOND(3) NOT NULL"},
		{"INTERVAL '100' DAY", "error"},
		{"INTERVAL '1.1234567' SECOND", "error"},
		{"INTERVAL '1:61' HOUR TO MINUTE", "error"},
		{"INTERVAL 'a' DAY", "error"},
		{"INTERVAL 5 DAY", "+5 00:00:00.000 :: INTERVAL SECOND(3) NOT NULL"},
		{"INTERVAL (1 + 1) HOUR", "+0 02:00:00.000 :: INTERVAL SECOND(3) NOT NULL"},
		{"INTERVAL 1 DAY TO SECOND", "error"},
		{"(DATE '2024-03-01' - DATE '2024-01-31') MONTH", "+0-01 :: INTERVAL MONTH NOT NULL"},
		{"+'a'", "error"},
		{"- INTERVAL '1' DAY", "-1 00:00:00.000 :: INTERVAL SECOND(3) NOT NULL"},
		{"NULL", "error"},
	}
	for _, tt := range tests {
		if got := literal(t, tt.text); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.text, got, tt.want)
		}
	}
}

func literal(t *testing.T, src string) string {
	t.Helper()
	e, errs := parse.Expr(src)
	if len(errs) > 0 {
		return "error"
	}
	b := newBinder()
	bound, err := b.Expr(e)
	if err != nil {
		return "error"
	}
	lit, is := expr.Fold(bound, b.Env).(*expr.Lit)
	if !is {
		t.Fatalf("%s is no constant: %s", src, bound)
	}
	return string(text.NewForm(b.Env.Zone).AppendCell(nil, lit.Value, 0)) + " :: " + lit.Type().String()
}
