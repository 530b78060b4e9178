package raw

import (
	"bytes"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/format/internal/formattest"
	"github.com/millstream-io/millstream/types"
)

func table(t types.Type, options ...string) *formattest.Case {
	c := &formattest.Case{Def: Def, Schema: types.NewSchema(types.Field{Name: "v", Type: t}), Options: map[string]string{}}
	for _, o := range options {
		k, v, _ := strings.Cut(o, "=")
		c.Options[k] = v
	}
	return c
}

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		typ      types.Type
		opt      string
		in, want string
	}{
		{types.StringType(), "", "{\"a\":1}\n\n  x \r\né\nlast", "\"{\\\"a\\\":1}\"\n\"\"\n\"  x \"\n\"é\"\n\"last\"\n"},
		{types.StringType(), "", "a\xffb\n\xed\xa0\x80\n", "\"a\ufffdb\"\n\"\ufffd\"\n"},
		{types.StringType(), "charset=ISO-8859-1", "\xe9\n", "\"é\"\n"},
		{types.StringType(), "charset=windows-1252", "\x80\xe9\n", "\"€é\"\n"},
		{types.StringType(), "charset=us-ascii", "a\xe9\n", "\"a\ufffd\"\n"},
		{types.StringType(), "charset=UTF-16", "\x00a\xd8\x3d\xde\x00\n", "\"a😀\"\n"},
		{types.StringType(), "charset=UTF-16LE", "a\x00b\x00\n", "\"ab\"\n"},
		{types.BytesType(), "", "ab\n\xff\xfe\n", "x'6162'\nx'fffe'\n"},
		{types.Of(types.Int), "", "\x00\x00\x01\x05\n", "261\n"},
		{types.Of(types.Int), "endianness=little-endian", "\x05\x01\x00\x00\n", "261\n"},
		{types.Of(types.BigInt), "", "\xff\xff\xff\xff\xff\xff\xff\xff\n", "-1\n"},
		{types.Of(types.SmallInt), "", "\x01\x00\n", "256\n"},
		{types.Of(types.TinyInt), "", "\xff\n", "-1\n"},
		{types.Of(types.Boolean), "", "\x00\n\x01\n\x02\n", "false\ntrue\ntrue\n"},
		{types.Of(types.Float), "", "\x3f\x80\x00\x00\n", "1\n"},
		{types.Of(types.Double), "", "\x3f\xf0\x00\x00\x00\x00\x00\x00\n", "1\n"},
	} {
		tab := table(c.typ)
		if c.opt != "" {
			tab = table(c.typ, c.opt)
		}
		got, err := tab.Rows(t, []byte(c.in))
		if got != c.want || err != nil {
			t.Errorf("%s %s %q: %q (%v), want %q", c.typ, c.opt, c.in, got, err, c.want)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	for _, c := range []struct {
		typ types.Type
		opt string
		in  string
	}{
		{types.StringType(), "charset=UTF-8", "é\n\n"}, {types.StringType(), "charset=windows-1252", "\x80\xe9\n"},
		{types.StringType(), "charset=UTF-16LE", "a\x00=\xd8\x00\xde\n"}, {types.StringType(), "charset=UTF-16", "\xfe\xff\x00a\n"},
		{types.Of(types.Int), "endianness=little-endian", "\x05\x01\x00\x00\n"}, {types.Of(types.Double), "endianness=big-endian", "\x3f\xf0\x00\x00\x00\x00\x00\x00\n"},
		{types.Of(types.Boolean), "endianness=big-endian", "\x00\n\x01\n"}, {types.Of(types.SmallInt), "endianness=big-endian", "\x01\x00\n"},
		{types.Of(types.TinyInt), "endianness=big-endian", "\xff\n"}, {types.Of(types.Float), "endianness=big-endian", "\x3f\x80\x00\x00\n"},
		{types.Of(types.BigInt), "endianness=big-endian", "\xff\xff\xff\xff\xff\xff\xff\xfe\n"}, {types.BytesType(), "endianness=big-endian", "\xff\x00\n"},
	} {
		tab := table(c.typ, c.opt)
		b, err := tab.Decode([]byte(c.in), 100, 100)
		if err != nil {
			t.Fatal(err)
		}
		cfg, _ := tab.Config()
		e, _ := Def.NewEncoder(cfg)
		if got, err := e.Encode(nil, b); string(got) != c.in || err != nil {
			t.Errorf("%s %s: %q %v, want %q", c.typ, c.opt, got, err, c.in)
		}
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		typ     types.Type
		opt, in string
		want    string
	}{
		{types.Of(types.Int), "", "\x00\x00\x00\x05\n123\n", `column "v": the value has 3 bytes, but INT has 4`},
		{types.Of(types.Int), "", "\n", `column "v": the value has 0 bytes, but INT has 4`},
		{types.Of(types.Date), "", "", `column "v": format 'raw' has no form for type DATE`},
		{types.StringType(), "charset=nope", "", `option 'raw.charset' is "nope"`},
	} {
		tab := table(c.typ)
		if c.opt != "" {
			tab = table(c.typ, c.opt)
		}
		if _, err := tab.Decode([]byte(c.in), 100, 100); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v", c.want, err)
		}
	}
	two := table(types.StringType())
	two.Schema.Fields = append(two.Schema.Fields, types.Field{Name: "b", Type: types.StringType()})
	if _, _, err := two.Decoder(); err == nil || !strings.Contains(err.Error(), "a single column, but the table has 2: v, b") {
		t.Error(err)
	}
	cfg, _ := table(types.StringType()).Config()
	e, _ := Def.NewEncoder(cfg)
	b, _ := table(types.StringType()).Decode([]byte("x\n"), 10, 10)
	b.Cols[0].AppendNull()
	b.SetSize(2)
	if _, err := e.Encode(nil, b); err == nil || !strings.Contains(err.Error(), "cannot write NULL") {
		t.Error(err)
	}
}

func BenchmarkDecode(b *testing.B) {
	tab := table(types.StringType())
	data := bytes.Repeat([]byte("a line of some forty characters, no more\n"), 4096)
	d, cfg, err := tab.Decoder()
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	rows := 0
	for b.Loop() {
		dst := formattest.Room(cfg.Schema, 4096, 4*len(data))
		if _, _, err := d.Decode(data, true, dst, 1<<30); err != nil {
			b.Fatal(err)
		}
		rows += dst.Size()
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}
