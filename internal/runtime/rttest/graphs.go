package rttest

import (
	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/op"
)

// Graph builds graphs of Rows.
type Graph struct{ graph.Graph }

// Source adds a source whose watermark is the largest time less delay.
func (g *Graph) Source(id string, parallelism int, s *Source, delay int64) *graph.Node {
	return g.add(&graph.Node{ID: id, Parallelism: parallelism, Source: &graph.Source{Table: id, Source: s, Watermark: Watermark(delay)}})
}

// Op adds an operator.
func (g *Graph) Op(id string, parallelism int, f func() (op.Operator, error), inputs ...graph.Edge) *graph.Node {
	return g.add(&graph.Node{ID: id, Parallelism: parallelism, New: f, Inputs: inputs})
}

// Sink adds a sink.
func (g *Graph) Sink(id string, parallelism int, s *Sink, inputs ...graph.Edge) *graph.Node {
	return g.add(&graph.Node{ID: id, Parallelism: parallelism, Sink: &graph.Sink{Table: id, Sink: s}, Inputs: inputs})
}

func (g *Graph) add(n *graph.Node) *graph.Node {
	n.Name = n.ID
	if n.Sink == nil {
		n.Out = Schema
	}
	g.Nodes = append(g.Nodes, n)
	return n
}

// ByKey is a hash edge by the key.
func ByKey(n *graph.Node) graph.Edge { return graph.Edge{From: n, Ship: graph.Hash, Keys: []int{0}} }

// Forward is a forward edge.
func Forward(n *graph.Node) graph.Edge { return graph.Edge{From: n} }

// Rebalance is a rebalance edge.
func Rebalance(n *graph.Node) graph.Edge { return graph.Edge{From: n, Ship: graph.Rebalance} }

// Gather is a gather edge.
func Gather(n *graph.Node) graph.Edge { return graph.Edge{From: n, Ship: graph.Gather} }
