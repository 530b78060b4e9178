// Package ast defines the syntax tree of Flink's SQL dialect. The parser builds it, the binder reads it, and String prints
// it as canonical SQL that parses to the same tree.
//
// The tree says what was written, not what it means: a.b.c stays a list of names, a number stays its digits, and nothing is
// looked up. Functions with a syntax of their own (EXTRACT, TRIM, JSON_VALUE, ...) are ordinary Calls whose keywords became
// Symbol arguments or fields of the Call. Parentheses leave no trace except where they change the tree.
package ast

import "github.com/millstream-io/millstream/internal/diag"

// Node is any part of the tree. Each one embeds the diag.Span of its text.
type Node interface {
	Pos() diag.Pos
	Extent() diag.Span
}

// Statement is one statement of a script.
type Statement interface {
	Node
	statement()
}

// Expr is an expression, or what may stand where an argument stands.
type Expr interface {
	Node
	expr()
}

// QueryBody is what may stand between a WITH clause and an ORDER BY: *Select, *Values, *SetOp, *ExplicitTable, or a *Query
// in parentheses.
type QueryBody interface {
	Node
	queryBody()
}

// TableRef is an item of a FROM clause.
type TableRef interface {
	Node
	tableRef()
}

// Ident is one name. Quoted tells that it stood in back-ticks, which never changes its meaning, since names are
// case-sensitive anyway; String quotes where it must.
type Ident struct {
	diag.Span
	Name   string
	Quoted bool
}

// Name is a name of one to three parts: [[catalog.]database.]object.
type Name struct {
	diag.Span
	Parts []Ident
}

// Last returns the rightmost part, the name of the object itself.
func (n *Name) Last() string { return n.Parts[len(n.Parts)-1].Name }

// Strings returns the parts as plain strings.
func (n *Name) Strings() []string { return identStrings(n.Parts) }

func identStrings(ids []Ident) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = id.Name
	}
	return out
}

// Option is 'key' = 'value' of a WITH clause or an OPTIONS hint.
type Option struct {
	diag.Span
	Key, Value *StringLit
}

// Hint is one hint of a /*+ ... */ comment: a name, and either key-value pairs or a list of arguments.
type Hint struct {
	diag.Span
	Name    Ident
	Options []Option
	// Args holds identifiers as ColumnRefs, and literals.
	Args []Expr
}
