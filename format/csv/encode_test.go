package csv

import (
	"strings"
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/format/internal/formattest"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

// TestEncode writes one value as one field; the texts are those that real Flink
// writes.
func TestEncode(t *testing.T) {
	xyz := types.RowOf(col("x", integer), col("y", str), col("z", types.Of(types.Double)))
	for _, c := range []struct {
		typ  types.Type
		opt  string
		pair [][2]string // a cell, and the field
	}{
		{types.Of(types.Boolean), "", [][2]string{{"TRUE", "true"}, {"NULL", ""}}},
		{types.Of(types.TinyInt), "", [][2]string{{"-128", "-128"}}},
		{types.Of(types.SmallInt), "", [][2]string{{"0", "0"}}},
		{integer, "", [][2]string{{"2147483647", "2147483647"}}},
		{bigint, "", [][2]string{{"-1", "-1"}}},
		{types.Of(types.Float), "", [][2]string{{"1e10", "1.0E10"}, {"-Infinity", "-Infinity"}}},
		{types.Of(types.Double), "", [][2]string{{"-0.00225", "-0.00225"}, {"1e21", "1.0E21"}, {"NaN", "NaN"}}},
		{types.DecimalOf(10, 3), "", [][2]string{{"1234567.891", "1234567.891"}, {"0.1", "0.1"}, {"100", "1E+2"}, {"0", "0"}}},
		{types.DecimalOf(38, 20), "", [][2]string{{"0.00000000000000000001", "1E-20"}, {"123456789012345678", "123456789012345678"}}},
		{types.DecimalOf(38, 20), scientific + "=false", [][2]string{{"0.00000000000000000001", "0.00000000000000000001"}, {"1000", "1000"}}},
		{str, "", [][2]string{{"plain", "plain"}, {"'two words'", `"two words"`}, {"a,b", `"a,b"`}, {`'say "hi"'`, `"say ""hi"""`}, {"''", ""}, {"'it''s'", `"it's"`},
			{"semi;colon", "semi;colon"}, {"#x", `"#x"`}, {"é", "é"}, {"x-y_z.1", "x-y_z.1"}, {`'two\nlines'`, "\"two\nlines\""}, {`'c\u000Dr'`, "\"c\rr\""},
			{"abcdefghijklmnopqrstuvwx", "abcdefghijklmnopqrstuvwx"}, {"abcdefghijklmnopqrstuvwxy", `"abcdefghijklmnopqrstuvwxy"`},
			{"abcdefghijklmnopqrstuvw😀", `"abcdefghijklmnopqrstuvw😀"`}, {"abcdefghijklmnopqrstuv😀", "abcdefghijklmnopqrstuv😀"},
			{"éééééééééééééééééééééééé", "éééééééééééééééééééééééé"}, {`'\\'`, `"\"`}, {":<>[]{}|~", ":<>[]{}|~"}, {"NULL", ""}}},
		{str, nullLiteral + "=n,a", [][2]string{{"NULL", "n,a"}, {"n,a", `"n,a"`}, {"''", ""}}},
		{str, disableQuotes + "=true", [][2]string{{`'a"b'`, `a"b`}, {"'two words'", "two words"}, {"a,b", "a,b"}}},
		{str, escapeCharacter + `=\`, [][2]string{{`'a"b'`, `"a""b"`}, {`'a\\b'`, `"a\\b"`}, {"plain", "plain"}}},
		{str, quoteCharacter + "='", [][2]string{{"'it''s'", "'it''s'"}, {`'"q"'`, `'"q"'`}}},
		{str, fieldDelimiter + `=\t`, [][2]string{{"'a b'", `"a b"`}, {"a,b", "a,b"}, {"abc#", "abc#"}, {"a!b", `"a!b"`}}},
		{str, fieldDelimiter + `=é`, [][2]string{{"xéy", `"xéy"`}, {"abc", `"abc"`}}},
		{types.BytesType(), fieldDelimiter + "=|", [][2]string{{"abc", `"YWJj"`}}},
		{types.BytesType(), "", [][2]string{{"abc", "YWJj"}, {"''", ""}}},
		{types.Of(types.Date), "", [][2]string{{"2024-02-29", "2024-02-29"}, {"0001-01-01", "0001-01-01"}}},
		{types.TimeOf(types.Time, 3), "", [][2]string{{"23:59:59", "23:59:59"}, {"01:02:03.45", "01:02:03.45"}}},
		{ts3, "", [][2]string{{"2024-02-29 12:34:56.789", `"2024-02-29 12:34:56.789"`}, {"1969-12-31 23:59:59", `"1969-12-31 23:59:59"`}}},
		{types.TimeOf(types.Timestamp, 9), "", [][2]string{{"2024-02-29 12:34:56.123456789", `"2024-02-29 12:34:56.123456789"`}}},
		{types.TimeOf(types.TimestampLTZ, 3), "", [][2]string{{"2024-02-29 12:34:56.789", `"2024-02-29 12:34:56.789Z"`}}},
		{types.ArrayOf(integer), "", [][2]string{{"[1, NULL, 3]", "1;;3"}, {"[]", ""}, {"NULL", ""}, {"[99]", "99"}}},
		{types.ArrayOf(str), "", [][2]string{{"[a, 'b;c', NULL, '']", "a;b;c;;"}, {`['x,y', 'q"r']`, `"x,y;q""r"`}}},
		{types.ArrayOf(str), nullLiteral + "=n/a", [][2]string{{"[a, NULL]", "a;n/a"}, {"[]", ""}, {"NULL", "n/a"}}},
		{types.ArrayOf(integer), quoteCharacter + "=';" + arrayDelimiter + "=|;" + fieldDelimiter + "=:", [][2]string{{"[1, 2]", "'1|2'"}}},
		{xyz, "", [][2]string{{"(NULL, NULL, 1)", ";;1.0"}, {"(1, 'a;b,c', NULL)", `"1;a;b,c;"`}, {"NULL", ""}}},
	} {
		var opts []string
		if c.opt != "" {
			opts = strings.Split(c.opt, ";")
		}
		tab := table(opts, col("v", c.typ))
		for _, p := range c.pair {
			b := batch.NewBatch(tab.Schema, 1)
			if err := text.ParseCell(b.Cols[0], p[0]); err != nil {
				t.Fatalf("%s %s: %v", c.typ, p[0], err)
			}
			b.SetSize(1)
			if got := encode(t, tab, b); got != p[1]+"\n" {
				t.Errorf("%s %s %s: %q, want %q", c.typ, c.opt, p[0], got, p[1])
			}
		}
	}
}

func encode(t *testing.T, tab *formattest.Case, b *batch.Batch) string {
	t.Helper()
	cfg, err := tab.Config()
	if err != nil {
		t.Fatal(err)
	}
	e, err := Def.NewEncoder(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if e.Updates() {
		t.Error("CSV takes updates")
	}
	buf, err := e.Encode(e.Header(), b)
	if err != nil {
		t.Fatal(err)
	}
	return string(buf)
}

func TestEncodeLines(t *testing.T) {
	tab := table([]string{header + "=true", fieldDelimiter + "=;"}, col("a", integer), col("b c", str))
	b, err := tab.Decode([]byte("b c;a\nx;1\n;2\n\"y;z\";3\n"), 1<<20, 10)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := encode(t, tab, b), "a;\"b c\"\n1;x\n2;\n3;\"y;z\"\n"; got != want {
		t.Errorf("%q", got)
	}
	if got := encode(t, tab, b.WithSel([]int32{2})); got != "a;\"b c\"\n3;\"y;z\"\n" {
		t.Errorf("%q", got)
	}
}

// TestRoundTrip reads what the encoder wrote.
func TestRoundTrip(t *testing.T) {
	for _, opts := range [][]string{nil, {escapeCharacter + `=\`}, {fieldDelimiter + "=|", quoteCharacter + "='"}, {nullLiteral + "=n/a", header + "=true"}} {
		tab := table(opts, col("a", str), col("b", types.ArrayOf(integer)))
		tab.Wanted = []string{"a", "b"}
		b := batch.NewBatch(tab.Schema, 4)
		for _, s := range []string{"", `a"b`, "x,y|z", "l1\nl2\r\nl3", `back\slash`, " blanks ", "'q'", "#c", "é😀"} {
			b.Cols[0].(*batch.Bytes).AppendString(s)
			if err := text.ParseCell(b.Cols[1], "[1, 2]"); err != nil {
				t.Fatal(err)
			}
		}
		b.SetSize(b.Cols[0].Len())
		got, err := tab.Decode([]byte(encode(t, tab, b)), 1<<20, 100)
		if err != nil || formattest.Print(got) != formattest.Print(b) {
			t.Errorf("%v: %v\n%s", opts, err, formattest.Print(got))
		}
	}
}
