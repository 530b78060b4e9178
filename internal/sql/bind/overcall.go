package bind

import (
	"slices"
	"strconv"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/cast"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

// needsEnd are the functions that need rows which have not come: those behind a row, or the number of all.
var needsEnd = wordSet("LEAD NTILE PERCENT_RANK CUME_DIST")

// needsRow are those that are computed for a row, among others, so that they have no meaning without an OVER.
var needsRow = wordSet("LAG ROW_NUMBER RANK DENSE_RANK")

// overFunction binds a call with an OVER, but for the functions that number rows.
func (b *Binder) overFunction(s *scope, c *ast.Call, name string) expr.Expr {
	agg := fn.LookupAgg(name)
	switch {
	case needsEnd[name]:
		b.errorf(c.Pos(), "%s needs rows that have not come yet", name)
		return nil
	case name != "LAG" && agg == nil && fn.Lookup(name) != nil:
		b.errorf(c.Over.Pos(), "%s is no aggregate function: OVER has no meaning there", name)
		return nil
	case name != "LAG" && agg == nil && flinkFunctions[name]:
		b.unsupported(c.Pos(), name)
		return nil
	case name != "LAG" && agg == nil:
		b.unknownFunction(c, name)
		return nil
	case s.overs == nil:
		b.errorf(c.Pos(), "%s with an OVER cannot stand in %s", name, orHere(s.where)).
			WithHint("compute it in a query in FROM, and use its column in the query around it")
		return nil
	case c.Filter != nil:
		b.errorf(c.Filter.Pos(), "FILTER cannot stand before OVER").WithHint("write %s(CASE WHEN condition THEN x END)", name)
		return nil
	}
	spec := b.windowSpec(s.overs, c.Over)
	if spec == nil {
		return nil
	}
	inner := &scope{rel: s.rel, aggs: s.aggs, where: "OVER", pos: s.pos}
	call, ok := b.overWindow(inner, c, spec)
	if name == "LAG" {
		if spec.Frame != nil {
			b.errorf(spec.Frame.Pos(), "LAG looks at rows by their distance: ROWS and RANGE have no meaning here")
			return nil
		}
		ok = b.lag(inner, c, &call) && ok
	} else {
		bound, good := b.bindAgg(inner, c, agg)
		call.agg, call.args, call.typ, ok = &bound, bound.args, bound.typ, ok && good
	}
	if !ok {
		return nil
	}
	return s.overs.add(call, name)
}

// overWindow binds the partition, the order and the frame of a call.
func (b *Binder) overWindow(inner *scope, c *ast.Call, spec *ast.WindowSpec) (overCall, bool) {
	call := overCall{partition: b.exprs(inner, spec.PartitionBy), pos: c.Pos(), orderPos: c.Over.Pos()}
	ok := call.partition != nil || len(spec.PartitionBy) == 0
	if len(spec.OrderBy) == 0 {
		b.errorf(c.Over.Pos(), "OVER needs an ORDER BY: rows are taken in the order of time")
		ok = false
	} else {
		call.orderPos = spec.OrderBy[0].Expr.Pos()
	}
	for i := range spec.OrderBy {
		key, good := b.overKey(inner, &spec.OrderBy[i])
		call.order, ok = append(call.order, key), ok && good
	}
	if spec.Frame != nil {
		frame, good := b.overFrame(spec.Frame)
		call.frame, ok = frame, ok && good
	}
	return call, ok
}

// overFrame binds a frame, which must end with the current row.
func (b *Binder) overFrame(f *ast.Frame) (plan.Frame, bool) {
	out := plan.Frame{Rows: f.Rows}
	switch {
	case f.Between && (f.Hi.Kind == ast.Following || f.Hi.Kind == ast.UnboundedFollowing) || f.Lo.Kind == ast.Following || f.Lo.Kind == ast.UnboundedFollowing:
		b.errorf(f.Pos(), "a frame cannot look ahead at rows that have not come").WithHint("let it end with CURRENT ROW")
		return out, false
	case f.Between && f.Hi.Kind != ast.CurrentRow:
		b.errorf(f.Pos(), "a frame must end with CURRENT ROW")
		return out, false
	case f.Lo.Kind == ast.CurrentRow:
		b.errorf(f.Pos(), "a frame must begin with PRECEDING").WithHint("ROWS BETWEEN 0 PRECEDING AND CURRENT ROW is the row alone")
		return out, false
	case f.Lo.Kind == ast.UnboundedPreceding:
		return out, true
	}
	out.Bounded = true
	var ok bool
	if f.Rows {
		n, is := f.Lo.Offset.(*ast.NumberLit)
		if is && n.Kind == ast.Integer {
			var err error
			out.Preceding, err = strconv.ParseInt(n.Text, 10, 64)
			ok = err == nil
		}
		if !ok {
			b.errorf(f.Lo.Pos(), "ROWS counts rows: write a whole number before PRECEDING")
		}
		return out, ok
	}
	out.Preceding, ok = b.windowInterval(f.Lo.Offset, "the frame of RANGE")
	if ok && out.Preceding < 0 {
		b.errorf(f.Lo.Pos(), "the frame begins after the row: the interval before PRECEDING must not be negative")
		return out, false
	}
	return out, ok
}

// lag binds LAG(x [, offset [, default]]).
func (b *Binder) lag(s *scope, c *ast.Call, call *overCall) bool {
	if c.Distinct || c.Star || !b.arity(c, 1, 3) {
		return false
	}
	args := b.exprs(s, c.Args)
	if args == nil || !b.haveTypes(args[:1], c.Args) {
		return false
	}
	call.lag, call.back, call.args, call.typ = true, 1, args[:1], args[0].Type().Plain().WithNull(true)
	if len(args) > 1 {
		n, is := b.wholeConstant(args[1])
		if !is || n < 0 {
			b.errorf(c.Args[1].Pos(), "the offset of LAG must be a constant that is not negative")
			return false
		}
		call.back = n
	}
	if len(args) < 3 {
		return true
	}
	want := args[0].Type().Plain()
	if t, ok := cast.CommonType([]types.Type{want.NotNull(), args[2].Type().Plain().NotNull()}); !ok || !t.Equal(want.NotNull()) {
		b.errorf(c.Args[2].Pos(), "the default of LAG is %s, but the values are %s", article(args[2].Type().Plain()), article(want)).WithHint("convert it with CAST")
		return false
	}
	e := b.checked(c.Args[2].Pos())(expr.Coerce(args[2], want.WithNull(args[2].Type().Nullable), b.Env))
	if e == nil {
		return false
	}
	call.typ.Nullable = e.Type().Nullable
	call.args = append(call.args[:1:1], e)
	return true
}

// wholeConstant returns the value of a constant integer.
func (b *Binder) wholeConstant(e expr.Expr) (int64, bool) {
	if !e.Type().IsInteger() {
		return 0, false
	}
	long, err := expr.Coerce(e, types.Of(types.BigInt), b.Env)
	if err != nil {
		return 0, false
	}
	lit, is := expr.Fold(long, b.Env).(*expr.Lit)
	if !is || lit.Value.Validity().IsNull(0) {
		return 0, false
	}
	v, is := lit.Value.(*batch.Fixed[int64])
	return v.Values[0], is
}

// aggregated adds the columns of calls of which not all number rows. They must have one window. nil means that an error was
// reported.
func (s *overScope) aggregated(b *Binder, n plan.Node, items []item) plan.Node {
	first := s.calls[0]
	for _, c := range s.calls[1:] {
		if !sameExprs(c.partition, first.partition) || !slices.EqualFunc(c.order, first.order, overKey.same) || c.window() != first.window() {
			b.errorf(c.pos, "all calls with an OVER must have the same window: partition, order and frame").
				WithHint("compute the others in a query of their own")
			return nil
		}
	}
	pre := &plan.Project{Input: n, Exprs: passAll(n.Schema()), Out: schemaOf(n.Schema())}
	out := plan.OverAggregate{Frame: first.window(), Pos: first.pos}
	for _, e := range first.partition {
		out.Partition = append(out.Partition, addColumn(pre, e, "$part"))
	}
	out.Time = addColumn(pre, first.order[0].expr, "$order")
	for i := range s.calls {
		out.Calls = append(out.Calls, s.calls[i].planned(pre, s.columnName(items, i)))
	}
	width := len(pre.Exprs)
	if out.Input = pre; width == len(n.Schema().Fields) {
		out.Input = n
	}
	if !b.overOrder(out.Input, out.Time, &first) {
		return nil
	}
	mark := plan.Window{Time: out.Time, TimeType: out.Input.Schema().Fields[out.Time].Type}
	mark.TimeType.Attr = plan.TimeAttr(out.Input, out.Time)
	out.Input, out.Taps = b.tapWindow(out.Input, out.Input.Schema(), &mark)
	return withoutCarried(plan.NewOverAggregate(out), width)
}

// withoutCarried leaves out the columns that an OVER carries for late rows alone: those of its input behind the first ones.
func withoutCarried(n plan.Node, width int) plan.Node {
	behind := len(n.Inputs()[0].Schema().Fields)
	if behind == width {
		return n
	}
	p := &plan.Project{Input: n, Out: &types.Schema{}}
	for i, e := range passAll(n.Schema()) {
		if i < width || i >= behind {
			p.Exprs, p.Out.Fields = append(p.Exprs, e), append(p.Out.Fields, n.Schema().Fields[i])
		}
	}
	return p
}

// overOrder checks that rows are taken in the order of time.
func (b *Binder) overOrder(n plan.Node, time int, c *overCall) bool {
	switch {
	case plan.TimeAttr(n, time) == types.NoTime && c.frame.Bounded && !c.frame.Rows:
		b.errorf(c.orderPos, "a frame of an interval needs an ORDER BY of a time attribute, but this is %s", article(n.Schema().Fields[time].Type.Plain()))
	case plan.TimeAttr(n, time) == types.NoTime:
		b.unsupported(c.orderPos, "OVER ordered by a column that is no time attribute")
	case len(c.order) > 1:
		b.errorf(c.orderPos, "the ORDER BY of OVER must be a time attribute alone")
	case c.order[0].desc:
		b.errorf(c.orderPos, "rows are taken in ascending order of time: the first row by descending time would be the last to come")
	default:
		return true
	}
	return false
}

// window is the frame that a call has: those of calls that do not say one are given.
func (c *overCall) window() plan.Frame {
	if c.agg == nil && !c.lag && c.rank == plan.RowNumber {
		return plan.Frame{Rows: true}
	}
	return c.frame
}

// planned returns the call over the columns of a projection, to which it adds what it reads.
func (c *overCall) planned(pre *plan.Project, name string) plan.OverCall {
	out := plan.OverCall{Func: plan.OverRank, Rank: c.rank, Default: -1, Agg: plan.Agg{Name: name, Type: c.typ, Filter: -1}}
	if c.agg == nil && !c.lag {
		return out
	}
	for _, e := range c.args {
		out.Args = append(out.Args, addColumn(pre, e, "$arg"))
	}
	if c.agg != nil {
		out.Func, out.Def, out.Call, out.Distinct = plan.OverAgg, c.agg.def, c.agg.call, c.agg.distinct
		return out
	}
	out.Func, out.Back = plan.OverLag, c.back
	if len(out.Args) > 1 {
		out.Args, out.Default = out.Args[:1], out.Args[1]
	}
	return out
}
