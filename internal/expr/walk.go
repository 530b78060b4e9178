package expr

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

// Type implements Expr.
func (e *Col) Type() types.Type { return e.Typ }

// Type implements Expr.
func (e *Lit) Type() types.Type { return e.Value.Type() }

// Type implements Expr.
func (e *Call) Type() types.Type { return e.Typ }

// Type implements Expr.
func (e *Cast) Type() types.Type { return e.Typ }

// Type implements Expr.
func (e *Case) Type() types.Type { return e.Typ }

// Type implements Expr.
func (e *Logic) Type() types.Type { return e.Typ }

// Type implements Expr.
func (e *FieldOf) Type() types.Type { return e.Typ }

// Children returns the direct operands of e, in order; operands that are
// keywords are left out.
func Children(e Expr) []Expr {
	switch e := e.(type) {
	case *Call:
		return slices.DeleteFunc(slices.Clone(e.Args), func(a Expr) bool { return a == nil })
	case *Cast:
		return []Expr{e.Arg}
	case *Case:
		var out []Expr
		for i := range e.When {
			out = append(out, e.When[i], e.Then[i])
		}
		if e.Else != nil {
			out = append(out, e.Else)
		}
		return out
	case *Logic:
		return e.Args
	case *FieldOf:
		return []Expr{e.Arg}
	}
	return nil
}

// Walk calls f for e and, where f returns true, for its operands.
func Walk(e Expr, f func(Expr) bool) {
	if !f(e) {
		return
	}
	for _, c := range Children(e) {
		Walk(c, f)
	}
}

// Place says that e stands at pos in the script, with those of its operands
// that have no place yet.
func Place(e Expr, pos diag.Pos) {
	Walk(e, func(x Expr) bool {
		var at *diag.Pos
		switch x := x.(type) {
		case *Call:
			at = &x.At
		case *Cast:
			at = &x.At
		default:
			return true
		}
		if at.Known() {
			return false
		}
		*at = pos
		return true
	})
}

// PlaceOf returns where an expression stands in the script, or the first of its
// operands of which that is known.
func PlaceOf(e Expr) (pos diag.Pos) {
	Walk(e, func(x Expr) bool {
		if !pos.Known() {
			pos = placeOf(x)
		}
		return !pos.Known()
	})
	return pos
}

// Calls reports whether e calls a function of that name.
func Calls(e Expr, name string) (found bool) {
	Walk(e, func(x Expr) bool {
		c, is := x.(*Call)
		found = found || is && c.Def.Name == name
		return !found
	})
	return found
}

// placeOf returns where a call or a cast stands, if that is known.
func placeOf(e Expr) diag.Pos {
	switch x := e.(type) {
	case *Call:
		return x.At
	case *Cast:
		return x.At
	}
	return diag.Pos{}
}

// Rewrite returns e with each expression replaced by what f makes of it, from
// the leaves up. f gets expressions whose operands are rewritten already, and
// returns its argument to keep it. What does not change is not copied.
func Rewrite(e Expr, f func(Expr) Expr) Expr {
	switch x := e.(type) {
	case *Call:
		if args, changed := rewriteAll(x.Args, f); changed {
			c := *x
			c.Args = args
			return f(&c)
		}
	case *Cast:
		if arg := Rewrite(x.Arg, f); arg != x.Arg {
			c := *x
			c.Arg = arg
			return f(&c)
		}
	case *Case:
		when, changed1 := rewriteAll(x.When, f)
		then, changed2 := rewriteAll(x.Then, f)
		els := x.Else
		if els != nil {
			els = Rewrite(els, f)
		}
		if changed1 || changed2 || els != x.Else {
			return f(&Case{When: when, Then: then, Else: els, Typ: x.Typ})
		}
	case *Logic:
		if args, changed := rewriteAll(x.Args, f); changed {
			c := *x
			c.Args = args
			return f(&c)
		}
	case *FieldOf:
		if arg := Rewrite(x.Arg, f); arg != x.Arg {
			c := *x
			c.Arg = arg
			return f(&c)
		}
	}
	return f(e)
}

func rewriteAll(in []Expr, f func(Expr) Expr) ([]Expr, bool) {
	out, changed := make([]Expr, len(in)), false
	for i, e := range in {
		if e == nil {
			continue
		}
		out[i] = Rewrite(e, f)
		changed = changed || out[i] != e
	}
	return out, changed
}

// Columns returns the indexes of the input columns that e reads, ascending.
func Columns(e Expr) []int {
	var out []int
	Walk(e, func(e Expr) bool {
		if c, ok := e.(*Col); ok && !slices.Contains(out, c.Index) {
			out = append(out, c.Index)
		}
		return true
	})
	slices.Sort(out)
	return out
}

