package csv

import (
	"fmt"

	"github.com/millstream-io/millstream/format"
	"github.com/millstream-io/millstream/format/internal/column"
	"github.com/millstream-io/millstream/format/internal/parse"
)

type faultKind uint8

const (
	badValue faultKind = iota
	noNull
	rowLength
	tooFew
	tooMany
	behindQuote
	openQuote
)

// fault is what is wrong with a record; its words are made when they are
// needed.
type fault struct {
	kind  faultKind
	why   parse.Fault
	field *field
	text  []byte
	// n is a number of fields.
	n int
}

// err puts a fault into words.
func (d *decoder) err(f fault) *format.RecordError {
	e := &format.RecordError{Hint: "set 'csv.ignore-parse-errors' = 'true' to skip such records"}
	switch f.kind {
	case badValue:
		switch {
		case f.field.notNull:
		case len(f.text) == 0:
			e.Hint = "set 'csv.null-literal' = '' to read empty fields as NULL"
		default:
			e.Hint = "set 'csv.ignore-parse-errors' = 'true' to read NULL instead"
		}
		e.Msg = fmt.Sprintf("column %q: %s", f.field.name, column.Describe(`"`+column.Cut(f.text)+`"`, f.field.typ, f.why))
	case noNull:
		e.Msg = fmt.Sprintf("column %q is NOT NULL, but the record has no value for it", f.field.name)
	case rowLength:
		e.Msg = fmt.Sprintf("column %q: %q has %d fields, but its type %s has %d", f.field.name, column.Cut(f.text), f.n,
			f.field.typ.WithNull(true), len(f.field.elems))
	case tooFew:
		e.Msg = fmt.Sprintf("the line has too few fields: %d, not %d", f.n, len(d.fields))
		e.Hint = "set 'csv.ignore-parse-errors' = 'true' to read NULL for those that are missing"
	case tooMany:
		e.Msg = fmt.Sprintf("the line has more than %d fields: %q is one too many", len(d.fields), column.Cut(f.text))
	case behindQuote:
		e.Msg = fmt.Sprintf("%q stands between the closing quote of field %d and the next delimiter", column.Cut(f.text), f.n)
	case openQuote:
		e.Msg = fmt.Sprintf("the quote that begins field %d is never closed: %s", f.n, column.Cut(f.text))
		e.Hint = "quotes within a field must be doubled; if quotes mean nothing here, set 'csv.disable-quote-character' = 'true'"
	}
	return e
}
