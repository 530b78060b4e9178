package slt

import (
	"fmt"
	"strings"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/connector/script"
	"github.com/millstream-io/millstream/internal/clock"
	"github.com/millstream-io/millstream/internal/runtime"
	"github.com/millstream-io/millstream/internal/sltfile"
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/internal/sql/catalog"
	"github.com/millstream-io/millstream/internal/sql/session"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/internal/vfs"
	"github.com/millstream-io/millstream/types"
)

// resultName is the output of a SELECT in the hub. No table has this name.
const resultName = "\x00result"

// query is the running query of a script.
type query struct {
	*runner
	stmt ast.Statement
	raw  bool
	// err ends the query: each later step answers error.
	err error

	job  *runtime.Job
	disk vfs.CrashFS
	data *runtime.Data
	out  *script.Output
	// seen is how many changes were shown. kept is how many came before the
	// last checkpoint, keptFed how much was fed before it.
	seen, kept, keptFed int
	// clock is the processing time, which only the script moves, from 1970 on.
	// moves are its moves since the last checkpoint, which was taken at keptClock.
	clock     *clock.Manual
	moves     []move
	keptClock int64
	result    *table
	// whole is the disk before a file of it was damaged, harm what was done to it.
	whole *vfs.CrashFS
	harm  string
}

// move is a move of the clock, after so much was fed.
type move struct {
	fed int
	ms  int64
}

// start plans the query and starts it, or goes on from its last checkpoint.
func (q *query) start() (*types.Schema, error) {
	p, err := q.plan()
	if err != nil {
		return nil, err
	}
	if q.cfg.Restore != Never || q.cfg.Tiny {
		if q.data, err = q.openData(); err != nil {
			return nil, err
		}
	}
	q.clock = clock.NewManual(q.keptClock)
	c := runtime.Config{Job: "script", BatchSize: q.cfg.Batch, Clock: q.clock}
	switch {
	case q.cfg.Tiny:
		c.State = runtime.StateConfig{Backend: state.Disk, MaxRows: 1}
	case q.cfg.Restore == Random || q.cfg.Restore >= Faulty && q.cfg.Seed%2 == 0:
		c.State.Backend = state.Disk
	}
	if q.job, err = runtime.NewJob(p.Graph, c, q.data); err == nil {
		q.runner.stateful = append(q.runner.stateful, q.job.Stateful()...)
	}
	return p.Schema, err
}

// plan plans the statement and finds its output.
func (q *query) plan() (*session.Planned, error) {
	switch st := q.stmt.(type) {
	case *ast.QueryStatement:
		q.setOutput(resultName, false)
		return q.session.PlanQuery(st, script.NewCollector(q.out, q.session.Env().Zone))
	case *ast.Insert:
		p, err := q.session.PlanInsert(st)
		if err != nil {
			return nil, err
		}
		t, err := q.table(st.Table.Last())
		if err != nil {
			return nil, err
		}
		mode, _ := t.Option("changelog")
		q.setOutput(t.Path.Name, mode == "upsert")
		return p, nil
	}
	return nil, fmt.Errorf("a query block holds a SELECT or an INSERT")
}

func (q *query) setOutput(name string, keyed bool) {
	q.out = q.hub.Output(name)
	if q.result == nil {
		q.result = newTable(keyed)
	}
}

func (q *query) table(name string) (*catalog.Table, error) {
	t := q.session.Table(name)
	if t == nil {
		return nil, &inputError{fmt.Sprintf("there is no table %q", name)}
	}
	return t, nil
}

func (q *query) close() {
	if q.job != nil {
		q.job.Close()
	}
	if q.data != nil {
		q.data.Close()
	}
	q.job, q.data = nil, nil
}

// feed sends lines; consecutive rows of one table go in batches, and all that
// a table's lines do is over before another table's begin.
func (q *query) feed(lines []feedLine) error {
	var order []*catalog.Table
	held := map[*catalog.Table]bool{}
	for i := 0; i < len(lines); {
		if lines[i].word == "clock" {
			if err := q.moveClock(lines[i].arg); err != nil {
				return err
			}
			i++
			continue
		}
		t, err := q.table(lines[i].table)
		if err != nil {
			return err
		}
		if _, ok := held[t]; !ok {
			order = append(order, t)
		}
		j := i + 1
		for j < len(lines) && lines[j].table == lines[i].table && lines[j].word == "" && lines[i].word == "" {
			j++
		}
		if lines[i].word == "" {
			held[t] = true
			err = q.rows(t, lines[i:j])
		} else {
			err = q.word(t, lines[i], held[t])
			held[t] = false
		}
		if err == nil {
			err = q.settle()
		}
		if err != nil {
			return err
		}
		i = j
	}
	for _, t := range order {
		if held[t] {
			q.hub.Input(t.Path.Name).Release()
			if err := q.settle(); err != nil {
				return err
			}
		}
	}
	return nil
}

// moveClock handles a line that says what time it is.
func (q *query) moveClock(arg string) error {
	v := batch.New(types.TimeOf(types.TimestampLTZ, 3), 1)
	if err := q.form().ParseCell(v, arg); err != nil {
		return &inputError{fmt.Sprintf("clock %s: %v", arg, err)}
	}
	m := move{q.hub.Fed(), v.(*batch.Fixed[int64]).Values[0]}
	q.moves = append(q.moves, m)
	q.clock.Set(m.ms)
	return q.settle()
}

