// Package waiting keeps rows until the watermark passes their time, and gives them
// then in the order of time. It is the state of operators that go by event time
// row by row.
//
// Rows wait in an ordered table, by key group, time, what else the order asks for,
// and a number that goes up, so that equal rows come out as they came in. The
// table is cut into stretches of time, its namespaces: one that is over is
// dropped as a whole. Nothing is known of a key, so millions of them that have one
// row each cost no more than the rows.
package waiting

import (
	"slices"
	"time"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
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

// Config says which rows wait, and in which order they come out.
type Config struct {
	In *types.Schema
	// Time is the position of the event time, or of a processing time where Proctime
	// is set: then the time of a row is the one at which it comes, and is told by Rise
	// as watermarks are.
	Time     int
	Proctime bool
	// Keys are the columns by which the rows were dealt out to tasks; none if one
	// task has all of them. Rows of one key group come in order.
	Keys []int
	// Order is the order of rows of the same time, which come as they came in
	// otherwise. It needs Keys to be empty.
	Order []Sort
	// Marked is the type of the event time that the watermark belongs to.
	Marked types.Type
	// Taps take the rows that come too late.
	Taps []window.LateTap
	// Zone is that in which samples of late rows show instants; nil is UTC.
	Zone *time.Location
	// Chunk is the number of rows to give at a time, about; 0 is for 4096.
	Chunk int
}

// Table begins the names of the tables.
const Table = "waiting"

// stretch is the length in ms of the times that belong to one namespace.
const stretch = 1 << 16

// Rows are the rows that wait in one instance of an operator.
type Rows struct {
	Config
	late *window.Late
	// heads has for each stretch and key group the number of rows that it ever had;
	// rows has the rows.
	heads, rows state.Table
	// values are the columns but for the time.
	values []int
	wm     int64
	now    func() int64
	due    due
	place  place

	hash, groupHash, rowHash     []uint64
	times, ends                  []int64
	positions, slots             []int32
	groups                       *batch.Fixed[int16]
	numbers                      *batch.Fixed[int64]
	timeType, groupType, seqType types.Type
}

// Open declares the tables. It is to be called by the operator's Open.
func Open(c *op.Context, cfg Config) (*Rows, error) {
	if cfg.Chunk == 0 {
		cfg.Chunk = batch.DefaultSize
	}
	r := &Rows{
		Config: cfg, wm: op.MinWatermark, now: c.Now,
		late:     window.NewLate(c, cfg.In, cfg.Marked, cfg.Zone, cfg.Taps),
		timeType: cfg.In.Fields[cfg.Time].Type.Plain().NotNull(), groupType: types.Of(types.SmallInt).NotNull(), seqType: types.Of(types.BigInt).NotNull(),
	}
	if r.timeType.Phys() != types.PhysI64 {
		r.timeType = types.TimeOf(r.timeType.Kind, 3).NotNull()
	}
	r.place = place{order: cfg.Order}
	rows := state.Spec{
		Name: Table, Key: []types.Type{r.groupType, r.timeType}, Columns: []string{"$group", cfg.In.Fields[cfg.Time].Name}, ByName: true,
	}
	if len(cfg.Order) > 0 {
		rows.Key, rows.Columns = append(rows.Key, placeType), append(rows.Columns, "$place")
	}
	rows.Key, rows.Columns = append(rows.Key, r.seqType), append(rows.Columns, "$number")
	rows.Order = len(rows.Key) - 1
	for i, f := range cfg.In.Fields {
		if i != cfg.Time {
			r.values = append(r.values, i)
			rows.Value, rows.Columns = append(rows.Value, f.Type), append(rows.Columns, f.Name)
		}
	}
	var err error
	heads := state.Spec{Name: Table + "-numbers", Key: []types.Type{r.groupType}, Value: []types.Type{r.seqType}, Columns: []string{"$group", "$next"}}
	if r.heads, err = c.State.Table(heads); err != nil {
		return nil, err
	}
	r.rows, err = c.State.Table(rows)
	return r, err
}

// Stretch returns the last time of the stretch that a time belongs to.
func Stretch(ms int64) int64 { return ms | (stretch - 1) }

// Add takes the rows of a batch, and sends those that are late to the taps.
func (r *Rows) Add(b *batch.Batch, out op.Output) error {
	if r.Proctime {
		r.atOnce(b)
	} else if err := r.inTime(b); err != nil {
		return err
	}
	r.late.Flush(b, r.wm, out)
	if len(r.positions) == 0 {
		return nil
	}
	keys := r.groupsOf(b)
	cols := []batch.Vector{keys.Cols[0], &batch.Fixed[int64]{Typ: r.timeType, Values: r.times}}
	if len(r.Order) > 0 {
		cols = append(cols, r.place.vector(b, r.positions))
	}
	return window.Each(r.ends, r.positions, func(end int64, rows []int32) error {
		keys.Rows = rows
		if err := r.number(end, keys, b.Size()); err != nil {
			return err
		}
		return r.store(end, b, append(cols[:len(cols):len(cols)], r.numbers.Slice(0, b.Size())), keys)
	})
}

// inTime finds the rows that are in time: positions, the ends of their stretches,
// and, by position, the times of all.
func (r *Rows) inTime(b *batch.Batch) error {
	col := b.Cols[r.Time]
	valid := col.Validity()
	r.times, r.positions, r.ends = window.Times(col), r.positions[:0], r.ends[:0]
	for i := range b.Rows() {
		p := b.At(i)
		if valid.IsNull(p) {
			name := r.In.Fields[r.Time].Name
			return fn.Failf(p, "column %q is NULL; a row without event time has no place in its order. Filter such rows out (WHERE %s IS NOT NULL)", name, name)
		}
		if ms := r.times[p]; ms <= r.wm {
			r.late.AddRow(int32(p), ms)
		} else {
			r.positions, r.ends = append(r.positions, int32(p)), append(r.ends, Stretch(ms))
		}
	}
	return nil
}

// atOnce is inTime for rows whose time is the clock's.
func (r *Rows) atOnce(b *batch.Batch) {
	now := max(r.now(), r.wm+1)
	r.times, r.positions, r.ends = slices.Repeat([]int64{now}, b.Size()), r.positions[:0], r.ends[:0]
	for i := range b.Rows() {
		r.positions, r.ends = append(r.positions, int32(b.At(i))), append(r.ends, Stretch(now))
	}
}

// groupsOf returns the key groups of the rows as keys.
func (r *Rows) groupsOf(b *batch.Batch) *state.Keys {
	cols := make([]batch.Vector, len(r.Keys))
	for i, k := range r.Keys {
		cols[i] = b.Cols[k]
	}
	r.hash = batch.Hash(cols, b.Sel, b.Size(), r.hash)
	if r.groups == nil || len(r.groups.Values) < b.Size() {
		r.groups = batch.MakeFixed[int16](r.groupType, max(b.Size(), batch.DefaultSize))
	}
	for _, p := range r.positions {
		r.groups.Values[p] = int16(batch.KeyGroup(r.hash[p]))
	}
	keys := &state.Keys{Cols: []batch.Vector{r.groups.Slice(0, b.Size())}, Group: r.hash}
	r.groupHash = batch.Hash(keys.Cols, r.positions, b.Size(), r.groupHash)
	keys.Hash = r.groupHash
	return keys
}

// number gives rows of a stretch their numbers.
func (r *Rows) number(end int64, keys *state.Keys, size int) error {
	if cap(r.slots) < len(keys.Rows) {
		r.slots = make([]int32, max(len(keys.Rows), batch.DefaultSize))
	}
	if r.numbers == nil || len(r.numbers.Values) < size {
		r.numbers = batch.MakeFixed[int64](r.seqType, max(size, batch.DefaultSize))
	}
	slots := r.slots[:len(keys.Rows)]
	heads := r.heads.Space(end)
	if _, err := heads.Upsert(keys, slots); err != nil {
		return err
	}
	next := heads.Cols()[0].(*batch.Slab[int64])
	for i, p := range keys.Rows {
		n := next.At(slots[i])
		r.numbers.Values[p] = *n
		*n++
	}
	heads.Dirty(slots)
	return nil
}

// store keeps rows of a stretch.
func (r *Rows) store(end int64, b *batch.Batch, cols []batch.Vector, groups *state.Keys) error {
	keys := &state.Keys{Cols: cols, Group: groups.Group, Rows: groups.Rows}
	r.rowHash = batch.Hash(cols, keys.Rows, b.Size(), r.rowHash)
	keys.Hash = r.rowHash
	slots := r.slots[:len(keys.Rows)]
	space := r.rows.Space(end)
	if _, err := space.Upsert(keys, slots); err != nil {
		return err
	}
	for i, v := range r.values {
		space.Cols()[i].Set(slots, b.Cols[v], keys.Rows)
	}
	return nil
}

// placeType is that of what sorts rows of one time.
var placeType = types.BytesType().NotNull()

// place encodes where rows of one time stand.
type place struct {
	order []Sort
	buf   []byte
}

// vector returns the places of rows, by position.
func (p *place) vector(b *batch.Batch, rows []int32) batch.Vector {
	out := batch.NewBytes(placeType, b.Size(), 0)
	next := 0
	for i := range b.Size() {
		p.buf = p.buf[:0]
		if next < len(rows) && int(rows[next]) == i {
			next++
			for _, o := range p.order {
				p.buf = batch.AppendSortKey(p.buf, b.Cols[o.Col], i, o.Direction)
			}
		}
		out.Append(p.buf)
	}
	return out
}
