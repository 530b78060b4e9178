package graph

import (
	"fmt"

	"github.com/zeebo/xxh3"
)

// Chains divides the nodes into those that run together in one task, each in
// order. A node joins the chain of its input if that is its only one, on a
// Forward edge, and nobody else reads that input.
func (g *Graph) Chains() [][]*Node {
	var (
		chains  [][]*Node
		of      = map[*Node]int{}
		readers = map[*Node]int{}
	)
	for _, n := range g.Nodes {
		for _, e := range n.Inputs {
			readers[e.From]++
		}
	}
	for _, n := range g.Nodes {
		if len(n.Inputs) == 1 {
			e := n.Inputs[0]
			if e.Ship == Forward && e.Side == "" && readers[e.From] == 1 && e.From.Parallelism == n.Parallelism {
				c := of[e.From]
				of[n] = c
				chains[c] = append(chains[c], n)
				continue
			}
		}
		of[n] = len(chains)
		chains = append(chains, []*Node{n})
	}
	return chains
}

// Validate reports what is wrong with the shape of the graph: a fault of the
// front end that made it.
func (g *Graph) Validate() error {
	seen := map[*Node]bool{}
	ids := map[string]bool{}
	for _, n := range g.Nodes {
		if err := n.validate(seen); err != nil {
			return fmt.Errorf("graph: node %s (%s): %w", n.ID, n.Name, err)
		}
		if ids[n.ID] {
			return fmt.Errorf("graph: two nodes have the ID %s", n.ID)
		}
		seen[n], ids[n.ID] = true, true
	}
	return nil
}

func (n *Node) validate(seen map[*Node]bool) error {
	roles := 0
	for _, has := range []bool{n.Source != nil, n.New != nil, n.Sink != nil} {
		if has {
			roles++
		}
	}
	switch {
	case roles != 1:
		return fmt.Errorf("it must be one of source, operator and sink, and is %d of them", roles)
	case n.Parallelism < 1 || n.Parallelism > MaxParallelism:
		return fmt.Errorf("parallelism is %d; it must be from 1 to %d", n.Parallelism, MaxParallelism)
	case (n.Source == nil) != (len(n.Inputs) > 0):
		return fmt.Errorf("it has %d inputs", len(n.Inputs))
	}
	for i, e := range n.Inputs {
		switch {
		case !seen[e.From]:
			return fmt.Errorf("input %d stands behind its consumer", i)
		case e.Ship == Forward && e.From.Parallelism != n.Parallelism:
			return fmt.Errorf("forward edge from parallelism %d to %d", e.From.Parallelism, n.Parallelism)
		}
		for _, k := range e.Keys {
			if e.From.Out == nil || k < 0 || k >= e.From.Out.Len() {
				return fmt.Errorf("input %d has no column %d to go by", i, k)
			}
		}
	}
	return nil
}

// Fingerprint changes when the graph does, parallelism aside; and with it the
// way in which rows are shipped, which is forward where one task is enough.
func (g *Graph) Fingerprint() string {
	h := xxh3.New()
	for _, n := range g.Nodes {
		fmt.Fprintf(h, "%q %q %q %v", n.ID, n.Name, n.Detail, n.Out)
		for _, e := range n.Inputs {
			fmt.Fprintf(h, " %q %q", e.From.ID, e.Side)
		}
		h.WriteString("\n")
	}
	return fmt.Sprintf("%016x", h.Sum64())
}
