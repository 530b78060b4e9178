package parse

import "github.com/millstream-io/millstream/internal/sql/ast"

// startsClause reports whether the token begins a clause of a query, where the parser can go on after an error.
func startsClause(t *token) bool {
	switch t.up {
	case "FROM", "WHERE", "GROUP", "HAVING", "WINDOW", "QUALIFY", "ORDER", "LIMIT", "OFFSET", "FETCH", "UNION", "INTERSECT", "EXCEPT", "MINUS":
		return t.kind == tokWord
	}
	return false
}

func startsClauseOrItem(t *token) bool { return t.isOp(",") || startsClause(t) }

// query reads [WITH ..] body [ORDER BY ..] [LIMIT ..].
func (p *parser) query() *ast.Query {
	p.enter()
	defer p.leave()
	start := p.tok.Span
	q := &ast.Query{}
	if p.accept("WITH") {
		q.Recursive = p.accept("RECURSIVE")
		q.With = append(q.With, p.cte())
		for p.acceptOp(",") {
			q.With = append(q.With, p.cte())
		}
	}
	q.Body = p.setExpr(1)
	if p.is("ORDER") {
		p.guard(startsClause, func() {
			q.OrderBy = p.orderBy()
			p.itemEnd("an item of ORDER BY")
		})
	}
	p.guard(startsClause, func() { p.limit(q) })
	if continuesQuery(&p.tok) {
		p.misplaced()
	}
	q.Span = p.span(start)
	if inner, ok := q.Body.(*ast.Query); ok && isBare(q) {
		return inner
	}
	return q
}

// misplaced fails because a clause stands where it cannot.
func (p *parser) misplaced() {
	hint := ""
	if p.isAny("UNION", "INTERSECT", "EXCEPT") {
		hint = "put the query before it in parentheses"
	}
	p.failAt(p.tok.Span, hint, "%s cannot stand behind ORDER BY, LIMIT or OFFSET here", p.tok.up)
}

// isBare reports whether the query is nothing but its body.
func isBare(q *ast.Query) bool {
	return len(q.With) == 0 && len(q.OrderBy) == 0 && q.Limit == nil && q.Offset == nil
}

func (p *parser) cte() ast.CTE {
	start := p.tok.Span
	c := ast.CTE{Name: p.ident("a name for the query")}
	if p.isOp("(") {
		c.Columns = p.idents("a column name", "")
	}
	p.expect("after the name of a WITH query", "AS")
	if !p.queryInParens() {
		p.expected("a query in parentheses", "after AS")
	}
	c.Query = p.parenQuery()
	c.Span = p.span(start)
	return c
}

// setExpr reads queries joined by UNION and EXCEPT (power 1) and INTERSECT (power 2).
func (p *parser) setExpr(power int) ast.QueryBody {
	start := p.tok.Span
	left := p.queryTerm()
	for n := 0; ; n++ {
		p.checkChain(n)
		op, opPower := p.tok.up, 1
		switch {
		case p.isAny("UNION", "EXCEPT"):
		case p.is("INTERSECT"):
			opPower = 2
		case p.is("MINUS"):
			p.failAt(p.tok.Span, "write EXCEPT", "MINUS is not supported")
		default:
			return left
		}
		if opPower < power {
			return left
		}
		p.advance()
		all := p.accept("ALL")
		if !all {
			p.accept("DISTINCT")
		}
		right := p.setExpr(opPower + 1)
		left = &ast.SetOp{Span: p.span(start), Op: op, All: all, L: left, R: right}
	}
}

// queryTerm reads SELECT, VALUES, TABLE or a query in parentheses.
func (p *parser) queryTerm() ast.QueryBody {
	start := p.tok.Span
	switch {
	case p.is("SELECT"):
		return p.selectQuery()
	case p.is("VALUES"):
		return p.values()
	case p.accept("TABLE"):
		name := p.name("the name of a table")
		return &ast.ExplicitTable{Span: p.span(start), Name: name}
	case p.isOp("("):
		p.advance()
		q := p.query()
		p.expectOp(")", "after the query in parentheses")
		if isBare(q) {
			return q.Body
		}
		return q
	case p.is("WITH"):
		p.expectedHint("SELECT or VALUES", "", "a query with a WITH of its own stands in parentheses")
	}
	p.expected("a query", "")
	return nil
}

