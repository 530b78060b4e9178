package parse

import "github.com/millstream-io/millstream/internal/sql/ast"

// jsonQuery reads JSON_EXISTS, JSON_VALUE and JSON_QUERY.
func (p *parser) jsonQuery() ast.Expr {
	name := p.tok.up
	start, c := p.special()
	c.JSON = &ast.JSONClauses{}
	c.Args = append(c.Args, p.expr())
	p.formatJSON(c)
	p.expectOp(",", "after the first argument of "+name)
	c.Args = append(c.Args, p.expr())
	if p.accept("PASSING") {
		for more := true; more; more = p.acceptOp(",") {
			at := p.tok.Span
			value := p.expr()
			p.expect("after the value of PASSING", "AS")
			alias := p.ident("a name after AS")
			c.JSON.Passing = append(c.JSON.Passing, ast.SelectItem{Span: p.span(at), Expr: value, Alias: &alias})
		}
	}
	if name != "JSON_EXISTS" && p.accept("RETURNING") {
		c.JSON.Returning = p.typeName()
	}
	if name == "JSON_QUERY" {
		c.JSON.Wrapper = p.jsonWrapper()
	}
	p.jsonBehaviors(name, c.JSON)
	p.closeCall(start, c)
	return c
}

// formatJSON reads FORMAT JSON behind the last argument.
func (p *parser) formatJSON(c *ast.Call) {
	if !p.accept("FORMAT", "JSON") {
		return
	}
	for len(c.JSON.Format) < len(c.Args) {
		c.JSON.Format = append(c.JSON.Format, false)
	}
	c.JSON.Format[len(c.Args)-1] = true
}

func (p *parser) jsonWrapper() string {
	wrapper := ""
	switch {
	case p.accept("WITHOUT"):
		wrapper = "WITHOUT ARRAY"
	case p.accept("WITH"):
		wrapper = "WITH UNCONDITIONAL ARRAY"
		if p.accept("CONDITIONAL") {
			wrapper = "WITH CONDITIONAL ARRAY"
		} else {
			p.accept("UNCONDITIONAL")
		}
	default:
		return ""
	}
	p.accept("ARRAY")
	p.expect("in the wrapper of JSON_QUERY", "WRAPPER")
	return wrapper
}

// jsonBehaviors reads .. ON EMPTY and .. ON ERROR, in either order.
func (p *parser) jsonBehaviors(name string, j *ast.JSONClauses) {
	for !p.isOp(")") && p.tok.kind != tokEOF {
		at := p.tok.Span
		b := p.jsonBehavior(name)
		p.expect("after what "+name+" does on errors", "ON")
		switch {
		case p.is("EMPTY") && name != "JSON_EXISTS" && j.OnEmpty == nil:
			j.OnEmpty = b
		case p.is("ERROR") && j.OnError == nil:
			j.OnError = b
		case p.isAny("EMPTY", "ERROR"):
			p.failAt(at, "", "%s does not take a second .. ON %s", name, p.tok.up)
		default:
			p.expected("EMPTY or ERROR", "after ON")
		}
		p.advance()
	}
}

// jsonBehaviorsOf are the behaviors that each function knows.
var jsonBehaviorsOf = map[string][]string{
	"JSON_EXISTS": {"TRUE", "FALSE", "UNKNOWN", "ERROR"},
	"JSON_VALUE":  {"NULL", "ERROR", "DEFAULT"},
	"JSON_QUERY":  {"NULL", "ERROR", "EMPTY"},
}

func (p *parser) jsonBehavior(name string) *ast.JSONBehavior {
	start := p.tok.Span
	known := jsonBehaviorsOf[name]
	if !p.isAny(known...) {
		p.expected(`")" or `+oneOf(known...), "in "+name)
	}
	b := &ast.JSONBehavior{Kind: p.tok.up}
	p.advance()
	switch b.Kind {
	case "DEFAULT":
		b.Default = p.expr()
	case "EMPTY":
		if !p.isAny("ARRAY", "OBJECT") {
			p.expected("ARRAY or OBJECT", "after EMPTY")
		}
		b.Kind += " " + p.tok.up
		p.advance()
	}
	b.Span = p.span(start)
	return b
}

// jsonOnNull reads NULL ON NULL or ABSENT ON NULL.
func (p *parser) jsonOnNull() string {
	for _, what := range []string{"NULL", "ABSENT"} {
		if p.accept(what, "ON", "NULL") {
			return what
		}
	}
	return ""
}

// jsonObject reads JSON_OBJECT and JSON_OBJECTAGG.
func (p *parser) jsonObject() ast.Expr {
	name := p.tok.up
	start, c := p.special()
	c.JSON = &ast.JSONClauses{}
	c.JSON.OnNull = p.jsonOnNull()
	for more := !p.isOp(")") && c.JSON.OnNull == ""; more; more = name == "JSON_OBJECT" && p.acceptOp(",") {
		if p.is("KEY") && !p.at(1).is("VALUE") && !p.at(1).isOp(":") {
			p.advance()
		}
		c.Args = append(c.Args, p.expr())
		if !p.accept("VALUE") && !p.acceptOp(":") {
			p.expectedHint("VALUE", "after the key in "+name, "write "+name+"(key VALUE value)")
		}
		c.Args = append(c.Args, p.expr())
		p.formatJSON(c)
	}
	if c.JSON.OnNull == "" {
		c.JSON.OnNull = p.jsonOnNull()
	}
	p.closeCall(start, c)
	return c
}

// jsonArray reads JSON_ARRAY and JSON_ARRAYAGG.
func (p *parser) jsonArray() ast.Expr {
	start, c := p.special()
	c.JSON = &ast.JSONClauses{}
	c.JSON.OnNull = p.jsonOnNull()
	for more := !p.isOp(")") && c.JSON.OnNull == ""; more; more = p.acceptOp(",") {
		c.Args = append(c.Args, p.expr())
		p.formatJSON(c)
	}
	if p.is("ORDER") {
		c.OrderBy = p.orderBy()
	}
	if c.JSON.OnNull == "" {
		c.JSON.OnNull = p.jsonOnNull()
	}
	p.closeCall(start, c)
	return c
}
