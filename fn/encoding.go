package fn

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

func init() {
	Register(encodeDef, decodeDef, toBase64Def, fromBase64Def, hexDef, unhexDef, binDef)
}

// stringArg is a string or a binary string, which stays what it is.
var stringArg = Class{
	Name: "a string or a binary string",
	Has:  func(t types.Type) bool { return t.IsChar() || t.IsBinary() },
	Null: types.StringType(),
}

const charsetNote = " The character sets are UTF-8, UTF-16, UTF-16BE, UTF-16LE, UTF-32, ISO-8859-1 and US-ASCII; another one is an error."

var encodeDef = &Def{
	Name: "ENCODE", Family: familyString, Syntax: "ENCODE(string, charset)",
	Doc: "Returns the bytes of the string in a character set. What it does not have becomes ?." + charsetNote,
	Examples: []Example{
		{"ENCODE('a', 'UTF-8')", "a :: BYTES NOT NULL"},
		{"ENCODE('é', 'US-ASCII')", "? :: BYTES NOT NULL"},
		{"HEX(DECODE(ENCODE('A', 'UTF-16LE'), 'ISO-8859-1'))", "4100 :: STRING NOT NULL"},
		{"ENCODE('a', 'nope')", "error"},
	},
	Bind: typed(charsetBind(types.BytesType(), charset.encode, TextArg)),
}

var decodeDef = &Def{
	Name: "DECODE", Family: familyString, Syntax: "DECODE(binary, charset)",
	Doc: "Returns the text that the bytes stand for in a character set. What is malformed becomes U+FFFD." + charsetNote,
	Examples: []Example{
		{"DECODE(x'c3a9', 'UTF-8')", "é :: STRING NOT NULL"},
		{"DECODE(x'00410042', 'UTF-16BE')", "AB :: STRING NOT NULL"},
		{"DECODE(x'ff', 'UTF-8')", "\uFFFD :: STRING NOT NULL"},
		{"DECODE(CAST(NULL AS BYTES), 'UTF-8')", "NULL :: STRING"},
	},
	Bind: typed(charsetBind(types.StringType(), charset.decode, BinaryArg)),
}

func charsetBind(result types.Type, convert func(charset, []byte, []byte) []byte, arg Class) func(*Call) (*Bound, error) {
	return func(c *Call) (*Bound, error) {
		params, err := c.Check(2, arg, TextArg)
		if err != nil {
			return nil, err
		}
		t := c.Strict(result)
		b := &Bound{Params: params, Result: t}
		if name, ok := c.ConstText(1); ok {
			set, err := charsetOf(name)
			if err != nil {
				return nil, Argf(1, "%s", err.Error())
			}
			b.Kernel = Text1(t, func(dst, s []byte) []byte { return convert(set, dst, s) })
			return b, nil
		}
		b.Kernel = TextErr2(t, func(dst, s, name []byte) ([]byte, bool, error) {
			set, err := charsetOf(string(name))
			if err != nil {
				return dst, false, err
			}
			return convert(set, dst, s), true, nil
		})
		return b, nil
	}
}

// charset is a character set.
type charset uint8

const (
	utf8Set charset = iota
	asciiSet
	latin1Set
	utf16Set
	utf16BE
	utf16LE
	utf32Set
)

var charsets = map[string]charset{
	"UTF-8": utf8Set, "UTF8": utf8Set,
	"US-ASCII": asciiSet, "ASCII": asciiSet,
	"ISO-8859-1": latin1Set, "ISO8859_1": latin1Set, "LATIN1": latin1Set, "ISO8859-1": latin1Set,
	"UTF-16": utf16Set, "UTF16": utf16Set, "UTF-16BE": utf16BE, "UTF-16LE": utf16LE,
	"UTF-32": utf32Set, "UTF-32BE": utf32Set,
}

func charsetOf(name string) (charset, error) {
	if set, ok := charsets[string(appendUpper(nil, []byte(name)))]; ok {
		return set, nil
	}
	return 0, fmt.Errorf("there is no character set '%s' here; use UTF-8, UTF-16, UTF-16BE, UTF-16LE, UTF-32, ISO-8859-1 or US-ASCII", name)
}

