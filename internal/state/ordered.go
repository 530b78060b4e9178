package state

import (
	"slices"

	"github.com/millstream-io/millstream/batch"
)

// ordering keeps the rows of an ordered table in runs: the rows of a namespace
// whose leading key columns (the prefix) are equal, in the order of the others.
//
// A run is a treap whose nodes are the slots themselves, so that it holds no
// pointers and nothing has to be moved. A space has an index of its runs that is
// built as that of its rows: the low half of the prefix's hash, and the slot of
// the root + 1.
type ordering struct {
	t *table
	// prefix is the number of key columns before the order.
	prefix int
	nodes  pages[node]
	// heads begin the comparison of two rows of a run.
	heads pages[uint64]

	hashBuf, headBuf []uint64
	stack            []int32
}

// node is the place of a slot in its run. Slots count from 1 here, 0 is none.
type node struct {
	left, right int32
	// low is the low half of the hash of the prefix.
	low uint32
}

// nodeSize is what a slot takes in an ordering.
const nodeSize = 12 + 8

func newOrdering(t *table) *ordering {
	if t.spec.Order == 0 {
		return nil
	}
	return &ordering{t: t, prefix: len(t.spec.Key) - t.spec.Order}
}

func (o *ordering) grow(n int) {
	o.nodes.grow(n)
	o.heads.grow(n)
}

// rank makes a treap shallow: it is as good as random, and no two slots have the
// same.
func rank(slot int32) uint32 {
	x := uint32(slot)
	x ^= x >> 16
	x *= 0x7feb352d
	x ^= x >> 15
	x *= 0x846ca68b
	return x ^ x>>16
}

// compare compares two rows of a run.
func (o *ordering) compare(a, b int32) int {
	if x, y := *o.heads.at(a), *o.heads.at(b); x != y {
		if x < y {
			return -1
		}
		return 1
	}
	for _, c := range o.t.keys[o.prefix:] {
		if d := collate(c, a, b); d != 0 {
			return d
		}
	}
	return 0
}

// samePrefix reports whether two rows are of one run.
func (o *ordering) samePrefix(a, b int32) bool {
	for _, c := range o.t.keys[:o.prefix] {
		if collate(c, a, b) != 0 {
			return false
		}
	}
	return true
}

// link puts new rows into their runs: those at the given indexes of k. Their keys
// are stored already.
func (o *ordering) link(s *space, k *Keys, slots, at []int32) {
	rows := o.t.rowBuf[:0]
	for _, i := range at {
		rows = append(rows, k.Rows[i])
	}
	o.t.rowBuf = rows
	o.hashBuf = batch.Hash(k.Cols[:o.prefix], rows, len(k.Hash), o.hashBuf)
	if cap(o.headBuf) < len(rows) {
		o.headBuf = make([]uint64, max(len(rows), batch.DefaultSize))
	}
	h := o.headBuf[:len(rows)]
	heads(k.Cols[o.prefix], o.t.spec.Key[o.prefix].Nullable, rows, h)
	for j, i := range at {
		slot := slots[i]
		*o.heads.at(slot) = h[j]
		o.nodes.at(slot).low = uint32(o.hashBuf[rows[j]])
		o.insert(s, slot)
	}
}

// relink puts rows that have moved to other slots into their runs again.
func (o *ordering) relink(s *space, to, from []int32, old *ordering) {
	for i, slot := range to {
		*o.heads.at(slot) = *old.heads.at(from[i])
		o.nodes.at(slot).low = old.nodes.at(from[i]).low
		o.insert(s, slot)
	}
}

// insert puts a row, whose head and hash are set, into its run.
func (o *ordering) insert(s *space, slot int32) {
	if 2*int(s.runs+1) > len(s.runIndex) {
		s.growRuns()
	}
	low := o.nodes.at(slot).low
	for p := home(low, len(s.runIndex)); ; p = behind(p, s.runIndex) {
		x := s.runIndex[p]
		if x == 0 {
			*o.nodes.at(slot) = node{low: low}
			s.runIndex[p] = entry(low, slot)
			s.runs++
			return
		}
		if root := int32(uint32(x)) - 1; uint32(x>>32) == low && o.samePrefix(root, slot) {
			s.runIndex[p] = entry(low, o.insertInto(root, slot))
			return
		}
	}
}

