package physical

import (
	"strings"
	"time"

	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/expand"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/internal/op/windowagg"
	"github.com/millstream-io/millstream/internal/op/windowtvf"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

var windowKinds = map[plan.WindowKind]window.Kind{
	plan.Tumble: window.Tumble, plan.Hop: window.Hop, plan.Cumulate: window.Cumulate, plan.Session: window.Session,
}

// assigner returns how an operator cuts time. Windows over TIMESTAMP_LTZ follow the wall clock of the session's zone.
func (p *planner) assigner(w *plan.Window) window.Assigner {
	t := window.Assigner{Kind: windowKinds[w.Kind], Size: w.Size, Slide: w.Slide, Offset: w.Offset}
	if w.TimeType.Kind == types.TimestampLTZ && p.env.Zone != nil && p.env.Zone != time.UTC {
		t.Zone = p.env.Zone
	}
	if w.TimeType.Attr != types.Proctime {
		p.ends.Add(t)
	}
	return t
}

func (p *planner) lowerWindowTVF(n *plan.WindowTVF, path string) *Node {
	if n.Window.Kind == plan.Session {
		return p.lowerSessions(n, path)
	}
	in := p.lower(n.Input, path)
	if in == nil {
		return nil
	}
	c := windowtvf.Config{
		Out: n.Out, Time: n.Window.Time, Window: p.assigner(&n.Window), Proctime: n.Window.TimeType.Attr == types.Proctime,
	}
	return p.add(&Node{
		ID: p.unique(path + "/window"), Name: "WindowTableFunction", Detail: "window=[" + n.Window.Line(n.Input.Schema()) + "]",
		Parallelism: in.Parallelism, In: []Input{{From: in}}, Out: n.Out, logical: n,
		create: func() (op.Operator, error) { return windowtvf.New(c), nil },
	})
}

// lowerSessions plans sessions whose rows are passed on once they have ended.
func (p *planner) lowerSessions(n *plan.WindowTVF, path string) *Node {
	id := p.unique(path + "/sessions")
	in := p.lower(n.Input, id)
	if in == nil {
		return nil
	}
	edge, parallelism := p.byKey(in, n.Window.Partition)
	c := windowagg.Config{
		In: in.Out, Out: n.Out, Keys: n.Window.Partition, Time: n.Window.Time, Window: p.assigner(&n.Window), Rows: true,
		Props:    []window.Source{window.Start, window.End, window.Mark},
		Updating: p.current.Updating(n.Input), Proctime: n.Window.TimeType.Attr == types.Proctime, Marked: n.Window.TimeType,
		Taps: lateTaps(n.Taps),
	}
	return p.tap(p.add(&Node{
		ID: id, Name: "WindowTableFunction", Detail: "window=[" + n.Window.Line(n.Input.Schema()) + "]",
		Parallelism: parallelism, In: []Input{edge}, Out: n.Out, logical: n,
		create: func() (op.Operator, error) { return windowagg.New(c), nil },
	}))
}

func (p *planner) lowerExpand(n *plan.Expand, path string) *Node {
	in := p.lower(n.Input, path)
	if in == nil {
		return nil
	}
	out, copies, sets := n.Out, n.Copies, n.Sets
	return p.add(&Node{
		ID: p.unique(path + "/expand"), Name: "Expand", Detail: strings.TrimSuffix(strings.TrimPrefix(n.Line(), "Expand("), ")"),
		Parallelism: in.Parallelism, In: []Input{{From: in}}, Out: out, logical: n,
		create: func() (op.Operator, error) { return expand.New(out, copies, sets), nil },
	})
}

var windowProps = map[plan.WindowProp]window.Source{
	plan.WindowStart: window.Start, plan.WindowEnd: window.End, plan.WindowTime: window.Mark,
}

// lowerWindowAggregate plans an aggregate once, however many read it.
func (p *planner) lowerWindowAggregate(n *plan.WindowAggregate, path string) *Node {
	if p.out.shared[n] == nil {
		if p.out.shared == nil {
			p.out.shared = map[*plan.WindowAggregate]*Node{}
		}
		p.out.shared[n] = p.windowAggregate(n, path)
	}
	return p.out.shared[n]
}

func (p *planner) windowAggregate(n *plan.WindowAggregate, path string) *Node {
	id := p.unique(path + "/window-aggregate")
	in := p.lower(n.Input, id)
	if in == nil {
		return nil
	}
	edge, parallelism := p.byKey(in, n.Keys)
	c := windowagg.Config{
		In: in.Out, Out: n.Out, Keys: n.Keys, Time: n.Window.Time, Attached: n.Attached,
		Window: p.assigner(&n.Window), Updating: p.current.Updating(n.Input), Proctime: n.Window.TimeType.Attr == types.Proctime,
		Marked: n.Window.TimeType, Taps: lateTaps(n.Taps),
	}
	if e := n.Emit; e != nil {
		c.Emit = &windowagg.Emit{Early: e.Early, Late: e.Late, Lateness: e.Lateness}
	}
	for _, w := range n.Props {
		c.Props = append(c.Props, windowProps[w])
	}
	aggs := n.Aggs
	create := func() (op.Operator, error) {
		own := c
		for _, a := range aggs {
			b, err := a.Def.Bind(a.Call)
			if err != nil {
				return nil, err
			}
			b = b.Over(c.Updating)
			b.Result = a.Type
			own.Aggs = append(own.Aggs, windowagg.Agg{Bound: b, Args: a.Args, Filter: a.Filter, Distinct: a.Distinct})
		}
		return windowagg.New(own), nil
	}
	if _, err := create(); err != nil {
		p.errs.Errorf(n.Pos, "%v", err)
		return nil
	}
	line := n.Line()
	return p.tap(p.add(&Node{
		ID: id, Name: "WindowAggregate", Detail: strings.TrimSuffix(line[strings.IndexByte(line, '(')+1:], ")"),
		Parallelism: parallelism, In: []Input{edge}, Out: n.Out, logical: n, create: create,
	}))
}
