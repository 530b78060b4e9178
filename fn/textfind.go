package fn

import (
	"bytes"
	"errors"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

func init() {
	Register(positionDef, locateDef, instrDef, startsWithDef, endsWithDef, replaceDef, translateDef)
}

var positionDef = &Def{
	Name: "POSITION", Family: familyString, Syntax: "POSITION(part IN string [FROM start])",
	Doc: "Returns the position, counted in characters from 1, at which the part first stands in the string, at start or behind it; " +
		"0 if it does not. The empty string is found at 1.",
	Examples: []Example{
		{"POSITION('b' IN 'abcb')", "2 :: INT NOT NULL"},
		{"POSITION('b' IN 'abcb' FROM 3)", "4 :: INT NOT NULL"},
		{"POSITION('笑' IN '😀笑')", "2 :: INT NOT NULL"},
		{"POSITION('z' IN 'abc')", "0 :: INT NOT NULL"},
	},
	Bind: typed(bindPosition),
}

var locateDef = &Def{
	Name: "LOCATE", Family: familyString, Syntax: "LOCATE(part, string [, start])",
	Doc: "Returns the position, counted in characters from 1, at which the part first stands in the string, at start or behind it; " +
		"0 if it does not. The empty string is found at 1.",
	Examples: []Example{
		{"LOCATE('b', 'abcb')", "2 :: INT NOT NULL"},
		{"LOCATE('b', 'abcb', 3)", "4 :: INT NOT NULL"},
		{"LOCATE('a', 'abc', CAST(NULL AS INT))", "NULL :: INT"},
	},
	Bind: typed(bindPosition),
}

func bindPosition(c *Call) (*Bound, error) {
	params, err := c.Check(2, TextArg, TextArg, IntArg)
	if err != nil {
		return nil, err
	}
	t := c.Strict(types.Of(types.Int))
	k := Map2(t, func(part, s []byte) int32 { return position(s, part, 1) })
	if len(c.Args) == 3 {
		k = Map3(t, func(part, s []byte, from int32) int32 { return position(s, part, from) })
	}
	return &Bound{Params: params, Result: t, Kernel: k}, nil
}

// position returns the position of part in s from position from on, or 0.
func position(s, part []byte, from int32) int32 {
	if len(part) == 0 {
		return 1
	}
	from = max(from, 1)
	off, _ := charOffset(s, int(from-1))
	at := bytes.Index(s[off:], part)
	if at < 0 {
		return 0
	}
	return from + int32(charCount(s[off:off+at]))
}

var instrDef = &Def{
	Name: "INSTR", Family: familyString, Syntax: "INSTR(string, part [, start [, n]])",
	Doc: "Returns the position, counted in characters from 1, at which the part stands in the string for the n-th time (n is 1 if it is not given) " +
		"from position start on; 0 if it does not. A negative start counts from the end, and the search goes backwards. " +
		"Occurrences may overlap. An n below 1 is an error.",
	Examples: []Example{
		{"INSTR('abcb', 'b')", "2 :: INT NOT NULL"},
		{"INSTR('abcb', 'b', 3)", "4 :: INT NOT NULL"},
		{"INSTR('abcb', 'b', -1, 2)", "2 :: INT NOT NULL"},
		{"INSTR('aaaa', 'aa', 1, 2)", "2 :: INT NOT NULL"},
		{"INSTR('abcb', 'b', 0)", "0 :: INT NOT NULL"},
		{"INSTR('abcb', 'b', 1, 0)", "error"},
	},
	Bind: typed(bindInstr),
}

func bindInstr(c *Call) (*Bound, error) {
	params, err := c.Check(2, TextArg, TextArg, IntArg, IntArg)
	if err != nil {
		return nil, err
	}
	t := c.Strict(types.Of(types.Int))
	b := &Bound{Params: params, Result: t}
	switch len(c.Args) {
	case 2:
		b.Kernel = Map2(t, func(s, part []byte) int32 { return position(s, part, 1) })
	case 3:
		b.Kernel = Map3(t, func(s, part []byte, from int32) int32 { return instr(s, part, from, 1) })
	default:
		b.Kernel = instrKernel(t)
	}
	return b, nil
}

var errInstr = errors.New("argument 4 of INSTR, the number of the occurrence, must be at least 1")

func instrKernel(t types.Type) Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		s, part := args[0].(*batch.Bytes), args[1].(*batch.Bytes)
		from, n := args[2].(*batch.Fixed[int32]), args[3].(*batch.Fixed[int32])
		return Fixed(t, rows, func(i int) (int32, bool, error) {
			if n.Values[i] < 1 {
				return 0, false, errInstr
			}
			return instr(s.At(i), part.At(i), from.Values[i], n.Values[i]), true, nil
		})
	}
}

