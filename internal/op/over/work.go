package over

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/types"
)

// task is what is to be done with rows: adds enters them, gives makes their
// results. Both are done at once, unless there are more rows of one time than fit
// into memory.
type task uint8

const (
	adds task = 1 << iota
	gives
)

// chunk are rows at work, those of each key in their order.
type chunk struct {
	*over
	*batch.Batch
	do    task
	times []int64
	keys  *state.Keys
	slots []int32
	// numbers are those of the rows in their partitions, from 1; nil if nobody asks.
	numbers []int64
	// rank and dense are the ranks of rows that were added.
	rank, dense []int64
	// rounds are rows, by position, that are taken together: of each key one row, or
	// the rows of one time.
	rounds [][]int32
	// gone are the rows of frames that are counted by rows which leave them: rows
	// that are kept no more.
	gone *leavers
	// results has what was computed for the rows of each round, one round after the
	// other.
	results []batch.Vector
}

// work enters rows, or makes their results, or both.
func (o *over) work(b *batch.Batch, times []int64, do task) (*batch.Batch, error) {
	c := &chunk{over: o, Batch: b, do: do, times: times}
	if err := c.prepare(); err != nil {
		return nil, err
	}
	for i := range o.calls {
		c.results = append(c.results, batch.New(o.resultType(i), b.Size()))
	}
	for _, rows := range c.rounds {
		if err := c.round(rows); err != nil {
			return nil, err
		}
	}
	o.groups.Space(0).Dirty(c.slots)
	if do&gives == 0 {
		return nil, nil
	}
	if err := c.looked(); err != nil {
		return nil, err
	}
	c.gone.forget()
	return c.result(), nil
}

func (o *over) resultType(call int) types.Type { return o.Out.Fields[len(o.In.Fields)+call].Type }

// prepare finds the groups of the rows, their numbers and their rounds, and keeps
// the rows that are needed later.
func (c *chunk) prepare() error {
	n := c.Size()
	c.keys = &state.Keys{Cols: make([]batch.Vector, len(c.Keys)), Rows: batch.All(n)}
	for i, k := range c.Keys {
		c.keys.Cols[i] = c.Cols[k]
	}
	c.hash = batch.Hash(c.keys.Cols, nil, n, c.hash)
	c.keys.Hash, c.slots = c.hash, make([]int32, n)
	groups := c.groups.Space(0)
	if _, err := groups.Upsert(c.keys, c.slots); err != nil {
		return err
	}
	c.number(groups.Cols())
	c.divide()
	if c.do&adds != 0 {
		if err := c.remember(groups.Cols()); err != nil {
			return err
		}
	}
	if c.frame == nil {
		return nil
	}
	if c.do&adds != 0 {
		if err := c.frame.add(c); err != nil {
			return err
		}
	}
	if c.do&gives == 0 {
		return nil
	}
	var err error
	c.gone, err = c.frame.outlived(c)
	return err
}

// number gives the rows their numbers.
func (c *chunk) number(cols []batch.Column) {
	if c.at.rows < 0 || c.do == gives && c.at.given < 0 {
		return
	}
	count := cols[c.at.rows].(*batch.Slab[int64])
	given := count
	if c.at.given >= 0 {
		given = cols[c.at.given].(*batch.Slab[int64])
	}
	from := count
	if c.do == gives {
		from = given
	}
	c.numbers = make([]int64, len(c.slots))
	for i, s := range c.slots {
		*from.At(s)++
		c.numbers[i] = *from.At(s)
	}
	if c.do == adds|gives && c.at.given >= 0 {
		for _, s := range c.slots {
			*given.At(s) = *count.At(s)
		}
	}
}

// divide makes the rounds.
func (c *chunk) divide() {
	type last struct {
		round int
		time  int64
	}
	seen := make(map[int32]last, len(c.slots))
	alone := c.singly()
	for i, s := range c.slots {
		l, again := seen[s]
		if again && (alone || l.time != c.times[i]) {
			l.round++
		}
		l.time = c.times[i]
		seen[s] = l
		if l.round == len(c.rounds) {
			c.rounds = append(c.rounds, nil)
		}
		c.rounds[l.round] = append(c.rounds[l.round], int32(i))
	}
}

