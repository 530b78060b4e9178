package parse

import (
	"slices"
	"strings"

	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/sql/ast"
)

// creation holds the words between CREATE and the kind of the object.
type creation struct {
	start                        diag.Span
	orReplace, temporary, system bool
}

func (p *parser) create() ast.Statement {
	c := creation{start: p.tok.Span}
	p.advance()
	if p.accept("OR") {
		p.expect("after CREATE OR", "REPLACE")
		c.orReplace = true
	}
	if p.accept("TEMPORARY") {
		c.temporary = true
		c.system = p.is("SYSTEM") && p.at(1).is("FUNCTION") && p.accept("SYSTEM")
	}
	at, kind := p.tok, p.tok.up
	switch kind {
	case "TABLE":
		p.advance()
		return p.createTable(c)
	case "VIEW":
		p.advance()
		return p.createView(c)
	case "FUNCTION":
		p.advance()
		return p.createFunction(c)
	case "CATALOG":
		p.advance()
		return p.createCatalog(c)
	case "DATABASE":
		p.advance()
		return p.createDatabase(c)
	case "MATERIALIZED", "MODEL", "CONNECTION", "INDEX", "SCHEMA", "SEQUENCE", "TYPE", "USER", "SOURCE", "SINK", "STREAM":
		hint := ""
		switch kind {
		case "SCHEMA":
			hint = "write CREATE DATABASE"
		case "SOURCE", "SINK", "STREAM":
			hint = "write CREATE TABLE .. WITH ('connector' = ..)"
		}
		if kind == "MATERIALIZED" {
			kind += " " + p.at(1).up
		}
		p.failAt(at.Span, hint, "CREATE %s is not supported", kind)
	}
	hint := ""
	if p.isSeq("OR", "REPLACE") {
		hint = "write CREATE OR REPLACE TEMPORARY"
	} else if at.kind == tokWord {
		if s := diag.Suggest(kind, []string{"TABLE", "VIEW", "FUNCTION", "CATALOG", "DATABASE", "TEMPORARY"}); s != "" {
			hint = "did you mean " + s + "?"
		}
	}
	p.expectedHint("TABLE, VIEW, FUNCTION, CATALOG or DATABASE", "after CREATE", hint)
	return nil
}

func (p *parser) ifNotExists() bool {
	if !p.isSeq("IF", "NOT") {
		return false
	}
	p.expect("in IF NOT EXISTS", "IF", "NOT", "EXISTS")
	return true
}

func (p *parser) createTable(c creation) ast.Statement {
	t := &ast.CreateTable{OrReplace: c.orReplace, Temporary: c.temporary, IfNotExists: p.ifNotExists()}
	t.Name = p.name("the name of a table")
	if p.isOp("(") {
		p.columns(t)
	}
	p.tableClauses(t)
	if p.is("LIKE") {
		t.Like = p.like()
	} else if p.accept("AS") {
		t.AsQuery = p.query()
	}
	t.Span = p.span(c.start)
	return t
}

// columns reads the columns, watermarks and keys in parentheses. Each is guarded, so that mistakes in several show in one run.
func (p *parser) columns(t *ast.CreateTable) {
	p.advance()
	stop := func(t *token) bool { return t.isOp(",") || t.is("WITH") }
	for more := true; more; more = p.acceptOp(",") {
		p.guard(stop, func() {
			p.tableElement(t)
			if !p.isOp(",") && !p.isOp(")") {
				p.unexpectedInColumns()
			}
		})
	}
	if p.is("WITH") && p.at(1).isOp("(") && len(p.errs) > 0 {
		p.open-- // the missing parenthesis is reported; the options follow
		return
	}
	p.expectOp(")", "after the column list")
}

