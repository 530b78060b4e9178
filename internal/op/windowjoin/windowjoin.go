// Package windowjoin joins the rows of two inputs that are in the same window, when
// the window is over, or at once (see atonce.go).
//
// Each window is a namespace of three tables: one with the rows of each side,
// and one that counts the rows of each key on both sides. The rows of a key are
// numbered from 0 on each side, so that all of them can be asked for. When the watermark closes a window, its keys are gone through, and
// the rows of each are brought together in blocks (see fire), so that neither a
// window nor a key need fit into memory.
package windowjoin

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/types"
)

// Key is a pair of columns that must be equal.
type Key struct {
	L, R int
	// NullSafe tells that NULL is equal to NULL; otherwise NULL is equal to
	// nothing.
	NullSafe bool
}

// Side is one input.
type Side struct {
	Schema *types.Schema
	// End is the position of the column of the window's end.
	End int
	// Sources has the source of each column.
	Sources []window.Source
	// Keep is set where a row counts though it has no partner.
	Keep bool
	Taps []window.LateTap
}

// Config describes the operator.
type Config struct {
	// In are the left and the right side.
	In [2]Side
	// Out are the columns of the left side, then those of the right one; only the
	// left ones where LeftOnly is set.
	Out  *types.Schema
	Keys []Key
	// Filter returns the positions of the pairs, with the columns of the left
	// side and then those of the right one, that are partners. It looks at the
	// columns FilterCols alone. Nil keeps all.
	Filter     func(b *batch.Batch) ([]int32, error)
	FilterCols []int
	// LeftOnly gives left rows that have a partner, each once; or, where the left
	// side's Keep is set, those that have none.
	LeftOnly bool
	// AtOnce gives pairs as soon as both rows are there, those of left rows that
	// come late as well; it needs an inner join whose right rows are never late. TTL
	// is then how long right rows are kept, in ms of processing time; 0 is for good.
	AtOnce bool
	TTL    int64
	Window window.Assigner
	// Marked is the type of the event time that the watermark belongs to.
	Marked types.Type
}

// New returns the operator.
func New(c Config) op.Operator { return newSized(c, blockRows) }

// blockRows is the number of rows of a side that are brought together at once, of
// pairs in a batch, and of keys that are looked at together.
const blockRows = 4096

func newSized(c Config, block int) op.Operator {
	j := &join{Config: c, wm: op.MinWatermark, block: block}
	if c.AtOnce {
		return &atOnce{join: j}
	}
	return j
}

type join struct {
	Config
	ctx *op.Context
	// heads has a row for each key of a window: the numbers of its rows on the
	// left and on the right.
	heads state.Table
	sides [2]side
	// block is blockRows.
	block int
	wm    int64
	// due are the windows that wait to be fired, cur is the one at work.
	due []int64
	cur *firing

	group, hash, rowHash []uint64
	slots                []int32
}

// side is what is known of one input.
type side struct {
	*Side
	inTime window.Attached
	// table has the rows, by key and number. It is nil for a right side of which
	// only the number of rows counts.
	table state.Table
	// keys are the positions of the key columns, values those of the columns that
	// are values of the table.
	keys, values []int
	// place[c] is where column c is: a key if it is below the number of keys, or
	// a value.
	place []int
	// number are the numbers of the rows of a batch, by position.
	number *batch.Fixed[int64]
}

var numberType = types.Of(types.BigInt).NotNull()

// Open implements op.Opener.
func (j *join) Open(c *op.Context) error {
	keys := j.arrange(c)
	var err error
	if j.heads, err = c.State.Table(j.headSpec("keys", keys, sideNames[:]...)); err != nil {
		return err
	}
	for i := range j.sides {
		if i == 1 && j.LeftOnly && j.Filter == nil {
			continue
		}
		if j.sides[i].table, err = c.State.Table(j.sides[i].spec(sideNames[i], keys)); err != nil {
			return err
		}
	}
	return nil
}

var sideNames = [...]string{"left", "right"}

// arrange prepares the sides, and returns the types of the keys, which are
// nullable if they are so on either side.
func (j *join) arrange(c *op.Context) []types.Type {
	j.ctx = c
	for i := range j.sides {
		s := &j.sides[i]
		s.Side = &j.In[i]
		late := window.NewLate(c, s.Schema, j.Marked, j.Window.Zone, s.Taps)
		s.inTime = window.Attached{Assigner: &j.Window, End: s.End, Late: late}
		for _, k := range j.Keys {
			s.keys = append(s.keys, [...]int{k.L, k.R}[i])
		}
		s.arrange()
	}
	out := make([]types.Type, len(j.Keys))
	for i, k := range j.Keys {
		out[i] = j.In[0].Schema.Fields[k.L].Type
		out[i].Nullable = out[i].Nullable || j.In[1].Schema.Fields[k.R].Type.Nullable
	}
	return out
}

