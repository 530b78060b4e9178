package parse

import (
	"strings"

	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/sql/ast"
)

// Binding powers of the operators, from the loosest to the tightest. They are Calcite's.
const (
	precOr      = 1
	precAnd     = 2
	precNot     = 3
	precIs      = 4
	precCompare = 5
	precLike    = 6 // LIKE, IN, BETWEEN
	precAdd     = 7
	precMul     = 8 // also ||
	precUnary   = 9
)

var binaryOps = map[string]int{
	"=": precCompare, "<>": precCompare, "<": precCompare, "<=": precCompare, ">": precCompare, ">=": precCompare,
	"+": precAdd, "-": precAdd, "*": precMul, "/": precMul, "%": precMul, "||": precMul,
}

var binaryWords = map[string]int{
	"OR": precOr, "AND": precAnd, "OVERLAPS": precCompare, "CONTAINS": precCompare, "EQUALS": precCompare,
	"PRECEDES": precCompare, "SUCCEEDS": precCompare,
}

// strangeOps are operators of other dialects, with what to write instead.
var strangeOps = map[string]string{
	"!=": "write <>",
	"^":  "write POWER(a, b)",
	"|":  "strings are joined by ||",
}

func (p *parser) expr() ast.Expr { return p.exprAbove(precOr) }

// exprAbove reads an expression whose outermost operator binds at least as tightly as prec.
func (p *parser) exprAbove(prec int) ast.Expr {
	p.enter()
	defer p.leave()
	start := p.tok.Span
	left := p.prefix()
	for n := 0; ; n++ {
		p.checkChain(n)
		next := p.infix(start, left, prec)
		if next == nil {
			return left
		}
		left = next
	}
}

// prefix reads an operand with the prefix operators before it.
func (p *parser) prefix() ast.Expr {
	start := p.tok.Span
	switch {
	case p.is("NOT"):
		p.advance()
		x := p.exprAbove(precNot)
		return &ast.Unary{Span: p.span(start), Op: "NOT", X: x}
	case p.isOp("-"), p.isOp("+"):
		op := p.tok.text
		p.advance()
		x := p.exprAbove(precUnary)
		return &ast.Unary{Span: p.span(start), Op: op, X: x}
	}
	return p.postfix(start, p.primary())
}

// postfix reads the [..] and .name behind an operand.
func (p *parser) postfix(start diag.Span, x ast.Expr) ast.Expr {
	for n := 0; ; n++ {
		p.checkChain(n)
		switch {
		case p.isOp("["):
			p.advance()
			i := p.expr()
			p.expectOp("]", "after the index")
			x = &ast.Index{Span: p.span(start), X: x, Index: i}
		case p.isOp(".") && p.at(1).isOp("*"):
			p.advance()
			p.failAt(p.tok.Span, "list the fields one by one", ".* is for tables, not for values")
		case p.isOp("."):
			p.advance()
			name := p.ident("the name of a field after the dot")
			x = &ast.FieldAccess{Span: p.span(start), X: x, Name: name}
		default:
			return x
		}
	}
}

// infix reads one operator behind left, and its right side, if it binds at least as tightly as prec; otherwise nil.
func (p *parser) infix(start diag.Span, left ast.Expr, prec int) ast.Expr {
	switch p.tok.kind {
	case tokOp:
		if hint, ok := strangeOps[p.tok.text]; ok {
			p.failAt(p.tok.Span, hint, "%s is not an operator", p.found())
		}
		if p.isOp(":") && p.at(1).isOp(":") {
			p.failAt(p.tok.Span, "write CAST(x AS type)", `"::" is not an operator`)
		}
		if power, ok := binaryOps[p.tok.text]; ok && power >= prec {
			return p.binary(start, left, power, p.tok.text)
		}
	case tokWord:
		switch p.tok.up {
		case "IS":
			return p.isTest(start, left, prec)
		case "NOT", "BETWEEN", "IN", "LIKE", "ILIKE", "RLIKE", "SIMILAR":
			return p.likeOrIn(start, left, prec)
		case "IMMEDIATELY":
			if prec <= precCompare && (p.at(1).is("PRECEDES") || p.at(1).is("SUCCEEDS")) {
				p.advance()
				return p.binary(start, left, precCompare, "IMMEDIATELY "+p.tok.up)
			}
			return nil
		}
		if power, ok := binaryWords[p.tok.up]; ok && power >= prec {
			return p.binary(start, left, power, p.tok.up)
		}
	case tokInvalid:
		p.checkInvalid()
	}
	return nil
}

