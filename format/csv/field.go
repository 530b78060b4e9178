package csv

import (
	"bytes"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/format/internal/parse"
	"github.com/millstream-io/millstream/types"
)

// op says how a value of a type is read and written.
type op uint8

const (
	// opSkip: the field is not wanted.
	opSkip op = iota
	opNull
	opBool
	opI8
	opI16
	opI32
	opI64
	opF32
	opF64
	opDec64
	opDec128
	opDate
	opTime
	opTS64
	opTS
	opText
	opBinary
	opList
	opRow
)

// field is one field of a line: its column, or, within an ARRAY or ROW, an
// element.
type field struct {
	op      op
	notNull bool
	name    string
	typ     types.Type
	// column is the position in the batch.
	column int
	// skips is how many fields are not wanted from this one on.
	skips int

	vec batch.Vector
	b   *batch.Fixed[bool]
	i8  *batch.Fixed[int8]
	i16 *batch.Fixed[int16]
	i32 *batch.Fixed[int32]
	i64 *batch.Fixed[int64]
	f32 *batch.Fixed[float32]
	f64 *batch.Fixed[float64]
	dec *batch.Fixed[types.Int128]
	ts  *batch.Fixed[types.TS]
	txt *batch.Bytes

	list  *batch.List
	row   *batch.Row
	elems []*field
}

func newField(name string, t types.Type, column int) *field {
	f := &field{op: opOf(t), notNull: !t.Nullable, name: name, typ: t, column: column}
	switch t.Kind {
	case types.Array:
		f.elems = []*field{newField(name+"[]", *t.Elem, 0)}
	case types.Row:
		for i, g := range t.Fields {
			f.elems = append(f.elems, newField(name+"."+g.Name, g.Type, i))
		}
	}
	return f
}

func opOf(t types.Type) op {
	switch t.Kind {
	case types.Date:
		return opDate
	case types.Time:
		return opTime
	case types.Decimal:
		if t.Phys() == types.PhysI64 {
			return opDec64
		}
		return opDec128
	case types.Timestamp, types.TimestampLTZ:
		if t.Phys() == types.PhysI64 {
			return opTS64
		}
		return opTS
	case types.Binary, types.Varbinary:
		return opBinary
	}
	return [...]op{types.PhysBool: opBool, types.PhysI8: opI8, types.PhysI16: opI16, types.PhysI32: opI32,
		types.PhysI64: opI64, types.PhysF32: opF32, types.PhysF64: opF64, types.PhysBytes: opText,
		types.PhysList: opList, types.PhysRow: opRow, types.PhysNull: opNull}[t.Phys()]
}

// bind makes v the vector that values go to, or come from.
func (f *field) bind(v batch.Vector) {
	f.vec = v
	switch v := v.(type) {
	case *batch.Fixed[bool]:
		f.b = v
	case *batch.Fixed[int8]:
		f.i8 = v
	case *batch.Fixed[int16]:
		f.i16 = v
	case *batch.Fixed[int32]:
		f.i32 = v
	case *batch.Fixed[int64]:
		f.i64 = v
	case *batch.Fixed[float32]:
		f.f32 = v
	case *batch.Fixed[float64]:
		f.f64 = v
	case *batch.Fixed[types.Int128]:
		f.dec = v
	case *batch.Fixed[types.TS]:
		f.ts = v
	case *batch.Bytes:
		f.txt = v
	case *batch.List:
		f.list = v
		f.elems[0].bind(v.Elem)
	case *batch.Row:
		f.row = v
		for i, e := range f.elems {
			e.bind(v.Cols[i])
		}
	}
}

// put adds the value that a field's text stands for. It returns false if the
// line must be given up.
func (d *decoder) put(f *field, text []byte) bool {
	switch f.op {
	case opSkip:
		return true
	case opList:
		return d.putList(f, text)
	case opRow:
		return d.putRow(f, text)
	}
	if d.hasNull && bytes.Equal(text, d.null) {
		return d.putNull(f)
	}
	null, fault := f.scalar(text)
	switch {
	case fault != parse.OK:
		return d.misfit(f, text, fault)
	case null:
		// As in Flink, a number too wide is no error; but it is counted.
		if f.notNull {
			return d.misfit(f, text, parse.Range)
		}
		d.nulled++
		f.vec.AppendNull()
	}
	return true
}

func (d *decoder) putNull(f *field) bool {
	if f.notNull {
		d.fault = fault{kind: noNull, field: f}
		return false
	}
	f.vec.AppendNull()
	return true
}

