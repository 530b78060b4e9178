package text

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// Parse appends to dst what CAST(text AS type) makes of text, dst being of a
// type that is not nested. It returns false, and appends nothing, if text is no
// value of the type. Character and binary strings are cut and padded to their
// length.
func (f *Form) Parse(dst batch.Vector, text []byte) (ok bool) {
	t := dst.Type()
	switch d := dst.(type) {
	case *batch.Fixed[bool]:
		b, ok := ParseBool(text)
		return add(d, b, ok)
	case *batch.Fixed[int8]:
		n, ok := ParseIntN(text, 8)
		return add(d, int8(n), ok)
	case *batch.Fixed[int16]:
		n, ok := ParseIntN(text, 16)
		return add(d, int16(n), ok)
	case *batch.Fixed[int32]:
		n, ok := parse32(t, text)
		return add(d, n, ok)
	case *batch.Fixed[int64]:
		n, ok := f.parse64(t, text)
		return add(d, n, ok)
	case *batch.Fixed[float32]:
		x, ok := ParseFloat(text)
		return add(d, x, ok)
	case *batch.Fixed[float64]:
		x, ok := ParseDouble(text)
		return add(d, x, ok)
	case *batch.Fixed[types.Int128]:
		n, ok := parseFitting(t, text)
		return add(d, n, ok)
	case *batch.Fixed[types.TS]:
		n, ok := f.ParseTS(t, text)
		return add(d, n, ok)
	case *batch.Bytes:
		d.Data = AppendFitted(d.Data, text, t)
		d.Close()
		return true
	}
	return false
}

func add[T batch.Value](d *batch.Fixed[T], v T, ok bool) bool {
	if ok {
		d.Append(v)
	}
	return ok
}

func parse32(t types.Type, text []byte) (int32, bool) {
	switch t.Kind {
	case types.Date:
		return ParseDate(text)
	case types.Time:
		return ParseTime(text, int(t.Precision))
	case types.IntervalYM:
		return ParseMonths(text)
	}
	n, ok := ParseIntN(text, 32)
	return int32(n), ok
}

// parseFitting reads a DECIMAL that fits its type.
func parseFitting(t types.Type, text []byte) (types.Int128, bool) {
	n, ok := ParseDecimal(text, int(t.Precision), int(t.Scale))
	return n, ok && n.FitsPrecision(int(t.Precision))
}

func (f *Form) parse64(t types.Type, text []byte) (int64, bool) {
	switch t.Kind {
	case types.Decimal:
		n, ok := parseFitting(t, text)
		return n.Int64(), ok
	case types.Timestamp, types.TimestampLTZ:
		n, ok := f.ParseTS(t, text)
		return n.Ms, ok
	case types.IntervalDS:
		return ParseMillis(text)
	}
	return ParseInt(text)
}

// ParseTS reads a TIMESTAMP, or a TIMESTAMP_LTZ as wall time of the zone.
func (f *Form) ParseTS(t types.Type, text []byte) (types.TS, bool) {
	n, ok := ParseTimestamp(text, int(t.Precision))
	if ok && t.Kind == types.TimestampLTZ {
		n.Ms = f.zone.ToUTC(n.Ms)
	}
	return n, ok
}

// AppendFitted appends s as a value of a character or binary type: cut where it
// is longer, and padded where the type has a fixed length, with spaces or with
// zero bytes. Characters are code points.
func AppendFitted(buf, s []byte, t types.Type) []byte {
	n := int(t.Length)
	if t.IsBinary() {
		buf = append(buf, s[:min(n, len(s))]...)
		if t.Kind == types.Binary {
			for range n - len(s) {
				buf = append(buf, 0)
			}
		}
		return buf
	}
	if t.Kind == types.Varchar && len(s) <= n {
		return append(buf, s...)
	}
	cut, chars := CutChars(s, n)
	buf = append(buf, cut...)
	if t.Kind == types.Char {
		for range n - chars {
			buf = append(buf, ' ')
		}
	}
	return buf
}

// CutChars returns the first n characters of s, and how many it has up to there.
func CutChars(s []byte, n int) (cut []byte, chars int) {
	if len(s) <= n {
		for _, c := range s {
			if c&0xC0 != 0x80 {
				chars++
			}
		}
		return s, chars
	}
	for i, c := range s {
		if c&0xC0 == 0x80 {
			continue
		}
		if chars == n {
			return s[:i], n
		}
		chars++
	}
	return s, chars
}
