package windowagg

import (
	"math"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/types"
)

// OnWatermark implements op.WatermarkHandler.
func (s *sessions) OnWatermark(wm int64, out op.Output) (int64, error) {
	if s.Proctime {
		return wm, nil
	}
	return wm, s.advance(wm, out)
}

// OnTimer implements op.TimerHandler.
func (s *sessions) OnTimer(now int64, out op.Output) error {
	if err := s.advance(max(now-1, s.wm), out); err != nil {
		return err
	}
	return s.arm()
}

// arm asks for a call when the clock shows the end of the first session.
func (s *sessions) arm() error {
	if !s.Proctime {
		return nil
	}
	ns, ok, err := s.timers.First()
	if err != nil || !ok {
		return err
	}
	if ns != s.armed {
		s.armed = ns
		s.ctx.TimerAt(ns)
	}
	return nil
}

func (s *sessions) advance(wm int64, out op.Output) error {
	s.wm = wm
	upTo := wm
	if wm < math.MaxInt64 {
		upTo++
	}
	var err error
	if s.dueOlder, err = s.table.Namespaces(upTo); err != nil {
		return err
	}
	if len(s.dueOlder) > 0 && s.dueOlder[0] == newest {
		s.dueOlder = s.dueOlder[1:]
	}
	if s.dueTimers, err = s.timers.Namespaces(upTo); err != nil {
		return err
	}
	_, err = s.Resume(out)
	return err
}

// Resume implements op.Resumer.
func (s *sessions) Resume(out op.Output) (bool, error) {
	over := func(slots []int32) []int32 { return s.over(slots) }
	err := sweep(s.table, &s.dueOlder, over, out, func(slots []int32) ([]int32, error) { return slots, s.show(slots, out) })
	if err == nil {
		all := func(slots []int32) []int32 { return slots }
		err = sweep(s.timers, &s.dueTimers, all, out, func(slots []int32) ([]int32, error) { return s.look(slots, out) })
	}
	if err == errFull {
		return true, nil
	}
	return false, err
}

// sweep goes through namespaces of a table. It calls f with the rows that pick
// leaves, those of small namespaces together, and removes the rows that f returns.
// Namespaces that are done leave due. Where the output is full it returns errFull,
// and goes on when it is called again.
func sweep(t state.Table, due *[]int64, pick func(slots []int32) []int32, out op.Output, f func(slots []int32) ([]int32, error)) error {
	var slots []int32
	var of []int64 // the namespace of each slot
	flush := func() error {
		gone, err := f(slots)
		if err != nil {
			return err
		}
		for len(gone) > 0 {
			// gone has some of slots in their order.
			for slots[0] != gone[0] {
				slots, of = slots[1:], of[1:]
			}
			n := 1
			for n < len(gone) && slots[n] == gone[n] && of[n] == of[0] {
				n++
			}
			t.Space(of[0]).Delete(gone[:n])
			slots, of, gone = slots[n:], of[n:], gone[n:]
		}
		slots, of = nil, nil
		return nil
	}
	done := 0
	for i, ns := range *due {
		space := t.Space(ns)
		err := space.Scan(fireRows, func(found []int32) error {
			if out.Full() {
				return errFull
			}
			found = pick(found)
			space.Dirty(found) // or they might leave memory before they are looked at
			for _, slot := range found {
				slots, of = append(slots, slot), append(of, ns)
			}
			if len(slots) < fireRows {
				return nil
			}
			done = i
			return flush()
		})
		if err != nil {
			*due = (*due)[done:]
			return err
		}
	}
	*due = nil
	if len(slots) == 0 {
		return nil
	}
	return flush()
}

// over leaves the sessions that have ended.
func (s *sessions) over(slots []int32) []int32 {
	end := s.bounds().end
	out := make([]int32, 0, len(slots))
	for _, slot := range slots {
		if *end.At(slot)-1 <= s.wm {
			out = append(out, slot)
		}
	}
	return out
}