func (p *parser) values() *ast.Values {
	start := p.tok.Span
	p.advance()
	v := &ast.Values{}
	for more := true; more; more = p.acceptOp(",") {
		p.guard(startsClauseOrItem, func() {
			v.Rows = append(v.Rows, p.valuesRow())
			if !p.isOp(",") {
				p.itemEnd("a row of VALUES")
			}
		})
	}
	v.Span = p.span(start)
	return v
}

func (p *parser) valuesRow() ast.ValuesRow {
	start := p.tok.Span
	if p.is("ROW") || p.isOp("(") && !p.queryInParens() {
		p.accept("ROW")
		p.expectOp("(", "after ROW")
		row := ast.ValuesRow{Exprs: p.valuesExprs()}
		p.expectOp(")", "at the end of a row of VALUES")
		row.Span = p.span(start)
		return row
	}
	e := p.expr()
	return ast.ValuesRow{Span: p.span(start), Exprs: []ast.Expr{e}}
}

// valuesExprs reads a, b, .., of which each may be DEFAULT.
func (p *parser) valuesExprs() []ast.Expr {
	var list []ast.Expr
	for more := true; more; more = p.acceptOp(",") {
		if p.is("DEFAULT") {
			list = append(list, &ast.DefaultArg{Span: p.tok.Span})
			p.advance()
			continue
		}
		list = append(list, p.expr())
	}
	return list
}

// itemEnd fails unless the current token can follow an item of a list.
func (p *parser) itemEnd(what string) {
	if p.tok.kind == tokEOF || p.isOp(";") || p.isOp(")") && p.open > 0 || startsClause(&p.tok) {
		return
	}
	if p.tok.kind == tokWord && clauseWords[p.tok.up] {
		return // the caller knows better what is wrong
	}
	p.unexpected("after " + what)
}

func (p *parser) selectQuery() *ast.Select {
	start := p.tok.Span
	p.advance()
	s := &ast.Select{}
	if p.isOp("/*+") {
		p.guard(startsClause, func() { s.Hints = p.hints() })
	}
	p.accept("STREAM")
	if p.accept("DISTINCT") {
		s.Distinct = true
	} else {
		p.accept("ALL")
	}
	for more := true; more; more = p.acceptOp(",") {
		p.guard(startsClauseOrItem, func() { s.Items = append(s.Items, p.selectItem()) })
	}
	p.selectClauses(s)
	s.Span = p.span(start)
	return s
}

func (p *parser) selectClauses(s *ast.Select) {
	hasFrom := p.is("FROM")
	if hasFrom {
		p.guard(startsClause, func() {
			p.advance()
			s.From = p.from()
		})
	}
	if !hasFrom && p.isAny("WHERE", "GROUP", "HAVING", "WINDOW", "QUALIFY") {
		p.errorAt(p.tok.Span, "%s needs a FROM before it", p.tok.up)
	}
	if p.is("WHERE") {
		p.guard(startsClause, func() {
			p.advance()
			s.Where = p.expr()
			p.itemEnd("the condition of WHERE")
		})
	}
	if p.is("GROUP") {
		p.guard(startsClause, func() { s.GroupBy = p.groupBy() })
	}
	if p.is("HAVING") {
		p.guard(startsClause, func() {
			p.advance()
			s.Having = p.expr()
			p.itemEnd("the condition of HAVING")
		})
	}
	if p.is("WINDOW") {
		p.guard(startsClause, func() { s.Windows = p.windows() })
	}
	if p.is("QUALIFY") {
		p.guard(startsClause, func() {
			p.advance()
			s.Qualify = p.expr()
			p.itemEnd("the condition of QUALIFY")
		})
	}
	if p.isAny("FROM", "WHERE", "GROUP", "HAVING", "WINDOW", "QUALIFY") {
		p.failAt(p.tok.Span, "the order is FROM, WHERE, GROUP BY, HAVING, WINDOW, QUALIFY, ORDER BY, LIMIT", "%s stands too late, or twice", p.tok.up)
	}
}

// selectItem reads *, t.*, or expr [[AS] alias].
func (p *parser) selectItem() ast.SelectItem {
	start := p.tok.Span
	if e := p.star(); e != nil {
		if p.isAny("EXCEPT", "EXCLUDE", "REPLACE") && p.at(1).isOp("(") {
			word := p.tok
			p.advance() // so that the parser does not go on with a set operation
			p.failAt(word.Span, "list the columns", "* %s (..) is not supported", word.up)
		}
		return ast.SelectItem{Span: e.Span, Expr: e}
	}
	item := ast.SelectItem{Expr: p.expr()}
	if p.accept("AS") {
		alias := p.ident("a name after AS")
		item.Alias = &alias
	} else if p.tok.isName() {
		alias := p.ident("a name")
		item.Alias = &alias
	}
	item.Span = p.span(start)
	switch {
	case p.tok.kind == tokString:
		p.failAt(p.tok.Span, "a name is written in back-ticks", "a string cannot be a column's name")
	case p.tok.kind == tokWord && ast.IsReserved(p.tok.up) && p.meantAsName() && (p.at(1).isOp(",") || startsClause(p.at(1))):
		p.notAName("a column name")
	case !p.isOp(","):
		p.itemEnd("an item of the select list")
	}
	return item
}

