package raw

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/millstream-io/millstream/format/internal/parse"
)

// charset is a character set.
type charset uint8

const (
	utf8Set charset = iota
	asciiSet
	latin1
	windows1252
	utf16Set // big-endian, unless a byte-order mark says otherwise
	utf16BE
	utf16LE
)

const charsetNames = "UTF-8, US-ASCII, ISO-8859-1, windows-1252, UTF-16, UTF-16BE, UTF-16LE"

func charsetOf(name string) (charset, error) {
	switch strings.ToUpper(name) {
	case "UTF-8", "UTF8":
		return utf8Set, nil
	case "US-ASCII", "ASCII":
		return asciiSet, nil
	case "ISO-8859-1", "ISO8859-1", "ISO8859_1", "LATIN1":
		return latin1, nil
	case "WINDOWS-1252", "CP1252":
		return windows1252, nil
	case "UTF-16", "UTF16":
		return utf16Set, nil
	case "UTF-16BE":
		return utf16BE, nil
	case "UTF-16LE":
		return utf16LE, nil
	}
	return 0, fmt.Errorf("option 'raw.charset' is %q; the character sets are %s", name, charsetNames)
}

// wide reports whether a line feed is more than one byte.
func (c charset) wide() bool { return c >= utf16Set }

// high1252 are the characters of windows-1252 from 0x80 to 0x9F.
var high1252 = [...]rune{'€', 0xFFFD, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', 0xFFFD, 'Ž', 0xFFFD,
	0xFFFD, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', 0xFFFD, 'ž', 'Ÿ'}

// appendText appends bytes of the character set as UTF-8, and reports whether
// some had no meaning.
func (c charset) appendText(buf, b []byte) (out []byte, replaced bool) {
	switch c {
	case utf8Set:
		return appendValid(buf, b)
	case utf16Set, utf16BE, utf16LE:
		return c.appendUTF16(buf, b)
	}
	for _, x := range b {
		r := rune(x)
		switch {
		case c == windows1252 && x >= 0x80 && x < 0xA0:
			r = high1252[x-0x80]
		case c == asciiSet && x >= 0x80:
			r = utf8.RuneError
		}
		replaced = replaced || r == utf8.RuneError
		buf = utf8.AppendRune(buf, r)
	}
	return buf, replaced
}

func (c charset) appendUTF16(buf, b []byte) (out []byte, replaced bool) {
	little := c == utf16LE
	if c == utf16Set && len(b) >= 2 && (b[0] == 0xFE && b[1] == 0xFF || b[0] == 0xFF && b[1] == 0xFE) {
		little = b[0] == 0xFF
		b = b[2:]
	}
	unit := func(i int) rune {
		if little {
			return rune(b[i+1])<<8 | rune(b[i])
		}
		return rune(b[i])<<8 | rune(b[i+1])
	}
	i := 0
	for ; i+1 < len(b); i += 2 {
		r := unit(i)
		if utf16.IsSurrogate(r) && i+3 < len(b) {
			if pair := utf16.DecodeRune(r, unit(i+2)); pair != utf8.RuneError {
				r = pair
				i += 2
			}
		}
		buf = parse.AppendUTF16(buf, r)
	}
	if i < len(b) {
		return utf8.AppendRune(buf, utf8.RuneError), true
	}
	return buf, false
}

// appendBytes appends UTF-8 text in the character set; what it does not have is
// a question mark, as in Java.
func (c charset) appendBytes(buf, text []byte) []byte {
	if c == utf8Set {
		return append(buf, text...)
	}
	if c == utf16Set {
		buf = append(buf, 0xFE, 0xFF)
	}
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		text = text[n:]
		switch {
		case c.wide():
			for _, u := range utf16.Encode([]rune{r}) {
				if c == utf16LE {
					buf = append(buf, byte(u), byte(u>>8))
				} else {
					buf = append(buf, byte(u>>8), byte(u))
				}
			}
		default:
			buf = append(buf, c.oneByte(r))
		}
	}
	return buf
}

func (c charset) oneByte(r rune) byte {
	switch {
	case r < 0x80, c == latin1 && r < 0x100, c == windows1252 && r >= 0xA0 && r < 0x100:
		return byte(r)
	case c == windows1252:
		for i, h := range high1252 {
			if h == r {
				return byte(0x80 + i)
			}
		}
	}
	return '?'
}