// binary reads the operator and its right side, or ANY, SOME or ALL with a list or query.
func (p *parser) binary(start diag.Span, left ast.Expr, power int, op string) ast.Expr {
	opPos := p.tok.Start
	p.advance()
	if power == precCompare && p.isAny("ANY", "SOME", "ALL") && p.at(1).isOp("(") {
		q := &ast.Quantified{X: left, Op: op, Quantifier: "ANY"}
		if p.is("ALL") {
			q.Quantifier = "ALL"
		}
		p.advance()
		q.List, q.Query = p.listOrQuery()
		q.Span = p.span(start)
		return q
	}
	right := p.exprAbove(power + 1)
	return &ast.Binary{Span: p.span(start), Op: op, OpPos: opPos, L: left, R: right}
}

// listOrQuery reads (a, b, ..) or (query).
func (p *parser) listOrQuery() ([]ast.Expr, *ast.Query) {
	if p.queryInParens() {
		return nil, p.parenQuery()
	}
	p.expectOp("(", "")
	list := p.exprs()
	p.expectOp(")", "after the list")
	return list, nil
}

func (p *parser) exprs() []ast.Expr {
	list := []ast.Expr{p.expr()}
	for p.acceptOp(",") {
		list = append(list, p.expr())
	}
	return list
}

func (p *parser) isTest(start diag.Span, left ast.Expr, prec int) ast.Expr {
	not := p.at(1).is("NOT")
	skip := 1
	if not {
		skip = 2
	}
	if p.at(skip).is("DISTINCT") {
		if prec > precCompare {
			return nil
		}
		for range skip + 1 {
			p.advance()
		}
		p.expect("after IS DISTINCT", "FROM")
		right := p.exprAbove(precCompare + 1)
		return &ast.IsDistinct{Span: p.span(start), L: left, R: right, Not: not}
	}
	if prec > precIs {
		return nil
	}
	for range skip {
		p.advance()
	}
	what := p.tok.up
	switch {
	case p.isAny("NULL", "TRUE", "FALSE", "UNKNOWN"):
		p.advance()
	case p.accept("JSON"):
		if p.isAny("VALUE", "OBJECT", "ARRAY", "SCALAR") {
			what = "JSON " + p.tok.up
			p.advance()
		}
	default:
		p.expected("NULL, TRUE, FALSE, UNKNOWN, DISTINCT FROM or JSON", "after IS")
	}
	return &ast.IsTest{Span: p.span(start), X: left, Not: not, What: what}
}

// likeOrIn reads [NOT] BETWEEN, IN, LIKE and the like.
func (p *parser) likeOrIn(start diag.Span, left ast.Expr, prec int) ast.Expr {
	if prec > precLike {
		return nil
	}
	not := p.accept("NOT")
	switch {
	case p.accept("BETWEEN"):
		b := &ast.Between{X: left, Not: not, Symmetric: p.accept("SYMMETRIC")}
		if !b.Symmetric {
			p.accept("ASYMMETRIC")
		}
		b.Lo = p.exprAbove(precLike + 1)
		p.expect("after the lower bound of BETWEEN", "AND")
		b.Hi = p.exprAbove(precLike + 1)
		b.Span = p.span(start)
		return b
	case p.accept("IN"):
		in := &ast.In{X: left, Not: not}
		in.List, in.Query = p.listOrQuery()
		in.Span = p.span(start)
		return in
	case p.isAny("LIKE", "ILIKE", "RLIKE", "SIMILAR"):
		l := &ast.Like{X: left, Not: not, Op: p.tok.up}
		p.advance()
		if l.Op == "SIMILAR" {
			p.expect("after SIMILAR", "TO")
			l.Op = "SIMILAR TO"
		}
		l.Pattern = p.exprAbove(precLike + 1)
		if p.accept("ESCAPE") {
			l.Escape = p.exprAbove(precLike + 1)
		}
		l.Span = p.span(start)
		return l
	}
	p.expected("BETWEEN, IN, LIKE or SIMILAR TO", "after NOT")
	return nil
}

