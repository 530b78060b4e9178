package filesystem

import (
	"errors"
	"fmt"
	"sync"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/format"
	"github.com/millstream-io/millstream/internal/vfs"
)

// FSKey is the key of a file system (vfs.FS) in connector.Table.Shared, to which
// sinks write instead of that of the machine.
const FSKey = "filesystem"

func fileSystem(t *connector.Table) vfs.FS {
	if fsys, ok := t.Shared[FSKey].(vfs.FS); ok {
		return fsys
	}
	return vfs.OS()
}

// sink implements connector.Sink.
type sink struct {
	*layout
	fs vfs.FS
	// maxSize and maxAge (ms) are when a file is finished.
	maxSize, maxAge int64
	// success is the name of the file that marks a partition, if any.
	success string
	// out guards standard output.
	out sync.Mutex
}

func newSink(t *connector.Table) (connector.Sink, error) {
	l, err := newLayout(t)
	if err != nil {
		return nil, err
	}
	s := &sink{layout: l, fs: fileSystem(t), maxSize: max(t.Options.Size(optFileSize), 1),
		maxAge: t.Options.Duration(optRollover).Milliseconds()}
	if t.Options.Has(optCommitKind) {
		if len(l.keys) == 0 {
			return nil, fmt.Errorf("option %q is for tables with PARTITIONED BY", optCommitKind)
		}
		s.success = t.Options.Text(optSuccessName)
	}
	if t.Options.Duration(optCommitDelay) != 0 {
		return nil, fmt.Errorf("option %q must be 0: a partition is ready when its files appear", optCommitDelay)
	}
	// An encoder is made to learn now what it refuses.
	_, err = s.encoder()
	return s, err
}

func (s *sink) encoder() (format.Encoder, error) {
	wanted := make([]int, len(s.file.Fields))
	for i := range wanted {
		wanted[i] = i
	}
	return s.table.Format.NewEncoder(&format.Config{
		Table: s.table.Name, Physical: s.file, Wanted: wanted, Schema: s.file,
		Options: s.formatOptions(), Env: s.table.Env,
	})
}

// Accepts implements connector.Sink.
func (s *sink) Accepts() connector.Modes { return connector.InsertOnly }

// Immediate implements connector.Immediate.
func (s *sink) Immediate() string {
	if s.path == stdio {
		return "standard output"
	}
	return ""
}

// Open implements connector.Sink.
func (s *sink) Open(ctx *connector.WriterContext, restored [][]byte) (connector.Writer, error) {
	enc, err := s.encoder()
	if err != nil {
		return nil, err
	}
	if s.path == stdio {
		return s.openStdout(ctx, enc)
	}
	w := newWriter(s, ctx, enc)
	if err := w.restore(restored); err != nil {
		return nil, fmt.Errorf("table %s: %w", s.table.Name, errors.Join(err, w.Close()))
	}
	return w, nil
}

// stdout writes records as they come.
type stdout struct {
	sink *sink
	enc  format.Encoder
	buf  []byte
}

func (s *sink) openStdout(ctx *connector.WriterContext, enc format.Encoder) (connector.Writer, error) {
	if s.table.Stdout == nil {
		return nil, errors.New("there is no standard output here")
	}
	w := &stdout{sink: s, enc: enc}
	if ctx.Subtask == 0 {
		return w, w.print(enc.Header())
	}
	return w, nil
}

func (w *stdout) print(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	w.sink.out.Lock()
	defer w.sink.out.Unlock()
	if _, err := w.sink.table.Stdout.Write(b); err != nil {
		return fmt.Errorf("table %s: standard output: %w", w.sink.table.Name, err)
	}
	return nil
}

// Write implements connector.Writer.
func (w *stdout) Write(b *batch.Batch) (err error) {
	if w.buf, err = w.enc.Encode(w.buf[:0], b); err != nil {
		return fmt.Errorf("table %s: %w", w.sink.table.Name, err)
	}
	return w.print(w.buf)
}

// Barrier implements connector.Writer.
func (w *stdout) Barrier(int64, bool) ([]byte, error) { return nil, nil }

// Committed implements connector.Writer.
func (w *stdout) Committed(int64) error { return nil }

// Close implements connector.Writer.
func (w *stdout) Close() error { return nil }
