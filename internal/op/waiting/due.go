package waiting

import (
	"math"
	"slices"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/internal/state"
)

// Chunk are rows whose time has come: those of each key group in the order of
// their times.
type Chunk struct {
	*batch.Batch
	// Times are the times of the rows.
	Times []int64
	// More is set where there are more rows of the same time than a chunk holds: all
	// rows of the chunk have that time, and NextPeers gives the next ones.
	More bool
}

// due is how far the rows up to the watermark have been given.
type due struct {
	// prev is the watermark before: rows up to it are gone.
	prev int64
	// stretches are those that have rows up to the watermark, the first of them is at
	// work once open is set.
	stretches []int64
	open      bool
	// groups are the key groups of the stretch at work, of which the rows behind
	// each one's cursor are still to be given.
	groups []cursor
	// limit is the number of rows of each group to ask for.
	limit int
	// peers is the place of the first of the rows that NextPeers gives.
	peers cursor
	at    int64
}

// cursor is the last row of a key group that was given, with its place where rows
// have one. Before the first one, begun is false, and it lies behind all rows of
// the watermark before.
type cursor struct {
	group  int16
	begun  bool
	time   int64
	place  []byte
	number int64
}

// behind returns the cursors behind the rows of a time of all key groups that a
// stretch has.
func (r *Rows) behind(end, time int64) (out []cursor, err error) {
	heads := r.heads.Space(end)
	err = heads.Scan(batch.KeyGroups, func(slots []int32) error {
		for _, g := range heads.Keys(slots)[0].(*batch.Fixed[int16]).Values {
			out = append(out, cursor{group: g, time: time, number: math.MaxInt64})
		}
		return nil
	})
	return out, err
}

// Rise tells the watermark. The rows that it makes due are to be taken by Next
// before anything else is done.
func (r *Rows) Rise(wm int64) error {
	r.due = due{prev: r.wm}
	r.wm = wm
	var err error
	r.due.stretches, err = r.heads.Namespaces(Stretch(wm))
	return err
}

