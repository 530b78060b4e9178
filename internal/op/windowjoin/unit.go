package windowjoin

import (
	"fmt"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/state"
)

// phase is what comes next in a unit.
type phase uint8

const (
	idle phase = iota
	// leftBlock brings the next block of left rows to memory, rightBlock the next
	// one of right rows.
	leftBlock
	rightBlock
	// pairs makes pairs of the two blocks.
	pairs
	// leftRest gives the left rows of a block that have no partner, or those of a semi
	// join that have one; rightRest the right rows without a partner.
	leftRest
	rightRest
)

// unit is a number of keys whose rows are brought together: all at once, or,
// where a single key has many, block by block, each left one with each right one.
type unit struct {
	phase phase
	keys  []int32
	// total are the numbers of rows.
	total [2]int64
	// blocks are in memory, of the rows from from on.
	blocks [2]block
	from   [2]int64
	// matched tells which rows have a partner: of the left block, and of all right
	// rows.
	matched [2][]bool
	// The next pair is that of rows i and k of the key at place key of keys.
	key  int
	i, k int32
}

// block are rows of a side, the columns that are kept of them. first[i] is where
// those of the i-th key of the unit begin.
type block struct {
	cols  []batch.Vector
	n     int
	first []int32
}

// step does the next part of a unit; it emits one batch at most.
func (f *firing) step(out op.Output) (err error) {
	u := &f.unit
	switch u.phase {
	case leftBlock:
		if u.from[0] >= u.total[0] {
			u.phase, u.from[1] = rightRest, 0
			return nil
		}
		if err := f.load(0); err != nil {
			return err
		}
		u.matched[0] = append(u.matched[0][:0], make([]bool, u.blocks[0].n)...)
		u.phase, u.from[1] = rightBlock, 0
	case rightBlock:
		switch {
		case u.from[1] >= u.total[1]:
			u.phase = leftRest
		case f.sides[1].table == nil:
			f.matchByCount()
			u.phase = leftRest
		default:
			u.phase, u.key, u.i, u.k = pairs, 0, 0, 0
			return f.load(1)
		}
	case pairs:
		f.nextPairs()
		if len(f.left) == 0 {
			u.from[1] += int64(u.blocks[1].n)
			u.phase = rightBlock
			return nil
		}
		return f.joinPairs(out)
	case leftRest:
		if f.In[0].Keep || f.LeftOnly {
			f.emit(out, f.end, f.marked(0, 0, f.LeftOnly && !f.In[0].Keep), nil)
		}
		u.from[0] += int64(u.blocks[0].n)
		u.phase = leftBlock
	case rightRest:
		if !f.In[1].Keep || u.from[1] >= u.total[1] {
			u.phase = idle
			return nil
		}
		if err := f.load(1); err != nil {
			return err
		}
		f.emit(out, f.end, nil, f.marked(1, u.from[1], false))
		u.from[1] += int64(u.blocks[1].n)
	}
	return nil
}

// load brings the next block of a side to memory.
func (f *firing) load(in int) error {
	u, s := &f.unit, &f.sides[in]
	from, b := u.from[in], &u.blocks[in]
	b.first = b.first[:0]
	var which []int32
	number := batch.NewFixed[int64](numberType, int(min(u.total[in], int64(f.block))))
	for _, k := range u.keys {
		b.first = append(b.first, int32(len(which)))
		for n := from; n < f.counts[in][k] && len(which) < f.block; n++ {
			which = append(which, k)
			number.Append(n)
		}
	}
	b.n = len(which)
	b.first = append(b.first, int32(b.n))
	keys := &state.Keys{Rows: batch.All(b.n)}
	for _, v := range f.keys {
		keys.Cols = append(keys.Cols, batch.Take(v, which))
	}
	keys.Group = batch.Hash(keys.Cols, nil, b.n, nil)
	if len(f.keys) == 0 {
		for i := range keys.Group {
			keys.Group[i] = f.window
		}
	}
	cols, kept, err := s.fetch(f.end, keys, number)
	if err == nil && len(kept) < b.n {
		err = fmt.Errorf("window join: the state of window %d counts %d rows that it does not have", f.end, b.n-len(kept))
	}
	b.cols = cols
	return err
}

// matchByCount marks the left rows of keys that have a right row.
func (f *firing) matchByCount() {
	u := &f.unit
	first := u.blocks[0].first
	for i, k := range u.keys {
		if f.counts[1][k] > 0 && !f.alone(int(k)) {
			for r := first[i]; r < first[i+1]; r++ {
				u.matched[0][r] = true
			}
		}
	}
}

// nextPairs leaves the next pairs of the two blocks in left and right; none if
// there are no more.
func (f *firing) nextPairs() {
	u := &f.unit
	l, r := u.blocks[0].first, u.blocks[1].first
	f.left, f.right = f.left[:0], f.right[:0]
	for ; u.key < len(u.keys); u.key, u.i, u.k = u.key+1, 0, 0 {
		nl, nr := l[u.key+1]-l[u.key], r[u.key+1]-r[u.key]
		if nl == 0 || nr == 0 || f.alone(int(u.keys[u.key])) {
			continue
		}
		for ; u.i < nl; u.i, u.k = u.i+1, 0 {
			for ; u.k < nr; u.k++ {
				if len(f.left) == f.block {
					return
				}
				f.left, f.right = append(f.left, l[u.key]+u.i), append(f.right, r[u.key]+u.k)
			}
		}
	}
}

// joinPairs emits those of the pairs that are partners, and marks their rows.
func (f *firing) joinPairs(out op.Output) error {
	u := &f.unit
	l, r, err := f.partners(f.end, rows{u.blocks[0].cols, f.left}, rows{u.blocks[1].cols, f.right})
	if err != nil {
		return err
	}
	if f.In[0].Keep || f.LeftOnly {
		for _, i := range l.at {
			u.matched[0][i] = true
		}
	}
	if f.In[1].Keep {
		for _, i := range r.at {
			u.matched[1][u.from[1]+int64(i)] = true
		}
	}
	if !f.LeftOnly {
		f.emit(out, f.end, &l, &r)
	}
	return nil
}

// marked returns the rows of a block that have a partner, or that have none. from
// is where the block begins in matched.
func (f *firing) marked(in int, from int64, partner bool) *rows {
	out := make([]int32, 0, f.unit.blocks[in].n)
	for i := range f.unit.blocks[in].n {
		if f.unit.matched[in][from+int64(i)] == partner {
			out = append(out, int32(i))
		}
	}
	return &rows{f.unit.blocks[in].cols, out}
}
