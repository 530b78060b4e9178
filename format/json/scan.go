package json

import (
	"encoding/binary"
	"math/bits"

	"github.com/millstream-io/millstream/format/internal/parse"
)

// The scanner works on a record b that ends at position end, where a line break
// stands. No token contains one, so that most loops need no other check; those
// that can run over it compare with end.

const (
	lows  = 0x0101010101010101
	highs = 0x8080808080808080
)

// stringEnd returns the position of the first quote or backslash from p on, or
// len(b), and whether a byte above 127 stands before it.
func stringEnd(b []byte, p int) (q int, high bool) {
	var seen uint64
	for p+8 <= len(b) {
		w := binary.LittleEndian.Uint64(b[p:])
		x, y := w^lows*'"', w^lows*'\\'
		if m := ((x-lows)&^x | (y-lows)&^y) & highs; m != 0 {
			k := bits.TrailingZeros64(m) &^ 7
			return p + k>>3, (seen|w&(1<<k-1))&highs != 0
		}
		seen |= w
		p += 8
	}
	for p < len(b) && b[p] != '"' && b[p] != '\\' {
		seen |= uint64(b[p])
		p++
	}
	return p, seen&highs != 0
}

// blank reports whether c is white space of JSON.
func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// space passes over white space.
func (d *decoder) space(b []byte, p int) int {
	for p < d.end && blank(b[p]) {
		p++
	}
	return p
}

// skip passes over one value of any kind, which begins at p, and returns the
// position behind it, or -1 for a fault of syntax.
func (d *decoder) skip(b []byte, p int) int {
	switch c := b[p]; {
	case c == '"':
		if q, _ := stringEnd(b, p+1); q < d.end && b[q] == '"' {
			return q + 1
		}
		return d.skipString(b, p)
	case c == '-' || c-'0' <= 9:
		return d.skipNumber(b, p)
	case c == '{' || c == '[':
		return d.skipNested(b, p)
	}
	return d.skipWord(b, p)
}

// skipString passes over a string that begins with the quote at p.
func (d *decoder) skipString(b []byte, p int) int {
	from := p
	p++
	for {
		q, _ := stringEnd(b, p)
		if q >= d.end {
			return d.syntax(from, unterminated)
		}
		if b[q] == '"' {
			return q + 1
		}
		n := escape(b[q:d.end])
		if n == 0 {
			return d.syntax(q, badEscape)
		}
		p = q + n
	}
}

// escape returns the length of the escape sequence at the start of b, 0 if it
// is none.
func escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) >= 6 && hex4(b[2:]) >= 0 {
			return 6
		}
	}
	return 0
}

// hex4 reads four hexadecimal digits; -1 if they are none.
func hex4(b []byte) rune {
	var r rune
	for _, c := range b[:4] {
		switch {
		case c-'0' <= 9:
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// skipNumber passes over a number.
func (d *decoder) skipNumber(b []byte, p int) int {
	from := p
	if b[p] == '-' {
		p++
	}
	if b[p] == '0' {
		p++
	} else if p = digits(b, p); p < 0 {
		return d.syntax(from, badNumber)
	}
	if b[p] == '.' {
		if p = digits(b, p+1); p < 0 {
			return d.syntax(from, badNumber)
		}
	}
	if b[p]|0x20 == 'e' {
		p++
		if b[p] == '-' || b[p] == '+' {
			p++
		}
		if p = digits(b, p); p < 0 {
			return d.syntax(from, badNumber)
		}
	}
	if c := b[p]; c-'0' <= 9 || c == '.' || c|0x20 >= 'a' && c|0x20 <= 'z' {
		return d.syntax(from, badNumber)
	}
	return p
}

// digits passes over at least one digit, or returns -1.
func digits(b []byte, p int) int {
	from := p
	for b[p]-'0' <= 9 {
		p++
	}
	if p == from {
		return -1
	}
	return p
}

// skipWord passes over true, false or null.
func (d *decoder) skipWord(b []byte, p int) int {
	for _, w := range [...]string{"null", "true", "false"} {
		if q := p + len(w); b[p] == w[0] && q <= d.end && string(b[p:q]) == w {
			return q
		}
	}
	return d.syntax(p, wantValue)
}

// maxDepth is how deeply arrays and objects may be nested.
const maxDepth = 1000

// skipNested passes over an object or an array, checking its syntax.
func (d *decoder) skipNested(b []byte, p int) int {
	// arrays has a bit for each open bracket: set for an array.
	var arrays [maxDepth/64 + 1]uint64
	depth := 0
	for {
		// A value begins at p.
		c := b[p]
		if c == '{' || c == '[' {
			if depth == maxDepth {
				return d.syntax(p, tooDeep)
			}
			if c == '[' {
				arrays[depth>>6] |= 1 << (depth & 63)
			} else {
				arrays[depth>>6] &^= 1 << (depth & 63)
			}
			depth++
			p = d.space(b, p+1)
			// '{' + 2 is '}', and '[' + 2 is ']'.
			if b[p] != c+2 {
				if c == '{' {
					if p = d.skipKey(b, p); p < 0 {
						return p
					}
				}
				continue
			}
			depth--
			p++
		} else if p = d.skip(b, p); p < 0 {
			return p
		}
		// A value has ended before p: close what ends here.
		for {
			if depth == 0 {
				return p
			}
			p = d.space(b, p)
			array := arrays[(depth-1)>>6]>>((depth-1)&63)&1 != 0
			if b[p] == ',' {
				p = d.space(b, p+1)
				if !array {
					p = d.skipKey(b, p)
				}
				break
			}
			if array && b[p] != ']' || !array && b[p] != '}' {
				return d.syntax(p, wantComma)
			}
			depth--
			p++
		}
		if p < 0 {
			return p
		}
	}
}

// skipKey passes over a name, the colon behind it and the blanks around that.
func (d *decoder) skipKey(b []byte, p int) int {
	if b[p] != '"' {
		return d.syntax(p, wantKey)
	}
	if p = d.skipString(b, p); p < 0 {
		return p
	}
	if p = d.space(b, p); b[p] != ':' {
		return d.syntax(p, wantColon)
	}
	return d.space(b, p+1)
}

// appendUnescaped appends the text of a string whose first byte is at p, and
// returns the position behind its closing quote, or -1.
func (d *decoder) appendUnescaped(buf, b []byte, p int) (out []byte, next int, high bool) {
	from := p
	for {
		q, h := stringEnd(b, p)
		high = high || h
		if q >= d.end {
			return buf, d.syntax(from-1, unterminated), high
		}
		buf = append(buf, b[p:q]...)
		if b[q] == '"' {
			return buf, q + 1, high
		}
		n := escape(b[q:d.end])
		switch n {
		case 0:
			return buf, d.syntax(q, badEscape), high
		case 2:
			buf = append(buf, unescaped[b[q+1]])
		default:
			r := hex4(b[q+2:])
			if r >= 0xD800 && r < 0xDC00 && escape(b[q+6:d.end]) == 6 {
				if low := hex4(b[q+8:]); low >= 0xDC00 && low < 0xE000 {
					r = (r-0xD800)<<10 + (low - 0xDC00) + 0x10000
					n = 12
				}
			}
			buf = parse.AppendUTF16(buf, r)
		}
		p = q + n
	}
}

var unescaped = [128]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}
