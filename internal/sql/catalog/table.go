package catalog

import (
	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/types"
)

// Table is what CREATE TABLE has defined.
type Table struct {
	Path      Path
	Temporary bool
	Comment   string
	Columns   []Column
	// Watermark is nil where the table has none.
	Watermark     *Watermark
	PrimaryKey    *Key
	Distribution  *ast.Distribution
	PartitionedBy []string
	Options       []Option
	// Pos is where the table's name stands in the script.
	Pos diag.Pos
}

// Column is a column of a table.
type Column struct {
	Name string
	// Kind is Physical, Computed or Metadata.
	Kind ast.ColumnKind
	Type types.Type
	// Expr is the expression of a computed column.
	Expr ast.Expr
	// Key is the metadata that a METADATA column holds; Virtual ones are not written.
	Key     string
	Virtual bool
	Comment string
	Pos     diag.Pos
}

// Persisted reports whether a row that is written to the table has the column.
func (c *Column) Persisted() bool {
	return c.Kind == ast.Physical || c.Kind == ast.Metadata && !c.Virtual
}

// Watermark is a table's WATERMARK clause.
type Watermark struct {
	Column string
	Expr   ast.Expr
	// Source tells that the expression is SOURCE_WATERMARK().
	Source bool
	// Type is that of the expression.
	Type types.Type
}

// Key is a table's PRIMARY KEY.
type Key struct {
	Name    string
	Columns []string
}

// Option is an option of a WITH clause, with its place in the script.
type Option struct {
	Key, Value       string
	KeyPos, ValuePos diag.Pos
}

// Where implements Object.
func (t *Table) Where() Path { return t.Path }

// IsTemporary implements Object.
func (t *Table) IsTemporary() bool { return t.Temporary }

// What implements Object.
func (t *Table) What() string { return "table" }

// Column returns the column of that name, or nil.
func (t *Table) Column(name string) *Column {
	for i := range t.Columns {
		if t.Columns[i].Name == name {
			return &t.Columns[i]
		}
	}
	return nil
}

// Option returns an option's value.
func (t *Table) Option(key string) (string, bool) {
	for i := range t.Options {
		if t.Options[i].Key == key {
			return t.Options[i].Value, true
		}
	}
	return "", false
}

// Schema returns all columns as a query sees them, the time attribute marked.
func (t *Table) Schema() *types.Schema {
	s := &types.Schema{Fields: make([]types.Field, len(t.Columns))}
	for i := range t.Columns {
		c := &t.Columns[i]
		s.Fields[i] = types.Field{Name: c.Name, Type: c.Type, Comment: c.Comment}
	}
	return s
}

// Physical returns the physical columns, which a connector reads and writes.
func (t *Table) Physical() *types.Schema {
	s := &types.Schema{}
	for i := range t.Columns {
		if c := &t.Columns[i]; c.Kind == ast.Physical {
			s.Fields = append(s.Fields, types.Field{Name: c.Name, Type: c.Type.Plain(), Comment: c.Comment})
		}
	}
	return s
}

// Names returns the names of all columns.
func (t *Table) Names() []string {
	out := make([]string, len(t.Columns))
	for i := range t.Columns {
		out[i] = t.Columns[i].Name
	}
	return out
}

// View is what CREATE VIEW has defined: a query that is bound anew wherever the view is used.
type View struct {
	Path      Path
	Temporary bool
	Comment   string
	// Columns are the names that the view gives to the query's columns; empty if it leaves them.
	Columns []string
	Query   *ast.Query
	// Schema is the view's schema when it was created.
	Schema *types.Schema
	// Catalog and Database were the current ones when it was created.
	Catalog, Database string
	Pos               diag.Pos
}

// Where implements Object.
func (v *View) Where() Path { return v.Path }

// IsTemporary implements Object.
func (v *View) IsTemporary() bool { return v.Temporary }

// What implements Object.
func (v *View) What() string { return "view" }
