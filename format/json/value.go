package json

import (
	"bytes"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/format/internal/column"
	"github.com/millstream-io/millstream/format/internal/parse"
	"github.com/millstream-io/millstream/internal/text/cell"
	"github.com/millstream-io/millstream/internal/text/jsontext"
)

// value reads the value at p into the node's vector, and returns the position
// behind it, or -1 if the record is broken. The usual form of each type is
// taken here; the rest is left to the functions that it falls through to.
func (d *decoder) value(n *node, b []byte, p int) int {
	switch n.op {
	case cell.I64:
		if v, q := shortInt(b, p); q > 0 {
			n.I64.Append(v)
			return q
		}
	case cell.I32:
		if v, q := shortInt(b, p); q > 0 && v == int64(int32(v)) {
			n.I32.Append(int32(v))
			return q
		}
	case cell.Text:
		if b[p] == '"' {
			q, high := stringEnd(b, p+1)
			if q < d.end && b[q] == '"' && (!high || parse.ValidText(b[p+1:q])) {
				n.Text.Data = append(n.Text.Data, b[p+1:q]...)
				n.Text.Close()
				return q + 1
			}
			return d.text(n, b, p)
		}
	case cell.TS64:
		if ms, q := n.shortTimestamp(b, p, d.timestamp.Sep); q > 0 && q < d.end {
			n.I64.Append(ms)
			return q
		}
	case cell.Row:
		if b[p] == '{' {
			return d.inner(n, b, p)
		}
	case cell.List:
		if b[p] == '[' {
			return d.array(n, b, p)
		}
	case cell.Map:
		if b[p] == '{' {
			return d.mapping(n, b, p)
		}
	}
	return d.token(n, b, p)
}

// shortInt reads a whole number of up to 18 digits; q is 0 if it is not one.
func shortInt(b []byte, p int) (v int64, q int) {
	q = p
	neg := b[q] == '-'
	if neg {
		q++
	}
	first := q
	for {
		c := b[q] - '0'
		if c > 9 {
			break
		}
		v = v*10 + int64(c)
		q++
	}
	n := q - first
	if n == 0 || n > 18 || n > 1 && b[first] == '0' {
		return 0, 0
	}
	if c := b[q]; c == '.' || c >= 'A' && c != ']' && c != '}' {
		return 0, 0
	}
	if neg {
		v = -v
	}
	return v, q
}

// shortTimestamp reads the usual forms of a TIMESTAMP(3) or TIMESTAMP_LTZ(3), in
// quotes; q is 0 if it is none of them.
func (n *node) shortTimestamp(b []byte, p int, sep byte) (ms int64, q int) {
	const seconds, millis = len("2006-01-02 15:04:05"), len("2006-01-02 15:04:05.000")
	q = p + 1 + seconds
	if q+6 > len(b) || n.typ.Precision != 3 || b[p] != '"' {
		return 0, 0
	}
	if b[q] == '.' {
		q = p + 1 + millis
	}
	ms, ok := parse.FastTimestamp(b[p+1:q], sep)
	if n.zulu {
		ok = ok && b[q] == 'Z'
		q++
	}
	if !ok || b[q] != '"' {
		return 0, 0
	}
	return ms, q + 1
}

// token reads a value by the kind of its first character.
func (d *decoder) token(n *node, b []byte, p int) int {
	switch c := b[p]; {
	case c == 'n':
		q := d.skipWord(b, p)
		if q < 0 {
			return q
		}
		return d.null(n, q)
	case c == '"':
		return d.quoted(n, b, p)
	case c == '-' || c-'0' <= 9:
		q := d.skipNumber(b, p)
		if q < 0 {
			return q
		}
		return d.scalar(n, b[p:q], true, p, q)
	case c == 't' || c == 'f':
		q := d.skipWord(b, p)
		switch {
		case q < 0:
			return q
		case n.op == cell.Bool:
			n.Bool.Append(c == 't')
			return q
		case n.op == cell.Text:
			n.Text.Append(b[p:q])
			return q
		}
		return d.misfit(n, p, q, parse.Form)
	}
	q := d.skip(b, p)
	switch {
	case q < 0:
		return q
	case n.op == cell.Text:
		n.Text.Data = d.appendCompact(n.Text.Data, b[p:q])
		n.Text.Close()
		return q
	}
	return d.misfit(n, p, q, parse.Form)
}

// null adds a null, which the JSON before p says.
func (d *decoder) null(n *node, p int) int {
	if n.notNull {
		d.nullFor(n)
		return -1
	}
	n.Vec.AppendNull()
	return p
}

