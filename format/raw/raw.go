// Package raw is the format of one value a line: the line as it is for STRING
// and BYTES, the bytes of the number for numeric types.
package raw

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/format"
	"github.com/millstream-io/millstream/format/internal/parse"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

// Def defines the format.
var Def = &format.Def{
	Name: "raw",
	Doc:  "One column, and one value of it a line: the line as it is for STRING and BYTES, the bytes of the number for numeric types.",
	Options: []format.Option{
		{Name: charsetName, Default: "UTF-8", Doc: "The character set of STRING: " + charsetNames + "."},
		{Name: endianness, Kind: format.Enum, Default: "big-endian", Values: []string{"big-endian", "little-endian"},
			Doc: "The order of the bytes of a number."},
	},
	Splittable: func(o *format.Options) bool {
		c, err := charsetOf(o.Text(charsetName))
		return err == nil && !c.wide()
	},
	NewDecoder: func(c *format.Config) (format.Decoder, error) { return newCodec(c) },
	NewEncoder: func(c *format.Config) (format.Encoder, error) { return newCodec(c) },
}

const (
	charsetName = "charset"
	endianness  = "endianness"
)

// ReplacedTexts counts texts with bytes that the character set does not have;
// U+FFFD stands for them.
const ReplacedTexts = "replaced_texts"

func init() { format.Register(Def) }

// codec implements format.Decoder and format.Encoder.
type codec struct {
	name   string
	typ    types.Type
	wanted bool
	chars  charset
	little bool
	count  func(string, int64)
	at     int
}

func newCodec(c *format.Config) (*codec, error) {
	if n := len(c.Physical.Fields); n != 1 {
		return nil, fmt.Errorf("format 'raw' holds a single column, but the table has %d: %s", n, strings.Join(c.Physical.Names(), ", "))
	}
	f := c.Physical.Fields[0]
	switch f.Type.Kind {
	case types.Char, types.Varchar, types.Binary, types.Varbinary, types.Boolean, types.TinyInt, types.SmallInt,
		types.Int, types.BigInt, types.Float, types.Double:
	default:
		return nil, fmt.Errorf("column %q: format 'raw' has no form for type %s", f.Name, f.Type.WithNull(true))
	}
	chars, err := charsetOf(c.Options.Text(charsetName))
	if err != nil {
		return nil, err
	}
	return &codec{name: f.Name, typ: f.Type, wanted: len(c.Wanted) > 0, chars: chars,
		little: c.Options.Enum(endianness) == "little-endian", count: c.Count}, nil
}

// Offset implements format.Located.
func (c *codec) Offset() int { return c.at }

// Decode implements format.Decoder.
func (c *codec) Decode(data []byte, atEOF bool, dst *batch.Batch, max int) (used, records int, err error) {
	for ; used < len(data) && records < max; records++ {
		line, next := data[used:], len(data)
		if nl := bytes.IndexByte(line, '\n'); nl >= 0 {
			line, next = line[:nl], used+nl+1
		} else if !atEOF {
			break
		}
		c.at = used
		if n := len(line); n > 0 && line[n-1] == '\r' {
			line = line[:n-1]
		}
		if err = c.add(line, dst); err != nil {
			re := err.(*format.RecordError)
			re.Record, re.Line = records, bytes.Count(data[:used], []byte{'\n'})
			return next, records + 1, err
		}
		used = next
	}
	return used, records, nil
}

// DecodeMessage implements format.Decoder.
func (c *codec) DecodeMessage(msg []byte, dst *batch.Batch) error { return c.add(msg, dst) }

// add appends one row.
func (c *codec) add(line []byte, dst *batch.Batch) error {
	if c.wanted {
		if f := c.value(line, dst.Cols[0]); f != parse.OK {
			return &format.RecordError{Msg: fmt.Sprintf("column %q: the value has %d bytes, but %s has %d", c.name, len(line),
				c.typ.WithNull(true), c.width()), Hint: "format 'raw' takes numbers as bytes, not as text; for text, declare STRING and cast"}
		}
	}
	dst.SetSize(dst.Size() + 1)
	return nil
}

// width is the number of bytes of a value of fixed size.
func (c *codec) width() int {
	switch c.typ.Kind {
	case types.Boolean, types.TinyInt:
		return 1
	case types.SmallInt:
		return 2
	case types.Int, types.Float:
		return 4
	}
	return 8
}

func (c *codec) value(b []byte, v batch.Vector) parse.Fault {
	if v, ok := v.(*batch.Bytes); ok {
		if !c.typ.IsChar() {
			v.Append(b)
			return parse.OK
		}
		var replaced bool
		v.Data, replaced = c.chars.appendText(v.Data, b)
		v.Close()
		if replaced && c.count != nil {
			c.count(ReplacedTexts, 1)
		}
		return parse.OK
	}
	if len(b) != c.width() {
		return parse.Form
	}
	c.number(b, v)
	return parse.OK
}

// Header implements format.Encoder.
func (c *codec) Header() []byte { return nil }

// Updates implements format.Encoder.
func (c *codec) Updates() bool { return false }

// Encode implements format.Encoder. A NULL has no form in this format.
func (c *codec) Encode(buf []byte, b *batch.Batch) ([]byte, error) {
	v := b.Cols[0]
	valid := v.Validity()
	for r := range b.Rows() {
		i := b.At(r)
		if valid.IsNull(i) {
			return buf, fmt.Errorf("column %q: format 'raw' cannot write NULL; leave such rows out or replace it with COALESCE", c.name)
		}
		switch v := v.(type) {
		case *batch.Bytes:
			if c.typ.IsChar() {
				buf = c.chars.appendBytes(buf, v.At(i))
			} else {
				buf = append(buf, v.At(i)...)
			}
		default:
			buf = c.appendNumber(buf, v, i)
		}
		buf = append(buf, '\n')
	}
	return buf, nil
}

// appendValid appends text, with U+FFFD for what is not UTF-8.
func appendValid(buf, b []byte) ([]byte, bool) {
	if utf8.Valid(b) {
		return append(buf, b...), false
	}
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && text.IsSurrogate(b) {
			n = 3
		}
		buf = utf8.AppendRune(buf, r)
		b = b[n:]
	}
	return buf, true
}
