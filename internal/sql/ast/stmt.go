package ast

import "github.com/millstream-io/millstream/internal/diag"

// CreateTable is CREATE [OR REPLACE] [TEMPORARY] TABLE. It has a Like or an AsQuery, or neither.
type CreateTable struct {
	diag.Span
	OrReplace   bool
	Temporary   bool
	IfNotExists bool
	Name        Name
	Columns     []Column
	Watermarks  []Watermark
	// Keys are the table's constraints; that of a column stands in the Column.
	Keys          []Key
	Comment       *StringLit
	Distribution  *Distribution
	PartitionedBy []Ident
	Options       []Option
	Like          *LikeClause
	AsQuery       *Query
}

// ColumnKind is the kind of a column.
type ColumnKind uint8

// The kinds of columns.
const (
	Physical ColumnKind = iota
	Computed
	Metadata
	NameOnly // a name without a type, which CREATE TABLE t (a, b) AS SELECT may give to reorder columns
)

// Column is a column of a CREATE TABLE.
type Column struct {
	diag.Span
	Kind ColumnKind
	Name Ident
	// Type is set for physical and metadata columns.
	Type *TypeName
	// Expr is set for computed columns.
	Expr Expr
	// From is the key of METADATA FROM 'key', or nil.
	From    *StringLit
	Virtual bool
	// Key is the column's own constraint, or nil.
	Key     *Key
	Comment *StringLit
}

// Watermark is WATERMARK FOR column AS expr; the column may be a nested field.
type Watermark struct {
	diag.Span
	Column Name
	Expr   Expr
}

// Key is a PRIMARY KEY or UNIQUE constraint. Columns is empty if it stands behind a column.
type Key struct {
	diag.Span
	Name        *Ident
	Unique      bool
	Columns     []Ident
	NotEnforced bool
	Enforced    bool
}

// Distribution is DISTRIBUTED [BY [HASH|RANGE] (cols)] [INTO n BUCKETS].
type Distribution struct {
	diag.Span
	// Kind is HASH, RANGE or empty; Buckets is 0 if it was not written.
	Kind    string
	Columns []Ident
	Buckets int
}

// LikeClause is LIKE table (options).
type LikeClause struct {
	diag.Span
	Table   Name
	Options []LikeOption
}

// LikeOption is such as INCLUDING ALL. Action is INCLUDING, EXCLUDING or OVERWRITING; What is ALL, CONSTRAINTS,
// DISTRIBUTION, GENERATED, METADATA, OPTIONS, PARTITIONS or WATERMARKS.
type LikeOption struct {
	diag.Span
	Action, What string
}

// CreateView is CREATE [OR REPLACE] [TEMPORARY] VIEW.
type CreateView struct {
	diag.Span
	OrReplace   bool
	Temporary   bool
	IfNotExists bool
	Name        Name
	Columns     []Ident
	Comment     *StringLit
	Query       *Query
}

// CreateFunction is CREATE [TEMPORARY [SYSTEM]] FUNCTION name AS 'class' [LANGUAGE l] [USING JAR '..', ..] [WITH (..)].
type CreateFunction struct {
	diag.Span
	Temporary   bool
	System      bool
	IfNotExists bool
	Name        Name
	Class       *StringLit
	Language    string
	Jars        []*StringLit
	Options     []Option
}

// CreateCatalog is CREATE CATALOG.
type CreateCatalog struct {
	diag.Span
	IfNotExists bool
	Name        Ident
	Comment     *StringLit
	Options     []Option
}

// CreateDatabase is CREATE DATABASE.
type CreateDatabase struct {
	diag.Span
	IfNotExists bool
	Name        Name
	Comment     *StringLit
	Options     []Option
}

// ObjectKind is the kind of a catalog object.
type ObjectKind string

