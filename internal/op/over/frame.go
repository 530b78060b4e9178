package over

import (
	"slices"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/waiting"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/types"
)

// frame has the rows that are still needed: by key and number, or, where rows
// leave by their time, by key, time and number.
type frame struct {
	*over
	table state.Table
	// cols are the columns of the input that are kept.
	cols []int
	// keep is the number of rows that are kept of each key where they are counted.
	keep int64
	hash []uint64
}

// openFrame returns nil where no row is needed again.
func (o *over) openFrame(c *op.Context) (*frame, error) {
	f := &frame{over: o}
	need := func(cols ...int) {
		for _, i := range cols {
			if !slices.Contains(f.cols, i) {
				f.cols = append(f.cols, i)
			}
		}
	}
	for _, call := range o.Calls {
		switch {
		case call.Func == Lag && call.Back > 0:
			need(call.Value)
			f.keep = max(f.keep, call.Back)
		case call.Func == Aggregate && o.Frame.Bounded:
			need(call.Args...)
		}
	}
	if !o.Frame.Bounded && f.keep == 0 {
		return nil, nil
	}
	if o.Frame.Bounded && o.Frame.Rows {
		f.keep = max(f.keep, o.Frame.Preceding+1)
	}
	spec := state.Spec{Name: "frame", Key: append(o.keyTypes(), countType), Columns: append(o.keyNames(), "$number"), Order: 1}
	if o.ranged() {
		spec.Key, spec.Columns, spec.Order = append(spec.Key, countType), slices.Insert(spec.Columns, len(o.Keys), "$time"), 2
	}
	for _, i := range f.cols {
		spec.Value, spec.Columns = append(spec.Value, o.In.Fields[i].Type), append(spec.Columns, o.In.Fields[i].Name)
	}
	var err error
	f.table, err = c.State.Table(spec)
	return f, err
}

func numbers(values []int64) batch.Vector { return &batch.Fixed[int64]{Typ: countType, Values: values} }

// keysOf makes keys of the frame's table: those of rows of a chunk, and more
// columns, by position.
func (f *frame) keysOf(c *chunk, rows []int32, more ...batch.Vector) *state.Keys {
	cols := append(c.keys.Cols[:len(c.keys.Cols):len(c.keys.Cols)], more...)
	f.hash = batch.Hash(cols, rows, c.Size(), f.hash)
	return &state.Keys{Cols: cols, Hash: f.hash, Group: c.keys.Hash, Rows: rows}
}

// add keeps the rows of a chunk.
func (f *frame) add(c *chunk) error {
	order := []batch.Vector{numbers(c.numbers)}
	if f.ranged() {
		order = []batch.Vector{numbers(c.times), order[0]}
	}
	keys := f.keysOf(c, c.keys.Rows, order...)
	space := f.table.Space(0)
	slots := make([]int32, c.Size())
	if _, err := space.Upsert(keys, slots); err != nil {
		return err
	}
	for i, v := range f.cols {
		space.Cols()[i].Set(slots, c.Cols[v], keys.Rows)
	}
	space.Dirty(slots)
	return nil
}

// leavers are rows of the frame's table, and the chunk's rows for which they are
// looked at.
type leavers struct {
	space state.Space
	slots []int32
	// of has for each row the position of the chunk's row, index the opposite, -1 for
	// none.
	of, index []int32
	// rows has the columns that are kept and the keys, as rows that are taken back.
	rows *batch.Batch
	keys *state.Keys
}

// before finds the rows that are back rows before those of a chunk. For back 0 they
// are the rows themselves.
func (f *frame) before(c *chunk, back int64) (*leavers, error) {
	l := &leavers{space: f.table.Space(0), index: make([]int32, c.Size())}
	at := make([]int64, c.Size())
	for i, n := range c.numbers {
		at[i], l.index[i] = n-back, -1
		if at[i] > 0 {
			l.of = append(l.of, int32(i))
		}
	}
	if len(l.of) == 0 {
		return l, nil
	}
	found := make([]int32, len(l.of))
	if err := l.space.Lookup(f.keysOf(c, l.of, numbers(at)), found); err != nil {
		return nil, err
	}
	of := l.of[:0]
	for i, s := range found {
		if s >= 0 {
			l.index[l.of[i]] = int32(len(of))
			of, l.slots = append(of, l.of[i]), append(l.slots, s)
		}
	}
	l.of = of
	return l, nil
}

// column returns a column of the rows.
func (f *frame) column(space state.Space, slots []int32, col int) batch.Vector {
	return space.Cols()[slices.Index(f.cols, col)].Vector(slots)
}

// outlived finds the rows that are not kept any more once those of a chunk are
// done; nil where rows leave by their time.
func (f *frame) outlived(c *chunk) (*leavers, error) {
	if f.ranged() {
		return nil, nil
	}
	l, err := f.before(c, f.keep)
	if err == nil && f.Frame.Bounded && len(l.of) > 0 {
		l.rows, l.keys = f.taken(c, l.space, l.slots, l.of)
	}
	return l, err
}

