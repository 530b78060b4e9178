package windowagg

import (
	"math"
	"math/bits"
	"slices"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/types"
)

// sessions is the operator for windows that follow the rows of a key: a session
// ends one gap after its last row. Gaps are measured in time that passes, also
// where clocks are set forward or back; only the bounds that are shown are wall
// times.
//
// The newest session of each key is in one namespace of the table. Most keys have
// no other one: where gaps are long, a session has ended before the next one
// begins. Older sessions that are open yet have a namespace for each stretch of
// time in which sessions end. All rows that extend the newest session of their
// key, or begin the next one, are handled in batches (sessionsplit.go); rows that
// come before it, and meet older sessions, one by one (sessionmerge.go).
//
// A table of timers has a namespace for each short stretch of time, with the
// keys whose newest session may end in it. Rows that extend a session do not move
// its timer: it is set anew when it is looked at.
//
// What belongs to single rows (the values of DISTINCT, rows to be passed on) is
// in a namespace of its own for each session, which the session knows by a
// number, its id.
type sessions struct {
	*windowAgg
	timers state.Table
	// stored holds rows that wait for their session's end; nil without Rows.
	stored state.Table
	// grain is the length of a stretch of timers.
	grain int64
	// olderGrain is the length of a stretch of older sessions: not above the gap,
	// so that a key has one session at the most that ends in it.
	olderGrain int64
	// dueTimers and dueOlder are the namespaces of timers and of older sessions to
	// look at.
	dueTimers, dueOlder []int64
	hasID               bool

	split splitting
}

// newest is the namespace of each key's newest session.
const newest = math.MinInt64

// The columns of the table, before those of aggregates.
const (
	colCount = iota
	colStart
	colEnd
	colID
	// colStored is the number of the session's next row that is stored.
	colStored
	// colOlder is, for a newest session, the end of the one before it, which may be
	// over; NULL if there was none.
	colOlder
	sessionCols
)

// sessionNames are the names of these columns.
var sessionNames = [sessionCols]string{"rows", "start", "end", "number", "stored", "older_end"}

const (
	// timersPerGap is the number of stretches of timers in a gap, olderPerGap that
	// of older sessions, which rows that come late look through; but stretches in ms
	// are not shorter than these.
	timersPerGap = 256
	shortTimers  = 32
	olderPerGap  = 32
	shortOlder   = 100
)

// Open implements op.Opener.
func (s *sessions) Open(c *op.Context) error {
	s.ctx, s.late = c, s.newLate(c)
	if s.grain = max(s.Window.Size/timersPerGap, shortTimers); s.Proctime {
		s.grain = 1 // each timer is asked of the clock
	}
	s.olderGrain = max(s.Window.Size/olderPerGap, min(s.Window.Size, shortOlder))
	bigint := types.Of(types.BigInt).NotNull()
	spec := state.Spec{Name: "sessions", Key: s.keyTypes(), Value: slices.Repeat([]types.Type{bigint}, sessionCols)}
	spec.Value[colOlder] = types.Of(types.BigInt)
	var err error
	for _, a := range s.Aggs {
		p := placed{Agg: a, from: len(spec.Value)}
		if a.Distinct {
			if p.set, err = s.distinctSet(c, a); err != nil {
				return err
			}
		}
		spec.Value = append(spec.Value, a.Bound.State...)
		p.to = len(spec.Value)
		s.aggs = append(s.aggs, p)
	}
	spec.Columns = s.columnNames(&spec, s.aggs, sessionNames[:]...)
	if s.table, err = c.State.Table(spec); err != nil {
		return err
	}
	if s.timers, err = c.State.Table(state.Spec{Name: "timers", Key: s.keyTypes(), Columns: s.keyNames()}); err != nil {
		return err
	}
	if s.Rows {
		if err := s.openStored(c); err != nil {
			return err
		}
	}
	s.hasID = s.Rows || len(s.distinct) > 0
	return s.arm()
}

// openStored declares the table of rows that wait.
func (s *sessions) openStored(c *op.Context) error {
	spec := state.Spec{Name: "rows", Key: append(s.keyTypes(), types.Of(types.BigInt).NotNull()), Columns: append(s.keyNames(), "number")}
	all := make([]int, len(s.In.Fields))
	for i := range all {
		all[i] = i
	}
	spec = op.PassedOn(spec, s.In, all)
	spec.Value = append(spec.Value, types.Of(types.TinyInt).NotNull()) // the kind of the row
	spec.Columns = append(spec.Columns, "kind of the row")
	var err error
	s.stored, err = c.State.Table(spec)
	return err
}

// bounds are the columns of a session that decide which rows are in it.
type bounds struct{ start, end, older, id *batch.Slab[int64] }

