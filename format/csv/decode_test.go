package csv

import (
	"fmt"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/format/internal/formattest"
	"github.com/millstream-io/millstream/types"
)

var (
	integer = types.Of(types.Int)
	bigint  = types.Of(types.BigInt)
	str     = types.StringType()
	ts3     = types.TimeOf(types.Timestamp, 3)
)

func col(name string, t types.Type) types.Field { return types.Field{Name: name, Type: t} }

func table(options []string, fields ...types.Field) *formattest.Case {
	c := &formattest.Case{Def: Def, Schema: types.NewSchema(fields...), Options: map[string]string{}}
	for _, o := range options {
		k, v, _ := strings.Cut(o, "=")
		c.Options[k] = v
	}
	return c
}

const ignore = ignoreErrors + "=true"

// TestValues reads one field of one type at a time, between two others. A value
// that becomes NULL and is counted is marked "!", a record that is skipped "-".
func TestValues(t *testing.T) {
	null := nullLiteral + "=n/a"
	for _, c := range []struct {
		typ    types.Type
		opt    string
		values [][2]string
	}{
		{types.Of(types.Boolean), "", [][2]string{{"true", "true"}, {"FALSE", "false"}, {" True ", "true"}, {"1", "!"}, {"T", "!"}, {"", "!"}, {"yes", "!"}}},
		{types.Of(types.TinyInt), "", [][2]string{{"127", "127"}, {"128", "!"}, {" 5 ", "5"}, {"+5", "5"}, {"1.0", "!"}}},
		{types.Of(types.SmallInt), "", [][2]string{{"-32768", "-32768"}, {"32768", "!"}}},
		{integer, "", [][2]string{{"2147483647", "2147483647"}, {"2147483648", "!"}, {" 7 ", "7"}, {"1.0", "!"}, {"1e2", "!"}, {"", "!"}, {"0x10", "!"}, {"1_000", "!"}, {`"8"`, "8"}, {`"8" `, "8"}, {"-", "!"}}},
		{bigint, "", [][2]string{{"9223372036854775807", "9223372036854775807"}, {"9223372036854775808", "!"}, {"-9223372036854775808", "-9223372036854775808"}, {"010", "10"}, {"5x", "!"}, {`"1,000"`, "!"}, {"", "!"}, {"n/a", "!"}}},
		{bigint, null, [][2]string{{"n/a", "NULL"}, {`"n/a"`, "NULL"}, {"N/A", "!"}, {"5", "5"}}},
		{types.Of(types.Double), "", [][2]string{{"1.5", "1.5"}, {"1e2", "100"}, {" 7 ", "7"}, {"1e400", "!"}, {"NaN", "NaN"}, {"Infinity", "+Inf"}, {"1f", "1"}, {"", "!"}, {"x", "!"}}},
		{types.Of(types.Float), "", [][2]string{{"1.00000017881393432617187499", "1.0000001"}, {"1e39", "!"}}},
		{types.DecimalOf(5, 2), "", [][2]string{{"1.005", "101"}, {"+5", "500"}, {"1e2", "10000"}, {" 7 ", "!"}, {"99999.9", "!"}, {"-1.005", "-101"}, {".5", "50"}, {"5.", "500"}, {"", "!"}}},
		{types.DecimalOf(38, 2), "", [][2]string{{"123456789012345678901234567890.125", "12345678901234567890123456789013"}}},
		{str, "", [][2]string{{"x", `"x"`}, {"", `""`}, {" x ", `" x "`}, {`""`, `""`}, {`"a,b"`, `"a,b"`}, {`"say ""hi"""`, `"say \"hi\""`}, {"\"a\nb\"", `"a\nb"`}, {"\"a\r\nb\"", `"a\r\nb"`}, {` "x"`, `" \"x\""`}, {`x"y`, `"x\"y"`}, {`"x" `, `"x"`}, {"\"x\"\t", `"x"`}, {`"x"y`, "-"}, {"é", `"é"`}, {"\xff", "!"}, {"\xed\xa0\x80", `"\xed\xa0\x80"`}, {"\"é\"\"\xff\"", "!"}}},
		{str, null, [][2]string{{"n/a", "NULL"}, {"", `""`}}},
		{str, nullLiteral + "=", [][2]string{{"", "NULL"}, {`""`, "NULL"}, {"x", `"x"`}}},
		{types.BytesType(), "", [][2]string{{"AAH/", "x'0001ff'"}, {"", "x''"}, {"AA==", "x'00'"}, {"AAH", "!"}, {" AAH/", "x'0001ff'"}, {"AA H/", "!"}, {"x!", "!"}}},
		{types.Of(types.Date), "", [][2]string{{"1970-01-02", "1"}, {"1970-1-2", "1"}, {"2020-02-29", "18321"}, {"2020-02-31", "!"}, {"2021-02-29", "!"}, {"0000-01-01", "-719528"}, {"+10000-01-01", "!"}, {"-001-01-01", "!"}, {"20-01-01", "!"}, {"2020-001-1", "!"}, {"2020-01-011", "!"}, {"2020-01-01 ", "!"}, {" 2020-01-01", "!"}, {"2020-13-01", "!"}, {"2020-00-01", "!"}, {"2020-1-", "!"}, {"2020-1", "!"}, {"2020--1-1", "!"}, {"", "!"}}},
		{types.TimeOf(types.Time, 0), "", [][2]string{{"12:00", "43200000"}, {"00:00:01", "1000"}, {"00:00:01.5", "1000"}, {"24:00:00", "!"}, {"1:2:3", "!"}, {" 12:00", "!"}, {"12", "!"}}},
		{types.TimeOf(types.Time, 3), "", [][2]string{{"00:00:01.5", "1500"}, {"00:00:00.", "0"}}},
		{ts3, "", [][2]string{{"1970-01-01 00:00:01", "1000"}, {"1970-01-01 00:00:01.123456", "1123"}, {" 1970-01-01 00:00:01 ", "1000"}, {"1970-01-01 24:00:00", "86400000"}, {"1970-02-30 00:00:00", "5011200000"}, {"1970-01-01T00:00:01", "!"}, {"1970-01-01 00:00:01Z", "!"}, {"1970-01-01", "!"}, {"1970-01-01 00:00", "!"}}},
		{types.TimeOf(types.TimestampLTZ, 3), "", [][2]string{{"1970-01-01 00:00:01Z", "1000"}, {" 1970-01-01 00:00:01.5Z ", "1500"}, {"1970-01-01 00:00:01", "!"}}},
		{types.TimeOf(types.Timestamp, 6), "", [][2]string{{"1970-01-01 00:00:01.123456789", "1123+456000"}}},
		{types.ArrayOf(integer), "", [][2]string{{"1;2;3", "[1, 2, 3]"}, {"", "[]"}, {" 1 ;2", "[1, 2]"}, {"1;;2", "[1, NULL, 2]!"}, {";", "[NULL, NULL]!"}, {"1;", "[1, NULL]!"}}},
		{types.ArrayOf(str), null, [][2]string{{"a;n/a;b", `["a", NULL, "b"]`}, {"n/a", "[NULL]"}, {`"a,b;c"`, `["a,b", "c"]`}, {";", `["", ""]`}}},
		{types.ArrayOf(str), arrayDelimiter + "=|", [][2]string{{"a|b;c", `["a", "b;c"]`}}},
		{types.RowOf(col("x", integer), col("y", str)), "", [][2]string{{"1;a", `(1, "a")`}, {"", "NULL"}, {"1", "(1, NULL)!"}, {"1;a;b", `(1, "a")!`}, {";", `(NULL, "")!`}, {"x;a", `(NULL, "a")!`}}},
		{integer.NotNull(), null, [][2]string{{"1", "1"}, {"n/a", "-"}, {"x", "-"}}},
	} {
		for _, v := range c.values {
			opts := []string{ignore}
			if c.opt != "" {
				opts = append(opts, c.opt)
			}
			tab := table(opts, col("k", integer), col("v", c.typ), col("z", integer))
			tab.Wanted = []string{"v"}
			got, err := tab.Rows(t, []byte("1,"+v[0]+",2\n"))
			got = strings.TrimSuffix(got, "\n")
			if tab.Counts["nulled_values"] > 0 {
				got = strings.TrimPrefix(got, "NULL") + "!"
			}
			if got == "" && tab.Counts["skipped_records"] == 1 {
				got = "-"
			}
			if got != v[1] || err != nil {
				t.Errorf("%s %s %q: %s, want %s (%v)", c.typ, c.opt, v[0], got, v[1], err)
			}
		}
	}
}

