package bind

import (
	"slices"

	"github.com/millstream-io/millstream/internal/cast"
	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/internal/sql/catalog"
	"github.com/millstream-io/millstream/internal/sql/config"
	"github.com/millstream-io/millstream/internal/sql/connect"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

// Insert binds INSERT INTO.
func (b *Binder) Insert(ins *ast.Insert) (*plan.Sink, error) {
	sink := b.insert(ins)
	if err := b.Err(); err != nil {
		return nil, err
	}
	return sink, nil
}

// target is a column of a sink that an INSERT fills.
type target struct {
	field types.Field
	// from is the query's column, or -1; value is the constant of a PARTITION clause, or nil.
	from  int
	value expr.Expr
}

func (b *Binder) insert(ins *ast.Insert) *plan.Sink {
	t := b.insertTable(ins)
	rel := b.topQuery(ins.Query)
	if ins.Overwrite {
		b.unsupported(ins.Pos(), "INSERT OVERWRITE")
		return nil
	}
	if t == nil {
		return nil
	}
	if err := b.checkSink(t, b.optionHints(ins.Hints)); err != nil {
		b.fault(err)
		return nil
	}
	targets := sinkColumns(t)
	ok := b.partition(ins, t, targets)
	if rel == nil || !b.assign(ins, targets, len(rel.node.Schema().Fields)) || !ok {
		return nil
	}
	n, dropNulls := b.sinkInput(ins, rel.node, targets)
	if n == nil {
		return nil
	}
	out := &plan.Sink{
		Input: n, Table: t, DropNulls: dropNulls, Options: b.optionHints(ins.Hints), Pos: ins.Table.Pos(),
		RequireOnConflict: b.Config.Is(config.RequireOnConflict, "true"),
	}
	if ins.OnConflict != nil {
		out.OnConflict = ins.OnConflict.Name
	}
	return out
}

func (b *Binder) insertTable(ins *ast.Insert) *catalog.Table {
	path := b.Catalog.Resolve(ins.Table.Strings())
	switch o := b.Catalog.Lookup(path).(type) {
	case *catalog.Table:
		return o
	case *catalog.View:
		b.errorf(ins.Table.Pos(), "%s is a view, and cannot be written", path.Name)
	default:
		b.unknownTable(&ins.Table, path)
	}
	return nil
}

// checkSink reports what is wrong with the table's options.
func (b *Binder) checkSink(t *catalog.Table, override []catalog.Option) *connect.Fault {
	conn, err := connect.Open(t, override)
	if err != nil {
		return err
	}
	for i := range t.Columns {
		if c := &t.Columns[i]; c.Kind == ast.Metadata && !c.Virtual {
			return &connect.Fault{Error: diag.Errorf(c.Pos, "column %q: the connector %q does not write metadata", c.Name, conn.Def.Name).
				WithHint("declare it METADATA VIRTUAL")}
		}
	}
	_, err = conn.Sink(b.Host, 1)
	return err
}

// sinkColumns returns the columns that a row of the table has when it is written.
func sinkColumns(t *catalog.Table) []target {
	var out []target
	for i := range t.Columns {
		if c := &t.Columns[i]; c.Persisted() {
			out = append(out, target{field: types.Field{Name: c.Name, Type: c.Type}, from: -1})
		}
	}
	return out
}

func targetNames(targets []target) []string {
	out := make([]string, len(targets))
	for i, t := range targets {
		out[i] = t.field.Name
	}
	return out
}

// partition sets the columns of PARTITION (c = value).
func (b *Binder) partition(ins *ast.Insert, t *catalog.Table, targets []target) bool {
	ok := true
	for _, p := range ins.Partition {
		name := p.Column.Name
		if !slices.Contains(t.PartitionedBy, name) {
			b.unknown(p.Column.Pos(), name, t.PartitionedBy, "%q is not among the columns that table %s is PARTITIONED BY", name, t.Path.Name)
			ok = false
			continue
		}
		if p.Value == nil {
			continue
		}
		i := slices.Index(targetNames(targets), name)
		v := b.expr(&scope{where: "PARTITION"}, p.Value)
		if v == nil {
			ok = false
			continue
		}
		targets[i].value = b.checked(p.Value.Pos())(expr.NewCast(v, targets[i].field.Type.Plain(), false, b.Env))
		ok = ok && targets[i].value != nil
	}
	return ok
}

// assign decides which column of the query fills which column of the sink.
func (b *Binder) assign(ins *ast.Insert, targets []target, columns int) bool {
	var order []int
	if len(ins.Columns) == 0 {
		for i := range targets {
			if targets[i].value == nil {
				order = append(order, i)
			}
		}
	} else if order = b.columnList(ins, targets); order == nil {
		return false
	}
	if len(order) != columns {
		e := b.errorf(ins.Query.Pos(), "the query has %s, but INSERT into %s needs %d", countColumns(columns), ins.Table.Last(), len(order))
		if len(ins.Columns) == 0 {
			e.Hint = "the table's columns are " + joinNames(targetNames(targets))
		}
		return false
	}
	for from, i := range order {
		targets[i].from = from
	}
	return true
}

func joinNames(names []string) string {
	out := ""
	for i, n := range names {
		if i > 0 {
			out += ", "
		}
		out += n
	}
	return out
}

// columnList resolves INSERT INTO t (a, b); what is not named becomes NULL.
func (b *Binder) columnList(ins *ast.Insert, targets []target) []int {
	var order []int
	ok := true
	for i := range ins.Columns {
		c := &ins.Columns[i]
		if len(c.Parts) > 1 {
			b.unsupported(c.Pos(), "INSERT into a field of a ROW")
			ok = false
			continue
		}
		k := slices.Index(targetNames(targets), c.Last())
		switch {
		case k < 0:
			b.unknown(c.Pos(), c.Last(), targetNames(targets), "table %s has no column %q that can be written", ins.Table.Last(), c.Last())
			ok = false
		case slices.Contains(order, k) || targets[k].value != nil:
			b.errorf(c.Pos(), "column %q is given twice", c.Last())
			ok = false
		default:
			order = append(order, k)
		}
	}
	if !ok {
		return nil
	}
	for k := range targets {
		t := &targets[k]
		if !slices.Contains(order, k) && t.value == nil && !t.field.Type.Nullable {
			b.errorf(ins.Columns[0].Pos(), "column %q is NOT NULL and has no default value, so INSERT must give it", t.field.Name)
			ok = false
		}
	}
	if !ok {
		return nil
	}
	return order
}

// sinkInput casts the query's columns to those of the sink. What may be NULL for a NOT NULL column is checked, or, with
// table.exec.sink.not-null-enforcer = DROP, named in dropNulls.
func (b *Binder) sinkInput(ins *ast.Insert, n plan.Node, targets []target) (out plan.Node, dropNulls []int) {
	in := n.Schema()
	p := &plan.Project{Input: n, Out: &types.Schema{}}
	ok := true
	for i := range targets {
		t := &targets[i]
		want := t.field.Type.Plain()
		e := t.value
		switch {
		case e != nil:
		case t.from < 0:
			e = expr.Null(want)
		default:
			f := in.Fields[t.from]
			if e = b.implicit(ins, expr.NewCol(t.from, f.Name, f.Type), want, t.field.Name, columnPos(ins.Query, t.from)); e == nil {
				ok = false
				continue
			}
			e = b.enforceLength(e, want, t.field.Name)
		}
		switch nullable := e.Type().Nullable && !want.Nullable; {
		case nullable && b.Config.Is(config.NotNullEnforcer, "DROP"):
			dropNulls = append(dropNulls, i)
			want.Nullable = true
		case nullable:
			e = requireNotNull(e, ins.Table.Last(), t.field.Name)
		}
		p.Exprs = append(p.Exprs, e)
		p.Out.Fields = append(p.Out.Fields, types.Field{Name: t.field.Name, Type: want})
	}
	if !ok {
		return nil, nil
	}
	return p, dropNulls
}

// implicit converts a column of the query to the type of a sink's column, if that happens without a CAST.
func (b *Binder) implicit(ins *ast.Insert, e expr.Expr, want types.Type, column string, pos diag.Pos) expr.Expr {
	have := e.Type()
	if have.Kind == types.Null {
		b.errorf(pos, "the NULL for column %q needs a type", column).WithHint("write CAST(NULL AS %s)", want.WithNull(true))
		return nil
	}
	if !cast.Implicit(have, want) {
		b.errorf(pos, "column %q of table %s is %s, but the query gives %s", column, ins.Table.Last(), article(want), article(have)).
			WithHint("convert it with CAST(... AS %s)", want.WithNull(true))
		return nil
	}
	return b.checked(pos)(expr.Coerce(e, want, b.Env))
}

// columnPos is the place of a column of a query: that of the expression that makes it, where this can be told, or else that of
// the query.
func columnPos(q *ast.Query, i int) diag.Pos {
	switch body := q.Body.(type) {
	case *ast.Select:
		for k := 0; k <= i && k < len(body.Items); k++ {
			if _, star := body.Items[k].Expr.(*ast.Star); star {
				return q.Pos()
			}
		}
		if i < len(body.Items) {
			return body.Items[i].Expr.Pos()
		}
	case *ast.Values:
		if i < len(body.Rows[0].Exprs) {
			return body.Rows[0].Exprs[i].Pos()
		}
	case *ast.Query:
		return columnPos(body, i)
	}
	return q.Pos()
}
