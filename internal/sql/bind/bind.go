// Package bind gives meaning to syntax trees: it looks names up, settles the type of every expression, puts in the casts that
// nobody wrote, and makes logical plans. It reports mistakes with their place in the script, several in one run.
package bind

import (
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/internal/sql/catalog"
	"github.com/millstream-io/millstream/internal/sql/config"
	"github.com/millstream-io/millstream/internal/sql/connect"
	"github.com/millstream-io/millstream/internal/sql/plan"
)

// Binder binds statements against a catalog. Methods that bind return nil (or a zero value) after they have reported an error;
// Err returns what was reported.
type Binder struct {
	Catalog *catalog.Catalog
	Env     *fn.Env
	Config  *config.Settings
	Host    *connect.Host

	// errs are mistakes, missing what is right but not supported yet.
	errs, missing diag.List
	// ctes are the names of the WITH clauses around, the innermost last.
	ctes []cte
	// views are the views that are being bound, against endless recursion.
	views []catalog.Path

	// late is what LATE asks for. tapping is set in a second binding, which has all of it from the start.
	late    Late
	tapping bool
	// origins are the nodes whose rows are those of a table or view of late. sourced are copies of tables, see withSource.
	origins map[plan.Node]*lateOf
	sourced map[*catalog.Table]*catalog.Table
	// windowInputs collects what the windows of a view are over; nil if nobody asks.
	windowInputs []windowInput
}

// cte is a name of a WITH clause.
type cte struct {
	name string
	rel  *relation
	// bad tells that its query has errors, so that its uses report no more.
	bad bool
}

// New returns a binder.
func New(c *catalog.Catalog, settings *config.Settings, host *connect.Host) *Binder {
	return &Binder{Catalog: c, Env: host.Env, Config: settings, Host: host}
}

// Query binds a query that stands as a statement.
func (b *Binder) Query(q *ast.Query) (plan.Node, error) {
	rel := b.topQuery(q)
	if err := b.Err(); err != nil {
		return nil, err
	}
	return b.result(rel, q)
}

// result names the columns of a statement's result apart, and refuses what has no type.
func (b *Binder) result(rel *relation, q *ast.Query) (plan.Node, error) {
	n := rel.node
	in := n.Schema()
	exprs, out := passAll(in), schemaOf(in)
	taken := map[string]bool{}
	renamed := false
	for i := range out.Fields {
		f := &out.Fields[i]
		if f.Type.Kind == nullKind {
			b.errorf(q.Pos(), "column %d of the result is NULL without a type", i+1).
				WithHint("write CAST(NULL AS type)")
		}
		name := uniqueName(f.Name, taken)
		renamed = renamed || name != f.Name
		f.Name = name
	}
	if renamed {
		n = &plan.Project{Input: n, Exprs: exprs, Out: out}
	}
	return n, b.Err()
}

// Expr binds an expression without columns.
func (b *Binder) Expr(e ast.Expr) (expr.Expr, error) {
	bound := b.expr(&scope{}, e)
	if bound != nil && bound.Type().Kind == nullKind {
		b.errorf(e.Pos(), "the expression is NULL without a type").WithHint("write CAST(NULL AS type)")
	}
	if err := b.Err(); err != nil {
		return nil, err
	}
	return bound, nil
}
