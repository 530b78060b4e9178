package csv

import (
	"bytes"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/format/internal/parse"
	"github.com/millstream-io/millstream/internal/text/cell"
	"github.com/millstream-io/millstream/types"
)

// field is one field of a line: its column, or, within an ARRAY or ROW, an
// element.
type field struct {
	op      cell.Op
	notNull bool
	name    string
	typ     types.Type
	// column is the position in the batch.
	column int
	// skips is how many fields are not wanted from this one on.
	skips int

	cell.Column
	elems []*field
}

func newField(name string, t types.Type, column int) *field {
	f := &field{op: cell.OpOf(t), notNull: !t.Nullable, name: name, typ: t, column: column}
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

// bind makes v the vector that values go to, or come from.
func (f *field) bind(v batch.Vector) {
	f.Set(v)
	switch v := v.(type) {
	case *batch.List:
		f.elems[0].bind(v.Elem)
	case *batch.Row:
		for i, e := range f.elems {
			e.bind(v.Cols[i])
		}
	}
}

// put adds the value that a field's text stands for. It returns false if the
// line must be given up.
func (d *decoder) put(f *field, text []byte) bool {
	switch f.op {
	case cell.Skip:
		return true
	case cell.List:
		return d.putList(f, text)
	case cell.Row:
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
		f.Vec.AppendNull()
	}
	return true
}

func (d *decoder) putNull(f *field) bool {
	if f.notNull {
		d.fault = fault{kind: noNull, field: f}
		return false
	}
	f.Vec.AppendNull()
	return true
}

// misfit deals with a text that is no value of the field's type.
func (d *decoder) misfit(f *field, text []byte, why parse.Fault) bool {
	if !d.ignore || f.notNull {
		d.fault = fault{kind: badValue, field: f, text: bytes.Clone(text), why: why}
		return false
	}
	d.nulled++
	f.Vec.AppendNull()
	return true
}

// scalar adds a value of a simple type. null says that it is a decimal too
// wide.
func (f *field) scalar(text []byte) (null bool, fault parse.Fault) {
	switch f.op {
	case cell.Text:
		if !parse.ValidText(text) {
			return false, parse.UTF8
		}
		f.Text.Append(text)
	case cell.I8, cell.I16, cell.I32, cell.I64:
		return false, f.integer(parse.Trim(text))
	case cell.F64:
		v, fault := parse.Double(parse.Trim(text))
		if fault != parse.OK {
			return false, fault
		}
		f.F64.Append(v)
	case cell.F32:
		v, fault := parse.Float(parse.Trim(text))
		if fault != parse.OK {
			return false, fault
		}
		f.F32.Append(v)
	case cell.Bool:
		v, fault := parse.Bool(parse.Trim(text))
		if fault != parse.OK {
			return false, fault
		}
		f.Bool.Append(v)
	case cell.Dec64, cell.Dec128:
		v, null, fault := parse.Decimal(text, int(f.typ.Precision), int(f.typ.Scale))
		switch {
		case fault != parse.OK || null:
			return null, fault
		case f.op == cell.Dec64:
			f.I64.Append(v.Int64())
		default:
			f.Dec.Append(v)
		}
	case cell.Binary:
		at := len(f.Text.Data)
		f.Text.Data, fault = parse.AppendBase64(f.Text.Data, text)
		if fault != parse.OK {
			f.Text.Data = f.Text.Data[:at]
			return false, fault
		}
		f.Text.Close()
	case cell.Null:
		f.Vec.AppendNull()
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
	case f.op == cell.I64:
		f.I64.Append(v)
	case f.op == cell.I32 && v == int64(int32(v)):
		f.I32.Append(int32(v))
	case f.op == cell.I16 && v == int64(int16(v)):
		f.I16.Append(int16(v))
	case f.op == cell.I8 && v == int64(int8(v)):
		f.I8.Append(int8(v))
	default:
		return parse.Range
	}
	return parse.OK
}

func (f *field) datetime(text []byte) parse.Fault {
	switch f.op {
	case cell.Date:
		v, fault := parse.LooseDate(text)
		if fault == parse.OK {
			f.I32.Append(v)
		}
		return fault
	case cell.Time:
		v, fault := parse.Time(text, false, true, int(f.typ.Precision))
		if fault == parse.OK {
			f.I32.Append(v)
		}
		return fault
	}
	layout := &parse.SQL
	if f.typ.Kind == types.TimestampLTZ {
		layout = &parse.SQLZulu
	} else if f.typ.Precision == 3 {
		if ms, ok := parse.FastTimestamp(text, ' '); ok {
			f.I64.Append(ms)
			return parse.OK
		}
	}
	v, fault := parse.Timestamp(parse.Trim(text), layout)
	if fault != parse.OK {
		return fault
	}
	v = parse.Truncate(v, int(f.typ.Precision))
	if f.op == cell.TS64 {
		f.I64.Append(v.Ms)
	} else {
		f.TS.Append(v)
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
	f.List.Close()
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
	f.Row.Close()
	return true
}
