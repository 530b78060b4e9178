package parse

import (
	"strings"

	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/sql/ast"
)

// call reads the arguments of the function with that name, and the clauses behind them.
func (p *parser) call(start diag.Span, name ast.Name) *ast.Call {
	c := &ast.Call{Name: name}
	p.expectOp("(", "")
	if p.isOp("*") {
		p.advance()
		c.Star = true
	} else if !p.isOp(")") {
		switch {
		case p.accept("DISTINCT"):
			c.Distinct = true
		case p.accept("ALL"):
		}
		p.arguments(c)
	}
	p.closeCall(start, c)
	return c
}

// arguments reads a, b, .. [IGNORE NULLS] [ORDER BY ..].
func (p *parser) arguments(c *ast.Call) {
	c.Args = append(c.Args, p.argument())
	if p.is("TO") && isFloorOrCeil(c.Name.Parts) {
		p.advance()
		c.Args = append(c.Args, p.symbol("after TO"))
	}
	for p.acceptOp(",") {
		c.Args = append(c.Args, p.argument())
	}
	p.nullTreatment(c)
	if p.is("ORDER") {
		c.OrderBy = p.orderBy()
	}
}

// nullTreatment reads IGNORE NULLS or RESPECT NULLS, if it is there.
func (p *parser) nullTreatment(c *ast.Call) bool {
	switch {
	case p.accept("IGNORE", "NULLS"):
		c.Nulls = ast.IgnoreNulls
	case p.accept("RESPECT", "NULLS"):
		c.Nulls = ast.RespectNulls
	default:
		return false
	}
	return true
}

func isFloorOrCeil(name []ast.Ident) bool {
	if len(name) != 1 {
		return false
	}
	f := name[0].Name
	return strings.EqualFold(f, "FLOOR") || strings.EqualFold(f, "CEIL") || strings.EqualFold(f, "CEILING")
}

// argument reads one argument of a call: an expression, name => value, a table, a DESCRIPTOR, a unit or DEFAULT.
func (p *parser) argument() ast.Expr {
	p.enter()
	defer p.leave()
	start := p.tok.Span
	if (p.tok.kind == tokWord || p.tok.kind == tokQuoted) && p.at(1).isOp("=>") {
		name := ast.Ident{Span: start, Name: p.tok.text, Quoted: p.tok.kind == tokQuoted}
		p.advance()
		p.advance()
		value := p.argument()
		return &ast.NamedArg{Span: p.span(start), Name: name, Value: value}
	}
	switch {
	case p.is("TABLE"):
		p.advance()
		name := p.name("the name of a table")
		return p.tableArg(start, &ast.TableArg{Table: &name})
	case p.is("DESCRIPTOR") && p.at(1).isOp("("):
		p.advance()
		cols := p.idents("a column", "after DESCRIPTOR")
		return &ast.Descriptor{Span: p.span(start), Cols: cols}
	case p.is("DEFAULT"):
		p.advance()
		return &ast.DefaultArg{Span: start}
	case p.tok.kind == tokWord && isReservedUnit(p.tok.up) && !p.at(1).isOp("("):
		return p.symbol("")
	case p.is("SELECT"):
		p.failAt(start, "write (SELECT ..)", "a query as an argument stands in parentheses")
	case p.queryInParens():
		mate := p.tok.mate
		if after := &p.toks[mate+1]; mate > 0 && after.is("PARTITION") {
			return p.tableArg(start, &ast.TableArg{Query: p.parenQuery()})
		}
	}
	return p.expr()
}

