package filesystem

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/format"
	"github.com/millstream-io/millstream/types"
)

// source implements connector.Source.
type source struct {
	*layout
	regex     *regexp.Regexp
	interval  int64
	splitSize int64
	maxRecord int64
	// decoded is the schema of what the decoder fills; from says where each
	// column of the table's schema comes from: a decoded column, or, below
	// zero, partition column -1-i.
	decoded *types.Schema
	wanted  []int
	from    []int
	out     *types.Schema
	// position is where out has the places of rows, or -1.
	position int
}

func newSource(t *connector.Table) (connector.Source, error) {
	l, err := newLayout(t)
	if err != nil {
		return nil, err
	}
	s := &source{layout: l, interval: t.Options.Duration(optMonitor).Milliseconds(),
		splitSize: t.Options.Size(optSplitSize), maxRecord: max(t.Options.Size(optMaxRecord), 1),
		decoded: types.NewSchema(), out: types.NewSchema(t.Schema.Fields...), position: -1}
	if s.regex, err = compileRegex(t); err != nil {
		return nil, err
	}
	if t.Options.Has(optMonitor) && s.interval <= 0 {
		return nil, fmt.Errorf("option %q must be above 0", optMonitor)
	}
	if s.path == stdio && s.interval > 0 {
		return nil, fmt.Errorf("option %q has no meaning for standard input", optMonitor)
	}
	for i, at := range t.Wanted {
		if k := l.key(at); k >= 0 {
			s.from = append(s.from, -1-k)
			continue
		}
		s.from = append(s.from, len(s.wanted))
		s.decoded.Fields = append(s.decoded.Fields, t.Schema.Fields[i])
		for j, p := range l.fileAt {
			if p == at {
				s.wanted = append(s.wanted, j)
			}
		}
	}
	for _, m := range t.Metadata {
		if m.Key == metaPosition {
			s.position = len(s.out.Fields)
		}
		s.out.Fields = append(s.out.Fields, types.Field{Name: m.Key, Type: m.Type})
	}
	// A decoder is made to learn now what it refuses.
	_, err = s.decoder(nil, nil)
	return s, err
}

func (s *source) decoder(count func(string, int64), sample func(string, func() string)) (format.Decoder, error) {
	return s.table.Format.NewDecoder(&format.Config{
		Table: s.table.Name, Physical: s.file, Wanted: s.wanted, Schema: s.decoded,
		Options: s.formatOptions(), Env: s.table.Env, Count: count, Sample: sample,
	})
}

// Bounded implements connector.Source.
func (s *source) Bounded() bool { return s.interval == 0 }

// Interval implements connector.Source.
func (s *source) Interval() int64 { return s.interval }

// Location implements connector.Located.
func (s *source) Location() string { return s.path }

// Modes implements connector.Source.
func (s *source) Modes() connector.Modes { return connector.InsertOnly }

// Rereadable implements connector.Rereadable: files can be read again, standard
// input and pipes cannot.
func (s *source) Rereadable() bool {
	if s.path == stdio {
		return false
	}
	info, err := os.Stat(s.path)
	return err != nil || info.IsDir() || info.Mode().IsRegular()
}

// OneTime implements connector.OneTime.
func (s *source) OneTime() string {
	switch {
	case s.path == stdio:
		return "standard input"
	case !s.Rereadable():
		return "a pipe"
	}
	return ""
}

// splitData says what a split is. It is saved in checkpoints.
type splitData struct {
	Path string `json:"path"`
	// Start and End are the nominal borders: the split has the records that
	// begin there or between them.
	Start int64 `json:"start"`
	End   int64 `json:"end"`
	// Size and Modified are those of the file when it was found. What is
	// appended later is not read.
	Size     int64 `json:"size"`
	Modified int64 `json:"modified"`
}

// Discover implements connector.Source. A file of which any split is known is
// known as a whole, so that it does not matter if it has grown since.
func (s *source) Discover(ctx context.Context, seen map[string]bool) ([]connector.Split, error) {
	if s.path == stdio {
		if seen[stdio] {
			return nil, nil
		}
		return []connector.Split{{ID: stdio, Ends: true}}, nil
	}
	files, err := s.list(ctx)
	if err != nil {
		return nil, err
	}
	var out []connector.Split
	for _, f := range files {
		if seen[splitID(f.path, 0)] {
			continue
		}
		if _, err := s.partition(f.path); err != nil {
			return nil, err
		}
		for _, d := range s.cut(f) {
			data, err := json.Marshal(d)
			if err != nil {
				return nil, err
			}
			out = append(out, connector.Split{ID: splitID(d.Path, d.Start), Data: data, Ends: true, Sequel: d.Start > 0})
		}
	}
	return out, nil
}

