package json

import (
	"fmt"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/format/internal/formattest"
	"github.com/millstream-io/millstream/types"
)

var (
	boolean = types.Of(types.Boolean)
	integer = types.Of(types.Int)
	bigint  = types.Of(types.BigInt)
	double  = types.Of(types.Double)
	float   = types.Of(types.Float)
	str     = types.StringType()
	ts3     = types.TimeOf(types.Timestamp, 3)
	ltz3    = types.TimeOf(types.TimestampLTZ, 3)
)

func field(name string, t types.Type) types.Field { return types.Field{Name: name, Type: t} }

// one is a table of the single column v.
func one(t types.Type, options ...string) *formattest.Case {
	return table(options, field("v", t))
}

func table(options []string, fields ...types.Field) *formattest.Case {
	c := &formattest.Case{Def: Def, Schema: types.NewSchema(fields...), Options: map[string]string{}}
	for _, o := range options {
		k, v, _ := strings.Cut(o, "=")
		c.Options[k] = v
	}
	return c
}

const ignore = ignoreErrors + "=true"

// TestValues reads one value of one type at a time. A value that does not fit
// becomes NULL, marked with an exclamation mark if it was counted; a record
// that is skipped gives nothing.
func TestValues(t *testing.T) {
	iso := timestampFormat + "=ISO-8601"
	for _, c := range []struct {
		typ    types.Type
		opt    string
		values string // pairs of JSON and result
	}{
		{boolean, "", `true true; false false; null NULL; "TRUE" true; " false " false; "x" !; 1 !; 0 !; [] !; "" !`},
		{types.Of(types.TinyInt), "", `127 127; -128 -128; 128 !; -129 !; " 5 " 5; "+5" 5; 1.0 !; 1e1 !; true !; 007 -`},
		{types.Of(types.SmallInt), "", `32767 32767; -32769 !; "7" 7; "" !; 1.0 !`},
		{integer, "", `1 1; -0 0; 2147483647 2147483647; 2147483648 !; 1.0 1; 1e2 100; 1.5 !; 2147483647.9 !; " +7 " 7; "1.0" !; "abc" !; "" !; [1] !; {} !; "1_0" !; "0x1" !`},
		{bigint, "", `9223372036854775807 9223372036854775807; 9223372036854775808 !; -9223372036854775808 -9223372036854775808; 9007199254740993 9007199254740993; 1e18 1000000000000000000; -9.223372036854775808e18 -9223372036854775808; 9.3e18 !; 1e-5 !; 1e30000000 !; 0e99 0; 0.00 0; 1.50e1 15; "12L" !; "00012" 12; "-" !; "9223372036854775808" !; 1e - ; - - ; .5 - ; 1. - ; 01 - ; +1 - `},
		{double, "", `1.5 1.5; -2.25e-3 -0.00225; 1e308 1e+308; 0.1 0.1; "NaN" NaN; "-NaN" NaN; "Infinity" +Inf; "-Infinity" -Inf; "infinity" !; "inf" !; 1e400 !; "1e400" !; 1e-400 0; "1d" 1; "0x1p3" 8; "0x1p3d" 8; " 1.5 " 1.5; "5." 5; ".5" 0.5; "" !; "1_0" !; true !; 123456789012345678 1.2345678901234568e+17; 4.9E-324 5e-324; NaN - `},
		{float, "", `0.1 0.1; 3.4028235E38 3.4028235e+38; 1e39 !; 1.00000017881393432617187499 1.0000001; 1e-50 0; 16777217 1.6777216e+07`},
		{types.DecimalOf(5, 2), "", `1.005 101; "1.005" 101; -1.005 -101; 999.994 99999; 999.995 !; 99999.9 !; 1e2 10000; 0.00499999999999999999999 0; " 2.5 " 250; ".5" 50; "5." 500; "" !; "abc" !; 1e-1000000 0; 1e1000000 !; "1e99999999999" !; true !; 0 0; -0.004 0; 0.005 1; 00.1 - `},
		{types.DecimalOf(38, 18), "", `12345678901234567890.123456789012345678 12345678901234567890123456789012345678; 0.000000000000000001 1; -99999999999999999999.999999999999999999 -99999999999999999999999999999999999999; 100000000000000000000 !; "1E-18" 1; 1e19 10000000000000000000000000000000000000`},
		{str, "", `"a" "a"; "" ""; 12 "12"; 1.50 "1.50"; 1e3 "1e3"; true "true"; null NULL; {"a": 1, "b":[1, 2.0]} "{\"a\":1,\"b\":[1,2.0]}"; [ ] "[]"; "\u0041\u00e9\u4e2d" "Aé中"; "\ud83d\ude00" "😀"; "\ud83dx" "\xed\xa0\xbdx"; "a\nb\t\"\\\/" "a\nb\t\"\\/"; "\x" -; "\u12" -; "\u12G4" -; "open -; {"x":"\u0041\u0001\n\ud83d\ude00"} "{\"x\":\"A\\u0001\\n😀\"}"`},
		{types.BytesType(), "", `"AAH/" x'0001ff'; "AA==" x'00'; "AAA=" x'0000'; "" x''; " AAH/" x'0001ff'; "AAH" !; "AA" !; "A" !; "AA=" !; "AAH_" !; "AA\nH/" !; "AAH/=" !; 5 !; "é" !; ["AA=="] !`},
		{types.Of(types.Date), "", `"1970-01-02" 1; "2020-02-29" 18321; "2019-02-29" !; "2020-2-9" !; "20200229" !; "2020-02-29 00:00:00" !; 18321 !; "" !; " 2020-02-29" !; "+10000-01-01" 2932897; "10000-01-01" !; "+2020-01-01" !; "-0001-01-01" -719893; "0000-01-01" -719528; "+999999999-01-01" !; "2020-13-01" !; "2020-00-01" !; "2020-01-00" !`},
		{types.TimeOf(types.Time, 0), "", `"01:02:03" 3723000; "23:59:59" 86399000; "24:00:00" 0; "24:00:00.0" 0; "24:00:01" !; "01:02" !; "1:2:3" !; "01:02:03.456" 3723000; "01:02:03Z" !; "23:59:60" !; "" !; "01:02:03." 3723000; "01:02:03.1234567890" !; 3723 !`},
		{types.TimeOf(types.Time, 3), "", `"01:02:03.456" 3723456; "23:59:59.999999999" 86399999`},
		{ts3, "", `"1970-01-01 00:00:01" 1000; "1970-01-01 00:00:01.5" 1500; "1970-01-01 00:00:01." 1000; "1970-01-01 00:00:01.123456789" 1123; "1969-12-31 23:59:59.999" -1; "1970-01-01 24:00:00" 86400000; "1970-02-31 00:00:00" 5011200000; "1970-02-32 00:00:00" !; "1970-01-01 24:00:01" !; "1970-01-01T00:00:01" !; "1970-01-01 00:00:01Z" !; "1970-01-01 00:00" !; " 1970-01-01 00:00:01" !; "1970-01-01 00:00:60" !; "1970-01-01 00:00:0x" !; "1970-01-01 00:00:0\u0031" 1000; 5 !; "" !; "+999999999-12-31 23:59:59" !; "2021-04-31 10:00:00" 1619776800000`},
		{ltz3, "", `"1970-01-01 00:00:01Z" 1000; "1970-01-01 00:00:01.123Z" 1123; "1970-01-01 00:00:01" !; "1970-01-01 00:00:01z" !; "1970-01-01 00:00:01+00:00" !; "2021-02-30 10:00:00Z" 1614506400000`},
		{types.TimeOf(types.Timestamp, 0), "", `"1970-01-01 00:00:01.9" 1000; "1969-12-31 23:59:59.9" -1000`},
		{types.TimeOf(types.Timestamp, 9), "", `"1970-01-01 00:00:01.123456789" 1123+456789; "1969-12-31 23:59:59.999999999" -1+999999; "0001-01-01 00:00:00" -62135596800000+0`},
		{types.TimeOf(types.Timestamp, 6), "", `"1970-01-01 00:00:01.123456789" 1123+456000`},
		{ts3, iso, `"1970-01-01T00:00:01" 1000; "1970-01-01t00:01" 60000; "1970-01-01T00:00:01.123" 1123; "1970-01-01 00:00:01" !; "1970-01-01T24:00:00" !; "1970-02-30T00:00:00" !; "1970-01-01T00:00:01Z" !; "1970-01-01" !`},
		{ltz3, iso, `"1970-01-01T00:00:01Z" 1000; "1970-01-01T00:01Z" 60000; "1970-01-01T24:00Z" 86400000; "1970-01-01T00:00:01" !; "1970-01-01t00:00:01z" !`},
		{types.ArrayOf(integer), "", `[1,2] [1, 2]; [] []; [ 1 , null ] [1, NULL]; [1,"x",3] [1, NULL, 3]!; 5 !; "s" !; {} !; [1,] -; [1 -; [1 2] -`},
		{types.ArrayOf(types.ArrayOf(str)), "", `[["a","b"],[]] [["a", "b"], []]; [null] [NULL]`},
		{types.ArrayOf(integer.NotNull()), "", `[1] [1]; [1,null] -; [1,"x"] -`},
		{types.MapOf(str, integer), "", `{"a":1,"b":2} {"a"=1, "b"=2}; {} {}; {"a":1,"b":5,"a":2} {"a"=2, "b"=5}; {"":null} {""=NULL}; [] !; {"a":"x"} {"a"=NULL}!; {"a\u0041":1} {"aA"=1}; {"a" : 1 , "b":2 } {"a"=1, "b"=2}; {a:1} -; {"a"} -; {"a":1,} -`},
		{types.MultisetOf(str), "", `{"a":2} {"a"=2}; {"a":null} -`},
		{types.RowOf(field("x", integer), field("y", str)), "", `{"x":1,"y":"p"} (1, "p"); {"y":"p"} (NULL, "p"); {} (NULL, NULL); null NULL; {"x":1,"x":2} (2, NULL); {"x":[],"y":"z"} (NULL, "z")!; [] !; 5 !; {"x":{"y":1},"y":"z"} (NULL, "z")!; {"x":1 -`},
		{types.RowOf(field("x", integer.NotNull())), "", `{"x":1} (1); {} -; null NULL`},
	} {
		for _, pair := range strings.Split(c.values, ";") {
			pair = strings.TrimSpace(pair)
			i := split(pair)
			in, want := pair[:i], strings.TrimSpace(pair[i:])
			tab := one(c.typ, ignore)
			if c.opt != "" {
				tab = one(c.typ, ignore, c.opt)
			}
			got, err := tab.Rows(t, []byte(`{"v":`+in+"}\n"))
			got = strings.TrimSuffix(got, "\n")
			if tab.Counts["nulled_values"] > 0 {
				got = strings.TrimPrefix(got, "NULL") + "!"
			}
			if got == "" && tab.Counts["skipped_records"] == 1 {
				got = "-"
			}
			if got != want || err != nil {
				t.Errorf("%s %s %s: %s, want %s (%v)", c.typ, c.opt, in, got, want, err)
			}
		}
	}
}

