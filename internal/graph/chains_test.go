package graph

import (
	"fmt"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/types"
)

// build makes a graph from lines "id parallelism <- input ship, input ship".
func build(t *testing.T, text string) *Graph {
	t.Helper()
	g := &Graph{}
	nodes := map[string]*Node{}
	ships := map[string]Ship{"forward": Forward, "hash": Hash, "rebalance": Rebalance, "gather": Gather}
	schema := types.NewSchema(types.Field{Name: "a", Type: types.Of(types.Int)})
	for line := range strings.Lines(strings.TrimSpace(text)) {
		head, inputs, _ := strings.Cut(strings.TrimSpace(line), " <- ")
		n := &Node{Out: schema}
		if _, err := fmt.Sscan(head, &n.ID, &n.Parallelism); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		n.Name = n.ID
		for in := range strings.SplitSeq(inputs, ", ") {
			f := strings.Fields(in)
			if len(f) < 2 {
				continue
			}
			e := Edge{From: nodes[f[0]], Ship: ships[f[1]]}
			if e.Ship == Hash {
				e.Keys = []int{0}
			}
			if len(f) > 2 {
				e.Side = f[2]
			}
			n.Inputs = append(n.Inputs, e)
		}
		if len(n.Inputs) == 0 {
			n.Source = &Source{}
		} else {
			n.New = func() (op.Operator, error) { return nil, nil }
		}
		nodes[n.ID] = n
		g.Nodes = append(g.Nodes, n)
	}
	return g
}

func TestChains(t *testing.T) {
	tests := []struct{ name, graph, want string }{
		{"a row of operators", "s 1\nf 1 <- s forward\nt 1 <- f forward", "s f t"},
		{"an exchange", "s 2\na 2 <- s hash\nt 2 <- a forward", "s | a t"},
		{"another parallelism", "s 2\nt 1 <- s gather", "s | t"},
		{"two readers", "s 1\na 1 <- s forward\nb 1 <- s forward\nc 1 <- b forward", "s | a | b c"},
		{"two inputs", "s 1\nr 1\nj 1 <- s forward, r forward\nt 1 <- j forward", "s | r | j t"},
		{"one node twice", "s 1\nj 1 <- s forward, s forward", "s | j"},
		{"side output", "s 1\na 1 <- s forward\nl 1 <- a forward late", "s a | l"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := build(t, tt.graph)
			if err := g.Validate(); err != nil {
				t.Fatal(err)
			}
			var out []string
			for _, c := range g.Chains() {
				var ids []string
				for _, n := range c {
					ids = append(ids, n.ID)
				}
				out = append(out, strings.Join(ids, " "))
			}
			if got := strings.Join(out, " | "); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestValidate(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(g *Graph)
		want  string
	}{
		{"no role", func(g *Graph) { g.Nodes[1].New = nil }, "is 0 of them"},
		{"same id", func(g *Graph) { g.Nodes[1].ID = "s" }, "two nodes have the ID s"},
		{"order", func(g *Graph) { g.Nodes[0], g.Nodes[1] = g.Nodes[1], g.Nodes[0] }, "stands behind its consumer"},
		{"parallelism", func(g *Graph) { g.Nodes[0].Parallelism = 129 }, "from 1 to 128"},
		{"forward", func(g *Graph) { g.Nodes[1].Inputs[0].Ship = Forward }, "from parallelism 2 to 3"},
		{"key", func(g *Graph) { g.Nodes[1].Inputs[0].Keys[0] = 1 }, "no column 1"},
		{"no input", func(g *Graph) { g.Nodes[1].Inputs = nil }, "has 0 inputs"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := build(t, "s 2\na 3 <- s hash")
			tt.spoil(g)
			err := g.Validate()
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestFingerprint(t *testing.T) {
	base := build(t, "s 2\na 2 <- s hash").Fingerprint()
	if other := build(t, "s 4\na 3 <- s hash").Fingerprint(); other != base {
		t.Error("the parallelism changes the fingerprint")
	}
	if other := build(t, "s 1\na 1 <- s forward").Fingerprint(); other != base {
		t.Error("the parallelism changes the fingerprint where no exchange is needed")
	}
	if other := build(t, "s 2\nb 2 <- s hash").Fingerprint(); other == base {
		t.Error("another operator does not change the fingerprint")
	}
}
