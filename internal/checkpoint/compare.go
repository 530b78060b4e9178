package checkpoint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/types"
)

// Fate is what becomes of the state of an operator when the query changes.
type Fate uint8

const (
	// Kept: the operator goes on with what it has.
	Kept Fate = iota
	// Migrated: it goes on with rows that are changed, without a loss.
	Migrated
	// Rebuilt: the operator begins without state, since it is new.
	Rebuilt
	// Lost: the query has no use for the state.
	Lost
)

// String returns the word that is printed.
func (f Fate) String() string { return [...]string{"kept", "migrated", "rebuilt", "lost"}[f] }

// Change is what becomes of one operator.
type Change struct {
	Fate Fate
	// Node and Name are the operator's ID and name.
	Node, Name string
	// What is the state: tables, positions, output.
	What string
	// Why is set for what is lost, and what is changed in what is migrated.
	Why string
}

// Held is the state of one operator, of a checkpoint or of a plan.
type Held struct {
	ID, Name string
	// What is the state in words.
	What string
	// Keeps is that of graph.Node.
	Keeps []string
	// Tables are the declarations of its tables.
	Tables []state.TableInfo
}

// Held returns the operators whose state the checkpoint has.
func (m *Manifest) Held() []Held {
	var out []Held
	for i := range m.Nodes {
		if n := &m.Nodes[i]; n.HasState() {
			out = append(out, Held{ID: n.ID, Name: n.Name, What: n.what(), Keeps: n.Keeps, Tables: n.Tables()})
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
func PlanHeld(g *graph.Graph) ([]Held, error) {
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
		specs, err := Tables(n)
		if err != nil {
			return nil, err
		}
		for i, s := range specs {
			h.Tables = append(h.Tables, s.Info(uint16(i+1)))
		}
		out = append(out, h)
	}
	return out, nil
}

// Compare tells what becomes of state when another graph goes on with it.
func Compare(old []Held, g *graph.Graph) ([]Change, error) {
	var out []Change
	known := map[string]bool{}
	for _, h := range old {
		known[h.ID] = true
		c := Change{Node: h.ID, Name: h.Name, What: h.What}
		i := slices.IndexFunc(g.Nodes, func(n *graph.Node) bool { return n.ID == h.ID })
		if i < 0 {
			c.Fate, c.Why = Lost, "the query does not have it any more"
		} else if err := c.compare(&h, g.Nodes[i]); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	held, err := PlanHeld(g)
	if err != nil {
		return nil, err
	}
	for _, h := range held {
		if !known[h.ID] {
			out = append(out, Change{Fate: Rebuilt, Node: h.ID, Name: h.Name, What: h.What})
		}
	}
	return out, nil
}

// compare finds out what becomes of the state of one operator: first whether it
// means the same, then whether its rows fit.
func (c *Change) compare(h *Held, n *graph.Node) error {
	if why := differs(h.Keeps, n.Keeps); why != "" {
		c.Fate, c.Why = Lost, why
		return nil
	}
	if len(h.Tables) == 0 || n.New == nil {
		return nil
	}
	specs, err := Tables(n)
	if err != nil {
		return err
	}
	changes, why := migrate(h.Tables, specs)
	switch {
	case why != "":
		c.Fate, c.Why = Lost, why
	case len(changes) > 0:
		c.Fate, c.Why = Migrated, strings.Join(changes, "; ")
	}
	return nil
}

// differs names the first thing that two operators do not have in common; empty
// if the state of one means the same to the other, or nothing is known of it.
// Columns may have become wider.
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
		case old[i] == now[i] || widened(old[i], now[i]):
		case show(old[i]) == show(now[i]):
			return show(old[i]) + " has another value"
		default:
			return fmt.Sprintf("it had %s, and has %s now", show(old[i]), show(now[i]))
		}
	}
	return ""
}

// elementType is the type behind an element of what is kept: "k of events INT".
// Others stand behind AS in the expression.
var elementType = regexp.MustCompile(`( AS)? ((?:TINYINT|SMALLINT|INT|BIGINT|FLOAT|DOUBLE|STRING|BYTES|(?:DECIMAL|VARCHAR|VARBINARY)\([0-9, ]+\))(?: NOT NULL)?)(,|\)|$| FILTER )`)

// typed are aggregate functions whose accumulators have types that say what is
// in them; those of others hold encoded values.
var typed = regexp.MustCompile(`^aggregate=(COUNT|SUM|AVG|MIN|MAX)\(`)

// widened reports whether two things that are kept differ in nothing but columns
// that have become wider. What rows are ordered by is saved as bytes, so there a
// value must be held as before.
func widened(old, now string) bool {
	if strings.HasPrefix(old, "aggregate=") && !typed.MatchString(old) {
		return false
	}
	order := strings.HasPrefix(old, "order=")
	if !strings.HasPrefix(old, "aggregate=") && !strings.HasPrefix(old, "keys=") && !order {
		return false
	}
	before, beforeTypes := untyped(old)
	after, afterTypes := untyped(now)
	if before != after || len(beforeTypes) != len(afterTypes) {
		return false
	}
	for i, name := range beforeTypes {
		from, err := types.Parse(name)
		if err != nil {
			return false
		}
		to, err := types.Parse(afterTypes[i])
		if err != nil || !state.Widens(from, to) || order && from.Phys() != to.Phys() {
			return false
		}
	}
	return true
}

// untyped takes the types of elements out of something that is kept. What stands
// in quotes is left alone.
func untyped(s string) (rest string, found []string) {
	parts := strings.Split(s, "'")
	for i := 0; i < len(parts); i += 2 {
		parts[i] = elementType.ReplaceAllStringFunc(parts[i], func(m string) string {
			sub := elementType.FindStringSubmatch(m)
			if sub[1] != "" {
				return m
			}
			found = append(found, sub[2])
			return " ?" + sub[3]
		})
	}
	return strings.Join(parts, "'"), found
}

// Adapt returns the checkpoint as a graph can go on from it. If something would
// be lost, that is refused unless allowed, and otherwise left out and returned.
//
// What is migrated is returned as well.
func (m *Manifest) Adapt(g *graph.Graph, allowed bool) (_ *Manifest, changed []Change, err error) {
	all, err := Compare(m.Held(), g)
	if err != nil {
		return nil, nil, err
	}
	var lost []Change
	for _, c := range all {
		if c.Fate == Lost {
			lost = append(lost, c)
		}
		if c.Fate == Lost || c.Fate == Migrated {
			changed = append(changed, c)
		}
	}
	if len(lost) == 0 {
		return m, changed, nil
	}
	if !allowed {
		return nil, nil, &RefusedError{Msg: lossText(m, lost)}
	}
	out := *m
	out.Nodes = slices.DeleteFunc(slices.Clone(m.Nodes), func(n Node) bool {
		return slices.ContainsFunc(lost, func(c Change) bool { return c.Node == n.ID })
	})
	return &out, changed, nil
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

// String says in one line what becomes of the state, of which operator, and why.
func (c Change) String() string {
	s := fmt.Sprintf("%s (%s): %s", c.Node, c.Name, c.What)
	if c.Why != "" {
		s += "; " + c.Why
	}
	return s
}
