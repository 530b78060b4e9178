package ast

import "github.com/millstream-io/millstream/internal/diag"

// ColumnRef is a name in an expression: a column, table.column, column.field and so on; the binder finds out which.
// A reserved word that is a function without parentheses, such as CURRENT_DATE, is a Call; but PI, which is not reserved, is a
// ColumnRef, and means the function where no column has that name.
type ColumnRef struct {
	diag.Span
	Parts []Ident
}

// Strings returns the parts as plain strings.
func (c *ColumnRef) Strings() []string { return identStrings(c.Parts) }

// Star is * or t.* in a select list.
type Star struct {
	diag.Span
	Qualifier []Ident
}

// NumberKind tells how a number was written, which decides its type.
type NumberKind uint8

// The kinds of numbers.
const (
	Integer     NumberKind = iota // 12: INT or BIGINT
	Decimal                       // 1.50, 1., .5: DECIMAL
	Approximate                   // 1e3: DOUBLE
)

// NumberLit is an unsigned number; a minus before it is a Unary.
type NumberLit struct {
	diag.Span
	Text string
	Kind NumberKind
}

// StringLit is a character literal with its escapes resolved. Charset is the upper-case name of _charset'..' (N'..' has
// none), or empty.
type StringLit struct {
	diag.Span
	Value   string
	Charset string
}

// BinaryLit is X'..'; Hex holds its digits, always an even number of them.
type BinaryLit struct {
	diag.Span
	Hex string
}

// BoolLit is TRUE or FALSE.
type BoolLit struct {
	diag.Span
	Value bool
}

// NullLit is NULL, or UNKNOWN, which is a NULL of type BOOLEAN.
type NullLit struct {
	diag.Span
	Unknown bool
}

// TemporalLit is DATE '..', TIME '..', TIMESTAMP '..' or TIMESTAMP WITH LOCAL TIME ZONE '..'. Type is DATE, TIME, TIMESTAMP or
// TIMESTAMP_LTZ. The text is not yet checked.
type TemporalLit struct {
	diag.Span
	Type string
	Text *StringLit
}

// IntervalLit is INTERVAL [-]'..' qualifier. The text is not yet checked.
type IntervalLit struct {
	diag.Span
	Negative  bool
	Text      *StringLit
	Qualifier IntervalQualifier
}

// IntervalExpr is INTERVAL x unit where x is no string: a number, a name or an expression in parentheses.
type IntervalExpr struct {
	diag.Span
	X         Expr
	Qualifier IntervalQualifier
}

// IntervalMinus is (l - r) qualifier: the distance of two times as an interval.
type IntervalMinus struct {
	diag.Span
	L, R      Expr
	Qualifier IntervalQualifier
}

// Unary is -x, +x or NOT x. Op is "-", "+" or "NOT".
type Unary struct {
	diag.Span
	Op string
	X  Expr
}

// Binary is l op r. Op is one of OR AND = <> < <= > >= || + - * / % and the period operators OVERLAPS, CONTAINS, EQUALS,
// PRECEDES, SUCCEEDS, IMMEDIATELY PRECEDES, IMMEDIATELY SUCCEEDS. OpPos is the place of the operator.
type Binary struct {
	diag.Span
	Op    string
	OpPos diag.Pos
	L, R  Expr
}

// IsTest is x IS [NOT] what. What is NULL, TRUE, FALSE, UNKNOWN, JSON, JSON VALUE, JSON OBJECT, JSON ARRAY or JSON SCALAR.
type IsTest struct {
	diag.Span
	X    Expr
	Not  bool
	What string
}

// IsDistinct is l IS [NOT] DISTINCT FROM r.
type IsDistinct struct {
	diag.Span
	L, R Expr
	Not  bool
}

// Between is x [NOT] BETWEEN [SYMMETRIC] lo AND hi.
type Between struct {
	diag.Span
	X, Lo, Hi Expr
	Not       bool
	Symmetric bool
}

// In is x [NOT] IN (list) or x [NOT] IN (query): exactly one of List and Query is set.
type In struct {
	diag.Span
	X     Expr
	Not   bool
	List  []Expr
	Query *Query
}

