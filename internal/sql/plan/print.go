package plan

import "strings"

// Print prints the tree, one node a line, inputs below and indented. note, which may be nil, adds to a line.
func Print(n Node, note func(Node) string) string {
	var b strings.Builder
	write(&b, n, note, "", "")
	return b.String()
}

func write(b *strings.Builder, n Node, note func(Node) string, first, rest string) {
	b.WriteString(first + n.Line())
	if note != nil {
		if s := note(n); s != "" {
			b.WriteString(" " + s)
		}
	}
	b.WriteByte('\n')
	for _, in := range n.Inputs() {
		write(b, in, note, rest+"+- ", rest+"   ")
	}
}

// Rewrite rebuilds the tree from below: each node, over its rewritten inputs, is given to f.
func Rewrite(n Node, f func(Node) Node) Node {
	in := n.Inputs()
	changed := false
	out := make([]Node, len(in))
	for i, c := range in {
		out[i] = Rewrite(c, f)
		changed = changed || out[i] != c
	}
	if changed {
		n = n.WithInputs(out)
	}
	return f(n)
}

// Walk calls f for each node, inputs before what is above them.
func Walk(n Node, f func(Node)) {
	for _, c := range n.Inputs() {
		Walk(c, f)
	}
	f(n)
}
