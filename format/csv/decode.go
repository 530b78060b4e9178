package csv

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/format"
	"github.com/millstream-io/millstream/format/internal/column"
	"github.com/millstream-io/millstream/internal/text/cell"
)

// decoder implements format.Decoder.
type decoder struct {
	dialect
	// columns are the fields that are wanted, fields those of a line in order.
	columns, fields []*field
	physical        []string
	ignore          bool
	count           func(string, int64)
	sample          func(string, func() string)

	// rows is the number of whole rows in the batch, nulled the number of
	// values that became NULL and are not yet reported, kept the same before
	// the current line.
	rows         int
	nulled, kept int64
	fault        fault
	// delimWord is the delimiter eight times, if it is one byte.
	delimWord uint64
	// quotes and returns find the next quote and the next carriage return.
	quotes, returns finder
	// scratch holds a field without its quotes, line a line without its end.
	scratch, line []byte
	at            int
}

func newDecoder(c *format.Config) (*decoder, error) {
	if err := checkTypes(c.Physical); err != nil {
		return nil, err
	}
	di, err := newDialect(c.Options)
	if err != nil {
		return nil, err
	}
	d := &decoder{dialect: *di, ignore: c.Options.Bool(ignoreErrors), count: c.Count, sample: c.Sample}
	d.physical = c.Physical.Names()
	d.fields = make([]*field, len(c.Physical.Fields))
	for i := range d.fields {
		d.fields[i] = &field{name: d.physical[i]}
	}
	for i, p := range c.Wanted {
		f := c.Physical.Fields[p]
		d.fields[p] = newField(f.Name, f.Type, i)
		d.columns = append(d.columns, d.fields[p])
	}
	markSkips(d.fields)
	if len(d.delim) == 1 {
		d.delimWord = lows * uint64(d.delim[0])
	}
	return d, nil
}

// markSkips finds the runs of fields that are not wanted.
func markSkips(fields []*field) {
	run := 0
	for i := len(fields) - 1; i >= 0; i-- {
		if run++; fields[i].op != cell.Skip {
			run = 0
		}
		fields[i].skips = run
	}
}

// Offset implements format.Located.
func (d *decoder) Offset() int { return d.at }

// Decode implements format.Decoder.
func (d *decoder) Decode(data []byte, atEOF bool, dst *batch.Batch, max int) (used, records int, err error) {
	for _, f := range d.columns {
		f.bind(dst.Cols[f.column])
	}
	d.rows = dst.Size()
	d.quotes, d.returns = finder{c: byte(d.quote)}, finder{c: '\r'}
	for limit := d.rows + max; used < len(data) && d.rows < limit; {
		d.at, d.kept = used, d.nulled
		before := d.rows
		next, ok := d.record(data, used, atEOF)
		if next < 0 {
			d.takeBack()
			break
		}
		used = next
		if !ok || d.rows > before {
			records++
		}
		if !ok {
			if err = d.reject(); err != nil {
				re := err.(*format.RecordError)
				re.Record, re.Line = records-1, bytes.Count(data[:d.at], []byte{'\n'})
				break
			}
		}
	}
	if d.nulled > 0 && d.count != nil {
		d.count(format.NulledValues, d.nulled)
	}
	d.nulled = 0
	dst.SetSize(d.rows)
	return used, records, err
}

// DecodeMessage implements format.Decoder.
func (d *decoder) DecodeMessage(msg []byte, dst *batch.Batch) error {
	_, _, err := d.Decode(msg, true, dst, 1<<31)
	return err
}

// takeBack drops what a broken line has left in the columns.
func (d *decoder) takeBack() {
	for _, f := range d.columns {
		column.Truncate(f.Vec, d.rows)
	}
	d.nulled = d.kept
}

// reject takes a broken line back, and returns an error or counts the line as
// skipped.
func (d *decoder) reject() error {
	d.takeBack()
	if !d.ignore {
		return d.err(d.fault)
	}
	if d.count != nil {
		d.count(format.SkippedRecords, 1)
	}
	if d.sample != nil {
		f := d.fault
		d.sample(format.SkippedRecords, func() string { return d.err(f).Msg })
	}
	return nil
}

