package windowagg

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/state"
)

// oneRow folds in a row behind the watermark, which counts if it meets an open
// session.
func (s *sessions) oneRow(b *batch.Batch, keys *state.Keys, p int32, ms int64) error {
	own := *keys
	own.Rows = []int32{p}
	var at [1]int32
	if err := s.table.Space(newest).Lookup(&own, at[:]); err != nil {
		return err
	}
	if at[0] >= 0 {
		if met, err := s.meet(b, &own, at[0], ms, ms+s.Window.Size); met || err != nil {
			return err
		}
	}
	s.addLate(p, ms)
	return nil
}

// place is where a session is.
type place struct {
	ns   int64
	slot int32
}

// meet folds rows of one key into the sessions that they meet, which become one;
// it reports false, and does nothing, if there is none. slot is the key's newest
// session; the rows and their gaps span start to end without a break.
func (s *sessions) meet(b *batch.Batch, key *state.Keys, slot int32, start, end int64) (met bool, err error) {
	all, err := s.older(key, slot, start, end)
	if err != nil {
		return false, err
	}
	bounds := s.bounds()
	if start <= *bounds.end.At(slot) && end >= *bounds.start.At(slot) {
		all = append([]place{{newest, slot}}, all...)
	}
	if len(all) == 0 {
		return false, nil
	}
	to := all[0]
	for _, from := range all[1:] {
		if err := s.absorb(key, to.slot, from); err != nil {
			return false, err
		}
	}
	*bounds.start.At(to.slot) = min(*bounds.start.At(to.slot), start)
	*bounds.end.At(to.slot) = max(*bounds.end.At(to.slot), end)
	if to.ns != newest {
		if to, err = s.rename(key, slot, to); err != nil {
			return false, err
		}
	}
	at := make([]int32, len(key.Rows))
	for i := range at {
		at[i] = to.slot
	}
	return true, s.foldRows(s.table.Space(to.ns), b, key, at)
}

// older returns the older sessions of a key that meet the time from start to end,
// in their order.
func (s *sessions) older(key *state.Keys, slot int32, start, end int64) (met []place, err error) {
	bounds := s.bounds()
	if bounds.older.Null(slot) {
		return nil, nil
	}
	last := *bounds.older.At(slot)
	one := *key
	one.Rows = key.Rows[:1]
	var at [1]int32
	// Sessions that end at s.wm+1 or before are over.
	for ns := s.olderIn(max(start, s.wm+2)); ns <= last; ns += s.olderGrain {
		space := s.table.Space(ns)
		if n, err := space.Len(); err != nil {
			return nil, err
		} else if n == 0 {
			continue
		}
		if err := space.Lookup(&one, at[:]); err != nil {
			return nil, err
		}
		if at[0] < 0 {
			continue
		}
		bounds := s.bounds()
		if *bounds.start.At(at[0]) > end {
			break
		}
		if *bounds.end.At(at[0]) >= start {
			met = append(met, place{ns, at[0]})
		}
	}
	return met, nil
}

// putOlder makes an older session of rows of one key, whose newest session is at
// slot. The rows and their gaps span start to end without a break.
func (s *sessions) putOlder(b *batch.Batch, key *state.Keys, slot int32, start, end int64) error {
	space := s.table.Space(s.olderIn(end))
	at := make([]int32, len(key.Rows))
	if _, err := space.Upsert(key, at); err != nil {
		return err
	}
	bounds := s.bounds()
	s.begin(bounds, at[0], start, key.Hash[key.Rows[0]])
	*bounds.end.At(at[0]) = end
	s.noteOlder(bounds, slot, end)
	return s.foldRows(space, b, key, at)
}

// noteOlder notes that the key whose newest session is at slot has an older one
// that ends at end.
func (s *sessions) noteOlder(b bounds, slot int32, end int64) {
	if b.older.Null(slot) || *b.older.At(slot) < end {
		b.older.Put(slot, end)
		s.table.Space(newest).Dirty([]int32{slot})
	}
}

// rename moves an older session, whose end has changed, to the namespace where it
// belongs. slot is the key's newest session.
func (s *sessions) rename(key *state.Keys, slot int32, from place) (place, error) {
	bounds := s.bounds()
	end := *bounds.end.At(from.slot)
	s.noteOlder(bounds, slot, end)
	to := place{ns: s.olderIn(end)}
	if to.ns == from.ns {
		return from, nil
	}
	one := *key
	one.Rows = key.Rows[:1]
	var at [1]int32
	if _, err := s.table.Space(to.ns).Upsert(&one, at[:]); err != nil {
		return place{}, err
	}
	to.slot = at[0]
	s.copySessions(at[:], []int32{from.slot})
	s.table.Space(from.ns).Delete([]int32{from.slot})
	return to, nil
}

// copySessions copies sessions from some slots to others.
func (s *sessions) copySessions(to, from []int32) {
	all := s.upTo(len(to))
	for _, c := range s.table.Space(newest).Cols() {
		c.Set(to, c.Vector(from), all)
	}
}

// absorb merges an older session of a key into another one, at slot target.
func (s *sessions) absorb(key *state.Keys, target int32, older place) error {
	from := older.slot
	bounds, cols := s.bounds(), s.table.Space(newest).Cols()
	*bounds.start.At(target) = min(*bounds.start.At(target), *bounds.start.At(from))
	*bounds.end.At(target) = max(*bounds.end.At(target), *bounds.end.At(from))
	count := cols[colCount].(*batch.Slab[int64])
	*count.At(target) += *count.At(from)
	for _, a := range s.aggs {
		if a.set == nil {
			if err := a.Bound.Agg.Merge(cols[a.from:a.to], []int32{target}, cols[a.from:a.to], []int32{from}); err != nil {
				return err
			}
		}
	}
	if err := s.absorbValues(target, from); err != nil {
		return err
	}
	if s.stored != nil {
		if err := s.absorbStored(key, target, from); err != nil {
			return err
		}
	}
	s.table.Space(older.ns).Delete([]int32{from})
	return nil
}

// absorbValues merges the values that DISTINCT has seen in two sessions.
func (s *sessions) absorbValues(target, from int32) error {
	id, cols := s.bounds().id, s.table.Space(newest).Cols()
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
	id, next := s.bounds().id, s.table.Space(newest).Cols()[colStored].(*batch.Slab[int64])
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
