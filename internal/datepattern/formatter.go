package datepattern

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Formatter is a compiled pattern of java.time.
type Formatter struct{ items []item }

// kind is what an item of a pattern stands for.
type kind uint8

const (
	literal  kind = iota // lit
	number               // a field as a number
	reduced              // the last two digits of a year, 2000 to 2099 when parsed
	fraction             // digits of the fraction of a second
	name                 // a field as one of names
	optional             // subs, left out where it cannot be formatted or parsed
	padded               // subs[0], filled up with blanks to min
	zone                 // a time zone, which wall time does not have
)

// field is a field of a date or time.
type field uint8

const (
	era field = iota // 0 or 1
	year
	yearOfEra
	weekYear
	quarter
	month
	weekOfYear
	weekOfMonth
	dayOfYear
	dayOfMonth
	alignedWeek // of the month: the first begins on its first day
	alignedDay  // of such a week
	dayOfWeek   // 1 is Monday
	localDay    // of the week: 1 is Sunday
	half        // 0 is AM
	hourOfHalf  // 0 to 11
	clockOfHalf // 1 to 12
	hour
	clockHour // 1 to 24
	minute
	second
	nano
	milliOfDay
	nanoOfDay
	fieldCount
)

// sign says how the sign of a number is written.
type sign uint8

const (
	normal      sign = iota // only a minus
	exceedsPad              // a plus as well, where there are more digits than min
	notNegative             // never
)

// item is a part of a pattern.
type item struct {
	kind     kind
	field    field
	sign     sign
	min, max int
	// later is the number of digits that numbers right behind this one need;
	// -1: this one has a fixed width, since it stands right behind another.
	later int
	lit   string
	names []string
	subs  []item
}

// ErrZone is returned when a pattern asks for the time zone of a time that has
// none.
var ErrZone = errors.New("the pattern asks for a time zone, which the value does not have")

// Compile compiles a pattern of java.time. The error says what is wrong with it.
func Compile(pattern string) (*Formatter, error) {
	c := &compiler{pattern: pattern, levels: []level{{last: -1}}}
	for len(c.pattern) > 0 {
		if err := c.next(); err != nil {
			return nil, fmt.Errorf("the pattern '%s' is wrong: %w", pattern, err)
		}
	}
	for len(c.levels) > 1 {
		c.closeOptional()
	}
	return &Formatter{items: c.levels[0].items}, nil
}

// compiler cuts a pattern into items.
type compiler struct {
	pattern string
	// levels are the pattern itself and the optional sections that are open.
	levels []level
	// pad is the width to which the next item is filled up, or 0.
	pad int
}

// level collects items; last is the index of the number that the next number
// would stand right behind, or -1.
type level struct {
	items []item
	last  int
}

func (c *compiler) top() *level { return &c.levels[len(c.levels)-1] }

func (c *compiler) add(it item) int {
	l := c.top()
	if c.pad > 0 {
		it = item{kind: padded, min: c.pad, subs: []item{it}}
		c.pad = 0
	}
	l.items = append(l.items, it)
	l.last = -1
	return len(l.items) - 1
}

// addNumber adds a number. Numbers that stand right behind each other share
// their digits: all but the first one have fixed widths.
func (c *compiler) addNumber(it item) {
	l := c.top()
	prev := l.last
	if prev < 0 || c.pad > 0 {
		plain := c.pad == 0
		i := c.add(it)
		if plain {
			l.last = i
		}
		return
	}
	if it.min == it.max && it.sign == notNegative {
		l.items[prev].later += it.max
		it.later = -1
		c.add(it)
		l.last = prev
		return
	}
	l.items[prev].later = -1
	l.last = c.add(it)
}

func (c *compiler) closeOptional() {
	subs := c.top().items
	c.levels = c.levels[:len(c.levels)-1]
	c.add(item{kind: optional, subs: subs})
}

// next takes what comes next in the pattern.
func (c *compiler) next() error {
	ch := c.pattern[0]
	switch {
	case isLetter(ch):
		n := len(c.pattern) - len(strings.TrimLeft(c.pattern, string(ch)))
		c.pattern = c.pattern[n:]
		if ch == 'p' {
			if c.pattern == "" || !isLetter(c.pattern[0]) {
				return errors.New("p must stand before another letter")
			}
			c.pad = n
			return nil
		}
		return c.letter(ch, n)
	case ch == '\'':
		return c.quoted()
	case ch == '[':
		c.levels = append(c.levels, level{last: -1})
	case ch == ']':
		if len(c.levels) == 1 {
			return errors.New("] without a [ before it")
		}
		c.closeOptional()
	case ch == '{' || ch == '}' || ch == '#':
		return fmt.Errorf("%c is reserved", ch)
	default:
		_, n := utf8.DecodeRuneInString(c.pattern)
		c.add(item{kind: literal, lit: c.pattern[:n]})
		c.pattern = c.pattern[n:]
		return nil
	}
	c.pattern = c.pattern[1:]
	return nil
}

