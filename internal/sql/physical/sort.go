package physical

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/timesort"
	"github.com/millstream-io/millstream/internal/op/union"
	"github.com/millstream-io/millstream/internal/op/waiting"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

// lowerSort sorts in one subtask: rows of several could not come in one order.
func (p *planner) lowerSort(n *plan.Sort, path string) *Node {
	id := p.unique(path + "/sort")
	in := p.lower(n.Input, id)
	if in == nil {
		return nil
	}
	c := waiting.Config{In: in.Out, Time: n.Time(), Marked: n.Schema().Fields[n.Time()].Type, Taps: lateTaps(n.Taps), Zone: p.env.Zone}
	c.Proctime = plan.TimeAttr(n.Input, n.Time()) == types.Proctime
	for _, k := range n.Keys[1:] {
		c.Order = append(c.Order, waiting.Sort{Col: k.Col, Direction: batch.Direction{Descending: k.Desc, NullsLast: !k.NullsFirst}})
	}
	create := func() (op.Operator, error) { return timesort.New(c), nil }
	if c.Proctime && len(c.Order) == 0 {
		// Rows come in the order in which they come.
		create = func() (op.Operator, error) { return union.New(c.In), nil }
	}
	return p.tap(p.add(&Node{
		ID: id, Name: "TemporalSort", Detail: n.Detail(), Parallelism: 1, In: []Input{gather(in)}, Out: n.Schema(), logical: n,
		create: create,
	}))
}
