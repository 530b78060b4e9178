// Package fn is the function library: the contract of a SQL function, the
// registry, and the built-in functions, one Def each, a file a family.
//
// A Def is all there is to a function: its name, its signature (Bind), its
// code (the Kernel that Bind returns), its documentation and its examples,
// which run as tests. To add a function, add a Def to its family's file.
package fn

import (
	"fmt"
	"time"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// Def defines a scalar SQL function.
type Def struct {
	// Name is the function's name in upper case; Aliases are other names.
	Name    string
	Aliases []string
	// Family groups functions in the documentation: string, arithmetic, time ...
	Family string
	// Syntax shows the call as users write it: SUBSTRING(s FROM start [FOR n]).
	// Doc says what it does, in plain sentences: result, nulls, errors.
	Syntax string
	Doc    string
	// Examples run as tests and stand in the documentation.
	Examples []Example
	// Bind checks the arguments of one call, and gives the types to which
	// they are cast, the result's type and the code. It is called once a
	// call, when a statement is planned, and again when the plan is compiled.
	Bind func(c *Call) (*Bound, error)
	// NullCall is set for functions that handle null arguments themselves.
	// For all others a null argument makes a null result, and the kernel
	// never sees it.
	NullCall bool
	// Volatile is set for functions whose result is not decided by their
	// arguments (RAND, UUID, time of day): calls are not folded.
	Volatile bool
	// Internal hides the function from SQL text and documentation: operators
	// such as + and LIKE are functions with names that no query can write.
	Internal bool
}

// Example is a call with its result as Flink prints it: value :: TYPE, or
// error.
type Example struct{ Expr, Want string }

// Call is one call of a function, as Bind sees it.
type Call struct {
	Def  *Def
	Args []Arg
	// Nulls is what an aggregate does with NULLs, where the call says so.
	Nulls NullMode
	// Env is the session's settings.
	Env *Env
}

// NullMode is what an aggregate that collects values does with NULLs.
type NullMode uint8

// The values of NullMode: what the function does by itself, RESPECT NULLS or
// NULL ON NULL, and IGNORE NULLS or ABSENT ON NULL.
const (
	NullsByDefault NullMode = iota
	KeepNulls
	SkipNulls
)

// Arg is an argument of a call.
type Arg struct {
	Type types.Type
	// Const is a vector of length 1 where the argument is a constant,
	// otherwise nil. Functions prepare patterns and formats from it once.
	Const batch.Vector
	// Symbol is the word of an argument that is a keyword, such as HOUR.
	Symbol string
	// Implicit is set for a literal NULL without a type of its own.
	Implicit bool
}

// Env is what a session's settings contribute to evaluation.
type Env struct {
	// Zone is table.local-time-zone; UTC by default.
	Zone *time.Location
	// Now is the statement's clock: CURRENT_TIMESTAMP and its kin in a bounded
	// query, and the source of processing time otherwise. Never nil.
	Now func() time.Time
	// Watermark is that of the operator that evaluates, as it sees it; the
	// smallest integer before the first one. Nil where there is none.
	Watermark func() int64
	// Database is the name of the current database.
	Database string
	// LegacyCast is table.exec.legacy-cast-behaviour.
	LegacyCast bool
	// WrapIntegers follows Flink where integer arithmetic overflows (the
	// result wraps). False, the default: an error ("arithmetic.overflow").
	WrapIntegers bool
}

// Bound is a call whose types are settled.
type Bound struct {
	// Params are the types to which the arguments are cast; nil leaves them
	// as they are. An argument whose entry is the zero Type stays as it is.
	Params []types.Type
	// Result is the type of the result, nullability included.
	Result types.Type
	// Kernel computes it.
	Kernel Kernel
	// Reads is the number of arguments, from the first one, that Kernel looks
	// at; 0 means all. Bind has taken in the others, which are constants, and
	// the kernel need not be given them: a list may be long.
	Reads int
}

// Kernel computes a function over columns. It is called on one goroutine at a
// time. args have length rows.N each (a constant argument is repeated). It
// returns a vector of length rows.N of type Bound.Result, in which the
// positions of rows are set; the rest is unspecified. The result may be one of
// the arguments. Validity of the arguments has been merged into the result by
// the caller unless NullCall; a kernel of a function without NullCall sets
// Valid only for nulls that it makes itself.
//
// An error that a row's values cause is a *RowError, so that the message can
// say which row it was.
type Kernel func(rows Rows, args []batch.Vector) (batch.Vector, error)

// Rows is the set of positions to compute.
type Rows struct {
	// N is the length of all vectors.
	N int
	// Sel lists the positions; nil means 0 to N-1.
	Sel []int32
}

// Len is the number of positions.
func (r Rows) Len() int {
	if r.Sel != nil {
		return len(r.Sel)
	}
	return r.N
}

// At returns the i-th position.
func (r Rows) At(i int) int {
	if r.Sel != nil {
		return int(r.Sel[i])
	}
	return i
}

// RowError is an error that the values of one row caused.
type RowError struct {
	// Pos is the physical position of the row in its batch.
	Pos int
	// Msg says what is wrong with which value, and what to do.
	Msg string
}

// Error implements error.
func (e *RowError) Error() string { return e.Msg }

// Failf returns a *RowError for the row at a position.
func Failf(pos int, format string, args ...any) error {
	return &RowError{Pos: pos, Msg: fmt.Sprintf(format, args...)}
}

// ArgError is returned by Bind when the arguments do not fit. Arg is the index
// of the argument at fault, or -1 for the call as a whole.
type ArgError struct {
	Arg int
	Msg string
}

// Error implements error.
func (e *ArgError) Error() string { return e.Msg }
