package windowagg

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/types"
)

// OnWatermark implements op.WatermarkHandler.
func (e *emitter) OnWatermark(wm int64, out op.Output) (int64, error) {
	if e.Proctime {
		return wm, nil
	}
	return wm, e.advance(wm, out)
}

// OnTimer implements op.TimerHandler.
func (e *emitter) OnTimer(now int64, out op.Output) error {
	if e.Proctime {
		if err := e.pass(max(now-1, e.wm)); err != nil {
			return err
		}
	}
	if err := e.lookAtTimers(now); err != nil {
		return err
	}
	if _, err := e.Resume(out); err != nil {
		return err
	}
	return e.arm()
}

// advance shows the windows that end, and forgets those that take no more rows.
func (e *emitter) advance(wm int64, out op.Output) error {
	if err := e.pass(wm); err != nil {
		return err
	}
	_, err := e.Resume(out)
	return err
}

// pass finds the windows that time has passed. In a restored job the first call
// finds windows again that had ended before; no group in them waits for that.
func (e *emitter) pass(wm int64) error {
	before := e.wm
	e.wm = wm
	all, err := e.Window.DueEnds(e.table, wm)
	if err != nil {
		return err
	}
	for _, end := range all {
		if e.Window.Due(end) > before {
			e.due = append(e.due, end)
		}
		if e.closes(end) <= wm {
			e.gone = append(e.gone, end)
		}
	}
	return nil
}

// lookAtTimers finds the groups that the clock makes due.
func (e *emitter) lookAtTimers(now int64) error {
	if e.timers == nil {
		return nil
	}
	all, err := e.timers.Namespaces(now)
	if err != nil {
		return err
	}
	for _, ns := range all {
		space := e.timers.Space(ns)
		if err := space.Scan(fireRows, func(slots []int32) error { return e.collect(ns, space, slots) }); err != nil {
			return err
		}
		if err := e.timers.Drop(ns); err != nil {
			return err
		}
	}
	return nil
}

// collect puts the groups of some timers into e.work, unless they were shown
// since.
func (e *emitter) collect(ns int64, space state.Space, slots []int32) error {
	cols := space.Keys(slots)
	last := len(cols) - 1
	keys := &state.Keys{Cols: cols[:last], Hash: batch.Hash(cols[:last], nil, len(slots), nil)}
	index := make([]int32, len(slots))
	for i := range index {
		index[i] = int32(i)
	}
	return window.Each(cols[last].(*batch.Fixed[int64]).Values, index, func(end int64, rows []int32) error {
		own := *keys
		own.Rows = rows
		at := make([]int32, len(rows))
		group := e.table.Space(end)
		if err := group.Lookup(&own, at); err != nil {
			return err
		}
		c := e.columns(group)
		var due []int32
		for _, s := range at {
			if s >= 0 && *c.status.At(s) != upToDate && *c.next.At(s) == ns {
				due = append(due, s)
			}
		}
		if len(due) > 0 {
			e.work = append(e.work, shard{end, due})
		}
		return nil
	})
}

// Resume implements op.Resumer: it shows groups as long as there is room.
func (e *emitter) Resume(out op.Output) (bool, error) {
	for len(e.work) > 0 {
		if out.Full() {
			return true, nil
		}
		w := &e.work[0]
		n := min(len(w.slots), fireRows)
		if err := e.show(w.end, w.slots[:n], out); err != nil {
			return false, err
		}
		if w.slots = w.slots[n:]; len(w.slots) == 0 {
			e.work = e.work[1:]
		}
	}
	for len(e.due) > 0 {
		if more, err := e.showAll(e.due[0], waits, out); more || err != nil {
			return more, err
		}
		e.due = e.due[1:]
	}
	for len(e.gone) > 0 {
		if more, err := e.showAll(e.gone[0], waitsLate, out); more || err != nil {
			return more, err
		}
		if err := e.drop(e.gone[0]); err != nil {
			return false, err
		}
		e.gone = e.gone[1:]
	}
	return false, nil
}

// showAll shows the groups of a window that wait for something; more is set if
// the output has no room for the rest of them.
func (e *emitter) showAll(end int64, status int8, out op.Output) (more bool, err error) {
	space := e.table.Space(end)
	err = space.Scan(fireRows, func(slots []int32) error {
		if out.Full() {
			return errFull
		}
		c := e.columns(space)
		var wait []int32
		for _, s := range slots {
			if *c.status.At(s) == status {
				wait = append(wait, s)
				*c.next.At(s) = 0
			}
		}
		return e.show(end, wait, out)
	})
	if err == errFull {
		return true, nil
	}
	return false, err
}

// show emits what is new of groups of a window, and takes back what it has
// emitted of them before.
func (e *emitter) show(end int64, slots []int32, out op.Output) error {
	if len(slots) == 0 {
		return nil
	}
	space := e.table.Space(end)
	st, c := space.Cols(), e.columns(space)
	was, now := make([]batch.Vector, len(e.aggs)), make([]batch.Vector, len(e.aggs))
	for i := range e.aggs {
		a := &e.aggs[i]
		v, err := a.Bound.Agg.Result(st[a.from:a.to], slots)
		if err != nil {
			return err
		}
		was[i], now[i] = c.results[i].Vector(slots), v.WithType(e.resultType(i))
	}
	at, kinds := e.changes(st, c, slots, was, now)
	index := make([]int32, len(slots))
	for i := range index {
		index[i] = int32(i)
	}
	for i := range now {
		c.results[i].Set(slots, now[i], index)
	}
	for _, s := range slots {
		*c.status.At(s) = upToDate
	}
	space.Dirty(slots)
	if len(at) == 0 {
		return nil
	}
	out.Emit(e.changed(space, end, slots, was, now, at, kinds))
	return nil
}

// changes returns the rows to emit: i is what was shown of slots[i], and
// len(slots)+i what is to be shown. It notes what is shown from now on.
func (e *emitter) changes(st []batch.Column, c columns, slots []int32, was, now []batch.Vector) (at []int32, kinds []types.RowKind) {
	n := int32(len(slots))
	for i, s := range slots {
		shown, alive := *c.shown.At(s) != 0, int8(1)
		if e.Updating && *st[0].(*batch.Slab[int64]).At(s) <= 0 {
			alive = 0
		}
		old, next := int32(i), n+int32(i)
		switch {
		case !shown && alive != 0:
			at, kinds = append(at, next), append(kinds, types.Insert)
		case shown && alive == 0:
			at, kinds = append(at, old), append(kinds, types.Delete)
		case shown && differs(was, now, i):
			at, kinds = append(at, old, next), append(kinds, types.UpdateBefore, types.UpdateAfter)
		}
		*c.shown.At(s) = alive
	}
	return at, kinds
}

// changed makes the batch of changes.
func (e *emitter) changed(space state.Space, end int64, slots []int32, was, now []batch.Vector, at []int32, kinds []types.RowKind) *batch.Batch {
	keys := make([]int32, len(at))
	for i, p := range at {
		keys[i] = p % int32(len(slots))
	}
	cols := make([]batch.Vector, 0, len(e.Out.Fields))
	for _, k := range space.Keys(slots) {
		cols = append(cols, batch.Take(k, keys))
	}
	for i := range now {
		both := batch.New(now[i].Type(), 2*len(slots))
		batch.AppendTake(both, was[i], nil)
		batch.AppendTake(both, now[i], nil)
		cols = append(cols, batch.Take(both, at))
	}
	b := e.result(e.bounds(cols, end, len(at)), len(at))
	b.Kinds = kinds
	return b
}
