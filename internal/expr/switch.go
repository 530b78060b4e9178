package expr

import (
	"strconv"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// equality returns x and n of a comparison x = n, or n = x, where x is an
// integer and n a constant of the same type that is not NULL.
func equality(e Expr) (x Expr, n int64, ok bool) {
	c, is := e.(*Call)
	if !is || !c.Def.Internal || c.Def.Name != "=" || len(c.Args) != 2 {
		return nil, 0, false
	}
	for i, a := range c.Args {
		if lit, is := a.(*Lit); is && lit.Type().Kind == c.Args[1-i].Type().Kind {
			if n, ok := integer(lit); ok {
				return c.Args[1-i], n, true
			}
		}
	}
	return nil, 0, false
}

// integer returns the value of a constant of an integer type; false if it is of
// another one, or NULL.
func integer(lit *Lit) (int64, bool) {
	switch lit.Type().Kind {
	case types.TinyInt, types.SmallInt, types.Int, types.BigInt:
	default:
		return 0, false
	}
	if lit.Value.Validity().IsNull(0) {
		return 0, false
	}
	switch v := lit.Value.(type) {
	case *batch.Fixed[int8]:
		return int64(v.Values[0]), true
	case *batch.Fixed[int16]:
		return int64(v.Values[0]), true
	case *batch.Fixed[int32]:
		return int64(v.Values[0]), true
	case *batch.Fixed[int64]:
		return v.Values[0], true
	}
	return 0, false
}

// Given returns what e comes to for rows of which cond is true: a CASE that
// looks for a value of an integer that cond sets to another one has no such
// branch.
func Given(cond, e Expr) Expr {
	known := map[string]int64{}
	conjuncts := []Expr{cond}
	for len(conjuncts) > 0 {
		c := conjuncts[0]
		conjuncts = conjuncts[1:]
		if l, is := c.(*Logic); is && !l.Or {
			conjuncts = append(conjuncts, l.Args...)
		} else if x, n, ok := equality(c); ok && reads(x) {
			known[place(x)] = n
		}
	}
	if len(known) == 0 {
		return e
	}
	return Rewrite(e, func(e Expr) Expr {
		c, is := e.(*Case)
		if !is {
			return e
		}
		out, changed := &Case{When: make([]Expr, len(c.When)), Then: c.Then, Else: c.Else, Typ: c.Typ}, false
		for i, w := range c.When {
			out.When[i] = w
			if x, n, ok := equality(w); ok && reads(x) {
				if m, ok := known[place(x)]; ok {
					out.When[i], changed = typed(Bool(n == m), w.Type()), true
				}
			}
		}
		if !changed {
			return e
		}
		return foldCase(out)
	})
}

// reads reports whether e is a column, or a field of one: it costs nothing and
// does not fail.
func reads(e Expr) bool {
	switch e := e.(type) {
	case *Col:
		return true
	case *FieldOf:
		return reads(e.Arg)
	}
	return false
}

// place names what an expression reads, for which reads is true.
func place(e Expr) string {
	if f, is := e.(*FieldOf); is {
		return place(f.Arg) + "." + strconv.Itoa(f.Index)
	}
	return strconv.Itoa(e.(*Col).Index)
}

// switchNode is a CASE that looks for a few constants in an integer, and whose
// branches are columns or constants: it needs one pass over the integer.
type switchNode struct {
	caseNode
	on node
	// least is the smallest constant; branch has, from there on, which branch a
	// value takes, from 1, or 0 for none.
	least  int64
	branch []uint8
}

// maxSwitch is the largest distance of the constants of a switchNode.
const maxSwitch = 64

// asSwitch returns the node of a CASE that can be a switchNode, or nil. kids are
// the nodes of its parts.
func asSwitch(e *Case, plain caseNode) node {
	if len(e.When) == 0 || !isFixed(e.Typ) {
		return nil
	}
	for _, b := range append([]Expr{e.Else}, e.Then...) {
		if b == nil || b.Type().Phys() != e.Typ.Phys() {
			return nil
		}
		if _, is := b.(*Lit); !is && !reads(b) {
			return nil
		}
	}
	out := &switchNode{caseNode: plain}
	values := make([]int64, len(e.When))
	for i, w := range e.When {
		x, n, ok := equality(w)
		if !ok || !reads(x) {
			return nil
		}
		on := operandOf(plain.when[i])
		if i > 0 && on != out.on {
			return nil
		}
		out.on, values[i] = on, n
		if i == 0 || n < out.least {
			out.least = n
		}
	}
	for i, n := range values {
		d := uint64(n) - uint64(out.least)
		if d >= maxSwitch {
			return nil
		}
		for uint64(len(out.branch)) <= d {
			out.branch = append(out.branch, 0)
		}
		if out.branch[d] == 0 {
			out.branch[d] = uint8(i + 1)
		}
	}
	return out
}

// operandOf returns the operand of a comparison that is no constant.
func operandOf(n node) node {
	args := n.(*callNode).args
	if _, lit := args[0].(*litNode); lit {
		return args[1]
	}
	return args[0]
}

func isFixed(t types.Type) bool {
	switch t.Phys() {
	case types.PhysBytes, types.PhysList, types.PhysMap, types.PhysRow, types.PhysNull:
		return false
	}
	return true
}

func (n *switchNode) eval(r *run, s *scope) (batch.Vector, error) {
	if v, ok := n.recall(s); ok {
		return v, nil
	}
	on, err := n.on.eval(r, s)
	if err != nil {
		return nil, err
	}
	branches := make([]batch.Vector, len(n.then)+1)
	for i, b := range append([]node{n.els}, n.then...) {
		if branches[i], err = b.eval(r, s); err != nil {
			return nil, err
		}
		if branches[i].Type().Kind == types.Null {
			return n.caseNode.eval(r, s)
		}
	}
	var taken taken
	switch on := on.(type) {
	case *batch.Fixed[int8]:
		taken = look(r, n, s, on)
	case *batch.Fixed[int16]:
		taken = look(r, n, s, on)
	case *batch.Fixed[int32]:
		taken = look(r, n, s, on)
	case *batch.Fixed[int64]:
		taken = look(r, n, s, on)
	default:
		return n.caseNode.eval(r, s)
	}
	return n.remember(s, taken.choose(n.typ, branches, s.rows.N)), nil
}

// taken lists the rows that take a branch other than ELSE, and which one.
type taken struct {
	rows   []int32
	branch []uint8
}

// look finds the rows that take a branch other than ELSE.
func look[T int8 | int16 | int32 | int64](r *run, n *switchNode, s *scope, on *batch.Fixed[T]) taken {
	var t taken
	t.rows = r.ints(s.rows.Len())
	count, least := uint64(len(n.branch)), uint64(n.least)
	see := func(i int32, d uint64) {
		if n.branch[d] > 0 && !on.Valid.IsNull(int(i)) {
			t.rows, t.branch = append(t.rows, i), append(t.branch, n.branch[d])
		}
	}
	if s.rows.Sel != nil {
		for _, i := range s.rows.Sel {
			if d := uint64(int64(on.Values[i])) - least; d < count {
				see(i, d)
			}
		}
	} else {
		for i, v := range on.Values[:s.rows.N] {
			if d := uint64(int64(v)) - least; d < count {
				see(int32(i), d)
			}
		}
	}
	r.giveBack(t.rows)
	return t
}

// choose returns the values of the branches that rows take; branch 0 is ELSE.
func (t *taken) choose(typ types.Type, branches []batch.Vector, n int) batch.Vector {
	switch typ.Phys() {
	case types.PhysBool:
		return chooseFixed[bool](t, typ, branches, n)
	case types.PhysI8:
		return chooseFixed[int8](t, typ, branches, n)
	case types.PhysI16:
		return chooseFixed[int16](t, typ, branches, n)
	case types.PhysI32:
		return chooseFixed[int32](t, typ, branches, n)
	case types.PhysI64:
		return chooseFixed[int64](t, typ, branches, n)
	case types.PhysF32:
		return chooseFixed[float32](t, typ, branches, n)
	case types.PhysF64:
		return chooseFixed[float64](t, typ, branches, n)
	case types.PhysI128:
		return chooseFixed[types.Int128](t, typ, branches, n)
	default:
		return chooseFixed[types.TS](t, typ, branches, n)
	}
}

func chooseFixed[T batch.Value](t *taken, typ types.Type, branches []batch.Vector, n int) batch.Vector {
	from, nulls, shared := make([]*batch.Fixed[T], len(branches)), false, true
	for i, b := range branches {
		from[i] = b.(*batch.Fixed[T])
		nulls = nulls || from[i].Valid != nil
		// Sources of several kinds of events may give all kinds the same times.
		shared = shared && n > 0 && &from[i].Values[0] == &from[0].Values[0]
	}
	els := from[0]
	out := &batch.Fixed[T]{Typ: typ, Values: els.Values[:n:n]}
	if !shared {
		out.Values = append([]T(nil), out.Values...)
		for k, i := range t.rows {
			out.Values[i] = from[t.branch[k]].Values[i]
		}
	}
	if !nulls {
		return out
	}
	valid := batch.NewBitmap(n)
	if els.Valid != nil {
		copy(valid, els.Valid)
	}
	for k, i := range t.rows {
		if from[t.branch[k]].Valid.IsNull(int(i)) {
			valid.Clear(int(i))
		} else {
			valid.Set(int(i))
		}
	}
	if valid.CountValid(n) < n {
		out.Valid = valid
	}
	return out
}
