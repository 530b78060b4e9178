package types

import "strings"

// RowKind is the kind of a change: what a row does to the table it belongs to.
type RowKind uint8

// The four kinds. Insert is the zero value: a batch without kinds is all inserts.
const (
	Insert       RowKind = iota // +I
	UpdateBefore                // -U
	UpdateAfter                 // +U
	Delete                      // -D
)

var rowKindNames = [...]string{"+I", "-U", "+U", "-D"}

// String returns +I, -U, +U or -D.
func (k RowKind) String() string { return rowKindNames[k] }

// ParseRowKind reads +I, -U, +U or -D.
func ParseRowKind(s string) (RowKind, bool) {
	for i, n := range rowKindNames {
		if s == n {
			return RowKind(i), true
		}
	}
	return 0, false
}

// IsAdd reports whether the row is one more (+I, +U), not one less (-U, -D).
func (k RowKind) IsAdd() bool { return k == Insert || k == UpdateAfter }

// Schema is the ordered list of a relation's columns. It is immutable once
// shared.
type Schema struct {
	Fields []Field
}

// NewSchema returns a schema of the given columns.
func NewSchema(fields ...Field) *Schema { return &Schema{Fields: fields} }

// Len returns the number of columns.
func (s *Schema) Len() int { return len(s.Fields) }

// Index returns the position of the column with that exact name, or -1.
func (s *Schema) Index(name string) int {
	for i := range s.Fields {
		if s.Fields[i].Name == name {
			return i
		}
	}
	return -1
}

// Names returns the columns' names.
func (s *Schema) Names() []string {
	out := make([]string, len(s.Fields))
	for i, f := range s.Fields {
		out[i] = f.Name
	}
	return out
}

// Types returns the columns' types.
func (s *Schema) Types() []Type {
	out := make([]Type, len(s.Fields))
	for i, f := range s.Fields {
		out[i] = f.Type
	}
	return out
}

// Rowtime returns the position of the first event-time column, or -1.
func (s *Schema) Rowtime() int {
	for i := range s.Fields {
		if s.Fields[i].Type.Attr == Rowtime {
			return i
		}
	}
	return -1
}

// Equal reports whether both have the same names and types in the same order.
func (s *Schema) Equal(o *Schema) bool {
	if len(s.Fields) != len(o.Fields) {
		return false
	}
	for i := range s.Fields {
		if s.Fields[i].Name != o.Fields[i].Name || !s.Fields[i].Type.Equal(o.Fields[i].Type) {
			return false
		}
	}
	return true
}

// String prints the schema as (a INT, b STRING NOT NULL).
func (s *Schema) String() string {
	var b strings.Builder
	b.WriteByte('(')
	for i, f := range s.Fields {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(f.Name + " " + f.Type.Describe())
	}
	b.WriteByte(')')
	return b.String()
}
