package slt

import (
	"fmt"
	"strings"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

// evalLine evaluates one expression, as it is and folded to a constant.
func (r *runner) evalLine(line string) string {
	e, err := r.session.BindExpr(line)
	if err != nil {
		return r.failed(err)[0]
	}
	plain, err := r.value(e)
	if err != nil {
		plain = "error " + oneLine(err)
	}
	folded, err := r.value(expr.Fold(e, r.session.Env()))
	if err != nil {
		folded = "error " + oneLine(err)
	}
	bothFail := strings.HasPrefix(plain, "error") && strings.HasPrefix(folded, "error")
	if plain != folded && !bothFail && !expr.Volatile(e) {
		return fmt.Sprintf("folded %s, unfolded %s", folded, plain)
	}
	return plain
}

// value computes a constant expression and prints it with its type.
func (r *runner) value(e expr.Expr) (string, error) {
	p, err := expr.Compile(e, r.session.Env())
	if err != nil {
		return "", err
	}
	v, err := p.Eval(batch.Of(types.NewSchema(), nil, 1))
	if err != nil {
		return "", err
	}
	cell := text.NewForm(r.session.Env().Zone).AppendCell(nil, v, 0)
	return string(cell) + " :: " + e.Type().String(), nil
}
