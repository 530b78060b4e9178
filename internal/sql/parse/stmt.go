package parse

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/sql/ast"
)

// statements are the statements that begin with a word of their own.
var statements map[string]func(*parser) ast.Statement

// unsupported are statements of Flink that Millstream does not have, and those of other dialects, with what to do instead.
var unsupported = map[string]string{
	"ANALYZE": "", "TRUNCATE": "", "DELETE": "", "UPDATE": "", "MERGE": "", "CALL": "", "LOAD": "", "UNLOAD": "", "ADD": "", "REMOVE": "",
	"COMPILE": "", "STOP": "", "GRANT": "", "REVOKE": "", "COMMIT": "", "ROLLBACK": "", "COPY": "",
	"UPSERT": "write INSERT INTO a table with a primary key", "REPLACE": "write INSERT INTO a table with a primary key",
}

func init() {
	statements = map[string]func(*parser) ast.Statement{
		"CREATE":   (*parser).create,
		"DROP":     (*parser).drop,
		"ALTER":    (*parser).alter,
		"INSERT":   func(p *parser) ast.Statement { return p.insert() },
		"EXECUTE":  (*parser).execute,
		"BEGIN":    (*parser).begin,
		"SELECT":   (*parser).queryStatement,
		"VALUES":   (*parser).queryStatement,
		"WITH":     (*parser).queryStatement,
		"TABLE":    (*parser).queryStatement,
		"SET":      (*parser).set,
		"RESET":    (*parser).reset,
		"EXPLAIN":  (*parser).explain,
		"DESCRIBE": (*parser).describeStmt,
		"DESC":     (*parser).describeStmt,
		"SHOW":     (*parser).show,
		"USE":      (*parser).use,
	}
}

// scriptStatement reads one statement up to its semicolon. After an error it skips to the next statement and answers nil.
func (p *parser) scriptStatement() ast.Statement {
	first := p.tok.Lo
	var s ast.Statement
	ok := p.guard(func(t *token) bool { return t.Lo > first && surelyBegins(t) }, func() {
		s = p.statement()
		if p.isOp(";") || p.tok.kind == tokEOF {
			return
		}
		if p.tok.Start.Line > p.prev.End.Line && p.tok.kind == tokWord && statements[p.tok.up] != nil && p.tok.Start.Col == 1 {
			p.errorAt(p.tok.Span, `expected ";" before "%s"`, p.tok.text)
			return
		}
		p.unexpected("after the end of the statement")
	})
	p.open, p.depth = 0, 0
	if !ok {
		return nil
	}
	return s
}

// surelyBegins reports whether the token begins a statement and no line within one.
func surelyBegins(t *token) bool {
	if t.Start.Col != 1 || t.kind != tokWord {
		return false
	}
	switch t.up {
	case "CREATE", "DROP", "INSERT", "EXPLAIN", "EXECUTE", "SHOW", "DESCRIBE":
		return true
	}
	return false
}

func (p *parser) statement() ast.Statement {
	if p.isOp("(") {
		return p.queryStatement()
	}
	if p.tok.kind == tokWord {
		if f := statements[p.tok.up]; f != nil {
			return f(p)
		}
		if hint, ok := unsupported[p.tok.up]; ok {
			p.failAt(p.tok.Span, hint, "the statement %s is not supported", p.tok.up)
		}
		hint := ""
		if s := diag.Suggest(p.tok.up, slices.Sorted(maps.Keys(statements))); s != "" {
			hint = "did you mean " + s + "?"
		}
		p.failAt(p.tok.Span, hint, `unknown statement "%s"`, p.tok.text)
	}
	p.expected("a statement", "")
	return nil
}

func (p *parser) queryStatement() ast.Statement {
	start := p.tok.Span
	q := p.query()
	return &ast.QueryStatement{Span: p.span(start), Query: q}
}

// insert reads INSERT INTO|OVERWRITE t [PARTITION (..)] [(columns)] query [ON CONFLICT DO ..].
func (p *parser) insert() *ast.Insert {
	start := p.tok.Span
	p.advance()
	ins := &ast.Insert{}
	switch {
	case p.accept("OVERWRITE"):
		ins.Overwrite = true
	case p.accept("INTO"):
		if p.is("TABLE") {
			p.failAt(p.tok.Span, "leave TABLE out", "expected the name of a table, found TABLE")
		}
	default:
		p.expected("INTO or OVERWRITE", "after INSERT")
	}
	ins.Table = p.name("the name of a table")
	if p.isOp("/*+") {
		ins.Hints = p.hints()
	}
	if p.is("PARTITION") {
		ins.Partition = p.partition()
	}
	if p.isOp("(") && !p.queryInParens() {
		p.guard(startsQuery, func() { ins.Columns = p.insertColumns() })
	}
	if !startsQuery(&p.tok) && !p.isOp("(") {
		p.expected("a query", "to insert (SELECT or VALUES)")
	}
	ins.Query = p.query()
	if p.is("ON") {
		ins.OnConflict = p.onConflict()
	}
	ins.Span = p.span(start)
	return ins
}

