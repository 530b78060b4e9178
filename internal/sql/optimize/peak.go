package optimize

import (
	"reflect"
	"slices"

	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

// peak makes one node of a join of the rows of a window with their own greatest or least value, as for the highest bids of each
// window: the rows are ranked, those of the first rank stay, and none of the others is kept.
func (o *optimizer) peak(n plan.Node) plan.Node {
	j, is := n.(*plan.Join)
	if !is || j.Kind != plan.InnerJoin || len(j.TapsL)+len(j.TapsR) > 0 {
		return n
	}
	w := j.Windows()
	if w == nil || w.Window.Kind == plan.Session {
		return n
	}
	for _, swapped := range []bool{false, true} {
		if j.AtOnce && swapped {
			break // right rows are never late
		}
		if out := peakOf(j, w, swapped); out != nil {
			return out
		}
	}
	return n
}

// peakSides are the sides of a join: rows, and an aggregate of them.
type peakSides struct {
	rows, best plan.Node
	// value, start and end are columns of rows, top is the aggregate in best.
	value, start, end, top int
}

func peakOf(j *plan.Join, w *plan.Windows, swapped bool) plan.Node {
	s, sign := sidesOf(j, w, swapped)
	if s == nil {
		return nil
	}
	agg, at := aggregateOf(s.best)
	if agg == nil || len(agg.Keys) > 0 || agg.Emit != nil || len(agg.Taps) > 0 || len(agg.Aggs) != 1 || at[s.top] != 0 {
		return nil
	}
	a := agg.Aggs[0]
	descending := a.Def.Name == "MAX"
	if !descending && a.Def.Name != "MIN" || a.Filter >= 0 || descending != (sign > 0) && sign != 0 || !exact(s.rows.Schema().Fields[s.value].Type) {
		return nil
	}
	if !sameRows(s, agg) {
		return nil
	}
	rank := &plan.Rank{
		Input: s.rows, Func: plan.RankOf, Partition: []int{s.start, s.end}, From: 1, To: 1, Ties: true, AtOnce: j.AtOnce, Out: s.rows.Schema(),
		Order: []plan.SortKey{{Col: s.value, Desc: descending}}, Pos: j.Pos,
	}
	return s.project(j, rank, agg, at, swapped)
}

// sidesOf finds the two sides of the join if it asks, besides equal windows, for one comparison of a value with that of the other
// side. sign is 1 if the value is to be at least the other, -1 if it is to be at most the other, and 0 if they are to be equal.
func sidesOf(j *plan.Join, w *plan.Windows, swapped bool) (s *peakSides, sign int) {
	s = &peakSides{rows: j.L, best: j.R, value: -1}
	if swapped {
		s.rows, s.best = j.R, j.L
	}
	in := func(k plan.JoinKey) (rows, best int) {
		if swapped {
			return k.R, k.L
		}
		return k.L, k.R
	}
	for i, k := range j.Keys {
		rows, best := in(k)
		switch {
		case i == w.Start:
			s.start = rows
		case i == w.End:
			s.end = rows
		case s.value >= 0 || k.NullSafe:
			return nil, 0
		default:
			s.value, s.top = rows, best
		}
	}
	if j.Rest == nil {
		if s.value < 0 {
			return nil, 0
		}
		return s, 0
	}
	c, is := j.Rest.(*expr.Call)
	if !is || s.value >= 0 || len(c.Args) != 2 || c.Def.Name != ">=" && c.Def.Name != "<=" {
		return nil, 0
	}
	l, isCol := c.Args[0].(*expr.Col)
	r, isCol2 := c.Args[1].(*expr.Col)
	width := len(j.L.Schema().Fields)
	if !isCol || !isCol2 || (l.Index < width) == (r.Index < width) || !plan.Comparable(l.Type(), r.Type()) {
		return nil, 0
	}
	sign = 1
	if c.Def.Name == "<=" {
		sign = -1
	}
	left, right := l.Index, r.Index-width
	if l.Index >= width {
		left, right, sign = r.Index, l.Index-width, -sign
	}
	s.value, s.top = left, right
	if swapped {
		s.value, s.top, sign = right, left, -sign
	}
	return s, sign
}

// exact reports whether the greatest of some values equals one of them, and only those that are the same.
func exact(t types.Type) bool {
	return !t.IsNested() && t.Kind != types.Float && t.Kind != types.Double
}

// aggregateOf finds the window aggregate whose columns a node shows, and which of them each column of the node is.
func aggregateOf(n plan.Node) (*plan.WindowAggregate, []int) {
	base, exprs := peel(n)
	agg, is := base.(*plan.WindowAggregate)
	if !is {
		return nil, nil
	}
	at := make([]int, len(exprs))
	for i, e := range exprs {
		c, is := e.(*expr.Col)
		if !is {
			return nil, nil
		}
		at[i] = c.Index
	}
	return agg, at
}

// peel returns what lies below the projections at the top of a plan, and the plan's columns as expressions over that.
func peel(n plan.Node) (base plan.Node, exprs []expr.Expr) {
	exprs = passOn(n).Exprs
	for {
		p, is := n.(*plan.Project)
		if !is {
			return n, exprs
		}
		for i, e := range exprs {
			exprs[i] = plan.Substitute(e, p.Exprs)
		}
		n = p.Input
	}
}

// sameRows reports whether the aggregate is of the value, over the rows themselves in their windows.
func sameRows(s *peakSides, agg *plan.WindowAggregate) bool {
	if volatile(s.rows) || volatile(agg.Input) {
		return false
	}
	rows, cols := peel(s.rows)
	value, time := cols[s.value], cols[s.end]
	if !agg.Attached {
		tvf, is := rows.(*plan.WindowTVF)
		if !is || tvf.Emit != nil || len(tvf.Taps) > 0 {
			return false
		}
		var below []expr.Expr
		rows, below = peel(tvf.Input)
		if slices.ContainsFunc(expr.Columns(value), func(c int) bool { return c >= len(below) }) {
			return false
		}
		value, time = plan.Substitute(value, below), below[tvf.Window.Time]
	}
	of, args := peel(agg.Input)
	return sameValue(value, args[agg.Aggs[0].Args[0]]) && sameValue(time, args[agg.Window.Time]) && reflect.DeepEqual(placeless(rows), placeless(of))
}

// placeless returns a plan without the places at which the query names its parts.
func placeless(n plan.Node) plan.Node {
	return plan.Rewrite(n, func(n plan.Node) plan.Node {
		switch n := n.(type) {
		case *plan.Scan:
			c := *n
			c.Pos = diag.Pos{}
			return &c
		case *plan.WindowAggregate:
			c := *n
			c.Pos = diag.Pos{}
			return &c
		}
		return n
	})
}

// sameValue is plan.Same but for names, and but for whether a type is that of an event time.
func sameValue(a, b expr.Expr) bool {
	x, isCol := a.(*expr.Col)
	y, isCol2 := b.(*expr.Col)
	if isCol && isCol2 {
		return x.Index == y.Index
	}
	return plan.Same(a, b)
}

// project gives the columns of the join over the rows that are left: those of the aggregate are all among them. nil if one is not.
func (s *peakSides) project(j *plan.Join, rank *plan.Rank, agg *plan.WindowAggregate, at []int, swapped bool) plan.Node {
	p := &plan.Project{Input: rank, Out: j.Out}
	width := len(j.L.Schema().Fields)
	for c, f := range j.Out.Fields {
		from := c
		if c >= width {
			from = c - width
		}
		if c >= width != swapped {
			if from = s.instead(agg, at[from]); from < 0 {
				return nil
			}
		}
		p.Exprs = append(p.Exprs, expr.NewCol(from, f.Name, f.Type))
	}
	return p
}

// instead returns the column of the rows that is the same as a column of the aggregate, or -1.
func (s *peakSides) instead(agg *plan.WindowAggregate, col int) int {
	if col == 0 {
		return s.value
	}
	switch agg.Props[col-1] {
	case plan.WindowStart:
		return s.start
	case plan.WindowEnd:
		return s.end
	}
	return -1
}
