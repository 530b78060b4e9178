// Package optest runs an operator through its script. A script is a file of
// blocks in the form of test scripts (internal/sltfile):
//
//	step
//	0 | a | 1 | 2024-01-01 00:00:01       a row of input 0
//	0 -U | a | 1 | 2024-01-01 00:00:01    a row of another kind
//	watermark 5000                        the watermark in ms, or end
//	clock 5000                            the processing time in ms, 0 at first
//	----
//	+I | a | 1                            what the operator emitted, sorted
//
// Each script runs over a matrix: batches of 1, 3 and all rows; with a
// selection over rows that do not count; an output that is full after each
// batch; and with a restore from a snapshot after every step.
package optest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/sltfile"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/internal/vfs"
	"github.com/millstream-io/millstream/types"
)

// Case is an operator to test.
type Case struct {
	In  []*types.Schema
	New func() op.Operator
}

// config is one row of the matrix.
type config struct {
	rows     int
	selected bool
	full     bool
	restore  bool
}

func (c config) String() string {
	return fmt.Sprintf("rows=%d,selected=%t,full=%t,restore=%t", c.rows, c.selected, c.full, c.restore)
}

// Run runs testdata/NAME for a case over the whole matrix.
func Run(t *testing.T, name string, c Case) {
	t.Helper()
	path := filepath.Join("testdata", name)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := sltfile.Parse(path, string(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Blocks) == 0 {
		t.Fatalf("%s has no steps", path)
	}
	for _, rows := range []int{1, 3, 1 << 20} {
		for i := range 8 {
			cfg := config{rows: rows, selected: i&1 != 0, full: i&2 != 0, restore: i&4 != 0}
			t.Run(name+"/"+cfg.String(), func(t *testing.T) { run(t, f, c, cfg) })
		}
	}
}

// machine is one operator at work.
type machine struct {
	t    *testing.T
	c    Case
	cfg  config
	op   op.Operator
	db   *state.DB
	fs   vfs.FS
	wm   int64
	now  int64
	gen  int64
	got  []string
	room int
	// timers are the times at which the operator has asked to be called.
	timers []int64
}

func run(t *testing.T, f *sltfile.File, c Case, cfg config) {
	m := &machine{t: t, c: c, cfg: cfg, wm: op.MinWatermark, fs: vfs.NewMem()}
	db, err := state.Open(m.config())
	m.must(err)
	m.open(db)
	for _, b := range f.Blocks {
		if b.Cmd != "step" {
			t.Fatalf("%s:%d: unknown command %q", f.Path, b.Line, b.Cmd)
		}
		m.got = nil
		if err := m.step(b.Input); err != nil {
			m.got = append(m.got, "error: "+err.Error())
		}
		slices.Sort(m.got)
		if !slices.Equal(m.got, b.Want) {
			t.Errorf("%s:%d: got\n%s\nwant\n%s", f.Path, b.Line, strings.Join(m.got, "\n"), strings.Join(b.Want, "\n"))
		}
		if cfg.restore {
			m.restore()
		}
	}
}

func (m *machine) must(err error) {
	if err != nil {
		m.t.Helper()
		m.t.Fatal(err)
	}
}

func (m *machine) clock() int64 { return m.now }

func (m *machine) config() state.Config {
	m.gen++
	c := state.Config{Name: "test", Parallelism: 1, FS: m.fs, Dir: fmt.Sprintf("state%d", m.gen), Now: m.clock}
	if m.cfg.full {
		c.Backend, c.MaxRows = state.Disk, 2
	}
	return c
}

func (m *machine) open(db *state.DB) {
	m.db, m.op, m.timers = db, m.c.New(), nil
	if o, ok := m.op.(op.Opener); ok {
		m.must(o.Open(&op.Context{
			Name: "test", ID: "test", Parallelism: 1, State: db, Now: m.clock,
			TimerAt: func(ms int64) { m.timers = append(m.timers, ms) },
			Count:   func(string, int64) {}, Sample: func(string, func() string) {},
		}))
	}
}

// restore throws the operator away and opens a new one over a snapshot.
func (m *machine) restore() {
	snap, err := m.db.Snapshot(m.gen)
	m.must(err)
	info, err := snap.Files()
	m.must(err)
	db, err := state.Restore(m.config(), []state.Part{{FS: m.fs, Info: info, Path: snap.Path}})
	m.must(err)
	m.must(snap.Release())
	m.must(m.db.Close())
	m.open(db)
	if h, ok := m.op.(op.WatermarkHandler); ok {
		had := len(m.got)
		_, err := h.OnWatermark(m.wm, m)
		m.must(err)
		if len(m.got) != had {
			m.t.Errorf("the watermark of the checkpoint made the restored operator emit rows: %q", m.got[had:])
		}
	}
}

// step handles the lines of a step; consecutive rows of one input go in batches.
func (m *machine) step(lines []string) error {
	for len(lines) > 0 {
		m.room = 1
		n := 1
		var err error
		if arg, ok := strings.CutPrefix(lines[0], "watermark "); ok {
			err = m.watermark(arg)
		} else if arg, ok := strings.CutPrefix(lines[0], "clock "); ok {
			err = m.moveClock(arg)
		} else {
			in := lines[0][:1]
			for n < len(lines) && n < m.cfg.rows && strings.HasPrefix(lines[n], in) {
				n++
			}
			err = m.rows(lines[:n])
		}
		if err == nil {
			err = m.resume()
		}
		if err == nil {
			err = m.db.EndEvent()
		}
		if err != nil {
			return err
		}
		lines = lines[n:]
	}
	return nil
}

// rows hands a batch to the operator. A selection leaves out a copy of each row.
func (m *machine) rows(lines []string) error {
	in, err := strconv.Atoi(lines[0][:1])
	if err != nil || in >= len(m.c.In) {
		m.t.Fatalf("%q does not begin with an input's number", lines[0])
	}
	b := batch.NewBatch(m.c.In[in], len(lines))
	for _, line := range lines {
		head, rest, _ := strings.Cut(line[1:], " | ")
		kind := types.Insert
		if head = strings.TrimSpace(head); head != "" {
			kind, _ = types.ParseRowKind(head)
		}
		for range m.copies() {
			for c, cell := range strings.Split(rest, " | ") {
				m.must(text.ParseCell(b.Cols[c], cell))
			}
			b.Kinds = append(b.Kinds, kind)
		}
	}
	b.SetSize(len(b.Kinds))
	if !slices.ContainsFunc(b.Kinds, func(k types.RowKind) bool { return k != types.Insert }) {
		b.Kinds = nil
	}
	if m.cfg.selected {
		var sel []int32
		for i := 1; i < b.Size(); i += 2 {
			sel = append(sel, int32(i))
		}
		b = b.WithSel(sel)
	}
	return m.op.OnBatch(in, b, m)
}

func (m *machine) copies() int {
	if m.cfg.selected {
		return 2
	}
	return 1
}

// Emit implements op.Output.
func (m *machine) Emit(b *batch.Batch) {
	m.room--
	m.note("", b)
}

// EmitSide implements op.Output.
func (m *machine) EmitSide(tag string, b *batch.Batch) { m.note(tag+": ", b) }

// note writes the rows of a batch down.
func (m *machine) note(prefix string, b *batch.Batch) {
	for i := range b.Rows() {
		p := b.At(i)
		line := []byte(prefix + b.Kind(p).String())
		for _, c := range b.Cols {
			line = text.AppendCell(append(line, " | "...), c, p)
		}
		m.got = append(m.got, string(line))
	}
}

// Full implements op.Output.
func (m *machine) Full() bool { return m.cfg.full && m.room <= 0 }

func (m *machine) watermark(arg string) error {
	m.wm = op.MaxWatermark
	if arg != "end" {
		var err error
		if m.wm, err = strconv.ParseInt(arg, 10, 64); err != nil {
			return err
		}
	}
	h, ok := m.op.(op.WatermarkHandler)
	if !ok {
		return nil
	}
	forward, err := h.OnWatermark(m.wm, m)
	if err == nil && forward != m.wm {
		m.got = append(m.got, fmt.Sprintf("forwards watermark %d", forward))
	}
	return err
}

// moveClock moves the processing time on, and calls the operator if a timer is due.
func (m *machine) moveClock(arg string) (err error) {
	if m.now, err = strconv.ParseInt(arg, 10, 64); err != nil {
		return err
	}
	isDue := func(ms int64) bool { return ms <= m.now }
	due := slices.ContainsFunc(m.timers, isDue)
	m.timers = slices.DeleteFunc(m.timers, isDue)
	if h, ok := m.op.(op.TimerHandler); ok && due {
		return h.OnTimer(m.now, m)
	}
	return nil
}

func (m *machine) resume() error {
	r, ok := m.op.(op.Resumer)
	for more := ok; more; {
		m.room = 1
		var err error
		if more, err = r.Resume(m); err != nil {
			return err
		}
	}
	return nil
}

// Bench measures an operator over batches of a schema of BIGINT and TIMESTAMP
// columns: keys of 1,000 values and times that go up by 1 ms a row.
func Bench(b *testing.B, in *types.Schema, o op.Operator) {
	db, err := state.Open(state.Config{Name: "bench", Parallelism: 1})
	if err != nil {
		b.Fatal(err)
	}
	if opener, ok := o.(op.Opener); ok {
		err := opener.Open(&op.Context{
			Name: "bench", Parallelism: 1, State: db, Now: func() int64 { return 0 }, TimerAt: func(int64) {}, Count: func(string, int64) {}, Sample: func(string, func() string) {},
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	wm, hasWM := o.(op.WatermarkHandler)
	var out void
	rows := 0
	var cpu time.Duration
	for b.Loop() {
		b.StopTimer()
		next := make([]*batch.Batch, benchBatches)
		for i := range next {
			next[i] = numbers(in, rows+i*batch.DefaultSize)
		}
		b.StartTimer()
		cpu -= cpuTime()
		for _, x := range next {
			rows += x.Size()
			err := o.OnBatch(0, x, &out)
			if err == nil && hasWM {
				_, err = wm.OnWatermark(int64(rows), &out)
			}
			if err == nil {
				err = db.EndEvent()
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		cpu += cpuTime()
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(cpu.Nanoseconds())/float64(rows), "cpu-ns/row")
}

// benchBatches is the number of batches of one round of a benchmark.
const benchBatches = 64

// numbers returns the batch that follows the first n rows.
func numbers(schema *types.Schema, n int) *batch.Batch {
	const size = batch.DefaultSize
	cols := make([]batch.Vector, schema.Len())
	for c, f := range schema.Fields {
		v := batch.MakeFixed[int64](f.Type, size)
		for i := range v.Values {
			if v.Values[i] = int64(n + i); f.Type.Kind == types.BigInt {
				v.Values[i] = int64(n+i) * 7919 % 1000
			}
		}
		cols[c] = v
	}
	return batch.Of(schema, cols, size)
}

// void is an output that keeps nothing.
type void struct{}

func (void) Emit(*batch.Batch)             {}
func (void) EmitSide(string, *batch.Batch) {}
func (void) Full() bool                    { return false }
