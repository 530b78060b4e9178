package parse

import (
	"strings"

	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/sql/ast"
)

// keywordExprs are the operands that begin with a keyword. A function answers nil, having used nothing, if the keyword is an
// ordinary name here.
var keywordExprs map[string]func(*parser) ast.Expr

func init() {
	keywordExprs = map[string]func(*parser) ast.Expr{
		"TRUE":           func(p *parser) ast.Expr { return p.literal(&ast.BoolLit{Span: p.tok.Span, Value: true}) },
		"FALSE":          func(p *parser) ast.Expr { return p.literal(&ast.BoolLit{Span: p.tok.Span}) },
		"NULL":           func(p *parser) ast.Expr { return p.literal(&ast.NullLit{Span: p.tok.Span}) },
		"UNKNOWN":        func(p *parser) ast.Expr { return p.literal(&ast.NullLit{Span: p.tok.Span, Unknown: true}) },
		"DATE":           (*parser).temporal,
		"TIME":           (*parser).temporal,
		"TIMESTAMP":      (*parser).temporal,
		"INTERVAL":       (*parser).interval,
		"CASE":           (*parser).caseExpr,
		"CAST":           (*parser).cast,
		"TRY_CAST":       (*parser).cast,
		"EXISTS":         (*parser).exists,
		"UNIQUE":         (*parser).unique,
		"ARRAY":          (*parser).collection,
		"MULTISET":       (*parser).collection,
		"MAP":            (*parser).collection,
		"ROW":            (*parser).row,
		"PERIOD":         (*parser).period,
		"EXTRACT":        (*parser).extract,
		"TRIM":           (*parser).trim,
		"SUBSTRING":      (*parser).substring,
		"OVERLAY":        (*parser).overlay,
		"POSITION":       (*parser).position,
		"TIMESTAMPADD":   (*parser).timestampAdd,
		"TIMESTAMPDIFF":  (*parser).timestampAdd,
		"JSON_EXISTS":    (*parser).jsonQuery,
		"JSON_VALUE":     (*parser).jsonQuery,
		"JSON_QUERY":     (*parser).jsonQuery,
		"JSON_OBJECT":    (*parser).jsonObject,
		"JSON_OBJECTAGG": (*parser).jsonObject,
		"JSON_ARRAY":     (*parser).jsonArray,
		"JSON_ARRAYAGG":  (*parser).jsonArray,
		"RUNNING":        (*parser).matchSemantics,
	}
}

func (p *parser) literal(e ast.Expr) ast.Expr {
	p.advance()
	return e
}

// temporal reads DATE '..' and the like, or TIMESTAMP WITH LOCAL TIME ZONE '..'.
func (p *parser) temporal() ast.Expr {
	start, typ := p.tok.Span, p.tok.up
	if typ == "TIMESTAMP" && p.at(1).is("WITH") {
		p.advance()
		p.expect("in the type of a literal", "WITH", "LOCAL", "TIME", "ZONE")
		text := p.stringLit("after TIMESTAMP WITH LOCAL TIME ZONE")
		return &ast.TemporalLit{Span: p.span(start), Type: "TIMESTAMP_LTZ", Text: text}
	}
	if p.at(1).kind != tokString {
		return nil
	}
	p.advance()
	text := p.anyString()
	return &ast.TemporalLit{Span: p.span(start), Type: typ, Text: text}
}

// braced reads the escapes of JDBC: {d '..'}, {t '..'}, {ts '..'} and {fn f(..)}.
func (p *parser) braced() ast.Expr {
	start := p.tok.Span
	p.advance()
	var e ast.Expr
	switch {
	case p.is("D") || p.is("T") || p.is("TS"):
		typ := map[string]string{"D": "DATE", "T": "TIME", "TS": "TIMESTAMP"}[p.tok.up]
		p.advance()
		text := p.stringLit("in the literal")
		e = &ast.TemporalLit{Type: typ, Text: text, Span: p.span(start)}
	case p.accept("FN"):
		e = p.primary()
	default:
		p.expected("d, t, ts or fn", `after "{"`)
	}
	p.expectOp("}", "at the end")
	return e
}

