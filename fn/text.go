package fn

import (
	"math"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

func init() {
	Register(charLengthDef, concatDef, concatWsDef, repeatDef, reverseDef, asciiDef, chrDef, eltDef)
}

var charLengthDef = &Def{
	Name: "CHAR_LENGTH", Aliases: []string{"CHARACTER_LENGTH"}, Family: familyString, Syntax: "CHAR_LENGTH(string)",
	Doc: "Returns the number of characters of the string.",
	Examples: []Example{
		{"CHAR_LENGTH('a😀b')", "3 :: INT NOT NULL"},
		{"CHAR_LENGTH('')", "0 :: INT NOT NULL"},
		{"CHARACTER_LENGTH('naïve')", "5 :: INT NOT NULL"},
		{"CHAR_LENGTH(CAST('ab' AS CHAR(5)))", "5 :: INT NOT NULL"},
		{"CHAR_LENGTH(CAST(NULL AS STRING))", "NULL :: INT"},
	},
	Bind: typed(Signature(types.Of(types.Int), charLengthKernel, TextArg)),
}

func charLengthKernel(t types.Type) Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		in := args[0].(*batch.Bytes)
		out := batch.MakeFixed[int32](t, rows.N)
		if rows.Sel != nil {
			for _, i := range rows.Sel {
				out.Values[i] = int32(charCount(in.At(int(i))))
			}
			return out, nil
		}
		if isASCII(in.Data[in.Offsets[0]:in.Offsets[rows.N]]) {
			for i := range out.Values {
				out.Values[i] = in.Offsets[i+1] - in.Offsets[i]
			}
			return out, nil
		}
		for i := range out.Values {
			out.Values[i] = int32(charCount(in.At(i)))
		}
		return out, nil
	}
}

var concatDef = &Def{
	Name: "CONCAT", Family: familyString, Syntax: "CONCAT(string, ...)",
	Doc: "Returns the strings one behind the other. NULL if one of them is NULL.",
	Examples: []Example{
		{"CONCAT('a', 'b')", "ab :: STRING NOT NULL"},
		{"CONCAT('a', CAST(NULL AS STRING))", "NULL :: STRING"},
		{"CONCAT('a', 1)", "error"},
	},
	Bind: typed(func(c *Call) (*Bound, error) {
		if err := wantTexts(c, 1); err != nil {
			return nil, err
		}
		t := c.Strict(types.StringType())
		return &Bound{Result: t, Kernel: ConcatKernel(t)}, nil
	}),
}

// wantTexts checks that a call has at least min arguments, all of them strings.
func wantTexts(c *Call, min int) error {
	if err := c.Arity(min, -1); err != nil {
		return err
	}
	for i := range c.Args {
		if _, err := c.Want(i, TextArg); err != nil {
			return err
		}
	}
	return nil
}

// ConcatKernel appends any number of texts or binaries to each other: CONCAT
// and the operator ||.
func ConcatKernel(t types.Type) Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		in := make([]*batch.Bytes, len(args))
		size := 0
		for i, a := range args {
			in[i] = a.(*batch.Bytes)
			size += int(in[i].Offsets[rows.N] - in[i].Offsets[0])
		}
		if size > math.MaxInt32 {
			return nil, Failf(rows.At(0), "the results of CONCAT for one batch of rows exceed 2 GiB")
		}
		if rows.Sel != nil || len(in) != 2 {
			return Bytes(t, rows, size, func(dst []byte, i int) ([]byte, bool, error) {
				for _, v := range in {
					dst = append(dst, v.At(i)...)
				}
				return dst, true, nil
			})
		}
		a, b := in[0], in[1]
		out := &batch.Bytes{Typ: t, Offsets: make([]int32, rows.N+1), Data: make([]byte, 0, size)}
		for i := range rows.N {
			out.Data = append(append(out.Data, a.At(i)...), b.At(i)...)
			out.Offsets[i+1] = int32(len(out.Data))
		}
		return out, nil
	}
}

