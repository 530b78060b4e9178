// Package op holds the contract between the runtime and operators. Each
// operator is one folder below it, with its script of batches, watermarks,
// timers, barriers and crashes under testdata.
//
// An operator is a value that handles events. The runtime calls it on one
// goroutine, one event at a time; the operator never blocks, starts no
// goroutine, takes no lock, reads no clock and opens no file. Its keyed state
// and its timers are in the store that Open hands to it (internal/state), so it
// holds no code to save or restore anything: what it keeps in its own fields
// must be derivable from its configuration, or belong to the current event
// only. After a crash the runtime makes a new operator and opens it over the
// restored store.
package op

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/types"
)

// Watermarks are milliseconds since the epoch: no row with a smaller or an
// equal time is expected to come.
const (
	// MinWatermark means that nothing is known yet.
	MinWatermark = -1 << 63
	// MaxWatermark means that all input has ended.
	MaxWatermark = 1<<63 - 1
)

// Operator is the one method that each operator has. The interfaces below are
// optional, one method each; the runtime looks for them once, when it builds
// the chain.
//
// Order of calls: Open; then any mix of OnBatch, OnWatermark, OnTimer, OnBarrier
// and Resume; then OnEnd; then Close. Close comes even if Open or another call
// has failed. After an error only Close follows.
type Operator interface {
	// OnBatch handles rows of input in. The batch is immutable and may be
	// kept, in whole or in part. It may carry a selection. Results go to out.
	OnBatch(in int, b *batch.Batch, out Output) error
}

// Output takes the results of an operator.
type Output interface {
	// Emit hands over a batch, which must not be changed afterwards. It never
	// blocks and never fails; an empty batch is dropped. The caller is still
	// on its own event when the next operator of the chain has seen the batch.
	Emit(b *batch.Batch)
	// EmitSide hands a batch to a side output, such as late rows.
	EmitSide(tag string, b *batch.Batch)
	// Full reports that the task's output has no room left. An operator that
	// makes many rows out of one event should then return, say so by Resume,
	// and go on when it is called again.
	Full() bool
}

// Opener gets the operator's context before anything else is called.
type Opener interface{ Open(c *Context) error }

// WatermarkHandler is told when the combined watermark of all inputs rises. It
// emits what is due and returns; the runtime then forwards the watermark that
// it returns, unless that is not above the one forwarded before. If the output
// is full and the operator is a Resumer, forwarding waits for its Resume to end.
//
// In a restored job the first call after Open tells the watermark that the
// operator had seen at the checkpoint, so that rows which were late stay late.
type WatermarkHandler interface {
	OnWatermark(wm int64, out Output) (forward int64, err error)
}

// TimerHandler is told of processing-time timers that are due.
type TimerHandler interface {
	OnTimer(now int64, out Output) error
}

// BarrierHandler is told, before the snapshot of the store is taken, that all
// rows before barrier id have been seen. Operators that batch rows up across
// events (an aggregate with mini-batches) emit or store them here.
type BarrierHandler interface {
	OnBarrier(id int64, out Output) error
}

// Resumer goes on with an event that was left half done because the output
// was full. It is called, with no other event in between, until more is false.
type Resumer interface {
	Resume(out Output) (more bool, err error)
}

// EndHandler is told that input in has ended, after its last batch; the
// watermark of an ended input counts as MaxWatermark.
type EndHandler interface {
	OnEnd(in int, out Output) error
}

// Waiter is implemented by operators that hold results back until event time
// has come so far. It is called between events, and must not be slow.
type Waiter interface {
	// NextDue returns a watermark at which the next results come, at the latest;
	// false if nothing waits. It moves on as watermarks come.
	NextDue() (wm int64, ok bool)
}

// Closer frees what the operator holds.
type Closer interface{ Close() error }

// Context is what an operator may use. It belongs to one instance.
type Context struct {
	// Name is the operator's name in plans and errors, ID its stable id.
	Name, ID string
	// Subtask of Parallelism instances, from 0.
	Subtask, Parallelism int
	// State holds this instance's tables. Never nil.
	State state.Store
	// Now returns the processing time in ms since the epoch, read once an event.
	Now func() int64
	// TimerAt asks for one OnTimer call at a processing time. Timers do not
	// survive a crash by themselves: Open asks again for what its tables say.
	TimerAt func(ms int64)
	// Count adds to a named counter of this operator, such as late_rows.
	Count func(name string, n int64)
	// Sample keeps an example of a counted event for the user: the reason, and
	// a row in words.
	Sample func(name string, text func() string)
}

// Schemas describes what goes into and comes out of an operator.
type Schemas struct {
	In  []*types.Schema
	Out *types.Schema
}
