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
	"sync"
	"time"
)

const (
	// maxRequest is the length of the longest request.
	maxRequest = 64 << 10
	// maxClients is how many may be connected at a time.
	maxClients = 64
	// idle is how long a client may be silent, grace how long answers may take
	// that are on their way when the server is closed.
	idle  = time.Minute
	grace = 5 * time.Second
)

// Server listens on the socket of a job.
type Server struct {
	handler  Handler
	path     string
	listener *net.UnixListener

	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]bool
}

// Listen makes the socket in the directory of a job, which the process must have
// locked: a socket that is there already is a leftover, and is replaced.
func Listen(dir string, h Handler) (*Server, error) {
	l, err := listen(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, SocketName), err)
	}
	s := &Server{handler: h, path: filepath.Join(dir, SocketName), listener: l, conns: map[net.Conn]bool{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.wg.Add(1)
	go s.accept()
	return s, nil
}

// privatePrefix is how the names of directories begin in which sockets are made.
const privatePrefix = ".ctl"

// listen makes the socket in a directory that nobody else can look into, takes
// rights from it that others would have, and only then gives it its name. What
// processes have left that were killed amid that, it removes.
func listen(dir string) (_ *net.UnixListener, err error) {
	left, err := filepath.Glob(filepath.Join(dir, privatePrefix+"*"))
	for _, name := range left {
		err = errors.Join(err, os.RemoveAll(name))
	}
	if err != nil {
		return nil, err
	}
	private, err := os.MkdirTemp(dir, privatePrefix)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(private)) }()
	const name = "s"
	at, cleanup, err := short(private, len(name))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, cleanup()) }()
	bound := filepath.Join(at, name)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: bound, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	if err := errors.Join(os.Chmod(bound, 0o600), os.Rename(bound, filepath.Join(dir, SocketName))); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// Close removes the socket, waits a little for answers that are on their way,
// and cuts all connections.
func (s *Server) Close() error {
	err := os.Remove(s.path)
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	err = errors.Join(err, s.listener.Close())
	s.cancel()
	// Reads end now, writes may take a little longer.
	s.eachConn(func(c net.Conn) {
		_ = errors.Join(c.SetReadDeadline(time.Now()), c.SetWriteDeadline(time.Now().Add(grace)))
	})
	timer := time.AfterFunc(grace, func() { s.eachConn(func(c net.Conn) { _ = c.Close() }) })
	defer timer.Stop()
	s.wg.Wait()
	return err
}

func (s *Server) eachConn(f func(net.Conn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		f(c)
	}
}

// accept takes connections until the listener is closed.
func (s *Server) accept() {
	defer s.wg.Done()
	defer func() { _ = recover() }()
	for {
		c, err := s.listener.Accept()
		switch {
		case s.ctx.Err() != nil:
			if err == nil {
				_ = c.Close()
			}
			return
		case err != nil:
			// Such as too many open files: it may pass.
			select {
			case <-time.After(100 * time.Millisecond):
			case <-s.ctx.Done():
			}
			continue
		}
		if !s.admit(c) {
			_ = c.Close()
		}
	}
}

// admit serves a connection, unless there are too many.
func (s *Server) admit(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.conns) >= maxClients || s.ctx.Err() != nil {
		return false
	}
	s.conns[c] = true
	s.wg.Add(1)
	go s.serve(c)
	return true
}

// serve answers the requests of one client.
func (s *Server) serve(c net.Conn) {
	defer s.wg.Done()
	defer func() {
		_ = recover()
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
		_ = c.Close()
	}()
	h := &held{s: s}
	defer h.end()
	lines := bufio.NewScanner(c)
	lines.Buffer(nil, maxRequest)
	out := json.NewEncoder(c)
	for s.listenFor(c, len(h.checkpoints) > 0) && lines.Scan() {
		a := s.handle(lines.Bytes(), h)
		a.V = Version
		if err := out.Encode(a); err != nil {
			return
		}
	}
}

// listenFor gives a client its time for the next request: as much as it likes
// while it reads a checkpoint. It is false once the server is being closed.
func (s *Server) listenFor(c net.Conn, reads bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	until := time.Now().Add(idle)
	if reads {
		until = time.Time{}
	}
	return s.ctx.Err() == nil && c.SetReadDeadline(until) == nil
}

// held are the checkpoints that one client reads, by the names of its readers.
type held struct {
	s           *Server
	checkpoints map[string]int64
}

// hold has a checkpoint taken for a reader.
func (h *held) hold(reader string) (id int64, err error) {
	if _, ok := h.checkpoints[reader]; ok {
		return 0, fmt.Errorf("%s reads a checkpoint already", reader)
	}
	if id, err = h.s.handler.Hold(h.s.ctx, reader); err != nil {
		return 0, err
	}
	if h.checkpoints == nil {
		h.checkpoints = map[string]int64{}
	}
	h.checkpoints[reader] = id
	return id, nil
}

// release gives up what a reader has.
func (h *held) release(ctx context.Context, id int64, reader string) error {
	if have, ok := h.checkpoints[reader]; !ok || have != id {
		return fmt.Errorf("%s does not read checkpoint %d", reader, id)
	}
	delete(h.checkpoints, reader)
	return h.s.handler.Release(ctx, id, reader)
}

// end gives up what the client has left. The job says if that fails.
func (h *held) end() {
	defer func() { _ = recover() }()
	for reader, id := range h.checkpoints {
		_ = h.release(context.Background(), id, reader)
	}
}

// handle carries out one request. A panic of the handler is an answer, too.
func (s *Server) handle(line []byte, h *held) (a answer) {
	defer func() {
		if v := recover(); v != nil {
			a = answer{Error: fmt.Sprintf("panic: %v (this is a fault of the program, not of the job)", v)}
		}
	}()
	var r request
	if err := json.Unmarshal(line, &r); err != nil {
		return answer{Error: "the request cannot be read: " + err.Error()}
	}
	if r.V != Version {
		return answer{Error: otherVersion("the client", r.V, Version), Refused: true}
	}
	var err error
	switch r.Command {
	case cmdStatus:
		st := s.handler.Status()
		a.Status = &st
	case cmdSavepoint:
		a.ID, err = s.handler.Savepoint(s.ctx)
	case cmdStop:
		a.ID, err = s.handler.Stop(s.ctx, r.Savepoint, r.Drain)
	case cmdDelete:
		err = s.handler.Delete(s.ctx, r.ID)
	case cmdRetain:
		err = s.handler.Retain(s.ctx, r.ID)
	case cmdHold:
		a.ID, err = h.hold(r.Reader)
	case cmdRelease:
		err = h.release(s.ctx, r.ID, r.Reader)
	case cmdWhy:
		a.Why, err = s.handler.Why()
	default:
		err = fmt.Errorf("the process that runs the job knows no command %q", r.Command)
	}
	if err != nil {
		var refused Refused
		return answer{Error: err.Error(), Refused: errors.As(err, &refused) && refused.Refused()}
	}
	return a
}
