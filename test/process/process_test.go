// Package process tests the real program: started, stopped, killed and run
// into walls as users' machines do it.
package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// binary is the program under test, built once.
var binary string

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "millstream-process")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	// One test runs the program as another user.
	if err := os.Chmod(dir, 0o755); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	binary = filepath.Join(dir, "millstream")
	build := exec.Command("go", "build", "-o", binary, "../../cmd/millstream")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building the program: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// patience is how long a test waits for what must come. It is no
// measurement: a machine may be slow, but a process that hangs fails.
const patience = 2 * time.Minute

// place is a directory in which the program runs.
type place struct {
	t   *testing.T
	dir string
	env []string
	// asNobody starts the program as a user without rights; only root can.
	asNobody bool
	// fileLimit is the size, in blocks of 512 bytes, beyond which no file of
	// the program grows; 0 means no limit.
	fileLimit int
	// under is a command that starts the program, with its arguments.
	under []string
}

// nobody is the number of a user and a group without rights.
const nobody = 65534

// command is the program with its arguments, as the place wants it started.
func (p *place) command(args []string) *exec.Cmd {
	line := append(append(slices.Clone(p.under), binary), args...)
	c := exec.Command(line[0], line[1:]...)
	if p.fileLimit > 0 {
		c = exec.Command("sh", append([]string{"-c", fmt.Sprintf(`ulimit -f %d && exec "$0" "$@"`, p.fileLimit), binary}, args...)...)
	}
	if p.asNobody {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	c.Dir = p.dir
	c.Env = append(os.Environ(), p.env...)
	return c
}

func newPlace(t *testing.T) *place { return &place{t: t, dir: t.TempDir()} }

// path returns the full name of a file of the place.
func (p *place) path(name string) string { return filepath.Join(p.dir, name) }

// write makes a file, and the directories above it.
func (p *place) write(name, text string) {
	p.t.Helper()
	full := p.path(name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// outcome is what a process left behind when it ended.
type outcome struct {
	code           int
	stdout, stderr string
}

func (o outcome) String() string {
	return fmt.Sprintf("exit %d\n--- stdout\n%s--- stderr\n%s", o.code, o.stdout, o.stderr)
}

// process is one run of the program.
type process struct {
	t              *testing.T
	cmd            *exec.Cmd
	stdout, stderr lockedBuffer
	done           chan error
}

// start runs the program without waiting for its end.
func (p *place) start(stdin string, args ...string) *process {
	p.t.Helper()
	return p.startReading(strings.NewReader(stdin), args...)
}

// startTyped runs the program with a standard input that stays open.
func (p *place) startTyped(args ...string) (*process, io.Writer) {
	p.t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return p.startReading(r, args...), w
}

func (p *place) startReading(stdin io.Reader, args ...string) *process {
	p.t.Helper()
	pr := &process{t: p.t, cmd: p.command(args), done: make(chan error, 1)}
	pr.cmd.Stdin = stdin
	pr.cmd.Stdout, pr.cmd.Stderr = &pr.stdout, &pr.stderr
	if err := pr.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	go func() { pr.done <- pr.cmd.Wait() }()
	p.t.Cleanup(func() { _ = pr.cmd.Process.Kill() })
	return pr
}

// wait waits for the end of the process.
func (pr *process) wait() outcome {
	pr.t.Helper()
	select {
	case err := <-pr.done:
		o := outcome{stdout: pr.stdout.String(), stderr: pr.stderr.String()}
		var exit *exec.ExitError
		switch {
		case err == nil:
		case errors.As(err, &exit):
			o.code = exit.ExitCode()
		default:
			pr.t.Fatal(err)
		}
		if strings.Contains(o.stderr, "goroutine ") {
			pr.t.Errorf("the program printed a stack trace:\n%s", o)
		}
		return o
	case <-time.After(patience):
		pr.signal(syscall.SIGKILL)
		pr.t.Fatalf("the program did not end in %s\n--- stdout\n%s--- stderr\n%s", patience, pr.stdout.String(), pr.stderr.String())
		return outcome{}
	}
}

func (pr *process) signal(s syscall.Signal) {
	if err := pr.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		pr.t.Fatal(err)
	}
}

// until waits for a condition, or for the end of the process.
func (pr *process) until(what string, ok func() bool) {
	pr.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for !ok() {
		select {
		case err := <-pr.done:
			pr.t.Fatalf("the program ended (%v) before %s\n--- stdout\n%s--- stderr\n%s", err, what, pr.stdout.String(), pr.stderr.String())
		case <-ctx.Done():
			pr.t.Fatalf("waited %s for %s\n--- stdout\n%s--- stderr\n%s", patience, what, pr.stdout.String(), pr.stderr.String())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// run runs the program to its end.
func (p *place) run(args ...string) outcome {
	p.t.Helper()
	return p.start("", args...).wait()
}

// good runs the program to its end, which must be a good one.
func (p *place) good(args ...string) outcome {
	p.t.Helper()
	o := p.run(args...)
	if o.code != 0 {
		p.t.Fatalf("millstream %s: %s", strings.Join(args, " "), o)
	}
	return o
}

// refused runs the program, which must end with a status and an error that
// holds all of the words.
func (p *place) refused(code int, words []string, args ...string) outcome {
	p.t.Helper()
	o := p.run(args...)
	if o.code != code {
		p.t.Fatalf("millstream %s: expected exit %d, got %s", strings.Join(args, " "), code, o)
	}
	for _, w := range words {
		if !strings.Contains(o.stderr, w) {
			p.t.Errorf("millstream %s: the error does not say %q: %s", strings.Join(args, " "), w, o)
		}
	}
	return o
}

// lines returns the lines of all files under a directory, sorted, each behind
// the name of its folder; how many files there are, and what their names are,
// does not count. Temporary files are errors.
func (p *place) lines(name string) []string {
	p.t.Helper()
	var out []string
	root := p.path(name)
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if base := filepath.Base(rel); strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || strings.HasSuffix(base, ".tmp") {
			p.t.Errorf("a temporary file is left: %s", rel)
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if len(data) > 0 && data[len(data)-1] != '\n' {
			p.t.Errorf("%s does not end with a whole line", rel)
		}
		for line := range strings.Lines(string(data)) {
			out = append(out, filepath.Dir(rel)+": "+strings.TrimSuffix(line, "\n"))
		}
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

// same compares lines and reports the first that differ.
func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	count := map[string]int{}
	for _, l := range want {
		count[l]++
	}
	for _, l := range got {
		count[l]--
	}
	var diff []string
	for l, n := range count {
		if n > 0 {
			diff = append(diff, fmt.Sprintf("lost %d times: %s", n, l))
		} else if n < 0 {
			diff = append(diff, fmt.Sprintf("too much %d times: %s", -n, l))
		}
	}
	slices.Sort(diff)
	if len(diff) > 10 {
		diff = append(diff[:10], fmt.Sprintf("... and %d more", len(diff)-10))
	}
	t.Errorf("%s: %d lines, want %d\n%s", what, len(got), len(want), strings.Join(diff, "\n"))
}

// lockedBuffer collects the output of a process while the test looks at it.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
