package fn

import (
	"bytes"
	"errors"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/regex"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

func init() {
	Register(regexpDef, regexpReplaceDef, regexpExtractDef, regexpExtractAllDef, regexpCountDef, regexpInstrDef, regexpSubstrDef)
}

const regexpNote = " The regular expression is one of Java's."

var regexpDef = &Def{
	Name: "REGEXP", Family: familyString, Syntax: "REGEXP(string, regex)",
	Doc: "Returns whether a part of the string matches the regular expression. FALSE if the expression is empty or wrong." + regexpNote,
	Examples: []Example{
		{"REGEXP('abc', '^a.c$')", "TRUE :: BOOLEAN NOT NULL"},
		{"REGEXP('aa', '(a)\\1')", "TRUE :: BOOLEAN NOT NULL"},
		{"REGEXP('abc', '(')", "FALSE :: BOOLEAN NOT NULL"},
		{"REGEXP('abc', CAST(NULL AS STRING))", "NULL :: BOOLEAN"},
	},
	Bind: typed(regexpBind(func(c *Call) (types.Type, Kernel) {
		t := c.Strict(types.Of(types.Boolean))
		return t, matchKernel(t, func(m *matcher, s []byte) (bool, bool, error) {
			if m.re == nil || len(m.text) == 0 {
				return false, true, nil
			}
			loc, err := m.re.Find(s, 0)
			return loc != nil, true, err
		})
	}, 2, TextArg, TextArg)),
}

var regexpReplaceDef = &Def{
	Name: "REGEXP_REPLACE", Family: familyString, Syntax: "REGEXP_REPLACE(string, regex, replacement)",
	Doc: "Returns the string with each match of the regular expression replaced. The replacement is plain text: $1 has no meaning in it. " +
		"NULL if the expression is wrong." + regexpNote,
	Examples: []Example{
		{"REGEXP_REPLACE('foobar', 'oo|ar', '')", "fb :: STRING NOT NULL"},
		{"REGEXP_REPLACE('a1b22', '\\d+', '#')", "a#b# :: STRING NOT NULL"},
		{"REGEXP_REPLACE('foobar', '(o+)', '[$1]')", "f[$1]bar :: STRING NOT NULL"},
	},
	Bind: typed(regexpBind(func(c *Call) (types.Type, Kernel) {
		t := c.Strict(types.StringType())
		return t, regexpReplaceKernel(t)
	}, 3, TextArg, TextArg, TextArg)),
}

func regexpReplaceKernel(t types.Type) Kernel {
	m := &matcher{}
	return TextErr3(t, func(dst, s, pattern, with []byte) ([]byte, bool, error) {
		if err := m.set(pattern); err != nil || m.re == nil {
			return dst, false, err
		}
		last := 0
		err := m.re.Each(s, func(loc []int) bool {
			dst = append(append(dst, s[last:loc[0]]...), with...)
			last = loc[1]
			return true
		})
		return append(dst, s[last:]...), true, err
	})
}

var regexpExtractDef = &Def{
	Name: "REGEXP_EXTRACT", Family: familyString, Syntax: "REGEXP_EXTRACT(string, regex [, group])",
	Doc: "Returns what the group captured in the first match of the regular expression; the whole match for group 0, which is the default. " +
		"NULL if nothing matches, there is no such group, or the expression is wrong." + regexpNote,
	Examples: []Example{
		{"REGEXP_EXTRACT('foothebar', 'foo(.*?)(bar)', 2)", "bar :: STRING"},
		{"REGEXP_EXTRACT('foothebar', 'foo(.*?)(bar)')", "foothebar :: STRING"},
		{"REGEXP_EXTRACT('abc', 'z')", "NULL :: STRING"},
	},
	Bind: typed(regexpBind(func(*Call) (types.Type, Kernel) {
		t := types.StringType()
		return t, regexpExtractKernel(t)
	}, 2, TextArg, TextArg, IntegerArg)),
}

func regexpExtractKernel(t types.Type) Kernel {
	m := &matcher{}
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		s, pattern := args[0].(*batch.Bytes), args[1].(*batch.Bytes)
		return Bytes(t, rows, 0, func(dst []byte, i int) ([]byte, bool, error) {
			if err := m.set(pattern.At(i)); err != nil || m.re == nil {
				return dst, false, err
			}
			group := int64(0)
			if len(args) == 3 {
				group = args[2].(*batch.Fixed[int64]).Values[i]
			}
			text := s.At(i)
			loc, err := m.re.Find(text, 0)
			if err != nil || loc == nil || group < 0 || group > int64(m.re.Groups()) || loc[2*group] < 0 {
				return dst, false, err
			}
			return append(dst, text[loc[2*group]:loc[2*group+1]]...), true, nil
		})
	}
}