// record reads the record at p, and returns where the next one begins; -1 if
// there is not enough data to tell. A line that cannot have quotes, escapes or
// comments in it takes the short way.
func (d *decoder) record(data []byte, p int, atEOF bool) (next int, ok bool) {
	end := bytes.IndexByte(data[p:], '\n')
	if end < 0 {
		if !atEOF {
			if bytes.IndexByte(data[p:], '\r') >= 0 {
				return d.general(data, p, false)
			}
			return -1, false
		}
		end, next = len(data), len(data)
	} else {
		end += p
		next = end + 1
	}
	cr := d.returns.next(data, p, end)
	if d.quote != none && d.quotes.next(data, p, end) < end || cr < end-1 || d.delimWord == 0 || d.escape != none || d.comments {
		return d.general(data, p, atEOF)
	}
	if cr == end-1 {
		end--
	}
	if end == len(data) {
		// The fields are read up to a delimiter or to the end of the line.
		d.line = append(append(d.line[:0], data[p:]...), '\n')
		return next, d.plain(d.line, 0, len(d.line)-1)
	}
	return next, d.plain(data, p, end)
}

// finder looks for a character some way ahead, so that lines without it cost
// nothing.
type finder struct {
	c byte
	// at is where the next one stands, or, if found is not set, how far ahead
	// there is none.
	at    int
	found bool
}

// ahead is how far a finder looks beyond the line.
const ahead = 16 << 10

// next returns the position of the first one in data[p:end], or end.
func (f *finder) next(data []byte, p, end int) int {
	if f.at < p || !f.found && f.at < end {
		from := p
		if !f.found {
			from = max(p, f.at)
		}
		to := min(end+ahead, len(data))
		i := bytes.IndexByte(data[from:to], f.c)
		f.at, f.found = to, i >= 0
		if f.found {
			f.at = from + i
		}
	}
	return min(f.at, end)
}

// plain reads the line data[p:end], which has no quotes and is followed by at
// least one byte.
func (d *decoder) plain(data []byte, p, end int) bool {
	for k := 0; k < len(d.fields); k++ {
		f := d.fields[k]
		if n := f.skips; n > 1 {
			q, passed := passFields(data, p, end, d.delimWord, n)
			k += passed - 1
			if q == end {
				return d.finish(k + 1)
			}
			p = q + 1
			continue
		}
		if f.op == cell.I64 && !d.hasNull {
			if v, q := shortInt(data, p); q > 0 && (q == end || data[q] == d.delim[0]) {
				f.I64.Append(v)
				if q == end {
					return d.finish(k + 1)
				}
				p = q + 1
				continue
			}
		}
		q, high := fieldEnd(data, p, end, d.delimWord)
		if f.op == cell.Text && !high && !d.hasNull {
			f.Text.Data = append(f.Text.Data, data[p:q]...)
			f.Text.Close()
		} else if f.op != cell.Skip && !d.put(f, data[p:q]) {
			return false
		}
		if q == end {
			return d.finish(k + 1)
		}
		p = q + 1
	}
	// A delimiter stands behind the last field. It may stand alone.
	if p == end {
		return d.finish(len(d.fields))
	}
	q, _ := fieldEnd(data, p, end, d.delimWord)
	d.fault = fault{kind: tooMany, text: bytes.Clone(data[p:q])}
	return false
}

// finish ends a line of n fields.
func (d *decoder) finish(n int) bool {
	if n < len(d.fields) {
		if !d.ignore {
			d.fault = fault{kind: tooFew, n: n}
			return false
		}
		for _, f := range d.fields[n:] {
			if f.op == cell.Skip {
				continue
			}
			if !d.putNull(f) {
				return false
			}
			d.nulled++
		}
	}
	d.rows++
	return true
}

const (
	lows  = 0x0101010101010101
	highs = 0x8080808080808080
)

