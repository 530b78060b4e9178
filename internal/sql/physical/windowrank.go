package physical

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/internal/op/windowrank"
	"github.com/millstream-io/millstream/internal/sql/config"
	"github.com/millstream-io/millstream/internal/sql/plan"
)

// lowerRank plans the best rows of windows; plan.Changes has refused any other.
func (p *planner) lowerRank(n *plan.Rank, path string) *Node {
	name, id := "WindowRank", path+"/window-rank"
	if n.Deduplicates() {
		name, id = "WindowDeduplicate", path+"/window-deduplicate"
	}
	id = p.unique(id)
	in := p.lower(n.Input, id)
	if in == nil {
		return nil
	}
	w := n.Window()
	c := windowrank.Config{
		In: in.Out, Out: n.Out, End: n.WindowEnd(), From: n.From, To: n.To, Numbered: n.Numbered,
		Ties: n.Ties, TakesLate: n.AtOnce, TTL: p.Config.Duration(config.StateTTL).Milliseconds(),
		LastWins: n.Deduplicates() && n.Order[0].Desc, Window: p.assigner(w), Marked: w.TimeType,
		Taps: lateTaps(n.Taps),
	}
	c.Sources = windowSources(n.Input, c.End)
	for _, k := range n.Partition {
		if c.Sources[k] == window.Row {
			c.Keys = append(c.Keys, k)
		}
	}
	for _, k := range n.Order {
		c.Order = append(c.Order, windowrank.Sort{Col: k.Col, Direction: batch.Direction{Descending: k.Desc, NullsLast: !k.NullsFirst}})
	}
	by := c.Keys
	if len(by) == 0 {
		// All rows of a window go together.
		by = []int{c.End}
	}
	edge, parallelism := p.byKey(in, by)
	return p.tap(p.add(&Node{
		ID: id, Name: name, Detail: n.Detail(), Parallelism: parallelism, In: []Input{edge}, Out: n.Out, logical: n,
		create: func() (op.Operator, error) { return windowrank.New(c), nil },
	}))
}
