// Package statetable is the connector "state": the state of an operator of a job
// as a table. SQL says STATE('job', 'operator') for it.
//
// Where state is, and how it is read, is the program's business: it puts a Store
// into connector.Table.Shared under Key.
package statetable

import (
	"context"
	"fmt"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/format"
	"github.com/millstream-io/millstream/types"
)

// Key is the key of the Store in connector.Table.Shared.
const Key = "state-tables"

// Ref says whose state is meant.
type Ref struct {
	// Job is the name of the job, Operator the ID of one of its operators, or
	// "ID/table" for one of its tables.
	Job, Operator string
	// Checkpoint is the number of a checkpoint of the job, or the path of a
	// savepoint; empty for the state as it is now.
	Checkpoint string
}

// Store finds and reads state.
type Store interface {
	// Describe returns the columns of the table. The error may be an
	// *UnknownError.
	Describe(ref Ref) (*types.Schema, error)
	// Open begins to read the rows, the largest ones first.
	Open(ctx context.Context, ref Ref) (Rows, error)
}

// Rows are the rows of a state table.
type Rows interface {
	// Next returns the next rows; nil at the end.
	Next() (*batch.Batch, error)
	Close() error
}

// UnknownError says that a job or an operator does not exist.
type UnknownError struct {
	// Msg says so, and lists what there is.
	Msg string
	// Name is what was asked for, Known is what there is.
	Name  string
	Known []string
}

// Error returns the message.
func (e *UnknownError) Error() string { return e.Msg }

// The names of the options.
const (
	Job        = "job"
	Operator   = "operator"
	Checkpoint = "checkpoint"
)

func init() {
	connector.Register(&connector.Def{
		Name: "state",
		Doc: "Reads the state of an operator of a job in the data directory: live, if the job runs, otherwise from its newest checkpoint. STATE('job', 'operator') " +
			"is the same without a table; see docs/state.md. The columns must be those that DESCRIBE shows for it.",
		Options: []format.Option{
			{Name: Job, Required: true, Doc: "the job's name"},
			{Name: Operator, Required: true, Doc: "the ID of the operator, as EXPLAIN shows it; ID/table is one of its tables"},
			{Name: Checkpoint, Doc: "the number of a checkpoint, or the path of a savepoint"},
		},
		NewSource: newSource,
	})
}

// StoreOf returns the program's store.
func StoreOf(shared map[string]any) (Store, error) {
	s, ok := shared[Key].(Store)
	if !ok {
		return nil, fmt.Errorf("the state of jobs cannot be read here, only by the commands run, sql and explain of millstream")
	}
	return s, nil
}

type source struct {
	store  Store
	ref    Ref
	table  *connector.Table
	wanted []int
}

func newSource(t *connector.Table) (connector.Source, error) {
	store, err := StoreOf(t.Shared)
	if err != nil {
		return nil, err
	}
	s := &source{store: store, table: t, wanted: t.Wanted,
		ref: Ref{t.Options.Text(Job), t.Options.Text(Operator), t.Options.Text(Checkpoint)}}
	has, err := store.Describe(s.ref)
	if err != nil {
		return nil, err
	}
	if !sameColumns(has, t.Physical) {
		return nil, fmt.Errorf("the columns of this state are (%s), not (%s)", has, t.Physical)
	}
	return s, nil
}

func sameColumns(a, b *types.Schema) bool {
	if len(a.Fields) != len(b.Fields) {
		return false
	}
	for i, f := range a.Fields {
		if f.Name != b.Fields[i].Name || !f.Type.Equal(b.Fields[i].Type) {
			return false
		}
	}
	return true
}

// Bounded implements connector.Source.
func (s *source) Bounded() bool { return true }

// Interval implements connector.Source.
func (s *source) Interval() int64 { return 0 }

// Modes implements connector.Source.
func (s *source) Modes() connector.Modes { return connector.InsertOnly }

// Discover implements connector.Source.
func (s *source) Discover(_ context.Context, seen map[string]bool) ([]connector.Split, error) {
	const only = "state"
	if seen[only] {
		return nil, nil
	}
	return []connector.Split{{ID: only, Ends: true}}, nil
}

// Open implements connector.Source. State that lives cannot be read twice alike,
// so a reader that is to go on begins anew.
func (s *source) Open(ctx *connector.ReaderContext, _ connector.Split, position []byte) (connector.Reader, error) {
	if position != nil {
		return nil, fmt.Errorf("the state of job %s changes, so reading it cannot go on after a restart", s.ref.Job)
	}
	rows, err := s.store.Open(ctx, s.ref)
	if err != nil {
		return nil, err
	}
	return &reader{s, rows, 0}, nil
}

type reader struct {
	*source
	rows Rows
	n    byte
}

// Read implements connector.Reader.
func (r *reader) Read(int) (connector.Chunk, error) {
	b, err := r.rows.Next()
	if err != nil || b == nil {
		return connector.Chunk{Status: connector.End}, err
	}
	cols := make([]batch.Vector, len(r.wanted))
	for i, w := range r.wanted {
		cols[i] = b.Cols[w]
	}
	r.n++
	return connector.Chunk{Batch: b.WithCols(r.table.Schema, cols), Position: []byte{r.n}}, nil
}

// Close implements connector.Reader.
func (r *reader) Close() error { return r.rows.Close() }
