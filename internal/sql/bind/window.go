package bind

import (
	"slices"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

// laterTableFuncs are table functions that Millstream does not have yet.
var laterTableFuncs = wordSet("ML_PREDICT VECTOR_SEARCH SEARCH_KEY")

// tableFunc binds a table function in FROM.
func (b *Binder) tableFunc(t *ast.TableFunc) *relation {
	name := upper(t.Call.FuncName())
	if f := windowFunctions[name]; f != nil {
		return b.windowFunction(t.Call, f)
	}
	switch {
	case name == "LATE":
		return b.lateRows(t.Call)
	case name == "STATE":
		return b.stateTable(t.Call)
	case laterTableFuncs[name]:
		b.unsupported(t.Pos(), name)
	case t.Lateral || fn.Lookup(name) != nil:
		b.unsupported(t.Pos(), "the table function "+name)
	default:
		b.unknown(t.Call.Pos(), name, []string{"TUMBLE", "HOP", "CUMULATE", "SESSION", "LATE", "STATE"}, "unknown table function %s", t.Call.FuncName())
	}
	return nil
}

// windowFunction is a window table function: its kind and the names of its arguments, in order.
type windowFunction struct {
	kind   plan.WindowKind
	params []string
	// example shows a call.
	example string
}

var windowFunctions = map[string]*windowFunction{
	"TUMBLE": {plan.Tumble, []string{"DATA", "TIMECOL", "SIZE", "OFFSET"}, "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR)"},
	"HOP": {plan.Hop, []string{"DATA", "TIMECOL", "SLIDE", "SIZE", "OFFSET"},
		"HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTE, INTERVAL '1' HOUR)"},
	"CUMULATE": {plan.Cumulate, []string{"DATA", "TIMECOL", "STEP", "SIZE", "OFFSET"},
		"CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '1' DAY)"},
	"SESSION": {plan.Session, []string{"DATA", "TIMECOL", "GAP"}, "SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' MINUTE)"},
}

// lengths are the arguments that are lengths of time, and what errors call them.
var lengths = map[string]string{
	"SIZE": "the size of a window", "SLIDE": "the slide of a window", "STEP": "the step of a window", "GAP": "the gap of a session",
}

// windowFunction binds TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL ..) and the others.
func (b *Binder) windowFunction(c *ast.Call, f *windowFunction) *relation {
	args := b.windowArgs(c, f)
	if args == nil {
		return nil
	}
	rel := b.tableArg(args["DATA"])
	w := plan.Window{Kind: f.kind}
	ok := b.windowLengths(&w, args)
	if rel == nil {
		return nil
	}
	col, timeOK := b.timeColumn(rel, args["TIMECOL"])
	if t, is := args["DATA"].(*ast.TableArg); is {
		partition, partitionOK := b.sessionKeys(rel, t.PartitionBy, f.kind)
		w.Partition, ok = partition, ok && partitionOK
	}
	if !ok || !timeOK {
		return nil
	}
	w.Time, w.TimeType = col, rel.node.Schema().Fields[col].Type
	w.TimeType.Attr = plan.TimeAttr(rel.node, col)
	emit, ok := b.emitOf(rel.node, &w, false, c.Pos())
	if !ok {
		return nil
	}
	in, taps := b.tapWindow(rel.node, rel.node.Schema(), &w)
	tvf := plan.NewWindowTVF(in, w)
	tvf.Taps, tvf.Emit = taps, emit
	return &relation{node: showColumns(tvf, len(rel.node.Schema().Fields))}
}

// showColumns shows the first columns of a window function's input, and those of the window.
func showColumns(tvf *plan.WindowTVF, width int) plan.Node {
	behind := len(tvf.Input.Schema().Fields)
	if behind == width {
		return tvf
	}
	p := &plan.Project{Input: tvf, Out: &types.Schema{}}
	for i, e := range passAll(tvf.Out) {
		if i < width || i >= behind {
			p.Exprs, p.Out.Fields = append(p.Exprs, e), append(p.Out.Fields, tvf.Out.Fields[i])
		}
	}
	return p
}

// windowLengths binds the arguments that are intervals, those that there are.
func (b *Binder) windowLengths(w *plan.Window, args map[string]ast.Expr) bool {
	ok := true
	for _, to := range []struct {
		param string
		ms    *int64
	}{{"SIZE", &w.Size}, {"GAP", &w.Size}, {"SLIDE", &w.Slide}, {"STEP", &w.Slide}} {
		a := args[to.param]
		if a == nil {
			continue
		}
		ms, good := b.windowInterval(a, lengths[to.param])
		if good && ms <= 0 {
			b.errorf(a.Pos(), "%s must be above zero", lengths[to.param])
			good = false
		}
		*to.ms = ms
		ok = ok && good
	}
	if a := args["OFFSET"]; a != nil {
		var good bool
		w.Offset, good = b.windowInterval(a, "the offset of a window")
		if good && ok && w.Kind == plan.Tumble && max(w.Offset, -w.Offset) >= w.Size {
			b.errorf(a.Pos(), "the offset of a window must be shorter than its size")
			good = false
		}
		ok = ok && good
	}
	if ok && w.Kind == plan.Cumulate && w.Size%w.Slide != 0 {
		b.errorf(args["SIZE"].Pos(), "the size of a cumulating window must be a whole number of steps, but %s is not one of %s",
			plan.Millis(w.Size), plan.Millis(w.Slide))
		return false
	}
	return ok
}

// sessionKeys binds the PARTITION BY of a session.
func (b *Binder) sessionKeys(rel *relation, by []ast.Expr, kind plan.WindowKind) ([]int, bool) {
	if len(by) == 0 {
		return nil, true
	}
	if kind != plan.Session {
		b.errorf(by[0].Pos(), "PARTITION BY has no meaning here: only SESSION takes it")
		return nil, false
	}
	var out []int
	ok := true
	s := over(rel, "PARTITION BY")
	for _, e := range by {
		key := b.expr(s, e)
		c, is := key.(*expr.Col)
		switch {
		case key == nil:
			ok = false
		case !is:
			b.errorf(e.Pos(), "a session is partitioned by columns; compute the key in a query below")
			ok = false
		case !slices.Contains(out, c.Index):
			out = append(out, c.Index)
		}
	}
	return out, ok
}

// windowArgs sorts the arguments of a window function by name. nil means that an error was reported.
func (b *Binder) windowArgs(c *ast.Call, f *windowFunction) map[string]ast.Expr {
	name, params := upper(c.FuncName()), f.params
	args := map[string]ast.Expr{}
	for i, a := range c.Args {
		param := ""
		if n, is := a.(*ast.NamedArg); is {
			param = n.Name.Name
			if !slices.Contains(params, param) {
				b.unknown(n.Pos(), param, params, "%s has no argument %q", name, param)
				return nil
			}
			a = n.Value
			if i == 0 && param != "DATA" {
				b.errorf(n.Pos(), "DATA must be the first argument of %s", name)
				return nil
			}
		} else if i < len(params) {
			param = params[i]
		} else {
			b.errorf(a.Pos(), "%s takes at most %d arguments", name, len(params))
			return nil
		}
		if args[param] != nil {
			b.errorf(a.Pos(), "the argument %s of %s is given twice", param, name)
			return nil
		}
		args[param] = a
	}
	for _, p := range params {
		if p != "OFFSET" && args[p] == nil {
			b.errorf(c.Pos(), "%s needs the argument %s", name, p).WithHint("write it as %s", f.example)
			return nil
		}
	}
	return args
}

// tableArg binds the table that a window function reads.
func (b *Binder) tableArg(a ast.Expr) *relation {
	t, is := a.(*ast.TableArg)
	switch {
	case !is:
		if q, is := a.(*ast.Subquery); is && q.Kind == "" {
			return b.query(q.Query)
		}
		b.errorf(a.Pos(), "a window function reads a table: write TABLE name, or a query in parentheses")
		return nil
	case t.Query != nil:
		return b.query(t.Query)
	}
	return b.tableName(t.Table, t.Hints, nil)
}

// windowInterval binds a constant interval of a fixed length, in milliseconds.
func (b *Binder) windowInterval(a ast.Expr, what string) (int64, bool) {
	e := b.expr(&scope{where: what, pos: map[expr.Expr]diag.Pos{}}, a)
	if e == nil {
		return 0, false
	}
	switch t := e.Type(); {
	case t.Kind == types.IntervalYM:
		b.errorf(a.Pos(), "%s cannot be in months or years, which have no fixed length", what)
		return 0, false
	case t.Kind != types.IntervalDS:
		b.errorf(a.Pos(), "%s must be an interval such as INTERVAL '10' MINUTE, not %s", what, article(t))
		return 0, false
	}
	lit, is := expr.Fold(e, b.Env).(*expr.Lit)
	if is && !lit.Value.Validity().IsNull(0) {
		return lit.Value.(*batch.Fixed[int64]).Values[0], true
	}
	b.errorf(a.Pos(), "%s must be a constant", what)
	return 0, false
}

// timeColumn finds the column of a DESCRIPTOR, which must be a time attribute. Of several columns only the first counts.
func (b *Binder) timeColumn(rel *relation, a ast.Expr) (int, bool) {
	d, is := a.(*ast.Descriptor)
	if !is || len(d.Cols) == 0 {
		b.errorf(a.Pos(), "the time column must be given as DESCRIPTOR(column)")
		return 0, false
	}
	in := rel.node.Schema()
	id := d.Cols[0]
	s := over(rel, "DESCRIPTOR")
	col := -1
	for i, f := range in.Fields {
		if f.Name != id.Name {
			continue
		}
		if col >= 0 {
			b.errorf(id.Pos(), "column %q is ambiguous: %s has it more than once", id.Name, s.describe())
			return 0, false
		}
		col = i
	}
	if col < 0 {
		b.unknown(id.Pos(), id.Name, in.Names(), "unknown column %q in %s", id.Name, s.describe())
		return 0, false
	}
	if plan.TimeAttr(rel.node, col) == types.NoTime {
		b.noTimeAttr(id.Pos(), rel.node, col)
		return 0, false
	}
	return col, true
}

// windowAggregate checks an aggregation that groups by windows: those of the function HOP must be whole numbers of slides, and
// FIRST_VALUE and LAST_VALUE, which go by the order in which rows come, have no meaning where parts of windows are merged.
func (b *Binder) windowAggregate(a *plan.Aggregate, groupWindow bool) bool {
	from, ok := plan.WindowOf(a)
	switch {
	case !ok:
		return true
	case !groupWindow && !b.refuseEmit(a.Pos):
		return false
	case from.Window.Kind == plan.Tumble:
		return true
	}
	w := from.Window
	for _, x := range a.Aggs {
		if x.Def.Name == "FIRST_VALUE" || x.Def.Name == "LAST_VALUE" {
			b.errorf(a.Pos, "%s goes by the order in which rows come, which %s does not keep", x.Def.Name, w.Kind).
				WithHint("only TUMBLE does")
			return false
		}
	}
	if groupWindow || w.Kind != plan.Hop || w.Size%w.Slide == 0 {
		return true
	}
	b.errorf(a.Pos, "to aggregate over windows of HOP, their size must be a whole number of slides, but %s is not one of %s",
		plan.Millis(w.Size), plan.Millis(w.Slide))
	return false
}