// tableArg reads what may follow a table as an argument.
func (p *parser) tableArg(start diag.Span, t *ast.TableArg) ast.Expr {
	if p.accept("PARTITION") {
		p.expect("after PARTITION", "BY")
		if p.isOp("(") {
			p.advance()
			t.PartitionBy = p.exprs()
			p.expectOp(")", "after the columns of PARTITION BY")
		} else {
			// Without parentheses a comma belongs to the arguments.
			t.PartitionBy = []ast.Expr{p.expr()}
		}
	}
	if p.accept("ORDER") {
		p.expect("after ORDER", "BY")
		if p.isOp("(") {
			p.advance()
			t.OrderBy = p.orderItems()
			p.expectOp(")", "after the columns of ORDER BY")
		} else {
			t.OrderBy = []ast.OrderItem{p.orderItem()}
		}
	}
	t.Span = p.span(start)
	return t
}

// symbol reads a keyword that stands as an argument, such as a time unit.
func (p *parser) symbol(where string) ast.Expr {
	if p.tok.kind != tokWord {
		p.expected("a time unit", where)
	}
	s := &ast.Symbol{Span: p.tok.Span, Name: p.tok.up}
	p.advance()
	return s
}

// closeCall reads the closing parenthesis of a call and the clauses behind it.
func (p *parser) closeCall(start diag.Span, c *ast.Call) {
	p.expectOp(")", "after the arguments of "+c.FuncName())
	for {
		switch {
		case p.nullTreatment(c):
		case p.isSeq("WITHIN", "GROUP"):
			p.advance()
			p.advance()
			p.expectOp("(", "after WITHIN GROUP")
			c.WithinGroup = p.orderBy()
			p.expectOp(")", "after WITHIN GROUP (ORDER BY ..")
		case p.is("FILTER"):
			p.advance()
			p.expectOp("(", "after FILTER")
			p.expect("after FILTER (", "WHERE")
			c.Filter = p.expr()
			p.expectOp(")", "after the condition of FILTER")
		case p.is("OVER"):
			p.advance()
			c.Over = p.over()
			c.Span = p.span(start)
			return
		default:
			c.Span = p.span(start)
			return
		}
	}
}

// over reads what follows OVER: a name, or a window in parentheses.
func (p *parser) over() *ast.WindowSpec {
	if !p.isOp("(") {
		name := p.ident(`a window's name or "(" after OVER`)
		return &ast.WindowSpec{Span: name.Span, Ref: &name, Bare: true}
	}
	w := p.windowSpec()
	return &w
}

// windowSpec reads ([name] [PARTITION BY ..] [ORDER BY ..] [ROWS|RANGE ..]).
func (p *parser) windowSpec() ast.WindowSpec {
	start := p.tok.Span
	var w ast.WindowSpec
	p.expectOp("(", "before a window's definition")
	if p.tok.isName() {
		name := p.ident("a window's name")
		w.Ref = &name
	}
	if p.accept("PARTITION") {
		p.expect("after PARTITION", "BY")
		w.PartitionBy = p.exprs()
	}
	if p.is("ORDER") {
		w.OrderBy = p.orderBy()
	}
	if p.isAny("ROWS", "RANGE") {
		w.Frame = p.frame()
	}
	p.expectOp(")", "at the end of the window's definition")
	w.Span = p.span(start)
	return w
}

func (p *parser) frame() *ast.Frame {
	start := p.tok.Span
	f := &ast.Frame{Rows: p.is("ROWS")}
	p.advance()
	f.Between = p.accept("BETWEEN")
	f.Lo = p.bound()
	if f.Between {
		p.expect("between the bounds of a window's frame", "AND")
		f.Hi = p.bound()
	} else {
		f.Hi = ast.Bound{Span: f.Lo.Span, Kind: ast.CurrentRow}
	}
	f.Span = p.span(start)
	return f
}

func (p *parser) bound() ast.Bound {
	start := p.tok.Span
	var b ast.Bound
	switch {
	case p.accept("CURRENT"):
		p.expect("after CURRENT", "ROW")
		b.Kind = ast.CurrentRow
	case p.is("UNBOUNDED") && (p.at(1).is("PRECEDING") || p.at(1).is("FOLLOWING")):
		p.advance()
		b.Kind = ast.UnboundedPreceding
		if p.is("FOLLOWING") {
			b.Kind = ast.UnboundedFollowing
		}
		p.advance()
	default:
		b.Offset = p.expr()
		switch {
		case p.accept("PRECEDING"):
			b.Kind = ast.Preceding
		case p.accept("FOLLOWING"):
			b.Kind = ast.Following
		default:
			p.expected("PRECEDING or FOLLOWING", "after the bound of a window's frame")
		}
	}
	b.Span = p.span(start)
	return b
}

