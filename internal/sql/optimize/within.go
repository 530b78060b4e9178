package optimize

import (
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/plan"
)

// boundJoin makes a join of windows of one that asks for a time to lie in a window: the rows with the time get the windows that they
// lie in. They need to be kept only as long as these are open. As before, pairs come at once, and late rows have theirs, too.
func (o *optimizer) boundJoin(n plan.Node) plan.Node {
	j, is := n.(*plan.Join)
	if !is {
		return n
	}
	within := j.Within()
	if within == nil {
		return n
	}
	width, rightWidth := len(j.L.Schema().Fields), len(j.R.Schema().Fields)
	timed, other := j.L, j.R
	if within.Swapped {
		timed, other, width, rightWidth = j.R, j.L, rightWidth, width
	}
	w := *within.Window
	w.Time, w.TimeType, w.Partition = within.Time, timed.Schema().Fields[within.Time].Type, nil
	tvf := plan.NewWindowTVF(timed, w)
	// at is where a column of the join stands in the new one.
	leftWidth := len(j.L.Schema().Fields)
	at := func(c int) int {
		switch first := c < leftWidth; {
		case first && within.Swapped:
			return len(tvf.Out.Fields) + c
		case first:
			return c
		case within.Swapped:
			return c - leftWidth
		}
		return len(tvf.Out.Fields) + c - leftWidth
	}
	keys := []plan.JoinKey{{L: width, R: within.Start}, {L: width + 1, R: within.End}}
	for _, k := range j.Keys {
		if within.Swapped {
			k.L, k.R = k.R, k.L
		}
		keys = append(keys, k)
	}
	rest := within.Rest
	if rest != nil {
		rest = expr.Remap(rest, at)
	}
	out := j.Anew(tvf, other, keys, rest)
	out.AtOnce = true
	p := &plan.Project{Input: out, Out: j.Out}
	for i, f := range j.Out.Fields {
		p.Exprs = append(p.Exprs, expr.NewCol(at(i), f.Name, f.Type))
	}
	return p
}
