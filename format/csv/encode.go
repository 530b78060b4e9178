package csv

import (
	"bytes"
	"strconv"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/format"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/internal/text/cell"
	"github.com/millstream-io/millstream/internal/text/emit"
	"github.com/millstream-io/millstream/types"
)

// encoder implements format.Encoder.
type encoder struct {
	dialect
	fields []*field
	names  []string
	plain  bool
	// unsafe marks the ASCII characters that put a text in quotes. Flink's
	// writer takes all up to the delimiter or the quote character.
	unsafe [128]bool
	text   []byte
}

// longText is the number of UTF-16 units from which on Flink's writer puts a
// text in quotes without looking at it.
const longText = 25

func newEncoder(c *format.Config) (*encoder, error) {
	if err := checkTypes(c.Physical); err != nil {
		return nil, err
	}
	di, err := newDialect(c.Options)
	if err != nil {
		return nil, err
	}
	e := &encoder{dialect: *di, plain: !c.Options.Bool(scientific), names: c.Physical.Names()}
	for i, f := range c.Physical.Fields {
		e.fields = append(e.fields, newField(f.Name, f.Type, i))
	}
	limit := max('\n', rune(e.quote), bytes.Runes(e.delim)[0])
	for i := range e.unsafe {
		e.unsafe[i] = rune(i) <= limit || i == '\\' || i == e.escape
	}
	return e, nil
}

// Header implements format.Encoder.
func (e *encoder) Header() []byte {
	if e.header == "false" {
		return nil
	}
	var buf []byte
	for i, n := range e.names {
		if i > 0 {
			buf = append(buf, e.delim...)
		}
		buf = e.quoted(buf, []byte(n))
	}
	return append(buf, '\n')
}

// Updates implements format.Encoder.
func (e *encoder) Updates() bool { return false }

// Encode implements format.Encoder.
func (e *encoder) Encode(buf []byte, b *batch.Batch) ([]byte, error) {
	for i, f := range e.fields {
		f.bind(b.Cols[i])
	}
	for r := range b.Rows() {
		i := b.At(r)
		for k, f := range e.fields {
			if k > 0 {
				buf = append(buf, e.delim...)
			}
			buf = e.field(buf, f, i)
		}
		buf = append(buf, '\n')
	}
	return buf, nil
}

// field appends one field of a line. Numbers are never in quotes.
func (e *encoder) field(buf []byte, f *field, i int) []byte {
	if f.Vec.Validity().IsNull(i) {
		return append(buf, e.null...)
	}
	switch f.op {
	case cell.I64:
		return strconv.AppendInt(buf, f.I64.Values[i], 10)
	case cell.I32:
		return strconv.AppendInt(buf, int64(f.I32.Values[i]), 10)
	case cell.Text:
		return e.quoted(buf, f.Text.At(i))
	case cell.Binary, cell.Date, cell.Time, cell.TS64, cell.TS:
		e.text = e.simple(e.text[:0], f, i)
		return e.quoted(buf, e.text)
	case cell.List:
		e.text = e.text[:0]
		for k := f.List.Offsets[i]; k < f.List.Offsets[i+1]; k++ {
			e.element(f.elems[0], int(k), k > f.List.Offsets[i])
		}
		return e.quoted(buf, e.text)
	case cell.Row:
		e.text = e.text[:0]
		for k, c := range f.elems {
			e.element(c, i, k > 0)
		}
		return e.quoted(buf, e.text)
	}
	return e.simple(buf, f, i)
}

// element appends an element of an ARRAY or ROW to the text of the field.
func (e *encoder) element(f *field, i int, more bool) {
	if more {
		e.text = append(e.text, e.arrayDelim...)
	}
	if f.Vec.Validity().IsNull(i) {
		e.text = append(e.text, e.null...)
		return
	}
	e.text = e.simple(e.text, f, i)
}

// simple appends a simple value that is not null.
func (e *encoder) simple(buf []byte, f *field, i int) []byte {
	switch f.op {
	case cell.Text:
		return append(buf, f.Text.At(i)...)
	case cell.Bool:
		return strconv.AppendBool(buf, f.Bool.Values[i])
	case cell.I8:
		return strconv.AppendInt(buf, int64(f.I8.Values[i]), 10)
	case cell.I16:
		return strconv.AppendInt(buf, int64(f.I16.Values[i]), 10)
	case cell.I32:
		return strconv.AppendInt(buf, int64(f.I32.Values[i]), 10)
	case cell.I64:
		return strconv.AppendInt(buf, f.I64.Values[i], 10)
	case cell.F32:
		return text.AppendFloat(buf, f.F32.Values[i])
	case cell.F64:
		return text.AppendDouble(buf, f.F64.Values[i])
	case cell.Dec64:
		return emit.Decimal(buf, types.Int128FromInt64(f.I64.Values[i]), int(f.typ.Scale), e.plain)
	case cell.Dec128:
		return emit.Decimal(buf, f.Dec.Values[i], int(f.typ.Scale), e.plain)
	case cell.Binary:
		return emit.Base64(buf, f.Text.At(i))
	case cell.Date:
		return emit.Date(buf, int(f.I32.Values[i]))
	case cell.Time:
		return emit.Clock(buf, int(f.I32.Values[i]), 0)
	case cell.TS64:
		return zulu(emit.Timestamp(buf, types.TS{Ms: f.I64.Values[i]}, ' '), f)
	case cell.TS:
		return zulu(emit.Timestamp(buf, f.TS.Values[i], ' '), f)
	}
	return buf
}

func zulu(buf []byte, f *field) []byte {
	if f.typ.Kind == types.TimestampLTZ {
		return append(buf, 'Z')
	}
	return buf
}

// quoted appends a text, in quotes if it needs them.
func (e *encoder) quoted(buf, s []byte) []byte {
	if e.quote == none || !e.needsQuotes(s) {
		return append(buf, s...)
	}
	q := byte(e.quote)
	buf = append(buf, q)
	for {
		i := bytes.IndexByte(s, q)
		if e.escape != none {
			if j := bytes.IndexByte(s, byte(e.escape)); j >= 0 && (i < 0 || j < i) {
				i = j
			}
		}
		if i < 0 {
			break
		}
		buf = append(append(buf, s[:i+1]...), s[i])
		s = s[i+1:]
	}
	return append(append(buf, s...), q)
}

func (e *encoder) needsQuotes(s []byte) bool {
	// No character takes more than three bytes a unit.
	if len(s) >= 3*longText || len(s) >= longText && text.UTF16Len(s) >= longText {
		return true
	}
	for _, c := range s {
		if c < 128 && e.unsafe[c] {
			return true
		}
	}
	return bytes.Contains(s, e.delim)
}
