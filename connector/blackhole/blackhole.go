// Package blackhole is the connector of sinks that drop all rows, to measure a
// query without its output.
package blackhole

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/connector"
)

// Def defines the connector.
var Def = &connector.Def{
	Name:    "blackhole",
	Doc:     "A sink that drops all rows. It takes every kind of change.",
	NewSink: func(*connector.Table) (connector.Sink, error) { return sink{}, nil },
}

func init() { connector.Register(Def) }

// sink implements connector.Sink and connector.Writer.
type sink struct{}

// Accepts implements connector.Sink.
func (sink) Accepts() connector.Modes { return connector.AllModes }

// Open implements connector.Sink.
func (s sink) Open(*connector.WriterContext, [][]byte) (connector.Writer, error) { return s, nil }

// Write implements connector.Writer.
func (sink) Write(*batch.Batch) error { return nil }

// Barrier implements connector.Writer.
func (sink) Barrier(int64, bool) ([]byte, error) { return nil, nil }

// Committed implements connector.Writer.
func (sink) Committed(int64) error { return nil }

// Close implements connector.Writer.
func (sink) Close() error { return nil }
