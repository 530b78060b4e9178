package optimize

import "github.com/millstream-io/millstream/internal/sql/plan"

// sort needs what rows are sorted by, and what late rows are told with.
func (p pruner) sort(n *plan.Sort, need columns) (plan.Node, map[int]int) {
	below := columns{}
	for c := range need {
		below[c] = true
	}
	for _, k := range n.Keys {
		below[k.Col] = true
	}
	below.addAll(plan.TapColumns(n.Taps))
	in, at := p.node(n.Input, below, true)
	out := *n
	out.Input, out.Keys = in, movedOrder(n.Keys, at)
	out.Taps = plan.MapTaps(n.Taps, func(c int) int { return at[c] })
	return &out, at
}
