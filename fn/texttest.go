package fn

import (
	"unicode"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

func init() {
	Register(isAlphaDef, isDigitDef, isDecimalDef)
}

var isAlphaDef = &Def{
	Name: "IS_ALPHA", Family: familyString, Syntax: "IS_ALPHA(string)",
	Doc: "Returns whether the string is made of letters of the basic plane of Unicode only, and not empty. FALSE for NULL and for numbers.",
	Examples: []Example{
		{"IS_ALPHA('abé')", "TRUE :: BOOLEAN NOT NULL"},
		{"IS_ALPHA('abc1')", "FALSE :: BOOLEAN NOT NULL"},
		{"IS_ALPHA('')", "FALSE :: BOOLEAN NOT NULL"},
		{"IS_ALPHA(1)", "FALSE :: BOOLEAN NOT NULL"},
	},
	NullCall: true,
	Bind: typed(testBind(func(types.Type) bool { return false }, func(s []byte) bool {
		return made(s, unicode.IsLetter)
	})),
}

var isDigitDef = &Def{
	Name: "IS_DIGIT", Family: familyString, Syntax: "IS_DIGIT(string)",
	Doc: "Returns whether the string is made of decimal digits of the basic plane of Unicode only, and not empty. " +
		"FALSE for a NULL string; TRUE for integers, FALSE for other numbers.",
	Examples: []Example{
		{"IS_DIGIT('123')", "TRUE :: BOOLEAN NOT NULL"},
		{"IS_DIGIT('-1')", "FALSE :: BOOLEAN NOT NULL"},
		{"IS_DIGIT('٣')", "TRUE :: BOOLEAN NOT NULL"},
		{"IS_DIGIT(5)", "TRUE :: BOOLEAN NOT NULL"},
	},
	NullCall: true,
	Bind: typed(testBind(types.Type.IsInteger, func(s []byte) bool {
		return made(s, unicode.IsDigit)
	})),
}

var isDecimalDef = &Def{
	Name: "IS_DECIMAL", Family: familyString, Syntax: "IS_DECIMAL(string)",
	Doc: "Returns whether the string is a number as Java reads it: 1, -1.2, .5, 1e5, NaN. " +
		"FALSE for a NULL string; TRUE for integers and floats, FALSE for a DECIMAL.",
	Examples: []Example{
		{"IS_DECIMAL('-1.2')", "TRUE :: BOOLEAN NOT NULL"},
		{"IS_DECIMAL('1e5')", "TRUE :: BOOLEAN NOT NULL"},
		{"IS_DECIMAL('abc')", "FALSE :: BOOLEAN NOT NULL"},
		{"IS_DECIMAL(1.5)", "FALSE :: BOOLEAN NOT NULL"},
	},
	NullCall: true,
	Bind: typed(testBind(func(t types.Type) bool { return t.IsInteger() || t.IsApprox() }, func(s []byte) bool {
		if _, ok := text.ParseDouble(s); ok {
			return true
		}
		if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
			s = s[1:]
		}
		return made(s, unicode.IsDigit)
	})),
}

// testBind is the Bind of the tests of text: numbers have one answer by their
// type, even where they are null; the test of a null text is false.
func testBind(number func(types.Type) bool, test func([]byte) bool) func(*Call) (*Bound, error) {
	return func(c *Call) (*Bound, error) {
		if err := c.Arity(1, 1); err != nil {
			return nil, err
		}
		t := types.Of(types.Boolean).NotNull()
		switch in := c.Args[0].Type; {
		case in.IsChar():
			return &Bound{Result: t, Kernel: func(rows Rows, args []batch.Vector) (batch.Vector, error) {
				s := args[0].(*batch.Bytes)
				return Fixed(t, rows, func(i int) (bool, bool, error) {
					return !s.Valid.IsNull(i) && test(s.At(i)), true, nil
				})
			}}, nil
		case in.IsNumeric():
			answer := number(in)
			return &Bound{Result: t, Kernel: func(rows Rows, _ []batch.Vector) (batch.Vector, error) {
				return Fixed(t, rows, func(int) (bool, bool, error) { return answer, true, nil })
			}}, nil
		}
		return nil, c.Misfit(0, "a string or a number")
	}
}

// made reports whether s is not empty and made of characters of the basic plane
// that a test accepts.
func made(s []byte, accept func(rune) bool) bool {
	for i := 0; i < len(s); {
		r, n := decodeChar(s[i:])
		if r > 0xFFFF || !accept(r) {
			return false
		}
		i += n
	}
	return len(s) > 0
}
