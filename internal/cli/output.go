package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/format"
	"github.com/millstream-io/millstream/internal/sql/session"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

// outputs are the values of --output.
var outputs = []string{"table", "changelog", "json", "csv"}

// result is the sink of a SELECT: it prints the rows as they come.
type result struct {
	mu      sync.Mutex
	w       io.Writer
	printer printer
	rows    int64
	// patience is set while rows wait for others that make a table's widths.
	patience *time.Timer
}

// printer turns rows into text.
type printer interface {
	// print appends the rows of a batch, and says whether some wait for others;
	// flush appends these.
	print(buf *bytes.Buffer, b *batch.Batch) (waiting bool, err error)
	flush(buf *bytes.Buffer)
}

// rowPatience is how long a row waits at most until it is seen.
const rowPatience = 200 * time.Millisecond

// start decides the form, one of outputs, in which rows of a schema are printed.
func (r *result) start(form string, schema *types.Schema, updating bool, env *fn.Env) error {
	switch form {
	case "table":
		r.printer = &tablePrinter{schema: schema, updating: updating, form: text.NewForm(env.Zone)}
	case "changelog":
		r.printer = changelogPrinter{text.NewForm(env.Zone)}
	default:
		p, err := newFormatPrinter(form, schema, env)
		if err != nil {
			return err
		}
		r.printer = p
	}
	return nil
}

// Accepts implements connector.Sink.
func (r *result) Accepts() connector.Modes { return connector.AllModes }

// Open implements connector.Sink.
func (r *result) Open(*connector.WriterContext, [][]byte) (connector.Writer, error) {
	return &resultWriter{r}, nil
}

type resultWriter struct{ *result }

// Write implements connector.Writer.
func (r *resultWriter) Write(b *batch.Batch) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rows += int64(b.Rows())
	var buf bytes.Buffer
	waiting, err := r.printer.print(&buf, b)
	if err != nil {
		return err
	}
	switch {
	case !waiting:
		r.stopPatience()
	case r.patience == nil:
		r.patience = time.AfterFunc(rowPatience, r.impatient)
	}
	_, err = r.w.Write(buf.Bytes())
	return err
}

func (r *result) stopPatience() {
	if r.patience != nil {
		r.patience.Stop()
		r.patience = nil
	}
}

// impatient prints rows that waited long enough. It runs on a goroutine of its
// timer; a write that fails will fail again for the next rows.
func (r *result) impatient() {
	guarded(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.patience != nil {
			_ = r.flush()
		}
	})
}

// Barrier implements connector.Writer.
func (r *resultWriter) Barrier(int64, bool) ([]byte, error) { return nil, nil }

// Committed implements connector.Writer.
func (r *resultWriter) Committed(int64) error { return nil }

// Close implements connector.Writer.
func (r *resultWriter) Close() error { return nil }

// finish prints what a table still holds back.
func (r *result) finish() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.flush()
}

func (r *result) flush() error {
	r.stopPatience()
	var buf bytes.Buffer
	r.printer.flush(&buf)
	_, err := r.w.Write(buf.Bytes())
	return err
}

// printAnswer prints what a statement without a job has to say.
func printAnswer(w io.Writer, form string, a *session.Result) error {
	if a.Text {
		_, err := w.Write(a.Rows.Cols[0].(*batch.Bytes).At(0))
		return err
	}
	if form == "changelog" {
		form = "table"
	}
	r := &result{w: w}
	if err := r.start(form, a.Rows.Schema, false, &fn.Env{Zone: time.UTC, Now: time.Now}); err != nil {
		return err
	}
	if err := (&resultWriter{r}).Write(a.Rows); err != nil {
		return err
	}
	return r.finish()
}

// changelogPrinter prints "+I | a | b".
type changelogPrinter struct{ form *text.Form }

func (p changelogPrinter) print(buf *bytes.Buffer, b *batch.Batch) (bool, error) {
	line := make([]byte, 0, 256)
	for i := range b.Rows() {
		pos := b.At(i)
		line = append(line[:0], b.Kind(pos).String()...)
		for _, c := range b.Cols {
			line = append(line, " | "...)
			line = p.form.AppendCell(line, c, pos)
		}
		buf.Write(append(line, '\n'))
	}
	return false, nil
}

