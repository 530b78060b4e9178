// Package script is the connector of test scripts: a table whose rows a script
// feeds in, or whose changes a script looks at. A program gets at its tables by
// a Hub, which it puts into connector.Table.Shared under HubKey.
package script

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/format"
	"github.com/millstream-io/millstream/types"
)

// HubKey is the key of the *Hub in connector.Table.Shared.
const HubKey = "script"

// Def defines the connector.
var Def = connector.Def{
	Name: "script",
	Doc: `Tables of test scripts (see docs/testing.md). As a source it gives the rows that the script feeds, as a sink it
keeps what it receives for the script to compare.`,
	Options: []format.Option{
		{Name: "changelog", Kind: format.Enum, Default: "append", Values: []string{"append", "upsert", "retract"}, Own: true,
			Doc: "the kinds of change that the table sends or takes: +I; +I, +U and -D by primary key; or all"},
		{Name: "lookup", Kind: format.Bool, Default: "false", Own: true, Doc: "the table can be looked up in joins"},
	},
	NullTimes: true,
	NewSource: newSource,
	NewSink:   newSink,
}

func init() { connector.Register(&Def) }

// Hub holds the inputs and outputs of a script's tables by table name. It may
// be used from several goroutines.
type Hub struct {
	mu      sync.Mutex
	inputs  map[string]*Input
	outputs map[string]*Output
	// fed counts what was fed to all tables together; readers see the first
	// limit of it.
	fed, limit int
}

// NewHub returns an empty hub.
func NewHub() *Hub {
	return &Hub{inputs: map[string]*Input{}, outputs: map[string]*Output{}}
}

// Input returns the input of a table.
func (h *Hub) Input(table string) *Input {
	h.mu.Lock()
	defer h.mu.Unlock()
	in := h.inputs[table]
	if in == nil {
		in = &Input{hub: h}
		h.inputs[table] = in
	}
	return in
}

// Output returns what a table received.
func (h *Hub) Output(table string) *Output {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := h.outputs[table]
	if out == nil {
		out = &Output{}
		h.outputs[table] = out
	}
	return out
}

// Reset forgets all rows of all tables, at the start of a query.
func (h *Hub) Reset() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.inputs, h.outputs = map[string]*Input{}, map[string]*Output{}
	h.fed, h.limit = 0, 0
}

// Fed returns how many rows and signals were fed to all tables together.
func (h *Hub) Fed() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.fed
}

// Limit lets readers see only the first n of what was fed. A script that
// repeats what came after a checkpoint raises it step by step, so that the
// tables' inputs mix as they did before.
func (h *Hub) Limit(n int) {
	h.mu.Lock()
	h.limit = n
	var wake []func()
	for _, in := range h.inputs {
		wake = append(wake, in.wake...)
	}
	h.mu.Unlock()
	for _, w := range wake {
		w()
	}
}

// Input is what was fed to a table: a log that a restored reader reads again.
type Input struct {
	hub *Hub
	// log and wake are guarded by hub.mu.
	log  []entry
	wake []func()
}

type entryKind uint8

const (
	rows entryKind = iota
	release
	watermark
	idle
	end
)

type entry struct {
	kind entryKind
	// no is its place among all entries of the hub.
	no    int
	batch *batch.Batch
	wm    int64
}

func (in *Input) add(e entry) {
	in.hub.mu.Lock()
	e.no = in.hub.fed
	in.hub.fed++
	in.hub.limit = in.hub.fed
	in.log = append(in.log, e)
	wake := in.wake
	in.hub.mu.Unlock()
	for _, w := range wake {
		w()
	}
}

// Feed adds rows: a batch of all physical columns of the table. The watermark
// that they allow waits for Release.
func (in *Input) Feed(b *batch.Batch) { in.add(entry{kind: rows, batch: b}) }

// Release sends the watermark that the rows fed so far allow.
func (in *Input) Release() { in.add(entry{kind: release}) }

// Watermark sends a watermark, for tables with SOURCE_WATERMARK().
func (in *Input) Watermark(ms int64) { in.add(entry{kind: watermark, wm: ms}) }

