package fn

import (
	"bytes"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

func init() {
	Register(substringDef, leftDef, rightDef, trimDef, ltrimDef, rtrimDef, btrimDef, lpadDef, rpadDef, overlayDef)
}

var substringDef = &Def{
	Name: "SUBSTRING", Aliases: []string{"SUBSTR"}, Family: familyString,
	Syntax: "SUBSTRING(string FROM start [FOR length])",
	Doc: "Returns the part of the string that begins at a position and has the given length, or reaches to the end. " +
		"Positions count characters from 1; a negative one counts from the end, and 0 means 1. What lies outside is cut. " +
		"NULL if the length is negative. Also written SUBSTRING(string, start [, length]).",
	Examples: []Example{
		{"SUBSTRING('abcdef' FROM 2 FOR 3)", "bcd :: VARCHAR(6)"},
		{"SUBSTRING('a😀b笑c', -2, 5)", "笑c :: VARCHAR(6)"},
		{"SUBSTR('ABC', 0)", "ABC :: VARCHAR(3)"},
		{"SUBSTRING('abcdef' FROM -7)", "'' :: VARCHAR(6)"},
		{"SUBSTRING('abc', 1, -1)", "NULL :: VARCHAR(3)"},
		{"SUBSTRING('abc', 1.5)", "error"},
	},
	Bind: typed(func(c *Call) (*Bound, error) {
		params, err := c.Check(2, TextArg, IntArg, IntArg)
		if err != nil {
			return nil, err
		}
		t := varying(c.Args[0].Type).WithNull(true)
		return &Bound{Params: params, Result: t, Kernel: substringKernel(c, t)}, nil
	}),
}

// noEnd is the length of a SUBSTRING that reaches to the end.
const noEnd = 1<<31 - 1

func substringKernel(c *Call, t types.Type) Kernel {
	start, startConst := c.ConstInt(1)
	length, lengthConst := c.ConstInt(2)
	if len(c.Args) == 2 {
		length, lengthConst = noEnd, true
	}
	if startConst && lengthConst {
		return cutKernel(t, int(length), func(s []byte) ([]byte, bool) { return substring(s, int(start), int(length)) })
	}
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		s, from, n := args[0].(*batch.Bytes), args[1].(*batch.Fixed[int32]), int(length)
		return Bytes(t, rows, sizeOf(args[:1]), func(dst []byte, i int) ([]byte, bool, error) {
			if len(args) > 2 {
				n = int(args[2].(*batch.Fixed[int32]).Values[i])
			}
			part, ok := substring(s.At(i), int(from.Values[i]), n)
			return append(dst, part...), ok, nil
		})
	}
}

// cutKernel is a kernel whose result is a part of its first argument, of few
// characters if so many are guessed.
func cutKernel(t types.Type, guess int, cut func(s []byte) ([]byte, bool)) Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		in := args[0].(*batch.Bytes)
		size := sizeOf(args[:1])
		if guess >= 0 && guess < size/max(rows.N, 1) {
			size = guess * rows.N
		}
		return Bytes(t, rows, size, func(dst []byte, i int) ([]byte, bool, error) {
			part, ok := cut(in.At(i))
			return append(dst, part...), ok, nil
		})
	}
}

// substring returns the n characters of s from position start, which counts
// from 1, or from the end if it is negative; false if n is negative.
func substring(s []byte, start, n int) ([]byte, bool) {
	if n < 0 {
		return nil, false
	}
	switch {
	case start > 1:
		off, _ := charOffset(s, start-1)
		s = s[off:]
	case start < 0:
		off, missing := charOffsetBack(s, -start)
		if missing > 0 {
			return nil, true
		}
		s = s[off:]
	}
	if n >= len(s) {
		return s, true
	}
	end, _ := charOffset(s, n)
	return s[:end], true
}

var leftDef = &Def{
	Name: "LEFT", Family: familyString, Syntax: "LEFT(string, n)",
	Doc: "Returns the first n characters of the string; the empty string if n is not positive.",
	Examples: []Example{
		{"LEFT('😀bc', 1)", "😀 :: VARCHAR(4)"},
		{"LEFT('abc', -1)", "'' :: VARCHAR(3)"},
		{"LEFT('abc', 100)", "abc :: VARCHAR(3)"},
	},
	Bind: typed(cutBind(func(s []byte, n int) []byte {
		end, _ := charOffset(s, n)
		return s[:end]
	})),
}

