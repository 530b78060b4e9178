package json

import (
	"bytes"
	"errors"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/format"
	"github.com/millstream-io/millstream/format/internal/column"
	"github.com/millstream-io/millstream/format/internal/parse"
)

// decoder implements format.Decoder.
type decoder struct {
	root          *object
	cols          []batch.Vector
	ignore        bool
	failOnMissing bool
	timestamp     *parse.Layout
	timestampLTZ  *parse.Layout
	count         func(string, int64)
	sample        func(string, func() string)

	// end is where the record that is being read ends; a line break stands
	// there.
	end int
	// rows is the number of whole rows in the columns.
	rows int
	// nulled counts values that were replaced by NULL and are not yet reported,
	// kept is what it was when all rows were whole.
	nulled, kept int64
	fault        fault
	// scratch holds unescaped text, line a record that lacks its end.
	scratch, line []byte
	keySet        map[string]struct{}
	// at is the offset of the record within the data of the current call.
	at int
}

func newDecoder(c *format.Config) (*decoder, error) {
	if err := checkTypes(c.Schema); err != nil {
		return nil, err
	}
	d := &decoder{
		root:          newObject(c.Physical.Fields, c.Schema.Fields, ""),
		ignore:        c.Options.Bool(ignoreErrors),
		failOnMissing: c.Options.Bool(failOnMissing),
		timestamp:     &parse.SQL,
		timestampLTZ:  &parse.SQLZulu,
		count:         c.Count,
		sample:        c.Sample,
	}
	if d.ignore && d.failOnMissing {
		return nil, errors.New("options 'json.fail-on-missing-field' and 'json.ignore-parse-errors' exclude each other")
	}
	if c.Options.Enum(timestampFormat) == "ISO-8601" {
		d.timestamp, d.timestampLTZ = &parse.ISO, &parse.ISOZulu
	}
	return d, nil
}

func (d *decoder) bind(dst *batch.Batch) {
	d.cols = dst.Cols
	d.rows = dst.Size()
	for i, f := range d.root.fields {
		f.bind(dst.Cols[i])
	}
}

// Decode implements format.Decoder.
func (d *decoder) Decode(data []byte, atEOF bool, dst *batch.Batch, max int) (used, records int, err error) {
	d.bind(dst)
	for limit := d.rows + max; used < len(data) && d.rows < limit; {
		b := data[used:]
		d.end = bytes.IndexByte(b, '\n')
		next := used + d.end + 1
		if d.end < 0 {
			if !atEOF {
				break
			}
			// The scanner wants a line break behind the record.
			d.line = append(append(d.line[:0], b...), '\n')
			b, d.end, next = d.line, len(b), len(data)
		}
		d.at = used
		used = next
		records++
		if !d.record(b) {
			if err = d.reject(b); err != nil {
				re := err.(*format.RecordError)
				re.Record, re.Line = records-1, bytes.Count(data[:d.at], []byte{'\n'})
				break
			}
		}
	}
	d.report()
	dst.SetSize(d.rows)
	return used, records, err
}

// DecodeMessage implements format.Decoder.
func (d *decoder) DecodeMessage(msg []byte, dst *batch.Batch) error {
	d.bind(dst)
	d.line = append(append(d.line[:0], msg...), '\n')
	d.at, d.end = 0, len(msg)
	var err error
	if !d.record(d.line) {
		err = d.reject(d.line)
	}
	d.report()
	dst.SetSize(d.rows)
	return err
}

// Offset implements format.Located.
func (d *decoder) Offset() int { return d.at }

// record reads the record b[:d.end]. It returns false if that is broken, in
// part or as a whole; rows that were read before the fault stay.
func (d *decoder) record(b []byte) bool {
	p := 0
	if b[0] == 0xEF && bytes.HasPrefix(b, []byte("\xef\xbb\xbf")) {
		p = 3
	}
	if d.end == p || d.end == p+1 && b[p] == '\r' {
		return true
	}
	p = d.space(b, p)
	switch b[p] {
	case '[':
		p = d.rowsOf(b, p)
	default:
		p = d.element(b, p)
	}
	if p < 0 {
		return false
	}
	if p = d.space(b, p); p != d.end {
		d.syntax(p, trailing)
		return false
	}
	return true
}

// rowsOf reads an array of rows. An element that is none does not end it where
// errors are ignored.
func (d *decoder) rowsOf(b []byte, p int) int {
	p = d.space(b, p+1)
	if b[p] == ']' {
		return p + 1
	}
	for {
		from := p
		if p = d.element(b, p); p < 0 {
			// What is no row, or does not fit the table, does not end the array.
			if !d.ignore || d.fault.kind >= wantValue {
				return p
			}
			d.takeBack()
			d.skipped(b)
			if p = d.skip(b, from); p < 0 {
				return p
			}
		}
		p = d.space(b, p)
		switch b[p] {
		case ',':
			p = d.space(b, p+1)
		case ']':
			return p + 1
		default:
			return d.syntax(p, wantComma)
		}
	}
}