// queryInParens reports whether the current token is a ( that encloses a query.
func (p *parser) queryInParens() bool {
	first := p.i
	if !p.tok.isOp("(") {
		return false
	}
	run := first
	for p.toks[run].isOp("(") {
		run++
	}
	if !startsQuery(&p.toks[run]) {
		return false
	}
	// The innermost ( encloses a query; so does each one around it whose content goes on as a query does.
	for i := run - 1; i > first; i-- {
		mate := p.toks[i].mate
		if mate == 0 {
			return true
		}
		after := &p.toks[mate+1]
		if !after.isOp(")") && !continuesQuery(after) {
			return false
		}
	}
	return true
}

func startsQuery(t *token) bool {
	return t.is("SELECT") || t.is("WITH") || t.is("VALUES") || t.is("TABLE")
}

func continuesQuery(t *token) bool {
	switch t.up {
	case "UNION", "INTERSECT", "EXCEPT", "MINUS", "ORDER", "LIMIT", "OFFSET", "FETCH":
		return t.kind == tokWord
	}
	return false
}

// parenQuery reads (query).
func (p *parser) parenQuery() *ast.Query {
	p.expectOp("(", "before a subquery")
	var q *ast.Query
	p.guard(func(*token) bool { return false }, func() { q = p.query() })
	p.expectOp(")", "after the subquery")
	return q
}

// paren reads what begins with a bracket: a subquery, an expression, or a row.
func (p *parser) paren() ast.Expr {
	start := p.tok.Span
	if p.queryInParens() {
		q := p.parenQuery()
		return &ast.Subquery{Span: p.span(start), Query: q}
	}
	p.advance()
	list := p.exprs()
	p.expectOp(")", "after the expression")
	if len(list) > 1 {
		return &ast.RowExpr{Span: p.span(start), Elems: list, Implicit: true}
	}
	if isReservedUnit(p.tok.up) && p.tok.kind == tokWord {
		b, ok := list[0].(*ast.Binary)
		if !ok || b.Op != "-" {
			p.failAt(p.tok.Span, "", "only the difference of two times takes an interval's unit: (a - b) DAY")
		}
		q := p.intervalQualifier()
		return &ast.IntervalMinus{Span: p.span(start), L: b.L, R: b.R, Qualifier: q}
	}
	return list[0]
}

// primary reads an operand without prefix and postfix operators.
func (p *parser) primary() ast.Expr {
	t := p.tok
	switch t.kind {
	case tokNumber:
		p.advance()
		return &ast.NumberLit{Span: t.Span, Text: t.text, Kind: numberKind(t.text)}
	case tokString:
		return p.anyString()
	case tokBinary:
		p.advance()
		for p.tok.kind == tokString && p.tok.Start.Line > p.prev.End.Line {
			p.failAt(p.tok.Span, "write the digits in one string", "a binary string does not go on in the next line")
		}
		return &ast.BinaryLit{Span: t.Span, Hex: t.text}
	case tokQuoted:
		return p.nameOrCall()
	case tokWord:
		if f := keywordExprs[t.up]; f != nil {
			if e := f(p); e != nil {
				return e
			}
		}
		return p.nameOrCall()
	case tokOp:
		switch t.text {
		case "(":
			return p.paren()
		case "{":
			return p.braced()
		case "?":
			p.failAt(t.Span, "", "parameters (?) are not supported")
		}
	}
	p.expected("an expression", "")
	return nil
}