var rightDef = &Def{
	Name: "RIGHT", Family: familyString, Syntax: "RIGHT(string, n)",
	Doc: "Returns the last n characters of the string; the empty string if n is not positive.",
	Examples: []Example{
		{"RIGHT('ab😀', 1)", "😀 :: VARCHAR(4)"},
		{"RIGHT('abc', 0)", "'' :: VARCHAR(3)"},
	},
	Bind: typed(cutBind(func(s []byte, n int) []byte {
		start, _ := charOffsetBack(s, n)
		return s[start:]
	})),
}

// cutBind is the Bind of LEFT and RIGHT.
func cutBind(cut func(s []byte, n int) []byte) func(*Call) (*Bound, error) {
	return func(c *Call) (*Bound, error) {
		params, err := c.Check(2, TextArg, IntArg)
		if err != nil {
			return nil, err
		}
		t := varying(c.Args[0].Type).WithNull(true)
		k := Text2(t, func(dst, s []byte, n int32) []byte { return append(dst, cut(s, int(n))...) })
		return &Bound{Params: params, Result: t, Kernel: k}, nil
	}
}

// sides says at which ends of a text something is done.
type sides uint8

const (
	leftSide sides = 1 << iota
	rightSide
)

var trimDef = &Def{
	Name: "TRIM", Family: familyString, Syntax: "TRIM([BOTH | LEADING | TRAILING] [characters] [FROM] string)",
	Doc: "Returns the string without the characters (blanks if they are not given) at its beginning, its end or both. " +
		"The characters are a set: their order does not matter.",
	Examples: []Example{
		{"TRIM('  a b  ')", "a b :: VARCHAR(7) NOT NULL"},
		{"TRIM(LEADING ' ' FROM '  a  ')", "'a  ' :: VARCHAR(5) NOT NULL"},
		{"TRIM(BOTH 'xy' FROM 'xyaxy')", "a :: VARCHAR(5) NOT NULL"},
		{"TRIM(CAST(NULL AS STRING))", "NULL :: STRING"},
	},
	Bind: typed(bindTrim),
}

// bindTrim binds TRIM: TRIM(string), or the three parts of the standard's form.
func bindTrim(c *Call) (*Bound, error) {
	if len(c.Args) == 1 {
		params, err := c.Check(1, TextArg)
		if err != nil {
			return nil, err
		}
		t := varying(c.Args[0].Type)
		return &Bound{Params: params, Result: t, Kernel: trimKernel(t, leftSide|rightSide, 0, -1, " ", true)}, nil
	}
	if err := c.Arity(3, 3); err != nil {
		return nil, err
	}
	word, err := c.WantSymbol(0, "BOTH", "LEADING", "TRAILING")
	if err != nil {
		return nil, err
	}
	for i := 1; i < 3; i++ {
		if _, err := c.Want(i, TextArg); err != nil {
			return nil, err
		}
	}
	side := map[string]sides{"BOTH": leftSide | rightSide, "LEADING": leftSide, "TRAILING": rightSide}[word]
	t := c.Strict(varying(c.Args[2].Type))
	set, ok := c.ConstText(1)
	return &Bound{Result: t, Kernel: trimKernel(t, side, 2, 1, set, ok)}, nil
}

var ltrimDef = &Def{
	Name: "LTRIM", Family: familyString, Syntax: "LTRIM(string [, characters])",
	Doc: "Returns the string without the characters (blanks if they are not given) at its beginning.",
	Examples: []Example{
		{"LTRIM('  a  ')", "'a  ' :: VARCHAR(5) NOT NULL"},
		{"LTRIM('abcx', 'cba')", "x :: VARCHAR(4) NOT NULL"},
	},
	Bind: typed(trimBind(leftSide, func(t types.Type) types.Type { return varying(t) })),
}

