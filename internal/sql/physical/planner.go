package physical

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/distinct"
	"github.com/millstream-io/millstream/internal/op/limit"
	"github.com/millstream-io/millstream/internal/op/notnull"
	"github.com/millstream-io/millstream/internal/op/union"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/internal/sql/bind"
	"github.com/millstream-io/millstream/internal/sql/catalog"
	"github.com/millstream-io/millstream/internal/sql/config"
	"github.com/millstream-io/millstream/internal/sql/connect"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

// Options are what planning depends on besides the plan.
type Options struct {
	Host   *connect.Host
	Config *config.Settings
	// Result takes the rows of a plan.Sink without a table.
	Result connector.Sink
}

// Make plans sinks, which may share sources. The error is a diag.List, or a *bind.Unsupported.
func Make(sinks []*plan.Sink, o Options) (*Plan, error) {
	p := &planner{Options: o, env: o.Host.Env, ids: map[string]int{}, changes: map[*plan.Sink]*plan.Changes{}, out: &Plan{}, tapped: map[string][]*Node{}, ends: &window.Ends{}}
	alone := findAlone(sinks)
	p.gatherScans(sinks, alone)
	for _, s := range sinks {
		p.lowerSink(s)
	}
	p.connectLate(alone)
	switch {
	case len(p.errs) > 0:
		p.errs.Append(p.missing)
		p.errs.Sort()
		return nil, p.errs
	case len(p.missing) > 0:
		p.missing.Sort()
		return nil, &bind.Unsupported{List: p.missing}
	}
	return p.out, nil
}

type planner struct {
	Options
	env     *fn.Env
	out     *Plan
	ids     map[string]int
	changes map[*plan.Sink]*plan.Changes
	// current are the changes of the sink that is being planned.
	current *plan.Changes
	scans   []*scanGroup
	// late are the nodes of LATE, tapped those with late rows, by the tag of the tap.
	late   []*Node
	tapped map[string][]*Node
	// ends are the ends of all windows.
	ends *window.Ends

	errs, missing diag.List
}

// parallelism is that of operators that say nothing else.
func (p *planner) parallelism() int { return int(p.Config.Int(config.Parallelism)) }

// unique returns an ID, with a number behind it if it is taken.
func (p *planner) unique(id string) string {
	p.ids[id]++
	if n := p.ids[id]; n > 1 {
		return fmt.Sprintf("%s#%d", id, n)
	}
	return id
}

// add enters a node of the plan.
func (p *planner) add(n *Node) *Node {
	n.zone = p.env.Zone
	p.out.nodes = append(p.out.nodes, n)
	return n
}

// tableName is a table's name in plans: without the default catalog and database.
func tableName(path catalog.Path) string {
	if path.Catalog == catalog.DefaultCatalog && path.Database == catalog.DefaultDatabase {
		return path.Name
	}
	return path.String()
}

// lowerSink plans one sink and all below it.
func (p *planner) lowerSink(s *plan.Sink) {
	name := "result"
	out, parallelism := p.Result, 1
	if s.Table != nil {
		name = tableName(s.Table.Path)
		var ok bool
		if out, parallelism, ok = p.tableSink(s); !ok {
			return
		}
	}
	p.current = plan.InferChanges(s, func(*plan.Sink) connector.Modes { return out.Accepts() })
	p.errs.Append(p.current.Errors)
	p.missing.Append(p.current.Missing)
	if len(p.errs) > 0 || len(p.missing) > 0 {
		return
	}
	id := p.unique("sink:" + name)
	in := p.lower(s.Input, strings.TrimPrefix(id, "sink:"))
	if in == nil {
		return
	}
	if len(s.DropNulls) > 0 {
		in = p.dropNulls(s, in, strings.TrimPrefix(id, "sink:"))
	}
	if parallelism == 0 {
		parallelism = in.Parallelism
	}
	n := &Node{
		ID: id, Name: "Sink[" + name + "]", Detail: "columns=[" + strings.Join(s.Schema().Names(), ", ") + "]",
		Parallelism: parallelism, logical: s, sink: &graph.Sink{Table: name, Sink: out},
	}
	n.In = []Input{p.toSink(s, in, parallelism)}
	p.add(n)
	p.out.Sinks = append(p.out.Sinks, n)
}

