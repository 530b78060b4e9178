package bind

import (
	"errors"
	"slices"

	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/cast"
	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/types"
)

// expr binds an expression; nil means that an error was reported.
func (b *Binder) expr(s *scope, e ast.Expr) expr.Expr {
	x := b.bindExpr(s, e)
	if x != nil {
		expr.Place(x, e.Pos())
	}
	return x
}

func (b *Binder) bindExpr(s *scope, e ast.Expr) expr.Expr {
	switch e := e.(type) {
	case *ast.ColumnRef:
		return b.nameOrFunction(s, e)
	case *ast.NumberLit:
		return b.number(e, false)
	case *ast.StringLit:
		return stringLit(e.Value)
	case *ast.BinaryLit:
		return b.binary(e)
	case *ast.BoolLit:
		return expr.Bool(e.Value)
	case *ast.NullLit:
		if e.Unknown {
			return expr.Null(types.Of(types.Boolean))
		}
		return expr.Null(types.Of(types.Null))
	case *ast.TemporalLit:
		return b.temporalLit(e)
	case *ast.IntervalLit:
		return b.intervalLit(e)
	case *ast.IntervalExpr:
		return b.intervalExpr(s, e)
	case *ast.Unary:
		return b.unary(s, e)
	case *ast.Binary:
		return b.binaryOp(s, e)
	case *ast.IsTest:
		return b.isTest(s, e)
	case *ast.IsDistinct:
		name := "IS DISTINCT FROM"
		if e.Not {
			name = "IS NOT DISTINCT FROM"
		}
		return b.operator(s, e.Pos(), name, e.L, e.R)
	case *ast.Between:
		return b.between(s, e)
	case *ast.In:
		return b.in(s, e)
	case *ast.Like:
		return b.like(s, e)
	case *ast.Case:
		return b.caseExpr(s, e)
	case *ast.Cast:
		return b.castExpr(s, e)
	case *ast.Call:
		return b.call(s, e)
	}
	return b.nested(s, e)
}

// nested binds what builds or takes apart ARRAYs, MAPs and ROWs, and refuses the rest.
func (b *Binder) nested(s *scope, e ast.Expr) expr.Expr {
	switch e := e.(type) {
	case *ast.RowExpr:
		return b.operator(s, e.Pos(), "ROW", e.Elems...)
	case *ast.ArrayExpr:
		return b.operator(s, e.Pos(), "ARRAY", e.Elems...)
	case *ast.MultisetExpr:
		return b.operator(s, e.Pos(), "MULTISET", e.Elems...)
	case *ast.MapExpr:
		return b.operator(s, e.Pos(), "MAP", e.Elems...)
	case *ast.Index:
		return b.operator(s, e.Pos(), "ITEM", e.X, e.Index)
	case *ast.FieldAccess:
		if x := b.expr(s, e.X); x != nil {
			return b.fields(x, []ast.Ident{e.Name})
		}
	case *ast.Subquery:
		b.unsupported(e.Pos(), "a subquery as a value")
	case *ast.Exists:
		b.unsupported(e.Pos(), "EXISTS")
	case *ast.Quantified:
		b.quantified(s, e)
	case *ast.IntervalMinus:
		return b.intervalMinus(s, e)
	case *ast.Star:
		b.errorf(e.Pos(), "* cannot stand here: only as an item of SELECT, or in COUNT(*)")
	case *ast.DefaultArg:
		b.errorf(e.Pos(), "DEFAULT is no value here: columns have no default values")
	case *ast.NamedArg:
		b.errorf(e.Pos(), "%s => is not allowed: this function's arguments have no names", e.Name.Name)
	case *ast.Descriptor:
		b.errorf(e.Pos(), "DESCRIPTOR can only be an argument of a window function such as TUMBLE")
	case *ast.TableArg:
		b.errorf(e.Pos(), "a table can only be an argument of a table function")
	case *ast.Symbol:
		b.errorf(e.Pos(), "the keyword %s is no value", e.Name)
	default:
		b.unsupported(e.Pos(), "this expression")
	}
	return nil
}

