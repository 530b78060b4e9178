package optimize

import "github.com/millstream-io/millstream/internal/sql/plan"

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

// liftTaps gives an aggregation over rows that have their window already the taps of the window function: the columns that they
// need are passed on from there.
func liftTaps(w *plan.WindowAggregate, tvf *plan.WindowTVF) {
	if len(tvf.Taps) == 0 {
		return
	}
	need := plan.TapColumns(tvf.Taps)
	bottom := func(n plan.Node) (plan.Node, []int) {
		if n == plan.Node(tvf) {
			return n, need
		}
		return nil, nil
	}
	in := w.Input
	expand, expands := in.(*plan.Expand)
	if expands {
		in = expand.Input
	}
	lifted, at := plan.Lift(in, bottom, nil)
	if lifted == nil {
		return
	}
	if expands {
		shiftBehind(w, len(in.Schema().Fields), len(lifted.Schema().Fields))
		lifted = plan.NewExpand(lifted, expand.Copies, expand.Sets)
	}
	place := map[int]int{}
	for i, c := range need {
		place[c] = at[i]
	}
	w.Input, w.Taps = lifted, plan.MapTaps(tvf.Taps, func(c int) int { return place[c] })
}

// shiftBehind moves what a window aggregation reads behind the first was columns of its input: there are now more of them.
func shiftBehind(w *plan.WindowAggregate, was, now int) {
	shift := func(c int) int {
		if c < was {
			return c
		}
		return c + now - was
	}
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