// misfit deals with a text that is no value of the field's type.
func (d *decoder) misfit(f *field, text []byte, why parse.Fault) bool {
	if !d.ignore || f.notNull {
		d.fault = fault{kind: badValue, field: f, text: bytes.Clone(text), why: why}
		return false
	}
	d.nulled++
	f.vec.AppendNull()
	return true
}

// scalar adds a value of a simple type. null says that it is a decimal too
// wide.
func (f *field) scalar(text []byte) (null bool, fault parse.Fault) {
	switch f.op {
	case opText:
		if !parse.ValidText(text) {
			return false, parse.UTF8
		}
		f.txt.Append(text)
	case opI8, opI16, opI32, opI64:
		return false, f.integer(parse.Trim(text))
	case opF64:
		v, fault := parse.Double(parse.Trim(text))
		if fault != parse.OK {
			return false, fault
		}
		f.f64.Append(v)
	case opF32:
		v, fault := parse.Float(parse.Trim(text))
		if fault != parse.OK {
			return false, fault
		}
		f.f32.Append(v)
	case opBool:
		v, fault := parse.Bool(parse.Trim(text))
		if fault != parse.OK {
			return false, fault
		}
		f.b.Append(v)
	case opDec64, opDec128:
		v, null, fault := parse.Decimal(text, int(f.typ.Precision), int(f.typ.Scale))
		switch {
		case fault != parse.OK || null:
			return null, fault
		case f.op == opDec64:
			f.i64.Append(v.Int64())
		default:
			f.dec.Append(v)
		}
	case opBinary:
		at := len(f.txt.Data)
		f.txt.Data, fault = parse.AppendBase64(f.txt.Data, text)
		if fault != parse.OK {
			f.txt.Data = f.txt.Data[:at]
			return false, fault
		}
		f.txt.Close()
	case opNull:
		f.vec.AppendNull()
	default:
		return false, f.datetime(text)
	}
	return false, parse.OK
}

func (f *field) integer(text []byte) parse.Fault {
	v, fault := parse.Int(text)
	if fault != parse.OK {
		return fault
	}
	switch {
	case f.op == opI64:
		f.i64.Append(v)
	case f.op == opI32 && v == int64(int32(v)):
		f.i32.Append(int32(v))
	case f.op == opI16 && v == int64(int16(v)):
		f.i16.Append(int16(v))
	case f.op == opI8 && v == int64(int8(v)):
		f.i8.Append(int8(v))
	default:
		return parse.Range
	}
	return parse.OK
}

func (f *field) datetime(text []byte) parse.Fault {
	switch f.op {
	case opDate:
		v, fault := parse.LooseDate(text)
		if fault == parse.OK {
			f.i32.Append(v)
		}
		return fault
	case opTime:
		v, fault := parse.Time(text, false, true, int(f.typ.Precision))
		if fault == parse.OK {
			f.i32.Append(v)
		}
		return fault
	}
	layout := &parse.SQL
	if f.typ.Kind == types.TimestampLTZ {
		layout = &parse.SQLZulu
	} else if f.typ.Precision == 3 {
		if ms, ok := parse.FastTimestamp(text, ' '); ok {
			f.i64.Append(ms)
			return parse.OK
		}
	}
	v, fault := parse.Timestamp(parse.Trim(text), layout)
	if fault != parse.OK {
		return fault
	}
	v = parse.Truncate(v, int(f.typ.Precision))
	if f.op == opTS64 {
		f.i64.Append(v.Ms)
	} else {
		f.ts.Append(v)
	}
	return parse.OK
}

// putList adds an ARRAY; an empty field is an empty one.
func (d *decoder) putList(f *field, text []byte) bool {
	for len(text) > 0 {
		elem, rest, more := bytes.Cut(text, d.arrayDelim)
		if !d.put(f.elems[0], elem) {
			return false
		}
		text = rest
		if more && len(rest) == 0 && !d.put(f.elems[0], nil) {
			return false
		}
	}
	f.list.Close()
	return true
}

// putRow adds a ROW; an empty field is NULL.
func (d *decoder) putRow(f *field, text []byte) bool {
	if len(text) == 0 {
		return d.putNull(f)
	}
	if n := bytes.Count(text, d.arrayDelim) + 1; n != len(f.elems) {
		if !d.ignore {
			d.fault = fault{kind: rowLength, field: f, text: bytes.Clone(text), n: n}
			return false
		}
		d.nulled++
	}
	for _, e := range f.elems {
		if text == nil {
			if !d.putNull(e) {
				return false
			}
			continue
		}
		part, rest, more := bytes.Cut(text, d.arrayDelim)
		if !d.put(e, part) {
			return false
		}
		if text = rest; !more {
			text = nil
		}
	}
	f.row.Close()
	return true
}