var units = map[string]string{
	"YEAR": "YEAR", "YEARS": "YEAR", "QUARTER": "QUARTER", "QUARTERS": "QUARTER", "MONTH": "MONTH", "MONTHS": "MONTH", "WEEK": "WEEK",
	"WEEKS": "WEEK", "DAY": "DAY", "DAYS": "DAY", "HOUR": "HOUR", "HOURS": "HOUR", "MINUTE": "MINUTE", "MINUTES": "MINUTE",
	"SECOND": "SECOND", "SECONDS": "SECOND",
}

// unitRank orders the units that a qualifier may join by TO; years and months stay apart from the others.
var unitRank = map[string]int{"YEAR": 1, "MONTH": 2, "DAY": 11, "HOUR": 12, "MINUTE": 13, "SECOND": 14}

func isReservedUnit(up string) bool { return units[up] != "" && ast.IsReserved(up) }

// intervalQualifier reads DAY(3) TO SECOND(6) and the like.
func (p *parser) intervalQualifier() ast.IntervalQualifier {
	q := ast.IntervalQualifier{FromPrec: -1, Frac: -1}
	start := p.tok.Span
	q.From = p.intervalUnit("an interval's unit (such as DAY)", "")
	if p.acceptOp("(") {
		q.FromPrec = p.integer("as the precision")
		if q.From == "SECOND" && p.acceptOp(",") {
			q.Frac = p.integer("as the precision of fractions")
		}
		p.expectOp(")", "after the precision")
	}
	if p.is("TO") && unitRank[q.From] > 0 {
		p.advance()
		at := p.tok.Span
		q.To = p.intervalUnit("a smaller unit", "after TO")
		from, to := unitRank[q.From], unitRank[q.To]
		if to <= from || from < 10 && to > 10 {
			p.failAt(at, "units go from YEAR to MONTH, or from DAY over HOUR and MINUTE to SECOND", "an interval cannot go from %s to %s", q.From, q.To)
		}
		if q.To == "SECOND" && p.acceptOp("(") {
			q.Frac = p.integer("as the precision of fractions")
			p.expectOp(")", "after the precision")
		}
	}
	q.Span = p.span(start)
	return q
}

func (p *parser) intervalUnit(what, where string) string {
	unit := units[p.tok.up]
	if p.tok.kind != tokWord || unit == "" {
		hint := ""
		if p.tok.kind == tokWord && p.tok.up == "MILLISECOND" {
			hint = "write INTERVAL '0.001' SECOND"
		} else if p.tok.kind == tokWord {
			hint = diag.DidYouMean(p.tok.up, []string{"YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND"})
		}
		p.expectedHint(what, where, hint)
	}
	p.advance()
	return unit
}

// interval reads INTERVAL [+|-] '..' qualifier, or INTERVAL x qualifier for a number, a name or (..).
func (p *parser) interval() ast.Expr {
	start := p.tok.Span
	p.advance()
	signAt, negative := p.tok.Span, p.isOp("-")
	if negative || p.isOp("+") {
		p.advance()
	}
	if p.tok.kind == tokString {
		text := p.anyString()
		q := p.intervalQualifier()
		return &ast.IntervalLit{Span: p.span(start), Negative: negative, Text: text, Qualifier: q}
	}
	var x ast.Expr
	switch {
	case p.isOp("("):
		p.advance()
		x = p.expr()
		p.expectOp(")", "after the expression")
	case p.tok.kind == tokNumber:
		x = p.primary()
	case p.tok.isName():
		x = p.columnName()
	default:
		p.expected("a string or a number", "after INTERVAL")
	}
	if negative {
		x = &ast.Unary{Span: p.span(signAt), Op: "-", X: x}
	}
	q := p.intervalQualifier()
	return &ast.IntervalExpr{Span: p.span(start), X: x, Qualifier: q}
}

// columnName reads a name with its dots, but no call.
func (p *parser) columnName() *ast.ColumnRef {
	start := p.tok.Span
	parts := []ast.Ident{p.ident("a column")}
	for p.acceptOp(".") {
		parts = append(parts, p.ident("a name after the dot"))
	}
	return &ast.ColumnRef{Span: p.span(start), Parts: parts}
}