// special begins the call of a function with a syntax of its own: it uses the name and the opening parenthesis.
func (p *parser) special() (diag.Span, *ast.Call) {
	t := p.tok
	p.advance()
	p.expectOp("(", "after "+t.up)
	return t.Span, &ast.Call{Name: ast.Name{Span: t.Span, Parts: []ast.Ident{{Span: t.Span, Name: t.text}}}}
}

func (p *parser) extract() ast.Expr {
	start, c := p.special()
	unit := p.symbol("in EXTRACT, such as EXTRACT(YEAR FROM x)")
	p.expect("after the unit in EXTRACT", "FROM")
	c.Args = []ast.Expr{unit, p.expr()}
	p.closeCall(start, c)
	return c
}

func (p *parser) trim() ast.Expr {
	start, c := p.special()
	flag := &ast.Symbol{Span: p.tok.Span, Name: "BOTH"}
	explicit := p.isAny("BOTH", "LEADING", "TRAILING")
	if explicit {
		flag.Name = p.tok.up
		p.advance()
	}
	var chars ast.Expr = &ast.StringLit{Span: p.tok.Span, Value: " "}
	if p.is("FROM") && explicit {
		p.advance()
		c.Args = []ast.Expr{flag, chars, p.expr()}
		p.closeCall(start, c)
		return c
	}
	x := p.expr()
	switch {
	case p.accept("FROM"):
		c.Args = []ast.Expr{flag, x, p.expr()}
	case explicit:
		p.expected("FROM", "in TRIM")
	case p.isOp(","):
		p.failAt(p.tok.Span, "write TRIM(BOTH chars FROM x), or BTRIM(x, chars)", "TRIM takes one argument")
	default:
		c.Args = []ast.Expr{x}
	}
	p.closeCall(start, c)
	return c
}

func (p *parser) substring() ast.Expr {
	start, c := p.special()
	c.Args = []ast.Expr{p.expr()}
	if p.accept("FROM") {
		c.Args = append(c.Args, p.expr())
		if p.accept("FOR") {
			c.Args = append(c.Args, p.expr())
		}
	} else {
		p.expectOp(",", "after the text in SUBSTRING")
		c.Args = append(c.Args, p.exprs()...)
	}
	p.closeCall(start, c)
	return c
}

func (p *parser) overlay() ast.Expr {
	start, c := p.special()
	text := p.expr()
	p.expect("after the text in OVERLAY", "PLACING")
	with := p.expr()
	p.expect("after PLACING .. in OVERLAY", "FROM")
	c.Args = []ast.Expr{text, with, p.expr()}
	if p.accept("FOR") {
		c.Args = append(c.Args, p.expr())
	}
	p.closeCall(start, c)
	return c
}

func (p *parser) position() ast.Expr {
	start, c := p.special()
	// IN belongs to POSITION here, so what is sought must not swallow it.
	what := p.exprAbove(precLike + 1)
	p.expect("in POSITION(a IN b)", "IN")
	c.Args = []ast.Expr{what, p.expr()}
	if p.accept("FROM") {
		c.Args = append(c.Args, p.expr())
	}
	p.closeCall(start, c)
	return c
}

func (p *parser) timestampAdd() ast.Expr {
	if !p.at(1).isOp("(") {
		return nil
	}
	start, c := p.special()
	c.Args = []ast.Expr{p.symbol("in " + c.FuncName())}
	for p.acceptOp(",") {
		c.Args = append(c.Args, p.expr())
	}
	p.closeCall(start, c)
	return c
}
