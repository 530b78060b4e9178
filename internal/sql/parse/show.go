package parse

import (
	"strings"

	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/sql/ast"
)

// showSyntax says what may follow the words of a SHOW statement.
type showSyntax struct {
	words  string
	name   bool   // a name must follow
	from   string // the words of which one may introduce a place: "FROM IN"
	must   bool   // the place must follow
	filter string // the words of which one may introduce a pattern: "LIKE ILIKE"
}

// shows are the forms of SHOW; of two that begin alike the longer one stands first.
var shows = []showSyntax{
	{words: "CREATE TABLE", name: true},
	{words: "CREATE VIEW", name: true},
	{words: "CREATE CATALOG", name: true},
	{words: "CURRENT CATALOG"},
	{words: "CURRENT DATABASE"},
	{words: "TABLES", from: "FROM IN", filter: "LIKE"},
	{words: "MATERIALIZED TABLES", from: "FROM IN", filter: "LIKE"},
	{words: "VIEWS", from: "FROM IN", filter: "LIKE"},
	{words: "COLUMNS", from: "FROM IN", must: true, filter: "LIKE"},
	{words: "DATABASES", from: "FROM IN", filter: "LIKE ILIKE"},
	{words: "CATALOGS", filter: "LIKE ILIKE"},
	{words: "USER FUNCTIONS", from: "FROM IN", filter: "LIKE ILIKE"},
	{words: "FUNCTIONS", from: "FROM IN", filter: "LIKE ILIKE"},
	{words: "PROCEDURES", from: "FROM IN", filter: "LIKE ILIKE"},
	{words: "MODELS", from: "FROM IN", filter: "LIKE ILIKE"},
	{words: "PARTITIONS", name: true},
	{words: "FULL MODULES"},
	{words: "MODULES"},
	{words: "JARS"},
	{words: "JOBS"},
}

func (p *parser) show() ast.Statement {
	start := p.tok.Span
	p.advance()
	for _, form := range shows {
		if p.accept(strings.Fields(form.words)...) {
			return p.showForm(start, form)
		}
	}
	hint := ""
	if p.tok.kind == tokWord {
		words := make([]string, len(shows))
		for i, form := range shows {
			words[i] = form.words
		}
		if s := diag.Suggest(p.tok.up, words); s != "" {
			hint = "did you mean SHOW " + s + "?"
		}
	}
	p.expectedHint("TABLES, VIEWS, COLUMNS, CREATE TABLE, DATABASES, CATALOGS or FUNCTIONS", "after SHOW", hint)
	return nil
}

func (p *parser) showForm(start diag.Span, form showSyntax) ast.Statement {
	s := &ast.Show{What: form.words}
	if form.name {
		name := p.name("a name")
		s.Name = &name
	}
	if p.isAny(strings.Fields(form.from)...) {
		p.advance()
		name := p.name("a name")
		s.Name = &name
	} else if form.must {
		p.expected("FROM and the name of a table", "after SHOW "+form.words)
	}
	not := p.is("NOT")
	n := 0
	if not {
		n = 1
	}
	for _, op := range strings.Fields(form.filter) {
		if p.at(n).is(op) {
			p.accept("NOT")
			p.advance()
			s.Not, s.Op = not, op
			s.Like = p.stringLit("after " + op)
			break
		}
	}
	s.Span = p.span(start)
	return s
}
