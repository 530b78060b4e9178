package ast

import "github.com/millstream-io/millstream/internal/diag"

// Query is a whole query: [WITH ..] body [ORDER BY ..] [LIMIT ..] [OFFSET ..]. FETCH FIRST n ROWS ONLY is given as Limit,
// LIMIT ALL as no limit.
type Query struct {
	diag.Span
	// Recursive is WITH RECURSIVE.
	Recursive bool
	With      []CTE
	Body      QueryBody
	OrderBy   []OrderItem
	Limit     Expr
	Offset    Expr
}

// CTE is one name of a WITH clause.
type CTE struct {
	diag.Span
	Name    Ident
	Columns []Ident
	Query   *Query
}

// Select is a SELECT without ORDER BY and LIMIT, which belong to the Query.
type Select struct {
	diag.Span
	Hints    []Hint
	Distinct bool
	Items    []SelectItem
	// From is nil if there is no FROM; several items joined by commas are Joins of kind CommaJoin.
	From    TableRef
	Where   Expr
	GroupBy *GroupBy
	Having  Expr
	Windows []NamedWindow
	Qualify Expr
}

// SelectItem is an item of a select list; Expr may be a *Star.
type SelectItem struct {
	diag.Span
	Expr  Expr
	Alias *Ident
}

// GroupBy is the GROUP BY clause; Distinct is GROUP BY DISTINCT.
type GroupBy struct {
	diag.Span
	Distinct bool
	Items    []GroupItem
}

// GroupKind is the kind of an item of GROUP BY.
type GroupKind uint8

// The kinds of grouping items.
const (
	GroupExpr GroupKind = iota // one expression in Exprs
	GroupSet                   // (a, b) or ()
	GroupingSets
	Cube
	Rollup
)

// GroupItem is an item of GROUP BY, or of a GROUPING SETS, CUBE or ROLLUP in it. Exprs is set for GroupExpr and GroupSet,
// Items for the others.
type GroupItem struct {
	diag.Span
	Kind  GroupKind
	Exprs []Expr
	Items []GroupItem
}

// NamedWindow is a definition of the WINDOW clause.
type NamedWindow struct {
	diag.Span
	Name Ident
	Spec WindowSpec
}

// OrderItem is an item of an ORDER BY.
type OrderItem struct {
	diag.Span
	Expr  Expr
	Desc  bool
	Nulls NullOrder
}

// NullOrder says where NULLs stand in an order.
type NullOrder uint8

// The places of NULLs.
const (
	NullOrderDefault NullOrder = iota
	NullsFirst
	NullsLast
)

// Values is VALUES row, ...; a row is its expressions, one for VALUES 1, 2.
type Values struct {
	diag.Span
	Rows []ValuesRow
}

// ValuesRow is one row of VALUES.
type ValuesRow struct {
	diag.Span
	Exprs []Expr
}

// SetOp is l UNION|INTERSECT|EXCEPT [ALL] r.
type SetOp struct {
	diag.Span
	Op   string
	All  bool
	L, R QueryBody
}

// ExplicitTable is TABLE t as a query.
type ExplicitTable struct {
	diag.Span
	Name Name
}

func (*Query) queryBody()         {}
func (*Select) queryBody()        {}
func (*Values) queryBody()        {}
func (*SetOp) queryBody()         {}
func (*ExplicitTable) queryBody() {}

// TableName is a table, view or common table expression in FROM.
type TableName struct {
	diag.Span
	Name  Name
	Hints []Hint
	// AsOf is the expression of FOR SYSTEM_TIME AS OF, or nil.
	AsOf Expr
}

// SubqueryTable is a query in parentheses in FROM; VALUES is one, too.
type SubqueryTable struct {
	diag.Span
	Lateral bool
	Query   *Query
}

// TableFunc is a table function in FROM: TABLE(f(..)), LATERAL TABLE(f(..)), or the bare f(..).
type TableFunc struct {
	diag.Span
	Lateral bool
	// Bare tells that it stood without TABLE( ).
	Bare bool
	Call *Call
}

// Unnest is UNNEST(expr, ...) [WITH ORDINALITY].
type Unnest struct {
	diag.Span
	Lateral    bool
	Exprs      []Expr
	Ordinality bool
}

// AliasedTable is a table with another name and possibly other names for its columns.
type AliasedTable struct {
	diag.Span
	Table   TableRef
	Alias   Ident
	Columns []Ident
}

// JoinKind is the kind of a join.
type JoinKind uint8

// The kinds of joins.
const (
	InnerJoin JoinKind = iota
	LeftJoin
	RightJoin
	FullJoin
	CrossJoin
	CommaJoin
)

// Join is a join of two tables. On and Using exclude each other; neither is set for a natural, cross or comma join.
type Join struct {
	diag.Span
	Kind    JoinKind
	Natural bool
	L, R    TableRef
	On      Expr
	Using   []Ident
}

func (*TableName) tableRef()      {}
func (*SubqueryTable) tableRef()  {}
func (*TableFunc) tableRef()      {}
func (*Unnest) tableRef()         {}
func (*AliasedTable) tableRef()   {}
func (*Join) tableRef()           {}
func (*MatchRecognize) tableRef() {}

// MatchRecognize is table MATCH_RECOGNIZE (..).
type MatchRecognize struct {
	diag.Span
	Table       TableRef
	PartitionBy []Expr
	OrderBy     []OrderItem
	Measures    []SelectItem
	// AllRows is ALL ROWS PER MATCH; the default is ONE ROW PER MATCH.
	AllRows bool
	After   *AfterMatch
	// AnchorStart and AnchorEnd are ^ and $.
	AnchorStart, AnchorEnd bool
	Pattern                Pattern
	// Within is the interval behind the pattern, or nil.
	Within  Expr
	Subsets []Subset
	Define  []Definition
}

// SkipKind is where matching goes on after a match.
type SkipKind uint8

// The AFTER MATCH strategies.
const (
	SkipToNextRow SkipKind = iota
	SkipPastLastRow
	SkipToFirst
	SkipToLast
	SkipToVariable // SKIP TO A, which is as SKIP TO LAST A
)

// AfterMatch is the AFTER MATCH SKIP clause.
type AfterMatch struct {
	diag.Span
	Kind SkipKind
	Var  Ident
}

// Subset is s = (a, b) of a SUBSET clause.
type Subset struct {
	diag.Span
	Name Ident
	Vars []Ident
}

// Definition is v AS condition of a DEFINE clause.
type Definition struct {
	diag.Span
	Var  Ident
	Cond Expr
}

// Pattern is a part of a row pattern.
type Pattern interface {
	Node
	pattern()
}

// PatternVar is a pattern variable.
type PatternVar struct {
	diag.Span
	Name Ident
}

// PatternSeq is a b c.
type PatternSeq struct {
	diag.Span
	Parts []Pattern
}

// PatternAlt is a | b.
type PatternAlt struct {
	diag.Span
	Parts []Pattern
}

// PatternPermute is PERMUTE(a, b).
type PatternPermute struct {
	diag.Span
	Parts []Pattern
}

// PatternExclude is {- a -}.
type PatternExclude struct {
	diag.Span
	X Pattern
}

// PatternRepeat is a part with a quantifier: Min to Max times, Max -1 without limit.
type PatternRepeat struct {
	diag.Span
	X         Pattern
	Min, Max  int
	Reluctant bool
}

func (*PatternVar) pattern()     {}
func (*PatternSeq) pattern()     {}
func (*PatternAlt) pattern()     {}
func (*PatternPermute) pattern() {}
func (*PatternExclude) pattern() {}
func (*PatternRepeat) pattern()  {}