// taken makes rows of the frame's table rows that are taken back, of the keys of
// rows of the chunk.
func (f *frame) taken(c *chunk, space state.Space, slots, of []int32) (*batch.Batch, *state.Keys) {
	n := len(slots)
	cols := make([]batch.Vector, len(f.In.Fields))
	for i, v := range f.cols {
		cols[v] = space.Cols()[i].Vector(slots)
	}
	keys := &state.Keys{Cols: make([]batch.Vector, len(f.Keys)), Rows: batch.All(n), Hash: make([]uint64, n)}
	for i := range f.Keys {
		keys.Cols[i] = batch.Take(c.keys.Cols[i], of)
	}
	for i, p := range of {
		keys.Hash[i] = c.keys.Hash[p]
	}
	b := batch.Of(f.In, cols, n)
	b.Kinds = slices.Repeat([]types.RowKind{types.Delete}, n)
	return b, keys
}

// forget removes the rows.
func (l *leavers) forget() {
	if l != nil && len(l.slots) > 0 {
		l.space.Delete(l.slots)
	}
}

// leave takes back the rows that are no longer in the frames of rows.
func (c *chunk) leave(rows []int32) error {
	switch {
	case !c.Frame.Bounded:
		return nil
	case c.ranged():
		return c.leaveByTime(rows)
	case c.gone.rows == nil:
		return nil
	}
	var gone, slots []int32
	for _, p := range rows {
		if i := c.gone.index[p]; i >= 0 {
			gone, slots = append(gone, i), append(slots, c.slots[p])
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return c.fold(c.gone.rows, c.gone.keys, gone, slots)
}

// firsts returns the first row of each key among rows, and for each row which of
// these is its own.
func (c *chunk) firsts(rows []int32) (first, which []int32) {
	if c.singly() {
		return rows, nil
	}
	seen := map[int32]int32{}
	which = make([]int32, len(rows))
	for i, p := range rows {
		k, again := seen[c.slots[p]]
		if !again {
			k = int32(len(first))
			seen[c.slots[p]] = k
			first = append(first, p)
		}
		which[i] = k
	}
	return first, which
}

// earliest are, by position, the first times that are still in the frames of the
// rows.
func (c *chunk) earliest() []int64 {
	out := make([]int64, len(c.times))
	for i, t := range c.times {
		if out[i] = t - c.Frame.Preceding; out[i] > t {
			out[i] = op.MinWatermark
		}
	}
	return out
}

// leaveByTime takes back the rows whose time is before the frames of rows, and
// forgets them.
func (c *chunk) leaveByTime(rows []int32) error {
	first, _ := c.firsts(rows)
	prefix := *c.keys
	prefix.Rows = first
	space := c.frame.table.Space(0)
	q := &state.Ranges{Prefix: &prefix, To: []batch.Vector{numbers(c.earliest())}, ToOpen: true}
	return space.Range(q, batch.DefaultSize, func(of, slots []int32) error {
		at, groups := make([]int32, len(of)), make([]int32, len(of))
		for i, k := range of {
			at[i], groups[i] = first[k], c.slots[first[k]]
		}
		b, keys := c.frame.taken(c, space, slots, at)
		if err := c.fold(b, keys, keys.Rows, groups); err != nil {
			return err
		}
		space.Delete(slots)
		return nil
	})
}

// expect notes that the keys of rows may be forgotten some time after their rows.
// last are the times of their rows before.
func (c *chunk) expect(last *batch.Slab[int64]) error {
	var rows []int32
	var ends []int64
	for i, s := range c.slots {
		end := waiting.Stretch(c.times[i])
		if last.Null(s) || waiting.Stretch(*last.At(s)) != end {
			rows, ends = append(rows, int32(i)), append(ends, end)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	own := *c.keys
	return window.Each(ends, rows, func(end int64, rows []int32) error {
		own.Rows = rows
		_, err := c.expiry.Space(end).Upsert(&own, make([]int32, len(rows)))
		return err
	})
}

// expire forgets keys whose frames are over.
func (o *over) expire() error {
	if o.expiry == nil || o.now < op.MinWatermark+o.Frame.Preceding {
		return nil
	}
	upTo := o.now - o.Frame.Preceding
	over, err := o.expiry.Namespaces(upTo)
	if err != nil {
		return err
	}
	for _, end := range over {
		space := o.expiry.Space(end)
		err := space.Scan(batch.DefaultSize, func(slots []int32) error { return o.forget(space.Keys(slots), len(slots), upTo) })
		if err != nil {
			return err
		}
		if err := o.expiry.Drop(end); err != nil {
			return err
		}
	}
	return nil
}

// forget removes those of some keys that had no row behind a time.
func (o *over) forget(cols []batch.Vector, n int, upTo int64) error {
	keys := &state.Keys{Cols: cols, Hash: batch.Hash(cols, nil, n, nil), Rows: batch.All(n)}
	groups := o.groups.Space(0)
	found := make([]int32, n)
	if err := groups.Lookup(keys, found); err != nil {
		return err
	}
	last := groups.Cols()[o.at.last].(*batch.Slab[int64])
	var gone, slots []int32
	for i, s := range found {
		if s >= 0 && *last.At(s) <= upTo {
			gone, slots = append(gone, int32(i)), append(slots, s)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	groups.Delete(slots)
	keys.Rows = gone
	tables := []state.Table{o.frame.table}
	for _, s := range o.sets {
		tables = append(tables, s.table)
	}
	for _, t := range tables {
		if err := t.Space(0).DeleteRange(&state.Ranges{Prefix: keys}); err != nil {
			return err
		}
	}
	return nil
}