func (s *sessions) bounds() bounds {
	cols := s.table.Space(newest).Cols()
	at := func(i int) *batch.Slab[int64] { return cols[i].(*batch.Slab[int64]) }
	return bounds{at(colStart), at(colEnd), at(colOlder), at(colID)}
}

// begin makes a new session of one row.
func (s *sessions) begin(b bounds, slot int32, ms int64, hash uint64) {
	*b.start.At(slot), *b.end.At(slot) = ms, ms+s.Window.Size
	if s.hasID {
		hi, lo := bits.Mul64(hash^uint64(ms), 0x9E3779B97F4A7C15)
		*b.id.At(slot) = int64(hi ^ lo ^ hash)
	}
}

// touches reports whether a row's time, with the gap behind it, meets a session.
func (s *sessions) touches(b bounds, slot int32, ms int64) bool {
	return ms <= *b.end.At(slot) && ms+s.Window.Size >= *b.start.At(slot)
}

func (s *sessions) extend(b bounds, slot int32, ms int64) {
	*b.start.At(slot) = min(*b.start.At(slot), ms)
	*b.end.At(slot) = max(*b.end.At(slot), ms+s.Window.Size)
}

// OnBatch implements op.Operator. A row behind the watermark counts only if it
// meets a session that is open when it comes, so such rows part the batch.
func (s *sessions) OnBatch(_ int, b *batch.Batch, out op.Output) error {
	times, b, err := s.timesOf(b)
	if err != nil || b.Rows() == 0 {
		return err
	}
	keys := &state.Keys{Cols: make([]batch.Vector, len(s.Keys))}
	for i, k := range s.Keys {
		keys.Cols[i] = b.Cols[k]
	}
	s.hash = batch.Hash(keys.Cols, b.Sel, b.Size(), s.hash)
	keys.Hash = s.hash
	rows, _ := s.room(b.Rows())
	rows = rows[:0]
	for i := range b.Rows() {
		p := b.At(i)
		if times[p]+s.Window.Size-1 > s.wm {
			rows = append(rows, int32(p))
			continue
		}
		if err := s.rowsInTime(b, keys, rows, times); err != nil {
			return err
		}
		rows = rows[:0]
		if err := s.oneRow(b, keys, int32(p), times[p]); err != nil {
			return err
		}
	}
	if err := s.rowsInTime(b, keys, rows, times); err != nil {
		return err
	}
	s.late.Flush(b, s.wm, out)
	return s.arm()
}

// timesOf returns the times of a batch's rows, by position, and the batch
// without rows that have none.
func (s *sessions) timesOf(b *batch.Batch) ([]int64, *batch.Batch, error) {
	if s.Proctime {
		times := make([]int64, b.Size())
		now := max(s.ctx.Now(), s.wm+1)
		for i := range times {
			times[i] = now
		}
		return times, b, nil
	}
	col := b.Cols[s.Time]
	valid := col.Validity()
	if valid == nil {
		return window.Times(col), b, nil
	}
	sel := make([]int32, 0, b.Rows())
	for i := range b.Rows() {
		if p := b.At(i); valid.Get(p) {
			sel = append(sel, int32(p))
		} else if !s.Rows {
			return nil, nil, s.nullTime(p)
		}
	}
	if dropped := b.Rows() - len(sel); dropped > 0 {
		s.ctx.Count("null_time_rows", int64(dropped))
	}
	return window.Times(col), b.WithSel(sel), nil
}

// rowsInTime folds in rows whose own session would still be open.
func (s *sessions) rowsInTime(b *batch.Batch, keys *state.Keys, rows []int32, times []int64) error {
	if len(rows) == 0 {
		return nil
	}
	keys.Rows = rows
	if cap(s.slots) < len(rows) {
		s.slots = make([]int32, max(len(rows), batch.DefaultSize))
	}
	slots := s.slots[:len(rows)]
	space := s.table.Space(newest)
	fresh, err := space.Upsert(keys, slots)
	if err != nil {
		return err
	}
	if err := s.setTimers(keys, fresh, times); err != nil {
		return err
	}
	bounds := s.bounds()
	s.split.reset()
	kept := 0
	for i, p := range rows {
		slot, ms := slots[i], times[p]
		switch {
		case len(fresh) > 0 && int(fresh[0]) == i:
			fresh = fresh[1:]
			s.begin(bounds, slot, ms, keys.Hash[p])
		case s.touches(bounds, slot, ms) && (ms >= *bounds.start.At(slot) || bounds.older.Null(slot)):
			s.extend(bounds, slot, ms)
		default:
			s.split.add(p, slot)
			continue
		}
		rows[kept], slots[kept] = p, slot
		kept++
	}
	keys.Rows = rows[:kept]
	if err := s.foldRows(space, b, keys, slots[:kept]); err != nil {
		return err
	}
	return s.splitRows(b, keys, times)
}

