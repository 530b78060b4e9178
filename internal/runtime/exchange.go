package runtime

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/graph"
)

const (
	// coalesceRows is how many rows a hash exchange collects for a receiver
	// before it sends them, if nothing makes it send earlier.
	coalesceRows = 1024
	// directRows is from how many rows on a part of a batch is sent at once,
	// without a copy.
	directRows = 256
	// coalesceBytes bounds the memory of rows that are being collected.
	coalesceBytes = 256 << 10
)

// outEdge is the sending end of a graph edge in one task: it knows the channels
// to all subtasks of the consumer.
type outEdge struct {
	ship  graph.Ship
	keys  []int
	side  string
	chans []*channel
	// next is the receiver of the next batch of a Rebalance edge.
	next int
	// parts are the rows collected for each channel of a Hash edge, room is for
	// how many rows the next part is made: as many as the last one had.
	parts []*batch.Batch
	room  int
	// collected is the number of parts that are not empty.
	collected int

	cols []batch.Vector
	hash []uint64
}

// full reports whether a receiver has no room.
func (e *outEdge) full() bool {
	for _, c := range e.chans {
		if c.full.Load() {
			return true
		}
	}
	return false
}

// send sends rows to the receivers that they belong to.
func (e *outEdge) send(b *batch.Batch) {
	switch {
	case e.ship == graph.Hash:
		e.sendHashed(b)
	case e.ship == graph.Rebalance && len(e.chans) > 1:
		e.chans[e.next].put(item{kind: itemRows, batch: b})
		e.next = (e.next + 1) % len(e.chans)
	default:
		e.chans[0].put(item{kind: itemRows, batch: b})
	}
}

func (e *outEdge) sendHashed(b *batch.Batch) {
	if len(e.chans) == 1 {
		if b.Rows() >= directRows {
			e.flushPart(0)
			e.chans[0].put(item{kind: itemRows, batch: b})
		} else {
			e.collect(0, b, b.Sel)
		}
		return
	}
	e.cols = e.cols[:0]
	for _, k := range e.keys {
		e.cols = append(e.cols, b.Cols[k])
	}
	e.hash = batch.Hash(e.cols, b.Sel, b.Size(), e.hash)
	for i, rows := range batch.Partition(b, e.hash, len(e.chans)) {
		switch {
		case len(rows) == 0:
		case len(rows) < directRows:
			e.collect(i, b, rows)
		default:
			e.flushPart(i)
			e.chans[i].put(item{kind: itemRows, batch: part(b, rows)})
		}
	}
}

// part returns the given rows of b: as a selection where they are many of its
// rows, otherwise as a copy, so that a few rows do not keep a large batch alive.
func part(b *batch.Batch, rows []int32) *batch.Batch {
	switch {
	case len(rows) == b.Size():
		return b.WithSel(nil)
	case 8*len(rows) >= b.Size():
		return b.WithSel(rows)
	}
	return b.Take(rows)
}

// collect adds rows to those that wait for channel i; nil means all of b.
func (e *outEdge) collect(i int, b *batch.Batch, rows []int32) {
	p := e.parts[i]
	if p == nil {
		p = batch.NewBatch(b.Schema, max(e.room, 32))
		e.parts[i] = p
		e.collected++
	}
	p.AppendRows(b, rows)
	if p.Size() >= coalesceRows || p.Bytes() >= coalesceBytes {
		e.flushPart(i)
	}
}

func (e *outEdge) flushPart(i int) {
	if p := e.parts[i]; p != nil {
		e.parts[i] = nil
		e.collected--
		e.room = p.Size()
		e.chans[i].put(item{kind: itemRows, batch: p})
	}
}

// flush sends the rows that were collected, and reports whether there were any.
func (e *outEdge) flush() bool {
	if e.collected == 0 {
		return false
	}
	for i := range e.parts {
		e.flushPart(i)
	}
	return true
}

// broadcast sends an item to all receivers, behind all rows sent before.
func (e *outEdge) broadcast(it item) {
	e.flush()
	for _, c := range e.chans {
		c.put(it)
	}
}
