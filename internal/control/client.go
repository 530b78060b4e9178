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
	"syscall"
)

// Client talks to the process that runs a job. It is used on one goroutine.
type Client struct {
	conn net.Conn
	in   *bufio.Reader
}

// Dial connects to the process that runs the job of a directory. The error is
// ErrNotRunning if there is none.
func Dial(ctx context.Context, dir string) (*Client, error) {
	at, cleanup, err := short(dir, len(SocketName))
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", filepath.Join(at, SocketName))
	err = errors.Join(err, cleanup())
	if err != nil {
		if conn != nil {
			err = errors.Join(err, conn.Close())
		}
		// A process that was killed leaves a socket on which nobody listens.
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
			return nil, ErrNotRunning
		}
		return nil, err
	}
	return &Client{conn: conn, in: bufio.NewReader(conn)}, nil
}

// Close ends the connection.
func (c *Client) Close() error { return c.conn.Close() }

// ask sends a request and waits for its answer, however long that takes, or for
// the end of ctx.
func (c *Client) ask(ctx context.Context, r request) (*answer, error) {
	stop := context.AfterFunc(ctx, func() { _ = c.conn.Close() })
	defer stop()
	r.V = Version
	line, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	_, err = c.conn.Write(append(line, '\n'))
	var back []byte
	if err == nil {
		back, err = c.in.ReadBytes('\n')
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, fmt.Errorf("the process that runs the job ended before it answered (%w)", err)
	}
	a := &answer{}
	if err := json.Unmarshal(back, a); err != nil {
		return nil, fmt.Errorf("the answer of the process that runs the job cannot be read: %w", err)
	}
	switch {
	case a.V != Version:
		return nil, &RemoteError{Msg: otherVersion("the process that runs the job", a.V, Version), refused: true}
	case a.Error != "":
		return nil, &RemoteError{Msg: a.Error, refused: a.Refused}
	}
	return a, nil
}

// Status says how the job is doing.
func (c *Client) Status(ctx context.Context) (*Status, error) {
	a, err := c.ask(ctx, request{Command: cmdStatus})
	if err != nil {
		return nil, err
	}
	if a.Status == nil {
		return nil, errors.New("the answer of the process that runs the job has no status")
	}
	return a.Status, nil
}

// Savepoint takes a savepoint; see Handler.
func (c *Client) Savepoint(ctx context.Context) (id int64, err error) {
	return c.number(ctx, request{Command: cmdSavepoint})
}

// Stop stops the job; see Handler.
func (c *Client) Stop(ctx context.Context, savepoint, drain bool) (id int64, err error) {
	return c.number(ctx, request{Command: cmdStop, Savepoint: savepoint, Drain: drain})
}

// Delete removes a checkpoint.
func (c *Client) Delete(ctx context.Context, id int64) error {
	_, err := c.number(ctx, request{Command: cmdDelete, ID: id})
	return err
}

// Retain makes a savepoint an ordinary checkpoint.
func (c *Client) Retain(ctx context.Context, id int64) error {
	_, err := c.number(ctx, request{Command: cmdRetain, ID: id})
	return err
}

// Hold takes a checkpoint that stays until Release is called, or the connection
// ends; see Handler.
func (c *Client) Hold(ctx context.Context, reader string) (id int64, err error) {
	return c.number(ctx, request{Command: cmdHold, Reader: reader})
}

// Release gives up a checkpoint that Hold has returned.
func (c *Client) Release(ctx context.Context, id int64, reader string) error {
	_, err := c.number(ctx, request{Command: cmdRelease, ID: id, Reader: reader})
	return err
}

// Why tells what the job's results wait for; see Handler.
func (c *Client) Why(ctx context.Context) (json.RawMessage, error) {
	a, err := c.ask(ctx, request{Command: cmdWhy})
	if err != nil {
		return nil, err
	}
	return a.Why, nil
}

func (c *Client) number(ctx context.Context, r request) (int64, error) {
	a, err := c.ask(ctx, r)
	if err != nil {
		return 0, err
	}
	return a.ID, nil
}
