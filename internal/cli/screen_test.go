package cli

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/runtime"
)

func TestLossLines(t *testing.T) {
	m := runtime.Metrics{Nodes: []runtime.NodeMetrics{
		{Name: "Source[flights]", ID: "source:flights", Source: true, Counters: map[string]int64{"skipped_records": 1}},
		{Name: "WindowAggregate", ID: "hourly/window-aggregate", Counters: map[string]int64{"late_rows": 12, "odd_things": 3, "none": 0},
			Samples: map[string][]string{"late_rows": {"2024-01-01 00:00:00.000 | JFK", "more"}}},
	}}
	want := `1 record could not be read and was skipped (Source[flights])
12 rows came too late and were dropped (hourly/window-aggregate; first: 2024-01-01 00:00:00.000 | JFK)
odd_things: 3 (hourly/window-aggregate)`
	if got := strings.Join(lossLines(m), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestStatusLine(t *testing.T) {
	now := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	m := runtime.Metrics{Checkpoint: 7, Nodes: []runtime.NodeMetrics{
		{Source: true, Watermark: now.UnixMilli()}, {Sink: true, Watermark: now.Add(-90 * time.Second).UnixMilli()},
	}}
	if got, want := statusLine(m, 1_234_567, 12, now), "in 1.23 M/s, out 12/s, watermark 2024-05-06 07:06:39 (90 s behind), checkpoint 7"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	m = runtime.Metrics{Nodes: []runtime.NodeMetrics{{Sink: true, Watermark: op.MinWatermark}}}
	if got, want := statusLine(m, 0, 0, now), "in 0/s, out 0/s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestShort(t *testing.T) {
	for n, want := range map[float64]string{
		0: "0", 999: "999", 999.6: "1.00 k", 1234: "1.23 k", 99_940: "99.9 k", 99_960: "100 k", 999_600: "1.00 M", 2.5e9: "2.50 G", math.MaxInt32: "2.15 G",
	} {
		if got := short(n); got != want {
			t.Errorf("%v: got %q, want %q", n, got, want)
		}
	}
}

func TestScreenErasesTheStatusLine(t *testing.T) {
	var both bytes.Buffer
	s := &screen{stdout: &both, stderr: &both, live: true}
	s.status("busy")
	fmt.Fprintln(s.out(), "row")
	s.status("busy")
	s.clear()
	fmt.Fprintln(s.err(), "done")
	if got, want := both.String(), "busy\r\x1b[Krow\nbusy\r\x1b[Kdone\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
