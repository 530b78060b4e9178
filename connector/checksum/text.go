package checksum

import (
	"bytes"
	"fmt"
	"math"
	"math/bits"
	"strconv"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// cell says how the values of a column are written.
type cell struct {
	form  cellForm
	scale int // of a decimal
}

type cellForm uint8

const (
	formInt64   cellForm = iota // BIGINT, and times as ms since 1970
	formString                  // CHAR, VARCHAR
	formDecimal                 // DECIMAL up to 18 digits
	formWide                    // longer ones
	formInt32                   // INT, DATE in days, TIME in ms of the day
	formNanos                   // times above precision 3, in ns since 1970
	formBool
	formInt8
	formInt16
	formFloat32
	formFloat64
)

// cellOf tells how values of a type are written, and false for those that have no text.
func cellOf(t types.Type) (cell, bool) {
	switch t.Kind {
	case types.Boolean:
		return cell{form: formBool}, true
	case types.TinyInt:
		return cell{form: formInt8}, true
	case types.SmallInt:
		return cell{form: formInt16}, true
	case types.Int, types.Date, types.Time:
		return cell{form: formInt32}, true
	case types.BigInt:
		return cell{form: formInt64}, true
	case types.Float:
		return cell{form: formFloat32}, true
	case types.Double:
		return cell{form: formFloat64}, true
	case types.Char, types.Varchar:
		return cell{form: formString}, true
	case types.Decimal:
		if t.Phys() == types.PhysI64 {
			return cell{form: formDecimal, scale: int(t.Scale)}, true
		}
		return cell{form: formWide, scale: int(t.Scale)}, true
	case types.Timestamp, types.TimestampLTZ:
		if t.Phys() == types.PhysI64 {
			return cell{form: formInt64}, true
		}
		return cell{form: formNanos}, true
	}
	return cell{}, false
}

// rowView reads the rows of a batch. The commonest vectors stand ready, so that a cell costs one jump and no call.
type rowView struct {
	cols []columnView
}

type columnView struct {
	cell
	valid batch.Bitmap
	ints  []int64      // of formInt64 and formDecimal
	text  *batch.Bytes // of formString
	other batch.Vector // of the other forms
}

func (v *rowView) set(cells []cell, b *batch.Batch) {
	v.cols = v.cols[:0]
	for i, c := range cells {
		col := columnView{cell: c, valid: b.Cols[i].Validity(), other: b.Cols[i]}
		switch c.form {
		case formInt64, formDecimal:
			col.ints = col.other.(*batch.Fixed[int64]).Values
		case formString:
			col.text = col.other.(*batch.Bytes)
		}
		v.cols = append(v.cols, col)
	}
}

// appendRow appends the text of the row at a position.
func (v *rowView) appendRow(dst []byte, i int) ([]byte, error) {
	var err error
	for n := range v.cols {
		c := &v.cols[n]
		if n > 0 {
			dst = append(dst, '|')
		}
		switch {
		case c.valid.IsNull(i):
			dst = append(dst, '\\', 'N')
		case c.form == formInt64:
			dst = strconv.AppendInt(dst, c.ints[i], 10)
		case c.form == formString:
			dst = appendString(dst, c.text.At(i))
		case c.form == formDecimal:
			dst = types.Int128FromInt64(c.ints[i]).AppendDecimal(dst, c.scale)
		default:
			if dst, err = c.appendOther(dst, i); err != nil {
				return dst, err
			}
		}
	}
	return dst, nil
}

func (c *columnView) appendOther(dst []byte, i int) ([]byte, error) {
	switch v := c.other.(type) {
	case *batch.Fixed[int32]:
		return strconv.AppendInt(dst, int64(v.Values[i]), 10), nil
	case *batch.Fixed[types.Int128]:
		return v.Values[i].AppendDecimal(dst, c.scale), nil
	case *batch.Fixed[types.TS]:
		return appendNanos(dst, v.Values[i])
	case *batch.Fixed[bool]:
		return strconv.AppendBool(dst, v.Values[i]), nil
	case *batch.Fixed[int8]:
		return strconv.AppendInt(dst, int64(v.Values[i]), 10), nil
	case *batch.Fixed[int16]:
		return strconv.AppendInt(dst, int64(v.Values[i]), 10), nil
	case *batch.Fixed[float32]:
		b := math.Float32bits(v.Values[i])
		if math.IsNaN(float64(v.Values[i])) {
			b = 0x7fc00000
		}
		return fmt.Appendf(dst, "%08x", b), nil
	case *batch.Fixed[float64]:
		b := math.Float64bits(v.Values[i])
		if math.IsNaN(v.Values[i]) {
			b = 0x7ff8000000000000
		}
		return fmt.Appendf(dst, "%016x", b), nil
	}
	panic(fmt.Sprintf("checksum: no text for %T", c.other))
}

// appendString appends a string with a backslash before | and \, and a line feed as \n.
func appendString(dst, s []byte) []byte {
	if !bytes.ContainsAny(s, "|\\\n") {
		return append(dst, s...)
	}
	for _, c := range s {
		switch c {
		case '|', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// appendNanos appends a time in ns since 1970, which end in the year 2262.
func appendNanos(dst []byte, t types.TS) ([]byte, error) {
	const perMs = 1_000_000
	hi, lo := bits.Mul64(uint64(abs(t.Ms)), perMs)
	if hi != 0 || lo > math.MaxInt64-perMs {
		return dst, fmt.Errorf("a time of %d ms since 1970 does not fit into 64 bits as ns, as the checksum needs it; use a precision of 3", t.Ms)
	}
	return strconv.AppendInt(dst, t.Ms*perMs+int64(t.Ns), 10), nil
}

func abs(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}
