package optimize

import (
	"slices"

	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

// overTime makes an aggregate of the numbering of rows in the order of a time attribute, where all numbers are wanted.
func (o *optimizer) overTime(n plan.Node) plan.Node {
	over, is := n.(*plan.Over)
	if !is || len(over.Order) != 1 || over.Order[0].Desc || plan.TimeAttr(over.Input, over.Order[0].Col) == types.NoTime {
		return n
	}
	last := over.Out.Fields[len(over.Out.Fields)-1]
	return plan.NewOverAggregate(plan.OverAggregate{
		Input: over.Input, Partition: over.Partition, Time: over.Order[0].Col, Frame: plan.Frame{Rows: over.Func == plan.RowNumber}, Pos: over.Pos, Taps: over.Taps,
		Calls: []plan.OverCall{{Func: plan.OverRank, Rank: over.Func, Agg: plan.Agg{Name: last.Name, Type: last.Type, Filter: -1}, Default: -1}},
	})
}

// overAggregate computes only the calls that are needed; where none is, it goes.
func (p pruner) overAggregate(n *plan.OverAggregate, need columns) (plan.Node, map[int]int) {
	width := len(n.Input.Schema().Fields)
	below := columns{n.Time: true}
	below.addAll(n.Partition)
	below.addAll(plan.TapColumns(n.Taps))
	var calls []plan.OverCall
	var places []int
	for c := range need {
		if c < width {
			below[c] = true
		}
	}
	for i, c := range n.Calls {
		if !need[width+i] {
			continue
		}
		calls, places = append(calls, c), append(places, width+i)
		below.addAll(c.Args)
		if c.Default >= 0 {
			below[c.Default] = true
		}
	}
	if len(calls) == 0 && len(n.Taps) == 0 {
		return p.node(n.Input, need, true)
	}
	in, inAt := p.node(n.Input, below, true)
	at := map[int]int{}
	for from, to := range inAt {
		at[from] = to
	}
	calls = slices.Clone(calls)
	for i := range calls {
		c := &calls[i]
		c.Args = moved(c.Args, inAt)
		if c.Default >= 0 {
			c.Default = inAt[c.Default]
		}
		at[places[i]] = len(in.Schema().Fields) + i
	}
	return plan.NewOverAggregate(plan.OverAggregate{
		Input: in, Partition: moved(n.Partition, inAt), Time: inAt[n.Time], Frame: n.Frame, Calls: calls, Pos: n.Pos,
		Taps: plan.MapTaps(n.Taps, func(c int) int { return inAt[c] }),
	}), at
}
