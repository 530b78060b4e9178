package windowagg

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/state"
)

// oneRow folds one row in: it may begin a second session of its key, join
// several into one, or be late.
func (s *sessions) oneRow(b *batch.Batch, keys *state.Keys, p int32, ms int64) error {
	own := *keys
	own.Rows = []int32{p}
	open, err := s.open(&own)
	if err != nil {
		return err
	}
	bounds := s.bounds()
	var met []int
	for i, slot := range open {
		if s.touches(bounds, slot, ms) {
			met = append(met, i)
		}
	}
	if len(met) == 0 {
		if end := ms + s.Window.Size; end-1 <= s.wm {
			s.addLate(p, ms)
			return nil
		}
		return s.another(b, &own, open, ms)
	}
	target := open[met[0]]
	for i := len(met) - 1; i > 0; i-- {
		if open, err = s.absorb(&own, open, target, met[i]); err != nil {
			return err
		}
	}
	s.extend(bounds, target, ms)
	return s.foldRows(s.table.Space(int64(met[0])), b, &own, []int32{target})
}

// open returns the slots of the open sessions of a key.
func (s *sessions) open(key *state.Keys) ([]int32, error) {
	var at [1]int32
	if err := s.table.Space(0).Lookup(key, at[:]); err != nil || at[0] < 0 {
		return nil, err
	}
	open := []int32{at[0]}
	for i := range *s.bounds().more.At(at[0]) {
		if err := s.table.Space(i+1).Lookup(key, at[:]); err != nil {
			return nil, err
		}
		open = append(open, at[0])
	}
	return open, nil
}

// another begins a session of a key that has others.
func (s *sessions) another(b *batch.Batch, key *state.Keys, open []int32, ms int64) error {
	var at [1]int32
	space := s.table.Space(int64(len(open)))
	if _, err := space.Upsert(key, at[:]); err != nil {
		return err
	}
	bounds := s.bounds()
	if len(open) > 0 {
		*bounds.more.At(open[0]) = int64(len(open))
		s.table.Space(0).Dirty(open[:1])
	}
	s.begin(bounds, at[0], ms, key.Hash[key.Rows[0]])
	if err := s.putTimers(key, []int64{s.stretch(ms + s.Window.Size)}, key.Rows); err != nil {
		return err
	}
	return s.foldRows(space, b, key, at[:])
}

// absorb merges session i of a key into the one at slot target, which comes
// before it, and returns the sessions that are left.
func (s *sessions) absorb(key *state.Keys, open []int32, target int32, i int) ([]int32, error) {
	bounds, cols := s.bounds(), s.table.Space(0).Cols()
	from := open[i]
	*bounds.start.At(target) = min(*bounds.start.At(target), *bounds.start.At(from))
	*bounds.end.At(target) = max(*bounds.end.At(target), *bounds.end.At(from))
	count := cols[colCount].(*batch.Slab[int64])
	*count.At(target) += *count.At(from)
	for _, a := range s.aggs {
		if a.set == nil {
			if err := a.Bound.Agg.Merge(cols[a.from:a.to], []int32{target}, cols[a.from:a.to], []int32{from}); err != nil {
				return nil, err
			}
		}
	}
	if err := s.absorbValues(target, from); err != nil {
		return nil, err
	}
	if s.stored != nil {
		if err := s.absorbStored(key, target, from); err != nil {
			return nil, err
		}
	}
	return s.remove(open, i)
}

// absorbValues merges the values that DISTINCT has seen in two sessions.
func (s *sessions) absorbValues(target, from int32) error {
	id, cols := s.bounds().id, s.table.Space(0).Cols()
	for _, d := range s.distinct {
		src, dst := d.table.Space(*id.At(from)), d.table.Space(*id.At(target))
		err := src.Scan(fireRows, func(slots []int32) error {
			n := len(slots)
			own := src.Keys(slots)
			keys := &state.Keys{Cols: own, Hash: batch.Hash(own, nil, n, nil), Group: batch.Hash(own[:len(s.Keys)], nil, n, nil)}
			for i := range n {
				keys.Rows = append(keys.Rows, int32(i))
			}
			at := make([]int32, n)
			if _, err := dst.Upsert(keys, at); err != nil {
				return err
			}
			there, here := dst.Cols()[0].(*batch.Slab[int64]), src.Cols()[0].(*batch.Slab[int64])
			var came, left []int32
			for i, r := range at {
				was := *there.At(r)
				now := was + *here.At(slots[i])
				*there.At(r) = now
				switch {
				case was <= 0 && now > 0:
					came = append(came, int32(i))
				case was > 0 && now <= 0:
					left = append(left, int32(i))
				}
			}
			dst.Dirty(at)
			targets := make([]int32, n)
			for i := range targets {
				targets[i] = target
			}
			return foldValues(s.aggs, d, cols, targets, own[len(s.Keys):], came, left)
		})
		if err != nil {
			return err
		}
		if err := d.table.Drop(*id.At(from)); err != nil {
			return err
		}
	}
	return nil
}

// absorbStored moves the rows that wait from one session to another.
func (s *sessions) absorbStored(key *state.Keys, target, from int32) error {
	id, next := s.bounds().id, s.table.Space(0).Cols()[colStored].(*batch.Slab[int64])
	src := s.stored.Space(*id.At(from))
	err := src.Scan(fireRows, func(slots []int32) error {
		n := len(slots)
		cols := src.Keys(slots)
		numbers := cols[len(s.Keys)].(*batch.Fixed[int64])
		keys := &state.Keys{Cols: cols[:len(s.Keys)], Hash: batch.Hash(cols[:len(s.Keys)], nil, n, nil)}
		for i := range n {
			keys.Rows = append(keys.Rows, int32(i))
			numbers.Values[i] += *next.At(target)
		}
		var values []batch.Vector
		for _, c := range src.Cols() {
			values = append(values, c.Vector(slots))
		}
		return s.putStored(*id.At(target), keys, numbers, values, n)
	})
	if err != nil {
		return err
	}
	*next.At(target) += *next.At(from)
	return s.stored.Drop(*id.At(from))
}

// remove forgets session i of a key; the last one takes its place.
func (s *sessions) remove(open []int32, i int) ([]int32, error) {
	last := len(open) - 1
	if i < last {
		s.copySession(open[i], open[last])
		s.table.Space(int64(i)).Dirty(open[i : i+1])
	}
	s.table.Space(int64(last)).Delete(open[last:])
	open = open[:last]
	if last > 0 {
		*s.bounds().more.At(open[0]) = int64(last - 1)
		s.table.Space(0).Dirty(open[:1])
	}
	return open, nil
}

// copySession copies all but the number of further sessions.
func (s *sessions) copySession(to, from int32) {
	slots, row := []int32{to}, []int32{0}
	for i, c := range s.table.Space(0).Cols() {
		if i != colMore {
			c.Set(slots, c.Vector([]int32{from}), row)
		}
	}
}
