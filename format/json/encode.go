package json

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/format"
	"github.com/millstream-io/millstream/format/internal/cell"
	"github.com/millstream-io/millstream/format/internal/emit"
	"github.com/millstream-io/millstream/format/internal/parse"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

// encoder implements format.Encoder.
type encoder struct {
	fields []*writer
	// names are the fields' names in quotes, with the colon.
	names       [][]byte
	iso         bool
	plain       bool
	ignoreNulls bool
	// nullKey is map-null-key.mode, nullLiteral the key for LITERAL.
	nullKey     string
	nullLiteral []byte
}

// writer writes the values of one column, field or element. It is a node whose
// vector is read.
type writer struct {
	node
	valid batch.Bitmap
	keys  *batch.Bytes
	elem  *writer
	// fields and names are those of a ROW.
	fields []*writer
	names  [][]byte
}

func newEncoder(c *format.Config) (*encoder, error) {
	if err := checkTypes(c.Physical); err != nil {
		return nil, err
	}
	e := &encoder{
		iso:         c.Options.Enum(timestampFormat) == "ISO-8601",
		plain:       c.Options.Bool(plainDecimal),
		ignoreNulls: c.Options.Bool(ignoreNulls),
		nullKey:     c.Options.Enum(nullKeyMode),
		nullLiteral: []byte(c.Options.Text(nullKeyLiteral)),
	}
	e.fields, e.names = newWriters(c.Physical.Fields, "")
	return e, nil
}

func newWriters(fields []types.Field, prefix string) (ws []*writer, names [][]byte) {
	for _, f := range fields {
		ws = append(ws, newWriter(f.Type, prefix+f.Name))
		names = append(names, append(appendString(nil, []byte(f.Name)), ':'))
	}
	return ws, names
}

func newWriter(t types.Type, path string) *writer {
	w := &writer{node: node{op: cell.OpOf(t), typ: t, path: path}}
	switch t.Kind {
	case types.Array, types.Map:
		w.elem = newWriter(*t.Elem, path)
	case types.Multiset:
		w.elem = newWriter(types.Of(types.Int).NotNull(), path)
	case types.Row:
		w.fields, w.names = newWriters(t.Fields, path+".")
	}
	return w
}

// read makes v the vector whose values are written.
func (w *writer) read(v batch.Vector) {
	w.valid = v.Validity()
	w.Set(v)
	switch v := v.(type) {
	case *batch.List:
		w.elem.read(v.Elem)
	case *batch.Map:
		w.keys = v.Keys.(*batch.Bytes)
		w.elem.read(v.Vals)
	case *batch.Row:
		for i, f := range w.fields {
			f.read(v.Cols[i])
		}
	}
}

// Header implements format.Encoder.
func (e *encoder) Header() []byte { return nil }

// Updates implements format.Encoder.
func (e *encoder) Updates() bool { return false }

// Encode implements format.Encoder.
func (e *encoder) Encode(buf []byte, b *batch.Batch) ([]byte, error) {
	for i, w := range e.fields {
		w.read(b.Cols[i])
	}
	var err error
	for r := range b.Rows() {
		if buf, err = e.object(buf, e.fields, e.names, b.At(r)); err != nil {
			return buf, err
		}
		buf = append(buf, '\n')
	}
	return buf, nil
}

func (e *encoder) object(buf []byte, fields []*writer, names [][]byte, i int) (_ []byte, err error) {
	buf = append(buf, '{')
	start := len(buf)
	for f, w := range fields {
		null := w.valid.IsNull(i)
		if null && e.ignoreNulls {
			continue
		}
		if len(buf) > start {
			buf = append(buf, ',')
		}
		buf = append(buf, names[f]...)
		if null {
			buf = append(buf, "null"...)
			continue
		}
		if buf, err = e.value(buf, w, i); err != nil {
			return buf, err
		}
	}
	return append(buf, '}'), nil
}

