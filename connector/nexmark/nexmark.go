// Package nexmark is the connector of the Nexmark workload: a bounded stream of people, auctions and bids that is
// made up on the spot, the same for everybody who asks with the same options.
package nexmark

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/connector/nexmark/gen"
	"github.com/millstream-io/millstream/format"
)

// Def defines the connector.
var Def = connector.Def{
	Name: "nexmark",
	Doc: `Events of the Nexmark benchmark (people, auctions, bids at 1:3:46), made from a seed. The table has the columns
event_type INT (0 person, 1 auction, 2 bid) and person, auction, bid, of which each row has one: ROWs of the event's
fields. A table may leave out columns and fields.`,
	Options: []format.Option{
		{Name: "events", Kind: format.Integer, Required: true, Own: true, Doc: "how many events the stream has"},
		{Name: "rate", Kind: format.Integer, Default: strconv.Itoa(gen.DefaultRate), Own: true,
			Doc: "events per second of event time"},
		{Name: "seed", Kind: format.Integer, Default: strconv.Itoa(gen.DefaultSeed), Own: true,
			Doc: "other seeds give other events"},
		{Name: "base-ms", Kind: format.Integer, Default: strconv.Itoa(gen.DefaultBase), Own: true,
			Doc: "time of the first event, in ms since 1970-01-01 UTC"},
		{Name: "disorder", Kind: format.Integer, Default: "1", Own: true,
			Doc: "events come shuffled within groups of so many, a power of two; 1 keeps their order"},
		{Name: "late", Kind: format.Integer, Default: "0", Own: true,
			Doc: "so many events of a thousand carry an earlier time"},
		{Name: "late-ms", Kind: format.Integer, Default: strconv.Itoa(gen.DefaultLateMs), Own: true,
			Doc: "how much earlier at most, in ms"},
		{Name: "preload", Kind: format.Bool, Default: "false", Own: true,
			Doc: "make all rows before the first is read, and keep them in memory; for measurements"},
		{Name: "pace", Kind: format.Integer, Default: "0", Own: true,
			Doc: "rows per second of real time; 0 is as fast as possible"},
		{Name: "live", Kind: format.Bool, Default: "false", Own: true,
			Doc: "rows come at the time that they carry: 'rate' of them in a second, the first at 'base-ms', or as soon as can be"},
		{Name: "batch", Kind: format.Integer, Default: "1", Own: true,
			Doc: "rows per batch at most; 1 leaves that to the engine"},
		{Name: "parallelism", Kind: format.Integer, Own: true,
			Doc: "into how many splits the stream is cut; by default one for each reader"},
	},
	PartialRows: true,
	NewSource:   newSource,
}

func init() { connector.Register(&Def) }

// source is a table of events.
type source struct {
	table   *connector.Table
	params  gen.Params
	columns []column
	splits  int64
	pace    int64
	live    bool
	batch   int
	preload bool
}

func newSource(t *connector.Table) (connector.Source, error) {
	o := t.Options
	s := &source{
		table: t,
		params: gen.Params{
			Events: o.Int("events"), Rate: o.Int("rate"), Seed: o.Int("seed"), Base: o.Int("base-ms"),
			Disorder: o.Int("disorder"), Late: o.Int("late"), LateMs: o.Int("late-ms"),
		},
		splits:  int64(t.Parallelism),
		pace:    o.Int("pace"),
		live:    o.Bool("live"),
		batch:   math.MaxInt,
		preload: o.Bool("preload"),
	}
	if err := s.params.Validate(); err != nil {
		return nil, err
	}
	for _, name := range []string{"parallelism", "batch"} {
		if o.Has(name) && (o.Int(name) < 1 || o.Int(name) > math.MaxInt32) {
			return nil, fmt.Errorf("'%s' = '%d': must be from 1 to %d", name, o.Int(name), math.MaxInt32)
		}
	}
	if s.pace < 0 {
		return nil, fmt.Errorf("'pace' = '%d': must be a number of rows per second, or 0", s.pace)
	}
	if o.Has("parallelism") {
		s.splits = o.Int("parallelism")
	}
	if n := o.Int("batch"); n > 1 {
		s.batch = int(n)
	}
	if _, err := columnsOf(t.Physical); err != nil {
		return nil, err
	}
	var err error
	s.columns, err = columnsOf(t.Schema)
	return s, err
}

// Bounded implements connector.Source.
func (s *source) Bounded() bool { return true }

