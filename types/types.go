// Package types holds the logical types of Flink SQL, schemas, and the scalar
// values (decimals, timestamps) that have no Go type of their own.
//
// A Type is a small immutable value. Two types are compared with Equal; the
// physical form of a type's values in a column is given by Type.Phys and is
// described in package batch.
package types

import (
	"strconv"
	"strings"
)

// Kind is the root of a logical type (LogicalTypeRoot in Flink).
type Kind uint8

// The kinds of Flink SQL. Null is the type of a bare NULL literal.
const (
	Invalid Kind = iota
	Null
	Boolean
	TinyInt
	SmallInt
	Int
	BigInt
	Float
	Double
	Decimal
	Char
	Varchar
	Binary
	Varbinary
	Date
	Time
	Timestamp
	TimestampLTZ
	IntervalYM
	IntervalDS
	Array
	Map
	Multiset
	Row
	// Symbol is the type of a word that is an argument, such as the unit in
	// FLOOR(x TO HOUR). Its values never stand in a column.
	Symbol
	// Descriptor is the type of DESCRIPTOR(col) arguments.
	Descriptor
	// Variant is semi-structured data, Bitmap a set of integers. The parser
	// and the binder know the names; no function takes them yet.
	Variant
	Bitmap
	// Objects is one Go value per row; only the typed Go API has such columns.
	Objects
)

// MaxLength is the length of STRING and BYTES, and stands for "no limit".
const MaxLength = 1<<31 - 1

// MaxPrecision is the largest precision of a DECIMAL.
const MaxPrecision = 38

// TimeAttr says whether a timestamp column carries the time of its stream.
type TimeAttr uint8

// A column is an ordinary one, the event time, or the processing time.
const (
	NoTime TimeAttr = iota
	Rowtime
	Proctime
)

// Type is a logical SQL type with its nullability. The zero Type is invalid.
type Type struct {
	Kind     Kind
	Nullable bool
	// Attr is set for the time attributes of a stream. It does not take part
	// in Equal: *ROWTIME* is a property of a column, not of its values.
	Attr TimeAttr
	// Length is the length of CHAR, VARCHAR, BINARY and VARBINARY; Precision
	// that of DECIMAL, TIME, TIMESTAMP, TIMESTAMP_LTZ, and of an interval's
	// leading field; Scale that of DECIMAL, and of an interval's fraction of
	// a second. Each is 0 where it has no meaning.
	Length    int32
	Precision uint8
	Scale     uint8
	// Unit is the range of an interval type, such as DAY TO SECOND.
	Unit IntervalUnit
	// Elem is the element type of ARRAY and MULTISET and the value type of MAP;
	// Key is the key type of MAP. Fields are those of ROW.
	Elem   *Type
	Key    *Type
	Fields []Field
}

// Field is a named field of a ROW, or a column of a Schema.
type Field struct {
	Name string
	Type Type
	// Comment is the text of COMMENT, empty where there is none.
	Comment string
}

// IntervalUnit is the range of fields of an INTERVAL type.
type IntervalUnit uint8

// The interval ranges of SQL.
const (
	UnitNone IntervalUnit = iota
	UnitYear
	UnitYearToMonth
	UnitMonth
	UnitDay
	UnitDayToHour
	UnitDayToMinute
	UnitDayToSecond
	UnitHour
	UnitHourToMinute
	UnitHourToSecond
	UnitMinute
	UnitMinuteToSecond
	UnitSecond
)

// Phys is the physical form of a type's values in a column.
type Phys uint8

// Physical forms. See package batch for the vector that holds each.
const (
	PhysNone    Phys = iota
	PhysBool         // BOOLEAN: bool
	PhysI8           // TINYINT: int8
	PhysI16          // SMALLINT: int16
	PhysI32          // INT, DATE (days), TIME (ms of the day), INTERVAL YEAR/MONTH (months): int32
	PhysI64          // BIGINT, DECIMAL(p<=18) (unscaled), TIMESTAMP[_LTZ](p<=3) (ms), INTERVAL DAY..SECOND (ms): int64
	PhysF32          // FLOAT: float32
	PhysF64          // DOUBLE: float64
	PhysI128         // DECIMAL(p>18) (unscaled): Int128
	PhysTS           // TIMESTAMP[_LTZ](p>3): TS
	PhysBytes        // CHAR, VARCHAR (UTF-8; a lone surrogate as its three bytes), BINARY, VARBINARY
	PhysList         // ARRAY
	PhysMap          // MAP; MULTISET as a map from element to INT count
	PhysRow          // ROW
	PhysNull         // NULL: no values
	PhysObjects      // Objects
)

