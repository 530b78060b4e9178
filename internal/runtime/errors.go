package runtime

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/format"
)

// Error is a failure inside a running job.
type Error struct {
	// Node is the ID of the node at fault, Name its name in plans. Both are
	// empty for failures of the job as a whole.
	Node, Name string
	Subtask    int
	Err        error
	// Stack is set for a panic.
	Stack []byte
	// speaks is set for connectors, whose errors say by themselves which table
	// or file they are about.
	speaks bool
}

// Error implements error.
func (e *Error) Error() string {
	if e.Name == "" || e.speaks && e.Stack == nil {
		return e.Err.Error()
	}
	return e.Name + ": " + e.Err.Error()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// panicked makes the error of a recovered panic.
func panicked(where string, value any) *Error {
	return &Error{Name: where, Err: fmt.Errorf("panic: %v (this is a fault of the program, not of the job)", value),
		Stack: debug.Stack()}
}

// Recurs reports whether the error would come again if the job were started
// again from its last checkpoint, since the values of a row cause it.
func Recurs(err error) bool {
	var (
		row     *fn.RowError
		record  *format.RecordError
		changed *connector.ChangedError
	)
	return errors.As(err, &row) || errors.As(err, &record) || errors.As(err, &changed)
}
