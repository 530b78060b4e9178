package bind

import (
	"slices"
	"strconv"
	"strings"

	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

// grouping makes the aggregation of a SELECT: a projection that computes keys and arguments, the aggregation itself, and
// what HAVING and the select list do with its rows.
type grouping struct {
	b     *Binder
	scope *scope
	input plan.Node
	keys  []expr.Expr
	// sets are the grouping sets, as places in keys; nil if there is one with all keys.
	sets [][]int
	// window is the group window, or nil; windowKeys are its columns, which are keys behind the others. computed computes keys
	// below it.
	window     *groupWindow
	emit       *plan.Emit
	windowKeys []expr.Expr
	computed   *plan.Project
	// reported are the places of columns that were found to be neither keys nor aggregated.
	reported []diag.Pos
}

// bindKeys binds GROUP BY.
func (g *grouping) bindKeys(by *ast.GroupBy) bool {
	if by == nil {
		return true
	}
	if by.Distinct {
		g.b.unsupported(by.Pos(), "GROUP BY DISTINCT")
		return false
	}
	sets := [][]int{{}}
	ok := true
	for i := range by.Items {
		of := g.groupItem(&by.Items[i])
		if of == nil {
			ok = false
			continue
		}
		if len(of)*len(sets) > maxGroupingSets {
			g.b.errorf(by.Items[i].Pos(), "GROUP BY has more than %d grouping sets", maxGroupingSets)
			return false
		}
		sets = product(sets, of)
	}
	g.sets = sets
	if ok && g.window != nil && len(sets) > 1 {
		g.b.unsupported(by.Pos(), "a group window with several grouping sets")
		return false
	}
	return ok
}

// bindKey binds an expression of GROUP BY and returns its place among the keys, or -1 for a window.
func (g *grouping) bindKey(e ast.Expr) (place int, ok bool) {
	if c, is := e.(*ast.Call); is {
		if _, is := groupWindows[upper(c.FuncName())]; is {
			return -1, g.bindWindow(c)
		}
	}
	s := &scope{rel: g.scope.rel, where: "GROUP BY", pos: g.scope.pos}
	key := g.b.expr(s, e)
	if key == nil {
		return 0, false
	}
	if key.Type().Kind == types.Null {
		g.b.errorf(e.Pos(), "NULL without a type cannot be a key")
		return 0, false
	}
	for i, k := range g.keys {
		if plan.Same(k, key) {
			return i, true
		}
	}
	g.keys = append(g.keys, key)
	return len(g.keys) - 1, true
}

// node makes the aggregation, and rewrites the items to read its rows. nil means that an error was reported.
func (g *grouping) node(items []item, having expr.Expr, pos diag.Pos) plan.Node {
	g.addWindow()
	pre := &plan.Project{Input: g.input, Out: &types.Schema{}}
	agg := &plan.Aggregate{Input: pre, Out: &types.Schema{}, Pos: pos}
	for _, k := range append(g.belowWindow(), g.windowKeys...) {
		col := addColumn(pre, k, "$key")
		agg.Keys = append(agg.Keys, col)
		agg.Out.Fields = append(agg.Out.Fields, pre.Out.Fields[col])
	}
	var aggs []plan.Agg
	for i, c := range g.scope.aggs.calls {
		aggs = append(aggs, g.agg(pre, c, aggName(items, i)))
	}
	g.expand(agg)
	for _, a := range aggs {
		agg.Aggs = append(agg.Aggs, a)
		agg.Out.Fields = append(agg.Out.Fields, types.Field{Name: a.Name, Type: a.Type})
	}
	var n plan.Node = agg
	ok := g.b.windowAggregate(agg, g.window != nil)
	ok = g.overCalls(agg) && ok
	if having != nil {
		cond := g.over(agg, having)
		if ok = ok && cond != nil; cond != nil {
			n = &plan.Filter{Input: n, Cond: cond}
		}
	}
	for i := range items {
		items[i].expr = g.over(agg, items[i].expr)
		ok = ok && items[i].expr != nil
	}
	if !ok {
		return nil
	}
	return n
}

// belowWindow returns the keys over the input of the aggregation, where those that a session needs are columns.
func (g *grouping) belowWindow() []expr.Expr {
	if g.computed == nil {
		return slices.Clone(g.keys)
	}
	var out []expr.Expr
	for _, k := range g.keys {
		i := addColumn(g.computed, k, "$key")
		out = append(out, expr.NewCol(i, g.computed.Out.Fields[i].Name, k.Type()))
	}
	return out
}

// aggName names the result of call i as the item that shows it.
func aggName(items []item, i int) string {
	for _, it := range items {
		if c, is := it.expr.(*expr.Col); is && c.Index == -1-i {
			return it.name
		}
	}
	return "$agg" + strconv.Itoa(i)
}

// addColumn adds an expression to a projection, or finds the same one, and returns its position.
func addColumn(p *plan.Project, e expr.Expr, name string) int {
	for i, o := range p.Exprs {
		if plan.Same(o, e) {
			return i
		}
	}
	if c, is := e.(*expr.Col); is {
		name = c.Name
	} else {
		// The number does not depend on the columns of the input: saved rows are found by their names.
		n := 0
		for _, f := range p.Out.Fields {
			if strings.HasPrefix(f.Name, name) {
				n++
			}
		}
		name += strconv.Itoa(n)
	}
	p.Exprs = append(p.Exprs, e)
	p.Out.Fields = append(p.Out.Fields, types.Field{Name: name, Type: e.Type()})
	return len(p.Exprs) - 1
}

func (g *grouping) agg(pre *plan.Project, c aggCall, name string) plan.Agg {
	a := plan.Agg{Def: c.def, Call: c.call, Distinct: c.distinct, Filter: -1, Name: name, Type: c.typ}
	if len(g.keys)+len(g.windowKeys) == 0 && !c.neverNull {
		a.Type.Nullable = true
	}
	for _, e := range c.args {
		a.Args = append(a.Args, addColumn(pre, e, "$arg"))
	}
	if c.filter != nil {
		a.Filter = addColumn(pre, c.filter, "$filter")
	}
	return a
}

// ungrouped reports a column that has no single value for a group; of those of a star only the first.
func (g *grouping) ungrouped(c *expr.Col) {
	pos := g.scope.pos[c]
	if !slices.Contains(g.reported, pos) {
		g.b.errorf(pos, "column %q is neither in GROUP BY nor in an aggregate function", c.Name)
		g.reported = append(g.reported, pos)
	}
}

// over rewrites an expression over the input to one over the rows of the aggregation: keys and aggregate calls become
// columns, and no other column may be left.
func (g *grouping) over(agg *plan.Aggregate, e expr.Expr) expr.Expr {
	for i, k := range g.keys {
		if plan.Same(k, e) {
			f := agg.Out.Fields[i]
			return expr.NewCol(i, f.Name, f.Type)
		}
	}
	if c, is := e.(*expr.Col); is {
		if c.Index < firstOver {
			return e
		}
		if c.Index < firstGroupRef {
			return g.ref(agg, &g.scope.aggs.refs[firstGroupRef-c.Index-1])
		}
		if c.Index < 0 {
			i := len(agg.Keys) - 1 - c.Index
			f := agg.Out.Fields[i]
			return expr.NewCol(i, f.Name, f.Type)
		}
		g.ungrouped(c)
		return nil
	}
	ok := true
	out := plan.MapOperands(e, func(o expr.Expr) expr.Expr {
		if r := g.over(agg, o); r != nil {
			return r
		}
		ok = false
		return o
	})
	if !ok {
		return nil
	}
	return out
}
