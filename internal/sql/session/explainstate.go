package session

import (
	"fmt"
	"strings"
	"time"

	"github.com/millstream-io/millstream/internal/checkpoint"
	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/types"
)

// ExplainState prints, for each operator of a graph that keeps tables, what is in them, what bounds them, and about how many
// bytes a row takes. The sizes go by the types of the columns.
func ExplainState(g *graph.Graph) (string, error) {
	var b strings.Builder
	for _, n := range g.Nodes {
		specs, err := checkpoint.Tables(n)
		if err != nil {
			return "", fmt.Errorf("%s: %w", n.ID, err)
		}
		if len(specs) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s: %s(%s) parallelism=[%d]\n", n.ID, n.Name, n.Detail, n.Parallelism)
		for i := range specs {
			explainTable(&b, n, &specs[i])
		}
	}
	if b.Len() == 0 {
		return "no operator keeps state\n", nil
	}
	fmt.Fprintf(&b, "Sizes are for one row, by the types of its columns; a text, a list or a row counts as %d bytes.\n", textSize)
	return b.String(), nil
}

func explainTable(b *strings.Builder, n *graph.Node, spec *state.Spec) {
	order := ""
	if spec.Order > 0 {
		order = fmt.Sprintf(", ordered by the last %d", spec.Order)
	}
	fmt.Fprintf(b, "  table %s: key (%s)%s, values (%s)\n", spec.Name, stateColumns(spec, 0, spec.Key), order, stateColumns(spec, len(spec.Key), spec.Value))
	memory, disk := rowSizes(spec)
	fmt.Fprintf(b, "    one row for each %s: about %d bytes in memory, %d on disk\n", rowOf(n, spec), memory, disk)
	fmt.Fprintf(b, "    %s\n", boundOf(n, spec))
}

// stateColumns prints columns with their types.
func stateColumns(spec *state.Spec, first int, list []types.Type) string {
	out := make([]string, len(list))
	for i, t := range list {
		out[i] = t.String()
		if len(spec.Columns) > 0 {
			out[i] = spec.Columns[first+i] + " " + out[i]
		}
	}
	return strings.Join(out, ", ")
}

// windowed reports whether the namespaces of an operator's tables are windows.
func windowed(n *graph.Node) bool { return strings.HasPrefix(n.Name, "Window") }

func rowOf(n *graph.Node, spec *state.Spec) string {
	switch {
	case windowed(n) && len(spec.Key) == 0:
		return "window"
	case windowed(n):
		return "key and window"
	case len(spec.Key) == 0:
		return "subtask"
	}
	return "key"
}

// boundOf says what makes rows go.
func boundOf(n *graph.Node, spec *state.Spec) string {
	switch {
	case spec.TTL > 0:
		return fmt.Sprintf("bounded: a row goes when it was not written for %v of processing time", time.Duration(spec.TTL)*time.Millisecond)
	case windowed(n):
		return "bounded: a row goes when the watermark has passed the end of its window, and allowed lateness"
	case len(spec.Key) == 0:
		return "bounded: it does not grow"
	}
	return "unbounded: it grows with each new key; table.exec.state.ttl makes rows go that are not written any more"
}

// The sizes of what a row takes besides its columns: its place in memory and in the hash index, in an order, and the head of
// its key on disk.
const (
	memoryHead = 14 + 16
	orderHead  = 20 + 8
	diskHead   = 11
	textSize   = 16
	textHead   = 20
)

// rowSizes estimates the bytes of one row in memory and on disk.
func rowSizes(spec *state.Spec) (memory, disk int) {
	memory, disk = memoryHead, diskHead+(len(spec.Value)+7)/8
	if spec.Order > 0 {
		memory += orderHead
	}
	if spec.TTL > 0 {
		memory, disk = memory+8, disk+6
	}
	for _, t := range spec.Key {
		w := width(t)
		memory, disk = memory+w, disk+1+min(w, textSize+2)
	}
	for _, t := range spec.Value {
		w := width(t)
		memory, disk = memory+w, disk+min(w, textSize+2)/2+1
	}
	return memory, disk
}

// width is about what a value takes in memory.
func width(t types.Type) int {
	null := 0
	if t.Nullable {
		null = 1
	}
	switch t.Phys() {
	case types.PhysBool, types.PhysI8:
		return 1 + null
	case types.PhysI16:
		return 2 + null
	case types.PhysI32, types.PhysF32:
		return 4 + null
	case types.PhysI64, types.PhysF64:
		return 8 + null
	case types.PhysI128, types.PhysTS:
		return 16 + null
	}
	return textHead + textSize
}
