// Package parse turns SQL text into the tree of package ast: a hand-written lexer, and a parser by recursive descent with
// operator precedences for expressions.
//
// The parser reports several errors in one run. Each place that can go on after an error (a clause of a query, a column of a
// CREATE TABLE, a statement) is run by guard, which catches the failure of what is inside, skips to the next place that is
// sure, and lets the parser go on from there. A tree that comes with errors may lack parts and must not be bound.
package parse

import (
	"fmt"
	"strings"

	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/sql/ast"
)

// Limits on what is parsed, so that hostile input cannot exhaust the stack of this package or of those that walk the tree.
const (
	maxDepth = 200
	maxChain = 10000
)

// bailout is the panic that carries a failure up to the nearest guard; the error is already reported.
type bailout struct{}

type parser struct {
	src   string
	toks  []token // of the current statement
	i     int     // index of the current token
	tok   token
	prev  token // the token before it
	errs  diag.List
	depth int
	// open counts the brackets that are open at the current token.
	open int
	// lastErr is the offset of the token at which the last error was reported; a second one there would only repeat it.
	lastErr int
	// what is the name of the whole text, for "found the end of ..".
	what string
}

func newParser(src, what string) *parser {
	p := &parser{src: src, what: what, lastErr: -1}
	p.toks = lexFrom(nil, src, 0, diag.Pos{Line: 1, Col: 1})
	p.tok = p.toks[0]
	return p
}

// Script parses a whole script: statements that end in semicolons; the last one may lack it.
func Script(src string) ([]ast.Statement, diag.List) {
	p := newParser(src, "the script")
	var stmts []ast.Statement
	for {
		for p.isOp(";") {
			p.advance()
		}
		if p.tok.kind == tokEOF {
			break
		}
		if s := p.scriptStatement(); s != nil {
			stmts = append(stmts, s)
		}
	}
	return stmts, p.done()
}

// Statement parses exactly one statement; a semicolon behind it is allowed.
func Statement(src string) (ast.Statement, diag.List) {
	p := newParser(src, "the statement")
	var s ast.Statement
	p.guard(nil, func() {
		s = p.statement()
		if p.isOp(";") {
			p.advance()
		}
		p.end("the statement")
	})
	return s, p.done()
}

// Query parses exactly one query, such as the text of a view; a semicolon behind it is allowed.
func Query(src string) (*ast.Query, diag.List) {
	p := newParser(src, "the query")
	var q *ast.Query
	p.guard(nil, func() {
		q = p.query()
		if p.isOp(";") {
			p.advance()
		}
		p.end("the query")
	})
	return q, p.done()
}

// Expr parses exactly one expression.
func Expr(src string) (ast.Expr, diag.List) {
	p := newParser(src, "the expression")
	var e ast.Expr
	p.guard(nil, func() {
		e = p.expr()
		p.end("the expression")
	})
	return e, p.done()
}

// Type parses exactly one type.
func Type(src string) (*ast.TypeName, diag.List) {
	p := newParser(src, "the type")
	var t *ast.TypeName
	p.guard(nil, func() {
		t = p.nullableType()
		p.end("the type")
	})
	return t, p.done()
}

func (p *parser) done() diag.List {
	p.errs.Sort()
	return p.errs
}

// end fails unless all text was used.
func (p *parser) end(what string) {
	if p.tok.kind != tokEOF {
		p.unexpected("after the end of " + what)
	}
}

func (p *parser) advance() {
	if p.tok.kind == tokOp {
		switch p.tok.text {
		case "(", "[", "{":
			p.open++
		case ")", "]", "}":
			p.open--
		}
	}
	p.prev = p.tok
	switch {
	case p.i < len(p.toks)-1:
		p.i++
	case p.tok.kind != tokEOF:
		p.toks, p.i = lexFrom(p.toks, p.src, p.tok.Hi, p.tok.End), 0
	}
	p.tok = p.toks[p.i]
}

// at returns the n-th token after the current one, or the last one of the statement.
func (p *parser) at(n int) *token {
	return &p.toks[min(p.i+n, len(p.toks)-1)]
}

func (t *token) isOp(op string) bool  { return t.kind == tokOp && t.text == op }
func (t *token) is(word string) bool  { return t.kind == tokWord && t.up == word }
func (p *parser) isOp(op string) bool { return p.tok.isOp(op) }
func (p *parser) is(word string) bool { return p.tok.is(word) }

// isSeq reports whether the next tokens are these words.
func (p *parser) isSeq(words ...string) bool {
	for i, w := range words {
		if !p.at(i).is(w) {
			return false
		}
	}
	return true
}

func (p *parser) isAny(words ...string) bool {
	for _, w := range words {
		if p.is(w) {
			return true
		}
	}
	return false
}

// accept moves over the words if they are next.
func (p *parser) accept(words ...string) bool {
	if !p.isSeq(words...) {
		return false
	}
	for range words {
		p.advance()
	}
	return true
}

func (p *parser) acceptOp(op string) bool {
	if p.isOp(op) {
		p.advance()
		return true
	}
	return false
}

