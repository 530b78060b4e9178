package process

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// recovered is a job that keeps a long text for each key, and publishes windows of
// another table as fast as rows come.
const recovered = `
CREATE TABLE big (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = 'big', 'format' = 'csv', 'source.monitor-interval' = '10 ms');
CREATE TABLE quick (v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = 'quick', 'format' = 'csv', 'source.monitor-interval' = '10 ms');
CREATE TABLE days (k STRING, n BIGINT) WITH ('connector' = 'filesystem', 'path' = 'days', 'format' = 'csv');
CREATE TABLE seconds (w TIMESTAMP(3), n BIGINT) WITH ('connector' = 'filesystem', 'path' = 'seconds', 'format' = 'csv',
  'sink.rolling-policy.rollover-interval' = '1 ms', 'sink.rolling-policy.check-interval' = '1 ms');
EXECUTE STATEMENT SET BEGIN
INSERT INTO days SELECT k, COUNT(*) FROM TABLE(TUMBLE(TABLE big, DESCRIPTOR(ts), INTERVAL '1' DAY)) GROUP BY k, window_start, window_end;
INSERT INTO seconds SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE quick, DESCRIPTOR(ts), INTERVAL '1' SECOND)) GROUP BY window_start, window_end;
END;
`

// BenchmarkRecovery measures the time from the start of a process, whose
// predecessor was killed, to its first committed checkpoint. RECOVERY_MB is the size
// of the state, 10 if it is not set.
func BenchmarkRecovery(b *testing.B) {
	mb, err := strconv.Atoi(os.Getenv("RECOVERY_MB"))
	if err != nil {
		mb = 10
	}
	p := &place{dir: b.TempDir()}
	bigState(b, p, mb)
	if err := os.MkdirAll(p.path("quick"), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(p.path("job.sql"), []byte(recovered), 0o644); err != nil {
		b.Fatal(err)
	}
	pr := begin(b, p, "2 s")
	var size string
	waitFor(b, func() bool {
		time.Sleep(time.Second)
		out, _ := p.command([]string{"checkpoints", "job"}).Output()
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if last := regexp.MustCompile(`  +`).Split(lines[len(lines)-1], -1); len(last) > 2 {
			size = last[2]
		}
		return megabytes(size) >= float64(mb)
	})
	b.Logf("the state is %s", size)
	var total time.Duration
	for b.Loop() {
		if err := pr.Process.Kill(); err != nil {
			b.Fatal(err)
		}
		_ = pr.Wait()
		before := newestCheckpoint(p)
		start := time.Now()
		pr = begin(b, p, "20 ms")
		waitFor(b, func() bool { return newestCheckpoint(p) > before })
		total += time.Since(start)
	}
	b.ReportMetric(float64(total.Milliseconds())/float64(b.N), "ms/recovery")
	_ = pr.Process.Signal(syscall.SIGKILL)
	_ = pr.Wait()
}

// bigState writes the rows of which the state will have a size.
func bigState(b *testing.B, p *place, mb int) {
	if err := os.MkdirAll(p.path("big"), 0o755); err != nil {
		b.Fatal(err)
	}
	f, err := os.Create(p.path("big/0.csv"))
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	rng := rand.NewChaCha8([32]byte{1})
	text := make([]byte, 400)
	for range mb << 20 / 400 {
		for i := 0; i < len(text); i += 8 {
			copy(text[i:], fmt.Sprintf("%08x", rng.Uint64()>>32))
		}
		fmt.Fprintf(w, "%s,2024-01-01 10:00:00\n", text)
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
}

// begin starts the job with a time between two checkpoints.
func begin(b *testing.B, p *place, interval string) *exec.Cmd {
	pr := p.command([]string{"run", "job.sql", "-D", "execution.checkpointing.interval=" + interval})
	if err := pr.Start(); err != nil {
		b.Fatal(err)
	}
	return pr
}

func waitFor(b *testing.B, ok func() bool) {
	for end := time.Now().Add(30 * time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			b.Fatal("it did not come to that")
		}
	}
}

// newestCheckpoint is the number of the newest one that is committed.
func newestCheckpoint(p *place) int {
	data, err := os.ReadFile(p.path(".millstream/job/checkpoints/latest"))
	if err != nil {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		return 0
	}
	return n
}

// megabytes reads a size as the program prints it.
func megabytes(size string) float64 {
	var n float64
	var unit string
	if _, err := fmt.Sscan(size, &n, &unit); err != nil {
		return 0
	}
	return n * map[string]float64{"MiB": 1, "GiB": 1 << 10}[unit]
}
