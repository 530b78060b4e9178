package bind

import (
	"strings"

	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

// groupWindows are the functions that stand in GROUP BY for a window: TUMBLE(ts, size), HOP(ts, slide, size), SESSION(ts, gap).
var groupWindows = map[string]plan.WindowKind{"TUMBLE": plan.Tumble, "HOP": plan.Hop, "SESSION": plan.Session}

// groupWindow is a call of a group window, or of a function that tells something of it.
type groupWindow struct {
	plan.Window
	pos diag.Pos
}

func (w *groupWindow) same(o *groupWindow) bool {
	return w.Kind == o.Kind && w.Time == o.Time && w.Size == o.Size && w.Slide == o.Slide
}

// groupWindow binds the arguments of a call.
func (b *Binder) groupWindow(s *scope, c *ast.Call, kind plan.WindowKind) (*groupWindow, bool) {
	want := 2
	if kind == plan.Hop {
		want = 3
	}
	if len(c.Args) != want {
		b.errorf(c.Pos(), "%s takes %d arguments: the time column and the lengths of the window", upper(c.FuncName()), want)
		return nil, false
	}
	w := &groupWindow{Window: plan.Window{Kind: kind}, pos: c.Pos()}
	args := map[string]ast.Expr{}
	switch kind {
	case plan.Hop:
		args["SLIDE"], args["SIZE"] = c.Args[1], c.Args[2]
	case plan.Session:
		args["GAP"] = c.Args[1]
	default:
		args["SIZE"] = c.Args[1]
	}
	ok := b.windowLengths(&w.Window, args)
	time := b.expr(&scope{rel: s.rel, where: "a group window", pos: s.pos}, c.Args[0])
	if time == nil {
		return nil, false
	}
	col, is := time.(*expr.Col)
	switch {
	case !is:
		b.errorf(c.Args[0].Pos(), "a window needs a time attribute, but %s is none", time).
			WithHint("a table's event time is the column of its WATERMARK")
		return nil, false
	case plan.TimeAttr(s.rel.node, col.Index) == types.NoTime:
		b.noTimeAttr(c.Args[0].Pos(), s.rel.node, col.Index)
		return nil, false
	}
	w.Time, w.TimeType = col.Index, col.Type()
	w.TimeType.Attr = plan.TimeAttr(s.rel.node, col.Index)
	return w, ok
}

// groupRef is a call that is resolved once GROUP BY is known: a property of the group window, or GROUPING. While it stands for
// its value, it is a column with an index below firstGroupRef.
type groupRef struct {
	pos diag.Pos
	// window and prop are set for TUMBLE_START and its like.
	window   *groupWindow
	prop     plan.WindowProp
	proctime bool
	// args are the arguments of GROUPING and GROUPING_ID; groupID is set for GROUP_ID().
	args    []expr.Expr
	groupID bool
}

// firstGroupRef is far below the indexes of aggregate calls.
const firstGroupRef = -1 << 20

var windowProps = map[string]plan.WindowProp{
	"_START": plan.WindowStart, "_END": plan.WindowEnd, "_ROWTIME": plan.WindowTime, "_PROCTIME": plan.WindowTime,
}

// groupFunction binds the functions that ask for the group itself. handled is false if the call is none.
func (b *Binder) groupFunction(s *scope, c *ast.Call, name string) (e expr.Expr, handled bool) {
	window, suffix, _ := strings.Cut(name, "_")
	kind, isWindow := groupWindows[window]
	prop, isProp := windowProps["_"+suffix]
	isWindow = isWindow && isProp
	isGrouping := name == "GROUPING" || name == "GROUPING_ID" || name == "GROUP_ID"
	if !isWindow && !isGrouping {
		return nil, false
	}
	if s.aggs == nil {
		b.errorf(c.Pos(), "%s cannot stand in %s: it tells something of a group", name, orHere(s.where))
		return nil, true
	}
	ref := groupRef{pos: c.Pos(), prop: prop, proctime: suffix == "PROCTIME", groupID: name == "GROUP_ID"}
	typ := types.Of(types.BigInt).NotNull()
	if isWindow {
		w, ok := b.groupWindow(s, c, kind)
		if !ok {
			return nil, true
		}
		ref.window = w
		if typ, ok = b.propType(c, w, suffix, prop); !ok {
			return nil, true
		}
	} else if ref.args = b.exprs(&scope{rel: s.rel, where: name, pos: s.pos}, c.Args); ref.args == nil && len(c.Args) > 0 {
		return nil, true
	} else if ref.groupID != (len(c.Args) == 0) {
		b.errorf(c.Pos(), "%s takes keys of GROUP BY; GROUP_ID() takes nothing", name)
		return nil, true
	}
	s.aggs.refs = append(s.aggs.refs, ref)
	return expr.NewCol(firstGroupRef-len(s.aggs.refs), name, typ), true
}

// propType is the type of a property of a group window.
func (b *Binder) propType(c *ast.Call, w *groupWindow, suffix string, prop plan.WindowProp) (types.Type, bool) {
	if suffix == "ROWTIME" && w.TimeType.Attr == types.Proctime {
		b.errorf(c.Pos(), "%s needs a window over event time, but this one is over processing time", upper(c.FuncName()))
		return types.Type{}, false
	}
	return legacyColumns(&w.Window)[prop].Type, true
}

// legacyColumns are the columns of a group window: its time may be NULL by its type, as Flink has it.
func legacyColumns(w *plan.Window) []types.Field {
	out := w.Columns()
	if w.TimeType.Attr == types.Rowtime {
		out[plan.WindowTime].Type.Nullable = true
	}
	for i := range out {
		out[i].Name = "$" + out[i].Name
	}
	return out
}

// bindWindow binds a group window in GROUP BY.
func (g *grouping) bindWindow(c *ast.Call) bool {
	w, ok := g.b.groupWindow(g.scope, c, groupWindows[upper(c.FuncName())])
	if !ok {
		return false
	}
	if g.window != nil && !g.window.same(w) {
		g.b.errorf(c.Pos(), "GROUP BY has two windows")
		return false
	}
	g.window = w
	g.emit, ok = g.b.emitOf(g.input, &w.Window, true, c.Pos())
	return ok
}

// addWindow puts the window function of a group window below the aggregation.
func (g *grouping) addWindow() {
	if g.window == nil {
		return
	}
	in, w := g.input, g.window.Window
	if w.Kind == plan.Session {
		in = g.partition(&w)
	}
	in, taps := g.b.tapWindow(in, g.input.Schema(), &w)
	tvf := plan.NewWindowTVF(in, w)
	tvf.Taps, tvf.Emit = taps, g.emit
	width := len(in.Schema().Fields)
	for i, f := range legacyColumns(&w) {
		tvf.Out.Fields[width+i] = f
		g.windowKeys = append(g.windowKeys, expr.NewCol(width+i, f.Name, f.Type))
	}
	g.input = tvf
}

// partition computes the keys of sessions as columns, which the other keys of GROUP BY are.
func (g *grouping) partition(w *plan.Window) plan.Node {
	in := g.input.Schema()
	p := &plan.Project{Input: g.input, Exprs: passAll(in), Out: schemaOf(in)}
	for _, k := range g.keys {
		w.Partition = append(w.Partition, addColumn(p, k, "$key"))
	}
	if len(p.Exprs) == len(in.Fields) {
		return g.input
	}
	// The aggregation reads the columns, and does not compute the keys again.
	g.computed = p
	return p
}

// ref resolves a groupRef over the rows of an aggregation.
func (g *grouping) ref(agg *plan.Aggregate, r *groupRef) expr.Expr {
	switch {
	case r.window == nil:
		return g.groupingOf(agg, r)
	case g.window == nil || !g.window.same(r.window):
		g.b.errorf(r.pos, "GROUP BY has no such window: its function and lengths must be the same there")
		return nil
	case r.proctime && g.window.TimeType.Attr == types.Proctime:
		return g.b.applyNamed(r.pos, "PROCTIME", nil)
	}
	i := len(g.keys) + int(r.prop)
	f := agg.Out.Fields[i]
	return expr.NewCol(i, f.Name, f.Type)
}
