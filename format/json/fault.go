package json

import (
	"fmt"

	"github.com/millstream-io/millstream/format"
	"github.com/millstream-io/millstream/format/internal/column"
	"github.com/millstream-io/millstream/format/internal/parse"
	"github.com/millstream-io/millstream/internal/text/cell"
)

// faultKind is what is wrong with a record.
type faultKind uint8

const (
	badValue faultKind = iota
	noNull
	noField
	noObject
	// The rest are faults of syntax.
	wantValue
	wantComma
	wantKey
	wantColon
	unterminated
	badEscape
	badNumber
	badKey
	tooDeep
	trailing
)

// fault is what is wrong with a record; its words are made when they are
// needed.
type fault struct {
	kind     faultKind
	why      parse.Fault
	node     *node
	name     string
	from, to int
}

// syntax notes a fault of syntax at p and returns -1.
func (d *decoder) syntax(p int, kind faultKind) int {
	d.fault = fault{kind: kind, from: p}
	return -1
}

// nullFor notes that a field that is NOT NULL has no value.
func (d *decoder) nullFor(n *node) { d.fault = fault{kind: noNull, node: n} }

// err puts the fault of the record b[:end] into words.
func (f *fault) err(b []byte, end int) *format.RecordError {
	e := &format.RecordError{Hint: "set 'json.ignore-parse-errors' = 'true' to skip such records"}
	switch f.kind {
	case badValue:
		if !f.node.notNull {
			e.Hint = "set 'json.ignore-parse-errors' = 'true' to read NULL instead"
		}
		if (f.node.op == cell.TS64 || f.node.op == cell.TS) && f.why == parse.Form {
			e.Hint = "the form is 2024-01-02 03:04:05, or 2024-01-02T03:04:05 with 'json.timestamp-format.standard' = 'ISO-8601'" +
				zuluHint(f.node.zulu) + "; " + e.Hint
		}
		e.Msg = fmt.Sprintf("column %q: %s", f.node.path, column.Describe(column.Cut(b[f.from:f.to]), f.node.typ, f.why))
	case noNull:
		e.Msg = fmt.Sprintf("column %q is NOT NULL, but the record has no value for it", f.node.path)
	case noField:
		e.Msg = fmt.Sprintf("column %q: field %q is missing", f.node.path, f.name)
		e.Hint = "set 'json.fail-on-missing-field' = 'false' to read NULL instead"
	case noObject:
		e.Msg = fmt.Sprintf("%s is no JSON object", column.Cut(b[f.from:f.to]))
	default:
		e.Msg = "the record is not valid JSON: " + f.words(b, end)
	}
	return e
}

// zuluHint says what a TIMESTAMP_LTZ needs.
func zuluHint(zulu bool) string {
	if zulu {
		return ", with a Z behind it"
	}
	return ""
}

// words says what is wrong with the syntax, and where.
func (f *fault) words(b []byte, end int) string {
	at := fmt.Sprintf(" at character %d", f.from+1)
	switch f.kind {
	case unterminated:
		return "the string that begins" + at + " has no end"
	case badEscape:
		return "unknown escape sequence" + at
	case badNumber:
		return column.Cut(b[f.from:tokenEnd(b, f.from, end)]) + at + " is no number"
	case badKey:
		return "the name" + at + " is not valid UTF-8"
	case tooDeep:
		return fmt.Sprintf("arrays and objects are nested more than %d deep%s", maxDepth, at)
	}
	found := "the record ends"
	if f.from < end {
		found = "unexpected " + column.Cut(b[f.from:tokenEnd(b, f.from, end)])
	}
	found += at
	switch f.kind {
	case wantValue:
		return found + " instead of a value"
	case wantKey:
		return found + " instead of a field's name in quotes"
	case wantColon:
		return found + " instead of a colon"
	case trailing:
		return found + " behind the end of the value"
	}
	return found + " instead of a comma or a closing bracket"
}

// tokenEnd returns where the word or the single character at p ends.
func tokenEnd(b []byte, p, end int) int {
	q := p
	for q < end && (b[q]-'0' <= 9 || b[q]|0x20 >= 'a' && b[q]|0x20 <= 'z' || b[q] >= 0x80 || b[q] == '.' || b[q] == '-' || b[q] == '+') {
		q++
	}
	return max(q, min(p+1, end))
}