// Like is x [NOT] op pattern [ESCAPE e]. Op is LIKE, ILIKE, SIMILAR TO or RLIKE.
type Like struct {
	diag.Span
	X, Pattern Expr
	Escape     Expr
	Not        bool
	Op         string
}

// Quantified is x op ANY|SOME|ALL (query or list). Quantifier is ANY (SOME is the same) or ALL.
type Quantified struct {
	diag.Span
	X          Expr
	Op         string
	Quantifier string
	List       []Expr
	Query      *Query
}

// Exists is EXISTS (query).
type Exists struct {
	diag.Span
	Query *Query
}

// Subquery is a query in parentheses that stands for a value. Kind is empty, ARRAY, MULTISET or MAP: the constructor before it.
type Subquery struct {
	diag.Span
	Kind  string
	Query *Query
}

// Case is CASE [operand] WHEN .. THEN .. [ELSE ..] END. WHEN a, b THEN r of the form with an operand is given as two branches
// that share their result.
type Case struct {
	diag.Span
	Operand Expr
	Whens   []When
	Else    Expr
}

// When is one branch of a Case.
type When struct {
	diag.Span
	Cond, Result Expr
}

// Cast is CAST(x AS type) or TRY_CAST(x AS type).
type Cast struct {
	diag.Span
	X    Expr
	Type *TypeName
	Try  bool
}

// RowExpr is ROW(a, b), or (a, b) if Implicit.
type RowExpr struct {
	diag.Span
	Elems    []Expr
	Implicit bool
}

// ArrayExpr is ARRAY[a, b].
type ArrayExpr struct {
	diag.Span
	Elems []Expr
}

// MultisetExpr is MULTISET[a, b].
type MultisetExpr struct {
	diag.Span
	Elems []Expr
}

// MapExpr is MAP[k1, v1, k2, v2]; Elems holds keys and values in turn.
type MapExpr struct {
	diag.Span
	Elems []Expr
}

// Index is x[i]: an element of an array (from 1) or the value of a map's key.
type Index struct {
	diag.Span
	X, Index Expr
}

// FieldAccess is x.name where x is not itself a name, such as f(a).b or a[1].b.
type FieldAccess struct {
	diag.Span
	X    Expr
	Name Ident
}

// Symbol is a keyword that stands as an argument: a time unit (DAY, MILLISECOND, ...) or BOTH, LEADING, TRAILING of TRIM.
type Symbol struct {
	diag.Span
	Name string
}

// NamedArg is name => value.
type NamedArg struct {
	diag.Span
	Name  Ident
	Value Expr
}

// DefaultArg is the keyword DEFAULT as an argument or as a value of a row.
type DefaultArg struct{ diag.Span }

// Descriptor is DESCRIPTOR(col, ...) as an argument of a table function.
type Descriptor struct {
	diag.Span
	Cols []Ident
}

// TableArg is a table as an argument of a table function: TABLE t, or (query), with PARTITION BY and ORDER BY. Exactly one
// of Table and Query is set.
type TableArg struct {
	diag.Span
	Table       *Name
	Query       *Query
	Hints       []Hint
	PartitionBy []Expr
	OrderBy     []OrderItem
}

// Call is a call of a function.
//
// Special syntaxes are given as plain arguments: EXTRACT(u FROM x) as (Symbol, x); CEIL and FLOOR(x TO u) as (x, Symbol);
// TIMESTAMPADD and TIMESTAMPDIFF as (Symbol, a, b); TRIM with FROM as (Symbol, chars, x), chars being ' ' if not written;
// SUBSTRING, OVERLAY and POSITION in the order of their parts; JSON_OBJECT and JSON_OBJECTAGG as k, v, k, v.
type Call struct {
	diag.Span
	// Name is as it was written; built-in functions are looked up without regard to case.
	Name Name
	Args []Expr
	// Star is COUNT(*).
	Star bool
	// Bare tells that it was called without parentheses (CURRENT_DATE).
	Bare     bool
	Distinct bool
	// OrderBy stands within the parentheses, as ARRAY_AGG(x ORDER BY y) has it.
	OrderBy     []OrderItem
	Nulls       NullTreatment
	WithinGroup []OrderItem
	Filter      Expr
	// Over is the window, or nil.
	Over *WindowSpec
	// Semantics is RUNNING or FINAL in a MATCH_RECOGNIZE, or empty.
	Semantics string
	// JSON holds the clauses that only JSON functions have, or nil.
	JSON *JSONClauses
}

