package bind

import (
	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

// where binds a WHERE over rel. inner is what its names mean, nil where there is no FROM. Conditions that ask for the rows of a
// subquery become semi and anti joins over what the others leave. nil means that an error was reported.
func (b *Binder) where(rel, inner *relation, cond ast.Expr) *relation {
	var plain []expr.Expr
	var asks []subqueryTest
	ok := true
	if s := over(inner, "WHERE"); inner == nil || !b.hasTests(cond) {
		c := b.condition(s, cond, "WHERE")
		plain, ok = []expr.Expr{c}, c != nil
	} else {
		for _, e := range astConjuncts(cond) {
			if t, is := testOf(e); is {
				asks = append(asks, t)
				continue
			}
			c := b.condition(s, e, "WHERE")
			plain, ok = append(plain, c), ok && c != nil
		}
	}
	out := rel
	if ok && len(plain) > 0 {
		out = rel.over(restrict(rel.node, plan.Conjunction(plain)))
	}
	for _, t := range asks {
		n := b.semiJoin(out, t)
		if ok = ok && n != nil; n != nil {
			out = out.over(n)
		}
	}
	if !ok {
		return nil
	}
	return out
}

// restrict keeps the rows for which cond is true; it becomes a part of the condition of an inner join.
func restrict(n plan.Node, cond expr.Expr) plan.Node {
	if j, is := n.(*plan.Join); is && j.Kind == plan.InnerJoin && !expr.Volatile(cond) {
		return j.And(cond)
	}
	return &plan.Filter{Input: n, Cond: cond}
}

// subqueryTest is [NOT] EXISTS (query) or x [NOT] IN (query).
type subqueryTest struct {
	query *ast.Query
	not   bool
	// x is nil for EXISTS.
	x   ast.Expr
	pos diag.Pos
}

func (t *subqueryTest) name() string {
	name := "IN"
	if t.x == nil {
		name = "EXISTS"
	}
	if t.not {
		name = "NOT " + name
	}
	return name
}

// word is what messages call the test.
func (t *subqueryTest) word() string {
	if t.x == nil {
		return t.name()
	}
	return t.name() + " with a subquery"
}

// testOf returns the test that a condition is.
func testOf(e ast.Expr) (t subqueryTest, is bool) {
	switch e := e.(type) {
	case *ast.Exists:
		return subqueryTest{query: e.Query, pos: e.Pos()}, true
	case *ast.In:
		return subqueryTest{query: e.Query, not: e.Not, x: e.X, pos: e.Pos()}, e.Query != nil
	case *ast.Unary:
		if e.Op == "NOT" {
			t, is := testOf(e.X)
			t.not = !t.not
			return t, is
		}
	}
	return t, false
}

func (b *Binder) hasTests(cond ast.Expr) bool {
	for _, e := range astConjuncts(cond) {
		if _, is := testOf(e); is {
			return true
		}
	}
	return false
}

// astConjuncts returns the operands of an AND, or the condition alone.
func astConjuncts(e ast.Expr) []ast.Expr {
	if a, is := e.(*ast.Binary); is && a.Op == "AND" {
		return append(astConjuncts(a.L), astConjuncts(a.R)...)
	}
	return []ast.Expr{e}
}

// semiJoin joins rel with the rows of a subquery. nil means that an error was reported.
func (b *Binder) semiJoin(rel *relation, t subqueryTest) plan.Node {
	sub := b.subquery(rel, t)
	if sub == nil {
		return nil
	}
	kind := plan.SemiJoin
	if t.not {
		kind = plan.AntiJoin
	}
	cond := sub.cond
	if t.x != nil {
		equal := b.membership(rel, sub, t)
		if equal == nil {
			return nil
		}
		cond = append(cond, equal...)
	}
	return plan.NewJoin(kind, rel.node, sub.node, plan.Conjunction(cond), t.word(), t.pos)
}

// joinedQuery is a subquery as the right side of a semi join.
type joinedQuery struct {
	node plan.Node
	// cond are the conditions of its WHERE, over the columns of the query around it, then its own.
	cond []expr.Expr
	// items are its columns, over the same.
	items []item
}

// subquery binds the query of a test. One that selects, filters and no more may speak of the columns of the query around it.
func (b *Binder) subquery(around *relation, t subqueryTest) *joinedQuery {
	width := len(around.node.Schema().Fields)
	q, simple := t.query.Body.(*ast.Select)
	simple = simple && len(t.query.With)+len(t.query.OrderBy) == 0 && t.query.Limit == nil && t.query.Offset == nil
	if !simple || q.From == nil || q.GroupBy != nil || q.Having != nil || len(q.Windows) > 0 || q.Qualify != nil {
		rel := b.query(t.query)
		if rel == nil {
			return nil
		}
		out := &joinedQuery{node: rel.node}
		for i, f := range rel.node.Schema().Fields {
			out.items = append(out.items, item{expr: expr.NewCol(width+i, f.Name, f.Type), name: f.Name, pos: t.query.Pos()})
		}
		return out
	}
	from := b.from(q.From)
	if from == nil {
		return nil
	}
	s := over(within(from, around), "a subquery of "+t.name())
	out := &joinedQuery{node: from.node}
	ok := true
	if q.Where != nil {
		c := b.condition(s, q.Where, "WHERE")
		out.cond, ok = []expr.Expr{c}, c != nil
	}
	var itemsOK bool
	out.items, itemsOK = b.items(s, q)
	if !ok || !itemsOK {
		return nil
	}
	return out
}

// within returns the relation of a subquery's expressions: the columns of the query around it, then its own, which hide those.
func within(from, around *relation) *relation {
	both := beside(around, from)
	outer, own := len(around.parts()), both.tables
	both.tables = append(append([]table{}, own[outer:]...), own[:outer]...)
	both.shown = shifted(from.columns(), len(around.node.Schema().Fields))
	both.around = around.columns()
	both.node = plan.NewJoin(plan.InnerJoin, around.node, from.node, nil, "", diag.Pos{})
	return both
}

// membership returns the conditions under which x is one of the subquery's rows. For NOT IN a comparison with NULL counts as
// equal, since it leaves open whether x is there.
func (b *Binder) membership(rel *relation, sub *joinedQuery, t subqueryTest) []expr.Expr {
	elems := []ast.Expr{t.x}
	if row, is := t.x.(*ast.RowExpr); is && len(sub.items) > 1 {
		elems = row.Elems
	}
	if len(elems) != len(sub.items) {
		b.errorf(t.query.Pos(), "the subquery of %s has %s, but it is compared with %d", t.name(), countColumns(len(sub.items)), len(elems))
		return nil
	}
	s := over(rel, "WHERE")
	var out []expr.Expr
	for i, e := range elems {
		x, y := b.expr(s, e), sub.items[i].expr
		if x == nil {
			return nil
		}
		c := b.applyNamed(e.Pos(), "=", []diag.Pos{e.Pos(), sub.items[i].pos}, x, y)
		if c != nil && t.not {
			c = b.orNull(c, e.Pos(), x, y)
		}
		if c == nil {
			return nil
		}
		out = append(out, c)
	}
	return out
}

// orNull returns c OR v IS NULL, for each value that can be NULL.
func (b *Binder) orNull(c expr.Expr, pos diag.Pos, values ...expr.Expr) expr.Expr {
	args := []expr.Expr{c}
	for _, v := range values {
		if v.Type().Nullable {
			args = append(args, b.applyNamed(pos, "IS NULL", nil, v))
		}
	}
	if len(args) == 1 {
		return c
	}
	return &expr.Logic{Or: true, Args: args, Typ: types.Of(types.Boolean)}
}
