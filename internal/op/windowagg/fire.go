package windowagg

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/internal/state"
)

// OnWatermark implements op.WatermarkHandler.
func (w *windowAgg) OnWatermark(wm int64, out op.Output) (int64, error) {
	if w.Proctime {
		return wm, nil
	}
	return wm, w.advance(wm, out)
}

// OnTimer implements op.TimerHandler: a window over processing time is closed
// once the clock shows its end.
func (w *windowAgg) OnTimer(now int64, out op.Output) error {
	if err := w.advance(max(now-1, w.wm), out); err != nil {
		return err
	}
	return w.arm()
}

// advance fires the windows that time has closed.
func (w *windowAgg) advance(wm int64, out op.Output) error {
	if w.slide != nil && w.wm == op.MinWatermark {
		if err := w.slide.restored(wm); err != nil {
			return err
		}
	}
	w.wm = wm
	if w.slide == nil {
		var err error
		if w.due, err = w.Window.DueEnds(w.table, wm); err != nil {
			return err
		}
	}
	_, err := w.Resume(out)
	return err
}

// arm asks for a timer for the next window that is to be closed by the clock.
func (w *windowAgg) arm() error {
	end, ok, err := w.first()
	if err != nil || !ok {
		return err
	}
	if at := w.Window.Due(end) + 1; at != w.armed || at <= w.ctx.Now() {
		w.armed = at
		w.ctx.TimerAt(at)
	}
	return nil
}

// first returns the end of the next window that will fire.
func (w *windowAgg) first() (end int64, ok bool, err error) {
	if w.slide != nil {
		return w.slide.first()
	}
	return w.table.First()
}

// errFull stops a scan when the output has no room left.
var errFull = window.ErrFull

// Resume implements op.Resumer: it fires windows as long as there is room.
func (w *windowAgg) Resume(out op.Output) (bool, error) {
	if w.slide != nil {
		return w.slide.resume(out)
	}
	return window.Fire(&w.due, out, func(end int64) error { return w.fire(end, out) })
}

// fireRows is the number of rows in a batch of results.
const fireRows = 2048

// fire emits a window's rows and drops the window. If the output fills up it
// returns errFull; what it has emitted is gone then.
func (w *windowAgg) fire(end int64, out op.Output) error {
	space := w.table.Space(end)
	err := space.Drain(fireRows, func(slots []int32) error {
		if out.Full() {
			return errFull
		}
		if w.Updating {
			slots = alive(space.Cols()[0].(*batch.Slab[int64]), slots)
		}
		st := space.Cols()
		return w.emit(space, end, slots, out, func(i int) (batch.Vector, error) {
			a := &w.aggs[i]
			return a.Bound.Agg.Result(st[a.from:a.to], slots)
		})
	})
	if err != nil {
		return err
	}
	return w.drop(end)
}

// drop forgets a namespace.
func (w *windowAgg) drop(end int64) error {
	for _, s := range w.distinct {
		if err := s.table.Drop(end); err != nil {
			return err
		}
	}
	return w.table.Drop(end)
}

// emit makes the rows of groups of a window. result returns the values of
// aggregate i.
func (w *windowAgg) emit(space state.Space, end int64, slots []int32, out op.Output, result func(i int) (batch.Vector, error)) error {
	cols := make([]batch.Vector, 0, len(w.Out.Fields))
	cols = append(cols, space.Keys(slots)...)
	for i := range w.aggs {
		v, err := result(i)
		if err != nil {
			return err
		}
		cols = append(cols, v)
	}
	out.Emit(w.result(w.bounds(cols, end, len(slots)), len(slots)))
	return nil
}

// bounds appends to the columns of n rows those of their window.
func (c *Config) bounds(cols []batch.Vector, end int64, n int) []batch.Vector {
	for _, p := range c.Props {
		cols = append(cols, c.Window.Column(c.Out.Fields[len(cols)].Type, p, end, n))
	}
	return cols
}

// result makes rows of the output of its columns.
func (c *Config) result(cols []batch.Vector, n int) *batch.Batch {
	for i, f := range c.Out.Fields {
		cols[i] = cols[i].WithType(f.Type)
	}
	return batch.Of(c.Out, cols, n)
}

// alive leaves out groups whose rows were all taken back.
func alive(count *batch.Slab[int64], slots []int32) []int32 {
	out := make([]int32, 0, len(slots))
	for _, s := range slots {
		if *count.At(s) > 0 {
			out = append(out, s)
		}
	}
	return out
}