// FuncName returns the function's name as written, without its qualifier.
func (c *Call) FuncName() string { return c.Name.Last() }

// NullTreatment is RESPECT NULLS or IGNORE NULLS behind a call.
type NullTreatment uint8

// The null treatments.
const (
	NullsDefault NullTreatment = iota
	RespectNulls
	IgnoreNulls
)

// JSONClauses are the clauses of JSON functions.
type JSONClauses struct {
	Returning *TypeName
	// Wrapper is empty, WITHOUT ARRAY, WITH CONDITIONAL ARRAY or WITH UNCONDITIONAL ARRAY.
	Wrapper string
	OnEmpty *JSONBehavior
	OnError *JSONBehavior
	// OnNull is empty, NULL or ABSENT.
	OnNull string
	// Passing are the arguments of PASSING x AS y.
	Passing []SelectItem
	// Format tells for each argument whether FORMAT JSON follows it; nil if it follows none.
	Format []bool
}

// JSONBehavior is what stands before ON EMPTY or ON ERROR: NULL, ERROR, TRUE, FALSE, UNKNOWN, EMPTY ARRAY, EMPTY OBJECT, or
// DEFAULT with an expression.
type JSONBehavior struct {
	diag.Span
	Kind    string
	Default Expr
}

// WindowSpec is what follows OVER, or a definition of the WINDOW clause. Ref is the name of a window that it takes or extends;
// for OVER w the rest is empty and Bare is set.
type WindowSpec struct {
	diag.Span
	Ref         *Ident
	Bare        bool
	PartitionBy []Expr
	OrderBy     []OrderItem
	Frame       *Frame
}

// Frame is ROWS or RANGE with its bounds. Between tells that the second bound was written; if not, it is CURRENT ROW.
type Frame struct {
	diag.Span
	Rows    bool
	Lo, Hi  Bound
	Between bool
}

// BoundKind is the kind of a frame's bound.
type BoundKind uint8

// The bounds of a frame.
const (
	UnboundedPreceding BoundKind = iota
	Preceding
	CurrentRow
	Following
	UnboundedFollowing
)

// Bound is one end of a frame; Offset is set for Preceding and Following.
type Bound struct {
	diag.Span
	Kind   BoundKind
	Offset Expr
}

func (*ColumnRef) expr()     {}
func (*Star) expr()          {}
func (*NumberLit) expr()     {}
func (*StringLit) expr()     {}
func (*BinaryLit) expr()     {}
func (*BoolLit) expr()       {}
func (*NullLit) expr()       {}
func (*TemporalLit) expr()   {}
func (*IntervalLit) expr()   {}
func (*IntervalExpr) expr()  {}
func (*IntervalMinus) expr() {}
func (*Unary) expr()         {}
func (*Binary) expr()        {}
func (*IsTest) expr()        {}
func (*IsDistinct) expr()    {}
func (*Between) expr()       {}
func (*In) expr()            {}
func (*Like) expr()          {}
func (*Quantified) expr()    {}
func (*Exists) expr()        {}
func (*Subquery) expr()      {}
func (*Case) expr()          {}
func (*Cast) expr()          {}
func (*RowExpr) expr()       {}
func (*ArrayExpr) expr()     {}
func (*MultisetExpr) expr()  {}
func (*MapExpr) expr()       {}
func (*Index) expr()         {}
func (*FieldAccess) expr()   {}
func (*Symbol) expr()        {}
func (*NamedArg) expr()      {}
func (*DefaultArg) expr()    {}
func (*Descriptor) expr()    {}
func (*TableArg) expr()      {}
func (*Call) expr()          {}