// The kinds of catalog objects.
const (
	TableObject    ObjectKind = "TABLE"
	ViewObject     ObjectKind = "VIEW"
	FunctionObject ObjectKind = "FUNCTION"
	CatalogObject  ObjectKind = "CATALOG"
	DatabaseObject ObjectKind = "DATABASE"
)

// Drop is DROP [TEMPORARY [SYSTEM]] kind [IF EXISTS] name [RESTRICT|CASCADE].
type Drop struct {
	diag.Span
	Kind      ObjectKind
	Temporary bool
	System    bool
	IfExists  bool
	Name      Name
	Cascade   bool
}

// Alter is an ALTER statement; Action holds the text behind the name, which nobody interprets yet.
type Alter struct {
	diag.Span
	Kind     ObjectKind
	IfExists bool
	Name     Name
	Action   string
}

// Insert is INSERT INTO or INSERT OVERWRITE.
type Insert struct {
	diag.Span
	Overwrite bool
	Table     Name
	Hints     []Hint
	Partition []PartitionValue
	Columns   []Name
	Query     *Query
	// OnConflict is the conflict strategy (ERROR, NOTHING or DEDUPLICATE), or nil.
	OnConflict *Symbol
}

// PartitionValue is k = literal of a PARTITION clause; a partition without a value is dynamic.
type PartitionValue struct {
	diag.Span
	Column Ident
	Value  Expr
}

// StatementSet is EXECUTE STATEMENT SET BEGIN .. END, or BEGIN STATEMENT SET; .. END.
type StatementSet struct {
	diag.Span
	Inserts []*Insert
}

// QueryStatement is a query as a statement.
type QueryStatement struct {
	diag.Span
	Query *Query
}

// Set is SET 'key' = 'value'; a plain SET, which lists the options, has neither.
type Set struct {
	diag.Span
	Key, Value *StringLit
}

// Reset is RESET ['key'].
type Reset struct {
	diag.Span
	Key *StringLit
}

// Explain is EXPLAIN [PLAN FOR | details] statement. Details are in capitals: ESTIMATED_COST, CHANGELOG_MODE,
// JSON_EXECUTION_PLAN, PLAN_ADVICE, and our own STATE.
type Explain struct {
	diag.Span
	Details   []string
	Statement Statement
}

// Describe is DESCRIBE [EXTENDED] name. Kind is TABLE, which stands for views, too, or CATALOG or FUNCTION.
type Describe struct {
	diag.Span
	Kind     ObjectKind
	Extended bool
	Name     Name
}

// Show is a SHOW statement. What is in capitals: TABLES, VIEWS, DATABASES, CATALOGS, FUNCTIONS, USER FUNCTIONS, COLUMNS,
// CREATE TABLE, CREATE VIEW, CREATE CATALOG, CURRENT CATALOG, CURRENT DATABASE, PARTITIONS, PROCEDURES, JOBS, MODULES,
// FULL MODULES, JARS, MODELS, CONNECTIONS, MATERIALIZED TABLES.
type Show struct {
	diag.Span
	What string
	// Name is the object of SHOW CREATE .., or the place of FROM or IN, or nil.
	Name *Name
	// Like is the pattern, or nil; Op is LIKE or ILIKE.
	Not  bool
	Op   string
	Like *StringLit
}

// Use is USE [CATALOG] name.
type Use struct {
	diag.Span
	Catalog bool
	Name    Name
}

func (*CreateTable) statement()    {}
func (*CreateView) statement()     {}
func (*CreateFunction) statement() {}
func (*CreateCatalog) statement()  {}
func (*CreateDatabase) statement() {}
func (*Drop) statement()           {}
func (*Alter) statement()          {}
func (*Insert) statement()         {}
func (*StatementSet) statement()   {}
func (*QueryStatement) statement() {}
func (*Set) statement()            {}
func (*Reset) statement()          {}
func (*Explain) statement()        {}
func (*Describe) statement()       {}
func (*Show) statement()           {}
func (*Use) statement()            {}
