package fn

import (
	"bytes"
	"fmt"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

func init() {
	Register(likeDef, similarDef)
}

var likeDef = &Def{
	Name: "LIKE", Family: familyString, Syntax: "string [NOT] LIKE pattern [ESCAPE character]",
	Doc: "Returns whether the whole string matches the pattern, in which % stands for any text and _ for any one character, a line feed included. " +
		"Behind the escape character, of which there is none by default, %, _ and the escape character stand for themselves; anything else there is an error.",
	Examples: []Example{
		{"'abc' LIKE 'a%'", "TRUE :: BOOLEAN NOT NULL"},
		{"'a😀b' LIKE 'a_b'", "TRUE :: BOOLEAN NOT NULL"},
		{"'a%b' LIKE 'a!%b' ESCAPE '!'", "TRUE :: BOOLEAN NOT NULL"},
		{"'abc' NOT LIKE 'a%'", "FALSE :: BOOLEAN NOT NULL"},
		{"'abc' LIKE CAST(NULL AS STRING)", "NULL :: BOOLEAN"},
		{"'ab' LIKE 'a!b' ESCAPE '!'", "error"},
	},
	Internal: true,
	Bind:     typed(bindLike),
}

func bindLike(c *Call) (*Bound, error) {
	params, err := c.Check(2, TextArg, TextArg, TextArg)
	if err != nil {
		return nil, err
	}
	t := c.Strict(types.Of(types.Boolean))
	b := &Bound{Params: params, Result: t, Kernel: likeByRow(t)}
	pattern, constant := c.ConstText(1)
	escape := ""
	if len(c.Args) == 3 && constant {
		escape, constant = c.ConstText(2)
	}
	if !constant {
		return b, nil
	}
	p, err := compileLike([]byte(pattern), []byte(escape))
	if err != nil {
		return nil, Argf(1, "%s", err.Error())
	}
	b.Kernel = p.kernel(t)
	return b, nil
}

// likeByRow matches with patterns that are not constant; the one of the row
// before is kept.
func likeByRow(t types.Type) Kernel {
	var (
		last, lastEscape []byte
		p                *likePattern
	)
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		s, patterns := args[0].(*batch.Bytes), args[1].(*batch.Bytes)
		return Fixed(t, rows, func(i int) (bool, bool, error) {
			pattern, escape := patterns.At(i), []byte(nil)
			if len(args) == 3 {
				escape = args[2].(*batch.Bytes).At(i)
			}
			if p == nil || !bytes.Equal(pattern, last) || !bytes.Equal(escape, lastEscape) {
				var err error
				if p, err = compileLike(pattern, escape); err != nil {
					p = nil
					return false, false, err
				}
				last, lastEscape = append(last[:0], pattern...), append(lastEscape[:0], escape...)
			}
			return p.match(s.At(i)), true, nil
		})
	}
}

// likePattern is a compiled pattern: what stands between its %.
type likePattern struct {
	parts []likePart
}

// likePart is a text with places for any character. Texts and places take
// turns: texts[0], gaps[0] characters, texts[1], ...; so there is one text more
// than there are gaps.
type likePart struct {
	texts [][]byte
	gaps  []int
}

// compileLike compiles a pattern; the escape character is empty if there is
// none.
func compileLike(pattern, escape []byte) (*likePattern, error) {
	if len(escape) > 0 && (charCount(escape) != 1 || len(escape) == 4) {
		return nil, fmt.Errorf("the escape character must be one character, not '%s'", escape)
	}
	p := &likePattern{parts: []likePart{{texts: [][]byte{nil}}}}
	for i := 0; i < len(pattern); {
		n := nextChar(pattern, i) - i
		char := pattern[i : i+n]
		part := &p.parts[len(p.parts)-1]
		i += n
		switch {
		case len(escape) > 0 && bytes.Equal(char, escape):
			n = 0
			if i < len(pattern) {
				n = nextChar(pattern, i) - i
			}
			next := pattern[i : i+n]
			if n == 0 || next[0] != '%' && next[0] != '_' && !bytes.Equal(next, escape) {
				return nil, fmt.Errorf("the escape character '%s' of the pattern '%s' must stand before %%, _ or itself", escape, pattern)
			}
			part.text(next)
			i += n
		case char[0] == '%':
			p.parts = append(p.parts, likePart{texts: [][]byte{nil}})
		case char[0] == '_':
			part.gap()
		default:
			part.text(char)
		}
	}
	return p, nil
}

func (p *likePart) text(s []byte) {
	last := &p.texts[len(p.texts)-1]
	*last = append(*last, s...)
}

func (p *likePart) gap() {
	if last := len(p.texts) - 1; last > 0 && len(p.texts[last]) == 0 {
		p.gaps[last-1]++
		return
	}
	p.gaps = append(p.gaps, 1)
	p.texts = append(p.texts, nil)
}

// at reports whether the part stands at the start of s, and where it ends.
func (p *likePart) at(s []byte) (end int, ok bool) {
	for i, text := range p.texts {
		if !bytes.HasPrefix(s[end:], text) {
			return 0, false
		}
		end += len(text)
		if i < len(p.gaps) {
			off, missing := charOffset(s[end:], p.gaps[i])
			if missing > 0 {
				return 0, false
			}
			end += off
		}
	}
	return end, true
}

// find returns where the part first ends in s, or -1.
func (p *likePart) find(s []byte) int {
	for start := 0; ; start = nextChar(s, start) {
		off := bytes.Index(s[start:], p.texts[0])
		if off < 0 {
			return -1
		}
		start += off
		if end, ok := p.at(s[start:]); ok {
			return start + end
		}
		if start >= len(s) {
			return -1
		}
	}
}

// chars returns the number of characters that the part takes.
func (p *likePart) chars() int {
	n := 0
	for _, t := range p.texts {
		n += charCount(t)
	}
	for _, g := range p.gaps {
		n += g
	}
	return n
}

func (p *likePattern) match(s []byte) bool {
	end, ok := p.parts[0].at(s)
	if !ok {
		return false
	}
	s = s[end:]
	last := len(p.parts) - 1
	if last == 0 {
		return len(s) == 0
	}
	for i := 1; i < last; i++ {
		if end = p.parts[i].find(s); end < 0 {
			return false
		}
		s = s[end:]
	}
	off, missing := charOffsetBack(s, p.parts[last].chars())
	if missing > 0 {
		return false
	}
	end, ok = p.parts[last].at(s[off:])
	return ok && off+end == len(s)
}

// plain returns the text of the only part that is not empty, if it has no gaps.
func (p *likePattern) plain(i int) ([]byte, bool) {
	for k, part := range p.parts {
		if len(part.gaps) > 0 || k != i && len(part.texts[0]) > 0 {
			return nil, false
		}
	}
	return p.parts[i].texts[0], true
}

// kernel returns the code for a constant pattern: the plain kinds of patterns
// have short cuts.
func (p *likePattern) kernel(t types.Type) Kernel {
	switch n := len(p.parts); n {
	case 1:
		if text, ok := p.plain(0); ok {
			return Map1(t, func(s []byte) bool { return bytes.Equal(s, text) })
		}
	case 2:
		if text, ok := p.plain(0); ok {
			return Map1(t, func(s []byte) bool { return bytes.HasPrefix(s, text) })
		}
		if text, ok := p.plain(1); ok {
			return Map1(t, func(s []byte) bool { return bytes.HasSuffix(s, text) })
		}
	case 3:
		if text, ok := p.plain(1); ok {
			return Map1(t, func(s []byte) bool { return bytes.Contains(s, text) })
		}
	}
	return Map1(t, p.match)
}
