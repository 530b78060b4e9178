package bind

import (
	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/ast"
)

// overlaps binds (start, end) OVERLAPS (start, end), where a period may also be given by its start and its length.
func (b *Binder) overlaps(s *scope, e *ast.Binary) expr.Expr {
	var args []expr.Expr
	var at []diag.Pos
	for _, side := range []ast.Expr{e.L, e.R} {
		row, ok := side.(*ast.RowExpr)
		if !ok || len(row.Elems) != 2 {
			b.errorf(side.Pos(), "OVERLAPS needs a period on either side, written (start, end) or (start, length)")
			return nil
		}
		period := b.exprs(s, row.Elems)
		if period == nil {
			return nil
		}
		if period[1].Type().IsInterval() {
			end := b.applyNamed(row.Elems[1].Pos(), "+", positions(row.Elems), period...)
			if end == nil {
				return nil
			}
			period[1] = end
		}
		args, at = append(args, period...), append(at, positions(row.Elems)...)
	}
	return b.applyNamed(e.OpPos, "OVERLAPS", at, args...)
}
