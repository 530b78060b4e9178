package lsm

import (
	"encoding/binary"
	"slices"
)

// decoder takes numbers and bytes from the beginning of data. Once something is
// missing, bad is set, and all further ones are 0 and empty.
type decoder struct {
	data []byte
	bad  bool
}

func (d *decoder) uvarint() uint64 {
	n, used := binary.Uvarint(d.data)
	if used <= 0 {
		d.bad, d.data = true, nil
		return 0
	}
	d.data = d.data[used:]
	return n
}

// count is a number of things that take a byte or more each.
func (d *decoder) count() int {
	n := d.uvarint()
	if n > uint64(len(d.data)) {
		d.bad, d.data = true, nil
		return 0
	}
	return int(n)
}

// take returns the next n bytes.
func (d *decoder) take(n int) []byte {
	if n > len(d.data) {
		d.bad, d.data = true, nil
		return nil
	}
	out := d.data[:n:n]
	d.data = d.data[n:]
	return out
}

// bytes returns bytes with their length before them.
func (d *decoder) bytes() []byte { return d.take(d.count()) }

func (d *decoder) list() (l byteList) {
	n := d.count()
	l.ends = make([]uint32, n)
	total := uint64(0)
	for i := range l.ends {
		total += d.uvarint()
		l.ends[i] = uint32(total)
	}
	if total > uint64(len(d.data)) {
		d.bad, d.data = true, nil
		return byteList{}
	}
	l.bytes = slices.Clone(d.take(int(total)))
	return l
}

// parseMeta reads what appendTo has written, without the end of the file. ok is not
// set if it does not fit.
func parseMeta(data []byte) (m *meta, ok bool) {
	if len(data) < 4 {
		return nil, false
	}
	filterSize := int(binary.LittleEndian.Uint32(data[len(data)-4:]))
	d := decoder{data: data[:len(data)-4]}
	m = &meta{seps: d.list()}
	m.starts = make([]uint32, m.blocks()+1)
	for i := range m.blocks() {
		m.starts[i+1] = m.starts[i] + uint32(d.uvarint())
	}
	m.heads = d.list()
	m.weights = make([]uint32, m.heads.len())
	for i := range m.weights {
		m.weights[i] = uint32(d.uvarint())
	}
	m.filter = slices.Clone(d.take(filterSize))
	return m, !d.bad && len(d.data) == 0 && m.blocks() > 0 && filterSize%filterLine == 0
}
