// Package jsontext writes values of SQL types as JSON, as Flink does: the
// records of the format json, and what the JSON functions return.
package jsontext

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/internal/text/cell"
	"github.com/millstream-io/millstream/internal/text/emit"
	"github.com/millstream-io/millstream/types"
)

// Options say how values are written.
type Options struct {
	// ISO puts a T between the date and the time of a timestamp, not a space.
	ISO bool
	// PlainDecimal writes decimals in full, without an exponent.
	PlainDecimal bool
	// Function writes as the JSON functions do: decimals with all digits of their
	// scale, floating-point numbers as decimals (2.50, 1.0E+9, 0.0 for -0.0),
	// characters beyond the basic plane as they are, and objects in the order of
	// their keys.
	Function bool
	// IgnoreNulls leaves out fields of a ROW that are NULL.
	IgnoreNulls bool
	// NullKey is what becomes of NULL keys of a map.
	NullKey NullKey
	// NullLiteral is the key for LiteralKey.
	NullLiteral []byte
}

// NullKey is what becomes of NULL keys of a map.
type NullKey uint8

// The values of NullKey: a *NullKeyError, no entry, or a key that stands for it.
const (
	FailOnNullKey NullKey = iota
	DropNullKey
	LiteralKey
)

// NullKeyError tells that a map has a NULL key, which JSON cannot hold.
type NullKeyError struct {
	// Path is the column: m, r.m.
	Path string
}

// Error implements error.
func (e *NullKeyError) Error() string { return "a map has a NULL key, which JSON cannot hold" }

// Rows writes rows as objects. It belongs to one goroutine.
type Rows struct {
	o      Options
	fields []*writer
	// names are the fields' names in quotes, with the colon.
	names [][]byte
}

// NewRows returns a writer of rows with fields.
func NewRows(fields []types.Field, o Options) *Rows {
	r := &Rows{o: o}
	r.fields, r.names = o.newWriters(fields, "")
	return r
}

// Read makes cols the columns that are written.
func (r *Rows) Read(cols []batch.Vector) {
	for _, w := range r.fields {
		w.read(cols[w.at])
	}
}

// Append appends row i.
func (r *Rows) Append(buf []byte, i int) ([]byte, error) {
	return r.o.object(buf, r.fields, r.names, i)
}

// Values writes the values of a column. It belongs to one goroutine.
type Values struct {
	o Options
	w *writer
}

// NewValues returns a writer of values of a type.
func NewValues(t types.Type, o Options) *Values { return &Values{o, o.newWriter(t, "")} }

// Read makes v the column that is written.
func (v *Values) Read(col batch.Vector) { v.w.read(col) }

// Append appends value i; NULL is null.
func (v *Values) Append(buf []byte, i int) ([]byte, error) { return v.o.element(buf, v.w, i) }

// writer writes the values of one column, field or element.
type writer struct {
	op   cell.Op
	typ  types.Type
	path string
	// at is the place of a field in its row.
	at int
	cell.Column
	valid batch.Bitmap
	keys  *batch.Bytes
	elem  *writer
	// fields and names are those of a ROW.
	fields []*writer
	names  [][]byte
}

func (o *Options) newWriters(fields []types.Field, prefix string) (ws []*writer, names [][]byte) {
	order := make([]int, len(fields))
	for i := range order {
		order[i] = i
	}
	if o.Function {
		slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(fields[a].Name, fields[b].Name) })
	}
	for _, i := range order {
		w := o.newWriter(fields[i].Type, prefix+fields[i].Name)
		w.at = i
		ws = append(ws, w)
		names = append(names, append(appendEscaped(nil, []byte(fields[i].Name), !o.Function), ':'))
	}
	return ws, names
}

func (o *Options) newWriter(t types.Type, path string) *writer {
	w := &writer{op: cell.OpOf(t), typ: t, path: path}
	switch t.Kind {
	case types.Array, types.Map:
		w.elem = o.newWriter(*t.Elem, path)
	case types.Multiset:
		w.elem = o.newWriter(types.Of(types.Int).NotNull(), path)
	case types.Row:
		w.fields, w.names = o.newWriters(t.Fields, path+".")
	}
	return w
}

// read makes v the vector whose values are written.
func (w *writer) read(v batch.Vector) {
	w.valid = v.Validity()
	w.Set(v)
	switch v := v.(type) {
	case *batch.List:
		w.elem.read(v.Elem)
	case *batch.Map:
		w.keys = v.Keys.(*batch.Bytes)
		w.elem.read(v.Vals)
	case *batch.Row:
		for _, f := range w.fields {
			f.read(v.Cols[f.at])
		}
	}
}

func (o *Options) object(buf []byte, fields []*writer, names [][]byte, i int) (_ []byte, err error) {
	buf = append(buf, '{')
	start := len(buf)
	for f, w := range fields {
		null := w.valid.IsNull(i)
		if null && o.IgnoreNulls {
			continue
		}
		if len(buf) > start {
			buf = append(buf, ',')
		}
		buf = append(buf, names[f]...)
		if null {
			buf = append(buf, "null"...)
			continue
		}
		if buf, err = o.value(buf, w, i); err != nil {
			return buf, err
		}
	}
	return append(buf, '}'), nil
}

// value appends value i, which is not null.
func (o *Options) value(buf []byte, w *writer, i int) ([]byte, error) {
	switch w.op {
	case cell.I64:
		return strconv.AppendInt(buf, w.I64.Values[i], 10), nil
	case cell.I32:
		return strconv.AppendInt(buf, int64(w.I32.Values[i]), 10), nil
	case cell.Text:
		return appendEscaped(buf, w.Text.At(i), !o.Function), nil
	case cell.Row:
		return o.object(buf, w.fields, w.names, i)
	case cell.List:
		return o.array(buf, w, i)
	case cell.Map:
		return o.mapping(buf, w, i)
	}
	return o.scalar(buf, w, i), nil
}