// exprs binds several; nil means that an error was reported.
func (b *Binder) exprs(s *scope, in []ast.Expr) []expr.Expr {
	out, ok := make([]expr.Expr, len(in)), true
	for i, e := range in {
		out[i] = b.expr(s, e)
		ok = ok && out[i] != nil
	}
	if !ok {
		return nil
	}
	return out
}

// nameOrFunction binds a column; a single word that names none may be a function called without parentheses.
func (b *Binder) nameOrFunction(s *scope, c *ast.ColumnRef) expr.Expr {
	if len(c.Parts) == 1 && s.schema().Index(c.Parts[0].Name) < 0 && bareFunctions[upper(c.Parts[0].Name)] {
		return b.apply(c.Pos(), fn.Lookup(c.Parts[0].Name), nil, nil, nil)
	}
	return b.columnRef(s, c)
}

// bareFunctions are not reserved, and may be called without parentheses.
var bareFunctions = map[string]bool{"PI": true}

// operator binds operands and applies the function of that name, which need not be one that SQL text can call.
func (b *Binder) operator(s *scope, pos diag.Pos, name string, operands ...ast.Expr) expr.Expr {
	args := b.exprs(s, operands)
	if args == nil && len(operands) > 0 {
		return nil
	}
	return b.applyNamed(pos, name, positions(operands), args...)
}

func positions(nodes []ast.Expr) []diag.Pos {
	out := make([]diag.Pos, len(nodes))
	for i, n := range nodes {
		out[i] = n.Pos()
	}
	return out
}

// applyNamed applies a function that the engine needs for itself.
func (b *Binder) applyNamed(pos diag.Pos, name string, at []diag.Pos, args ...expr.Expr) expr.Expr {
	def := fn.Lookup(name)
	if def == nil {
		b.unsupported(pos, name)
		return nil
	}
	return b.apply(pos, def, at, args, nil)
}

// apply makes a call; at has the places of the arguments, where they are known.
func (b *Binder) apply(pos diag.Pos, def *fn.Def, at []diag.Pos, args []expr.Expr, symbols map[int]string) expr.Expr {
	out, err := expr.NewCall(def, args, symbols, b.Env)
	if err != nil {
		b.argError(pos, at, err)
		return nil
	}
	return withAttr(out, args...)
}

// argError reports why a function does not take its arguments, at the argument at fault.
func (b *Binder) argError(pos diag.Pos, at []diag.Pos, err error) {
	var arg *fn.ArgError
	if errors.As(err, &arg) && arg.Arg >= 0 && arg.Arg < len(at) && at[arg.Arg].Known() {
		pos = at[arg.Arg]
	}
	b.errorf(pos, "%s", err.Error())
}

// withAttr gives the result of a function the time attribute that Flink shows for it: that of the first argument of the same
// kind. Only a column that is passed on as it is really has one; see plan.TimeAttr.
func withAttr(e expr.Expr, args ...expr.Expr) expr.Expr {
	t := e.Type()
	if c, is := e.(*expr.Call); is && c.Def.Name == "PROCTIME" {
		return retyped(e, types.Proctime)
	}
	if c, is := e.(*expr.Call); is && c.Def.Name == fn.CurrentWatermark {
		return e
	}
	if !t.IsTimestamp() || t.Attr != types.NoTime {
		return e
	}
	i := slices.IndexFunc(args, func(a expr.Expr) bool { return a != nil && a.Type().Kind == t.Kind })
	if i < 0 || args[i].Type().Attr == types.NoTime {
		return e
	}
	return retyped(e, args[i].Type().Attr)
}

// retyped returns a call or a case with a time attribute in its type.
func retyped(e expr.Expr, attr types.TimeAttr) expr.Expr {
	switch e := e.(type) {
	case *expr.Call:
		c := *e
		c.Typ.Attr = attr
		return &c
	case *expr.Case:
		c := *e
		c.Typ.Attr = attr
		return &c
	}
	return e
}

