package parse

import (
	"unicode/utf8"

	"github.com/millstream-io/millstream/internal/text"
)

// ValidText reports whether b is UTF-8, in which a lone surrogate may stand as
// its three bytes.
func ValidText(b []byte) bool {
	for !utf8.Valid(b) {
		i := 0
		for i < len(b) {
			if b[i] < utf8.RuneSelf {
				i++
				continue
			}
			r, n := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && n <= 1 {
				break
			}
			i += n
		}
		if !text.IsSurrogate(b[i:]) {
			return false
		}
		b = b[i+3:]
	}
	return true
}

// AppendUTF16 appends a UTF-16 unit or a whole code point; surrogates come out
// as their three bytes.
func AppendUTF16(buf []byte, r rune) []byte {
	if r >= 0xD800 && r < 0xE000 {
		return append(buf, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0xBF, 0x80|byte(r)&0xBF)
	}
	return utf8.AppendRune(buf, r)
}
