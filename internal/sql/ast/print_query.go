package ast

import (
	"fmt"
	"strconv"
)

func (p *printer) parenQuery(q *Query) {
	p.put("(")
	p.query(q)
	p.put(")")
}

func (p *printer) query(q *Query) {
	if len(q.With) > 0 {
		p.put("WITH ")
		p.putIf(q.Recursive, "RECURSIVE ")
		p.list(len(q.With), ", ", func(i int) {
			c := &q.With[i]
			p.put(QuoteIdent(c.Name.Name))
			if len(c.Columns) > 0 {
				p.put(" (")
				p.idents(c.Columns)
				p.put(")")
			}
			p.put(" AS ")
			p.parenQuery(c.Query)
		})
		p.put(" ")
	}
	p.operand(q.Body, 0)
	if len(q.OrderBy) > 0 {
		p.put(" ")
		p.orderBy(q.OrderBy)
	}
	if q.Limit != nil {
		p.put(" LIMIT ")
		p.expr(q.Limit)
	}
	if q.Offset != nil {
		p.put(" OFFSET ")
		p.expr(q.Offset)
	}
}

// operand writes a query as an operand of a set operation that binds with this power.
func (p *printer) operand(b QueryBody, least int) {
	paren := false
	switch b := b.(type) {
	case *Query:
		paren = true
	case *SetOp:
		paren = setPower(b) < least
	}
	p.putIf(paren, "(")
	p.body(b)
	p.putIf(paren, ")")
}

func setPower(s *SetOp) int {
	if s.Op == "INTERSECT" {
		return 2
	}
	return 1
}

func (p *printer) body(b QueryBody) {
	switch b := b.(type) {
	case *Query:
		p.query(b)
	case *Select:
		p.selectQuery(b)
	case *Values:
		p.put("VALUES ")
		p.list(len(b.Rows), ", ", func(i int) {
			p.put("(")
			p.exprs(b.Rows[i].Exprs)
			p.put(")")
		})
	case *SetOp:
		n := setPower(b)
		p.operand(b.L, n)
		p.put(" ", b.Op)
		p.putIf(b.All, " ALL")
		p.put(" ")
		p.operand(b.R, n+1)
	case *ExplicitTable:
		p.put("TABLE ")
		p.name(&b.Name)
	default:
		panic(fmt.Sprintf("ast: unknown query %T", b))
	}
}

func (p *printer) selectQuery(s *Select) {
	p.put("SELECT")
	p.hints(s.Hints)
	p.putIf(s.Distinct, " DISTINCT")
	p.put(" ")
	p.list(len(s.Items), ", ", func(i int) { p.selectItem(&s.Items[i]) })
	if s.From != nil {
		p.put(" FROM ")
		p.table(s.From)
	}
	if s.Where != nil {
		p.put(" WHERE ")
		p.expr(s.Where)
	}
	if g := s.GroupBy; g != nil {
		p.put(" GROUP BY ")
		p.putIf(g.Distinct, "DISTINCT ")
		p.groupItems(g.Items)
	}
	if s.Having != nil {
		p.put(" HAVING ")
		p.expr(s.Having)
	}
	if len(s.Windows) > 0 {
		p.put(" WINDOW ")
		p.list(len(s.Windows), ", ", func(i int) {
			p.put(QuoteIdent(s.Windows[i].Name.Name), " AS ")
			p.window(&s.Windows[i].Spec)
		})
	}
	if s.Qualify != nil {
		p.put(" QUALIFY ")
		p.expr(s.Qualify)
	}
}

func (p *printer) selectItem(s *SelectItem) {
	p.expr(s.Expr)
	if s.Alias != nil {
		p.put(" AS ", QuoteIdent(s.Alias.Name))
	}
}

func (p *printer) groupItems(items []GroupItem) {
	p.list(len(items), ", ", func(i int) { p.groupItem(&items[i]) })
}

func (p *printer) groupItem(g *GroupItem) {
	switch g.Kind {
	case GroupExpr:
		p.expr(g.Exprs[0])
		return
	case GroupSet:
		p.put("(")
		p.exprs(g.Exprs)
		p.put(")")
		return
	case GroupingSets:
		p.put("GROUPING SETS (")
	case Cube:
		p.put("CUBE (")
	case Rollup:
		p.put("ROLLUP (")
	}
	p.groupItems(g.Items)
	p.put(")")
}

func (p *printer) orderBy(items []OrderItem) {
	p.put("ORDER BY ")
	p.orderItems(items)
}

func (p *printer) orderItems(items []OrderItem) {
	p.list(len(items), ", ", func(i int) { p.orderItem(&items[i]) })
}

