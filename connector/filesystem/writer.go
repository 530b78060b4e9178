package filesystem

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/format"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/internal/vfs"
	"github.com/millstream-io/millstream/types"
)

// writer implements connector.Writer. Rows go to files with hidden names, one
// at a time in each partition. A finished file gets its name when the
// checkpoint that holds its last rows is durable; one that is not finished goes
// on after a checkpoint, which remembers how long it was.
type writer struct {
	*sink
	ctx *connector.WriterContext
	enc format.Encoder
	// tag tells this sink's hidden files from those of others.
	tag string
	// next is the number of the next file.
	next int64
	// open are the files that are being written, by the directory below path.
	open map[string]*part
	// made are the directories that are durable.
	made map[string]bool
	// done are the files that are finished but have no name yet.
	done []doneFile
	// err is the first error of the file system. After it nothing more is
	// tried: what a failed sync has lost, a second one would not bring back.
	err error

	// order are the parts of the current batch; key is the directory of a row.
	order []*part
	key   []byte
	cell  []byte
}

// doneFile is a finished file.
type doneFile struct {
	Dir  string `json:"dir"`
	Name string `json:"name"`
	// epoch is the barrier that holds its last rows.
	epoch int64
}

// openFile is what a checkpoint knows of a file that goes on.
type openFile struct {
	Dir     string `json:"dir"`
	Name    string `json:"name"`
	Size    int64  `json:"size"`
	Created int64  `json:"created"`
}

// writerState is what Barrier returns.
type writerState struct {
	Version int        `json:"v"`
	Subtask int        `json:"subtask"`
	Next    int64      `json:"next"`
	Open    []openFile `json:"open,omitempty"`
	Done    []doneFile `json:"done,omitempty"`
}

const stateVersion = 1

// maxOpen is how many files are open at a time; then the one that was not
// written to for longest is finished.
const maxOpen = 500

func newWriter(s *sink, ctx *connector.WriterContext, enc format.Encoder) *writer {
	return &writer{sink: s, ctx: ctx, enc: enc, tag: tagOf(ctx.Job, ctx.ID), open: map[string]*part{}, made: map[string]bool{}}
}

// fail keeps the first error.
func (w *writer) fail(err error) error {
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("table %s: %w", w.table.Name, err)
	}
	return w.err
}

// Write implements connector.Writer.
func (w *writer) Write(b *batch.Batch) error {
	if w.err != nil {
		return w.err
	}
	return w.fail(w.write(b))
}

func (w *writer) write(b *batch.Batch) error {
	if b.Rows() == 0 {
		return nil
	}
	now := w.ctx.Now()
	if len(w.keys) == 0 {
		p, err := w.part("", now)
		if err != nil {
			return err
		}
		return w.append(p, b, now)
	}
	if err := w.divide(b, now); err != nil {
		return err
	}
	cols := make([]batch.Vector, len(w.fileAt))
	for i, at := range w.fileAt {
		cols[i] = b.Cols[at]
	}
	rows := b.WithCols(w.file, cols)
	for _, p := range w.order {
		if err := w.append(p, rows.WithSel(p.sel), now); err != nil {
			return err
		}
	}
	return nil
}

// divide finds the partition of each row of the batch: the parts in w.order,
// their rows in sel. Rows of one partition often follow each other, and then
// cost one comparison.
func (w *writer) divide(b *batch.Batch, now int64) (err error) {
	w.order = w.order[:0]
	var last *part
	for r := range b.Rows() {
		i := b.At(r)
		if w.key, err = w.appendDir(w.key[:0], b, i); err != nil {
			return err
		}
		if last == nil || string(w.key) != last.dir {
			if last = w.open[string(w.key)]; last == nil {
				if last, err = w.part(string(w.key), now); err != nil {
					return err
				}
			}
			if !last.inBatch {
				last.inBatch = true
				last.sel = last.sel[:0]
				w.order = append(w.order, last)
			}
		}
		last.sel = append(last.sel, int32(i))
	}
	for _, p := range w.order {
		p.inBatch = false
	}
	return nil
}

// maxName is the length of the longest name of a directory, in bytes, on the file
// systems in use.
const maxName = 255

// appendDir appends the directory of row i: key=value/key=value. A value that is
// too long for a name would be so again, so the error is that of the row.
func (w *writer) appendDir(buf []byte, b *batch.Batch, i int) ([]byte, error) {
	for k, f := range w.keys {
		if k > 0 {
			buf = append(buf, '/')
		}
		start := len(buf)
		buf = append(appendName(buf, []byte(f.Name)), '=')
		v := b.Cols[w.keyAt[k]]
		switch {
		case v.Validity().IsNull(i):
			w.cell = w.cell[:0]
		case f.Type.IsChar():
			w.cell = append(w.cell[:0], v.(*batch.Bytes).At(i)...)
		default:
			w.cell = text.AppendCell(w.cell[:0], v, i)
			fixCell(w.cell, f.Type)
		}
		if len(w.cell) == 0 {
			w.cell = append(w.cell, w.defaultName...)
		}
		buf = appendName(buf, w.cell)
		if n := len(buf) - start; n > maxName {
			return buf, fn.Failf(i, "the value of partition column %q makes the name of a directory that is %d bytes long, and names may have %d bytes; "+
				"shorten it in the query, such as LEFT(%s, 80); the row is %s", f.Name, n, maxName, f.Name, w.describe(b, i))
		}
	}
	return buf, nil
}