// word handles a line that is no row. A watermark that the rows before it
// allow is sent first.
func (q *query) word(t *catalog.Table, l feedLine, held bool) error {
	in := q.hub.Input(t.Path.Name)
	if held {
		in.Release()
	}
	switch l.word {
	case "idle":
		in.Idle()
	case "end":
		in.End()
	case "watermark":
		ms, err := q.watermark(t, l.arg)
		if err != nil {
			return err
		}
		in.Watermark(ms)
	}
	return nil
}

// watermark reads a time as the table's event-time column has it.
func (q *query) watermark(t *catalog.Table, arg string) (int64, error) {
	if t.Watermark == nil {
		return 0, &inputError{fmt.Sprintf("table %s has no watermark", t.Path.Name)}
	}
	typ := types.TimeOf(t.Column(t.Watermark.Column).Type.Kind, 3)
	v := batch.New(typ, 1)
	if err := q.form().ParseCell(v, arg); err != nil {
		return 0, &inputError{fmt.Sprintf("watermark %s: %v", arg, err)}
	}
	return v.(*batch.Fixed[int64]).Values[0], nil
}

func (q *query) form() *text.Form { return text.NewForm(q.session.Env().Zone) }

// rows feeds rows in batches.
func (q *query) rows(t *catalog.Table, lines []feedLine) error {
	schema, form := t.Physical(), q.form()
	for len(lines) > 0 {
		n := min(q.cfg.Batch, len(lines))
		b := batch.NewBatch(schema, n)
		for _, l := range lines[:n] {
			if len(l.cells) != schema.Len() {
				return &inputError{fmt.Sprintf("line %d: table %s has %d columns, the row %d cells", l.no+1, t.Path.Name, schema.Len(), len(l.cells))}
			}
			for c, cell := range l.cells {
				if err := form.ParseCell(b.Cols[c], cell); err != nil {
					return &inputError{fmt.Sprintf("line %d: column %s: %v", l.no+1, schema.Fields[c].Name, err)}
				}
			}
			if l.kind != types.Insert && b.Kinds == nil {
				b.Kinds = make([]types.RowKind, b.Size(), n)
			}
			if b.Kinds != nil {
				b.Kinds = append(b.Kinds, l.kind)
			}
			b.SetSize(b.Size() + 1)
		}
		q.hub.Input(t.Path.Name).Feed(b)
		lines = lines[n:]
	}
	return nil
}

// settle lets the job handle everything, then disturbs it as the configuration
// says.
func (q *query) settle() error {
	if err := q.job.Drain(); err != nil {
		if err = q.mend(err); err != nil {
			return err
		}
	}
	if q.job.Over() {
		return nil
	}
	switch q.cfg.Restore {
	case Each:
		if err := q.checkpoint(); err != nil {
			return err
		}
		return q.crash()
	case Faulty:
		return q.crashAmid()
	case Damaged:
		return q.damage()
	case Random:
		if q.rand.IntN(3) == 0 {
			if err := q.checkpoint(); err != nil {
				return err
			}
		}
		if q.rand.IntN(3) == 0 {
			return q.crash()
		}
	}
	return nil
}

func (q *query) checkpoint() error {
	if err := q.job.Checkpoint(); err != nil {
		return err
	}
	q.kept, q.keptFed = q.out.Len(), q.hub.Fed()
	q.keptClock, q.moves = q.clock.Now(), nil
	return nil
}

// crash throws the job away and goes on from its last checkpoint: what came
// after that is done again, in the same order.
func (q *query) crash() error {
	q.job.Close()
	if err := q.data.Close(); err != nil {
		return err
	}
	return q.again()
}

// again goes on from the last checkpoint on the disk.
func (q *query) again() error {
	q.job, q.data = nil, nil
	q.runner.result.Crashes++
	q.out.Truncate(q.kept)
	q.hub.Limit(q.keptFed)
	if _, err := q.start(); err != nil {
		return fmt.Errorf("the query did not start again: %w", err)
	}
	for n := q.keptFed; n <= q.hub.Fed(); n++ {
		q.hub.Limit(n)
		if err := q.job.Drain(); err != nil {
			return err
		}
		for _, m := range q.moves {
			if m.fed != n {
				continue
			}
			q.clock.Set(m.ms)
			if err := q.job.Drain(); err != nil {
				return err
			}
		}
	}
	return nil
}

// answer returns what changed since the last answer.
func (q *query) answer() []string {
	changes := q.out.From(q.seen)
	q.seen = q.out.Len()
	net := q.result.apply(changes)
	if !q.raw {
		return net
	}
	var out []string
	for _, c := range changes {
		out = append(out, c.Kind.String()+" "+c.Cells)
	}
	return out
}

// eval evaluates expressions, folded and unfolded.
func (r *runner) eval(b *sltfile.Block) []string {
	var out []string
	for _, line := range b.Input {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		out = append(out, r.evalLine(line))
	}
	return out
}
