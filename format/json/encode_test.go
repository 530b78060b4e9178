package json

import (
	"strings"
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/format/internal/formattest"
	"github.com/millstream-io/millstream/types"
)

// TestEncode decodes a record and writes it again; the texts are those that
// real Flink writes.
func TestEncode(t *testing.T) {
	iso, plain := timestampFormat+"=ISO-8601", plainDecimal+"=true"
	for _, c := range []struct {
		typ  types.Type
		opt  string
		pair []string // what is read, what is written
	}{
		{boolean, "", []string{"true", "true", "null", "null"}},
		{types.Of(types.TinyInt), "", []string{"-128", "-128"}},
		{types.Of(types.SmallInt), "", []string{"32767", "32767"}},
		{integer, "", []string{"-1", "-1"}},
		{bigint, "", []string{"9223372036854775807", "9223372036854775807"}},
		{double, "", []string{"1e7", "1.0E7", "0.001", "0.001", "-0.0", "-0.0", "123456789.125", "1.23456789125E8", `"NaN"`, `"NaN"`, `"-Infinity"`, `"-Infinity"`, "100", "100.0", "4.9e-324", "4.9E-324", "2e23", "1.9999999999999998E23"}},
		{float, "", []string{"1e7", "1.0E7", "0.0001", "1.0E-4", "16777217", "1.6777216E7", `"Infinity"`, `"Infinity"`, "3", "3.0"}},
		{types.DecimalOf(38, 10), "", []string{"1e-10", "1E-10", "1e10", "1E+10", "0", "0", "100", "1E+2", "-1.50", "-1.5", "0.000001", "0.000001", "0.0000001", "1E-7"}},
		{types.DecimalOf(20, 0), "", []string{"12345678901234567890", "1.234567890123456789E+19", "-1", "-1", "1000", "1E+3"}},
		{types.DecimalOf(10, 3), "", []string{"1234567.891", "1234567.891", "0.1", "0.1", "-1234567.890", "-1234567.89"}},
		{types.DecimalOf(38, 10), plain, []string{"1e-10", "0.0000000001", "1e10", "10000000000.0000000000", "0", "0.0000000000"}},
		{types.DecimalOf(10, 2), plain, []string{"-0.05", "-0.05", "100", "100.00"}},
		{str, "", []string{`"a\nb\tc\"d\\e/f"`, `"a\nb\tc\"d\\e/f"`, `"é中😀"`, `"é中\uD83D\uDE00"`, `"\u0000\u001f\u007f\u2028"`, "\"\\u0000\\u001F\u007f\u2028\"",
			`"\b\f\r\u000b"`, `"\b\f\r\u000B"`, `"\ud800x"`, `"\uD800x"`, `"<a href='x'>&</a> and more than eight"`, `"<a href='x'>&</a> and more than eight"`}},
		{types.BytesType(), "", []string{`"AAH/"`, `"AAH/"`, `""`, `""`}},
		{types.Of(types.Date), "", []string{`"2024-02-29"`, `"2024-02-29"`, `"0001-01-01"`, `"0001-01-01"`, `"+12024-01-02"`, `"+12024-01-02"`, `"-0001-01-02"`, `"-0001-01-02"`}},
		{types.TimeOf(types.Time, 3), "", []string{`"01:02:03"`, `"01:02:03"`, `"01:02:03.450"`, `"01:02:03.45"`, `"00:00:00"`, `"00:00:00"`}},
		{types.TimeOf(types.Timestamp, 3), "", []string{`"2024-01-02 03:04:05.1"`, `"2024-01-02 03:04:05.1"`, `"1969-12-31 23:59:59"`, `"1969-12-31 23:59:59"`, `"2024-01-02 00:00:00"`, `"2024-01-02 00:00:00"`}},
		{types.TimeOf(types.Timestamp, 9), "", []string{`"2024-01-02 03:04:05.123456789"`, `"2024-01-02 03:04:05.123456789"`, `"2024-01-02 03:04:05.1"`, `"2024-01-02 03:04:05.1"`}},
		{types.TimeOf(types.TimestampLTZ, 6), "", []string{`"0001-01-02 03:04:05.123450Z"`, `"0001-01-02 03:04:05.12345Z"`}},
		{types.TimeOf(types.Timestamp, 3), iso, []string{`"2024-01-02T03:04:05.1"`, `"2024-01-02T03:04:05.1"`}},
		{types.TimeOf(types.TimestampLTZ, 3), iso, []string{`"2024-01-02T00:00:00Z"`, `"2024-01-02T00:00:00Z"`}},
		{types.ArrayOf(types.DecimalOf(10, 3)), "", []string{"[0.100,100,null]", "[0.1,1E+2,null]", "[]", "[]"}},
		{types.MapOf(str, double), "", []string{`{"a\"b":1,"c":"NaN","d":null}`, `{"a\"b":1.0,"c":"NaN","d":null}`, "{}", "{}"}},
		{types.MultisetOf(str), "", []string{`{"x":2}`, `{"x":2}`}},
		{types.RowOf(field("q\"", integer), field("é", types.ArrayOf(types.RowOf(field("z", str))))), "", []string{`{"q\"":1,"é":[{"z":"w"},null]}`, `{"q\"":1,"é":[{"z":"w"},null]}`, "{}", `{"q\"":null,"é":null}`}},
	} {
		opts := []string{failOnMissing + "=false"}
		if c.opt != "" {
			opts = append(opts, c.opt)
		}
		tab := one(c.typ, opts...)
		for i := 0; i < len(c.pair); i += 2 {
			b, err := tab.Decode([]byte(`{"v":`+c.pair[i]+"}\n"), 1<<20, 10)
			if err != nil {
				t.Errorf("%s %s: %v", c.typ, c.pair[i], err)
				continue
			}
			if got, want := encode(t, tab, b), `{"v":`+c.pair[i+1]+"}\n"; got != want {
				t.Errorf("%s %s: %s, want %s", c.typ, c.opt, got, want)
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
	if e.Header() != nil || e.Updates() {
		t.Error("JSON has a header, or takes updates")
	}
	buf, err := e.Encode([]byte("#"), b)
	if err != nil {
		return "error: " + err.Error()
	}
	return strings.TrimPrefix(string(buf), "#")
}

func TestEncodeRows(t *testing.T) {
	tab := table([]string{ignoreNulls + "=true"}, field("a", integer), field("r", types.RowOf(field("x", integer), field("y", str))), field("m", types.MapOf(str, integer)))
	b, err := tab.Decode([]byte(`{"a":1}`+"\n{}\n"+`{"r":{"y":"p"},"m":{"k":null}}`+"\n"+`{"a":4,"r":{}}`), 1<<20, 10)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"a":1}` + "\n{}\n" + `{"r":{"y":"p"},"m":{"k":null}}` + "\n" + `{"a":4,"r":{}}` + "\n"
	if got := encode(t, tab, b); got != want {
		t.Errorf("%s", got)
	}
	if got := encode(t, tab, b.WithSel([]int32{1, 3})); got != "{}\n"+`{"a":4,"r":{}}`+"\n" {
		t.Errorf("%s", got)
	}
	if got := encode(t, tab, b.Slice(2, 4)); got != `{"r":{"y":"p"},"m":{"k":null}}`+"\n"+`{"a":4,"r":{}}`+"\n" {
		t.Errorf("%s", got)
	}
}

func TestEncodeNullKeys(t *testing.T) {
	for _, c := range []struct{ opts, want string }{
		{"", `error: column "v": a map has a NULL key`},
		{nullKeyMode + "=DROP", `{"v":{"null":2}}`},
		{nullKeyMode + "=LITERAL", `{"v":{"null":2}}`},
		{nullKeyMode + "=LITERAL;" + nullKeyLiteral + "=none", `{"v":{"none":1,"null":2}}`},
	} {
		tab := one(types.MapOf(str, integer), strings.Split(c.opts, ";")...)
		delete(tab.Options, "")
		b := batch.NewBatch(tab.Schema, 1)
		m := b.Cols[0].(*batch.Map)
		m.Keys.AppendNull()
		m.Keys.(*batch.Bytes).AppendString("null")
		m.Vals.(*batch.Fixed[int32]).Append(1)
		m.Vals.(*batch.Fixed[int32]).Append(2)
		m.Close()
		b.SetSize(1)
		if got := encode(t, tab, b); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s", c.opts, got)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		typ  types.Type
		opts string
		want string
	}{
		{types.MapOf(integer, str), "", "JSON has only maps whose keys are strings, but its type is MAP<INT, STRING>"},
		{types.ArrayOf(types.MultisetOf(integer)), "", "JSON has only maps whose keys are strings"},
		{integer, failOnMissing + "=true;" + ignoreErrors + "=true", "exclude each other"},
		{integer, timestampFormat + "=RFC", "must be one of SQL, ISO-8601"},
		{integer, nullKeyMode + "=XX", "must be one of FAIL, DROP, LITERAL"},
	} {
		tab := one(c.typ, strings.Split(c.opts, ";")...)
		delete(tab.Options, "")
		if _, _, err := tab.Decoder(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v", c.typ, c.opts, err)
		}
	}
}
