package physical

import (
	"fmt"

	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/fold"
	"github.com/millstream-io/millstream/internal/op/over"
	"github.com/millstream-io/millstream/internal/sql/config"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

var overRanks = map[plan.RankFunc]over.Func{plan.RowNumber: over.RowNumber, plan.RankOf: over.Rank, plan.DenseRank: over.DenseRank}

func (p *planner) lowerOver(n *plan.OverAggregate, path string) *Node {
	id := p.unique(path + "/over")
	in := p.lower(n.Input, id)
	if in == nil {
		return nil
	}
	edge, parallelism := p.byKey(in, n.Partition)
	c := over.Config{
		In: in.Out, Out: n.Out, Keys: n.Partition, Time: n.Time, Frame: over.Frame(n.Frame), Marked: in.Out.Fields[n.Time].Type,
		Taps: lateTaps(n.Taps), Zone: p.env.Zone, TTL: p.Config.Duration(config.StateTTL).Milliseconds(),
	}
	if n.Attr() == types.Proctime {
		c.Time = -1
	}
	create := func() (op.Operator, error) {
		own := c
		for _, call := range n.Calls {
			x, err := overCall(&call)
			if err != nil {
				return nil, err
			}
			own.Calls = append(own.Calls, x)
		}
		return over.New(own), nil
	}
	if _, err := create(); err != nil {
		p.errs.Errorf(n.Pos, "%v", err)
		return nil
	}
	return p.tap(p.add(&Node{
		ID: id, Name: "OverAggregate", Detail: n.Detail(), Parallelism: parallelism, In: []Input{edge}, Out: n.Out, logical: n, create: create,
	}))
}

func overCall(c *plan.OverCall) (over.Call, error) {
	switch c.Func {
	case plan.OverRank:
		return over.Call{Func: overRanks[c.Rank], Default: -1}, nil
	case plan.OverLag:
		return over.Call{Func: over.Lag, Value: c.Args[0], Back: c.Back, Default: c.Default}, nil
	}
	b, err := c.Def.Bind(c.Call)
	if err != nil {
		return over.Call{}, err
	}
	b.Result = c.Type
	return over.Call{Func: over.Aggregate, Agg: fold.Agg{Bound: b, Args: c.Args, Filter: -1, Distinct: c.Distinct}, Default: -1}, nil
}

// overKeeps are the calls by what they are computed from.
func overKeeps(n *plan.OverAggregate) []string {
	var out []string
	for _, c := range n.Calls {
		switch c.Func {
		case plan.OverRank:
			out = append(out, c.Rank.String())
		case plan.OverLag:
			out = append(out, fmt.Sprintf("LAG(%s, %d)", originList(n.Input, c.Args), c.Back))
		default:
			out = append(out, aggKeeps(n.Input, []plan.Agg{c.Agg})...)
		}
	}
	return out
}