func (b *Binder) unary(s *scope, e *ast.Unary) expr.Expr {
	if n, ok := e.X.(*ast.NumberLit); ok && e.Op == "-" {
		return b.number(n, true)
	}
	switch e.Op {
	case "-":
		return b.operator(s, e.Pos(), "NEGATE", e.X)
	case "NOT":
		return b.operator(s, e.Pos(), "NOT", e.X)
	}
	x := b.expr(s, e.X)
	if x == nil {
		return nil
	}
	if t := x.Type(); !t.IsNumeric() && !t.IsInterval() {
		b.errorf(e.Pos(), "+ needs a number, not %s", article(t))
		return nil
	}
	return x
}

func (b *Binder) binaryOp(s *scope, e *ast.Binary) expr.Expr {
	switch e.Op {
	case "AND", "OR":
		return b.logic(s, e)
	case "OVERLAPS":
		return b.overlaps(s, e)
	case "CONTAINS", "EQUALS", "PRECEDES", "SUCCEEDS", "IMMEDIATELY PRECEDES", "IMMEDIATELY SUCCEEDS":
		b.unsupported(e.OpPos, e.Op)
		return nil
	}
	args := b.exprs(s, []ast.Expr{e.L, e.R})
	if args == nil {
		return nil
	}
	return b.applyNamed(e.OpPos, e.Op, nil, args...)
}

// comparison binds a comparison that is a condition, where NULL may stand without a type.
func (b *Binder) comparison(s *scope, e *ast.Binary) expr.Expr {
	args := b.exprs(s, []ast.Expr{e.L, e.R})
	if args == nil {
		return nil
	}
	return b.applyNamed(e.OpPos, e.Op, nil, typedNulls(args)...)
}

func isComparison(op string) bool {
	switch op {
	case "=", "<>", "<", "<=", ">", ">=":
		return true
	}
	return false
}

// typedNulls gives NULLs without a type that of the first operand that has one.
func typedNulls(args []expr.Expr) []expr.Expr {
	i := slices.IndexFunc(args, func(a expr.Expr) bool { return a.Type().Kind != types.Null })
	if i < 0 {
		return args
	}
	out := slices.Clone(args)
	for k, a := range out {
		if a.Type().Kind == types.Null {
			out[k] = expr.Null(args[i].Type().Plain())
		}
	}
	return out
}

// logic binds a chain of ANDs, or of ORs, as one node.
func (b *Binder) logic(s *scope, e *ast.Binary) expr.Expr {
	var operands []ast.Expr
	var collect func(ast.Expr)
	collect = func(x ast.Expr) {
		if y, ok := x.(*ast.Binary); ok && y.Op == e.Op {
			collect(y.L)
			collect(y.R)
			return
		}
		operands = append(operands, x)
	}
	collect(e)
	args, ok := make([]expr.Expr, len(operands)), true
	for i, o := range operands {
		args[i] = b.truth(s, o, e.Op)
		ok = ok && args[i] != nil
	}
	if !ok {
		return nil
	}
	return b.checked(e.OpPos)(expr.NewLogic(e.Op == "OR", args, b.Env))
}

// checked reports the error of a constructor at pos.
func (b *Binder) checked(pos diag.Pos) func(expr.Expr, error) expr.Expr {
	return func(e expr.Expr, err error) expr.Expr {
		if err != nil {
			b.errorf(pos, "%s", err.Error())
			return nil
		}
		return e
	}
}

// truth binds an operand of AND, OR and IS UNKNOWN, which other than a clause refuse a NULL without a type.
func (b *Binder) truth(s *scope, e ast.Expr, what string) expr.Expr {
	if n, is := e.(*ast.NullLit); is && !n.Unknown {
		b.errorf(e.Pos(), "%s needs a BOOLEAN, and NULL has no type", what).WithHint("write UNKNOWN")
		return nil
	}
	return b.condition(s, e, what)
}

// condition binds a BOOLEAN; what names the place for the message.
func (b *Binder) condition(s *scope, e ast.Expr, what string) expr.Expr {
	var x expr.Expr
	if cmp, is := e.(*ast.Binary); is && isComparison(cmp.Op) {
		x = b.comparison(s, cmp)
	} else {
		x = b.expr(s, e)
	}
	if x == nil {
		return nil
	}
	switch t := x.Type(); t.Kind {
	case types.Boolean:
		return x
	case types.Null:
		return expr.Null(types.Of(types.Boolean))
	default:
		b.errorf(e.Pos(), "%s needs a BOOLEAN, not %s", what, article(t))
		return nil
	}
}

