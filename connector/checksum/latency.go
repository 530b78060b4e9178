package checksum

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/millstream-io/millstream/batch"
)

// delays says how much later rows came than the times that they show.
type delays []delay

// delay is one that some rows have, in us.
type delay struct{ us, rows int64 }

// latency notes the delays of a batch. Rows of one time mostly follow one another;
// those whose time has not come do not count: the end of the input sent them.
func (w *writer) latency(b *batch.Batch) {
	now := time.Now().UnixMicro()
	v := b.Cols[w.sink.timeColumn].(*batch.Fixed[int64])
	last, rows := int64(0), int64(0)
	note := func() {
		if rows > 0 && now >= last*1000 {
			w.totals.delays = append(w.totals.delays, delay{now - last*1000, rows})
		}
		rows = 0
	}
	for row := range b.Rows() {
		i := b.At(row)
		if v.Valid.IsNull(i) {
			continue
		}
		if ms := v.Values[i]; ms != last {
			note()
			last = ms
		}
		rows++
	}
	note()
}

// at returns the delay that the given part of the rows does not exceed, in ms. The
// delays are sorted.
func (d delays) at(part float64) float64 {
	var all, seen int64
	for _, x := range d {
		all += x.rows
	}
	for _, x := range d {
		if seen += x.rows; float64(seen) >= part*float64(all) {
			return float64(x.us) / 1000
		}
	}
	return 0
}

// String lists the usual percentiles.
func (d delays) String() string {
	slices.SortFunc(d, func(a, b delay) int { return int(a.us - b.us) })
	var s strings.Builder
	for _, part := range []float64{50, 99, 99.9, 100} {
		fmt.Fprintf(&s, " p%v=%.3f", part, d.at(part/100))
	}
	return s.String()
}
