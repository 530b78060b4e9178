package datepattern

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/millstream-io/millstream/internal/text"
)

// Simple is a compiled pattern of java.text.
type Simple struct {
	items []simpleItem
	// century is the first year of the hundred that a year of two digits is
	// one of.
	century int
}

// simpleItem is a letter that stands n times, or text (letter 0).
type simpleItem struct {
	letter byte
	n      int
	lit    string
	// abuts tells that another number follows at once, so that this one has as
	// many digits as letters.
	abuts bool
}

const (
	simpleLetters = "GyYMLwWDdFEuaHkKhmsSzZX"
	simpleNumbers = "yYwWDdFuHkKhmsS"
)

// CompileSimple compiles a pattern of java.text. The error says what is wrong
// with it. now decides what years of two digits mean: those from 80 years ago.
func CompileSimple(pattern string, now time.Time) (*Simple, error) {
	s := &Simple{century: now.Year() - 80}
	rest := pattern
	for len(rest) > 0 {
		ch := rest[0]
		switch {
		case ch == '\'':
			lit, n, err := simpleQuoted(rest)
			if err != nil {
				return nil, fmt.Errorf("the pattern '%s' is wrong: %w", pattern, err)
			}
			s.items = append(s.items, simpleItem{lit: lit})
			rest = rest[n:]
		case isLetter(ch):
			n := len(rest) - len(strings.TrimLeft(rest, string(ch)))
			if strings.IndexByte(simpleLetters, ch) < 0 || ch == 'X' && n > 3 {
				return nil, fmt.Errorf("the pattern '%s' is wrong: the letter %c has no meaning", pattern, ch)
			}
			s.items = append(s.items, simpleItem{letter: ch, n: n})
			rest = rest[n:]
		default:
			s.items = append(s.items, simpleItem{lit: rest[:1]})
			rest = rest[1:]
		}
	}
	for i := range s.items[:max(0, len(s.items)-1)] {
		s.items[i].abuts = s.items[i].numeric() && s.items[i+1].numeric()
	}
	return s, nil
}

// numeric reports whether the item is a number.
func (it *simpleItem) numeric() bool {
	return it.letter != 0 && (strings.IndexByte(simpleNumbers, it.letter) >= 0 || (it.letter == 'M' || it.letter == 'L') && it.n < 3)
}

// simpleQuoted takes text in quotes, in which two of them are one; two alone are
// one as well.
func simpleQuoted(s string) (lit string, n int, err error) {
	if strings.HasPrefix(s, "''") {
		return "'", 2, nil
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != '\'' {
			b.WriteByte(s[i])
			continue
		}
		if i+1 < len(s) && s[i+1] == '\'' {
			b.WriteByte('\'')
			i++
			continue
		}
		return b.String(), i + 1, nil
	}
	return "", 0, errors.New("a quote is not closed")
}

// Append formats an instant, in milliseconds since the epoch, as the time in a
// zone.
func (s *Simple) Append(dst []byte, ms int64, loc *time.Location) []byte {
	zone, offset := time.UnixMilli(ms).In(loc).Zone()
	c := civilOf(ms+int64(offset)*text.MsPerSecond, 0)
	for i := range s.items {
		it := &s.items[i]
		switch it.letter {
		case 0:
			dst = append(dst, it.lit...)
		case 'z':
			dst = append(dst, zoneName(zone, it.n)...)
		case 'Z':
			dst = appendOffset(dst, offset, 2, false)
		case 'X':
			if offset == 0 {
				dst = append(dst, 'Z')
			} else {
				dst = appendOffset(dst, offset, min(it.n, 2), it.n == 3)
			}
		default:
			dst = it.append(dst, &c)
		}
	}
	return dst
}

// zoneName returns the name of a zone for z or zzzz.
func zoneName(name string, n int) string {
	if n >= 4 && name == "UTC" {
		return "Coordinated Universal Time"
	}
	return name
}

// appendOffset prints +02, +0200 or +02:00.
func appendOffset(dst []byte, seconds, parts int, colon bool) []byte {
	sign := byte('+')
	if seconds < 0 {
		sign, seconds = '-', -seconds
	}
	dst = appendPadded(append(dst, sign), int64(seconds/3600), 2)
	if parts == 1 {
		return dst
	}
	if colon {
		dst = append(dst, ':')
	}
	return appendPadded(dst, int64(seconds/60%60), 2)
}

// append formats a field.
func (it *simpleItem) append(dst []byte, c *civil) []byte {
	named := func(i int, short, long []string) []byte {
		if it.n >= 4 {
			return append(dst, long[i]...)
		}
		return append(dst, short[i]...)
	}
	switch it.letter {
	case 'G':
		return append(dst, eras[c.get(era)]...)
	case 'E':
		return named(c.dow()-1, daysShort, days)
	case 'a':
		return append(dst, halves[c.get(half)]...)
	case 'M', 'L':
		if it.n >= 3 {
			return named(c.month-1, monthsShort, months)
		}
	case 'y', 'Y':
		y := c.get(yearOfEra)
		if it.letter == 'Y' {
			y = c.get(weekYear)
		}
		if it.n == 2 {
			return appendPadded(dst, abs(y)%100, 2)
		}
		return appendPadded(dst, y, it.n)
	case 'S':
		return appendPadded(dst, int64(c.nano/1_000_000), it.n)
	}
	return appendPadded(dst, c.get(simpleFields[it.letter]), it.n)
}

// simpleFields are the letters that are numbers when they are formatted.
var simpleFields = map[byte]field{
	'M': month, 'L': month, 'w': weekOfYear, 'W': weekOfMonth, 'D': dayOfYear, 'd': dayOfMonth, 'F': alignedWeek,
	'u': dayOfWeek, 'H': hour, 'k': clockHour, 'K': hourOfHalf, 'h': clockOfHalf, 'm': minute, 's': second,
}