var rtrimDef = &Def{
	Name: "RTRIM", Family: familyString, Syntax: "RTRIM(string [, characters])",
	Doc: "Returns the string without the characters (blanks if they are not given) at its end.",
	Examples: []Example{
		{"RTRIM('  a  ')", "'  a' :: VARCHAR(5) NOT NULL"},
		{"RTRIM('xabc', 'abc')", "x :: VARCHAR(4) NOT NULL"},
	},
	Bind: typed(trimBind(rightSide, func(t types.Type) types.Type { return varying(t) })),
}

var btrimDef = &Def{
	Name: "BTRIM", Family: familyString, Syntax: "BTRIM(string [, characters])",
	Doc: "Returns the string without the characters (blanks if they are not given) at both ends.",
	Examples: []Example{
		{"BTRIM('  a  ')", "a :: STRING NOT NULL"},
		{"BTRIM('xyaxy', 'yx')", "a :: STRING NOT NULL"},
		{"BTRIM('a', CAST(NULL AS STRING))", "NULL :: STRING"},
	},
	Bind: trimBind(leftSide|rightSide, func(types.Type) types.Type { return types.StringType() }),
}

// trimBind is the Bind of LTRIM, RTRIM and BTRIM.
func trimBind(side sides, result func(types.Type) types.Type) func(*Call) (*Bound, error) {
	return func(c *Call) (*Bound, error) {
		params, err := c.Check(1, TextArg, TextArg)
		if err != nil {
			return nil, err
		}
		t := c.Strict(result(c.Args[0].Type))
		set, ok := " ", true
		if len(c.Args) == 2 {
			set, ok = c.ConstText(1)
		}
		return &Bound{Params: params, Result: t, Kernel: trimKernel(t, side, 0, 1, set, ok)}, nil
	}
}

// trimKernel trims argument str by the characters of set, if they are constant,
// or of argument chars.
func trimKernel(t types.Type, side sides, str, chars int, set string, constant bool) Kernel {
	if constant {
		fixed := []byte(set)
		return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
			in := args[str].(*batch.Bytes)
			return Bytes(t, rows, sizeOf(args[str:str+1]), func(dst []byte, i int) ([]byte, bool, error) {
				return append(dst, trim(in.At(i), fixed, side)...), true, nil
			})
		}
	}
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		in, sets := args[str].(*batch.Bytes), args[chars].(*batch.Bytes)
		return Bytes(t, rows, sizeOf(args[str:str+1]), func(dst []byte, i int) ([]byte, bool, error) {
			return append(dst, trim(in.At(i), sets.At(i), side)...), true, nil
		})
	}
}

// trim cuts the characters that are in set off the given sides of s.
func trim(s, set []byte, side sides) []byte {
	if len(set) == 1 && set[0] < 0x80 {
		c := set[0]
		for side&leftSide != 0 && len(s) > 0 && s[0] == c {
			s = s[1:]
		}
		for side&rightSide != 0 && len(s) > 0 && s[len(s)-1] == c {
			s = s[:len(s)-1]
		}
		return s
	}
	for side&leftSide != 0 && len(s) > 0 {
		n := nextChar(s, 0)
		if !bytes.Contains(set, s[:n]) {
			break
		}
		s = s[n:]
	}
	for side&rightSide != 0 && len(s) > 0 {
		n := prevChar(s, len(s))
		if !bytes.Contains(set, s[n:]) {
			break
		}
		s = s[:n]
	}
	return s
}

var lpadDef = &Def{
	Name: "LPAD", Family: familyString, Syntax: "LPAD(string, length, padding)",
	Doc: "Returns the string, filled up on the left with the padding, or cut, to the given length in characters. " +
		"NULL if the length is negative or the padding is empty.",
	Examples: []Example{
		{"LPAD('hi', 5, '??')", "???hi :: STRING NOT NULL"},
		{"LPAD('hi', 1, '??')", "h :: STRING NOT NULL"},
		{"LPAD(NULLIF('hi', ''), -1, '?')", "NULL :: STRING"},
		{"LPAD(5, 3, '0')", "error"},
	},
	Bind: typed(Signature(types.StringType(), padKernel(leftSide, "LPAD"), TextArg, IntArg, TextArg)),
}

