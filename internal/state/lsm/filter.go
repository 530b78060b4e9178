package lsm

import "github.com/zeebo/xxh3"

// A filter tells of most keys that a file does not have that it does not: of all
// but one or two in a hundred, with ten bits a key. All bits of a key are in the same
// 64 bytes, so that a look at it costs one access to memory.
type filter []byte

const (
	filterLine   = 64
	filterBits   = 10
	filterProbes = 6
)

// keyHash is what filters know of a key.
func keyHash(key []byte) uint32 { return uint32(xxh3.Hash(key) >> 32) }

// newFilter returns a filter of the keys with these hashes.
func newFilter(hashes []uint32) filter {
	lines := (len(hashes)*filterBits + 8*filterLine - 1) / (8 * filterLine)
	f := make(filter, lines*filterLine)
	var y yielder
	for i, h := range hashes {
		if i%(1<<12) == 0 {
			y.now()
		}
		line, bit, step := f.place(h)
		for range filterProbes {
			line[bit>>3&(filterLine-1)] |= 1 << (bit & 7)
			bit += step
		}
	}
	return f
}

// place returns the line of a key, its first bit, and how far it is to the next.
func (f filter) place(h uint32) (line []byte, bit, step uint32) {
	at := int(uint64(h)*uint64(len(f)/filterLine)>>32) * filterLine
	mixed := h * 0x9e3779b1
	return f[at : at+filterLine], mixed >> 16, mixed>>7&(8*filterLine-1) | 1
}

// mayHave reports whether the file may have a key with this hash.
func (f filter) mayHave(h uint32) bool {
	line, bit, step := f.place(h)
	for range filterProbes {
		if line[bit>>3&(filterLine-1)]&(1<<(bit&7)) == 0 {
			return false
		}
		bit += step
	}
	return true
}
