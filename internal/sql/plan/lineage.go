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
			if _, _, ok := WindowColumn(n.Input, n.Keys[col]); ok && WindowOf(n) != nil {
				return TimeAttr(n.Input, n.Keys[col])
			}
		}
	case *WindowAggregate:
		if p := col - len(n.Keys) - len(n.Aggs); p >= 0 && n.Props[p] == WindowTime {
			return n.Window.TimeType.Attr
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

// WindowOf returns the window function whose windows an aggregation groups by: its keys hold both window_start and
// window_end. nil if they do not.
func WindowOf(a *Aggregate) *WindowTVF {
	var of [2]*WindowTVF
	for _, k := range a.Keys {
		if w, p, ok := WindowColumn(a.Input, k); ok && p != WindowTime {
			of[p] = w
		}
	}
	if of[WindowStart] == nil || of[WindowStart] != of[WindowEnd] {
		return nil
	}
	return of[WindowStart]
}

// WindowColumn finds the window function that a column comes from, unchanged, and which of its columns it is.
func WindowColumn(n Node, col int) (w *WindowTVF, p WindowProp, ok bool) {
	switch n := n.(type) {
	case *Project:
		if c, is := n.Exprs[col].(*expr.Col); is {
			return WindowColumn(n.Input, c.Index)
		}
	case *Filter:
		return WindowColumn(n.Input, col)
	case *Expand:
		if col < len(n.Input.Schema().Fields) {
			return WindowColumn(n.Input, col)
		}
	case *WindowTVF:
		if in := len(n.Input.Schema().Fields); col >= in {
			return n, WindowProp(col - in), true
		}
	}
	return nil, 0, false
}