func splitID(path string, start int64) string { return path + "@" + strconv.FormatInt(start, 10) }

// cut divides a file into splits; where, depends on its length alone.
func (s *source) cut(f file) []splitData {
	d := splitData{Path: f.path, End: f.size, Size: f.size, Modified: f.mtime}
	f0 := s.table.Format
	if s.splitSize <= 0 || f.size <= s.splitSize || compression(f.path) != "" || f0.Splittable == nil || !f0.Splittable(s.formatOptions()) {
		return []splitData{d}
	}
	var out []splitData
	n := (f.size + s.splitSize - 1) / s.splitSize
	for i := range n {
		d.Start, d.End = f.size*i/n, f.size*(i+1)/n
		out = append(out, d)
	}
	return out
}

// Open implements connector.Source.
func (s *source) Open(ctx *connector.ReaderContext, split connector.Split, position []byte) (connector.Reader, error) {
	if s.path == stdio {
		if position != nil {
			return nil, fmt.Errorf("table %s reads standard input, which cannot be read again from where the checkpoint was taken", s.table.Name)
		}
		return newStdinReader(s, ctx)
	}
	var d splitData
	if err := json.Unmarshal(split.Data, &d); err != nil {
		return nil, fmt.Errorf("split %s: %w", split.ID, err)
	}
	return newReader(s, ctx, d, position)
}

// constants are the columns that have one value in all rows of a file.
type constants struct {
	vectors []batch.Vector
	n       int
}

// constantsOf makes the partition columns that the query needs, and after them
// the metadata.
func (s *source) constantsOf(d splitData) ([]func(n int) batch.Vector, error) {
	values, err := s.partition(d.Path)
	if err != nil {
		return nil, err
	}
	var out []func(int) batch.Vector
	for i, from := range s.from {
		if from >= 0 {
			continue
		}
		k := -1 - from
		one := batch.New(s.table.Schema.Fields[i].Type, 1)
		if err := s.parseKey(one, k, values[k], d.Path); err != nil {
			return nil, err
		}
		out = append(out, func(n int) batch.Vector { return batch.Take(one, make([]int32, n)) })
	}
	for _, m := range s.table.Metadata {
		one, err := metadataOf(m, d)
		if err != nil {
			return nil, err
		}
		out = append(out, func(n int) batch.Vector { return batch.Take(one, make([]int32, n)) })
	}
	return out, nil
}

func metadataOf(m connector.Metadata, d splitData) (batch.Vector, error) {
	one := batch.New(m.Type, 1)
	switch m.Key {
	case "file.path":
		full, err := filepath.Abs(d.Path)
		if err != nil {
			return nil, err
		}
		one.(*batch.Bytes).AppendString(full)
	case "file.name":
		one.(*batch.Bytes).AppendString(filepath.Base(d.Path))
	case "file.size":
		one.(*batch.Fixed[int64]).Append(d.Size)
	case metaPosition:
		one.(*batch.Bytes).AppendString("") // each row has its own
	case "file.modification-time":
		one.(*batch.Fixed[int64]).Append(d.Modified)
	default:
		return nil, fmt.Errorf("unknown metadata %q", m.Key)
	}
	return one, nil
}

// assemble puts the decoded columns and the constants in the order of the
// table's schema.
func (s *source) assemble(decoded *batch.Batch, c *constants, makers []func(int) batch.Vector) *batch.Batch {
	if len(makers) == 0 && len(s.from) == len(decoded.Cols) {
		return decoded
	}
	n := decoded.Size()
	if n > c.n || c.vectors == nil {
		c.n = max(n, batch.DefaultSize)
		c.vectors = c.vectors[:0]
		for _, f := range makers {
			c.vectors = append(c.vectors, f(c.n))
		}
	}
	cols := make([]batch.Vector, 0, len(s.out.Fields))
	k := 0
	for _, from := range s.from {
		if from >= 0 {
			cols = append(cols, decoded.Cols[from])
			continue
		}
		cols = append(cols, c.vectors[k].Slice(0, n))
		k++
	}
	for ; k < len(c.vectors); k++ {
		cols = append(cols, c.vectors[k].Slice(0, n))
	}
	return batch.Of(s.out, cols, n)
}

var errShrunk error = &connector.ChangedError{Msg: "the file is shorter than when it was found"}

// unexpected makes an early end of a file an error that says so.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errShrunk
	}
	return err
}
