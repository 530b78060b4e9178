// Package session executes the statements of a script: it keeps the catalog and the options, answers what needs no job (DDL,
// SHOW, DESCRIBE, SET, EXPLAIN), and plans what does.
package session

import (
	"fmt"
	"io"
	"time"

	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/internal/sql/bind"
	"github.com/millstream-io/millstream/internal/sql/catalog"
	"github.com/millstream-io/millstream/internal/sql/config"
	"github.com/millstream-io/millstream/internal/sql/connect"
	"github.com/millstream-io/millstream/internal/sql/optimize"
	"github.com/millstream-io/millstream/internal/sql/parse"
	"github.com/millstream-io/millstream/internal/sql/physical"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

// Config is what a session gets from its host.
type Config struct {
	// Options are set before the first statement.
	Options map[string]string
	// Stdin and Stdout are what the path "-" means; Stderr is for connectors that print.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Shared holds objects of the process that connectors find by name.
	Shared map[string]any
	// MeasureState looks what the operators of a graph keep, with a sample of its input; nil where nothing can be read.
	MeasureState func(g *graph.Graph) (*StateMeasure, error)
	// Now is the clock; nil is the machine's.
	Now func() time.Time
}

// Session is the state that statements share. It is used on one goroutine.
type Session struct {
	host     Config
	catalog  *catalog.Catalog
	settings config.Settings
	defaults map[string]string
}

// New returns a session with an empty catalog.
func New(c Config) (*Session, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	s := &Session{host: c, catalog: catalog.New(), defaults: c.Options}
	return s, s.setDefaults()
}

func (s *Session) setDefaults() error {
	for k, v := range s.defaults {
		if err := s.settings.Set(k, v); err != nil {
			return err
		}
	}
	return nil
}

// Option returns the value of an option, or its default.
func (s *Session) Option(key string) string { return s.settings.Text(key) }

// HasOption reports whether an option was set.
func (s *Session) HasOption(key string) bool { return s.settings.Has(key) }

// Table returns the table of that name in the current database, or nil.
func (s *Session) Table(name string) *catalog.Table {
	t, _ := s.catalog.Lookup(s.catalog.Resolve([]string{name})).(*catalog.Table)
	return t
}

// Env returns what the options contribute to evaluation.
func (s *Session) Env() *fn.Env {
	_, database := s.catalog.Current()
	return &fn.Env{
		Zone: s.settings.Zone(), Now: s.host.Now, Database: database,
		LegacyCast:   s.settings.Is(config.LegacyCast, "ENABLED"),
		WrapIntegers: s.settings.Is(config.IntegerOverflow, "wrap"),
	}
}

func (s *Session) connect() *connect.Host {
	return &connect.Host{
		Env: s.Env(), Stdin: s.host.Stdin, Stdout: s.host.Stdout, Stderr: s.host.Stderr, Shared: s.host.Shared,
	}
}

func (s *Session) binder() *bind.Binder { return bind.New(s.catalog, &s.settings, s.connect()) }

// Planned is a job, ready to run.
type Planned struct {
	Graph *graph.Graph
	// Schema is that of a query's result, or of the rows that the table of a single INSERT receives; its types show time
	// attributes as DESCRIBE does. Nil for several INSERTs.
	Schema *types.Schema
	// Modes are the kinds of change of the result.
	Modes connector.Modes
	// Explain is the text of EXPLAIN CHANGELOG_MODE.
	Explain string
}

// Updating reports whether the result changes, and is not only added to.
func (p *Planned) Updating() bool { return p.Modes != connector.InsertOnly }

// PlanQuery plans a SELECT whose rows go to result.
func (s *Session) PlanQuery(q *ast.QueryStatement, result connector.Sink) (*Planned, error) {
	n, err := s.bindQuery(q)
	if err != nil {
		return nil, err
	}
	st, err := s.stages([]*plan.Sink{{Input: n}}, result)
	if err != nil {
		return nil, err
	}
	return st.planned(n.Schema())
}

// PlanInsert plans the INSERTs of one job.
func (s *Session) PlanInsert(stmts ...*ast.Insert) (*Planned, error) {
	sinks, err := s.bindInserts(stmts)
	if err != nil {
		return nil, err
	}
	st, err := s.stages(sinks, nil)
	if err != nil {
		return nil, err
	}
	var schema *types.Schema
	if len(sinks) == 1 {
		schema = sinkSchema(sinks[0].Table)
	}
	return st.planned(schema)
}

func (s *Session) bindQuery(q *ast.QueryStatement) (n plan.Node, err error) {
	err = s.bound(func(b *bind.Binder) error { n, err = b.Query(q.Query); return err })
	return n, err
}

func (s *Session) bindInserts(stmts []*ast.Insert) (sinks []*plan.Sink, err error) {
	err = s.bound(func(b *bind.Binder) error {
		var all errorList
		sinks = nil
		for _, ins := range stmts {
			sink, err := b.Insert(ins)
			all.add(err)
			sinks = append(sinks, sink)
		}
		return all.err()
	})
	return sinks, err
}

// bound lets f bind the statements of a job: a second time if they ask for late rows, with what the first time has found.
func (s *Session) bound(f func(*bind.Binder) error) error {
	b := s.binder()
	err := f(b)
	late := b.Late()
	if err != nil || late == nil {
		return err
	}
	b = s.binder()
	b.Tap(late)
	return f(b)
}

// sinkSchema are the columns of a table that INSERT writes, with time attributes.
func sinkSchema(t *catalog.Table) *types.Schema {
	out := &types.Schema{}
	for i := range t.Columns {
		if c := &t.Columns[i]; c.Persisted() {
			out.Fields = append(out.Fields, types.Field{Name: c.Name, Type: c.Type})
		}
	}
	return out
}

// errorList joins the errors of several statements.
type errorList struct {
	errs, missing diag.List
}

func (l *errorList) add(err error) {
	switch e := err.(type) {
	case nil:
	case *bind.Unsupported:
		l.missing.Append(e.List)
	case diag.List:
		l.errs.Append(e)
	default:
		l.errs.Errorf(diag.Pos{}, "%v", err)
	}
}

func (l *errorList) err() error {
	switch {
	case len(l.errs) > 0:
		l.errs.Append(l.missing)
		return l.errs
	case len(l.missing) > 0:
		return &bind.Unsupported{List: l.missing}
	}
	return nil
}

// stages are the forms that a job goes through.
type stages struct {
	logical, optimized []*plan.Sink
	physical           *physical.Plan
	changes            []*plan.Changes
	// graph is nil if the plan has none.
	graph *graph.Graph
	// delivery has a line for each sink.
	delivery []string
}

// stages optimizes and plans sinks.
func (s *Session) stages(sinks []*plan.Sink, result connector.Sink) (*stages, error) {
	st := &stages{logical: sinks}
	env := s.Env()
	for _, sink := range sinks {
		st.optimized = append(st.optimized, optimize.Plan(sink, env, s.settings.Has(config.NullTimes)).(*plan.Sink))
	}
	var err error
	st.physical, err = physical.Make(st.optimized, physical.Options{Host: s.connect(), Config: &s.settings, Result: result})
	if err != nil {
		return nil, err
	}
	if g, err := st.physical.Graph(); err == nil {
		st.graph = g
		if result == nil {
			st.delivery = s.delivery(g)
		}
	}
	for _, sink := range st.optimized {
		st.changes = append(st.changes, plan.InferChanges(sink, func(*plan.Sink) connector.Modes { return connector.AllModes }))
	}
	return st, nil
}

func (st *stages) planned(schema *types.Schema) (*Planned, error) {
	g, err := st.physical.Graph()
	if err != nil {
		return nil, err
	}
	out := &Planned{Graph: g, Schema: schema, Explain: st.text(true)}
	if len(st.optimized) == 1 {
		out.Modes = st.changes[0].Of(st.optimized[0])
	}
	return out, nil
}

// BindExpr parses and binds an expression without columns.
func (s *Session) BindExpr(text string) (expr.Expr, error) {
	e, err := parse.Expr(text)
	if err != nil {
		return nil, err
	}
	return s.binder().Expr(e)
}

// Execute runs a statement that needs no job: all but SELECT, INSERT and EXECUTE STATEMENT SET.
func (s *Session) Execute(stmt ast.Statement) (*Result, error) {
	r, err := s.execute(stmt)
	if err == nil {
		return r, nil
	}
	return nil, placed(err, stmt)
}

// placed gives an error that knows no place that of the statement.
func placed(err error, stmt ast.Statement) error {
	switch e := err.(type) {
	case diag.List, *bind.Unsupported:
		return err
	case *diag.Error:
		return diag.List{e}
	case *catalog.NotFound:
		d := diag.Errorf(stmt.Pos(), "%v", err)
		d.Hint = diag.DidYouMean(lastPart(e.Name), e.Candidates)
		return diag.List{d}
	}
	return diag.List{diag.Errorf(stmt.Pos(), "%v", err)}
}

func lastPart(name string) string {
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '.' {
			return name[i+1:]
		}
	}
	return name
}