// misfit deals with a value b[p:q] that is none of the node's type.
func (d *decoder) misfit(n *node, p, q int, f parse.Fault) int {
	d.fault = fault{kind: badValue, node: n, from: p, to: q, why: f}
	if !d.ignore || n.notNull {
		return -1
	}
	d.nulled++
	n.Vec.AppendNull()
	return q
}

// text reads a string with escapes, or with characters beyond ASCII.
func (d *decoder) text(n *node, b []byte, p int) int {
	v := n.Text
	at := len(v.Data)
	data, q, high := d.appendUnescaped(v.Data, b, p+1)
	if q < 0 {
		return q
	}
	if high && !parse.ValidText(data[at:]) {
		v.Data = data[:at]
		return d.misfit(n, p, q, parse.UTF8)
	}
	v.Data = data
	v.Close()
	return q
}

// quoted reads a string for a type other than text.
func (d *decoder) quoted(n *node, b []byte, p int) int {
	q, _ := stringEnd(b, p+1)
	if q >= d.end {
		return d.syntax(p, unterminated)
	}
	text := b[p+1 : q]
	if b[q] == '\\' {
		d.scratch, q, _ = d.appendUnescaped(d.scratch[:0], b, p+1)
		if q < 0 {
			return q
		}
		text = d.scratch
	} else {
		q++
	}
	return d.scalar(n, text, false, p, q)
}

// scalar reads the text of a number or of a string, which stands at b[p:q].
func (d *decoder) scalar(n *node, text []byte, number bool, p, q int) int {
	var f parse.Fault
	switch n.op {
	case cell.Bool:
		f = parse.Form
		if !number {
			var v bool
			if v, f = parse.Bool(parse.Trim(text)); f == parse.OK {
				n.Bool.Append(v)
			}
		}
	case cell.I8, cell.I16, cell.I32, cell.I64:
		f = n.integer(text, number)
	case cell.F32, cell.F64:
		f = n.float(text)
	case cell.Dec64, cell.Dec128:
		var null bool
		if null, f = n.decimal(text); null {
			if n.notNull {
				f = parse.Range
				break
			}
			// As in Flink, a number too wide is no error; but it is counted.
			d.nulled++
			n.Vec.AppendNull()
		}
	case cell.Text:
		n.Text.Append(text)
	case cell.Binary:
		f = parse.Form
		if !number {
			at := len(n.Text.Data)
			n.Text.Data, f = parse.AppendBase64(n.Text.Data, text)
			if f != parse.OK {
				n.Text.Data = n.Text.Data[:at]
				break
			}
			n.Text.Close()
		}
	case cell.Date, cell.Time, cell.TS64, cell.TS:
		f = parse.Form
		if !number {
			f = d.datetime(n, text)
		}
	default:
		f = parse.Form
	}
	if f != parse.OK {
		return d.misfit(n, p, q, f)
	}
	return q
}

// integer reads TINYINT to BIGINT. As in Flink, only INT and BIGINT take a
// number with a point or an exponent, but here it must be whole.
func (n *node) integer(text []byte, number bool) parse.Fault {
	wide := n.op == cell.I32 || n.op == cell.I64
	if !number {
		text = parse.Trim(text)
	}
	v, f := parse.Int(text)
	if f == parse.Form && number && wide {
		v, f = parse.Integral(text)
	}
	if f != parse.OK {
		return f
	}
	switch n.op {
	case cell.I64:
		n.I64.Append(v)
		return parse.OK
	case cell.I32:
		if v == int64(int32(v)) {
			n.I32.Append(int32(v))
			return parse.OK
		}
	case cell.I16:
		if v == int64(int16(v)) {
			n.I16.Append(int16(v))
			return parse.OK
		}
	case cell.I8:
		if v == int64(int8(v)) {
			n.I8.Append(int8(v))
			return parse.OK
		}
	}
	return parse.Range
}

func (n *node) float(text []byte) parse.Fault {
	text = parse.Trim(text)
	if n.op == cell.F64 {
		v, f := parse.Double(text)
		if f == parse.OK {
			n.F64.Append(v)
		}
		return f
	}
	v, f := parse.Float(text)
	if f == parse.OK {
		n.F32.Append(v)
	}
	return f
}

func (n *node) decimal(text []byte) (null bool, f parse.Fault) {
	v, null, f := parse.Decimal(parse.Trim(text), int(n.typ.Precision), int(n.typ.Scale))
	if f != parse.OK || null {
		return null, f
	}
	if n.op == cell.Dec64 {
		n.I64.Append(v.Int64())
	} else {
		n.Dec.Append(v)
	}
	return false, parse.OK
}

// layout is the form of the timestamps of a node.
func (d *decoder) layout(n *node) *parse.Layout {
	if n.zulu {
		return d.timestampLTZ
	}
	return d.timestamp
}

