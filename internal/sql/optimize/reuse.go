package optimize

import (
	"slices"

	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

// reuse makes window aggregates that compute the same, such as those of a WITH query that is named twice, one node, which shows
// what any of them shows of its windows. Other nodes read the same only where they are that node.
func (o *optimizer) reuse(n plan.Node) plan.Node {
	var groups [][]*plan.WindowAggregate
	var gather func(plan.Node)
	gather = func(n plan.Node) {
		if w, is := n.(*plan.WindowAggregate); is && w.Emit == nil && len(w.Taps) == 0 && !volatile(w) {
			i := slices.IndexFunc(groups, func(g []*plan.WindowAggregate) bool { return alike(g[0], w) })
			if i < 0 {
				groups = append(groups, nil)
				i = len(groups) - 1
			}
			groups[i] = append(groups[i], w)
		}
		for _, in := range n.Inputs() {
			gather(in)
		}
	}
	gather(n)
	instead := map[*plan.WindowAggregate]plan.Node{}
	for _, g := range groups {
		if len(g) > 1 {
			one := mergeProps(g)
			for _, w := range g {
				instead[w] = propsOf(one, w)
			}
		}
	}
	if len(instead) == 0 {
		return n
	}
	return replace(n, instead)
}

// replace puts other nodes in the place of some. What is below these is left alone, since they are the same all over.
func replace(n plan.Node, instead map[*plan.WindowAggregate]plan.Node) plan.Node {
	if w, is := n.(*plan.WindowAggregate); is && instead[w] != nil {
		return instead[w]
	}
	ins, changed := slices.Clone(n.Inputs()), false
	for i, in := range ins {
		ins[i] = replace(in, instead)
		changed = changed || ins[i] != in
	}
	if !changed {
		return n
	}
	return n.WithInputs(ins)
}

// alike reports whether two aggregates differ at the most in what they show of the window, and in where they are written.
func alike(a, b *plan.WindowAggregate) bool {
	x, y := *a, *b
	x.Props, y.Props = nil, nil
	x.Out, y.Out = nil, nil
	groups := len(a.Keys) + len(a.Aggs)
	return len(a.Keys) == len(b.Keys) && len(a.Aggs) == len(b.Aggs) &&
		sameButPlace(a.Out.Fields[:groups], b.Out.Fields[:groups]) && sameButPlace(x, y)
}

// mergeProps returns an aggregate that shows all that those of a group show.
func mergeProps(g []*plan.WindowAggregate) *plan.WindowAggregate {
	one := *g[0]
	one.Out = &types.Schema{Fields: slices.Clone(one.Out.Fields)}
	one.Props = slices.Clone(one.Props)
	for _, w := range g[1:] {
		for i, p := range w.Props {
			if !slices.Contains(one.Props, p) {
				one.Props = append(one.Props, p)
				one.Out.Fields = append(one.Out.Fields, w.Out.Fields[len(w.Keys)+len(w.Aggs)+i])
			}
		}
	}
	return &one
}

// propsOf returns a node with the columns of w over one that has all of them and more.
func propsOf(one, w *plan.WindowAggregate) plan.Node {
	at := same(nil, len(w.Out.Fields))
	groups := len(w.Keys) + len(w.Aggs)
	for i, p := range w.Props {
		at[groups+i] = groups + slices.Index(one.Props, p)
	}
	return selectColumns(one, w.Out, at)
}

// volatile reports whether a plan has expressions whose values are not decided by the rows.
func volatile(n plan.Node) bool {
	var exprs []expr.Expr
	switch n := n.(type) {
	case *plan.Project:
		exprs = n.Exprs
	case *plan.Filter:
		exprs = []expr.Expr{n.Cond}
	}
	return slices.ContainsFunc(exprs, expr.Volatile) || slices.ContainsFunc(n.Inputs(), volatile)
}