func (s *Session) execute(stmt ast.Statement) (*Result, error) {
	switch st := stmt.(type) {
	case *ast.CreateTable:
		return s.createTable(st)
	case *ast.CreateView:
		return s.createView(st)
	case *ast.CreateDatabase:
		p := s.databasePath(&st.Name)
		return done(s.catalog.CreateDatabase(p.Catalog, p.Database, st.IfNotExists))
	case *ast.CreateCatalog:
		return done(s.catalog.CreateCatalog(st.Name.Name, st.IfNotExists))
	case *ast.Drop:
		return s.drop(st)
	case *ast.Use:
		return s.use(st)
	case *ast.Set:
		return s.set(st)
	case *ast.Reset:
		return s.reset(st)
	case *ast.Show:
		return s.show(st)
	case *ast.Describe:
		return s.describe(st)
	case *ast.Explain:
		return s.explain(st)
	case *ast.CreateFunction:
		return nil, unsupported(st.Pos(), "CREATE FUNCTION")
	case *ast.Alter:
		return nil, unsupported(st.Pos(), "ALTER")
	case *ast.QueryStatement, *ast.Insert, *ast.StatementSet:
		return nil, fmt.Errorf("this statement starts a job and cannot be executed here")
	}
	return nil, unsupported(stmt.Pos(), "this statement")
}

func unsupported(pos diag.Pos, what string) error {
	return &bind.Unsupported{List: diag.List{diag.Errorf(pos, "%s is not supported yet", what)}}
}
