package bind

import (
	"slices"
	"strconv"

	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

const nullKind = types.Null

// relation is an item of a FROM clause, or a query: a node and how its columns can be named.
type relation struct {
	node plan.Node
	// names are the parts of the name that columns can be qualified by: an alias, or catalog, database and table, of which
	// any tail will do. Empty if the relation has no name.
	names []string
}

// scope is what the names of an expression can mean.
type scope struct {
	rel *relation
	// aggs collects the calls of aggregate functions; nil where none may stand. where says why, for the message.
	aggs  *aggScope
	where string
	// pos has the place of each column that was bound.
	pos map[expr.Expr]diag.Pos
}

// over returns the scope of a relation's columns.
func over(rel *relation, where string) *scope {
	return &scope{rel: rel, where: where, pos: map[expr.Expr]diag.Pos{}}
}

func (s *scope) schema() *types.Schema {
	if s.rel == nil {
		return &types.Schema{}
	}
	return s.rel.node.Schema()
}

// named reports whether qualifier names the scope's relation.
func (s *scope) named(qualifier []string) bool {
	n := len(qualifier)
	return s.rel != nil && n > 0 && n <= len(s.rel.names) && slices.Equal(s.rel.names[len(s.rel.names)-n:], qualifier)
}

// columnRef binds a, t.a, a.f, t.a.f and so on. The longest qualifier that names the relation wins; without one the first
// part is a column, and the rest are fields.
func (b *Binder) columnRef(s *scope, c *ast.ColumnRef) expr.Expr {
	parts := c.Strings()
	first := 0
	for n := len(parts) - 1; n > 0; n-- {
		if s.named(parts[:n]) {
			first = n
			break
		}
	}
	col := b.column(s, c, first)
	if col == nil {
		return nil
	}
	return b.fields(col, c.Parts[first+1:])
}

// column finds the column that part i of a name stands for.
func (b *Binder) column(s *scope, c *ast.ColumnRef, i int) expr.Expr {
	name, pos := c.Parts[i].Name, c.Parts[i].Pos()
	in := s.schema()
	found := -1
	for k, f := range in.Fields {
		if f.Name != name {
			continue
		}
		if found >= 0 {
			b.errorf(pos, "column %q is ambiguous: %s has it more than once", name, s.describe()).
				WithHint("give the columns different names with AS")
			return nil
		}
		found = k
	}
	if found >= 0 {
		col := expr.NewCol(found, name, in.Fields[found].Type)
		s.pos[col] = pos
		return col
	}
	switch e, ambiguous := b.hiddenField(s, name, pos); {
	case ambiguous:
		b.errorf(pos, "column %q is ambiguous: more than one ROW of %s has a field of that name", name, s.describe())
	case e != nil:
		return e
	case i == 0 && len(c.Parts) > 1:
		b.unknownQualifier(s, c)
	case s.rel == nil:
		b.errorf(pos, "unknown column %q: there is no table here", name)
	default:
		b.unknown(pos, name, in.Names(), "unknown column %q in %s", name, s.describe())
	}
	return nil
}

// hiddenField finds a name among the fields of ROW columns, and of ROWs in them, where Flink looks when no column has it. The
// fields that lie least deep count; two of them are ambiguous.
func (b *Binder) hiddenField(s *scope, name string, pos diag.Pos) (e expr.Expr, ambiguous bool) {
	level := passAll(s.schema())
	for _, col := range level {
		s.pos[col] = pos
	}
	for len(level) > 0 {
		var found, next []expr.Expr
		for _, row := range level {
			if row.Type().Kind != types.Row {
				continue
			}
			for i, f := range row.Type().Fields {
				field := expr.NewField(row, i)
				next = append(next, field)
				if f.Name == name {
					found = append(found, field)
				}
			}
		}
		if len(found) > 0 {
			return found[0], len(found) > 1
		}
		level = next
	}
	return nil, false
}

// unknownQualifier reports t.a where t is neither a table nor a column.
func (b *Binder) unknownQualifier(s *scope, c *ast.ColumnRef) {
	name := c.Parts[0].Name
	var candidates []string
	if s.rel != nil {
		if n := len(s.rel.names); n > 0 {
			candidates = append(candidates, s.rel.names[n-1])
		}
		candidates = append(candidates, s.schema().Names()...)
	}
	b.unknown(c.Parts[0].Pos(), name, candidates, "unknown table or column %q", name)
}

// describe names the relation for errors.
func (s *scope) describe() string {
	if s.rel != nil && len(s.rel.names) > 0 {
		return "table " + s.rel.names[len(s.rel.names)-1]
	}
	return "the query's input"
}

// fields follows names into ROWs.
func (b *Binder) fields(e expr.Expr, names []ast.Ident) expr.Expr {
	for _, id := range names {
		t := e.Type()
		if t.Kind != types.Row {
			b.errorf(id.Pos(), "%s is %s and has no field %q", e, article(t), id.Name)
			return nil
		}
		i := slices.IndexFunc(t.Fields, func(f types.Field) bool { return f.Name == id.Name })
		if i < 0 {
			b.unknown(id.Pos(), id.Name, fieldNames(t), "unknown field %q in %s", id.Name, e)
			return nil
		}
		e = expr.NewField(e, i)
	}
	return e
}

func fieldNames(t types.Type) []string {
	out := make([]string, len(t.Fields))
	for i, f := range t.Fields {
		out[i] = f.Name
	}
	return out
}

// article prints a type with its article: "an INT", "a STRING".
func article(t types.Type) string {
	s := t.WithNull(true).String()
	switch s[0] {
	case 'A', 'I', 'O':
		return "an " + s
	}
	return "a " + s
}

// star expands * or t.*; the names are those of the columns. A nil result means that an error was reported.
func (b *Binder) star(s *scope, st *ast.Star) ([]expr.Expr, []string) {
	if s.rel == nil {
		b.errorf(st.Pos(), "* needs a FROM clause")
		return nil, nil
	}
	in := s.schema()
	if len(st.Qualifier) == 0 || s.named(identNames(st.Qualifier)) {
		exprs := make([]expr.Expr, len(in.Fields))
		for i, f := range in.Fields {
			exprs[i] = expr.NewCol(i, f.Name, f.Type)
			s.pos[exprs[i]] = st.Pos()
			if slices.IndexFunc(in.Fields, func(g types.Field) bool { return g.Name == f.Name }) < i {
				b.errorf(st.Pos(), "column %q is ambiguous: %s has it more than once", f.Name, s.describe()).
					WithHint("give the columns different names with AS")
				return nil, nil
			}
		}
		return exprs, in.Names()
	}
	row := b.columnRef(s, &ast.ColumnRef{Span: st.Span, Parts: st.Qualifier})
	if row == nil {
		return nil, nil
	}
	t := row.Type()
	if t.Kind != types.Row {
		b.errorf(st.Pos(), "%s is %s and has no fields to select by .*", row, article(t))
		return nil, nil
	}
	exprs := make([]expr.Expr, len(t.Fields))
	for i := range t.Fields {
		exprs[i] = expr.NewField(row, i)
	}
	return exprs, fieldNames(t)
}

func identNames(ids []ast.Ident) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = id.Name
	}
	return out
}

// passAll returns the columns of a schema as expressions.
func passAll(s *types.Schema) []expr.Expr {
	out := make([]expr.Expr, len(s.Fields))
	for i, f := range s.Fields {
		out[i] = expr.NewCol(i, f.Name, f.Type)
	}
	return out
}

// schemaOf returns a copy of a schema.
func schemaOf(s *types.Schema) *types.Schema { return &types.Schema{Fields: slices.Clone(s.Fields)} }

// uniqueName returns name, or name followed by the first number that makes it new, and enters it into taken.
func uniqueName(name string, taken map[string]bool) string {
	out := name
	for i := 0; taken[out]; i++ {
		out = name + strconv.Itoa(i)
	}
	taken[out] = true
	return out
}
