package bind

import (
	"slices"
	"strconv"

	"github.com/millstream-io/millstream/internal/cast"
	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

// query binds a query within another one; nil means that an error was reported. Its ORDER BY changes nothing, as in Flink: the query
// around it may take the rows in any order.
func (b *Binder) query(q *ast.Query) *relation { return b.queryAt(q, false) }

// topQuery binds the query of a statement or a view, whose rows come in the order of its ORDER BY.
func (b *Binder) topQuery(q *ast.Query) *relation { return b.queryAt(q, true) }

func (b *Binder) queryAt(q *ast.Query, top bool) *relation {
	depth := len(b.ctes)
	defer func() { b.ctes = b.ctes[:depth] }()
	if q.Recursive {
		b.unsupported(q.Pos(), "WITH RECURSIVE")
		return nil
	}
	for i := range q.With {
		b.with(&q.With[i])
	}
	limited := q.Limit != nil || q.Offset != nil
	rel := b.ordered(q, top, limited)
	if q.Limit == nil && q.Offset == nil {
		return rel
	}
	count, ok := b.rowCount(q.Limit, "LIMIT", plan.NoLimit)
	offset, ok2 := b.rowCount(q.Offset, "OFFSET", 0)
	if q.Limit == nil && ok2 {
		b.errorf(q.Offset.Pos(), "OFFSET needs a LIMIT")
		return nil
	}
	if rel == nil || !ok || !ok2 {
		return nil
	}
	pos := q.Limit.Pos()
	return &relation{node: &plan.Limit{Input: rel.node, Offset: offset, Count: count, Pos: pos}}
}

// ordered binds the body of a query with its ORDER BY.
func (b *Binder) ordered(q *ast.Query, top, limited bool) *relation {
	if inner, is := q.Body.(*ast.Query); is && len(q.OrderBy) == 0 {
		return b.queryAt(inner, top && !limited)
	}
	if len(q.OrderBy) == 0 {
		return b.body(q.Body)
	}
	o := &ordering{items: q.OrderBy}
	var rel *relation
	if s, is := q.Body.(*ast.Select); is {
		rel = b.selectOrdered(s, o)
	} else if rel = b.body(q.Body); rel != nil {
		if o.width = len(rel.node.Schema().Fields); !o.bindColumns(b, rel.node) {
			return nil
		}
	}
	if rel == nil {
		return nil
	}
	if !top && !limited {
		return &relation{node: firstFields(rel.node, o.width)}
	}
	n := b.sort(rel.node, o, limited)
	if n == nil {
		return nil
	}
	return &relation{node: n}
}

// with binds one name of a WITH clause. A name that is defined again hides the first.
func (b *Binder) with(c *ast.CTE) {
	rel := b.query(c.Query)
	if rel != nil && len(c.Columns) > 0 {
		n := b.renamed(rel.node, c.Columns, c.Name.Pos(), c.Name.Name)
		rel = &relation{node: n}
		if n == nil {
			rel = nil
		}
	}
	b.ctes = append(b.ctes, cte{name: c.Name.Name, rel: rel, bad: rel == nil})
}

// rowCount reads the number of a LIMIT or an OFFSET.
func (b *Binder) rowCount(e ast.Expr, what string, otherwise int64) (int64, bool) {
	if e == nil {
		return otherwise, true
	}
	if n, ok := e.(*ast.NumberLit); ok && n.Kind == ast.Integer {
		if v, err := strconv.ParseInt(n.Text, 10, 64); err == nil {
			return v, true
		}
	}
	b.errorf(e.Pos(), "%s needs a whole number", what)
	return 0, false
}

func (b *Binder) body(q ast.QueryBody) *relation {
	switch q := q.(type) {
	case *ast.Select:
		return b.selectQuery(q)
	case *ast.Values:
		return b.values(q)
	case *ast.SetOp:
		return b.setOp(q)
	case *ast.ExplicitTable:
		rel := b.tableName(&q.Name, nil, nil)
		if rel == nil {
			return nil
		}
		return &relation{node: rel.node}
	case *ast.Query:
		return b.query(q)
	}
	b.unsupported(q.Pos(), "this kind of query")
	return nil
}

// values binds VALUES: each column has the common type of its rows.
func (b *Binder) values(v *ast.Values) *relation {
	rows, ok := make([][]expr.Expr, len(v.Rows)), true
	for i, r := range v.Rows {
		if len(r.Exprs) != len(v.Rows[0].Exprs) {
			b.errorf(r.Pos(), "this row of VALUES has %s, the first one has %d", countColumns(len(r.Exprs)), len(v.Rows[0].Exprs))
			ok = false
			continue
		}
		rows[i] = b.exprs(&scope{where: "VALUES"}, r.Exprs)
		ok = ok && rows[i] != nil && b.haveTypes(rows[i], r.Exprs)
	}
	if !ok {
		return nil
	}
	out := &types.Schema{}
	for c := range rows[0] {
		t, ok := b.unify(cast.CommonType, columnOf(rows, c), func(i int) diag.Pos { return v.Rows[i].Exprs[c].Pos() }, "VALUES")
		if !ok {
			return nil
		}
		out.Fields = append(out.Fields, types.Field{Name: "EXPR$" + strconv.Itoa(c), Type: t})
		for i := range rows {
			if rows[i][c] = b.checked(v.Rows[i].Exprs[c].Pos())(expr.Coerce(rows[i][c], t, b.Env)); rows[i][c] == nil {
				return nil
			}
		}
	}
	return &relation{node: &plan.Values{Rows: rows, Out: out}}
}

// haveTypes reports NULLs without a type, which VALUES does not take.
func (b *Binder) haveTypes(row []expr.Expr, at []ast.Expr) bool {
	for i, e := range row {
		if e.Type().Kind == types.Null {
			b.errorf(at[i].Pos(), "a NULL in VALUES needs a type").WithHint("write CAST(NULL AS type)")
			return false
		}
	}
	return true
}

func columnOf(rows [][]expr.Expr, c int) []types.Type {
	out := make([]types.Type, len(rows))
	for i := range rows {
		out[i] = rows[i][c].Type()
	}
	return out
}

// commonType is the rule by which types are made one: cast.CommonType or fn.MergedType.
type commonType func([]types.Type) (types.Type, bool)

// unify returns the common type of several expressions; at has the place of the one that does not fit.
func (b *Binder) unify(common commonType, ts []types.Type, at func(i int) diag.Pos, what string) (types.Type, bool) {
	if t, ok := common(ts); ok {
		return t, true
	}
	for i := 2; i <= len(ts); i++ {
		if _, ok := common(ts[:i]); ok {
			continue
		}
		before, _ := common(ts[:i-1])
		b.errorf(at(i-1), "%s mixes %s with %s, which have no common type", what, article(before), article(ts[i-1])).
			WithHint("convert one with CAST")
		break
	}
	return types.Type{}, false
}

// setOp binds UNION [ALL]: a chain of them is one node.
func (b *Binder) setOp(q *ast.SetOp) *relation {
	if q.Op != "UNION" {
		b.body(q.L)
		b.body(q.R)
		b.unsupported(q.R.Pos(), q.Op)
		return nil
	}
	var branches []ast.QueryBody
	var collect func(ast.QueryBody)
	collect = func(x ast.QueryBody) {
		if y, ok := x.(*ast.SetOp); ok && y.Op == "UNION" && y.All == q.All {
			collect(y.L)
			collect(y.R)
			return
		}
		branches = append(branches, x)
	}
	collect(q)
	rels, ok := make([]*relation, len(branches)), true
	for i, br := range branches {
		rels[i] = b.body(br)
		ok = ok && rels[i] != nil
	}
	if !ok {
		return nil
	}
	n := b.union(rels, branches)
	if n == nil {
		return nil
	}
	if !q.All {
		n = b.distinct(n, q.Pos())
	}
	return &relation{node: n}
}

// union makes UNION ALL of relations, cast to common types.
func (b *Binder) union(rels []*relation, branches []ast.QueryBody) plan.Node {
	first := rels[0].node.Schema()
	for i, r := range rels {
		if n := len(r.node.Schema().Fields); n != len(first.Fields) {
			b.errorf(branches[i].Pos(), "this query of the UNION has %s, the first one has %d", countColumns(n), len(first.Fields))
			return nil
		}
	}
	out := schemaOf(first)
	for c := range out.Fields {
		ts := make([]types.Type, len(rels))
		for i, r := range rels {
			ts[i] = r.node.Schema().Fields[c].Type
			if ts[i].Kind == types.Null {
				b.errorf(branches[i].Pos(), "column %d of this query is NULL without a type", c+1).WithHint("write CAST(NULL AS type)")
				return nil
			}
		}
		t, ok := b.unify(cast.CommonType, ts, func(i int) diag.Pos { return branches[i].Pos() }, "column "+strconv.Itoa(c+1)+" of the UNION")
		if !ok {
			return nil
		}
		t.Attr = ts[0].Attr
		out.Fields[c].Type = t
	}
	u := &plan.Union{Out: out}
	for i, r := range rels {
		n := b.coerced(r.node, out, branches[i].Pos())
		if n == nil {
			return nil
		}
		u.In = append(u.In, n)
	}
	return u
}

func countColumns(n int) string {
	if n == 1 {
		return "1 column"
	}
	return strconv.Itoa(n) + " columns"
}

// coerced casts the columns of n to the types of out, up to nullability; n itself if they have them.
func (b *Binder) coerced(n plan.Node, out *types.Schema, pos diag.Pos) plan.Node {
	in := n.Schema()
	p := &plan.Project{Input: n, Out: schemaOf(out)}
	changed := false
	for i, f := range in.Fields {
		e := b.checked(pos)(expr.Coerce(expr.NewCol(i, f.Name, f.Type), out.Fields[i].Type, b.Env))
		if e == nil {
			return nil
		}
		if _, is := e.(*expr.Col); !is {
			changed = true
		}
		p.Exprs = append(p.Exprs, e)
		p.Out.Fields[i].Type = e.Type()
	}
	if !changed {
		return n
	}
	return p
}

// distinct keeps one copy of each row.
func (b *Binder) distinct(n plan.Node, pos diag.Pos) plan.Node {
	in := n.Schema()
	keys := make([]int, len(in.Fields))
	for i := range keys {
		keys[i] = i
	}
	if i := slices.IndexFunc(in.Fields, func(f types.Field) bool { return f.Type.Kind == types.Null }); i >= 0 {
		b.errorf(pos, "column %d of the result is NULL without a type", i+1).WithHint("write CAST(NULL AS type)")
		return nil
	}
	return &plan.Aggregate{Input: n, Keys: keys, Out: schemaOf(in), Pos: pos}
}