var regexpExtractAllDef = &Def{
	Name: "REGEXP_EXTRACT_ALL", Family: familyString, Syntax: "REGEXP_EXTRACT_ALL(string, regex [, group])",
	Doc: "Returns what the group captured in each match of the regular expression, as an array; the whole matches for group 0. " +
		"The group is 1 if it is not given. NULL if there is no such group or the expression is wrong." + regexpNote,
	Examples: []Example{
		{"REGEXP_EXTRACT_ALL('a1b2c3', '([a-z])(\\d)', 2)", "[1, 2, 3] :: ARRAY<STRING>"},
		{"REGEXP_EXTRACT_ALL('abc', '(\\d)')", "[] :: ARRAY<STRING>"},
		{"REGEXP_EXTRACT_ALL('a1b2c3', '\\d')", "NULL :: ARRAY<STRING>"},
	},
	Bind: regexpBind(func(*Call) (types.Type, Kernel) {
		t := types.ArrayOf(types.StringType())
		return t, regexpExtractAllKernel(t)
	}, 2, TextArg, TextArg, IntegerArg),
}

func regexpExtractAllKernel(t types.Type) Kernel {
	m := &matcher{}
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		s, pattern := args[0].(*batch.Bytes), args[1].(*batch.Bytes)
		return Lists(t, rows, func(elem batch.Vector, i int) (bool, error) {
			group := int64(1)
			if len(args) == 3 {
				group = args[2].(*batch.Fixed[int64]).Values[i]
			}
			if err := m.set(pattern.At(i)); err != nil || m.re == nil || group < 0 || group > int64(m.re.Groups()) {
				return false, err
			}
			text := s.At(i)
			err := m.re.Each(text, func(loc []int) bool {
				if loc[2*group] < 0 {
					elem.AppendNull()
				} else {
					elem.(*batch.Bytes).Append(text[loc[2*group]:loc[2*group+1]])
				}
				return true
			})
			return true, err
		})
	}
}

var regexpCountDef = &Def{
	Name: "REGEXP_COUNT", Family: familyString, Syntax: "REGEXP_COUNT(string, regex)",
	Doc: "Returns the number of matches of the regular expression in the string. NULL if the expression is wrong." + regexpNote,
	Examples: []Example{
		{"REGEXP_COUNT('banana', 'an')", "2 :: INT"},
		{"REGEXP_COUNT('banana', '')", "7 :: INT"},
		{"REGEXP_COUNT('banana', '(')", "NULL :: INT"},
	},
	Bind: regexpBind(func(*Call) (types.Type, Kernel) {
		t := types.Of(types.Int)
		return t, matchKernel(t, func(m *matcher, s []byte) (n int32, ok bool, err error) {
			if m.re == nil {
				return 0, false, nil
			}
			err = m.re.Each(s, func([]int) bool { n++; return true })
			return n, true, err
		})
	}, 2, TextArg, TextArg),
}

