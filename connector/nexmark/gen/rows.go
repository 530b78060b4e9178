package gen

import (
	"math"
	"strconv"
	"time"
)

// Rows are a block's rows with all their columns, to be written as text.
type Rows struct {
	block *Block
	types []int32
	ints  [columnCount][]int64
	texts [columnCount]struct {
		off  []int32
		data []byte
	}
	day  int64 // whose date is in date
	date []byte
}

// NewRows returns empty rows of the generator's stream.
func (g *Generator) NewRows() *Rows {
	return &Rows{block: g.NewBlock(), day: math.MinInt64}
}

// Read sets the rows to from to from+count-1 of a split; the caller sees to it that the split has them.
func (r *Rows) Read(s Split, from int64, count int) {
	b := r.block
	b.Read(s, from, count)
	r.types = resize(r.types, count)
	b.Types(r.types)
	for c := range columnCount {
		if c.Type() == String {
			t := &r.texts[c]
			t.off = resize(t.off, count+1)
			t.data = b.Strings(c, t.off, t.data[:0])
		} else {
			r.ints[c] = resize(r.ints[c], count)
			b.Ints(c, r.ints[c])
		}
	}
}

// Kind is that of row i.
func (r *Rows) Kind(i int) Kind { return Kind(r.types[i]) }

func (r *Rows) text(c Column, i int) []byte {
	t := &r.texts[c]
	return t.data[t.off[i]:t.off[i+1]]
}

// AppendLine appends row i as its canonical line: P, A or B and the columns, with bars between.
func (r *Rows) AppendLine(dst []byte, i int) []byte {
	dst = append(dst, "PAB"[r.types[i]])
	for _, c := range columnsOf[r.types[i]] {
		dst = append(dst, '|')
		if c.Type() == String {
			dst = append(dst, r.text(c, i)...)
		} else {
			dst = strconv.AppendInt(dst, r.ints[c][i], 10)
		}
	}
	return dst
}

// AppendCSV appends row i as a CSV record of its kind's columns. No string needs quotes.
func (r *Rows) AppendCSV(dst []byte, i int) []byte {
	for n, c := range columnsOf[r.types[i]] {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = r.appendCell(dst, c, i)
	}
	return dst
}

// AppendJSON appends row i as a JSON object of its kind's columns. No string needs escapes.
func (r *Rows) AppendJSON(dst []byte, i int) []byte {
	dst = append(dst, '{')
	for n, c := range columnsOf[r.types[i]] {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), c.Name()...), '"', ':')
		if c.Type() == Int {
			dst = r.appendCell(dst, c, i)
		} else {
			dst = append(r.appendCell(append(dst, '"'), c, i), '"')
		}
	}
	return append(dst, '}')
}

// AppendEvent appends row i as a JSON object of the table of all events.
func (r *Rows) AppendEvent(dst []byte, i int) []byte {
	dst = append(dst, `{"event_type":`...)
	dst = strconv.AppendInt(dst, int64(r.types[i]), 10)
	for k := range Kind(Kinds) {
		dst = append(append(append(dst, ',', '"'), k.Name()...), '"', ':')
		if k == r.Kind(i) {
			dst = r.AppendJSON(dst, i)
		} else {
			dst = append(dst, "null"...)
		}
	}
	return append(dst, '}')
}

func (r *Rows) appendCell(dst []byte, c Column, i int) []byte {
	switch c.Type() {
	case String:
		return append(dst, r.text(c, i)...)
	case Time:
		return r.appendTime(dst, r.ints[c][i])
	default:
		return strconv.AppendInt(dst, r.ints[c][i], 10)
	}
}

const (
	msPerDay   = 86_400_000
	dateLayout = "2006-01-02"
)

// appendTime appends ms since 1970-01-01 as yyyy-MM-dd HH:mm:ss.SSS. The date rarely changes from row to row.
func (r *Rows) appendTime(dst []byte, ms int64) []byte {
	day := ms / msPerDay
	rest := ms % msPerDay
	if rest < 0 {
		day, rest = day-1, rest+msPerDay
	}
	if day != r.day {
		r.day = day
		r.date = time.UnixMilli(day*msPerDay).UTC().AppendFormat(r.date[:0], dateLayout)
	}
	of := uint64(rest)
	dst = append(append(dst, r.date...), ' ')
	dst = append(appendPadded(dst, of/3_600_000, 2), ':')
	dst = append(appendPadded(dst, of/60_000%60, 2), ':')
	dst = append(appendPadded(dst, of/1000%60, 2), '.')
	return appendPadded(dst, of%1000, 3)
}
