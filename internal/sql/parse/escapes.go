package parse

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/millstream-io/millstream/internal/diag"
)

// escaped reads E'..', where a backslash begins an escape: \b \f \n \r \t, \ooo, \xhh, \uhhhh, \Uhhhhhhhh, and any other
// character stands for itself.
func (lx *lexer) escaped(start diag.Span) token {
	i := lx.off + 1
	for i < len(lx.src) {
		if lx.src[i] == '\'' && (i+1 == len(lx.src) || lx.src[i+1] != '\'') {
			break
		}
		if lx.src[i] == '\\' || lx.src[i] == '\'' {
			i++
		}
		i++
	}
	if i >= len(lx.src) {
		lx.skip(len(lx.src) - lx.off)
		return lx.finish(start, tokInvalid, "the string that begins here has no end")
	}
	body := lx.src[lx.off+1 : i]
	lx.skip(i + 1 - lx.off)
	text, ok := resolveBackslashes(body)
	if !ok {
		return lx.finish(start, tokInvalid, "an escape in this string E'..' is not complete")
	}
	return lx.finish(start, tokString, text)
}

func resolveBackslashes(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			if s[i] == '\'' { // a quote stands doubled
				i++
			}
			i++
			continue
		}
		i++
		if i == len(s) {
			return "", false
		}
		c := s[i]
		i++
		switch c {
		case 'b':
			b.WriteByte('\b')
		case 'f':
			b.WriteByte('\f')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		case 'x':
			r, n := number(s[i:], 16, 1, 2)
			if n == 0 {
				return "", false
			}
			b.WriteRune(r)
			i += n
		case 'u', 'U':
			width := 4
			if c == 'U' {
				width = 8
			}
			r, n := number(s[i:], 16, width, width)
			if n == 0 {
				return "", false
			}
			b.WriteRune(r)
			i += n
		default:
			if r, n := number(s[i-1:], 8, 1, 3); n > 0 {
				b.WriteRune(r)
				i += n - 1
				continue
			}
			b.WriteByte(c)
		}
	}
	return b.String(), true
}

// number reads at least least and at most most digits of the base from the start of s.
func number(s string, base, least, most int) (rune, int) {
	n := 0
	for n < most && n < len(s) {
		if _, err := strconv.ParseUint(s[n:n+1], base, 8); err != nil {
			break
		}
		n++
	}
	if n < least || n == 0 {
		return 0, 0
	}
	v, err := strconv.ParseUint(s[:n], base, 31)
	if err != nil {
		return 0, 0
	}
	return rune(v), n
}

// resolveUnicode resolves the escapes of U&'..': the escape character and four hexadecimal digits, which are a UTF-16 unit;
// the escape character twice is itself. Flink takes a plus sign for the first digit, and so do we: \+01F600 is U+001F and 600.
func resolveUnicode(s string, escape rune) (string, string) {
	var b strings.Builder
	var high rune // a surrogate that waits for its other half
	flush := func() {
		if high != 0 {
			b.WriteRune(utf8.RuneError)
			high = 0
		}
	}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		if r != escape {
			flush()
			b.WriteRune(r)
			continue
		}
		if next, n := utf8.DecodeRuneInString(s[i:]); n > 0 && next == escape {
			flush()
			b.WriteRune(escape)
			i += n
			continue
		}
		unit, n := number(s[i:], 16, 4, 4)
		if n == 0 && strings.HasPrefix(s[i:], "+") {
			if unit, n = number(s[i+1:], 16, 3, 3); n > 0 {
				n++
			}
		}
		if n == 0 {
			return "", "an escape in a string U&'..' has exactly four hexadecimal digits"
		}
		i += n
		switch {
		case utf16.IsSurrogate(unit) && high == 0 && unit < 0xdc00:
			high = unit
		case high != 0 && utf16.DecodeRune(high, unit) != utf8.RuneError:
			b.WriteRune(utf16.DecodeRune(high, unit))
			high = 0
		default:
			flush()
			b.WriteRune(unit)
		}
	}
	flush()
	return b.String(), ""
}
