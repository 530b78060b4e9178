package windowagg

import (
	"slices"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/internal/state"
)

// splitting is the work on rows that do more than extend the newest session of
// their key.
type splitting struct {
	// rows are positions in the batch, slots the newest sessions of their keys when
	// they came.
	rows, slots []int32
	// order has the indexes of rows by slot, then time.
	order  []int32
	sorted []uint64
	spans  []span
	// spanOf is, by index of rows, the span that a row is in; -1 for rows that are
	// done.
	spanOf []int32
}

func (w *splitting) reset() { w.rows, w.slots = w.rows[:0], w.slots[:0] }

func (w *splitting) add(row, slot int32) {
	w.rows, w.slots = append(w.rows, row), append(w.slots, slot)
}

// span is a session as it is after the batch. The spans of a key follow one
// another: the first one is the session that was its newest one, the last one is
// the newest now, the others are older ones.
type span struct {
	// newest is the slot of the key's newest session, row the position of a row of
	// the key.
	newest, row int32
	start, end  int64
	first, last bool
	// slot is where the session is in the end.
	slot int32
}

// splitRows folds in the rows that were put aside for it.
func (s *sessions) splitRows(b *batch.Batch, keys *state.Keys, times []int64) error {
	w := &s.split
	if len(w.rows) == 0 {
		return nil
	}
	w.sort(times)
	w.spans = w.spans[:0]
	w.spanOf = slices.Grow(w.spanOf[:0], len(w.rows))[:len(w.rows)]
	for rest := w.order; len(rest) > 0; {
		n := 1
		for n < len(rest) && w.slots[rest[n]] == w.slots[rest[0]] {
			n++
		}
		if err := s.splitKey(b, keys, times, rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	if err := s.settle(keys); err != nil {
		return err
	}
	kept := 0
	for i, k := range w.spanOf {
		if k >= 0 {
			w.rows[kept], w.slots[kept] = w.rows[i], w.spans[k].slot
			kept++
		}
	}
	own := *keys
	own.Rows = w.rows[:kept]
	return s.foldRows(s.table.Space(newest), b, &own, w.slots[:kept])
}

// sort finds the order of the rows.
func (w *splitting) sort(times []int64) {
	w.order = w.order[:0]
	inOrder := true
	for i, p := range w.rows {
		w.order = append(w.order, int32(i))
		inOrder = inOrder && (i == 0 || times[w.rows[i-1]] <= times[p])
	}
	if !inOrder {
		slices.SortStableFunc(w.order, func(i, j int32) int {
			switch x, y := times[w.rows[i]], times[w.rows[j]]; {
			case x < y:
				return -1
			case x > y:
				return 1
			}
			return 0
		})
	}
	w.sorted = w.sorted[:0]
	for rank, i := range w.order {
		w.sorted = append(w.sorted, uint64(w.slots[i])<<32|uint64(rank))
	}
	slices.Sort(w.sorted)
	byTime := slices.Clone(w.order)
	for i, x := range w.sorted {
		w.order[i] = byTime[uint32(x)]
	}
}

// splitKey makes the spans of one key, whose rows are those at the indexes order,
// by time.
func (s *sessions) splitKey(b *batch.Batch, keys *state.Keys, times []int64, order []int32) error {
	w, bounds := &s.split, s.bounds()
	slot, row := w.slots[order[0]], w.rows[order[0]]
	w.spans = append(w.spans, span{newest: slot, row: row, start: *bounds.start.At(slot), end: *bounds.end.At(slot), first: true})
	for len(order) > 0 {
		start := times[w.rows[order[0]]]
		end := start + s.Window.Size
		n := 1
		for ; n < len(order) && times[w.rows[order[n]]] <= end; n++ {
			end = times[w.rows[order[n]]] + s.Window.Size
		}
		cur := &w.spans[len(w.spans)-1]
		in := int32(len(w.spans) - 1)
		switch {
		case start > cur.end:
			w.spans = append(w.spans, span{newest: slot, row: row, start: start, end: end})
			in++
		case end >= cur.start && (start >= cur.start || bounds.older.Null(slot)):
			cur.start, cur.end = min(cur.start, start), max(cur.end, end)
		default: // cur is the first span, since rows come by their time
			if err := s.beforeNewest(b, keys, cur, order[:n], start, end); err != nil {
				return err
			}
			bounds = s.bounds()
			in = -1
		}
		for _, i := range order[:n] {
			w.spanOf[i] = in
		}
		order = order[n:]
	}
	w.spans[len(w.spans)-1].last = true
	return nil
}

// beforeNewest folds in rows of one key, at the indexes order, that come before
// its newest session, and may meet that and older ones.
func (s *sessions) beforeNewest(b *batch.Batch, keys *state.Keys, cur *span, order []int32, start, end int64) error {
	own := *keys
	own.Rows = make([]int32, 0, len(order))
	order = slices.Sorted(slices.Values(order))
	for _, i := range order {
		own.Rows = append(own.Rows, s.split.rows[i])
	}
	bounds := s.bounds()
	*bounds.start.At(cur.newest), *bounds.end.At(cur.newest) = cur.start, cur.end
	met, err := s.meet(b, &own, cur.newest, start, end)
	if err == nil && !met {
		err = s.putOlder(b, &own, cur.newest, start, end)
	}
	if err != nil {
		return err
	}
	bounds = s.bounds()
	cur.start, cur.end = *bounds.start.At(cur.newest), *bounds.end.At(cur.newest)
	return nil
}

// settle gives each span a place.
func (s *sessions) settle(keys *state.Keys) error {
	if err := s.makeOlder(keys); err != nil {
		return err
	}
	s.moveNewest()
	bounds, space := s.bounds(), s.table.Space(newest)
	changed := make([]int32, 0, 2*len(s.split.spans))
	for i := range s.split.spans {
		x := &s.split.spans[i]
		if x.last {
			x.slot = x.newest
		}
		if !x.first {
			s.begin(bounds, x.slot, x.start, keys.Hash[x.row])
		}
		*bounds.start.At(x.slot), *bounds.end.At(x.slot) = x.start, x.end
		if x.last && !x.first {
			bounds.older.Put(x.slot, s.split.spans[i-1].end)
		}
		changed = append(changed, x.slot)
	}
	space.Dirty(changed)
	return nil
}

// makeOlder makes the rows of older sessions.
func (s *sessions) makeOlder(keys *state.Keys) error {
	spans := s.split.spans
	var stretches []int64
	var which []int32
	for i, x := range spans {
		if !x.last {
			stretches, which = append(stretches, s.olderIn(x.end)), append(which, int32(i))
		}
	}
	if len(which) == 0 {
		return nil
	}
	own := *keys
	var at []int32
	return window.Each(stretches, which, func(ns int64, which []int32) error {
		own.Rows = nil
		for _, i := range which {
			own.Rows = append(own.Rows, spans[i].row)
		}
		at = slices.Grow(at[:0], len(which))[:len(which)]
		if _, err := s.table.Space(ns).Upsert(&own, at); err != nil {
			return err
		}
		for k, i := range which {
			spans[i].slot = at[k]
		}
		return nil
	})
}

// moveNewest moves what is known of sessions that were the newest ones of their
// keys, and are no longer.
func (s *sessions) moveNewest() {
	var from, to []int32
	for _, x := range s.split.spans {
		if x.first && !x.last {
			from, to = append(from, x.newest), append(to, x.slot)
		}
	}
	if len(from) == 0 {
		return
	}
	s.copySessions(to, from)
	reset(s.table.Space(newest).Cols(), from)
	older := s.bounds().older
	for _, slot := range to {
		older.SetNull(slot)
	}
}
