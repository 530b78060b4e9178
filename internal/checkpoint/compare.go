package checkpoint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millstream-io/millstream/internal/graph"
)

// Fate is what becomes of the state of an operator when the query changes.
type Fate uint8

const (
	// Kept: the operator goes on with what it has.
	Kept Fate = iota
	// Rebuilt: the operator begins without state, since it is new.
	Rebuilt
	// Lost: the query has no use for the state.
	Lost
)

// String returns the word that is printed.
func (f Fate) String() string { return [...]string{"kept", "rebuilt", "lost"}[f] }

// Change is what becomes of one operator.
type Change struct {
	Fate Fate
	// Node and Name are the operator's ID and name.
	Node, Name string
	// What is the state: tables, positions, output.
	What string
	// Why is set for what is lost.
	Why string
}

// Held is the state of one operator, of a checkpoint or of a plan.
type Held struct {
	ID, Name string
	// What is the state in words.
	What string
	// Keeps is that of graph.Node.
	Keeps []string
}

// Held returns the operators whose state the checkpoint has.
func (m *Manifest) Held() []Held {
	var out []Held
	for i := range m.Nodes {
		if n := &m.Nodes[i]; n.HasState() {
			out = append(out, Held{ID: n.ID, Name: n.Name, What: n.what(), Keeps: n.Keeps})
		}
	}
	return out
}

// what says in words what a node's state is.
func (n *Node) what() string {
	var tables []string
	sink := false
	for _, s := range n.Subtasks {
		sink = sink || s.Sink != nil
		if s.State == nil {
			continue
		}
		for _, t := range s.State.Tables {
			if !slices.Contains(tables, t.Name) {
				tables = append(tables, t.Name)
			}
		}
	}
	switch {
	case len(n.Splits) > 0:
		return fmt.Sprintf("positions in %d splits", len(n.Splits))
	case sink:
		return "output that is not published yet"
	case len(tables) == 1:
		return "table " + tables[0]
	}
	return "tables " + strings.Join(tables, ", ")
}

// PlanHeld returns what the nodes of a graph keep when it runs.
func PlanHeld(g *graph.Graph) []Held {
	var out []Held
	for _, n := range g.Nodes {
		if len(n.Keeps) == 0 {
			continue
		}
		h := Held{ID: n.ID, Name: n.Name, Keeps: n.Keeps, What: "state"}
		switch {
		case n.Source != nil:
			h.What = "positions"
		case n.Sink != nil:
			h.What = "output that is not published yet"
		}
		out = append(out, h)
	}
	return out
}

// Compare tells what becomes of state when another graph goes on with it.
func Compare(old []Held, g *graph.Graph) []Change {
	var out []Change
	known := map[string]bool{}
	for _, h := range old {
		known[h.ID] = true
		c := Change{Node: h.ID, Name: h.Name, What: h.What}
		i := slices.IndexFunc(g.Nodes, func(n *graph.Node) bool { return n.ID == h.ID })
		if i < 0 {
			c.Fate, c.Why = Lost, "the query does not have it any more"
		} else if why := differs(h.Keeps, g.Nodes[i].Keeps); why != "" {
			c.Fate, c.Why = Lost, why
		}
		out = append(out, c)
	}
	for _, h := range PlanHeld(g) {
		if !known[h.ID] {
			out = append(out, Change{Fate: Rebuilt, Node: h.ID, Name: h.Name, What: h.What})
		}
	}
	return out
}

// differs names the first thing that two operators do not have in common; empty
// if the state of one means the same to the other, or nothing is known of it.
func differs(old, now []string) string {
	if len(old) == 0 || len(now) == 0 || slices.Equal(old, now) {
		return ""
	}
	show := func(s string) string {
		name, _, hashed := strings.Cut(s, "#")
		if hashed && !strings.Contains(name, "=") {
			return "the option " + name
		}
		return s
	}
	for i := range max(len(old), len(now)) {
		switch {
		case i >= len(old):
			return show(now[i]) + " is new"
		case i >= len(now):
			return show(old[i]) + " is gone"
		case old[i] == now[i]:
		case show(old[i]) == show(now[i]):
			return show(old[i]) + " has another value"
		default:
			return fmt.Sprintf("it had %s, and has %s now", show(old[i]), show(now[i]))
		}
	}
	return ""
}

// Adapt returns the checkpoint as a graph can go on from it. If something would
// be lost, that is refused unless allowed, and otherwise left out and returned.
func (m *Manifest) Adapt(g *graph.Graph, allowed bool) (_ *Manifest, lost []Change, err error) {
	for _, c := range Compare(m.Held(), g) {
		if c.Fate == Lost {
			lost = append(lost, c)
		}
	}
	if len(lost) == 0 {
		return m, nil, nil
	}
	if !allowed {
		return nil, lost, &RefusedError{Msg: lossText(m, lost)}
	}
	out := *m
	out.Nodes = slices.DeleteFunc(slices.Clone(m.Nodes), func(n Node) bool {
		return slices.ContainsFunc(lost, func(c Change) bool { return c.Node == n.ID })
	})
	return &out, lost, nil
}

func lossText(m *Manifest, lost []Change) string {
	var b strings.Builder
	fmt.Fprintf(&b, "checkpoint %d of job %s holds state that this query cannot go on with:\n", m.ID, m.Job)
	for _, c := range lost {
		fmt.Fprintf(&b, "  %s\n", c)
	}
	b.WriteString("go back to the query that it was taken with, give this up with --allow-loss, or start anew with --fresh")
	return b.String()
}

// String says in one line what is lost, of which operator, and why.
func (c Change) String() string {
	s := fmt.Sprintf("%s (%s): %s", c.Node, c.Name, c.What)
	if c.Why != "" {
		s += "; " + c.Why
	}
	return s
}