// Phys returns the physical form of t's values.
func (t Type) Phys() Phys {
	switch t.Kind {
	case Boolean:
		return PhysBool
	case TinyInt:
		return PhysI8
	case SmallInt:
		return PhysI16
	case Int, Date, Time, IntervalYM:
		return PhysI32
	case BigInt, IntervalDS:
		return PhysI64
	case Decimal:
		if t.Precision <= 18 {
			return PhysI64
		}
		return PhysI128
	case Timestamp, TimestampLTZ:
		if t.Precision <= 3 {
			return PhysI64
		}
		return PhysTS
	case Float:
		return PhysF32
	case Double:
		return PhysF64
	case Char, Varchar, Binary, Varbinary:
		return PhysBytes
	case Array:
		return PhysList
	case Map, Multiset:
		return PhysMap
	case Row:
		return PhysRow
	case Null:
		return PhysNull
	case Objects:
		return PhysObjects
	}
	return PhysNone
}

// Constructors. Each gives a nullable type, Flink's default; use NotNull for
// the other.

// Of returns the nullable type of a kind without parameters.
func Of(k Kind) Type { return Type{Kind: k, Nullable: true} }

// StringType is STRING, that is VARCHAR(2147483647).
func StringType() Type { return Type{Kind: Varchar, Nullable: true, Length: MaxLength} }

// BytesType is BYTES, that is VARBINARY(2147483647).
func BytesType() Type { return Type{Kind: Varbinary, Nullable: true, Length: MaxLength} }

// CharOf returns CHAR(n), VARCHAR(n), BINARY(n) or VARBINARY(n), by kind.
func CharOf(k Kind, n int) Type { return Type{Kind: k, Nullable: true, Length: int32(n)} }

// DecimalOf returns DECIMAL(p, s).
func DecimalOf(p, s int) Type {
	return Type{Kind: Decimal, Nullable: true, Precision: uint8(p), Scale: uint8(s)}
}

// TimeOf returns TIME(p), TIMESTAMP(p) or TIMESTAMP_LTZ(p), by kind.
func TimeOf(k Kind, p int) Type { return Type{Kind: k, Nullable: true, Precision: uint8(p)} }

// ArrayOf returns ARRAY<elem>.
func ArrayOf(elem Type) Type { return Type{Kind: Array, Nullable: true, Elem: &elem} }

// MultisetOf returns MULTISET<elem>.
func MultisetOf(elem Type) Type { return Type{Kind: Multiset, Nullable: true, Elem: &elem} }

// MapOf returns MAP<key, val>.
func MapOf(key, val Type) Type { return Type{Kind: Map, Nullable: true, Key: &key, Elem: &val} }

// RowOf returns ROW<fields...>.
func RowOf(fields ...Field) Type { return Type{Kind: Row, Nullable: true, Fields: fields} }

// WithNull returns t with the given nullability.
func (t Type) WithNull(nullable bool) Type { t.Nullable = nullable; return t }

// NotNull returns t NOT NULL.
func (t Type) NotNull() Type { t.Nullable = false; return t }

// Plain returns t without its time attribute.
func (t Type) Plain() Type { t.Attr = NoTime; return t }

// IsValid reports whether t is a type at all.
func (t Type) IsValid() bool { return t.Kind != Invalid }

// IsInteger reports whether t is TINYINT to BIGINT.
func (t Type) IsInteger() bool { return t.Kind >= TinyInt && t.Kind <= BigInt }

// IsExact reports whether t is an integer or a DECIMAL.
func (t Type) IsExact() bool { return t.IsInteger() || t.Kind == Decimal }

// IsApprox reports whether t is FLOAT or DOUBLE.
func (t Type) IsApprox() bool { return t.Kind == Float || t.Kind == Double }

// IsNumeric reports whether t is a number.
func (t Type) IsNumeric() bool { return t.IsExact() || t.IsApprox() }

// IsChar reports whether t is CHAR or VARCHAR.
func (t Type) IsChar() bool { return t.Kind == Char || t.Kind == Varchar }

// IsBinary reports whether t is BINARY or VARBINARY.
func (t Type) IsBinary() bool { return t.Kind == Binary || t.Kind == Varbinary }

// IsTimestamp reports whether t is TIMESTAMP or TIMESTAMP_LTZ.
func (t Type) IsTimestamp() bool { return t.Kind == Timestamp || t.Kind == TimestampLTZ }

// IsDatetime reports whether t is a date, a time or a timestamp.
func (t Type) IsDatetime() bool { return t.Kind == Date || t.Kind == Time || t.IsTimestamp() }

// IsInterval reports whether t is an interval.
func (t Type) IsInterval() bool { return t.Kind == IntervalYM || t.Kind == IntervalDS }

// IsNested reports whether values of t hold other values.
func (t Type) IsNested() bool {
	return t.Kind == Array || t.Kind == Map || t.Kind == Multiset || t.Kind == Row
}

// Equal reports whether t and u are the same type, nullability included at
// every depth; time attributes, comments and interval ranges do not count.
func (t Type) Equal(u Type) bool { return t.Nullable == u.Nullable && t.Same(u) }

// Same is Equal without the outermost nullability.
func (t Type) Same(u Type) bool {
	if t.Kind != u.Kind || t.Length != u.Length || len(t.Fields) != len(u.Fields) {
		return false
	}
	if !t.IsInterval() && (t.Precision != u.Precision || t.Scale != u.Scale) {
		return false
	}
	if !samePtr(t.Elem, u.Elem) || !samePtr(t.Key, u.Key) {
		return false
	}
	for i := range t.Fields {
		if t.Fields[i].Name != u.Fields[i].Name || !t.Fields[i].Type.Equal(u.Fields[i].Type) {
			return false
		}
	}
	return true
}

