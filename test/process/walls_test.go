package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// numbers returns the numbers in the files of a directory, sorted.
func (p *place) numbers(dir string) []int {
	p.t.Helper()
	files, err := filepath.Glob(p.path(dir + "/[^._]*"))
	if err != nil {
		p.t.Fatal(err)
	}
	var out []int
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			p.t.Fatal(err)
		}
		for _, l := range strings.Fields(string(data)) {
			n, err := strconv.Atoi(l)
			if err != nil {
				p.t.Fatalf("%s: %v", f, err)
			}
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

func TestMissingInput(t *testing.T) {
	p := newPlace(t)
	p.write("job.sql", "CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = 'no/such.csv', 'format' = 'csv');\nSELECT a FROM t;\n")
	p.refused(1, []string{"no/such.csv", "table t"}, "run", "job.sql")
}

// TestNoPlaceForData uses a file where the data directory should be: unlike a
// directory without permission it stops everyone, root too.
func TestNoPlaceForData(t *testing.T) {
	p := newPlace(t)
	p.write("data", "I am a file\n")
	p.refused(3, []string{"data", "not a directory"}, "run", "--data", "data", p.oneRow())
}

func TestNoPermission(t *testing.T) {
	p := newPlace(t)
	script := p.oneRow()
	p.write("locked/keep", "")
	if err := os.Chmod(p.path("locked"), 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(p.path("locked"), 0o700) })
	// Root may write anywhere, so the program is started as somebody else
	// then. That user must be able to get here.
	for dir := p.dir; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p.asNobody = os.Geteuid() == 0
	p.refused(3, []string{"locked", "permission denied"}, "run", "--data", "locked/data", script)
	p.refused(1, []string{"locked", "permission denied"}, "run", "--data", p.shared("free"), p.sinkInto("locked/out"))
}

// shared makes a directory that everybody may write.
func (p *place) shared(name string) string {
	p.t.Helper()
	if err := os.MkdirAll(p.path(name), 0o777); err != nil {
		p.t.Fatal(err)
	}
	if err := os.Chmod(p.path(name), 0o777); err != nil {
		p.t.Fatal(err)
	}
	return name
}

func (p *place) sinkInto(dir string) string {
	p.write("sink.sql", fmt.Sprintf("CREATE TABLE o (n INT) WITH ('connector' = 'filesystem', 'path' = '%s', 'format' = 'csv');\nINSERT INTO o VALUES (1);\n", dir))
	return "sink.sql"
}

// full is a job that writes some 20 MB.
const full = `
SET 'execution.checkpointing.interval' = '20 ms';
CREATE TABLE numbers (n BIGINT, filler STRING) WITH ('connector' = 'datagen', 'number-of-rows' = '200000', 'rows-per-second' = '1000000',
  'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '200000', 'fields.filler.length' = '100');
CREATE TABLE o (n BIGINT) WITH ('connector' = 'filesystem', 'path' = 'small/out', 'format' = 'csv');
INSERT INTO o SELECT n FROM numbers WHERE CHAR_LENGTH(filler) = 100;
`

// TestFullDisk runs a job into a full disk. When there is room again, it goes
// on, and its result is whole.
func TestFullDisk(t *testing.T) {
	p := newPlace(t)
	p.write("job.sql", full)
	more := p.smallDisk("small", 600)
	p.refused(1, []string{more.says}, "run", "--data", "data", "job.sql")
	more.room()
	p.good("run", "--data", "data", "job.sql")
	p.lines("small/out")
	for i, n := range p.numbers("small/out") {
		if n != i+1 {
			t.Fatalf("number %d at place %d", n, i+1)
		}
	}
	if n := len(p.numbers("small/out")); n != 200_000 {
		t.Errorf("%d rows", n)
	}
}

// TestFullDiskOfState does the same to the disk with the checkpoints.
func TestFullDiskOfState(t *testing.T) {
	p := newPlace(t)
	p.write("bids.sql", strings.ReplaceAll(bids, "${out}", "out"))
	more := p.smallDisk("small", 100)
	p.refused(1, []string{more.says}, "run", "--data", "small/data", "bids.sql")
	more.room()
	p.good("run", "--data", "small/data", "bids.sql")
	p.write("bids.sql", strings.ReplaceAll(bids, "${out}", "undisturbed"))
	p.good("run", "--data", "data", "bids.sql")
	same(t, "with a full disk in between", p.lines("out"), p.lines("undisturbed"))
}

// disk is a small one that can grow.
type disk struct {
	// says is what errors say when it is full, room makes it large.
	says string
	room func()
}