// star reads * or t.*, or answers nil.
func (p *parser) star() *ast.Star {
	start := p.tok.Span
	n := 0
	for p.at(n).isName() && p.at(n+1).isOp(".") {
		n += 2
	}
	if !p.at(n).isOp("*") || n > 0 && !p.at(n-1).isOp(".") {
		return nil
	}
	s := &ast.Star{}
	for range n / 2 {
		s.Qualifier = append(s.Qualifier, p.ident("the name of a table"))
		p.advance()
	}
	p.advance()
	s.Span = p.span(start)
	return s
}

func (p *parser) groupBy() *ast.GroupBy {
	start := p.tok.Span
	p.advance()
	p.expect("after GROUP", "BY")
	g := &ast.GroupBy{Distinct: p.accept("DISTINCT")}
	if !g.Distinct {
		p.accept("ALL")
	}
	for more := true; more; more = p.acceptOp(",") {
		p.guard(startsClauseOrItem, func() {
			g.Items = append(g.Items, p.groupItem())
			if !p.isOp(",") {
				p.itemEnd("an item of GROUP BY")
			}
		})
	}
	g.Span = p.span(start)
	return g
}

// groupItem reads an item of GROUP BY or of a GROUPING SETS, CUBE or ROLLUP.
func (p *parser) groupItem() ast.GroupItem {
	p.enter()
	defer p.leave()
	start := p.tok.Span
	item := ast.GroupItem{}
	switch {
	case p.isSeq("GROUPING", "SETS"):
		p.advance()
		item.Kind = ast.GroupingSets
	case p.is("CUBE"):
		item.Kind = ast.Cube
	case p.is("ROLLUP"):
		item.Kind = ast.Rollup
	case p.isOp("(") && p.at(1).isOp(")"):
		p.advance()
		p.advance()
		return ast.GroupItem{Span: p.span(start), Kind: ast.GroupSet}
	default:
		return groupExpr(p.expr())
	}
	what := p.tok.up
	p.advance()
	p.expectOp("(", "after "+what)
	for more := true; more; more = p.acceptOp(",") {
		item.Items = append(item.Items, p.groupItem())
	}
	p.expectOp(")", "after the list of "+what)
	item.Span = p.span(start)
	return item
}

// groupExpr makes a grouping item of an expression; (a, b) is a set of two.
func groupExpr(e ast.Expr) ast.GroupItem {
	if row, ok := e.(*ast.RowExpr); ok && row.Implicit {
		return ast.GroupItem{Span: row.Span, Kind: ast.GroupSet, Exprs: row.Elems}
	}
	return ast.GroupItem{Span: e.Extent(), Kind: ast.GroupExpr, Exprs: []ast.Expr{e}}
}

func (p *parser) windows() []ast.NamedWindow {
	p.advance()
	var list []ast.NamedWindow
	for more := true; more; more = p.acceptOp(",") {
		start := p.tok.Span
		w := ast.NamedWindow{Name: p.ident("a window's name")}
		p.expect("after the name of a window", "AS")
		w.Spec = p.windowSpec()
		w.Span = p.span(start)
		list = append(list, w)
	}
	return list
}

// orderBy reads ORDER BY a, b, ..
func (p *parser) orderBy() []ast.OrderItem {
	p.expect("", "ORDER")
	p.expect("after ORDER", "BY")
	return p.orderItems()
}

func (p *parser) orderItems() []ast.OrderItem {
	items := []ast.OrderItem{p.orderItem()}
	for p.acceptOp(",") {
		items = append(items, p.orderItem())
	}
	return items
}

func (p *parser) orderItem() ast.OrderItem {
	start := p.tok.Span
	item := ast.OrderItem{Expr: p.expr()}
	if p.accept("DESC") {
		item.Desc = true
	} else {
		p.accept("ASC")
	}
	if p.accept("NULLS") {
		switch {
		case p.accept("FIRST"):
			item.Nulls = ast.NullsFirst
		case p.accept("LAST"):
			item.Nulls = ast.NullsLast
		default:
			p.expected("FIRST or LAST", "after NULLS")
		}
	}
	item.Span = p.span(start)
	return item
}

