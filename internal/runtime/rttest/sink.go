package rttest

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/connector"
)

// Sink is a target outside of the job: what was published to it stays, whatever
// happens to the job. It publishes exactly once. It may be used from several
// goroutines.
type Sink struct {
	// OnWrite, if set, is called before each Write; its error is that of Write.
	OnWrite func(b *batch.Batch) error
	// OnCheckpoint, if set, is called before each call about a checkpoint, with
	// "barrier" or "committed"; its error is that of the call.
	OnCheckpoint func(call string) error

	mu        sync.Mutex
	published map[string][]string
	// seen are the rows that were written in this run, published or not.
	seen []string
	// open is the number of writers that were opened and not closed.
	open int
}

// NewSink returns an empty sink.
func NewSink() *Sink { return &Sink{published: map[string][]string{}} }

// Published returns all published rows, sorted.
func (s *Sink) Published() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, rows := range s.published {
		out = append(out, rows...)
	}
	slices.Sort(out)
	return out
}

// Seen returns the rows that the writers of the last run have got, in order.
func (s *Sink) Seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

// at asks OnCheckpoint.
func (s *Sink) at(call string) error {
	if s.OnCheckpoint == nil {
		return nil
	}
	return s.OnCheckpoint(call)
}

// OpenWriters returns the number of writers that were opened and not closed.
func (s *Sink) OpenWriters() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// Accepts implements connector.Sink.
func (s *Sink) Accepts() connector.Modes { return connector.AllModes }

// transaction is what a writer has written between two barriers.
type transaction struct {
	Name string
	ID   int64
	Rows []string
}

// Open implements connector.Sink: it publishes what the last run may have left.
func (s *Sink) Open(ctx *connector.WriterContext, restored [][]byte) (connector.Writer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = nil
	for _, state := range restored {
		var list []transaction
		if err := json.Unmarshal(state, &list); err != nil {
			return nil, err
		}
		for _, t := range list {
			s.published[t.Name] = t.Rows
		}
	}
	s.open++
	return &writer{sink: s, name: fmt.Sprintf("%d/%d", ctx.Incarnation, ctx.Subtask)}, nil
}

type writer struct {
	sink *Sink
	name string
	rows []string
	// done are the transactions that wait for Committed.
	done []transaction
	last int64
}

// Write implements connector.Writer.
func (w *writer) Write(b *batch.Batch) error {
	if w.sink.OnWrite != nil {
		if err := w.sink.OnWrite(b); err != nil {
			return err
		}
	}
	w.sink.mu.Lock()
	defer w.sink.mu.Unlock()
	for _, r := range Rows(b) {
		w.rows = append(w.rows, r.String())
		w.sink.seen = append(w.sink.seen, r.String())
	}
	return nil
}

// Barrier implements connector.Writer.
func (w *writer) Barrier(id int64, _ bool) ([]byte, error) {
	if err := w.sink.at("barrier"); err != nil {
		return nil, err
	}
	if id <= w.last {
		return nil, fmt.Errorf("barrier %d after %d", id, w.last)
	}
	w.last = id
	w.done = append(w.done, transaction{fmt.Sprintf("%s/%d", w.name, id), id, w.rows})
	w.rows = nil
	return json.Marshal(w.done)
}

// Committed implements connector.Writer.
func (w *writer) Committed(id int64) error {
	if err := w.sink.at("committed"); err != nil {
		return err
	}
	w.sink.mu.Lock()
	defer w.sink.mu.Unlock()
	for len(w.done) > 0 && w.done[0].ID <= id {
		w.sink.published[w.done[0].Name] = w.done[0].Rows
		w.done = w.done[1:]
	}
	return nil
}

// Close implements connector.Writer.
func (w *writer) Close() error {
	w.sink.mu.Lock()
	defer w.sink.mu.Unlock()
	w.sink.open--
	return nil
}
