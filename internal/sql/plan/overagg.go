package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/types"
)

// Frame says which rows of a partition before a row count for it, besides the row itself.
type Frame struct {
	// Rows counts rows; otherwise rows of the same time have one frame.
	Rows bool
	// Bounded says that the frame begins Preceding rows, or ms, before the row; otherwise it has all rows before.
	Bounded   bool
	Preceding int64
}

// String prints the frame as SQL has it.
func (f Frame) String() string {
	unit, lo := "RANGE", "UNBOUNDED"
	if f.Rows {
		unit = "ROWS"
	}
	switch {
	case f.Bounded && f.Rows:
		lo = fmt.Sprint(f.Preceding)
	case f.Bounded:
		lo = Millis(f.Preceding)
	}
	return unit + " BETWEEN " + lo + " PRECEDING AND CURRENT ROW"
}

// OverFunc is what a call with an OVER computes.
type OverFunc uint8

// The kinds of calls: an aggregate, a number of the row, the value of an earlier row.
const (
	OverAgg OverFunc = iota
	OverRank
	OverLag
)

// OverCall is a column that OverAggregate adds. Name and Type of Agg are set for all kinds of calls.
type OverCall struct {
	Func OverFunc
	// Agg is the call of OverAgg; for OverLag, Args is the column of the value.
	Agg
	// Rank is the function of OverRank.
	Rank RankFunc
	// Back is how many rows OverLag looks back; Default is the column of what stands for NULL, or -1.
	Back    int64
	Default int
}

// text prints the call.
func (c *OverCall) text(in *types.Schema) string {
	switch c.Func {
	case OverRank:
		return c.Rank.String() + "()"
	case OverLag:
		s := fmt.Sprintf("LAG(%s, %d", in.Fields[c.Args[0]].Name, c.Back)
		if c.Default >= 0 {
			s += ", " + in.Fields[c.Default].Name
		}
		return s + ")"
	}
	return c.Agg.Text(in)
}

// OverAggregate adds columns to each row that are computed from the rows before it, in the order of a time attribute. Rows come
// when the watermark has passed them, or at once where the order is that of processing time.
type OverAggregate struct {
	Input     Node
	Partition []int
	// Time is the column of the order.
	Time  int
	Frame Frame
	Calls []OverCall
	// Out has the columns of Input, then those of Calls.
	Out *types.Schema
	// Taps want the rows that are late.
	Taps []Tap
	Pos  diag.Pos
}

// NewOverAggregate makes an OverAggregate; its columns follow from the calls.
func NewOverAggregate(n OverAggregate) *OverAggregate {
	n.Out = &types.Schema{Fields: slices.Clone(n.Input.Schema().Fields)}
	for _, c := range n.Calls {
		n.Out.Fields = append(n.Out.Fields, types.Field{Name: c.Name, Type: c.Type})
	}
	return &n
}

// Attr is the time attribute of the order.
func (n *OverAggregate) Attr() types.TimeAttr { return TimeAttr(n.Input, n.Time) }

// Schema implements Node.
func (n *OverAggregate) Schema() *types.Schema { return n.Out }

// Inputs implements Node.
func (n *OverAggregate) Inputs() []Node { return []Node{n.Input} }

// WithInputs implements Node.
func (n *OverAggregate) WithInputs(in []Node) Node { c := *n; c.Input = in[0]; return &c }

// Line implements Node.
func (n *OverAggregate) Line() string { return "OverAggregate(" + n.Detail() + ")" }

// Detail prints the window and the calls.
func (n *OverAggregate) Detail() string {
	in := n.Input.Schema()
	calls := make([]string, len(n.Calls))
	for i := range n.Calls {
		calls[i] = n.Calls[i].text(in) + " AS " + n.Calls[i].Name
	}
	return fmt.Sprintf("%s, window=[%s], select=[%s]", orderText(n.Input, n.Partition, []SortKey{{Col: n.Time, NullsFirst: true}}), n.Frame, strings.Join(calls, ", "))
}