// dropNulls leaves out the rows that a sink's NOT NULL columns cannot take.
func (p *planner) dropNulls(s *plan.Sink, in *Node, path string) *Node {
	cols := s.DropNulls
	out := &types.Schema{Fields: slices.Clone(in.Out.Fields)}
	names := make([]string, len(cols))
	for i, c := range cols {
		out.Fields[c].Type.Nullable = false
		names[i] = out.Fields[c].Name
	}
	return p.add(&Node{
		ID: p.unique(path + "/notnull"), Name: "DropNulls", Detail: "columns=[" + strings.Join(names, ", ") + "]",
		Parallelism: in.Parallelism, In: []Input{{From: in}}, Out: out,
		create: func() (op.Operator, error) { return notnull.New(out, cols), nil },
	})
}

// tableSink makes the sink of a table. A parallelism of 0 means that of the input.
func (p *planner) tableSink(s *plan.Sink) (out connector.Sink, parallelism int, ok bool) {
	conn, err := connect.Open(s.Table, s.Options)
	if err == nil {
		parallelism = conn.Parallelism("sink.parallelism", 0)
		out, err = conn.Sink(p.Host, max(parallelism, p.parallelism()))
	}
	if err != nil {
		p.errs.Add(err.Error)
		return nil, 0, false
	}
	return out, parallelism, true
}

// toSink ships rows to a sink: the changes of one key of the sink must stay in order.
func (p *planner) toSink(s *plan.Sink, in *Node, parallelism int) Input {
	switch {
	case parallelism == 1:
		return gather(in)
	case s.Table != nil && p.current.Updating(s.Input):
		return Input{From: in, Ship: graph.Hash, Keys: sinkKey(s)}
	}
	return spread(in, parallelism)
}

// sinkKey are the columns of the sink's primary key, or all.
func sinkKey(s *plan.Sink) []int {
	schema := s.Schema()
	var key []int
	if s.Table.PrimaryKey != nil {
		for _, name := range s.Table.PrimaryKey.Columns {
			key = append(key, schema.Index(name))
		}
		return key
	}
	for i := range schema.Fields {
		key = append(key, i)
	}
	return key
}

// gather ships all rows to one subtask.
func gather(in *Node) Input {
	if in.Parallelism == 1 {
		return Input{From: in, Ship: graph.Forward}
	}
	return Input{From: in, Ship: graph.Gather}
}

// spread ships rows to any subtasks.
func spread(in *Node, parallelism int) Input {
	if in.Parallelism == parallelism {
		return Input{From: in, Ship: graph.Forward}
	}
	return Input{From: in, Ship: graph.Rebalance}
}

// byKey ships rows by key columns; without any, to one subtask. It returns the parallelism of the receiver.
func (p *planner) byKey(in *Node, keys []int) (Input, int) {
	if len(keys) == 0 {
		return gather(in), 1
	}
	parallelism := p.parallelism()
	if in.Parallelism == 1 && parallelism == 1 {
		return Input{From: in, Ship: graph.Forward}, 1
	}
	return Input{From: in, Ship: graph.Hash, Keys: keys}, parallelism
}

