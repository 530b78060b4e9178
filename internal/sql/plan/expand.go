package plan

import (
	"fmt"
	"strings"

	"github.com/millstream-io/millstream/types"
)

// Expand gives each row once for each set of GROUPING SETS. Its columns are those of the input, then copies of some of them,
// which are NULL in the rows of the sets that do not have them, then the number of the set.
type Expand struct {
	Input  Node
	Copies []int
	// Sets[s][i] tells that set s has Copies[i].
	Sets [][]bool
	Out  *types.Schema
}

// NewExpand makes the node.
func NewExpand(in Node, copies []int, sets [][]bool) *Expand {
	out := &types.Schema{Fields: append([]types.Field(nil), in.Schema().Fields...)}
	for _, c := range copies {
		f := in.Schema().Fields[c]
		f.Type = f.Type.Plain().WithNull(true)
		out.Fields = append(out.Fields, f)
	}
	out.Fields = append(out.Fields, types.Field{Name: "$set", Type: types.Of(types.BigInt).NotNull()})
	return &Expand{Input: in, Copies: copies, Sets: sets, Out: out}
}

// Schema implements Node.
func (n *Expand) Schema() *types.Schema { return n.Out }

// Inputs implements Node.
func (n *Expand) Inputs() []Node { return []Node{n.Input} }

// WithInputs implements Node.
func (n *Expand) WithInputs(in []Node) Node { c := *n; c.Input = in[0]; return &c }

// Line implements Node.
func (n *Expand) Line() string {
	in := n.Input.Schema()
	sets := make([]string, len(n.Sets))
	for s, has := range n.Sets {
		var names []string
		for i, c := range n.Copies {
			if has[i] {
				names = append(names, in.Fields[c].Name)
			}
		}
		sets[s] = "{" + strings.Join(names, ", ") + "}"
	}
	return fmt.Sprintf("Expand(sets=[%s])", strings.Join(sets, ", "))
}
