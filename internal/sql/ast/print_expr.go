package ast

import (
	"fmt"
	"strings"
)

// Binding powers, as the parser has them; an operand that binds less than its place asks for stands in parentheses.
var binaryPower = map[string]int{"OR": 1, "AND": 2, "+": 7, "-": 7, "*": 8, "/": 8, "%": 8, "||": 8}

const (
	powerNot     = 3
	powerIs      = 4
	powerCompare = 5
	powerLike    = 6
	powerUnary   = 9
	powerOperand = 10
)

func power(e Expr) int {
	switch e := e.(type) {
	case *Binary:
		if n := binaryPower[e.Op]; n > 0 {
			return n
		}
		return powerCompare
	case *Unary:
		if e.Op == "NOT" {
			return powerNot
		}
		return powerUnary
	case *IsTest:
		return powerIs
	case *IsDistinct, *Quantified:
		return powerCompare
	case *Between, *In, *Like:
		return powerLike
	}
	return powerOperand
}

// exprAt writes the expression at a place that needs at least this binding power.
func (p *printer) exprAt(e Expr, least int) {
	if power(e) < least {
		p.put("(")
		p.expr(e)
		p.put(")")
		return
	}
	p.expr(e)
}

func (p *printer) exprs(list []Expr) {
	p.list(len(list), ", ", func(i int) { p.expr(list[i]) })
}

func (p *printer) expr(e Expr) {
	switch e := e.(type) {
	case *ColumnRef:
		p.parts(e.Parts)
	case *Star:
		for _, q := range e.Qualifier {
			p.put(QuoteIdent(q.Name), ".")
		}
		p.put("*")
	case *Unary:
		p.unary(e)
	case *Binary:
		n := power(e)
		p.exprAt(e.L, n)
		p.put(" ", e.Op, " ")
		p.exprAt(e.R, n+1)
	case *Call:
		p.call(e)
	case *Case:
		p.caseExpr(e)
	case *Cast:
		p.putIf(e.Try, "TRY_")
		p.put("CAST(")
		p.expr(e.X)
		p.put(" AS ")
		p.typeName(e.Type)
		p.put(")")
	case *Exists:
		p.put("EXISTS ")
		p.parenQuery(e.Query)
	case *Subquery:
		p.put(e.Kind)
		p.parenQuery(e.Query)
	case *IsTest, *IsDistinct, *Between, *In, *Like, *Quantified:
		p.predicate(e)
	case *RowExpr, *ArrayExpr, *MultisetExpr, *MapExpr, *Index, *FieldAccess:
		p.structure(e)
	case *Symbol, *NamedArg, *DefaultArg, *Descriptor, *TableArg:
		p.argument(e)
	default:
		p.literal(e)
	}
}

func (p *printer) unary(e *Unary) {
	if e.Op == "NOT" {
		p.put("NOT ")
		p.exprAt(e.X, powerNot)
		return
	}
	p.put(e.Op)
	// "--" would begin a comment.
	if _, ok := e.X.(*Unary); ok {
		p.put(" ")
	}
	p.exprAt(e.X, powerUnary)
}

func (p *printer) literal(e Expr) {
	switch e := e.(type) {
	case *NumberLit:
		p.put(e.Text)
	case *StringLit:
		p.str(e)
	case *BinaryLit:
		p.put("X'", e.Hex, "'")
	case *BoolLit:
		if e.Value {
			p.put("TRUE")
		} else {
			p.put("FALSE")
		}
	case *NullLit:
		if e.Unknown {
			p.put("UNKNOWN")
		} else {
			p.put("NULL")
		}
	case *TemporalLit:
		if e.Type == "TIMESTAMP_LTZ" {
			p.put("TIMESTAMP WITH LOCAL TIME ZONE ")
		} else {
			p.put(e.Type, " ")
		}
		p.str(e.Text)
	case *IntervalLit:
		p.put("INTERVAL ")
		p.putIf(e.Negative, "-")
		p.str(e.Text)
		p.put(" ")
		p.qualifier(&e.Qualifier)
	case *IntervalExpr:
		p.intervalExpr(e)
	case *IntervalMinus:
		p.put("(")
		p.exprAt(e.L, 7)
		p.put(" - ")
		p.exprAt(e.R, 8)
		p.put(") ")
		p.qualifier(&e.Qualifier)
	default:
		panic(fmt.Sprintf("ast: unknown expression %T", e))
	}
}