func (p *printer) orderItem(o *OrderItem) {
	p.expr(o.Expr)
	p.putIf(o.Desc, " DESC")
	switch o.Nulls {
	case NullsFirst:
		p.put(" NULLS FIRST")
	case NullsLast:
		p.put(" NULLS LAST")
	}
}

func (p *printer) hints(hints []Hint) {
	if len(hints) == 0 {
		return
	}
	p.put(" /*+ ")
	p.list(len(hints), ", ", func(i int) { p.hint(&hints[i]) })
	p.put(" */")
}

func (p *printer) hint(h *Hint) {
	p.put(QuoteIdent(h.Name.Name))
	if len(h.Args)+len(h.Options) == 0 {
		return
	}
	p.put("(")
	p.exprs(h.Args)
	p.putIf(len(h.Args) > 0 && len(h.Options) > 0, ", ")
	p.optionList(h.Options)
	p.put(")")
}

func (p *printer) table(t TableRef) {
	switch t := t.(type) {
	case *TableName:
		p.name(&t.Name)
		p.hints(t.Hints)
		if t.AsOf != nil {
			p.put(" FOR SYSTEM_TIME AS OF ")
			p.expr(t.AsOf)
		}
	case *SubqueryTable:
		p.putIf(t.Lateral, "LATERAL ")
		p.parenQuery(t.Query)
	case *TableFunc:
		p.putIf(t.Lateral, "LATERAL ")
		p.putIf(!t.Bare, "TABLE(")
		p.call(t.Call)
		p.putIf(!t.Bare, ")")
	case *Unnest:
		p.putIf(t.Lateral, "LATERAL ")
		p.put("UNNEST(")
		p.exprs(t.Exprs)
		p.put(")")
		p.putIf(t.Ordinality, " WITH ORDINALITY")
	case *AliasedTable:
		p.joinOperand(t.Table)
		p.put(" AS ", QuoteIdent(t.Alias.Name))
		if len(t.Columns) > 0 {
			p.put(" (")
			p.idents(t.Columns)
			p.put(")")
		}
	case *Join:
		p.join(t)
	case *MatchRecognize:
		p.match(t)
	default:
		panic(fmt.Sprintf("ast: unknown table %T", t))
	}
}

// joinOperand writes a table where a join would have to stand in parentheses.
func (p *printer) joinOperand(t TableRef) {
	_, paren := t.(*Join)
	p.putIf(paren, "(")
	p.table(t)
	p.putIf(paren, ")")
}

func (p *printer) join(j *Join) {
	if j.Kind == CommaJoin {
		p.table(j.L)
		p.put(", ")
		p.table(j.R)
		return
	}
	p.table(j.L)
	p.put(" ")
	p.putIf(j.Natural, "NATURAL ")
	switch j.Kind {
	case InnerJoin:
		p.put("JOIN ")
	case LeftJoin:
		p.put("LEFT JOIN ")
	case RightJoin:
		p.put("RIGHT JOIN ")
	case FullJoin:
		p.put("FULL JOIN ")
	case CrossJoin:
		p.put("CROSS JOIN ")
	}
	p.joinOperand(j.R)
	if j.On != nil {
		p.put(" ON ")
		p.expr(j.On)
	}
	if len(j.Using) > 0 {
		p.put(" USING (")
		p.idents(j.Using)
		p.put(")")
	}
}

func (p *printer) match(m *MatchRecognize) {
	p.joinOperand(m.Table)
	p.put(" MATCH_RECOGNIZE (")
	if len(m.PartitionBy) > 0 {
		p.put("PARTITION BY ")
		p.exprs(m.PartitionBy)
		p.put(" ")
	}
	if len(m.OrderBy) > 0 {
		p.orderBy(m.OrderBy)
		p.put(" ")
	}
	if len(m.Measures) > 0 {
		p.put("MEASURES ")
		p.list(len(m.Measures), ", ", func(i int) { p.selectItem(&m.Measures[i]) })
		p.put(" ")
	}
	p.putIf(m.AllRows, "ALL ROWS PER MATCH ")
	if m.After != nil {
		p.after(m.After)
	}
	p.put("PATTERN (")
	p.putIf(m.AnchorStart, "^ ")
	p.pattern(m.Pattern)
	p.putIf(m.AnchorEnd, " $")
	p.put(")")
	if m.Within != nil {
		p.put(" WITHIN ")
		p.expr(m.Within)
	}
	if len(m.Subsets) > 0 {
		p.put(" SUBSET ")
		p.list(len(m.Subsets), ", ", func(i int) {
			p.put(QuoteIdent(m.Subsets[i].Name.Name), " = (")
			p.idents(m.Subsets[i].Vars)
			p.put(")")
		})
	}
	p.put(" DEFINE ")
	p.list(len(m.Define), ", ", func(i int) {
		p.put(QuoteIdent(m.Define[i].Var.Name), " AS ")
		p.expr(m.Define[i].Cond)
	})
	p.put(")")
}

