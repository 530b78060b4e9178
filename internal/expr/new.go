package expr

import (
	"fmt"
	"math"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/cast"
	"github.com/millstream-io/millstream/internal/text"
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
	if e, err := special(def, args, env); e != nil || err != nil {
		return e, err
	}
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

// special makes the calls of operators that are other expressions: nil for all
// others.
func special(def *fn.Def, args []Expr, env *fn.Env) (Expr, error) {
	if !def.Internal || len(args) == 0 {
		return nil, nil
	}
	switch def.Name {
	case "NEGATE":
		if lit, ok := args[0].(*Lit); ok && lit.Type().Kind == types.Int {
			if v := lit.Value.(*batch.Fixed[int32]); !v.Valid.IsNull(0) && v.Values[0] == math.MinInt32 {
				return BigInt(-math.MinInt32), nil
			}
		}
	case "ITEM":
		if len(args) == 2 && args[0].Type().Kind == types.Row {
			return rowItem(args[0], args[1], env)
		}
	case "NOT":
		if c, ok := args[0].(*Call); ok && c.Def.Internal && inverse[c.Def.Name] != "" {
			return NewCall(fn.Lookup(inverse[c.Def.Name]), c.Args, nil, env)
		}
	case "=", "<>":
		left, ok1 := args[0].(*Call)
		right, ok2 := args[len(args)-1].(*Call)
		if ok1 && ok2 && left.Def.Name == "ROW" && right.Def.Name == "ROW" && len(left.Args) == len(right.Args) {
			return compareRows(def, left.Args, right.Args, env)
		}
	}
	return nil, nil
}

// inverse holds the comparison that NOT makes of another one. As in Flink, the
// inverse is not true either where NaN is compared.
var inverse = map[string]string{"=": "<>", "<>": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}

// rowItem returns row[i], from 1, or row['name'].
func rowItem(row, index Expr, env *fn.Env) (Expr, error) {
	fields := row.Type().Fields
	if lit, ok := Fold(index, env).(*Lit); ok && !lit.Value.Validity().IsNull(0) {
		switch v := lit.Value.(type) {
		case *batch.Fixed[int32]:
			if i := int(v.Values[0]); i >= 1 && i <= len(fields) {
				return NewField(row, i-1), nil
			}
		case *batch.Bytes:
			for i, f := range fields {
				if f.Name == string(v.At(0)) {
					return NewField(row, i), nil
				}
			}
		}
	}
	return nil, &fn.ArgError{Arg: 1, Msg: fmt.Sprintf("%s has no field %s", row.Type().WithNull(true), index)}
}

// compareRows compares two lists of values, (a, b) = (c, d): a = c AND b = d. A
// null makes the answer unknown, which it does not within a row that comes from
// elsewhere.
func compareRows(def *fn.Def, left, right []Expr, env *fn.Env) (Expr, error) {
	var parts []Expr
	for i := range left {
		p, err := NewCall(def, []Expr{left[i], right[i]}, nil, env)
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return NewLogic(def.Name == "<>", parts, env)
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
// if arg can, and with try always. An exact number becomes an interval of so
// many units, if to has a single one.
func NewCast(arg Expr, to types.Type, try bool, env *fn.Env) (Expr, error) {
	if to.IsInterval() {
		if arg.Type().IsExact() {
			out, err := unitsOf(arg, to, env)
			if err != nil || !try {
				return out, err
			}
			return &Cast{Arg: out, Typ: out.Type().WithNull(true), Try: true}, nil
		}
		unit := to
		to = fn.SecondInterval
		if unit.Kind == types.IntervalYM {
			to = fn.MonthInterval
		}
	}
	if _, err := cast.Bind(arg.Type(), to, try, env); err != nil {
		return nil, err
	}
	return &Cast{Arg: arg, Typ: to.WithNull(canBeNull(arg) || try), Try: try}, nil
}

// units holds the size of each unit of intervals, in months or milliseconds.
var units = map[types.IntervalUnit]int64{
	types.UnitYear: 12, types.UnitMonth: 1, types.UnitDay: text.MsPerDay, types.UnitHour: text.MsPerHour,
	types.UnitMinute: text.MsPerMinute, types.UnitSecond: text.MsPerSecond,
}

// unitsOf returns arg times the unit of an interval; a fraction of a month, or of
// a millisecond, is cut off.
func unitsOf(arg Expr, to types.Type, env *fn.Env) (Expr, error) {
	size, ok := units[to.Unit]
	if !ok {
		return nil, fmt.Errorf("cannot cast %s to an interval of several units", arg.Type().WithNull(true))
	}
	if arg.Type().Kind == types.Decimal {
		product, err := NewCall(fn.Lookup("*"), []Expr{arg, BigInt(size)}, nil, env)
		if err == nil {
			arg, err = NewCast(product, types.Of(types.BigInt), false, env)
		}
		if err != nil {
			return nil, err
		}
		size = 1
	}
	unit := NewLit(&batch.Fixed[int64]{Typ: fn.SecondInterval.NotNull(), Values: []int64{size}})
	if to.Kind == types.IntervalYM {
		unit = NewLit(&batch.Fixed[int32]{Typ: fn.MonthInterval.NotNull(), Values: []int32{int32(size)}})
	}
	return NewCall(fn.Lookup("*"), []Expr{unit, arg}, nil, env)
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
	out := &Cast{Arg: arg, Typ: to.WithNull(canBeNull(arg)), Implicit: true}
	if _, ok := arg.(*Lit); ok {
		return foldOne(out, env), nil
	}
	return out, nil
}

// NewCase returns CASE WHEN when[0] THEN then[0] ... ELSE els END; els may be
// nil. The results are cast to their common type.
func NewCase(when, then []Expr, els Expr, env *fn.Env) (Expr, error) {
	return newCase("CASE", fn.CommonType, when, then, els, env)
}

func newCase(name string, common func([]types.Type) (types.Type, bool), when, then []Expr, els Expr, env *fn.Env) (*Case, error) {
	results := append([]Expr(nil), then...)
	if els != nil {
		results = append(results, els)
	}
	ts := make([]types.Type, len(results))
	for i, r := range results {
		ts[i] = r.Type()
	}
	t, ok := common(ts)
	if !ok {
		return nil, fmt.Errorf("the results of %s have no common type: %v", name, ts)
	}
	var err error
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
	nullable := true
	for i, a := range args {
		nullable = nullable && canBeNull(a)
		if i == len(args)-1 {
			break
		}
		w, err := NewCall(fn.Lookup("IS NOT NULL"), []Expr{a}, nil, env)
		if err != nil {
			return nil, err
		}
		when = append(when, w)
	}
	out, err := newCase("COALESCE", fn.MergedType, when, args[:len(args)-1], args[len(args)-1], env)
	if err != nil {
		return nil, err
	}
	out.Typ = out.Typ.WithNull(nullable)
	return out, nil
}

// canBeNull reports whether e can be null.
func canBeNull(e Expr) bool { return e.Type().Nullable || e.Type().Kind == types.Null }

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
