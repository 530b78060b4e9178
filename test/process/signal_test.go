package process

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestHeld holds a job by SIGSTOP again and again, for longer than its
// checkpoints may take: those are given up, and nothing is lost or doubled.
func TestHeld(t *testing.T) {
	p := newPlace(t)
	held := strings.Replace(bids, "SET", "SET 'execution.checkpointing.timeout' = '20 ms';\nSET 'execution.checkpointing.tolerable-failed-checkpoints' = '1000000';\nSET", 1)
	p.write("bids.sql", strings.ReplaceAll(held, "${out}", "out"))
	pr := p.start("", "run", "--data", "data", "bids.sql")
	pr.until("the first checkpoint", func() bool { return len(p.checkpointFiles()) > 0 })
	for range 5 {
		pr.signal(syscall.SIGSTOP)
		time.Sleep(30 * time.Millisecond)
		pr.signal(syscall.SIGCONT)
		time.Sleep(10 * time.Millisecond)
	}
	if o := pr.wait(); o.code != 0 {
		t.Fatalf("%s", o)
	}
	p.write("bids.sql", strings.ReplaceAll(bids, "${out}", "undisturbed"))
	p.good("run", "--fresh", "--data", "data", "bids.sql")
	same(t, "held again and again", p.lines("out"), p.lines("undisturbed"))
}

// TestDataRemoved removes the data directory of a running job: the job ends with
// an error that names a file in it, and does not write into the void.
func TestDataRemoved(t *testing.T) {
	p := newPlace(t)
	p.write("job.sql", "SET 'restart-strategy.type' = 'none';\n"+endless)
	pr := p.start("", "run", "--data", "data", "job.sql")
	pr.until("the first rows", func() bool { return p.published("out") })
	if err := os.Rename(p.path("data"), p.path("gone")); err != nil {
		t.Fatal(err)
	}
	o := pr.wait()
	if o.code != 1 || !strings.Contains(o.stderr, "no such file or directory") || !strings.Contains(o.stderr, "data/job") {
		t.Errorf("%s", o)
	}
	if _, err := os.Stat(p.path("data/job/checkpoints")); err == nil {
		t.Error("the directory was made again, which would hide that it is gone")
	}
	// When it is back, the job goes on.
	p.remove("data")
	if err := os.Rename(p.path("gone"), p.path("data")); err != nil {
		t.Fatal(err)
	}
	before := len(p.numbers("out"))
	pr = p.start("", "run", "--data", "data", "job.sql")
	pr.until("new rows", func() bool { return len(p.numbers("out")) > before })
	pr.signal(syscall.SIGTERM)
	if o := pr.wait(); o.code != 0 {
		t.Errorf("%s", o)
	}
	for i, n := range p.numbers("out") {
		if n != i+1 {
			t.Fatalf("number %d at place %d", n, i+1)
		}
	}
}
