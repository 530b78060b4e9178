package ast

import (
	"fmt"
	"strconv"
	"strings"
)

// String prints the node as SQL in one line. What it prints parses to the same tree; names stand in back-ticks where they
// must, and parentheses only where the tree needs them.
func String(n Node) string {
	var p printer
	p.node(n)
	return p.String()
}

type printer struct{ strings.Builder }

// put writes the strings one after the other.
func (p *printer) put(parts ...string) {
	for _, s := range parts {
		p.WriteString(s)
	}
}

// putIf writes the text if the condition holds.
func (p *printer) putIf(cond bool, text string) {
	if cond {
		p.WriteString(text)
	}
}

// list writes n items with the separator between them.
func (p *printer) list(n int, sep string, item func(i int)) {
	for i := range n {
		if i > 0 {
			p.put(sep)
		}
		item(i)
	}
}

func (p *printer) idents(ids []Ident) {
	p.list(len(ids), ", ", func(i int) { p.put(QuoteIdent(ids[i].Name)) })
}

func (p *printer) name(n *Name) { p.parts(n.Parts) }

func (p *printer) parts(ids []Ident) {
	p.list(len(ids), ".", func(i int) { p.put(QuoteIdent(ids[i].Name)) })
}

func (p *printer) str(s *StringLit) {
	if s.Charset != "" {
		p.put("_", s.Charset)
	}
	p.put(QuoteString(s.Value))
}

// clause writes a keyword and a string, if there is one.
func (p *printer) clause(word string, s *StringLit) {
	if s != nil {
		p.put(" ", word, " ")
		p.str(s)
	}
}

func (p *printer) node(n Node) {
	switch n := n.(type) {
	case Expr:
		p.expr(n)
	case Statement:
		p.statement(n)
	case QueryBody:
		p.body(n)
	case TableRef:
		p.table(n)
	case Pattern:
		p.pattern(n)
	case *TypeName:
		p.typeName(n)
	case *Name:
		p.name(n)
	default:
		p.part(n)
	}
}

// part writes a node that is only a part of others.
func (p *printer) part(n Node) {
	switch n := n.(type) {
	case Ident:
		p.put(QuoteIdent(n.Name))
	case *Ident:
		p.put(QuoteIdent(n.Name))
	case Name:
		p.name(&n)
	case SelectItem:
		p.selectItem(&n)
	case *SelectItem:
		p.selectItem(n)
	case OrderItem:
		p.orderItem(&n)
	case *OrderItem:
		p.orderItem(n)
	case GroupItem:
		p.groupItem(&n)
	case *GroupItem:
		p.groupItem(n)
	case Column:
		p.column(&n)
	case *Column:
		p.column(n)
	case Watermark:
		p.watermark(&n)
	case *Watermark:
		p.watermark(n)
	case *WindowSpec:
		p.window(n)
	case *Frame:
		p.frame(n)
	case Hint:
		p.hint(&n)
	default:
		panic(fmt.Sprintf("ast: %T has no text of its own", n))
	}
}

func (p *printer) statement(s Statement) {
	switch s := s.(type) {
	case *CreateTable:
		p.createTable(s)
	case *CreateView:
		p.createView(s)
	case *CreateFunction:
		p.createFunction(s)
	case *CreateCatalog:
		p.put("CREATE CATALOG ")
		p.putIf(s.IfNotExists, "IF NOT EXISTS ")
		p.put(QuoteIdent(s.Name.Name))
		p.clause("COMMENT", s.Comment)
		p.options(s.Options)
	case *CreateDatabase:
		p.put("CREATE DATABASE ")
		p.putIf(s.IfNotExists, "IF NOT EXISTS ")
		p.name(&s.Name)
		p.clause("COMMENT", s.Comment)
		p.options(s.Options)
	case *Drop:
		p.drop(s)
	case *Alter:
		p.put("ALTER ", string(s.Kind), " ")
		p.putIf(s.IfExists, "IF EXISTS ")
		p.name(&s.Name)
		p.put(" ", s.Action)
	case *Insert:
		p.insert(s)
	case *StatementSet:
		p.statementSet(s, "EXECUTE ")
	case *QueryStatement:
		p.query(s.Query)
	default:
		p.command(s)
	}
}