var concatWsDef = &Def{
	Name: "CONCAT_WS", Family: familyString, Syntax: "CONCAT_WS(separator, string, ...)",
	Doc: "Returns the strings joined by the separator. Strings that are NULL are left out; if the separator is NULL, so is the result.",
	Examples: []Example{
		{"CONCAT_WS(',', 'a', 'b')", "a,b :: STRING NOT NULL"},
		{"CONCAT_WS(',', 'a', CAST(NULL AS STRING), 'b')", "a,b :: STRING"},
		{"CONCAT_WS(',', '', 'a', '')", ",a, :: STRING NOT NULL"},
		{"CONCAT_WS(',')", "'' :: STRING NOT NULL"},
		{"CONCAT_WS(CAST(NULL AS STRING), 'a')", "NULL :: STRING"},
	},
	NullCall: true,
	Bind: typed(func(c *Call) (*Bound, error) {
		if err := wantTexts(c, 1); err != nil {
			return nil, err
		}
		t := c.Strict(types.StringType())
		return &Bound{Result: t, Kernel: concatWsKernel(t)}, nil
	}),
}

func concatWsKernel(t types.Type) Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		in := make([]*batch.Bytes, len(args))
		for i, a := range args {
			in[i] = a.(*batch.Bytes)
		}
		sep, in := in[0], in[1:]
		return Bytes(t, rows, sizeOf(args), func(dst []byte, i int) ([]byte, bool, error) {
			if sep.Valid.IsNull(i) {
				return dst, false, nil
			}
			first := true
			for _, v := range in {
				if v.Valid.IsNull(i) {
					continue
				}
				if !first {
					dst = append(dst, sep.At(i)...)
				}
				dst, first = append(dst, v.At(i)...), false
			}
			return dst, true, nil
		})
	}
}

// room checks that n copies of size bytes can be appended to dst, whose offsets
// are int32.
func room(dst []byte, n, size int, name string) error {
	if n > 0 && size > 0 && n > (math.MaxInt32-len(dst))/size {
		return Argf(-1, "the results of %s for one batch of rows exceed 2 GiB; ask for fewer or shorter copies", name)
	}
	return nil
}

var repeatDef = &Def{
	Name: "REPEAT", Family: familyString, Syntax: "REPEAT(string, n)",
	Doc: "Returns the string n times, one behind the other; the empty string if n is not positive.",
	Examples: []Example{
		{"REPEAT('ab', 3)", "ababab :: STRING NOT NULL"},
		{"REPEAT('ab', 0)", "'' :: STRING NOT NULL"},
		{"REPEAT('a', CAST(NULL AS INT))", "NULL :: STRING"},
	},
	Bind: typed(Signature(types.StringType(), func(t types.Type) Kernel {
		return TextErr2(t, func(dst, s []byte, n int32) ([]byte, bool, error) {
			if err := room(dst, int(n), len(s), "REPEAT"); err != nil {
				return nil, false, err
			}
			for ; n > 0; n-- {
				dst = append(dst, s...)
			}
			return dst, true, nil
		})
	}, TextArg, IntArg)),
}

var reverseDef = &Def{
	Name: "REVERSE", Family: familyString, Syntax: "REVERSE(string)",
	Doc: "Returns the characters of the string in reverse order.",
	Examples: []Example{
		{"REVERSE('a😀b')", "b😀a :: STRING"},
		{"REVERSE(CAST(NULL AS STRING))", "NULL :: STRING"},
	},
	Bind: typed(nullable(types.StringType(), func(t types.Type) Kernel { return Text1(t, appendReverse) }, TextArg)),
}

// nullable is Signature for functions whose result type is always nullable.
func nullable(result types.Type, kernel func(types.Type) Kernel, params ...Class) func(*Call) (*Bound, error) {
	bind := Signature(result, kernel, params...)
	return func(c *Call) (*Bound, error) {
		b, err := bind(c)
		if err != nil {
			return nil, err
		}
		t := result.WithNull(true)
		return &Bound{Params: b.Params, Result: t, Kernel: kernel(t)}, nil
	}
}

func appendReverse(dst, s []byte) []byte {
	for end := len(s); end > 0; {
		start := prevChar(s, end)
		dst = append(dst, s[start:end]...)
		end = start
	}
	return dst
}

