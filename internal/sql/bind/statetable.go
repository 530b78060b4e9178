package bind

import (
	"errors"
	"strings"

	"github.com/millstream-io/millstream/connector/statetable"
	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/internal/sql/catalog"
)

// stateTable binds STATE('job', 'operator' [, 'checkpoint']): a table of the connector "state".
func (b *Binder) stateTable(c *ast.Call) *relation {
	args := make([]*ast.StringLit, len(c.Args))
	for i, a := range c.Args {
		args[i], _ = a.(*ast.StringLit)
	}
	if n := len(args); n < 2 || n > 3 || args[0] == nil || args[1] == nil || n == 3 && args[2] == nil {
		b.errorf(c.Pos(), "STATE takes a job, an operator, and perhaps a checkpoint, as text: STATE('job', 'operator')")
		return nil
	}
	ref := statetable.Ref{Job: args[0].Value, Operator: args[1].Value}
	t := &catalog.Table{Pos: c.Pos(), Options: []catalog.Option{{Key: "connector", Value: "state", KeyPos: c.Pos(), ValuePos: c.Pos()}}}
	for i, key := range []string{statetable.Job, statetable.Operator, statetable.Checkpoint}[:len(args)] {
		t.Options = append(t.Options, catalog.Option{Key: key, Value: args[i].Value, KeyPos: args[i].Pos(), ValuePos: args[i].Pos()})
		t.Path.Name += ", '" + strings.ReplaceAll(args[i].Value, "'", "''") + "'"
	}
	t.Path = catalog.Path{Catalog: catalog.DefaultCatalog, Database: catalog.DefaultDatabase, Name: "STATE(" + t.Path.Name[2:] + ")"}
	if len(args) == 3 {
		ref.Checkpoint = args[2].Value
	}
	store, err := statetable.StoreOf(b.Host.Shared)
	if err != nil {
		b.errorf(c.Pos(), "STATE: %v", err)
		return nil
	}
	schema, err := store.Describe(ref)
	if err != nil {
		b.unknownState(args, err)
		return nil
	}
	for _, f := range schema.Fields {
		t.Columns = append(t.Columns, catalog.Column{Name: f.Name, Kind: ast.Physical, Type: f.Type, Pos: c.Pos()})
	}
	return b.table(t, nil, c.Pos())
}

// unknownState reports why there is no such state, at the argument that is wrong.
func (b *Binder) unknownState(args []*ast.StringLit, err error) {
	at, hint := args[len(args)-1], ""
	var unknown *statetable.UnknownError
	if errors.As(err, &unknown) {
		for _, a := range args {
			if a.Value == unknown.Name {
				at = a
			}
		}
		hint = diag.DidYouMean(unknown.Name, unknown.Known)
	}
	b.errs.Errorf(at.Pos(), "STATE: %v", err).Hint = hint
}