// command writes the statements that neither define nor move data.
func (p *printer) command(s Statement) {
	switch s := s.(type) {
	case *Set:
		p.put("SET")
		if s.Key != nil {
			p.put(" ", QuoteString(s.Key.Value), " = ", QuoteString(s.Value.Value))
		}
	case *Reset:
		p.put("RESET")
		if s.Key != nil {
			p.put(" ", QuoteString(s.Key.Value))
		}
	case *Explain:
		p.put("EXPLAIN ", strings.Join(s.Details, ", "))
		p.putIf(len(s.Details) > 0, " ")
		if set, ok := s.Statement.(*StatementSet); ok {
			p.statementSet(set, "")
		} else {
			p.statement(s.Statement)
		}
	case *Describe:
		p.put("DESCRIBE ")
		p.putIf(s.Kind != TableObject, string(s.Kind)+" ")
		p.putIf(s.Extended, "EXTENDED ")
		p.name(&s.Name)
	case *Show:
		p.show(s)
	case *Use:
		p.put("USE ")
		p.putIf(s.Catalog, "CATALOG ")
		p.name(&s.Name)
	default:
		panic(fmt.Sprintf("ast: unknown statement %T", s))
	}
}

func (p *printer) createTable(t *CreateTable) {
	p.put("CREATE ")
	p.putIf(t.OrReplace, "OR REPLACE ")
	p.putIf(t.Temporary, "TEMPORARY ")
	p.put("TABLE ")
	p.putIf(t.IfNotExists, "IF NOT EXISTS ")
	p.name(&t.Name)
	p.tableElements(t)
	p.clause("COMMENT", t.Comment)
	if d := t.Distribution; d != nil {
		p.put(" DISTRIBUTED")
		if len(d.Columns) > 0 {
			p.put(" BY ", d.Kind, "(")
			p.idents(d.Columns)
			p.put(")")
		}
		p.putIf(d.Buckets > 0, " INTO "+strconv.Itoa(d.Buckets)+" BUCKETS")
	}
	if len(t.PartitionedBy) > 0 {
		p.put(" PARTITIONED BY (")
		p.idents(t.PartitionedBy)
		p.put(")")
	}
	p.options(t.Options)
	if l := t.Like; l != nil {
		p.put(" LIKE ")
		p.name(&l.Table)
		if len(l.Options) > 0 {
			p.put(" (")
			p.list(len(l.Options), " ", func(i int) { p.put(l.Options[i].Action, " ", l.Options[i].What) })
			p.put(")")
		}
	}
	if t.AsQuery != nil {
		p.put(" AS ")
		p.query(t.AsQuery)
	}
}

func (p *printer) tableElements(t *CreateTable) {
	n, w := len(t.Columns), len(t.Watermarks)
	if n+w+len(t.Keys) == 0 {
		return
	}
	p.put(" (")
	p.list(n+w+len(t.Keys), ", ", func(i int) {
		switch {
		case i < n:
			p.column(&t.Columns[i])
		case i < n+w:
			p.watermark(&t.Watermarks[i-n])
		default:
			p.key(&t.Keys[i-n-w])
		}
	})
	p.put(")")
}

func (p *printer) column(c *Column) {
	p.put(QuoteIdent(c.Name.Name))
	switch c.Kind {
	case Computed:
		p.put(" AS ")
		p.expr(c.Expr)
	case Physical, Metadata:
		p.put(" ")
		p.typeName(c.Type)
		p.putIf(c.Kind == Metadata, " METADATA")
		p.clause("FROM", c.From)
		p.putIf(c.Virtual, " VIRTUAL")
	}
	if c.Key != nil {
		p.put(" ")
		p.key(c.Key)
	}
	p.clause("COMMENT", c.Comment)
}

func (p *printer) watermark(w *Watermark) {
	p.put("WATERMARK FOR ")
	p.name(&w.Column)
	p.put(" AS ")
	p.expr(w.Expr)
}