// expect moves over the words, which must be next. where says, for the message, where they belong ("after GROUP").
func (p *parser) expect(where string, words ...string) {
	for _, w := range words {
		if !p.is(w) {
			p.expected(w, where)
		}
		p.advance()
	}
}

func (p *parser) expectOp(op, where string) {
	if !p.isOp(op) {
		p.expected(`"`+op+`"`, where)
	}
	p.advance()
}

// span returns the span from start to the end of the last token that was used.
func (p *parser) span(start diag.Span) diag.Span {
	if p.prev.Hi < start.Lo {
		return start
	}
	return start.To(p.prev.Span)
}

// errorAt reports an error without failing.
func (p *parser) errorAt(at diag.Span, format string, args ...any) *diag.Error {
	e := diag.Errorf(at.Start, format, args...)
	if at.Lo != p.lastErr {
		p.errs.Add(e)
		p.lastErr = at.Lo
	}
	return e
}

// failAt reports an error and fails up to the nearest guard.
func (p *parser) failAt(at diag.Span, hint, format string, args ...any) {
	p.errorAt(at, format, args...).Hint = hint
	panic(bailout{})
}

// checkInvalid fails with the lexer's own message if the current token is invalid.
func (p *parser) checkInvalid() {
	if p.tok.kind == tokInvalid {
		p.failAt(p.tok.Span, p.tok.hint, "%s", p.tok.text)
	}
}

// expected fails with `expected X after Y, found "Z"`.
func (p *parser) expected(what, where string) {
	p.expectedHint(what, where, "")
}

func (p *parser) expectedHint(what, where, hint string) {
	p.checkInvalid()
	if where != "" {
		where = " " + where
	}
	switch {
	case hint != "":
	case p.isOp(")") && p.open <= 0:
		hint = `the ")" has no "(" before it`
	case p.prev.isOp(",") && (p.isEnd() || p.isOp(")") || p.tok.kind == tokWord && clauseWords[p.tok.up]):
		hint = "is there a comma too many?"
	}
	p.failAt(p.tok.Span, hint, "expected %s%s, found %s", what, where, p.found())
}

// unexpected fails with `unexpected "X" after Y`.
func (p *parser) unexpected(where string) {
	p.checkInvalid()
	hint := ""
	if p.isOp(")") {
		hint = `the ")" has no "(" before it`
	} else if p.prev.kind == tokWord && !ast.IsReserved(p.prev.up) {
		// The word before was taken for an alias, and may be a misspelt keyword.
		if s := diag.Suggest(p.prev.up, []string{"FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "JOIN", "UNION"}); s != "" {
			hint = `did you mean ` + s + ` instead of "` + p.prev.text + `"?`
		}
	}
	p.failAt(p.tok.Span, hint, "unexpected %s %s", p.found(), where)
}

// found describes the current token for a message.
func (p *parser) found() string { return p.describe(&p.tok) }

func (p *parser) describe(t *token) string {
	if t.kind == tokEOF {
		return "the end of " + p.what
	}
	text := t.Text(p.src)
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		text = text[:i] + ".."
	}
	if r := []rune(text); len(r) > 40 {
		text = string(r[:40]) + ".."
	}
	if t.kind == tokString || t.kind == tokQuoted {
		return text
	}
	return `"` + text + `"`
}

// guard runs f. If it fails, guard skips to the next token for which stop answers true, at the depth of brackets where f
// began, or to the next semicolon or the end; it reports whether f succeeded. A nil stop is one that never answers true.
func (p *parser) guard(stop func(*token) bool, f func()) (ok bool) {
	open, depth := p.open, p.depth
	defer func() {
		switch r := recover(); r.(type) {
		case nil:
		case bailout:
			p.depth = depth
			p.skipTo(open, stop)
			ok = false
		default:
			panic(r)
		}
	}()
	f()
	return true
}

// skipTo moves to the next token that ends the skipping. A word at which the failure happened may do so within brackets, too:
// it tells that a closing bracket is missing.
func (p *parser) skipTo(open int, stop func(*token) bool) {
	for first := true; p.tok.kind != tokEOF && !p.isOp(";"); first = false {
		if p.open <= open || first {
			if stop != nil && stop(&p.tok) && (p.open <= open || p.tok.kind == tokWord && !p.is("ORDER")) {
				break
			}
			if p.open <= open && p.tok.kind == tokOp && (p.tok.text == ")" || p.tok.text == "]") && open > 0 {
				break
			}
		}
		if p.tok.kind == tokInvalid {
			e := p.errorAt(p.tok.Span, "%s", p.tok.text)
			e.Hint = p.tok.hint
		}
		p.advance()
	}
	p.open = open
}

// enter counts one level of nesting; the caller defers leave.
func (p *parser) enter() {
	p.depth++
	if p.depth > maxDepth {
		p.failAt(p.tok.Span, "take inner parts out into views", "this is nested more than %d levels deep", maxDepth)
	}
}

func (p *parser) leave() { p.depth-- }

// checkChain fails when n operators stand in a row.
func (p *parser) checkChain(n int) {
	if n > maxChain {
		p.failAt(p.tok.Span, "", "more than %d operators follow each other here", maxChain)
	}
}

