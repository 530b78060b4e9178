package bind

import (
	"slices"

	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/internal/sql/catalog"
	"github.com/millstream-io/millstream/internal/sql/connect"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

// from binds an item of a FROM clause; nil means that an error was reported.
func (b *Binder) from(t ast.TableRef) *relation {
	switch t := t.(type) {
	case *ast.TableName:
		return b.tableName(&t.Name, t.Hints, t.AsOf)
	case *ast.SubqueryTable:
		if t.Lateral {
			b.unsupported(t.Pos(), "LATERAL")
			return nil
		}
		return b.query(t.Query)
	case *ast.AliasedTable:
		return b.aliased(t)
	case *ast.TableFunc:
		return b.tableFunc(t)
	case *ast.Join:
		return b.join(t)
	case *ast.Unnest:
		b.unsupported(t.Pos(), "UNNEST")
	case *ast.MatchRecognize:
		b.from(t.Table)
		b.unsupported(t.Pos(), "MATCH_RECOGNIZE")
	default:
		b.unsupported(t.Pos(), "this kind of table")
	}
	return nil
}

func (b *Binder) aliased(t *ast.AliasedTable) *relation {
	rel := b.from(t.Table)
	if rel == nil {
		return nil
	}
	rel = b.onlyShown(rel)
	out := &relation{node: rel.node, names: []string{t.Alias.Name}}
	if len(t.Columns) == 0 {
		return out
	}
	out.node = b.renamed(rel.node, t.Columns, t.Alias.Pos(), t.Alias.Name)
	if out.node == nil {
		return nil
	}
	return out
}

// renamed gives the columns of a node the names of a list, which must have as many.
func (b *Binder) renamed(n plan.Node, names []ast.Ident, pos diag.Pos, what string) plan.Node {
	in := n.Schema()
	if len(names) != len(in.Fields) {
		b.errorf(pos, "%s names %d columns, but there are %d", what, len(names), len(in.Fields))
		return nil
	}
	out := schemaOf(in)
	for i, id := range names {
		out.Fields[i].Name = id.Name
	}
	return &plan.Project{Input: n, Exprs: passAll(in), Out: out}
}

// tableName binds a common table expression, a view or a table.
func (b *Binder) tableName(name *ast.Name, hints []ast.Hint, asOf ast.Expr) *relation {
	if asOf != nil {
		b.unsupported(asOf.Pos(), "FOR SYSTEM_TIME AS OF")
		return nil
	}
	parts := name.Strings()
	if len(parts) == 1 {
		for i := len(b.ctes) - 1; i >= 0; i-- {
			if c := b.ctes[i]; c.name == parts[0] {
				if c.bad {
					return nil
				}
				return &relation{node: c.rel.node, names: parts}
			}
		}
	}
	path := b.Catalog.Resolve(parts)
	switch o := b.Catalog.Lookup(path).(type) {
	case *catalog.Table:
		return b.origin(b.table(o, b.optionHints(hints), name.Pos()), path)
	case *catalog.View:
		if override := b.optionHints(hints); len(override) > 0 {
			b.errorf(override[0].KeyPos, "OPTIONS cannot be given to the view %s, only to a table", path.Name)
			return nil
		}
		return b.origin(b.view(o, name.Pos()), path)
	}
	b.unknownTable(name, path)
	return nil
}

func (b *Binder) unknownTable(name *ast.Name, path catalog.Path) {
	if reason, ok := b.Catalog.Refused(path); ok {
		b.missing.Errorf(name.Pos(), "%s was not created: %s", path.Name, reason)
		return
	}
	if err := b.Catalog.Check(path); err != nil {
		b.errorf(name.Pos(), "unknown table %s: %v", path, err)
		return
	}
	candidates := b.Catalog.Names(path.Catalog, path.Database, "")
	for _, c := range b.ctes {
		candidates = append(candidates, c.name)
	}
	b.unknown(name.Pos(), path.Name, candidates, "unknown table %s", path.Name)
}

// hintNames are the hints that Flink knows. All but OPTIONS speak of joins and state; where there is no such state, they change
// no answer.
var hintNames = []string{"OPTIONS", "BROADCAST", "SHUFFLE_HASH", "SHUFFLE_MERGE", "NEST_LOOP", "LOOKUP", "STATE_TTL", "MULTI_JOIN"}

// knownHints reports hints that do not exist.
func (b *Binder) knownHints(hints []ast.Hint) {
	for _, h := range hints {
		if name := upper(h.Name.Name); !slices.Contains(hintNames, name) {
			b.unknown(h.Pos(), name, hintNames, "unknown hint %s", h.Name.Name)
		} else if name == "STATE_TTL" && len(h.Args) > 0 {
			b.errorf(h.Pos(), "STATE_TTL needs key-value pairs: /*+ STATE_TTL('table' = '1 d') */")
		}
	}
}

// optionHints returns the options of the OPTIONS hints.
func (b *Binder) optionHints(hints []ast.Hint) []catalog.Option {
	b.knownHints(hints)
	var out []catalog.Option
	for _, h := range hints {
		if upper(h.Name.Name) != "OPTIONS" {
			continue
		}
		if len(h.Options) == 0 {
			b.errorf(h.Pos(), "OPTIONS needs key-value pairs: /*+ OPTIONS('key' = 'value') */")
		}
		out = append(out, Options(h.Options)...)
	}
	return out
}

// Options converts the options of a WITH clause or a hint.
func Options(in []ast.Option) []catalog.Option {
	out := make([]catalog.Option, len(in))
	for i, o := range in {
		out[i] = catalog.Option{Key: o.Key.Value, Value: o.Value.Value, KeyPos: o.Key.Pos(), ValuePos: o.Value.Pos()}
	}
	return out
}

// view binds the query of a view, with the names that it had when the view was created.
func (b *Binder) view(v *catalog.View, pos diag.Pos) *relation {
	if slices.Contains(b.views, v.Path) {
		b.errorf(pos, "the view %s reads itself", v.Path.Name)
		return nil
	}
	b.views = append(b.views, v.Path)
	ctes := b.ctes
	b.ctes = nil
	var rel *relation
	b.Catalog.In(v.Catalog, v.Database, func() { rel = b.topQuery(v.Query) })
	b.ctes, b.views = ctes, b.views[:len(b.views)-1]
	if rel == nil {
		return nil
	}
	in := rel.node.Schema()
	if len(in.Fields) != len(v.Schema.Fields) {
		b.errorf(pos, "the view %s has %d columns, but its query now has %d; drop it and create it anew",
			v.Path.Name, len(v.Schema.Fields), len(in.Fields))
		return nil
	}
	out := schemaOf(in)
	for i, f := range v.Schema.Fields {
		out.Fields[i].Name = f.Name
	}
	n := rel.node
	if !slices.Equal(out.Names(), in.Names()) {
		n = &plan.Project{Input: n, Exprs: passAll(in), Out: out}
	}
	return &relation{node: n, names: v.Path.Parts()}
}

// table binds the scan of a table: what its source gives, then the computed columns, then the watermark.
func (b *Binder) table(t *catalog.Table, override []catalog.Option, pos diag.Pos) *relation {
	conn, err := connect.Open(t, override)
	if err != nil {
		b.fault(err)
		return nil
	}
	scan := &plan.Scan{Table: b.withSource(t, conn.Def), Options: override, Fields: &types.Schema{}, Pos: pos}
	for _, kind := range []ast.ColumnKind{ast.Physical, ast.Metadata} {
		for i := range t.Columns {
			c := &t.Columns[i]
			if c.Kind != kind {
				continue
			}
			typ := c.Type.Plain()
			if kind == ast.Metadata {
				m := conn.Metadata(c.Key)
				if m == nil {
					b.unknownMetadata(c, conn)
					return nil
				}
				typ = m.Type
			}
			scan.Columns = append(scan.Columns, i)
			scan.Fields.Fields = append(scan.Fields.Fields, types.Field{Name: c.Name, Type: typ})
		}
	}
	source, err := conn.Source(b.Host, scan.Columns, scan.Fields, 1)
	if err != nil {
		b.fault(err)
		return nil
	}
	scan.Modes = source.Modes()
	var ok bool
	if scan.Lateness, ok = b.lateness(t, conn); !ok {
		return nil
	}
	n := b.columnsOf(scan, t)
	if n == nil {
		return nil
	}
	if n = b.watermarkOf(n, t); n == nil {
		return nil
	}
	return &relation{node: n, names: t.Path.Parts()}
}

func (b *Binder) unknownMetadata(c *catalog.Column, conn *connect.Table) {
	var keys []string
	for _, m := range conn.Def.Metadata {
		keys = append(keys, m.Key)
	}
	if len(keys) == 0 {
		b.errorf(c.Pos, "column %q: the connector %q has no metadata", c.Name, conn.Def.Name)
		return
	}
	b.unknown(c.Pos, c.Key, keys, "column %q: the connector %q has no metadata %q", c.Name, conn.Def.Name, c.Key)
}

// columnsOf puts the columns in the order of the table, computes what is computed, and casts metadata to its column's type.
func (b *Binder) columnsOf(scan *plan.Scan, t *catalog.Table) plan.Node {
	s := over(&relation{node: scan, names: t.Path.Parts()}, "a computed column")
	p := &plan.Project{Input: scan, Out: t.Schema()}
	plain := true
	for i := range t.Columns {
		c := &t.Columns[i]
		p.Out.Fields[i].Type = c.Type
		if c.Type.Attr == types.Rowtime {
			p.Out.Fields[i].Type = c.Type.Plain()
		}
		var e expr.Expr
		if c.Kind == ast.Computed {
			plain = false
			e = b.expr(s, c.Expr)
		} else {
			at := scan.Fields.Index(c.Name)
			plain = plain && at == i
			e = expr.NewCol(at, c.Name, scan.Fields.Fields[at].Type)
			if !e.Type().Equal(p.Out.Fields[i].Type) {
				plain = false
				e = b.checked(c.Pos)(expr.Coerce(e, p.Out.Fields[i].Type, b.Env))
			}
		}
		if e == nil {
			return nil
		}
		p.Exprs = append(p.Exprs, e)
	}
	if plain {
		return scan
	}
	return p
}

// watermarkOf puts the table's watermark on the node of its columns.
func (b *Binder) watermarkOf(n plan.Node, t *catalog.Table) plan.Node {
	w := t.Watermark
	if w == nil {
		return n
	}
	out := schemaOf(n.Schema())
	col := out.Index(w.Column)
	out.Fields[col].Type.Attr = types.Rowtime
	node := &plan.Watermark{Input: n, Col: col, Out: out}
	if !w.Source {
		s := over(&relation{node: n, names: t.Path.Parts()}, "a WATERMARK")
		if node.Expr = b.expr(s, w.Expr); node.Expr == nil {
			return nil
		}
	}
	return node
}
