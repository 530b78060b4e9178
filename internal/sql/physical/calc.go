package physical

import (
	"slices"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/calc"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

// stage is a filter followed by a projection: what one calc operator does.
type stage struct {
	// cond is nil where all rows pass.
	cond  expr.Expr
	exprs []expr.Expr
	out   *types.Schema
}

// columnExprs returns some columns of a schema as expressions.
func columnExprs(s *types.Schema, cols []int) []expr.Expr {
	out := make([]expr.Expr, len(cols))
	for i, c := range cols {
		out[i] = expr.NewCol(c, s.Fields[c].Name, s.Fields[c].Type)
	}
	return out
}

// pass is the stage that changes nothing.
func pass(s *types.Schema) stage { return stage{exprs: columnExprs(s, allColumns(s)), out: s} }

// identity reports whether the stage passes all rows of in on as they are.
func (s *stage) identity(in *types.Schema) bool {
	if s.cond != nil || len(s.exprs) != len(in.Fields) {
		return false
	}
	for i, e := range s.exprs {
		c, is := e.(*expr.Col)
		if !is || c.Index != i || in.Fields[i].Name != s.out.Fields[i].Name || !in.Fields[i].Type.Equal(s.out.Fields[i].Type) {
			return false
		}
	}
	return true
}

// volatile reports whether the stage's columns must not be computed twice.
func (s *stage) volatile() bool {
	for _, e := range s.exprs {
		if expr.Volatile(e) {
			return true
		}
	}
	return false
}

// timed reports whether the stage asks for the watermark.
func (s *stage) timed() bool {
	return s.cond != nil && expr.Calls(s.cond, fn.CurrentWatermark) ||
		slices.ContainsFunc(s.exprs, func(e expr.Expr) bool { return expr.Calls(e, fn.CurrentWatermark) })
}

// then appends a node, a filter or a projection, to the last of several stages, or begins another one.
func then(stages []stage, n plan.Node) []stage {
	last := &stages[len(stages)-1]
	if last.volatile() {
		stages = append(stages, pass(last.out))
		last = &stages[len(stages)-1]
	}
	switch n := n.(type) {
	case *plan.Filter:
		cond := plan.Substitute(n.Cond, last.exprs)
		if last.cond != nil {
			cond = &expr.Logic{Args: []expr.Expr{last.cond, cond}, Typ: types.Of(types.Boolean).WithNull(last.cond.Type().Nullable || cond.Type().Nullable)}
		}
		last.cond = cond
	case *plan.Project:
		exprs := make([]expr.Expr, len(n.Exprs))
		for i, e := range n.Exprs {
			exprs[i] = plan.Substitute(e, last.exprs)
		}
		last.exprs, last.out = exprs, n.Out
	}
	return stages
}

// detail prints the stage as an argument list.
func (s *stage) detail() string {
	text := "select=[" + plan.SelectList(s.exprs, s.out) + "]"
	if s.cond != nil {
		text += ", where=[" + s.cond.String() + "]"
	}
	return text
}

// create returns the constructor of the stage's operator over rows of in, which compiles the expressions for each subtask. It
// compiles them once at once, so that faults show when the query is planned.
func (s *stage) create(in *types.Schema, env *fn.Env) (func() (op.Operator, error), error) {
	cond, exprs, out := s.cond, s.exprs, s.out
	keep := (&stage{exprs: exprs, out: out}).identity(in)
	timed := s.timed()
	create := func() (op.Operator, error) {
		c, env := calc.Config{Out: out}, env
		if timed {
			own := *env
			c.Time = calc.NewTime()
			own.Watermark = c.Time.Watermark
			env = &own
		}
		if cond != nil {
			prog, err := expr.Compile(cond, env)
			if err != nil {
				return nil, err
			}
			c.Filter = prog.Filter
		}
		if !keep {
			prog, err := expr.CompileAll(exprs, env)
			if err != nil {
				return nil, err
			}
			c.Project = func(b *batch.Batch) ([]batch.Vector, error) { return prog.Eval(b) }
		}
		return calc.New(c), nil
	}
	_, err := create()
	return create, err
}

// calc adds a calc operator over a node, unless it would do nothing.
func (p *planner) calc(in *Node, s stage, path string) *Node {
	if s.identity(in.Out) {
		return in
	}
	create, err := s.create(in.Out, p.env)
	if err != nil {
		p.errs.Errorf(diag.Pos{}, "%v", err)
		return nil
	}
	return p.add(&Node{
		ID: p.unique(path + "/calc"), Name: "Calc", Detail: s.detail(), Parallelism: in.Parallelism,
		In: []Input{{From: in}}, Out: s.out, create: create,
	})
}

// lowerChain plans a run of projections and filters, with the scan below them if there is one.
func (p *planner) lowerChain(n plan.Node, path string) *Node {
	var above []plan.Node
	base := n
	for {
		switch b := base.(type) {
		case *plan.Filter, *plan.Project:
			above = append(above, b)
		case *plan.Watermark:
			// The source's business; see gatherScans.
		case *plan.Scan:
			return p.lowerScan(b, above, path)
		default:
			in := p.lower(b, path)
			if in == nil {
				return nil
			}
			return p.stages(in, chain(pass(in.Out), above), path)
		}
		base = base.Inputs()[0]
	}
}

// chain merges nodes, the topmost first, into stages that follow a first one.
func chain(first stage, above []plan.Node) []stage {
	stages := []stage{first}
	for i := len(above) - 1; i >= 0; i-- {
		stages = then(stages, above[i])
	}
	for _, s := range stages {
		if s.cond == nil {
			continue
		}
		for i, e := range s.exprs {
			s.exprs[i] = expr.Given(s.cond, e)
		}
	}
	return stages
}

// stages adds a calc operator for each stage.
func (p *planner) stages(in *Node, stages []stage, path string) *Node {
	for _, s := range stages {
		if in = p.calc(in, s, path); in == nil {
			return nil
		}
	}
	return in
}
