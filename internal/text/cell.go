package text

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// AppendCell appends value pos of v as a cell of a test script: as Append does,
// in quotes where it could be taken for something else.
func (f *Form) AppendCell(buf []byte, v batch.Vector, pos int) []byte {
	if v.Validity().IsNull(pos) {
		return append(buf, "NULL"...)
	}
	at := len(buf)
	buf = f.Append(buf, v, pos)
	switch v.Type().Phys() {
	case types.PhysBytes, types.PhysList, types.PhysMap, types.PhysRow:
		if s := buf[at:]; needsQuotes(s) {
			quoted := AppendQuoted(nil, s)
			return append(buf[:at], quoted...)
		}
	}
	return buf
}

// needsQuotes reports whether a cell must stand in quotes.
func needsQuotes(s []byte) bool {
	if len(s) == 0 || string(s) == "NULL" {
		return true
	}
	first, _ := utf8.DecodeRune(s)
	last, _ := utf8.DecodeLastRune(s)
	if isEdge(first) || isEdge(last) || bytes.Contains(s, []byte(" | ")) {
		return true
	}
	for len(s) > 0 {
		r, size := decode(s)
		if mustEscape(r) {
			return true
		}
		s = s[size:]
	}
	return false
}

func isEdge(r rune) bool {
	return r == '\'' || r == '|' || unicode.IsSpace(r) || unicode.Is(unicode.Z, r)
}

// mustEscape reports whether a character cannot stand for itself in quotes.
func mustEscape(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r >= 0xD800 && r < 0xE000
}

// decode is utf8.DecodeRune, but it also reads the three bytes of a lone
// surrogate.
func decode(s []byte) (r rune, size int) {
	r, size = utf8.DecodeRune(s)
	if r == utf8.RuneError && size == 1 && len(s) > 2 && s[0] == 0xED && s[1] >= 0xA0 {
		return 0xD000 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), 3
	}
	return r, size
}

// AppendQuoted appends s in single quotes, with ” for a quote and \n, \t, \\ and
// \uXXXX for what cannot stand for itself.
func AppendQuoted(buf, s []byte) []byte {
	buf = append(buf, '\'')
	for len(s) > 0 {
		r, size := decode(s)
		switch {
		case r == '\'':
			buf = append(buf, "''"...)
		case r == '\\':
			buf = append(buf, `\\`...)
		case r == '\n':
			buf = append(buf, `\n`...)
		case r == '\t':
			buf = append(buf, `\t`...)
		case mustEscape(r):
			buf = fmt.Appendf(buf, `\u%04X`, r)
		default:
			buf = append(buf, s[:size]...)
		}
		s = s[size:]
	}
	return append(buf, '\'')
}

// unquote is the inverse of AppendQuoted.
func unquote(s []byte) ([]byte, error) {
	if len(s) < 2 || s[len(s)-1] != '\'' {
		return nil, fmt.Errorf("%s does not end with a quote", s)
	}
	var out []byte
	for s = s[1 : len(s)-1]; len(s) > 0; s = s[1:] {
		switch {
		case s[0] == '\'' && len(s) > 1:
			s = s[1:]
			out = append(out, '\'')
		case s[0] != '\\':
			out = append(out, s[0])
		case len(s) < 2:
			return nil, fmt.Errorf(`a lone \ before the last quote`)
		default:
			s = s[1:]
			switch s[0] {
			case 'n':
				out = append(out, '\n')
			case 't':
				out = append(out, '\t')
			case '\\':
				out = append(out, '\\')
			case 'u':
				r, err := hex4(s)
				if err != nil {
					return nil, err
				}
				out = appendUnit(out, r)
				s = s[4:]
			default:
				return nil, fmt.Errorf(`unknown escape \%c`, s[0])
			}
		}
	}
	return out, nil
}

func hex4(s []byte) (rune, error) {
	if len(s) < 5 {
		return 0, fmt.Errorf(`\u needs four digits`)
	}
	u, err := strconv.ParseUint(string(s[1:5]), 16, 16)
	if err != nil {
		return 0, fmt.Errorf(`\u needs four hexadecimal digits, not %q`, s[1:5])
	}
	return rune(u), nil
}