// describe prints a row for an error. Long values are cut.
func (w *writer) describe(b *batch.Batch, i int) string {
	const most = 40
	var out []byte
	for k, f := range w.table.Physical.Fields {
		if k > 0 {
			out = append(out, ", "...)
		}
		out = append(append(out, f.Name...), '=')
		w.cell = text.AppendCell(w.cell[:0], b.Cols[k], i)
		if len(w.cell) > most {
			w.cell = append([]byte(strings.ToValidUTF8(string(w.cell[:most]), "")), "…"...)
		}
		out = append(out, w.cell...)
	}
	return string(out)
}

// fixCell changes the text of a value into the one that names of directories
// have: true for TRUE, a T within a timestamp.
func fixCell(cell []byte, t types.Type) {
	for i, c := range cell {
		switch {
		case t.Kind == types.Boolean:
			cell[i] = c | 0x20
		case t.IsTimestamp() && c == ' ':
			cell[i] = 'T'
		}
	}
}

// part returns the open file of a directory; it makes one if there is none.
func (w *writer) part(dir string, now int64) (*part, error) {
	if p := w.open[dir]; p != nil {
		return p, nil
	}
	if len(w.open) >= maxOpen {
		var oldest *part
		for _, p := range w.open {
			if !p.inBatch && (oldest == nil || p.written < oldest.written || p.written == oldest.written && p.dir < oldest.dir) {
				oldest = p
			}
		}
		if oldest != nil {
			if err := w.finish(oldest); err != nil {
				return nil, err
			}
		}
	}
	p, err := w.create(dir, now)
	if err != nil {
		return nil, err
	}
	w.open[dir] = p
	return p, nil
}

// append adds rows to a file, and finishes it if it has grown large or old.
func (w *writer) append(p *part, rows *batch.Batch, now int64) (err error) {
	if p.buf, err = w.enc.Encode(p.buf, rows); err != nil {
		return err
	}
	p.written = now
	if p.length() >= w.maxSize || w.old(p, now) {
		return w.finish(p)
	}
	if len(p.buf) >= flushSize {
		return p.flush()
	}
	return nil
}

func (w *writer) old(p *part, now int64) bool { return w.maxAge > 0 && now-p.created >= w.maxAge }

// finish closes a file. It is published with the next barrier's checkpoint.
func (w *writer) finish(p *part) error {
	delete(w.open, p.dir)
	if err := p.sync(); err != nil {
		return errors.Join(err, p.close())
	}
	if err := p.close(); err != nil {
		return err
	}
	w.done = append(w.done, doneFile{Dir: p.dir, Name: p.name, epoch: unbound})
	return nil
}

// Finish implements connector.Finisher.
func (w *writer) Finish() error {
	if w.err != nil {
		return w.err
	}
	for _, p := range w.parts() {
		if err := w.finish(p); err != nil {
			return w.fail(err)
		}
	}
	return nil
}

// unbound is the epoch of a file that no barrier has followed yet.
const unbound = -1

// Barrier implements connector.Writer.
func (w *writer) Barrier(id int64, last bool) ([]byte, error) {
	if w.err != nil {
		return nil, w.err
	}
	s, err := w.barrier(id, last)
	if w.fail(err) != nil {
		return nil, w.err
	}
	return json.Marshal(s)
}

func (w *writer) barrier(id int64, last bool) (*writerState, error) {
	now := w.ctx.Now()
	s := &writerState{Version: stateVersion, Subtask: w.ctx.Subtask}
	var fresh []string
	for _, p := range w.parts() {
		if p.fresh {
			fresh = append(fresh, p.dir)
			p.fresh = false
		}
		if last || w.old(p, now) {
			if err := w.finish(p); err != nil {
				return nil, err
			}
			continue
		}
		if err := p.sync(); err != nil {
			return nil, err
		}
		s.Open = append(s.Open, openFile{Dir: p.dir, Name: p.name, Size: p.size, Created: p.created})
	}
	for i := range w.done {
		if w.done[i].epoch == unbound {
			w.done[i].epoch = id
			fresh = append(fresh, w.done[i].Dir)
		}
	}
	s.Done = w.done
	s.Next = w.next
	// The names of the files must be as durable as what is in them.
	return s, w.syncDirs(fresh)
}

// parts are the open files in the order of their directories.
func (w *writer) parts() []*part {
	out := make([]*part, 0, len(w.open))
	for _, p := range w.open {
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b *part) int {
		if a.dir < b.dir {
			return -1
		}
		return 1
	})
	return out
}

func (w *writer) syncDirs(dirs []string) error {
	slices.Sort(dirs)
	for _, d := range slices.Compact(dirs) {
		if err := vfs.SyncDir(w.fs, w.dirPath(d)); err != nil {
			return err
		}
	}
	return nil
}

// Committed implements connector.Writer.
func (w *writer) Committed(id int64) error {
	if w.err != nil {
		return w.err
	}
	var now []doneFile
	keep := w.done[:0]
	for _, d := range w.done {
		if d.epoch != unbound && d.epoch <= id {
			now = append(now, d)
		} else {
			keep = append(keep, d)
		}
	}
	w.done = slices.Clone(keep)
	return w.fail(w.publish(now))
}

// Close implements connector.Writer.
func (w *writer) Close() error {
	var errs []error
	for _, p := range w.parts() {
		errs = append(errs, p.close())
	}
	clear(w.open)
	return errors.Join(errs...)
}
