// Package print is the connector of sinks that print rows, in the form that
// Flink prints them: +I[1, a, 2024-01-02T03:04].
package print

import (
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/format"
)

const (
	optIdentifier = "print-identifier"
	optStderr     = "standard-error"
)

// Def defines the connector.
var Def = &connector.Def{
	Name: "print",
	Doc: "A sink that prints each row, such as +I[1, a]. With print-identifier, that stands in front of each line; with a " +
		"parallelism above 1, the number of the writer does: id:1> +I[1, a].",
	Options: []format.Option{
		{Name: optIdentifier, Doc: "What stands in front of each line."},
		{Name: optStderr, Kind: format.Bool, Default: "false", Doc: "Rows go to standard error instead of standard output."},
	},
	NewSink: newSink,
}

func init() { connector.Register(Def) }

// sink implements connector.Sink.
type sink struct {
	table *connector.Table
	out   io.Writer
	mu    sync.Mutex
}

func newSink(t *connector.Table) (connector.Sink, error) {
	s := &sink{table: t, out: t.Stdout}
	if t.Options.Bool(optStderr) {
		s.out = t.Stderr
	}
	if s.out == nil {
		s.out = io.Discard
	}
	return s, nil
}

// Accepts implements connector.Sink.
func (s *sink) Accepts() connector.Modes { return connector.AllModes }

// Immediate implements connector.Immediate.
func (s *sink) Immediate() string { return "the connector print" }

// Open implements connector.Sink.
func (s *sink) Open(ctx *connector.WriterContext, _ [][]byte) (connector.Writer, error) {
	prefix := s.table.Options.Text(optIdentifier)
	if ctx.Parallelism > 1 {
		if prefix != "" {
			prefix += ":"
		}
		prefix += strconv.Itoa(ctx.Subtask + 1)
	}
	if prefix != "" {
		prefix += "> "
	}
	return &writer{sink: s, prefix: prefix}, nil
}

// writer implements connector.Writer.
type writer struct {
	sink   *sink
	prefix string
	buf    []byte
}

// Write implements connector.Writer.
func (w *writer) Write(b *batch.Batch) error {
	w.buf = w.buf[:0]
	for r := range b.Rows() {
		i := b.At(r)
		w.buf = append(w.buf, w.prefix...)
		w.buf = appendRow(w.buf, b.Kind(i), b.Cols, i)
		w.buf = append(w.buf, '\n')
	}
	w.sink.mu.Lock()
	defer w.sink.mu.Unlock()
	if _, err := w.sink.out.Write(w.buf); err != nil {
		return fmt.Errorf("table %s: %w", w.sink.table.Name, err)
	}
	return nil
}

// Barrier implements connector.Writer.
func (w *writer) Barrier(int64, bool) ([]byte, error) { return nil, nil }

// Committed implements connector.Writer.
func (w *writer) Committed(int64) error { return nil }

// Close implements connector.Writer.
func (w *writer) Close() error { return nil }
