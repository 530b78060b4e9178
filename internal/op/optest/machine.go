package optest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/internal/vfs"
	"github.com/millstream-io/millstream/types"
)

// machine is one operator at work: in one instance, or in several to which the
// rows are dealt out by key.
type machine struct {
	t     *testing.T
	c     Case
	cfg   config
	tasks int
	at    []*instance
	fs    vfs.FS
	wm    int64
	now   int64
	gen   int64
	// tables is the number of tables that were declared.
	tables int
	got    []string
	failed error
	room   int
}

// instance is one subtask of the operator.
type instance struct {
	*machine
	op op.Operator
	db *state.DB
	// timers are the times at which the operator has asked to be called.
	timers []int64
}

// Table implements state.Store.
func (x *instance) Table(spec state.Spec) (state.Table, error) {
	x.tables++
	if !spec.ByTask && len(spec.Key) > 0 && x.c.Keys == nil {
		x.t.Errorf("table %s is keyed: the case must say by which columns its rows are dealt out (Keys)", spec.Name)
	}
	return x.db.Table(spec)
}

// saved is a snapshot of the whole machine.
type saved struct {
	parts   []state.Part
	wm, now int64
}

func newMachine(t *testing.T, c Case, cfg config) *machine {
	m := &machine{t: t, c: c, cfg: cfg, tasks: 1, wm: op.MinWatermark, fs: vfs.NewMem()}
	m.must(m.open(nil))
	return m
}

func (m *machine) must(err error) {
	if err != nil {
		m.t.Helper()
		m.t.Fatal(err)
	}
}

func (m *machine) clock() int64 { return m.now }

