package text

import (
	"strings"
	"testing"
	"time"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// TestParse holds what CAST(text AS type) reads; - stands for a text that it
// refuses.
func TestParse(t *testing.T) {
	dec := types.DecimalOf
	tests := []struct {
		typ      types.Type
		in, want string
	}{
		{types.Of(types.Boolean), "TrUe", "TRUE"}, {types.Of(types.Boolean), "n", "FALSE"}, {types.Of(types.Boolean), " true", "-"},
		{types.Of(types.Boolean), "on", "-"}, {types.Of(types.Boolean), "", "-"},
		{types.Of(types.Int), " +5 ", "5"}, {types.Of(types.Int), "-5.9", "-5"}, {types.Of(types.Int), ".", "0"}, {types.Of(types.Int), "-", "-"},
		{types.Of(types.Int), "5e0", "-"}, {types.Of(types.Int), "5.x", "-"}, {types.Of(types.Int), "\t7", "-"}, {types.Of(types.Int), "2147483648", "-"},
		{types.Of(types.TinyInt), "127.999", "127"}, {types.Of(types.TinyInt), "-129", "-"}, {types.Of(types.SmallInt), "32768", "-"},
		{types.Of(types.BigInt), "-9223372036854775808", "-9223372036854775808"}, {types.Of(types.BigInt), "9223372036854775808", "-"},
		{types.Of(types.BigInt), "00000000000000000000000000001", "1"}, {types.Of(types.BigInt), "99999999999999999999", "-"},
		{types.Of(types.Double), "1e5D", "100000.0"}, {types.Of(types.Double), "\n7\t", "7.0"}, {types.Of(types.Double), "0x.8p1", "1.0"},
		{types.Of(types.Double), "-Infinity", "-Infinity"}, {types.Of(types.Double), "+NaN", "NaN"}, {types.Of(types.Double), "inf", "-"},
		{types.Of(types.Double), "0x1.8", "-"}, {types.Of(types.Double), "1_0", "-"}, {types.Of(types.Double), "--5", "-"}, {types.Of(types.Double), "1e400", "Infinity"},
		{types.Of(types.Double), "NaNd", "-"}, {types.Of(types.Double), ".", "-"}, {types.Of(types.Double), "d", "-"}, {types.Of(types.Float), "16777217", "1.6777216E7"},
		{dec(5, 2), "5-", "5.00"}, {dec(5, 2), "t", "0.00"}, {dec(5, 2), "5 5", "-"}, {dec(5, 2), "0001", "-"}, {dec(5, 2), "0000000000000000001", "1.00"},
		{dec(5, 2), "1e5", "-"}, {dec(5, 2), "1e-5", "0.00"}, {dec(5, 2), "1e-30", "-"}, {dec(5, 2), "1e", "1.00"}, {dec(5, 2), "1e+", "-"}, {dec(5, 2), "1.2.3", "-"},
		{dec(5, 2), "-1.005", "-1.01"}, {dec(5, 2), "+", "-"}, {dec(5, 2), " ", "-"}, {dec(10, 2), "1e5x", "100000.00"},
		{dec(38, 0), "t", "-"}, {dec(38, 0), "٣", "3"}, {dec(38, 0), "1e37", "10000000000000000000000000000000000000"}, {dec(38, 0), "1e38", "-"},
		{dec(38, 0), "0e99999", "0"}, {dec(38, 0), "1e-99999", "0"}, {dec(38, 0), "1e99999999999", "-"}, {dec(38, 0), ".", "-"}, {dec(38, 0), "0.5", "1"},
		{dec(38, 38), "-0.00000000000000000000000000000000000001", "-0.00000000000000000000000000000000000001"},
		{dec(20, 2), "123456789012345678.905", "123456789012345678.91"}, {dec(20, 2), "1234567890123456789", "-"},
		{types.Of(types.Date), "2024-2-9", "2024-02-09"}, {types.Of(types.Date), "2024", "2024-01-01"}, {types.Of(types.Date), " 2024-01-01 10:00", "-"},
		{types.Of(types.Date), "2024-01-01 10:00", "2024-01-01"}, {types.Of(types.Date), "2023-02-29", "-"}, {types.Of(types.Date), "+2024-01-01", "-"},
		{types.Of(types.Date), "2024-01-", "-"}, {types.Of(types.Date), "10000-01-01", "-"}, {types.Of(types.Date), "99999999999-01-01", "-"},
		{types.TimeOf(types.Time, 0), "12", "12:00:00"}, {types.TimeOf(types.Time, 0), "1:2:3", "01:02:03"}, {types.TimeOf(types.Time, 0), "24:00:00", "-"},
		{types.TimeOf(types.Time, 0), "12:34:56+02:00", "14:34:56"}, {types.TimeOf(types.Time, 0), "12:", "-"}, {types.TimeOf(types.Time, 3), "12:34:56.7895", "12:34:56.79"},
		{types.TimeOf(types.Time, 3), "12:34:56.1x5", "12:34:56.105"}, {types.TimeOf(types.Time, 2), "12:34:56.789", "12:34:56.78"}, {types.TimeOf(types.Time, 3), "23:59:59.9999", "-"},
		{types.TimeOf(types.Timestamp, 3), "2024-1-1 1:2:3", "2024-01-01 01:02:03.000"}, {types.TimeOf(types.Timestamp, 9), "2024-01-01 00:00:00.1", "2024-01-01 00:00:00.100000000"},
		{types.TimeOf(types.Timestamp, 3), "2024-02-30", "2024-02-29 00:00:00.000"}, {types.TimeOf(types.Timestamp, 0), "2024-01-01 24:00:00", "2024-01-02 00:00:00"},
		{types.TimeOf(types.Timestamp, 3), "2024-01-01 24:00:01", "-"}, {types.TimeOf(types.Timestamp, 3), "2024-01-01T12:00:00", "-"}, {types.TimeOf(types.Timestamp, 3), "0000-01-01", "-"},
		{types.TimeOf(types.Timestamp, 3), "2024-011-01", "2024-01-01 00:00:00.000"}, {types.TimeOf(types.Timestamp, 3), "2024-001-01", "-"}, {types.TimeOf(types.Timestamp, 3), "24-01-01", "-"},
		{types.TimeOf(types.Timestamp, 9), "2024-01-01 00:00:00.1234567891", "-"}, {types.TimeOf(types.Timestamp, 6), "1969-12-31 23:59:59.9999999", "1969-12-31 23:59:59.999999"},
		{types.CharOf(types.Char, 3), "é", "é  "}, {types.CharOf(types.Varchar, 2), "😀ab", "😀a"}, {types.CharOf(types.Binary, 3), "é", "é\x00"}, {types.CharOf(types.Varbinary, 1), "ab", "a"},
		{types.Type{Kind: types.IntervalYM, Nullable: true}, "-1-02", "-1-02"}, {types.Type{Kind: types.IntervalYM, Nullable: true}, "1-12", "-"},
		{types.Type{Kind: types.IntervalDS, Nullable: true}, "+1 02:03:04.567", "+1 02:03:04.567"}, {types.Type{Kind: types.IntervalDS, Nullable: true}, "-0 00:00:00.001", "-0 00:00:00.001"},
	}
	for _, tt := range tests {
		dst := batch.New(tt.typ, 1)
		got := "-"
		if new(Form).Parse(dst, []byte(tt.in)) {
			got = string(new(Form).Append(nil, dst, 0))
		} else if dst.Len() != 0 {
			t.Errorf("%q as %s was refused, but appended", tt.in, tt.typ)
		}
		if got != tt.want {
			t.Errorf("%q as %s: %q, want %q", tt.in, tt.typ, got, tt.want)
		}
	}
}

func TestCells(t *testing.T) {
	row := types.RowOf(types.Field{Name: "x", Type: types.Of(types.Int)}, types.Field{Name: "y", Type: types.StringType()})
	tests := []struct {
		typ      types.Type
		in, want string // want is empty if it is the same as in
	}{
		{types.StringType(), "abc", ""}, {types.StringType(), "''", ""}, {types.StringType(), "'NULL'", ""}, {types.StringType(), "NULL", ""},
		{types.StringType(), "' a'", ""}, {types.StringType(), "it's", ""}, {types.StringType(), "''''", ""}, {types.StringType(), `'a\nb\t\\\u0001'`, ""},
		{types.StringType(), "'a | b'", ""}, {types.StringType(), "a|b", ""}, {types.StringType(), "'|'", ""}, {types.StringType(), `'\u00E9'`, "é"},
		{types.StringType(), `\`, ""}, {types.StringType(), `'\uD83D\uDE00'`, "😀"}, {types.StringType(), `'\uD83D'`, ""}, {types.StringType(), `'\u2028x'`, ""},
		{types.StringType(), "'\u00a0'", ""}, {types.CharOf(types.Char, 3), "a", "'a  '"}, {types.BytesType(), "text", ""},
		{types.Of(types.Int), " 12 ", "12"}, {types.Of(types.Double), "1e10", "1.0E10"}, {types.DecimalOf(10, 3), "12.34567", "12.346"},
		{types.ArrayOf(types.Of(types.Int)), "[1, NULL]", ""}, {types.ArrayOf(types.Of(types.Int)), "[]", ""}, {types.ArrayOf(types.Of(types.Int)), "[ 1,2 ]", "[1, 2]"},
		{types.ArrayOf(types.StringType()), "['a, b', c]", "[a, b, c]"}, {types.ArrayOf(types.StringType()), `['it''s', 'x\ny']`, `'[it''s, x\ny]'`},
		{types.MapOf(types.StringType(), types.Of(types.Int)), "{k=1, j=NULL}", ""}, {types.MapOf(types.StringType(), types.StringType()), "{'a=b'=c}", "{a=b=c}"},
		{types.MultisetOf(types.StringType()), "{a=2}", ""}, {row, "(7, 'a, b')", "(7, a, b)"}, {row, "(NULL, '')", "(NULL, )"},
		{types.ArrayOf(row), "[(1, x), NULL, (2, '')]", "[(1, x), NULL, (2, )]"},
		{types.ArrayOf(types.ArrayOf(types.Of(types.Int))), "[[1], [], [2, 3]]", ""},
	}
	for _, tt := range tests {
		dst := batch.New(tt.typ, 1)
		if err := ParseCell(dst, tt.in); err != nil {
			t.Errorf("%s as %s: %v", tt.in, tt.typ, err)
			continue
		}
		want := tt.want
		if want == "" {
			want = tt.in
		}
		if got := string(AppendCell([]byte("x"), dst, 0)); dst.Len() != 1 || got != "x"+want {
			t.Errorf("%s as %s is printed as %s, want %s", tt.in, tt.typ, got[1:], want)
		}
	}
}

func TestBadCells(t *testing.T) {
	row := types.RowOf(types.Field{Name: "x", Type: types.Of(types.Int)})
	tests := []struct {
		typ      types.Type
		in, want string
	}{
		{types.Of(types.Int), "abc", `cannot read "abc" as INT`}, {types.StringType(), "'abc", "does not end with a quote"}, {types.StringType(), `'\x'`, "unknown escape"},
		{types.StringType(), `'\u12'`, "four"}, {types.StringType(), `'\u12xy'`, "four hexadecimal"}, {types.StringType(), `'a\'`, "lone"},
		{types.ArrayOf(types.Of(types.Int)), "1, 2", "between [ and ]"}, {types.ArrayOf(types.Of(types.Int)), "[1, ]", "empty element"},
		{types.ArrayOf(types.Of(types.Int)), "[x]", "as INT"}, {types.MapOf(types.StringType(), types.Of(types.Int)), "{a}", "no = in"}, {row, "(1, 2)", "has 2 fields, not 1"},
	}
	for _, tt := range tests {
		if err := ParseCell(batch.New(tt.typ, 1), tt.in); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s as %s: %v, want an error with %q", tt.in, tt.typ, err, tt.want)
		}
	}
}

func TestCivil(t *testing.T) {
	for days := -1_000_000; days <= 3_000_000; days += 97 {
		want := time.Unix(int64(days)*86400, 0).UTC()
		y, m, d := CivilFromDays(days)
		if y != want.Year() || m != int(want.Month()) || d != want.Day() || DaysFromCivil(y, m, d) != days {
			t.Fatalf("day %d is %d-%d-%d, want %s", days, y, m, d, want.Format(time.DateOnly))
		}
	}
	if got := DaysFromCivil(2024, 14, 1); got != DaysFromCivil(2025, 2, 1) {
		t.Errorf("month 14 gives %d", got)
	}
	tests := []struct {
		from string
		n    int
		want string
	}{
		{"2024-01-31", 1, "2024-02-29"}, {"2023-01-31", 1, "2023-02-28"}, {"2024-02-29", 12, "2025-02-28"}, {"2024-03-31", -1, "2024-02-29"},
		{"1970-01-01", -1, "1969-12-01"}, {"2024-12-31", 2, "2025-02-28"}, {"0001-01-01", -1, "0000-12-01"},
	}
	for _, tt := range tests {
		days, _ := ParseDate([]byte(tt.from))
		if got := string(AppendDate(nil, int32(AddMonths(int(days), tt.n)))); got != tt.want {
			t.Errorf("%s and %d months: %s, want %s", tt.from, tt.n, got, tt.want)
		}
	}
}

// TestZone follows Java: a repeated wall time is the first of the two moments, a
// skipped one moves on.
func TestZone(t *testing.T) {
	loc, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ local, utc, back string }{
		{"2024-07-01 12:00:00", "2024-07-01 16:00:00", "2024-07-01 12:00:00"},
		{"2024-03-10 01:59:59", "2024-03-10 06:59:59", "2024-03-10 01:59:59"},
		{"2024-03-10 02:30:00", "2024-03-10 07:30:00", "2024-03-10 03:30:00"},
		{"2024-03-10 03:00:00", "2024-03-10 07:00:00", "2024-03-10 03:00:00"},
		{"2024-11-03 01:30:00", "2024-11-03 05:30:00", "2024-11-03 01:30:00"},
		{"2024-11-03 02:00:00", "2024-11-03 07:00:00", "2024-11-03 02:00:00"},
		{"1969-12-31 19:00:00", "1970-01-01 00:00:00", "1969-12-31 19:00:00"},
	}
	z := NewZone(loc)
	for range 2 { // the second time with what the zone has kept
		for _, tt := range tests {
			local, _ := ParseTimestamp([]byte(tt.local), 0)
			utc := z.ToUTC(local.Ms)
			if got := string(AppendTimestamp(nil, types.TS{Ms: utc}, 0)); got != tt.utc {
				t.Errorf("%s is %s in UTC, want %s", tt.local, got, tt.utc)
			}
			if got := string(AppendTimestamp(nil, types.TS{Ms: z.ToLocal(utc)}, 0)); got != tt.back {
				t.Errorf("%s comes back as %s, want %s", tt.local, got, tt.back)
			}
		}
	}
	if NewZone(time.UTC) != nil || (*Zone)(nil).ToUTC(5) != 5 {
		t.Error("UTC should need no conversion")
	}
	f := NewForm(loc)
	dst := batch.New(types.TimeOf(types.TimestampLTZ, 3), 1)
	if err := f.ParseCell(dst, "2024-07-01 12:00:00"); err != nil {
		t.Fatal(err)
	}
	if got := string(AppendCell(nil, dst, 0)); got != "2024-07-01 16:00:00.000" {
		t.Errorf("in UTC: %s", got)
	}
	if got := string(f.AppendCell(nil, dst, 0)); got != "2024-07-01 12:00:00.000" {
		t.Errorf("in New York: %s", got)
	}
}