// isName reports whether the token is a name: in back-ticks, or a word that is not reserved.
func (t *token) isName() bool {
	return t.kind == tokQuoted || t.kind == tokWord && !ast.IsReserved(t.up)
}

// ident reads a name. what says what it names, for the message ("a column name").
func (p *parser) ident(what string) ast.Ident {
	if !p.tok.isName() {
		p.notAName(what)
	}
	id := ast.Ident{Span: p.tok.Span, Name: p.tok.text, Quoted: p.tok.kind == tokQuoted}
	p.advance()
	return id
}

// notAName fails because a name is expected. A reserved word was meant as one unless it begins a clause; and even then if a type
// follows it.
func (p *parser) notAName(what string) {
	if p.tok.kind == tokWord && (p.meantAsName() || typeNames[p.at(1).up].name != "") {
		p.failAt(p.tok.Span, "write it in back-ticks: `"+p.tok.text+"`", `expected %s, but "%s" is a reserved word`, what, p.tok.text)
	}
	if p.tok.kind == tokString {
		p.expectedHint(what, "", "a name is written in back-ticks, not in quotes")
	}
	p.expected(what, "")
}

// clauseWords are reserved words that begin or join parts of statements, so they are hardly meant as names.
var clauseWords = wordSet(`
	SELECT FROM WHERE GROUP HAVING ORDER LIMIT UNION JOIN ON AS AND OR WITH INSERT INTO CREATE BY IN IS NOT CASE WHEN THEN
	ELSE END INNER LEFT RIGHT FULL CROSS NATURAL OUTER USING EXCEPT INTERSECT OFFSET FETCH WINDOW QUALIFY VALUES LIKE BETWEEN
	EXISTS MATCH_RECOGNIZE FOR SET DROP`)

func (p *parser) meantAsName() bool { return !clauseWords[p.tok.up] }

// name reads a name of up to three parts.
func (p *parser) name(what string) ast.Name {
	start := p.tok.Span
	parts := []ast.Ident{p.ident(what)}
	for p.isOp(".") && !p.at(1).isOp("*") {
		p.advance()
		parts = append(parts, p.ident("a name after the dot"))
	}
	n := ast.Name{Span: p.span(start), Parts: parts}
	if len(parts) > 3 {
		p.failAt(start, "catalog.database.name is the longest form", "%s has %d parts", what, len(parts))
	}
	return n
}

// idents reads (a, b, ..).
func (p *parser) idents(what, where string) []ast.Ident {
	p.expectOp("(", where)
	list := []ast.Ident{p.ident(what)}
	for p.acceptOp(",") {
		list = append(list, p.ident(what))
	}
	p.expectOp(")", "after the list of names")
	return list
}

// stringLit reads a string literal. where says where it belongs, for the message ("after COMMENT").
func (p *parser) stringLit(where string) *ast.StringLit {
	if p.tok.kind != tokString {
		hint := ""
		if p.tok.kind == tokWord || p.tok.kind == tokQuoted || p.tok.kind == tokNumber {
			hint = "write it in single quotes"
		}
		p.expectedHint("a string", where, hint)
	}
	return p.anyString()
}

// anyString reads the string literal that is next, and those that go on with it in later lines.
func (p *parser) anyString() *ast.StringLit {
	first := p.tok
	p.advance()
	value := first.text
	for p.tok.kind == tokString && p.tok.Start.Line > p.prev.End.Line && p.tok.charset == "" && !p.tok.unicode {
		value += p.tok.text
		p.advance()
	}
	if first.unicode {
		value = p.unicodeEscapes(first, value)
	}
	if p.tok.kind == tokString && p.tok.Start.Line == p.prev.End.Line {
		p.failAt(p.tok.Span, "join them with ||, or write a quote twice if it belongs to the string", "a string follows another one in the same line")
	}
	return &ast.StringLit{Span: p.span(first.Span), Value: value, Charset: first.charset}
}

func (p *parser) unicodeEscapes(first token, value string) string {
	escape := '\\'
	if p.accept("UESCAPE") {
		r := []rune(p.tok.text)
		if p.tok.kind != tokString || len(r) != 1 || strings.ContainsRune("0123456789abcdefABCDEF+'\" \t\n", r[0]) {
			p.expected("a string of one character that is no hexadecimal digit", "after UESCAPE")
		}
		escape = r[0]
		p.advance()
	}
	text, problem := resolveUnicode(value, escape)
	if problem != "" {
		p.failAt(first.Span, "", "%s", problem)
	}
	return text
}

// integer reads a number without fraction that fits an int of 32 bits.
func (p *parser) integer(where string) int {
	n := 0
	if p.tok.kind != tokNumber || strings.Trim(p.tok.text, "0123456789") != "" {
		p.expected("a whole number", where)
	}
	if _, err := fmt.Sscanf(p.tok.text, "%d", &n); err != nil || n > 1<<31-1 {
		p.failAt(p.tok.Span, "the largest is 2147483647", "the number %s is too large", p.tok.text)
	}
	p.advance()
	return n
}

func oneOf(words ...string) string {
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
