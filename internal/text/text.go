// Package text reads and prints values of SQL types as text, the way that
// Flink does: what CAST between text and a type does, the cells of test
// scripts, and the literals of plans. Numbers, dates and times have functions
// of their own; Form handles values of any type.
package text

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// Form reads and prints values of any type. It belongs to one goroutine; its
// zero value is for UTC.
type Form struct {
	// Legacy prints booleans in lower case and rows without blanks, as Flink
	// did before version 1.15 and does by an option.
	Legacy bool

	zone *Zone
	// day is the date of the last timestamp that was printed, dayText its text.
	day     int
	dayText []byte
}

// NewForm returns a Form for TIMESTAMP_LTZ values in a time zone.
func NewForm(loc *time.Location) *Form { return &Form{zone: NewZone(loc)} }

// AppendCell appends value pos of v as a cell of a test script, in UTC.
func AppendCell(buf []byte, v batch.Vector, pos int) []byte {
	return new(Form).AppendCell(buf, v, pos)
}

// ParseCell appends to dst the value of a cell of a test script, in UTC.
func ParseCell(dst batch.Vector, cell string) error { return new(Form).ParseCell(dst, cell) }

// Append appends value pos of v as CAST(v AS STRING) prints it; a null is NULL.
func (f *Form) Append(buf []byte, v batch.Vector, pos int) []byte {
	if v.Validity().IsNull(pos) {
		return append(buf, "NULL"...)
	}
	t := v.Type()
	switch v := v.(type) {
	case *batch.Fixed[bool]:
		if f.Legacy {
			return strconv.AppendBool(buf, v.Values[pos])
		}
		return AppendBool(buf, v.Values[pos])
	case *batch.Fixed[int8]:
		return strconv.AppendInt(buf, int64(v.Values[pos]), 10)
	case *batch.Fixed[int16]:
		return strconv.AppendInt(buf, int64(v.Values[pos]), 10)
	case *batch.Fixed[int32]:
		return append32(buf, t, v.Values[pos])
	case *batch.Fixed[int64]:
		return f.append64(buf, t, v.Values[pos])
	case *batch.Fixed[float32]:
		return AppendFloat(buf, v.Values[pos])
	case *batch.Fixed[float64]:
		return AppendDouble(buf, v.Values[pos])
	case *batch.Fixed[types.Int128]:
		return v.Values[pos].AppendDecimal(buf, int(t.Scale))
	case *batch.Fixed[types.TS]:
		return f.appendTS(buf, t, v.Values[pos])
	case *batch.Bytes:
		if t.IsBinary() {
			return AppendValidUTF8(buf, v.At(pos))
		}
		return append(buf, v.At(pos)...)
	}
	return f.appendNested(buf, v, pos)
}

func append32(buf []byte, t types.Type, x int32) []byte {
	switch t.Kind {
	case types.Date:
		return AppendDate(buf, x)
	case types.Time:
		return AppendTime(buf, x, int(t.Precision))
	case types.IntervalYM:
		return AppendMonths(buf, x)
	}
	return strconv.AppendInt(buf, int64(x), 10)
}

func (f *Form) append64(buf []byte, t types.Type, x int64) []byte {
	switch t.Kind {
	case types.Decimal:
		return types.Int128FromInt64(x).AppendDecimal(buf, int(t.Scale))
	case types.Timestamp, types.TimestampLTZ:
		return f.appendTS(buf, t, types.TS{Ms: x})
	case types.IntervalDS:
		return AppendMillis(buf, x)
	}
	return strconv.AppendInt(buf, x, 10)
}

func (f *Form) appendTS(buf []byte, t types.Type, x types.TS) []byte {
	if t.Kind == types.TimestampLTZ {
		x.Ms = f.zone.ToLocal(x.Ms)
	}
	days, ms := SplitDay(x.Ms)
	if f.dayText == nil || days != f.day {
		f.day, f.dayText = days, AppendDate(f.dayText[:0], int32(days))
	}
	return appendTimeOfDay(append(buf, f.dayText...), ms, x.Ns, int(t.Precision))
}