// open makes the instances, over the parts of a snapshot if there are any.
func (m *machine) open(parts []state.Part) error {
	m.gen++
	m.at = nil
	for i := range m.tasks {
		x := &instance{machine: m, op: m.c.New()}
		c := state.Config{
			Name: "test", Subtask: i, Parallelism: m.tasks, FS: m.fs, Dir: fmt.Sprintf("state%d-%d", m.gen, i), Now: m.clock,
		}
		if m.cfg.full {
			c.Backend, c.MaxRows = state.Disk, 2
		}
		var err error
		if parts == nil {
			x.db, err = state.Open(c)
		} else {
			x.db, err = state.Restore(c, parts)
		}
		if err != nil {
			return err
		}
		m.at = append(m.at, x)
		if o, ok := x.op.(op.Opener); ok {
			err = o.Open(&op.Context{
				Name: "test", ID: "test", Subtask: i, Parallelism: m.tasks, State: x, Now: m.clock,
				TimerAt: func(ms int64) { x.timers = append(x.timers, ms) },
				Count:   func(string, int64) {}, Sample: func(string, func() string) {},
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *machine) close() {
	for _, x := range m.at {
		if err := x.db.Close(); err != nil && !state.IsDamage(err) {
			m.t.Error(err)
		}
	}
}

// snapshot saves the state of all instances. Its files stay.
func (m *machine) snapshot() saved {
	s := saved{wm: m.wm, now: m.now}
	for _, x := range m.at {
		snap, err := x.db.Snapshot(m.gen)
		m.must(err)
		info, err := snap.Files()
		m.must(err)
		dir := fmt.Sprintf("saved%d-%d", m.gen, len(s.parts))
		m.must(m.fs.RemoveAll(dir))
		m.must(m.fs.MkdirAll(dir, 0o755))
		path := func(f state.FileInfo) string { return m.fs.PathJoin(dir, f.Name) }
		for _, f := range info.Files {
			m.must(vfs.Copy(m.fs, snap.Path(f), m.fs, path(f)))
		}
		s.parts = append(s.parts, state.Part{FS: m.fs, Info: info, Path: path})
		m.must(snap.Release())
	}
	return s
}

// restore throws the operator away and opens a new one over a snapshot.
func (m *machine) restore() { m.goBack(m.snapshot()) }

// goBack throws the operator away and opens a new one over an earlier snapshot.
func (m *machine) goBack(s saved) {
	m.close()
	m.wm, m.now = s.wm, s.now
	m.must(m.open(s.parts))
	m.must(m.reopened())
}

// reopened gives the restored operator the time that the checkpoint knows, at
// which it has nothing to say.
func (m *machine) reopened() error {
	had := len(m.got)
	for _, x := range m.at {
		if h, ok := x.op.(op.WatermarkHandler); ok {
			if _, err := h.OnWatermark(m.wm, m); err != nil {
				return err
			}
		}
	}
	if len(m.got) != had {
		m.t.Errorf("the watermark of the checkpoint made the restored operator emit rows: %q", m.got[had:])
	}
	return nil
}

// step handles the lines of a step; consecutive rows of one input go in batches.
func (m *machine) step(lines []string) error {
	for len(lines) > 0 {
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
		if err != nil {
			return err
		}
		if m.cfg.restore {
			m.restore()
		}
		lines = lines[n:]
	}
	return nil
}

// event lets an instance do something, to its end.
func (x *instance) event(do func() error) error {
	x.room = 1
	if err := do(); err != nil {
		return err
	}
	r, ok := x.op.(op.Resumer)
	for more := ok; more; {
		x.room = 1
		var err error
		if more, err = r.Resume(x); err != nil {
			return err
		}
	}
	return x.db.EndEvent()
}

// moveClock moves the processing time on, and calls those whose timer is due.
func (m *machine) moveClock(arg string) (err error) {
	if m.now, err = strconv.ParseInt(arg, 10, 64); err != nil {
		return err
	}
	isDue := func(ms int64) bool { return ms <= m.now }
	for _, x := range m.at {
		due := slices.ContainsFunc(x.timers, isDue)
		x.timers = slices.DeleteFunc(x.timers, isDue)
		if h, ok := x.op.(op.TimerHandler); ok && due {
			if err := x.event(func() error { return h.OnTimer(m.now, x) }); err != nil {
				return err
			}
		}
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
	for i, part := range m.deal(in, b) {
		x := m.at[i]
		if part == nil {
			continue
		}
		if err := x.event(func() error { return x.op.OnBatch(in, part, x) }); err != nil {
			return err
		}
	}
	return nil
}

// deal divides a batch among the instances as the runtime does.
func (m *machine) deal(in int, b *batch.Batch) []*batch.Batch {
	out := make([]*batch.Batch, m.tasks)
	if m.tasks == 1 {
		out[0] = b
		return out
	}
	var cols []batch.Vector
	for _, c := range m.c.Keys[in] {
		cols = append(cols, b.Cols[c])
	}
	hash := batch.Hash(cols, b.Sel, b.Size(), nil)
	sel := make([][]int32, m.tasks)
	for i := range b.Rows() {
		p := b.At(i)
		to := batch.SubtaskOf(batch.KeyGroup(hash[p]), m.tasks)
		sel[to] = append(sel[to], int32(p))
	}
	for i := range out {
		if len(sel[i]) > 0 {
			out[i] = b.WithSel(sel[i])
		}
	}
	return out
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

// watermark gives all instances the time. What they forward is what the least of
// them does.
func (m *machine) watermark(arg string) error {
	m.wm = op.MaxWatermark
	if arg != "end" {
		var err error
		if m.wm, err = strconv.ParseInt(arg, 10, 64); err != nil {
			return err
		}
	}
	least := m.wm
	for _, x := range m.at {
		h, ok := x.op.(op.WatermarkHandler)
		if !ok {
			continue
		}
		err := x.event(func() error {
			forward, err := h.OnWatermark(m.wm, x)
			least = min(least, forward)
			return err
		})
		if err != nil {
			return err
		}
	}
	if least != m.wm {
		m.got = append(m.got, fmt.Sprintf("forwards watermark %d", least))
	}
	return nil
}