func (b *Binder) isTest(s *scope, e *ast.IsTest) expr.Expr {
	name := "IS "
	if e.Not {
		name += "NOT "
	}
	what := e.What
	if what == "UNKNOWN" {
		if x := b.truth(s, e.X, name+what); x == nil {
			return nil
		}
		what = "NULL"
	}
	return b.operator(s, e.Pos(), name+what, e.X)
}

// between binds x BETWEEN lo AND hi as two comparisons.
func (b *Binder) between(s *scope, e *ast.Between) expr.Expr {
	args := b.exprs(s, []ast.Expr{e.X, e.Lo, e.Hi})
	if args == nil {
		return nil
	}
	args = b.betweenTypes(e, typedNulls(args))
	if args == nil {
		return nil
	}
	within := func(lo, hi expr.Expr, loPos, hiPos diag.Pos) expr.Expr {
		left := b.applyNamed(e.Pos(), ">=", []diag.Pos{e.X.Pos(), loPos}, args[0], lo)
		right := b.applyNamed(e.Pos(), "<=", []diag.Pos{e.X.Pos(), hiPos}, args[0], hi)
		if left == nil || right == nil {
			return nil
		}
		return b.checked(e.Pos())(expr.NewLogic(false, []expr.Expr{left, right}, b.Env))
	}
	out := within(args[1], args[2], e.Lo.Pos(), e.Hi.Pos())
	if e.Symmetric && out != nil {
		other := within(args[2], args[1], e.Hi.Pos(), e.Lo.Pos())
		if other == nil {
			return nil
		}
		out = b.checked(e.Pos())(expr.NewLogic(true, []expr.Expr{out, other}, b.Env))
	}
	return b.negated(e.Pos(), e.Not, out)
}

// betweenTypes casts texts that stand with numbers, or with BOOLEANs, to the common type of all three; a text is then like a
// BIGINT, as in other comparisons.
func (b *Binder) betweenTypes(e *ast.Between, args []expr.Expr) []expr.Expr {
	var all []types.Type
	texts := 0
	for _, a := range args {
		switch t := a.Type(); {
		case t.IsNumeric() || t.Kind == types.Boolean:
			all = append(all, t)
		case t.IsChar():
			texts++
		}
	}
	if texts == 0 || texts == len(args) || texts+len(all) < len(args) {
		return args
	}
	if all[0].IsNumeric() {
		all = append(all, types.Of(types.BigInt))
	}
	t, ok := cast.CommonType(all)
	if !ok {
		return args
	}
	at := []ast.Expr{e.X, e.Lo, e.Hi}
	out := slices.Clone(args)
	for i, a := range args {
		if out[i] = b.checked(at[i].Pos())(expr.Coerce(a, t, b.Env)); out[i] == nil {
			return nil
		}
	}
	return out
}

// negated puts a NOT before e if not is set; nil stays nil.
func (b *Binder) negated(pos diag.Pos, not bool, e expr.Expr) expr.Expr {
	if !not || e == nil {
		return e
	}
	return b.applyNamed(pos, "NOT", nil, e)
}

func (b *Binder) like(s *scope, e *ast.Like) expr.Expr {
	operands := []ast.Expr{e.X, e.Pattern}
	if e.Escape != nil {
		operands = append(operands, e.Escape)
	}
	return b.negated(e.Pos(), e.Not, b.operator(s, e.Pos(), e.Op, operands...))
}

func (b *Binder) quantified(s *scope, e *ast.Quantified) {
	b.unsupported(e.Pos(), e.Op+" "+e.Quantifier)
}