func (f *Form) appendNested(buf []byte, v batch.Vector, pos int) []byte {
	switch v := v.(type) {
	case *batch.List:
		buf = append(buf, '[')
		for i, end := int(v.Offsets[pos]), int(v.Offsets[pos+1]); i < end; i++ {
			if i > int(v.Offsets[pos]) {
				buf = append(buf, ", "...)
			}
			buf = f.Append(buf, v.Elem, i)
		}
		return append(buf, ']')
	case *batch.Map:
		buf = append(buf, '{')
		for i, end := int(v.Offsets[pos]), int(v.Offsets[pos+1]); i < end; i++ {
			if i > int(v.Offsets[pos]) {
				buf = append(buf, ", "...)
			}
			buf = append(f.Append(buf, v.Keys, i), '=')
			buf = f.Append(buf, v.Vals, i)
		}
		return append(buf, '}')
	case *batch.Row:
		buf = append(buf, '(')
		between := ", "
		if f.Legacy {
			between = ","
		}
		for i, c := range v.Cols {
			if i > 0 {
				buf = append(buf, between...)
			}
			buf = f.Append(buf, c, pos)
		}
		return append(buf, ')')
	}
	panic("text: no text for a value of type " + v.Type().String())
}

// AppendValidUTF8 appends b with each sequence that is no UTF-8 replaced by
// U+FFFD, as Java does when it makes text of bytes.
func AppendValidUTF8(buf, b []byte) []byte {
	for len(b) > 0 {
		if b[0] < utf8.RuneSelf {
			buf = append(buf, b[0])
			b = b[1:]
			continue
		}
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 {
			size = malformed(b)
		}
		buf = utf8.AppendRune(buf, r)
		b = b[size:]
	}
	return buf
}

// malformed returns how many bytes at the start of b, which is no UTF-8, become
// one replacement character: the longest beginning of a valid sequence.
func malformed(b []byte) int {
	need := 1
	switch c := b[0]; {
	case c >= 0xC2 && c < 0xE0:
		need = 2
	case c >= 0xE0 && c < 0xF0:
		need = 3
	case c >= 0xF0 && c < 0xF5:
		need = 4
	}
	for n := 1; n < need; n++ {
		if n == len(b) || b[n]&0xC0 != 0x80 || n == 1 && !secondByte(b[0], b[1]) {
			return n
		}
	}
	return need
}

// secondByte reports whether c may follow the first byte of a sequence: it may
// not make a sequence too long, or more than U+10FFFF. A surrogate is replaced
// as one.
func secondByte(first, c byte) bool {
	switch first {
	case 0xE0:
		return c >= 0xA0
	case 0xF0:
		return c >= 0x90
	case 0xF4:
		return c < 0x90
	}
	return true
}

// UTF16Len returns the length of s in UTF-16 units, which is how Java, and so
// Flink, counts characters.
func UTF16Len(s []byte) int {
	n := 0
	for _, c := range s {
		switch {
		case c >= 0xF0:
			n += 2
		case c < 0x80 || c >= 0xC0:
			n++
		}
	}
	return n
}

// Literal prints value pos of v as SQL would write it, for plans and errors:
// 'it”s', 12, DATE '2024-01-01'. Times are in UTC.
func Literal(v batch.Vector, pos int) string {
	if v.Validity().IsNull(pos) {
		return "NULL"
	}
	value := new(Form).Append(nil, v, pos)
	t := v.Type()
	switch t.Kind {
	case types.Char, types.Varchar:
		return quoteSQL("", value)
	case types.Binary, types.Varbinary:
		return fmt.Sprintf("X'%X'", v.(*batch.Bytes).At(pos))
	case types.Date, types.Time, types.Timestamp, types.TimestampLTZ, types.IntervalYM, types.IntervalDS:
		return quoteSQL(t.Kind.String()+" ", value)
	}
	return string(value)
}

func quoteSQL(prefix string, value []byte) string {
	return prefix + "'" + strings.ReplaceAll(string(value), "'", "''") + "'"
}