// appendUnit appends a UTF-16 unit; the second half of a pair completes the
// first, a lone half stays as three bytes.
func appendUnit(out []byte, r rune) []byte {
	if n := len(out); r >= 0xDC00 && r < 0xE000 && n >= 3 && out[n-3] == 0xED && out[n-2] >= 0xA0 && out[n-2] < 0xB0 {
		high, _ := decode(out[n-3:])
		return utf8.AppendRune(out[:n-3], 0x10000+(high-0xD800)<<10+(r-0xDC00))
	}
	if r >= 0xD800 && r < 0xE000 {
		return append(out, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
	}
	return utf8.AppendRune(out, r)
}

// ParseCell appends to dst the value of a cell of a test script: what
// CAST(text AS type) reads, and nested values in the form in which they are
// printed. The error says what is wrong with the cell.
func (f *Form) ParseCell(dst batch.Vector, cell string) error {
	return f.parseCell(dst, bytes.TrimSpace([]byte(cell)))
}

func (f *Form) parseCell(dst batch.Vector, cell []byte) error {
	if string(cell) == "NULL" {
		dst.AppendNull()
		return nil
	}
	if len(cell) > 0 && cell[0] == '\'' {
		var err error
		if cell, err = unquote(cell); err != nil {
			return err
		}
	}
	switch d := dst.(type) {
	case *batch.List:
		parts, err := split(cell, '[', ']')
		if err != nil {
			return err
		}
		for _, p := range parts {
			if err := f.parseCell(d.Elem, p); err != nil {
				return err
			}
		}
		d.Close()
		return nil
	case *batch.Map:
		return f.parseMap(d, cell)
	case *batch.Row:
		return f.parseRow(d, cell)
	}
	if !f.Parse(dst, cell) {
		return fmt.Errorf("cannot read %q as %s", cell, dst.Type().WithNull(true))
	}
	return nil
}

func (f *Form) parseMap(d *batch.Map, cell []byte) error {
	parts, err := split(cell, '{', '}')
	if err != nil {
		return err
	}
	for _, p := range parts {
		eq := level(p, '=')
		if eq < 0 {
			return fmt.Errorf("no = in %q", p)
		}
		if err := f.parseCell(d.Keys, bytes.TrimSpace(p[:eq])); err != nil {
			return err
		}
		if err := f.parseCell(d.Vals, bytes.TrimSpace(p[eq+1:])); err != nil {
			return err
		}
	}
	d.Close()
	return nil
}

func (f *Form) parseRow(d *batch.Row, cell []byte) error {
	parts, err := split(cell, '(', ')')
	if err != nil {
		return err
	}
	if len(parts) != len(d.Cols) {
		return fmt.Errorf("%q has %d fields, not %d", cell, len(parts), len(d.Cols))
	}
	for i, p := range parts {
		if err := f.parseCell(d.Cols[i], p); err != nil {
			return err
		}
	}
	d.Close()
	return nil
}

// split returns the parts between brackets, divided at the commas of the top
// level.
func split(s []byte, open, end byte) ([][]byte, error) {
	s = bytes.TrimSpace(s)
	if len(s) < 2 || s[0] != open || s[len(s)-1] != end {
		return nil, fmt.Errorf("%q should stand between %c and %c", s, open, end)
	}
	s = bytes.TrimSpace(s[1 : len(s)-1])
	var parts [][]byte
	for len(s) > 0 || parts != nil {
		comma := level(s, ',')
		part := s
		if comma >= 0 {
			part = s[:comma]
		}
		part = bytes.TrimSpace(part)
		if len(part) == 0 {
			return nil, fmt.Errorf("an empty element; the empty string is ''")
		}
		parts = append(parts, part)
		if comma < 0 {
			break
		}
		s = s[comma+1:]
	}
	return parts, nil
}

// level returns the position of the first wanted byte outside of brackets and
// quotes, or -1.
func level(s []byte, wanted byte) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\'' && (i == 0 || bytes.IndexByte([]byte("[{(,= "), s[i-1]) >= 0):
			for i++; i < len(s) && (s[i] != '\'' || i+1 < len(s) && s[i+1] == '\''); i++ {
				if s[i] == '\'' {
					i++
				}
			}
		case c == wanted && depth == 0:
			return i
		case c == '[' || c == '{' || c == '(':
			depth++
		case c == ']' || c == '}' || c == ')':
			depth--
		}
	}
	return -1
}
