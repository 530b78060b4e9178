package process

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/millstream-io/millstream/internal/blob/blobtest"
)

const (
	// readKeys is how many keys the state has that is read here, and readFirst how
	// many rows are taken at first. The 10000 largest rows come when all were read
	// once; the others as the files are read a second time, and they do not fit into
	// a pipe.
	readKeys  = 15_000
	readFirst = 10_100
)

// reader is a query of the state of the running job whose output nobody takes.
type reader struct {
	cmd    *exec.Cmd
	stdout *bufio.Reader
}

// readState is a query of the state.
const readState = "SELECT * FROM STATE('job', 'sums/window-aggregate');\n"

// stateRows is how many rows the state of the job has.
func (p *place) stateRows() int {
	p.t.Helper()
	p.write("read.sql", readState)
	return strings.Count(p.run("run", "read.sql").stdout, "\n")
}

// startReader begins to read the state, and returns when it is amid the files.
func (p *place) startReader(args ...string) *reader {
	p.t.Helper()
	p.write("read.sql", readState)
	r := &reader{cmd: p.command(append([]string{"run", "read.sql"}, args...))}
	out, err := r.cmd.StdoutPipe()
	if err == nil {
		err = r.cmd.Start()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = r.cmd.Process.Kill() })
	r.stdout = bufio.NewReader(out)
	for range readFirst {
		if _, err := r.stdout.ReadString('\n'); err != nil {
			p.t.Fatal(err)
		}
	}
	return r
}

// finish takes the other rows, and returns how many there are.
func (r *reader) finish(t *testing.T) int {
	t.Helper()
	rest, err := io.ReadAll(r.stdout)
	if err == nil {
		err = r.cmd.Wait()
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(rest), "\n")
}

// checkpoints are the numbers of the checkpoints of the job, and their kinds.
func (p *place) checkpoints() (ids []int64, kinds []string) {
	p.t.Helper()
	for line := range strings.Lines(p.good("checkpoints", "job").stdout) {
		f := strings.Fields(line)
		if id, err := strconv.ParseInt(f[0], 10, 64); err == nil && len(f) > 4 {
			ids, kinds = append(ids, id), append(kinds, f[len(f)-1])
		}
	}
	return ids, kinds
}

// readersLeft are directories of readers.
func (p *place) readersLeft(dirs ...string) (left []string) {
	p.t.Helper()
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if os.IsNotExist(err) {
				return nil // the job has removed it just now
			}
			if err == nil && strings.Contains(e.Name(), "inspect-") {
				left = append(left, path)
			}
			return err
		})
		if err != nil {
			p.t.Fatal(err)
		}
	}
	return left
}

// TestStateIsHeld: the checkpoint that a query of a running job's state reads stays
// while it is read, and no longer: also if the query is killed. The job publishes
// nothing for it, and nothing is left on the disk.
func TestStateIsHeld(t *testing.T) {
	for _, where := range []string{"data directory", "store"} {
		t.Run(where, func(t *testing.T) {
			p := newPlace(t)
			tmp := t.TempDir()
			p.env = []string{"TMPDIR=" + tmp}
			var args []string
			if where == "store" {
				args = inStore(blobtest.New(t))
			}
			p.write("job.sql", sums)
			var in strings.Builder
			in.WriteString(events(0, 7))
			for i := range readKeys {
				fmt.Fprintf(&in, "a key that takes some room %d,1,2024-01-01 10:01:01\n", i)
			}
			p.write("in/0.csv", in.String())
			pr := p.startSums(args...)
			pr.until("all rows are read", func() bool { return p.stateRows() == readKeys })
			if files, _ := filepath.Glob(p.path("out/[^._]*")); len(files) > 0 {
				t.Errorf("a query has made the job publish %v", files)
			}
			for _, how := range []string{"to its end", "killed"} {
				held := p.heldBy(pr, func(r *reader) {
					if how == "killed" {
						_ = r.cmd.Process.Signal(syscall.SIGKILL)
						_ = r.cmd.Wait()
					} else if n := r.finish(t); n != readKeys-readFirst {
						t.Errorf("%d rows were read at last", n)
					}
				})
				pr.until("the checkpoint goes", func() bool {
					ids, _ := p.checkpoints()
					return !slices.Contains(ids, held) && len(p.readersLeft(p.path(".millstream"), tmp)) == 0
				})
			}
			p.good("stop", "job")
			pr.wait()
			if ids, _ := p.checkpoints(); len(ids) != 1 {
				t.Errorf("left are checkpoints %v", ids)
			}
			// Without the job, too.
			r := p.startReader()
			_ = r.cmd.Process.Signal(syscall.SIGKILL)
			_ = r.cmd.Wait()
			if left := p.readersLeft(p.path(".millstream")); len(left) == 0 {
				t.Error("the reader was not killed while it read")
			}
			pr = p.startSums(args...)
			pr.until("the next run has tidied up", func() bool { return len(p.readersLeft(p.path(".millstream"), tmp)) == 0 })
			p.good("stop", "job")
			pr.wait()
		})
	}
}

// heldBy reads the state while the job goes on, and returns the number of the
// checkpoint that was held. end ends the reader.
func (p *place) heldBy(pr *process, end func(*reader)) int64 {
	p.t.Helper()
	r := p.startReader()
	ids, kinds := p.checkpoints()
	newest := ids[len(ids)-1]
	pr.until("more checkpoints", func() bool {
		ids, kinds = p.checkpoints()
		return ids[len(ids)-1] > newest+3
	})
	held := ids[0]
	if held > newest || slices.Contains(kinds, "savepoint") {
		p.t.Errorf("what is read is not there: %v %v, at first up to %d", ids, kinds, newest)
	}
	p.refused(3, []string{"is being read by a query"}, "checkpoints", "job", "--delete", fmt.Sprint(held))
	end(r)
	return held
}

// TestStateWithoutCheckpoints: the state of a job can be read that takes none by
// itself.
func TestStateWithoutCheckpoints(t *testing.T) {
	p := newPlace(t)
	p.write("job.sql", strings.Replace(sums, "'50 ms'", "'0 ms'", 1))
	p.write("in/0.csv", events(1, 1))
	pr := p.startSums()
	p.good("savepoint", "job")
	p.write("in/1.csv", "another key,1,2024-01-01 10:01:59\n")
	pr.until("the new row", func() bool { return p.stateRows() == 11 })
	p.good("stop", "job")
	if o := pr.wait(); o.code != 0 {
		t.Errorf("%s", o)
	}
}
