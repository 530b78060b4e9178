package physical

import (
	"slices"
	"strings"

	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/internal/sql/catalog"
	"github.com/millstream-io/millstream/internal/sql/connect"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

// scanGroup are the scans of one table, with the same options, in all statements that are planned together. They become one
// source, which reads what any of them needs.
type scanGroup struct {
	// scan reads the columns of all.
	scan *plan.Scan
	// readers is how many scans there are.
	readers int
	// mark is the watermark that one of them needs, or nil; wm is its expression over the columns of scan, and time that of
	// the event time.
	mark     *plan.Watermark
	wm, time expr.Expr
	// uses are what the readers and the watermark need of each column.
	uses []*use
	// node is the source, once it was planned.
	node *Node
}

// sourceNode is what a graph.Source is made of.
type sourceNode struct {
	table      string
	source     connector.Source
	ops        []func() (op.Operator, error)
	watermark  func() (graph.WatermarkFn, error)
	fromSource bool
	timing     graph.Timing
}

func (s *sourceNode) graphSource() *graph.Source {
	return &graph.Source{
		Table: s.table, Source: s.source, Watermark: s.watermark, SourceWatermark: s.fromSource, Timing: s.timing, Ops: s.ops,
	}
}

// gatherScans enters the scans of all sinks, and of the queries that run for their late rows alone, and what is needed of them.
func (p *planner) gatherScans(sinks []*plan.Sink, alone []*plan.Late) {
	each := func(f func(*plan.Scan, []plan.Node)) {
		seen := map[plan.Node]bool{}
		for _, s := range sinks {
			eachScan(s, nil, seen, f)
		}
		for _, l := range alone {
			eachScan(l.Alone, nil, seen, f)
		}
	}
	each(func(s *plan.Scan, above []plan.Node) {
		g := p.group(s)
		if g == nil {
			g = &scanGroup{scan: s}
			p.scans = append(p.scans, g)
		}
		g.readers++
		g.scan = mergeScans(g.scan, s)
		for _, n := range above {
			if mark, is := n.(*plan.Watermark); is && g.mark == nil {
				g.mark = mark
			}
		}
	})
	for _, g := range p.scans {
		g.uses = newUses(g.scan.Fields)
		if g.mark == nil {
			continue
		}
		if g.mark.Expr != nil {
			g.wm = g.overScan(g.mark.Expr)
			g.time = g.overScan(rowtime(g.mark))
			collectUses(g.wm, g.uses)
			collectUses(g.time, g.uses)
		}
	}
	each(func(s *plan.Scan, above []plan.Node) {
		g := p.group(s)
		g.stages(s, above)[0].collectUses(g.uses)
	})
}

// eachScan calls f for each scan below n, with the run of projections, filters and watermarks above it, the topmost first. What
// several nodes read (an aggregate that was seen) counts once.
func eachScan(n plan.Node, above []plan.Node, seen map[plan.Node]bool, f func(*plan.Scan, []plan.Node)) {
	switch n := n.(type) {
	case *plan.WindowAggregate:
		if seen[n] {
			return
		}
		seen[n], above = true, nil
	case *plan.Scan:
		f(n, above)
		return
	case *plan.Filter, *plan.Project, *plan.Watermark:
		above = append(slices.Clip(above), n)
	default:
		above = nil
	}
	for _, in := range n.Inputs() {
		eachScan(in, above, seen, f)
	}
}

// stages are what a reader of the group does with the columns of the group's source.
func (g *scanGroup) stages(s *plan.Scan, above []plan.Node) []stage {
	first := pass(s.Fields)
	for i, e := range first.exprs {
		first.exprs[i] = remapScan(e, s, g.scan)
	}
	return chain(first, above)
}

// group finds the group that a scan belongs to.
func (p *planner) group(s *plan.Scan) *scanGroup {
	i := slices.IndexFunc(p.scans, func(g *scanGroup) bool {
		return g.scan.Table == s.Table && slices.EqualFunc(g.scan.Options, s.Options, sameOption)
	})
	if i < 0 {
		return nil
	}
	return p.scans[i]
}

func sameOption(a, b catalog.Option) bool { return a.Key == b.Key && a.Value == b.Value }

// mergeScans returns a scan of the columns of both: physical ones first, each kind in the table's order.
func mergeScans(a, b *plan.Scan) *plan.Scan {
	cols := slices.Clone(a.Columns)
	for _, c := range b.Columns {
		if !slices.Contains(cols, c) {
			cols = append(cols, c)
		}
	}
	if len(cols) == len(a.Columns) {
		return a
	}
	meta := func(c int) bool { return a.Table.Columns[c].Kind == ast.Metadata }
	slices.SortFunc(cols, func(x, y int) int {
		switch {
		case meta(x) && !meta(y):
			return 1
		case meta(y) && !meta(x):
			return -1
		}
		return x - y
	})
	out := *a
	out.Columns, out.Fields = cols, &types.Schema{}
	for _, c := range cols {
		from := a
		i := slices.Index(a.Columns, c)
		if i < 0 {
			from, i = b, slices.Index(b.Columns, c)
		}
		out.Fields.Fields = append(out.Fields.Fields, from.Fields.Fields[i])
	}
	return &out
}

// remapScan rewrites an expression over one scan to one over a scan that has the same columns and more.
func remapScan(e expr.Expr, from, to *plan.Scan) expr.Expr {
	return expr.Remap(e, func(i int) int { return slices.Index(to.Columns, from.Columns[i]) })
}

// lowerScan plans a scan with what stands above it. A source with one reader computes that itself, as it reads; of a source
// with several readers, each computes it for itself.
func (p *planner) lowerScan(s *plan.Scan, above []plan.Node, path string) *Node {
	g := p.group(s)
	if g.node == nil {
		if g.node = p.source(g); g.node == nil {
			return nil
		}
	}
	stages := g.stages(s, above)
	stages[0].rebase(g.uses, g.node.Out)
	if g.readers == 1 {
		return p.withinSource(g.node, stages)
	}
	return p.stages(g.node, stages, path)
}

// source plans the source of a group.
func (p *planner) source(g *scanGroup) *Node {
	conn, err := connect.Open(g.scan.Table, g.scan.Options)
	if err != nil {
		p.errs.Add(err.Error)
		return nil
	}
	if !conn.PartialRows() {
		g.uses = allUsed(g.scan.Fields)
	}
	fields := narrowFields(g.scan.Fields, g.uses)
	parallelism := conn.Parallelism("scan.parallelism", p.parallelism())
	src, err := conn.Source(p.Host, g.scan.Columns, fields, parallelism)
	if err != nil {
		p.errs.Add(err.Error)
		return nil
	}
	name := tableName(g.scan.Table.Path)
	n := &Node{
		ID: p.unique("source:" + name), Name: "Source[" + name + "]", Detail: "columns=[" + columnList(fields, g.scan.Fields) + "]",
		Parallelism: parallelism, Out: fields, logical: g.scan, source: &sourceNode{table: name, source: src},
	}
	if len(g.scan.Options) > 0 {
		n.Detail += ", options=[" + optionText(g.scan.Options) + "]"
	}
	if g.mark != nil {
		p.addWatermark(n, g, conn)
	}
	return p.add(n)
}

// withinSource lets the source of one reader do what the reader would.
func (p *planner) withinSource(n *Node, stages []stage) *Node {
	for _, st := range stages {
		if st.identity(n.Out) {
			continue
		}
		create, err := st.create(n.Out, p.env)
		if err != nil {
			p.errs.Errorf(diag.Pos{}, "%v", err)
			return nil
		}
		n.source.ops = append(n.source.ops, create)
		n.Detail += ", " + st.detail()
		n.Out = st.out
	}
	return n
}

// columnList prints the columns that a source reads; a ROW of which only some fields are read is printed with these.
func columnList(fields, full *types.Schema) string {
	parts := make([]string, len(fields.Fields))
	for i, f := range fields.Fields {
		parts[i] = f.Name
		if !f.Type.Equal(full.Fields[i].Type) {
			parts[i] += fieldList(f.Type)
		}
	}
	return strings.Join(parts, ", ")
}

func fieldList(t types.Type) string {
	parts := make([]string, len(t.Fields))
	for i, f := range t.Fields {
		parts[i] = f.Name
		if f.Type.Kind == types.Row {
			parts[i] += fieldList(f.Type)
		}
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

func optionText(options []catalog.Option) string {
	parts := make([]string, len(options))
	for i, o := range options {
		parts[i] = o.Key + "=" + o.Value
	}
	return strings.Join(parts, ", ")
}
