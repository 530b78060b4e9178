package datepattern

import (
	"bytes"
	"fmt"

	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

// Unit returns the coarsest unit of time, in milliseconds, below which values
// look the same when they are formatted; 1 where it is a millisecond or finer.
func (f *Formatter) Unit() int64 { return unitOf(f.items) }

func unitOf(items []item) int64 {
	unit := int64(text.MsPerDay)
	for i := range items {
		it := &items[i]
		switch it.kind {
		case literal:
		case optional, padded:
			unit = min(unit, unitOf(it.subs))
		default:
			unit = min(unit, it.field.unit())
		}
	}
	return unit
}

func (f field) unit() int64 {
	switch f {
	case half, hourOfHalf, clockOfHalf, hour, clockHour:
		return text.MsPerHour
	case minute:
		return text.MsPerMinute
	case second:
		return text.MsPerSecond
	case nano, milliOfDay, nanoOfDay:
		return 1
	}
	return text.MsPerDay
}

// Append formats wall time.
func (f *Formatter) Append(dst []byte, t types.TS) ([]byte, error) {
	c := civilOf(t.Ms, int(t.Ns))
	return appendItems(dst, f.items, &c)
}

func appendItems(dst []byte, items []item, c *civil) ([]byte, error) {
	var err error
	for i := range items {
		if dst, err = items[i].append(dst, c); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

func (it *item) append(dst []byte, c *civil) ([]byte, error) {
	switch it.kind {
	case literal:
		return append(dst, it.lit...), nil
	case number:
		return it.appendNumber(dst, c.get(it.field))
	case reduced:
		return appendPadded(dst, abs(c.get(it.field))%100, 2), nil
	case fraction:
		n := c.nano
		for range 9 - it.min {
			n /= 10
		}
		return appendPadded(dst, int64(n), it.min), nil
	case name:
		return append(dst, it.names[it.index(c)]...), nil
	case optional:
		at := len(dst)
		if out, err := appendItems(dst, it.subs, c); err == nil {
			return out, nil
		}
		return dst[:at], nil
	case padded:
		at := len(dst)
		dst, err := it.subs[0].append(dst, c)
		if n := len(dst) - at; n < it.min {
			filled := append(bytes.Repeat([]byte{' '}, it.min-n), dst[at:]...)
			dst = append(dst[:at], filled...)
		} else if n > it.min {
			return dst, fmt.Errorf("a value has more than the %d characters to which the pattern pads it", it.min)
		}
		return dst, err
	}
	return dst, ErrZone
}

func abs(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}

func (it *item) appendNumber(dst []byte, n int64) ([]byte, error) {
	if it.min == 2 && n >= 0 && n < 100 {
		return append(dst, byte('0'+n/10), byte('0'+n%10)), nil
	}
	width := digitCount(abs(n))
	switch {
	case width > it.max:
		return dst, fmt.Errorf("%d has more than the %d digits of the pattern", n, it.max)
	case n < 0 && it.sign == notNegative:
		return dst, fmt.Errorf("%d is negative, which the pattern does not allow", n)
	case n >= 0 && it.sign == exceedsPad && width > it.min:
		dst = append(dst, '+')
	}
	return appendPadded(dst, n, it.min), nil
}

// index returns the index of the name of a field.
func (it *item) index(c *civil) int {
	switch it.field {
	case era, half:
		return int(c.get(it.field))
	case localDay:
		return c.dow() - 1
	}
	return int(c.get(it.field)) - 1
}

// get returns the value of a field.
func (c *civil) get(f field) int64 {
	switch f {
	case era:
		if c.year > 0 {
			return 1
		}
		return 0
	case year:
		return int64(c.year)
	case yearOfEra:
		return int64(c.yearOfEra())
	case weekYear:
		y, _ := c.week()
		return int64(y)
	case quarter:
		return int64(c.month+2) / 3
	case month:
		return int64(c.month)
	case weekOfYear:
		_, w := c.week()
		return int64(w)
	case weekOfMonth:
		return int64(c.weekOfMonth())
	case dayOfYear:
		return int64(c.doy())
	case dayOfMonth:
		return int64(c.day)
	case alignedWeek:
		return int64(c.day-1)/7 + 1
	case alignedDay:
		return int64(c.day-1)%7 + 1
	case dayOfWeek:
		return int64(c.dow())
	case localDay:
		return int64(fromSunday(c.dow())) + 1
	}
	return c.getTime(f)
}

func (c *civil) getTime(f field) int64 {
	seconds := int64(c.hour)*3600 + int64(c.minute)*60 + int64(c.second)
	switch f {
	case half:
		return int64(c.hour) / 12
	case hourOfHalf:
		return int64(c.hour) % 12
	case clockOfHalf:
		return int64(c.hour+11)%12 + 1
	case hour:
		return int64(c.hour)
	case clockHour:
		return int64(c.hour+23)%24 + 1
	case minute:
		return int64(c.minute)
	case second:
		return int64(c.second)
	case milliOfDay:
		return seconds*1000 + int64(c.nano)/1_000_000
	case nanoOfDay:
		return seconds*1_000_000_000 + int64(c.nano)
	}
	return int64(c.nano)
}
