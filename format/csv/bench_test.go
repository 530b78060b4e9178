package csv

import (
	"testing"

	"github.com/millstream-io/millstream/format/internal/formattest"
)

const bidLine = "%d,%d,%d,%s,%s,%s,%s\n"

func BenchmarkDecode(b *testing.B) {
	for _, c := range []struct {
		name, line string
		wanted     []string
	}{
		{"all", bidLine, nil},
		{"two", bidLine, []string{"auction", "price"}},
		{"none", bidLine, []string{}},
		{"quoted", `%d,%d,%d,"%s","%s",%s,"%s"` + "\n", nil},
		{"crlf", "%d,%d,%d,%s,%s,%s,%s\r\n", nil},
	} {
		b.Run(c.name, func(b *testing.B) {
			tab := &formattest.Case{Def: Def, Schema: formattest.BidSchema(), Wanted: c.wanted}
			data := formattest.BidLines(4096, c.line)
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
		})
	}
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