// split finds the blank between a JSON text and the result.
func split(pair string) int {
	depth, quoted := 0, false
	for i := 0; i < len(pair); i++ {
		switch c := pair[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		case c == ' ' && depth == 0:
			return i
		}
	}
	return strings.LastIndexByte(pair, ' ')
}

func TestRecords(t *testing.T) {
	ab := []types.Field{field("a", integer), field("b", str)}
	for _, c := range []struct{ name, opts, in, want, counts string }{
		{"order, missing, extra", "", `{"a":1,"b":"x"}` + "\n" + `{"b":"y","a":2}` + "\n{}\n" + `{"z":[{"a":[1,{"b":[]}]}],"b":"z"}` + "\n", "1 | \"x\"\n2 | \"y\"\nNULL | NULL\nNULL | \"z\"\n", ""},
		{"no line break at the end", "", `{"a":1}` + "\n" + `{"a":2}`, "1 | NULL\n2 | NULL\n", ""},
		{"crlf and empty lines", "", "{\"a\":1}\r\n\r\n\n{\"a\":2}\r\n", "1 | NULL\n2 | NULL\n", ""},
		{"byte-order marks", "", "\xef\xbb\xbf{\"a\":1}\n\xef\xbb\xbf{\"a\":2}\n", "1 | NULL\n2 | NULL\n", ""},
		{"blanks everywhere", "", " { \"a\" : 1 ,\t\"b\" : \"x\" } \n", "1 | \"x\"\n", ""},
		{"last of a repeated key", "", `{"a":1,"a":2}` + "\n" + `{"a":3,"b":"x","a":null,"b":"yy"}` + "\n", "2 | NULL\nNULL | \"yy\"\n", ""},
		{"escaped names", "", `{"\u0061":1,"\u0062":"x"}` + "\n", "1 | \"x\"\n", ""},
		{"names and case", "", `{"A":1,"B":"x"}` + "\n", "NULL | NULL\n", ""},
		{"arrays of rows", "", `[{"a":1},{"a":2}]` + "\n[]\n" + ` [ {"a":3} , {"a":4} ] ` + "\n", "1 | NULL\n2 | NULL\n3 | NULL\n4 | NULL\n", ""},
		{"elements that are no rows", ignore, `[{"a":1},{"a":"x"},7,null,[],{"a":4}]` + "\n", "1 | NULL\nNULL | NULL\n4 | NULL\n", "nulled_values=1 skipped_records=3"},
		{"an array that breaks off", ignore, `[{"a":1},{"a":2` + "\n" + `{"a":3}`, "1 | NULL\n3 | NULL\n", "skipped_records=1"},
		{"text behind the value", ignore, `{"a":1} x` + "\n" + `{"a":2}{"a":3}` + "\n", "1 | NULL\n2 | NULL\n", "skipped_records=2"},
		{"broken records", ignore, "{\"a\":\nnot json\n42\n\"text\"\nnull\n{\"a\":5,\"b\":\"x\n   \n{\"a\":6,\"b\":tru}\n{\"a\":7]\n{a:1}\n{'a':1}\n{\"a\":1,}\n{\"a\":8}\n", "8 | NULL\n", "skipped_records=12"},
		{"control characters in strings", "", "{\"b\":\"x\ty\x01\"}\n", "NULL | \"x\\ty\\x01\"\n", ""},
		{"bad UTF-8", ignore, "{\"b\":\"x\xff\"}\n{\"b\":\"\xed\xa0\x80\"}\n", "NULL | NULL\nNULL | \"\\xed\\xa0\\x80\"\n", "nulled_values=1"},
		{"values that are not there", failOnMissing + "=true", `{"b":null,"a":1}` + "\n", "1 | NULL\n", ""},
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

// TestPartialRows reads some fields of a ROW.
func TestPartialRows(t *testing.T) {
	full := types.RowOf(field("x", integer), field("y", types.RowOf(field("z", str), field("w", integer))), field("v", integer))
	tab := table(nil, field("r", full))
	cfg, err := tab.Config()
	if err != nil {
		t.Fatal(err)
	}
	cfg.Schema = types.NewSchema(field("r", types.RowOf(field("y", types.RowOf(field("w", integer))), field("v", integer))))
	d, err := Def.NewDecoder(cfg)
	if err != nil {
		t.Fatal(err)
	}
	dst := batch.NewBatch(cfg.Schema, 1)
	in := `{"r":{"x":"bad","y":{"z":1,"w":2},"v":3}}` + "\n" + `{"r":{"y":{}}}` + "\n" + `{}`
	if _, _, err := d.Decode([]byte(in), true, dst, 10); err != nil {
		t.Fatal(err)
	}
	if got, want := formattest.Print(dst), "((2), 3)\n((NULL), NULL)\nNULL\n"; got != want {
		t.Errorf("%s want %s", got, want)
	}
}