// Idle makes the table's split idle until the next row.
func (in *Input) Idle() { in.add(entry{kind: idle}) }

// End ends the table's input.
func (in *Input) End() { in.add(entry{kind: end}) }

func (in *Input) at(i int) (entry, bool) {
	in.hub.mu.Lock()
	defer in.hub.mu.Unlock()
	if i >= len(in.log) || in.log[i].no >= in.hub.limit {
		return entry{}, false
	}
	return in.log[i], true
}

type source struct {
	in     *Input
	table  *connector.Table
	wanted []int
	modes  connector.Modes
}

func hubOf(t *connector.Table) (*Hub, error) {
	h, ok := t.Shared[HubKey].(*Hub)
	if !ok {
		return nil, fmt.Errorf("the connector 'script' works in test scripts only (millstream test)")
	}
	return h, nil
}

func newSource(t *connector.Table) (connector.Source, error) {
	h, err := hubOf(t)
	if err != nil {
		return nil, err
	}
	s := &source{in: h.Input(t.Name), table: t, wanted: t.Wanted}
	s.modes, err = modes(t)
	return s, err
}

func modes(t *connector.Table) (connector.Modes, error) {
	switch t.Options.Enum("changelog") {
	case "retract":
		return connector.AllModes, nil
	case "upsert":
		if len(t.PrimaryKey) == 0 {
			return connector.Modes{}, fmt.Errorf("'changelog' = 'upsert' needs a primary key")
		}
		return connector.Modes{Update: true, Delete: true, Upsert: true}, nil
	}
	return connector.InsertOnly, nil
}

func (s *source) Bounded() bool          { return false }
func (s *source) Interval() int64        { return 0 }
func (s *source) Modes() connector.Modes { return s.modes }

func (s *source) Discover(_ context.Context, seen map[string]bool) ([]connector.Split, error) {
	const only = "script"
	if seen[only] {
		return nil, nil
	}
	return []connector.Split{{ID: only}}, nil
}

func (s *source) Open(ctx *connector.ReaderContext, _ connector.Split, position []byte) (connector.Reader, error) {
	r := &reader{source: s}
	if position != nil {
		if len(position) != 8 {
			return nil, fmt.Errorf("position of script table %s has %d bytes, not 8", s.table.Name, len(position))
		}
		r.next = int(binary.BigEndian.Uint64(position))
	}
	// Whether the split was idle is a matter of the entry before.
	if r.next > 0 {
		e, ok := s.in.at(r.next - 1)
		r.idle = ok && e.kind == idle
	}
	s.in.hub.mu.Lock()
	s.in.wake = append(s.in.wake, ctx.Wake)
	s.in.hub.mu.Unlock()
	return r, nil
}

type reader struct {
	*source
	next int
	idle bool
}

// Read implements connector.Reader: one entry of the log each time.
func (r *reader) Read(int) (connector.Chunk, error) {
	e, ok := r.in.at(r.next)
	if !ok {
		c := connector.Chunk{Status: connector.Wait, Hold: true}
		if r.idle {
			c.Status = connector.Idle
		}
		return c, nil
	}
	r.next++
	r.idle = e.kind == idle
	c := connector.Chunk{Position: binary.BigEndian.AppendUint64(nil, uint64(r.next))}
	switch e.kind {
	case rows:
		c.Batch, c.Hold = r.project(e.batch), true
	case watermark:
		c.Watermark, c.HasWatermark = e.wm, true
	case idle:
		c.Status = connector.Idle
	case end:
		c.Status = connector.End
	}
	return c, nil
}

func (r *reader) project(b *batch.Batch) *batch.Batch {
	cols := make([]batch.Vector, len(r.wanted))
	for i, w := range r.wanted {
		cols[i] = b.Cols[w]
	}
	return b.WithCols(r.table.Schema, cols)
}

// Close implements connector.Reader.
func (r *reader) Close() error { return nil }

// Change is a row that a sink received, as cells.
type Change struct {
	Kind types.RowKind
	// Cells are the row's cells joined by " | ", Key those of the primary key.
	Cells, Key string
}
