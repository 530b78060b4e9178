package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/runtime"
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/internal/sql/bind"
	"github.com/millstream-io/millstream/internal/sql/config"
	"github.com/millstream-io/millstream/internal/sql/parse"
	"github.com/millstream-io/millstream/internal/sql/session"
)

// script is a script that was planned as a whole, before anything of it runs.
type script struct {
	// file is its name for messages, base the name of its jobs.
	file, base string
	stmts      []ast.Statement
	steps      []step
	// errs are mistakes, and what is not supported yet; warnings are what is
	// allowed but hardly meant.
	errs, warnings diag.List
}

// step is one thing that happens when the script runs: an answer is printed,
// or a job runs.
type step struct {
	answer *session.Result
	job    *job
}

// job is a SELECT, or the INSERTs that run together.
type job struct {
	// name is empty for a SELECT, which keeps nothing.
	name    string
	graph   *graph.Graph
	config  runtime.Config
	explain string
	// result is the sink of a SELECT.
	result *result
	// data is the option millstream.data.
	data string
}

// readScript reads a script's text; "-" is the standard input.
func readScript(name string, stdin io.Reader) (text string, err error) {
	var data []byte
	if name == "-" {
		data, err = io.ReadAll(stdin)
	} else {
		data, err = os.ReadFile(name)
	}
	return string(data), err
}

// planner plans the statements of a script in order.
type planner struct {
	script  *script
	session *session.Session
	output  outputForm
	// pending are INSERTs that still wait for others, parts those that were
	// planned under options that have changed since.
	pending []*ast.Insert
	parts   []*session.Planned
	// first are the settings of the job when its first INSERT was read.
	first *job
	// names counts the jobs of a name.
	names map[string]int
	// broken are tables and views whose definition has errors: what else is
	// said of them would only repeat that.
	broken map[string]bool
	// runs is set once there is something that runs.
	runs bool
}

func newPlanner(s *session.Session, out outputForm) *planner {
	return &planner{session: s, output: out, names: map[string]int{}, broken: map[string]bool{}}
}

// outputForm says how the rows of a SELECT are printed.
type outputForm struct {
	form string
	w    io.Writer
}

// planScript parses and plans a whole script. Its errors are in the result;
// err is only about options from outside.
func planScript(file, text string, c session.Config, out outputForm) (*script, error) {
	s, err := session.New(c)
	if err != nil {
		return nil, err
	}
	base := strings.TrimSuffix(filepath.Base(file), ".sql")
	if file == "-" {
		base = "stdin"
	}
	sc := &script{file: file, base: base}
	stmts, errs := parse.Script(text)
	if len(errs) > 0 {
		sc.errs = errs
		return sc, nil
	}
	sc.stmts = stmts
	p := newPlanner(s, out)
	p.script = sc
	for _, stmt := range stmts {
		p.statement(stmt)
		eachPart(reflect.ValueOf(stmt), p.vainOrder)
	}
	p.flush()
	if !p.runs && len(sc.errs) == 0 {
		sc.warnings.Errorf(diag.Pos{}, "the script has no SELECT and no INSERT, so nothing runs")
	}
	sc.errs.Sort()
	return sc, nil
}

// vainOrder warns of an ORDER BY that changes nothing: Flink takes it, and does
// not do it.
func (p *planner) vainOrder(part any) {
	c, is := part.(*ast.Call)
	if !is || !slices.Contains([]string{"ARRAY_AGG", "JSON_ARRAYAGG"}, strings.ToUpper(c.FuncName())) {
		return
	}
	if items := append(slices.Clone(c.OrderBy), c.WithinGroup...); len(items) > 0 {
		p.script.warnings.Errorf(items[0].Pos(), "ORDER BY has no effect in %s, as in Flink: values stand in the order in which they came",
			strings.ToUpper(c.FuncName()))
	}
}

// statement plans one statement.
func (p *planner) statement(stmt ast.Statement) {
	switch st := stmt.(type) {
	case *ast.Insert:
		p.insert(st)
	case *ast.StatementSet:
		p.insert(st.Inserts...)
	case *ast.QueryStatement:
		p.flush()
		p.query(st)
	default:
		if changesNames(stmt) {
			p.close()
		}
		p.execute(stmt)
	}
}

// changesNames reports whether a statement may change what INSERTs before it
// mean, so that they have to be planned first.
func changesNames(stmt ast.Statement) bool {
	switch st := stmt.(type) {
	case *ast.Show, *ast.Describe, *ast.Explain:
		return false
	case *ast.CreateTable:
		return st.OrReplace || st.Temporary
	case *ast.CreateView:
		return st.OrReplace || st.Temporary
	}
	return true
}

func (p *planner) execute(stmt ast.Statement) {
	if set, ok := stmt.(*ast.Set); ok {
		if err := checkSet(set); err != nil {
			p.fail(err)
			return
		}
		p.warnUnknown(set)
	}
	answer, err := p.session.Execute(stmt)
	if err != nil {
		p.fail(err)
		switch st := stmt.(type) {
		case *ast.CreateTable:
			p.broken[st.Name.Last()] = true
		case *ast.CreateView:
			p.broken[st.Name.Last()] = true
		}
		return
	}
	if answer.Rows != nil {
		p.runs = true
		p.script.steps = append(p.script.steps, step{answer: answer})
	}
}