// insertInto puts a row into the run with the given root and returns the new root.
func (o *ordering) insertInto(root, slot int32) int32 {
	r := rank(slot)
	at := root + 1
	p := &at
	for *p != 0 && rank(*p-1) > r {
		n := o.nodes.at(*p - 1)
		if o.compare(slot, *p-1) < 0 {
			p = &n.left
		} else {
			p = &n.right
		}
	}
	// What is below the place is split in what comes before and after the row.
	n := o.nodes.at(slot)
	left, right := &n.left, &n.right
	for cur := *p; cur != 0; {
		c := o.nodes.at(cur - 1)
		if o.compare(cur-1, slot) < 0 {
			*left = cur
			left, cur = &c.right, c.right
		} else {
			*right = cur
			right, cur = &c.left, c.left
		}
	}
	*left, *right = 0, 0
	*p = slot + 1
	return at - 1
}

// unlink takes a row out of its run.
func (o *ordering) unlink(s *space, slot int32) {
	low := o.nodes.at(slot).low
	p := home(low, len(s.runIndex))
	for ; ; p = behind(p, s.runIndex) {
		x := s.runIndex[p]
		if root := int32(uint32(x)) - 1; uint32(x>>32) == low && (root == slot || o.samePrefix(root, slot)) {
			break
		}
	}
	at := int32(uint32(s.runIndex[p]))
	q := &at
	for *q != slot+1 {
		n := o.nodes.at(*q - 1)
		if o.compare(slot, *q-1) < 0 {
			q = &n.left
		} else {
			q = &n.right
		}
	}
	n := o.nodes.at(slot)
	a, b := n.left, n.right
	for a != 0 && b != 0 {
		if rank(a-1) > rank(b-1) {
			*q = a
			q = &o.nodes.at(a - 1).right
			a = *q
		} else {
			*q = b
			q = &o.nodes.at(b - 1).left
			b = *q
		}
	}
	*q = a | b
	if at != 0 {
		s.runIndex[p] = entry(low, at-1)
		return
	}
	closeGap(s.runIndex, p)
	s.runs--
}

// growRuns doubles the index of runs.
func (s *space) growRuns() {
	const least = 4
	s.runIndex = s.t.indexes.grow(s.runIndex, max(2*len(s.runIndex), least))
}

// find returns the root of the run with the prefix of the row r of cols, -1 if
// there is none in memory.
func (o *ordering) find(s *space, cols []batch.Vector, hash uint64, r int32) int32 {
	if s.runs == 0 {
		return -1
	}
	low := uint32(hash)
	for p := home(low, len(s.runIndex)); s.runIndex[p] != 0; p = behind(p, s.runIndex) {
		if x := s.runIndex[p]; uint32(x>>32) == low {
			if root := int32(uint32(x)) - 1; o.hasPrefix(root, cols, r) {
				return root
			}
		}
	}
	return -1
}

func (o *ordering) hasPrefix(slot int32, cols []batch.Vector, r int32) bool {
	for i, c := range o.t.keys[:o.prefix] {
		if collateWith(c, slot, cols[i], r) != 0 {
			return false
		}
	}
	return true
}

// bound is one end of a range: the values of leading order columns.
type bound struct {
	cols []batch.Vector
	row  int32
	head uint64
	// open leaves out the rows that have just these values.
	open bool
}

// bound returns a bound at a row of cols; no columns give none.
func (o *ordering) bound(cols []batch.Vector, row int32, open bool) *bound {
	if len(cols) == 0 {
		return nil
	}
	b := &bound{cols: cols, row: row, open: open}
	var head [1]uint64
	heads(cols[0], o.t.spec.Key[o.prefix].Nullable, []int32{row}, head[:])
	b.head = head[0]
	return b
}