// lower plans a node; path is the ID of the nearest node above that has an ID of its own. nil means that an error was reported.
func (p *planner) lower(n plan.Node, path string) *Node {
	switch n := n.(type) {
	case *plan.Scan, *plan.Watermark, *plan.Filter, *plan.Project:
		return p.lowerChain(n, path)
	case *plan.Values:
		return p.lowerValues(n, path)
	case *plan.Late:
		return p.lowerLate(n)
	case *plan.WindowTVF:
		return p.lowerWindowTVF(n, path)
	case *plan.WindowAggregate:
		return p.lowerWindowAggregate(n, path)
	case *plan.Aggregate:
		return p.lowerDistinct(n, path)
	case *plan.Union:
		return p.lowerUnion(n, path)
	case *plan.Limit:
		return p.lowerLimit(n, path)
	case *plan.Expand:
		return p.lowerExpand(n, path)
	case *plan.Join:
		return p.lowerJoin(n, path)
	case *plan.Rank:
		return p.lowerRank(n, path)
	case *plan.Sort:
		return p.lowerSort(n, path)
	case *plan.OverAggregate:
		return p.lowerOver(n, path)
	}
	p.errs.Errorf(diag.Pos{}, "no operator computes %s", n.Line())
	return nil
}

func (p *planner) lowerDistinct(n *plan.Aggregate, path string) *Node {
	id := p.unique(path + "/distinct")
	in := p.lower(n.Input, id)
	if in == nil {
		return nil
	}
	if !passesAll(n) {
		in = p.calc(in, stage{exprs: columnExprs(n.Input.Schema(), n.Keys), out: n.Out}, id)
	}
	keys := make([]int, len(n.Keys))
	for i := range keys {
		keys[i] = i
	}
	edge, parallelism := p.byKey(in, keys)
	out, ttl := n.Out, p.Config.Duration(config.StateTTL).Milliseconds()
	if n.TTL != nil {
		ttl = *n.TTL
	}
	return p.add(&Node{
		ID: id, Name: "Distinct", Detail: "columns=[" + strings.Join(out.Names(), ", ") + "]", Parallelism: parallelism,
		In: []Input{edge}, Out: out, logical: n,
		create: func() (op.Operator, error) { return distinct.New(out, ttl), nil },
	})
}

// passesAll reports whether the keys of an aggregation are all columns of its input, in order.
func passesAll(n *plan.Aggregate) bool {
	if len(n.Keys) != len(n.Input.Schema().Fields) {
		return false
	}
	for i, k := range n.Keys {
		if i != k {
			return false
		}
	}
	return true
}

func (p *planner) lowerUnion(n *plan.Union, path string) *Node {
	id := p.unique(path + "/union")
	parallelism := 1
	ins := make([]*Node, len(n.In))
	for i, in := range n.In {
		if ins[i] = p.lower(in, fmt.Sprintf("%s/%d", id, i)); ins[i] == nil {
			return nil
		}
		parallelism = max(parallelism, ins[i].Parallelism)
	}
	out := n.Out
	u := &Node{
		ID: id, Name: "Union", Detail: "columns=[" + strings.Join(out.Names(), ", ") + "]", Parallelism: parallelism, Out: out,
		logical: n, create: func() (op.Operator, error) { return union.New(out), nil },
	}
	for i, in := range ins {
		edge := spread(in, parallelism)
		if edge.Ship != graph.Forward && p.current.Updating(n.In[i]) {
			edge = Input{From: in, Ship: graph.Hash, Keys: allColumns(in.Out)}
		}
		u.In = append(u.In, edge)
	}
	return p.add(u)
}

func allColumns(s *types.Schema) []int {
	out := make([]int, len(s.Fields))
	for i := range out {
		out[i] = i
	}
	return out
}

func (p *planner) lowerLimit(n *plan.Limit, path string) *Node {
	id := p.unique(path + "/limit")
	in := p.lower(n.Input, id)
	if in == nil {
		return nil
	}
	offset, count := n.Offset, n.Count
	return p.add(&Node{
		ID: id, Name: "Limit", Detail: strings.TrimSuffix(strings.TrimPrefix(n.Line(), "Limit("), ")"), Parallelism: 1,
		In: []Input{gather(in)}, Out: n.Schema(), logical: n,
		create: func() (op.Operator, error) { return limit.New(offset, count), nil },
	})
}