var rpadDef = &Def{
	Name: "RPAD", Family: familyString, Syntax: "RPAD(string, length, padding)",
	Doc: "Returns the string, filled up on the right with the padding, or cut, to the given length in characters. " +
		"NULL if the length is negative or the padding is empty.",
	Examples: []Example{
		{"RPAD('hi', 7, 'xyz')", "hixyzxy :: STRING NOT NULL"},
		{"RPAD('hi', 0, '?')", "'' :: STRING NOT NULL"},
		{"RPAD(NULLIF('hi', ''), 4, '')", "NULL :: STRING"},
	},
	Bind: typed(Signature(types.StringType(), padKernel(rightSide, "RPAD"), TextArg, IntArg, TextArg)),
}

func padKernel(side sides, name string) func(types.Type) Kernel {
	return func(t types.Type) Kernel {
		return TextErr3(t, func(dst, s []byte, n int32, pad []byte) ([]byte, bool, error) {
			if n < 0 || len(pad) == 0 {
				return dst, false, nil
			}
			end, missing := charOffset(s, int(n))
			if side == rightSide {
				dst = append(dst, s[:end]...)
			}
			if err := room(dst, missing, 4, name); err != nil {
				return nil, false, err
			}
			for width := charCount(pad); missing > 0; missing -= width {
				part := len(pad)
				if width > missing {
					part, _ = charOffset(pad, missing)
				}
				dst = append(dst, pad[:part]...)
			}
			if side == leftSide {
				dst = append(dst, s[:end]...)
			}
			return dst, true, nil
		})
	}
}

var overlayDef = &Def{
	Name: "OVERLAY", Family: familyString, Syntax: "OVERLAY(string PLACING replacement FROM start [FOR length])",
	Doc: "Returns the string with length characters from position start (as many as the replacement has, if no length is given) " +
		"replaced. A start outside the string leaves it as it is. What follows the replaced part is dropped if the length is not positive.",
	Examples: []Example{
		{"OVERLAY('abcdef' PLACING 'X' FROM 2)", "aXcdef :: VARCHAR(7) NOT NULL"},
		{"OVERLAY('abcdef' PLACING 'X' FROM 2 FOR 4)", "aXf :: VARCHAR(7) NOT NULL"},
		{"OVERLAY('abcdef' PLACING 'X' FROM 8)", "abcdef :: VARCHAR(7) NOT NULL"},
	},
	Bind: typed(func(c *Call) (*Bound, error) {
		params, err := c.Check(3, TextArg, TextArg, IntegerArg, IntegerArg)
		if err != nil {
			return nil, err
		}
		a, b := c.Args[0].Type.Length, c.Args[1].Type.Length
		t := c.Strict(types.CharOf(types.Varchar, int(min(int64(a)+int64(b), types.MaxLength))))
		return &Bound{Params: params, Result: t, Kernel: overlayKernel(t)}, nil
	}),
}

func overlayKernel(t types.Type) Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		s, with, start := args[0].(*batch.Bytes), args[1].(*batch.Bytes), args[2].(*batch.Fixed[int64])
		return Bytes(t, rows, sizeOf(args[:2]), func(dst []byte, i int) ([]byte, bool, error) {
			n := int64(-1)
			if len(args) > 3 {
				n = args[3].(*batch.Fixed[int64]).Values[i]
			} else {
				n = int64(charCount(with.At(i)))
			}
			return appendOverlay(dst, s.At(i), with.At(i), start.Values[i], n), true, nil
		})
	}
}

// appendOverlay appends s with n characters from position start replaced.
func appendOverlay(dst, s, with []byte, start, n int64) []byte {
	if start <= 0 || start > int64(charCount(s)) {
		return append(dst, s...)
	}
	off, _ := charOffset(s, int(start-1))
	dst = append(append(dst, s[:off]...), with...)
	if n <= 0 || n >= int64(len(s)) {
		return dst
	}
	rest, _ := charOffset(s[off:], int(n))
	return append(dst, s[off+rest:]...)
}