var asciiDef = &Def{
	Name: "ASCII", Family: familyString, Syntax: "ASCII(string)",
	Doc: "Returns the first byte of the string's UTF-8 form, as a signed number; 0 for the empty string.",
	Examples: []Example{
		{"ASCII('abc')", "97 :: INT NOT NULL"},
		{"ASCII('é')", "-61 :: INT NOT NULL"},
		{"ASCII('')", "0 :: INT NOT NULL"},
	},
	Bind: typed(Signature(types.Of(types.Int), func(t types.Type) Kernel {
		return Map1(t, func(s []byte) int32 {
			if len(s) == 0 {
				return 0
			}
			return int32(int8(s[0]))
		})
	}, TextArg)),
}

var chrDef = &Def{
	Name: "CHR", Family: familyString, Syntax: "CHR(n)",
	Doc: "Returns the character with the code n modulo 256; the empty string if n is negative.",
	Examples: []Example{
		{"CHR(65)", "A :: STRING"},
		{"CHR(97 + 256)", "a :: STRING"},
		{"CHR(233)", "é :: STRING"},
		{"CHR(-1)", "'' :: STRING"},
	},
	Bind: typed(nullable(types.StringType(), func(t types.Type) Kernel {
		return Text1(t, func(dst []byte, n int64) []byte {
			if n < 0 {
				return dst
			}
			return appendChar(dst, rune(n&0xFF))
		})
	}, IntegerArg)),
}

var eltDef = &Def{
	Name: "ELT", Family: familyString, Syntax: "ELT(n, string, ...)",
	Doc: "Returns the n-th of the strings (or binary strings) behind n, counted from 1; NULL if there is none.",
	Examples: []Example{
		{"ELT(2, 'a', 'bcd')", "bcd :: VARCHAR(3)"},
		{"ELT(1, 'a', 'b')", "a :: CHAR(1)"},
		{"ELT(3, 'a', 'b')", "NULL :: CHAR(1)"},
		{"ELT(1, x'41', x'42')", "A :: BINARY(1)"},
		{"ELT(1)", "error"},
	},
	NullCall: true,
	Bind:     bindElt,
}

func bindElt(c *Call) (*Bound, error) {
	if err := c.Arity(2, -1); err != nil {
		return nil, err
	}
	if c.Args[0].Type.Kind != types.Int {
		return nil, c.Misfit(0, "an INT")
	}
	if n, ok := c.ConstInt(0); ok && n < 0 && !c.Args[0].Type.Nullable {
		return nil, Argf(0, "argument 1 of ELT must not be negative, but is %d", n)
	}
	ts, bare := make([]types.Type, len(c.Args)-1), false
	for i := range ts {
		ts[i] = c.Args[i+1].Type
		bare = bare || c.Args[i+1].Implicit
	}
	t, ok := MergedType(ts)
	switch {
	case !ok || !t.IsChar() && !t.IsBinary() && t.Kind != types.Null:
		return nil, Argf(-1, "the arguments of ELT behind the first one must all be strings, or all be binary strings")
	case t.Kind == types.Null:
		t = types.StringType()
	case bare:
		t = varying(t)
	}
	b := &Bound{Params: make([]types.Type, len(c.Args)), Result: t.WithNull(true)}
	for i := range ts {
		if c.Args[i+1].Implicit {
			b.Params[i+1] = b.Result
		}
	}
	b.Kernel = eltKernel(b.Result)
	return b, nil
}

// varying returns VARCHAR(n) for CHAR(n), VARBINARY(n) for BINARY(n), and other
// types as they are.
func varying(t types.Type) types.Type {
	switch t.Kind {
	case types.Char:
		t.Kind = types.Varchar
	case types.Binary:
		t.Kind = types.Varbinary
	}
	return t
}

func eltKernel(t types.Type) Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		n := args[0].(*batch.Fixed[int32])
		in := make([]*batch.Bytes, len(args)-1)
		for i, a := range args[1:] {
			in[i] = a.(*batch.Bytes)
		}
		return Bytes(t, rows, 0, func(dst []byte, i int) ([]byte, bool, error) {
			k := int(n.Values[i]) - 1
			if n.Valid.IsNull(i) || k < 0 || k >= len(in) || in[k].Valid.IsNull(i) {
				return dst, false, nil
			}
			return append(dst, in[k].At(i)...), true, nil
		})
	}
}