func (p *printer) intervalExpr(e *IntervalExpr) {
	p.put("INTERVAL ")
	switch e.X.(type) {
	case *NumberLit, *ColumnRef:
		p.expr(e.X)
	default:
		p.put("(")
		p.expr(e.X)
		p.put(")")
	}
	p.put(" ")
	p.qualifier(&e.Qualifier)
}

func (p *printer) qualifier(q *IntervalQualifier) {
	p.put(q.From)
	switch {
	case q.FromPrec >= 0 && q.To == "" && q.Frac >= 0:
		fmt.Fprintf(p, "(%d, %d)", q.FromPrec, q.Frac)
	case q.FromPrec >= 0:
		fmt.Fprintf(p, "(%d)", q.FromPrec)
	}
	if q.To != "" {
		p.put(" TO ", q.To)
		if q.Frac >= 0 {
			fmt.Fprintf(p, "(%d)", q.Frac)
		}
	}
}

func (p *printer) predicate(e Expr) {
	not := func(n bool) { p.putIf(n, " NOT") }
	switch e := e.(type) {
	case *IsTest:
		p.exprAt(e.X, powerIs)
		p.put(" IS")
		not(e.Not)
		p.put(" ", e.What)
	case *IsDistinct:
		p.exprAt(e.L, powerCompare)
		p.put(" IS")
		not(e.Not)
		p.put(" DISTINCT FROM ")
		p.exprAt(e.R, powerCompare+1)
	case *Between:
		p.exprAt(e.X, powerLike)
		not(e.Not)
		p.put(" BETWEEN ")
		p.putIf(e.Symmetric, "SYMMETRIC ")
		p.exprAt(e.Lo, powerLike+1)
		p.put(" AND ")
		p.exprAt(e.Hi, powerLike+1)
	case *In:
		p.exprAt(e.X, powerLike)
		not(e.Not)
		p.put(" IN ")
		p.listOrQuery(e.List, e.Query)
	case *Like:
		p.exprAt(e.X, powerLike)
		not(e.Not)
		p.put(" ", e.Op, " ")
		p.exprAt(e.Pattern, powerLike+1)
		if e.Escape != nil {
			p.put(" ESCAPE ")
			p.exprAt(e.Escape, powerLike+1)
		}
	case *Quantified:
		p.exprAt(e.X, powerCompare)
		p.put(" ", e.Op, " ", e.Quantifier, " ")
		p.listOrQuery(e.List, e.Query)
	}
}

func (p *printer) listOrQuery(list []Expr, q *Query) {
	if q != nil {
		p.parenQuery(q)
		return
	}
	// (x) with a query as x would be a query itself.
	p.put("(")
	p.exprs(list)
	p.put(")")
}

func (p *printer) structure(e Expr) {
	bracketed := func(word string, elems []Expr) {
		p.put(word, "[")
		p.exprs(elems)
		p.put("]")
	}
	switch e := e.(type) {
	case *RowExpr:
		p.putIf(!e.Implicit, "ROW")
		p.put("(")
		p.exprs(e.Elems)
		p.put(")")
	case *ArrayExpr:
		bracketed("ARRAY", e.Elems)
	case *MultisetExpr:
		bracketed("MULTISET", e.Elems)
	case *MapExpr:
		bracketed("MAP", e.Elems)
	case *Index:
		p.base(e.X, false)
		p.put("[")
		p.expr(e.Index)
		p.put("]")
	case *FieldAccess:
		p.base(e.X, true)
		p.put(".", QuoteIdent(e.Name.Name))
	}
}

