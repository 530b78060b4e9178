package session

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/millstream-io/millstream/internal/checkpoint"
	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/op/waiting"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/types"
)

// StateMeasure is what was found in the tables of a graph's operators.
type StateMeasure struct {
	// Of says what was looked at: "the first 20000 rows of ev".
	Of string
	// Tables has what was found, by the operator's ID and the table.
	Tables map[string]map[string]Measured
	// Rows is how many rows were read between two looks; 0 if that is not known.
	Rows int64
}

// Measured is what two looks at a table have found.
type Measured struct {
	checkpoint.TableSize
	// Before is what the earlier look has found; nil if there was none.
	Before *checkpoint.TableSize
	// Time is the event time between the two, in ms; 0 if there is none.
	Time int64
}

// ExplainState prints, for each operator of a graph that keeps tables, what is in them, what bounds them, and about how many
// bytes a row takes. The sizes go by the types of the columns; with a measure, those that were found stand beside them. Without
// one, missing says why, if it is not empty.
func ExplainState(g *graph.Graph, m *StateMeasure, missing string) (string, error) {
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
			if m != nil {
				explainMeasured(&b, &specs[i], m, n.ID)
			}
		}
	}
	if b.Len() == 0 {
		return "no operator keeps state\n", nil
	}
	fmt.Fprintf(&b, "Sizes are for one row, by the types of its columns; a text, a list or a row counts as %d bytes.\n", textSize)
	switch {
	case m != nil:
		fmt.Fprintf(&b, "Measured: %s. On disk is before compression.\n", m.Of)
	case missing != "":
		fmt.Fprintf(&b, "Nothing was measured: %s.\n", missing)
	}
	return b.String(), nil
}

// explainMeasured prints what was found in a table, and how it grows.
func explainMeasured(b *strings.Builder, spec *state.Spec, all *StateMeasure, node string) {
	m, ok := all.Tables[node][spec.Name]
	if !ok || m.Rows == 0 {
		fmt.Fprintf(b, "    measured: no rows\n")
		return
	}
	memory := float64(rowHead(spec)+textHeads(spec)) + float64(m.Columns)/float64(m.Rows)
	disk := float64(m.Disk) / float64(m.Rows)
	more := ""
	if m.Partial {
		more = "more than "
	}
	fmt.Fprintf(b, "    measured: %s%d rows of %d keys; %.0f bytes in memory and %.0f on disk for a row", more, m.Rows, m.Keys, memory, disk)
	if perKey := float64(m.Rows) / float64(max(m.Keys, 1)); perKey > 1 {
		fmt.Fprintf(b, ", %.0f and %.0f for a key", memory*perKey, disk*perKey)
	}
	b.WriteByte('\n')
	if m.Before == nil || m.Partial {
		return
	}
	fmt.Fprintf(b, "    growth: %s\n", growth(m, all.Rows, memory))
}

// growth says how many rows more there are at the second look.
func growth(m Measured, read int64, memory float64) string {
	rows := m.Rows - m.Before.Rows
	if rows <= 0 {
		return "none between two looks: as many rows go as come, or all keys are known"
	}
	var out []string
	each := func(n float64, what string) {
		out = append(out, fmt.Sprintf("%.4g rows (%s in memory) for each %s", n, sizeText(n*memory), what))
	}
	if read > 0 {
		each(float64(rows)*1000/float64(read), "1000 rows read")
	}
	if m.Time > 0 {
		each(float64(rows)*float64(time.Hour.Milliseconds())/float64(m.Time), "hour of event time")
	}
	if len(out) == 0 {
		return fmt.Sprintf("%d rows between two looks", rows)
	}
	return strings.Join(out, ", ")
}

// sizeText prints a number of bytes for people.
func sizeText(n float64) string {
	const step = 1024
	unit := "bytes"
	for _, u := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if n < step {
			break
		}
		n, unit = n/step, u
	}
	return fmt.Sprintf("%.3g %s", n, unit)
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

// waits reports whether a table has rows that wait for their time, or counts them.
func waits(spec *state.Spec) bool { return strings.HasPrefix(spec.Name, waiting.Table) }

func rowOf(n *graph.Node, spec *state.Spec) string {
	switch {
	case waits(spec) && spec.Order > 0:
		return "row that waits"
	case waits(spec):
		return "group of keys with rows that wait"
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
	case waits(spec):
		return "bounded: a row goes when the watermark has passed its time"
	case n.Name == "OverAggregate":
		return boundOfOver(n)
	case windowed(n):
		return "bounded: a row goes when the watermark has passed the end of its window, and allowed lateness"
	case len(spec.Key) == 0:
		return "bounded: it does not grow"
	}
	return "unbounded: it grows with each new key; table.exec.state.ttl makes rows go that are not written any more"
}

// boundOfOver says what makes rows go that are behind an OVER.
func boundOfOver(n *graph.Node) string {
	switch {
	case strings.Contains(n.Detail, "window=[RANGE BETWEEN UNBOUNDED"), strings.Contains(n.Detail, "window=[ROWS BETWEEN UNBOUNDED"):
		return "unbounded: it grows with each new key"
	case strings.Contains(n.Detail, "window=[RANGE"):
		return "bounded: what is kept of a key goes when the watermark has passed the frame of its last row"
	}
	return "unbounded: it grows with each new key, by no more rows than the frame has"
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
	memory, disk = rowHead(spec), diskHead+(len(spec.Value)+7)/8
	if spec.TTL > 0 {
		disk += 6
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

// rowHead is what a row takes in memory besides its columns.
func rowHead(spec *state.Spec) int {
	n := memoryHead
	if spec.Order > 0 {
		n += orderHead
	}
	if spec.TTL > 0 {
		n += 8
	}
	return n
}

// textHeads is what the texts of a row take besides their bytes and one offset each, which are part of the columns.
func textHeads(spec *state.Spec) int {
	const offset, text = 4, textHead + textSize
	n := 0
	for _, t := range slices.Concat(spec.Key, spec.Value) {
		if width(t) == text {
			n += textHead - offset
		}
	}
	return n
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
