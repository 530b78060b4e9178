package regex

import (
	"strings"
	"unicode"
)

// set is a set of characters.
type set struct {
	ascii [2]uint64
	wide  func(rune) bool
}

// newSet makes a set of the characters for which in is true.
func newSet(in func(rune) bool) *set {
	s := &set{wide: in}
	for r := rune(0); r < 128; r++ {
		if in(r) {
			s.ascii[r>>6] |= 1 << (uint(r) & 63)
		}
	}
	return s
}

func (s *set) has(r rune) bool {
	if r < 128 {
		return s.ascii[r>>6]&(1<<(uint(r)&63)) != 0
	}
	return s.wide(r)
}

func (s *set) negate() *set { return newSet(func(r rune) bool { return !s.has(r) }) }

func union(a, b *set) *set {
	if a == nil {
		return b
	}
	return newSet(func(r rune) bool { return a.has(r) || b.has(r) })
}

func intersect(a, b *set) *set {
	if a == nil {
		return b
	}
	return newSet(func(r rune) bool { return a.has(r) && b.has(r) })
}

// span is the set of the characters lo to hi, without regard to case if the
// flags say so.
func span(lo, hi rune, f flags) *set {
	in := func(r rune) bool { return r >= lo && r <= hi }
	switch {
	case f&flagFold == 0:
		return newSet(in)
	case f&flagUnicodeFold == 0:
		return newSet(func(r rune) bool { return in(r) || isLetter(r) && in(r^0x20) })
	}
	return newSet(func(r rune) bool {
		u := unicode.ToUpper(r)
		return in(r) || in(u) || in(unicode.ToLower(u))
	})
}

// isLetter reports whether r is one of A to Z or a to z.
func isLetter(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' && r < 128 }

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

func oneOf(chars string) *set {
	return newSet(func(r rune) bool { return strings.ContainsRune(chars, r) })
}

// The sets that escapes and the dot stand for.
var (
	digits      = newSet(isDigit)
	words       = newSet(func(r rune) bool { return isLetter(r) || isDigit(r) || r == '_' })
	spaces      = oneOf(" \t\n\v\f\r")
	horizontals = oneOf(" \t\u00A0\u1680\u180E\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200A\u202F\u205F\u3000")
	verticals   = oneOf("\n\v\f\r\u0085\u2028\u2029")
	anyChar     = newSet(func(rune) bool { return true })
	notNewline  = newSet(func(r rune) bool { return r != '\n' })
	notLineEnd  = newSet(func(r rune) bool { return !isLineEnd(r) })

	unicodeDigits = newSet(unicode.IsDigit)
	unicodeWords  = newSet(func(r rune) bool {
		return unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc, unicode.Other_Alphabetic, unicode.Join_Control)
	})
	unicodeSpaces = newSet(func(r rune) bool { return unicode.Is(unicode.White_Space, r) })
)

func isLineEnd(r rune) bool {
	return r == '\n' || r == '\r' || r == '\u0085' || r == '\u2028' || r == '\u2029'
}

// classOf returns the set of an escape such as \d, or nil.
func classOf(c byte, f flags) *set {
	var s *set
	unicodeClass := f&flagUnicodeClass != 0
	switch c | 0x20 {
	case 'd':
		s = pick(unicodeClass, unicodeDigits, digits)
	case 'w':
		s = pick(unicodeClass, unicodeWords, words)
	case 's':
		s = pick(unicodeClass, unicodeSpaces, spaces)
	case 'h':
		s = horizontals
	case 'v':
		s = verticals
	default:
		return nil
	}
	if c&0x20 == 0 {
		return s.negate()
	}
	return s
}

func pick(cond bool, yes, no *set) *set {
	if cond {
		return yes
	}
	return no
}

// posix holds the sets that \p{Name} has for ASCII.
var posix = map[string]*set{
	"Lower":  newSet(func(r rune) bool { return r >= 'a' && r <= 'z' }),
	"Upper":  newSet(func(r rune) bool { return r >= 'A' && r <= 'Z' }),
	"ASCII":  newSet(func(r rune) bool { return r < 128 }),
	"Alpha":  newSet(isLetter),
	"Digit":  digits,
	"Alnum":  newSet(func(r rune) bool { return isLetter(r) || isDigit(r) }),
	"Punct":  newSet(isPunct),
	"Graph":  newSet(func(r rune) bool { return r > ' ' && r < 0x7F }),
	"Print":  newSet(func(r rune) bool { return r >= ' ' && r < 0x7F }),
	"Blank":  oneOf(" \t"),
	"Cntrl":  newSet(func(r rune) bool { return r < ' ' || r == 0x7F }),
	"XDigit": newSet(func(r rune) bool { return isDigit(r) || r|0x20 >= 'a' && r|0x20 <= 'f' && r < 128 }),
	"Space":  spaces,
}