// fieldEnd returns the position of the next delimiter, or end, and whether a
// byte above 127 may stand before it.
func fieldEnd(b []byte, p, end int, delim uint64) (q int, high bool) {
	var seen uint64
	for p+8 <= len(b) && p < end {
		w := binary.LittleEndian.Uint64(b[p:])
		x := w ^ delim
		if m := (x - lows) &^ x & highs; m != 0 {
			k := bits.TrailingZeros64(m) &^ 7
			return min(p+k>>3, end), (seen|w&(1<<k-1))&highs != 0
		}
		seen |= w
		p += 8
	}
	c := byte(delim)
	for p < end && b[p] != c {
		seen |= uint64(b[p])
		p++
	}
	return min(p, end), seen&highs != 0
}

// passFields passes over n fields, and returns the position of the delimiter
// behind the last of them, or end if there are fewer, and how many there were.
func passFields(b []byte, p, end int, delim uint64, n int) (q, passed int) {
	for p+8 <= end {
		x := binary.LittleEndian.Uint64(b[p:]) ^ delim
		// Unlike the usual trick, this finds each zero byte and nothing else.
		m := ^((x&^highs + ^uint64(highs)) | x | ^uint64(highs))
		c := bits.OnesCount64(m)
		if passed+c >= n {
			for ; passed < n-1; passed++ {
				m &= m - 1
			}
			return p + bits.TrailingZeros64(m)>>3, n
		}
		passed += c
		p += 8
	}
	for c := byte(delim); p < end; p++ {
		if b[p] != c {
			continue
		}
		if passed++; passed == n {
			return p, n
		}
	}
	return end, passed + 1
}

// shortInt reads a whole number of up to 18 digits; q is 0 if there is none.
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
	if n := q - first; n == 0 || n > 18 {
		return 0, 0
	}
	if neg {
		v = -v
	}
	return v, q
}

// general reads a record of any form: with quotes, escapes, comments, or lines
// that end in a carriage return alone.
func (d *decoder) general(data []byte, p int, atEOF bool) (next int, ok bool) {
	if d.comments {
		var found bool
		if p, found = d.toRecord(data, p, atEOF); !found {
			return p, true
		}
	}
	for k := 0; ; k++ {
		text, q, state := d.cut(data, p, atEOF)
		switch state {
		case needMore:
			return -1, false
		case broken:
			d.fault.n = k + 1
			return q, false
		}
		if k < len(d.fields) {
			if !d.put(d.fields[k], text) {
				return d.toLineEnd(data, q, atEOF), false
			}
		} else if k > len(d.fields) || len(text) > 0 || state == atDelim {
			d.fault = fault{kind: tooMany, text: bytes.Clone(text)}
			return d.toLineEnd(data, q, atEOF), false
		}
		if state == atDelim {
			p = q + len(d.delim)
			continue
		}
		next, whole := lineBreak(data, q, atEOF)
		if !whole {
			return -1, false
		}
		return next, d.finish(min(k+1, len(d.fields)))
	}
}

// state is what stands behind a field.
type state uint8

const (
	atDelim state = iota
	atEnd
	// needMore: the field may go on behind the data.
	needMore
	// broken: the field has a fault, which d.fault says.
	broken
)

// cut returns the text of the field at p, and the position behind it.
func (d *decoder) cut(data []byte, p int, atEOF bool) (text []byte, q int, s state) {
	if p < len(data) && int(data[p]) == d.quote {
		return d.cutQuoted(data, p, atEOF)
	}
	d.scratch = d.scratch[:0]
	from := p
	for p < len(data) {
		c := data[p]
		switch {
		case c == '\n' || c == '\r':
			return d.join(data[from:p]), p, atEnd
		case c == d.delim[0] && bytes.HasPrefix(data[p:], d.delim):
			return d.join(data[from:p]), p, atDelim
		case int(c) == d.escape:
			if p+1 < len(data) {
				d.scratch = append(append(d.scratch, data[from:p]...), unescape(data[p+1]))
				p += 2
				from = p
				continue
			}
		}
		p++
	}
	if !atEOF {
		return nil, p, needMore
	}
	return d.join(data[from:p]), p, atEnd
}

