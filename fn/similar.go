package fn

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/regex"
	"github.com/millstream-io/millstream/types"
)

var similarDef = &Def{
	Name: "SIMILAR TO", Family: familyString, Syntax: "string [NOT] SIMILAR TO pattern [ESCAPE character]",
	Doc: "Returns whether the whole string matches the regular expression of SQL: % stands for any text, _ for any one character, " +
		"| separates alternatives, *, +, ? and {n,m} repeat, parentheses group, brackets hold characters, ranges and classes such as [:DIGIT:].",
	Examples: []Example{
		{"'abc' SIMILAR TO '(a|b)%'", "TRUE :: BOOLEAN NOT NULL"},
		{"'2024-01-01' SIMILAR TO '[0-9]{4}-[0-9]{2}-[0-9]{2}'", "TRUE :: BOOLEAN NOT NULL"},
		{"'5' SIMILAR TO '[[:DIGIT:]]'", "TRUE :: BOOLEAN NOT NULL"},
		{"'a%' SIMILAR TO 'a!%' ESCAPE '!'", "TRUE :: BOOLEAN NOT NULL"},
		{"'abc' NOT SIMILAR TO 'abc'", "FALSE :: BOOLEAN NOT NULL"},
		{"'abc' SIMILAR TO '('", "error"},
	},
	Internal: true,
	Bind:     typed(bindSimilar),
}

func bindSimilar(c *Call) (*Bound, error) {
	params, err := c.Check(2, TextArg, TextArg, TextArg)
	if err != nil {
		return nil, err
	}
	if pattern, ok := c.ConstText(1); ok {
		escape, hasEscape := c.ConstText(2)
		if _, err := compileSimilar(pattern, escape, hasEscape); err != nil && (len(c.Args) == 2 || hasEscape) {
			return nil, Argf(1, "%s", err.Error())
		}
	}
	t := c.Strict(types.Of(types.Boolean))
	return &Bound{Params: params, Result: t, Kernel: similarKernel(t)}, nil
}

func similarKernel(t types.Type) Kernel {
	var (
		last, lastEscape []byte
		re               *regex.Regexp
	)
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		s, patterns := args[0].(*batch.Bytes), args[1].(*batch.Bytes)
		return Fixed(t, rows, func(i int) (bool, bool, error) {
			pattern, escape := patterns.At(i), []byte(nil)
			if len(args) == 3 {
				escape = args[2].(*batch.Bytes).At(i)
			}
			if re == nil || !bytes.Equal(pattern, last) || !bytes.Equal(escape, lastEscape) {
				var err error
				if re, err = compileSimilar(string(pattern), string(escape), len(args) == 3); err != nil {
					re = nil
					return false, false, err
				}
				last, lastEscape = append(last[:0], pattern...), append(lastEscape[:0], escape...)
			}
			ok, err := re.MatchAll(s.At(i))
			return ok, true, err
		})
	}
}

const (
	// similarSpecials mean something in a pattern of SIMILAR TO.
	similarSpecials = "[]()|^-+*_%?{}"
	// regexSpecials are those that mean something in a regular expression.
	regexSpecials = "[]()|^-+*?{}$\\."
)

// similarClasses are the classes that can stand within brackets.
var similarClasses = map[string]string{
	"ALPHA": `\p{Alpha}`, "UPPER": `\p{Upper}`, "LOWER": `\p{Lower}`, "DIGIT": `\d`, "ALNUM": `\p{Alnum}`,
	"SPACE": " ", "WHITESPACE": `\s`,
}

// similarTranslator rewrites a pattern of SIMILAR TO as a regular expression.
type similarTranslator struct {
	pattern string
	pos     int
	escape  string
	out     strings.Builder
}

func compileSimilar(pattern, escape string, hasEscape bool) (*regex.Regexp, error) {
	if hasEscape && (len(escape) == 4 || charCount([]byte(escape)) != 1) {
		return nil, fmt.Errorf("the escape character must be one character, not '%s'", escape)
	}
	t := &similarTranslator{pattern: pattern, escape: escape}
	if err := t.translate(); err != nil {
		return nil, err
	}
	re, err := regex.Compile(t.out.String())
	if err != nil {
		return nil, fmt.Errorf("the pattern '%s' of SIMILAR TO cannot be used: %w", pattern, err)
	}
	return re, nil
}

func (t *similarTranslator) bad() error {
	return fmt.Errorf("the pattern '%s' of SIMILAR TO is wrong at character %d", t.pattern, charCount([]byte(t.pattern[:t.pos]))+1)
}

// escaped rewrites an escaped character if one comes next.
func (t *similarTranslator) escaped() (bool, error) {
	if t.escape == "" || !strings.HasPrefix(t.pattern[t.pos:], t.escape) {
		return false, nil
	}
	rest := t.pattern[t.pos+len(t.escape):]
	switch {
	case strings.HasPrefix(rest, t.escape):
		t.literal(t.escape)
		t.pos += 2 * len(t.escape)
	case rest != "" && strings.IndexByte(similarSpecials, rest[0]) >= 0:
		t.literal(rest[:1])
		t.pos += len(t.escape) + 1
	default:
		return false, t.bad()
	}
	return true, nil
}

// literal writes a character that stands for itself.
func (t *similarTranslator) literal(s string) {
	if strings.Contains(regexSpecials, s) {
		t.out.WriteByte('\\')
	}
	t.out.WriteString(s)
}

func (t *similarTranslator) translate() error {
	for t.pos < len(t.pattern) {
		if done, err := t.escaped(); err != nil {
			return err
		} else if done {
			continue
		}
		switch c := t.pattern[t.pos]; c {
		case '_':
			t.out.WriteByte('.')
		case '%':
			t.out.WriteString("(?s:.*)")
		case '\\', '$':
			t.out.WriteByte('\\')
			t.out.WriteByte(c)
		case ']':
			return t.bad()
		case '[':
			if err := t.brackets(); err != nil {
				return err
			}
			continue
		default:
			t.out.WriteByte(c)
		}
		t.pos++
	}
	return nil
}

// brackets rewrites what stands between brackets.
func (t *similarTranslator) brackets() error {
	t.out.WriteByte('[')
	t.pos++
	for t.pos < len(t.pattern) {
		if done, err := t.escaped(); err != nil {
			return err
		} else if done {
			continue
		}
		c := t.pattern[t.pos]
		switch {
		case c == ']':
			t.out.WriteByte(']')
			t.pos++
			return nil
		case strings.HasPrefix(t.pattern[t.pos:], "[:"):
			end := strings.Index(t.pattern[t.pos:], ":]")
			if end < 0 {
				return t.bad()
			}
			class := similarClass(t.pattern[t.pos+2 : t.pos+end])
			if class == "" {
				return t.bad()
			}
			t.out.WriteString(class)
			t.pos += end + 2
			continue
		case c != '-' && c != '^' && strings.IndexByte(similarSpecials, c) >= 0:
			return t.bad()
		}
		t.out.WriteByte(c)
		t.pos++
	}
	return t.bad()
}

// similarClass returns a class by its name, which is in upper or lower case.
func similarClass(name string) string {
	upper := strings.ToUpper(name)
	if name != upper && name != strings.ToLower(name) {
		return ""
	}
	return similarClasses[upper]
}
