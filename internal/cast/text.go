package cast

import (
	"strconv"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

// toText converts any type to CHAR or VARCHAR.
func (c *conversion) toText() fn.Kernel {
	if c.from.IsChar() {
		return c.fitted()
	}
	switch c.from.Kind {
	case types.Symbol, types.Descriptor, types.Variant, types.Bitmap, types.Objects:
		return nil
	}
	return func(rows fn.Rows, args []batch.Vector) (batch.Vector, error) {
		form := text.NewForm(c.zone)
		form.Legacy = c.legacy
		ints, isInts := args[0].(*batch.Fixed[int64])
		isInts = isInts && c.from.Kind == types.BigInt
		return fn.Bytes(c.to, rows, 12*rows.Len(), func(dst []byte, i int) ([]byte, bool, error) {
			at := len(dst)
			if isInts {
				dst = strconv.AppendInt(dst, ints.Values[i], 10)
			} else {
				dst = form.Append(dst, args[0], i)
			}
			return c.fit(dst, at), true, nil
		})
	}
}

// fit cuts or pads the text that begins at a place in dst.
func (c *conversion) fit(dst []byte, at int) []byte {
	if c.legacy || c.to.Kind == types.Varchar && len(dst)-at <= int(c.to.Length) {
		return dst
	}
	cut, chars := text.CutChars(dst[at:], int(c.to.Length))
	dst = dst[:at+len(cut)]
	if c.to.Kind == types.Char {
		for range int(c.to.Length) - chars {
			dst = append(dst, ' ')
		}
	}
	return dst
}

// fitted converts between texts, between binary strings, and from text to
// binary: the bytes stay, cut and padded to the length of the type.
func (c *conversion) fitted() fn.Kernel {
	from, to := c.from, c.to
	fits := to.Length >= from.Length
	if from.IsChar() && to.IsBinary() {
		fits = to.Length == types.MaxLength // bytes are not characters
	}
	if c.legacy || fits && (to.Kind == types.Varchar || to.Kind == types.Varbinary) {
		return c.same
	}
	return func(rows fn.Rows, args []batch.Vector) (batch.Vector, error) {
		in := args[0].(*batch.Bytes)
		size := int(in.Offsets[in.Len()] - in.Offsets[0])
		return fn.Bytes(to, rows, size, func(dst []byte, i int) ([]byte, bool, error) {
			return text.AppendFitted(dst, in.At(i), to), true, nil
		})
	}
}

// fromText parses text.
func (c *conversion) fromText() fn.Kernel {
	switch c.to.Kind {
	case types.Boolean:
		return parsed(c, text.ParseBool)
	case types.TinyInt:
		return parsed(c, func(b []byte) (int8, bool) { n, ok := text.ParseIntN(b, 8); return int8(n), ok })
	case types.SmallInt:
		return parsed(c, func(b []byte) (int16, bool) { n, ok := text.ParseIntN(b, 16); return int16(n), ok })
	case types.Int:
		return parsed(c, func(b []byte) (int32, bool) { n, ok := text.ParseIntN(b, 32); return int32(n), ok })
	case types.BigInt:
		return parsed(c, text.ParseInt)
	case types.Float:
		return parsed(c, text.ParseFloat)
	case types.Double:
		return parsed(c, text.ParseDouble)
	case types.Decimal:
		return c.decimalFromText()
	case types.Date:
		return parsed(c, text.ParseDate)
	case types.Time:
		return parsed(c, func(b []byte) (int32, bool) { return text.ParseTime(b, int(c.to.Precision)) })
	case types.Timestamp, types.TimestampLTZ:
		form, to := text.NewForm(c.zone), c.to
		if to.Phys() == types.PhysTS {
			return parsed(c, func(b []byte) (types.TS, bool) { return form.ParseTS(to, b) })
		}
		return parsed(c, func(b []byte) (int64, bool) { t, ok := form.ParseTS(to, b); return t.Ms, ok })
	}
	return nil
}

func parsed[T batch.Value](c *conversion, parse func([]byte) (T, bool)) fn.Kernel {
	return func(rows fn.Rows, args []batch.Vector) (batch.Vector, error) {
		in := args[0].(*batch.Bytes)
		return convert(c, rows, func(o *outcome, i int, to *T) bool {
			v, ok := parse(in.At(i))
			*to = v
			return ok || o.unreadable(i, in.At(i))
		})
	}
}

// unreadable notes a text that is no value of the type.
func (o *outcome) unreadable(pos int, b []byte) bool {
	if o.legacy && o.to.Nullable {
		o.valid = fn.MarkNull(o.valid, o.n, pos)
		return true
	}
	return o.fail(pos, "cannot read '%s' as %s; use TRY_CAST to get NULL for it", sample(b), o.to.WithNull(true))
}

// decimalFromText parses text; a number that only rounding makes too large is an
// overflow.
func (c *conversion) decimalFromText() fn.Kernel {
	precision, scale := int(c.to.Precision), int(c.to.Scale)
	one := func(o *outcome, b []byte, i int) (types.Int128, bool) {
		n, ok := text.ParseDecimal(b, precision, scale)
		switch {
		case !ok:
			return n, o.unreadable(i, b)
		case !n.FitsPrecision(precision):
			return n, o.overflow(i, string(sample(b)))
		}
		return n, true
	}
	if c.to.Phys() == types.PhysI64 {
		return func(rows fn.Rows, args []batch.Vector) (batch.Vector, error) {
			in := args[0].(*batch.Bytes)
			return convert(c, rows, func(o *outcome, i int, to *int64) bool {
				n, more := one(o, in.At(i), i)
				*to = n.Int64()
				return more
			})
		}
	}
	return func(rows fn.Rows, args []batch.Vector) (batch.Vector, error) {
		in := args[0].(*batch.Bytes)
		return convert(c, rows, func(o *outcome, i int, to *types.Int128) bool {
			n, more := one(o, in.At(i), i)
			*to = n
			return more
		})
	}
}

// sample shortens a text for an error.
func sample(b []byte) []byte {
	const most = 60
	if cut, _ := text.CutChars(b, most); len(cut) < len(b) {
		return append(append([]byte(nil), cut...), "..."...)
	}
	return b
}