// base writes the operand before [..] or .name. Before a dot a name stands in parentheses, since it would go on otherwise.
func (p *printer) base(x Expr, dot bool) {
	plain := false
	switch x.(type) {
	case *Call, *Index, *FieldAccess, *Cast, *RowExpr, *ArrayExpr, *MultisetExpr, *MapExpr, *Subquery:
		plain = true
	case *ColumnRef:
		plain = !dot
	}
	if plain {
		p.expr(x)
		return
	}
	p.put("(")
	p.expr(x)
	p.put(")")
}

func (p *printer) argument(e Expr) {
	switch e := e.(type) {
	case *Symbol:
		p.put(e.Name)
	case *NamedArg:
		p.put(QuoteIdent(e.Name.Name), " => ")
		p.expr(e.Value)
	case *DefaultArg:
		p.put("DEFAULT")
	case *Descriptor:
		p.put("DESCRIPTOR(")
		p.idents(e.Cols)
		p.put(")")
	case *TableArg:
		if e.Table != nil {
			p.put("TABLE ")
			p.name(e.Table)
		} else {
			p.parenQuery(e.Query)
		}
		if len(e.PartitionBy) > 0 {
			p.put(" PARTITION BY (")
			p.exprs(e.PartitionBy)
			p.put(")")
		}
		if len(e.OrderBy) > 0 {
			p.put(" ORDER BY (")
			p.orderItems(e.OrderBy)
			p.put(")")
		}
	}
}

func (p *printer) caseExpr(c *Case) {
	p.put("CASE")
	if c.Operand != nil {
		p.put(" ")
		p.expr(c.Operand)
	}
	for _, w := range c.Whens {
		p.put(" WHEN ")
		p.expr(w.Cond)
		p.put(" THEN ")
		p.expr(w.Result)
	}
	if c.Else != nil {
		p.put(" ELSE ")
		p.expr(c.Else)
	}
	p.put(" END")
}

// funcName writes the name of a function. A reserved word stays bare unless it was written in back-ticks, since many of them
// are functions.
func (p *printer) funcName(n *Name) {
	last := len(n.Parts) - 1
	for _, part := range n.Parts[:last] {
		p.put(QuoteIdent(part.Name), ".")
	}
	id := n.Parts[last]
	upper := strings.ToUpper(id.Name)
	quote := id.Quoted || !isPlainName(id.Name) || last > 0 && reserved[upper]
	switch upper {
	case "MAP", "KEY", "DESCRIPTOR", "FINAL":
		quote = true
	}
	if quote {
		p.put("`", strings.ReplaceAll(id.Name, "`", "``"), "`")
		return
	}
	p.put(id.Name)
}

func (p *printer) call(c *Call) {
	p.putIf(c.Semantics != "", c.Semantics+" ")
	p.funcName(&c.Name)
	if c.Bare {
		return
	}
	p.put("(")
	switch {
	case c.Star:
		p.put("*")
	case c.JSON != nil:
		p.jsonArgs(c)
	default:
		p.putIf(c.Distinct, "DISTINCT ")
		p.args(c)
		if len(c.OrderBy) > 0 {
			p.put(" ")
			p.orderBy(c.OrderBy)
		}
	}
	p.put(")")
	p.callClauses(c)
}

func (p *printer) callClauses(c *Call) {
	switch c.Nulls {
	case RespectNulls:
		p.put(" RESPECT NULLS")
	case IgnoreNulls:
		p.put(" IGNORE NULLS")
	}
	if len(c.WithinGroup) > 0 {
		p.put(" WITHIN GROUP (")
		p.orderBy(c.WithinGroup)
		p.put(")")
	}
	if c.Filter != nil {
		p.put(" FILTER (WHERE ")
		p.expr(c.Filter)
		p.put(")")
	}
	if c.Over != nil {
		p.put(" OVER ")
		p.window(c.Over)
	}
}

// separators are the words between the arguments of functions that have a syntax of their own.
var separators = map[string][]string{
	"EXTRACT":  {" FROM "},
	"TRIM":     {" ", " FROM "},
	"OVERLAY":  {" PLACING ", " FROM ", " FOR "},
	"POSITION": {" IN ", " FROM "},
}