// quoted takes text in quotes; two of them are a quote.
func (c *compiler) quoted() error {
	var lit strings.Builder
	for i := 1; ; i++ {
		if i >= len(c.pattern) {
			return errors.New("a quote is not closed")
		}
		if c.pattern[i] != '\'' {
			lit.WriteByte(c.pattern[i])
			continue
		}
		if i+1 < len(c.pattern) && c.pattern[i+1] == '\'' {
			lit.WriteByte('\'')
			i++
			continue
		}
		c.pattern = c.pattern[i+1:]
		break
	}
	if lit.Len() == 0 {
		lit.WriteByte('\'')
	}
	c.add(item{kind: literal, lit: lit.String()})
	return nil
}

// numeric are the letters that are one number, with how many of them there may
// be, and whether one of them alone has no fixed width.
var numeric = map[byte]struct {
	field field
	most  int
}{
	'd': {dayOfMonth, 2}, 'h': {clockOfHalf, 2}, 'H': {hour, 2}, 'k': {clockHour, 2}, 'K': {hourOfHalf, 2},
	'm': {minute, 2}, 's': {second, 2}, 'w': {weekOfYear, 2}, 'W': {weekOfMonth, 1}, 'F': {alignedDay, 1},
}

// letter adds the item of a letter that stands n times.
func (c *compiler) letter(ch byte, n int) error {
	tooMany := fmt.Errorf("too many letters %c", ch)
	if f, ok := numeric[ch]; ok {
		if n > f.most {
			return tooMany
		}
		c.plainNumber(f.field, n)
		return nil
	}
	switch ch {
	case 'u', 'y', 'Y':
		return c.year(map[byte]field{'u': year, 'y': yearOfEra, 'Y': weekYear}[ch], n)
	case 'M', 'L':
		return c.named(month, n, monthsShort, months, monthsNarrow, tooMany)
	case 'Q', 'q':
		return c.named(quarter, n, []string{"Q1", "Q2", "Q3", "Q4"},
			[]string{"1st quarter", "2nd quarter", "3rd quarter", "4th quarter"}, []string{"1", "2", "3", "4"}, tooMany)
	case 'E':
		return c.named(dayOfWeek, max(n, 3), daysShort, days, daysNarrow, tooMany)
	case 'e':
		return c.named(localDay, n, daysShort, days, daysNarrow, tooMany)
	case 'c':
		if n == 2 {
			return errors.New("cc has no meaning")
		}
		return c.named(localDay, n, daysShort, days, daysNarrow, tooMany)
	case 'G':
		return c.named(era, max(n, 3), eras, []string{"Before Christ", "Anno Domini"}, []string{"B", "A"}, tooMany)
	case 'a':
		if n > 1 {
			return tooMany
		}
		c.add(item{kind: name, field: half, names: halves})
	case 'D':
		if n > 3 {
			return tooMany
		}
		if n == 1 {
			c.plainNumber(dayOfYear, 1)
		} else {
			c.addNumber(item{kind: number, field: dayOfYear, min: n, max: 3, sign: notNegative})
		}
	case 'S':
		if n > 9 {
			return tooMany
		}
		c.addNumber(item{kind: fraction, field: nano, min: n, max: n, sign: notNegative})
	case 'n', 'N', 'A':
		if n > 19 {
			return tooMany
		}
		f := map[byte]field{'n': nano, 'N': nanoOfDay, 'A': milliOfDay}[ch]
		c.addNumber(item{kind: number, field: f, min: n, max: 19, sign: notNegative})
	case 'V', 'v', 'z', 'O', 'X', 'x', 'Z':
		c.add(item{kind: zone})
	default:
		return fmt.Errorf("the letter %c has no meaning", ch)
	}
	return nil
}

// plainNumber adds a number of any width, or of the width two.
func (c *compiler) plainNumber(f field, n int) {
	if n == 1 {
		c.addNumber(item{kind: number, field: f, min: 1, max: 19, sign: normal})
	} else {
		c.addNumber(item{kind: number, field: f, min: n, max: n, sign: notNegative})
	}
}

func (c *compiler) year(f field, n int) error {
	switch {
	case n > 19:
		return errors.New("too many letters for a year")
	case n == 2:
		c.addNumber(item{kind: reduced, field: f, min: 2, max: 2, sign: notNegative})
	case n < 4:
		c.addNumber(item{kind: number, field: f, min: n, max: 19, sign: normal})
	default:
		c.addNumber(item{kind: number, field: f, min: n, max: 19, sign: exceedsPad})
	}
	return nil
}

// named adds a field that is a number if its letter stands once or twice, and a
// name otherwise.
func (c *compiler) named(f field, n int, short, long, narrow []string, tooMany error) error {
	it := item{kind: name, field: f}
	switch n {
	case 1, 2:
		c.plainNumber(f, n)
		return nil
	case 3:
		it.names = short
	case 4:
		it.names = long
	case 5:
		it.names = narrow
	default:
		return tooMany
	}
	c.add(it)
	return nil
}
