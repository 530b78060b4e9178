package fn

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// Text is UTF-8 in which a lone surrogate, which Java's strings may hold, stands
// as its three bytes. Characters are code points; they are counted by the bytes
// that are no continuation bytes, which is right for both.

const (
	highBits = 0x8080808080808080
	ones     = 0x0101010101010101
)

// charCount returns the number of characters of s.
func charCount(s []byte) int {
	n := len(s)
	for len(s) >= 8 {
		w := binary.LittleEndian.Uint64(s)
		n -= bits.OnesCount64(w >> 7 &^ (w >> 6) & ones)
		s = s[8:]
	}
	for _, c := range s {
		if isContinuation(c) {
			n--
		}
	}
	return n
}

// isASCII reports whether all bytes of s are below 0x80.
func isASCII(s []byte) bool {
	for len(s) >= 8 {
		if binary.LittleEndian.Uint64(s)&highBits != 0 {
			return false
		}
		s = s[8:]
	}
	for _, c := range s {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func isContinuation(c byte) bool { return c&0xC0 == 0x80 }

// nextChar returns the offset of the character behind the one at i.
func nextChar(s []byte, i int) int {
	for i++; i < len(s) && isContinuation(s[i]); i++ {
	}
	return i
}

// prevChar returns the offset of the character before offset i > 0.
func prevChar(s []byte, i int) int {
	for i--; i > 0 && isContinuation(s[i]); i-- {
	}
	return i
}

// charOffset returns the offset of character n, counted from 0, or len(s) and
// the number of characters that are missing.
func charOffset(s []byte, n int) (off, missing int) {
	i := 0
	for n >= 8 && i+8 <= len(s) && binary.LittleEndian.Uint64(s[i:])&highBits == 0 {
		i, n = i+8, n-8
	}
	for ; n > 0 && i < len(s); n-- {
		i = nextChar(s, i)
	}
	return i, n
}

// charOffsetBack returns the offset of the n-th character from the end, counted
// from 1, or 0 and the number of characters that are missing.
func charOffsetBack(s []byte, n int) (off, missing int) {
	i := len(s)
	for n >= 8 && i >= 8 && binary.LittleEndian.Uint64(s[i-8:])&highBits == 0 {
		i, n = i-8, n-8
	}
	for ; n > 0 && i > 0; n-- {
		i = prevChar(s, i)
	}
	return i, n
}

// isSurrogate reports whether s begins with a lone surrogate.
func isSurrogate(s []byte) bool {
	return len(s) >= 3 && s[0] == 0xED && s[1] >= 0xA0 && s[1] <= 0xBF && isContinuation(s[2])
}

// decodeChar returns the character at the start of s, which is not empty, and
// its length. A byte that belongs to none is U+FFFD.
func decodeChar(s []byte) (rune, int) {
	if s[0] < utf8.RuneSelf {
		return rune(s[0]), 1
	}
	r, n := utf8.DecodeRune(s)
	if n == 1 && isSurrogate(s) {
		return rune(s[0]&0x0F)<<12 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), 3
	}
	return r, n
}

// appendChar appends a character, which may be a lone surrogate.
func appendChar(dst []byte, r rune) []byte {
	if r >= 0xD800 && r <= 0xDFFF {
		return append(dst, 0xE0|byte(r>>12), 0x80|byte(r>>6&0x3F), 0x80|byte(r&0x3F))
	}
	return utf8.AppendRune(dst, r)
}
