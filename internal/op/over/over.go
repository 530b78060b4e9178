// Package over computes aggregates over the rows before each row: OVER ordered by
// a time attribute. It adds a column for each call, and gives every row once.
//
// By event time, rows wait until the watermark has passed them (package waiting),
// and are then taken in the order of their times, many at once. A table has what
// is known of each key: accumulators, and how many rows it had. Where the frame
// has a lower bound, or LAG looks back, another table has the rows of the key that
// are still needed: those that leave the frame are taken back from the
// accumulators, or, where an aggregate cannot do that, it is computed anew from
// the frame.
//
// By processing time, rows are taken as they come.
package over

import (
	"fmt"
	"slices"
	"time"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/op/fold"
	"github.com/millstream-io/millstream/internal/op/waiting"
	"github.com/millstream-io/millstream/internal/op/window"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/types"
)

// Func is what a call computes.
type Func uint8

// The functions: an aggregate over the frame; the number of the row in its
// partition, from 1; the number of the first row of the same time; the number of
// different times up to the row's; and the value of an earlier row.
const (
	Aggregate Func = iota
	RowNumber
	Rank
	DenseRank
	Lag
)

// Call is a column to add.
type Call struct {
	Func Func
	// Agg is the aggregate of Aggregate.
	fold.Agg
	// Value is the position of the column of Lag, Back the number of rows to look
	// back, and Default the position of what stands for NULL, or -1.
	Value   int
	Back    int64
	Default int
}

// Frame says which rows before a row count for it, besides itself.
type Frame struct {
	// Rows gives each row a frame of its own, in the order in which rows came.
	// Otherwise rows of the same time have one.
	Rows bool
	// Bounded says that only Preceding rows, or rows up to Preceding ms earlier,
	// count; otherwise all rows before do.
	Bounded   bool
	Preceding int64
}

// Config describes the operator.
type Config struct {
	// Out has the columns of In, then those of the calls.
	In, Out *types.Schema
	// Keys are the columns of the partition; none if all rows are one.
	Keys []int
	// Time is the position of the event time; -1 for processing time.
	Time  int
	Frame Frame
	Calls []Call
	// Marked is the type of the event time that the watermark belongs to.
	Marked types.Type
	Taps   []window.LateTap
	// Zone is that of waiting.Config.
	Zone *time.Location
	// TTL is how long a key is kept that has no rows, in ms of processing time,
	// where the frame has no bound and nothing is kept but accumulators; 0 is for
	// good.
	TTL int64
	// Chunk is that of waiting.Config.
	Chunk int
}

// New returns the operator.
func New(c Config) op.Operator {
	o := &over{Config: c, now: op.MinWatermark}
	if c.Time < 0 {
		return &atOnce{o}
	}
	return o
}

type over struct {
	Config
	rows *waiting.Rows
	// groups has what is known of each key.
	groups state.Table
	at     columns
	calls  []placed
	sets   []*set
	frame  *frame
	// expiry has the keys by the stretch of time of their last row, where all that
	// is known of a key can be forgotten when its frame is over.
	expiry state.Table
	// peers is set while the rows of one time are given that are more than a chunk.
	peers bool
	// now is the watermark, or the last processing time.
	now int64
	// clock is that of processing time.
	clock func() int64
	hash  []uint64
}

// columns are the places of what groups has besides accumulators; -1 for what is
// not needed. rows counts the rows of the key, given those that were given out;
// last is the time of the last row, rank the number of the first row of that time,
// and dense counts times.
type columns struct{ rows, given, last, rank, dense int }

// placed is a call whose accumulator is in columns from to to of groups.
type placed struct {
	Call
	from, to int
	set      *set
	// anew is set for an aggregate that is computed from the rows of the frame.
	anew bool
}

// set is what is known of the values of a distinct aggregate.
type set struct {
	fold.Distinct
	table state.Table
}

var countType = types.Of(types.BigInt).NotNull()

// needs reports whether a call is one of some functions.
func (c *Config) needs(funcs ...Func) bool {
	return slices.ContainsFunc(c.Calls, func(x Call) bool { return slices.Contains(funcs, x.Func) })
}

// ranged reports whether rows leave the frame by their time.
func (c *Config) ranged() bool { return c.Frame.Bounded && !c.Frame.Rows }

// singly reports whether each row has a frame of its own.
func (c *Config) singly() bool { return c.Frame.Rows || c.Time < 0 }

// Open implements op.Opener.
func (o *over) Open(c *op.Context) error {
	spec := state.Spec{Name: "groups", Key: o.keyTypes(), Columns: o.keyNames()}
	add := func(need bool, name string, t types.Type) int {
		if !need {
			return -1
		}
		spec.Value, spec.Columns = append(spec.Value, t), append(spec.Columns, name)
		return len(spec.Value) - 1
	}
	ranks := o.needs(Rank, DenseRank)
	o.at.rows = add(o.Frame.Bounded || ranks || o.needs(RowNumber, Lag), "$rows", countType)
	o.at.given = add(o.needs(RowNumber, Lag) && !o.singly(), "$given", countType)
	o.at.last = add(ranks || o.ranged(), "$last", types.Of(types.BigInt))
	o.at.rank = add(ranks, "$rank", countType)
	o.at.dense = add(ranks, "$dense", countType)
	for i, call := range o.Calls {
		p, err := o.place(c, call, len(spec.Value))
		if err != nil {
			return err
		}
		if call.Func == Aggregate && !p.anew {
			for k, t := range call.Bound.State {
				name := o.Out.Fields[len(o.In.Fields)+i].Name
				if k > 0 {
					name = fmt.Sprintf("%s_%d", name, k+1)
				}
				add(true, name, t)
			}
		}
		p.to = len(spec.Value)
		o.calls = append(o.calls, p)
	}
	if !o.Frame.Bounded && !o.needs(Lag) && len(o.sets) == 0 {
		spec.TTL = o.TTL
	}
	var err error
	if o.groups, err = c.State.Table(spec); err != nil {
		return err
	}
	if o.frame, err = o.openFrame(c); err != nil || o.Time < 0 && !o.ranged() {
		return err
	}
	if o.ranged() {
		if o.expiry, err = c.State.Table(state.Spec{Name: "expiry", Key: o.keyTypes(), Columns: o.keyNames()}); err != nil {
			return err
		}
	}
	if o.Time >= 0 {
		o.rows, err = waiting.Open(c, waiting.Config{In: o.In, Time: o.Time, Keys: o.Keys, Marked: o.Marked, Taps: o.Taps, Zone: o.Zone, Chunk: o.Chunk})
	}
	return err
}

