package bind

import (
	"slices"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

// laterTableFuncs are table functions that Millstream does not have yet.
var laterTableFuncs = wordSet("HOP CUMULATE SESSION ML_PREDICT VECTOR_SEARCH SEARCH_KEY")

// tableFunc binds a table function in FROM.
func (b *Binder) tableFunc(t *ast.TableFunc) *relation {
	name := upper(t.Call.FuncName())
	switch {
	case name == "TUMBLE":
		return b.tumble(t.Call)
	case laterTableFuncs[name]:
		b.unsupported(t.Pos(), name)
	case t.Lateral || fn.Lookup(name) != nil:
		b.unsupported(t.Pos(), "the table function "+name)
	default:
		b.unknown(t.Call.Pos(), name, []string{"TUMBLE", "HOP", "CUMULATE", "SESSION"}, "unknown table function %s", t.Call.FuncName())
	}
	return nil
}

// tumbleParams are the names of TUMBLE's arguments, in order.
var tumbleParams = []string{"DATA", "TIMECOL", "SIZE", "OFFSET"}

// tumble binds TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL .. [, INTERVAL ..]).
func (b *Binder) tumble(c *ast.Call) *relation {
	args := b.windowArgs(c, tumbleParams)
	if args == nil {
		return nil
	}
	rel := b.tableArg(args["DATA"])
	size, sizeOK := b.windowInterval(args["SIZE"], "the size of a window")
	offset, offsetOK := int64(0), true
	if a := args["OFFSET"]; a != nil {
		offset, offsetOK = b.windowInterval(a, "the offset of a window")
	}
	if sizeOK && size <= 0 {
		b.errorf(args["SIZE"].Pos(), "the size of a window must be above zero")
		sizeOK = false
	}
	if sizeOK && offsetOK && max(offset, -offset) >= size {
		b.errorf(args["OFFSET"].Pos(), "the offset of a window must be shorter than its size")
		offsetOK = false
	}
	if rel == nil {
		return nil
	}
	col, ok := b.timeColumn(rel, args["TIMECOL"])
	if !ok || !sizeOK || !offsetOK {
		return nil
	}
	w := plan.Window{Time: col, TimeType: rel.node.Schema().Fields[col].Type, Size: size, Offset: offset}
	w.TimeType.Attr = plan.TimeAttr(rel.node, col)
	out := schemaOf(rel.node.Schema())
	out.Fields = append(out.Fields, w.Columns()...)
	return &relation{node: &plan.WindowTVF{Input: rel.node, Window: w, Out: out}}
}

// windowArgs sorts the arguments of a window function by name. nil means that an error was reported.
func (b *Binder) windowArgs(c *ast.Call, params []string) map[string]ast.Expr {
	name := upper(c.FuncName())
	args := map[string]ast.Expr{}
	for i, a := range c.Args {
		param := ""
		if n, is := a.(*ast.NamedArg); is {
			param = n.Name.Name
			if !slices.Contains(params, param) {
				b.unknown(n.Pos(), param, params, "%s has no argument %q", name, param)
				return nil
			}
			a = n.Value
			if i == 0 && param != "DATA" {
				b.errorf(n.Pos(), "DATA must be the first argument of %s", name)
				return nil
			}
		} else if i < len(params) {
			param = params[i]
		} else {
			b.errorf(a.Pos(), "%s takes at most %d arguments", name, len(params))
			return nil
		}
		if args[param] != nil {
			b.errorf(a.Pos(), "the argument %s of %s is given twice", param, name)
			return nil
		}
		args[param] = a
	}
	for _, p := range params[:len(params)-1] {
		if args[p] == nil {
			b.errorf(c.Pos(), "%s needs the argument %s", name, p).
				WithHint("write it as %s(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR)", name)
			return nil
		}
	}
	return args
}

// tableArg binds the table that a window function reads.
func (b *Binder) tableArg(a ast.Expr) *relation {
	t, is := a.(*ast.TableArg)
	switch {
	case !is:
		if q, is := a.(*ast.Subquery); is && q.Kind == "" {
			return b.query(q.Query)
		}
		b.errorf(a.Pos(), "a window function reads a table: write TABLE name, or a query in parentheses")
		return nil
	case len(t.PartitionBy) > 0:
		b.errorf(t.PartitionBy[0].Pos(), "PARTITION BY has no meaning here: only SESSION takes it")
		return nil
	case t.Query != nil:
		return b.query(t.Query)
	}
	return b.tableName(t.Table, t.Hints, nil)
}

// windowInterval binds a constant interval of a fixed length, in milliseconds.
func (b *Binder) windowInterval(a ast.Expr, what string) (int64, bool) {
	e := b.expr(&scope{where: what, pos: map[expr.Expr]diag.Pos{}}, a)
	if e == nil {
		return 0, false
	}
	switch t := e.Type(); {
	case t.Kind == types.IntervalYM:
		b.errorf(a.Pos(), "%s cannot be in months or years, which have no fixed length", what)
		return 0, false
	case t.Kind != types.IntervalDS:
		b.errorf(a.Pos(), "%s must be an interval such as INTERVAL '10' MINUTE, not %s", what, article(t))
		return 0, false
	}
	lit, is := expr.Fold(e, b.Env).(*expr.Lit)
	if is && !lit.Value.Validity().IsNull(0) {
		return lit.Value.(*batch.Fixed[int64]).Values[0], true
	}
	b.errorf(a.Pos(), "%s must be a constant", what)
	return 0, false
}

// timeColumn finds the column of a DESCRIPTOR, which must be a time attribute. Of several columns only the first counts.
func (b *Binder) timeColumn(rel *relation, a ast.Expr) (int, bool) {
	d, is := a.(*ast.Descriptor)
	if !is || len(d.Cols) == 0 {
		b.errorf(a.Pos(), "the time column must be given as DESCRIPTOR(column)")
		return 0, false
	}
	in := rel.node.Schema()
	id := d.Cols[0]
	s := over(rel, "DESCRIPTOR")
	col := -1
	for i, f := range in.Fields {
		if f.Name != id.Name {
			continue
		}
		if col >= 0 {
			b.errorf(id.Pos(), "column %q is ambiguous: %s has it more than once", id.Name, s.describe())
			return 0, false
		}
		col = i
	}
	if col < 0 {
		b.unknown(id.Pos(), id.Name, in.Names(), "unknown column %q in %s", id.Name, s.describe())
		return 0, false
	}
	if t := in.Fields[col].Type; plan.TimeAttr(rel.node, col) == types.NoTime {
		e := b.errorf(id.Pos(), "a window needs a time attribute, but column %q is %s", id.Name, article(t))
		if t.IsTimestamp() {
			e.Hint = "a table's event time is the column of its WATERMARK; computing with it, or grouping by it, makes an ordinary column of it"
		}
		return 0, false
	}
	return col, true
}
