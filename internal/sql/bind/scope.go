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
	// tables are the named parts of a join, in order; nil if the relation is one table.
	tables []table
	// shown are the columns that * stands for, and that can be named without a table; nil for all.
	shown []int
	// around are the columns of the query around a subquery, which are looked at where no other column has a name.
	around []int
}

// table is a named part of a join.
type table struct {
	names []string
	cols  []int
}

// over returns the relation with another node, which has the same columns.
func (r *relation) over(n plan.Node) *relation {
	c := *r
	c.node = n
	return &c
}

// columns returns the columns that * stands for.
func (r *relation) columns() []int {
	if r.shown != nil {
		return r.shown
	}
	return upTo(len(r.node.Schema().Fields))
}

// parts returns the named parts; a relation that is one table is the only one.
func (r *relation) parts() []table {
	if r.tables != nil {
		return r.tables
	}
	return []table{{r.names, r.columns()}}
}

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// scope is what the names of an expression can mean.
type scope struct {
	rel *relation
	// aggs collects the calls of aggregate functions; nil where none may stand. where says why, for the message.
	aggs  *aggScope
	where string
	// overs collects the calls that have an OVER; nil where none may stand.
	overs *overScope
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

// named returns the columns of the table that qualifier names.
func (s *scope) named(qualifier []string) (cols []int, ok bool) {
	n := len(qualifier)
	if s.rel == nil || n == 0 {
		return nil, false
	}
	for _, t := range s.rel.parts() {
		if n <= len(t.names) && slices.Equal(t.names[len(t.names)-n:], qualifier) {
			return t.cols, true
		}
	}
	return nil, false
}

// columnRef binds a, t.a, a.f, t.a.f and so on. The longest qualifier that names a table wins; without one the first part is a
// column, and the rest are fields.
func (b *Binder) columnRef(s *scope, c *ast.ColumnRef) expr.Expr {
	parts := c.Strings()
	first := 0
	var among []int
	for n := len(parts) - 1; n > 0 && first == 0; n-- {
		if cols, ok := s.named(parts[:n]); ok {
			first, among = n, cols
		}
	}
	if first == 0 && s.rel != nil {
		among = s.rel.columns()
	}
	col := b.column(s, c, first, among)
	if col == nil {
		return nil
	}
	return b.fields(col, c.Parts[first+1:])
}

// column finds the column that part i of a name stands for, among some columns of the scope.
func (b *Binder) column(s *scope, c *ast.ColumnRef, i int, among []int) expr.Expr {
	name, pos := c.Parts[i].Name, c.Parts[i].Pos()
	found, ambiguous := s.find(name, among)
	if found < 0 && i == 0 && s.rel != nil {
		found, ambiguous = s.find(name, s.rel.around)
	}
	switch {
	case ambiguous:
		hint := "give the columns different names with AS"
		if i == 0 && s.rel.tables != nil {
			hint = "say of which table: " + s.rel.example(found) + "." + name
		}
		b.errorf(pos, "column %q is ambiguous: %s has it more than once", name, s.describe()).WithHint("%s", hint)
		return nil
	case found >= 0:
		col := expr.NewCol(found, name, s.schema().Fields[found].Type)
		s.pos[col] = pos
		return col
	}
	switch e, ambiguous := b.hiddenField(s, name, pos, among); {
	case ambiguous:
		b.errorf(pos, "column %q is ambiguous: more than one ROW of %s has a field of that name", name, s.describe())
	case e != nil:
		return e
	case i == 0 && len(c.Parts) > 1:
		b.unknownQualifier(s, c)
	case s.rel == nil:
		b.errorf(pos, "unknown column %q: there is no table here", name)
	default:
		b.unknown(pos, name, namesOf(s.schema(), among), "unknown column %q in %s", name, s.describe())
	}
	return nil
}

// find returns the column of a name among some, or -1.
func (s *scope) find(name string, among []int) (col int, ambiguous bool) {
	in, found := s.schema(), -1
	for _, k := range among {
		if in.Fields[k].Name != name {
			continue
		}
		if found >= 0 {
			return found, true
		}
		found = k
	}
	return found, false
}

// example names a table that has a column.
func (r *relation) example(col int) string {
	for _, t := range r.tables {
		if slices.Contains(t.cols, col) && len(t.names) > 0 {
			return t.names[len(t.names)-1]
		}
	}
	return "t"
}

func namesOf(s *types.Schema, cols []int) []string {
	out := make([]string, len(cols))
	for i, c := range cols {
		out[i] = s.Fields[c].Name
	}
	return out
}

// hiddenField finds a name among the fields of ROW columns, and of ROWs in them, where Flink looks when no column has it. The
// fields that lie least deep count; two of them are ambiguous.
func (b *Binder) hiddenField(s *scope, name string, pos diag.Pos, among []int) (e expr.Expr, ambiguous bool) {
	var level []expr.Expr
	for _, i := range among {
		f := s.schema().Fields[i]
		col := expr.NewCol(i, f.Name, f.Type)
		s.pos[col] = pos
		level = append(level, col)
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
		for _, t := range s.rel.parts() {
			if n := len(t.names); n > 0 {
				candidates = append(candidates, t.names[n-1])
			}
		}
		candidates = append(candidates, s.schema().Names()...)
	}
	b.unknown(c.Parts[0].Pos(), name, candidates, "unknown table or column %q", name)
}

// describe names the relation for errors.
func (s *scope) describe() string {
	switch {
	case s.rel != nil && s.rel.tables != nil:
		return "the join"
	case s.rel != nil && len(s.rel.names) > 0:
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
	cols, ok := s.named(identNames(st.Qualifier))
	if len(st.Qualifier) == 0 {
		cols, ok = s.rel.columns(), true
	}
	if ok {
		return b.starColumns(s, st, cols)
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

// starColumns returns columns, of which no table may have two of the same name.
func (b *Binder) starColumns(s *scope, st *ast.Star, cols []int) ([]expr.Expr, []string) {
	in := s.schema()
	exprs := make([]expr.Expr, len(cols))
	for i, c := range cols {
		f := in.Fields[c]
		exprs[i] = expr.NewCol(c, f.Name, f.Type)
		s.pos[exprs[i]] = st.Pos()
	}
	for _, t := range s.rel.parts() {
		for i, c := range t.cols {
			if f := in.Fields[c]; slices.Contains(cols, c) && slices.Contains(namesOf(in, t.cols[:i]), f.Name) {
				b.errorf(st.Pos(), "column %q is ambiguous: %s has it more than once", f.Name, s.describe()).
					WithHint("give the columns different names with AS")
				return nil, nil
			}
		}
	}
	return exprs, namesOf(in, cols)
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
