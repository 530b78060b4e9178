package datepattern

import (
	"bytes"

	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

// Parse reads wall time. Fields that the pattern does not have are those of
// 1970-01-01 00:00:00. A day beyond the end of its month is the last one.
func (f *Formatter) Parse(s []byte) (types.TS, bool) {
	var p parsed
	end, ok := p.items(f.items, s, 0)
	if !ok || end != len(s) {
		return types.TS{}, false
	}
	return p.resolve()
}

// parsed are the fields that were read.
type parsed struct {
	value [fieldCount]int64
	set   fieldSet
}

// fieldSet is a set of fields.
type fieldSet uint32

func (s fieldSet) has(f field) bool { return s>>f&1 != 0 }

// put notes a field; one that is there already must be the same.
func (p *parsed) put(f field, v int64) bool {
	if p.set.has(f) && p.value[f] != v {
		return false
	}
	p.value[f], p.set = v, p.set|1<<f
	return true
}

func (p *parsed) items(items []item, s []byte, pos int) (int, bool) {
	for i := range items {
		var ok bool
		if pos, ok = p.item(&items[i], s, pos); !ok {
			return pos, false
		}
	}
	return pos, true
}

func (p *parsed) item(it *item, s []byte, pos int) (int, bool) {
	switch it.kind {
	case literal:
		if !bytes.HasPrefix(s[pos:], []byte(it.lit)) {
			return pos, false
		}
		return pos + len(it.lit), true
	case number, reduced:
		return p.number(it, s, pos)
	case fraction:
		return p.fraction(it, s, pos)
	case name:
		return p.name(it, s, pos)
	case optional:
		saved := *p
		if end, ok := p.items(it.subs, s, pos); ok {
			return end, true
		}
		*p = saved
		return pos, true
	case padded:
		return p.padded(it, s, pos)
	}
	return zoneAt(s, pos)
}

// zoneAt reads a time zone, which wall time does not have: it is checked, and
// counts for nothing.
func zoneAt(s []byte, pos int) (int, bool) {
	end := pos
	for end < len(s) && (isLetter(s[end]) || isDigit(s[end]) || bytes.IndexByte([]byte("+-:/_"), s[end]) >= 0) {
		end++
	}
	for ; end > pos; end-- {
		id := string(s[pos:end])
		if _, err := text.ParseOldZone(id); err == nil {
			return end, true
		}
		if _, ok := zoneHours[id]; ok {
			return end, true
		}
	}
	return pos, false
}

// padded reads an item within exactly as many characters as it is padded to.
func (p *parsed) padded(it *item, s []byte, pos int) (int, bool) {
	end := pos + it.min
	if end > len(s) {
		return pos, false
	}
	for pos < end && s[pos] == ' ' {
		pos++
	}
	got, ok := p.item(&it.subs[0], s[:end], pos)
	return got, ok && got == end
}

func (p *parsed) name(it *item, s []byte, pos int) (int, bool) {
	i, n := matchName(s[pos:], it.names, false)
	if i < 0 {
		return pos, false
	}
	v := int64(i)
	switch it.field {
	case localDay: // the names begin with Monday, the numbers with Sunday
		v = int64(i+1)%7 + 1
	case era, half:
	default:
		v++
	}
	return pos + n, p.put(it.field, v)
}

// number reads a number: as many digits as may belong to it, but those that the
// numbers right behind it need.
func (p *parsed) number(it *item, s []byte, pos int) (int, bool) {
	negative, positive := false, false
	if pos < len(s) && (s[pos] == '+' || s[pos] == '-') {
		negative, positive = s[pos] == '-', s[pos] == '+'
		if it.sign == notNegative || positive && it.sign == normal {
			return pos, false
		}
		pos++
	}
	n := 0
	for pos+n < len(s) && n < it.max+max(it.later, 0) && isDigit(s[pos+n]) {
		n++
	}
	if it.later > 0 {
		n = max(min(it.min, n), n-it.later)
	}
	if n < it.min || n > 18 {
		return pos, false
	}
	v := int64(0)
	for _, c := range s[pos : pos+n] {
		v = v*10 + int64(c-'0')
	}
	switch {
	case negative && v == 0:
		return pos, false
	case negative:
		v = -v
	case it.sign == exceedsPad && positive != (n > it.min):
		return pos, false
	case it.kind == reduced:
		v += 2000
	}
	return pos + n, p.put(it.field, v)
}

func (p *parsed) fraction(it *item, s []byte, pos int) (int, bool) {
	v := int64(0)
	for i := range 9 {
		v *= 10
		if i < it.min {
			if pos == len(s) || !isDigit(s[pos]) {
				return pos, false
			}
			v += int64(s[pos] - '0')
			pos++
		}
	}
	return pos, p.put(nano, v)
}

// within reports whether a field, if it is there, has a value that exists.
func (p *parsed) within(f field, lo, hi int64) bool {
	return !p.set.has(f) || p.value[f] >= lo && p.value[f] <= hi
}

func (p *parsed) or(f field, otherwise int64) int64 {
	if p.set.has(f) {
		return p.value[f]
	}
	return otherwise
}

// resolve makes a point in time of the fields.
func (p *parsed) resolve() (types.TS, bool) {
	ms, ns, carry, ok := p.time()
	if !ok {
		return types.TS{}, false
	}
	days, complete, ok := p.date()
	if !ok {
		return types.TS{}, false
	}
	if complete {
		days += carry
	}
	return types.TS{Ms: int64(days)*text.MsPerDay + ms, Ns: ns}, true
}

// time returns the time of day, and a day to carry for 24:00.
func (p *parsed) time() (ms int64, ns int32, carry int, ok bool) {
	if !p.within(clockHour, 1, 24) || !p.within(clockOfHalf, 1, 12) || !p.within(hourOfHalf, 0, 11) ||
		!p.within(milliOfDay, 0, text.MsPerDay-1) || !p.within(nanoOfDay, 0, text.MsPerDay*1_000_000-1) {
		return 0, 0, 0, false
	}
	if p.set.has(clockHour) && !p.put(hour, p.value[clockHour]%24) ||
		p.set.has(clockOfHalf) && !p.put(hourOfHalf, p.value[clockOfHalf]%12) ||
		p.set.has(half) && p.set.has(hourOfHalf) && !p.put(hour, p.value[half]*12+p.value[hourOfHalf]) {
		return 0, 0, 0, false
	}
	total, whole := p.value[nanoOfDay], p.set.has(nanoOfDay)
	if p.set.has(milliOfDay) {
		total, whole = p.value[milliOfDay]*1_000_000, true
	}
	if whole && !(p.put(hour, total/3600e9) && p.put(minute, total/60e9%60) && p.put(second, total/1e9%60) && p.put(nano, total%1e9)) {
		return 0, 0, 0, false
	}
	if p.set.has(hour) && (p.set.has(half) && p.value[hour]/12 != p.value[half] || p.set.has(hourOfHalf) && p.value[hour]%12 != p.value[hourOfHalf]) {
		return 0, 0, 0, false
	}
	h, m, s, n := p.value[hour], p.value[minute], p.value[second], p.value[nano]
	if h == 24 && m == 0 && s == 0 && n == 0 {
		return 0, 0, 1, true
	}
	if h < 0 || h > 23 || m < 0 || m > 59 || s < 0 || s > 59 || n > 999_999_999 {
		return 0, 0, 0, false
	}
	return h*text.MsPerHour + m*text.MsPerMinute + s*text.MsPerSecond + n/1_000_000, int32(n % 1_000_000), 0, true
}

// date returns the date, and whether the fields made it as a whole: only then
// other fields of it must agree.
func (p *parsed) date() (days int, complete, ok bool) {
	if !p.within(yearOfEra, 1, 999_999_999) || !p.within(month, 1, 12) || !p.within(dayOfMonth, 1, 31) ||
		!p.within(dayOfYear, 1, 366) || !p.within(weekOfYear, 1, 53) || !p.within(localDay, 1, 7) {
		return 0, false, false
	}
	if p.set.has(yearOfEra) {
		y := p.value[yearOfEra]
		if p.set.has(era) && p.value[era] == 0 {
			y = 1 - y
		}
		if !p.put(year, y) {
			return 0, false, false
		}
	}
	if !p.within(year, -99_999, 99_999) || !p.within(weekYear, -99_999, 99_999) {
		return 0, false, false
	}
	y := int(p.or(year, 1970))
	switch {
	case p.set.has(year) && p.set.has(month) && p.set.has(dayOfMonth):
		m := int(p.value[month])
		days, complete = text.DaysFromCivil(y, m, min(int(p.value[dayOfMonth]), text.DaysInMonth(y, m))), true
		p.set &^= 1 << dayOfMonth // it may have been too large
	case p.set.has(year) && p.set.has(dayOfYear):
		if p.value[dayOfYear] == 366 && !text.IsLeap(y) {
			return 0, false, false
		}
		days, complete = text.DaysFromCivil(y, 1, 1)+int(p.value[dayOfYear])-1, true
	case p.set.has(weekYear) && p.set.has(weekOfYear) && (p.set.has(localDay) || p.set.has(dayOfWeek)):
		days, complete = p.fromWeek(), true
	default:
		m := int(p.or(month, 1))
		d := int(p.or(dayOfMonth, 1))
		if d > text.DaysInMonth(y, m) {
			return 0, false, false
		}
		return text.DaysFromCivil(y, m, d), false, true
	}
	return days, complete, p.agrees(days)
}

// fromWeek returns the date of a year of weeks, a week and a day of it.
func (p *parsed) fromWeek() int {
	day := p.or(localDay, p.value[dayOfWeek]%7+1)
	jan1 := text.DaysFromCivil(int(p.value[weekYear]), 1, 1)
	return jan1 - fromSunday(isoDay(jan1)) + int(p.value[weekOfYear]-1)*7 + int(day-1)
}

// agrees reports whether all fields of the date that were read are those of it.
func (p *parsed) agrees(days int) bool {
	const plain = 1<<era | 1<<year | 1<<yearOfEra | 1<<month | 1<<dayOfMonth
	if p.set&(1<<half-1)&^plain == 0 {
		return true
	}
	c := civilOf(int64(days)*text.MsPerDay, 0)
	for f := year; f <= localDay; f++ {
		if p.set.has(f) && f != yearOfEra && c.get(f) != p.value[f] {
			return false
		}
	}
	return true
}
