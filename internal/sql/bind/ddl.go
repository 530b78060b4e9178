package bind

import (
	"slices"

	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/internal/sql/catalog"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

// CreateTable gives the table that a CREATE TABLE defines. The catalog does not change.
func (b *Binder) CreateTable(c *ast.CreateTable) (*catalog.Table, error) {
	t := &catalog.Table{
		Path: b.Catalog.Resolve(c.Name.Strings()), Temporary: c.Temporary, Distribution: c.Distribution,
		Options: Options(c.Options), Pos: c.Name.Pos(),
	}
	if c.Comment != nil {
		t.Comment = c.Comment.Value
	}
	if c.AsQuery != nil {
		b.unsupported(c.AsQuery.Pos(), "CREATE TABLE AS")
		return nil, b.Err()
	}
	b.duplicateOptions(t.Options)
	def := &tableDef{b: b, table: t}
	if c.Like != nil {
		def.like(c.Like)
	}
	def.columns(c)
	for _, id := range c.PartitionedBy {
		t.PartitionedBy = append(t.PartitionedBy, id.Name)
	}
	if len(b.errs) == 0 && len(b.missing) == 0 {
		def.computed()
		def.keys(c)
		def.partitions(c)
		def.watermark(c)
	}
	return t, b.Err()
}

func (b *Binder) duplicateOptions(options []catalog.Option) {
	seen := map[string]bool{}
	for _, o := range options {
		if seen[o.Key] {
			b.errorf(o.KeyPos, "the option %q is given twice", o.Key)
		}
		seen[o.Key] = true
	}
}

// tableDef is a CREATE TABLE that is being bound.
type tableDef struct {
	b     *Binder
	table *catalog.Table
	// overwrite are the kinds of column that may replace those of a LIKE table.
	overwrite map[ast.ColumnKind]bool
	// inherited is the number of columns that came from a LIKE table.
	inherited int
	// overwriteWatermark: a watermark replaces that of the LIKE table.
	overwriteWatermark bool
}

// columns adds the columns of the statement.
func (d *tableDef) columns(c *ast.CreateTable) {
	for i := range c.Columns {
		col := &c.Columns[i]
		out := catalog.Column{Name: col.Name.Name, Kind: col.Kind, Expr: col.Expr, Virtual: col.Virtual, Pos: col.Name.Pos()}
		if col.Comment != nil {
			out.Comment = col.Comment.Value
		}
		switch col.Kind {
		case ast.NameOnly:
			d.b.errorf(col.Pos(), "column %q has no type", col.Name.Name)
			continue
		case ast.Metadata:
			out.Key = col.Name.Name
			if col.From != nil {
				out.Key = col.From.Value
			}
		}
		if col.Type != nil {
			if out.Type = d.b.Type(col.Type); !out.Type.IsValid() {
				continue
			}
			if holdsInterval(out.Type) {
				d.b.errorf(col.Type.Pos(), "column %q cannot hold an INTERVAL", col.Name.Name).WithHint("store a number of days or seconds; " +
					"x * INTERVAL '1' SECOND makes an interval of it")
				continue
			}
		}
		d.add(out)
	}
}

// holdsInterval reports whether a type is an interval, or has one within. Tables cannot store them.
func holdsInterval(t types.Type) bool {
	switch {
	case t.IsInterval():
		return true
	case t.Elem != nil && holdsInterval(*t.Elem), t.Key != nil && holdsInterval(*t.Key):
		return true
	}
	return slices.ContainsFunc(t.Fields, func(f types.Field) bool { return holdsInterval(f.Type) })
}

// add appends a column, or replaces one of a LIKE table where OVERWRITING allows it.
func (d *tableDef) add(c catalog.Column) {
	for i := range d.table.Columns {
		old := &d.table.Columns[i]
		if old.Name != c.Name {
			continue
		}
		switch {
		case i >= d.inherited:
			d.b.errorf(c.Pos, "column %q is defined twice", c.Name)
		case old.Kind != c.Kind || !d.overwrite[c.Kind]:
			d.b.errorf(c.Pos, "column %q is in the table of LIKE already", c.Name).WithHint("EXCLUDING or OVERWRITING in LIKE (...) allows to define it anew")
		default:
			*old = c
		}
		return
	}
	d.table.Columns = append(d.table.Columns, c)
}

// scope returns the names that a computed column or a watermark can use.
func (d *tableDef) scope(where string, kinds ...ast.ColumnKind) *scope {
	s := &types.Schema{}
	for i := range d.table.Columns {
		if c := &d.table.Columns[i]; slices.Contains(kinds, c.Kind) {
			s.Fields = append(s.Fields, types.Field{Name: c.Name, Type: c.Type})
		}
	}
	return over(&relation{node: &plan.Values{Out: s}, names: d.table.Path.Parts()}, where)
}

// computed settles the types of the computed columns, which see the others.
func (d *tableDef) computed() {
	s := d.scope("a computed column", ast.Physical, ast.Metadata)
	for i := range d.table.Columns {
		c := &d.table.Columns[i]
		if c.Kind != ast.Computed {
			continue
		}
		e := d.b.expr(s, c.Expr)
		if e == nil {
			continue
		}
		if c.Type = e.Type(); c.Type.Kind == types.Null {
			d.b.errorf(c.Pos, "column %q is NULL without a type", c.Name).WithHint("write CAST(NULL AS type)")
		}
	}
}

// keys settles the primary key, whose columns become NOT NULL.
func (d *tableDef) keys(c *ast.CreateTable) {
	var found []ast.Key
	for _, col := range c.Columns {
		if col.Key != nil {
			k := *col.Key
			k.Columns = []ast.Ident{col.Name}
			found = append(found, k)
		}
	}
	for _, k := range append(found, c.Keys...) {
		d.key(k)
	}
}

func (d *tableDef) key(k ast.Key) {
	switch {
	case k.Unique:
		d.b.errorf(k.Pos(), "UNIQUE is not supported, only PRIMARY KEY")
		return
	case !k.NotEnforced:
		d.b.errorf(k.Pos(), "a PRIMARY KEY must be NOT ENFORCED: nobody checks the data outside").WithHint("write PRIMARY KEY (...) NOT ENFORCED")
		return
	case d.table.PrimaryKey != nil:
		d.b.errorf(k.Pos(), "the table has more than one PRIMARY KEY")
		return
	}
	key := &catalog.Key{}
	if k.Name != nil {
		key.Name = k.Name.Name
	}
	for _, id := range k.Columns {
		col := d.table.Column(id.Name)
		switch {
		case col == nil:
			d.b.unknown(id.Pos(), id.Name, d.table.Names(), "unknown column %q in the PRIMARY KEY", id.Name)
			return
		case col.Kind != ast.Physical:
			d.b.errorf(id.Pos(), "column %q cannot be in the PRIMARY KEY, since it is not a physical column", id.Name)
			return
		case col.Type.Nullable && slices.ContainsFunc(d.table.Columns[:d.inherited], func(c catalog.Column) bool { return c.Name == id.Name }):
			d.b.errorf(id.Pos(), "column %q comes from LIKE and can be NULL there, so it cannot be in the PRIMARY KEY", id.Name)
			return
		case slices.Contains(key.Columns, id.Name):
			d.b.errorf(id.Pos(), "column %q is twice in the PRIMARY KEY", id.Name)
			return
		}
		key.Columns = append(key.Columns, id.Name)
		col.Type.Nullable = false
	}
	if key.Name == "" {
		key.Name = "PK_" + joinWith(key.Columns, "_")
	}
	d.table.PrimaryKey = key
}

func joinWith(names []string, sep string) string {
	out := names[0]
	for _, n := range names[1:] {
		out += sep + n
	}
	return out
}

func (d *tableDef) partitions(c *ast.CreateTable) {
	for _, id := range c.PartitionedBy {
		if col := d.table.Column(id.Name); col == nil || col.Kind != ast.Physical {
			d.b.unknown(id.Pos(), id.Name, d.table.Physical().Names(), "PARTITIONED BY: the table has no physical column %q", id.Name)
		}
	}
}

// watermark settles WATERMARK FOR.
func (d *tableDef) watermark(c *ast.CreateTable) {
	if len(c.Watermarks) > 1 {
		d.b.errorf(c.Watermarks[1].Pos(), "a table has one WATERMARK only")
		return
	}
	w := d.table.Watermark
	if len(c.Watermarks) == 1 {
		ws := &c.Watermarks[0]
		if w != nil && !d.overwriteWatermark {
			d.b.errorf(ws.Pos(), "the table of LIKE has a WATERMARK already").WithHint("LIKE t (EXCLUDING WATERMARKS) or OVERWRITING WATERMARKS allows another one")
			return
		}
		if len(ws.Column.Parts) > 1 {
			d.b.errorf(ws.Column.Pos(), "WATERMARK: event time must be a column of the table, not a field of one").
				WithHint("define a computed column of the field")
			return
		}
		if w = d.bindWatermark(ws); w == nil {
			return
		}
		d.table.Watermark = w
	}
	if w != nil {
		d.table.Column(w.Column).Type.Attr = types.Rowtime
	}
}

func (d *tableDef) bindWatermark(ws *ast.Watermark) *catalog.Watermark {
	name, pos := ws.Column.Last(), ws.Column.Pos()
	col := d.table.Column(name)
	if col == nil {
		d.b.unknown(pos, name, d.table.Names(), "WATERMARK: unknown column %q", name)
		return nil
	}
	if !col.Type.IsValid() {
		return nil
	}
	if !isRowtimeType(col.Type) {
		d.b.errorf(pos, "WATERMARK: column %q is %s, but event time must be a TIMESTAMP(p) or TIMESTAMP_LTZ(p) with p from 0 to 3", name, article(col.Type)).
			WithHint("define a computed column such as %s_time AS CAST(%s AS TIMESTAMP(3))", name, name)
		return nil
	}
	w := &catalog.Watermark{Column: name, Expr: ws.Expr}
	if call, is := ws.Expr.(*ast.Call); is && upper(call.FuncName()) == "SOURCE_WATERMARK" && len(call.Args) == 0 {
		w.Source, w.Type = true, col.Type
		return w
	}
	e := d.b.expr(d.scope("a WATERMARK", ast.Physical, ast.Metadata, ast.Computed), ws.Expr)
	if e == nil {
		return nil
	}
	w.Type = e.Type()
	if !isRowtimeType(w.Type) {
		d.b.errorf(ws.Expr.Pos(), "WATERMARK: the expression is %s, but must be a TIMESTAMP(p) or TIMESTAMP_LTZ(p) with p from 0 to 3", article(w.Type))
		return nil
	}
	if w.Type.Kind != col.Type.Kind {
		d.b.errorf(ws.Expr.Pos(), "WATERMARK: the expression is %s, but column %q is %s", article(w.Type), name, article(col.Type))
		return nil
	}
	return w
}

func isRowtimeType(t types.Type) bool {
	return t.IsTimestamp() && t.Precision <= 3 && t.Attr != types.Proctime
}

// CreateView gives the view that a CREATE VIEW defines, after its query was bound once.
func (b *Binder) CreateView(c *ast.CreateView) (*catalog.View, error) {
	v := &catalog.View{
		Path: b.Catalog.Resolve(c.Name.Strings()), Temporary: c.Temporary, Query: c.Query, Pos: c.Name.Pos(),
	}
	v.Catalog, v.Database = b.Catalog.Current()
	if c.Comment != nil {
		v.Comment = c.Comment.Value
	}
	rel := b.topQuery(c.Query)
	if err := b.Err(); err != nil {
		return nil, err
	}
	v.Schema = schemaOf(rel.node.Schema())
	if len(c.Columns) > 0 {
		if len(c.Columns) != len(v.Schema.Fields) {
			b.errorf(c.Columns[0].Pos(), "the view names %d columns, but its query has %d", len(c.Columns), len(v.Schema.Fields))
			return nil, b.Err()
		}
		for i, id := range c.Columns {
			v.Columns = append(v.Columns, id.Name)
			v.Schema.Fields[i].Name = id.Name
		}
	}
	b.duplicateColumns(v, c)
	return v, b.Err()
}

func (b *Binder) duplicateColumns(v *catalog.View, c *ast.CreateView) {
	for i, f := range v.Schema.Fields {
		if v.Schema.Index(f.Name) < i {
			pos := c.Name.Pos()
			if i < len(c.Columns) {
				pos = c.Columns[i].Pos()
			}
			b.errorf(pos, "the view has two columns named %q", f.Name)
		}
	}
}