// encode appends text in the character set.
func (set charset) encode(dst, s []byte) []byte {
	switch {
	case set == utf8Set && utf8.Valid(s), set <= latin1Set && isASCII(s):
		return append(dst, s...)
	case set == utf16Set && len(s) > 0:
		dst = append(dst, 0xFE, 0xFF)
	}
	for len(s) > 0 {
		r, n := decodeChar(s)
		s = s[n:]
		dst = set.encodeRune(dst, r)
	}
	return dst
}

func (set charset) encodeRune(dst []byte, r rune) []byte {
	surrogate := utf16.IsSurrogate(r)
	switch set {
	case utf8Set:
		if surrogate {
			return append(dst, '?')
		}
		return utf8.AppendRune(dst, r)
	case asciiSet, latin1Set:
		if r < 128 || set == latin1Set && r < 256 {
			return append(dst, byte(r))
		}
		return append(dst, '?')
	}
	if surrogate {
		r = utf8.RuneError
	}
	switch {
	case set == utf32Set:
		return append(dst, byte(r>>24), byte(r>>16), byte(r>>8), byte(r))
	case r > 0xFFFF:
		hi, lo := utf16.EncodeRune(r)
		return set.unit(set.unit(dst, hi), lo)
	}
	return set.unit(dst, r)
}

// unit appends a unit of UTF-16.
func (set charset) unit(dst []byte, r rune) []byte {
	if set == utf16LE {
		return append(dst, byte(r), byte(r>>8))
	}
	return append(dst, byte(r>>8), byte(r))
}

// decode appends the text that bytes in the character set stand for.
func (set charset) decode(dst, s []byte) []byte {
	switch set {
	case utf8Set:
		return text.AppendValidUTF8(dst, s)
	case asciiSet, latin1Set:
		for _, c := range s {
			r := rune(c)
			if set == asciiSet && c >= 128 {
				r = utf8.RuneError
			}
			dst = utf8.AppendRune(dst, r)
		}
		return dst
	case utf32Set:
		for ; len(s) >= 4; s = s[4:] {
			dst = utf8.AppendRune(dst, rune(s[0])<<24|rune(s[1])<<16|rune(s[2])<<8|rune(s[3]))
		}
		if len(s) > 0 {
			dst = utf8.AppendRune(dst, utf8.RuneError)
		}
		return dst
	}
	if set == utf16Set && len(s) >= 2 {
		switch {
		case s[0] == 0xFE && s[1] == 0xFF:
			s = s[2:]
		case s[0] == 0xFF && s[1] == 0xFE:
			return utf16LE.decode(dst, s[2:])
		}
	}
	return set.decodeUTF16(dst, s)
}

func (set charset) decodeUTF16(dst, s []byte) []byte {
	at := func(i int) rune {
		if set == utf16LE {
			return rune(s[i+1])<<8 | rune(s[i])
		}
		return rune(s[i])<<8 | rune(s[i+1])
	}
	for ; len(s) >= 2; s = s[2:] {
		r := at(0)
		if utf16.IsSurrogate(r) && len(s) >= 4 {
			if pair := utf16.DecodeRune(r, at(2)); pair != utf8.RuneError {
				dst, s = utf8.AppendRune(dst, pair), s[2:]
				continue
			}
		}
		dst = utf8.AppendRune(dst, r) // a lone surrogate becomes U+FFFD
	}
	if len(s) > 0 {
		dst = utf8.AppendRune(dst, utf8.RuneError)
	}
	return dst
}

var toBase64Def = &Def{
	Name: "TO_BASE64", Family: familyString, Syntax: "TO_BASE64(string)",
	Doc: "Returns the string, in UTF-8, or the binary string in Base64, without line breaks.",
	Examples: []Example{
		{"TO_BASE64('hello')", "aGVsbG8= :: STRING NOT NULL"},
		{"TO_BASE64(x'00ff')", "AP8= :: STRING NOT NULL"},
	},
	Bind: typed(Signature(types.StringType(), func(t types.Type) Kernel {
		return Text1(t, base64.StdEncoding.AppendEncode)
	}, stringArg)),
}