func isPunct(r rune) bool {
	return r > ' ' && r < 0x7F && !isLetter(r) && !isDigit(r)
}

// javaSets holds the sets that are named after methods of Java.
var javaSets = map[string]func(rune) bool{
	"javaLowerCase":     func(r rune) bool { return unicode.In(r, unicode.Ll, unicode.Other_Lowercase) },
	"javaUpperCase":     func(r rune) bool { return unicode.In(r, unicode.Lu, unicode.Other_Uppercase) },
	"javaTitleCase":     unicode.IsTitle,
	"javaAlphabetic":    isAlphabetic,
	"javaIdeographic":   func(r rune) bool { return unicode.Is(unicode.Ideographic, r) },
	"javaDigit":         unicode.IsDigit,
	"javaLetter":        unicode.IsLetter,
	"javaLetterOrDigit": func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) },
	"javaSpaceChar":     func(r rune) bool { return unicode.Is(unicode.Z, r) },
	"javaWhitespace": func(r rune) bool {
		return r >= '\t' && r <= '\r' || r >= 0x1C && r <= 0x1F ||
			unicode.Is(unicode.Z, r) && r != '\u00A0' && r != '\u2007' && r != '\u202F'
	},
	"javaISOControl": unicode.IsControl,
}

func isAlphabetic(r rune) bool {
	return unicode.In(r, unicode.L, unicode.Nl, unicode.Other_Alphabetic)
}

// binarySets holds the properties of Unicode behind Is, in upper case.
var binarySets = map[string]func(rune) bool{
	"ALPHABETIC":        isAlphabetic,
	"IDEOGRAPHIC":       javaSets["javaIdeographic"],
	"LETTER":            unicode.IsLetter,
	"LOWERCASE":         javaSets["javaLowerCase"],
	"UPPERCASE":         javaSets["javaUpperCase"],
	"TITLECASE":         unicode.IsTitle,
	"WHITE_SPACE":       unicodeSpaces.has,
	"WHITESPACE":        unicodeSpaces.has,
	"CONTROL":           unicode.IsControl,
	"PUNCTUATION":       func(r rune) bool { return unicode.Is(unicode.P, r) },
	"HEX_DIGIT":         func(r rune) bool { return unicode.Is(unicode.Hex_Digit, r) },
	"DIGIT":             unicode.IsDigit,
	"ASSIGNED":          func(r rune) bool { return !unicode.Is(unicode.Cn, r) },
	"JOIN_CONTROL":      func(r rune) bool { return unicode.Is(unicode.Join_Control, r) },
	"NONCHARACTER_CODE": func(r rune) bool { return unicode.Is(unicode.Noncharacter_Code_Point, r) },
}

// property returns the set of \p{name}; ok is false if Java knows no such name
// either.
func property(name string, f flags) (s *set, ok bool, err error) {
	key, val, hasKey := strings.Cut(name, "=")
	switch {
	case hasKey && (key == "sc" || key == "script"):
		return scriptSet(val)
	case hasKey && (key == "gc" || key == "general_category"):
		return categorySet(val)
	case hasKey && (key == "blk" || key == "block"), strings.HasPrefix(name, "In"):
		return nil, false, &UnsupportedError{What: `\p{` + name + "}, a block of Unicode"}
	case hasKey:
		return nil, false, nil
	}
	if s, ok := posix[name]; ok {
		if f&flagFold != 0 && (name == "Lower" || name == "Upper") {
			return posix["Alpha"], true, nil
		}
		return s, true, nil
	}
	if in, ok := javaSets[name]; ok {
		return newSet(in), true, nil
	}
	if rest, ok := strings.CutPrefix(name, "Is"); ok {
		if in, ok := binarySets[strings.ToUpper(rest)]; ok {
			return newSet(in), true, nil
		}
		if s, ok, _ := categorySet(rest); ok {
			return s, true, nil
		}
		return scriptSet(rest)
	}
	return categorySet(name)
}

func categorySet(name string) (*set, bool, error) {
	switch name {
	case "L1":
		return newSet(func(r rune) bool { return r < 256 }), true, nil
	case "all":
		return anyChar, true, nil
	}
	t, ok := unicode.Categories[name]
	if !ok {
		return nil, false, nil
	}
	return newSet(func(r rune) bool { return unicode.Is(t, r) }), true, nil
}

func scriptSet(name string) (*set, bool, error) {
	for n, t := range unicode.Scripts {
		if strings.EqualFold(n, name) {
			return newSet(func(r rune) bool { return unicode.Is(t, r) }), true, nil
		}
	}
	return nil, false, nil
}
