package physical

import (
	"fmt"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/internal/sql/config"
	"github.com/millstream-io/millstream/internal/sql/connect"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

// rowtime is the event time of a watermark, as an expression over its input.
func rowtime(n *plan.Watermark) expr.Expr {
	f := n.Input.Schema().Fields[n.Col]
	return expr.NewCol(n.Col, f.Name, f.Type)
}

// overScan rewrites an expression over the input of the group's watermark to one over the group's scan.
func (g *scanGroup) overScan(e expr.Expr) expr.Expr {
	for in := g.mark.Input; ; in = in.Inputs()[0] {
		switch b := in.(type) {
		case *plan.Scan:
			return remapScan(e, b, g.scan)
		case *plan.Project:
			e = plan.Substitute(e, b.Exprs)
		}
	}
}

// addWatermark sets up how the source's watermark is computed.
func (p *planner) addWatermark(n *Node, g *scanGroup, conn *connect.Table) {
	s := n.source
	s.timing = p.timing(g, conn)
	if g.wm == nil {
		s.fromSource = true
		n.Detail += ", watermark=[SOURCE_WATERMARK()]"
		return
	}
	wm, time, env := rebase(g.wm, g.uses, n.Out), rebase(g.time, g.uses, n.Out), p.env
	n.Detail += fmt.Sprintf(", watermark=[%s]", wm)
	s.watermark = func() (graph.WatermarkFn, error) { return watermarkFn(wm, time, env) }
	if _, err := s.watermark(); err != nil {
		p.errs.Errorf(g.scan.Pos, "the watermark of table %s: %v", g.scan.Table.Path.Name, err)
	}
	s.timing.Delay, s.timing.DelayKnown = delay(wm, time)
}

// timing takes what the options of the table, or else of the job, say of the watermarks of a source.
func (p *planner) timing(g *scanGroup, conn *connect.Table) graph.Timing {
	c, o := p.Config, conn.Options
	t := graph.Timing{
		Column: g.mark.Out.Fields[g.mark.Col].Name, Nulls: p.nullTimes(conn),
		IdleTimeout: c.Duration(config.IdleTimeout).Milliseconds(), FlushAfterIdle: c.Duration(config.FlushAfterIdle).Milliseconds(),
		Group: o.Text(connect.AlignGroup), MaxDrift: o.Duration(connect.AlignMaxDrift).Milliseconds(),
		UpdateInterval: o.Duration(connect.AlignInterval).Milliseconds(),
		EachRow:        o.Enum(connect.EmitStrategy) == "on-event",
	}
	if o.Has(connect.IdleTimeout) {
		t.IdleTimeout = o.Duration(connect.IdleTimeout).Milliseconds()
	}
	if o.Has(connect.FlushAfterIdle) {
		t.FlushAfterIdle = o.Duration(connect.FlushAfterIdle).Milliseconds()
	}
	if c.Has(config.WatermarkInterval) && !t.EachRow {
		t.Ends = p.ends
		t.Period = c.Duration(config.WatermarkInterval).Milliseconds()
	}
	if o.Has(connect.AlignGroup) != o.Has(connect.AlignMaxDrift) {
		has, lacks := connect.AlignGroup, connect.AlignMaxDrift
		if o.Has(lacks) {
			has, lacks = lacks, has
		}
		p.errs.Errorf(g.scan.Pos, "table %s has the option %q, which has no meaning without %q", g.scan.Table.Path.Name, has, lacks).
			WithHint("set both, or neither")
	}
	return t
}

// nullTimes says what becomes of rows of a table whose event time is NULL.
func (p *planner) nullTimes(conn *connect.Table) graph.NullTimes {
	switch {
	case p.Config.Is(config.NullTimes, "DROP"):
		return graph.NullDrop
	case p.Config.Is(config.NullTimes, "SKIP_WATERMARK"):
		return graph.NullSkip
	case p.Config.Is(config.NullTimes, "FAIL") || !conn.Def.NullTimes:
		return graph.NullFail
	}
	return graph.NullPass
}

// delay returns by how many ms a watermark is behind the event time, if that is the same for all rows.
func delay(wm, time expr.Expr) (ms int64, known bool) {
	if plan.Same(wm, time) {
		return 0, true
	}
	c, is := wm.(*expr.Call)
	if !is || !c.Def.Internal || c.Def.Name != "-" || len(c.Args) != 2 || !plan.Same(c.Args[0], time) {
		return 0, false
	}
	lit, is := c.Args[1].(*expr.Lit)
	if !is || lit.Type().Kind != types.IntervalDS || lit.Value.Validity().IsNull(0) {
		return 0, false
	}
	ms = lit.Value.(*batch.Fixed[int64]).Values[0]
	// A watermark without fractions of a second cuts those of the delay off.
	return ms, ms%1000 == 0 || wm.Type().Precision >= 3
}

// watermarkFn compiles a watermark. Rows without event time allow none, whatever the expression makes of them.
func watermarkFn(wm, time expr.Expr, env *fn.Env) (graph.WatermarkFn, error) {
	exprs := []expr.Expr{time}
	behind, known := delay(wm, time)
	if !known {
		exprs, behind = append(exprs, wm), 0
	}
	prog, err := expr.CompileAll(exprs, env)
	if err != nil {
		return nil, err
	}
	return func(b *batch.Batch) (graph.Marks, error) {
		v, err := prog.Eval(b)
		if err != nil {
			return graph.Marks{}, err
		}
		last := v[len(v)-1]
		m := graph.Marks{Times: window.Times(last), Valid: last.Validity(), HasTime: v[0].Validity(), Behind: behind}
		if !known {
			m.Valid = m.Valid.And(m.HasTime, b.Size())
		}
		return m, nil
	}, nil
}
