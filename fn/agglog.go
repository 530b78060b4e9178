package fn

import (
	"encoding/binary"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// changeLog is what aggregates share that need all of their values: the state
// is a log of the values that were added and taken back, in their order. What is
// left is found when the result is asked for, so that a row costs no more than
// its own bytes, and parts that are merged may take back what others have added.
//
// An entry is a varint, of which the lowest bit tells that the value is taken
// back and the next one that it is NULL, the rest being the number of the bytes
// that follow: the value as batch.AppendValue writes it.
type changeLog struct {
	result types.Type
	// nulls is set where NULL counts as a value.
	nulls bool
}

var logState = types.BytesType().NotNull()

const (
	logTaken = 1 << iota
	logNull
	logShift = iota
)

// bound returns the aggregate over a log, whose code is agg.
func (l changeLog) bound(agg Agg) *BoundAgg {
	return &BoundAgg{Result: l.result, State: []types.Type{logState}, Agg: agg, Mergeable: true, Exact: true, Retractable: true}
}

// Add implements Agg.
func (l changeLog) Add(st []batch.Column, slots []int32, args []batch.Vector, rows []int32) error {
	l.write(st[0].(*batch.BytesSlab), slots, args[0], rows, 0)
	return nil
}

// Retract implements Agg.
func (l changeLog) Retract(st []batch.Column, slots []int32, args []batch.Vector, rows []int32) error {
	l.write(st[0].(*batch.BytesSlab), slots, args[0], rows, logTaken)
	return nil
}

func (l changeLog) write(log *batch.BytesSlab, slots []int32, v batch.Vector, rows []int32, taken uint64) {
	var value, entry []byte
	valid := v.Validity()
	for i, s := range slots {
		head := taken
		value = value[:0]
		if r := int(rows[i]); valid.Get(r) {
			value = batch.AppendValue(value, v, r)
		} else if head |= logNull; !l.nulls {
			continue
		}
		entry = binary.AppendUvarint(entry[:0], uint64(len(value))<<logShift|head)
		log.Append(s, append(entry, value...))
	}
}

// Merge implements Agg.
func (changeLog) Merge(st []batch.Column, slots []int32, src []batch.Column, from []int32) error {
	log, more := st[0].(*batch.BytesSlab), src[0].(*batch.BytesSlab)
	for i, s := range slots {
		log.Append(s, more.Get(from[i]))
	}
	return nil
}

// left appends to dst the values of a log that were not taken back. Of equal
// ones the first is the one that was.
func (changeLog) left(dst batch.Vector, log []byte) error {
	taken, err := takenBack(log)
	for len(log) > 0 && err == nil {
		var e logEntry
		if e, log, err = readEntry(log); err != nil || e.taken {
			continue
		}
		if key := e.key(); len(taken) > 0 && taken[key] > 0 {
			taken[key]--
			continue
		}
		if e.null {
			dst.AppendNull()
			continue
		}
		_, err = batch.DecodeValue(dst, e.value)
	}
	return err
}

// takenBack counts the copies of each value that were taken back.
func takenBack(log []byte) (map[string]int, error) {
	var out map[string]int
	for len(log) > 0 {
		e, rest, err := readEntry(log)
		if err != nil {
			return nil, err
		}
		if log = rest; !e.taken {
			continue
		}
		if out == nil {
			out = map[string]int{}
		}
		out[e.key()]++
	}
	return out, nil
}

type logEntry struct {
	taken, null bool
	value       []byte
}

// key tells equal values: no value but NULL is without bytes.
func (e logEntry) key() string { return string(e.value) }

func readEntry(log []byte) (e logEntry, rest []byte, err error) {
	head, n := binary.Uvarint(log)
	if size := head >> logShift; n <= 0 || size > uint64(len(log)-n) {
		return e, nil, batch.ErrEncoding
	}
	end := n + int(head>>logShift)
	return logEntry{taken: head&logTaken != 0, null: head&logNull != 0, value: log[n:end]}, log[end:], nil
}

// replayed is an aggregate over input that takes rows back, computed by another
// one that cannot: it is given what is left of the values.
type replayed struct {
	changeLog
	plain *BoundAgg
	arg   types.Type
}

// replay makes a form of an aggregate of values that are not NULL, for input
// that takes rows back.
func replay(plain *BoundAgg, arg types.Type) *BoundAgg {
	l := changeLog{result: plain.Result}
	return l.bound(replayed{l, plain, arg})
}

// Result implements Agg.
func (r replayed) Result(st []batch.Column, slots []int32) (batch.Vector, error) {
	own := make([]batch.Column, len(r.plain.State))
	for i, t := range r.plain.State {
		own[i] = batch.NewColumn(t)
		own[i].Grow(len(slots))
	}
	var at, rows, all []int32
	for i, s := range slots {
		values := batch.New(r.arg, 0)
		if err := r.left(values, st[0].(*batch.BytesSlab).Get(s)); err != nil {
			return nil, err
		}
		at, rows, all = at[:0], rows[:0], append(all, int32(i))
		for p := range values.Len() {
			at, rows = append(at, int32(i)), append(rows, int32(p))
		}
		if err := r.plain.Agg.Add(own, at, []batch.Vector{values}, rows); err != nil {
			return nil, err
		}
	}
	return r.plain.Agg.Result(own, all)
}
