package main

import (
	"bytes"
	"testing"
	"time"
)

func TestPrintLatencies(t *testing.T) {
	line := latencyLine.FindStringSubmatch("checksum latency +I=9000 -U=0 +U=0 -D=0 net=9000 sum=- p50=1.257 p99=1.571 p99.9=1.600 p100=2.000\n")
	if line == nil {
		t.Fatal("the sink's line does not match")
	}
	var out bytes.Buffer
	err := printLatencies(&out, []latencyRow{
		{query: "q", freeRate: 2000, rate: 1000, rows: 9000, p50: line[2], p99: line[3], p999: line[4], longest: line[5], cpu: 0.5, rss: 30},
		{query: "q", period: 10 * time.Millisecond, rate: 1000, rows: 9000, p50: "5.000", p99: "9.000", p999: "9.500", longest: "9.900", cpu: 0.5, rss: 30},
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = `query  watermarks  free events/s  events/s  CPU s/s  rows   p50 ms  p99 ms  p99.9 ms  longest ms  MiB
q      each batch  2,000          1,000     0.50     9,000  1.257   1.571   1.600     2.000       30
q      every 10ms  0              1,000     0.50     9,000  5.000   9.000   9.500     9.900       30
`
	if out.String() != want {
		t.Errorf("got:\n%swant:\n%s", out.String(), want)
	}
}