// unexpectedInColumns fails because a column goes on in a way that it cannot.
func (p *parser) unexpectedInColumns() {
	switch {
	case p.is("WITH"):
		p.expected(`")"`, "after the column list")
	case p.isAny("DEFAULT", "CHECK", "GENERATED", "REFERENCES"):
		p.failAt(p.tok.Span, "a computed column is written: name AS expression", "a column takes no %s", p.tok.up)
	case p.is("AS"):
		p.failAt(p.tok.Span, "write: name AS expression", "a computed column has no type of its own")
	case p.is("METADATA"):
		p.failAt(p.tok.Span, "", "METADATA stands directly after the type")
	case p.isAny("PRIMARY", "CONSTRAINT", "UNIQUE"):
		p.failAt(p.tok.Span, "", "a key stands before COMMENT, and after a physical column only")
	}
	p.expected(`"," or ")"`, "in the column list")
}

func (p *parser) tableElement(t *ast.CreateTable) {
	switch {
	case p.is("WATERMARK"):
		t.Watermarks = append(t.Watermarks, p.watermark())
	case p.isAny("PRIMARY", "UNIQUE", "CONSTRAINT"):
		k := p.key(true)
		t.Keys = append(t.Keys, *k)
	case p.isOp(")"):
		p.expected("a column", "")
	default:
		t.Columns = append(t.Columns, p.column())
	}
}

func (p *parser) watermark() ast.Watermark {
	start := p.tok.Span
	p.advance()
	p.expect("after WATERMARK", "FOR")
	w := ast.Watermark{Column: p.name("a column name")}
	p.expect("after the column of WATERMARK FOR", "AS")
	w.Expr = p.expr()
	w.Span = p.span(start)
	return w
}

// key reads [CONSTRAINT name] PRIMARY KEY|UNIQUE [(columns)] [[NOT] ENFORCED].
func (p *parser) key(withColumns bool) *ast.Key {
	start := p.tok.Span
	k := &ast.Key{}
	if p.accept("CONSTRAINT") {
		name := p.ident("the name of the constraint")
		k.Name = &name
	}
	switch {
	case p.accept("PRIMARY"):
		p.expect("after PRIMARY", "KEY")
	case p.accept("UNIQUE"):
		k.Unique = true
	default:
		p.expected("PRIMARY KEY", "after the name of the constraint")
	}
	if withColumns {
		k.Columns = p.idents("a column name", "after PRIMARY KEY")
	}
	switch {
	case p.accept("NOT"):
		p.expect("after NOT", "ENFORCED")
		k.NotEnforced = true
	case p.accept("ENFORCED"):
		k.Enforced = true
	}
	k.Span = p.span(start)
	return k
}

func (p *parser) column() ast.Column {
	start := p.tok.Span
	c := ast.Column{Name: p.ident("a column name")}
	switch {
	case p.accept("AS"):
		c.Kind = ast.Computed
		c.Expr = p.expr()
	case p.isOp(","), p.isOp(")"):
		c.Kind = ast.NameOnly
	default:
		p.physicalColumn(&c)
	}
	if p.accept("COMMENT") {
		c.Comment = p.stringLit("after COMMENT")
	}
	c.Span = p.span(start)
	return c
}

func (p *parser) physicalColumn(c *ast.Column) {
	c.Type = p.nullableType()
	if p.accept("METADATA") {
		c.Kind = ast.Metadata
		if p.accept("FROM") {
			c.From = p.stringLit("after METADATA FROM")
		}
		c.Virtual = p.accept("VIRTUAL")
		if p.is("FROM") {
			p.failAt(p.tok.Span, "write METADATA FROM 'key' VIRTUAL", "FROM stands before VIRTUAL")
		}
	}
	if p.isAny("PRIMARY", "UNIQUE", "CONSTRAINT") {
		c.Key = p.key(false)
	}
}

