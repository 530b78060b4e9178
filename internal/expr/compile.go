package expr

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/cast"
	"github.com/millstream-io/millstream/types"
)

// compiler turns expressions into nodes. Expressions of the same structure
// become one node, so that they are evaluated once; a volatile call is shared
// only with itself.
type compiler struct {
	env   *fn.Env
	nodes map[string]node
}

func (c *compiler) compile(e Expr) (node, error) {
	kids, err := c.compileAll(children(e))
	if err != nil {
		return nil, err
	}
	key := c.key(e, kids)
	if n, ok := c.nodes[key]; ok {
		n.head().refs++
		return n, nil
	}
	n, err := c.build(e, kids)
	if err != nil {
		return nil, err
	}
	*n.head() = shared{id: len(c.nodes), refs: 1}
	c.nodes[key] = n
	return n, nil
}

func (c *compiler) compileAll(es []Expr) ([]node, error) {
	out := make([]node, len(es))
	for i, e := range es {
		if e == nil {
			continue
		}
		n, err := c.compile(e)
		if err != nil {
			return nil, err
		}
		out[i] = n
	}
	return out, nil
}

// children is Children with nil for operands that are keywords or not there.
func children(e Expr) []Expr {
	switch e := e.(type) {
	case *Call:
		return e.Args
	case *Case:
		return slices.Concat(e.When, e.Then, []Expr{e.Else})
	}
	return Children(e)
}

// key is equal for expressions that have the same value for every row.
func (c *compiler) key(e Expr, kids []node) string {
	var b strings.Builder
	switch e := e.(type) {
	case *Col:
		fmt.Fprintf(&b, "col %d", e.Index)
	case *Lit:
		if e.Value.Validity().IsNull(0) {
			return "lit NULL " + e.Type().String()
		}
		return "lit " + e.Type().String() + " " + string(batch.AppendValue(nil, e.Value, 0))
	case *Call:
		fmt.Fprintf(&b, "call %p %s", e.Def, e.Typ)
		for i := range e.Args {
			fmt.Fprintf(&b, " %q", e.Symbols[i])
		}
		if e.Def.Volatile {
			fmt.Fprintf(&b, " %p", e)
		}
	case *Cast:
		fmt.Fprintf(&b, "cast %s %t", e.Typ, e.Try)
	case *Case:
		fmt.Fprintf(&b, "case %d %s", len(e.When), e.Typ)
	case *Logic:
		fmt.Fprintf(&b, "logic %t", e.Or)
	case *FieldOf:
		fmt.Fprintf(&b, "field %d", e.Index)
	}
	for _, k := range kids {
		if k == nil {
			b.WriteString(" -")
		} else {
			fmt.Fprintf(&b, " #%d", k.head().id)
		}
	}
	return b.String()
}

func (c *compiler) build(e Expr, kids []node) (node, error) {
	switch e := e.(type) {
	case *Col:
		return &colNode{index: e.Index}, nil
	case *Lit:
		return &litNode{value: e.Value}, nil
	case *Call:
		return c.call(e, kids)
	case *Cast:
		k, err := cast.Bind(e.Arg.Type(), e.Typ, e.Try, c.env)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e, err)
		}
		return &callNode{expr: e, kernel: k, args: kids, strict: true}, nil
	case *Case:
		n := len(e.When)
		plain := caseNode{typ: e.Typ, when: kids[:n], then: kids[n : 2*n], els: kids[2*n]}
		if s := asSwitch(e, plain); s != nil {
			return s, nil
		}
		return &plain, nil
	case *Logic:
		return &logicNode{or: e.Or, typ: e.Typ, args: kids}, nil
	case *FieldOf:
		return &fieldNode{arg: kids[0], index: e.Index, typ: e.Typ}, nil
	}
	return nil, fmt.Errorf("expr: cannot compile %T", e)
}

func (c *compiler) call(e *Call, kids []node) (node, error) {
	call := &fn.Call{Def: e.Def, Args: make([]fn.Arg, len(e.Args)), Env: c.env}
	for i, a := range e.Args {
		call.Args[i] = describe(a, e.Symbols[i], c.env)
	}
	b, err := e.Def.Bind(call)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e, err)
	}
	if !b.Result.Equal(e.Typ) {
		return nil, fmt.Errorf("expr: %s was bound as %s and is now %s", e, e.Typ, b.Result)
	}
	if b.Reads > 0 {
		kids = kids[:b.Reads]
	}
	return &callNode{expr: e, kernel: b.Kernel, args: kids, strict: !e.Def.NullCall}, nil
}

// Fold evaluates what is constant in e. A part whose evaluation fails stays as
// it is, so that the error comes when a row needs it.
func Fold(e Expr, env *fn.Env) Expr {
	if _, ok := e.(*Lit); ok {
		return e
	}
	return Rewrite(e, func(e Expr) Expr { return foldOne(e, env) })
}

// foldOne folds an expression whose operands are folded.
func foldOne(e Expr, env *fn.Env) Expr {
	switch x := e.(type) {
	case *Lit, *Col:
		return e
	case *Call:
		if x.Def.Volatile {
			return e
		}
	case *Logic:
		return foldLogic(x)
	case *Case:
		return foldCase(x)
	}
	for _, c := range Children(e) {
		if _, ok := c.(*Lit); !ok {
			return e
		}
	}
	p, err := Compile(e, env)
	if err != nil {
		return e
	}
	v, err := p.Eval(batch.Of(nil, nil, 1))
	if err != nil {
		return e
	}
	return &Lit{Value: v.WithType(e.Type())}
}

// foldLogic drops the operands of AND and OR that decide nothing, and those
// behind one that decides all.
func foldLogic(x *Logic) Expr {
	var args []Expr
	for _, a := range x.Args {
		known, value := truth(a)
		if known && value != x.Or {
			continue
		}
		args = append(args, a)
		if known {
			break
		}
	}
	switch {
	case len(args) == 0:
		return typed(Bool(!x.Or), x.Typ)
	case len(args) == 1:
		return typed(args[0], x.Typ)
	case len(args) < len(x.Args):
		return &Logic{Or: x.Or, Args: args, Typ: x.Typ}
	}
	return x
}

// foldCase drops the branches that are never taken.
func foldCase(x *Case) Expr {
	out := &Case{Else: x.Else, Typ: x.Typ}
	for i, w := range x.When {
		known, value := truth(w)
		if lit, ok := w.(*Lit); ok && lit.Value.Validity().IsNull(0) || known && !value {
			continue
		}
		if known {
			out.Else = x.Then[i]
			break
		}
		out.When, out.Then = append(out.When, w), append(out.Then, x.Then[i])
	}
	switch {
	case len(out.When) > 0 && len(out.When) == len(x.When):
		return x
	case len(out.When) > 0:
		return out
	case out.Else != nil:
		return typed(out.Else, x.Typ)
	}
	return Null(x.Typ)
}

// typed gives e the type t, which differs at the most in nullability. What
// cannot be given it stays within a Case of that type.
func typed(e Expr, t types.Type) Expr {
	if lit, ok := e.(*Lit); ok {
		return &Lit{Value: lit.Value.WithType(t)}
	}
	if e.Type().Equal(t) {
		return e
	}
	return &Case{Else: e, Typ: t}
}

// truth tells whether e is the constant TRUE or FALSE, and which.
func truth(e Expr) (known, value bool) {
	lit, ok := e.(*Lit)
	if !ok || lit.Type().Kind != types.Boolean || lit.Value.Validity().IsNull(0) {
		return false, false
	}
	return true, lit.Value.(*batch.Fixed[bool]).Values[0]
}
