package session

import (
	"fmt"
	"strings"

	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

// explain answers EXPLAIN: the plan of a statement at each stage, or what it keeps.
func (s *Session) explain(e *ast.Explain) (*Result, error) {
	withModes, ofState := false, false
	for _, d := range e.Details {
		switch d {
		case "CHANGELOG_MODE":
			withModes = true
		case "STATE":
			ofState = true
		case "ESTIMATED_COST":
			// The optimizer goes by rules and knows no costs; Flink's statement runs and shows the plan.
		default:
			return nil, unsupported(e.Pos(), "EXPLAIN "+d)
		}
	}
	var sinks []*plan.Sink
	var err error
	switch st := e.Statement.(type) {
	case *ast.QueryStatement:
		var n plan.Node
		if n, err = s.bindQuery(st); err == nil {
			sinks = []*plan.Sink{{Input: n}}
		}
	case *ast.Insert:
		sinks, err = s.bindInserts([]*ast.Insert{st})
	case *ast.StatementSet:
		sinks, err = s.bindInserts(st.Inserts)
	default:
		return nil, diag.Errorf(e.Statement.Pos(), "EXPLAIN needs a query, an INSERT or a STATEMENT SET")
	}
	if err != nil {
		return nil, err
	}
	var result connector.Sink
	if sinks[0].Table == nil {
		result = anySink{}
	}
	st, err := s.stages(sinks, result)
	if err != nil {
		return nil, err
	}
	if !ofState {
		return text(st.text(withModes)), nil
	}
	g, err := st.physical.Graph()
	if err != nil {
		return nil, err
	}
	var measure *StateMeasure
	missing := ""
	if s.host.MeasureState != nil {
		if measure, err = s.host.MeasureState(g); err != nil {
			missing = err.Error()
		}
	}
	kept, err := ExplainState(g, measure, missing)
	if err != nil {
		return nil, err
	}
	return text(kept), nil
}

// anySink stands for the receiver of a query that is only explained.
type anySink struct{}

// Accepts implements connector.Sink.
func (anySink) Accepts() connector.Modes { return connector.AllModes }

// Open implements connector.Sink.
func (anySink) Open(*connector.WriterContext, [][]byte) (connector.Writer, error) {
	return nil, fmt.Errorf("a query that is only explained has no writer")
}

// text prints the stages; with modes, the changelog modes and the keys of each node.
func (st *stages) text(modes bool) string {
	var b strings.Builder
	section := func(title string) {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "== %s ==\n", title)
	}
	section("Abstract Syntax Tree")
	for _, n := range st.logical {
		b.WriteString(plan.Print(n, nil))
	}
	section("Optimized Plan")
	for i, n := range st.optimized {
		var note func(plan.Node) string
		if modes {
			note = st.note(i)
		}
		b.WriteString(plan.Print(n, note))
	}
	section("Physical Plan")
	b.WriteString(st.physical.String())
	section("Graph")
	if st.graph != nil {
		b.WriteString(st.graph.String())
	}
	if lines := st.physical.LateRows(); len(lines) > 0 {
		section("Late Rows")
		b.WriteString(strings.Join(lines, "\n") + "\n")
	}
	if len(st.delivery) > 0 {
		section("Delivery")
		b.WriteString(strings.Join(st.delivery, "\n") + "\n")
	}
	return b.String()
}

// note prints a node's changelog mode and keys.
func (st *stages) note(i int) func(plan.Node) string {
	return func(n plan.Node) string {
		s := "changelogMode=[" + plan.ModeText(st.changes[i].Of(n)) + "]"
		if keys := keyText(n); keys != "" {
			s += " keys=[" + keys + "]"
		}
		return s
	}
}

func keyText(n plan.Node) string {
	var sets []string
	for _, key := range plan.Keys(n) {
		if len(key) > 0 {
			sets = append(sets, "("+columnNames(n.Schema(), key)+")")
		}
	}
	return strings.Join(sets, ", ")
}

func columnNames(s *types.Schema, cols []int) string {
	names := make([]string, len(cols))
	for i, c := range cols {
		names[i] = s.Fields[c].Name
	}
	return strings.Join(names, ", ")
}
