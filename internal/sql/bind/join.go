package bind

import (
	"slices"

	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

var joinKinds = map[ast.JoinKind]plan.JoinKind{
	ast.InnerJoin: plan.InnerJoin, ast.LeftJoin: plan.LeftJoin, ast.RightJoin: plan.RightJoin, ast.FullJoin: plan.FullJoin,
	ast.CrossJoin: plan.InnerJoin, ast.CommaJoin: plan.InnerJoin,
}

// joinWords are the kinds as queries write them.
var joinWords = map[ast.JoinKind]string{
	ast.InnerJoin: "JOIN", ast.LeftJoin: "LEFT JOIN", ast.RightJoin: "RIGHT JOIN", ast.FullJoin: "FULL JOIN", ast.CrossJoin: "CROSS JOIN",
	ast.CommaJoin: "a join of tables by a comma",
}

// join binds a join of two items of a FROM clause.
func (b *Binder) join(j *ast.Join) *relation {
	l, r := b.from(j.L), b.from(j.R)
	if l == nil || r == nil || !b.differentNames(l, r, j.R.Pos()) {
		return nil
	}
	rel := beside(l, r)
	kind := joinKinds[j.Kind]
	if len(j.Using) > 0 || j.Natural {
		return b.joinUsing(j, kind, l, r)
	}
	rel.node = plan.NewJoin(plan.InnerJoin, l.node, r.node, nil, "", j.R.Pos())
	var cond expr.Expr
	if j.On != nil {
		if cond = b.condition(over(rel, "ON"), j.On, "ON"); cond == nil {
			return nil
		}
	}
	rel.node = plan.NewJoin(kind, l.node, r.node, cond, joinWords[j.Kind], j.R.Pos())
	return rel
}

// beside returns the relation, still without a node, that has the columns of l, then those of r.
func beside(l, r *relation) *relation {
	width := len(l.node.Schema().Fields)
	out := &relation{tables: slices.Clone(l.parts()), shown: slices.Clone(l.columns())}
	for _, t := range r.parts() {
		out.tables = append(out.tables, table{t.names, shifted(t.cols, width)})
	}
	out.shown = append(out.shown, shifted(r.columns(), width)...)
	return out
}

func shifted(cols []int, by int) []int {
	out := make([]int, len(cols))
	for i, c := range cols {
		out[i] = c + by
	}
	return out
}

// differentNames reports two tables of the same name.
func (b *Binder) differentNames(l, r *relation, pos diag.Pos) bool {
	for _, t := range r.parts() {
		for _, o := range l.parts() {
			if len(t.names) > 0 && slices.Equal(t.names, o.names) {
				name := t.names[len(t.names)-1]
				b.errorf(pos, "two tables of the join are called %s", name).WithHint("give one of them another name with AS")
				return false
			}
		}
	}
	return true
}

// joinUsing binds JOIN .. USING (a, b) and NATURAL JOIN. The columns that the sides have in common come once and first.
func (b *Binder) joinUsing(j *ast.Join, kind plan.JoinKind, l, r *relation) *relation {
	names := j.Using
	if j.Natural {
		names = commonNames(l, r, j.R.Pos())
	}
	width := len(l.node.Schema().Fields)
	var cond []expr.Expr
	var left, right []int
	ok := true
	for _, id := range names {
		c, found := b.usingColumn(l, id, "left")
		d, found2 := b.usingColumn(r, id, "right")
		if ok = ok && found && found2; !ok {
			continue
		}
		f, g := l.node.Schema().Fields[c], r.node.Schema().Fields[d]
		at := []diag.Pos{id.Pos(), id.Pos()}
		eq := b.applyNamed(id.Pos(), "=", at, expr.NewCol(c, f.Name, f.Type), expr.NewCol(width+d, g.Name, g.Type))
		if ok = eq != nil; ok {
			cond, left, right = append(cond, eq), append(left, c), append(right, width+d)
		}
	}
	if !ok {
		return nil
	}
	n := plan.NewJoin(kind, l.node, r.node, plan.Conjunction(cond), joinWords[j.Kind], j.R.Pos())
	return b.merged(n, beside(l, r), left, right, j.R.Pos())
}

// commonNames returns the columns of l that r has as well, for a NATURAL join.
func commonNames(l, r *relation, pos diag.Pos) []ast.Ident {
	var out []ast.Ident
	in := l.node.Schema()
	theirs := namesOf(r.node.Schema(), r.columns())
	for _, c := range l.columns() {
		if name := in.Fields[c].Name; slices.Contains(theirs, name) {
			out = append(out, ast.Ident{Span: diag.Span{Start: pos, End: pos}, Name: name})
		}
	}
	return out
}

// usingColumn finds a column of USING on one side.
func (b *Binder) usingColumn(rel *relation, id ast.Ident, side string) (int, bool) {
	s := over(rel, "USING")
	col, ambiguous := s.find(id.Name, rel.columns())
	switch {
	case ambiguous:
		b.errorf(id.Pos(), "column %q of USING is ambiguous: the %s side of the join has it more than once", id.Name, side)
	case col < 0:
		b.unknown(id.Pos(), id.Name, namesOf(s.schema(), rel.columns()), "the %s side of the join has no column %q", side, id.Name)
	default:
		return col, true
	}
	return 0, false
}

// merged puts the columns of USING in front: those of the side that is surely there, or of the one that is there.
func (b *Binder) merged(n *plan.Join, rel *relation, left, right []int, pos diag.Pos) *relation {
	in := n.Schema()
	p := &plan.Project{Input: n, Out: &types.Schema{}}
	for i := range left {
		l, r := in.Fields[left[i]], in.Fields[right[i]]
		e := expr.NewCol(left[i], l.Name, l.Type)
		var merged expr.Expr = e
		switch n.Kind {
		case plan.RightJoin:
			merged = expr.NewCol(right[i], r.Name, r.Type)
		case plan.FullJoin:
			merged = b.checked(pos)(expr.NewCoalesce([]expr.Expr{e, expr.NewCol(right[i], r.Name, r.Type)}, b.Env))
		}
		if merged == nil {
			return nil
		}
		p.Exprs = append(p.Exprs, merged)
		p.Out.Fields = append(p.Out.Fields, types.Field{Name: l.Name, Type: merged.Type()})
	}
	p.Exprs = append(p.Exprs, passAll(in)...)
	p.Out.Fields = append(p.Out.Fields, in.Fields...)
	out := &relation{node: p, shown: upTo(len(left))}
	for _, t := range rel.tables {
		out.tables = append(out.tables, table{t.names, shifted(t.cols, len(left))})
	}
	for _, c := range rel.shown {
		if !slices.Contains(left, c) && !slices.Contains(right, c) {
			out.shown = append(out.shown, c+len(left))
		}
	}
	return out
}

// onlyShown returns a relation without the columns that * does not show.
func (b *Binder) onlyShown(rel *relation) *relation {
	if rel.shown == nil || len(rel.shown) == len(rel.node.Schema().Fields) {
		return rel
	}
	in := rel.node.Schema()
	p := &plan.Project{Input: rel.node, Out: &types.Schema{}}
	for _, c := range rel.shown {
		f := in.Fields[c]
		p.Exprs, p.Out.Fields = append(p.Exprs, expr.NewCol(c, f.Name, f.Type)), append(p.Out.Fields, f)
	}
	return &relation{node: p}
}