func (p *parser) insertColumns() []ast.Name {
	p.expectOp("(", "")
	cols := []ast.Name{p.name("a column name")}
	for p.acceptOp(",") {
		cols = append(cols, p.name("a column name"))
	}
	p.expectOp(")", "after the column list")
	return cols
}

func (p *parser) partition() []ast.PartitionValue {
	p.advance()
	p.expectOp("(", "after PARTITION")
	var list []ast.PartitionValue
	for more := true; more; more = p.acceptOp(",") {
		start := p.tok.Span
		v := ast.PartitionValue{Column: p.ident("a column name")}
		p.expectOp("=", "after a column of PARTITION")
		v.Value = p.exprAbove(precAdd)
		v.Span = p.span(start)
		list = append(list, v)
	}
	p.expectOp(")", "after the columns of PARTITION")
	return list
}

func (p *parser) onConflict() *ast.Symbol {
	p.expect("", "ON")
	p.expect("after ON", "CONFLICT")
	p.expect("after ON CONFLICT", "DO")
	if !p.isAny("ERROR", "NOTHING", "DEDUPLICATE") {
		p.expected("ERROR, NOTHING or DEDUPLICATE", "after ON CONFLICT DO")
	}
	s := &ast.Symbol{Span: p.tok.Span, Name: p.tok.up}
	p.advance()
	return s
}

// execute reads EXECUTE STATEMENT SET BEGIN .. END, or EXECUTE before a query or an INSERT, where it means nothing.
func (p *parser) execute() ast.Statement {
	start := p.tok.Span
	p.advance()
	switch {
	case p.is("STATEMENT"):
		return p.statementSet(start)
	case p.is("INSERT"):
		return p.insert()
	case startsQuery(&p.tok), p.isOp("("):
		return p.queryStatement()
	}
	p.expected("STATEMENT SET, INSERT or a query", "after EXECUTE")
	return nil
}

// statementSet reads STATEMENT SET BEGIN insert; .. END.
func (p *parser) statementSet(start diag.Span) ast.Statement {
	p.expect("after EXECUTE", "STATEMENT")
	p.expect("after STATEMENT", "SET")
	p.expect("after STATEMENT SET", "BEGIN")
	return p.inserts(start)
}

// begin reads BEGIN STATEMENT SET; insert; .. END.
func (p *parser) begin() ast.Statement {
	start := p.tok.Span
	p.expect("", "BEGIN")
	p.expect("after BEGIN", "STATEMENT")
	p.expect("after BEGIN STATEMENT", "SET")
	p.expectOp(";", "after BEGIN STATEMENT SET")
	return p.inserts(start)
}

func (p *parser) inserts(start diag.Span) ast.Statement {
	set := &ast.StatementSet{}
	for !p.is("END") {
		if p.tok.kind == tokEOF {
			p.expected("END", "at the end of the statement set")
		}
		p.guard(nil, func() {
			switch {
			case p.accept("EXECUTE"):
				fallthrough
			case p.is("INSERT"):
				if !p.is("INSERT") {
					p.expected("INSERT", "after EXECUTE")
				}
				set.Inserts = append(set.Inserts, p.insert())
			default:
				p.expected("INSERT or END", "in the statement set")
			}
			switch {
			case p.isOp(";"):
			case p.is("END"):
				p.errorAt(p.tok.Span, `expected ";" before END`)
			default:
				p.expected(`";"`, "after an INSERT of the statement set")
			}
		})
		p.acceptOp(";")
	}
	if len(set.Inserts) == 0 && len(p.errs) == 0 {
		p.expected("INSERT", "in the statement set")
	}
	p.advance()
	set.Span = p.span(start)
	return set
}

// isEnd reports whether the statement ends here.
func (p *parser) isEnd() bool { return p.isOp(";") || p.tok.kind == tokEOF }

// set reads SET, SET 'key' = 'value', or SET key = value without quotes.
func (p *parser) set() ast.Statement {
	start := p.tok.Span
	p.advance()
	s := &ast.Set{}
	switch {
	case p.isEnd():
	case p.tok.kind == tokString:
		s.Key = p.stringLit("after SET")
		p.expectOp("=", "after the key of SET")
		s.Value = p.stringLit("as the value of SET")
	default:
		s.Key = p.raw("a key", "=;'")
		p.expectOp("=", "after the key of SET")
		if p.tok.kind == tokString {
			s.Value = p.anyString()
		} else {
			s.Value = p.raw("a value", ";")
		}
	}
	s.Span = p.span(start)
	return s
}

