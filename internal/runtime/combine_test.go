package runtime

import (
	"fmt"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/internal/op"
)

// TestCombiner runs scripts over two or three inputs a, b, c. A word is a
// watermark (a5), idle (a~), active again (a!5), end (a$), one more input (+).
func TestCombiner(t *testing.T) {
	tests := []struct{ name, script, want string }{
		{"minimum", "a5 b3 b9 a7", "- 3 5 7"},
		{"never back", "a5 b5 a4 b4", "- 5 5 5"},
		{"silent input holds", "a5 a9", "- -"},
		{"ended counts as end of time", "a5 b3 b$ a8 a$", "- 3 5 8 max"},
		{"all ended", "a$ b$", "- max"},
		{"idle is left out", "a5 b3 b~ a9", "- 3 5 9"},
		{"idle before anything", "b~ a4", "- 4"},
		{"all idle: the largest", "a5 b3 a~ b~", "- 3 3 5~"},
		{"all idle, other order", "a5 b3 b~ a~", "- 3 5 5~"},
		{"all idle without any time", "a~ b~", "- -~"},
		{"idle beside ended stands still", "a5 b9 b$ a~", "- 5 5 5~"},
		{"ended beside idle stands still", "a5 b9 a~ b$", "- 5 9 9~"},
		{"the last watermark before an end, beside idle", "a5 b9 b~ a9223372036854775807 a$", "- 5 5 9~ 9~"},
		{"back from idle beside ended", "a5 b$ a~ a!7 a$", "- 5 5~ 7 max"},
		{"back behind does not hold", "a5 b3 b~ a9 b!4 a12", "- 3 5 9 9 12"},
		{"back and caught up counts", "a5 b3 b~ a9 b!4 b9 a15 b11", "- 3 5 9 9 9 9 11"},
		{"back at once on time counts", "a5 b3 b~ a9 b!9 a12", "- 3 5 9 9 9"},
		{"only one that is behind", "a5 b3 b~ a9 a~ b!4 b8 b10", "- 3 5 9 9~ 9 9 10"},
		{"behind, then idle again", "a5 b3 b~ a9 b!4 b~ a~", "- 3 5 9 9 9 9~"},
		{"a new input holds at once", "a5 b5 + a9 b9 c7 c9", "- 5 5 5 5 7 9"},
		{"a new input may be idle", "a5 b5 + a9 b8 c~", "- 5 5 5 5 8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newCombiner(2)
			var got []string
			for _, w := range strings.Fields(tt.script) {
				apply(t, c, w)
				c.combine()
				got = append(got, show(c))
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("%s\n got %s\nwant %s", tt.script, s, tt.want)
			}
		})
	}
}

func apply(t *testing.T, c *combiner, w string) {
	t.Helper()
	if w == "+" {
		c.add(inputTime{wm: op.MinWatermark})
		return
	}
	i, rest := int(w[0]-'a'), w[1:]
	var n int64
	switch {
	case rest == "~":
		c.set(i, op.MinWatermark, true)
	case rest == "$":
		c.end(i)
	default:
		if _, err := fmt.Sscan(strings.TrimPrefix(rest, "!"), &n); err != nil {
			t.Fatalf("%s: %v", w, err)
		}
		c.set(i, n, false)
	}
}

func show(c *combiner) string {
	s := fmt.Sprint(c.out)
	switch c.out {
	case op.MinWatermark:
		s = "-"
	case op.MaxWatermark:
		s = "max"
	}
	if c.idle {
		s += "~"
	}
	return s
}

func TestCombinerHolds(t *testing.T) {
	c := newCombiner(1)
	c.set(0, 7, false)
	c.hold = 1
	if c.combine() || c.out != op.MinWatermark {
		t.Fatalf("an input of which nothing is known did not hold time back: %s", show(c))
	}
	c.set(0, 7, true)
	c.combine()
	if c.idle {
		t.Fatal("idle although an input is held")
	}
	c.hold = 0
	if !c.combine() || c.out != 7 || !c.idle {
		t.Fatalf("after the hold: %s, want 7~", show(c))
	}
}
