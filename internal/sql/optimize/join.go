package optimize

import (
	"strconv"

	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

// splitJoin moves conditions of a join that concern one side alone below it, as far as rows that fail them have no part in the
// result, and makes keys of the equalities of computed values.
func (o *optimizer) splitJoin(n plan.Node) plan.Node {
	j, is := n.(*plan.Join)
	if !is || j.Rest == nil || expr.Volatile(j.Rest) {
		return n
	}
	rest := o.simplify(j.Rest)
	if v, known := truth(rest); known && v {
		out := *j
		out.Rest = nil
		return &out
	}
	width := len(j.L.Schema().Fields)
	var left, right, stay []expr.Expr
	for _, c := range plan.Conjuncts(rest) {
		switch side := sideOf(c, width); {
		case side == leftSide && (j.Kind == plan.InnerJoin || j.Kind == plan.RightJoin || j.Kind == plan.SemiJoin):
			left = append(left, c)
		case side == rightSide && !j.Kind.PadsLeft():
			right = append(right, expr.Remap(c, func(i int) int { return i - width }))
		default:
			stay = append(stay, c)
		}
	}
	out := *j
	out.L, out.R, out.Rest = filtered(j.L, left), filtered(j.R, right), plan.Conjunction(stay)
	if n := computedKeys(&out); n != nil {
		return n
	}
	if len(left)+len(right) == 0 && plan.Same(out.Rest, j.Rest) {
		return n
	}
	return &out
}

func filtered(n plan.Node, conds []expr.Expr) plan.Node {
	if len(conds) == 0 {
		return n
	}
	return &plan.Filter{Input: n, Cond: plan.Conjunction(conds)}
}

// side says of which inputs of a join an expression reads columns.
type side uint8

const (
	noSide    side = 0
	leftSide  side = 1
	rightSide side = 2
)

func sideOf(e expr.Expr, width int) side {
	s := noSide
	for _, c := range expr.Columns(e) {
		if c < width {
			s |= leftSide
		} else {
			s |= rightSide
		}
	}
	return s
}

// computedKeys makes keys of those equalities in the rest of a join's condition of which each operand reads one side. nil if
// there are none.
func computedKeys(j *plan.Join) plan.Node {
	l, r := passOn(j.L), passOn(j.R)
	width, rightWidth := len(l.Exprs), len(r.Exprs)
	keys := j.Keys
	var rest []expr.Expr
	for _, c := range conjunctsOf(j.Rest) {
		a, b, nullSafe := equality(c, width)
		if a == nil {
			rest = append(rest, c)
			continue
		}
		b = expr.Remap(b, func(i int) int { return i - width })
		keys = append(keys[:len(keys):len(keys)], plan.JoinKey{L: column(l, a), R: column(r, b), NullSafe: nullSafe})
	}
	if len(keys) == len(j.Keys) {
		return nil
	}
	more := len(l.Exprs) - width
	remaining := plan.Conjunction(rest)
	if remaining != nil {
		remaining = expr.Remap(remaining, func(i int) int { return shift(i, width, more) })
	}
	joined := j.Anew(keptIfSame(l, width), keptIfSame(r, rightWidth), keys, remaining)
	p := &plan.Project{Input: joined, Out: j.Out}
	for i, f := range j.Out.Fields {
		p.Exprs = append(p.Exprs, expr.NewCol(shift(i, width, more), f.Name, f.Type))
	}
	return p
}

func shift(i, width, more int) int {
	if i >= width {
		return i + more
	}
	return i
}

func conjunctsOf(e expr.Expr) []expr.Expr {
	if e == nil {
		return nil
	}
	return plan.Conjuncts(e)
}

// equality returns the operands of an equality of a left and a right value, the left one first.
func equality(e expr.Expr, width int) (l, r expr.Expr, nullSafe bool) {
	c, is := e.(*expr.Call)
	if !is || len(c.Args) != 2 || c.Def.Name != "=" && c.Def.Name != "IS NOT DISTINCT FROM" {
		return nil, nil, false
	}
	l, r = c.Args[0], c.Args[1]
	if sideOf(l, width) == rightSide {
		l, r = r, l
	}
	if sideOf(l, width) != leftSide || sideOf(r, width) != rightSide || !plan.Comparable(l.Type(), r.Type()) {
		return nil, nil, false
	}
	return l, r, c.Def.Name != "="
}

// passOn is a projection that passes all columns on.
func passOn(n plan.Node) *plan.Project {
	in := n.Schema()
	p := &plan.Project{Input: n, Out: &types.Schema{Fields: append([]types.Field(nil), in.Fields...)}}
	for i, f := range in.Fields {
		p.Exprs = append(p.Exprs, expr.NewCol(i, f.Name, f.Type))
	}
	return p
}

// column finds an expression among those of a projection, or adds it.
func column(p *plan.Project, e expr.Expr) int {
	for i, x := range p.Exprs {
		if plan.Same(x, e) {
			return i
		}
	}
	p.Exprs = append(p.Exprs, e)
	p.Out.Fields = append(p.Out.Fields, types.Field{Name: "$key" + strconv.Itoa(len(p.Exprs)-1), Type: e.Type().Plain()})
	return len(p.Exprs) - 1
}

// keptIfSame returns the input of a projection that adds nothing.
func keptIfSame(p *plan.Project, width int) plan.Node {
	if len(p.Exprs) == width {
		return p.Input
	}
	return p
}

// filterJoin moves a filter's conditions into the join below it, or to one of its sides.
func filterJoin(f *plan.Filter, j *plan.Join) plan.Node {
	width := len(j.L.Schema().Fields)
	var left, right, both, stay []expr.Expr
	for _, c := range plan.Conjuncts(f.Cond) {
		switch side := sideOf(c, width); {
		case side == leftSide && !j.Kind.PadsLeft():
			left = append(left, c)
		case side == rightSide && !j.Kind.PadsRight():
			right = append(right, expr.Remap(c, func(i int) int { return i - width }))
		case j.Kind == plan.InnerJoin:
			both = append(both, c)
		default:
			stay = append(stay, c)
		}
	}
	if len(stay) == len(plan.Conjuncts(f.Cond)) {
		return f
	}
	out := *j
	out.L, out.R = filtered(j.L, left), filtered(j.R, right)
	return filtered(out.And(plan.Conjunction(both)), stay)
}

// join needs the columns of its condition on both sides.
func (p pruner) join(n *plan.Join, need columns, timed bool) (plan.Node, map[int]int) {
	width := len(n.L.Schema().Fields)
	wider := columns{}
	for c := range need {
		wider[c] = true
	}
	for _, k := range n.Keys {
		wider[k.L], wider[k.R+width] = true, true
	}
	if n.Rest != nil {
		wider.addExpr(n.Rest)
	}
	left, right := columns{}, columns{}
	left.addAll(plan.TapColumns(n.TapsL))
	right.addAll(plan.TapColumns(n.TapsR))
	for c := range wider {
		if c < width {
			left[c] = true
		} else {
			right[c-width] = true
		}
	}
	timed = timed || n.Windows() != nil
	l, at := p.node(n.L, left, timed)
	r, atRight := p.node(n.R, right, timed)
	newWidth := len(l.Schema().Fields)
	for from, to := range atRight {
		at[from+width] = to + newWidth
	}
	var keys []plan.JoinKey
	for _, k := range n.Keys {
		keys = append(keys, plan.JoinKey{L: at[k.L], R: atRight[k.R], NullSafe: k.NullSafe})
	}
	rest := n.Rest
	if rest != nil {
		rest = expr.Remap(rest, func(i int) int { return at[i] })
	}
	out := n.Anew(l, r, keys, rest)
	out.TapsL = plan.MapTaps(n.TapsL, func(c int) int { return at[c] })
	out.TapsR = plan.MapTaps(n.TapsR, func(c int) int { return atRight[c] })
	return out, at
}
