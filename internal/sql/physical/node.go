// Package physical turns optimized logical plans into a graph of operators: it chooses operators, how rows travel between
// them, the parallelism of each, and names that stay the same when unrelated parts of a script change.
package physical

import (
	"fmt"
	"strings"
	"time"

	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

// Node is an operator of the physical plan.
type Node struct {
	// ID is the stable name by which state is found again.
	ID string
	// Name is the kind of operator, Detail its arguments.
	Name, Detail string
	Parallelism  int
	In           []Input
	Out          *types.Schema
	// logical is the node that this one computes, for what is known of it.
	logical plan.Node
	// zone is the session's time zone, which cuts days of TIMESTAMP_LTZ.
	zone *time.Location

	source *sourceNode
	sink   *graph.Sink
	create func() (op.Operator, error)
}

// Input is an edge from another node.
type Input struct {
	From *Node
	Ship graph.Ship
	Keys []int
	// Side names a side output of From; empty for its rows.
	Side string
}

// Plan is a physical plan of one or more sinks.
type Plan struct {
	Sinks []*Node
	nodes []*Node
	// shared are the nodes of window aggregates, which several may read.
	shared map[*plan.WindowAggregate]*Node
}

// line describes the node without its inputs.
func (n *Node) line() string {
	s := n.Name
	if n.Detail != "" {
		s += "(" + n.Detail + ")"
	}
	return s + fmt.Sprintf(" parallelism=[%d]", n.Parallelism)
}

// ship describes an edge.
func (in *Input) ship() string {
	if in.Side != "" {
		return "[side " + in.Side + "] "
	}
	switch in.Ship {
	case graph.Forward:
		return ""
	case graph.Hash:
		names := make([]string, len(in.Keys))
		for i, k := range in.Keys {
			names[i] = in.From.Out.Fields[k].Name
		}
		return "[hash " + strings.Join(names, ", ") + "] "
	}
	return "[" + in.Ship.String() + "] "
}

// String prints the plan as trees, one a sink. A node that several read is printed in full the first time, and by its ID after
// that.
func (p *Plan) String() string {
	var b strings.Builder
	seen := map[*Node]bool{}
	readers := map[*Node]int{}
	for _, n := range p.nodes {
		for _, in := range n.In {
			readers[in.From]++
		}
	}
	var write func(n *Node, edge, first, rest string)
	write = func(n *Node, edge, first, rest string) {
		b.WriteString(first + edge)
		if seen[n] {
			b.WriteString("Reused(id=[" + n.ID + "])\n")
			return
		}
		seen[n] = true
		b.WriteString(n.line())
		if readers[n] > 1 {
			b.WriteString(" id=[" + n.ID + "]")
		}
		b.WriteByte('\n')
		for i := range n.In {
			write(n.In[i].From, n.In[i].ship(), rest+"+- ", rest+"   ")
		}
	}
	for _, s := range p.Sinks {
		write(s, "", "", "")
	}
	return b.String()
}

// Graph returns the graph that the runtime runs.
func (p *Plan) Graph() (*graph.Graph, error) {
	g := &graph.Graph{}
	made := map[*Node]*graph.Node{}
	for _, n := range p.nodes {
		out := &graph.Node{ID: n.ID, Name: n.Name, Detail: n.Detail, Parallelism: n.Parallelism, Out: n.Out, New: n.create, Sink: n.sink, Keeps: n.keeps()}
		if n.source != nil {
			out.Source = n.source.graphSource()
		}
		for _, in := range n.In {
			out.Inputs = append(out.Inputs, graph.Edge{From: made[in.From], Ship: in.Ship, Keys: in.Keys, Side: in.Side})
		}
		made[n] = out
		g.Nodes = append(g.Nodes, out)
	}
	return g, g.Validate()
}
