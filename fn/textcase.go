package fn

import (
	"encoding/binary"
	"unicode"
	"unicode/utf8"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

func init() {
	Register(
		&Def{
			Name: "UPPER", Family: familyString, Syntax: "UPPER(string)",
			Doc: "Returns the string in upper case. Letters whose upper case is longer are written out: UPPER of ß is SS. " +
				"The type stays that of the argument.",
			Examples: []Example{
				{"UPPER('aBc')", "ABC :: CHAR(3) NOT NULL"},
				{"UPPER('ñandú')", "ÑANDÚ :: CHAR(5) NOT NULL"},
				{"UPPER(CAST(NULL AS STRING))", "NULL :: STRING"},
				{"UPPER(1)", "error"},
			},
			Bind: typed(sameText(caseKernel(upperASCII, appendUpper))),
		},
		&Def{
			Name: "LOWER", Family: familyString, Syntax: "LOWER(string)",
			Doc: "Returns the string in lower case. A capital sigma at the end of a word becomes ς. " +
				"The type stays that of the argument.",
			Examples: []Example{
				{"LOWER('ABC')", "abc :: CHAR(3) NOT NULL"},
				{"LOWER('ΣΑΣ')", "σας :: CHAR(3) NOT NULL"},
				{"LOWER(CAST(NULL AS STRING))", "NULL :: STRING"},
			},
			Bind: typed(sameText(caseKernel(lowerASCII, appendLower))),
		},
		&Def{
			Name: "INITCAP", Family: familyString, Syntax: "INITCAP(string)",
			Doc: "Returns the string with the first letter of each word in upper case and the others in lower case. " +
				"Words are made of the letters A to Z and the digits; all other characters stay as they are and separate words.",
			Examples: []Example{
				{"INITCAP('hello WORLD')", "Hello World :: CHAR(11) NOT NULL"},
				{"INITCAP('hello-world_foo2bar')", "Hello-World_Foo2bar :: CHAR(19) NOT NULL"},
				{"INITCAP('élan vital')", "éLan Vital :: CHAR(10) NOT NULL"},
				{"INITCAP(CAST(NULL AS STRING))", "NULL :: STRING"},
			},
			Bind: typed(sameText(func(t types.Type) Kernel { return Text1(t, appendInitcap) })),
		},
	)
}

// sameText is a Bind for functions of one string whose result has the type of
// the argument.
func sameText(kernel func(types.Type) Kernel) func(*Call) (*Bound, error) {
	return func(c *Call) (*Bound, error) {
		params, err := c.Check(1, TextArg)
		if err != nil {
			return nil, err
		}
		t := c.Args[0].Type
		return &Bound{Params: params, Result: t, Kernel: kernel(t)}, nil
	}
}

// caseKernel makes the kernels of UPPER and LOWER. A column that is ASCII as a
// whole, which is nearly every one, is changed in one sweep: its offsets stay.
func caseKernel(ascii func([]byte), slow func(dst, s []byte) []byte) func(types.Type) Kernel {
	return func(t types.Type) Kernel {
		byRow := Text1(t, slow)
		return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
			in := args[0].(*batch.Bytes)
			if rows.Sel != nil && 2*len(rows.Sel) < rows.N {
				return byRow(rows, args)
			}
			base := in.Offsets[0]
			data := in.Data[base:in.Offsets[rows.N]]
			if !isASCII(data) {
				return byRow(rows, args)
			}
			out := &batch.Bytes{Typ: t, Offsets: in.Offsets, Data: append([]byte(nil), data...)}
			ascii(out.Data)
			if base != 0 {
				out.Offsets = make([]int32, rows.N+1)
				for i := range out.Offsets {
					out.Offsets[i] = in.Offsets[i] - base
				}
			}
			return out, nil
		}
	}
}

// flipASCII flips the case bit of the bytes of s between lo and lo+25, s being
// ASCII. Eight bytes at a time: adding 0x80-lo sets the high bit of each byte
// that is at least lo, adding 0x80-(lo+26) that of each that is beyond.
func flipASCII(s []byte, lo byte) {
	from, to := uint64(0x80-lo)*ones, uint64(0x80-lo-26)*ones
	for len(s) >= 8 {
		w := binary.LittleEndian.Uint64(s)
		binary.LittleEndian.PutUint64(s, w^((w+from)&^(w+to)&highBits)>>2)
		s = s[8:]
	}
	for i, c := range s {
		if c >= lo && c <= lo+25 {
			s[i] = c ^ 0x20
		}
	}
}

func upperASCII(s []byte) { flipASCII(s, 'a') }
func lowerASCII(s []byte) { flipASCII(s, 'A') }

// appendUpper appends the upper case of s.
func appendUpper(dst, s []byte) []byte {
	if isASCII(s) {
		at := len(dst)
		dst = append(dst, s...)
		upperASCII(dst[at:])
		return dst
	}
	for len(s) > 0 {
		r, n := decodeChar(s)
		long, isLong := "", false
		if r > 0xDE {
			long, isLong = longUpper[r]
		}
		if isLong {
			dst = append(dst, long...)
		} else {
			dst = appendChar(dst, unicode.ToUpper(r))
		}
		s = s[n:]
	}
	return dst
}

