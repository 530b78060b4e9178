package runtime

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/millstream-io/millstream/internal/checkpoint"
	"github.com/millstream-io/millstream/internal/op"
)

// maxSamples is the number of examples that are kept for each counter.
const maxSamples = 3

// stats is what one instance of a node counts. It is written by the instance's
// task and may be read from any goroutine.
type stats struct {
	in, out, watermark atomic.Int64

	mu       sync.Mutex
	counters map[string]int64
	samples  map[string][]string
}

func newStats() *stats {
	s := &stats{counters: map[string]int64{}, samples: map[string][]string{}}
	s.watermark.Store(op.MinWatermark)
	return s
}

func (s *stats) count(name string, n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counters[name] += n
}

func (s *stats) sample(name string, text func() string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if list := s.samples[name]; len(list) < maxSamples {
		s.samples[name] = append(list, text())
	}
}

// counts returns the counters by name.
func (s *stats) counts() []checkpoint.Counter {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []checkpoint.Counter
	for name, n := range s.counters {
		out = append(out, checkpoint.Counter{Name: name, N: n})
	}
	slices.SortFunc(out, func(a, b checkpoint.Counter) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Metrics is what can be seen of a running job from outside.
type Metrics struct {
	Nodes []NodeMetrics
	// Checkpoint is the number of the last durable checkpoint, 0 if there is
	// none, and CheckpointTime when it was begun, in ms since the epoch.
	Checkpoint, CheckpointTime int64
	// FailedCheckpoints counts those that were given up, and Failures are the last
	// ones, the newest behind.
	FailedCheckpoints int64
	Failures          []CheckpointFailure
}

// NodeMetrics are the sums over the instances of a node.
type NodeMetrics struct {
	ID, Name string
	// Source and Sink say what the node is; an operator is neither.
	Source, Sink bool
	// In and Out are numbers of rows since the start of this run.
	In, Out int64
	// Watermark is the smallest one of the instances.
	Watermark int64
	// Counters are counted over all runs of the job. Samples are examples of
	// what was counted.
	Counters map[string]int64
	Samples  map[string][]string
}

// Metrics returns the job's figures. It may be called from any goroutine.
func (j *Job) Metrics() Metrics {
	m := Metrics{
		Checkpoint: j.lastCheckpoint.Load(), CheckpointTime: j.lastCheckpointTime.Load(),
	}
	m.FailedCheckpoints, m.Failures = j.failed.read()
	for _, n := range j.graph.Nodes {
		nm := NodeMetrics{
			ID: n.ID, Name: n.Name, Source: n.Source != nil, Sink: n.Sink != nil, Watermark: op.MaxWatermark,
			Counters: map[string]int64{}, Samples: map[string][]string{},
		}
		for _, s := range j.stats[n] {
			nm.add(s)
		}
		m.Nodes = append(m.Nodes, nm)
	}
	return m
}

func (m *NodeMetrics) add(s *stats) {
	m.In += s.in.Load()
	m.Out += s.out.Load()
	m.Watermark = min(m.Watermark, s.watermark.Load())
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, n := range s.counters {
		m.Counters[name] += n
	}
	for name, list := range s.samples {
		if room := maxSamples - len(m.Samples[name]); room > 0 {
			m.Samples[name] = append(m.Samples[name], list[:min(room, len(list))]...)
		}
	}
}
