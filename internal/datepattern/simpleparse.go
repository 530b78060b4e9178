package datepattern

import (
	"bytes"
	"strings"
	"time"

	"github.com/millstream-io/millstream/internal/text"
)

// Parse reads a time in a zone, and returns the instant in milliseconds since
// the epoch. It is as lax as Java: what follows the pattern's end is ignored,
// and numbers beyond their range carry over, the 31st of February being the 2nd
// or 3rd of March. Local times that a clock skips count from before the switch,
// and of those that come twice the later ones are meant.
func (s *Simple) Parse(in []byte, loc *time.Location) (ms int64, ok bool) {
	c := newCalendar()
	pos := 0
	for i := range s.items {
		it := &s.items[i]
		if it.letter == 0 {
			if !bytes.HasPrefix(in[pos:], []byte(it.lit)) {
				return 0, false
			}
			pos += len(it.lit)
			continue
		}
		for pos < len(in) && (in[pos] == ' ' || in[pos] == '\t') {
			pos++
		}
		if pos == len(in) {
			return 0, false
		}
		if pos, ok = s.field(it, c, in, pos); !ok {
			return 0, false
		}
	}
	local, ok := c.local()
	if !ok || pos == 0 {
		return 0, false
	}
	if c.hasOffset {
		return local - c.offset, true
	}
	return fromLocal(local, loc), true
}

// field reads the field of an item at pos.
func (s *Simple) field(it *simpleItem, c *calendar, in []byte, pos int) (end int, ok bool) {
	switch it.letter {
	case 'G':
		return c.name(era, eras, eras, in, pos)
	case 'E':
		return c.name(dayOfWeek, daysShort, days, in, pos)
	case 'a':
		return c.name(half, halves, halves, in, pos)
	case 'M', 'L':
		if it.n >= 3 {
			return c.name(month, monthsShort, months, in, pos)
		}
	case 'z', 'Z', 'X':
		return c.zone(it, in, pos)
	}
	start := pos
	limit := len(in)
	if it.abuts {
		if limit = pos + it.n; limit > len(in) {
			return pos, false
		}
	}
	v, pos, ok := integer(in[:limit], pos)
	if !ok {
		return pos, false
	}
	switch it.letter {
	case 'y', 'Y':
		if it.n <= 2 && pos-start == 2 && isDigit(in[start]) {
			v += int64(s.century / 100 * 100)
			if v < int64(s.century) {
				v += 100
			}
		}
		f := yearOfEra
		if it.letter == 'Y' {
			f = weekYear
		}
		c.put(f, v)
	case 'S':
		c.put(milliOfDay, v) // of the second
	case 'k':
		if v == 24 {
			v = 0
		}
		c.put(hour, v)
	case 'h':
		if v == 12 {
			v = 0
		}
		c.put(hourOfHalf, v)
	default:
		c.put(simpleFields[it.letter], v)
	}
	return pos, true
}

// integer reads digits with a minus before them or not. It stops where the
// number gets too large.
func integer(in []byte, pos int) (v int64, end int, ok bool) {
	negative := pos < len(in) && in[pos] == '-'
	if negative {
		pos++
	}
	start := pos
	for ; pos < len(in) && isDigit(in[pos]); pos++ {
		if v = v*10 + int64(in[pos]-'0'); v > 1<<40 {
			return 0, pos, false
		}
	}
	if negative {
		v = -v
	}
	return v, pos, pos > start
}

// calendar are the fields that were read, and the order in which they were.
type calendar struct {
	value [fieldCount]int64
	// stamp tells when a field was set; 0 is never.
	stamp     [fieldCount]int
	next      int
	offset    int64
	hasOffset bool
}

func newCalendar() *calendar { return &calendar{next: 1} }

func (c *calendar) put(f field, v int64) {
	c.value[f], c.stamp[f] = v, c.next
	c.next++
}

func (c *calendar) or(f field, otherwise int64) int64 {
	if c.stamp[f] > 0 {
		return c.value[f]
	}
	return otherwise
}

// name reads a field as one of names, long or short, in any case.
func (c *calendar) name(f field, short, long []string, in []byte, pos int) (int, bool) {
	i, n := matchName(in[pos:], long, true)
	if i < 0 {
		i, n = matchName(in[pos:], short, true)
	}
	if i < 0 {
		return pos, false
	}
	if f == month || f == dayOfWeek {
		i++
	}
	c.put(f, int64(i))
	return pos + n, true
}