func (o *Options) scalar(buf []byte, w *writer, i int) []byte {
	switch w.op {
	case cell.Bool:
		return strconv.AppendBool(buf, w.Bool.Values[i])
	case cell.I8:
		return strconv.AppendInt(buf, int64(w.I8.Values[i]), 10)
	case cell.I16:
		return strconv.AppendInt(buf, int64(w.I16.Values[i]), 10)
	case cell.F32:
		f := w.F32.Values[i]
		if o.Function {
			return scaled(buf, float64(f))
		}
		return quoteUnless(finite(float64(f)), buf, text.AppendFloat(buf, f))
	case cell.F64:
		f := w.F64.Values[i]
		if o.Function {
			return scaled(buf, f)
		}
		return quoteUnless(finite(f), buf, text.AppendDouble(buf, f))
	case cell.Dec64:
		return o.decimal(buf, w, types.Int128FromInt64(w.I64.Values[i]))
	case cell.Dec128:
		return o.decimal(buf, w, w.Dec.Values[i])
	case cell.Binary:
		buf = append(buf, '"')
		buf = emit.Base64(buf, w.Text.At(i))
		return append(buf, '"')
	case cell.Null:
		return append(buf, "null"...)
	}
	buf = append(buf, '"')
	switch w.op {
	case cell.Date:
		buf = emit.Date(buf, int(w.I32.Values[i]))
	case cell.Time:
		buf = emit.Clock(buf, int(w.I32.Values[i]), 0)
	case cell.TS64:
		buf = o.timestamp(buf, w, types.TS{Ms: w.I64.Values[i]})
	case cell.TS:
		buf = o.timestamp(buf, w, w.TS.Values[i])
	}
	return append(buf, '"')
}

func (o *Options) timestamp(buf []byte, w *writer, ts types.TS) []byte {
	sep := byte(' ')
	if o.ISO {
		sep = 'T'
	}
	buf = emit.Timestamp(buf, ts, sep)
	if w.typ.Kind == types.TimestampLTZ {
		buf = append(buf, 'Z')
	}
	return buf
}

func (o *Options) decimal(buf []byte, w *writer, v types.Int128) []byte {
	switch {
	case o.PlainDecimal:
		return v.AppendDecimal(buf, int(w.typ.Scale))
	case o.Function:
		return emit.Scaled(buf, v, int(w.typ.Scale))
	}
	return emit.Decimal(buf, v, int(w.typ.Scale), false)
}

// scaled appends a number as a decimal: with the digits that Java prints of it,
// but in the form of a BigDecimal.
func scaled(buf []byte, f float64) []byte {
	if !finite(f) {
		return quoteUnless(false, buf, text.AppendDouble(buf, f))
	}
	var room [32]byte
	return emit.Digits(buf, text.AppendDouble(room[:0], f))
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

// quoteUnless puts what was appended to before in quotes, unless it is plain.
func quoteUnless(plain bool, before, after []byte) []byte {
	if plain {
		return after
	}
	after = append(after, '"', '"')
	n := len(before)
	copy(after[n+1:], after[n:len(after)-2])
	after[n] = '"'
	return after
}

func (o *Options) array(buf []byte, w *writer, i int) (_ []byte, err error) {
	buf = append(buf, '[')
	for k := w.List.Offsets[i]; k < w.List.Offsets[i+1]; k++ {
		if k > w.List.Offsets[i] {
			buf = append(buf, ',')
		}
		if buf, err = o.element(buf, w.elem, int(k)); err != nil {
			return buf, err
		}
	}
	return append(buf, ']'), nil
}

func (o *Options) element(buf []byte, w *writer, k int) ([]byte, error) {
	if w.valid.IsNull(k) {
		return append(buf, "null"...), nil
	}
	return o.value(buf, w, k)
}

func (o *Options) mapping(buf []byte, w *writer, i int) (_ []byte, err error) {
	buf = append(buf, '{')
	start := len(buf)
	from, to := int(w.Map.Offsets[i]), int(w.Map.Offsets[i+1])
	sorted := o.sorted(w.keys, from, to)
	for k := from; k < to; k++ {
		i := k
		if sorted != nil {
			i = sorted[k-from]
		}
		key := o.NullLiteral
		switch {
		case !w.keys.Valid.IsNull(i):
			key = w.keys.At(i)
		case o.NullKey == FailOnNullKey:
			return buf, &NullKeyError{w.path}
		case o.NullKey == DropNullKey || hasMapKey(w.keys, from, to, key):
			// A key that is there already wins over the literal.
			continue
		}
		if len(buf) > start {
			buf = append(buf, ',')
		}
		buf = append(appendEscaped(buf, key, !o.Function), ':')
		if buf, err = o.element(buf, w.elem, i); err != nil {
			return buf, err
		}
	}
	return append(buf, '}'), nil
}

// sorted returns the entries of a map in the order of their keys; nil if they are
// written as they stand.
func (o *Options) sorted(keys *batch.Bytes, from, to int) []int {
	if !o.Function {
		return nil
	}
	out := make([]int, 0, to-from)
	for k := from; k < to; k++ {
		out = append(out, k)
	}
	slices.SortStableFunc(out, func(a, b int) int { return bytes.Compare(keys.At(a), keys.At(b)) })
	return out
}

func hasMapKey(keys *batch.Bytes, from, to int, key []byte) bool {
	for k := from; k < to; k++ {
		if !keys.Valid.IsNull(k) && string(keys.At(k)) == string(key) {
			return true
		}
	}
	return false
}
