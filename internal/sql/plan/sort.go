package plan

import (
	"strings"

	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/types"
)

// Sort gives rows in the order of a time attribute, which is the first of Keys, and of further columns where that is equal. Rows
// wait until time has passed them.
type Sort struct {
	Input Node
	Keys  []SortKey
	// Taps want the rows that are late.
	Taps []Tap
	// Pos is where the query asks for it.
	Pos diag.Pos
}

// Time is the column of the time attribute.
func (n *Sort) Time() int { return n.Keys[0].Col }

// Schema implements Node.
func (n *Sort) Schema() *types.Schema { return n.Input.Schema() }

// Inputs implements Node.
func (n *Sort) Inputs() []Node { return []Node{n.Input} }

// WithInputs implements Node.
func (n *Sort) WithInputs(in []Node) Node { c := *n; c.Input = in[0]; return &c }

// Line implements Node.
func (n *Sort) Line() string { return "TemporalSort(" + n.Detail() + ")" }

// Detail prints the order.
func (n *Sort) Detail() string { return "orderBy=[" + sortList(n.Input, n.Keys) + "]" }

// sortList prints columns to sort by.
func sortList(in Node, order []SortKey) string {
	fields := in.Schema().Fields
	keys := make([]string, len(order))
	for i, k := range order {
		keys[i] = fields[k.Col].Name
		if k.Desc {
			keys[i] += " DESC"
		}
		if k.NullsFirst == k.Desc {
			// NULLs are the smallest values where nothing else is said.
			keys[i] += map[bool]string{true: " NULLS FIRST", false: " NULLS LAST"}[k.NullsFirst]
		}
	}
	return strings.Join(keys, ", ")
}
