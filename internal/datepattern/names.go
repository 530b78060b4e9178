// Package datepattern formats and parses dates and times by patterns such as
// yyyy-MM-dd HH:mm:ss. There are two languages of them, since Flink's functions
// use both of Java's: Formatter is that of java.time (DateTimeFormatter), Simple
// the older and laxer one of java.text (SimpleDateFormat). Names are English, the
// calendar is the proleptic Gregorian one, and weeks begin on Sunday.
package datepattern

import (
	"bytes"
	"strconv"

	"github.com/millstream-io/millstream/internal/text"
)

var (
	months = []string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
		"November", "December"}
	monthsShort  = shortened(months, 3)
	monthsNarrow = shortened(months, 1)
	// days are those of the ISO week: Monday is the first.
	days       = []string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
	daysShort  = shortened(days, 3)
	daysNarrow = shortened(days, 1)
	halves     = []string{"AM", "PM"}
	eras       = []string{"BC", "AD"}
)

func shortened(names []string, n int) []string {
	out := make([]string, len(names))
	for i, s := range names {
		out[i] = s[:n]
	}
	return out
}

// civil is a date and a time of day, taken apart.
type civil struct {
	year, month, day     int
	hour, minute, second int
	nano                 int
	days                 int // since the epoch
}

// dow returns the day of the week, Monday being 1.
func (c *civil) dow() int { return isoDay(c.days) }

// doy returns the day of the year.
func (c *civil) doy() int { return c.days - text.DaysFromCivil(c.year, 1, 1) + 1 }

// civilOf takes wall time apart.
func civilOf(ms int64, nanos int) civil {
	d, t := text.SplitDay(ms)
	y, m, day := text.CivilFromDays(d)
	return civil{
		year: y, month: m, day: day,
		hour: t / text.MsPerHour, minute: t / text.MsPerMinute % 60, second: t / text.MsPerSecond % 60,
		nano: t%text.MsPerSecond*1_000_000 + nanos,
		days: d,
	}
}

// isoDay returns the day of the week of a day since the epoch, Monday being 1.
func isoDay(days int) int { return ((days+3)%7+7)%7 + 1 }

// fromSunday returns the days from the last Sunday to a day of the ISO week.
func fromSunday(dow int) int { return dow % 7 }

// yearOfEra counts the years before 1 AD backwards.
func (c *civil) yearOfEra() int {
	if c.year > 0 {
		return c.year
	}
	return 1 - c.year
}

// week returns the year and the number of the week, the first one being that of
// the first of January.
func (c *civil) week() (year, week int) {
	length := 365
	if text.IsLeap(c.year) {
		length = 366
	}
	if c.doy()+6-fromSunday(c.dow()) > length {
		return c.year + 1, 1
	}
	return c.year, (c.doy() - fromSunday(c.dow()) + 12) / 7
}

// weekOfMonth returns the number of the week, the first one being that of the
// first of the month.
func (c *civil) weekOfMonth() int { return (c.day - fromSunday(c.dow()) + 12) / 7 }

// appendPadded appends a number with zeros before it up to a width.
func appendPadded(dst []byte, n int64, width int) []byte {
	if n < 0 {
		dst = append(dst, '-')
		n = -n
	}
	if n >= 1_000_000_000 || width > 9 {
		for digits := digitCount(n); digits < width; digits++ {
			dst = append(dst, '0')
		}
		return strconv.AppendInt(dst, n, 10)
	}
	var digits [9]byte
	i := len(digits)
	for n > 0 || width > 0 {
		i--
		digits[i] = byte('0' + n%10)
		n /= 10
		width--
	}
	return append(dst, digits[i:]...)
}

// digitCount returns the number of decimal digits of n >= 0.
func digitCount(n int64) int {
	digits := 1
	for ; n >= 10; n /= 10 {
		digits++
	}
	return digits
}

// matchName returns the index of the longest name with which s begins, or -1.
func matchName(s []byte, names []string, fold bool) (index, length int) {
	index = -1
	for i, n := range names {
		if len(n) <= length || len(s) < len(n) {
			continue
		}
		if string(s[:len(n)]) == n || fold && bytes.EqualFold(s[:len(n)], []byte(n)) {
			index, length = i, len(n)
		}
	}
	return index, length
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