// slotsOf returns the slots of rows.
func (c *chunk) slotsOf(rows []int32) []int32 {
	if len(rows) == len(c.slots) {
		return c.slots
	}
	out := make([]int32, len(rows))
	for i, p := range rows {
		out[i] = c.slots[p]
	}
	return out
}

// round takes rows: it takes back what leaves their frames, adds the rows, and
// makes the results of the aggregates.
func (c *chunk) round(rows []int32) error {
	slots := c.slotsOf(rows)
	if c.do&adds != 0 {
		if err := c.leave(rows); err != nil {
			return err
		}
		if err := c.fold(c.Batch, c.keys, rows, slots); err != nil {
			return err
		}
	}
	if c.do&gives == 0 {
		return nil
	}
	cols := c.groups.Space(0).Cols()
	for i := range c.calls {
		p := &c.calls[i]
		if p.Func != Aggregate || p.anew {
			continue
		}
		v, err := p.Bound.Agg.Result(cols[p.from:p.to], slots)
		if err != nil {
			return err
		}
		batch.AppendTake(c.results[i], v, nil)
	}
	return c.anew(rows)
}

// fold adds rows of a batch to the aggregates that have accumulators, or takes
// them back.
func (c *chunk) fold(b *batch.Batch, keys *state.Keys, rows, slots []int32) error {
	own := *keys
	own.Rows = rows
	for _, s := range c.sets {
		if err := s.Pick(s.table.Space(0), b, &own, slots); err != nil {
			return err
		}
	}
	cols := c.groups.Space(0).Cols()
	for i := range c.calls {
		p := &c.calls[i]
		if p.Func != Aggregate || p.anew {
			continue
		}
		st := cols[p.from:p.to]
		var err error
		if p.set != nil {
			err = p.Fold(&p.set.Distinct, st, b, rows, slots)
		} else {
			err = p.Fold(nil, st, b, rows, slots)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// result puts the results beside the rows, in the order of the rows.
func (c *chunk) result() *batch.Batch {
	cols := append(make([]batch.Vector, 0, len(c.Out.Fields)), c.Cols...)
	var place []int32
	if len(c.rounds) > 1 {
		place = make([]int32, c.Size())
		next := int32(0)
		for _, rows := range c.rounds {
			for _, p := range rows {
				place[p] = next
				next++
			}
		}
	}
	for i, v := range c.results {
		if place != nil && c.calls[i].Func == Aggregate {
			v = batch.Take(v, place)
		}
		cols = append(cols, v)
	}
	for i, f := range c.Out.Fields {
		cols[i] = cols[i].WithType(f.Type)
	}
	return batch.Of(c.Out, cols, c.Size())
}

// remember notes the times of the rows, and the ranks that follow from them.
func (c *chunk) remember(cols []batch.Column) error {
	if c.at.last < 0 {
		return nil
	}
	if c.expiry != nil {
		if err := c.expect(cols[c.at.last].(*batch.Slab[int64])); err != nil {
			return err
		}
	}
	last := cols[c.at.last].(*batch.Slab[int64])
	if c.at.rank < 0 {
		for i, s := range c.slots {
			last.Put(s, c.times[i])
		}
		return nil
	}
	rank, dense := cols[c.at.rank].(*batch.Slab[int64]), cols[c.at.dense].(*batch.Slab[int64])
	for i, s := range c.slots {
		if last.Null(s) || *last.At(s) != c.times[i] {
			last.Put(s, c.times[i])
			*rank.At(s) = c.numbers[i]
			*dense.At(s)++
		}
		c.rank, c.dense = append(c.rank, *rank.At(s)), append(c.dense, *dense.At(s))
	}
	return nil
}
