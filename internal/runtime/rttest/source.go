package rttest

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/internal/graph"
)

// Source is a table in memory. Its splits can be fed while a job runs, and keep
// what they were fed, so that they can be read again. It may be used from
// several goroutines.
type Source struct {
	// Chunk is the number of rows of a chunk, whatever the runtime asks for.
	Chunk int
	// Every is the discovery interval in ms; 0 with splits that end makes the
	// source bounded.
	Every int64
	// Unbounded is set if the splits may have no end.
	Unbounded bool
	// OnRead, if set, is called before each Read; its error is that of Read.
	OnRead func(split string) error

	mu     sync.Mutex
	splits []*Split
	wake   []func()
	read   int64
}

// Split is one split of a Source.
type Split struct {
	ID           string
	Ends, Sequel bool

	source *Source
	rows   []Row
	ended  bool
	idle   bool
}

// NewSource returns a bounded source with one split for each list of rows.
func NewSource(chunk int, splits ...[]Row) *Source {
	s := &Source{Chunk: chunk}
	for i, rows := range splits {
		s.Add(fmt.Sprintf("split%02d", i)).Feed(rows...).End()
	}
	return s
}

// Add makes one more split.
func (s *Source) Add(id string) *Split {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &Split{ID: id, source: s}
	s.splits = append(s.splits, p)
	return p
}

// change changes a split and wakes the readers.
func (p *Split) change(f func()) *Split {
	p.source.mu.Lock()
	f()
	wake := p.source.wake
	p.source.mu.Unlock()
	for _, w := range wake {
		w()
	}
	return p
}

// Feed adds rows.
func (p *Split) Feed(rows ...Row) *Split {
	return p.change(func() { p.rows, p.idle = append(p.rows, rows...), false })
}

// End ends the split.
func (p *Split) End() *Split { return p.change(func() { p.ended = true }) }

// Idle makes the split say that it is idle when it has no more rows.
func (p *Split) Idle() *Split { return p.change(func() { p.idle = true }) }

// Read is the number of rows that were read, over all runs.
func (s *Source) Read() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.read
}

// Bounded implements connector.Source.
func (s *Source) Bounded() bool { return !s.Unbounded }

// Interval implements connector.Source.
func (s *Source) Interval() int64 { return s.Every }

// Modes implements connector.Source.
func (s *Source) Modes() connector.Modes { return connector.InsertOnly }

// Discover implements connector.Source.
func (s *Source) Discover(_ context.Context, seen map[string]bool) ([]connector.Split, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []connector.Split
	for _, p := range s.splits {
		if !seen[p.ID] {
			out = append(out, connector.Split{ID: p.ID, Data: []byte(p.ID), Ends: p.Ends, Sequel: p.Sequel})
		}
	}
	return out, nil
}

// Open implements connector.Source.
func (s *Source) Open(ctx *connector.ReaderContext, c connector.Split, position []byte) (connector.Reader, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wake = append(s.wake, ctx.Wake)
	for _, p := range s.splits {
		if p.ID == string(c.Data) {
			next, _ := binary.Uvarint(position)
			return &reader{p, int(next)}, nil
		}
	}
	return nil, fmt.Errorf("no split %q", c.ID)
}

type reader struct {
	*Split
	next int
}

// Read implements connector.Reader.
func (r *reader) Read(int) (connector.Chunk, error) {
	s := r.source
	if s.OnRead != nil {
		if err := s.OnRead(r.ID); err != nil {
			return connector.Chunk{}, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := min(s.Chunk, len(r.rows)-r.next)
	c := connector.Chunk{Status: connector.More}
	if n > 0 {
		c.Batch = Batch(r.rows[r.next : r.next+n]...)
		r.next += n
		s.read += int64(n)
		c.Position = binary.AppendUvarint(nil, uint64(r.next))
	}
	if r.next == len(r.rows) {
		switch {
		case r.ended:
			c.Status = connector.End
		case r.idle:
			c.Status = connector.Idle
		default:
			c.Status = connector.Wait
		}
	}
	return c, nil
}

// Close implements connector.Reader.
func (r *reader) Close() error { return nil }

// Watermark returns a watermark function: the time of a row, less a delay.
func Watermark(delay int64) func() (graph.WatermarkFn, error) {
	return func() (graph.WatermarkFn, error) {
		return func(b *batch.Batch) (graph.Marks, error) {
			times := slices.Clone(Column(b, 2))
			for i := range times {
				times[i] -= delay
			}
			return graph.Marks{Times: times}, nil
		}, nil
	}
}