// checkSet refuses credentials in a script.
func checkSet(set *ast.Set) error {
	if set.Key == nil {
		return nil
	}
	if err := runtime.CheckOption(set.Key.Value); err != nil {
		return diag.List{diag.Errorf(set.Key.Pos(), "%v", err)}
	}
	return nil
}

// warnUnknown warns of an option that has no effect.
func (p *planner) warnUnknown(set *ast.Set) {
	if set.Key == nil {
		return
	}
	var names []string
	for _, o := range knownOptions() {
		if o.Name == set.Key.Value {
			return
		}
		names = append(names, o.Name)
	}
	w := p.script.warnings.Errorf(set.Key.Pos(), "option %q is unknown and has no effect", set.Key.Value)
	w.Hint = diag.DidYouMean(set.Key.Value, names)
}

func (p *planner) insert(stmts ...*ast.Insert) {
	p.runs = true
	if p.first == nil {
		j, err := p.newJob()
		if err != nil {
			p.fail(diag.List{diag.Errorf(stmts[0].Pos(), "%v", err)})
			return
		}
		j.name = p.jobName()
		p.first = j
	}
	p.pending = append(p.pending, stmts...)
}

// close plans the INSERTs that wait, under the present options.
func (p *planner) close() {
	if len(p.pending) == 0 {
		return
	}
	planned, err := p.session.PlanInsert(p.pending...)
	p.pending = nil
	if err != nil {
		p.fail(err)
		return
	}
	p.parts = append(p.parts, planned)
}

// flush makes a job of all INSERTs that were read so far.
func (p *planner) flush() {
	p.close()
	j := p.first
	p.first = nil
	if j == nil || len(p.parts) == 0 {
		p.parts = nil
		return
	}
	for i, part := range p.parts {
		j.explain += part.Explain
		if i == 0 {
			j.graph = part.Graph
			continue
		}
		j.graph = joinGraphs(j.graph, part.Graph, i+1)
	}
	p.parts = nil
	p.script.steps = append(p.script.steps, step{job: j})
}

// joinGraphs makes one graph of two. IDs that are taken get the number of the
// part.
func joinGraphs(a, b *graph.Graph, part int) *graph.Graph {
	taken := map[string]bool{}
	for _, n := range a.Nodes {
		taken[n.ID] = true
	}
	for _, n := range b.Nodes {
		if taken[n.ID] {
			n.ID = fmt.Sprintf("%s/%d", n.ID, part)
		}
	}
	return &graph.Graph{Nodes: append(a.Nodes, b.Nodes...)}
}

// jobName names the next job that keeps something: pipeline.name or the
// script's name; later ones of that name get a number. In a shell there may be
// no name, and then the job keeps nothing.
func (p *planner) jobName() string {
	name := p.session.Option(config.JobName)
	if name == "" {
		name = p.script.base
	}
	if name == "" {
		return ""
	}
	p.names[name]++
	if n := p.names[name]; n > 1 {
		return fmt.Sprintf("%s-%d", name, n)
	}
	return name
}

func (p *planner) query(st *ast.QueryStatement) {
	p.runs = true
	res := &result{w: p.output.w}
	planned, err := p.session.PlanQuery(st, res)
	if err != nil {
		p.fail(err)
		return
	}
	if m := planned.Modes; (m.Before || m.Delete) && (p.output.form == "json" || p.output.form == "csv") {
		p.fail(diag.List{diag.Errorf(st.Pos(), "the result takes rows back, which --output %s cannot show", p.output.form).
			WithHint("use --output changelog or table")})
		return
	}
	j, err := p.newJob()
	if err == nil {
		err = res.start(p.output.form, planned.Schema, planned.Updating(), p.session.Env())
	}
	if err != nil {
		p.fail(diag.List{diag.Errorf(st.Pos(), "%v", err)})
		return
	}
	j.graph, j.explain, j.result = planned.Graph, planned.Explain, res
	p.script.steps = append(p.script.steps, step{job: j})
}

// newJob takes a job's settings from the session's options.
func (p *planner) newJob() (*job, error) {
	c := runtime.Config{BatchSize: p.batchSize()}
	err := c.Set(func(name string) (string, bool) { return p.session.Option(name), p.session.HasOption(name) })
	return &job{config: c, data: p.session.Option(config.OwnPrefix + "data")}, err
}

func (p *planner) batchSize() int {
	var n int
	// The option's form was checked when it was set.
	_, _ = fmt.Sscan(p.session.Option(config.OwnPrefix+"batch.size"), &n)
	return n
}

// fail notes the errors of a statement, but for those that only repeat that a
// table is broken.
func (p *planner) fail(err error) {
	var list diag.List
	var missing *bind.Unsupported
	var one *diag.Error
	switch {
	case errors.As(err, &missing):
		list = missing.List
	case errors.As(err, &list):
	case errors.As(err, &one):
		list = diag.List{one}
	default:
		list = diag.List{diag.Errorf(diag.Pos{}, "%v", err)}
	}
	for _, e := range list {
		if !p.repeats(e.Msg) {
			p.script.errs.Add(e)
		}
	}
}

// repeats reports whether a message only says that a broken table is not there.
func (p *planner) repeats(msg string) bool {
	if name, ok := strings.CutPrefix(msg, "unknown table "); ok {
		return p.broken[name]
	}
	name, _, ok := strings.Cut(msg, " was not created: ")
	return ok && p.broken[name]
}

// err is the error of the script's mistakes.
func (s *script) err() error {
	if len(s.errs) == 0 {
		return nil
	}
	return &scriptErrors{s.file, s.errs}
}