var fromBase64Def = &Def{
	Name: "FROM_BASE64", Family: familyString, Syntax: "FROM_BASE64(string)",
	Doc: "Returns the text that the string stands for in Base64; padding at the end may be missing. What is no Base64 is an error.",
	Examples: []Example{
		{"FROM_BASE64('aGVsbG8=')", "hello :: STRING NOT NULL"},
		{"FROM_BASE64('aGVsbG8')", "hello :: STRING NOT NULL"},
		{"FROM_BASE64('####')", "error"},
	},
	Bind: typed(Signature(types.StringType(), func(t types.Type) Kernel {
		return TextErr1(t, func(dst, s []byte) ([]byte, bool, error) {
			encoding := base64.StdEncoding
			if len(s)%4 != 0 {
				encoding = base64.RawStdEncoding
			}
			for _, c := range s {
				if c == '\r' || c == '\n' { // the decoder would skip them
					return dst, false, errBase64(s)
				}
			}
			out, err := encoding.AppendDecode(dst, s)
			if err != nil {
				return dst, false, errBase64(s)
			}
			return out, true, nil
		})
	}, stringArg)),
}

func errBase64(s []byte) error { return fmt.Errorf("FROM_BASE64: '%.40s' is no Base64", s) }

var hexDef = &Def{
	Name: "HEX", Family: familyString, Syntax: "HEX(value)",
	Doc: "Returns an integer, or the bytes of a string in UTF-8, in hexadecimal digits in upper case. " +
		"A negative integer is given in two's complement of 64 bits.",
	Examples: []Example{
		{"HEX(255)", "FF :: STRING NOT NULL"},
		{"HEX(-1)", "FFFFFFFFFFFFFFFF :: STRING NOT NULL"},
		{"HEX('é')", "C3A9 :: STRING NOT NULL"},
		{"HEX(1.5)", "error"},
	},
	Bind: typed(either(
		Signature(types.StringType(), func(t types.Type) Kernel {
			return Text1(t, func(dst []byte, n int64) []byte {
				at := len(dst)
				dst = strconv.AppendUint(dst, uint64(n), 16)
				upperASCII(dst[at:])
				return dst
			})
		}, IntegerArg),
		Signature(types.StringType(), func(t types.Type) Kernel {
			return Text1(t, func(dst, s []byte) []byte {
				if !utf8.Valid(s) {
					s = text.AppendValidUTF8(nil, s)
				}
				at := len(dst)
				dst = hex.AppendEncode(dst, s)
				upperASCII(dst[at:])
				return dst
			})
		}, TextArg),
	)),
}

var unhexDef = &Def{
	Name: "UNHEX", Family: familyString, Syntax: "UNHEX(string)",
	Doc: "Returns the bytes that the hexadecimal digits stand for. If their number is odd, a zero byte stands for the first one. " +
		"NULL if another character is among them.",
	Examples: []Example{
		{"UNHEX('4D7953514C')", "MySQL :: BYTES"},
		{"UNHEX('zz')", "NULL :: BYTES"},
		{"UNHEX(CAST(NULL AS STRING))", "NULL :: BYTES"},
	},
	Bind: nullable(types.BytesType(), func(t types.Type) Kernel {
		return TextErr1(t, func(dst, s []byte) ([]byte, bool, error) {
			if len(s)%2 == 1 {
				if hexDigit(s[0]) < 0 {
					return dst, false, nil
				}
				dst, s = append(dst, 0), s[1:]
			}
			for ; len(s) > 0; s = s[2:] {
				hi, lo := hexDigit(s[0]), hexDigit(s[1])
				if hi < 0 || lo < 0 {
					return dst, false, nil
				}
				dst = append(dst, byte(hi<<4|lo))
			}
			return dst, true, nil
		})
	}, TextArg),
}

// hexDigit returns the value of a hexadecimal digit, or -1.
func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20) - 'a' + 10
	}
	return -1
}

var binDef = &Def{
	Name: "BIN", Family: familyArithmetic, Syntax: "BIN(integer)",
	Doc: "Returns the integer in binary digits; a negative one in two's complement of 64 bits.",
	Examples: []Example{
		{"BIN(5)", "101 :: STRING NOT NULL"},
		{"BIN(-5)", "1111111111111111111111111111111111111111111111111111111111111011 :: STRING NOT NULL"},
		{"BIN('5')", "error"},
	},
	Bind: typed(Signature(types.StringType(), func(t types.Type) Kernel {
		return Text1(t, func(dst []byte, n int64) []byte { return strconv.AppendUint(dst, uint64(n), 2) })
	}, IntegerArg)),
}
