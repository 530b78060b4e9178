package plan

import (
	"fmt"
	"strings"

	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/types"
)

// SortKey is a column to sort by.
type SortKey struct {
	Col              int
	Desc, NullsFirst bool
}

// RankFunc is a function that numbers the rows of a partition.
type RankFunc uint8

// The ranking functions.
const (
	RowNumber RankFunc = iota
	RankOf
	DenseRank
)

// String returns the function's name.
func (f RankFunc) String() string { return [...]string{"ROW_NUMBER", "RANK", "DENSE_RANK"}[f] }

// Over adds a column that numbers each row among those with the same values in Partition, in an order.
type Over struct {
	Input     Node
	Func      RankFunc
	Partition []int
	Order     []SortKey
	Out       *types.Schema
	// Taps want the rows that are late, where the order is that of event time.
	Taps []Tap
	// Pos is where the query asks for it.
	Pos diag.Pos
}

// Rank keeps the rows whose number in their partition is From to To.
type Rank struct {
	Input     Node
	Func      RankFunc
	Partition []int
	Order     []SortKey
	From, To  int64
	// Ties keeps all rows that are the first in Order, which is one column then, and no row that is NULL there. AtOnce gives late
	// rows as well, when they come, if they are as good as the best one was.
	Ties, AtOnce bool
	// Numbered tells that the number is the last column of the result; otherwise the columns are those of the input.
	Numbered bool
	Out      *types.Schema
	// Taps want the rows that are late for their window.
	Taps []Tap
	Pos  diag.Pos
}

// NewOver makes an Over; name is that of the column that it adds.
func NewOver(in Node, f RankFunc, partition []int, order []SortKey, name string, pos diag.Pos) *Over {
	out := &types.Schema{Fields: append([]types.Field(nil), in.Schema().Fields...)}
	out.Fields = append(out.Fields, types.Field{Name: name, Type: types.Of(types.BigInt).NotNull()})
	return &Over{Input: in, Func: f, Partition: partition, Order: order, Out: out, Pos: pos}
}

// windowOf finds what has both window_start and window_end among some columns of a node.
func windowOf(n Node, cols []int) (Windowed, bool) {
	starts := map[Windowed]bool{}
	for _, c := range cols {
		if w, p, ok := WindowColumn(n, c); ok && p == WindowStart {
			starts[w] = true
		}
	}
	for _, c := range cols {
		if w, p, ok := WindowColumn(n, c); ok && p == WindowEnd && starts[w] {
			return w, true
		}
	}
	return Windowed{}, false
}

// Window returns the window whose rows are ranked among each other; nil if the partition has not both of its bounds.
func (n *Rank) Window() *Window {
	w, ok := windowOf(n.Input, n.Partition)
	if !ok {
		return nil
	}
	return w.Window
}

// WindowEnd returns the column of the partition that is the window's end, or -1.
func (n *Rank) WindowEnd() int {
	w, _ := windowOf(n.Input, n.Partition)
	for _, c := range n.Partition {
		if of, p, ok := WindowColumn(n.Input, c); ok && of == w && p == WindowEnd {
			return c
		}
	}
	return -1
}

// Deduplicates reports whether the first or the last row of each partition is kept, by a time attribute.
func (n *Rank) Deduplicates() bool {
	return n.Func == RowNumber && n.From == 1 && n.To == 1 && len(n.Order) == 1 && TimeAttr(n.Input, n.Order[0].Col) != types.NoTime
}

// Schema implements Node.
func (n *Over) Schema() *types.Schema { return n.Out }

// Schema implements Node.
func (n *Rank) Schema() *types.Schema { return n.Out }

// Inputs implements Node.
func (n *Over) Inputs() []Node { return []Node{n.Input} }

// Inputs implements Node.
func (n *Rank) Inputs() []Node { return []Node{n.Input} }

// WithInputs implements Node.
func (n *Over) WithInputs(in []Node) Node { c := *n; c.Input = in[0]; return &c }

// WithInputs implements Node.
func (n *Rank) WithInputs(in []Node) Node { c := *n; c.Input = in[0]; return &c }

// Line implements Node.
func (n *Over) Line() string {
	return fmt.Sprintf("Over(%s, select=[%s AS %s])", orderText(n.Input, n.Partition, n.Order), n.Func, n.Out.Fields[len(n.Out.Fields)-1].Name)
}

// Line implements Node.
func (n *Rank) Line() string {
	name := "Rank"
	switch w := n.Window(); {
	case w != nil && n.Deduplicates():
		name = "WindowDeduplicate"
	case w != nil:
		name = "WindowRank"
	}
	return name + "(" + n.Detail() + ")"
}

// Detail prints which rows are kept.
func (n *Rank) Detail() string {
	s := fmt.Sprintf("rank=[%s %d to %d], %s", n.Func, n.From, n.To, orderText(n.Input, n.Partition, n.Order))
	if n.AtOnce {
		s += ", late=[at once]"
	}
	if n.Numbered {
		s += ", emit=[" + n.Out.Fields[len(n.Out.Fields)-1].Name + "]"
	}
	return s
}

func orderText(in Node, partition []int, order []SortKey) string {
	fields := in.Schema().Fields
	by := make([]string, len(partition))
	for i, c := range partition {
		by[i] = fields[c].Name
	}
	return fmt.Sprintf("partitionBy=[%s], orderBy=[%s]", strings.Join(by, ", "), sortList(in, order))
}