var regexpInstrDef = &Def{
	Name: "REGEXP_INSTR", Family: familyString, Syntax: "REGEXP_INSTR(string, regex)",
	Doc: "Returns the position of the first match of the regular expression in the string, counted from 1; 0 if there is none. " +
		"As in Flink, a character beyond U+FFFF counts twice. " +
		"NULL if the expression is wrong." + regexpNote,
	Examples: []Example{
		{"REGEXP_INSTR('banana', 'n')", "3 :: INT"},
		{"REGEXP_INSTR('banana', 'z')", "0 :: INT"},
		{"REGEXP_INSTR('banana', '(')", "NULL :: INT"},
	},
	Bind: regexpBind(func(*Call) (types.Type, Kernel) {
		t := types.Of(types.Int)
		return t, matchKernel(t, func(m *matcher, s []byte) (int32, bool, error) {
			if m.re == nil {
				return 0, false, nil
			}
			loc, err := m.re.Find(s, 0)
			if err != nil || loc == nil {
				return 0, true, err
			}
			return int32(text.UTF16Len(s[:loc[0]])) + 1, true, nil
		})
	}, 2, TextArg, TextArg),
}

var regexpSubstrDef = &Def{
	Name: "REGEXP_SUBSTR", Family: familyString, Syntax: "REGEXP_SUBSTR(string, regex)",
	Doc: "Returns the first match of the regular expression in the string. NULL if there is none or the expression is wrong." + regexpNote,
	Examples: []Example{
		{"REGEXP_SUBSTR('banana', 'n.')", "na :: STRING"},
		{"REGEXP_SUBSTR('banana', 'z')", "NULL :: STRING"},
	},
	Bind: regexpBind(func(*Call) (types.Type, Kernel) {
		t, m := types.StringType(), &matcher{}
		return t, TextErr2(t, func(dst, s, pattern []byte) ([]byte, bool, error) {
			if err := m.set(pattern); err != nil || m.re == nil {
				return dst, false, err
			}
			loc, err := m.re.Find(s, 0)
			if err != nil || loc == nil {
				return dst, false, err
			}
			return append(dst, s[loc[0]:loc[1]]...), true, nil
		})
	}, 2, TextArg, TextArg),
}

// regexpBind makes the Bind of a function whose second argument is a regular
// expression: one that is constant and not supported is refused at once.
func regexpBind(settle func(*Call) (types.Type, Kernel), required int, params ...Class) func(*Call) (*Bound, error) {
	return func(c *Call) (*Bound, error) {
		casts, err := c.Check(required, params...)
		if err != nil {
			return nil, err
		}
		if pattern, ok := c.ConstText(1); ok {
			if err := (&matcher{}).set([]byte(pattern)); err != nil {
				return nil, Argf(1, "%s", err.Error())
			}
		}
		t, k := settle(c)
		return &Bound{Params: casts, Result: t, Kernel: k}, nil
	}
}

// matcher holds a compiled regular expression.
type matcher struct {
	text  []byte
	ready bool
	// re is nil if the expression is wrong.
	re *regex.Regexp
}

// set compiles an expression, unless it is the one that is already there. The
// error says that it is not supported; for a wrong one m.re is nil.
func (m *matcher) set(pattern []byte) error {
	if m.ready && bytes.Equal(m.text, pattern) {
		return nil
	}
	m.text, m.ready = append(m.text[:0], pattern...), false
	re, err := regex.Compile(string(pattern))
	if unsupported := (*regex.UnsupportedError)(nil); errors.As(err, &unsupported) {
		return err
	}
	m.re, m.ready = re, true
	return nil
}

// matchKernel is a kernel of a string and a regular expression.
func matchKernel[R batch.Value](t types.Type, f func(m *matcher, s []byte) (R, bool, error)) Kernel {
	m := &matcher{}
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		s, pattern := args[0].(*batch.Bytes), args[1].(*batch.Bytes)
		return Fixed(t, rows, func(i int) (R, bool, error) {
			if err := m.set(pattern.At(i)); err != nil {
				var none R
				return none, false, err
			}
			return f(m, s.At(i))
		})
	}
}