// appendLower appends the lower case of s.
func appendLower(dst, s []byte) []byte {
	if isASCII(s) {
		at := len(dst)
		dst = append(dst, s...)
		lowerASCII(dst[at:])
		return dst
	}
	for i := 0; i < len(s); {
		r, n := decodeChar(s[i:])
		switch {
		case r == 'İ':
			dst = append(dst, "i\u0307"...)
		case r == 'Σ' && casedBefore(s[:i]) && !casedAfter(s[i+n:]):
			dst = append(dst, "ς"...)
		default:
			dst = appendChar(dst, unicode.ToLower(r))
		}
		i += n
	}
	return dst
}

// casedBefore reports whether the last character of s that counts has case.
func casedBefore(s []byte) bool {
	for i := len(s); i > 0; {
		i = prevChar(s, i)
		r, _ := decodeChar(s[i:])
		if !caseIgnorable(r) {
			return cased(r)
		}
	}
	return false
}

// casedAfter reports whether the first character of s that counts has case.
func casedAfter(s []byte) bool {
	for len(s) > 0 {
		r, n := decodeChar(s)
		if !caseIgnorable(r) {
			return cased(r)
		}
		s = s[n:]
	}
	return false
}

func cased(r rune) bool {
	return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt, unicode.Other_Uppercase, unicode.Other_Lowercase)
}

func caseIgnorable(r rune) bool {
	switch r {
	case '\'', '.', ':', '·', '‘', '’', '․', '‧', '\u00AD':
		return true
	}
	return r >= utf8.RuneSelf && unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}

// appendInitcap appends s with its words capitalized.
func appendInitcap(dst, s []byte) []byte {
	inWord := false
	for _, c := range s {
		lower, upper := c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z'
		if lower && !inWord || upper && inWord {
			c ^= 0x20
		}
		inWord = lower || upper || c >= '0' && c <= '9'
		dst = append(dst, c)
	}
	return dst
}

// longUpper holds the characters whose upper case is more than one character.
var longUpper = func() map[rune]string {
	m := map[rune]string{
		'ß': "SS", 'ŉ': "ʼN", 'ǰ': "J\u030C", 'ΐ': "Ι\u0308\u0301", 'ΰ': "Υ\u0308\u0301", 'և': "ԵՒ",
		'ẖ': "H\u0331", 'ẗ': "T\u0308", 'ẘ': "W\u030A", 'ẙ': "Y\u030A", 'ẚ': "Aʾ",
		'ὐ': "Υ\u0313", 'ὒ': "Υ\u0313\u0300", 'ὔ': "Υ\u0313\u0301", 'ὖ': "Υ\u0313\u0342",
		'ᾲ': "ᾺΙ", 'ᾳ': "ΑΙ", 'ᾴ': "ΆΙ", 'ᾶ': "Α\u0342", 'ᾷ': "Α\u0342Ι", 'ᾼ': "ΑΙ",
		'ῂ': "ῊΙ", 'ῃ': "ΗΙ", 'ῄ': "ΉΙ", 'ῆ': "Η\u0342", 'ῇ': "Η\u0342Ι", 'ῌ': "ΗΙ",
		'ῒ': "Ι\u0308\u0300", '\u1FD3': "Ι\u0308\u0301", 'ῖ': "Ι\u0342", 'ῗ': "Ι\u0308\u0342",
		'ῢ': "Υ\u0308\u0300", '\u1FE3': "Υ\u0308\u0301", 'ῤ': "Ρ\u0313", 'ῦ': "Υ\u0342", 'ῧ': "Υ\u0308\u0342",
		'ῲ': "ῺΙ", 'ῳ': "ΩΙ", 'ῴ': "ΏΙ", 'ῶ': "Ω\u0342", 'ῷ': "Ω\u0342Ι", 'ῼ': "ΩΙ",
		'ﬀ': "FF", 'ﬁ': "FI", 'ﬂ': "FL", 'ﬃ': "FFI", 'ﬄ': "FFL", 'ﬅ': "ST", 'ﬆ': "ST",
		'ﬓ': "ՄՆ", 'ﬔ': "ՄԵ", 'ﬕ': "ՄԻ", 'ﬖ': "ՎՆ", 'ﬗ': "ՄԽ",
	}
	// Greek vowels with an iota subscript: eight small and eight capital ones
	// each, whose upper case is the capital without the iota, and an iota.
	for _, block := range []struct{ from, upper rune }{{0x1F80, 0x1F08}, {0x1F90, 0x1F28}, {0x1FA0, 0x1F68}} {
		for i := range rune(16) {
			m[block.from+i] = string(block.upper+i%8) + "Ι"
		}
	}
	return m
}()
