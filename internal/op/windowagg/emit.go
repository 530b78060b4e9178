package windowagg

import (
	"bytes"
	"math"
	"slices"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/types"
)

// Emit says when a window shows its results besides at its end. What it has
// shown it takes back when it shows something else: the output is updating.
type Emit struct {
	// Early is the delay, in ms, after which rows show in a window that is open,
	// Late that after its end; 0 is with each batch, Never is not before the end,
	// or not at all. The clock decides.
	Early, Late int64
	// Lateness is how long, in ms of event time, a window takes rows after its
	// end. It is 0 where Late is Never.
	Lateness int64
}

// Never is the delay of what does not happen.
const Never = -1

// emitter is the operator for windows that show results early, or again after
// their end.
//
// A window is a namespace until it takes no more rows, also where windows
// overlap. Each of its groups has, behind the accumulators, the results that were
// shown, and whether there are any; and what it waits for.
type emitter struct {
	*windowAgg
	// timers has a namespace for each time at which groups want to be shown, with
	// their keys and the ends of their windows; nil without delays.
	timers state.Table
	// first is the index of the emitter's first column in the table of windows.
	first int
	// work are groups to be shown at once, gone are the ends of windows that take
	// no more rows.
	work []shard
	gone []int64
}

// shard is some groups of a window.
type shard struct {
	end   int64
	slots []int32
}

// The emitter's columns. The shown results follow them.
const (
	// colStatus says what the group waits for.
	colStatus = iota
	// colShown is 1 if results were shown.
	colShown
	// colNext is the time at which the group is, or was, to be shown.
	colNext
	emitCols
)

// What a group waits for.
const (
	upToDate int8 = iota
	// waits is for the end of its window, or its time before that.
	waits
	// waitsLate is for its time, after the end of its window.
	waitsLate
	// atOnce is within one event only.
	atOnce
)

// Open implements op.Opener.
func (e *emitter) Open(c *op.Context) error {
	e.ctx, e.late = c, e.newLate(c)
	spec := state.Spec{Name: "windows", Key: e.keyTypes()}
	if e.Updating {
		spec.Value = append(spec.Value, types.Of(types.BigInt).NotNull())
	}
	var err error
	for _, a := range e.Aggs {
		p := placed{Agg: a, from: len(spec.Value)}
		if a.Distinct {
			if p.set, err = e.distinctSet(c, a); err != nil {
				return err
			}
		}
		spec.Value = append(spec.Value, a.Bound.State...)
		p.to = len(spec.Value)
		e.aggs = append(e.aggs, p)
	}
	e.first = len(spec.Value)
	tiny := types.Of(types.TinyInt).NotNull()
	spec.Value = append(spec.Value, tiny, tiny, types.Of(types.BigInt).NotNull())
	for i := range e.aggs {
		spec.Value = append(spec.Value, e.resultType(i))
	}
	if e.table, err = c.State.Table(spec); err != nil {
		return err
	}
	if e.Emit.Early > 0 || e.Emit.Late > 0 {
		spec := state.Spec{Name: "emits", Key: append(e.keyTypes(), types.Of(types.BigInt).NotNull())}
		if e.timers, err = c.State.Table(spec); err != nil {
			return err
		}
	}
	return e.arm()
}

func (e *emitter) resultType(i int) types.Type { return e.Out.Fields[len(e.Keys)+i].Type }

// arm asks for a call at the next time at which the clock makes something due.
func (e *emitter) arm() error {
	if e.Proctime {
		if err := e.windowAgg.arm(); err != nil {
			return err
		}
	}
	if e.timers == nil {
		return nil
	}
	at, ok, err := e.timers.First()
	if err == nil && ok {
		e.ctx.TimerAt(at)
	}
	return err
}

// columns are the emitter's own.
type columns struct {
	status, shown *batch.Slab[int8]
	next          *batch.Slab[int64]
	results       []batch.Column
}

func (e *emitter) columns(space state.Space) columns {
	c := space.Cols()[e.first:]
	return columns{c[colStatus].(*batch.Slab[int8]), c[colShown].(*batch.Slab[int8]), c[colNext].(*batch.Slab[int64]), c[emitCols:]}
}

// OnBatch implements op.Operator.
func (e *emitter) OnBatch(_ int, b *batch.Batch, out op.Output) error {
	if err := e.pairs(b); err != nil {
		return err
	}
	e.late.Flush(b, e.wm, out)
	if len(e.rows) == 0 {
		return nil
	}
	keys := &state.Keys{Cols: make([]batch.Vector, len(e.Keys))}
	for i, k := range e.Keys {
		keys.Cols[i] = b.Cols[k]
	}
	e.hash = batch.Hash(keys.Cols, b.Sel, b.Size(), e.hash)
	keys.Hash = e.hash
	err := window.Each(e.ends, e.rows, func(end int64, rows []int32) error {
		keys.Rows = rows
		slots, _, err := e.add(end, b, keys)
		if err != nil {
			return err
		}
		return e.touch(end, b.Size(), keys, slots)
	})
	if err != nil {
		return err
	}
	if err := e.arm(); err != nil {
		return err
	}
	_, err = e.Resume(out)
	return err
}

