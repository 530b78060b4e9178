// Package control lets other processes talk to one that runs a job, through a
// socket in the job's directory. It belongs to the edge of the process: the
// engine knows nothing of it.
//
// The protocol is lines of JSON: each request is one line, and so is its
// answer, in the same order. The first field of both is the version. The socket
// can be used by whoever may write to the job's directory and by nobody else,
// so there is no other authentication.
package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Version is the version of the protocol that this program speaks.
const Version = 1

// SocketName is the name of the socket in the directory of a job.
const SocketName = "control.sock"

// The commands.
const (
	cmdStatus    = "status"
	cmdSavepoint = "savepoint"
	cmdStop      = "stop"
	cmdDelete    = "delete"
	cmdRetain    = "retain"
	cmdWhy       = "why"
	cmdHold      = "hold"
	cmdRelease   = "release"
)

// request is one line to the process that runs the job.
type request struct {
	V       int    `json:"v"`
	Command string `json:"command"`
	// ID is the checkpoint that delete, retain and release are about.
	ID int64 `json:"id,omitempty"`
	// Reader is who reads a checkpoint that is held.
	Reader string `json:"reader,omitempty"`
	// Savepoint and Drain say how to stop.
	Savepoint bool `json:"savepoint,omitempty"`
	Drain     bool `json:"drain,omitempty"`
}

// answer is one line back. Error is empty if the request was carried out.
type answer struct {
	V       int     `json:"v"`
	Error   string  `json:"error,omitempty"`
	Refused bool    `json:"refused,omitempty"`
	ID      int64   `json:"id,omitempty"`
	Status  *Status `json:"status,omitempty"`
	// Why is what the engine says.
	Why json.RawMessage `json:"why,omitempty"`
}

// Status says how a job is doing.
type Status struct {
	Job string `json:"job"`
	// PID is the process that runs it, Program the version of the program.
	PID     int    `json:"pid"`
	Program string `json:"program"`
	// Checkpoint is the number of the last one, 0 if there is none, begun at
	// CheckpointTime in ms since the epoch.
	Checkpoint     int64 `json:"checkpoint"`
	CheckpointTime int64 `json:"checkpointTime"`
	// FailedCheckpoints counts those that were given up since the process began,
	// and Failures are the last ones, the newest behind.
	FailedCheckpoints int64     `json:"failedCheckpoints"`
	Failures          []Failure `json:"failures,omitempty"`
	Restarts          int64     `json:"restarts"`
}

// Failure is a checkpoint that was given up.
type Failure struct {
	Checkpoint int64 `json:"checkpoint"`
	// Time is in ms since the epoch.
	Time int64 `json:"time"`
	// Phase, Operator and Task are to blame; the last two are empty if the
	// checkpoint as a whole has failed.
	Phase    string `json:"phase"`
	Operator string `json:"operator,omitempty"`
	Task     string `json:"task,omitempty"`
	// Error is the whole message.
	Error string `json:"error"`
}

// Handler does what clients ask for. Its methods are called from several
// goroutines. ctx ends when the server is closed.
type Handler interface {
	Status() Status
	// Savepoint takes a savepoint, and returns its number when all that belongs
	// to it is published.
	Savepoint(ctx context.Context) (id int64, err error)
	// Stop stops the job, and returns when it has ended: with the number of
	// the savepoint, if one was wanted.
	Stop(ctx context.Context, savepoint, drain bool) (id int64, err error)
	// Delete removes a checkpoint, Retain makes a savepoint an ordinary one.
	Delete(ctx context.Context, id int64) error
	Retain(ctx context.Context, id int64) error
	// Hold takes a checkpoint, and returns its number when it is durable. It stays
	// until Release, which is called when the client asks for it, or when its
	// connection ends. reader names the directory of the client's own files, which
	// Release removes.
	Hold(ctx context.Context, reader string) (id int64, err error)
	Release(ctx context.Context, id int64, reader string) error
	// Why tells what the job's results wait for, as JSON whose form the caller
	// knows.
	Why() (json.RawMessage, error)
}

// Refused is implemented by errors that say that the state does not allow what
// was asked for, as opposed to a failure.
type Refused interface {
	error
	Refused() bool
}

// RemoteError is what the process that runs the job has answered.
type RemoteError struct {
	Msg     string
	refused bool
}

// Error implements error.
func (e *RemoteError) Error() string { return e.Msg }

// Refused implements Refused.
func (e *RemoteError) Refused() bool { return e.refused }

// ErrNotRunning says that no process listens for a job.
var ErrNotRunning = errors.New("the job is not running")

// otherVersion is the error for a peer that speaks another version.
func otherVersion(who string, theirs, ours int) string {
	return fmt.Sprintf("%s speaks version %d of the control protocol, and this program version %d; use the same version of millstream for both", who, theirs, ours)
}
