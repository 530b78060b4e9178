package optimize

import (
	"slices"

	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

// alone optimizes the query that LATE(view) runs where nothing else reads the view.
func (o *optimizer) alone(n plan.Node) plan.Node {
	l, is := n.(*plan.Late)
	if !is || l.Alone == nil {
		return n
	}
	out := *l
	out.Alone = Plan(l.Alone, o.env, o.times)
	return &out
}

// carryTaps gives joins and ranks of windows the taps of the window functions below them, and the columns that these need. A
// projection above leaves these columns out again.
func (o *optimizer) carryTaps(n plan.Node) plan.Node {
	switch n := n.(type) {
	case *plan.Join:
		return tapJoin(n)
	case *plan.Rank:
		return tapRank(n)
	}
	return n
}

func tapJoin(j *plan.Join) plan.Node {
	w := j.Windows()
	if w == nil || j.AtOnce {
		return j
	}
	l, left := liftFrom(j.L, j.Keys[w.End].L)
	r, right := liftFrom(j.R, j.Keys[w.End].R)
	if len(left)+len(right) == 0 {
		return j
	}
	width := len(j.L.Schema().Fields)
	more := len(l.Schema().Fields) - width
	rest := j.Rest
	if rest != nil {
		rest = expr.Remap(rest, func(i int) int { return shift(i, width, more) })
	}
	out := j.Anew(l, r, j.Keys, rest)
	out.TapsL, out.TapsR = left, right
	return passing(out, j.Out, func(i int) int { return shift(i, width, more) })
}

func tapRank(n *plan.Rank) plan.Node {
	end := n.WindowEnd()
	if end < 0 {
		return n
	}
	in, taps := liftFrom(n.Input, end)
	if len(taps) == 0 {
		return n
	}
	width := len(n.Input.Schema().Fields)
	more := len(in.Schema().Fields) - width
	out := *n
	out.Input, out.Taps = in, taps
	out.Out = &types.Schema{Fields: slices.Clone(in.Schema().Fields)}
	if n.Numbered {
		out.Out.Fields = append(out.Out.Fields, n.Out.Fields[width])
	}
	return passing(&out, n.Out, func(i int) int { return shift(i, width, more) })
}

// passing is a projection to the columns of a schema, which are at other places now.
func passing(n plan.Node, want *types.Schema, at func(int) int) plan.Node {
	p := &plan.Project{Input: n, Out: want}
	for i, f := range want.Fields {
		p.Exprs = append(p.Exprs, expr.NewCol(at(i), f.Name, f.Type))
	}
	return p
}

// liftFrom finds the window function that gave the rows of a node their windows, whose end is a column, and passes on what its
// taps need. The rows of a session are given in time, those of an aggregation are never late.
func liftFrom(n plan.Node, end int) (plan.Node, []plan.Tap) {
	from, _, _ := plan.WindowColumn(n, end)
	tvf, is := from.Node.(*plan.WindowTVF)
	if !is || tvf.Window.Kind == plan.Session || len(tvf.Taps) == 0 {
		return n, nil
	}
	return lifted(n, tvf)
}

// lifted passes what the taps of a window function need on to a node above it; without taps if that is not possible.
func lifted(n plan.Node, tvf *plan.WindowTVF) (plan.Node, []plan.Tap) {
	need := plan.TapColumns(tvf.Taps)
	in, at := plan.Lift(n, func(n plan.Node) (plan.Node, []int) {
		if n == plan.Node(tvf) {
			return n, need
		}
		return nil, nil
	}, nil)
	if in == nil {
		return n, nil
	}
	place := map[int]int{}
	for i, c := range need {
		place[c] = at[i]
	}
	return in, plan.MapTaps(tvf.Taps, func(c int) int { return place[c] })
}

// liftTaps gives an aggregation over rows that have their window already the taps of the window function: the columns that they
// need are passed on from there.
func liftTaps(w *plan.WindowAggregate, tvf *plan.WindowTVF) {
	if len(tvf.Taps) == 0 {
		return
	}
	in := w.Input
	expand, expands := in.(*plan.Expand)
	if expands {
		in = expand.Input
	}
	out, taps := lifted(in, tvf)
	if expands {
		shiftBehind(w, len(in.Schema().Fields), len(out.Schema().Fields))
		out = plan.NewExpand(out, expand.Copies, expand.Sets)
	}
	w.Input, w.Taps = out, taps
}

// shiftBehind moves what a window aggregation reads behind the first was columns of its input: there are now more of them.
func shiftBehind(w *plan.WindowAggregate, was, now int) {
	shift := func(c int) int { return shift(c, was, now-was) }
	keys := make([]int, len(w.Keys))
	for i, k := range w.Keys {
		keys[i] = shift(k)
	}
	w.Keys, w.Window.Time = keys, shift(w.Window.Time)
	aggs := make([]plan.Agg, len(w.Aggs))
	for i, a := range w.Aggs {
		args := make([]int, len(a.Args))
		for k, c := range a.Args {
			args[k] = shift(c)
		}
		a.Args = args
		if a.Filter >= 0 {
			a.Filter = shift(a.Filter)
		}
		aggs[i] = a
	}
	w.Aggs = aggs
}
