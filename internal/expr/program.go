package expr

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
)

// Program is a compiled expression. It is used on one goroutine at a time.
type Program struct {
	root node
	run  run
}

// Projection is a list of compiled expressions that share what they have in
// common. It is used on one goroutine at a time.
type Projection struct {
	roots []node
	run   run
}

// Compile compiles an expression.
func Compile(e Expr, env *fn.Env) (*Program, error) {
	env, clock := withClock(env)
	c := compiler{env: env, nodes: map[string]node{}}
	root, err := c.compile(e)
	if err != nil {
		return nil, err
	}
	return &Program{root: root, run: run{clock: clock}}, nil
}

// Eval returns the values of the expression for the rows of b that count; the
// other positions are unspecified.
func (p *Program) Eval(b *batch.Batch) (batch.Vector, error) {
	return p.root.eval(&p.run, p.run.begin(b))
}

// Filter returns the positions of the rows of b for which the expression, a
// BOOLEAN, is true: a new selection for b. It is never nil.
func (p *Program) Filter(b *batch.Batch) (sel []int32, err error) {
	s, err := filter(&p.run, p.root, p.run.begin(b))
	if err != nil {
		return nil, err
	}
	if s.rows.Sel == nil {
		sel = make([]int32, s.rows.N)
		for i := range sel {
			sel[i] = int32(i)
		}
		return sel, nil
	}
	sel = s.rows.Sel
	if 2*len(sel) > len(p.run.arena) && len(sel) > 0 {
		p.run.arena = nil // sel is most of it, and goes with it
		return sel, nil
	}
	return append(make([]int32, 0, len(sel)), sel...), nil
}

// CompileAll compiles several expressions over the same input.
func CompileAll(exprs []Expr, env *fn.Env) (*Projection, error) {
	env, clock := withClock(env)
	c := compiler{env: env, nodes: map[string]node{}}
	p := &Projection{roots: make([]node, len(exprs)), run: run{clock: clock}}
	for i, e := range exprs {
		root, err := c.compile(e)
		if err != nil {
			return nil, err
		}
		p.roots[i] = root
	}
	return p, nil
}

// Eval returns the values of each expression, as Program.Eval does.
func (p *Projection) Eval(b *batch.Batch) ([]batch.Vector, error) {
	s := p.run.begin(b)
	out := make([]batch.Vector, len(p.roots))
	for i, root := range p.roots {
		v, err := root.eval(&p.run, s)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// scope is a set of rows to evaluate for. A scope made within another holds a
// part of its rows; so what was evaluated for a scope is good for all within it.
type scope struct {
	rows   fn.Rows
	parent *scope
}

// within reports whether s is t or was made within it.
func (s *scope) within(t *scope) bool {
	for ; s != nil; s = s.parent {
		if s == t {
			return true
		}
	}
	return false
}

// sub returns a scope of some rows of s.
func (s *scope) sub(sel []int32) *scope {
	return &scope{rows: fn.Rows{N: s.rows.N, Sel: sel}, parent: s}
}

// run is what one evaluation needs. It is reused for the next one.
type run struct {
	b     *batch.Batch
	clock *clock
	// arena is where selections within one evaluation come from.
	arena []int32
	used  int
}

// begin starts an evaluation over the rows of b that count.
func (r *run) begin(b *batch.Batch) *scope {
	r.b, r.used = b, 0
	r.clock.release()
	return &scope{rows: fn.Rows{N: b.Size(), Sel: b.Sel}}
}

// ints returns room for n positions, which is reused at the next evaluation.
func (r *run) ints(n int) []int32 {
	if r.used+n > len(r.arena) {
		r.arena, r.used = make([]int32, max(n, 2*len(r.arena))), 0
	}
	out := r.arena[r.used : r.used : r.used+n]
	r.used += n
	return out
}

// giveBack returns what was not used of the room that ints gave last.
func (r *run) giveBack(sel []int32) { r.used -= cap(sel) - len(sel) }

// narrow returns the part of s whose rows are valid; s itself if all are.
func (r *run) narrow(s *scope, valid batch.Bitmap) *scope {
	if valid == nil {
		return s
	}
	if s.rows.Sel == nil && valid.CountValid(s.rows.N) == s.rows.N {
		return s
	}
	n := s.rows.Len()
	sel := r.ints(n)[:n]
	k := 0
	if s.rows.Sel == nil {
		for i := range n {
			sel[k] = int32(i)
			k += int(valid[i>>6] >> (uint(i) & 63) & 1)
		}
	} else {
		for _, i := range s.rows.Sel {
			sel[k] = i
			k += int(valid[i>>6] >> (uint(i) & 63) & 1)
		}
	}
	sel = sel[:k]
	r.giveBack(sel)
	if k == n {
		return s
	}
	return s.sub(sel)
}

// filter returns the part of s for which a BOOLEAN is true. The operands of AND
// are applied one after the other, each to what is left.
func filter(r *run, n node, s *scope) (*scope, error) {
	if l, ok := n.(*logicNode); ok && !l.or && l.refs < 2 {
		var err error
		for _, a := range l.args {
			if s, err = filter(r, a, s); err != nil {
				return nil, err
			}
		}
		return s, nil
	}
	v, err := n.eval(r, s)
	if err != nil {
		return nil, err
	}
	yes, _ := r.split(s, v, false)
	return yes, nil
}

// split divides s by a BOOLEAN: the rows where it is true, and, if wanted, the
// others. Where all rows go one way, that part is s itself.
func (r *run) split(s *scope, v batch.Vector, both bool) (yes, no *scope) {
	f, ok := v.(*batch.Fixed[bool])
	n := s.rows.Len()
	if !ok { // a NULL without a type
		return s.sub([]int32{}), s
	}
	sel := r.ints(n)[:n]
	k := 0
	if s.rows.Sel == nil && f.Valid == nil {
		for i, b := range f.Values[:n] {
			sel[k] = int32(i)
			if b {
				k++
			}
		}
	} else {
		for j := range n {
			i := s.rows.At(j)
			sel[k] = int32(i)
			if f.Values[i] && f.Valid.Get(i) {
				k++
			}
		}
	}
	sel = sel[:k:k]
	r.used -= n - k
	switch {
	case k == n:
		return s, s.sub([]int32{})
	case !both:
		return s.sub(sel), nil
	}
	rest := r.ints(n - k)
	for j, t := 0, 0; j < n; j++ {
		i := int32(s.rows.At(j))
		if t < k && sel[t] == i {
			t++
			continue
		}
		rest = append(rest, i)
	}
	return s.sub(sel), s.sub(rest)
}
