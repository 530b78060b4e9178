package bind

import (
	"fmt"

	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

// noTimeAttr reports that a column of a node is no time attribute, and says why, or where it stopped being one.
func (b *Binder) noTimeAttr(pos diag.Pos, n plan.Node, col int) {
	f := n.Schema().Fields[col]
	e := b.errorf(pos, "a window needs a time attribute, but column %q is %s", f.Name, article(f.Type.Plain()))
	if f.Type.IsTimestamp() {
		e.Hint = lostText(plan.TimeLost(n, col))
	}
}

// lostText says in words where a time attribute was lost.
func lostText(l plan.Lost) string {
	switch {
	case l.What == "":
		return "a table's event time is the column of its WATERMARK"
	case l.Pos.Known():
		return fmt.Sprintf("it is none any more since %s, where %s", l.Pos, l.What)
	}
	return "it is none any more, because " + l.What
}

// noEventTime reports that the argument of CURRENT_WATERMARK is no event time.
func (b *Binder) noEventTime(s *scope, c *ast.Call, arg expr.Expr) {
	e := b.errorf(c.Args[0].Pos(), "%s needs a column of event time, but %s is %s", fn.CurrentWatermark, arg, article(arg.Type().Plain()))
	if col, is := arg.(*expr.Col); is && s.rel != nil && arg.Type().IsTimestamp() && arg.Type().Attr == types.NoTime && col.Index >= 0 {
		e.Hint = lostText(plan.TimeLost(s.rel.node, col.Index))
	}
}
