package expr

import (
	"errors"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
)

// Program is a compiled expression. It is used on one goroutine at a time.
type Program struct{}

// Projection is a list of compiled expressions that share what they have in
// common. It is used on one goroutine at a time.
type Projection struct{}

// Compile compiles an expression.
func Compile(e Expr, env *fn.Env) (*Program, error) { return nil, errors.ErrUnsupported }

// Eval returns the values of the expression for the rows of b that count; the
// other positions are unspecified.
func (p *Program) Eval(b *batch.Batch) (batch.Vector, error) { return nil, errors.ErrUnsupported }

// Filter returns the positions of the rows of b for which the expression, a
// BOOLEAN, is true: a new selection for b. It is never nil.
func (p *Program) Filter(b *batch.Batch) (sel []int32, err error) { return nil, errors.ErrUnsupported }

// CompileAll compiles several expressions over the same input.
func CompileAll(exprs []Expr, env *fn.Env) (*Projection, error) { return nil, errors.ErrUnsupported }

// Eval returns the values of each expression, as Program.Eval does.
func (p *Projection) Eval(b *batch.Batch) ([]batch.Vector, error) { return nil, errors.ErrUnsupported }

// Fold evaluates what is constant in e. A part whose evaluation fails stays as
// it is, so that the error comes when a row needs it.
func Fold(e Expr, env *fn.Env) Expr { return e }
