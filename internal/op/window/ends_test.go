package window_test

import (
	"math"
	"testing"
	"time"

	"github.com/millstream-io/millstream/internal/op/window"
)

func TestEnds(t *testing.T) {
	var none *window.Ends
	e, berlin := &window.Ends{}, &window.Ends{}
	e.Add(window.Assigner{Kind: window.Session, Size: 1})
	e.Add(window.Assigner{Size: 10_000, Offset: 1000})
	e.Add(window.Assigner{Kind: window.Hop, Size: 7000, Slide: 5000})
	berlin.Add(window.Assigner{Size: 86_400_000, Zone: time.FixedZone("", 3600)})
	tests := []struct {
		ends           *window.Ends
		earlier, later int64
		want           bool
	}{
		{none, 0, 1 << 40, false},
		{&window.Ends{}, 0, 1 << 40, false},
		{e, 1000, 1999, true}, // a HOP ends at 2000
		{e, 1999, 6998, false},
		{e, 1999, 6999, true},
		{e, 7000, 10_998, false},
		{e, 7000, 10_999, true},
		{e, -1001, -1000, false},
		{e, math.MinInt64, 0, true},
		{e, 0, math.MaxInt64, true},
		{berlin, 0, 82_799_998, false},
		{berlin, 0, 82_799_999, true},
	}
	for _, c := range tests {
		if got := c.ends.Between(c.earlier, c.later); got != c.want {
			t.Errorf("from %d to %d: got %v, want %v", c.earlier, c.later, got, c.want)
		}
	}
}
