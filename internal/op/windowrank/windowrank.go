// Package windowrank keeps the best rows of each key and window, in an order, and
// gives them when the watermark closes the window.
//
// A window is a namespace. Where one row of a key is kept, as for deduplication,
// it is the key's row of one table (see first.go). Where several are, a table
// has the rows in their order, and another one what is known of each key: how many
// there are, and which is the worst, so that most rows are refused at a glance
// (see best.go). Never are more rows kept than come out. Where all rows that are
// the best count, they are numbered (see ties.go).
package windowrank

import (
	"bytes"
	"slices"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/types"
)

// Sort is a column to sort by.
type Sort struct {
	Col       int
	Direction batch.Direction
}

// Config describes the operator.
type Config struct {
	// Out are the columns of the input, then the rank if Numbered is set.
	In, Out *types.Schema
	// Keys are the columns by which rows are ranked apart, besides their window.
	Keys []int
	// End is the column of the window's end; Sources has the source of each column.
	End     int
	Sources []window.Source
	// Order is the order of the ranks. Of equal rows the one that came first is
	// the better one; the last one if LastWins is set, which needs To to be 1.
	Order    []Sort
	LastWins bool
	// From and To are the ranks to give, from 1.
	From, To int64
	Numbered bool
	// Ties gives, in place of ranks, all rows that are the first in Order, which
	// is one column; a row that is NULL there has no part. TakesLate then also gives
	// rows for windows that are over, if they are as good as the best was; TTL is how
	// long that is known, in ms of processing time; 0 is for good.
	Ties, TakesLate bool
	TTL             int64
	Window          window.Assigner
	// Marked is the type of the event time that the watermark belongs to.
	Marked types.Type
	Taps   []window.LateTap
}

// New returns the operator.
func New(c Config) op.Operator {
	r := &rank{Config: c, wm: op.MinWatermark}
	switch {
	case c.Ties:
		r.ties = &ties{rank: r}
		r.kept = r.ties
	case c.To == 1:
		r.kept = &first{rank: r}
	default:
		r.kept = &best{rank: r}
	}
	return r
}

// kept are the rows that are kept.
type kept interface {
	open(s state.Store) error
	// add offers the rows of a window.
	add(end int64, b *batch.Batch, keys *state.Keys) error
	// table has the rows: the keys, then what is kept of the order, then the
	// other columns.
	table() state.Table
	// column returns a column of rows.
	column(c int, space state.Space, slots []int32) batch.Vector
	// live returns those of the table's rows that come out.
	live(end int64, space state.Space, slots []int32) ([]int32, error)
	// drop forgets a window.
	drop(end int64) error
}

type rank struct {
	Config
	ctx    *op.Context
	inTime window.Attached
	kept   kept
	// ties is kept where Ties is set.
	ties *ties
	// values are the columns that are neither keys nor known by the window.
	values []int
	wm     int64
	// due are the windows that wait to be fired.
	due []int64
	out numbering

	enc         encoded
	hash, group []uint64
	rowHash     []uint64
	slots       []int32
}

// Open implements op.Opener.
func (r *rank) Open(c *op.Context) error {
	r.ctx = c
	r.inTime = window.Attached{
		Assigner: &r.Window, End: r.End, Late: window.NewLate(c, r.In, r.Marked, r.Window.Zone, r.Taps),
	}
	for i := range r.In.Fields {
		if r.Sources[i] == window.Row && r.keyOf(i) < 0 {
			r.values = append(r.values, i)
		}
	}
	return r.kept.open(c.State)
}

// keyOf returns the place of a column among the keys, or -1.
func (r *rank) keyOf(c int) int {
	for i, k := range r.Keys {
		if k == c {
			return i
		}
	}
	return -1
}

// keyNames are the names of the key columns, followed by more.
func (r *rank) keyNames(more ...string) []string {
	var out []string
	for _, k := range r.Keys {
		out = append(out, r.In.Fields[k].Name)
	}
	return append(out, more...)
}

func (r *rank) types(cols []int) []types.Type {
	out := make([]types.Type, len(cols))
	for i, c := range cols {
		out[i] = r.In.Fields[c].Type
	}
	return out
}

// OnBatch implements op.Operator.
func (r *rank) OnBatch(_ int, b *batch.Batch, out op.Output) error {
	closed := r.wm
	if r.TakesLate {
		closed = op.MinWatermark
	}
	rows, ends := r.inTime.InTime(b, closed, nil)
	if len(rows) > 0 {
		cols := make([]batch.Vector, len(r.Keys))
		for i, k := range r.Keys {
			cols[i] = b.Cols[k]
		}
		keys := &state.Keys{Cols: cols}
		r.hash = batch.Hash(cols, b.Sel, b.Size(), r.hash)
		keys.Hash = r.hash
		if len(r.Keys) == 0 {
			// Without keys, rows travel by their window.
			r.group = batch.Hash([]batch.Vector{b.Cols[r.End]}, b.Sel, b.Size(), r.group)
			keys.Group = r.group
		}
		err := window.Each(ends, rows, func(end int64, rows []int32) error {
			keys.Rows = rows
			if r.TakesLate && r.Window.Due(end) <= r.wm {
				return r.ties.late(end, b, keys, out)
			}
			return r.kept.add(end, b, keys)
		})
		if err != nil {
			return err
		}
	}
	r.inTime.Late.Flush(b, r.wm, out)
	return nil
}

// keysOf makes keys of columns of n rows of a window.
func (r *rank) keysOf(end int64, cols []batch.Vector, n int) *state.Keys {
	keys := &state.Keys{Cols: cols, Hash: batch.Hash(cols, nil, n, nil), Rows: batch.All(n)}
	if len(r.Keys) == 0 {
		own := []batch.Vector{window.TimeVector(r.In.Fields[r.End].Type, []int64{end})}
		keys.Group = slices.Repeat(batch.Hash(own, nil, 1, nil), n)
	}
	return keys
}