// compareBound compares a row with a bound, by as many columns as that has.
func (o *ordering) compareBound(slot int32, b *bound) int {
	if h := *o.heads.at(slot); h != b.head {
		if h < b.head {
			return -1
		}
		return 1
	}
	for i, v := range b.cols {
		if d := collateWith(o.t.keys[o.prefix+i], slot, v, b.row); d != 0 {
			return d
		}
	}
	return 0
}

// outside reports whether a row lies before the lower bound (dir is 1) or behind
// the upper one (dir is -1).
func (o *ordering) outside(slot int32, b *bound, dir int) bool {
	if b == nil {
		return false
	}
	d := o.compareBound(slot, b) * dir
	return d < 0 || d == 0 && b.open
}

// collect appends the rows of a run between two bounds to out, in order or in
// reverse, at most limit of them; without those last written by the deadline.
func (o *ordering) collect(root int32, from, to *bound, reverse bool, limit int, deadline int64, out []int32) []int32 {
	first, last, dir := from, to, 1
	if reverse {
		first, last, dir = to, from, -1
	}
	stack := o.stack[:0]
	cur := root + 1
	for {
		for cur != 0 {
			n := o.nodes.at(cur - 1)
			near, far := n.left, n.right
			if reverse {
				near, far = far, near
			}
			if o.outside(cur-1, first, dir) {
				cur = far
				continue
			}
			stack = append(stack, cur)
			cur = near
		}
		if len(stack) == 0 || limit == 0 {
			break
		}
		slot := stack[len(stack)-1] - 1
		stack = stack[:len(stack)-1]
		if o.outside(slot, last, -dir) {
			break
		}
		if o.t.mortal == nil || *o.t.mortal.written.At(slot) > deadline {
			out = append(out, slot)
			limit--
		}
		if reverse {
			cur = o.nodes.at(slot).left
		} else {
			cur = o.nodes.at(slot).right
		}
		first = nil // all that follows is inside
	}
	o.stack = stack
	return out
}

// all returns the slots of a space in the order in which the disk has rows: by
// key group, then by key.
func (o *ordering) all(s *space) []int32 {
	t := o.t
	roots := make([]int32, 0, s.runs)
	for _, x := range s.runIndex {
		if x != 0 {
			roots = append(roots, int32(uint32(x))-1)
		}
	}
	o.sortRoots(roots)
	out := make([]int32, 0, s.rows)
	for _, root := range roots {
		out = o.collect(root, nil, nil, false, t.rows, t.deadline(), out)
	}
	return out
}

// sortRoots sorts runs by key group and prefix.
func (o *ordering) sortRoots(roots []int32) {
	t := o.t
	if len(roots) < 2 {
		return
	}
	type sortKey struct {
		group uint8
		head  uint64
		slot  int32
	}
	list := make([]sortKey, len(roots))
	h := make([]uint64, len(roots))
	if o.prefix > 0 {
		rows := make([]int32, len(roots))
		for i := range rows {
			rows[i] = int32(i)
		}
		heads(t.keys[0].Vector(roots), t.spec.Key[0].Nullable, rows, h)
	}
	for i, root := range roots {
		list[i] = sortKey{head: h[i], slot: root}
		if !t.spec.ByTask {
			list[i].group = *t.groups.at(root)
		}
	}
	slices.SortFunc(list, func(a, b sortKey) int {
		switch {
		case a.group != b.group:
			return int(a.group) - int(b.group)
		case a.head < b.head:
			return -1
		case a.head > b.head:
			return 1
		}
		for _, c := range t.keys[:o.prefix] {
			if d := collate(c, a.slot, b.slot); d != 0 {
				return d
			}
		}
		return 0
	})
	for i, k := range list {
		roots[i] = k.slot
	}
}
