package checkpoint

import (
	"fmt"
	"strings"
)

// Phase is a part of the way of a checkpoint.
type Phase uint8

// The phases, in their order.
const (
	// PhaseAlign: the barrier is on its way to a task.
	PhaseAlign Phase = iota
	// PhaseSnapshot: the barrier passes through the operators and sinks of a task,
	// which save what they have.
	PhaseSnapshot
	// PhaseWrite: the state of an operator is written to files on this machine.
	PhaseWrite
	// PhaseUpload: those files go to the store of the checkpoints.
	PhaseUpload
	// PhaseCommit: the manifest is put, and the sinks publish.
	PhaseCommit
)

// String returns the word that is printed.
func (p Phase) String() string {
	return [...]string{"align", "snapshot", "write", "upload", "commit"}[p]
}

// Blame says where a checkpoint has failed, or is stuck.
type Blame struct {
	Phase Phase
	// Operator is the ID of the node at fault, and Task the name of the task that
	// runs it; both are empty where it is none's.
	Operator, Task string
	// Detail says what is waited for; it may be empty.
	Detail string
}

// String says it in words: "phase align, operator sums, task Sum 0/2 (its input is full)".
func (b Blame) String() string {
	s := "phase " + b.Phase.String()
	if b.Operator != "" {
		s += ", operator " + b.Operator
	}
	if b.Task != "" {
		s += ", task " + b.Task
	}
	if b.Detail != "" {
		s += " (" + b.Detail + ")"
	}
	return s
}

// Failure is the error of a checkpoint that was given up.
type Failure struct {
	// ID is the number of the checkpoint.
	ID int64
	Blame
	// Others are to blame as well.
	Others []Blame
	Err    error
}

// Error implements error.
func (f *Failure) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "checkpoint %d failed in %s: %v", f.ID, f.Blame, f.Err)
	const most = 2
	for _, o := range f.Others[:min(len(f.Others), most)] {
		fmt.Fprintf(&b, "; also %s", o)
	}
	if n := len(f.Others) - most; n > 0 {
		fmt.Fprintf(&b, "; and %d more", n)
	}
	return b.String()
}

// Unwrap gives the cause.
func (f *Failure) Unwrap() error { return f.Err }