func samePtr(a, b *Type) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(*b)
}

var kindNames = [...]string{
	Invalid: "INVALID", Null: "NULL", Boolean: "BOOLEAN", TinyInt: "TINYINT", SmallInt: "SMALLINT",
	Int: "INT", BigInt: "BIGINT", Float: "FLOAT", Double: "DOUBLE", Decimal: "DECIMAL", Char: "CHAR",
	Varchar: "VARCHAR", Binary: "BINARY", Varbinary: "VARBINARY", Date: "DATE", Time: "TIME",
	Timestamp: "TIMESTAMP", TimestampLTZ: "TIMESTAMP_LTZ", IntervalYM: "INTERVAL", IntervalDS: "INTERVAL",
	Array: "ARRAY", Map: "MAP", Multiset: "MULTISET", Row: "ROW", Symbol: "SYMBOL",
	Descriptor: "DESCRIPTOR", Variant: "VARIANT", Bitmap: "BITMAP", Objects: "OBJECTS",
}

// String returns the kind's SQL name.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "KIND(" + strconv.Itoa(int(k)) + ")"
}

// String prints t as Flink's DESCRIBE does: STRING, DECIMAL(10, 2),
// ROW<`a` INT NOT NULL>, TIMESTAMP(3) NOT NULL. The time attribute is not part
// of it; see Describe.
func (t Type) String() string {
	var b strings.Builder
	t.write(&b)
	return b.String()
}

// Describe is String followed by the time attribute, as DESCRIBE prints it:
// TIMESTAMP(3) *ROWTIME*.
func (t Type) Describe() string {
	switch t.Attr {
	case Rowtime:
		return t.String() + " *ROWTIME*"
	case Proctime:
		return t.String() + " *PROCTIME*"
	}
	return t.String()
}

func (t Type) write(b *strings.Builder) {
	switch t.Kind {
	case Char, Binary:
		b.WriteString(t.Kind.String() + "(" + strconv.Itoa(int(t.Length)) + ")")
	case Varchar, Varbinary:
		switch {
		case t.Length != MaxLength:
			b.WriteString(t.Kind.String() + "(" + strconv.Itoa(int(t.Length)) + ")")
		case t.Kind == Varchar:
			b.WriteString("STRING")
		default:
			b.WriteString("BYTES")
		}
	case Decimal:
		b.WriteString("DECIMAL(" + strconv.Itoa(int(t.Precision)) + ", " + strconv.Itoa(int(t.Scale)) + ")")
	case Time, Timestamp, TimestampLTZ:
		b.WriteString(t.Kind.String() + "(" + strconv.Itoa(int(t.Precision)) + ")")
	case IntervalYM, IntervalDS:
		b.WriteString("INTERVAL " + t.Unit.format(int(t.Precision), int(t.Scale)))
	case Array, Multiset:
		b.WriteString(t.Kind.String() + "<")
		t.Elem.write(b)
		b.WriteByte('>')
	case Map:
		b.WriteString("MAP<")
		t.Key.write(b)
		b.WriteString(", ")
		t.Elem.write(b)
		b.WriteByte('>')
	case Row:
		b.WriteString("ROW<")
		for i, f := range t.Fields {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString("`" + strings.ReplaceAll(f.Name, "`", "``") + "` ")
			f.Type.write(b)
		}
		b.WriteByte('>')
	default:
		b.WriteString(t.Kind.String())
	}
	if !t.Nullable && t.Kind != Null {
		b.WriteString(" NOT NULL")
	}
}

// format prints an interval's range with its precisions, as Flink does:
// DAY(2) TO SECOND(6), YEAR(4) TO MONTH, SECOND(3).
func (u IntervalUnit) format(precision, scale int) string {
	p := "(" + strconv.Itoa(precision) + ")"
	s := "(" + strconv.Itoa(scale) + ")"
	switch u {
	case UnitYear:
		return "YEAR" + p
	case UnitYearToMonth:
		return "YEAR" + p + " TO MONTH"
	case UnitMonth:
		return "MONTH"
	case UnitDay:
		return "DAY" + p
	case UnitDayToHour:
		return "DAY" + p + " TO HOUR"
	case UnitDayToMinute:
		return "DAY" + p + " TO MINUTE"
	case UnitDayToSecond:
		return "DAY" + p + " TO SECOND" + s
	case UnitHour:
		return "HOUR"
	case UnitHourToMinute:
		return "HOUR TO MINUTE"
	case UnitHourToSecond:
		return "HOUR TO SECOND" + s
	case UnitMinute:
		return "MINUTE"
	case UnitMinuteToSecond:
		return "MINUTE TO SECOND" + s
	case UnitSecond:
		return "SECOND" + s
	}
	return "?"
}