// element reads one row of an array.
func (d *decoder) element(b []byte, p int) int {
	if b[p] == '{' {
		if p = d.object(d.root, b, p); p >= 0 {
			d.rows++
			d.kept = d.nulled
		}
		return p
	}
	q := d.skip(b, p)
	if q < 0 {
		return q
	}
	d.fault = fault{kind: noObject, from: p, to: q}
	return -1
}

// takeBack drops what a broken row has left in the columns.
func (d *decoder) takeBack() {
	for _, v := range d.cols {
		column.Truncate(v, d.rows)
	}
	d.nulled = d.kept
}

// object reads an object, whose brace is at p, into the columns of its fields.
// Keys are compared with those that came before at the same place first.
func (d *decoder) object(o *object, b []byte, p int) int {
	o.current++
	found := 0
	p = d.space(b, p+1)
	if b[p] == '}' {
		return d.missing(o, found, p+1)
	}
	for i := 0; ; {
		var field *node
		if i < len(o.script) && hasKey(b[p:], o.script[i].key) {
			field = o.script[i].field
			p += len(o.script[i].key)
			i++
		} else if p, i, field = d.key(o, b, p, i); p < 0 {
			return p
		}
		if blank(b[p]) {
			p = d.space(b, p)
		}
		if field == nil {
			if p = d.skip(b, p); p < 0 {
				return p
			}
		} else {
			if field.mark == o.current {
				column.Truncate(field.Vec, field.Vec.Len()-1)
				found--
			}
			field.mark = o.current
			found++
			if p = d.value(field, b, p); p < 0 {
				return p
			}
		}
		if blank(b[p]) {
			p = d.space(b, p)
		}
		switch b[p] {
		case ',':
			if p++; blank(b[p]) {
				p = d.space(b, p)
			}
		case '}':
			return d.missing(o, found, p+1)
		default:
			return d.syntax(p, wantComma)
		}
	}
}

func hasKey(b, key []byte) bool { return len(b) >= len(key) && string(b[:len(key)]) == string(key) }

// key reads a key that is not the expected one: one of the next few, or any
// other, which then is expected here. It returns the position of the value.
func (d *decoder) key(o *object, b []byte, p, i int) (int, int, *node) {
	for j := i + 1; j < min(i+4, len(o.script)); j++ {
		if s := &o.script[j]; hasKey(b[p:], s.key) {
			return p + len(s.key), j + 1, s.field
		}
	}
	if b[p] != '"' {
		return d.syntax(p, wantKey), i, nil
	}
	q, _ := stringEnd(b, p+1)
	if q >= d.end {
		return d.syntax(p, unterminated), i, nil
	}
	name, plain := b[p+1:q], true
	if b[q] == '\\' {
		plain = false
		if d.scratch, q, _ = d.appendUnescaped(d.scratch[:0], b, p+1); q < 0 {
			return q, i, nil
		}
		name = d.scratch
	} else {
		q++
	}
	var field *node
	if f, ok := o.byName[string(name)]; ok && f >= 0 {
		field = o.fields[f]
	}
	if b[q] != ':' {
		plain = false
		if q = d.space(b, q); b[q] != ':' {
			return d.syntax(q, wantColon), i, nil
		}
	}
	if plain {
		i = o.learn(i, b[p:q+1], field)
	}
	return q + 1, i, field
}

// missing adds nulls for the fields that an object, which ended before p, did
// not have.
func (d *decoder) missing(o *object, found, p int) int {
	if found == len(o.fields) {
		return p
	}
	for i, f := range o.fields {
		if f.mark == o.current {
			continue
		}
		if d.failOnMissing {
			d.fault = fault{kind: noField, node: f, name: o.names[i]}
			return -1
		}
		if f.notNull {
			d.nullFor(f)
			return -1
		}
		f.Vec.AppendNull()
	}
	return p
}

// reject drops what a broken record has left in the columns, and returns an
// error or counts the record as skipped.
func (d *decoder) reject(b []byte) error {
	d.takeBack()
	if !d.ignore {
		return d.fault.err(b, d.end)
	}
	d.skipped(b)
	return nil
}

// skipped counts a record that was left out, and offers it as a sample.
func (d *decoder) skipped(b []byte) {
	if d.count != nil {
		d.count(format.SkippedRecords, 1)
	}
	if d.sample != nil {
		f, end := d.fault, d.end
		d.sample(format.SkippedRecords, func() string { return f.err(b, end).Msg })
	}
}

// report counts the values that were replaced by NULL.
func (d *decoder) report() {
	if d.nulled > 0 && d.count != nil {
		d.count(format.NulledValues, d.nulled)
	}
	d.nulled, d.kept = 0, 0
}
