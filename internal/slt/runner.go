package slt

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"github.com/millstream-io/millstream/connector/script"
	"github.com/millstream-io/millstream/internal/runtime"
	"github.com/millstream-io/millstream/internal/sltfile"
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/internal/sql/bind"
	"github.com/millstream-io/millstream/internal/sql/parse"
	"github.com/millstream-io/millstream/internal/sql/session"
	"github.com/millstream-io/millstream/internal/vfs"
)

// runner runs the blocks of a script in one configuration.
type runner struct {
	file    *sltfile.File
	cfg     Config
	rand    *rand.Rand
	session *session.Session
	hub     *script.Hub
	query   *query
	// raw is set while the query is a raw one.
	raw bool
	// unsupported is what the script needs and that is not there yet.
	unsupported string
	// result counts faults, stateful are the packages of operators with tables.
	result   *Result
	stateful []string
}

func newRunner(f *sltfile.File, c Config) *runner {
	return &runner{result: &Result{}, file: f, cfg: c, rand: newRand(c), hub: script.NewHub()}
}

func (r *runner) close() {
	if r.query != nil {
		r.query.close()
		r.query = nil
	}
}

// start makes the session, at the first block.
func (r *runner) start() error {
	if r.session != nil {
		return nil
	}
	var err error
	r.session, err = session.New(session.Config{
		Options: map[string]string{"parallelism.default": strconv.Itoa(r.cfg.Parallelism)},
		Stdin:   strings.NewReader(""), Stdout: os.Stdout, Stderr: os.Stderr,
		Shared: map[string]any{script.HubKey: r.hub},
	})
	return err
}

// block runs a block and returns its output. An error is a fault of the
// script's form, not an answer.
func (r *runner) block(b *sltfile.Block) ([]string, error) {
	if err := r.start(); err != nil {
		return nil, err
	}
	switch b.Cmd {
	case "exec":
		return r.exec(b)
	case "query":
		return r.startQuery(b)
	case "feed":
		return r.feed(b)
	case "show":
		if r.query == nil || r.query.err != nil {
			return []string{"error"}, nil
		}
		return r.show(), nil
	case "eval":
		return r.eval(b), nil
	case "metric":
		return r.metric(b)
	}
	return nil, fmt.Errorf("unknown command %q; the commands are exec, query, feed, show, eval and metric", b.Cmd)
}

// failed is the answer that stands for an error: its place and text follow the
// word, for scripts that expect them.
func (r *runner) failed(err error) []string {
	var missing *bind.Unsupported
	if errors.As(err, &missing) && r.unsupported == "" {
		r.unsupported = oneLine(missing)
	}
	return []string{"error " + oneLine(err)}
}

func oneLine(err error) string {
	return strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", " / ")
}

func (r *runner) exec(b *sltfile.Block) ([]string, error) {
	stmts, errs := parse.Script(strings.Join(b.Input, "\n"))
	if len(errs) > 0 {
		return r.failed(errs), nil
	}
	for _, st := range stmts {
		switch st.(type) {
		case *ast.QueryStatement, *ast.Insert, *ast.StatementSet:
			return nil, fmt.Errorf("a SELECT or an INSERT stands in a query block, not in exec")
		}
		if _, err := r.session.Execute(st); err != nil {
			return r.failed(err), nil
		}
	}
	return []string{"ok"}, nil
}

// startQuery ends the query before and plans a new one.
func (r *runner) startQuery(b *sltfile.Block) ([]string, error) {
	r.close()
	r.raw = len(b.Args) > 0 && b.Args[0] == "raw"
	r.hub.Reset()
	r.query = &query{runner: r, raw: r.raw}
	stmts, errs := parse.Script(strings.Join(b.Input, "\n"))
	if len(errs) > 0 {
		r.query.err = errs
		return r.failed(errs), nil
	}
	if len(stmts) != 1 {
		return nil, fmt.Errorf("a query block holds one statement, not %d", len(stmts))
	}
	r.query.stmt = stmts[0]
	schema, err := r.query.start()
	if err != nil {
		r.query.err = err
		return r.failed(err), nil
	}
	var out []string
	for _, f := range schema.Fields {
		out = append(out, f.Name+" "+f.Type.Describe())
	}
	return out, nil
}

func (r *runner) metric(b *sltfile.Block) ([]string, error) {
	if len(b.Args) != 1 {
		return nil, fmt.Errorf("metric needs the name of one counter")
	}
	if r.query == nil || r.query.job == nil {
		return []string{"error"}, nil
	}
	var total int64
	for _, n := range r.query.job.Metrics().Nodes {
		total += n.Counters[b.Args[0]]
	}
	return []string{strconv.FormatInt(total, 10)}, nil
}

// feed sends input, step by step, and returns what changed.
func (r *runner) feed(b *sltfile.Block) ([]string, error) {
	if r.query == nil {
		return nil, fmt.Errorf("a feed needs a query before it")
	}
	if r.query.err != nil {
		return []string{"error"}, nil
	}
	lines, err := parseFeed(b.Input)
	if err != nil {
		return nil, err
	}
	if err := r.query.feed(lines); err != nil {
		var bad *inputError
		if errors.As(err, &bad) {
			return nil, err
		}
		r.query.err = err
		return r.failed(err), nil
	}
	return r.query.answer(), nil
}

// show prints the result, after the query has read what needs no feed, such as VALUES.
func (r *runner) show() []string {
	if err := r.query.settle(); err != nil {
		r.query.err = err
		return r.failed(err)
	}
	r.query.answer()
	return r.query.result.show()
}

// inputError is a fault of a feed's text.
type inputError struct{ msg string }

func (e *inputError) Error() string { return e.msg }

// data opens the place where a query keeps its checkpoints.
func (q *query) openData() (*runtime.Data, error) {
	if q.disk.MemFS == nil {
		q.disk = vfs.NewCrashFS()
	}
	return runtime.OpenData(q.disk, "data", "script")
}
