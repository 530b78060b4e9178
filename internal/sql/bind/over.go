package bind

import (
	"slices"
	"strconv"

	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

// rankFuncs are the functions that number rows.
var rankFuncs = map[string]plan.RankFunc{"ROW_NUMBER": plan.RowNumber, "RANK": plan.RankOf, "DENSE_RANK": plan.DenseRank}

// overScope collects the calls of a SELECT that look at the rows around theirs. While a call stands for its result, it is a
// column with an index below firstOver.
type overScope struct {
	calls []overCall
	// windows are those of the WINDOW clause.
	windows []ast.NamedWindow
}

// firstOver is far below the indexes of what asks for a group.
const firstOver = 2 * firstGroupRef

// overCall numbers rows, or is an aggregate, or LAG.
type overCall struct {
	rank plan.RankFunc
	agg  *aggCall
	// lag is set for LAG, which looks back rows back.
	lag  bool
	back int64
	// args are those of an aggregate; of LAG, the value and the default.
	args      []expr.Expr
	typ       types.Type
	partition []expr.Expr
	order     []overKey
	frame     plan.Frame
	// pos is where the call stands, orderPos its ORDER BY.
	pos, orderPos diag.Pos
}

type overKey struct {
	expr             expr.Expr
	desc, nullsFirst bool
}

func (c *overCall) same(o *overCall) bool {
	switch {
	case c.rank != o.rank || c.lag != o.lag || c.back != o.back || c.frame != o.frame || !sameExprs(c.args, o.args):
		return false
	case (c.agg == nil) != (o.agg == nil) || c.agg != nil && !c.agg.same(o.agg):
		return false
	}
	return sameExprs(c.partition, o.partition) && slices.EqualFunc(c.order, o.order, overKey.same)
}

func (k overKey) same(l overKey) bool {
	return k.desc == l.desc && k.nullsFirst == l.nullsFirst && plan.Same(k.expr, l.expr)
}

// rankCall binds ROW_NUMBER() OVER (..) and its like; the result is the column that stands for it.
func (b *Binder) rankCall(s *scope, c *ast.Call, name string) expr.Expr {
	switch {
	case s.overs == nil:
		b.errorf(c.Pos(), "%s cannot stand in %s", name, orHere(s.where)).
			WithHint("number the rows in a query in FROM, and compare the numbers in the query around it")
		return nil
	case len(c.Args) > 0 || c.Star || c.Distinct || c.Filter != nil:
		b.errorf(c.Pos(), "%s takes no arguments, and neither DISTINCT nor FILTER", name)
		return nil
	}
	spec := b.windowSpec(s.overs, c.Over)
	if spec == nil {
		return nil
	}
	if spec.Frame != nil {
		b.errorf(spec.Frame.Pos(), "%s numbers all rows of a partition: ROWS and RANGE have no meaning here", name)
		return nil
	}
	if len(spec.OrderBy) == 0 {
		b.errorf(c.Over.Pos(), "%s needs an ORDER BY", name)
		return nil
	}
	inner := &scope{rel: s.rel, aggs: s.aggs, where: "OVER", pos: s.pos}
	call := overCall{
		rank: rankFuncs[name], partition: b.exprs(inner, spec.PartitionBy), pos: c.Pos(), typ: types.Of(types.BigInt).NotNull(),
		orderPos: spec.OrderBy[0].Expr.Pos(),
	}
	ok := call.partition != nil || len(spec.PartitionBy) == 0
	for i := range spec.OrderBy {
		key, good := b.overKey(inner, &spec.OrderBy[i])
		call.order, ok = append(call.order, key), ok && good
	}
	if !ok {
		return nil
	}
	return s.overs.add(call, name)
}

func (b *Binder) overKey(s *scope, o *ast.OrderItem) (overKey, bool) {
	e := b.expr(s, o.Expr)
	key := overKey{expr: e, desc: o.Desc, nullsFirst: o.Nulls == ast.NullsFirst || o.Nulls == ast.NullOrderDefault && !o.Desc}
	switch {
	case e == nil:
		return key, false
	case len(expr.Columns(e)) == 0:
		b.errorf(o.Expr.Pos(), "the ORDER BY of OVER must name a column: by a constant all rows are equal")
		return key, false
	case e.Type().IsNested():
		b.errorf(o.Expr.Pos(), "rows cannot be ordered by %s", article(e.Type()))
		return key, false
	}
	return key, true
}

// windowSpec resolves the name of a window, which an OVER can take or extend.
func (b *Binder) windowSpec(s *overScope, spec *ast.WindowSpec) *ast.WindowSpec {
	if spec.Ref == nil {
		return spec
	}
	var names []string
	for i := range s.windows {
		w := &s.windows[i]
		if names = append(names, w.Name.Name); w.Name.Name != spec.Ref.Name {
			continue
		}
		base := b.windowSpec(&overScope{windows: s.windows[:i]}, &w.Spec)
		if base == nil || spec.Bare {
			return base
		}
		out := *base
		switch {
		case len(spec.PartitionBy) > 0:
			b.errorf(spec.PartitionBy[0].Pos(), "a window that extends another one takes its PARTITION BY from there")
			return nil
		case len(spec.OrderBy) > 0 && len(base.OrderBy) > 0:
			b.errorf(spec.OrderBy[0].Pos(), "the window %s has an ORDER BY already", spec.Ref.Name)
			return nil
		case len(spec.OrderBy) > 0:
			out.OrderBy = spec.OrderBy
		}
		if spec.Frame != nil {
			out.Frame = spec.Frame
		}
		return &out
	}
	b.unknown(spec.Ref.Pos(), spec.Ref.Name, names, "unknown window %q", spec.Ref.Name)
	return nil
}

// add enters a call, or finds the same one.
func (s *overScope) add(c overCall, name string) expr.Expr {
	at := len(s.calls)
	for i := range s.calls {
		if s.calls[i].same(&c) {
			at = i
		}
	}
	if at == len(s.calls) {
		s.calls = append(s.calls, c)
	}
	return expr.NewCol(firstOver-1-at, name, c.typ)
}

// place returns the call that a column stands for.
func (s *overScope) place(e expr.Expr) (int, bool) {
	c, is := e.(*expr.Col)
	if !is || c.Index >= firstOver {
		return 0, false
	}
	return firstOver - 1 - c.Index, true
}

// overCalls rewrites what calls go by to read the rows of an aggregation.
func (g *grouping) overCalls(agg *plan.Aggregate) bool {
	ok := true
	rewrite := func(e expr.Expr) expr.Expr {
		out := g.over(agg, e)
		ok = ok && out != nil
		return out
	}
	for i := range g.scope.overs.calls {
		c := &g.scope.overs.calls[i]
		for k := range c.partition {
			c.partition[k] = rewrite(c.partition[k])
		}
		for k := range c.order {
			c.order[k].expr = rewrite(c.order[k].expr)
		}
		c.args = slices.Clone(c.args)
		for k := range c.args {
			c.args[k] = rewrite(c.args[k])
		}
	}
	return ok
}

// numbered adds the columns of the calls to n, rewrites the items to read them, and keeps the rows for which qualify, if it is
// set, is true. nil means that an error was reported.
func (s *overScope) numbered(b *Binder, n plan.Node, items []item, qualify expr.Expr) plan.Node {
	switch {
	case slices.ContainsFunc(s.calls, func(c overCall) bool { return c.agg != nil || c.lag }):
		if n = s.aggregated(b, n, items); n == nil {
			return nil
		}
	case len(s.calls) > 0:
		n = s.nodes(b, n, items)
	}
	width := len(n.Schema().Fields) - len(s.calls)
	read := func(e expr.Expr) expr.Expr {
		return expr.Rewrite(e, func(e expr.Expr) expr.Expr {
			if i, is := s.place(e); is {
				f := n.Schema().Fields[width+i]
				return expr.NewCol(width+i, f.Name, f.Type)
			}
			return e
		})
	}
	for i := range items {
		items[i].expr = read(items[i].expr)
	}
	if qualify == nil {
		return n
	}
	return &plan.Filter{Input: n, Cond: read(qualify)}
}

// nodes adds a column for each call that numbers rows.
func (s *overScope) nodes(b *Binder, n plan.Node, items []item) plan.Node {
	in := n.Schema()
	pre := &plan.Project{Input: n, Exprs: passAll(in), Out: schemaOf(in)}
	type places struct {
		partition []int
		order     []plan.SortKey
	}
	at := make([]places, len(s.calls))
	for i, c := range s.calls {
		for _, e := range c.partition {
			at[i].partition = append(at[i].partition, addColumn(pre, e, "$part"))
		}
		for _, k := range c.order {
			at[i].order = append(at[i].order, plan.SortKey{Col: addColumn(pre, k.expr, "$order"), Desc: k.desc, NullsFirst: k.nullsFirst})
		}
	}
	if len(pre.Exprs) > len(in.Fields) {
		n = pre
	}
	for i, c := range s.calls {
		width, by := len(n.Schema().Fields), at[i].order
		var taps []plan.Tap
		// Rows that are ranked in their windows are late for these.
		inWindow := slices.ContainsFunc(at[i].partition, func(c int) bool { _, _, ok := plan.WindowColumn(n, c); return ok })
		if !inWindow && len(by) == 1 && !by[0].Desc && plan.TimeAttr(n, by[0].Col) == types.Rowtime {
			n, taps = b.tapWindow(n, n.Schema(), &plan.Window{Time: by[0].Col, TimeType: n.Schema().Fields[by[0].Col].Type})
		}
		over := plan.NewOver(n, c.rank, at[i].partition, by, s.columnName(items, i), c.pos)
		over.Taps = taps
		n = withoutCarried(over, width)
	}
	return n
}

// columnName names the result of call i as the item that shows it.
func (s *overScope) columnName(items []item, i int) string {
	for _, it := range items {
		if k, is := s.place(it.expr); is && k == i {
			return it.name
		}
	}
	return "$number" + strconv.Itoa(i)
}