func numberKind(text string) ast.NumberKind {
	kind := ast.Integer
	for i := range len(text) {
		switch text[i] {
		case '.':
			kind = ast.Decimal
		case 'e', 'E':
			return ast.Approximate
		}
	}
	return kind
}

// niladic are reserved words that are functions without parentheses.
var niladic = wordSet(`
	CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP LOCALTIME LOCALTIMESTAMP CURRENT_CATALOG CURRENT_DEFAULT_TRANSFORM_GROUP
	CURRENT_PATH CURRENT_ROLE CURRENT_SCHEMA CURRENT_USER SESSION_USER SYSTEM_USER USER`)

// reservedFunctions are reserved words that may be called.
var reservedFunctions = wordSet(`
	ABS AVG CARDINALITY CEIL CEILING CHAR CHARACTER_LENGTH CHAR_LENGTH CLASSIFIER COALESCE COLLECT COUNT
	COVAR_POP COVAR_SAMP CUME_DIST CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP DATE DATETIME DATE_TRUNC
	DENSE_RANK ELEMENT EVERY EXP FIRST_VALUE FLOOR FUSION GROUPING HOUR INTERSECTION LAG LAST_VALUE LEAD LEFT LN
	LOCALTIME LOCALTIMESTAMP LOWER MATCH_NUMBER MAX MIN MINUTE MOD MONTH NEXT NTH_VALUE NTILE NULLIF
	OCTET_LENGTH PERCENTILE_CONT PERCENTILE_DISC PERCENT_RANK POWER PREV RANK REGR_COUNT REGR_SXX REGR_SYY RIGHT
	ROW_NUMBER SECOND SOME SQRT STDDEV_POP STDDEV_SAMP SUM TIME TIMESTAMP TIMESTAMP_DIFF TIMESTAMP_TRUNC
	TRANSLATE TRUNCATE UPPER USER VAR_POP VAR_SAMP YEAR`)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// nameOrCall reads a name, which may be that of a function and be called.
func (p *parser) nameOrCall() ast.Expr {
	start := p.tok
	if start.kind == tokWord && ast.IsReserved(start.up) {
		called := p.at(1).isOp("(")
		switch {
		case called && reservedFunctions[start.up]:
			p.advance()
			return p.call(start.Span, ast.Name{Span: start.Span, Parts: []ast.Ident{{Span: start.Span, Name: start.text}}})
		case niladic[start.up]:
			p.advance()
			name := ast.Name{Span: start.Span, Parts: []ast.Ident{{Span: start.Span, Name: start.text}}}
			return &ast.Call{Span: start.Span, Name: name, Bare: true}
		case called && p.meantAsName():
			p.failAt(start.Span, "", "%s is a reserved word, and no function", p.found())
		}
		p.notAName("an expression")
	}
	if start.kind == tokWord && start.up == "FINAL" && isCallAhead(p.at(1), p.at(2)) {
		return p.matchSemantics()
	}
	parts := []ast.Ident{p.ident("a column")}
	for n := 0; p.isOp(".") && !p.at(1).isOp("*"); n++ {
		p.checkChain(n)
		p.advance()
		parts = append(parts, p.ident("a name after the dot"))
	}
	if p.isOp("(") {
		return p.call(start.Span, ast.Name{Span: p.span(start.Span), Parts: parts})
	}
	return &ast.ColumnRef{Span: p.span(start.Span), Parts: parts}
}

func isCallAhead(name, paren *token) bool {
	return (name.kind == tokWord || name.kind == tokQuoted) && paren.isOp("(")
}

// matchSemantics reads RUNNING f(..) or FINAL f(..) of a MATCH_RECOGNIZE.
func (p *parser) matchSemantics() ast.Expr {
	start := p.tok
	p.advance()
	x := p.nameOrCall()
	c, ok := x.(*ast.Call)
	if !ok || c.Semantics != "" {
		p.failAt(start.Span, "", "%s stands before a call of a function only", start.up)
	}
	c.Semantics = start.up
	c.Span = p.span(start.Span)
	return c
}
