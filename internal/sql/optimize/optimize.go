// Package optimize rewrites logical plans into cheaper ones that give the same rows. Each rule is a small function over one
// node; Plan runs them in stages.
package optimize

import (
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/plan"
)

// rounds bounds how often the rules of a stage run over a plan: filters sink one node a round at the least.
const rounds = 20

// Plan returns an optimized plan. times keeps the watermarks of tables that nothing waits for, whose rows have to be looked at
// all the same because the job's options say what happens to rows without event time.
func Plan(n plan.Node, env *fn.Env, times bool) plan.Node {
	o := &optimizer{env: env, times: times}
	n = o.untilStable(n, o.foldConstants, o.mergeFilters, o.mergeProjects, o.dropProject, o.pushFilter, o.splitJoin, o.boundJoin, o.rank)
	n = plan.Rewrite(plan.Rewrite(n, o.windowAggregate), o.peak)
	n = plan.Rewrite(n, o.overTime)
	n = plan.Rewrite(plan.Rewrite(n, o.carryTaps), o.alone)
	n = o.prune(n)
	n = o.untilStable(n, o.mergeFilters, o.mergeProjects, o.dropProject, o.pushFilter)
	return o.untilStable(o.reuse(n), o.mergeProjects)
}

type optimizer struct {
	env   *fn.Env
	times bool
}

// rule rewrites a node whose inputs are rewritten already; it returns the node itself where it does not apply.
type rule func(plan.Node) plan.Node

// untilStable applies rules, one after the other to each node, until none applies.
func (o *optimizer) untilStable(n plan.Node, rules ...rule) plan.Node {
	for range rounds {
		before := n
		n = plan.Rewrite(n, func(n plan.Node) plan.Node {
			for _, r := range rules {
				n = r(n)
			}
			return n
		})
		if n == before {
			break
		}
	}
	return n
}

// foldConstants computes what does not depend on a row, and simplifies conditions.
func (o *optimizer) foldConstants(n plan.Node) plan.Node {
	switch n := n.(type) {
	case *plan.Filter:
		if c := o.simplify(n.Cond); c != n.Cond {
			return &plan.Filter{Input: n.Input, Cond: c}
		}
	case *plan.Project:
		if exprs, changed := o.foldAll(n.Exprs); changed {
			return &plan.Project{Input: n.Input, Exprs: exprs, Out: n.Out}
		}
	case *plan.Values:
		return o.foldValues(n)
	}
	return n
}

func (o *optimizer) foldValues(n *plan.Values) plan.Node {
	rows, changed := make([][]expr.Expr, len(n.Rows)), false
	for i, r := range n.Rows {
		var c bool
		rows[i], c = o.foldAll(r)
		changed = changed || c
	}
	if !changed {
		return n
	}
	return &plan.Values{Rows: rows, Out: n.Out}
}

func (o *optimizer) foldAll(in []expr.Expr) (out []expr.Expr, changed bool) {
	out = make([]expr.Expr, len(in))
	for i, e := range in {
		out[i] = o.fold(e)
		changed = changed || out[i] != e
	}
	return out, changed
}

// fold replaces constant subexpressions by their values. One whose evaluation fails stays, and fails when a row needs it.
func (o *optimizer) fold(e expr.Expr) expr.Expr { return expr.Fold(e, o.env) }

// dropProject removes a projection that changes nothing, and computes one over constants.
func (o *optimizer) dropProject(n plan.Node) plan.Node {
	p, is := n.(*plan.Project)
	if !is {
		return n
	}
	if v, is := p.Input.(*plan.Values); is {
		return o.projectValues(p, v)
	}
	if identity(p) {
		return p.Input
	}
	return n
}

// identity reports whether a projection passes all columns on in order, under their names.
func identity(p *plan.Project) bool {
	in := p.Input.Schema()
	if len(in.Fields) != len(p.Exprs) {
		return false
	}
	for i, e := range p.Exprs {
		c, is := e.(*expr.Col)
		if !is || c.Index != i || in.Fields[i].Name != p.Out.Fields[i].Name || !in.Fields[i].Type.Equal(p.Out.Fields[i].Type) {
			return false
		}
	}
	return true
}

func (o *optimizer) projectValues(p *plan.Project, v *plan.Values) plan.Node {
	out := &plan.Values{Out: p.Out}
	for _, r := range v.Rows {
		for _, e := range r {
			if expr.Volatile(e) {
				return p
			}
		}
		row := make([]expr.Expr, len(p.Exprs))
		for i, e := range p.Exprs {
			row[i] = o.fold(plan.Substitute(e, r))
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

// mergeProjects makes one projection of two, unless the lower one calls a volatile function, whose result the upper one may
// use twice.
func (o *optimizer) mergeProjects(n plan.Node) plan.Node {
	p, is := n.(*plan.Project)
	if !is {
		return n
	}
	q, is := p.Input.(*plan.Project)
	if !is || anyVolatile(q.Exprs) {
		return n
	}
	exprs := make([]expr.Expr, len(p.Exprs))
	for i, e := range p.Exprs {
		exprs[i] = plan.Substitute(e, q.Exprs)
	}
	return &plan.Project{Input: q.Input, Exprs: exprs, Out: p.Out}
}

func anyVolatile(exprs []expr.Expr) bool {
	for _, e := range exprs {
		if expr.Volatile(e) {
			return true
		}
	}
	return false
}
