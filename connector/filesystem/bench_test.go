package filesystem

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/connector/conformance"
	"github.com/millstream-io/millstream/types"
)

// BenchmarkScan reads a file of bids, all columns and two of them.
func BenchmarkScan(b *testing.B) {
	bigint, ts3 := types.Of(types.BigInt), types.TimeOf(types.Timestamp, 3)
	fields := []types.Field{field("auction", bigint), field("bidder", bigint), field("price", bigint), field("channel", str),
		field("url", str), field("dateTime", ts3), field("extra", str)}
	lines := map[string]string{
		"csv":  "%d,%d,%d,Google,https://www.nexmark.com/abcde/fghij/%d/item.htm?query=1&channel_id=123456789,2024-01-02 03:04:05.%03d,%s\n",
		"json": `{"auction":%d,"bidder":%d,"price":%d,"channel":"Google","url":"https://www.nexmark.com/abcde/fghij/%d/item.htm?query=1&channel_id=123456789","dateTime":"2024-01-02 03:04:05.%03d","extra":"%s"}` + "\n",
	}
	for _, f := range []string{"csv", "json"} {
		var data []byte
		const n = 200_000
		for i := range n {
			data = fmt.Appendf(data, lines[f], 1000+i*7919%100_000, 1000+i*104_729%100_000, 100+i*7%10_000_000, i, i%1000, strings.Repeat("x", 20+i%20))
		}
		path := filepath.Join(b.TempDir(), "bids."+f)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			b.Fatal(err)
		}
		for _, wanted := range [][]string{nil, {"auction", "price"}} {
			name := f + "/all"
			if wanted != nil {
				name = f + "/two"
			}
			b.Run(name, func(b *testing.B) {
				s := table{fields: fields, wanted: wanted, format: f, options: []string{"path=" + path, "source.split-size=0"}}.source(b)
				b.SetBytes(int64(len(data)))
				rows := 0
				for b.Loop() {
					rows += scan(b, s)
				}
				if rows%n != 0 {
					b.Fatalf("%d rows", rows)
				}
				b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
			})
		}
	}
}

func scan(b *testing.B, s connector.Source) (rows int) {
	h := conformance.NewHost()
	defer h.Close()
	splits, err := s.Discover(context.Background(), nil)
	if err != nil {
		b.Fatal(err)
	}
	for _, sp := range splits {
		r, err := s.Open(h.Context(), sp, nil)
		if err != nil {
			b.Fatal(err)
		}
		for {
			c, err := r.Read(4096)
			if err != nil {
				b.Fatal(err)
			}
			if c.Batch != nil {
				rows += c.Batch.Size()
			}
			if c.Status == connector.End {
				break
			}
		}
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
	return rows
}
