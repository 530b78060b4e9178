package runtime

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/internal/vfs"
)

const (
	// program is what is not Go's: the pages of the program itself, and what the
	// heap takes for a moment beyond its limit; of a large limit, one in codeShare.
	program, codeShare = 16 << 20, 8
	// minQueue is the least that the inputs of a task may hold.
	minQueue = 64 << 10
	// unknownMemory is what a machine is taken to have that does not tell.
	unknownMemory = 2 << 30
)

// process is the memory of this process. There is one, however many jobs run.
var process struct {
	mu     sync.Mutex
	budget *state.Budget
}

// processMemory returns the budget of the process, and gives it a new size. The
// garbage collector works harder when the process comes near the limit, unless
// the user has set it up otherwise.
func processMemory(limit int64, lean bool) *state.Budget {
	process.mu.Lock()
	defer process.mu.Unlock()
	if process.budget == nil {
		process.budget = state.NewBudget(limit, lean)
	}
	process.budget.SetLimit(limit, lean)
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit - max(limit/codeShare, program))
	}
	return process.budget
}

// defaultMemory is memory.limit where it is not set.
func defaultMemory() int64 {
	if os.Getenv("GOMEMLIMIT") != "" {
		if n := debug.SetMemoryLimit(-1); n < math.MaxInt64 {
			return n
		}
	}
	return max(usableMemory(os.ReadFile)/4*3, state.MinBudget)
}

// usableMemory is the memory that this process may use: the machine's, or that
// of its control group.
func usableMemory(read func(name string) ([]byte, error)) int64 {
	n := int64(math.MaxInt64)
	if text, err := read("/proc/meminfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			var kb int64
			if _, err := fmt.Sscanf(line, "MemTotal: %d kB", &kb); err == nil {
				n = kb << 10
			}
		}
	}
	for _, name := range groupFiles(read) {
		text, err := read(name)
		if err != nil {
			continue
		}
		if limit, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64); err == nil && limit > 0 {
			n = min(n, limit)
		}
	}
	if n == math.MaxInt64 {
		return unknownMemory
	}
	return n
}

// groupFiles are the files with the limits of the control groups that this
// process is in, and of those above them.
func groupFiles(read func(name string) ([]byte, error)) []string {
	const root, old = "/sys/fs/cgroup", "/sys/fs/cgroup/memory"
	out := []string{root + "/memory.max", old + "/memory.limit_in_bytes"}
	text, err := read("/proc/self/cgroup")
	if err != nil {
		return out
	}
	for line := range strings.Lines(string(text)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		for dir := path.Clean(f[2]); dir != "/" && dir != "."; dir = path.Dir(dir) {
			switch {
			case f[1] == "":
				out = append(out, path.Join(root, dir, "memory.max"))
			case strings.Contains(f[1], "memory"):
				out = append(out, path.Join(old, dir, "memory.limit_in_bytes"))
			}
		}
	}
	return out
}

// fitQueues makes the queues between tasks small enough for their share of the
// budget.
func (c *Config) fitQueues(g *graph.Graph) error {
	if c.State.Budget == nil {
		return nil
	}
	inputs := 0
	for _, n := range g.Nodes {
		inputs += len(n.Inputs) * n.Parallelism
	}
	if inputs == 0 {
		return nil
	}
	each := int(c.State.Budget.Queues()) / inputs
	if each < minQueue {
		return fmt.Errorf("memory.limit is %d MiB, and the %d inputs of the job's tasks need at least %d MiB; raise memory.limit, or lower parallelism.default",
			c.State.Budget.Limit()>>20, inputs, (state.Base+int64(inputs)*minQueue*state.QueueShare)>>20)
	}
	c.QueueBytes = min(c.QueueBytes, each)
	return nil
}

// scratches counts the scratch directories of this process, tidied is done before
// the first.
var (
	scratches atomic.Int64
	tidied    sync.Once
)

const scratchPrefix = "millstream-"

// scratch is where a job that keeps nothing lets rows go that have no room in
// memory. The directory is made when that happens.
func scratch() (fsys vfs.FS, dir string) {
	tidied.Do(func() { tidyScratch(os.TempDir()) })
	return vfs.OS(), filepath.Join(os.TempDir(), fmt.Sprintf("%s%d-%d", scratchPrefix, os.Getpid(), scratches.Add(1)))
}

// tidyScratch removes the scratch directories of processes that were killed. What
// cannot be removed is in nobody's way.
func tidyScratch(temp string) {
	entries, err := os.ReadDir(temp)
	if err != nil {
		return
	}
	for _, e := range entries {
		var pid, n int
		if _, err := fmt.Sscanf(e.Name(), scratchPrefix+"%d-%d", &pid, &n); err != nil || !e.IsDir() ||
			e.Name() != fmt.Sprintf("%s%d-%d", scratchPrefix, pid, n) || alive(pid) {
			continue
		}
		_ = os.RemoveAll(filepath.Join(temp, e.Name()))
	}
}

// alive reports whether there is, or may be, a process with a number.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || !errors.Is(err, os.ErrProcessDone) && !errors.Is(err, syscall.ESRCH)
}
