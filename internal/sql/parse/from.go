package parse

import (
	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/sql/ast"
)

// from reads the items of a FROM clause.
func (p *parser) from() ast.TableRef {
	start := p.tok.Span
	left := p.joined()
	for n := 0; p.acceptOp(","); n++ {
		p.checkChain(n)
		right := p.joined()
		left = &ast.Join{Span: p.span(start), Kind: ast.CommaJoin, L: left, R: right}
	}
	p.itemEnd("an item of FROM")
	return left
}

// joined reads tables joined by JOIN.
func (p *parser) joined() ast.TableRef {
	p.enter()
	defer p.leave()
	start := p.tok.Span
	left := p.table()
	for n := 0; ; n++ {
		p.checkChain(n)
		j := p.join(start, left)
		if j == nil {
			return left
		}
		left = j
	}
}

// join reads one join behind left, or answers nil.
func (p *parser) join(start diag.Span, left ast.TableRef) ast.TableRef {
	j := &ast.Join{L: left}
	at := p.tok.Span
	j.Natural = p.accept("NATURAL")
	switch {
	case p.accept("CROSS"):
		j.Kind = ast.CrossJoin
		if p.is("APPLY") {
			p.failAt(p.tok.Span, "write CROSS JOIN LATERAL or CROSS JOIN UNNEST", "CROSS APPLY is not supported")
		}
	case p.accept("INNER"):
	case p.isAny("LEFT", "RIGHT", "FULL"):
		j.Kind = map[string]ast.JoinKind{"LEFT": ast.LeftJoin, "RIGHT": ast.RightJoin, "FULL": ast.FullJoin}[p.tok.up]
		p.advance()
		if p.isAny("SEMI", "ANTI") {
			p.failAt(p.tok.Span, "write WHERE [NOT] EXISTS (SELECT ..)", "%s JOIN is not supported", p.tok.up)
		}
		p.accept("OUTER")
	case p.is("JOIN"):
	default:
		if j.Natural {
			p.expected("JOIN", "after NATURAL")
		}
		return nil
	}
	p.expect("after "+p.prev.up, "JOIN")
	j.R = p.table()
	switch {
	case j.Natural || j.Kind == ast.CrossJoin:
		if p.isAny("ON", "USING") && !p.at(1).is("CONFLICT") {
			p.failAt(p.tok.Span, "", "a natural or cross join takes no condition")
		}
	case p.accept("ON"):
		j.On = p.expr()
	case p.accept("USING"):
		j.Using = p.idents("a column name", "after USING")
	default:
		p.checkInvalid()
		p.failAt(at, "write ON condition or USING (columns), or CROSS JOIN", "the join has no condition")
	}
	j.Span = p.span(start)
	return j
}

// table reads one item of FROM with its alias.
func (p *parser) table() ast.TableRef {
	start := p.tok.Span
	t := p.tablePrimary()
	t = p.alias(start, t)
	if p.is("MATCH_RECOGNIZE") {
		t = p.alias(start, p.matchRecognize(start, t))
	}
	if p.is("TABLESAMPLE") {
		p.failAt(p.tok.Span, "filter by MOD of a hash of a key instead", "TABLESAMPLE is not supported")
	}
	if p.is("FOR") && p.at(1).is("SYSTEM_TIME") {
		p.failAt(p.tok.Span, "write t FOR SYSTEM_TIME AS OF x AS alias", "FOR SYSTEM_TIME stands before the alias")
	}
	if p.isOp("/*+") {
		p.failAt(p.tok.Span, "write it directly after the table's name, or after SELECT", "a hint cannot stand here")
	}
	return t
}

// alias reads [AS] name [(columns)] behind the table.
func (p *parser) alias(start diag.Span, t ast.TableRef) ast.TableRef {
	if !p.accept("AS") && !p.tok.isName() {
		if p.tok.kind == tokWord && ast.IsReserved(p.tok.up) && p.meantAsName() && !p.isAny("TABLESAMPLE", "MINUS") {
			p.notAName("another name for the table, or the next clause")
		}
		return t
	}
	a := &ast.AliasedTable{Table: t, Alias: p.ident("another name for the table")}
	if p.isOp("(") {
		a.Columns = p.idents("a column name", "")
	}
	a.Span = p.span(start)
	return a
}

func (p *parser) tablePrimary() ast.TableRef {
	start := p.tok.Span
	lateral := p.accept("LATERAL")
	switch {
	case p.queryInParens():
		q := p.parenQuery()
		return &ast.SubqueryTable{Span: p.span(start), Lateral: lateral, Query: q}
	case p.is("UNNEST"):
		return p.unnest(start, lateral)
	case p.is("TABLE") && p.at(1).isOp("("):
		p.advance()
		p.advance()
		at := p.tok.Span
		name := p.name("the name of a table function")
		if !p.isOp("(") {
			p.expected(`"("`, "after the name of a table function")
		}
		call := p.call(at, name)
		p.expectOp(")", "after TABLE(..")
		return &ast.TableFunc{Span: p.span(start), Lateral: lateral, Call: call}
	case lateral:
		p.expected("(SELECT ..), TABLE(..) or UNNEST(..)", "after LATERAL")
	case p.isOp("("):
		return p.joinInParens()
	case p.isAny("SELECT", "VALUES", "WITH", "TABLE"):
		hint := "put the query in parentheses"
		if p.is("TABLE") {
			hint = "leave TABLE out"
		}
		p.expectedHint("a table", "in FROM", hint)
	}
	return p.namedTable(start)
}

// joinInParens reads (a JOIN b ..).
func (p *parser) joinInParens() ast.TableRef {
	at := p.tok.Span
	p.advance()
	t := p.joined()
	if p.isOp(",") {
		p.failAt(p.tok.Span, "write CROSS JOIN", "tables in parentheses are not joined by commas")
	}
	p.expectOp(")", "after the tables in parentheses")
	if _, ok := t.(*ast.Join); !ok {
		p.failAt(at, "leave them out", "parentheses in FROM hold a query or a join")
	}
	return t
}

func (p *parser) unnest(start diag.Span, lateral bool) ast.TableRef {
	p.advance()
	p.expectOp("(", "after UNNEST")
	u := &ast.Unnest{Lateral: lateral, Exprs: p.exprs()}
	p.expectOp(")", "after the arguments of UNNEST")
	if p.accept("WITH") {
		p.expect("after UNNEST(..) WITH", "ORDINALITY")
		u.Ordinality = true
	}
	u.Span = p.span(start)
	return u
}

// namedTable reads the name of a table with hints and FOR SYSTEM_TIME AS OF, or a call of a table function.
func (p *parser) namedTable(start diag.Span) ast.TableRef {
	name := p.name("the name of a table")
	if p.isOp("(") {
		call := p.call(start, name)
		return &ast.TableFunc{Span: p.span(start), Bare: true, Call: call}
	}
	t := &ast.TableName{Name: name}
	if p.isOp("/*+") {
		t.Hints = p.hints()
	}
	if p.isSeq("FOR", "SYSTEM_TIME") {
		p.advance()
		p.advance()
		p.expect("after FOR SYSTEM_TIME", "AS", "OF")
		t.AsOf = p.expr()
	}
	t.Span = p.span(start)
	return t
}
