package session

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/sql/config"
)

// delivery says, in a line for each sink, how often a row is there when the job has failed and gone on. Only connectors can make
// that less than exactly once: checkpoints are taken in any case, at the latest when the job ends or is stopped.
func (s *Session) delivery(g *graph.Graph) []string {
	var out []string
	for _, n := range g.Nodes {
		if n.Sink != nil {
			out = append(out, n.ID+": "+s.guarantee(n))
		}
	}
	return out
}

func (s *Session) guarantee(sink *graph.Node) string {
	var once []string
	for _, n := range sources(sink) {
		if o, ok := n.Source.Source.(connector.OneTime); ok {
			if what := o.OneTime(); what != "" {
				once = append(once, fmt.Sprintf("table %s reads %s, which cannot be read again", n.Source.Table, what))
			}
		}
	}
	guarantee := "exactly once"
	if i, ok := sink.Sink.Sink.(connector.Immediate); ok {
		if what := i.Immediate(); what != "" {
			guarantee = "at least once: " + what + " shows rows before they are committed"
		}
	}
	switch {
	case len(once) > 0:
		return guarantee + ", but the job cannot go on after a failure: " + strings.Join(once, "; ")
	case guarantee == "exactly once" && s.settings.Has(config.CheckpointInterval) && s.settings.Duration(config.CheckpointInterval) == 0:
		return guarantee + "; rows are there when the job ends or is stopped, since " + config.CheckpointInterval + " is 0"
	}
	return guarantee
}

// sources are the sources whose rows come to a node, in the order of their IDs.
func sources(n *graph.Node) []*graph.Node {
	seen := map[*graph.Node]bool{}
	var out []*graph.Node
	var visit func(*graph.Node)
	visit = func(n *graph.Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		if n.Source != nil {
			out = append(out, n)
		}
		for _, e := range n.Inputs {
			visit(e.From)
		}
	}
	visit(n)
	slices.SortFunc(out, func(a, b *graph.Node) int { return strings.Compare(a.ID, b.ID) })
	return out
}
