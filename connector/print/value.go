package print

import (
	"strconv"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

// The forms are those of Java's classes that stand for SQL values outside of
// Flink: LocalDateTime, Instant, BigDecimal, Row ...

func appendRow(buf []byte, kind types.RowKind, cols []batch.Vector, i int) []byte {
	buf = append(append(buf, kind.String()...), '[')
	for c, v := range cols {
		if c > 0 {
			buf = append(buf, ", "...)
		}
		buf = appendValue(buf, v, i)
	}
	return append(buf, ']')
}

func appendValue(buf []byte, v batch.Vector, i int) []byte {
	if v.Validity().IsNull(i) {
		return append(buf, "null"...)
	}
	t := v.Type()
	switch v := v.(type) {
	case *batch.Fixed[bool]:
		return strconv.AppendBool(buf, v.Values[i])
	case *batch.Fixed[float32]:
		return text.AppendFloat(buf, v.Values[i])
	case *batch.Fixed[float64]:
		return text.AppendDouble(buf, v.Values[i])
	case *batch.Fixed[int32]:
		switch t.Kind {
		case types.Date:
			return text.AppendDate(buf, v.Values[i])
		case types.Time:
			return appendClock(buf, int(v.Values[i]), 0, false)
		}
	case *batch.Fixed[int64]:
		switch {
		case t.IsTimestamp():
			return appendTimestamp(buf, types.TS{Ms: v.Values[i]}, t)
		case t.Kind == types.Decimal:
			return appendDecimal(buf, types.Int128FromInt64(v.Values[i]), int(t.Scale))
		}
	case *batch.Fixed[types.TS]:
		return appendTimestamp(buf, v.Values[i], t)
	case *batch.Fixed[types.Int128]:
		return appendDecimal(buf, v.Values[i], int(t.Scale))
	case *batch.Bytes:
		if t.IsBinary() {
			return appendBytes(buf, v.At(i))
		}
		return append(buf, v.At(i)...)
	case *batch.List, *batch.Map, *batch.Row:
		return appendNested(buf, v, i)
	}
	return text.AppendCell(buf, v, i)
}

func appendNested(buf []byte, v batch.Vector, i int) []byte {
	switch v := v.(type) {
	case *batch.List:
		buf = append(buf, '[')
		for k := v.Offsets[i]; k < v.Offsets[i+1]; k++ {
			if k > v.Offsets[i] {
				buf = append(buf, ", "...)
			}
			buf = appendValue(buf, v.Elem, int(k))
		}
		return append(buf, ']')
	case *batch.Map:
		buf = append(buf, '{')
		for k := v.Offsets[i]; k < v.Offsets[i+1]; k++ {
			if k > v.Offsets[i] {
				buf = append(buf, ", "...)
			}
			buf = append(appendValue(buf, v.Keys, int(k)), '=')
			buf = appendValue(buf, v.Vals, int(k))
		}
		return append(buf, '}')
	case *batch.Row:
		return appendRow(buf, types.Insert, v.Cols, i)
	}
	return buf
}

func appendBytes(buf, b []byte) []byte {
	buf = append(buf, '[')
	for k, c := range b {
		if k > 0 {
			buf = append(buf, ", "...)
		}
		buf = strconv.AppendInt(buf, int64(int8(c)), 10)
	}
	return append(buf, ']')
}

func appendTimestamp(buf []byte, ts types.TS, t types.Type) []byte {
	days, ms := text.SplitDay(ts.Ms)
	buf = append(text.AppendDate(buf, int32(days)), 'T')
	if t.Kind == types.TimestampLTZ {
		return append(appendClock(buf, ms, int(ts.Ns), true), 'Z')
	}
	return appendClock(buf, ms, int(ts.Ns), false)
}

// appendClock prints a time of day: seconds only where they, or always, count,
// and a fraction of three, six or nine digits.
func appendClock(buf []byte, ms, ns int, seconds bool) []byte {
	two := func(n int) { buf = append(buf, byte('0'+n/10), byte('0'+n%10)) }
	two(ms / text.MsPerHour)
	buf = append(buf, ':')
	two(ms / text.MsPerMinute % 60)
	s, frac := ms/text.MsPerSecond%60, ms%text.MsPerSecond*1_000_000+ns
	if s == 0 && frac == 0 && !seconds {
		return buf
	}
	buf = append(buf, ':')
	two(s)
	if frac == 0 {
		return buf
	}
	buf = append(buf, '.')
	for p := 100_000_000; p > 0; p /= 10 {
		if (p == 100_000 || p == 100) && frac == 0 {
			break
		}
		buf = append(buf, byte('0'+frac/p))
		frac %= p
	}
	return buf
}

// appendDecimal prints as BigDecimal.toString does: with an exponent below 1E-6.
func appendDecimal(buf []byte, v types.Int128, scale int) []byte {
	digits := v.Append(nil)
	exp := len(digits) - 1 - scale
	neg := digits[0] == '-'
	if neg {
		exp--
	}
	if exp >= -6 {
		return v.AppendDecimal(buf, scale)
	}
	if neg {
		buf = append(buf, '-')
		digits = digits[1:]
	}
	buf = append(buf, digits[0])
	if len(digits) > 1 {
		buf = append(append(buf, '.'), digits[1:]...)
	}
	return strconv.AppendInt(append(buf, 'E'), int64(exp), 10)
}
