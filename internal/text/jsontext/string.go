package jsontext

import (
	"encoding/binary"
	"unicode/utf8"

	"github.com/millstream-io/millstream/internal/text"
)

// The lowest and the highest bit of each byte of a word.
const (
	lows  = 0x0101010101010101
	highs = 0x8080808080808080
)

// String appends s in quotes, as Flink's writer does: characters beyond the
// basic plane are escaped as pairs of surrogates.
func String(buf, s []byte) []byte { return appendEscaped(buf, s, true) }

// Plain is String without that: they stand as they are.
func Plain(buf, s []byte) []byte { return appendEscaped(buf, s, false) }

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
		case size == 1 && text.IsSurrogate(s):
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
