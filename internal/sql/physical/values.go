package physical

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

// lowerValues plans a constant relation as a source of one reader.
func (p *planner) lowerValues(n *plan.Values, path string) *Node {
	src := &valuesSource{rows: n.Rows, out: n.Out, env: p.env}
	line := n.Line()
	return p.add(&Node{
		ID: p.unique(path + "/values"), Name: "Values", Detail: line[len("Values(") : len(line)-1], Parallelism: 1,
		Out: n.Out, logical: n, source: &sourceNode{table: "VALUES", source: src},
	})
}

// valuesSource is a source of constant rows. It implements connector.Source.
type valuesSource struct {
	rows [][]expr.Expr
	out  *types.Schema
	env  *fn.Env
}

// Bounded implements connector.Source.
func (s *valuesSource) Bounded() bool { return true }

// Interval implements connector.Source.
func (s *valuesSource) Interval() int64 { return 0 }

// Modes implements connector.Source.
func (s *valuesSource) Modes() connector.Modes { return connector.InsertOnly }

// Discover implements connector.Source.
func (s *valuesSource) Discover(_ context.Context, seen map[string]bool) ([]connector.Split, error) {
	if seen["values"] {
		return nil, nil
	}
	return []connector.Split{{ID: "values"}}, nil
}

// Open implements connector.Source. A position is the number of rows that were read.
func (s *valuesSource) Open(_ *connector.ReaderContext, _ connector.Split, position []byte) (connector.Reader, error) {
	r := &valuesReader{source: s}
	if position != nil {
		n, size := binary.Uvarint(position)
		if size <= 0 || n > uint64(len(s.rows)) {
			return nil, fmt.Errorf("VALUES: the saved position %x is damaged", position)
		}
		r.next = int(n)
	}
	return r, nil
}

type valuesReader struct {
	source *valuesSource
	next   int
}

// Read implements connector.Reader.
func (r *valuesReader) Read(most int) (connector.Chunk, error) {
	s := r.source
	end := min(r.next+max(most, 1), len(s.rows))
	out := batch.NewBatch(s.out, end-r.next)
	one := batch.Of(&types.Schema{}, nil, 1)
	for _, row := range s.rows[r.next:end] {
		prog, err := expr.CompileAll(row, s.env)
		if err != nil {
			return connector.Chunk{}, err
		}
		cols, err := prog.Eval(one)
		if err != nil {
			return connector.Chunk{}, err
		}
		for i, c := range cols {
			cols[i] = c.WithType(s.out.Fields[i].Type)
		}
		out.AppendRows(batch.Of(s.out, cols, 1), nil)
	}
	r.next = end
	chunk := connector.Chunk{Batch: out, Position: binary.AppendUvarint(nil, uint64(end))}
	if end == len(s.rows) {
		chunk.Status = connector.End
	}
	return chunk, nil
}

// Close implements connector.Reader.
func (r *valuesReader) Close() error { return nil }