// place finds out how a call is computed.
func (o *over) place(c *op.Context, call Call, from int) (placed, error) {
	p := placed{Call: call, from: from, to: from}
	if call.Func != Aggregate {
		return p, nil
	}
	if p.anew = o.Frame.Bounded && !takesBack(call.Bound); p.anew || !call.Distinct {
		return p, nil
	}
	for _, s := range o.sets {
		if slices.Equal(s.Args, call.Args) {
			p.set = s
			return p, nil
		}
	}
	s := &set{Distinct: fold.Distinct{Args: call.Args, Filter: -1, Forget: o.Frame.Bounded}}
	spec := state.Spec{
		Name: fmt.Sprintf("distinct%d", len(o.sets)), Key: o.keyTypes(), Value: []types.Type{countType}, Columns: o.keyNames(),
	}
	for _, a := range call.Args {
		spec.Key, spec.Columns = append(spec.Key, o.In.Fields[a].Type), append(spec.Columns, o.In.Fields[a].Name)
	}
	if spec.Columns = append(spec.Columns, "copies"); o.ranged() {
		spec.Order = len(call.Args)
	}
	var err error
	s.table, err = c.State.Table(spec)
	p.set, o.sets = s, append(o.sets, s)
	return p, err
}

// takesBack reports whether an aggregate takes rows back without growing: some
// keep a log of all rows that came and went.
func takesBack(b *fn.BoundAgg) bool {
	return b.Retractable && !slices.ContainsFunc(b.State, func(t types.Type) bool { return t.IsNested() || t.Phys() == types.PhysBytes })
}

func (c *Config) keyTypes() []types.Type {
	out := make([]types.Type, len(c.Keys))
	for i, k := range c.Keys {
		out[i] = c.In.Fields[k].Type
	}
	return out
}

func (c *Config) keyNames() []string {
	out := make([]string, len(c.Keys))
	for i, k := range c.Keys {
		out[i] = c.In.Fields[k].Name
	}
	return out
}

// OnBatch implements op.Operator.
func (o *over) OnBatch(_ int, b *batch.Batch, out op.Output) error { return o.rows.Add(b, out) }

// OnWatermark implements op.WatermarkHandler.
func (o *over) OnWatermark(wm int64, out op.Output) (int64, error) {
	if err := o.rows.Rise(wm); err != nil {
		return 0, err
	}
	o.now = wm
	_, err := o.Resume(out)
	return wm, err
}

// Resume implements op.Resumer.
func (o *over) Resume(out op.Output) (more bool, err error) {
	for {
		b, done, err := o.next()
		if done || err != nil {
			return false, err
		}
		if b != nil {
			out.Emit(b)
		}
		if out.Full() {
			return true, nil
		}
	}
}

// next gives the results of the next rows that are due.
func (o *over) next() (b *batch.Batch, done bool, err error) {
	if o.peers {
		c, err := o.rows.NextPeers()
		if err != nil {
			return nil, false, err
		}
		o.peers = c.More
		b, err = o.work(c.Batch, c.Times, gives)
		return b, false, err
	}
	c, err := o.rows.Next(!o.singly())
	switch {
	case err != nil:
		return nil, false, err
	case c == nil:
		return nil, true, o.expire()
	case !c.More:
		b, err = o.work(c.Batch, c.Times, adds|gives)
		return b, false, err
	}
	for {
		if _, err := o.work(c.Batch, c.Times, adds); err != nil {
			return nil, false, err
		}
		if !c.More {
			break
		}
		if c, err = o.rows.NextPeers(); err != nil {
			return nil, false, err
		}
	}
	o.rows.Rewind()
	o.peers = true
	return nil, false, nil
}

// NextDue implements op.Waiter.
func (o *over) NextDue() (wm int64, ok bool) { return o.rows.NextDue() }

// atOnce is the operator by processing time.
type atOnce struct{ o *over }

// Open implements op.Opener.
func (a *atOnce) Open(c *op.Context) error {
	a.o.clock = c.Now
	return a.o.Open(c)
}

// OnBatch implements op.Operator.
func (a *atOnce) OnBatch(_ int, b *batch.Batch, out op.Output) error {
	o := a.o
	b = b.Compact()
	o.now = max(o.now, o.clock())
	if err := o.expire(); err != nil {
		return err
	}
	res, err := o.work(b, slices.Repeat([]int64{o.now}, b.Size()), adds|gives)
	if err != nil {
		return err
	}
	out.Emit(res)
	return nil
}
