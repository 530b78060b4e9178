package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// job is a Handler that tells what it was asked for.
type job struct {
	stopped chan struct{}
	// released gets what is given up.
	released chan string
}

type refusal struct{ error }

func (refusal) Refused() bool { return true }

func (j *job) Status() Status                                  { return Status{Job: "j", PID: 7, Checkpoint: 3} }
func (j *job) Savepoint(context.Context) (id int64, err error) { return 5, nil }
func (j *job) Stop(ctx context.Context, savepoint, drain bool) (int64, error) {
	if savepoint && drain {
		return 9, nil
	}
	close(j.stopped)
	<-ctx.Done()
	return 0, nil
}
func (j *job) Delete(_ context.Context, id int64) error {
	if id == 1 {
		panic("one")
	}
	return refusal{fmt.Errorf("checkpoint %d is the newest one", id)}
}
func (j *job) Retain(context.Context, int64) error { return errors.New("disk full") }
func (j *job) Hold(_ context.Context, reader string) (int64, error) {
	if reader == "" {
		return 0, errors.New("no name")
	}
	return 11, nil
}
func (j *job) Release(_ context.Context, id int64, reader string) error {
	j.released <- fmt.Sprint(id, " ", reader)
	return nil
}
func (j *job) Why() (json.RawMessage, error) { return json.RawMessage(`{"waits":[]}`), nil }

