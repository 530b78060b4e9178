package state

import "math/bits"

// An index is a hash table with one word for each row: the low half of the hash,
// and the slot + 1; 0 is free. The place of an entry depends on the word alone, so
// that growing and deleting touch nothing but the index.
//
// Small indexes have a power of two of places, and large ones may have one and a
// half of it, so that less of them is empty.

// home is the place where the search for a hash begins in an index of the given
// size.
func home(low uint32, size int) uint32 {
	if size&(size-1) == 0 { // the same for all rows, and nearly free
		return low & uint32(size-1)
	}
	return uint32(uint64(low) * uint64(size) >> 32)
}

// behind is the place behind p.
func behind(p uint32, index []uint64) uint32 {
	if p++; int(p) == len(index) {
		return 0
	}
	return p
}

// entry is the word of a row.
func entry(low uint32, slot int32) uint64 { return uint64(low)<<32 | uint64(uint32(slot+1)) }

// putEntry puts an entry into an index that has room.
func putEntry(index []uint64, x uint64) {
	p := home(uint32(x>>32), len(index))
	for index[p] != 0 {
		p = behind(p, index)
	}
	index[p] = x
}

// removeEntry takes an entry out of the index that has it.
func removeEntry(index []uint64, x uint64) {
	p := home(uint32(x>>32), len(index))
	for index[p] != x {
		p = behind(p, index)
	}
	closeGap(index, p)
}

// closeGap empties a place of an index, by moving up the entries behind it that
// it kept from their place.
func closeGap(index []uint64, gap uint32) {
	size := uint32(len(index))
	// ahead is the number of places from a to b.
	ahead := func(a, b uint32) uint32 {
		if b < a {
			return b + size - a
		}
		return b - a
	}
	for p := behind(gap, index); index[p] != 0; p = behind(p, index) {
		if ahead(home(uint32(index[p]>>32), len(index)), p) >= ahead(gap, p) {
			index[gap] = index[p]
			gap = p
		}
	}
	index[gap] = 0
}

// crammed reports whether an index is too small for so many rows. Up to two thirds
// full, a search looks at a few neighbours more, which are in one cache line.
func crammed(rows int32, index []uint64) bool { return int(rows)*3 > len(index)*2 }

// keptIndex is the size up to which an index that was too small is kept for
// another space; larger ones would be a good part of the memory of the table.
const keptIndex = 1 << 12

// indexSize returns the least size of an index, 32 at least, that has so many
// places: a power of two, and from keptIndex on also one and a half of one.
func indexSize(places int) int {
	size := max(1<<bits.Len(uint(places-1)), 4*smallSpace)
	if less := size / 4 * 3; less >= places && less > keptIndex {
		return less
	}
	return size
}

// sizeClass numbers the sizes of indexSize.
func sizeClass(size int) int {
	log := bits.Len(uint(size)) - 1
	if size != 1<<log {
		return 2*log + 1
	}
	return 2 * log
}

// indexPool keeps a few indexes of each size for the next space: windows that
// follow each other are alike.
type indexPool struct {
	free [64][][]uint64
	// words is the size of all indexes in use or kept, last that of the space
	// that went last.
	words, last int
}

func (p *indexPool) get(size int) []uint64 {
	c := sizeClass(size)
	if n := len(p.free[c]); n > 0 {
		index := p.free[c][n-1]
		p.free[c] = p.free[c][:n-1]
		clear(index)
		return index
	}
	p.words += size
	return make([]uint64, size)
}

func (p *indexPool) put(index []uint64) {
	const most = 4
	c := sizeClass(len(index))
	if len(p.free[c]) >= most {
		p.words -= len(index)
		return
	}
	p.free[c] = append(p.free[c], index)
}

// grow returns an index of the given size with the entries of an old one, which
// is given up.
func (p *indexPool) grow(old []uint64, size int) []uint64 {
	index := p.get(size)
	for _, x := range old {
		if x != 0 {
			putEntry(index, x)
		}
	}
	if len(old) > keptIndex {
		p.words -= len(old)
	} else if old != nil {
		p.put(old)
	}
	return index
}

// trim gives up the indexes that are kept.
func (p *indexPool) trim() {
	for c, list := range p.free {
		for _, index := range list {
			p.words -= len(index)
		}
		p.free[c] = nil
	}
}
