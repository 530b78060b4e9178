package process

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// sums is a job that waits for more files for ever. Its windows are open until
// later rows come, or until it is drained.
const sums = `
SET 'execution.checkpointing.interval' = '50 ms';
CREATE TABLE events (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'csv', 'source.monitor-interval' = '20 ms');
CREATE TABLE sums (k STRING, w TIMESTAMP(3), n BIGINT, s BIGINT) WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'csv');
INSERT INTO sums SELECT k, window_start, COUNT(*), SUM(v)
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end;
`

// events makes lines of one minute: 10 keys, n rows each.
func events(minute, n int) string {
	var b strings.Builder
	for i := range n * 10 {
		fmt.Fprintf(&b, "k%d,%d,2024-01-01 10:%02d:%02d\n", i%10, i, minute, i%60)
	}
	return b.String()
}

// minutes are the lines that sums makes of events(minute, n) for some minutes.
func minutes(n int, list ...int) []string {
	var out []string
	for _, m := range list {
		for k := range 10 {
			sum := 0
			for i := range n {
				sum += i*10 + k
			}
			out = append(out, fmt.Sprintf(".: k%d,\"2024-01-01 10:%02d:00\",%d,%d", k, m, n, sum))
		}
	}
	slices.Sort(out)
	return out
}

// startSums starts the job and waits until it is there.
func (p *place) startSums(args ...string) *process {
	p.t.Helper()
	pr := p.start("", append([]string{"run", "job.sql"}, args...)...)
	pr.until("the control socket", func() bool {
		_, err := os.Stat(p.path(".millstream/job/control.sock"))
		return err == nil
	})
	return pr
}

// firstSums starts the job of a script with a first file, and waits until it has
// passed that.
func (p *place) firstSums(script string) *process {
	p.t.Helper()
	p.write("job.sql", script)
	p.write("in/0.csv", events(0, 7)+events(1, 5))
	pr := p.startSums()
	p.passed(pr, 0)
	return pr
}

// passed waits until a job has read what there is: its window of a minute was
// closed by later rows, and published.
func (p *place) passed(pr *process, minute int) {
	p.t.Helper()
	want := fmt.Sprintf("10:%02d:00", minute)
	pr.until("the end of minute "+want, func() bool {
		p.run("savepoint", "job") // finishes the open files
		files, _ := filepath.Glob(p.path("out/[^._]*"))
		return slices.ContainsFunc(files, func(f string) bool {
			data, err := os.ReadFile(f)
			return err == nil && strings.Contains(string(data), want)
		})
	})
}

