package expr

import (
	"errors"
	"fmt"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/types"
)

// node is an expression that is ready to run.
type node interface {
	// eval returns the values for the rows of s; the rest is unspecified.
	eval(r *run, s *scope) (batch.Vector, error)
	head() *shared
}

// shared is what all nodes have: how many others use its value, and the value
// last evaluated with the rows for which it is good.
type shared struct {
	id, refs int
	scope    *scope
	value    batch.Vector
}

func (h *shared) head() *shared { return h }

// recall returns the value if it was evaluated for all rows of s before.
func (h *shared) recall(s *scope) (batch.Vector, bool) {
	if h.refs > 1 && h.scope != nil && s.within(h.scope) {
		return h.value, true
	}
	return nil, false
}

func (h *shared) remember(s *scope, v batch.Vector) batch.Vector {
	if h.refs > 1 {
		h.scope, h.value = s, v
	}
	return v
}

type colNode struct {
	shared
	index int
}

func (n *colNode) eval(r *run, _ *scope) (batch.Vector, error) { return r.b.Cols[n.index], nil }

// litNode repeats its value; what was made once is kept.
type litNode struct {
	shared
	value    batch.Vector
	repeated batch.Vector
	slice    batch.Vector
}

func (n *litNode) eval(_ *run, s *scope) (batch.Vector, error) {
	size := s.rows.N
	if n.slice != nil && n.slice.Len() == size {
		return n.slice, nil
	}
	if n.repeated == nil || n.repeated.Len() < size {
		n.repeated = batch.Take(n.value, make([]int32, size))
	}
	n.slice = n.repeated
	if n.repeated.Len() > size {
		n.slice = n.repeated.Slice(0, size)
	}
	return n.slice, nil
}

// callNode is a function or a cast.
type callNode struct {
	shared
	expr   Expr
	kernel fn.Kernel
	args   []node // nil for keywords
	strict bool
	argv   []batch.Vector
}

func (n *callNode) eval(r *run, s *scope) (batch.Vector, error) {
	if v, ok := n.recall(s); ok {
		return v, nil
	}
	if n.argv == nil {
		n.argv = make([]batch.Vector, len(n.args))
	}
	argv := n.argv
	var valid batch.Bitmap
	for i, a := range n.args {
		if a == nil {
			continue
		}
		v, err := a.eval(r, s)
		if err != nil {
			return nil, err
		}
		argv[i] = v
		if n.strict {
			if v.Type().Kind == types.Null {
				return n.remember(s, batch.Nulls(n.expr.Type(), s.rows.N)), nil
			}
			valid = valid.And(v.Validity(), s.rows.N)
		}
	}
	within := r.narrow(s, valid)
	if within != s && len(within.rows.Sel) == 0 {
		return n.remember(s, batch.Nulls(n.expr.Type(), s.rows.N)), nil
	}
	v, err := n.kernel(within.rows, argv)
	if err != nil {
		return nil, n.explain(err)
	}
	if within != s {
		v = fn.WithValid(v, v.Validity().And(valid, s.rows.N))
	}
	return n.remember(s, v), nil
}

// explain says in the error of a row which expression it comes from, and where
// that stands.
func (n *callNode) explain(err error) error {
	what := brief(n.expr)
	if at := placeOf(n.expr); at.Known() {
		what += " at " + at.String()
	}
	var row *fn.RowError
	if !errors.As(err, &row) {
		return fmt.Errorf("%s: %w", what, err)
	}
	if call, ok := n.expr.(*Call); ok && call.Def.Family == "" {
		return row // the planner made that call, of a function of its own
	}
	return &fn.RowError{Pos: row.Pos, Msg: what + ": " + row.Msg}
}

// brief prints an expression, cut where it is long.
func brief(e Expr) string {
	const most = 120
	s := []rune(e.String())
	if len(s) > most {
		return string(s[:most-3]) + "..."
	}
	return string(s)
}

// logicNode is AND or OR. Each operand is evaluated for the rows that those
// before it have not decided; a null decides nothing.
type logicNode struct {
	shared
	or   bool
	typ  types.Type
	args []node
}

func (n *logicNode) eval(r *run, s *scope) (batch.Vector, error) {
	if v, ok := n.recall(s); ok {
		return v, nil
	}
	out := batch.MakeFixed[bool](n.typ, s.rows.N)
	open := s
	for i, a := range n.args {
		v, err := a.eval(r, open)
		if err != nil {
			return nil, err
		}
		f, ok := v.(*batch.Fixed[bool])
		if !ok {
			f = batch.Nulls(n.typ.WithNull(true), s.rows.N).(*batch.Fixed[bool])
		}
		sel := n.decide(r, out, open.rows, f, i == len(n.args)-1)
		if sel == nil {
			continue
		}
		if len(sel) == 0 {
			break
		}
		open = open.sub(sel)
	}
	return n.remember(s, out), nil
}

// decide folds an operand into out, and returns the rows that are still open,
// or nil if all are.
func (n *logicNode) decide(r *run, out *batch.Fixed[bool], rows fn.Rows, f *batch.Fixed[bool], last bool) []int32 {
	size := rows.Len()
	if last && f.Valid == nil && out.Valid == nil {
		if rows.Sel == nil {
			copy(out.Values, f.Values)
			return nil
		}
		for _, i := range rows.Sel {
			out.Values[i] = f.Values[i]
		}
		return nil
	}
	open := r.ints(size)
	for k := range size {
		i := rows.At(k)
		switch {
		case !f.Valid.Get(i):
			out.Valid = fn.MarkNull(out.Valid, len(out.Values), i)
		case f.Values[i] == n.or: // decided
			out.Values[i] = n.or
			if out.Valid != nil {
				out.Valid.Set(i)
			}
			continue
		default:
			out.Values[i] = !n.or
		}
		open = append(open, int32(i))
	}
	r.giveBack(open)
	if len(open) == size {
		return nil
	}
	return open[:len(open):len(open)]
}

// caseNode is CASE. A branch is evaluated for the rows that reach it.
type caseNode struct {
	shared
	typ        types.Type
	when, then []node
	els        node // nil: NULL
}

func (n *caseNode) eval(r *run, s *scope) (batch.Vector, error) {
	if v, ok := n.recall(s); ok {
		return v, nil
	}
	var m merger
	rest := s
	for i, w := range n.when {
		if rest.rows.Len() == 0 && i > 0 {
			break
		}
		cond, err := w.eval(r, rest)
		if err != nil {
			return nil, err
		}
		var taken *scope
		taken, rest = r.split(rest, cond, true)
		if err := m.add(r, n.then[i], taken); err != nil {
			return nil, err
		}
	}
	if err := m.add(r, n.els, rest); err != nil {
		return nil, err
	}
	return n.remember(s, m.merge(n.typ, s.rows.N)), nil
}

// fieldNode is access to a field of a ROW; the fields of a null row are null.
type fieldNode struct {
	shared
	arg   node
	index int
	typ   types.Type
}

func (n *fieldNode) eval(r *run, s *scope) (batch.Vector, error) {
	v, err := n.arg.eval(r, s)
	if err != nil {
		return nil, err
	}
	row, ok := v.(*batch.Row)
	if !ok {
		return batch.Nulls(n.typ, s.rows.N), nil
	}
	col := row.Cols[n.index]
	if !col.Type().Equal(n.typ) {
		col = col.WithType(n.typ)
	}
	return col, nil
}
