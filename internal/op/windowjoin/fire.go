package windowjoin

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/internal/state"
)

// OnWatermark implements op.WatermarkHandler.
func (j *join) OnWatermark(wm int64, out op.Output) (int64, error) {
	j.wm = wm
	due, err := j.Window.DueEnds(j.heads, wm)
	if err != nil {
		return 0, err
	}
	j.due = due
	_, err = j.Resume(out)
	return wm, err
}

// Resume implements op.Resumer: it fires windows as long as there is room.
func (j *join) Resume(out op.Output) (bool, error) {
	for {
		if j.cur == nil {
			if len(j.due) == 0 {
				return false, nil
			}
			j.cur = j.newFiring(j.due[0])
			j.due = j.due[1:]
		}
		done, err := j.cur.run(out)
		if err != nil || !done {
			return !done, err
		}
		if err := j.drop(j.cur.end); err != nil {
			return false, err
		}
		j.cur = nil
	}
}

// drop forgets a window.
func (j *join) drop(end int64) error {
	for i := range j.sides {
		if t := j.sides[i].table; t != nil {
			if err := t.Drop(end); err != nil {
				return err
			}
		}
	}
	return j.heads.Drop(end)
}

// firing is a window whose rows are coming out. It goes through the keys in
// chunks, and through the keys of a chunk in units.
type firing struct {
	*join
	end int64
	// window is the hash that decides the key group where there are no keys.
	window uint64

	// keys and counts are those of a chunk: the columns of the keys, and how many
	// rows each side has. use lists the keys that can give rows, next is the first
	// of them that is not in a unit yet.
	keys   []batch.Vector
	counts [2][]int64
	use    []int32
	next   int
	unit   unit

	left, right []int32
}

func (j *join) newFiring(end int64) *firing {
	f := &firing{join: j, end: end}
	if len(j.Keys) == 0 {
		col := window.TimeVector(j.In[0].Schema.Fields[j.In[0].End].Type, []int64{end})
		f.window = batch.Hash([]batch.Vector{col}, nil, 1, nil)[0]
	}
	return f
}

// run goes on until the window is done, or the output is full. Keys that are taken are forgotten, so that it can go on later.
func (f *firing) run(out op.Output) (done bool, err error) {
	if ok, err := f.work(out); !ok || err != nil {
		return false, err
	}
	heads := f.heads.Space(f.end)
	err = heads.Scan(f.block, func(slots []int32) error {
		f.take(heads, slots)
		heads.Delete(slots)
		ok, err := f.work(out)
		if err == nil && !ok {
			err = window.ErrFull
		}
		return err
	})
	if err == window.ErrFull {
		return false, nil
	}
	return err == nil, err
}

// take makes a chunk of some keys.
func (f *firing) take(heads state.Space, slots []int32) {
	f.keys, f.use, f.next = heads.Keys(slots), f.use[:0], 0
	for i := range f.counts {
		f.counts[i] = f.counts[i][:0]
		col := heads.Cols()[i].(*batch.Slab[int64])
		for _, s := range slots {
			f.counts[i] = append(f.counts[i], *col.At(s))
		}
	}
	keep := [2]bool{f.In[0].Keep, f.In[1].Keep}
	for i := range slots {
		alone := f.alone(i)
		for side := range f.counts {
			if alone && !keep[side] {
				f.counts[side][i] = 0
			}
		}
		l, r := f.counts[0][i] > 0, f.counts[1][i] > 0
		if l && r || l && keep[0] || r && keep[1] {
			f.use = append(f.use, int32(i))
		}
	}
}

// alone reports whether key i of the chunk has no partners, since it has a NULL
// that is equal to nothing.
func (f *firing) alone(i int) bool {
	for k, v := range f.keys {
		if !f.Keys[k].NullSafe && v.Validity().IsNull(i) {
			return true
		}
	}
	return false
}

// work goes on with the chunk until it is done, or the output is full.
func (f *firing) work(out op.Output) (done bool, err error) {
	for {
		if f.unit.phase == idle {
			if f.next == len(f.use) {
				return true, nil
			}
			f.begin()
		}
		if out.Full() {
			return false, nil
		}
		if err := f.step(out); err != nil {
			return false, err
		}
	}
}

// begin makes a unit of the next keys: as many as have few rows together, or a
// single one.
func (f *firing) begin() {
	u := &f.unit
	*u = unit{phase: leftBlock, keys: f.use[f.next : f.next+1], blocks: u.blocks}
	for i := f.next; i < len(f.use); i++ {
		l, r := f.counts[0][f.use[i]], f.counts[1][f.use[i]]
		if i > f.next && (u.total[0]+l > int64(f.block) || u.total[1]+r > int64(f.block)) {
			break
		}
		u.keys = f.use[f.next : i+1]
		u.total[0] += l
		u.total[1] += r
	}
	f.next += len(u.keys)
	if f.In[1].Keep {
		u.matched[1] = make([]bool, u.total[1])
	}
}