// instr returns the position of the n-th occurrence of part in s from position
// from on, or, if from is negative, before position from from the end.
func instr(s, part []byte, from, n int32) int32 {
	switch {
	case from > 0:
		at := int32(0)
		for ; n > 0; n-- {
			if at = position(s, part, from); at == 0 {
				return 0
			}
			from = at + 1
		}
		return at
	case from == 0:
		return 0
	case len(part) == 0:
		return int32(charCount(s)) + 1
	}
	// The match must end at or before the given character.
	end, missing := charOffsetBack(s, int(-int64(from))-1)
	if missing > 0 {
		return 0
	}
	for {
		at := bytes.LastIndex(s[:end], part)
		if at < 0 {
			return 0
		}
		if n--; n == 0 {
			return int32(charCount(s[:at])) + 1
		}
		end = prevChar(s, at+len(part))
	}
}

var startsWithDef = &Def{
	Name: "STARTSWITH", Family: familyString, Syntax: "STARTSWITH(string, prefix)",
	Doc: "Returns whether the string begins with the prefix. Both are strings, or both are binary strings.",
	Examples: []Example{
		{"STARTSWITH('abc', 'ab')", "TRUE :: BOOLEAN NOT NULL"},
		{"STARTSWITH('abc', 'b')", "FALSE :: BOOLEAN NOT NULL"},
		{"STARTSWITH('a', CAST(NULL AS STRING))", "NULL :: BOOLEAN"},
		{"STARTSWITH(x'4142', x'41')", "TRUE :: BOOLEAN NOT NULL"},
		{"STARTSWITH('AB', x'41')", "error"},
	},
	Bind: edgeBind(bytes.HasPrefix),
}

var endsWithDef = &Def{
	Name: "ENDSWITH", Family: familyString, Syntax: "ENDSWITH(string, suffix)",
	Doc: "Returns whether the string ends with the suffix. Both are strings, or both are binary strings.",
	Examples: []Example{
		{"ENDSWITH('abc', 'bc')", "TRUE :: BOOLEAN NOT NULL"},
		{"ENDSWITH('abc', '')", "TRUE :: BOOLEAN NOT NULL"},
		{"ENDSWITH(x'4142', x'41')", "FALSE :: BOOLEAN NOT NULL"},
	},
	Bind: edgeBind(bytes.HasSuffix),
}

func edgeBind(has func(s, edge []byte) bool) func(*Call) (*Bound, error) {
	kernel := func(t types.Type) Kernel { return Map2(t, has) }
	return either(
		Signature(types.Of(types.Boolean), kernel, TextArg, TextArg),
		Signature(types.Of(types.Boolean), kernel, BinaryArg, BinaryArg),
	)
}

var replaceDef = &Def{
	Name: "REPLACE", Family: familyString, Syntax: "REPLACE(string, old, new)",
	Doc: "Returns the string with each occurrence of old replaced by new. If old is empty, new is put before, between and behind all characters.",
	Examples: []Example{
		{"REPLACE('hello world', 'world', 'flink')", "hello flink :: STRING NOT NULL"},
		{"REPLACE('aaa', 'aa', 'b')", "ba :: STRING NOT NULL"},
		{"REPLACE('abc', '', 'x')", "xaxbxcx :: STRING NOT NULL"},
		{"REPLACE('abc', 'a', CAST(NULL AS STRING))", "NULL :: STRING"},
	},
	Bind: typed(func(c *Call) (*Bound, error) {
		params, err := c.Check(3, TextArg, TextArg, TextArg)
		if err != nil {
			return nil, err
		}
		t := c.Strict(types.StringType())
		b := &Bound{Params: params, Result: t, Kernel: Text3(t, appendReplace)}
		old, okOld := c.ConstText(1)
		with, okWith := c.ConstText(2)
		if okOld && okWith {
			oldBytes, withBytes := []byte(old), []byte(with)
			b.Kernel = Text1(t, func(dst, s []byte) []byte { return appendReplace(dst, s, oldBytes, withBytes) })
		}
		return b, nil
	}),
}

