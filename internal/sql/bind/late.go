package bind

import (
	"slices"

	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/internal/sql/catalog"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

// Late are the tables and views whose late rows a job asks for by LATE(name). Windows must carry the columns of these rows from
// the start, but a LATE may stand behind the query that it speaks of. So a job with LATE is bound twice: the first time to find
// these tables and views, the second time with what was found.
type Late struct{ of []*lateOf }

// lateOf is a table or view of a LATE.
type lateOf struct {
	path catalog.Path
	// inside is set for a view that has windows: rows that are late for these are meant. Of a table, or a view without windows,
	// those are meant that are late for any window over its rows.
	inside bool
	// row are the columns of a row, marked is the type of its event time.
	row    *types.Schema
	marked types.Type
}

// Late returns what the bound statements ask for; nil if nothing.
func (b *Binder) Late() *Late {
	if len(b.late.of) == 0 {
		return nil
	}
	return &b.late
}

// Tap makes the binder give windows the taps that an earlier binding of the same statements has asked for.
func (b *Binder) Tap(l *Late) { b.late, b.tapping = *l, true }

func (l *Late) find(path catalog.Path) *lateOf {
	if i := slices.IndexFunc(l.of, func(o *lateOf) bool { return o.path == path }); i >= 0 {
		return l.of[i]
	}
	return nil
}

// lateRows binds LATE(name).
func (b *Binder) lateRows(c *ast.Call) *relation {
	name := lateName(c)
	if name == nil {
		b.errorf(c.Pos(), "LATE takes the name of a table or view: LATE(name)")
		return nil
	}
	path := b.Catalog.Resolve(name)
	of := b.late.find(path)
	var alone plan.Node
	switch o := b.Catalog.Lookup(path).(type) {
	case *catalog.Table:
		if of == nil {
			of = b.lateTable(o, c.Args[0].Pos())
		}
	case *catalog.View:
		of, alone = b.lateView(o, of, c.Args[0].Pos())
	default:
		b.unknown(c.Args[0].Pos(), path.Name, b.Catalog.Names(path.Catalog, path.Database, ""), "unknown table or view %s", path.Name)
	}
	if of == nil {
		return nil
	}
	return &relation{node: &plan.Late{Of: path.Name, Tag: of.tag(), Alone: alone, Out: of.schema(), Pos: c.Pos()}}
}

// lateName is the name in LATE(name) or LATE(TABLE name); nil if the arguments are anything else.
func lateName(c *ast.Call) []string {
	if len(c.Args) != 1 {
		return nil
	}
	switch a := c.Args[0].(type) {
	case *ast.ColumnRef:
		return a.Strings()
	case *ast.TableArg:
		if a.Table != nil {
			return a.Table.Strings()
		}
	}
	return nil
}

// tag is the name of the side output: late:t, with catalog and database where these are not the default ones.
func (o *lateOf) tag() string {
	if o.path.Catalog == catalog.DefaultCatalog && o.path.Database == catalog.DefaultDatabase {
		return "late:" + o.path.Name
	}
	return "late:" + o.path.String()
}

// schema are the columns of the row, which has no event time any more, and those that tell of its lateness.
func (o *lateOf) schema() *types.Schema {
	out := schemaOf(o.row)
	for i := range out.Fields {
		out.Fields[i].Type = out.Fields[i].Type.Plain()
	}
	out.Fields = append(out.Fields, window.LateColumns(o.marked)...)
	return out
}

// lateTable enters a table.
func (b *Binder) lateTable(t *catalog.Table, pos diag.Pos) *lateOf {
	rel := b.table(t, nil, pos)
	if rel == nil {
		return nil
	}
	return b.lateOrigin(t.Path, rel.node, pos)
}

// lateView enters a view, of which of is the entry if there is one, and returns its query if it has windows.
func (b *Binder) lateView(v *catalog.View, of *lateOf, pos diag.Pos) (*lateOf, plan.Node) {
	outer := b.windowInputs
	b.windowInputs = []windowInput{}
	rel := b.view(v, pos)
	found := b.windowInputs
	b.windowInputs = outer
	switch {
	case rel == nil:
		return nil, nil
	case len(found) == 0 && of != nil:
		return of, nil
	case len(found) == 0:
		return b.lateOrigin(v.Path, rel.node, pos), nil
	case of != nil:
		return of, rel.node
	}
	first := found[0]
	for _, w := range found[1:] {
		if !sameRows(w.row, first.row) || w.marked.Kind != first.marked.Kind {
			b.errorf(pos, "the windows of view %s are over rows of different columns: (%s) and (%s)",
				v.Path.Name, joinNames(first.row.Names()), joinNames(w.row.Names())).
				WithHint("ask for LATE of the tables or views that the windows read")
			return nil, nil
		}
	}
	of = &lateOf{path: v.Path, inside: true, row: first.row, marked: first.marked}
	b.late.of = append(b.late.of, of)
	return of, rel.node
}

func sameRows(a, b *types.Schema) bool {
	return slices.EqualFunc(a.Fields, b.Fields, func(x, y types.Field) bool {
		return x.Name == y.Name && x.Type.Plain().Equal(y.Type.Plain())
	})
}

// lateOrigin enters a table, or a view without windows.
func (b *Binder) lateOrigin(path catalog.Path, n plan.Node, pos diag.Pos) *lateOf {
	for i, f := range n.Schema().Fields {
		if plan.TimeAttr(n, i) == types.Rowtime {
			of := &lateOf{path: path, row: n.Schema(), marked: f.Type}
			b.late.of = append(b.late.of, of)
			return of
		}
	}
	b.errorf(pos, "no row of %s comes late: it has no event time", path.Name).
		WithHint("a table's event time is the column of its WATERMARK; a view must pass it on")
	return nil
}

// windowInput is what a window of a view is over.
type windowInput struct {
	row    *types.Schema
	marked types.Type
}

// origin notes that the rows of a node are those of a table or view, as they are.
func (b *Binder) origin(rel *relation, path catalog.Path) *relation {
	if of := b.late.find(path); b.tapping && rel != nil && of != nil && !of.inside {
		if b.origins == nil {
			b.origins = map[plan.Node]*lateOf{}
		}
		b.origins[rel.node] = of
	}
	return rel
}

// tapWindow returns the input of a window with the columns, behind its own, of the rows that LATE asks for, and the taps that
// read them. row are those columns of the input that the query has, which come first.
func (b *Binder) tapWindow(in plan.Node, row *types.Schema, w *plan.Window) (plan.Node, []plan.Tap) {
	if w.TimeType.Attr != types.Rowtime || plan.TimeOfWindow(in, w.Time) {
		return in, nil // no row is late for the clock, nor for a window behind the one whose result it is
	}
	if b.windowInputs != nil {
		b.windowInputs = append(b.windowInputs, windowInput{row, w.TimeType})
	}
	if !b.tapping {
		return in, nil
	}
	var taps []plan.Tap
	for _, of := range b.late.of {
		if of.inside && slices.Contains(b.views, of.path) {
			taps = append(taps, plan.Tap{Tag: of.tag(), Cols: firstColumns(len(of.row.Fields)), Out: of.schema()})
		}
	}
	for _, of := range b.late.of {
		if of.inside {
			continue
		}
		if lifted, cols := b.liftOrigin(in, of); lifted != nil {
			in = lifted
			taps = append(taps, plan.Tap{Tag: of.tag(), Cols: cols, Out: of.schema()})
		}
	}
	if len(taps) == 0 {
		return in, nil
	}
	in, source := b.liftSource(in)
	for i := range taps {
		taps[i].Source = source
	}
	return in, taps
}

// firstColumns are the positions of the first n columns.
func firstColumns(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// liftOrigin passes the columns of a table or view on to a node whose rows are made of its rows; nil if they are not.
func (b *Binder) liftOrigin(n plan.Node, of *lateOf) (plan.Node, []int) {
	return plan.Lift(n, func(n plan.Node) (plan.Node, []int) {
		if b.origins[n] != of {
			return nil, nil
		}
		return n, firstColumns(len(of.row.Fields))
	}, b.moveOrigin)
}

// moveOrigin is told that a node was made anew with more columns.
func (b *Binder) moveOrigin(old, now plan.Node) {
	if of := b.origins[old]; of != nil {
		b.origins[now] = of
	}
}

// sourceColumn is the name of the column that tells where a row was read.
const sourceColumn = "$source"

// liftSource passes on where rows were read; -1 if that is not known.
func (b *Binder) liftSource(n plan.Node) (plan.Node, int) {
	lifted, cols := plan.Lift(n, func(n plan.Node) (plan.Node, []int) {
		scan, is := n.(*plan.Scan)
		if !is {
			return nil, nil
		}
		last := len(scan.Table.Columns) - 1
		if scan.Table.Columns[last].Name != sourceColumn {
			return nil, nil
		}
		out := *scan
		out.Columns = append(slices.Clip(scan.Columns), last)
		out.Fields = schemaOf(scan.Fields)
		out.Fields.Fields = append(out.Fields.Fields, types.Field{Name: sourceColumn, Type: scan.Table.Columns[last].Type})
		return &out, []int{len(out.Columns) - 1}
	}, b.moveOrigin)
	if lifted == nil {
		return n, -1
	}
	return lifted, cols[0]
}

// withSource returns the table with one more column, which tells where a row was read, where its connector knows that and LATE
// may ask for it. All scans of the table are of the same copy.
func (b *Binder) withSource(t *catalog.Table, def *connector.Def) *catalog.Table {
	if !b.tapping || def.Position == "" {
		return t
	}
	if out := b.sourced[t]; out != nil {
		return out
	}
	out := *t
	out.Columns = append(slices.Clip(t.Columns), catalog.Column{
		Name: sourceColumn, Kind: ast.Metadata, Type: types.StringType(), Key: def.Position, Virtual: true, Pos: t.Pos,
	})
	if b.sourced == nil {
		b.sourced = map[*catalog.Table]*catalog.Table{}
	}
	b.sourced[t] = &out
	return &out
}
