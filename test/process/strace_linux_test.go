package process

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// traced makes the place start the program under strace, which makes the n-th
// of some system calls fail with an error such as EIO.
func (p *place) traced(calls, errno string, n int) {
	p.under = []string{"strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=" + calls, "-e", fmt.Sprintf("inject=%s:error=%s:when=%d", calls, errno, n)}
}

// canTrace reports why programs cannot be traced here; nil if they can.
func canTrace() error {
	out, err := exec.Command("strace", "-f", "-qq", "-o", "/dev/null", "true").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w %s", err, out)
	}
	return nil
}

// TestDiskErrors makes the kernel answer EIO, or that the disk is full, to the n-th
// system call of a kind.
// The job starts again by itself, or ends with an error that says so, and goes
// on when it is run again; in the end its output is right.
func TestDiskErrors(t *testing.T) {
	if err := canTrace(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("strace is needed here: %v", err)
		}
		t.Skipf("this machine cannot trace programs: %v", err)
	}
	p := newPlace(t)
	small := strings.NewReplacer("'200000'", "'20000'", "'100000'", "'20000'").Replace(bids)
	p.write("bids.sql", strings.ReplaceAll(small, "${out}", "undisturbed"))
	p.good("run", "--data", "data", "bids.sql")
	want := p.lines("undisturbed")
	p.write("bids.sql", strings.ReplaceAll(small, "${out}", "out"))
	says := map[string]string{"EIO": "input/output error", "ENOSPC": "no space left on device"}
	// Not write(2): the Go runtime wakes its threads by it, and gives up if it fails.
	for _, c := range []struct {
		calls string
		at    []int
		errno string
	}{
		{"fsync,fdatasync", []int{1, 3, 9}, "EIO"},
		{"pwrite64", []int{1, 4}, "EIO"},
		{"renameat,renameat2,rename", []int{1, 2, 5}, "EIO"},
		{"linkat,link", []int{1, 2}, "EIO"},
		{"unlinkat,unlink", []int{2, 6}, "EIO"},
		{"ftruncate", []int{1}, "EIO"},
		{"getdents64", []int{2, 5}, "EIO"},
		{"pwrite64", []int{2, 5}, "ENOSPC"},
		{"fsync,fdatasync", []int{2, 5}, "ENOSPC"},
		{"mkdirat,mkdir", []int{2, 4}, "ENOSPC"},
	} {
		for _, n := range c.at {
			t.Run(fmt.Sprintf("%s %s %d", c.errno, c.calls, n), func(t *testing.T) {
				q := &place{t: t, dir: p.dir}
				q.remove("data", "out")
				q.traced(c.calls, c.errno, n)
				o := q.run("run", "--data", "data", "bids.sql")
				if o.code != 0 {
					if !slices.Contains([]int{1, 3}, o.code) || !strings.Contains(o.stderr, says[c.errno]) {
						t.Fatalf("the error does not say what happened: %s", o)
					}
					q.under = nil
					q.good("run", "--data", "data", "bids.sql")
				}
				same(t, "after an I/O error", q.lines("out"), want)
			})
		}
	}
}