func (p *parser) reset() ast.Statement {
	start := p.tok.Span
	p.advance()
	s := &ast.Reset{}
	switch {
	case p.isEnd():
	case p.tok.kind == tokString:
		s.Key = p.anyString()
	default:
		s.Key = p.raw("a key", ";'")
	}
	s.Span = p.span(start)
	return s
}

// raw reads text without quotes up to white space or one of the stop characters, whatever tokens it may be made of.
func (p *parser) raw(what, stop string) *ast.StringLit {
	rest := p.src[p.tok.Lo:]
	n := strings.IndexAny(rest, stop+" \t\r\n")
	if n < 0 {
		n = len(rest)
	}
	if n == 0 {
		p.expected(what, "")
	}
	text := rest[:n]
	span := p.tok.Span
	span.Hi = span.Lo + n
	span.End = diag.Pos{Line: span.Start.Line, Col: span.Start.Col + utf8.RuneCountInString(text)}
	p.resumeAt(span)
	return &ast.StringLit{Span: span, Value: text}
}

// resumeAt goes on with the token behind the span. If tokens do not part there, the rest is cut into tokens anew.
func (p *parser) resumeAt(span diag.Span) {
	last := p.i
	for last+1 < len(p.toks) && p.toks[last+1].Lo < span.Hi {
		last++
	}
	p.prev = token{Span: span, kind: tokString, text: span.Text(p.src)}
	if t := &p.toks[last]; t.Hi == span.Hi && t.kind != tokInvalid && last+1 < len(p.toks) {
		p.i = last + 1
	} else {
		p.toks, p.i = lexFrom(p.toks, p.src, span.Hi, span.End), 0
	}
	p.tok = p.toks[p.i]
	p.open = 0
}

// explain reads EXPLAIN [PLAN FOR | details] statement.
func (p *parser) explain() ast.Statement {
	start := p.tok.Span
	p.advance()
	e := &ast.Explain{}
	if !p.accept("PLAN", "FOR") {
		for p.isAny("ESTIMATED_COST", "CHANGELOG_MODE", "JSON_EXECUTION_PLAN", "PLAN_ADVICE", "STATE") {
			e.Details = append(e.Details, p.tok.up)
			p.advance()
			if !p.acceptOp(",") {
				break
			}
		}
	}
	switch {
	case p.is("STATEMENT"):
		e.Statement = p.statementSet(p.tok.Span)
	case startsQuery(&p.tok), p.isOp("("), p.isAny("INSERT", "EXECUTE", "CREATE"):
		e.Statement = p.explained()
	default:
		hint := ""
		if p.tok.kind == tokWord {
			hint = diag.DidYouMean(p.tok.up, []string{"ESTIMATED_COST", "CHANGELOG_MODE", "JSON_EXECUTION_PLAN", "PLAN_ADVICE", "STATE"})
		}
		p.expectedHint("a query, an INSERT or a statement set", "after EXPLAIN", hint)
	}
	e.Span = p.span(start)
	return e
}

// explained reads the statement of an EXPLAIN; of all CREATE statements only CREATE TABLE .. AS has a plan.
func (p *parser) explained() ast.Statement {
	at, create := p.tok.Span, p.is("CREATE")
	s := p.statement()
	if create {
		if t, ok := s.(*ast.CreateTable); !ok || t.AsQuery == nil {
			p.failAt(at, "", "of the CREATE statements only CREATE TABLE .. AS query can be explained")
		}
	}
	return s
}

// describeStmt reads DESCRIBE [CATALOG|FUNCTION] [EXTENDED] name.
func (p *parser) describeStmt() ast.Statement {
	start := p.tok.Span
	p.advance()
	d := &ast.Describe{Kind: ast.TableObject}
	named := func() bool { return p.at(1).isName() || p.at(1).is("EXTENDED") }
	switch {
	case p.is("CATALOG") && named(), p.is("FUNCTION") && named():
		d.Kind = ast.ObjectKind(p.tok.up)
		p.advance()
	case p.isAny("TABLE", "VIEW", "DATABASE", "MODEL", "JOB") && named():
		hint := "DESCRIBE name is for tables and views"
		p.failAt(p.tok.Span, hint, "DESCRIBE %s is not supported", p.tok.up)
	}
	d.Extended = p.accept("EXTENDED")
	d.Name = p.name("the name of a table")
	d.Span = p.span(start)
	return d
}

func (p *parser) use() ast.Statement {
	start := p.tok.Span
	p.advance()
	u := &ast.Use{}
	if p.is("CATALOG") && p.at(1).isName() {
		p.advance()
		u.Catalog = true
	} else if p.isAny("MODULES", "DATABASE") && p.at(1).isName() {
		p.failAt(p.tok.Span, "write USE database, or USE CATALOG catalog", "USE %s is not supported", p.tok.up)
	}
	u.Name = p.name("the name of a database")
	u.Span = p.span(start)
	return u
}
