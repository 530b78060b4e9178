package optimize

import (
	"math"
	"slices"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

// rank makes one node of the numbering of rows and a filter that bounds the numbers: only the best rows need to be kept then.
func (o *optimizer) rank(n plan.Node) plan.Node {
	f, is := n.(*plan.Filter)
	if !is {
		return n
	}
	over, is := f.Input.(*plan.Over)
	if !is {
		return n
	}
	number := len(over.Out.Fields) - 1
	from, to := int64(1), int64(math.MaxInt64)
	var stay []expr.Expr
	for _, c := range plan.Conjuncts(f.Cond) {
		lo, hi, ok := numberBounds(c, number)
		if !ok {
			stay = append(stay, c)
			continue
		}
		from, to = max(from, lo), min(to, hi)
	}
	switch {
	case to == math.MaxInt64:
		return n
	case from > to && to > 0:
		return &plan.Values{Out: f.Schema()}
	}
	return filtered(&plan.Rank{
		Input: over.Input, Func: over.Func, Partition: over.Partition, Order: over.Order, From: from, To: to, Numbered: true,
		Out: over.Out, Pos: over.Pos,
	}, stay)
}

// numberBounds returns the numbers, from lo to hi, for which a comparison of a column with a constant is true.
func numberBounds(e expr.Expr, col int) (lo, hi int64, ok bool) {
	c, is := e.(*expr.Call)
	if !is || len(c.Args) != 2 {
		return 0, 0, false
	}
	op, a, b := c.Def.Name, c.Args[0], c.Args[1]
	if _, is := a.(*expr.Lit); is {
		op, a, b = mirrored[op], b, a
	}
	n, isNumber := wholeNumber(b)
	if x, is := a.(*expr.Col); !is || x.Index != col || !isNumber {
		return 0, 0, false
	}
	switch {
	case op == "=":
		return n, n, true
	case op == "<=":
		return 1, n, true
	case op == "<" && n > math.MinInt64:
		return 1, n - 1, true
	case op == ">=":
		return n, math.MaxInt64, true
	case op == ">" && n < math.MaxInt64:
		return n + 1, math.MaxInt64, true
	}
	return 0, 0, false
}

// mirrored are the comparisons with their operands exchanged.
var mirrored = map[string]string{"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// wholeNumber returns the value of a BIGINT constant.
func wholeNumber(e expr.Expr) (int64, bool) {
	l, is := e.(*expr.Lit)
	if !is || l.Value.Validity().IsNull(0) {
		return 0, false
	}
	v, is := l.Value.(*batch.Fixed[int64])
	if !is || l.Value.Type().Kind != types.BigInt {
		return 0, false
	}
	return v.Values[0], true
}

// over needs what rows are numbered by; where nobody looks at the numbers, it goes.
func (p pruner) over(n *plan.Over, need columns) (plan.Node, map[int]int) {
	last := len(n.Out.Fields) - 1
	if !need[last] {
		return p.node(n.Input, need, true)
	}
	in, at := p.ranked(n.Input, need, last, n.Partition, n.Order)
	out := plan.NewOver(in, n.Func, moved(n.Partition, at), movedOrder(n.Order, at), n.Out.Fields[last].Name, n.Pos)
	at[last] = len(out.Out.Fields) - 1
	return out, at
}

func (p pruner) rank(n *plan.Rank, need columns) (plan.Node, map[int]int) {
	last := len(n.Input.Schema().Fields)
	wider := columns{}
	for c := range need {
		wider[c] = true
	}
	wider.addAll(plan.TapColumns(n.Taps))
	in, at := p.ranked(n.Input, wider, last, n.Partition, n.Order)
	out := *n
	out.Taps = plan.MapTaps(n.Taps, func(c int) int { return at[c] })
	out.Input, out.Partition, out.Order = in, moved(n.Partition, at), movedOrder(n.Order, at)
	out.Out = &types.Schema{Fields: slices.Clone(in.Schema().Fields)}
	if out.Numbered = n.Numbered && need[last]; out.Numbered {
		at[last] = len(out.Out.Fields)
		out.Out.Fields = append(out.Out.Fields, n.Out.Fields[last])
	}
	return &out, at
}

// ranked prunes the input of a node that ranks rows and adds column last.
func (p pruner) ranked(in plan.Node, need columns, last int, partition []int, order []plan.SortKey) (plan.Node, map[int]int) {
	below := columns{}
	for c := range need {
		if c != last {
			below[c] = true
		}
	}
	below.addAll(partition)
	for _, k := range order {
		below[k.Col] = true
	}
	return p.node(in, below, true)
}

func movedOrder(order []plan.SortKey, place map[int]int) []plan.SortKey {
	out := slices.Clone(order)
	for i := range out {
		out[i].Col = place[out[i].Col]
	}
	return out
}
