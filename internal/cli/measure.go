package cli

import (
	"fmt"
	"strings"

	"github.com/millstream-io/millstream/internal/checkpoint"
	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/runtime"
	"github.com/millstream-io/millstream/internal/sql/session"
)

const (
	// sampleRows is how many rows of each source a sample reads at most.
	sampleRows = 20_000
	// measuredRows is how many rows of an operator's state are looked at.
	measuredRows = 200_000
)

// explainState prints what the operators of a job keep: measured in its newest
// checkpoint, or, if there is none, with a sample of its input.
func (s *settings) explainState(j *job) (string, error) {
	m, err := s.measureJob(j)
	if m == nil && err == nil {
		m, err = measureSample(j.graph)
	}
	missing := ""
	if err != nil {
		missing = err.Error()
	}
	return session.ExplainState(j.graph, m, missing)
}

// measureJob looks into the newest checkpoint of a job, and into the one before;
// the result is nil if there is none.
func (s *settings) measureJob(j *job) (*session.StateMeasure, error) {
	if j.name == "" {
		return nil, nil
	}
	src, err := s.newest(j)
	switch {
	case isEmpty(err):
		return nil, nil
	case err != nil:
		return nil, err
	case src.Manifest.Finished:
		return nil, nil // its tables were not kept
	}
	entries, err := checkpoint.List(src.Store)
	if err != nil {
		return nil, err
	}
	var before *checkpoint.Source
	for _, e := range entries {
		if e.Manifest != nil && e.Manifest.ID < src.Manifest.ID {
			before = &checkpoint.Source{Store: src.Store, Manifest: e.Manifest}
		}
	}
	m, err := measure(j.graph, before, src)
	if err == nil {
		m.Of = fmt.Sprintf("checkpoint %d of job %s", src.Manifest.ID, j.name)
		if before != nil {
			m.Of += fmt.Sprintf(", and checkpoint %d before it", before.Manifest.ID)
		}
	}
	return m, err
}

// measureSample runs a graph over the first rows of its input.
func measureSample(g *graph.Graph) (*session.StateMeasure, error) {
	sample, err := runtime.SampleState(g, runtime.Config{}, sampleRows)
	if err != nil {
		return nil, err
	}
	m, err := measure(g, sample.Half, sample.End)
	if err != nil {
		return nil, err
	}
	var of []string
	total := int64(0)
	for i, table := range sample.Tables {
		total += sample.Rows[i]
		which := "the first %d rows of %s"
		if sample.All[i] {
			which = "all %d rows of %s"
		}
		of = append(of, fmt.Sprintf(which, sample.Rows[i], table))
	}
	if total == 0 {
		return nil, fmt.Errorf("there are no rows to read in %s", strings.Join(sample.Tables, ", "))
	}
	m.Of, m.Rows = strings.Join(of, ", "), sample.Between
	return m, nil
}

// measure looks at the tables of a graph's operators in two checkpoints, of which
// the earlier one may be nil.
func measure(g *graph.Graph, before, now *checkpoint.Source) (*session.StateMeasure, error) {
	m := &session.StateMeasure{Tables: map[string]map[string]session.Measured{}}
	for _, n := range g.Nodes {
		if n.New == nil {
			continue
		}
		sizes, err := now.Measure(n.ID, measuredRows)
		if err != nil {
			return nil, err
		}
		var earlier map[string]checkpoint.TableSize
		var passed int64
		if before != nil {
			if earlier, err = before.Measure(n.ID, measuredRows); err != nil {
				return nil, err
			}
			from, to := runtime.Watermark(before, n.ID), runtime.Watermark(now, n.ID)
			if from != op.MinWatermark && to != op.MaxWatermark {
				passed = to - from
			}
		}
		tables := map[string]session.Measured{}
		for name, size := range sizes {
			t := session.Measured{TableSize: size, Time: passed}
			if e, ok := earlier[name]; ok {
				t.Before = &e
			}
			tables[name] = t
		}
		m.Tables[n.ID] = tables
	}
	return m, nil
}
