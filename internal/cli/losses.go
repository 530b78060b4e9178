package cli

import (
	"fmt"
	"strings"

	"github.com/millstream-io/millstream/format"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/internal/runtime"
)

// losses are the counters that tell of rows or records that a job left out,
// and what they mean: for one, and for many.
var losses = map[string][2]string{
	window.LateRows:         {"1 row came too late and was dropped", "%d rows came too late and were dropped"},
	window.SelectedLateRows: {"1 row came too late and was selected by LATE", "%d rows came too late and were selected by LATE"},
	"expired_rows":          {"1 row of state expired", "%d rows of state expired"},
	"null_time_rows":        {"1 row without a time was dropped", "%d rows without a time were dropped"},
	"null_time_skipped":     {"1 row without a time did not move the watermark", "%d rows without a time did not move the watermark"},
	format.SkippedRecords:   {"1 record could not be read and was skipped", "%d records could not be read and were skipped"},
	format.NulledValues:     {"1 value did not fit its column and was read as NULL", "%d values did not fit their columns and were read as NULL"},
}

// lossLines says in words what a job has left out, one line for each reason
// and place.
func lossLines(m runtime.Metrics) []string {
	var lines []string
	for _, n := range m.Nodes {
		for _, name := range sorted(n.Counters) {
			if c := n.Counters[name]; c > 0 && (name != window.LateRows || n.Counters[window.SelectedLateRows] == 0) {
				lines = append(lines, lossLine(n, name, c))
			}
		}
	}
	return lines
}

func lossLine(n runtime.NodeMetrics, name string, count int64) string {
	words, known := losses[name]
	var line string
	switch {
	case !known:
		line = fmt.Sprintf("%s: %d", name, count)
	case count == 1:
		line = words[0]
	default:
		line = fmt.Sprintf(words[1], count)
	}
	where := n.Name
	if !n.Source && !n.Sink {
		where = n.ID // which names the table that the operator works for
	}
	notes := []string{where}
	if samples := n.Samples[name]; len(samples) > 0 {
		notes = append(notes, "first: "+samples[0])
	}
	return line + " (" + strings.Join(notes, "; ") + ")"
}
