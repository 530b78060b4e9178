package ast

import "github.com/millstream-io/millstream/internal/diag"

// Nullability is what a type says about NULL.
type Nullability uint8

// What may follow a type name.
const (
	NullDefault  Nullability = iota // nothing was written: NULL is allowed
	NullExplicit                    // NULL
	NotNull                         // NOT NULL
)

// TypeName is a type as it is written.
type TypeName struct {
	diag.Span
	// Name is the type's canonical name in capitals: CHAR, VARCHAR, STRING, BOOLEAN, BINARY, VARBINARY, BYTES, DECIMAL,
	// TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, DATE, TIME, TIMESTAMP, TIMESTAMP_LTZ, INTERVAL, ARRAY, MULTISET, MAP,
	// ROW, STRUCTURED, RAW, VARIANT, BITMAP, ANY. Synonyms (DEC, NUMERIC, INTEGER, DOUBLE PRECISION, CHARACTER VARYING,
	// TIMESTAMP WITH LOCAL TIME ZONE, INT ARRAY, ...) become these. A name of another kind is in User and leaves Name empty.
	Name string
	// User is the name of a user-defined type, or nil.
	User *Name
	// Args are the numbers in parentheses (length, precision, scale) as written.
	Args []int
	// Elems are the element types: one for ARRAY and MULTISET, key and value for MAP.
	Elems []*TypeName
	// Fields are the fields of a ROW or STRUCTURED type.
	Fields []Field
	// Interval is the qualifier of an INTERVAL type.
	Interval *IntervalQualifier
	// Strings are the arguments of RAW('class', 'snapshot') and the class of STRUCTURED<'class', ...>.
	Strings []*StringLit
	Null    Nullability
}

// Field is a field of a ROW type.
type Field struct {
	diag.Span
	Name    Ident
	Type    *TypeName
	Comment *StringLit
}

// IntervalQualifier is DAY(3) TO SECOND(6) and the like. To is empty for a single unit; a precision of -1 was not written.
type IntervalQualifier struct {
	diag.Span
	From, To       string
	FromPrec, Frac int
}