// tableClauses reads COMMENT, DISTRIBUTED, PARTITIONED BY and WITH, which must stand in this order.
func (p *parser) tableClauses(t *ast.CreateTable) {
	order := []string{"COMMENT", "DISTRIBUTED", "PARTITIONED", "WITH"}
	last := -1
	for {
		i := slices.Index(order, p.tok.up)
		if i < 0 || p.tok.kind != tokWord {
			return
		}
		if i <= last {
			p.errorAt(p.tok.Span, "%s stands too late, or twice", p.tok.up).Hint = "the order is COMMENT, DISTRIBUTED, PARTITIONED BY, WITH, LIKE"
		}
		last = max(last, i)
		p.advance()
		switch i {
		case 0:
			t.Comment = p.stringLit("after COMMENT")
		case 1:
			t.Distribution = p.distribution()
		case 2:
			p.expect("after PARTITIONED", "BY")
			t.PartitionedBy = p.idents("a column name", "after PARTITIONED BY")
		case 3:
			t.Options = p.options("after WITH")
		}
	}
}

// distribution reads [BY [HASH|RANGE] (columns)] [INTO n BUCKETS].
func (p *parser) distribution() *ast.Distribution {
	start := p.prev.Span
	d := &ast.Distribution{}
	if p.accept("BY") {
		if p.isAny("HASH", "RANGE") {
			d.Kind = p.tok.up
			p.advance()
		}
		d.Columns = p.idents("a column name", "after DISTRIBUTED BY")
	} else if !p.is("INTO") {
		p.expected("BY or INTO", "after DISTRIBUTED")
	}
	if p.accept("INTO") {
		d.Buckets = p.integer("after INTO")
		p.expect("after the number of buckets", "BUCKETS")
	}
	d.Span = p.span(start)
	return d
}

// like reads LIKE table [(INCLUDING|EXCLUDING|OVERWRITING what ..)].
func (p *parser) like() *ast.LikeClause {
	start := p.tok.Span
	p.advance()
	l := &ast.LikeClause{Table: p.name("the name of a table")}
	if p.acceptOp("(") {
		for more := true; more; more = !p.isOp(")") {
			l.Options = append(l.Options, p.likeOption())
		}
		p.advance()
	}
	l.Span = p.span(start)
	return l
}

var likeParts = []string{"ALL", "CONSTRAINTS", "DISTRIBUTION", "GENERATED", "METADATA", "OPTIONS", "PARTITIONS", "WATERMARKS"}

func (p *parser) likeOption() ast.LikeOption {
	start := p.tok.Span
	o := ast.LikeOption{Action: p.tok.up}
	if !p.isAny("INCLUDING", "EXCLUDING", "OVERWRITING") {
		hint := ""
		if p.isOp(",") {
			hint = "leave the comma out"
		}
		p.expectedHint("INCLUDING, EXCLUDING or OVERWRITING", "in the LIKE clause", hint)
	}
	p.advance()
	o.What = p.tok.up
	if !p.isAny(likeParts...) {
		p.expectedHint(oneOf(likeParts...), "after "+o.Action, diag.DidYouMean(p.tok.up, likeParts))
	}
	p.advance()
	o.Span = p.span(start)
	return o
}

func (p *parser) createView(c creation) ast.Statement {
	v := &ast.CreateView{OrReplace: c.orReplace, Temporary: c.temporary, IfNotExists: p.ifNotExists()}
	v.Name = p.name("the name of a view")
	if p.isOp("(") {
		v.Columns = p.idents("a column name", "")
	}
	if p.accept("COMMENT") {
		v.Comment = p.stringLit("after COMMENT")
	}
	p.expect("before the query of the view", "AS")
	v.Query = p.query()
	v.Span = p.span(c.start)
	return v
}

