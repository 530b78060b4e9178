package plan

import (
	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/types"
)

// join: a window join gives its rows once. Joins without windows are not there yet.
func (c *Changes) join(n *Join) connector.Modes {
	w := n.Windows()
	switch {
	case w == nil:
		e := c.Missing.Errorf(n.Pos, "%s without a window is not supported yet", n.Word)
		e.Hint = n.whyNoWindow()
	case w.Window.TimeType.Attr == types.Proctime:
		c.Errors.Errorf(n.Pos, "windows of processing time cannot be joined").
			WithHint("join windows of event time: those over the column of a WATERMARK")
	case n.AtOnce && (c.Updating(n.L) || c.Updating(n.R)):
		c.Missing.Errorf(n.Pos, "%s of inputs that update is not supported yet", n.Word)
	case c.Updating(n.L):
		c.onlyNew(n.Pos, n.L, "the left side of a window join")
	case c.Updating(n.R):
		c.onlyNew(n.Pos, n.R, "the right side of a window join")
	case !n.AtOnce && (takesLateRows(n.L, n.Keys[w.End].L) || takesLateRows(n.R, n.Keys[w.End].R)):
		c.onlyOnce(n.Pos, "a join of windows")
	}
	return connector.InsertOnly
}

// rank: the best rows of a window are known when it ends. Ranks without windows are not there yet.
func (c *Changes) rank(n *Rank) connector.Modes {
	w := n.Window()
	switch {
	case n.To < 1:
		c.Errors.Errorf(n.Pos, "the numbers of %s begin with 1, so no row has one up to %d", n.Func, n.To)
	case w == nil:
		e := c.Missing.Errorf(n.Pos, "%s without a window is not supported yet", n.Func)
		if windowsIn(n.Input) != nil {
			e.Hint = "to rank the rows of each window, PARTITION BY window_start, window_end"
		}
	case n.Func != RowNumber && !n.Ties:
		c.Errors.Errorf(n.Pos, "the best rows of a window are found by ROW_NUMBER; %s, which counts equal rows once or skips numbers, is not possible here", n.Func).
			WithHint("use ROW_NUMBER() OVER (...)")
	case w.TimeType.Attr == types.Proctime:
		c.Errors.Errorf(n.Pos, "the rows of windows of processing time cannot be ranked").
			WithHint("rank those of windows of event time: over the column of a WATERMARK")
	case c.Updating(n.Input):
		c.onlyNew(n.Pos, n.Input, "the ranking of a window's rows")
	case takesLateRows(n.Input, n.WindowEnd()):
		c.onlyOnce(n.Pos, "the ranking of a window's rows")
	}
	return connector.InsertOnly
}

// takesLateRows reports whether the rows of a node got their windows, whose end is a column, over a table that wants results to be
// shown again.
func takesLateRows(n Node, end int) bool {
	from, _, _ := WindowColumn(n, end)
	tvf, is := from.Node.(*WindowTVF)
	return is && tvf.Emit != nil
}

// onlyOnce reports what cannot show its results again for late rows.
func (c *Changes) onlyOnce(pos diag.Pos, what string) {
	c.Errors.Errorf(pos, "%s shows its results once, but a table below has 'late-rows' = 'emit'", what).
		WithHint("for this query, say FROM t /*+ OPTIONS('late-rows' = 'drop') */; LATE tells which rows came too late")
}

// onlyNew reports an input that updates where only new rows are taken.
func (c *Changes) onlyNew(pos diag.Pos, in Node, what string) {
	c.Errors.Errorf(pos, "%s takes only new rows (+I), but its input changes: it is made by %s", what, c.cause(in)).
		WithHint("aggregate over the windows first, which takes rows back")
}

// windowsIn returns the window that columns of a node tell of, or nil.
func windowsIn(n Node) *Window {
	for i := range n.Schema().Fields {
		if w, _, ok := WindowColumn(n, i); ok {
			return w.Window
		}
	}
	return nil
}

// text says in words how a window is cut.
func (w *Window) text() string {
	s := w.Kind.String() + " of " + Millis(w.Size)
	if w.Slide != 0 {
		s += " by " + Millis(w.Slide)
	}
	if w.Offset != 0 {
		s += " from " + Millis(w.Offset)
	}
	return s + " over " + w.TimeType.Kind.String()
}

// whyNoWindow says what a join of windowed inputs lacks; empty if its sides have no windows.
func (n *Join) whyNoWindow() string {
	l, r := windowsIn(n.L), windowsIn(n.R)
	if l == nil || r == nil {
		return ""
	}
	var has [2]bool
	for _, k := range n.Keys {
		_, p, ok := WindowColumn(n.L, k.L)
		_, q, ok2 := WindowColumn(n.R, k.R)
		if ok && ok2 && p == q && p != WindowTime {
			has[p] = true
		}
	}
	switch {
	case has[WindowStart] && has[WindowEnd] && !l.Alike(r):
		return "both sides must have the same windows, but the left ones are " + l.text() + ", and the right ones " + r.text()
	case has[WindowStart] && !has[WindowEnd]:
		return "a window join asks for equal windows: the condition has window_start, but lacks the equality of both sides' window_end"
	case has[WindowEnd] && !has[WindowStart]:
		return "a window join asks for equal windows: the condition has window_end, but lacks the equality of both sides' window_start"
	}
	return "to join the rows of equal windows, ask for the equality of both sides' window_start and of their window_end"
}