func TestRecords(t *testing.T) {
	ab := []types.Field{col("a", integer), col("b", str)}
	for _, c := range []struct{ name, opts, in, want, counts string }{
		{"line ends", "", "1,x\n2,y\r\n3,z\r4,v", "1 | \"x\"\n2 | \"y\"\n3 | \"z\"\n4 | \"v\"\n", ""},
		{"quotes and line ends", "", "1,\"x\"\r\n2,\"\"\n\"3\",\"z\"", "1 | \"x\"\n2 | \"\"\n3 | \"z\"\n", ""},
		{"too few", ignore, "1\n2,y\n\n", "1 | NULL\n2 | \"y\"\nNULL | NULL\n", "nulled_values=3"},
		{"too many", ignore, "1,x\n2,y,extra\n3,z,\n4,w,,\n5,\"v\",\n6,\"u\",\"a\nb\"\n7,\"t\",\"\"\n8,s\n", "1 | \"x\"\n3 | \"z\"\n5 | \"v\"\n7 | \"t\"\n8 | \"s\"\n", "skipped_records=3"},
		{"behind a quote", ignore, "1,\"x\"y\n2,y\n3,\"x\"\"\n,z\"\n4,\"a\" \"b\n5,v\n", "2 | \"y\"\n3 | \"x\\\"\\n,z\"\n5 | \"v\"\n", "skipped_records=2"},
		{"open quote", ignore, "1,x\n2,\"y\n3,z\n", "1 | \"x\"\n", "skipped_records=1"},
		{"byte-order mark", "", "\xef\xbb\xbf1,x\n", "1 | \"x\"\n", ""},
		{"comments", allowComments + "=true", "# no\n1,x\n\n  \n  #2,y\n\"3\",\"#\"\n 4,#\n#", "1 | \"x\"\n3 | \"#\"\n4 | \"#\"\n", ""},
		{"comments that are none", "", "1,#x\n", "1 | \"#x\"\n", ""},
		{"no quotes", disableQuotes + "=true", "1,\"x\n2,\"y\"\n", "1 | \"\\\"x\"\n2 | \"\\\"y\\\"\"\n", ""},
		{"another quote", quoteCharacter + "='", "1,'x,y'\n2,'it''s'\n3,\"q\"\n", "1 | \"x,y\"\n2 | \"it's\"\n3 | \"\\\"q\\\"\"\n", ""},
		{"escapes", escapeCharacter + `=\`, "1,a\\,b\n2,\"x\\\"y\"\n3,\\n\\t\\\\\n4,\"a\\\nb\"\n5,a\\\nb\n", "1 | \"a,b\"\n2 | \"x\\\"y\"\n3 | \"\\n\\t\\\\\"\n4 | \"a\\nb\"\n5 | \"a\\nb\"\n", ""},
		{"tab", fieldDelimiter + `=\t`, "1\tx y\n2\t\"q\tr\"\n3\t\"q\"\t\n", "1 | \"x y\"\n2 | \"q\\tr\"\n3 | \"q\"\n", ""},
		{"a delimiter beyond ASCII", fieldDelimiter + `=é`, "1éx\n2é\"qér\"\n", "1 | \"x\"\n2 | \"qér\"\n", ""},
		{"header skipped", header + "=skip", "\xef\xbb\xbfx,\"y\nz\"\n1,x\n", "1 | \"x\"\n", ""},
		{"header in another order", header + "=true", "c,b,zz,A\r\n9,x,8,1\r\n9,\"y\",8,2\r\n", "1 | \"x\"\n2 | \"y\"\n", ""},
		{"header alone", header + "=true", "a,b", "", ""},
		{"empty file", header + "=true", "", "", ""},
	} {
		var opts []string
		if c.opts != "" {
			opts = []string{c.opts}
		}
		tab := table(opts, ab...)
		got, err := tab.Rows(t, []byte(c.in))
		var counts []string
		for _, k := range []string{"nulled_values", "skipped_records"} {
			if n := tab.Counts[k]; n > 0 {
				counts = append(counts, fmt.Sprintf("%s=%d", k, n))
			}
		}
		if got != c.want || err != nil || strings.Join(counts, " ") != c.counts {
			t.Errorf("%s: %v %v\n%s\nwant %s\n%s", c.name, err, counts, got, c.counts, c.want)
		}
	}
}

func TestProjection(t *testing.T) {
	tab := table(nil, col("a", str), col("b", integer), col("c", integer))
	tab.Wanted = []string{"c", "a"}
	got, err := tab.Rows(t, []byte("x,zz,1\n\"y\",,2\n"))
	if want := "1 | \"x\"\n2 | \"y\"\n"; got != want || err != nil {
		t.Errorf("%v\n%s", err, got)
	}
	tab.Wanted = []string{}
	b, err := tab.Decode([]byte("x,1,1\ny,2,2\n"), 100, 100)
	if err != nil || b.Size() != 2 {
		t.Errorf("%v %d", err, b.Size())
	}
}

func TestOptionsRefused(t *testing.T) {
	for _, c := range []struct {
		opts string
		typ  types.Type
		want string
	}{
		{fieldDelimiter + "=ab", integer, "must be a single character"},
		{quoteCharacter + "=ab", integer, "must be a single ASCII character"},
		{quoteCharacter + "=x;" + disableQuotes + "=true", integer, "exclude each other"},
		{escapeCharacter + "=é", integer, "must be a single ASCII character"},
		{arrayDelimiter + "=", integer, "must be a single character"},
		{fieldDelimiter + `="`, integer, "also ends a line"},
		{"", types.MapOf(str, integer), `column "v": CSV has no form for type MAP<STRING, INT>`},
		{"", types.ArrayOf(types.ArrayOf(integer)), "holds simple values only"},
		{"", types.RowOf(col("x", types.ArrayOf(integer))), "holds simple values only"},
	} {
		tab := table(strings.Split(c.opts, ";"), col("v", c.typ))
		delete(tab.Options, "")
		if _, _, err := tab.Decoder(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.opts, err)
		}
	}
}

func TestHeaderFaults(t *testing.T) {
	tab := table([]string{header + "=true"}, col("delay", integer), col("origin", str))
	_, err := tab.Decode([]byte("origin,delai\n"), 100, 1)
	if want := `column "delay" is not in the header line (origin, delai); did you mean "delai"?`; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Error(err)
	}
}
