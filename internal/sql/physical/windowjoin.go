package physical

import (
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/internal/op/windowjoin"
	"github.com/millstream-io/millstream/internal/sql/config"
	"github.com/millstream-io/millstream/internal/sql/plan"
)

// lowerJoin plans a join of windows; plan.Changes has refused any other.
func (p *planner) lowerJoin(n *plan.Join, path string) *Node {
	id := p.unique(path + "/window-join")
	l, r := p.lower(n.L, id+"/left"), p.lower(n.R, id+"/right")
	if l == nil || r == nil {
		return nil
	}
	w := n.Windows()
	c := windowjoin.Config{
		Out: n.Out, LeftOnly: n.Kind.LeftOnly(), AtOnce: n.AtOnce, TTL: p.Config.Duration(config.StateTTL).Milliseconds(), Window: p.assigner(w.Window), Marked: w.Window.TimeType,
		In: [2]windowjoin.Side{
			{Schema: l.Out, End: n.Keys[w.End].L, Sources: windowSources(n.L, n.Keys[w.End].L), Keep: n.Kind.PadsRight() || n.Kind == plan.AntiJoin,
				Taps: lateTaps(n.TapsL)},
			{Schema: r.Out, End: n.Keys[w.End].R, Sources: windowSources(n.R, n.Keys[w.End].R), Keep: n.Kind.PadsLeft(),
				Taps: lateTaps(n.TapsR)},
		},
	}
	var keys [2][]int
	for i, k := range n.Keys {
		if i == w.End || i == w.Start && w.Window.Kind != plan.Session {
			continue
		}
		c.Keys = append(c.Keys, windowjoin.Key{L: k.L, R: k.R, NullSafe: k.NullSafe})
		keys[0], keys[1] = append(keys[0], k.L), append(keys[1], k.R)
	}
	if len(c.Keys) == 0 {
		// All rows of a window go together.
		keys[0], keys[1] = []int{c.In[0].End}, []int{c.In[1].End}
	}
	left, parallelism := p.byKey(l, keys[0])
	right, more := p.byKey(r, keys[1])
	if parallelism != more {
		// One input has a single subtask, the other one more: both travel by key.
		left.Ship, left.Keys, right.Ship, right.Keys, parallelism = graph.Hash, keys[0], graph.Hash, keys[1], max(parallelism, more)
	}
	create, err := p.createJoin(n, c)
	if err != nil {
		p.errs.Errorf(n.Pos, "%v", err)
		return nil
	}
	return p.tap(p.add(&Node{
		ID: id, Name: "WindowJoin", Detail: n.Detail(), Parallelism: parallelism, In: []Input{left, right}, Out: n.Out, logical: n, create: create,
	}))
}

// windowSources tells which columns follow from the window of a row, whose end is a column, so that they need not be kept. The
// start of a session does not.
func windowSources(n plan.Node, end int) []window.Source {
	sources := map[plan.WindowProp]window.Source{
		plan.WindowStart: window.Start, plan.WindowEnd: window.End, plan.WindowTime: window.Mark,
	}
	out := make([]window.Source, len(n.Schema().Fields))
	own, _, _ := plan.WindowColumn(n, end)
	for c := range out {
		if w, p, ok := plan.WindowColumn(n, c); ok && w == own && !(p == plan.WindowStart && w.Window.Kind == plan.Session) {
			out[c] = sources[p]
		}
	}
	return out
}

// createJoin returns the constructor of the operator, which compiles the condition for each subtask.
func (p *planner) createJoin(n *plan.Join, c windowjoin.Config) (func() (op.Operator, error), error) {
	create := func() (op.Operator, error) {
		own := c
		if n.Rest != nil {
			prog, err := expr.Compile(n.Rest, p.env)
			if err != nil {
				return nil, err
			}
			own.Filter, own.FilterCols = prog.Filter, expr.Columns(n.Rest)
		}
		return windowjoin.New(own), nil
	}
	_, err := create()
	return create, err
}