// limit reads LIMIT n [OFFSET m], or OFFSET m ROWS [FETCH FIRST n ROWS ONLY].
func (p *parser) limit(q *ast.Query) {
	if p.accept("LIMIT") {
		if !p.accept("ALL") {
			q.Limit = p.count("after LIMIT")
		}
		if p.isOp(",") {
			p.failAt(p.tok.Span, "write LIMIT count OFFSET start", "LIMIT start, count is not supported")
		}
		p.offset(q)
		return
	}
	p.offset(q)
	if p.is("LIMIT") {
		p.failAt(p.tok.Span, "write LIMIT count OFFSET start", "LIMIT stands before OFFSET")
	}
	if p.accept("FETCH") {
		if !p.isAny("FIRST", "NEXT") {
			p.expected("FIRST or NEXT", "after FETCH")
		}
		p.advance()
		q.Limit = p.count("after FETCH FIRST")
		if !p.isAny("ROW", "ROWS") {
			p.expected("ROWS", "after the number of FETCH FIRST")
		}
		p.advance()
		p.expect("at the end of FETCH", "ONLY")
	}
}

func (p *parser) offset(q *ast.Query) {
	if !p.accept("OFFSET") {
		return
	}
	q.Offset = p.count("after OFFSET")
	if p.isAny("ROW", "ROWS") {
		p.advance()
	}
}

// count reads the number of LIMIT, OFFSET or FETCH, which is no expression.
func (p *parser) count(where string) ast.Expr {
	if p.tok.kind != tokNumber || numberKind(p.tok.text) != ast.Integer {
		p.expected("a whole number", where)
	}
	n := &ast.NumberLit{Span: p.tok.Span, Text: p.tok.text}
	p.advance()
	return n
}

// hints reads /*+ NAME(..), .. */.
func (p *parser) hints() []ast.Hint {
	p.expectOp("/*+", "")
	var list []ast.Hint
	for more := true; more; more = p.acceptOp(",") {
		list = append(list, p.hint())
	}
	p.expectOp("*/", "at the end of the hints")
	return list
}

func (p *parser) hint() ast.Hint {
	start := p.tok.Span
	h := ast.Hint{Name: p.ident("the name of a hint")}
	if p.acceptOp("(") {
		for more := !p.isOp(")"); more; more = p.acceptOp(",") {
			p.hintArg(&h)
		}
		p.expectOp(")", "after the arguments of the hint "+h.Name.Name)
	}
	h.Span = p.span(start)
	return h
}

// hintArg reads 'k' = 'v', k = 'v', a name, a string or a number.
func (p *parser) hintArg(h *ast.Hint) {
	t := p.tok
	switch {
	case (t.isName() || t.kind == tokString) && p.at(1).isOp("="):
		p.advance()
		p.advance()
		key := &ast.StringLit{Span: t.Span, Value: t.text}
		value := p.stringLit("as the value of an option")
		h.Options = append(h.Options, ast.Option{Span: p.span(t.Span), Key: key, Value: value})
	case t.isName():
		id := p.ident("")
		h.Args = append(h.Args, &ast.ColumnRef{Span: id.Span, Parts: []ast.Ident{id}})
	case t.kind == tokString, t.kind == tokNumber:
		h.Args = append(h.Args, p.primary())
	default:
		p.expected("a name or 'key' = 'value'", "in the hint "+h.Name.Name)
	}
}

// options reads WITH's ('k' = 'v', ..), whose opening parenthesis is next. where says what it belongs to.
func (p *parser) options(where string) []ast.Option {
	p.expectOp("(", where)
	var list []ast.Option
	stop := func(t *token) bool { return t.isOp(",") }
	for more := !p.isOp(")"); more; more = p.acceptOp(",") {
		p.guard(stop, func() { list = append(list, p.option()) })
	}
	p.expectOp(")", "after the options")
	return list
}

func (p *parser) option() ast.Option {
	start := p.tok.Span
	key := p.stringLit("as the name of an option")
	p.expectOp("=", "after the option "+ast.QuoteString(key.Value))
	value := p.stringLit("as the value of the option " + ast.QuoteString(key.Value))
	if !p.isOp(",") && !p.isOp(")") {
		p.expected(`"," or ")"`, "after an option")
	}
	return ast.Option{Span: p.span(start), Key: key, Value: value}
}
