// Package plan holds the nodes of logical plans: what a query computes, not yet how. The binder makes them, the optimizer
// rewrites them, and package physical turns them into a graph. Nodes are immutable; rewrites make new ones.
package plan

import (
	"fmt"
	"strings"

	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/catalog"
	"github.com/millstream-io/millstream/types"
)

// Node is a relation.
type Node interface {
	// Schema is that of the rows. Types carry the time attributes that the rows really have.
	Schema() *types.Schema
	Inputs() []Node
	// WithInputs returns the node over other inputs, which have the same columns.
	WithInputs(in []Node) Node
	// Line describes the node without its inputs, in one line.
	Line() string
}

// Scan reads a table: its physical and METADATA columns, or some of them. Computed columns and the watermark are nodes above.
type Scan struct {
	Table *catalog.Table
	// Columns are the positions in Table.Columns of the columns to read, in order; none of them is computed.
	Columns []int
	// Fields are the read columns. The type of a ROW column may lack fields that nobody needs, if the connector allows it.
	Fields *types.Schema
	// Options override the table's; they come from an OPTIONS hint.
	Options []catalog.Option
	// Modes are the kinds of change that the source sends.
	Modes connector.Modes
	// Lateness is how long after their end windows take the table's rows, in ms.
	Lateness int64
	// Pos is where the query names the table.
	Pos diag.Pos
}

// Watermark says that the event time of the input's rows is a column, and how the watermark follows from a row.
type Watermark struct {
	Input Node
	// Col is the event-time column.
	Col int
	// Expr computes the watermark that a row allows; nil if the source sends watermarks itself.
	Expr expr.Expr
	Out  *types.Schema
}

// Values is a constant relation.
type Values struct {
	// Rows hold constant expressions, or calls of volatile functions.
	Rows [][]expr.Expr
	Out  *types.Schema
}

// Filter keeps the rows for which Cond is true.
type Filter struct {
	Input Node
	Cond  expr.Expr
}

// Project computes each column from a row.
type Project struct {
	Input Node
	Exprs []expr.Expr
	Out   *types.Schema
}

// WindowKind is a window function.
type WindowKind uint8

// The window functions.
const (
	Tumble WindowKind = iota
	Hop
	Cumulate
	Session
)

// String returns the function's name.
func (k WindowKind) String() string { return [...]string{"TUMBLE", "HOP", "CUMULATE", "SESSION"}[k] }

// Window says how a window function cuts time.
type Window struct {
	Kind WindowKind
	// Time is the position of the time column, TimeType its type, with its attribute.
	Time     int
	TimeType types.Type
	// Size in ms is that of a window, of the longest one of CUMULATE, or the gap of SESSION. Slide is that of HOP, and the step
	// of CUMULATE. Offset moves the grid.
	Size, Slide, Offset int64
	// Partition are the columns by which SESSION is partitioned.
	Partition []int
}

// Columns returns window_start, window_end and window_time as a window function makes them.
func (w *Window) Columns() []types.Field {
	bound := types.TimeOf(types.Timestamp, 3).NotNull()
	mark := w.TimeType.NotNull()
	mark.Precision = 3
	return []types.Field{{Name: "window_start", Type: bound}, {Name: "window_end", Type: bound}, {Name: "window_time", Type: mark}}
}

// WindowTVF adds window_start, window_end and window_time to each row.
type WindowTVF struct {
	Input  Node
	Window Window
	Out    *types.Schema
	// Taps want the rows that are late for the windows.
	Taps []Tap
	// Emit is nil where a window shows its results at its end alone.
	Emit *Emit
}

// Agg is a call of an aggregate function over columns of the input.
type Agg struct {
	Def *fn.AggDef
	// Call is the call that Def binds: with the arguments as they were written.
	Call *fn.Call
	// Args are the columns of the arguments, cast to what the function asks for.
	Args     []int
	Distinct bool
	// Filter is a BOOLEAN column, or -1.
	Filter int
	Name   string
	Type   types.Type
}

// Aggregate groups rows by columns. Its rows are the keys, then the results.
type Aggregate struct {
	Input Node
	Keys  []int
	Aggs  []Agg
	Out   *types.Schema
	// Pos is where the query asks for it.
	Pos diag.Pos
	// TTL is how long a row of the state stays without a change, in ms of processing time, as the hint STATE_TTL says; 0 is for good,
	// and nil leaves it to table.exec.state.ttl.
	TTL *int64
}