func (d *decoder) datetime(n *node, text []byte) parse.Fault {
	switch n.op {
	case cell.Date:
		v, f := parse.Date(text)
		if f == parse.OK {
			n.I32.Append(v)
		}
		return f
	case cell.Time:
		v, f := parse.Time(text, true, false, int(n.typ.Precision))
		if f == parse.OK {
			n.I32.Append(v)
		}
		return f
	}
	v, f := parse.Timestamp(text, d.layout(n))
	if f != parse.OK {
		return f
	}
	v = parse.Truncate(v, int(n.typ.Precision))
	if n.op == cell.TS64 {
		n.I64.Append(v.Ms)
	} else {
		n.TS.Append(v)
	}
	return parse.OK
}

// inner reads a ROW.
func (d *decoder) inner(n *node, b []byte, p int) int {
	p = d.object(n.obj, b, p)
	if p >= 0 {
		n.Row.Close()
	}
	return p
}

// array reads an ARRAY.
func (d *decoder) array(n *node, b []byte, p int) int {
	p = d.space(b, p+1)
	if b[p] == ']' {
		n.List.Close()
		return p + 1
	}
	for {
		if p = d.value(n.elem, b, p); p < 0 {
			return p
		}
		p = d.space(b, p)
		switch b[p] {
		case ',':
			p = d.space(b, p+1)
		case ']':
			n.List.Close()
			return p + 1
		default:
			return d.syntax(p, wantComma)
		}
	}
}

// mapping reads a MAP or a MULTISET.
func (d *decoder) mapping(n *node, b []byte, p int) int {
	keys := n.Map.Keys.(*batch.Bytes)
	start := keys.Len()
	repeated := false
	p = d.space(b, p+1)
	if b[p] == '}' {
		n.Map.Close()
		return p + 1
	}
	for {
		if b[p] != '"' {
			return d.syntax(p, wantKey)
		}
		data, q, high := d.appendUnescaped(keys.Data, b, p+1)
		if q < 0 {
			return q
		}
		if high && !parse.ValidText(data[len(keys.Data):]) {
			return d.syntax(p, badKey)
		}
		keys.Data = data
		keys.Close()
		repeated = repeated || d.repeats(keys, start)
		if p = d.space(b, q); b[p] != ':' {
			return d.syntax(p, wantColon)
		}
		if p = d.value(n.elem, b, d.space(b, p+1)); p < 0 {
			return p
		}
		p = d.space(b, p)
		switch b[p] {
		case ',':
			p = d.space(b, p+1)
			continue
		case '}':
		default:
			return d.syntax(p, wantComma)
		}
		if repeated {
			lastOfEach(n.Map, keys, start)
		}
		n.Map.Close()
		return p + 1
	}
}

// repeats reports whether the last key of a map that begins at start was there
// before. Maps of many entries are looked up in a Go map.
func (d *decoder) repeats(keys *batch.Bytes, start int) bool {
	last := keys.Len() - 1
	const few = 16
	if last-start < few {
		for i := start; i < last; i++ {
			if bytes.Equal(keys.At(i), keys.At(last)) {
				return true
			}
		}
		return false
	}
	if last-start == few {
		d.keySet = make(map[string]struct{}, 4*few)
		for i := start; i < last; i++ {
			d.keySet[string(keys.At(i))] = struct{}{}
		}
	}
	before := len(d.keySet)
	d.keySet[string(keys.At(last))] = struct{}{}
	return len(d.keySet) == before
}

// lastOfEach keeps of the entries from start on the last one of each key, in
// the order in which the keys came first.
func lastOfEach(m *batch.Map, keys *batch.Bytes, start int) {
	at := make(map[string]int)
	var pos []int32
	for i := start; i < keys.Len(); i++ {
		k := string(keys.At(i))
		if j, ok := at[k]; ok {
			pos[j] = int32(i)
			continue
		}
		at[k] = len(pos)
		pos = append(pos, int32(i))
	}
	for _, v := range [...]batch.Vector{m.Keys, m.Vals} {
		kept := batch.Take(v, pos)
		column.Truncate(v, start)
		batch.AppendTake(v, kept, nil)
	}
}

// appendCompact appends the text of a well-formed value without its blanks,
// strings being escaped as the encoder does but for characters beyond ASCII.
func (d *decoder) appendCompact(buf, b []byte) []byte {
	for p := 0; p < len(b); {
		switch c := b[p]; {
		case blank(c):
			p++
		case c == '"':
			end := d.end
			d.end = len(b)
			d.scratch, p, _ = d.appendUnescaped(d.scratch[:0], b, p+1)
			d.end = end
			buf = jsontext.Plain(buf, d.scratch)
		default:
			buf = append(buf, c)
			p++
		}
	}
	return buf
}