// pairs finds the windows of each row that still take it. It leaves the rows in
// e.rows, once for each window, and the ends of the windows in e.ends.
func (e *emitter) pairs(b *batch.Batch) error {
	e.rows, e.ends = e.rows[:0], e.ends[:0]
	times, err := e.timesOf(b)
	if err != nil {
		return err
	}
	for i := range b.Rows() {
		p := b.At(i)
		first, last, step := times[p], times[p], int64(1)
		if !e.Attached {
			slice := e.Window.SliceOf(e.Window.Wall(times[p]))
			first, last, step = e.Window.First(slice), e.Window.Last(slice), e.Window.Step()
		}
		had := len(e.rows)
		for end := first; end <= last; end += step {
			if e.closes(end) > e.wm {
				e.rows, e.ends = append(e.rows, int32(p)), append(e.ends, end)
			}
		}
		if had == len(e.rows) && first <= last {
			e.late.Add(int32(p), e.Window.Start(last), last, e.Window.Due(last))
		}
	}
	return nil
}

// timesOf returns the times of a batch's rows, by position.
func (e *emitter) timesOf(b *batch.Batch) ([]int64, error) {
	if e.Proctime && !e.Attached {
		now := max(e.ctx.Now(), e.wm+1)
		return slices.Repeat([]int64{now}, b.Size()), nil
	}
	col := b.Cols[e.Time]
	valid := col.Validity()
	for i := range b.Rows() {
		if p := b.At(i); valid.IsNull(p) {
			return nil, e.nullTime(p)
		}
	}
	return window.Times(col), nil
}

// closes returns the watermark with which a window takes no more rows.
func (e *emitter) closes(end int64) int64 {
	due := e.Window.Due(end)
	if due > math.MaxInt64-e.Emit.Lateness {
		return math.MaxInt64
	}
	return due + e.Emit.Lateness
}

// touch is told that groups of a window, at the given slots, which may repeat,
// have got rows. It decides when they are shown.
func (e *emitter) touch(end int64, size int, keys *state.Keys, slots []int32) error {
	space := e.table.Space(end)
	c := e.columns(space)
	delay, status := e.Emit.Early, waits
	if e.Window.Due(end) <= e.wm {
		delay, status = e.Emit.Late, waitsLate
	}
	switch {
	case delay == Never:
		for _, s := range slots {
			*c.status.At(s) = status
		}
	case delay == 0:
		now := make([]int32, 0, len(slots))
		for _, s := range slots {
			if *c.status.At(s) != atOnce {
				*c.status.At(s) = atOnce
				now = append(now, s)
			}
		}
		e.work = append(e.work, shard{end, now})
	default:
		return e.postpone(end, size, keys, slots, c, status, delay)
	}
	space.Dirty(slots)
	return nil
}

// postpone lets groups be shown after a delay.
func (e *emitter) postpone(end int64, size int, keys *state.Keys, slots []int32, c columns, status int8, delay int64) error {
	now := e.ctx.Now()
	var at []int64
	var rows []int32
	for i, s := range slots {
		if *c.status.At(s) == status {
			continue
		}
		*c.status.At(s) = status
		next := c.next.At(s)
		if *next = nextTime(*next, now, delay); *next > now {
			at, rows = append(at, *next), append(rows, keys.Rows[i])
		}
	}
	e.table.Space(end).Dirty(slots)
	if len(rows) == 0 {
		return nil
	}
	own := &state.Keys{Cols: append(slices.Clip(keys.Cols), constant(end, size)), Group: keys.Hash}
	own.Hash = batch.Hash(own.Cols, rows, size, nil)
	found := make([]int32, len(rows))
	return window.Each(at, rows, func(ns int64, rows []int32) error {
		own.Rows = rows
		_, err := e.timers.Space(ns).Upsert(own, found[:len(rows)])
		return err
	})
}

// nextTime returns when a group is shown next, if it was to be shown at a time
// before, or never (0): in whole delays from there. Long delays are cut to a
// hundredth or less, so that timers gather.
func nextTime(before, now, delay int64) int64 {
	if before != 0 {
		return before + (max(now-before, 0)/delay+1)*delay
	}
	grain := int64(1)
	for grain*10_000 <= delay {
		grain *= 10
	}
	return (now + delay) / grain * grain
}

// constant is a column of one value.
func constant(v int64, n int) *batch.Fixed[int64] {
	return &batch.Fixed[int64]{Typ: types.Of(types.BigInt).NotNull(), Values: slices.Repeat([]int64{v}, n)}
}

// differs reports whether results i differ.
func differs(was, now []batch.Vector, i int) bool {
	var a, b []byte
	for k := range was {
		a, b = batch.AppendValue(a[:0], was[k], i), batch.AppendValue(b[:0], now[k], i)
		if !bytes.Equal(a, b) {
			return true
		}
	}
	return false
}