// WindowProp is a column of a WindowAggregate that tells the window.
type WindowProp uint8

// The columns of a window.
const (
	WindowStart WindowProp = iota
	WindowEnd
	WindowTime
)

// String returns the column's usual name.
func (p WindowProp) String() string {
	return [...]string{"window_start", "window_end", "window_time"}[p]
}

// WindowAggregate groups rows by window and columns. Its rows are the keys, then the results, then the window's columns. A
// window's rows come out when the watermark has passed its end; with Emit also before that, or again after it.
type WindowAggregate struct {
	Input  Node
	Window Window
	Keys   []int
	Aggs   []Agg
	Props  []WindowProp
	Out    *types.Schema
	// Attached tells that the rows have their window already: Window.Time is then the column of the window's end.
	Attached bool
	// Taps want the rows that are late.
	Taps []Tap
	// Emit is nil where a window's rows come out once.
	Emit *Emit
	// Pos is where the query asks for it.
	Pos diag.Pos
}

// Union is UNION ALL of inputs that have the same column types, up to nullability and names.
type Union struct {
	In  []Node
	Out *types.Schema
}

// NoLimit is the Count of a Limit that only skips.
const NoLimit = 1<<63 - 1

// Limit drops the first Offset rows in order of arrival and passes on the next Count.
type Limit struct {
	Input         Node
	Offset, Count int64
	Pos           diag.Pos
}

// Sink writes rows to a table, or to whoever asked for a query's result.
type Sink struct {
	Input Node
	// Table is nil for the result of a SELECT.
	Table   *catalog.Table
	Options []catalog.Option
	// OnConflict is ERROR, NOTHING or DEDUPLICATE, or empty.
	OnConflict string
	// DropNulls are columns that are NOT NULL in the table, but may be NULL in Input: such rows are left out.
	DropNulls []int
	// RequireOnConflict is table.exec.sink.require-on-conflict.
	RequireOnConflict bool
	// Pos is where the statement names the table.
	Pos diag.Pos
}

// Schema implements Node.
func (n *Scan) Schema() *types.Schema { return n.Fields }

// Schema implements Node.
func (n *Watermark) Schema() *types.Schema { return n.Out }

// Schema implements Node.
func (n *Values) Schema() *types.Schema { return n.Out }

// Schema implements Node.
func (n *Filter) Schema() *types.Schema { return n.Input.Schema() }

// Schema implements Node.
func (n *Project) Schema() *types.Schema { return n.Out }

// Schema implements Node.
func (n *WindowTVF) Schema() *types.Schema { return n.Out }

// Schema implements Node.
func (n *Aggregate) Schema() *types.Schema { return n.Out }

// Schema implements Node.
func (n *WindowAggregate) Schema() *types.Schema { return n.Out }

// Schema implements Node.
func (n *Union) Schema() *types.Schema { return n.Out }

// Schema implements Node.
func (n *Limit) Schema() *types.Schema { return n.Input.Schema() }

// Schema implements Node.
func (n *Sink) Schema() *types.Schema { return n.Input.Schema() }

// Inputs implements Node.
func (n *Scan) Inputs() []Node { return nil }

// Inputs implements Node.
func (n *Watermark) Inputs() []Node { return []Node{n.Input} }

// Inputs implements Node.
func (n *Values) Inputs() []Node { return nil }

// Inputs implements Node.
func (n *Filter) Inputs() []Node { return []Node{n.Input} }

// Inputs implements Node.
func (n *Project) Inputs() []Node { return []Node{n.Input} }

// Inputs implements Node.
func (n *WindowTVF) Inputs() []Node { return []Node{n.Input} }

// Inputs implements Node.
func (n *Aggregate) Inputs() []Node { return []Node{n.Input} }

// Inputs implements Node.
func (n *WindowAggregate) Inputs() []Node { return []Node{n.Input} }

// Inputs implements Node.
func (n *Union) Inputs() []Node { return n.In }

// Inputs implements Node.
func (n *Limit) Inputs() []Node { return []Node{n.Input} }

// Inputs implements Node.
func (n *Sink) Inputs() []Node { return []Node{n.Input} }

