package parse

import (
	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/sql/ast"
)

// startsMatchClause reports whether the token begins a clause of MATCH_RECOGNIZE.
func startsMatchClause(t *token) bool {
	switch t.up {
	case "MEASURES", "PATTERN", "SUBSET", "DEFINE":
		return t.kind == tokWord
	}
	return false
}

// matchRecognize reads MATCH_RECOGNIZE (..) behind the table.
func (p *parser) matchRecognize(start diag.Span, t ast.TableRef) ast.TableRef {
	p.advance()
	p.expectOp("(", "after MATCH_RECOGNIZE")
	m := &ast.MatchRecognize{Table: t}
	p.guard(startsMatchClause, func() { p.matchOrder(m) })
	if p.is("MEASURES") {
		p.guard(startsMatchClause, func() { p.measures(m) })
	}
	p.guard(startsMatchClause, func() { p.matchOutput(m) })
	p.guard(startsMatchClause, func() { p.matchPattern(m) })
	if p.is("SUBSET") {
		p.guard(startsMatchClause, func() { p.subsets(m) })
	}
	p.guard(nil, func() { p.define(m) })
	p.expectOp(")", "at the end of MATCH_RECOGNIZE")
	m.Span = p.span(start)
	return m
}

func (p *parser) matchOrder(m *ast.MatchRecognize) {
	if p.accept("PARTITION") {
		p.expect("after PARTITION", "BY")
		m.PartitionBy = p.exprs()
	}
	if p.is("ORDER") {
		m.OrderBy = p.orderBy()
	}
}

func (p *parser) measures(m *ast.MatchRecognize) {
	p.advance()
	for more := true; more; more = p.acceptOp(",") {
		start := p.tok.Span
		e := p.expr()
		p.expect("after the expression of a measure", "AS")
		alias := p.ident("a name for the measure")
		m.Measures = append(m.Measures, ast.SelectItem{Span: p.span(start), Expr: e, Alias: &alias})
	}
}

// matchOutput reads ONE ROW PER MATCH or ALL ROWS PER MATCH, and AFTER MATCH SKIP ..
func (p *parser) matchOutput(m *ast.MatchRecognize) {
	switch {
	case p.accept("ONE"):
		p.expect("in ONE ROW PER MATCH", "ROW", "PER", "MATCH")
	case p.accept("ALL"):
		p.expect("in ALL ROWS PER MATCH", "ROWS", "PER", "MATCH")
		m.AllRows = true
	}
	if !p.is("AFTER") {
		return
	}
	start := p.tok.Span
	p.expect("in AFTER MATCH SKIP", "AFTER", "MATCH", "SKIP")
	a := &ast.AfterMatch{}
	switch {
	case p.accept("PAST"):
		p.expect("in SKIP PAST LAST ROW", "LAST", "ROW")
		a.Kind = ast.SkipPastLastRow
	case p.accept("TO"):
		switch {
		case p.accept("NEXT", "ROW"):
			a.Kind = ast.SkipToNextRow
		case p.is("FIRST") && p.at(1).isName():
			p.advance()
			a.Kind, a.Var = ast.SkipToFirst, p.ident("a variable of the pattern")
		case p.is("LAST") && p.at(1).isName():
			p.advance()
			a.Kind, a.Var = ast.SkipToLast, p.ident("a variable of the pattern")
		default:
			a.Kind, a.Var = ast.SkipToVariable, p.ident("NEXT ROW, FIRST, LAST or a variable of the pattern")
		}
	default:
		p.expected("TO or PAST LAST ROW", "after AFTER MATCH SKIP")
	}
	a.Span = p.span(start)
	m.After = a
}

func (p *parser) matchPattern(m *ast.MatchRecognize) {
	p.expect("in MATCH_RECOGNIZE", "PATTERN")
	p.expectOp("(", "after PATTERN")
	m.AnchorStart = p.acceptOp("^")
	m.Pattern = p.pattern()
	// A lone $ is read as the first character of a name.
	if p.is("$") {
		p.advance()
		m.AnchorEnd = true
	}
	p.expectOp(")", "after the pattern")
	if p.accept("WITHIN") {
		m.Within = p.expr()
	}
}

