package batch

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/millstream-io/millstream/types"
)

// BytesSlab is a Column of strings and byte strings, and of nested values in
// their binary form (AppendValue).
//
// The bytes are in chunks of an arena. Each entry is headed by its slot and its
// room, so that a chunk that is mostly garbage can be emptied into the newest
// one by itself: the work of a Put is bounded, whatever the size of the column.
type BytesSlab struct {
	typ    types.Type
	refs   [][]bytesRef
	chunks []bytesChunk
	// cur is the chunk that is appended to, -1 if there is none; free lists
	// the indexes of chunks that have no memory.
	cur  int32
	free []int32
	size int
	// spare is one emptied chunk of full size, to be used again.
	spare   []byte
	scratch []byte
}

// bytesRef says where a slot's value is. A value without bytes has no entry:
// its chunk is -1, and its length is 0, or nullLen for null.
type bytesRef struct{ chunk, off, len int32 }

type bytesChunk struct {
	buf  []byte
	dead int
}

const (
	nullLen        = -1
	entryHead      = 8
	minBytesChunk  = 64
	fullBytesChunk = 64 << 10
	// ownChunk is the size from which an entry gets a chunk of its own.
	ownChunk = fullBytesChunk / 4
)

// NewBytesSlab returns an empty column of strings, byte strings or nested values.
func NewBytesSlab(t types.Type) *BytesSlab { return &BytesSlab{typ: t, cur: -1} }

// Type implements Column.
func (s *BytesSlab) Type() types.Type { return s.typ }

func (s *BytesSlab) ref(slot int32) *bytesRef { return &s.refs[slot>>chunkBits][slot&chunkMask] }

// Get returns the bytes in a slot, which are none if it is null. They must not
// be changed, and are good until the next change to the column.
func (s *BytesSlab) Get(slot int32) []byte {
	r := s.refs[slot>>chunkBits][slot&chunkMask]
	if r.chunk < 0 {
		return nil
	}
	return s.chunks[r.chunk].buf[r.off : r.off+r.len]
}

// Put stores a copy of b, which may be a value of this column.
func (s *BytesSlab) Put(slot int32, b []byte) {
	r := s.ref(slot)
	old := *r
	if old.chunk >= 0 {
		if room := s.room(old); len(b) <= room && room <= 2*len(b)+minBytesChunk {
			buf := s.chunks[old.chunk].buf
			r.len = int32(copy(buf[old.off:int(old.off)+room], b))
			return
		}
	}
	*r = s.store(slot, b)
	s.release(old)
}

// Append adds bytes to what is in a slot; one that is null is then not null. A
// value that grows doubles its room, so that the work is in proportion to b.
func (s *BytesSlab) Append(slot int32, b []byte) {
	r := s.ref(slot)
	old := *r
	size := max(0, int(old.len))
	end := size + len(b)
	if old.chunk >= 0 && end <= s.room(old) {
		buf := s.chunks[old.chunk].buf
		copy(buf[int(old.off)+size:], b)
		r.len = int32(end)
		return
	}
	s.scratch = append(append(s.scratch[:0], s.Get(slot)...), b...)
	if size > 0 {
		s.scratch = slices.Grow(s.scratch, end)[:2*end]
	}
	*r = s.store(slot, s.scratch)
	r.len = int32(end)
	s.release(old)
}

// room is the number of bytes that fit into the entry of a value.
func (s *BytesSlab) room(r bytesRef) int {
	return int(binary.LittleEndian.Uint32(s.chunks[r.chunk].buf[r.off-4:]))
}

// store makes an entry.
func (s *BytesSlab) store(slot int32, b []byte) bytesRef {
	if len(b) == 0 {
		return bytesRef{chunk: -1}
	}
	need := entryHead + len(b)
	at := s.cur
	switch {
	case need > ownChunk:
		at = s.addChunk(make([]byte, 0, need))
	case at < 0 || cap(s.chunks[at].buf)-len(s.chunks[at].buf) < need:
		at = s.addChunk(s.newBuf(need))
		s.cur = at
	}
	c := &s.chunks[at]
	c.buf = binary.LittleEndian.AppendUint32(c.buf, uint32(slot))
	c.buf = binary.LittleEndian.AppendUint32(c.buf, uint32(len(b)))
	off := len(c.buf)
	c.buf = append(c.buf, b...)
	return bytesRef{chunk: at, off: int32(off), len: int32(len(b))}
}

// newBuf returns memory for a chunk; chunks double in size up to the full one.
func (s *BytesSlab) newBuf(need int) []byte {
	size := minBytesChunk
	for size < need || size < s.size && size < fullBytesChunk {
		size *= 2
	}
	if size == fullBytesChunk && s.spare != nil {
		buf := s.spare
		s.spare = nil
		return buf
	}
	return make([]byte, 0, size)
}

func (s *BytesSlab) addChunk(buf []byte) int32 {
	s.size += cap(buf)
	if n := len(s.free); n > 0 {
		at := s.free[n-1]
		s.free = s.free[:n-1]
		s.chunks[at] = bytesChunk{buf: buf}
		return at
	}
	s.chunks = append(s.chunks, bytesChunk{buf: buf})
	return int32(len(s.chunks) - 1)
}