// in binds x IN (a, b): all elements are compared as their common type.
func (b *Binder) in(s *scope, e *ast.In) expr.Expr {
	if e.Query != nil {
		b.unsupported(e.Pos(), "IN with a subquery")
		return nil
	}
	name := "IN"
	if e.Not {
		name = "NOT IN"
	}
	return b.operator(s, e.Pos(), name, append([]ast.Expr{e.X}, e.List...)...)
}

func (b *Binder) caseExpr(s *scope, e *ast.Case) expr.Expr {
	var when, then []expr.Expr
	ok := true
	for _, w := range e.Whens {
		var cond expr.Expr
		if e.Operand == nil {
			cond = b.condition(s, w.Cond, "WHEN")
		} else {
			cond = b.operator(s, w.Cond.Pos(), "=", e.Operand, w.Cond)
		}
		result := b.expr(s, w.Result)
		ok = ok && cond != nil && result != nil
		when, then = append(when, cond), append(then, result)
	}
	var els expr.Expr
	if e.Else != nil {
		els = b.expr(s, e.Else)
		ok = ok && els != nil
	}
	if !ok {
		return nil
	}
	at := make([]diag.Pos, 0, len(e.Whens)+1)
	for _, w := range e.Whens {
		at = append(at, w.Result.Pos())
	}
	if e.Else != nil {
		at = append(at, e.Else.Pos())
	}
	return b.newCase(e.Pos(), at, when, then, els)
}

// newCase makes a CASE; at has the places of its results.
func (b *Binder) newCase(pos diag.Pos, at []diag.Pos, when, then []expr.Expr, els expr.Expr) expr.Expr {
	results := then
	if els != nil {
		results = append(slices.Clone(then), els)
	}
	if _, ok := b.unify(cast.CommonType, typesOf(results), func(i int) diag.Pos { return at[i] }, "CASE"); !ok {
		return nil
	}
	if !slices.ContainsFunc(results, func(e expr.Expr) bool { return e.Type().Kind != types.Null }) {
		b.errorf(pos, "all results of CASE are NULL, so it has no type").WithHint("write CAST(NULL AS type)")
		return nil
	}
	out := b.checked(pos)(expr.NewCase(when, then, els, b.Env))
	if out == nil {
		return nil
	}
	return withAttr(out, results...)
}

func typesOf(exprs []expr.Expr) []types.Type {
	out := make([]types.Type, len(exprs))
	for i, e := range exprs {
		out[i] = e.Type()
	}
	return out
}

func (b *Binder) castExpr(s *scope, e *ast.Cast) expr.Expr {
	x, t := b.expr(s, e.X), b.Type(e.Type)
	if x == nil || !t.IsValid() {
		return nil
	}
	return b.checked(e.Pos())(expr.NewCast(x, t, e.Try, b.Env))
}

// intervalExpr binds INTERVAL x unit as x times one unit.
func (b *Binder) intervalExpr(s *scope, e *ast.IntervalExpr) expr.Expr {
	t := b.interval(&e.Qualifier)
	x := b.expr(s, e.X)
	if !t.IsValid() || x == nil {
		return nil
	}
	if !x.Type().IsNumeric() || e.Qualifier.To != "" {
		b.errorf(e.X.Pos(), "INTERVAL needs a number and a single unit here, not %s", article(x.Type()))
		return nil
	}
	unit := intervalScales[t.Unit][0][0]
	switch e.Qualifier.From {
	case "WEEK":
		unit *= 7
	case "QUARTER":
		unit *= 3
	}
	return b.applyNamed(e.Pos(), "*", nil, x, b.intervalOf(e.Pos(), t.Kind, unit))
}

// intervalMinus binds (l - r) range: the distance of two times, in months or in milliseconds.
func (b *Binder) intervalMinus(s *scope, e *ast.IntervalMinus) expr.Expr {
	t := b.interval(&e.Qualifier)
	args := b.exprs(s, []ast.Expr{e.L, e.R})
	if !t.IsValid() || args == nil {
		return nil
	}
	unit := "SECOND"
	if t.Kind == types.IntervalYM {
		unit = "MONTH"
	}
	return b.apply(e.Pos(), fn.Lookup("MINUS DATE"), nil, append(args, nil), map[int]string{2: unit})
}
