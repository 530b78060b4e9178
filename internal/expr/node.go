// Package expr holds typed expressions and compiles them to programs of
// kernels over columns. The binder makes expressions, the optimizer rewrites
// them, and operators run the programs.
package expr

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/types"
)

// Expr is a typed expression over the columns of one input row. Expressions
// are immutable; rewrites make new ones. String prints an expression for plans.
type Expr interface {
	Type() types.Type
	String() string
}

// Col is a column of the input.
type Col struct {
	Index int
	Name  string
	Typ   types.Type
}

// Lit is a constant: a vector of length 1.
type Lit struct{ Value batch.Vector }

// Call is a call of a function whose arguments have the types that
// Bound.Params asks for (casts are explicit Cast nodes) .
type Call struct {
	Def  *fn.Def
	Args []Expr
	// Symbols holds the words of keyword arguments by argument index; such an
	// argument's Expr is nil.
	Symbols map[int]string
	Typ     types.Type
	// At is where the call stands in the script, for errors of rows.
	At diag.Pos
}

// Cast is a conversion: CAST, TRY_CAST (null where CAST fails), or one that the
// binder put in.
type Cast struct {
	Arg      Expr
	Typ      types.Type
	Try      bool
	Implicit bool
	// At is that of Call.
	At diag.Pos
}

// Case is CASE WHEN ...; COALESCE, IF and NULLIF are made of it. A branch is
// evaluated only for the rows that reach it.
type Case struct {
	When []Expr // BOOLEAN
	Then []Expr // all of type Typ
	Else Expr   // nil: NULL
	Typ  types.Type
}

// Logic is AND or OR of two or more BOOLEANs, three-valued. An operand is
// evaluated only for rows that the ones before it did not decide.
type Logic struct {
	Or   bool
	Args []Expr
	Typ  types.Type
}

// FieldOf is access to a field of a ROW.
type FieldOf struct {
	Arg   Expr
	Index int
	Typ   types.Type
}
