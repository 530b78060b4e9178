package window

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

// LateTap is a side output of an operator that takes the rows which come too
// late for it.
type LateTap struct {
	// Tag names the side output.
	Tag string
	// Cols are the positions, among the operator's input columns, of the columns
	// that the row has in its table or view.
	Cols []int
	// Source is the position of a column that tells where the row was read, or
	// -1 where that is not known.
	Source int
	// Out is the schema of the side output: the columns of the row, then
	// LateColumns.
	Out *types.Schema
}

// LateColumns are the columns that tell of a late row what happened to it.
// marked is the type of the event time that the watermark belongs to.
func LateColumns(marked types.Type) []types.Field {
	bound := types.TimeOf(types.Timestamp, 3)
	return []types.Field{
		{Name: "late_source", Type: types.StringType()},
		{Name: "late_kind", Type: types.StringType().NotNull()},
		{Name: "late_operator", Type: types.StringType().NotNull()},
		{Name: "late_window_start", Type: bound},
		{Name: "late_window_end", Type: bound},
		{Name: "late_watermark", Type: types.TimeOf(marked.Kind, 3).NotNull()},
		{Name: "late_by_ms", Type: types.Of(types.BigInt).NotNull()},
	}
}

// The counters of late rows. What a query selects by LATE is counted in both.
const (
	LateRows         = "late_rows"
	SelectedLateRows = "selected_late_rows"
)

// Late takes the rows of a batch that come too late for an operator: it counts
// them as LateRows, keeps samples of them, and sends them to the operator's
// taps. Use Add or AddRow for each such row of a batch, then Flush once.
type Late struct {
	ctx    *op.Context
	in     *types.Schema
	marked types.Type
	taps   []LateTap
	form   *text.Form
	rows   []lateRow
}

// lateRow is a row of the batch at work. Without a window, start and end are
// noWindow.
type lateRow struct {
	pos             int32
	start, end, due int64
}

const noWindow = math.MinInt64

// NewLate returns the Late of one instance of an operator over rows of in.
// marked is the type of the event time that the watermark belongs to. zone is
// that in which samples show instants; nil is UTC.
func NewLate(c *op.Context, in *types.Schema, marked types.Type, zone *time.Location, taps []LateTap) *Late {
	if zone == nil {
		zone = time.UTC
	}
	return &Late{ctx: c, in: in, marked: types.TimeOf(marked.Kind, 3), taps: taps, form: text.NewForm(zone)}
}

// Add notes that the row at a position of the batch is late for its last
// window: start and end are its bounds, as they are shown, and due is the
// watermark that closed it.
func (l *Late) Add(pos int32, start, end, due int64) {
	l.rows = append(l.rows, lateRow{pos, start, end, due})
}

// AddRow notes a late row of an operator without windows: the watermark had
// reached due, the time of the row.
func (l *Late) AddRow(pos int32, due int64) { l.Add(pos, noWindow, noWindow, due) }

// Flush deals with the late rows of b, of which the watermark was wm.
func (l *Late) Flush(b *batch.Batch, wm int64, out op.Output) {
	if len(l.rows) == 0 {
		return
	}
	l.ctx.Count(LateRows, int64(len(l.rows)))
	name := LateRows
	if len(l.taps) > 0 {
		name = SelectedLateRows
		l.ctx.Count(name, int64(len(l.rows)))
	}
	l.ctx.Sample(name, func() string { return l.words(b, l.rows[0], wm) })
	for i := range l.taps {
		l.send(&l.taps[i], b, wm, out)
	}
	l.rows = l.rows[:0]
}

// words tells of a row: "k=a, ts=2024-01-01 00:00:05.000: its window [.., ..)
// was closed 2.5 s before, by the watermark ..".
func (l *Late) words(b *batch.Batch, r lateRow, wm int64) string {
	cols := l.shown()
	cells := make([]string, len(cols))
	for i, c := range cols {
		cell := l.form.AppendCell(nil, b.Cols[c], int(r.pos))
		if name := l.in.Fields[c].Name; !strings.HasPrefix(name, "$") {
			cells[i] = name + "="
		}
		cells[i] += string(cell)
	}
	row := strings.Join(cells, ", ")
	if kind := b.Kind(int(r.pos)); kind != types.Insert {
		row = kind.String() + " " + row
	}
	by := time.Duration(wm-r.due) * time.Millisecond
	if r.end == noWindow {
		return fmt.Sprintf("%s: %v behind the watermark %s", row, by, l.instant(wm))
	}
	return fmt.Sprintf("%s: its window [%s, %s) was closed %v before, by the watermark %s", row, wall(r.start), wall(r.end), by, l.instant(wm))
}

// shown are the columns of a row that a sample shows: those of the table, where
// the operator has them.
func (l *Late) shown() []int {
	if len(l.taps) > 0 {
		return l.taps[0].Cols
	}
	all := make([]int, len(l.in.Fields))
	for i := range all {
		all[i] = i
	}
	return all
}

// wall prints a wall time.
func wall(ms int64) string { return string(text.AppendTimestamp(nil, types.TS{Ms: ms}, 3)) }

// instant prints a watermark as the event times of the rows are printed.
func (l *Late) instant(wm int64) string {
	return string(l.form.AppendCell(nil, TimeVector(l.marked, []int64{wm}), 0))
}

// send emits the late rows of b to a tap.
func (l *Late) send(t *LateTap, b *batch.Batch, wm int64, out op.Output) {
	n := len(l.rows)
	at := make([]int32, n)
	for i, r := range l.rows {
		at[i] = r.pos
	}
	cols := make([]batch.Vector, 0, len(t.Out.Fields))
	for _, c := range t.Cols {
		cols = append(cols, batch.Take(b.Cols[c], at))
	}
	cols = append(cols, l.about(t, b, at, wm)...)
	for i, f := range t.Out.Fields {
		cols[i] = cols[i].WithType(f.Type)
	}
	out.EmitSide(t.Tag, batch.Of(t.Out, cols, n))
}

// about makes LateColumns.
func (l *Late) about(t *LateTap, b *batch.Batch, at []int32, wm int64) []batch.Vector {
	n := len(l.rows)
	fields := t.Out.Fields[len(t.Cols):]
	source := batch.New(fields[0].Type, n)
	if t.Source >= 0 {
		source = batch.Take(b.Cols[t.Source], at)
	}
	kinds, names := batch.NewBytes(fields[1].Type, n, 2*n), batch.NewBytes(fields[2].Type, n, n*len(l.ctx.ID))
	starts, ends := batch.NewFixed[int64](fields[3].Type, n), batch.NewFixed[int64](fields[4].Type, n)
	marks, by := make([]int64, n), batch.MakeFixed[int64](fields[6].Type, n)
	for i, r := range l.rows {
		if t.Source < 0 {
			source.AppendNull()
		}
		kinds.AppendString(b.Kind(int(r.pos)).String())
		names.AppendString(l.ctx.ID)
		if r.end == noWindow {
			starts.AppendNull()
			ends.AppendNull()
		} else {
			starts.Append(r.start)
			ends.Append(r.end)
		}
		marks[i], by.Values[i] = wm, wm-r.due
	}
	return []batch.Vector{source, kinds, names, starts, ends, TimeVector(fields[5].Type, marks), by}
}