// value appends value i, which is not null.
func (e *encoder) value(buf []byte, w *writer, i int) ([]byte, error) {
	switch w.op {
	case cell.I64:
		return strconv.AppendInt(buf, w.I64.Values[i], 10), nil
	case cell.I32:
		return strconv.AppendInt(buf, int64(w.I32.Values[i]), 10), nil
	case cell.Text:
		return appendString(buf, w.Text.At(i)), nil
	case cell.Row:
		return e.object(buf, w.fields, w.names, i)
	case cell.List:
		return e.array(buf, w, i)
	case cell.Map:
		return e.mapping(buf, w, i)
	}
	return e.scalar(buf, w, i), nil
}

func (e *encoder) scalar(buf []byte, w *writer, i int) []byte {
	switch w.op {
	case cell.Bool:
		return strconv.AppendBool(buf, w.Bool.Values[i])
	case cell.I8:
		return strconv.AppendInt(buf, int64(w.I8.Values[i]), 10)
	case cell.I16:
		return strconv.AppendInt(buf, int64(w.I16.Values[i]), 10)
	case cell.F32:
		f := w.F32.Values[i]
		return quoteUnless(finite(float64(f)), buf, text.AppendFloat(buf, f))
	case cell.F64:
		f := w.F64.Values[i]
		return quoteUnless(finite(f), buf, text.AppendDouble(buf, f))
	case cell.Dec64:
		return e.decimal(buf, w, types.Int128FromInt64(w.I64.Values[i]))
	case cell.Dec128:
		return e.decimal(buf, w, w.Dec.Values[i])
	case cell.Binary:
		buf = append(buf, '"')
		buf = emit.Base64(buf, w.Text.At(i))
		return append(buf, '"')
	case cell.Null:
		return append(buf, "null"...)
	}
	buf = append(buf, '"')
	switch w.op {
	case cell.Date:
		buf = emit.Date(buf, int(w.I32.Values[i]))
	case cell.Time:
		buf = emit.Clock(buf, int(w.I32.Values[i]), 0)
	case cell.TS64:
		buf = e.timestamp(buf, w, types.TS{Ms: w.I64.Values[i]})
	case cell.TS:
		buf = e.timestamp(buf, w, w.TS.Values[i])
	}
	return append(buf, '"')
}

func (e *encoder) timestamp(buf []byte, w *writer, ts types.TS) []byte {
	sep := byte(' ')
	if e.iso {
		sep = 'T'
	}
	buf = emit.Timestamp(buf, ts, sep)
	if w.typ.Kind == types.TimestampLTZ {
		buf = append(buf, 'Z')
	}
	return buf
}