// pattern reads alternatives joined by |.
func (p *parser) pattern() ast.Pattern {
	p.enter()
	defer p.leave()
	start := p.tok.Span
	parts := []ast.Pattern{p.patternSeq()}
	for p.acceptOp("|") {
		parts = append(parts, p.patternSeq())
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return &ast.PatternAlt{Span: p.span(start), Parts: parts}
}

func (p *parser) patternSeq() ast.Pattern {
	start := p.tok.Span
	parts := []ast.Pattern{p.patternFactor()}
	for p.isOp("(") || p.isOp("{-") || p.is("PERMUTE") || p.tok.isName() && !p.is("$") {
		parts = append(parts, p.patternFactor())
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return &ast.PatternSeq{Span: p.span(start), Parts: parts}
}

// patternFactor reads one element of a pattern with its quantifier.
func (p *parser) patternFactor() ast.Pattern {
	start := p.tok.Span
	var x ast.Pattern
	switch {
	case p.acceptOp("("):
		x = p.pattern()
		p.expectOp(")", "in the pattern")
	case p.acceptOp("{-"):
		inner := p.pattern()
		p.expectOp("-}", "in the pattern")
		x = &ast.PatternExclude{Span: p.span(start), X: inner}
	case p.is("PERMUTE") && p.at(1).isOp("("):
		p.advance()
		p.advance()
		perm := &ast.PatternPermute{}
		for more := true; more; more = p.acceptOp(",") {
			perm.Parts = append(perm.Parts, p.pattern())
		}
		p.expectOp(")", "after PERMUTE(..")
		perm.Span = p.span(start)
		x = perm
	default:
		name := p.ident("a variable of the pattern")
		x = &ast.PatternVar{Span: name.Span, Name: name}
	}
	r := &ast.PatternRepeat{X: x, Max: -1}
	switch {
	case p.acceptOp("*"):
	case p.acceptOp("+"):
		r.Min = 1
	case p.acceptOp("?"):
		r.Max = 1
	case p.acceptOp("{"):
		p.patternRange(r)
	default:
		return x
	}
	r.Reluctant = p.acceptOp("?")
	r.Span = p.span(start)
	return r
}

// patternRange reads n}, n,}, n,m} or ,m}.
func (p *parser) patternRange(r *ast.PatternRepeat) {
	at := p.tok.Span
	if p.tok.kind == tokNumber {
		r.Min = p.integer("in a quantifier")
		r.Max = r.Min
	} else if !p.isOp(",") {
		p.expected("a number", `after "{"`)
	}
	if p.acceptOp(",") {
		r.Max = -1
		if p.tok.kind == tokNumber {
			r.Max = p.integer("in a quantifier")
		}
	}
	p.expectOp("}", "at the end of a quantifier")
	if r.Max >= 0 && r.Max < r.Min {
		p.failAt(at, "", "the quantifier asks for at least %d and at most %d rows", r.Min, r.Max)
	}
}

func (p *parser) subsets(m *ast.MatchRecognize) {
	p.advance()
	for more := true; more; more = p.acceptOp(",") {
		start := p.tok.Span
		s := ast.Subset{Name: p.ident("a name for the subset")}
		p.expectOp("=", "after the name of a subset")
		s.Vars = p.idents("a variable of the pattern", `after "="`)
		s.Span = p.span(start)
		m.Subsets = append(m.Subsets, s)
	}
}

func (p *parser) define(m *ast.MatchRecognize) {
	p.expect("in MATCH_RECOGNIZE", "DEFINE")
	for more := true; more; more = p.acceptOp(",") {
		start := p.tok.Span
		d := ast.Definition{Var: p.ident("a variable of the pattern")}
		p.expect("after a variable in DEFINE", "AS")
		d.Cond = p.expr()
		d.Span = p.span(start)
		m.Define = append(m.Define, d)
	}
}