// smallDisk makes a directory of the place a disk of some KB. Where the machine
// allows no mounts, a limit on the size of the program's files makes writes
// fail instead.
func (p *place) smallDisk(name string, kb int) disk {
	p.t.Helper()
	dir := p.path(name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := mountSmall(dir, kb); err != nil {
		p.t.Logf("no small disk here (%v); a limit on the size of files stands for it", err)
		p.fileLimit = kb
		return disk{"file too large", func() { p.fileLimit = 0 }}
	}
	p.t.Cleanup(func() { _ = unmount(dir) })
	return disk{"no space left on device", func() {
		if err := enlarge(dir); err != nil {
			p.t.Fatal(err)
		}
	}}
}

// bids is a job that takes a while, and has state.
const bids = `
SET 'execution.checkpointing.interval' = '20 ms';
SET 'parallelism.default' = '2';
SET 'table.exec.source.rowtime-null-handling' = 'DROP';
CREATE TABLE events (event_type INT, bid ROW<auction BIGINT, price BIGINT, ` + "`dateTime`" + ` TIMESTAMP(3)>,
  happened AS bid.` + "`dateTime`" + `, WATERMARK FOR happened AS happened - INTERVAL '4' SECOND
) WITH ('connector' = 'nexmark', 'events' = '200000', 'pace' = '100000');
CREATE TABLE per_auction (w TIMESTAMP(3), auction BIGINT, n BIGINT, top BIGINT)
WITH ('connector' = 'filesystem', 'path' = '${out}', 'format' = 'csv');
INSERT INTO per_auction SELECT window_start, bid.auction, COUNT(*), MAX(bid.price)
FROM TUMBLE(TABLE events, DESCRIPTOR(happened), INTERVAL '10' SECOND) WHERE event_type = 2 GROUP BY window_start, window_end, bid.auction;
`

// TestDamage damages the files of a checkpoint, one after another, in three
// ways. Each has to be refused by name, and the undamaged files go on to work.
func TestDamage(t *testing.T) {
	p := newPlace(t)
	p.write("bids.sql", strings.ReplaceAll(bids, "${out}", "out"))
	pr := p.start("", "run", "--data", "data", "bids.sql")
	// The process is held while its files are looked at.
	pr.until("a whole checkpoint with state", func() bool {
		pr.signal(syscall.SIGSTOP)
		defer pr.signal(syscall.SIGCONT)
		if len(p.checkpointFiles()) < 5 {
			return false
		}
		pr.signal(syscall.SIGKILL)
		return true
	})
	if o := pr.wait(); o.code != killed {
		t.Fatalf("too late: %s", o)
	}
	// What a killed process leaves of its socket cannot be copied.
	if err := os.Remove(p.path("data/bids/control.sock")); err != nil {
		t.Fatal(err)
	}
	keep, files := p.copyTree("data"), p.checkpointFiles()
	for _, rel := range append(files, "latest", "../job") {
		for how, harm := range map[string]func([]byte) []byte{
			"flip":     func(b []byte) []byte { b[len(b)/2] ^= 0x10; return b },
			"truncate": func(b []byte) []byte { return b[:len(b)*2/3] },
			"delete":   nil,
		} {
			if how != "flip" && rel == "latest" {
				continue // it only guards against the loss of a manifest
			}
			t.Run(how+"/"+filepath.Base(rel), func(t *testing.T) {
				q := *p
				q.t = t
				q.restore(keep, "data")
				q.harm("data/bids/checkpoints/"+rel, harm)
				q.refused(3, []string{filepath.Base(rel)}, "run", "--data", "data", "bids.sql")
				if t.Failed() {
					t.FailNow()
				}
			})
		}
	}
	p.restore(keep, "data")
	if o := p.good("run", "--data", "data", "bids.sql"); !strings.Contains(o.stderr, "goes on from checkpoint") {
		t.Errorf("%s", o)
	}
	p.write("bids.sql", strings.ReplaceAll(bids, "${out}", "undisturbed"))
	p.good("run", "--fresh", "--data", "data", "bids.sql")
	same(t, "after the damage was undone", p.lines("out"), p.lines("undisturbed"))
}

// harm changes the content of a file; nil removes it.
func (p *place) harm(name string, f func([]byte) []byte) {
	p.t.Helper()
	data, err := os.ReadFile(p.path(name))
	if err != nil {
		p.t.Fatal(err)
	}
	if f == nil {
		err = os.Remove(p.path(name))
	} else {
		err = os.WriteFile(p.path(name), f(data), 0o644)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// checkpointFiles lists the files of the newest checkpoint of the bids: its
// manifest and the files with content that this names; none if it is not
// complete.
func (p *place) checkpointFiles() []string {
	root := p.path("data/bids/checkpoints")
	// What is not there yet reads as empty.
	latest, _ := os.ReadFile(filepath.Join(root, "latest"))
	manifests, _ := filepath.Glob(filepath.Join(root, "*.manifest"))
	if len(manifests) != 1 || len(latest) == 0 || !strings.HasSuffix(manifests[0], strings.TrimSpace(string(latest))+".manifest") {
		return nil
	}
	text, _ := os.ReadFile(manifests[0])
	out := []string{filepath.Base(manifests[0])}
	entries, _ := os.ReadDir(filepath.Join(root, "data"))
	for _, e := range entries {
		sum, _, _ := strings.Cut(e.Name(), "-")
		if info, err := e.Info(); err == nil && info.Size() > 0 && strings.Contains(string(text), sum) {
			out = append(out, "data/"+e.Name())
		}
	}
	return out
}

// copyTree copies a directory aside and returns where.
func (p *place) copyTree(name string) string {
	p.t.Helper()
	// A process that was killed leaves its socket behind, which is no file.
	if err := os.Remove(p.path(name + "/bids/control.sock")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.t.Fatal(err)
	}
	to := filepath.Join(p.t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(p.path(name))); err != nil {
		p.t.Fatal(err)
	}
	return to
}

// restore puts a copy back in place.
func (p *place) restore(from, name string) {
	p.t.Helper()
	if err := os.RemoveAll(p.path(name)); err != nil {
		p.t.Fatal(err)
	}
	if err := os.CopyFS(p.path(name), os.DirFS(from)); err != nil {
		p.t.Fatal(err)
	}
}