// TestSavepointElsewhere takes a savepoint out of a running job and begins
// another one from it in another place, with another parallelism: together they
// have written what one would have.
func TestSavepointElsewhere(t *testing.T) {
	here, there := newPlace(t), newPlace(t)
	for _, p := range []*place{here, there} {
		p.write("job.sql", sums)
		p.write("in/0.csv", events(0, 7)+events(1, 5))
	}
	pr := here.startSums("-D", "parallelism.default=1")
	info, err := os.Stat(here.path(".millstream/job/control.sock"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the control socket is %v, %v", info, err)
	}
	here.passed(pr, 0)
	sp := filepath.Join(there.dir, "sp")
	if o := here.good("savepoint", "job", "--to", sp); !regexp.MustCompile(`^savepoint \d+ of job job: .*sp\n$`).MatchString(o.stdout) {
		t.Errorf("%s", o)
	}
	here.refused(3, []string{"is not empty"}, "savepoint", "job", "--to", sp)
	if o := here.good("stop", "job"); o.stdout != "job job was stopped\n" {
		t.Errorf("%s", o)
	}
	if o := pr.wait(); o.code != 0 {
		t.Errorf("%s", o)
	}
	if _, err := os.Stat(here.path(".millstream/job/control.sock")); !os.IsNotExist(err) {
		t.Errorf("the socket is left: %v", err)
	}
	here.refused(3, []string{"job job is not running"}, "stop", "job")
	here.refused(3, []string{"job job is not running"}, "savepoint", "job")
	here.refused(2, []string{"there is no job jab", "jobs job"}, "stop", "jab")
	if err := os.RemoveAll(here.path(".millstream")); err != nil {
		t.Fatal(err)
	}

	there.write("in/1.csv", events(2, 3))
	pr = there.startSums("--from", "sp", "-D", "parallelism.default=4")
	there.passed(pr, 1)
	if o := there.good("stop", "job", "--drain", "--savepoint"); !strings.HasPrefix(o.stdout, "job job was drained with savepoint ") {
		t.Errorf("%s", o)
	}
	if o := pr.wait(); o.code != 0 {
		t.Errorf("%s", o)
	}
	same(t, "before the savepoint", here.lines("out"), minutes(7, 0))
	same(t, "behind it", there.lines("out"), slices.Sorted(slices.Values(append(minutes(5, 1), minutes(3, 2)...))))
	there.refused(3, []string{"was drained with checkpoint"}, "run", "job.sql")
	there.refused(3, []string{"has checkpoints of its own"}, "run", "job.sql", "--from", "sp")
}

// TestGoBack begins again from an older savepoint of the job itself.
func TestGoBack(t *testing.T) {
	p := newPlace(t)
	pr := p.firstSums(sums)
	id := regexp.MustCompile(`savepoint (\d+) `).FindStringSubmatch(p.good("savepoint", "job").stdout)[1]
	p.write("in/1.csv", events(2, 3))
	p.passed(pr, 1)
	pr.signal(syscall.SIGKILL)
	pr.wait()
	p.refused(3, []string{"job job is not running"}, "stop", "job")

	p.refused(3, []string{"--fresh"}, "run", "job.sql", "--from", id)
	p.refused(3, []string{"holds no checkpoint 4711"}, "run", "job.sql", "--fresh", "--from", "4711")
	p.refused(3, []string{"no such file or directory"}, "run", "job.sql", "--fresh", "--from", "nowhere")
	if err := os.Rename(p.path("out"), p.path("first")); err != nil {
		t.Fatal(err)
	}
	pr = p.startSums("--fresh", "--from", id)
	p.passed(pr, 1)
	p.good("stop", "job", "--savepoint")
	if o := pr.wait(); o.code != 0 || !strings.Contains(o.stderr, "job job goes on from checkpoint "+id+" ") {
		t.Errorf("%s", o)
	}
	same(t, "the second time", p.lines("out"), minutes(5, 1))
	pr = p.startSums()
	p.good("stop", "job", "--drain")
	pr.wait()
	same(t, "in the end", p.lines("out"), slices.Sorted(slices.Values(append(minutes(5, 1), minutes(3, 2)...))))
}

func TestCheckpointsCommand(t *testing.T) {
	p := newPlace(t)
	pr := p.firstSums(sums)
	ids := regexp.MustCompile(`(?m)^(\d+) .*savepoint +good$`)
	o := p.good("checkpoints", "job", "--verify")
	found := ids.FindStringSubmatch(o.stdout)
	if found == nil {
		t.Fatalf("no savepoint in %s", o)
	}
	p.good("savepoint", "job") // so that the one found is not the newest
	p.good("checkpoints", "job", "--delete", found[1])
	p.refused(3, []string{"has no checkpoint " + found[1]}, "checkpoints", "job", "--delete", found[1])
	o = p.good("stop", "job", "--savepoint")
	last := regexp.MustCompile(`^job job was stopped with savepoint (\d+): (\S+)\n$`).FindStringSubmatch(o.stdout)
	if last == nil {
		t.Fatalf("%s", o)
	}
	pr.wait()
	p.refused(3, []string{"checkpoint " + last[1] + " is the newest one"}, "checkpoints", "job", "--delete", last[1])
	if o := p.good("checkpoints", "job", "--verify"); strings.Contains(o.stdout, "damaged") || !strings.Contains(o.stdout, last[1]+" ") {
		t.Errorf("%s", o)
	}

	files, err := filepath.Glob(p.path(".millstream/job/checkpoints/data/*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) == 0 {
			continue
		}
		data[len(data)/2] ^= 1
		if err := os.WriteFile(f, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p.refused(3, []string{"is damaged: expected hash", ".sst"}, "checkpoints", "job", "--verify")
	p.refused(3, []string{"damaged"}, "run", "--data", "other", "job.sql", "--from", last[2])
	if err := os.WriteFile(p.path(last[2]), []byte("millstream-checkpoint 9 1 0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.refused(3, []string{"has format 9"}, "checkpoints", "job")
	p.refused(3, []string{"has format 9"}, "run", "--data", "other", "job.sql", "--from", last[2])
}

// TestStopCopiesItsSavepoint: where savepoints have a directory, that of stop goes
// there as well, and another job begins from it.
func TestStopCopiesItsSavepoint(t *testing.T) {
	p := newPlace(t)
	pr := p.firstSums("SET 'state.savepoints.dir' = 'saved';\n" + sums)
	o := p.good("stop", "job", "--savepoint")
	m := regexp.MustCompile(`^job job was stopped with savepoint \d+: (saved/savepoint-job-\d+)\n$`).FindStringSubmatch(o.stdout)
	if m == nil {
		t.Fatalf("%s", o)
	}
	pr.wait()
	p.good("checkpoints", "file://"+p.path(m[1]), "--verify")
	if o := p.good("checkpoints", "job"); !strings.Contains(o.stdout, "savepoint") {
		t.Errorf("%s", o)
	}
	pr = p.startSums("--from", m[1], "--fresh")
	p.good("stop", "job")
	if o := pr.wait(); o.code != 0 {
		t.Errorf("%s", o)
	}
}