// zone reads a time zone.
func (c *calendar) zone(it *simpleItem, in []byte, pos int) (int, bool) {
	s := string(in[pos:])
	c.hasOffset = true
	if it.letter == 'X' {
		if s[0] == 'Z' {
			c.offset = 0
			return pos + 1, true
		}
		return c.digits(s, pos, it.n > 1, it.n == 3)
	}
	if s[0] == '+' || s[0] == '-' {
		return c.digits(s, pos, true, false)
	}
	if strings.HasPrefix(s, "GMT") && len(s) > 3 && (s[3] == '+' || s[3] == '-') {
		return c.digits(s[3:], pos+3, true, true)
	}
	letters := 0
	for letters < len(s) && isLetter(s[letters]) {
		letters++
	}
	hours, ok := zoneHours[strings.ToUpper(s[:letters])]
	c.offset = int64(hours) * text.MsPerHour
	return pos + letters, ok
}

// zoneHours are the abbreviations of time zones that are read.
var zoneHours = map[string]int{
	"UTC": 0, "GMT": 0, "UT": 0, "WET": 0, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3, "BST": 1, "MSK": 3, "JST": 9,
	"EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7, "AKST": -9, "AKDT": -8, "HST": -10,
}

// digits reads an offset: a sign, hours, and minutes if they are wanted.
func (c *calendar) digits(s string, pos int, minutes, colon bool) (int, bool) {
	if s[0] != '+' && s[0] != '-' {
		return pos, false
	}
	two := func(i int) (int64, bool) {
		if i+2 > len(s) || !isDigit(s[i]) || !isDigit(s[i+1]) {
			return 0, false
		}
		return int64(s[i]-'0')*10 + int64(s[i+1]-'0'), true
	}
	h, ok := two(1)
	n, m := 3, int64(0)
	if colon && n < len(s) && s[n] == ':' {
		n++
	} else if colon {
		ok = false
	}
	if minutes && ok {
		m, ok = two(n)
		n += 2
	}
	if !ok || h > 23 || m > 59 {
		return pos, false
	}
	c.offset = h*text.MsPerHour + m*text.MsPerMinute
	if s[0] == '-' {
		c.offset = -c.offset
	}
	return pos + n, true
}

// local returns the local time in milliseconds. What was not read is that of
// 1970-01-01 00:00:00.
func (c *calendar) local() (ms int64, ok bool) {
	h := c.value[hour]
	if c.stamp[hourOfHalf] > c.stamp[hour] {
		h = c.value[hourOfHalf] + 12*c.value[half]
	}
	days := c.days()
	if days < -1<<40 || days > 1<<40 {
		return 0, false
	}
	return days*text.MsPerDay + h*text.MsPerHour + c.value[minute]*text.MsPerMinute + c.value[second]*text.MsPerSecond + c.value[milliOfDay], true
}

// days returns the date. Which fields decide depends on which were read last.
func (c *calendar) days() int64 {
	y := c.or(yearOfEra, 1970)
	if c.stamp[era] > 0 && c.value[era] == 0 {
		y = 1 - y
	}
	if c.stamp[weekYear] > c.stamp[yearOfEra] {
		return c.week(c.value[weekYear])
	}
	byDay, byWeek := c.stamp[dayOfMonth], 0
	if c.stamp[weekOfYear] > 0 && c.stamp[dayOfWeek] > 0 {
		byWeek = max(c.stamp[weekOfYear], c.stamp[dayOfWeek])
	}
	if byDay == 0 && byWeek == 0 && c.stamp[dayOfYear] == 0 && c.stamp[month] == 0 {
		byWeek = c.stamp[weekOfYear]
	}
	switch {
	case c.stamp[dayOfYear] > max(byDay, byWeek):
		return firstOf(y, 1) + c.value[dayOfYear] - 1
	case byWeek > byDay:
		return c.week(y)
	}
	return firstOf(y, c.or(month, 1)) + c.or(dayOfMonth, 1) - 1
}

// week returns the date of a week of a year; its Sunday if there is no day.
func (c *calendar) week(year int64) int64 {
	first := firstOf(year, 1)
	sunday := first - int64(fromSunday(isoDay(int(first))))
	day := int64(0)
	if c.stamp[dayOfWeek] > 0 {
		day = c.value[dayOfWeek] % 7
	}
	return sunday + 7*(c.or(weekOfYear, 1)-1) + day
}

// firstOf returns the first day of a month; months beyond 12 carry over.
func firstOf(year, month int64) int64 {
	const most = 1 << 24
	year, month = max(-most, min(year, most)), max(-most, min(month, most))
	return int64(text.DaysFromCivil(int(year), int(month), 1))
}

// fromLocal returns the instant of a local time. One that the clock skips counts
// from before the switch; of two, the later one is taken.
func fromLocal(local int64, loc *time.Location) int64 {
	offset := func(ms int64) int64 {
		_, sec := time.UnixMilli(ms).In(loc).Zone()
		return int64(sec) * text.MsPerSecond
	}
	// The offsets a day before and behind are those around a switch, if any.
	before, after := offset(local-text.MsPerDay), offset(local+text.MsPerDay)
	if late := local - after; offset(late) == after {
		return late
	}
	return local - before
}
