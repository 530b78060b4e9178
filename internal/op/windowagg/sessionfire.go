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
	first, ok, err := s.timers.First()
	if err != nil || !ok || first > upTo {
		return err
	}
	if s.dueTimers, err = s.timers.Namespaces(upTo); err != nil {
		return err
	}
	_, err = s.Resume(out)
	return err
}

// Resume implements op.Resumer.
func (s *sessions) Resume(out op.Output) (bool, error) {
	for len(s.dueTimers) > 0 {
		err := s.look(s.dueTimers[0], out)
		if err == errFull {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		s.dueTimers = s.dueTimers[1:]
	}
	return false, nil
}

// look goes through the timers of a stretch. What it has done it removes, so
// that it can begin anew after the output was full.
func (s *sessions) look(ns int64, out op.Output) error {
	timers := s.timers.Space(ns)
	return timers.Scan(fireRows, func(slots []int32) error {
		if out.Full() {
			return errFull
		}
		n := len(slots)
		cols := timers.Keys(slots)
		keys := &state.Keys{Cols: cols, Hash: batch.Hash(cols, nil, n, nil)}
		for i := range n {
			keys.Rows = append(keys.Rows, int32(i))
		}
		at := make([]int32, n)
		if err := s.table.Space(0).Lookup(keys, at); err != nil {
			return err
		}
		bounds := s.bounds()
		var over, gone, moved []int32
		var to []int64
		for i, slot := range at {
			switch {
			case slot < 0:
				gone = append(gone, slots[i])
			case *bounds.more.At(slot) > 0:
				stays, err := s.several(keys, int32(i), ns, out)
				if err != nil {
					return err
				}
				if !stays {
					gone = append(gone, slots[i])
				}
			case *bounds.end.At(slot)-1 <= s.wm:
				over, gone = append(over, slot), append(gone, slots[i])
			default:
				if next := s.stretch(*bounds.end.At(slot)); next != ns {
					to, moved, gone = append(to, next), append(moved, int32(i)), append(gone, slots[i])
				}
			}
		}
		if err := s.putTimers(keys, to, moved); err != nil {
			return err
		}
		if err := s.end(s.table.Space(0), over, out); err != nil {
			return err
		}
		timers.Delete(gone)
		return nil
	})
}

// several looks at a key with more than one session: row i of keys. It reports
// whether the timer in stretch ns is still needed.
func (s *sessions) several(keys *state.Keys, i int32, ns int64, out op.Output) (stays bool, err error) {
	own := *keys
	own.Rows = []int32{i}
	open, err := s.open(&own)
	if err != nil {
		return false, err
	}
	bounds := s.bounds()
	for k := len(open) - 1; k >= 0; k-- {
		end := *bounds.end.At(open[k])
		if end-1 > s.wm {
			if next := s.stretch(end); next == ns {
				stays = true
			} else if err := s.putTimers(&own, []int64{next}, own.Rows); err != nil {
				return false, err
			}
			continue
		}
		if err := s.show(s.table.Space(int64(k)), open[k:k+1], out); err != nil {
			return false, err
		}
		if open, err = s.remove(open, k); err != nil {
			return false, err
		}
	}
	return stays, nil
}

// end emits and forgets the only sessions of their keys.
func (s *sessions) end(space state.Space, slots []int32, out op.Output) error {
	if len(slots) == 0 {
		return nil
	}
	if err := s.show(space, slots, out); err != nil {
		return err
	}
	space.Delete(slots)
	return nil
}

// show emits sessions that have ended, and forgets what has a namespace for
// each of them.
func (s *sessions) show(space state.Space, slots []int32, out op.Output) error {
	bounds := s.bounds()
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
	for i, f := range s.Out.Fields {
		cols[i] = cols[i].WithType(f.Type)
	}
	out.Emit(batch.Of(s.Out, cols, len(slots)))
	return nil
}

// bound returns a property of sessions.
func (s *sessions) bound(p Prop, starts, ends []int64, t types.Type) batch.Vector {
	out := make([]int64, len(starts))
	for i := range out {
		switch p {
		case Start:
			out[i] = s.Window.Wall(starts[i])
		case End:
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
		for i, f := range s.Out.Fields {
			cols[i] = cols[i].WithType(f.Type)
		}
		b := batch.Of(s.Out, cols, n)
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
