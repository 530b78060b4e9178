package optimize

import (
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

// prune removes columns that nobody needs, down into the sources, and watermarks that no node above waits for.
func (o *optimizer) prune(n plan.Node) plan.Node {
	p := pruner{times: o.times}
	out, _ := p.node(n, all(n), false)
	return out
}

// columns is a set of columns of a node.
type columns map[int]bool

func all(n plan.Node) columns {
	out := columns{}
	for i := range n.Schema().Fields {
		out[i] = true
	}
	return out
}

func (c columns) addExpr(e expr.Expr) {
	for _, i := range expr.Columns(e) {
		c[i] = true
	}
}

func (c columns) addAll(cols []int) {
	for _, i := range cols {
		c[i] = true
	}
}

type pruner struct {
	// times keeps watermarks that nothing waits for.
	times bool
}

// node returns n with the needed columns at least, and where each old column stands now (needed ones have an entry). timed
// tells that something above waits for watermarks.
func (p pruner) node(n plan.Node, need columns, timed bool) (plan.Node, map[int]int) {
	switch n := n.(type) {
	case *plan.Scan:
		return p.scan(n, need)
	case *plan.Watermark:
		return p.watermark(n, need, timed)
	case *plan.Values, *plan.Late:
		return n, same(need, len(n.Schema().Fields))
	case *plan.Filter:
		return p.filter(n, need, timed)
	case *plan.Project:
		return p.project(n, need, timed)
	case *plan.WindowTVF:
		return p.windowTVF(n, need, timed)
	case *plan.Aggregate:
		return p.aggregate(n, timed)
	case *plan.WindowAggregate:
		return p.windowAggregate(n, need)
	case *plan.Union:
		return p.union(n, need, timed)
	case *plan.Expand:
		return p.expand(n, need, timed)
	case *plan.Join:
		return p.join(n, need, timed)
	case *plan.Over:
		return p.over(n, need)
	case *plan.Rank:
		return p.rank(n, need)
	case *plan.Sort:
		return p.sort(n, need)
	case *plan.OverAggregate:
		return p.overAggregate(n, need)
	}
	// Limit and Sink pass all of their columns on.
	in, at := p.node(n.Inputs()[0], p.passed(n, need), timed)
	if _, is := n.(*plan.Sink); is {
		in = selectColumns(in, n.Schema(), at)
		return n.WithInputs([]plan.Node{in}), nil
	}
	return n.WithInputs([]plan.Node{in}), at
}

func (p pruner) passed(n plan.Node, need columns) columns {
	if _, is := n.(*plan.Sink); is {
		return all(n)
	}
	return need
}

// selectColumns restores the columns of a schema, in its order, over a node that may have more or others in another order.
func selectColumns(n plan.Node, want *types.Schema, at map[int]int) plan.Node {
	pr := &plan.Project{Input: n, Out: want}
	in := n.Schema()
	for i := range want.Fields {
		f := in.Fields[at[i]]
		pr.Exprs = append(pr.Exprs, expr.NewCol(at[i], f.Name, f.Type))
	}
	if identity(pr) {
		return n
	}
	return pr
}

func same(need columns, width int) map[int]int {
	at := make(map[int]int, width)
	for i := range width {
		at[i] = i
	}
	return at
}

func (p pruner) scan(n *plan.Scan, need columns) (plan.Node, map[int]int) {
	out := *n
	out.Columns, out.Fields = nil, &types.Schema{}
	at := map[int]int{}
	for i, f := range n.Fields.Fields {
		if need[i] || len(need) == 0 && i == cheapest(n.Fields) {
			at[i] = len(out.Columns)
			out.Columns = append(out.Columns, n.Columns[i])
			out.Fields.Fields = append(out.Fields.Fields, f)
		}
	}
	if len(out.Columns) == len(n.Columns) {
		return n, at
	}
	return &out, at
}

// cheapest is the column to read where only the number of rows counts.
func cheapest(s *types.Schema) int {
	for i, f := range s.Fields {
		if !f.Type.IsNested() && f.Type.Phys() != types.PhysBytes {
			return i
		}
	}
	return 0
}

func (p pruner) watermark(n *plan.Watermark, need columns, timed bool) (plan.Node, map[int]int) {
	if !timed && !p.times {
		return p.node(n.Input, need, false)
	}
	wider := columns{n.Col: true}
	for c := range need {
		wider[c] = true
	}
	if n.Expr != nil {
		wider.addExpr(n.Expr)
	}
	in, at := p.node(n.Input, wider, timed)
	out := &plan.Watermark{Input: in, Col: at[n.Col], Out: &types.Schema{Fields: append([]types.Field(nil), in.Schema().Fields...)}}
	out.Out.Fields[out.Col].Type.Attr = types.Rowtime
	if n.Expr != nil {
		out.Expr = expr.Remap(n.Expr, func(i int) int { return at[i] })
	}
	return out, at
}

func (p pruner) filter(n *plan.Filter, need columns, timed bool) (plan.Node, map[int]int) {
	wider := columns{}
	for c := range need {
		wider[c] = true
	}
	wider.addExpr(n.Cond)
	in, at := p.node(n.Input, wider, timed || expr.Calls(n.Cond, fn.CurrentWatermark))
	return &plan.Filter{Input: in, Cond: expr.Remap(n.Cond, func(i int) int { return at[i] })}, at
}

func (p pruner) project(n *plan.Project, need columns, timed bool) (plan.Node, map[int]int) {
	below := columns{}
	for i, e := range n.Exprs {
		if need[i] {
			below.addExpr(e)
			timed = timed || expr.Calls(e, fn.CurrentWatermark)
		}
	}
	in, inAt := p.node(n.Input, below, timed)
	out := &plan.Project{Input: in, Out: &types.Schema{}}
	at := map[int]int{}
	for i, e := range n.Exprs {
		if need[i] {
			at[i] = len(out.Exprs)
			out.Exprs = append(out.Exprs, expr.Remap(e, func(c int) int { return inAt[c] }))
			out.Out.Fields = append(out.Out.Fields, n.Out.Fields[i])
		}
	}
	return out, at
}

func (p pruner) windowTVF(n *plan.WindowTVF, need columns, timed bool) (plan.Node, map[int]int) {
	width := len(n.Input.Schema().Fields)
	below := columns{n.Window.Time: true}
	below.addAll(n.Window.Partition)
	below.addAll(plan.TapColumns(n.Taps))
	for c := range need {
		if c < width {
			below[c] = true
		}
	}
	// A session passes its rows on when time has closed it.
	in, at := p.node(n.Input, below, timed || n.Window.Kind == plan.Session)
	out := &plan.WindowTVF{Input: in, Window: n.Window, Out: &types.Schema{Fields: append([]types.Field(nil), in.Schema().Fields...)}}
	out.Window.Time, out.Window.Partition = at[n.Window.Time], moved(n.Window.Partition, at)
	out.Taps, out.Emit = plan.MapTaps(n.Taps, func(c int) int { return at[c] }), n.Emit
	for i, f := range n.Out.Fields[width:] {
		at[width+i] = len(out.Out.Fields)
		out.Out.Fields = append(out.Out.Fields, f)
	}
	return out, at
}

// aggregate needs all keys: they decide which rows there are.
func (p pruner) aggregate(n *plan.Aggregate, timed bool) (plan.Node, map[int]int) {
	below := columns{}
	below.addAll(n.Keys)
	for _, a := range n.Aggs {
		below.addAll(a.Args)
		if a.Filter >= 0 {
			below[a.Filter] = true
		}
	}
	in, at := p.node(n.Input, below, timed)
	out := *n
	out.Input, out.Keys = in, moved(n.Keys, at)
	out.Aggs = movedAggs(n.Aggs, at)
	return &out, same(nil, len(n.Out.Fields))
}

func movedAggs(aggs []plan.Agg, at map[int]int) []plan.Agg {
	out := make([]plan.Agg, len(aggs))
	for i, a := range aggs {
		a.Args = moved(a.Args, at)
		if a.Filter >= 0 {
			a.Filter = at[a.Filter]
		}
		out[i] = a
	}
	return out
}

// windowAggregate computes only the aggregates and window columns that are needed.
func (p pruner) windowAggregate(n *plan.WindowAggregate, need columns) (plan.Node, map[int]int) {
	out := *n
	out.Aggs, out.Props = nil, nil
	out.Out = &types.Schema{Fields: append([]types.Field(nil), n.Out.Fields[:len(n.Keys)]...)}
	at := same(nil, len(n.Keys))
	keep := func(i int) bool {
		if !need[i] {
			return false
		}
		at[i] = len(out.Out.Fields)
		out.Out.Fields = append(out.Out.Fields, n.Out.Fields[i])
		return true
	}
	for i, a := range n.Aggs {
		if keep(len(n.Keys) + i) {
			out.Aggs = append(out.Aggs, a)
		}
	}
	for i, w := range n.Props {
		if keep(len(n.Keys) + len(n.Aggs) + i) {
			out.Props = append(out.Props, w)
		}
	}
	below := columns{n.Window.Time: true}
	below.addAll(n.Keys)
	below.addAll(plan.TapColumns(n.Taps))
	for _, a := range out.Aggs {
		below.addAll(a.Args)
		if a.Filter >= 0 {
			below[a.Filter] = true
		}
	}
	in, inAt := p.node(n.Input, below, true)
	out.Input, out.Keys, out.Aggs = in, moved(n.Keys, inAt), movedAggs(out.Aggs, inAt)
	out.Window.Time = inAt[n.Window.Time]
	out.Taps = plan.MapTaps(n.Taps, func(c int) int { return inAt[c] })
	return &out, at
}

// expand keeps all copies: they and the number of the set decide which groups there are.
func (p pruner) expand(n *plan.Expand, need columns, timed bool) (plan.Node, map[int]int) {
	width := len(n.Input.Schema().Fields)
	below := columns{}
	below.addAll(n.Copies)
	for c := range need {
		if c < width {
			below[c] = true
		}
	}
	in, at := p.node(n.Input, below, timed)
	out := plan.NewExpand(in, moved(n.Copies, at), n.Sets)
	all := map[int]int{}
	for from, to := range at {
		all[from] = to
	}
	for i := range len(n.Copies) + 1 {
		all[width+i] = len(in.Schema().Fields) + i
	}
	return out, all
}

func (p pruner) union(n *plan.Union, need columns, timed bool) (plan.Node, map[int]int) {
	out := &plan.Union{Out: &types.Schema{}}
	at := map[int]int{}
	for i, f := range n.Out.Fields {
		if need[i] {
			at[i] = len(out.Out.Fields)
			out.Out.Fields = append(out.Out.Fields, f)
		}
	}
	for _, in := range n.In {
		c, inAt := p.node(in, need, timed)
		want := &types.Schema{}
		order := map[int]int{}
		old := in.Schema()
		for i := range old.Fields {
			if need[i] {
				order[len(want.Fields)] = inAt[i]
				want.Fields = append(want.Fields, old.Fields[i])
			}
		}
		out.In = append(out.In, selectColumns(c, want, order))
	}
	return out, at
}
