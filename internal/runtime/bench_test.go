package runtime_test

import (
	"context"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/connector"
)

// stock is a source that gives one batch many times.
type stock struct {
	batch *batch.Batch
	left  int64
}

func (s *stock) Bounded() bool          { return true }
func (s *stock) Interval() int64        { return 0 }
func (s *stock) Modes() connector.Modes { return connector.InsertOnly }
func (s *stock) Close() error           { return nil }

func (s *stock) Discover(context.Context, map[string]bool) ([]connector.Split, error) {
	return []connector.Split{{ID: "only"}}, nil
}

func (s *stock) Open(*connector.ReaderContext, connector.Split, []byte) (connector.Reader, error) {
	return s, nil
}

func (s *stock) Read(int) (connector.Chunk, error) {
	if s.left == 0 {
		return connector.Chunk{Status: connector.End}, nil
	}
	s.left--
	return connector.Chunk{Batch: s.batch}, nil
}

// hole is a sink that forgets what it gets.
type hole struct{}

func (hole) Accepts() connector.Modes { return connector.AllModes }

func (hole) Open(*connector.WriterContext, [][]byte) (connector.Writer, error) { return hole{}, nil }

func (hole) Write(*batch.Batch) error            { return nil }
func (hole) Barrier(int64, bool) ([]byte, error) { return nil, nil }
func (hole) Committed(int64) error               { return nil }
func (hole) Close() error                        { return nil }