func (e *encoder) decimal(buf []byte, w *writer, v types.Int128) []byte {
	if e.plain {
		return v.AppendDecimal(buf, int(w.typ.Scale))
	}
	return emit.Decimal(buf, v, int(w.typ.Scale), false)
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

// quoteUnless puts what was appended to before in quotes, unless it is plain.
func quoteUnless(plain bool, before, after []byte) []byte {
	if plain {
		return after
	}
	after = append(after, '"', '"')
	n := len(before)
	copy(after[n+1:], after[n:len(after)-2])
	after[n] = '"'
	return after
}

func (e *encoder) array(buf []byte, w *writer, i int) (_ []byte, err error) {
	buf = append(buf, '[')
	for k := w.List.Offsets[i]; k < w.List.Offsets[i+1]; k++ {
		if k > w.List.Offsets[i] {
			buf = append(buf, ',')
		}
		if buf, err = e.element(buf, w.elem, int(k)); err != nil {
			return buf, err
		}
	}
	return append(buf, ']'), nil
}

func (e *encoder) element(buf []byte, w *writer, k int) ([]byte, error) {
	if w.valid.IsNull(k) {
		return append(buf, "null"...), nil
	}
	return e.value(buf, w, k)
}

func (e *encoder) mapping(buf []byte, w *writer, i int) (_ []byte, err error) {
	buf = append(buf, '{')
	start := len(buf)
	from, to := int(w.Map.Offsets[i]), int(w.Map.Offsets[i+1])
	for k := from; k < to; k++ {
		key := e.nullLiteral
		if !w.keys.Valid.IsNull(k) {
			key = w.keys.At(k)
		} else if e.nullKey == "DROP" || e.nullKey == "LITERAL" && hasMapKey(w.keys, from, to, key) {
			// A key that is there already wins over the literal.
			continue
		} else if e.nullKey == "FAIL" {
			return buf, fmt.Errorf("column %q: a map has a NULL key, which JSON cannot hold; "+
				"set 'json.map-null-key.mode' to 'DROP' or 'LITERAL'", w.path)
		}
		if len(buf) > start {
			buf = append(buf, ',')
		}
		buf = append(appendString(buf, key), ':')
		if buf, err = e.element(buf, w.elem, k); err != nil {
			return buf, err
		}
	}
	return append(buf, '}'), nil
}

func hasMapKey(keys *batch.Bytes, from, to int, key []byte) bool {
	for k := from; k < to; k++ {
		if !keys.Valid.IsNull(k) && string(keys.At(k)) == string(key) {
			return true
		}
	}
	return false
}

// appendString appends s in quotes, as Flink's writer does: characters beyond
// the basic plane are escaped as pairs of surrogates.
func appendString(buf, s []byte) []byte { return appendEscaped(buf, s, true) }

// appendQuoted is appendString without that.
func appendQuoted(buf, s []byte) []byte { return appendEscaped(buf, s, false) }

func appendEscaped(buf, s []byte, pairs bool) []byte {
	buf = append(buf, '"')
	for len(s) > 0 {
		n := plainPrefix(s)
		buf = append(buf, s[:n]...)
		if s = s[n:]; len(s) == 0 {
			break
		}
		c := s[0]
		if c < utf8.RuneSelf {
			buf = appendEscape(buf, c)
			s = s[1:]
			continue
		}
		r, size := utf8.DecodeRune(s)
		switch {
		case size == 1 && parse.IsSurrogate(s):
			r, size = 0xD000|rune(s[1]&0x3F)<<6|rune(s[2]&0x3F), 3
			buf = appendUnit(buf, r)
		case size == 1:
			buf = append(buf, "\uFFFD"...)
		case r > 0xFFFF && pairs:
			r -= 0x10000
			buf = appendUnit(buf, 0xD800|r>>10)
			buf = appendUnit(buf, 0xDC00|r&0x3FF)
		default:
			buf = append(buf, s[:size]...)
		}
		s = s[size:]
	}
	return append(buf, '"')
}

// plainPrefix returns how many bytes of s, to begin with, are ASCII that needs
// no escape.
func plainPrefix(s []byte) int {
	p := 0
	for p+8 <= len(s) {
		w := binary.LittleEndian.Uint64(s[p:])
		x, y := w^lows*'"', w^lows*'\\'
		if ((x-lows)&^x|(y-lows)&^y|(w-lows*0x20)|w)&highs != 0 {
			break
		}
		p += 8
	}
	for p < len(s) && s[p] >= ' ' && s[p] != '"' && s[p] != '\\' && s[p] < utf8.RuneSelf {
		p++
	}
	return p
}

const hexDigits = "0123456789ABCDEF"

func appendEscape(buf []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(buf, '\\', c)
	case '\b':
		return append(buf, '\\', 'b')
	case '\f':
		return append(buf, '\\', 'f')
	case '\n':
		return append(buf, '\\', 'n')
	case '\r':
		return append(buf, '\\', 'r')
	case '\t':
		return append(buf, '\\', 't')
	}
	return appendUnit(buf, rune(c))
}

func appendUnit(buf []byte, r rune) []byte {
	return append(buf, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}