// Remap returns e with each column index i replaced by to(i).
func Remap(e Expr, to func(i int) int) Expr {
	return Rewrite(e, func(e Expr) Expr {
		if c, ok := e.(*Col); ok && to(c.Index) != c.Index {
			return &Col{Index: to(c.Index), Name: c.Name, Typ: c.Typ}
		}
		return e
	})
}

// ShiftColumns returns e with n added to each column index.
func ShiftColumns(e Expr, n int) Expr {
	return Remap(e, func(i int) int { return i + n })
}

// Volatile reports whether the value of e is not decided by the row alone.
func Volatile(e Expr) bool {
	volatile := false
	Walk(e, func(e Expr) bool {
		if c, ok := e.(*Call); ok && c.Def.Volatile {
			volatile = true
		}
		return !volatile
	})
	return volatile
}

// Constant reports whether e reads no column and is not volatile.
func Constant(e Expr) bool {
	constant := !Volatile(e)
	Walk(e, func(e Expr) bool {
		if _, ok := e.(*Col); ok {
			constant = false
		}
		return constant
	})
	return constant
}

// String implements Expr: the column's name, or $index if it has none.
func (e *Col) String() string {
	if e.Name == "" {
		return fmt.Sprintf("$%d", e.Index)
	}
	return e.Name
}

// String implements Expr: the value as SQL would write it.
func (e *Lit) String() string { return text.Literal(e.Value, 0) }

// infix holds the operators that stand between their operands.
var infix = map[string]bool{
	"+": true, "-": true, "*": true, "/": true, "%": true, "||": true,
	"=": true, "<>": true, "<": true, "<=": true, ">": true, ">=": true,
	"IS DISTINCT FROM": true, "IS NOT DISTINCT FROM": true,
	"LIKE": true, "NOT LIKE": true, "SIMILAR TO": true, "NOT SIMILAR TO": true,
}

// String implements Expr.
func (e *Call) String() string {
	args := make([]string, len(e.Args))
	for i, a := range e.Args {
		if a == nil {
			args[i] = e.Symbols[i]
		} else {
			args[i] = a.String()
		}
	}
	name := e.Def.Name
	switch {
	case !e.Def.Internal:
	case infix[name] && len(args) == 2:
		return "(" + args[0] + " " + name + " " + args[1] + ")"
	case strings.HasPrefix(name, "IS ") && len(args) == 1:
		return "(" + args[0] + " " + name + ")"
	case name == "NEGATE":
		return "-(" + args[0] + ")"
	case name == "NOT" && len(args) == 1:
		return "NOT " + args[0]
	case name == "ITEM":
		return args[0] + "[" + args[1] + "]"
	case name == "ARRAY" || name == "MAP" || name == "MULTISET":
		return name + "[" + strings.Join(args, ", ") + "]"
	case (name == "IN" || name == "NOT IN") && len(args) > 1:
		return "(" + args[0] + " " + name + " (" + strings.Join(args[1:], ", ") + "))"
	case strings.Contains(name, "BETWEEN") && len(args) == 3:
		return "(" + args[0] + " " + name + " " + args[1] + " AND " + args[2] + ")"
	}
	return name + "(" + strings.Join(args, ", ") + ")"
}

// String implements Expr. Implicit casts are shown like those of the query.
func (e *Cast) String() string {
	name := "CAST("
	if e.Try {
		name = "TRY_CAST("
	}
	return name + e.Arg.String() + " AS " + e.Typ.WithNull(true).String() + ")"
}

// String implements Expr. A Case without branches is one that folding left; it
// prints as what it gives.
func (e *Case) String() string {
	if len(e.When) == 0 && e.Else != nil {
		return e.Else.String()
	}
	var b strings.Builder
	b.WriteString("CASE")
	for i := range e.When {
		b.WriteString(" WHEN " + e.When[i].String() + " THEN " + e.Then[i].String())
	}
	if e.Else != nil {
		b.WriteString(" ELSE " + e.Else.String())
	}
	return b.String() + " END"
}

// String implements Expr.
func (e *Logic) String() string {
	args := make([]string, len(e.Args))
	for i, a := range e.Args {
		args[i] = a.String()
	}
	op := " AND "
	if e.Or {
		op = " OR "
	}
	return "(" + strings.Join(args, op) + ")"
}

// String implements Expr.
func (e *FieldOf) String() string {
	return e.Arg.String() + "." + e.Arg.Type().Fields[e.Index].Name
}