func listenTo(t *testing.T, dir string) (*Server, *Client, *job) {
	t.Helper()
	j := &job{stopped: make(chan struct{}), released: make(chan string, 10)}
	s, err := Listen(dir, j)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Dial(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return s, c, j
}

func TestCommands(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	s, c, j := listenTo(t, dir)
	info, err := os.Stat(filepath.Join(dir, SocketName))
	if err != nil || info.Mode().Perm() != 0o600 || info.Mode().Type() != os.ModeSocket {
		t.Errorf("the socket is %v, %v", info.Mode(), err)
	}
	if st, err := c.Status(ctx); err != nil || st.Job != "j" || st.PID != 7 || st.Checkpoint != 3 {
		t.Errorf("status %+v, %v", st, err)
	}
	if id, err := c.Savepoint(ctx); id != 5 || err != nil {
		t.Errorf("savepoint %d, %v", id, err)
	}
	if id, err := c.Stop(ctx, true, true); id != 9 || err != nil {
		t.Errorf("stop gave %d, %v", id, err)
	}
	var remote *RemoteError
	if err := c.Delete(ctx, 3); !errors.As(err, &remote) || !remote.Refused() || err.Error() != "checkpoint 3 is the newest one" {
		t.Errorf("delete: %v", err)
	}
	if err := c.Delete(ctx, 1); !errors.As(err, &remote) || remote.Refused() || !strings.Contains(err.Error(), "panic: one") {
		t.Errorf("a panic: %v", err)
	}
	if err := c.Retain(ctx, 3); !errors.As(err, &remote) || remote.Refused() || err.Error() != "disk full" {
		t.Errorf("retain: %v", err)
	}
	if why, err := c.Why(ctx); string(why) != `{"waits":[]}` || err != nil {
		t.Errorf("why: %s, %v", why, err)
	}
	// An answer that is on its way when the server is closed comes.
	answered := make(chan error, 1)
	go func() {
		_, err := c.Stop(ctx, false, false)
		answered <- err
	}()
	<-j.stopped
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-answered; err != nil {
		t.Errorf("stop: %v", err)
	}
	if _, err := Dial(ctx, dir); !errors.Is(err, ErrNotRunning) {
		t.Errorf("after the end: %v", err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestHold: what a client holds is released when it says so, and when its
// connection ends, however that comes; only what it has is.
func TestHold(t *testing.T) {
	ctx := context.Background()
	s, c, j := listenTo(t, t.TempDir())
	for _, reader := range []string{"a", "b"} {
		if id, err := c.Hold(ctx, reader); id != 11 || err != nil {
			t.Fatalf("hold %d, %v", id, err)
		}
	}
	for what, err := range map[string]error{
		"a reads a checkpoint already":    second(c.Hold(ctx, "a")),
		"no name":                         second(c.Hold(ctx, "")),
		"a does not read checkpoint 12":   c.Release(ctx, 12, "a"),
		"xyz does not read checkpoint 11": c.Release(ctx, 11, "xyz"),
	} {
		if err == nil || err.Error() != what {
			t.Errorf("%v, want %s", err, what)
		}
	}
	if err := c.Release(ctx, 11, "a"); err != nil {
		t.Error(err)
	}
	if got := <-j.released; got != "11 a" {
		t.Errorf("released is %s", got)
	}
	// It ends without a word.
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if got := <-j.released; got != "11 b" {
		t.Errorf("released is %s", got)
	}
	c, err := Dial(ctx, filepath.Dir(s.path))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Hold(ctx, "c"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if got := <-j.released; got != "11 c" || len(j.released) > 0 {
		t.Errorf("released is %s", got)
	}
}

func second(_ int64, err error) error { return err }

// TestLongPath uses a directory whose name is too long for a socket.
func TestLongPath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 40))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	s, c, _ := listenTo(t, dir)
	if id, err := c.Savepoint(context.Background()); id != 5 || err != nil {
		t.Errorf("savepoint %d, %v", id, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestLeftover replaces the socket of a process that was killed.
func TestLeftover(t *testing.T) {
	dir := t.TempDir()
	l, err := listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Dial(context.Background(), dir); !errors.Is(err, ErrNotRunning) {
		t.Errorf("nobody listens: %v", err)
	}
	// So does one that was killed while it made the socket.
	if err := os.Mkdir(filepath.Join(dir, privatePrefix+"123"), 0o700); err != nil {
		t.Fatal(err)
	}
	s, c, _ := listenTo(t, dir)
	if _, err := c.Status(context.Background()); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestStrangers sends what is no request, and reads what is no answer.
func TestStrangers(t *testing.T) {
	dir := t.TempDir()
	s, c, _ := listenTo(t, dir)
	defer s.Close()
	in := bufio.NewReader(c.conn)
	for line, want := range map[string]string{
		`nonsense`:                          `the request cannot be read`,
		`{"v":2,"command":"status"}`:        `the client speaks version 2 of the control protocol, and this program version 1`,
		`{"v":1,"command":"dance"}`:         `knows no command \"dance\"`,
		`{"v":1,"command":"delete","id":""`: `the request cannot be read`,
	} {
		if _, err := fmt.Fprintln(c.conn, line); err != nil {
			t.Fatal(err)
		}
		if got, err := in.ReadString('\n'); err != nil || !strings.Contains(got, want) || !strings.HasPrefix(got, `{"v":1,"error":`) {
			t.Errorf("%s: %s %v", line, got, err)
		}
	}
	if _, err := fmt.Fprintln(c.conn, strings.Repeat("x", maxRequest+1)); err != nil {
		t.Fatal(err)
	}
	if got, err := in.ReadString('\n'); err == nil {
		t.Errorf("an endless request: %q", got)
	}
}

func TestOtherVersions(t *testing.T) {
	for line, want := range map[string]string{
		`{"v":2}`: "the process that runs the job speaks version 2",
		`{"v":0}`: "speaks version 0",
		`[]`:      "cannot be read",
		``:        "ended before it answered",
	} {
		here, there := net.Pipe()
		c := &Client{conn: here, in: bufio.NewReader(here)}
		go func() {
			_, _ = bufio.NewReader(there).ReadString('\n')
			if line != "" {
				_, _ = fmt.Fprintln(there, line)
			}
			_ = there.Close()
		}()
		if _, err := c.Status(context.Background()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", line, err)
		}
		_ = c.Close()
	}
}