// WithInputs implements Node.
func (n *Scan) WithInputs([]Node) Node { return n }

// WithInputs implements Node.
func (n *Watermark) WithInputs(in []Node) Node { c := *n; c.Input = in[0]; return &c }

// WithInputs implements Node.
func (n *Values) WithInputs([]Node) Node { return n }

// WithInputs implements Node.
func (n *Filter) WithInputs(in []Node) Node { c := *n; c.Input = in[0]; return &c }

// WithInputs implements Node.
func (n *Project) WithInputs(in []Node) Node { c := *n; c.Input = in[0]; return &c }

// WithInputs implements Node.
func (n *WindowTVF) WithInputs(in []Node) Node { c := *n; c.Input = in[0]; return &c }

// WithInputs implements Node.
func (n *Aggregate) WithInputs(in []Node) Node { c := *n; c.Input = in[0]; return &c }

// WithInputs implements Node.
func (n *WindowAggregate) WithInputs(in []Node) Node { c := *n; c.Input = in[0]; return &c }

// WithInputs implements Node.
func (n *Union) WithInputs(in []Node) Node { c := *n; c.In = in; return &c }

// WithInputs implements Node.
func (n *Limit) WithInputs(in []Node) Node { c := *n; c.Input = in[0]; return &c }

// WithInputs implements Node.
func (n *Sink) WithInputs(in []Node) Node { c := *n; c.Input = in[0]; return &c }

// Line implements Node.
func (n *Scan) Line() string {
	s := fmt.Sprintf("Scan(table=[%s], columns=[%s]", n.Table.Path, strings.Join(n.Fields.Names(), ", "))
	if len(n.Options) > 0 {
		s += ", options=[" + optionList(n.Options) + "]"
	}
	return s + ")"
}

func optionList(options []catalog.Option) string {
	parts := make([]string, len(options))
	for i, o := range options {
		parts[i] = o.Key + "=" + o.Value
	}
	return strings.Join(parts, ", ")
}

// Line implements Node.
func (n *Watermark) Line() string {
	text := "SOURCE_WATERMARK()"
	if n.Expr != nil {
		text = n.Expr.String()
	}
	return fmt.Sprintf("Watermark(rowtime=[%s], watermark=[%s])", n.Out.Fields[n.Col].Name, text)
}

// Line implements Node.
func (n *Values) Line() string {
	rows := make([]string, len(n.Rows))
	for i, r := range n.Rows {
		rows[i] = "(" + joinExprs(r) + ")"
	}
	return fmt.Sprintf("Values(columns=[%s], rows=[%s])", strings.Join(n.Out.Names(), ", "), strings.Join(rows, ", "))
}

func joinExprs(exprs []expr.Expr) string {
	parts := make([]string, len(exprs))
	for i, e := range exprs {
		parts[i] = e.String()
	}
	return strings.Join(parts, ", ")
}

// Line implements Node.
func (n *Filter) Line() string { return fmt.Sprintf("Filter(where=[%s])", n.Cond) }

// Line implements Node.
func (n *Project) Line() string { return "Project(select=[" + SelectList(n.Exprs, n.Out) + "])" }

// SelectList prints expressions with the names that they get: a, b + 1 AS c.
func SelectList(exprs []expr.Expr, out *types.Schema) string {
	parts := make([]string, len(exprs))
	for i, e := range exprs {
		parts[i] = e.String()
		if name := out.Fields[i].Name; parts[i] != name {
			parts[i] += " AS " + name
		}
	}
	return strings.Join(parts, ", ")
}

// Line prints the window of a node over in: TUMBLE(time=[ts], size=[10 s]).
func (w *Window) Line(in *types.Schema) string { return w.line("time", in) }

// line prints the window; time says what its time column is.
func (w *Window) line(time string, in *types.Schema) string {
	s := fmt.Sprintf("%s(%s=[%s], ", w.Kind, time, in.Fields[w.Time].Name)
	switch w.Kind {
	case Hop:
		s += "slide=[" + Millis(w.Slide) + "], "
	case Cumulate:
		s += "step=[" + Millis(w.Slide) + "], "
	case Session:
		s += "gap=[" + Millis(w.Size) + "]"
		if len(w.Partition) > 0 {
			names := make([]string, len(w.Partition))
			for i, c := range w.Partition {
				names[i] = in.Fields[c].Name
			}
			s += ", partition=[" + strings.Join(names, ", ") + "]"
		}
		return s + ")"
	}
	s += "size=[" + Millis(w.Size) + "]"
	if w.Offset != 0 {
		s += ", offset=[" + Millis(w.Offset) + "]"
	}
	return s + ")"
}