// headSpec is a table of numbers of rows for each key, whose names are given.
func (j *join) headSpec(name string, keys []types.Type, numbers ...string) state.Spec {
	spec := state.Spec{Name: name, Key: keys, Columns: append(j.sides[0].keyNames(), numbers...)}
	for range numbers {
		spec.Value = append(spec.Value, numberType)
	}
	return spec
}

// spec is the table of a side's rows.
func (s *side) spec(name string, keys []types.Type) state.Spec {
	spec := state.Spec{Name: name, Key: append(keys[:len(keys):len(keys)], numberType), Columns: append(s.keyNames(), "number")}
	return op.PassedOn(spec, s.Schema, s.values)
}

func (s *side) keyNames() []string {
	var out []string
	for _, k := range s.keys {
		out = append(out, s.Schema.Fields[k].Name)
	}
	return out
}

// arrange finds a place for each column.
func (s *side) arrange() {
	s.place = make([]int, len(s.Schema.Fields))
	for c := range s.place {
		s.place[c] = -1
		for i, k := range s.keys {
			if k == c {
				s.place[c] = i
			}
		}
		if s.place[c] < 0 && s.Sources[c] == window.Row {
			s.place[c] = len(s.keys) + len(s.values)
			s.values = append(s.values, c)
		}
	}
}

// OnBatch implements op.Operator.
func (j *join) OnBatch(in int, b *batch.Batch, out op.Output) error {
	s := &j.sides[in]
	rows, ends := s.inTime.InTime(b, j.wm, j.needed(s, b))
	s.inTime.Late.Flush(b, j.wm, out)
	if len(rows) == 0 {
		return nil
	}
	keys := j.keysOf(s, b)
	return window.Each(ends, rows, func(end int64, rows []int32) error {
		keys.Rows = rows
		return j.store(j.heads.Space(end), in, s, end, b, keys)
	})
}

// keysOf returns the keys of the rows of a batch.
func (j *join) keysOf(s *side, b *batch.Batch) *state.Keys {
	keys := &state.Keys{Cols: make([]batch.Vector, len(s.keys))}
	for i, k := range s.keys {
		keys.Cols[i] = b.Cols[k]
	}
	j.hash = batch.Hash(keys.Cols, b.Sel, b.Size(), j.hash)
	keys.Hash, keys.Group = j.hash, j.hash
	if len(s.keys) == 0 {
		// Without keys, rows travel by their window.
		j.group = batch.Hash([]batch.Vector{b.Cols[s.End]}, b.Sel, b.Size(), j.group)
		keys.Group = j.group
	}
	return keys
}

// needed are the bitmaps of the keys without which a row has no part in the
// result: NULL is equal to nothing.
func (j *join) needed(s *side, b *batch.Batch) []batch.Bitmap {
	if s.Keep {
		return nil
	}
	var out []batch.Bitmap
	for i, k := range s.keys {
		if v := b.Cols[k].Validity(); v != nil && !j.Keys[i].NullSafe {
			out = append(out, v)
		}
	}
	return out
}

// store keeps rows of a window. heads has the numbers of rows of the keys, in one
// of its columns.
func (j *join) store(heads state.Space, column int, s *side, end int64, b *batch.Batch, keys *state.Keys) error {
	slots := j.room(len(keys.Rows))
	if _, err := heads.Upsert(keys, slots); err != nil {
		return err
	}
	if s.number == nil || len(s.number.Values) < b.Size() {
		s.number = batch.MakeFixed[int64](numberType, max(b.Size(), batch.DefaultSize))
	}
	counts := heads.Cols()[column].(*batch.Slab[int64])
	for i, p := range keys.Rows {
		c := counts.At(slots[i])
		s.number.Values[p] = *c
		*c++
	}
	heads.Dirty(slots)
	if s.table == nil {
		return nil
	}
	own := *keys
	own.Cols = append(keys.Cols[:len(keys.Cols):len(keys.Cols)], s.number.Slice(0, b.Size()))
	j.rowHash = batch.Hash(own.Cols, keys.Rows, b.Size(), j.rowHash)
	own.Hash = j.rowHash
	rows := s.table.Space(end)
	if _, err := rows.Upsert(&own, slots); err != nil {
		return err
	}
	cols := rows.Cols()
	for i, v := range s.values {
		cols[i].Set(slots, b.Cols[v], keys.Rows)
	}
	return nil
}

// room returns scratch for n slots.
func (j *join) room(n int) []int32 {
	if cap(j.slots) < n {
		j.slots = make([]int32, max(n, batch.DefaultSize))
	}
	return j.slots[:n]
}
