package physical

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/union"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/internal/sql/plan"
)

// lateTaps are taps as operators know them.
func lateTaps(taps []plan.Tap) []window.LateTap {
	out := make([]window.LateTap, len(taps))
	for i, t := range taps {
		out[i] = window.LateTap{Tag: t.Tag, Cols: t.Cols, Source: t.Source, Out: t.Out}
	}
	return out
}

// tap enters a node whose operator has taps, and returns it.
func (p *planner) tap(n *Node) *Node {
	for _, t := range plan.TapsOf(n.logical) {
		if !slices.Contains(p.tapped[t.Tag], n) {
			p.tapped[t.Tag] = append(p.tapped[t.Tag], n)
		}
	}
	return n
}

// lowerLate plans the late rows of a table or view. Which operators have some is known once all is planned; see connectLate.
func (p *planner) lowerLate(n *plan.Late) *Node {
	out := n.Out
	late := &Node{
		ID: p.unique("late:" + n.Of), Name: "Late[" + n.Of + "]", Detail: "columns=[" + strings.Join(out.Names(), ", ") + "]",
		Parallelism: 1, Out: out, logical: n, create: func() (op.Operator, error) { return union.New(out), nil },
	}
	p.late = append(p.late, late)
	return p.add(late)
}

// eachNode calls f for each node of all sinks.
func eachNode(sinks []*plan.Sink, f func(plan.Node)) {
	for _, s := range sinks {
		plan.Walk(s, f)
	}
}

// findAlone returns the views whose late rows are wanted while nothing else reads them: their queries run for that alone.
func findAlone(sinks []*plan.Sink) []*plan.Late {
	tags := map[string]bool{}
	eachNode(sinks, func(n plan.Node) {
		for _, t := range plan.TapsOf(n) {
			tags[t.Tag] = true
		}
	})
	var out []*plan.Late
	eachNode(sinks, func(n plan.Node) {
		if l, is := n.(*plan.Late); is && l.Alone != nil && !tags[l.Tag] {
			tags[l.Tag] = true
			out = append(out, l)
		}
	})
	return out
}

// connectLate plans the queries that run for their late rows alone, and lets the nodes of LATE read the late rows of all
// operators.
func (p *planner) connectLate(alone []*plan.Late) {
	if len(p.late) == 0 || len(p.errs) > 0 || len(p.missing) > 0 {
		return
	}
	for _, l := range alone {
		p.current = plan.InferChanges(l.Alone, func(*plan.Sink) connector.Modes { return connector.AllModes })
		p.errs.Append(p.current.Errors)
		p.missing.Append(p.current.Missing)
		if len(p.errs) > 0 || len(p.missing) > 0 || p.lower(l.Alone, "late:"+l.Of) == nil {
			return
		}
	}
	for _, n := range p.late {
		l := n.logical.(*plan.Late)
		for _, from := range p.tapped[l.Tag] {
			in := gather(from)
			in.Side = l.Tag
			n.In = append(n.In, in)
		}
		if len(n.In) == 0 {
			p.errs.Errorf(l.Pos, "nothing in this job drops late rows of %s", l.Of).
				WithHint("LATE tells what other queries of the job drop: put both into one STATEMENT SET, or name a view that groups by windows")
		}
	}
	p.sortNodes()
}

// sortNodes puts nodes behind their inputs again, and leaves out those that nobody reads.
func (p *planner) sortNodes() {
	var sorted []*Node
	seen := map[*Node]bool{}
	var visit func(n *Node)
	visit = func(n *Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		for _, in := range n.In {
			visit(in.From)
		}
		sorted = append(sorted, n)
	}
	for _, n := range p.out.nodes {
		if n.sink != nil {
			visit(n)
		}
	}
	p.out.nodes = sorted
}

// LateRows says, one line for each operator for which rows can come too late, against which watermark that is, and what becomes
// of such rows.
func (p *Plan) LateRows() []string {
	var out []string
	for _, n := range p.nodes {
		if s := n.lateRows(); s != "" {
			out = append(out, n.ID+": "+s)
		}
	}
	return out
}

// lateRows is empty for an operator that drops no rows: one without event time, or whose windows are over the results of windows.
func (n *Node) lateRows() string {
	w := plan.DropsLate(n.logical)
	when := "the end of their window"
	switch {
	case plan.DropsLateRows(n.logical):
		when = "their time"
	case w == nil:
		return ""
	case w.Kind == plan.Hop || w.Kind == plan.Cumulate:
		when = "the end of their last window"
	case w.Kind == plan.Session:
		when = "the end of the session that they would begin"
	}
	until, then := "", "counted and dropped"
	if a, is := n.logical.(*plan.WindowAggregate); is && a.Emit != nil && a.Emit.Lateness > 0 {
		until = " by " + plan.Millis(a.Emit.Lateness) + ", until which the window shows its results again"
	}
	var selected []string
	for _, t := range plan.TapsOf(n.logical) {
		if !slices.Contains(selected, t.Tag) {
			selected = append(selected, t.Tag)
		}
	}
	if len(selected) > 0 {
		then = "counted, and go to the side output " + strings.Join(selected, ", ")
	}
	return fmt.Sprintf("rows are late once the watermark [%s] has passed %s%s; they are %s", strings.Join(plan.Marks(n.logical), "; "), when, until, then)
}
