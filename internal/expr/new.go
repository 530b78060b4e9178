package expr

import (
	"fmt"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/cast"
	"github.com/millstream-io/millstream/types"
)

// NewCol returns a column of the input.
func NewCol(index int, name string, t types.Type) *Col {
	return &Col{Index: index, Name: name, Typ: t}
}

// NewLit returns a constant; v has length 1.
func NewLit(v batch.Vector) *Lit {
	if v.Len() != 1 {
		panic(fmt.Sprintf("expr: a literal of %d values", v.Len()))
	}
	return &Lit{Value: v}
}

// NewCall returns the call of a function: it binds the arguments and puts the
// casts in that the function asks for. symbols holds the words of keyword
// arguments by argument index; the Expr of such an argument is nil. The error
// is a *fn.ArgError where an argument does not fit.
func NewCall(def *fn.Def, args []Expr, symbols map[int]string, env *fn.Env) (Expr, error) {
	call := &fn.Call{Def: def, Args: make([]fn.Arg, len(args)), Env: env}
	for i, a := range args {
		call.Args[i] = describe(a, symbols[i], env)
	}
	b, err := def.Bind(call)
	if err != nil {
		return nil, err
	}
	out := &Call{Def: def, Args: make([]Expr, len(args)), Symbols: symbols, Typ: b.Result}
	for i, a := range args {
		out.Args[i] = a
		if a == nil || i >= len(b.Params) || !b.Params[i].IsValid() {
			continue
		}
		if out.Args[i], err = Coerce(a, b.Params[i], env); err != nil {
			return nil, &fn.ArgError{Arg: i, Msg: err.Error()}
		}
	}
	return out, nil
}

// describe tells Bind about an argument.
func describe(a Expr, symbol string, env *fn.Env) fn.Arg {
	if a == nil {
		return fn.Arg{Type: types.Of(types.Symbol), Symbol: symbol}
	}
	arg := fn.Arg{Type: a.Type(), Implicit: a.Type().Kind == types.Null}
	if Constant(a) {
		if lit, ok := Fold(a, env).(*Lit); ok {
			arg.Const = lit.Value
		}
	}
	return arg
}

// NewCast returns CAST(arg AS to), or TRY_CAST with try. The result can be null
// if arg can, and with try always.
func NewCast(arg Expr, to types.Type, try bool, env *fn.Env) (Expr, error) {
	if _, err := cast.Bind(arg.Type(), to, try, env); err != nil {
		return nil, err
	}
	return &Cast{Arg: arg, Typ: to.WithNull(arg.Type().Nullable || arg.Type().Kind == types.Null || try), Try: try}, nil
}

// Coerce returns arg as a value of type to, with an implicit cast if it has
// another type; the nullability stays arg's own. It does not ask whether the
// conversion is one that happens without a CAST: see cast.Implicit.
func Coerce(arg Expr, to types.Type, env *fn.Env) (Expr, error) {
	if arg.Type().Same(to) {
		return arg, nil
	}
	if _, err := cast.Bind(arg.Type(), to, false, env); err != nil {
		return nil, err
	}
	return &Cast{Arg: arg, Typ: to.WithNull(arg.Type().Nullable || arg.Type().Kind == types.Null), Implicit: true}, nil
}

// NewCase returns CASE WHEN when[0] THEN then[0] ... ELSE els END; els may be
// nil. The results are cast to their common type.
func NewCase(when, then []Expr, els Expr, env *fn.Env) (Expr, error) {
	results := append([]Expr(nil), then...)
	if els != nil {
		results = append(results, els)
	}
	t, err := common("CASE", results)
	if err != nil {
		return nil, err
	}
	for i, r := range results {
		if results[i], err = Coerce(r, t, env); err != nil {
			return nil, err
		}
	}
	out := &Case{When: make([]Expr, len(when)), Then: results[:len(then)], Typ: t}
	if els == nil {
		out.Typ = t.WithNull(true)
	} else {
		out.Else = results[len(then)]
	}
	for i, w := range when {
		if out.When[i], err = condition("CASE WHEN", w, env); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// NewCoalesce returns COALESCE(args...), as a Case.
func NewCoalesce(args []Expr, env *fn.Env) (Expr, error) {
	var when []Expr
	for _, a := range args[:len(args)-1] {
		w, err := NewCall(fn.Lookup("IS NOT NULL"), []Expr{a}, nil, env)
		if err != nil {
			return nil, err
		}
		when = append(when, w)
	}
	out, err := NewCase(when, args[:len(args)-1], args[len(args)-1], env)
	if err != nil {
		return nil, err
	}
	nullable := true
	for _, a := range args {
		nullable = nullable && (a.Type().Nullable || a.Type().Kind == types.Null)
	}
	if c, ok := out.(*Case); ok {
		c.Typ = c.Typ.WithNull(nullable)
	}
	return out, nil
}

// NewLogic returns args[0] AND args[1] ..., or OR.
func NewLogic(or bool, args []Expr, env *fn.Env) (Expr, error) {
	name := "AND"
	if or {
		name = "OR"
	}
	out := &Logic{Or: or, Args: make([]Expr, len(args)), Typ: types.Of(types.Boolean).NotNull()}
	for i, a := range args {
		c, err := condition(name, a, env)
		if err != nil {
			return nil, err
		}
		out.Args[i] = c
		out.Typ.Nullable = out.Typ.Nullable || c.Type().Nullable
	}
	return out, nil
}

// NewField returns arg.field, the field of a ROW at an index. It can be null if
// the row or the field can.
func NewField(arg Expr, index int) Expr {
	t := arg.Type()
	f := t.Fields[index].Type
	return &FieldOf{Arg: arg, Index: index, Typ: f.WithNull(f.Nullable || t.Nullable)}
}

// condition checks that an operand is a BOOLEAN; a bare NULL becomes one.
func condition(where string, a Expr, env *fn.Env) (Expr, error) {
	switch a.Type().Kind {
	case types.Boolean:
		return a, nil
	case types.Null:
		return Coerce(a, types.Of(types.Boolean), env)
	}
	return nil, fmt.Errorf("%s needs a BOOLEAN, not %s", where, a.Type().WithNull(true))
}

// common returns the type that all results of a conditional have.
func common(where string, args []Expr) (types.Type, error) {
	ts := make([]types.Type, len(args))
	for i, a := range args {
		ts[i] = a.Type()
	}
	t, ok := cast.CommonType(ts)
	if !ok {
		return t, fmt.Errorf("the results of %s have no common type: %v", where, ts)
	}
	return t, nil
}