func (p *printer) args(c *Call) {
	var words []string
	least := 0
	if len(c.Name.Parts) == 1 && !c.Name.Parts[0].Quoted {
		name := strings.ToUpper(c.FuncName())
		words = separators[name]
		if _, ok := last(c.Args).(*Symbol); ok && (name == "FLOOR" || name == "CEIL" || name == "CEILING") {
			words = []string{" TO "}
		}
		if name == "POSITION" {
			least = powerLike + 1
		}
	}
	for i, a := range c.Args {
		switch {
		case i == 0:
			p.exprAt(a, least)
			continue
		case i <= len(words):
			p.put(words[i-1])
		default:
			p.put(", ")
		}
		p.expr(a)
	}
}

func last(list []Expr) Expr {
	if len(list) == 0 {
		return nil
	}
	return list[len(list)-1]
}

func (p *printer) jsonArgs(c *Call) {
	pairs := strings.HasPrefix(strings.ToUpper(c.FuncName()), "JSON_OBJECT")
	for i, a := range c.Args {
		switch {
		case pairs && i%2 == 1:
			p.put(" VALUE ")
		case i > 0:
			p.put(", ")
		}
		p.putIf(pairs && i%2 == 0, "KEY ")
		p.expr(a)
		p.putIf(i < len(c.JSON.Format) && c.JSON.Format[i], " FORMAT JSON")
	}
	j := c.JSON
	if len(j.Passing) > 0 {
		p.put(" PASSING ")
		p.list(len(j.Passing), ", ", func(i int) { p.selectItem(&j.Passing[i]) })
	}
	if j.Returning != nil {
		p.put(" RETURNING ")
		p.typeName(j.Returning)
	}
	p.putIf(j.Wrapper != "", " "+j.Wrapper+" WRAPPER")
	p.jsonBehavior(j.OnEmpty, "EMPTY")
	p.jsonBehavior(j.OnError, "ERROR")
	if len(c.OrderBy) > 0 {
		p.put(" ")
		p.orderBy(c.OrderBy)
	}
	if j.OnNull != "" {
		p.putIf(len(c.Args) > 0, " ")
		p.put(j.OnNull, " ON NULL")
	}
}

func (p *printer) jsonBehavior(b *JSONBehavior, event string) {
	if b == nil {
		return
	}
	p.put(" ", b.Kind)
	if b.Default != nil {
		p.put(" ")
		p.expr(b.Default)
	}
	p.put(" ON ", event)
}

func (p *printer) window(w *WindowSpec) {
	if w.Bare {
		p.put(QuoteIdent(w.Ref.Name))
		return
	}
	p.put("(")
	sep := ""
	next := func() {
		p.put(sep)
		sep = " "
	}
	if w.Ref != nil {
		next()
		p.put(QuoteIdent(w.Ref.Name))
	}
	if len(w.PartitionBy) > 0 {
		next()
		p.put("PARTITION BY ")
		p.exprs(w.PartitionBy)
	}
	if len(w.OrderBy) > 0 {
		next()
		p.orderBy(w.OrderBy)
	}
	if w.Frame != nil {
		next()
		p.frame(w.Frame)
	}
	p.put(")")
}

func (p *printer) frame(f *Frame) {
	if f.Rows {
		p.put("ROWS ")
	} else {
		p.put("RANGE ")
	}
	p.putIf(f.Between, "BETWEEN ")
	p.bound(&f.Lo)
	if f.Between {
		p.put(" AND ")
		p.bound(&f.Hi)
	}
}

func (p *printer) bound(b *Bound) {
	switch b.Kind {
	case UnboundedPreceding:
		p.put("UNBOUNDED PRECEDING")
	case UnboundedFollowing:
		p.put("UNBOUNDED FOLLOWING")
	case CurrentRow:
		p.put("CURRENT ROW")
	case Preceding:
		p.expr(b.Offset)
		p.put(" PRECEDING")
	case Following:
		p.expr(b.Offset)
		p.put(" FOLLOWING")
	}
}
