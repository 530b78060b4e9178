package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/internal/blob"
	"github.com/millstream-io/millstream/internal/checkpoint"
	"github.com/millstream-io/millstream/internal/clock"
	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/internal/vfs"
)

// StateSample is the state that a graph had after some of its input was read.
type StateSample struct {
	// Tables are the sources, and Rows how many rows of each were read; All is set
	// for those that have no more.
	Tables []string
	Rows   []int64
	All    []bool
	// Half is a checkpoint from the middle, End that from the end; between them so
	// many rows were read.
	Half, End *checkpoint.Source
	Between   int64
}

const (
	// samplePatience is the time that a sample may take, and sampleTick how far its
	// clock goes on when its sources have nothing to give.
	samplePatience = 3 * time.Second
	sampleTick     = 100 * time.Millisecond
	sampleTicks    = 600
	sampleJob      = "sample"
)

// SampleState reads the first rows of a graph's sources, at most so many of each,
// and takes checkpoints on the way. Nothing is written, and nothing is taken away
// from the sources; those that do not allow that are refused. Windows stay open at
// the end of the input.
func SampleState(g *graph.Graph, cfg Config, rows int64) (*StateSample, error) {
	s, err := sampleState(g, cfg, rows/2, rows)
	if err != nil || s.Between > 0 {
		return s, err
	}
	// There are fewer rows than that: the middle is elsewhere.
	return sampleState(g, cfg, (slices.Max(append(s.Rows, 0))+1)/2, rows)
}

func sampleState(g *graph.Graph, cfg Config, first, rows int64) (_ *StateSample, err error) {
	copied, sources, err := sampleGraph(g)
	if err != nil {
		return nil, err
	}
	fs := vfs.NewMem()
	data, err := OpenData(fs, "/sample", sampleJob)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, data.Close()) }()
	now := clock.NewManual(cfg.Defaults().Clock.Now())
	cfg = Config{Job: sampleJob, BatchSize: cfg.BatchSize, Clock: now, Checkpoint: checkpoint.Config{Retained: 2}, State: StateConfig{Backend: state.Memory}}
	j, err := NewJob(copied, cfg, data)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	s := &sampler{job: j, now: now, sources: sources, until: time.Now().Add(samplePatience)}
	out := &StateSample{}
	if out.Half, err = s.read(first); err != nil {
		return nil, err
	}
	half := s.rows()
	if out.End, err = s.read(rows); err != nil {
		return nil, err
	}
	out.Between = s.rows() - half
	for _, src := range sources {
		out.Tables, out.Rows, out.All = append(out.Tables, src.table), append(out.Rows, src.rows), append(out.All, src.ended())
	}
	return out, nil
}

// sampleGraph copies a graph for a sample: one task for each node, sources that
// stop on the way, and sinks that write nothing.
func sampleGraph(g *graph.Graph) (*graph.Graph, []*sampledSource, error) {
	out := &graph.Graph{}
	copies := map[*graph.Node]*graph.Node{}
	var sources []*sampledSource
	for _, n := range g.Nodes {
		c := *n
		c.Parallelism, c.Inputs = 1, nil
		for _, e := range n.Inputs {
			e.From = copies[e.From]
			c.Inputs = append(c.Inputs, e)
		}
		switch {
		case n.Source != nil:
			if r, ok := n.Source.Source.(connector.Rereadable); !ok || !r.Rereadable() {
				return nil, nil, fmt.Errorf("reading table %s for a look would take its rows away, or change something", n.Source.Table)
			}
			src := *n.Source
			s := &sampledSource{Source: src.Source, table: src.Table}
			src.Source, c.Source = s, &src
			sources = append(sources, s)
		case n.Sink != nil:
			c.Sink = &graph.Sink{Table: n.Sink.Table, Sink: nowhere{}}
		}
		copies[n] = &c
		out.Nodes = append(out.Nodes, &c)
	}
	return out, sources, nil
}

// sampler runs the job of a sample.
type sampler struct {
	job     *Job
	now     *clock.Manual
	sources []*sampledSource
	until   time.Time
}

