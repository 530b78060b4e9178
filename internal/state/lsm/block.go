package lsm

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"sort"
)

// kind says what an entry does to what older runs have under its key.
type kind uint8

const (
	// set stores a value.
	set kind = iota
	// remove leaves nothing.
	remove
	// add adds to a count.
	add
	kinds
)

// A block is a piece of a sorted run, which is read as a whole:
//
//	length of what all keys begin with (uvarint), and that
//	for each entry: length of the rest of its key (uvarint), length of its value
//	and its kind (uvarint, the kind in the low two bits), the rest of the key, the value
//	nothing, so that the block ends with a page
//	for each entry: where it begins, from the first one on (2 bytes, little endian)
//	number of entries (2 bytes)
//
// So a key is found without looking at the entries before it. A block has at most
// maxBlock bytes, or a single entry.
type block struct {
	prefix, entries, starts []byte
	n                       int
}

const maxBlock = 1 << 15

// parseBlock takes a block apart; its checksum must have been right.
func parseBlock(raw []byte) (b block, ok bool) {
	if len(raw) < 3 {
		return block{}, false
	}
	b.n = int(binary.LittleEndian.Uint16(raw[len(raw)-2:]))
	size, used := binary.Uvarint(raw)
	end := len(raw) - 2 - 2*b.n
	if used <= 0 || b.n == 0 || end < used || size > uint64(end-used) {
		return block{}, false
	}
	at := used + int(size)
	b.prefix, b.entries, b.starts = raw[used:at], raw[at:end], raw[end:len(raw)-2]
	return b, true
}

// entry returns an entry, without what all keys begin with.
func (b *block) entry(i int) (rest, value []byte, k kind) {
	e := b.entries[binary.LittleEndian.Uint16(b.starts[2*i:]):]
	restLen, at := uvarint(e)
	info, used := uvarint(e[at:])
	at += used
	end := at + int(restLen)
	return e[at:end], e[end : end+int(info>>2)], kind(info & 3)
}

// uvarint is binary.Uvarint, faster for small numbers.
func uvarint(p []byte) (n uint64, used int) {
	if p[0] < 0x80 {
		return uint64(p[0]), 1
	}
	return binary.Uvarint(p)
}

// search returns the first entry whose key is not below key, n if there is none.
func (b *block) search(key []byte) int {
	p := b.prefix
	if !bytes.HasPrefix(key, p) {
		if bytes.Compare(key, p) < 0 {
			return 0
		}
		return b.n
	}
	rest := key[len(p):]
	return sort.Search(b.n, func(i int) bool {
		r, _, _ := b.entry(i)
		return bytes.Compare(r, rest) >= 0
	})
}

// blockBuilder gathers the entries of a block.
type blockBuilder struct {
	// bytes has keys and values one behind the other; ends are where each of them
	// ends.
	bytes []byte
	ends  []uint32
	kinds []kind
	// lengths is what the lengths of the entries take.
	lengths int
}

// sizeWith is the size of the block with one more entry.
func (b *blockBuilder) sizeWith(key, value []byte) int {
	prefix := len(key)
	if b.len() > 0 {
		first, _ := b.at(0)
		prefix = common(first, key)
	}
	n := b.len() + 1
	return uvarintLen(prefix) + prefix + len(b.bytes) + len(key) + len(value) - n*prefix + b.lengths + lengthsOf(key, value) + 2*n + 2
}

// lengthsOf is what the lengths of an entry take at most.
func lengthsOf(key, value []byte) int { return uvarintLen(len(key)) + uvarintLen(len(value)<<2) }

func uvarintLen(n int) int { return max(bits.Len(uint(n))+6, 7) / 7 }

func (b *blockBuilder) len() int { return len(b.kinds) }

func (b *blockBuilder) add(key, value []byte, k kind) {
	b.bytes = append(b.bytes, key...)
	keyEnd := uint32(len(b.bytes))
	b.bytes = append(b.bytes, value...)
	b.ends = append(b.ends, keyEnd, uint32(len(b.bytes)))
	b.kinds = append(b.kinds, k)
	b.lengths += lengthsOf(key, value)
}

// at returns an entry.
func (b *blockBuilder) at(i int) (key, value []byte) {
	from := uint32(0)
	if i > 0 {
		from = b.ends[2*i-1]
	}
	return b.bytes[from:b.ends[2*i]], b.bytes[b.ends[2*i]:b.ends[2*i+1]]
}

// appendTo appends the block to out, and begins another one. It takes all of room if
// it takes nearly as much.
func (b *blockBuilder) appendTo(out []byte, room int) []byte {
	from := len(out)
	n := b.len()
	first, _ := b.at(0)
	last, _ := b.at(n - 1)
	prefix := common(first, last)
	out = binary.AppendUvarint(out, uint64(prefix))
	out = append(out, first[:prefix]...)
	base := len(out)
	starts := make([]byte, 0, 256)
	for i := range n {
		key, value := b.at(i)
		starts = binary.LittleEndian.AppendUint16(starts, uint16(len(out)-base))
		out = binary.AppendUvarint(out, uint64(len(key)-prefix))
		out = binary.AppendUvarint(out, uint64(len(value))<<2|uint64(b.kinds[i]))
		out = append(out, key[prefix:]...)
		out = append(out, value...)
	}
	if left := room - (len(out) - from) - len(starts) - 2; left > 0 && left < room/4 {
		out = append(out, make([]byte, left)...)
	}
	out = append(out, starts...)
	b.bytes, b.ends, b.kinds, b.lengths = b.bytes[:0], b.ends[:0], b.kinds[:0], 0
	return binary.LittleEndian.AppendUint16(out, uint16(n))
}

// common is the length of what two keys both begin with.
func common(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for ; i+8 <= n; i += 8 {
		if x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}
