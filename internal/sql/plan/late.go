package plan

import (
	"slices"
	"strings"

	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/types"
)

// Tap says that the rows are wanted which come too late for a window. The node with the window carries their columns, though it
// does not need them all.
type Tap struct {
	// Tag names the side output that the rows go to.
	Tag string
	// Cols are the columns of the row, Source is the column that tells where it was read, or -1. Both are positions in the input
	// of the node.
	Cols   []int
	Source int
	// Out has the columns of the row, then those that tell of its lateness.
	Out *types.Schema
}

// columns are the positions that the tap needs.
func (t *Tap) columns() []int {
	if t.Source < 0 {
		return t.Cols
	}
	return append(slices.Clip(t.Cols), t.Source)
}

// TapColumns are the positions that taps need.
func TapColumns(taps []Tap) []int {
	var out []int
	for i := range taps {
		out = append(out, taps[i].columns()...)
	}
	return out
}

// MapTaps gives the columns of taps other positions.
func MapTaps(taps []Tap, at func(int) int) []Tap {
	out := slices.Clone(taps)
	for i := range out {
		t := &out[i]
		t.Cols = slices.Clone(t.Cols)
		for k, c := range t.Cols {
			t.Cols[k] = at(c)
		}
		if t.Source >= 0 {
			t.Source = at(t.Source)
		}
	}
	return out
}

// TapsOf returns the taps of a node that drops late rows; nil for others. A window function that only tells each row its windows
// drops none.
func TapsOf(n Node) []Tap {
	switch n := n.(type) {
	case *WindowAggregate:
		return n.Taps
	case *WindowTVF:
		if n.Window.Kind == Session {
			return n.Taps
		}
	case *Rank:
		return n.Taps
	case *Sort:
		return n.Taps
	case *OverAggregate:
		return n.Taps
	case *Join:
		return slices.Concat(n.TapsL, n.TapsR)
	}
	return nil
}

// TimeOfWindow reports whether a column is the time of a window further down: a row that a window gives is never late for another
// one behind it.
func TimeOfWindow(n Node, col int) bool {
	switch n := n.(type) {
	case *Project:
		if e, is := n.Exprs[col].(*expr.Col); is {
			return TimeOfWindow(n.Input, e.Index)
		}
	case *Filter, *Limit:
		return TimeOfWindow(n.Inputs()[0], col)
	case *WindowTVF:
		if in := len(n.Input.Schema().Fields); col >= in {
			return true
		}
		return TimeOfWindow(n.Input, col)
	case *Aggregate, *WindowAggregate, *Sort:
		return true
	case *OverAggregate:
		return n.Attr() == types.Rowtime || col < len(n.Input.Schema().Fields) && TimeOfWindow(n.Input, col)
	}
	return false
}

// DropsLateRows reports whether a node without windows drops rows whose time has passed.
func DropsLateRows(n Node) bool {
	switch n := n.(type) {
	case *Sort:
		return TimeAttr(n.Input, n.Time()) == types.Rowtime && marked(n)
	case *OverAggregate:
		return n.Attr() == types.Rowtime && marked(n)
	}
	return false
}

// DropsLate returns the window of a node that drops late rows; nil if it drops none.
func DropsLate(n Node) *Window {
	var w *Window
	switch n := n.(type) {
	case *WindowAggregate:
		if n.Attached && n.Window.Kind == Session {
			return nil // a session gives its rows before they are late
		}
		w = &n.Window
	case *WindowTVF:
		if n.Window.Kind != Session {
			return nil
		}
		w = &n.Window
	case *Join:
		windows := n.Windows()
		if windows == nil || n.AtOnce {
			return nil
		}
		w = windows.Window
	case *Rank:
		if w = n.Window(); w == nil {
			return nil
		}
	default:
		return nil
	}
	if w.TimeType.Attr != types.Rowtime || !marked(n) {
		return nil
	}
	return w
}

