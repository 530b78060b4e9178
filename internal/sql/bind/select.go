package bind

import (
	"strconv"

	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

// item is one column of a select list.
type item struct {
	expr expr.Expr
	name string
	pos  diag.Pos
}

// selectQuery binds SELECT; nil means that an error was reported. What is wrong in one clause does not keep the others from
// being looked at.
func (b *Binder) selectQuery(q *ast.Select) *relation { return b.selectOrdered(q, &ordering{}) }

// selectOrdered is selectQuery with the ORDER BY that stands behind it, which may add hidden columns.
func (b *Binder) selectOrdered(q *ast.Select, order *ordering) *relation {
	b.knownHints(q.Hints)
	ok := true
	rel := &relation{node: &plan.Values{Rows: [][]expr.Expr{{}}, Out: &types.Schema{}}}
	var inner *relation
	if q.From != nil {
		if rel = b.from(q.From); rel == nil {
			return nil
		}
		inner = rel
	}
	if q.Where != nil {
		kept := b.where(rel, inner, q.Where)
		if ok = ok && kept != nil; kept != nil {
			rel = kept
			if inner != nil {
				inner = rel
			}
		}
	}
	g := &grouping{b: b, scope: over(inner, "SELECT"), input: rel.node}
	g.scope.aggs, g.scope.overs = &aggScope{}, &overScope{windows: q.Windows}
	items, itemsOK := b.items(g.scope, q)
	if itemsOK {
		items, itemsOK = order.bind(b, g.scope, items)
	}
	keysOK := g.bindKeys(q.GroupBy)
	combines := q.GroupBy != nil || len(g.scope.aggs.calls) > 0 || inner != nil && inner.tables != nil
	b.stateTTL(q, inner, q.Distinct || combines)
	var having, qualify expr.Expr
	if q.Having != nil {
		having = b.condition(&scope{rel: inner, aggs: g.scope.aggs, where: "HAVING", pos: g.scope.pos}, q.Having, "HAVING")
		ok = ok && having != nil
	}
	if q.Qualify != nil {
		qualify = b.condition(g.scope, q.Qualify, "QUALIFY")
		ok = ok && qualify != nil
	}
	if !ok || !itemsOK || !keysOK {
		return nil
	}
	n := g.selected(items, having, qualify, groupPos(q, items))
	if n == nil {
		return nil
	}
	n = project(n, items)
	if q.Distinct {
		if len(items) > order.width {
			b.errorf(items[order.width].pos, "the rows of SELECT DISTINCT can be sorted only by what it selects")
			return nil
		}
		if n = b.distinct(n, q.Pos()); n == nil {
			return nil
		}
		n.(*plan.Aggregate).TTL = b.distinctTTL(q, combines)
	}
	return &relation{node: n}
}

// selected makes what the items are computed from: the aggregation, if there is one, and the columns of calls with an OVER. The
// items are rewritten to read its rows. nil means that an error was reported.
func (g *grouping) selected(items []item, having, qualify expr.Expr, pos diag.Pos) plan.Node {
	n := g.input
	if g.sets != nil || len(g.scope.aggs.calls) > 0 || len(g.scope.aggs.refs) > 0 || having != nil {
		// QUALIFY reads the same rows as the items.
		all := items
		if qualify != nil {
			all = append(items[:len(items):len(items)], item{expr: qualify})
		}
		if n = g.node(all, having, pos); n == nil {
			return nil
		}
		copy(items, all)
		if qualify != nil {
			qualify = all[len(items)].expr
		}
	}
	return g.scope.overs.numbered(g.b, n, items, qualify)
}

// groupPos is the place to name when the aggregation is refused.
func groupPos(q *ast.Select, items []item) diag.Pos {
	if q.GroupBy != nil {
		return q.GroupBy.Pos()
	}
	if len(items) > 0 {
		return items[0].pos
	}
	return q.Pos()
}

// items binds the select list, stars expanded.
func (b *Binder) items(s *scope, q *ast.Select) ([]item, bool) {
	var out []item
	ok := true
	taken := map[string]bool{}
	for i := range q.Items {
		it := &q.Items[i]
		if st, is := it.Expr.(*ast.Star); is {
			exprs, names := b.star(s, st)
			ok = ok && exprs != nil
			for k, e := range exprs {
				name := names[k]
				if s.rel.tables != nil {
					// The columns of several tables get numbers where they have the same name.
					name = uniqueName(name, taken)
				}
				out = append(out, item{e, name, it.Pos()})
			}
			continue
		}
		e := b.expr(s, it.Expr)
		ok = ok && e != nil
		name := itemName(it, len(out))
		taken[name] = true
		out = append(out, item{e, name, it.Expr.Pos()})
	}
	return out, ok
}

// itemName is the name that a column of a select list gets: its alias, its own name, or EXPR$ and its position.
func itemName(it *ast.SelectItem, position int) string {
	if it.Alias != nil {
		return it.Alias.Name
	}
	switch e := it.Expr.(type) {
	case *ast.ColumnRef:
		return e.Parts[len(e.Parts)-1].Name
	case *ast.Call:
		if e.Bare {
			return e.FuncName()
		}
	}
	return "EXPR$" + strconv.Itoa(position)
}

// project computes the items over n; n itself if they are just its columns.
func project(n plan.Node, items []item) plan.Node {
	p := &plan.Project{Input: n, Out: &types.Schema{}}
	in := n.Schema()
	plain := len(items) == len(in.Fields)
	for i, it := range items {
		p.Exprs = append(p.Exprs, it.expr)
		p.Out.Fields = append(p.Out.Fields, types.Field{Name: it.name, Type: it.expr.Type()})
		c, is := it.expr.(*expr.Col)
		plain = plain && is && c.Index == i && in.Fields[i].Name == it.name
	}
	if plain {
		return n
	}
	return p
}

// aggScope collects the aggregate calls of a SELECT. While a call stands for its result, it is a column with a negative
// index: -1 for the first.
type aggScope struct {
	calls []aggCall
	// refs are calls that ask for the group itself.
	refs []groupRef
}

type aggCall struct {
	def      *fn.AggDef
	call     *fn.Call
	args     []expr.Expr
	distinct bool
	filter   expr.Expr
	typ      types.Type
	// neverNull tells that the result over no rows is a value, as COUNT's is.
	neverNull bool
}

// aggCall binds a call of an aggregate function; the result is the column that stands for it.
func (b *Binder) aggCall(s *scope, c *ast.Call, def *fn.AggDef) expr.Expr {
	if s.aggs == nil {
		b.errorf(c.Pos(), "the aggregate function %s cannot stand in %s", def.Name, orHere(s.where))
		return nil
	}
	call, ok := b.bindAgg(&scope{rel: s.rel, where: "the arguments of an aggregate function", pos: s.pos}, c, def)
	if !ok {
		return nil
	}
	return s.aggs.add(call)
}

// bindAgg binds a call of an aggregate function, with its arguments in the scope inner.
func (b *Binder) bindAgg(inner *scope, c *ast.Call, def *fn.AggDef) (out aggCall, ok bool) {
	if len(c.Args) == 0 && !c.Star {
		b.errorf(c.Pos(), "%s takes an argument", def.Name)
		return out, false
	}
	args := b.exprs(inner, c.Args)
	nulls, ok := b.aggClauses(inner, c, def.Name)
	ok = ok && (args != nil || len(c.Args) == 0)
	var filter expr.Expr
	if c.Filter != nil {
		filter = b.condition(&scope{rel: inner.rel, where: "FILTER", pos: inner.pos}, c.Filter, "FILTER")
		ok = ok && filter != nil
	}
	if !ok {
		return out, false
	}
	call := &fn.Call{Def: &fn.Def{Name: def.Name}, Env: b.Env, Args: make([]fn.Arg, len(args)), Nulls: nulls}
	for i, a := range args {
		call.Args[i] = fn.Arg{Type: a.Type(), Implicit: a.Type().Kind == types.Null}
		if lit, ok := expr.Fold(a, b.Env).(*expr.Lit); ok {
			call.Args[i].Const = lit.Value
		}
	}
	bound, err := def.Bind(call)
	if err != nil {
		b.argError(c.Pos(), positions(c.Args), err)
		return out, false
	}
	out = aggCall{def: def, call: call, distinct: c.Distinct, filter: filter, typ: bound.Result}
	for i, a := range args {
		if i < len(bound.Params) && bound.Params[i].IsValid() {
			if a = b.checked(c.Args[i].Pos())(expr.Coerce(a, bound.Params[i], b.Env)); a == nil {
				return out, false
			}
		}
		out.args = append(out.args, a)
	}
	out.neverNull = neverNull(def, call)
	if filter != nil && !out.neverNull {
		out.typ.Nullable = true
	}
	if out.typ.IsTimestamp() && len(args) > 0 && args[0].Type().Kind == out.typ.Kind {
		out.typ.Attr = args[0].Type().Attr
	}
	return out, true
}

func orHere(where string) string {
	if where == "" {
		return "this place"
	}
	return where
}

// neverNull reports whether the aggregate has a value even over no rows: its result cannot be null though its arguments can.
func neverNull(def *fn.AggDef, call *fn.Call) bool {
	c := *call
	c.Args = append([]fn.Arg(nil), call.Args...)
	for i := range c.Args {
		c.Args[i].Type.Nullable = true
	}
	bound, err := def.Bind(&c)
	return err == nil && !bound.Result.Nullable
}

func (c *aggCall) same(o *aggCall) bool {
	return o.def == c.def && o.call.Nulls == c.call.Nulls && o.distinct == c.distinct && plan.Same(o.filter, c.filter) && sameExprs(o.args, c.args)
}

// add enters a call, or finds the same one.
func (a *aggScope) add(c aggCall) expr.Expr {
	for i, o := range a.calls {
		if o.same(&c) {
			return a.column(i)
		}
	}
	a.calls = append(a.calls, c)
	return a.column(len(a.calls) - 1)
}

func (a *aggScope) column(i int) expr.Expr {
	return expr.NewCol(-1-i, a.calls[i].def.Name, a.calls[i].typ)
}

func sameExprs(a, b []expr.Expr) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !plan.Same(a[i], b[i]) {
			return false
		}
	}
	return true
}