func (p *parser) caseExpr() ast.Expr {
	start := p.tok.Span
	p.advance()
	c := &ast.Case{}
	if !p.is("WHEN") {
		if p.isAny("END", "ELSE") {
			p.expected("WHEN", "after CASE")
		}
		c.Operand = p.expr()
	}
	if !p.is("WHEN") {
		p.expected("WHEN", "in CASE")
	}
	for p.is("WHEN") {
		at := p.tok.Span
		p.advance()
		conds := []ast.Expr{p.expr()}
		for c.Operand != nil && p.acceptOp(",") {
			conds = append(conds, p.expr())
		}
		p.expect("after the condition of WHEN", "THEN")
		result := p.expr()
		for _, cond := range conds {
			c.Whens = append(c.Whens, ast.When{Span: p.span(at), Cond: cond, Result: result})
		}
	}
	if p.accept("ELSE") {
		c.Else = p.expr()
	}
	p.expect("at the end of CASE", "END")
	c.Span = p.span(start)
	return c
}

func (p *parser) cast() ast.Expr {
	start := p.tok.Span
	c := &ast.Cast{Try: p.is("TRY_CAST")}
	p.advance()
	p.expectOp("(", "after "+strings.ToUpper(start.Text(p.src)))
	c.X = p.expr()
	p.expect("after the value to cast", "AS")
	c.Type = p.castType()
	if p.isAny("NOT", "NULL") {
		p.failAt(p.tok.Span, "leave it out: the value decides", "the type of a CAST says nothing about NULL")
	}
	p.expectOp(")", "after the type")
	c.Span = p.span(start)
	return c
}

func (p *parser) exists() ast.Expr {
	start := p.tok.Span
	p.advance()
	if !p.queryInParens() {
		p.expected("a query in parentheses", "after EXISTS")
	}
	q := p.parenQuery()
	return &ast.Exists{Span: p.span(start), Query: q}
}

func (p *parser) unique() ast.Expr {
	p.failAt(p.tok.Span, "count the rows of each group instead", "UNIQUE (query) is not supported")
	return nil
}

// collection reads ARRAY[..], MULTISET[..] and MAP[..], and the same with a query.
func (p *parser) collection() ast.Expr {
	start, kind := p.tok.Span, p.tok.up
	if p.at(1).isOp("(") {
		p.advance()
		if p.queryInParens() {
			q := p.parenQuery()
			return &ast.Subquery{Span: p.span(start), Kind: kind, Query: q}
		}
		p.failAt(p.tok.Span, "write "+kind+"[..]", "%s takes its elements in square brackets", kind)
	}
	if !p.at(1).isOp("[") {
		if kind == "MAP" {
			return nil
		}
		p.advance()
		p.expected(`"["`, "after "+kind)
	}
	p.advance()
	p.advance()
	var elems []ast.Expr
	if !p.isOp("]") {
		elems = p.exprs()
	}
	p.expectOp("]", "after the elements of "+kind)
	switch kind {
	case "ARRAY":
		return &ast.ArrayExpr{Span: p.span(start), Elems: elems}
	case "MULTISET":
		return &ast.MultisetExpr{Span: p.span(start), Elems: elems}
	}
	if len(elems)%2 != 0 {
		p.failAt(start, "write MAP[key, value, ..]", "a MAP takes keys and values in turn, and here the last key has no value")
	}
	return &ast.MapExpr{Span: p.span(start), Elems: elems}
}

func (p *parser) row() ast.Expr {
	start := p.tok.Span
	p.advance()
	p.expectOp("(", "after ROW")
	elems := p.exprs()
	p.expectOp(")", "after the fields of ROW")
	return &ast.RowExpr{Span: p.span(start), Elems: elems}
}

// period reads PERIOD(a, b), which is the row (a, b) for the operators on periods.
func (p *parser) period() ast.Expr {
	start := p.tok.Span
	p.advance()
	p.expectOp("(", "after PERIOD")
	elems := []ast.Expr{p.expr()}
	p.expectOp(",", "after the start of PERIOD")
	elems = append(elems, p.expr())
	p.expectOp(")", "after the end of PERIOD")
	return &ast.RowExpr{Span: p.span(start), Elems: elems, Implicit: true}
}