// Next returns the next rows that are due, nil if there are no more. If whole is
// set, rows of one time and key group are in one chunk, unless More is set.
func (r *Rows) Next(whole bool) (*Chunk, error) {
	d := &r.due
	for len(d.stretches) > 0 {
		if !d.open {
			if err := r.begin(); err != nil {
				return nil, err
			}
		}
		for len(d.groups) > 0 {
			c, err := r.ask(whole)
			if c != nil || err != nil {
				return c, err
			}
		}
		if err := r.finish(); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// NextPeers returns the next rows of the time of a chunk with More.
func (r *Rows) NextPeers() (*Chunk, error) {
	d := &r.due
	a := r.answer(d.groups[:1])
	to := []batch.Vector{window.TimeVector(r.timeType, []int64{d.at})}
	if err := a.get(r.Chunk, to); err != nil {
		return nil, err
	}
	more := a.counts[0] == r.Chunk
	if a.counts[0] > 0 {
		a.moveTo(&d.groups[0], len(a.of)-1)
	}
	return a.chunk(batch.All(len(a.of)), more), nil
}

// Rewind makes NextPeers begin anew with the first row of the time.
func (r *Rows) Rewind() { r.due.groups[0] = r.due.peers }

// begin finds the key groups of the first stretch.
func (r *Rows) begin() error {
	d := &r.due
	var err error
	d.groups, err = r.behind(d.stretches[0], d.prev)
	d.open, d.limit = true, max(r.Chunk/max(len(d.groups), 1), 1)
	return err
}

// partial reports whether the stretch at work has rows beyond the watermark.
func (r *Rows) partial() bool { return r.due.stretches[0] > r.wm }

// finish forgets the rows of the stretch that were given.
func (r *Rows) finish() error {
	end := r.due.stretches[0]
	partial := r.partial()
	r.due.stretches, r.due.open = r.due.stretches[1:], false
	if !partial {
		if err := r.rows.Drop(end); err != nil {
			return err
		}
		return r.heads.Drop(end)
	}
	groups, err := r.behind(end, r.due.prev)
	if err != nil {
		return err
	}
	q := r.ranges(groups)
	q.To = []batch.Vector{r.sameTimes(r.wm, len(groups))}
	return r.rows.Space(end).DeleteRange(q)
}

func (r *Rows) sameTimes(ms int64, n int) batch.Vector {
	return window.TimeVector(r.timeType, slices.Repeat([]int64{ms}, n))
}

// ranges asks for the rows of key groups behind their cursors. Where rows have
// places there is but one group.
func (r *Rows) ranges(groups []cursor) *state.Ranges {
	n := len(groups)
	col := batch.MakeFixed[int16](r.groupType, n)
	keys := &state.Keys{Cols: []batch.Vector{col}, Rows: batch.All(n), Group: make([]uint64, n)}
	times, numbers := make([]int64, n), batch.MakeFixed[int64](r.seqType, n)
	places := batch.NewBytes(placeType, n, 0)
	for i, g := range groups {
		col.Values[i] = g.group
		keys.Group[i] = batch.GroupHash(int(g.group))
		times[i], numbers.Values[i] = g.time, g.number
		places.Append(g.place)
	}
	keys.Hash = batch.Hash(keys.Cols, nil, n, nil)
	q := &state.Ranges{Prefix: keys, FromOpen: true}
	q.From = []batch.Vector{window.TimeVector(r.timeType, times), numbers}
	switch {
	case len(r.Order) > 0 && n > 0 && groups[0].begun:
		q.From = []batch.Vector{q.From[0], places, numbers}
	case len(r.Order) > 0:
		q.From = q.From[:1]
	}
	return q
}

// ask takes the next rows of some key groups. Those that have no more leave the
// list. It returns nil if there were none, or if more have to be asked for.
func (r *Rows) ask(whole bool) (*Chunk, error) {
	d := &r.due
	n := min(len(d.groups), max(r.Chunk/d.limit, 1))
	asked := d.groups[:n]
	a := r.answer(asked)
	var to []batch.Vector
	if r.partial() {
		to = []batch.Vector{r.sameTimes(r.wm, n)}
	}
	if err := a.get(d.limit, to); err != nil {
		return nil, err
	}
	rows := make([]int32, 0, len(a.of))
	var left []cursor
	stuck, from := false, 0
	for i := range asked {
		count := a.counts[i]
		end := from + count
		if count == d.limit {
			if whole {
				end = a.lastTime(from, end)
			}
			if end > from {
				a.moveTo(&asked[i], end-1)
			}
			stuck = stuck || end == from
			left = append(left, asked[i])
		}
		for k := from; k < end; k++ {
			rows = append(rows, int32(k))
		}
		from += count
	}
	if stuck && d.limit >= r.Chunk && n == 1 {
		d.peers, d.at = asked[0], a.times[0]
		a.moveTo(&d.groups[0], len(a.of)-1)
		return a.chunk(batch.All(len(a.of)), true), nil
	}
	if stuck {
		d.limit = min(2*d.limit, r.Chunk)
	}
	d.groups = append(left, d.groups[n:]...)
	if len(rows) == 0 {
		return nil, nil
	}
	return a.chunk(rows, false), nil
}

// answer are the rows of some key groups: all of the first, then of the second
// and so on.
type answer struct {
	*Rows
	asked  []cursor
	counts []int
	// of are the groups of the rows.
	of      []int32
	times   []int64
	places  *batch.Bytes
	numbers []int64
	rows    *batch.Batch
}

func (r *Rows) answer(groups []cursor) *answer {
	return &answer{Rows: r, asked: groups, counts: make([]int, len(groups))}
}

// get asks for up to limit rows of each group.
func (a *answer) get(limit int, to []batch.Vector) error {
	q := a.ranges(a.asked)
	q.To, q.Limit = to, limit
	space := a.Rows.rows.Space(a.due.stretches[0])
	a.places = batch.NewBytes(placeType, 0, 0)
	return space.Range(q, a.Chunk, func(of, slots []int32) error {
		a.of = append(a.of, of...)
		for _, g := range of {
			a.counts[g]++
		}
		keys := space.Keys(slots)
		times := window.Times(keys[1])
		a.times = append(a.times, times...)
		a.numbers = append(a.numbers, keys[len(keys)-1].(*batch.Fixed[int64]).Values...)
		if len(a.Order) > 0 {
			batch.AppendTake(a.places, keys[2], batch.All(len(slots)))
		}
		a.add(space, slots, times)
		return nil
	})
}

// add appends rows of the table to those that there are.
func (a *answer) add(space state.Space, slots []int32, times []int64) {
	cols := make([]batch.Vector, len(a.In.Fields))
	for i, v := range a.values {
		cols[v] = space.Cols()[i].Vector(slots)
	}
	cols[a.Time] = window.TimeVector(a.In.Fields[a.Time].Type, times)
	for i, f := range a.In.Fields {
		cols[i] = cols[i].WithType(f.Type)
	}
	part := batch.Of(a.In, cols, len(slots))
	if a.rows == nil {
		a.rows = part
		return
	}
	all := batch.NewBatch(a.In, a.rows.Size()+part.Size())
	all.AppendRows(a.rows, nil)
	all.AppendRows(part, nil)
	a.rows = all
}

// lastTime returns where the rows from from to to begin that have the time of the
// last one.
func (a *answer) lastTime(from, to int) int {
	last := a.times[to-1]
	for to > from && a.times[to-1] == last {
		to--
	}
	return to
}

// moveTo puts a cursor on a row.
func (a *answer) moveTo(c *cursor, row int) {
	c.begun, c.time, c.number = true, a.times[row], a.numbers[row]
	if len(a.Order) > 0 {
		c.place = a.places.At(row)
	}
}

// chunk makes a chunk of some rows.
func (a *answer) chunk(rows []int32, more bool) *Chunk {
	c := &Chunk{Batch: a.rows, Times: a.times, More: more}
	if len(rows) == len(a.of) {
		if c.Batch == nil {
			c.Batch = batch.NewBatch(a.In, 0)
		}
		return c
	}
	c.Batch, c.Times = a.rows.Take(rows), make([]int64, len(rows))
	for i, k := range rows {
		c.Times[i] = a.times[k]
	}
	return c
}

// NextDue is that of op.Waiter: the time of the first row that waits.
func (r *Rows) NextDue() (wm int64, ok bool) {
	end, ok, err := r.rows.First()
	if !ok || err != nil {
		return 0, false
	}
	groups, err := r.behind(end, r.wm)
	if err != nil {
		return 0, false
	}
	q := r.ranges(groups)
	q.Limit = 1
	wm = math.MaxInt64
	space := r.rows.Space(end)
	err = space.Range(q, batch.KeyGroups, func(_, slots []int32) error {
		wm = min(wm, slices.Min(window.Times(space.Keys(slots)[1])))
		return nil
	})
	return wm, err == nil
}
