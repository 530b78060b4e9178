package state

import "math/bits"

// pageBits is the base-2 logarithm of the slots of a page, which is also the
// largest extent.
const (
	pageBits = 10
	pageMask = 1<<pageBits - 1
)

// pages is an array by slot that grows without moving; the first page starts
// small and doubles.
type pages[T any] [][]T

func (p pages[T]) at(slot int32) *T { return &p[slot>>pageBits][slot&pageMask] }

func (p *pages[T]) grow(n int) {
	for {
		last := len(*p) - 1
		switch {
		case last < 0:
			*p = append(*p, make([]T, 8))
		case last<<pageBits+len((*p)[last]) >= n:
			return
		case last == 0 && len((*p)[0]) <= pageMask:
			page := make([]T, 2*len((*p)[0]))
			copy(page, (*p)[0])
			(*p)[0] = page
		default:
			*p = append(*p, make([]T, pageMask+1))
		}
	}
}

// slotMeta says whose a slot is: the low half of the hash of its key, and the
// number of its space.
type slotMeta struct {
	low   uint32
	owner int32
}

// The flags of a slot.
const (
	// live is set while the slot holds a row.
	live = 1 << iota
	// dirtyA or dirtyB is set if the row differs from the one on disk, or is not
	// there. While a snapshot is being copied, one of them marks the rows that
	// are to be copied yet, and the other those that have changed since.
	dirtyA
	dirtyB
	// durable is set if the disk has the row, perhaps with older values.
	durable
	// used is set when the row is touched, and cleared by the clock.
	used
	// picked is set while a row is about to leave memory.
	picked
	// seen is set during a scan for rows that it has given.
	seen

	dirty = dirtyA | dirtyB
)

// extent is a run of slots that belongs to one space. Its size is a power of
// two, up to a page.
type extent struct{ start, size int32 }

// slotAlloc hands out extents. What is freed is used again, whole or in parts;
// parts do not grow together again, since a space can be made of any of them.
type slotAlloc struct {
	// next is the first slot that was never handed out.
	next int32
	// free has the starts of free extents by class, the base-2 logarithm of
	// their size.
	free [pageBits + 1][]int32
	// slots is the number of slots in free.
	slots int32
}

// alloc returns an extent of at most the given size. virgin says that nobody
// has used it before.
func (a *slotAlloc) alloc(size int32) (e extent, virgin bool) {
	want := bits.Len32(uint32(size)) - 1
	for c := want; c <= pageBits; c++ {
		if len(a.free[c]) > 0 {
			start := a.pop(c)
			for ; c > want; c-- {
				a.push(c-1, start+1<<(c-1))
			}
			return extent{start, 1 << want}, false
		}
	}
	// Small pieces are as good as new slots when many lie about.
	if a.slots*4 > a.next {
		for c := want - 1; c >= 0; c-- {
			if len(a.free[c]) > 0 {
				return extent{a.pop(c), 1 << c}, false
			}
		}
	}
	e = extent{a.next, 1 << want}
	a.next += e.size
	return e, true
}

func (a *slotAlloc) release(e extent) { a.push(bits.Len32(uint32(e.size))-1, e.start) }

func (a *slotAlloc) push(class int, start int32) {
	a.free[class] = append(a.free[class], start)
	a.slots += 1 << class
}

func (a *slotAlloc) pop(class int) int32 {
	f := a.free[class]
	start := f[len(f)-1]
	a.free[class] = f[:len(f)-1]
	a.slots -= 1 << class
	return start
}
