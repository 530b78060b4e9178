package session

import (
	"errors"

	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/internal/sql/bind"
	"github.com/millstream-io/millstream/internal/sql/catalog"
)

func mode(ifNotExists, orReplace bool) catalog.Mode {
	switch {
	case ifNotExists:
		return catalog.KeepIfExists
	case orReplace:
		return catalog.ReplaceIfExists
	}
	return catalog.FailIfExists
}

func (s *Session) createTable(c *ast.CreateTable) (*Result, error) {
	t, err := s.binder().CreateTable(c)
	if err != nil {
		return nil, s.refused(&c.Name, err)
	}
	return done(at(c.Name.Pos(), s.catalog.Create(t, mode(c.IfNotExists, c.OrReplace))))
}

func (s *Session) createView(c *ast.CreateView) (*Result, error) {
	v, err := s.binder().CreateView(c)
	if err != nil {
		return nil, s.refused(&c.Name, err)
	}
	return done(at(c.Name.Pos(), s.catalog.Create(v, mode(c.IfNotExists, c.OrReplace))))
}

// refused remembers what was not created only because something is not supported yet: what uses it is then not wrong either.
func (s *Session) refused(n *ast.Name, err error) error {
	var missing *bind.Unsupported
	if errors.As(err, &missing) {
		s.catalog.Refuse(s.catalog.Resolve(n.Strings()), missing.List[0].Msg)
	}
	return err
}

// at places an error.
func at(pos diag.Pos, err error) error {
	if err == nil {
		return nil
	}
	d := diag.Errorf(pos, "%v", err)
	if nf, is := err.(*catalog.NotFound); is {
		d.Hint = diag.DidYouMean(lastPart(nf.Name), nf.Candidates)
	}
	return d
}

func (s *Session) drop(d *ast.Drop) (*Result, error) {
	var err error
	switch d.Kind {
	case ast.TableObject, ast.ViewObject:
		what := "table"
		if d.Kind == ast.ViewObject {
			what = "view"
		}
		err = s.catalog.Drop(s.catalog.Resolve(d.Name.Strings()), what, d.Temporary)
	case ast.DatabaseObject:
		p := s.databasePath(&d.Name)
		err = s.catalog.DropDatabase(p.Catalog, p.Database, d.Cascade)
	case ast.CatalogObject:
		err = s.catalog.DropCatalog(d.Name.Last())
	default:
		return nil, unsupported(d.Pos(), "DROP "+string(d.Kind))
	}
	if _, missing := err.(*catalog.NotFound); missing && d.IfExists {
		err = nil
	}
	return done(at(d.Name.Pos(), err))
}

// databasePath reads [catalog.]database.
func (s *Session) databasePath(n *ast.Name) catalog.Path {
	parts := n.Strings()
	current, _ := s.catalog.Current()
	if len(parts) == 1 {
		return catalog.Path{Catalog: current, Database: parts[0]}
	}
	return catalog.Path{Catalog: parts[0], Database: parts[1]}
}

func (s *Session) use(u *ast.Use) (*Result, error) {
	if u.Catalog {
		return done(at(u.Name.Pos(), s.catalog.UseCatalog(u.Name.Last())))
	}
	p := s.databasePath(&u.Name)
	return done(at(u.Name.Pos(), s.catalog.UseDatabase(p.Catalog, p.Database)))
}

func (s *Session) set(st *ast.Set) (*Result, error) {
	if st.Key == nil {
		all := s.settings.All()
		for i := range all {
			all[i][1] = diag.Redact(all[i][1])
			if soundsSecret(all[i][0]) {
				all[i][1] = hidden
			}
		}
		return table([]string{"key", "value"}, pairs(all)), nil
	}
	if err := s.settings.Set(st.Key.Value, st.Value.Value); err != nil {
		return nil, diag.Errorf(st.Key.Pos(), "%v", err)
	}
	return done(nil)
}

func pairs(in [][2]string) [][]any {
	out := make([][]any, len(in))
	for i, p := range in {
		out[i] = []any{p[0], p[1]}
	}
	return out
}

// reset gives one or all options back the values that they had before the first statement.
func (s *Session) reset(r *ast.Reset) (*Result, error) {
	if r.Key == nil {
		s.settings.ResetAll()
		return done(s.setDefaults())
	}
	key := r.Key.Value
	s.settings.Reset(key)
	if v, ok := s.defaults[key]; ok {
		return done(s.settings.Set(key, v))
	}
	return done(nil)
}
