package windowjoin

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/internal/state"
)

// atOnce is the join that gives pairs as soon as both rows are there. Each side
// has its rows and, for each key, their number. The left rows of a window are
// dropped when the watermark closes it: no right row can come any more, since
// the right side knows its rows by then. Right rows stay, for left rows that come late.
type atOnce struct {
	*join
	// heads have the numbers of rows of the keys, for each side.
	heads [2]state.Table

	// in is the side of batch b, the one at work; todo are its rows that still have
	// to be joined.
	in   int
	b    *batch.Batch
	todo []probe
}

// probe are rows of a window that may have partners on the other side.
type probe struct {
	end int64
	// keys are those of the batch, for the rows that have a key with rows on the other side:
	// as many as counts says.
	keys   *state.Keys
	counts []int64
	// The next pair is that of row i with number n of the other side.
	i int
	n int64
}

// Open implements op.Opener.
func (a *atOnce) Open(c *op.Context) (err error) {
	keys := a.arrange(c)
	for i := range a.sides {
		s := &a.sides[i]
		heads, rows := a.headSpec(sideNames[i]+" keys", keys, "rows"), s.spec(sideNames[i], keys)
		if i == 1 {
			heads.TTL, rows.TTL = a.TTL, a.TTL
		}
		if a.heads[i], err = c.State.Table(heads); err != nil {
			return err
		}
		if s.table, err = c.State.Table(rows); err != nil {
			return err
		}
	}
	return nil
}

// OnBatch implements op.Operator.
func (a *atOnce) OnBatch(in int, b *batch.Batch, out op.Output) error {
	s := &a.sides[in]
	rows, ends := s.inTime.InTime(b, op.MinWatermark, a.needed(s, b))
	if len(rows) == 0 {
		return nil
	}
	a.in, a.b = in, b
	keys := a.keysOf(s, b)
	err := window.Each(ends, rows, func(end int64, rows []int32) error {
		own := *keys
		own.Rows = rows
		if in == 1 || a.Window.Due(end) > a.wm {
			if err := a.store(a.heads[in].Space(end), 0, s, end, b, &own); err != nil {
				return err
			}
		}
		return a.look(end, &own)
	})
	if err != nil {
		return err
	}
	_, err = a.Resume(out)
	return err
}

// look finds the rows whose keys have rows on the other side.
func (a *atOnce) look(end int64, keys *state.Keys) error {
	heads := a.heads[1-a.in].Space(end)
	slots := a.room(len(keys.Rows))
	if err := heads.Lookup(keys, slots); err != nil {
		return err
	}
	own := *keys
	own.Rows = nil
	p := probe{end: end, keys: &own}
	counts := heads.Cols()[0].(*batch.Slab[int64])
	for i, slot := range slots {
		if slot >= 0 {
			own.Rows, p.counts = append(own.Rows, keys.Rows[i]), append(p.counts, *counts.At(slot))
		}
	}
	if len(own.Rows) > 0 {
		a.todo = append(a.todo, p)
	}
	return nil
}

// Resume implements op.Resumer: it goes on with the pairs of a batch.
func (a *atOnce) Resume(out op.Output) (bool, error) {
	for len(a.todo) > 0 {
		if out.Full() {
			return true, nil
		}
		p := &a.todo[0]
		if p.i == len(p.counts) {
			a.todo = a.todo[1:]
			continue
		}
		if err := a.pairs(p, out); err != nil {
			return false, err
		}
	}
	a.b, a.todo = nil, nil
	return false, nil
}

// pairs emits the next pairs of some rows.
func (a *atOnce) pairs(p *probe, out op.Output) error {
	other := &a.sides[1-a.in]
	number := batch.NewFixed[int64](numberType, a.block)
	keys := &state.Keys{}
	var own []int32
	for ; p.i < len(p.counts) && len(own) < a.block; p.i, p.n = p.i+1, 0 {
		for ; p.n < p.counts[p.i] && len(own) < a.block; p.n++ {
			own = append(own, p.keys.Rows[p.i])
			number.Append(p.n)
		}
		if p.n < p.counts[p.i] {
			break
		}
	}
	for _, v := range p.keys.Cols {
		keys.Cols = append(keys.Cols, batch.Take(v, own))
	}
	keys.Rows, keys.Group = batch.All(len(own)), make([]uint64, len(own))
	for i, r := range own {
		keys.Group[i] = p.keys.Group[r]
	}
	cols, kept, err := other.fetch(p.end, keys, number)
	if err != nil {
		return err
	}
	sides := [2]rows{{a.b.Cols, pick(own, kept)}, {cols, batch.All(len(kept))}}
	if a.in == 1 {
		sides[0], sides[1] = sides[1], sides[0]
	}
	l, r, err := a.partners(p.end, sides[0], sides[1])
	if err != nil {
		return err
	}
	a.emit(out, p.end, &l, &r)
	return nil
}

// OnWatermark implements op.WatermarkHandler.
func (a *atOnce) OnWatermark(wm int64, _ op.Output) (int64, error) {
	a.wm = wm
	due, err := a.Window.DueEnds(a.sides[0].table, wm)
	if err != nil {
		return 0, err
	}
	for _, end := range due {
		if err := a.sides[0].table.Drop(end); err != nil {
			return 0, err
		}
		if err := a.heads[0].Drop(end); err != nil {
			return 0, err
		}
	}
	return wm, nil
}
