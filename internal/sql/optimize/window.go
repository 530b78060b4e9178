package optimize

import (
	"slices"

	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

// windowAggregate turns an aggregation that groups by window_start and window_end into a window aggregation. Where nothing
// between it and the window function looks at the window's columns, the function itself goes: the aggregation assigns rows
// to windows by their time. Otherwise the function stays, and the aggregation takes the window from the rows.
func (o *optimizer) windowAggregate(n plan.Node) plan.Node {
	a, is := n.(*plan.Aggregate)
	if !is {
		return n
	}
	from, ok := plan.WindowOf(a)
	if !ok {
		return n
	}
	if below, cond := windowConditions(a, from); cond != nil {
		return &plan.Filter{Input: o.windowAggregate(below), Cond: cond}
	}
	if tvf, is := from.Node.(*plan.WindowTVF); is && (tvf.Window.Kind != plan.Session || bySession(a, tvf)) {
		if out, place := groupByWindow(a, from, false); o.absorb(out, a.Input, tvf) {
			return restoreOrder(out, a, place)
		}
	}
	out, place := groupByWindow(a, from, true)
	out.Input, out.Attached = a.Input, true
	for _, k := range a.Keys {
		if w, p, ok := plan.WindowColumn(a.Input, k); ok && w == from && p == plan.WindowEnd {
			out.Window.Time = k
		}
	}
	if tvf, is := from.Node.(*plan.WindowTVF); is && tvf.Window.Kind != plan.Session {
		out.Emit = tvf.Emit
		liftTaps(out, tvf)
	}
	return restoreOrder(out, a, place)
}

// windowConditions returns an aggregation by windows that overlap without those conditions below it that are on its windows alone,
// and these as a condition on its result; nil if there are none. Windows that are left out then cost more, but the others are made
// of slices.
func windowConditions(a *plan.Aggregate, from plan.Windowed) (*plan.Aggregate, expr.Expr) {
	tvf, is := from.Node.(*plan.WindowTVF)
	p, isProject := a.Input.(*plan.Project)
	in := a.Input
	if isProject {
		in = p.Input
	}
	f, isFilter := in.(*plan.Filter)
	if !is || !isFilter || f.Input != plan.Node(tvf) || tvf.Window.Kind != plan.Hop && tvf.Window.Kind != plan.Cumulate {
		return nil, nil
	}
	keys := map[plan.WindowProp]int{}
	for i, k := range a.Keys {
		if w, prop, ok := plan.WindowColumn(a.Input, k); ok && w == from {
			keys[prop] = i
		}
	}
	width := len(tvf.Input.Schema().Fields)
	var above, below []expr.Expr
	for _, c := range plan.Conjuncts(f.Cond) {
		cols := expr.Columns(c)
		if expr.Volatile(c) || len(cols) == 0 || slices.ContainsFunc(cols, func(col int) bool { _, ok := keys[plan.WindowProp(col-width)]; return col < width || !ok }) {
			below = append(below, c)
			continue
		}
		above = append(above, expr.Remap(c, func(col int) int { return keys[plan.WindowProp(col-width)] }))
	}
	if above == nil {
		return nil, nil
	}
	out := *a
	if out.Input = filtered(tvf, below); isProject {
		out.Input = &plan.Project{Input: out.Input, Exprs: p.Exprs, Out: p.Out}
	}
	return &out, plan.Conjunction(above)
}

// groupByWindow makes a window aggregation of an aggregation, without its input. place[i] is where key i of the aggregation
// stands in it. attached tells that the rows have their windows already.
func groupByWindow(a *plan.Aggregate, from plan.Windowed, attached bool) (out *plan.WindowAggregate, place []int) {
	out = &plan.WindowAggregate{Window: *from.Window, Aggs: a.Aggs, Out: &types.Schema{}, Pos: a.Pos}
	out.Window.Partition = nil
	// prop tells which column of the window a key is. The end of a session does not tell its start, so that a row that has
	// its session already is grouped by both.
	prop := func(k int) (plan.WindowProp, bool) {
		w, p, ok := plan.WindowColumn(a.Input, k)
		return p, ok && w == from && !(attached && w.Window.Kind == plan.Session && p == plan.WindowStart)
	}
	place = make([]int, len(a.Keys))
	for i, k := range a.Keys {
		if _, ok := prop(k); ok {
			continue
		}
		place[i] = len(out.Keys)
		out.Keys = append(out.Keys, k)
		out.Out.Fields = append(out.Out.Fields, a.Out.Fields[i])
	}
	out.Out.Fields = append(out.Out.Fields, a.Out.Fields[len(a.Keys):]...)
	for i, k := range a.Keys {
		if p, ok := prop(k); ok {
			place[i] = len(out.Out.Fields)
			out.Props = append(out.Props, p)
			out.Out.Fields = append(out.Out.Fields, a.Out.Fields[i])
		}
	}
	return out, place
}

// bySession reports whether an aggregation groups by the keys of its sessions and nothing else.
func bySession(a *plan.Aggregate, tvf *plan.WindowTVF) bool {
	keys := map[int]bool{}
	if _, is := a.Input.(*plan.Expand); is {
		return false
	}
	for _, k := range a.Keys {
		if _, _, ok := plan.WindowColumn(a.Input, k); ok {
			continue
		}
		if p, is := a.Input.(*plan.Project); is {
			c, is := p.Exprs[k].(*expr.Col)
			if !is {
				return false
			}
			k = c.Index
		}
		keys[k] = true
	}
	for _, c := range tvf.Window.Partition {
		if !keys[c] {
			return false
		}
	}
	return len(keys) == len(tvf.Window.Partition)
}

// restoreOrder gives the columns of the window aggregation the order of the aggregation that it replaces.
func restoreOrder(w *plan.WindowAggregate, a *plan.Aggregate, place []int) plan.Node {
	p := &plan.Project{Input: w, Out: a.Out}
	for i, f := range a.Out.Fields {
		at := len(w.Keys) + i - len(a.Keys)
		if i < len(a.Keys) {
			at = place[i]
		}
		p.Exprs = append(p.Exprs, expr.NewCol(at, f.Name, f.Type))
	}
	if identity(p) {
		return w
	}
	return p
}

// absorb removes the window function from below the aggregation, if nothing else needs the window's columns.
func (o *optimizer) absorb(w *plan.WindowAggregate, in plan.Node, tvf *plan.WindowTVF) bool {
	used := usedColumns(w)
	expand, expands := in.(*plan.Expand)
	if expands {
		in = expand.Input
		for _, c := range expand.Copies {
			used[c] = true
		}
	}
	p, is := in.(*plan.Project)
	switch {
	case !is && in == plan.Node(tvf):
		p = &plan.Project{Input: tvf, Out: tvf.Out}
		for i, f := range tvf.Out.Fields {
			p.Exprs = append(p.Exprs, expr.NewCol(i, f.Name, f.Type))
		}
	case !is || p.Input != plan.Node(tvf):
		return false
	}
	below, place := withoutWindow(p, tvf, used)
	if below == nil {
		return false
	}
	w.Window.Time = below.Pass(tvf.Window.Time)
	w.Taps, w.Emit = plan.MapTaps(tvf.Taps, below.Pass), tvf.Emit
	w.Input = below
	if expands {
		w.Input = plan.NewExpand(below, moved(expand.Copies, place), expand.Sets)
		for i := range len(expand.Copies) + 1 {
			place[len(p.Exprs)+i] = len(below.Exprs) + i
		}
	}
	w.Keys, w.Aggs = moved(w.Keys, place), movedAggs(w.Aggs, place)
	return true
}

// withoutWindow returns the used columns of a projection over a window function as a projection over its input, and where they
// are. nil if one of them needs the window.
func withoutWindow(p *plan.Project, tvf *plan.WindowTVF, used map[int]bool) (*plan.Project, map[int]int) {
	width := len(tvf.Input.Schema().Fields)
	below := &plan.Project{Input: tvf.Input, Out: &types.Schema{}}
	place := map[int]int{}
	for i, e := range p.Exprs {
		if !used[i] {
			continue
		}
		for _, c := range expr.Columns(e) {
			if c >= width {
				return nil, nil
			}
		}
		place[i] = len(below.Exprs)
		below.Exprs = append(below.Exprs, e)
		below.Out.Fields = append(below.Out.Fields, p.Out.Fields[i])
	}
	return below, place
}

func moved(cols []int, place map[int]int) []int {
	out := make([]int, len(cols))
	for i, c := range cols {
		out[i] = place[c]
	}
	return out
}

// usedColumns returns the input columns that keys, arguments and filters need.
func usedColumns(w *plan.WindowAggregate) map[int]bool {
	used := map[int]bool{}
	for _, k := range w.Keys {
		used[k] = true
	}
	for _, a := range w.Aggs {
		for _, c := range a.Args {
			used[c] = true
		}
		if a.Filter >= 0 {
			used[a.Filter] = true
		}
	}
	return used
}