func TestInvalidUTF8(t *testing.T) {
	tests := []struct{ in, want string }{
		{"abc", "abc"}, {"\xff", "\ufffd"}, {"a\xc3", "a\ufffd"}, {"\xe2\x82", "\ufffd"}, {"\xe2\x82A", "\ufffdA"}, {"\xf0\x9f\x98", "\ufffd"},
		{"\xc0\x80", "\ufffd\ufffd"}, {"\xed\xa0\x80", "\ufffd"}, {"\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd"}, {"é😀", "é😀"},
	}
	for _, tt := range tests {
		if got := string(AppendValidUTF8(nil, []byte(tt.in))); got != tt.want {
			t.Errorf("%q becomes %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestLiteral(t *testing.T) {
	tests := []struct {
		typ      types.Type
		in, want string
	}{
		{types.StringType(), "it's", "'it''s'"}, {types.StringType(), "NULL", "NULL"}, {types.Of(types.Int), "5", "5"}, {types.Of(types.Date), "2024-01-01", "DATE '2024-01-01'"},
		{types.TimeOf(types.Timestamp, 3), "2024-01-01", "TIMESTAMP '2024-01-01 00:00:00.000'"}, {types.BytesType(), "ab", "X'6162'"},
		{types.ArrayOf(types.Of(types.Int)), "[1, 2]", "[1, 2]"},
	}
	for _, tt := range tests {
		dst := batch.New(tt.typ, 1)
		if err := ParseCell(dst, tt.in); err != nil {
			t.Fatal(err)
		}
		if got := Literal(dst, 0); got != tt.want {
			t.Errorf("%s is the literal %s, want %s", tt.in, got, tt.want)
		}
	}
}

func TestUTF16Len(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "é": 1, "中文": 2, "😀": 2, "a😀b": 4} {
		if got := UTF16Len([]byte(s)); got != want {
			t.Errorf("%q has %d units, want %d", s, got, want)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	tests := []struct {
		typ types.Type
		in  string
	}{
		{types.Of(types.Int), "123456"}, {types.Of(types.Double), "123.456"}, {types.DecimalOf(10, 2), "12345.67"}, {types.DecimalOf(30, 2), "12345.67"},
		{types.Of(types.Date), "2024-02-29"}, {types.TimeOf(types.Timestamp, 3), "2024-02-29 12:34:56.789"}, {types.Of(types.Boolean), "true"},
	}
	for _, tt := range tests {
		b.Run(tt.typ.String(), func(b *testing.B) {
			in, f := []byte(tt.in), new(Form)
			dst := batch.New(tt.typ, b.N)
			b.ReportAllocs()
			for b.Loop() {
				if !f.Parse(dst, in) {
					b.Fatal(tt.in)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	tests := []struct {
		typ types.Type
		in  string
	}{
		{types.Of(types.BigInt), "123456789012"}, {types.DecimalOf(30, 2), "12345.67"}, {types.Of(types.Date), "2024-02-29"},
		{types.TimeOf(types.Timestamp, 3), "2024-02-29 12:34:56.789"}, {types.StringType(), "some text"}, {types.ArrayOf(types.Of(types.Int)), "[1, 2, 3]"},
	}
	for _, tt := range tests {
		b.Run(tt.typ.String(), func(b *testing.B) {
			v, f := batch.New(tt.typ, 1), new(Form)
			if err := ParseCell(v, tt.in); err != nil {
				b.Fatal(err)
			}
			var buf []byte
			b.ReportAllocs()
			for b.Loop() {
				buf = f.AppendCell(buf[:0], v, 0)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
