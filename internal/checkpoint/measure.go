package checkpoint

import (
	"errors"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/types"
)

// TableSize is what is in one table of an operator.
type TableSize struct {
	// Rows of so many different Keys. Where windows have tables of their own, a key
	// has a row in each of them.
	Rows, Keys int64
	// Columns is what the columns of all rows take in memory, and Disk what the
	// rows take in files before they are compressed.
	Columns, Disk int64
	// Partial is set if there are more rows than were looked at.
	Partial bool
}

// measureRows is how many rows of an operator are decoded at a time.
const measureRows = 1024

// errMeasured ends a scan that has seen enough.
var errMeasured = errors.New("measured")

// Measure looks at the tables of a node, at most at so many rows in all.
func (s *Source) Measure(node string, most int64) (map[string]TableSize, error) {
	n := s.Manifest.Node(node)
	if n == nil {
		return nil, nil
	}
	m := &measure{left: most, tables: map[uint16]*tableMeasure{}}
	for _, t := range n.Tables() {
		keys, vals, err := t.Types()
		if err != nil {
			return nil, err
		}
		tm := &tableMeasure{info: t, seen: map[uint64]bool{}, keys: schemaOf(keys), vals: schemaOf(vals)}
		m.order, m.tables[t.ID] = append(m.order, tm), tm
	}
	reader := NewReader()
	for _, sub := range n.Subtasks {
		if sub.State == nil {
			continue
		}
		err := s.Inspect(sub.State, reader, m.row)
		if err != nil && err != errMeasured {
			return nil, err
		}
	}
	out := map[string]TableSize{}
	for _, t := range m.order {
		if err := t.flush(); err != nil {
			return nil, err
		}
		t.size.Keys = int64(len(t.seen))
		t.size.Partial = m.left < 0
		out[t.info.Name] = t.size
	}
	return out, nil
}

// schemaOf is a schema of columns without names.
func schemaOf(list []types.Type) *types.Schema {
	s := &types.Schema{}
	for _, t := range list {
		s.Fields = append(s.Fields, types.Field{Type: t})
	}
	return s
}

// measure adds up the rows of a node's tables.
type measure struct {
	left   int64
	order  []*tableMeasure
	tables map[uint16]*tableMeasure
}

// tableMeasure adds up those of one table.
type tableMeasure struct {
	info       state.TableInfo
	keys, vals *types.Schema
	size       TableSize
	// seen are the hashes of the keys.
	seen map[uint64]bool
	// key and value are rows that wait to be decoded.
	key, value [][]byte
	hash       []uint64
}

func (m *measure) row(table uint16, key, value []byte) error {
	if m.left--; m.left < 0 {
		return errMeasured
	}
	t := m.tables[table]
	if t == nil {
		return nil
	}
	t.size.Rows++
	t.size.Disk += int64(len(key) + len(value))
	t.key, t.value = append(t.key, append([]byte(nil), key...)), append(t.value, append([]byte(nil), value...))
	if len(t.key) < measureRows {
		return nil
	}
	return t.flush()
}

// flush decodes the rows that wait.
func (t *tableMeasure) flush() error {
	n := len(t.key)
	if n == 0 {
		return nil
	}
	rows, err := t.info.Decode(t.key, t.value)
	if err != nil {
		return err
	}
	t.key, t.value = t.key[:0], t.value[:0]
	t.size.Columns += int64(batch.Of(t.keys, rows.Keys, n).Bytes() + batch.Of(t.vals, rows.Vals, n).Bytes())
	if len(rows.Keys) == 0 {
		t.seen[0] = true
		return nil
	}
	t.hash = batch.Hash(rows.Keys, nil, n, t.hash)
	for _, h := range t.hash[:n] {
		t.seen[h] = true
	}
	return nil
}
