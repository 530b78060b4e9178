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

// ordering is an ORDER BY: what the columns of its query are sorted by.
type ordering struct {
	items []ast.OrderItem
	// keys are the sort keys, by the columns of the query and, behind these, hidden ones; places are where they are written.
	keys   []plan.SortKey
	places []diag.Pos
	// width is the number of columns that are not hidden.
	width int
}

// bind finds what the rows of a SELECT are sorted by: a column of the select list by its number, its alias or its expression, or
// any other expression over the rows of FROM, which is added to the list. false means that an error was reported.
func (o *ordering) bind(b *Binder, s *scope, items []item) ([]item, bool) {
	o.width = len(items)
	shown, ok := items, true
	for i := range o.items {
		it := &o.items[i]
		col, found := o.shown(b, it.Expr, shown)
		if !found {
			e := b.expr(s, it.Expr)
			if e == nil {
				ok = false
				continue
			}
			col = slices.IndexFunc(items, func(x item) bool { return plan.Same(x.expr, e) })
			if col < 0 {
				col = len(items)
				items = append(items[:col:col], item{e, hiddenName(e, items, i), it.Expr.Pos()})
			}
		}
		ok = ok && col >= 0
		o.add(it, col)
	}
	return items, ok
}

// hiddenName names a column that is only there to sort by: as it is called, if that is clear.
func hiddenName(e expr.Expr, items []item, i int) string {
	c, is := e.(*expr.Col)
	if is && c.Index >= 0 && !slices.ContainsFunc(items, func(x item) bool { return x.name == c.Name }) {
		return c.Name
	}
	return "$order" + strconv.Itoa(i)
}

// bindColumns finds what the rows of a query are sorted by that is no SELECT: columns by number or name.
func (o *ordering) bindColumns(b *Binder, n plan.Node) bool {
	s := over(&relation{node: n}, "ORDER BY")
	fields := n.Schema().Fields
	items := make([]item, len(fields))
	for i, e := range passAll(n.Schema()) {
		items[i] = item{expr: e, name: fields[i].Name}
	}
	all, ok := o.bind(b, s, items)
	if ok && len(all) > len(items) {
		b.unsupported(all[len(items)].pos, "ORDER BY an expression behind UNION")
		return false
	}
	return ok
}

func (o *ordering) add(it *ast.OrderItem, col int) {
	if slices.ContainsFunc(o.keys, func(k plan.SortKey) bool { return k.Col == col }) {
		return // equal rows cannot be told by the same column again
	}
	o.keys = append(o.keys, plan.SortKey{Col: col, Desc: it.Desc, NullsFirst: it.Nulls == ast.NullsFirst || it.Nulls == ast.NullOrderDefault && !it.Desc})
	o.places = append(o.places, it.Expr.Pos())
}

// shown finds the column that an item names by number or by name; -1 if that is a mistake, which was reported.
func (o *ordering) shown(b *Binder, e ast.Expr, items []item) (col int, found bool) {
	switch e := e.(type) {
	case *ast.NumberLit:
		n, err := strconv.Atoi(e.Text)
		if e.Kind != ast.Integer || err != nil || n < 1 || n > len(items) {
			b.errorf(e.Pos(), "ORDER BY %s is none of the %d columns of the result", e.Text, len(items))
			return -1, true
		}
		return n - 1, true
	case *ast.ColumnRef:
		if len(e.Parts) > 1 {
			return 0, false
		}
		at := -1
		for i, it := range items {
			switch {
			case it.name != e.Parts[0].Name || at >= 0 && plan.Same(it.expr, items[at].expr):
			case at >= 0:
				b.errorf(e.Pos(), "column %q is ambiguous: the result has it more than once", it.name)
				return -1, true
			default:
				at = i
			}
		}
		return at, at >= 0
	}
	return 0, false
}

// sort puts the rows of n in order, and leaves the hidden columns out. limited tells that there is a LIMIT as well. nil means that
// an error was reported.
func (b *Binder) sort(n plan.Node, o *ordering, limited bool) plan.Node {
	if limited {
		b.unsupported(o.places[0], "ORDER BY with LIMIT")
		return nil
	}
	fields := n.Schema().Fields
	for i, k := range o.keys {
		if t := fields[k.Col].Type; t.IsNested() || t.Kind == types.Null {
			b.errorf(o.places[i], "rows cannot be ordered by %s", article(t))
			return nil
		}
	}
	first := o.keys[0]
	attr := plan.TimeAttr(n, first.Col)
	switch {
	case attr == types.NoTime:
		e := b.errorf(o.places[0], "ORDER BY must begin with a time attribute, but %s is %s", keyName(fields[first.Col]), article(fields[first.Col].Type.Plain()))
		if e.Hint = "rows are sorted as time passes: write ORDER BY ts, ... with the column of the WATERMARK"; fields[first.Col].Type.IsTimestamp() {
			e.Hint = lostText(plan.TimeLost(n, first.Col))
		}
		return nil
	case first.Desc:
		b.errorf(o.places[0], "rows come in ascending order of time: by descending time the first row would be the last to come")
		return nil
	}
	mark := plan.Window{Time: first.Col, TimeType: fields[first.Col].Type}
	mark.TimeType.Attr = attr
	in, taps := b.tapWindow(n, n.Schema(), &mark)
	s := &plan.Sort{Input: in, Keys: o.keys, Taps: taps, Pos: o.places[0]}
	return firstFields(s, o.width)
}

// keyName names a column of a result, which may be hidden.
func keyName(f types.Field) string {
	if f.Name[0] == '$' {
		return "this"
	}
	return "column " + strconv.Quote(f.Name)
}

// firstFields leaves out all columns but the first ones.
func firstFields(n plan.Node, width int) plan.Node {
	in := n.Schema()
	if len(in.Fields) == width {
		return n
	}
	p := &plan.Project{Input: n, Out: &types.Schema{Fields: slices.Clone(in.Fields[:width])}}
	for i, f := range p.Out.Fields {
		p.Exprs = append(p.Exprs, expr.NewCol(i, f.Name, f.Type))
	}
	return p
}