// look goes through timers: newest sessions that are over end, other timers are
// set anew. It returns the timers that have to go.
func (s *sessions) look(timers []int32, out op.Output) (gone []int32, err error) {
	n := len(timers)
	cols := s.timers.Space(0).Keys(timers)
	s.hash = batch.Hash(cols, nil, n, s.hash)
	keys := &state.Keys{Cols: cols, Hash: s.hash, Rows: s.upTo(n)}
	at := make([]int32, n)
	space := s.table.Space(newest)
	if err := space.Lookup(keys, at); err != nil {
		return nil, err
	}
	end := s.bounds().end
	var over, moved []int32
	var to []int64
	for i, slot := range at {
		switch {
		case slot < 0:
			gone = append(gone, timers[i])
		case *end.At(slot)-1 <= s.wm:
			over, gone = append(over, slot), append(gone, timers[i])
		case s.stretch(*end.At(slot)) > s.wm+1:
			to, moved, gone = append(to, s.stretch(*end.At(slot))), append(moved, int32(i)), append(gone, timers[i])
		}
	}
	if err := s.putTimers(keys, to, moved); err != nil || len(over) == 0 {
		return gone, err
	}
	if err := s.show(over, out); err != nil {
		return nil, err
	}
	space.Delete(over)
	return gone, nil
}

// show emits sessions that have ended, and forgets what has a namespace for
// each of them.
func (s *sessions) show(slots []int32, out op.Output) error {
	bounds, space := s.bounds(), s.table.Space(newest)
	if s.Rows {
		for _, slot := range slots {
			if err := s.passOn(*bounds.id.At(slot), *bounds.start.At(slot), *bounds.end.At(slot), out); err != nil {
				return err
			}
		}
		return nil
	}
	for _, d := range s.distinct {
		for _, slot := range slots {
			if err := d.table.Drop(*bounds.id.At(slot)); err != nil {
				return err
			}
		}
	}
	st := space.Cols()
	if s.Updating {
		slots = alive(st[colCount].(*batch.Slab[int64]), slots)
	}
	cols := append(make([]batch.Vector, 0, len(s.Out.Fields)), space.Keys(slots)...)
	for i := range s.aggs {
		a := &s.aggs[i]
		v, err := a.Bound.Agg.Result(st[a.from:a.to], slots)
		if err != nil {
			return err
		}
		cols = append(cols, v)
	}
	starts, ends := make([]int64, len(slots)), make([]int64, len(slots))
	for i, slot := range slots {
		starts[i], ends[i] = *bounds.start.At(slot), *bounds.end.At(slot)
	}
	for _, p := range s.Props {
		cols = append(cols, s.bound(p, starts, ends, s.Out.Fields[len(cols)].Type))
	}
	out.Emit(s.result(cols, len(slots)))
	return nil
}

// bound returns a property of sessions.
func (s *sessions) bound(p window.Source, starts, ends []int64, t types.Type) batch.Vector {
	out := make([]int64, len(starts))
	for i := range out {
		switch p {
		case window.Start:
			out[i] = s.Window.Wall(starts[i])
		case window.End:
			out[i] = s.Window.Wall(ends[i])
		default:
			out[i] = ends[i] - 1
		}
	}
	return window.TimeVector(t, out)
}

// passOn emits the rows of a session, and forgets them.
func (s *sessions) passOn(id, start, end int64, out op.Output) error {
	space := s.stored.Space(id)
	err := space.Scan(fireRows, func(slots []int32) error {
		n, width := len(slots), len(s.In.Fields)
		cols := make([]batch.Vector, 0, len(s.Out.Fields))
		for _, c := range space.Cols()[:width] {
			cols = append(cols, c.Vector(slots))
		}
		starts, ends := make([]int64, n), make([]int64, n)
		for i := range starts {
			starts[i], ends[i] = start, end
		}
		for _, p := range s.Props {
			cols = append(cols, s.bound(p, starts, ends, s.Out.Fields[len(cols)].Type))
		}
		b := s.result(cols, n)
		if s.Updating {
			kinds := space.Cols()[width].(*batch.Slab[int8])
			for _, slot := range slots {
				b.Kinds = append(b.Kinds, types.RowKind(*kinds.At(slot)))
			}
		}
		out.Emit(b)
		return nil
	})
	if err != nil {
		return err
	}
	return s.stored.Drop(id)
}
