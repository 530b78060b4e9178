package plan

import (
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/types"
)

// TimeAttr returns the time attribute that a column really has. The type of a column shows what Flink's DESCRIBE shows, which
// also marks results of arithmetic and aggregates; but only the column of a WATERMARK, PROCTIME() and window_time are time
// attributes, and stay so where they are passed on unchanged.
func TimeAttr(n Node, col int) types.TimeAttr {
	switch n := n.(type) {
	case *Watermark:
		if col == n.Col {
			return types.Rowtime
		}
		return TimeAttr(n.Input, col)
	case *Project:
		switch e := n.Exprs[col].(type) {
		case *expr.Col:
			return TimeAttr(n.Input, e.Index)
		case *expr.Call:
			if e.Def.Name == "PROCTIME" {
				return types.Proctime
			}
		}
	case *Filter:
		return TimeAttr(n.Input, col)
	case *Limit:
		return TimeAttr(n.Input, col)
	case *Sort:
		return TimeAttr(n.Input, col)
	case *Expand:
		if col < len(n.Input.Schema().Fields) {
			return TimeAttr(n.Input, col)
		}
	case *WindowTVF:
		in := len(n.Input.Schema().Fields)
		if col < in {
			return TimeAttr(n.Input, col)
		}
		if col == in+int(WindowTime) {
			return n.Window.TimeType.Attr
		}
	case *Aggregate:
		// A window aggregation passes window_time on; any other aggregation ends the life of a time attribute.
		if col < len(n.Keys) {
			if _, windowed := WindowOf(n); windowed {
				return TimeAttr(n.Input, n.Keys[col])
			}
		}
	case *WindowAggregate:
		if p := col - len(n.Keys) - len(n.Aggs); p >= 0 && n.Props[p] == WindowTime {
			return n.Window.TimeType.Attr
		}
	case *Join:
		return joinedTime(n, col)
	case *Over, *OverAggregate:
		if in := n.Inputs()[0]; col < len(in.Schema().Fields) {
			return TimeAttr(in, col)
		}
	case *Rank:
		if col < len(n.Input.Schema().Fields) && n.Window() != nil && !n.AtOnce {
			return TimeAttr(n.Input, col)
		}
	case *Union:
		attr := TimeAttr(n.In[0], col)
		for _, in := range n.In[1:] {
			if TimeAttr(in, col) != attr {
				return types.NoTime
			}
		}
		return attr
	}
	return types.NoTime
}

// joinedTime: a window join passes time attributes on, one that gives its pairs at once does not. Nor do other joins, but these are
// refused later, with a better reason.
func joinedTime(n *Join, col int) types.TimeAttr {
	width := len(n.L.Schema().Fields)
	switch {
	case n.AtOnce || n.Within() != nil:
		return types.NoTime
	case col < width:
		return TimeAttr(n.L, col)
	}
	return TimeAttr(n.R, col-width)
}

// Windowed is where rows got their windows.
type Windowed struct {
	// Node gave the rows their windows: a window function, what took its place, or a window join.
	Node   Node
	Window *Window
}

// WindowOf returns where the rows of an aggregation got the windows that it groups by: its keys hold both window_start and
// window_end.
func WindowOf(a *Aggregate) (Windowed, bool) { return windowOf(a.Input, a.Keys) }

// WindowColumn finds where a column that tells of a window comes from, unchanged, and what it tells.
func WindowColumn(n Node, col int) (w Windowed, p WindowProp, ok bool) {
	switch n := n.(type) {
	case *Project:
		if c, is := n.Exprs[col].(*expr.Col); is {
			return WindowColumn(n.Input, c.Index)
		}
	case *Filter:
		return WindowColumn(n.Input, col)
	case *Sort:
		return WindowColumn(n.Input, col)
	case *Expand:
		if col < len(n.Input.Schema().Fields) {
			return WindowColumn(n.Input, col)
		}
	case *WindowTVF:
		if in := len(n.Input.Schema().Fields); col >= in {
			return Windowed{n, &n.Window}, WindowProp(col - in), true
		}
	case *Aggregate:
		if _, windowed := WindowOf(n); windowed && col < len(n.Keys) {
			return WindowColumn(n.Input, n.Keys[col])
		}
	case *WindowAggregate:
		return aggregatedWindow(n, col)
	case *Join:
		return joinedWindow(n, col)
	case *Over, *OverAggregate:
		if in := n.Inputs()[0]; col < len(in.Schema().Fields) {
			return WindowColumn(in, col)
		}
	case *Rank:
		if col < len(n.Input.Schema().Fields) && n.Window() != nil && !n.AtOnce {
			return WindowColumn(n.Input, col)
		}
	}
	return Windowed{}, 0, false
}

// aggregatedWindow: an aggregation over rows that have their windows passes these on; otherwise it makes them.
func aggregatedWindow(n *WindowAggregate, col int) (w Windowed, p WindowProp, ok bool) {
	w = Windowed{n, &n.Window}
	if n.Attached {
		w, _, _ = WindowColumn(n.Input, n.Window.Time)
	}
	if i := col - len(n.Keys) - len(n.Aggs); i >= 0 {
		return w, n.Props[i], true
	}
	if col < len(n.Keys) && n.Attached {
		// The start of a session is a key.
		return WindowColumn(n.Input, n.Keys[col])
	}
	return Windowed{}, 0, false
}

// joinedWindow: the windows of a window join are those of both sides, but for a side that may be padded with NULLs.
func joinedWindow(n *Join, col int) (w Windowed, p WindowProp, ok bool) {
	windows := n.Windows()
	if windows == nil || n.AtOnce {
		return Windowed{}, 0, false
	}
	width := len(n.L.Schema().Fields)
	switch {
	case col < width && !n.Kind.PadsLeft():
		_, p, ok = WindowColumn(n.L, col)
	case col >= width && !n.Kind.PadsRight():
		_, p, ok = WindowColumn(n.R, col-width)
	}
	return Windowed{n, windows.Window}, p, ok
}