// release turns the entry of r, which no slot refers to any more, into garbage.
func (s *BytesSlab) release(r bytesRef) {
	if r.chunk < 0 {
		return
	}
	c := &s.chunks[r.chunk]
	c.dead += entryHead + s.room(r)
	switch {
	case c.dead == len(c.buf) && r.chunk == s.cur:
		c.buf, c.dead = c.buf[:0], 0
	case c.dead == len(c.buf):
		s.dropChunk(r.chunk)
	case r.chunk != s.cur && 2*c.dead > len(c.buf):
		s.evacuate(r.chunk)
	}
}

// evacuate moves the values of a chunk elsewhere and frees it.
func (s *BytesSlab) evacuate(at int32) {
	buf := s.chunks[at].buf
	for pos := 0; pos < len(buf); {
		slot := int32(binary.LittleEndian.Uint32(buf[pos:]))
		room := int(binary.LittleEndian.Uint32(buf[pos+4:]))
		pos += entryHead
		if r := s.ref(slot); r.chunk == at && int(r.off) == pos {
			*r = s.store(slot, buf[pos:pos+int(r.len)])
		}
		pos += room
	}
	s.dropChunk(at)
}

func (s *BytesSlab) dropChunk(at int32) {
	buf := s.chunks[at].buf
	s.size -= cap(buf)
	if cap(buf) == fullBytesChunk && s.spare == nil {
		s.spare = buf[:0]
	}
	s.chunks[at] = bytesChunk{}
	s.free = append(s.free, at)
}

// Grow implements Column.
func (s *BytesSlab) Grow(n int) {
	for s.capacity() < n {
		last := len(s.refs) - 1
		if last >= 0 && len(s.refs[last]) <= chunkMask {
			s.refs[last] = s.grownRefs(s.refs[last], 2*len(s.refs[last]))
			continue
		}
		size := 8
		if last >= 0 {
			size = chunkMask + 1
		}
		s.refs = append(s.refs, s.grownRefs(nil, size))
	}
}

func (s *BytesSlab) capacity() int {
	last := len(s.refs) - 1
	if last < 0 {
		return 0
	}
	return last<<chunkBits + len(s.refs[last])
}

func (s *BytesSlab) grownRefs(b []bytesRef, size int) []bytesRef {
	out := make([]bytesRef, size)
	for i := copy(out, b); i < size; i++ {
		out[i] = s.empty()
	}
	return out
}

// empty is what a new slot holds.
func (s *BytesSlab) empty() bytesRef {
	if s.typ.Nullable {
		return bytesRef{chunk: -1, len: nullLen}
	}
	return bytesRef{chunk: -1}
}

// Reset implements Column.
func (s *BytesSlab) Reset(slot int32) {
	r := s.ref(slot)
	old := *r
	*r = s.empty()
	s.release(old)
}

// Null implements Column.
func (s *BytesSlab) Null(slot int32) bool { return s.ref(slot).len == nullLen }

// SetNull implements Column.
func (s *BytesSlab) SetNull(slot int32) {
	r := s.ref(slot)
	old := *r
	*r = bytesRef{chunk: -1, len: nullLen}
	s.release(old)
}

// Set implements Column.
func (s *BytesSlab) Set(slots []int32, v Vector, rows []int32) {
	b, plain := v.(*Bytes)
	valid := v.Validity()
	for i, slot := range slots {
		r := int(rows[i])
		switch {
		case valid.IsNull(r):
			s.Reset(slot)
		case plain:
			s.Put(slot, b.At(r))
		default:
			s.scratch = AppendValue(s.scratch[:0], v, r)
			s.Put(slot, s.scratch)
		}
	}
}

// Vector implements Column.
func (s *BytesSlab) Vector(slots []int32) Vector {
	if s.typ.Phys() == types.PhysBytes {
		return s.Raw(slots)
	}
	out := New(s.typ, len(slots))
	for _, slot := range slots {
		if s.Null(slot) {
			out.AppendNull()
			continue
		}
		if s.ref(slot).len == 0 {
			appendEmpty(out)
			continue
		}
		if _, err := DecodeValue(out, s.Get(slot)); err != nil {
			panic(fmt.Sprintf("batch: slot %d of a column of %s: %v", slot, s.typ, err))
		}
	}
	return out
}

// appendEmpty appends what a slot of a NOT NULL type holds before it is set,
// which has no bytes: no elements, or a row of nulls.
func appendEmpty(v Vector) {
	switch v := v.(type) {
	case *List:
		v.Close()
	case *Map:
		v.Close()
	case *Row:
		for _, c := range v.Cols {
			c.AppendNull()
		}
		v.Close()
	}
}

// Raw returns the bytes in slots as they are stored: strings, or nested values
// in their binary form. The vector's type is that of the column.
func (s *BytesSlab) Raw(slots []int32) *Bytes {
	size := 0
	for _, slot := range slots {
		size += max(0, int(s.ref(slot).len))
	}
	out := NewBytes(s.typ, len(slots), size)
	for _, slot := range slots {
		if s.Null(slot) {
			out.AppendNull()
			continue
		}
		out.Append(s.Get(slot))
	}
	return out
}

// MemBytes implements Column.
func (s *BytesSlab) MemBytes() int {
	const refSize, chunkSize = 12, 32
	return s.capacity()*refSize + s.size + cap(s.spare) + len(s.chunks)*chunkSize
}
