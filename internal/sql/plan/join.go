package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/types"
)

// JoinKind is the kind of a join.
type JoinKind uint8

// The kinds of joins. SemiJoin keeps the left rows that have a partner, AntiJoin those that have none.
const (
	InnerJoin JoinKind = iota
	LeftJoin
	RightJoin
	FullJoin
	SemiJoin
	AntiJoin
)

// String returns the kind's name in plans.
func (k JoinKind) String() string {
	return [...]string{"INNER", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI"}[k]
}

// PadsLeft reports whether left columns may be NULL because a right row has no partner.
func (k JoinKind) PadsLeft() bool { return k == RightJoin || k == FullJoin }

// PadsRight reports whether right columns may be NULL because a left row has no partner.
func (k JoinKind) PadsRight() bool { return k == LeftJoin || k == FullJoin }

// LeftOnly reports whether the result has no columns of the right side.
func (k JoinKind) LeftOnly() bool { return k == SemiJoin || k == AntiJoin }

// JoinKey is an equality of a left and a right column.
type JoinKey struct {
	L, R int
	// NullSafe is IS NOT DISTINCT FROM: NULL meets NULL.
	NullSafe bool
}

// Join pairs the rows of two inputs. Its columns are those of the left side, then those of the right one, if the kind has them.
type Join struct {
	Kind JoinKind
	L, R Node
	Keys []JoinKey
	// Rest is what must hold besides, over the columns of both sides; nil if there is no more.
	Rest expr.Expr
	// AtOnce is set for a join by windows that is none of windows: pairs come as soon as both rows are there, and late left
	// rows have their partners, too. Right rows are never late.
	AtOnce bool
	// TapsL and TapsR want the rows of each side that are late for a join of windows.
	TapsL, TapsR []Tap
	Out          *types.Schema
	// Word is what the query calls it, such as LEFT JOIN or EXISTS, and Pos where.
	Word string
	Pos  diag.Pos
}

// NewJoin makes a join; cond, over the columns of both sides, may be nil. The equalities of columns in it become keys.
func NewJoin(kind JoinKind, l, r Node, cond expr.Expr, word string, pos diag.Pos) *Join {
	n := &Join{Kind: kind, L: l, R: r, Word: word, Pos: pos}
	n.Out = n.schema()
	return n.And(cond)
}

// Anew returns the join over inputs with other columns, under a condition over these.
func (n *Join) Anew(l, r Node, keys []JoinKey, rest expr.Expr) *Join {
	out := &Join{Kind: n.Kind, L: l, R: r, Keys: keys, Rest: rest, AtOnce: n.AtOnce, Word: n.Word, Pos: n.Pos}
	out.Out = out.schema()
	return out
}

// schema makes the columns of the result.
func (n *Join) schema() *types.Schema {
	out := &types.Schema{Fields: slices.Clone(n.L.Schema().Fields)}
	width := len(out.Fields)
	if !n.Kind.LeftOnly() {
		out.Fields = append(out.Fields, n.R.Schema().Fields...)
	}
	for i := range out.Fields {
		if i < width && n.Kind.PadsLeft() || i >= width && n.Kind.PadsRight() {
			out.Fields[i].Type.Nullable = true
		}
	}
	return out
}

// And returns the join under one more condition. Where the left side is an inner join, what it can decide alone goes there.
func (n *Join) And(cond expr.Expr) *Join {
	if cond == nil {
		return n
	}
	out := *n
	width := len(n.L.Schema().Fields)
	var below, rest []expr.Expr
	if n.Rest != nil {
		rest = Conjuncts(n.Rest)
	}
	lower, nested := n.L.(*Join)
	nested = nested && lower.Kind == InnerJoin && (n.Kind == InnerJoin || n.Kind == SemiJoin)
	for _, c := range Conjuncts(cond) {
		key, is := n.key(c, width)
		switch {
		case is && slices.Contains(out.Keys, key):
		case is:
			out.Keys = append(slices.Clip(out.Keys), key)
		case nested && within(c, 0, width):
			below = append(below, c)
		default:
			rest = append(rest, c)
		}
	}
	if len(below) > 0 {
		out.L = lower.And(Conjunction(below))
	}
	out.Rest = Conjunction(rest)
	return &out
}

// key returns the columns of an equality.
func (n *Join) key(e expr.Expr, width int) (JoinKey, bool) {
	c, is := e.(*expr.Call)
	if !is || len(c.Args) != 2 || c.Def.Name != "=" && c.Def.Name != "IS NOT DISTINCT FROM" {
		return JoinKey{}, false
	}
	a, isCol := c.Args[0].(*expr.Col)
	b, isCol2 := c.Args[1].(*expr.Col)
	if !isCol || !isCol2 {
		return JoinKey{}, false
	}
	if a.Index >= width {
		a, b = b, a
	}
	if a.Index >= width || b.Index < width || !Comparable(a.Type(), b.Type()) {
		return JoinKey{}, false
	}
	return JoinKey{L: a.Index, R: b.Index - width, NullSafe: c.Def.Name != "="}, true
}

// Comparable reports whether columns of two types hold equal values in the same form, so that they can be found by their hash.
func Comparable(a, b types.Type) bool {
	a, b = a.Plain().WithNull(true), b.Plain().WithNull(true)
	if a.Kind == b.Kind && (a.Kind == types.Varchar || a.Kind == types.Varbinary) {
		return true
	}
	return a.Equal(b)
}

// within reports whether an expression reads columns from lo up to hi alone.
func within(e expr.Expr, lo, hi int) bool {
	return !slices.ContainsFunc(expr.Columns(e), func(c int) bool { return c < lo || c >= hi })
}

// Conjuncts returns the operands of an AND, or the condition alone.
func Conjuncts(e expr.Expr) []expr.Expr {
	l, is := e.(*expr.Logic)
	if !is || l.Or {
		return []expr.Expr{e}
	}
	var out []expr.Expr
	for _, a := range l.Args {
		out = append(out, Conjuncts(a)...)
	}
	return out
}

// Conjunction joins conditions by AND; nil if there are none.
func Conjunction(conds []expr.Expr) expr.Expr {
	switch len(conds) {
	case 0:
		return nil
	case 1:
		return conds[0]
	}
	out := &expr.Logic{Args: conds, Typ: types.Of(types.Boolean).NotNull()}
	for _, c := range conds {
		out.Typ.Nullable = out.Typ.Nullable || c.Type().Nullable
	}
	return out
}

// Windows are the keys by which a join compares the windows of its sides: their places in Keys.
type Windows struct {
	// Window is that of both sides.
	Window     *Window
	Start, End int
}

// Windows returns the windows that the join compares; nil if it does not ask for the equality of window_start and of
// window_end, or if the windows of the two sides are not cut in the same way.
func (n *Join) Windows() *Windows {
	var from [2][2]Windowed
	at := [2]int{-1, -1}
	for i, k := range n.Keys {
		l, p, ok := WindowColumn(n.L, k.L)
		r, q, ok2 := WindowColumn(n.R, k.R)
		if ok && ok2 && p == q && p != WindowTime && at[p] < 0 {
			at[p], from[p] = i, [2]Windowed{l, r}
		}
	}
	if at[WindowStart] < 0 || at[WindowEnd] < 0 || from[WindowStart] != from[WindowEnd] {
		return nil
	}
	l, r := from[WindowStart][0].Window, from[WindowStart][1].Window
	if !l.Alike(r) {
		return nil
	}
	return &Windows{Window: l, Start: at[WindowStart], End: at[WindowEnd]}
}

// Alike reports whether two windows cut the same kind of time in the same way.
func (w *Window) Alike(o *Window) bool {
	return w.Kind == o.Kind && w.Size == o.Size && w.Slide == o.Slide && w.Offset == o.Offset &&
		w.TimeType.Kind == o.TimeType.Kind && w.TimeType.Attr == o.TimeType.Attr
}

// Schema implements Node.
func (n *Join) Schema() *types.Schema { return n.Out }

// Inputs implements Node.
func (n *Join) Inputs() []Node { return []Node{n.L, n.R} }

// WithInputs implements Node.
func (n *Join) WithInputs(in []Node) Node { c := *n; c.L, c.R = in[0], in[1]; return &c }

// Line implements Node.
func (n *Join) Line() string {
	name := "Join"
	if w := n.Windows(); w != nil {
		name = "WindowJoin"
	}
	return name + "(" + n.Detail() + ")"
}

// Detail prints the join's kind and its condition.
func (n *Join) Detail() string {
	l, r := n.L.Schema(), n.R.Schema()
	var on []string
	for _, k := range n.Keys {
		op := " = "
		if k.NullSafe {
			op = " IS NOT DISTINCT FROM "
		}
		on = append(on, l.Fields[k.L].Name+op+r.Fields[k.R].Name)
	}
	s := fmt.Sprintf("type=[%s], on=[%s]", n.Kind, strings.Join(on, ", "))
	if n.Rest != nil {
		s += fmt.Sprintf(", where=[%s]", n.Rest)
	}
	if n.AtOnce {
		s += ", emit=[at once]"
	}
	return s
}
