package plan

import (
	"maps"

	"github.com/millstream-io/millstream/internal/expr"
)

// Substitute replaces each column of e by the expression at its index.
func Substitute(e expr.Expr, by []expr.Expr) expr.Expr {
	return expr.Rewrite(e, func(e expr.Expr) expr.Expr {
		if c, ok := e.(*expr.Col); ok {
			return by[c.Index]
		}
		return e
	})
}

// Same reports whether a and b are the same expression over the same input.
func Same(a, b expr.Expr) bool {
	if a == nil || b == nil {
		return a == b
	}
	if !a.Type().Equal(b.Type()) {
		return false
	}
	switch x := a.(type) {
	case *expr.Col:
		y, ok := b.(*expr.Col)
		return ok && x.Index == y.Index
	case *expr.Lit:
		y, ok := b.(*expr.Lit)
		return ok && x.String() == y.String()
	case *expr.Call:
		y, ok := b.(*expr.Call)
		return ok && x.Def == y.Def && maps.Equal(x.Symbols, y.Symbols) && sameAll(x.Args, y.Args)
	case *expr.Cast:
		y, ok := b.(*expr.Cast)
		return ok && x.Try == y.Try && Same(x.Arg, y.Arg)
	case *expr.Case:
		y, ok := b.(*expr.Case)
		return ok && sameAll(x.When, y.When) && sameAll(x.Then, y.Then) && Same(x.Else, y.Else)
	case *expr.Logic:
		y, ok := b.(*expr.Logic)
		return ok && x.Or == y.Or && sameAll(x.Args, y.Args)
	case *expr.FieldOf:
		y, ok := b.(*expr.FieldOf)
		return ok && x.Index == y.Index && Same(x.Arg, y.Arg)
	}
	return false
}

func sameAll(a, b []expr.Expr) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !Same(a[i], b[i]) {
			return false
		}
	}
	return true
}

// MapOperands returns e over f of each of its direct operands; e itself if f changed none.
func MapOperands(e expr.Expr, f func(expr.Expr) expr.Expr) expr.Expr {
	switch e := e.(type) {
	case *expr.Call:
		if args, changed := mapAll(e.Args, f); changed {
			c := *e
			c.Args = args
			return &c
		}
	case *expr.Logic:
		if args, changed := mapAll(e.Args, f); changed {
			c := *e
			c.Args = args
			return &c
		}
	case *expr.Cast:
		if arg := f(e.Arg); arg != e.Arg {
			c := *e
			c.Arg = arg
			return &c
		}
	case *expr.FieldOf:
		if arg := f(e.Arg); arg != e.Arg {
			c := *e
			c.Arg = arg
			return &c
		}
	case *expr.Case:
		when, changedWhen := mapAll(e.When, f)
		then, changedThen := mapAll(e.Then, f)
		els := e.Else
		if els != nil {
			els = f(els)
		}
		if changedWhen || changedThen || els != e.Else {
			return &expr.Case{When: when, Then: then, Else: els, Typ: e.Typ}
		}
	}
	return e
}

// mapAll applies f to each operand but those that are keywords, which are nil.
func mapAll(in []expr.Expr, f func(expr.Expr) expr.Expr) (out []expr.Expr, changed bool) {
	out = make([]expr.Expr, len(in))
	for i, e := range in {
		if e == nil {
			continue
		}
		out[i] = f(e)
		changed = changed || out[i] != e
	}
	return out, changed
}