// foldRows gives rows to the sessions at slots.
func (s *sessions) foldRows(space state.Space, b *batch.Batch, keys *state.Keys, slots []int32) error {
	if len(slots) == 0 {
		return nil
	}
	cols := space.Cols()
	if s.Updating {
		countRows(cols[colCount].(*batch.Slab[int64]), b, keys.Rows, slots)
	}
	for i := range s.aggs {
		a := &s.aggs[i]
		if a.set != nil {
			continue
		}
		if err := a.fold(cols[a.from:a.to], b, keys.Rows, slots); err != nil {
			return err
		}
	}
	space.Dirty(slots)
	if !s.hasID {
		return nil
	}
	return s.foldSingly(space, b, keys, slots)
}

// foldSingly does what has a namespace for each session.
func (s *sessions) foldSingly(space state.Space, b *batch.Batch, keys *state.Keys, slots []int32) error {
	id := s.bounds().id
	ids, index := make([]int64, len(slots)), make([]int32, len(slots))
	for i, slot := range slots {
		ids[i], index[i] = *id.At(slot), int32(i)
	}
	cols, all := space.Cols(), keys.Rows
	return window.Each(ids, index, func(id int64, index []int32) error {
		own := *keys
		own.Rows = pickSlots(all, index)
		at := pickSlots(slots, index)
		for _, d := range s.distinct {
			if err := d.Pick(d.table.Space(id), b, &own, at); err != nil {
				return err
			}
			for i := range s.aggs {
				if a := &s.aggs[i]; a.set == d {
					if err := a.fold(cols[a.from:a.to], b, own.Rows, at); err != nil {
						return err
					}
				}
			}
		}
		if s.stored == nil {
			return nil
		}
		return s.store(id, b, &own, at[0])
	})
}

// store keeps rows of one session until it ends.
func (s *sessions) store(id int64, b *batch.Batch, keys *state.Keys, slot int32) error {
	next := s.table.Space(newest).Cols()[colStored].(*batch.Slab[int64]).At(slot)
	numbers := batch.MakeFixed[int64](types.Of(types.BigInt).NotNull(), b.Size())
	kinds := batch.MakeFixed[int8](types.Of(types.TinyInt).NotNull(), b.Size())
	for _, p := range keys.Rows {
		numbers.Values[p], kinds.Values[p] = *next, int8(b.Kind(int(p)))
		*next++
	}
	return s.putStored(id, keys, numbers, append(slices.Clip(b.Cols), kinds), b.Size())
}

// putStored writes rows, with their numbers, to a session's namespace.
func (s *sessions) putStored(id int64, keys *state.Keys, numbers batch.Vector, values []batch.Vector, size int) error {
	own := &state.Keys{Cols: append(slices.Clip(keys.Cols), numbers), Group: keys.Hash, Rows: keys.Rows}
	own.Hash = batch.Hash(own.Cols, own.Rows, size, nil)
	space := s.stored.Space(id)
	at := make([]int32, len(own.Rows))
	if _, err := space.Upsert(own, at); err != nil {
		return err
	}
	for c, col := range space.Cols() {
		col.Set(at, values[c], own.Rows)
	}
	return nil
}

// stretch returns the namespace of timers for a session that ends at end.
func (s *sessions) stretch(end int64) int64 { return floor(end, s.grain) }

// olderIn returns the namespace of an older session that ends at end.
func (s *sessions) olderIn(end int64) int64 { return floor(end, s.olderGrain) }

func floor(x, step int64) int64 {
	r := x % step
	if r < 0 {
		r += step
	}
	return x - r
}

// setTimers sets the timers of new sessions, which are at the indexes fresh of
// the keys' rows.
func (s *sessions) setTimers(keys *state.Keys, fresh []int32, times []int64) error {
	if len(fresh) == 0 {
		return nil
	}
	ends, rows := make([]int64, len(fresh)), make([]int32, len(fresh))
	for i, f := range fresh {
		rows[i] = keys.Rows[f]
		ends[i] = s.stretch(times[rows[i]] + s.Window.Size)
	}
	return s.putTimers(keys, ends, rows)
}

// putTimers sets a timer for each of the given rows of keys.
func (s *sessions) putTimers(keys *state.Keys, stretches []int64, rows []int32) error {
	if len(rows) == 0 {
		return nil
	}
	own := *keys
	at := make([]int32, len(rows))
	return window.Each(stretches, rows, func(ns int64, rows []int32) error {
		own.Rows = rows
		_, err := s.timers.Space(ns).Upsert(&own, at[:len(rows)])
		return err
	})
}
