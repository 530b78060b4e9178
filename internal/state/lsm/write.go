package lsm

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"slices"
	"time"

	"github.com/klauspost/compress/s2"
	"github.com/zeebo/xxh3"

	"github.com/millstream-io/millstream/internal/vfs"
)

// A table is a file with entries in ascending order:
//
//	blocks, each followed by how it is packed (1 byte) and the checksum of both (4)
//	the meta data: see meta
//	its length (4), its checksum (4), and a mark (8)
//
// Numbers of a fixed size are little endian.
const (
	blockTail = 1 + 4
	fileTail  = 4 + 4 + 8
	fileMark  = 0x31656c6261746d73 // "smtable1"
)

// How a block is packed.
const (
	plain byte = iota
	packed
)

// checksum is that of a block, of an index and of a list.
func checksum(data []byte) uint32 { return uint32(xxh3.Hash(data)) }

// headSize is the length of what keys of entries that are removed together begin with,
// as far as it is longer than that.
const headSize = 1 + 2 + 8

func head(key []byte) []byte { return key[:min(len(key), headSize)] }

// maxSections bounds what is noted of one table.
const maxSections = 1 << 12

// meta says where the blocks of a table are, and what is in them.
type meta struct {
	// seps has for each block a key that is above those of the blocks before it, and
	// not above its own; starts are where they begin in the file, with their end.
	seps   byteList
	starts []uint32
	// heads are those of the entries, in order, and weights how many bytes the
	// entries of each take, unpacked. There are none if there are too many.
	heads   byteList
	weights []uint32
	// filter may be empty.
	filter filter
}

// memBytes is the memory that it takes.
func (m *meta) memBytes() int64 {
	return int64(cap(m.seps.bytes) + 4*cap(m.seps.ends) + 4*cap(m.starts) + cap(m.heads.bytes) + 4*cap(m.heads.ends) + 4*cap(m.weights) + cap(m.filter))
}

// end is where the blocks end.
func (m *meta) end() int64 { return int64(m.starts[len(m.starts)-1]) }

// blocks is the number of blocks.
func (m *meta) blocks() int { return m.seps.len() }

