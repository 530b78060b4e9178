package script

import (
	"sync"
	"time"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/internal/text"
)

// Output is what a sink has received, in order.
type Output struct {
	mu      sync.Mutex
	changes []Change
}

// Len is the number of changes.
func (o *Output) Len() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.changes)
}

// From returns the changes from the i-th on.
func (o *Output) From(i int) []Change {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.changes[i:len(o.changes):len(o.changes)]
}

// Truncate forgets the changes from the n-th on: what came after a checkpoint
// from which a script goes on.
func (o *Output) Truncate(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.changes = o.changes[:n]
}

type sink struct {
	out   *Output
	key   []int
	form  *text.Form
	modes connector.Modes
}

func newSink(t *connector.Table) (connector.Sink, error) {
	h, err := hubOf(t)
	if err != nil {
		return nil, err
	}
	s := &sink{out: h.Output(t.Name), key: t.PrimaryKey, form: text.NewForm(t.Env.Zone)}
	s.modes, err = modes(t)
	return s, err
}

// NewCollector returns a sink that takes every kind of change and keeps it in
// o. Times with a zone are shown in zone.
func NewCollector(o *Output, zone *time.Location) connector.Sink {
	return &sink{out: o, modes: connector.AllModes, form: text.NewForm(zone)}
}

// Accepts implements connector.Sink.
func (s *sink) Accepts() connector.Modes { return s.modes }

// Open implements connector.Sink. The writer has no state: the script itself
// takes back what came after a checkpoint.
func (s *sink) Open(*connector.WriterContext, [][]byte) (connector.Writer, error) {
	return &writer{sink: s}, nil
}

type writer struct {
	*sink
	buf []byte
}

// Write implements connector.Writer.
func (w *writer) Write(b *batch.Batch) error {
	changes := make([]Change, 0, b.Rows())
	for i := range b.Rows() {
		p := b.At(i)
		c := Change{Kind: b.Kind(p), Cells: w.cells(b, p, nil)}
		if len(w.key) > 0 {
			c.Key = w.cells(b, p, w.key)
		}
		changes = append(changes, c)
	}
	w.out.mu.Lock()
	defer w.out.mu.Unlock()
	w.out.changes = append(w.out.changes, changes...)
	return nil
}

// cells prints some columns of a row; nil means all.
func (w *writer) cells(b *batch.Batch, p int, cols []int) string {
	w.buf = w.buf[:0]
	n := len(cols)
	if cols == nil {
		n = len(b.Cols)
	}
	for i := range n {
		c := i
		if cols != nil {
			c = cols[i]
		}
		if i > 0 {
			w.buf = append(w.buf, " | "...)
		}
		w.buf = w.form.AppendCell(w.buf, b.Cols[c], p)
	}
	return string(w.buf)
}

// Barrier implements connector.Writer.
func (w *writer) Barrier(int64, bool) ([]byte, error) { return nil, nil }

// Committed implements connector.Writer.
func (w *writer) Committed(int64) error { return nil }

// Close implements connector.Writer.
func (w *writer) Close() error { return nil }
