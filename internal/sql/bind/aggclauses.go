package bind

import (
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/sql/ast"
)

// Places of an ORDER BY in the call of an aggregate function.
const (
	orderWithin = 1 << iota
	orderBehind
)

// orderedAggs are the aggregate functions that take an ORDER BY, and where: within the parentheses, or behind them in WITHIN
// GROUP. As in Flink the order has no effect: the values stand as they came.
var orderedAggs = map[string]int{"ARRAY_AGG": orderWithin, "COLLECT": orderBehind, "JSON_ARRAYAGG": orderWithin | orderBehind}

// aggClauses checks what stands in the call of an aggregate function besides its arguments, DISTINCT and FILTER, and returns
// what it says of NULLs. s is the scope of the arguments.
func (b *Binder) aggClauses(s *scope, c *ast.Call, name string) (nulls fn.NullMode, ok bool) {
	ok = b.aggOrder(s, c, name)
	if c.Nulls != ast.NullsDefault {
		if name != "ARRAY_AGG" {
			b.errorf(c.Pos(), "%s takes neither IGNORE NULLS nor RESPECT NULLS", name)
			return nulls, false
		}
		nulls = fn.KeepNulls
		if c.Nulls == ast.IgnoreNulls {
			nulls = fn.SkipNulls
		}
	}
	if c.JSON == nil {
		return nulls, ok
	}
	if c.JSON.Format != nil {
		b.errorf(c.Pos(), "%s takes no FORMAT JSON", name)
		return nulls, false
	}
	switch c.JSON.OnNull {
	case "NULL":
		nulls = fn.KeepNulls
	case "ABSENT":
		nulls = fn.SkipNulls
	}
	return nulls, ok
}

func (b *Binder) aggOrder(s *scope, c *ast.Call, name string) bool {
	places := orderedAggs[name]
	switch {
	case len(c.WithinGroup) > 0 && places&orderBehind == 0:
		b.errorf(c.WithinGroup[0].Pos(), "%s takes no WITHIN GROUP", name).WithHint("its values stand in the order in which they came")
		return false
	case len(c.OrderBy) > 0 && places&orderWithin == 0:
		b.errorf(c.OrderBy[0].Pos(), "%s takes no ORDER BY", name).WithHint("its values stand in the order in which they came")
		return false
	case len(c.OrderBy) > 0 && len(c.WithinGroup) > 0:
		b.errorf(c.WithinGroup[0].Pos(), "%s takes one ORDER BY, within the parentheses or behind them", name)
		return false
	}
	ok := true
	for _, items := range [][]ast.OrderItem{c.OrderBy, c.WithinGroup} {
		for i := range items {
			ok = b.expr(s, items[i].Expr) != nil && ok
		}
	}
	return ok
}