// appendReplace appends s with each occurrence of old replaced.
func appendReplace(dst, s, old, with []byte) []byte {
	if len(old) == 0 {
		dst = append(dst, with...)
		for len(s) > 0 {
			n := nextChar(s, 0)
			dst = append(append(dst, s[:n]...), with...)
			s = s[n:]
		}
		return dst
	}
	if len(old) == 1 {
		for {
			at := bytes.IndexByte(s, old[0])
			if at < 0 {
				return append(dst, s...)
			}
			dst = append(append(dst, s[:at]...), with...)
			s = s[at+1:]
		}
	}
	for {
		at := bytes.Index(s, old)
		if at < 0 {
			return append(dst, s...)
		}
		dst = append(append(dst, s[:at]...), with...)
		s = s[at+len(old):]
	}
}

var translateDef = &Def{
	Name: "TRANSLATE", Family: familyString, Syntax: "TRANSLATE(string, from, to)",
	Doc: "Returns the string with each character that stands in from replaced by the one at the same place in to; " +
		"a character without a counterpart is removed. A NULL in from or to counts as the empty string. Of repeated characters in from the first counts.",
	Examples: []Example{
		{"TRANSLATE('translate', 'rnlt', '123')", "1a2s3ae :: STRING NOT NULL"},
		{"TRANSLATE('aabbcc', 'aa', 'xy')", "xxbbcc :: STRING NOT NULL"},
		{"TRANSLATE('abc', CAST(NULL AS STRING), 'b')", "abc :: STRING NOT NULL"},
		{"TRANSLATE(CAST(NULL AS STRING), 'a', 'b')", "NULL :: STRING"},
	},
	NullCall: true,
	Bind: typed(func(c *Call) (*Bound, error) {
		params, err := c.Check(3, TextArg, TextArg, TextArg)
		if err != nil {
			return nil, err
		}
		t := types.StringType().WithNull(c.Args[0].Type.Nullable)
		return &Bound{Params: params, Result: t, Kernel: translateKernel(t)}, nil
	}),
}

func translateKernel(t types.Type) Kernel {
	// The mapping of the row before; with constants it is that of all rows.
	var tr translation
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		s, from, to := args[0].(*batch.Bytes), args[1].(*batch.Bytes), args[2].(*batch.Bytes)
		return Bytes(t, rows, sizeOf(args[:1]), func(dst []byte, i int) ([]byte, bool, error) {
			if s.Valid.IsNull(i) {
				return dst, false, nil
			}
			tr.set(orEmpty(from, i), orEmpty(to, i))
			return tr.append(dst, s.At(i)), true, nil
		})
	}
}

// orEmpty returns value i of v, or nothing if it is null.
func orEmpty(v *batch.Bytes, i int) []byte {
	if v.Valid.IsNull(i) {
		return nil
	}
	return v.At(i)
}

// translation is the mapping of a TRANSLATE.
type translation struct {
	from, to []byte
	ready    bool
	// ascii holds what becomes of each ASCII character that becomes another one,
	// or noASCII; wide holds what becomes of these and of all others. A character
	// that is removed becomes an empty string.
	ascii [128]byte
	wide  map[rune]string
}

const noASCII = 0x80

// set prepares the mapping, unless it is the one that is already there.
func (t *translation) set(from, to []byte) {
	if t.ready && bytes.Equal(t.from, from) && bytes.Equal(t.to, to) {
		return
	}
	t.from, t.to, t.ready = append(t.from[:0], from...), append(t.to[:0], to...), true
	for i := range t.ascii {
		t.ascii[i] = byte(i)
	}
	t.wide = map[rune]string{}
	for len(from) > 0 {
		r, n := decodeChar(from)
		m := 0
		if len(to) > 0 {
			m = nextChar(to, 0)
		}
		if _, seen := t.wide[r]; !seen {
			t.wide[r] = string(to[:m])
			switch {
			case r < 128 && m == 1:
				t.ascii[r] = to[0]
			case r < 128:
				t.ascii[r] = noASCII
			}
		}
		from, to = from[n:], to[m:]
	}
}

func (t *translation) append(dst, s []byte) []byte {
	for len(s) > 0 {
		if c := s[0]; c < 128 && t.ascii[c] < noASCII {
			dst, s = append(dst, t.ascii[c]), s[1:]
			continue
		}
		r, n := decodeChar(s)
		if with, ok := t.wide[r]; ok {
			dst = append(dst, with...)
		} else {
			dst = append(dst, s[:n]...)
		}
		s = s[n:]
	}
	return dst
}