// Rereadable implements connector.Rereadable: the rows come from nowhere.
func (s *source) Rereadable() bool { return true }

// Interval implements connector.Source.
func (s *source) Interval() int64 { return 0 }

// Modes implements connector.Source.
func (s *source) Modes() connector.Modes { return connector.InsertOnly }

// Discover implements connector.Source. A restored job goes on with the splits that it began with, whatever its
// parallelism is now.
func (s *source) Discover(_ context.Context, seen map[string]bool) ([]connector.Split, error) {
	if len(seen) > 0 {
		return nil, nil
	}
	splits := make([]connector.Split, s.splits)
	for i := range splits {
		splits[i] = connector.Split{
			ID:   fmt.Sprintf("%d-of-%d", i+1, s.splits),
			Data: binary.AppendUvarint(binary.AppendUvarint(nil, uint64(i)), uint64(s.splits)),
		}
	}
	return splits, nil
}

// Open implements connector.Source.
func (s *source) Open(ctx *connector.ReaderContext, split connector.Split, position []byte) (connector.Reader, error) {
	g, err := gen.New(s.params)
	if err != nil {
		return nil, err
	}
	index, n := binary.Uvarint(split.Data)
	of, m := binary.Uvarint(split.Data[max(n, 0):])
	if n <= 0 || m <= 0 || index >= of {
		return nil, fmt.Errorf("table %s: split %q is damaged: its data is %x", s.table.Name, split.ID, split.Data)
	}
	var next uint64
	if position != nil {
		if next, n = binary.Uvarint(position); n != len(position) {
			return nil, fmt.Errorf("table %s: the saved position %x of split %q is damaged", s.table.Name, position, split.ID)
		}
	}
	r := &reader{
		source: s, split: gen.Split{Index: int64(index), Of: int64(of)}, next: int64(next), block: g.NewBlock(), sizes: textSizes{},
	}
	r.end = max(r.split.Len(s.params.Events), r.next) // a restored table may have fewer events than it had
	switch {
	case s.live:
		r.pacer = newPacer(ctx, s.params.Rate, r.split, 0)
		r.pacer.start = s.params.Base
	case s.pace > 0:
		r.pacer = newPacer(ctx, s.pace, r.split, r.next)
	}
	if s.preload {
		r.preload()
		fmt.Fprintf(s.table.Stderr, "nexmark %s %s: preloaded %d rows\n", s.table.Name, split.ID, r.end-r.next)
	}
	return r, nil
}

// reader gives the rows of a split.
type reader struct {
	source    *source
	split     gen.Split
	next, end int64 // rows of the split
	block     *gen.Block
	sizes     textSizes
	pacer     *pacer
	ready     []*batch.Batch // preloaded, those that are not read to their end
	used      int            // rows of ready[0] that were read
}

// Read implements connector.Reader.
func (r *reader) Read(most int) (connector.Chunk, error) {
	n := min(int64(most), int64(r.source.batch), r.end-r.next)
	if r.pacer != nil && n > 0 {
		if n = min(n, r.pacer.due(r.next, r.end)); n == 0 {
			return connector.Chunk{Status: connector.Wait}, nil
		}
	}
	chunk := connector.Chunk{Status: connector.More}
	if n > 0 {
		if r.source.preload {
			chunk.Batch = r.stored(int(n))
		} else {
			chunk.Batch = r.generate(r.next, int(n))
		}
		r.next += int64(chunk.Batch.Size())
		chunk.Position = binary.AppendUvarint(nil, uint64(r.next))
	}
	if r.next == r.end {
		chunk.Status = connector.End
	}
	return chunk, nil
}

// preload makes all batches that are left to read.
func (r *reader) preload() {
	size := int64(min(batch.DefaultSize, r.source.batch))
	for from := r.next; from < r.end; from += size {
		r.ready = append(r.ready, r.generate(from, int(min(size, r.end-from))))
	}
}

// stored returns at most n rows of the next preloaded batch: all of it, as it is, where it has no more.
func (r *reader) stored(n int) *batch.Batch {
	b := r.ready[0]
	left := b.Size() - r.used
	if n < left {
		b = b.Slice(r.used, r.used+n)
		r.used += n
		return b
	}
	if r.used > 0 {
		b = b.Slice(r.used, b.Size())
	}
	r.ready[0], r.used = nil, 0
	r.ready = r.ready[1:]
	return b
}

// Close implements connector.Reader.
func (r *reader) Close() error {
	if r.pacer != nil {
		r.pacer.stop()
	}
	return nil
}
