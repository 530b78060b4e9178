package physical

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/catalog"
	"github.com/millstream-io/millstream/internal/sql/connect"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

// keeps says what the saved state of a node means; see graph.Node.Keeps. It goes by the logical plan, so that the way in which
// a query is computed may change. A filter below an operator does not count: it decides which rows come, not what they mean.
func (n *Node) keeps() []string {
	switch l := n.logical.(type) {
	case *plan.Scan:
		return tableKeeps(l.Table, l.Options)
	case *plan.Sink:
		if l.Table == nil {
			return nil
		}
		return tableKeeps(l.Table, l.Options)
	case *plan.WindowAggregate:
		window := n.windowKeeps(&l.Window, l.Input, l.Attached)
		if l.Emit != nil {
			window += " with what was shown"
		}
		return append([]string{window, "keys=" + originList(l.Input, l.Keys)}, aggKeeps(l.Input, l.Aggs)...)
	case *plan.WindowTVF:
		// Columns of rows that are passed on are found by their names.
		return []string{n.windowKeeps(&l.Window, l.Input, false)}
	case *plan.Join:
		return n.joinKeeps(l)
	case *plan.OverAggregate:
		return append([]string{fmt.Sprintf("rows by %s, %s", originList(l.Input, []int{l.Time}), l.Frame), "keys=" + originList(l.Input, l.Partition)}, overKeeps(l)...)
	case *plan.Sort:
		return []string{"rows by " + originList(l.Input, []int{l.Time()}), "order=" + n.Detail}
	case *plan.Rank:
		return n.rankKeeps(l)
	case *plan.Aggregate:
		return append([]string{"keys=" + originList(l.Input, l.Keys)}, aggKeeps(l.Input, l.Aggs)...)
	case *plan.Limit:
		return []string{"rows passed"}
	case nil:
		return nil
	}
	return []string{n.Name + "(" + n.Detail + ")"}
}

// passing are options that say nothing of where in its input a source is, or what a sink has not published yet.
var passing = []string{"format", "scan.parallelism", "sink.parallelism", "source.monitor-interval",
	connect.LateRows, connect.AllowedLateness}

// tableKeeps are the connector and its options. Their values may be secret, so only hashes are kept.
func tableKeeps(t *catalog.Table, override []catalog.Option) []string {
	values, form := map[string]string{}, ""
	for _, o := range slices.Concat(t.Options, override) {
		values[o.Key] = o.Value
		if o.Key == "format" {
			form = o.Value + "."
		}
	}
	out := []string{"connector=" + values["connector"]}
	for key, value := range values {
		switch {
		case key == "connector" || slices.Contains(passing, key) || form != "" && strings.HasPrefix(key, form):
		case strings.HasPrefix(key, "scan.watermark.") || strings.HasPrefix(key, "sink.rolling-policy."):
		default:
			out = append(out, fmt.Sprintf("%s#%016x", key, xxh3.HashString(value)))
		}
	}
	slices.Sort(out[1:])
	return out
}

func (n *Node) windowKeeps(w *plan.Window, in plan.Node, attached bool) string {
	s := fmt.Sprintf("window=%s of %d ms", w.Kind, w.Size)
	if w.Slide != 0 {
		s += fmt.Sprintf(" by %d ms", w.Slide)
	}
	if w.Offset != 0 {
		s += fmt.Sprintf(" from %d ms", w.Offset)
	}
	if len(w.Partition) > 0 {
		s += " for each " + originList(in, w.Partition)
	}
	if w.TimeType.Kind == types.TimestampLTZ && n.zone != nil {
		s += " in " + n.zone.String()
	}
	if attached {
		s += " as before"
	}
	return s + " on " + origin(in, w.Time)
}

// joinKeeps: what must hold besides the keys does not count, since it is looked at when a window is over, or for the rows to come.
func (n *Node) joinKeeps(j *plan.Join) []string {
	w := j.Windows()
	if w == nil {
		return []string{n.Name + "(" + n.Detail + ")"}
	}
	kind := "join=" + j.Kind.String()
	if j.AtOnce {
		kind += " at once"
	}
	var keys [2][]int
	for i, k := range j.Keys {
		if i == w.Start || i == w.End {
			continue
		}
		keys[0], keys[1] = append(keys[0], k.L), append(keys[1], k.R)
		if k.NullSafe {
			kind += fmt.Sprintf(", NULL is equal in key %d", len(keys[0]))
		}
	}
	return []string{
		kind, n.attachedKeeps(j.L, j.Keys[w.End].L), n.attachedKeeps(j.R, j.Keys[w.End].R),
		"keys=" + originList(j.L, keys[0]), "keys=" + originList(j.R, keys[1]),
	}
}

func (n *Node) rankKeeps(r *plan.Rank) []string {
	end := r.WindowEnd()
	if end < 0 {
		return []string{n.Name + "(" + n.Detail + ")"}
	}
	rank := fmt.Sprintf("rank=%s to %d", r.Func, r.To)
	if r.Ties {
		rank += " with ties"
	}
	if r.AtOnce {
		rank += " at once"
	}
	var keys []int
	for _, k := range r.Partition {
		if _, _, ok := plan.WindowColumn(r.Input, k); !ok {
			keys = append(keys, k)
		}
	}
	out := []string{rank, n.attachedKeeps(r.Input, end), "keys=" + originList(r.Input, keys)}
	for _, k := range r.Order {
		nulls := map[bool]string{true: "NULL first", false: "NULL last"}[k.NullsFirst]
		direction := map[bool]string{true: "descending", false: "ascending"}[k.Desc]
		out = append(out, fmt.Sprintf("order=%s, %s, %s", nulls, direction, origin(r.Input, k.Col)))
	}
	return out
}

// attachedKeeps describes the window of rows that have one, whose end is a column.
func (n *Node) attachedKeeps(in plan.Node, end int) string {
	w, _, _ := plan.WindowColumn(in, end)
	switch of := w.Node.(type) {
	case *plan.Join:
		return n.attachedKeeps(of.L, of.Keys[of.Windows().End].L)
	case *plan.WindowAggregate:
		return n.windowKeeps(&of.Window, of.Input, false)
	}
	return n.windowKeeps(w.Window, w.Node.Inputs()[0], false)
}

func aggKeeps(in plan.Node, aggs []plan.Agg) []string {
	var out []string
	for _, a := range aggs {
		s := "aggregate=" + a.Def.Name + "("
		if a.Distinct {
			s += "DISTINCT "
		}
		s += originList(in, a.Args) + ")" + a.Nulls()
		if a.Filter >= 0 {
			s += " FILTER " + origin(in, a.Filter)
		}
		out = append(out, s)
	}
	return out
}

func originList(n plan.Node, cols []int) string {
	out := make([]string, len(cols))
	for i, c := range cols {
		out[i] = origin(n, c)
	}
	return strings.Join(out, ", ")
}

// origin prints what a column is computed from, however the projections between are arranged, with its type.
func origin(n plan.Node, col int) string {
	f := n.Schema().Fields[col]
	var e expr.Expr = expr.NewCol(col, f.Name, f.Type)
	from := ""
	for done := false; !done; {
		switch b := n.(type) {
		case *plan.Project:
			e, n = plan.Substitute(e, b.Exprs), b.Input
		case *plan.Filter:
			n = b.Input
		case *plan.Watermark:
			n = b.Input
		case *plan.Scan:
			from, done = " of "+tableName(b.Table.Path), true
		default:
			done = true
		}
	}
	return e.String() + from + " " + f.Type.String()
}