// join returns the field of which the scratch holds the beginning.
func (d *decoder) join(rest []byte) []byte {
	if len(d.scratch) == 0 {
		return rest
	}
	d.scratch = append(d.scratch, rest...)
	return d.scratch
}

// cutQuoted is cut for a field that begins with the quote at p.
func (d *decoder) cutQuoted(data []byte, p int, atEOF bool) (text []byte, q int, s state) {
	open := p
	d.scratch = d.scratch[:0]
	p++
	for from := p; ; {
		p = d.special(data, p)
		if p == len(data) || p+1 == len(data) && !atEOF {
			if !atEOF {
				return nil, p, needMore
			}
			d.fault = fault{kind: openQuote, text: bytes.Clone(data[open:min(len(data), open+100)])}
			return nil, p, broken
		}
		if int(data[p]) == d.escape {
			d.scratch = append(d.scratch, data[from:p]...)
			if p++; p < len(data) {
				d.scratch = append(d.scratch, unescape(data[p]))
				p++
			}
			from = p
			continue
		}
		if p+1 < len(data) && data[p+1] == data[p] {
			d.scratch = append(d.scratch, data[from:p+1]...)
			p += 2
			from = p
			continue
		}
		text = d.join(data[from:p])
		p++
		break
	}
	for p < len(data) && (data[p] == ' ' || data[p] == '\t') && data[p] != d.delim[0] {
		p++
	}
	switch {
	case p == len(data) && !atEOF:
		return nil, p, needMore
	case p == len(data) || data[p] == '\n' || data[p] == '\r':
		return text, p, atEnd
	case bytes.HasPrefix(data[p:], d.delim):
		return text, p, atDelim
	}
	next := d.toLineEnd(data, p, atEOF)
	if next < 0 {
		return nil, p, needMore
	}
	d.fault = fault{kind: behindQuote, text: bytes.Clone(bytes.TrimRight(data[p:next], "\r\n"))}
	return nil, next, broken
}

// special returns the position of the next quote or escape, or len(data).
func (d *decoder) special(data []byte, p int) int {
	if d.escape == none {
		if i := bytes.IndexByte(data[p:], byte(d.quote)); i >= 0 {
			return p + i
		}
		return len(data)
	}
	for p < len(data) && int(data[p]) != d.quote && int(data[p]) != d.escape {
		p++
	}
	return p
}

func unescape(c byte) byte {
	switch c {
	case '0':
		return 0
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// lineBreak returns the position behind the line break at p; whole is false if
// a line feed may follow behind the data.
func lineBreak(data []byte, p int, atEOF bool) (next int, whole bool) {
	switch {
	case p == len(data) || data[p] == '\n':
		return min(p+1, len(data)), true
	case p+1 < len(data) && data[p+1] == '\n':
		return p + 2, true
	}
	return p + 1, atEOF || p+1 < len(data)
}

// toLineEnd passes over the rest of a line that was given up; -1 if its end is
// not there.
func (d *decoder) toLineEnd(data []byte, p int, atEOF bool) int {
	for p < len(data) && data[p] != '\n' && data[p] != '\r' {
		p++
	}
	next, whole := lineBreak(data, p, atEOF)
	if !whole || p == len(data) && !atEOF {
		return -1
	}
	return next
}

// toRecord passes over comments, blank lines and blanks in front of a record.
// Where no record follows, found is false and the position is that of the next
// line, or -1.
func (d *decoder) toRecord(data []byte, p int, atEOF bool) (at int, found bool) {
	for p < len(data) && data[p] == ' ' {
		p++
	}
	if p == len(data) {
		if atEOF {
			return p, false
		}
		return -1, false
	}
	if c := data[p]; c == '#' || c == '\n' || c == '\r' {
		return d.toLineEnd(data, p, atEOF), false
	}
	return p, true
}
