// Package graph holds the job graph: operators, the edges between them and how
// rows travel on each edge. Both front ends (SQL and the typed Go API) make
// one, and the runtime runs it.
package graph

import (
	"fmt"
	"strings"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/types"
)

// Ship says how rows travel on an edge.
type Ship uint8

const (
	// Forward keeps rows in the same subtask; both ends have the same parallelism.
	Forward Ship = iota
	// Hash sends a row to the subtask that its key columns decide.
	Hash
	// Rebalance deals batches out in turn.
	Rebalance
	// Gather sends everything to subtask 0.
	Gather
)

// String returns the name that plans print.
func (s Ship) String() string { return [...]string{"forward", "hash", "rebalance", "gather"}[s] }

// Graph is a job: nodes in topological order, inputs before consumers.
type Graph struct {
	Nodes []*Node
}

// Node is one operator, source or sink. Exactly one of Source, New and Sink is
// set.
type Node struct {
	// ID is stable across runs of the same (and of a slightly changed) query:
	// state is found again by it. Unique in the graph.
	ID string
	// Name is what plans, errors and metrics print: "WindowAggregate[3]".
	Name string
	// Detail is the rest of the line in plans.
	Detail string
	// Parallelism is the number of subtasks.
	Parallelism int
	Inputs      []Edge
	// Keeps says in words what the saved state of the node means: another node
	// of the same ID can go on with it if it says the same. Empty for nodes
	// that keep nothing.
	Keeps []string
	// Out is the schema of the rows that the node emits; nil for sinks.
	Out *types.Schema
	// Source makes rows.
	Source *Source
	// New makes the operator of one subtask.
	New func() (op.Operator, error)
	// Sink takes rows.
	Sink *Sink
}

// Source is a table that is read.
type Source struct {
	// Table is the name that errors print.
	Table  string
	Source connector.Source
	// Watermark gives the watermark of a chunk; nil where the table has none.
	// It is used for one split's chunks in order, in the source's task, and
	// sees them as the reader gave them, before Ops: rows that a pushed-down
	// filter drops move the time, too.
	Watermark func() (WatermarkFn, error)
	// SourceWatermark is set for WATERMARK FOR c AS SOURCE_WATERMARK().
	SourceWatermark bool
	// Timing says when watermarks are sent.
	Timing
	// Ops are made anew for each subtask, and run in the source's task:
	// computed columns and pushed-down filters. The watermark of a chunk is
	// sent behind what they emit for it.
	Ops []func() (op.Operator, error)
}

// WatermarkFn tells the watermark that each row of a batch allows. The result
// holds until the next call.
type WatermarkFn func(b *batch.Batch) (Marks, error)

// Marks are the watermarks that the rows of a batch allow.
type Marks struct {
	// Times are the watermarks by the position of the row, but that Behind has
	// still to be subtracted.
	Times  []int64
	Behind int64
	// Valid are the rows that allow one, HasTime those whose event time is not
	// NULL.
	Valid, HasTime batch.Bitmap
}

// NullTimes says what a source does with rows whose event time is NULL. They
// never move the watermark.
type NullTimes uint8

const (
	// NullPass sends them on.
	NullPass NullTimes = iota
	// NullFail fails the job.
	NullFail
	// NullDrop leaves them out, and counts them.
	NullDrop
	// NullSkip sends them on, and counts them.
	NullSkip
)

// Timing are the rules by which a source's watermarks are sent, beyond the one
// that one follows each batch. All times are ms.
type Timing struct {
	// Column is the name of the column of event time.
	Column string
	// Nulls says what becomes of rows without event time.
	Nulls NullTimes
	// EachRow sends one behind each row that raises it.
	EachRow bool
	// Period is the least time between two of a reader, by the clock; 0: none.
	// One that closes a window, as Ends knows them, does not wait for it.
	Period int64
	Ends   *window.Ends
	// IdleTimeout makes a split idle that is silent for so long; 0: never.
	IdleTimeout int64
	// FlushAfterIdle closes all open windows once all that can be read is silent
	// for so long; 0: never.
	FlushAfterIdle int64
	// Group names the sources of a job whose splits wait for each other: one
	// whose watermark is more than MaxDrift ahead of the least of the group is
	// not read until that has caught up. It looks again every UpdateInterval, and
	// whenever the group lets it go on. Empty: the splits wait for none.
	Group                    string
	MaxDrift, UpdateInterval int64
	// Delay is by how much the watermark of a row is behind the row's time, where
	// DelayKnown says that it is the same for all.
	Delay      int64
	DelayKnown bool
}

// Sink is a table that is written.
type Sink struct {
	Table string
	Sink  connector.Sink
}

// Edge is an input of a node.
type Edge struct {
	From *Node
	Ship Ship
	// Keys are the positions of the key columns, for Hash.
	Keys []int
	// Side names a side output of From, such as late rows; empty for its rows.
	Side string
}

// MaxParallelism is the largest parallelism of a node: each subtask has at
// least one key group.
const MaxParallelism = batch.KeyGroups

// String prints the graph, one node a line, inputs named by their IDs.
func (g *Graph) String() string {
	var b strings.Builder
	for _, n := range g.Nodes {
		fmt.Fprintf(&b, "%s: %s", n.ID, n.Name)
		if n.Detail != "" {
			b.WriteString(" " + n.Detail)
		}
		fmt.Fprintf(&b, " parallelism=%d", n.Parallelism)
		for i, e := range n.Inputs {
			if i == 0 {
				b.WriteString(" <- ")
			} else {
				b.WriteString(", ")
			}
			b.WriteString(e.From.ID + " " + e.Ship.String())
			if e.Ship == Hash {
				fmt.Fprintf(&b, "%v", e.Keys)
			}
			if e.Side != "" {
				b.WriteString(" side " + e.Side)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}