// find returns the block that would have a key, which is not below the first one.
func (m *meta) find(key []byte) int {
	lo, hi := 0, m.blocks() // the separator of lo is not above key, that of hi is
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; bytes.Compare(m.seps.at(mid), key) <= 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// byteList is a list of byte strings in one piece of memory.
type byteList struct {
	bytes []byte
	ends  []uint32
}

func (l *byteList) len() int { return len(l.ends) }

func (l *byteList) add(b []byte) {
	l.bytes = append(l.bytes, b...)
	l.ends = append(l.ends, uint32(len(l.bytes)))
}

func (l *byteList) at(i int) []byte {
	from := uint32(0)
	if i > 0 {
		from = l.ends[i-1]
	}
	return l.bytes[from:l.ends[i]]
}

// format is how tables are written: with blocks up to a size, which end with pages of the
// file if they are a page long, so that one read brings one page.
type format struct {
	block  int
	filter bool
}

const pageSize = 4 << 10

// writer makes a table: a file, or in memory if there is none.
type writer struct {
	format
	file vfs.File
	// out are blocks that are not written yet, and written is the length of those
	// that are.
	out     []byte
	written int
	// block is the one that is being filled, up to room.
	block  blockBuilder
	room   int
	pack   packer
	meta   meta
	hashes []uint32
	// first and last are the keys at the ends, entries and removes how many there
	// are, and how many of them remove something.
	first, last      []byte
	entries, removes int64
	yield            yielder
}

// writeSize is how much is written to a file at a time.
const writeSize = 128 << 10

// add takes the next entry.
func (w *writer) add(key, value []byte, k kind) error {
	if w.entries == 0 {
		w.first = slices.Clone(key)
	}
	if w.block.len() > 0 && w.block.sizeWith(key, value) > w.room {
		if err := w.endBlock(); err != nil {
			return err
		}
	}
	if w.block.len() == 0 {
		w.room = w.roomHere()
		w.meta.seps.add(w.separator(key))
		w.meta.starts = append(w.meta.starts, uint32(w.size()))
	}
	w.last = append(w.last[:0], key...)
	w.entries++
	if k == remove {
		w.removes++
	}
	w.weigh(key, len(key)+len(value)+1) // more than nothing, or the entry would not count
	if w.filter {
		w.hashes = append(w.hashes, keyHash(key))
	}
	w.block.add(key, value, k)
	return nil
}

// roomHere is how large the block may become that begins here.
func (w *writer) roomHere() int {
	room := w.format.block
	if room == pageSize && !w.pack.packs {
		if room -= w.size() % pageSize; room < pageSize/4 {
			room += pageSize
		}
	}
	return room - blockTail
}

// weigh notes the bytes of an entry under the head of its key.
func (w *writer) weigh(key []byte, n int) {
	m := &w.meta
	if i := len(m.weights); i > 0 && bytes.Equal(m.heads.at(i-1), head(key)) {
		m.weights[i-1] += uint32(n)
	} else if i <= maxSections {
		m.heads.add(head(key))
		m.weights = append(m.weights, uint32(n))
	}
}

// separator returns a short key that is above all before, if there are any, and not
// above key.
func (w *writer) separator(key []byte) []byte {
	if w.entries == 0 {
		return nil
	}
	return key[:min(common(w.last, key)+1, len(key))]
}

func (w *writer) size() int { return w.written + len(w.out) }

func (w *writer) endBlock() error {
	from := len(w.out)
	w.out = w.block.appendTo(w.out, w.room)
	w.out = w.pack.finish(w.out, from)
	w.yield.now()
	if w.file == nil || len(w.out) < writeSize {
		return nil
	}
	return w.write()
}

func (w *writer) write() error {
	n := len(w.out)
	// A file may change the bytes that it is given.
	_, err := w.file.Write(w.out)
	w.written += n
	w.out = w.out[:0]
	return err
}

// close ends the blocks, and returns what was noted of them.
func (w *writer) close() (*meta, error) {
	if w.block.len() > 0 {
		if err := w.endBlock(); err != nil {
			return nil, err
		}
	}
	m := &w.meta
	m.starts = append(m.starts, uint32(w.size()))
	if len(m.weights) > maxSections {
		m.heads, m.weights = byteList{}, nil
	}
	if w.filter {
		m.filter = newFilter(w.hashes)
	}
	return m, nil
}

// packer packs blocks that become half as large or smaller by it: those of small rows
// do not, since blocks leave out what keys have in common, and to unpack one costs
// as much as to read it. Where one did not, the next ones are not tried.
type packer struct {
	skip int
	// packs is set if the last block was packed.
	packs bool
	buf   []byte
}

const packSkip = 15

// finish packs the block that begins at from, if that is worth while, and appends
// its tail.
func (p *packer) finish(out []byte, from int) []byte {
	how := plain
	if p.skip > 0 {
		p.skip--
	} else {
		raw := out[from:]
		p.buf = s2.Encode(slices.Grow(p.buf[:0], s2.MaxEncodedLen(len(raw)))[:s2.MaxEncodedLen(len(raw))], raw)
		if p.packs = 2*len(p.buf) <= len(raw); p.packs {
			how, out = packed, append(out[:from], p.buf...)
		} else {
			p.skip = packSkip
		}
	}
	out = append(out, how)
	return binary.LittleEndian.AppendUint32(out, checksum(out[from:]))
}

// check says what is wrong with the bytes of a block with their tail, if anything is.
func check(stored []byte) (why string) {
	n := len(stored) - 4
	if n < 1 {
		return "a block is too short"
	}
	if checksum(stored[:n]) != binary.LittleEndian.Uint32(stored[n:]) {
		return "the checksum of a block is wrong"
	}
	return ""
}

// unpack returns the block in its bytes with their tail, which were checked; buf is
// memory for it.
func unpack(stored, buf []byte) (b block, used []byte, why string) {
	n := len(stored) - blockTail
	raw := stored[:n]
	if stored[n] == packed {
		var err error
		if buf, err = s2.Decode(buf[:cap(buf)], raw); err != nil {
			return block{}, buf, "a block cannot be unpacked: " + err.Error()
		}
		raw = buf
	}
	b, ok := parseBlock(raw)
	if !ok {
		return block{}, buf, "a block is none"
	}
	return b, buf, ""
}

// yielder lets others have the processor now and then. Where there are more
// goroutines than processors, each may otherwise have one for 10 ms at a time, and a
// task that has rows to handle waits as long for each of them.
type yielder struct{ since time.Time }

const slice = 500 * time.Microsecond

func (y *yielder) now() {
	if now := time.Now(); now.Sub(y.since) > slice {
		runtime.Gosched()
		y.since = time.Now()
	}
}

// appendTo appends the encoding in a file, with the end of the file.
func (m *meta) appendTo(out []byte) []byte {
	from := len(out)
	out = m.seps.appendTo(out)
	for i := range m.blocks() {
		out = binary.AppendUvarint(out, uint64(m.starts[i+1]-m.starts[i]))
	}
	out = m.heads.appendTo(out)
	for _, n := range m.weights {
		out = binary.AppendUvarint(out, uint64(n))
	}
	out = append(out, m.filter...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(m.filter)))
	sum := checksum(out[from:])
	out = binary.LittleEndian.AppendUint32(out, uint32(len(out)-from))
	out = binary.LittleEndian.AppendUint32(out, sum)
	return binary.LittleEndian.AppendUint64(out, fileMark)
}

func (l *byteList) appendTo(out []byte) []byte {
	out = binary.AppendUvarint(out, uint64(l.len()))
	for i := range l.len() {
		out = binary.AppendUvarint(out, uint64(len(l.at(i))))
	}
	return append(out, l.bytes...)
}