func (changelogPrinter) flush(*bytes.Buffer) {}

// formatPrinter prints rows by a format's encoder, for inserts and the last
// state of updates; taking rows back cannot be shown in these forms.
type formatPrinter struct {
	enc    format.Encoder
	form   string
	header string
}

func newFormatPrinter(form string, schema *types.Schema, env *fn.Env) (*formatPrinter, error) {
	def := format.Lookup(form)
	if def == nil {
		return nil, fmt.Errorf("this program was built without the format %q", form)
	}
	opts, err := format.NewOptions(def.Options, nil, nil)
	if err != nil {
		return nil, err
	}
	enc, err := def.NewEncoder(&format.Config{
		Table: "result", Physical: schema, Schema: schema, Wanted: positions(schema.Len()), Options: opts, Env: env,
	})
	if err != nil {
		return nil, err
	}
	p := &formatPrinter{enc: enc, form: form}
	if form == "csv" {
		p.header = strings.Join(schema.Names(), ",") + "\n"
	}
	return p, nil
}

func positions(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func (p *formatPrinter) print(buf *bytes.Buffer, b *batch.Batch) (bool, error) {
	for i := range b.Rows() {
		if k := b.Kind(b.At(i)); !k.IsAdd() {
			return false, fmt.Errorf("the result takes rows back (%s), which --output %s cannot show; use changelog or table", k, p.form)
		}
	}
	buf.WriteString(p.header)
	p.header = ""
	out, err := p.enc.Encode(nil, b)
	buf.Write(out)
	return false, err
}

func (p *formatPrinter) flush(*bytes.Buffer) {}

// tablePrinter prints rows in aligned columns. It takes the widths from the
// first rows, and prints later rows as they come.
type tablePrinter struct {
	schema   *types.Schema
	updating bool
	form     *text.Form
	waiting  [][]string
	widths   []int
}

// lookAhead is the number of rows from which a table takes its widths.
const lookAhead = 500

func (t *tablePrinter) print(buf *bytes.Buffer, b *batch.Batch) (bool, error) {
	for i := range b.Rows() {
		p := b.At(i)
		var row []string
		if t.updating {
			row = append(row, b.Kind(p).String())
		}
		for _, c := range b.Cols {
			row = append(row, string(t.form.AppendCell(nil, c, p)))
		}
		if t.widths != nil {
			t.line(buf, row)
			continue
		}
		t.waiting = append(t.waiting, row)
	}
	if len(t.waiting) >= lookAhead {
		t.flush(buf)
	}
	return len(t.waiting) > 0, nil
}

// flush prints the heading, if it was not printed yet, and the rows held back.
func (t *tablePrinter) flush(buf *bytes.Buffer) {
	if t.widths == nil {
		t.heading(buf)
	}
	for _, row := range t.waiting {
		t.line(buf, row)
	}
	t.waiting = nil
}

func (t *tablePrinter) heading(buf *bytes.Buffer) {
	names := t.schema.Names()
	if t.updating {
		names = append([]string{"op"}, names...)
	}
	t.widths = make([]int, len(names))
	for _, row := range append(t.waiting, names) {
		for i, cell := range row {
			t.widths[i] = max(t.widths[i], utf8.RuneCountInString(cell))
		}
	}
	t.line(buf, names)
	for i, w := range t.widths {
		if i > 0 {
			buf.WriteString("-+-")
		}
		buf.WriteString(strings.Repeat("-", w))
	}
	buf.WriteByte('\n')
}

func (t *tablePrinter) line(buf *bytes.Buffer, row []string) {
	for i, cell := range row {
		if i > 0 {
			buf.WriteString(" | ")
		}
		pad := strings.Repeat(" ", max(t.widths[i]-utf8.RuneCountInString(cell), 0))
		switch {
		case t.right(i):
			buf.WriteString(pad + cell)
		case i == len(row)-1:
			buf.WriteString(cell)
		default:
			buf.WriteString(cell + pad)
		}
	}
	buf.WriteByte('\n')
}

// right reports whether a column is aligned to the right: numbers are.
func (t *tablePrinter) right(i int) bool {
	if t.updating {
		i--
	}
	return i >= 0 && t.schema.Fields[i].Type.IsNumeric()
}
