package process

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// manyKeys counts the rows of a million keys and windows, and how many these are.
const manyKeys = `
CREATE TABLE src (
  id BIGINT,
  k BIGINT,
  ts AS TO_TIMESTAMP_LTZ(id, 3),
  WATERMARK FOR ts AS ts
) WITH ('connector' = 'datagen', 'number-of-rows' = '3000000', 'rows-per-second' = '100000000',
  'fields.id.kind' = 'sequence', 'fields.id.start' = '0', 'fields.id.end' = '2999999', 'fields.k.min' = '1', 'fields.k.max' = '1000000');
SELECT window_start, SUM(c), MAX(m) FROM (
  SELECT window_start, window_end, k, COUNT(*) AS c, SUM(id) AS s, MAX(id) AS m
  FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1500' SECOND(4))) GROUP BY window_start, window_end, k)
GROUP BY window_start, window_end;
`

// TestMemoryLimit runs a job whose state is larger than what its rows may take, and
// looks at what the kernel says the process had.
func TestMemoryLimit(t *testing.T) {
	const limit = 96 << 20
	p := &place{t: t, dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(p.dir, "job.sql"), []byte(manyKeys), 0o644); err != nil {
		t.Fatal(err)
	}
	c := p.command([]string{"run", "job.sql", "-D", "memory.limit=96mb", "--output", "csv"})
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"1500000,1499999", "1500000,2999999"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the answer has no %q:\n%s", want, out)
		}
	}
	peak := c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	if peak > limit+limit/8 {
		t.Errorf("the process had up to %d MiB of memory, and its limit is %d MiB", peak>>20, limit>>20)
	}
	t.Logf("%d MiB at most", peak>>20)
}