func (p *printer) after(a *AfterMatch) {
	p.put("AFTER MATCH SKIP ")
	switch a.Kind {
	case SkipToNextRow:
		p.put("TO NEXT ROW ")
	case SkipPastLastRow:
		p.put("PAST LAST ROW ")
	case SkipToFirst:
		p.put("TO FIRST ", QuoteIdent(a.Var.Name), " ")
	case SkipToLast:
		p.put("TO LAST ", QuoteIdent(a.Var.Name), " ")
	case SkipToVariable:
		p.put("TO ", QuoteIdent(a.Var.Name), " ")
	}
}

func (p *printer) pattern(x Pattern) {
	switch x := x.(type) {
	case *PatternVar:
		p.put(QuoteIdent(x.Name.Name))
	case *PatternSeq:
		p.list(len(x.Parts), " ", func(i int) { p.patternPart(x.Parts[i]) })
	case *PatternAlt:
		p.list(len(x.Parts), " | ", func(i int) {
			_, alt := x.Parts[i].(*PatternAlt)
			p.putIf(alt, "(")
			p.pattern(x.Parts[i])
			p.putIf(alt, ")")
		})
	case *PatternPermute:
		p.put("PERMUTE(")
		p.list(len(x.Parts), ", ", func(i int) { p.pattern(x.Parts[i]) })
		p.put(")")
	case *PatternExclude:
		p.put("{- ")
		p.pattern(x.X)
		p.put(" -}")
	case *PatternRepeat:
		if _, nested := x.X.(*PatternRepeat); nested {
			p.put("(")
			p.pattern(x.X)
			p.put(")")
		} else {
			p.patternPart(x.X)
		}
		p.put(quantifier(x))
	}
}

// patternPart writes a pattern that must hold together.
func (p *printer) patternPart(x Pattern) {
	switch x.(type) {
	case *PatternSeq, *PatternAlt:
		p.put("(")
		p.pattern(x)
		p.put(")")
	default:
		p.pattern(x)
	}
}

func quantifier(r *PatternRepeat) string {
	q := ""
	switch {
	case r.Min == 0 && r.Max < 0:
		q = "*"
	case r.Min == 1 && r.Max < 0:
		q = "+"
	case r.Min == 0 && r.Max == 1:
		q = "?"
	case r.Max < 0:
		q = "{" + strconv.Itoa(r.Min) + ",}"
	case r.Min == r.Max:
		q = "{" + strconv.Itoa(r.Min) + "}"
	default:
		q = "{" + strconv.Itoa(r.Min) + "," + strconv.Itoa(r.Max) + "}"
	}
	if r.Reluctant {
		q += "?"
	}
	return q
}

func (p *printer) typeName(t *TypeName) {
	switch {
	case t.User != nil:
		p.name(t.User)
	case t.Interval != nil:
		p.put("INTERVAL ")
		p.qualifier(t.Interval)
	case t.Name == "ROW" || t.Name == "STRUCTURED":
		p.rowType(t)
	case t.Name == "RAW":
		p.put("RAW(", QuoteString(t.Strings[0].Value), ", ", QuoteString(t.Strings[1].Value), ")")
	default:
		p.put(t.Name)
		if len(t.Args) > 0 {
			p.put("(")
			p.list(len(t.Args), ", ", func(i int) { p.put(strconv.Itoa(t.Args[i])) })
			p.put(")")
		}
		if len(t.Elems) > 0 {
			p.put("<")
			p.list(len(t.Elems), ", ", func(i int) { p.typeName(t.Elems[i]) })
			p.put(">")
		}
	}
	switch t.Null {
	case NullExplicit:
		p.put(" NULL")
	case NotNull:
		p.put(" NOT NULL")
	}
}

func (p *printer) rowType(t *TypeName) {
	p.put(t.Name, "<")
	if t.Name == "STRUCTURED" {
		p.put(QuoteString(t.Strings[0].Value))
		p.putIf(len(t.Fields) > 0, ", ")
	}
	p.list(len(t.Fields), ", ", func(i int) {
		f := &t.Fields[i]
		p.put(QuoteIdent(f.Name.Name), " ")
		p.typeName(f.Type)
		if f.Comment != nil {
			p.put(" ", QuoteString(f.Comment.Value))
		}
	})
	p.put(">")
}