func (p *printer) key(k *Key) {
	if k.Name != nil {
		p.put("CONSTRAINT ", QuoteIdent(k.Name.Name), " ")
	}
	if k.Unique {
		p.put("UNIQUE")
	} else {
		p.put("PRIMARY KEY")
	}
	if len(k.Columns) > 0 {
		p.put(" (")
		p.idents(k.Columns)
		p.put(")")
	}
	p.putIf(k.NotEnforced, " NOT ENFORCED")
	p.putIf(k.Enforced, " ENFORCED")
}

func (p *printer) options(opts []Option) {
	if len(opts) == 0 {
		return
	}
	p.put(" WITH (")
	p.optionList(opts)
	p.put(")")
}

func (p *printer) optionList(opts []Option) {
	p.list(len(opts), ", ", func(i int) {
		p.put(QuoteString(opts[i].Key.Value), " = ")
		p.put(QuoteString(opts[i].Value.Value))
	})
}

func (p *printer) createView(v *CreateView) {
	p.put("CREATE ")
	p.putIf(v.OrReplace, "OR REPLACE ")
	p.putIf(v.Temporary, "TEMPORARY ")
	p.put("VIEW ")
	p.putIf(v.IfNotExists, "IF NOT EXISTS ")
	p.name(&v.Name)
	if len(v.Columns) > 0 {
		p.put(" (")
		p.idents(v.Columns)
		p.put(")")
	}
	p.clause("COMMENT", v.Comment)
	p.put(" AS ")
	p.query(v.Query)
}

func (p *printer) createFunction(f *CreateFunction) {
	p.put("CREATE ")
	p.putIf(f.Temporary, "TEMPORARY ")
	p.putIf(f.System, "SYSTEM ")
	p.put("FUNCTION ")
	p.putIf(f.IfNotExists, "IF NOT EXISTS ")
	p.name(&f.Name)
	p.clause("AS", f.Class)
	p.putIf(f.Language != "", " LANGUAGE "+f.Language)
	if len(f.Jars) > 0 {
		p.put(" USING ")
		p.list(len(f.Jars), ", ", func(i int) { p.put("JAR ", QuoteString(f.Jars[i].Value)) })
	}
	p.options(f.Options)
}

func (p *printer) drop(d *Drop) {
	p.put("DROP ")
	p.putIf(d.Temporary, "TEMPORARY ")
	p.putIf(d.System, "SYSTEM ")
	p.put(string(d.Kind), " ")
	p.putIf(d.IfExists, "IF EXISTS ")
	p.name(&d.Name)
	p.putIf(d.Cascade, " CASCADE")
}

func (p *printer) insert(s *Insert) {
	p.put("INSERT ")
	if s.Overwrite {
		p.put("OVERWRITE ")
	} else {
		p.put("INTO ")
	}
	p.name(&s.Table)
	p.hints(s.Hints)
	if len(s.Partition) > 0 {
		p.put(" PARTITION (")
		p.list(len(s.Partition), ", ", func(i int) {
			p.put(QuoteIdent(s.Partition[i].Column.Name), " = ")
			p.exprAt(s.Partition[i].Value, 7)
		})
		p.put(")")
	}
	if len(s.Columns) > 0 {
		p.put(" (")
		p.list(len(s.Columns), ", ", func(i int) { p.name(&s.Columns[i]) })
		p.put(")")
	}
	p.put(" ")
	p.query(s.Query)
	if s.OnConflict != nil {
		p.put(" ON CONFLICT DO ", s.OnConflict.Name)
	}
}

func (p *printer) statementSet(s *StatementSet, verb string) {
	p.put(verb, "STATEMENT SET BEGIN ")
	for _, ins := range s.Inserts {
		p.insert(ins)
		p.put("; ")
	}
	p.put("END")
}

func (p *printer) show(s *Show) {
	p.put("SHOW ", s.What)
	if s.Name != nil {
		// PARTITIONS and CREATE .. take a name directly; for the others it is a place.
		if s.What != "PARTITIONS" && !strings.HasPrefix(s.What, "CREATE ") {
			p.put(" FROM")
		}
		p.put(" ")
		p.name(s.Name)
	}
	if s.Like != nil {
		p.putIf(s.Not, " NOT")
		p.clause(s.Op, s.Like)
	}
}
