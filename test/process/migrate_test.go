package process

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestMigratedQuery widens columns of a job in the middle of a window: the rows
// that it had count on.
func TestMigratedQuery(t *testing.T) {
	p := newPlace(t)
	old := strings.Replace(sums, "SUM(v)", "MAX(v)", 1)
	p.write("job.sql", old)
	p.write("in/0.csv", events(0, 7)+events(1, 9))
	pr := p.startSums("-D", "parallelism.default=2")
	p.passed(pr, 0)
	p.good("stop", "job")
	pr.wait()

	now := strings.Replace(strings.Replace(old, "k STRING, v INT", "k STRING, v BIGINT", 1), "INSERT INTO", "SET 'parallelism.default' = '3';\nINSERT INTO", 1)
	p.write("new/job.sql", now)
	o := p.good("diff", "job.sql", "new/job.sql")
	for _, w := range []string{"kept      source:events", "migrated  sums/window-aggregate", "from INT to BIGINT", "by checkpoint "} {
		if !strings.Contains(o.stdout, w) {
			t.Errorf("diff does not say %q: %s", w, o)
		}
	}
	p.write("job.sql", now)
	p.write("in/1.csv", events(1, 5)+events(2, 3))
	pr = p.startSums()
	p.good("stop", "job", "--drain")
	if o := pr.wait(); o.code != 0 || !strings.Contains(o.stderr, "migrated: sums/window-aggregate") {
		t.Errorf("%s", o)
	}
	var want []string
	for m, rows := range [][2]int{{7, 6}, {14, 8}, {3, 2}} {
		for k := range 10 {
			want = append(want, fmt.Sprintf(".: k%d,\"2024-01-01 10:%02d:00\",%d,%d", k, m, rows[0], rows[1]*10+k))
		}
	}
	slices.Sort(want)
	same(t, "rows of the migrated job", p.lines("out"), want)
}