func (p *parser) createFunction(c creation) ast.Statement {
	f := &ast.CreateFunction{Temporary: c.temporary, System: c.system, IfNotExists: p.ifNotExists()}
	f.Name = p.name("the name of a function")
	p.expect("after the name of the function", "AS")
	f.Class = p.stringLit("with the name of the class after AS")
	if p.accept("LANGUAGE") {
		if !p.isAny("JAVA", "SCALA", "PYTHON", "SQL") {
			p.expected("JAVA, SCALA or PYTHON", "after LANGUAGE")
		}
		f.Language = p.tok.up
		p.advance()
	}
	if p.accept("USING") {
		for more := true; more; more = p.acceptOp(",") {
			if !p.isAny("JAR", "ARTIFACT") {
				p.expected("JAR", "after USING")
			}
			p.advance()
			f.Jars = append(f.Jars, p.stringLit("after JAR"))
		}
	}
	if p.accept("WITH") {
		f.Options = p.options("after WITH")
	}
	f.Span = p.span(c.start)
	return f
}

func (p *parser) createCatalog(c creation) ast.Statement {
	cat := &ast.CreateCatalog{IfNotExists: p.ifNotExists()}
	cat.Name = p.ident("the name of a catalog")
	if p.accept("COMMENT") {
		cat.Comment = p.stringLit("after COMMENT")
	}
	if p.accept("WITH") {
		cat.Options = p.options("after WITH")
	}
	cat.Span = p.span(c.start)
	return cat
}

func (p *parser) createDatabase(c creation) ast.Statement {
	d := &ast.CreateDatabase{IfNotExists: p.ifNotExists()}
	d.Name = p.name("the name of a database")
	if p.accept("COMMENT") {
		d.Comment = p.stringLit("after COMMENT")
	}
	if p.accept("WITH") {
		d.Options = p.options("after WITH")
	}
	d.Span = p.span(c.start)
	return d
}

// objectKind reads the kind of an object after DROP or ALTER.
func (p *parser) objectKind(verb string) ast.ObjectKind {
	kinds := []string{"TABLE", "VIEW", "FUNCTION", "CATALOG", "DATABASE"}
	if !p.isAny(kinds...) {
		hint := ""
		if p.tok.kind == tokWord {
			if s := diag.Suggest(p.tok.up, kinds); s != "" {
				hint = "did you mean " + s + "?"
			}
		}
		p.expectedHint(oneOf(kinds...), "after "+verb, hint)
	}
	kind := ast.ObjectKind(p.tok.up)
	p.advance()
	return kind
}

func (p *parser) drop() ast.Statement {
	start := p.tok.Span
	p.advance()
	d := &ast.Drop{}
	if p.accept("TEMPORARY") {
		d.Temporary = true
		d.System = p.accept("SYSTEM")
	}
	at := p.tok.Span
	d.Kind = p.objectKind("DROP")
	if d.System && d.Kind != ast.FunctionObject || d.Temporary && (d.Kind == ast.CatalogObject || d.Kind == ast.DatabaseObject) {
		p.failAt(at, "", "there is no temporary %s", strings.ToLower(string(d.Kind)))
	}
	if p.isSeq("IF", "EXISTS") {
		p.advance()
		p.advance()
		d.IfExists = true
	}
	d.Name = p.name("a name")
	if d.Kind == ast.DatabaseObject && !p.accept("RESTRICT") {
		d.Cascade = p.accept("CASCADE")
	}
	if p.isOp(",") {
		p.failAt(p.tok.Span, "write one DROP for each", "DROP takes one name")
	}
	d.Span = p.span(start)
	return d
}

// alter reads an ALTER statement; what it wants to change is kept as text.
func (p *parser) alter() ast.Statement {
	start := p.tok.Span
	p.advance()
	a := &ast.Alter{Kind: p.objectKind("ALTER")}
	if p.isSeq("IF", "EXISTS") {
		p.advance()
		p.advance()
		a.IfExists = true
	}
	a.Name = p.name("a name")
	if p.isEnd() {
		p.expected("what to change", "after the name")
	}
	action := p.tok.Span
	for !p.isEnd() {
		p.checkInvalid()
		p.advance()
	}
	a.Action = p.span(action).Text(p.src)
	a.Span = p.span(start)
	return a
}