func (s *sampler) rows() (n int64) {
	for _, src := range s.sources {
		n += src.rows
	}
	return n
}

// read lets each source go on to so many rows and takes a checkpoint.
func (s *sampler) read(limit int64) (*checkpoint.Source, error) {
	for range sampleTicks {
		full := true
		for _, src := range s.sources {
			src.limit = limit
			src.wake()
			full = full && (src.rows >= limit || src.ended())
		}
		if full || time.Now().After(s.until) {
			break
		}
		if err := s.job.Drain(); err != nil {
			return nil, err
		}
		s.now.Advance(sampleTick)
	}
	if err := s.job.Checkpoint(); err != nil {
		return nil, err
	}
	store := blob.NewDir(s.job.data.fs, s.job.data.file(dirName))
	return checkpoint.Find(store, s.job.lastCheckpoint.Load())
}

// Watermark is the least watermark that the instances of a node had seen;
// op.MinWatermark if that is not known.
func Watermark(src *checkpoint.Source, node string) int64 {
	n := src.Manifest.Node(node)
	if n == nil || len(n.Subtasks) == 0 {
		return op.MinWatermark
	}
	wm := int64(op.MaxWatermark)
	for _, s := range n.Subtasks {
		wm = min(wm, s.Watermark)
	}
	return wm
}

// sampledSource is a source that gives no more rows than it may, and whose last
// split does not end: the state that is there before the end is what counts.
type sampledSource struct {
	connector.Source
	table       string
	limit, rows int64
	// open are its splits that have not ended, wakes those that wait.
	splits, done int
	wakes        []func()
}

// ended reports whether everything was read.
func (s *sampledSource) ended() bool { return s.splits > 0 && s.done == s.splits }

func (s *sampledSource) wake() {
	for _, w := range s.wakes {
		w()
	}
}

// Interval implements connector.Source: what is there at the start is enough.
func (s *sampledSource) Interval() int64 { return 0 }

// Discover implements connector.Source.
func (s *sampledSource) Discover(ctx context.Context, seen map[string]bool) ([]connector.Split, error) {
	list, err := s.Source.Discover(ctx, seen)
	s.splits += len(list)
	return list, err
}

// Open implements connector.Source.
func (s *sampledSource) Open(ctx *connector.ReaderContext, split connector.Split, position []byte) (connector.Reader, error) {
	r, err := s.Source.Open(ctx, split, position)
	if err != nil {
		return nil, err
	}
	s.wakes = append(s.wakes, ctx.Wake)
	return &sampledReader{Reader: r, source: s}, nil
}

type sampledReader struct {
	connector.Reader
	source *sampledSource
	over   bool
}

// Read implements connector.Reader.
func (r *sampledReader) Read(most int) (connector.Chunk, error) {
	s := r.source
	if r.over || s.rows >= s.limit {
		return connector.Chunk{Status: connector.Wait}, nil
	}
	c, err := r.Reader.Read(int(min(int64(most), s.limit-s.rows)))
	if err != nil {
		return c, err
	}
	if c.Batch != nil {
		s.rows += int64(c.Batch.Rows())
	}
	if c.Status == connector.End {
		if s.done++; s.ended() {
			c.Status, r.over = connector.Wait, true
		}
	}
	return c, nil
}

// nowhere is a sink that takes everything and writes nothing.
type nowhere struct{}

// Accepts implements connector.Sink.
func (nowhere) Accepts() connector.Modes { return connector.AllModes }

// Open implements connector.Sink.
func (nowhere) Open(*connector.WriterContext, [][]byte) (connector.Writer, error) {
	return nowhere{}, nil
}

// Write implements connector.Writer.
func (nowhere) Write(*batch.Batch) error { return nil }

// Barrier implements connector.Writer.
func (nowhere) Barrier(int64, bool) ([]byte, error) { return nil, nil }

// Committed implements connector.Writer.
func (nowhere) Committed(int64) error { return nil }

// Close implements connector.Writer.
func (nowhere) Close() error { return nil }
