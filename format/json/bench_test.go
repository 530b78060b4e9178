package json

import (
	"testing"

	"github.com/millstream-io/millstream/format/internal/formattest"
	"github.com/millstream-io/millstream/types"
)

const bidLine = `{"auction":%d,"bidder":%d,"price":%d,"channel":"%s","url":"%s","dateTime":"%s","extra":"%s"}` + "\n"

func BenchmarkDecode(b *testing.B) {
	for _, c := range []struct {
		name   string
		wanted []string
	}{{"all", nil}, {"two", []string{"auction", "price"}}, {"none", []string{}}} {
		b.Run(c.name, func(b *testing.B) {
			tab := &formattest.Case{Def: Def, Schema: formattest.BidSchema(), Wanted: c.wanted}
			decodeAll(b, tab, formattest.BidLines(4096, bidLine))
		})
	}
}

// BenchmarkDecodeNested reads rows with an array, a map and a row in them.
func BenchmarkDecodeNested(b *testing.B) {
	tab := table(nil, field("id", bigint), field("tags", types.ArrayOf(str)), field("m", types.MapOf(str, bigint)),
		field("r", types.RowOf(field("x", double), field("y", types.DecimalOf(10, 2)))))
	var data []byte
	for range 4096 {
		data = append(data, `{"id": 123, "tags": ["a", "bcd", "efgh"], "m": {"k": 1, "l": 22}, "r": {"x": 1.5e-7, "y": 12.345}}`+"\n"...)
	}
	decodeAll(b, tab, data)
}

func decodeAll(b *testing.B, tab *formattest.Case, data []byte) {
	d, cfg, err := tab.Decoder()
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	rows := 0
	for b.Loop() {
		dst := formattest.Room(cfg.Schema, 4096, len(data))
		if _, _, err := d.Decode(data, true, dst, 1<<30); err != nil {
			b.Fatal(err)
		}
		rows += dst.Size()
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkEncode(b *testing.B) {
	tab := &formattest.Case{Def: Def, Schema: formattest.BidSchema()}
	rows, err := tab.Decode(formattest.BidLines(4096, bidLine), 1<<30, 1<<30)
	if err != nil {
		b.Fatal(err)
	}
	cfg, _ := tab.Config()
	e, err := Def.NewEncoder(cfg)
	if err != nil {
		b.Fatal(err)
	}
	var buf []byte
	n := 0
	for b.Loop() {
		if buf, err = e.Encode(buf[:0], rows); err != nil {
			b.Fatal(err)
		}
		n += rows.Rows()
	}
	b.SetBytes(int64(len(buf)))
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "rows/s")
}