// marked reports whether time comes to a node from a table, and not from a window further down, whose results are never late.
func marked(n Node) bool {
	for _, in := range n.Inputs() {
		switch in := in.(type) {
		case *Watermark:
			return true
		case *Aggregate, *WindowAggregate, *Sort:
		case *OverAggregate:
			if in.Attr() != types.Rowtime && marked(in) {
				return true
			}
		case *Rank:
			if in.AtOnce && marked(in) {
				return true
			}
		case *Join:
			if (in.AtOnce || in.Windows() == nil) && marked(in) {
				return true
			}
		case *WindowTVF:
			if in.Window.Kind != Session && marked(in) {
				return true
			}
		default:
			if marked(in) {
				return true
			}
		}
	}
	return false
}

// Marks prints the watermarks by which a node's time goes.
func Marks(n Node) []string {
	var out []string
	Walk(n, func(n Node) {
		m, is := n.(*Watermark)
		if !is {
			return
		}
		text := "SOURCE_WATERMARK()"
		if m.Expr != nil {
			text = m.Expr.String()
		}
		Walk(m.Input, func(in Node) {
			if s, is := in.(*Scan); is {
				text += " of " + s.Table.Path.Name
			}
		})
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	})
	return out
}

// Late are the rows of a table or view that came too late for a window: in any operator of the job that has a tap of that tag.
type Late struct {
	// Of is the name of the table or view.
	Of, Tag string
	// Alone is the query of a view that has windows. It is planned where nothing else in the job reads the view.
	Alone Node
	Out   *types.Schema
	// Pos is where the query asks for it.
	Pos diag.Pos
}

// Schema implements Node.
func (n *Late) Schema() *types.Schema { return n.Out }

// Inputs implements Node.
func (n *Late) Inputs() []Node { return nil }

// WithInputs implements Node.
func (n *Late) WithInputs([]Node) Node { return n }

// Line implements Node.
func (n *Late) Line() string {
	return "Late(of=[" + n.Of + "], columns=[" + strings.Join(n.Out.Names(), ", ") + "])"
}

// Lift returns n with more columns behind its own: those that bottom gives for a node further down, from which the rows of n
// come one by one. bottom returns the node, perhaps with more columns behind its own, and their positions; or nil to go on
// downwards. out are the positions of the columns in the returned node, which is nil where there is no such way down. rebuilt,
// which may be nil, is told of each node that is made anew.
func Lift(n Node, bottom func(Node) (Node, []int), rebuilt func(old, now Node)) (lifted Node, out []int) {
	if at, cols := bottom(n); at != nil {
		return at, cols
	}
	switch n.(type) {
	case *Project, *Filter, *Watermark:
	default:
		return nil, nil
	}
	in, cols := Lift(n.Inputs()[0], bottom, rebuilt)
	if in == nil {
		return nil, nil
	}
	lifted, out = onTop(n, in, cols)
	if rebuilt != nil {
		rebuilt(n, lifted)
	}
	return lifted, out
}

// onTop puts a node of Lift over its lifted input.
func onTop(n, in Node, cols []int) (Node, []int) {
	switch n := n.(type) {
	case *Project:
		p := &Project{Input: in, Exprs: slices.Clone(n.Exprs), Out: &types.Schema{Fields: slices.Clone(n.Out.Fields)}}
		out := make([]int, len(cols))
		for i, c := range cols {
			out[i] = p.Pass(c)
		}
		return p, out
	case *Watermark:
		w := *n
		w.Input, w.Out = in, &types.Schema{Fields: slices.Clone(n.Out.Fields)}
		w.Out.Fields = append(w.Out.Fields, in.Schema().Fields[len(w.Out.Fields):]...)
		return &w, cols
	}
	return n.WithInputs([]Node{in}), cols
}

// Pass makes a projection that is being built pass a column of its input on, and returns where it is.
func (n *Project) Pass(col int) int {
	i := slices.IndexFunc(n.Exprs, func(e expr.Expr) bool { x, is := e.(*expr.Col); return is && x.Index == col })
	if i < 0 {
		i = len(n.Exprs)
		f := n.Input.Schema().Fields[col]
		n.Exprs = append(n.Exprs, expr.NewCol(col, f.Name, f.Type))
		n.Out.Fields = append(n.Out.Fields, f)
	}
	return i
}