// Millis prints a number of milliseconds in the largest unit that divides it.
func Millis(ms int64) string {
	for _, u := range []struct {
		ms   int64
		name string
	}{{86400_000, "d"}, {3600_000, "h"}, {60_000, "min"}, {1000, "s"}} {
		if ms != 0 && ms%u.ms == 0 {
			return fmt.Sprintf("%d %s", ms/u.ms, u.name)
		}
	}
	return fmt.Sprintf("%d ms", ms)
}

// Line implements Node.
func (n *WindowTVF) Line() string {
	return "WindowTableFunction(window=[" + n.Window.Line(n.Input.Schema()) + "])"
}

// Line implements Node.
func (n *Aggregate) Line() string {
	return "Aggregate(" + GroupList(n.Keys, n.Aggs, n.Input.Schema()) + ")"
}

// GroupList prints the keys and the calls of an aggregation over in.
func GroupList(keys []int, aggs []Agg, in *types.Schema) string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = in.Fields[k].Name
	}
	calls := make([]string, len(aggs))
	for i, a := range aggs {
		calls[i] = a.Text(in) + " AS " + a.Name
	}
	return fmt.Sprintf("groupBy=[%s], select=[%s]", strings.Join(names, ", "), strings.Join(calls, ", "))
}

// Text prints the call: COUNT(DISTINCT a) FILTER b.
func (a *Agg) Text(in *types.Schema) string {
	args := make([]string, len(a.Args))
	for i, c := range a.Args {
		args[i] = in.Fields[c].Name
	}
	text := strings.Join(args, ", ")
	if len(args) == 0 {
		text = "*"
	}
	if a.Distinct {
		text = "DISTINCT " + text
	}
	text = a.Def.Name + "(" + text + ")" + a.Nulls()
	if a.Filter >= 0 {
		text += " FILTER " + in.Fields[a.Filter].Name
	}
	return text
}

// Nulls is what the call says of NULLs, with a space before it.
func (a *Agg) Nulls() string {
	return [...]string{"", " RESPECT NULLS", " IGNORE NULLS"}[a.Call.Nulls]
}

// Line implements Node.
func (n *WindowAggregate) Line() string {
	props := make([]string, len(n.Props))
	for i, p := range n.Props {
		props[i] = p.String()
		if name := n.Out.Fields[len(n.Keys)+len(n.Aggs)+i].Name; name != props[i] {
			props[i] += " AS " + name
		}
	}
	window := n.Window.Line(n.Input.Schema())
	if n.Attached {
		window = n.Window.line("end", n.Input.Schema())
	}
	fire := ""
	if n.Emit != nil {
		fire = fmt.Sprintf(", fire=[%s]", n.Emit)
	}
	return fmt.Sprintf("WindowAggregate(window=[%s], %s, emit=[%s]%s)", window,
		GroupList(n.Keys, n.Aggs, n.Input.Schema()), strings.Join(props, ", "), fire)
}

// Line implements Node.
func (n *Union) Line() string {
	return "Union(all=[true], columns=[" + strings.Join(n.Out.Names(), ", ") + "])"
}

// Line implements Node.
func (n *Limit) Line() string {
	s := "Limit(offset=[" + fmt.Sprint(n.Offset) + "]"
	if n.Count != NoLimit {
		s += ", fetch=[" + fmt.Sprint(n.Count) + "]"
	}
	return s + ")"
}

// Line implements Node.
func (n *Sink) Line() string {
	name := "result"
	if n.Table != nil {
		name = n.Table.Path.String()
	}
	s := fmt.Sprintf("Sink(table=[%s], columns=[%s]", name, strings.Join(n.Schema().Names(), ", "))
	if len(n.DropNulls) > 0 {
		names := make([]string, len(n.DropNulls))
		for i, c := range n.DropNulls {
			names[i] = n.Schema().Fields[c].Name
		}
		s += ", dropNulls=[" + strings.Join(names, ", ") + "]"
	}
	return s + ")"
}
