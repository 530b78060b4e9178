package plan

import (
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/types"
)

// Within says that a join asks for the event time of the rows of one side to lie in the window of a row of the other side. It is
// then a join by windows, though the rows of the first side do not have any yet.
type Within struct {
	// Swapped tells that the side with the time is the right one.
	Swapped bool
	// Time is the column of the event time; Start and End are those of the window, on the other side.
	Time, Start, End int
	Window           *Window
	// Rest is what the join asks for besides its keys; nil if there is no more.
	Rest expr.Expr
}

// Within finds a condition t >= window_start AND t < window_end in an inner join whose one side gives its rows when their windows
// are over, so that they never come late. nil if there is none.
func (n *Join) Within() *Within {
	if n.Kind != InnerJoin || n.Rest == nil || n.Windows() != nil {
		return nil
	}
	for _, swapped := range []bool{false, true} {
		if w := n.within(swapped); w != nil {
			return w
		}
	}
	return nil
}

func (n *Join) within(swapped bool) *Within {
	width := len(n.L.Schema().Fields)
	timed, windowed, timedAt, windowedAt := n.L, n.R, 0, width
	if swapped {
		timed, windowed, timedAt, windowedAt = n.R, n.L, width, 0
	}
	if !atWindowEnd(windowed) {
		return nil
	}
	out := &Within{Swapped: swapped}
	var rest []expr.Expr
	var found [2]bool
	var from [2]Windowed
	var time [2]int
	for _, c := range Conjuncts(n.Rest) {
		t, b, p, ok := boundOf(c)
		t, b = t-timedAt, b-windowedAt
		if !ok || t < 0 || t >= len(timed.Schema().Fields) || b < 0 || b >= len(windowed.Schema().Fields) {
			rest = append(rest, c)
			continue
		}
		w, q, isWindow := WindowColumn(windowed, b)
		if !isWindow || q != p || found[p] {
			rest = append(rest, c)
			continue
		}
		found[p], from[p], time[p] = true, w, t
		if p == WindowStart {
			out.Start = b
		} else {
			out.End = b
		}
	}
	if !found[WindowStart] || !found[WindowEnd] || from[WindowStart] != from[WindowEnd] || time[WindowStart] != time[WindowEnd] {
		return nil
	}
	out.Time, out.Window, out.Rest = time[WindowStart], from[WindowStart].Window, Conjunction(rest)
	w := out.Window
	if w.Kind == Session || w.TimeType.Attr != types.Rowtime || w.TimeType.Kind != types.Timestamp || TimeAttr(timed, out.Time) != types.Rowtime {
		return nil
	}
	return out
}

// boundOf returns the columns of t >= start (p is WindowStart) or t < end (p is WindowEnd), written in either direction.
func boundOf(e expr.Expr) (t, bound int, p WindowProp, ok bool) {
	c, is := e.(*expr.Call)
	if !is || len(c.Args) != 2 {
		return 0, 0, 0, false
	}
	a, isCol := c.Args[0].(*expr.Col)
	b, isCol2 := c.Args[1].(*expr.Col)
	if !isCol || !isCol2 {
		return 0, 0, 0, false
	}
	switch c.Def.Name {
	case ">=":
		return a.Index, b.Index, WindowStart, true
	case "<=":
		return b.Index, a.Index, WindowStart, true
	case "<":
		return a.Index, b.Index, WindowEnd, true
	case ">":
		return b.Index, a.Index, WindowEnd, true
	}
	return 0, 0, 0, false
}

// atWindowEnd reports whether a node gives the rows of a window when that is over, and none later.
func atWindowEnd(n Node) bool {
	switch n := n.(type) {
	case *Project:
		return atWindowEnd(n.Input)
	case *Filter:
		return atWindowEnd(n.Input)
	case *Aggregate:
		w, ok := WindowOf(n)
		tvf, is := w.Node.(*WindowTVF)
		return ok && !(is && tvf.Emit != nil)
	case *WindowAggregate:
		return n.Emit == nil
	case *Rank:
		return n.Window() != nil && !n.AtOnce
	case *Join:
		return n.Windows() != nil && !n.AtOnce
	}
	return false
}

// NewWindowTVF makes the node that gives the rows of in their windows.
func NewWindowTVF(in Node, w Window) *WindowTVF {
	out := &types.Schema{Fields: append(append([]types.Field(nil), in.Schema().Fields...), w.Columns()...)}
	return &WindowTVF{Input: in, Window: w, Out: out}
}