// rowKeys makes keys of rows of a batch, whose keys are known, and of more
// columns, which have the rows alone.
func (r *rank) rowKeys(keys *state.Keys, rows []int32, more ...batch.Vector) *state.Keys {
	n := len(rows)
	own := &state.Keys{Rows: batch.All(n), Group: make([]uint64, n)}
	groups := keys.Group
	if groups == nil {
		groups = keys.Hash
	}
	for i, p := range rows {
		own.Group[i] = groups[p]
	}
	for _, v := range keys.Cols {
		own.Cols = append(own.Cols, batch.Take(v, rows))
	}
	own.Cols = append(own.Cols, more...)
	r.rowHash = batch.Hash(own.Cols, nil, n, r.rowHash)
	own.Hash = r.rowHash
	return own
}

// keep stores rows of a batch under their keys.
func (r *rank) keep(space state.Space, b *batch.Batch, keys *state.Keys, rows []int32) error {
	at := make([]int32, len(rows))
	if _, err := space.Upsert(keys, at); err != nil {
		return err
	}
	for i, v := range r.values {
		space.Cols()[i].Set(at, b.Cols[v], rows)
	}
	space.Dirty(at)
	return nil
}

// room returns scratch for n slots.
func (r *rank) room(n int) []int32 {
	if cap(r.slots) < n {
		r.slots = make([]int32, max(n, batch.DefaultSize))
	}
	return r.slots[:n]
}

// encoded has the places of rows in the order: bytes that bytes.Compare compares.
type encoded struct {
	data []byte
	ends []int32
}

// encode returns the places of rows, until it is called again.
func (r *rank) encode(b *batch.Batch, rows []int32) *encoded {
	e := &r.enc
	e.data, e.ends = e.data[:0], append(e.ends[:0], 0)
	for _, p := range rows {
		for _, o := range r.Order {
			e.data = batch.AppendSortKey(e.data, b.Cols[o.Col], int(p), o.Direction)
		}
		e.ends = append(e.ends, int32(len(e.data)))
	}
	return e
}

// at returns the place of the i-th row.
func (e *encoded) at(i int32) []byte { return e.data[e.ends[i]:e.ends[i+1]] }

// OnWatermark implements op.WatermarkHandler.
func (r *rank) OnWatermark(wm int64, out op.Output) (int64, error) {
	r.wm = wm
	var err error
	if r.due, err = r.Window.DueEnds(r.kept.table(), wm); err != nil {
		return 0, err
	}
	_, err = r.Resume(out)
	return wm, err
}

// outRows is the number of rows in a batch of results.
const outRows = 2048

// Resume implements op.Resumer: it fires windows as long as there is room.
func (r *rank) Resume(out op.Output) (bool, error) {
	return window.Fire(&r.due, out, func(end int64) error {
		if err := r.fire(end, out); err != nil {
			return err
		}
		r.out = numbering{}
		return nil
	})
}

// fire emits a window's rows and drops the window. Rows that were emitted are
// forgotten at once, so that it can go on where the output has filled up.
func (r *rank) fire(end int64, out op.Output) error {
	space := r.kept.table().Space(end)
	err := space.Scan(outRows, func(slots []int32) error {
		live, err := r.kept.live(end, space, slots)
		if err != nil {
			return err
		}
		ranks := r.out.number(space.Keys(live)[:len(r.Keys)], len(live))
		r.emit(space, end, live, ranks, out)
		space.Delete(slots)
		if out.Full() {
			return window.ErrFull
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.kept.drop(end)
}

// numbering numbers rows that come key by key, in order.
type numbering struct {
	key, next []byte
	last      int64
}

// number returns the ranks of n rows.
func (m *numbering) number(keys []batch.Vector, n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		m.next = m.next[:0]
		for _, k := range keys {
			m.next = batch.AppendKey(m.next, k, i)
		}
		if !bytes.Equal(m.key, m.next) {
			m.key, m.next, m.last = m.next, m.key, 0
		}
		m.last++
		out[i] = m.last
	}
	return out
}

// emit gives the rows whose ranks are asked for.
func (r *rank) emit(space state.Space, end int64, slots []int32, ranks []int64, out op.Output) {
	if r.From > 1 {
		from, good := slots, ranks
		slots, ranks = nil, nil
		for i, n := range good {
			if n >= r.From {
				slots, ranks = append(slots, from[i]), append(ranks, n)
			}
		}
	}
	if len(slots) == 0 {
		return
	}
	cols := make([]batch.Vector, 0, len(r.Out.Fields))
	var keys []batch.Vector
	for c, f := range r.In.Fields {
		switch k := r.keyOf(c); {
		case r.Sources[c] != window.Row:
			cols = append(cols, r.Window.Column(f.Type, r.Sources[c], end, len(slots)))
		case k >= 0:
			if keys == nil {
				keys = space.Keys(slots)
			}
			cols = append(cols, keys[k].WithType(f.Type))
		default:
			cols = append(cols, r.kept.column(c, space, slots))
		}
	}
	if r.Numbered {
		cols = append(cols, &batch.Fixed[int64]{Typ: r.Out.Fields[len(cols)].Type, Values: ranks})
	}
	out.Emit(batch.Of(r.Out, cols, len(slots)))
}

// value returns a value column of rows; before is the number of those of the
// table that are no columns of the input.
func (r *rank) value(c, before int, space state.Space, slots []int32) batch.Vector {
	for i, v := range r.values {
		if v == c {
			return space.Cols()[before+i].Vector(slots)
		}
	}
	panic("windowrank: a column that is not kept")
}
