package optimize

import (
	"slices"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

// simplify folds a condition, and drops operands of AND and OR that decide nothing.
func (o *optimizer) simplify(e expr.Expr) expr.Expr {
	e = o.fold(e)
	l, is := e.(*expr.Logic)
	if !is {
		return e
	}
	var args []expr.Expr
	changed := false
	for _, a := range flatten(l) {
		s := o.simplify(a)
		changed = changed || s != a
		switch v, known := truth(s); {
		case known && v == l.Or:
			// x OR TRUE, x AND FALSE; as a condition NULL is FALSE, so the other operands do not matter.
			return expr.Bool(v)
		case known:
			changed = true
			continue
		}
		if containsExpr(args, s) {
			changed = true
			continue
		}
		args = append(args, s)
	}
	switch {
	case len(args) == 0:
		return expr.Bool(!l.Or)
	case len(args) == 1:
		return args[0]
	case !changed && len(args) == len(l.Args):
		return l
	}
	out := &expr.Logic{Or: l.Or, Args: args, Typ: types.Of(types.Boolean).NotNull()}
	for _, a := range args {
		out.Typ.Nullable = out.Typ.Nullable || a.Type().Nullable
	}
	return out
}

// flatten returns the operands of a chain of ANDs, or of ORs.
func flatten(l *expr.Logic) []expr.Expr {
	var out []expr.Expr
	for _, a := range l.Args {
		if m, is := a.(*expr.Logic); is && m.Or == l.Or {
			out = append(out, flatten(m)...)
			continue
		}
		out = append(out, a)
	}
	return out
}

// truth returns the value of a constant condition; NULL counts as FALSE.
func truth(e expr.Expr) (value, known bool) {
	l, is := e.(*expr.Lit)
	if !is {
		return false, false
	}
	if l.Value.Validity().IsNull(0) {
		return false, true
	}
	b, is := l.Value.(*batch.Fixed[bool])
	return is && b.Values[0], is
}

func containsExpr(list []expr.Expr, e expr.Expr) bool {
	if expr.Volatile(e) {
		return false
	}
	for _, o := range list {
		if plan.Same(o, e) {
			return true
		}
	}
	return false
}

// mergeFilters makes one filter of two, and removes those that are always true. One that is never true leaves no rows.
func (o *optimizer) mergeFilters(n plan.Node) plan.Node {
	f, is := n.(*plan.Filter)
	if !is {
		return n
	}
	if v, known := truth(f.Cond); known {
		if v {
			return f.Input
		}
		return &plan.Values{Out: f.Schema()}
	}
	g, is := f.Input.(*plan.Filter)
	if !is {
		return n
	}
	cond := o.simplify(plan.Conjunction(append(plan.Conjuncts(g.Cond), plan.Conjuncts(f.Cond)...)))
	return &plan.Filter{Input: g.Input, Cond: cond}
}

// pushFilter moves conditions below the node that a filter stands on, where the same rows pass there.
func (o *optimizer) pushFilter(n plan.Node) plan.Node {
	f, is := n.(*plan.Filter)
	if !is || expr.Volatile(f.Cond) {
		return n
	}
	switch in := f.Input.(type) {
	case *plan.Project:
		if anyVolatile(in.Exprs) {
			return n
		}
		below := &plan.Filter{Input: in.Input, Cond: o.simplify(plan.Substitute(f.Cond, in.Exprs))}
		return &plan.Project{Input: below, Exprs: in.Exprs, Out: in.Out}
	case *plan.Union:
		return pushIntoUnion(f, in)
	case *plan.WindowTVF:
		width := len(in.Input.Schema().Fields)
		return pushColumns(f, func(c int) (int, bool) {
			// Rows that are left out may part a session.
			return c, c < width && (in.Window.Kind != plan.Session || slices.Contains(in.Window.Partition, c))
		})
	case *plan.Join:
		return filterJoin(f, in)
	case *plan.Over:
		return pushColumns(f, func(c int) (int, bool) { return c, slices.Contains(in.Partition, c) })
	case *plan.OverAggregate:
		return pushColumns(f, func(c int) (int, bool) { return c, slices.Contains(in.Partition, c) })
	case *plan.Aggregate:
		if len(in.Keys) == 0 {
			return n
		}
		_, windowed := plan.WindowOf(in)
		return pushColumns(f, func(c int) (int, bool) {
			below, ok := keyColumn(in.Keys, c)
			if _, _, is := plan.WindowColumn(in.Input, below); ok && windowed && is {
				// The aggregation makes windows of slices only if nothing below it looks at windows.
				return 0, false
			}
			return below, ok
		})
	}
	return n
}

func keyColumn(keys []int, c int) (int, bool) {
	if c < len(keys) {
		return keys[c], true
	}
	return 0, false
}

func pushIntoUnion(f *plan.Filter, u *plan.Union) plan.Node {
	out := &plan.Union{Out: u.Out}
	for _, in := range u.In {
		out.In = append(out.In, &plan.Filter{Input: in, Cond: plan.Substitute(f.Cond, columnsAs(in.Schema(), u.Out))})
	}
	return out
}

// columnsAs returns the columns of an input with the types of out: those that are NOT NULL in the input alone have to look as if
// they were not, since the condition was bound for all inputs.
func columnsAs(in, out *types.Schema) []expr.Expr {
	cols := make([]expr.Expr, len(in.Fields))
	for i, f := range in.Fields {
		cols[i] = expr.NewCol(i, f.Name, f.Type)
		if out.Fields[i].Type.Nullable && !f.Type.Nullable {
			cols[i] = &expr.Cast{Arg: cols[i], Typ: f.Type.WithNull(true), Implicit: true}
		}
	}
	return cols
}

// pushColumns moves those conditions below f's input that read only columns which the input passes on: below gives the
// column's position there.
func pushColumns(f *plan.Filter, below func(col int) (int, bool)) plan.Node {
	var down, stay []expr.Expr
	for _, c := range plan.Conjuncts(f.Cond) {
		ok := true
		for _, col := range expr.Columns(c) {
			_, passed := below(col)
			ok = ok && passed
		}
		if ok {
			down = append(down, expr.Remap(c, func(i int) int { to, _ := below(i); return to }))
		} else {
			stay = append(stay, c)
		}
	}
	if len(down) == 0 {
		return f
	}
	in := f.Input.WithInputs([]plan.Node{&plan.Filter{Input: f.Input.Inputs()[0], Cond: plan.Conjunction(down)}})
	if len(stay) == 0 {
		return in
	}
	return &plan.Filter{Input: in, Cond: plan.Conjunction(stay)}
}
