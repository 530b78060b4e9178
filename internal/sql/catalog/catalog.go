// Package catalog holds what a session has defined: catalogs, databases, tables and views, by name.
package catalog

import (
	"fmt"
	"slices"
	"strings"
)

// The names of the catalog and the database that each session begins in.
const (
	DefaultCatalog  = "default_catalog"
	DefaultDatabase = "default_database"
)

// Path is the full name of an object.
type Path struct{ Catalog, Database, Name string }

// String returns the three parts, joined by dots.
func (p Path) String() string { return p.Catalog + "." + p.Database + "." + p.Name }

// Parts returns the three parts.
func (p Path) Parts() []string { return []string{p.Catalog, p.Database, p.Name} }

// Quoted returns the three parts in back-ticks, as SHOW CREATE prints them.
func (p Path) Quoted() string {
	return quote(p.Catalog) + "." + quote(p.Database) + "." + quote(p.Name)
}

func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// Object is a *Table or a *View.
type Object interface {
	// Where is the object's full name.
	Where() Path
	// IsTemporary reports whether CREATE TEMPORARY made it.
	IsTemporary() bool
	// What is "table" or "view".
	What() string
}

// Catalog is the set of all objects of a session. The zero value is not usable; see New. It is not safe for concurrent use.
type Catalog struct {
	catalogs map[string]map[string]map[string]Object
	// temporary objects hide permanent ones of the same name.
	temporary         map[Path]Object
	catalog, database string
	// refused are the objects that were not created because of a feature that is missing, and the reason.
	refused map[Path]string
}

// New returns a catalog that holds the default database and nothing else.
func New() *Catalog {
	return &Catalog{
		catalogs:  map[string]map[string]map[string]Object{DefaultCatalog: {DefaultDatabase: {}}},
		temporary: map[Path]Object{},
		refused:   map[Path]string{},
		catalog:   DefaultCatalog,
		database:  DefaultDatabase,
	}
}

// Current returns the current catalog and database.
func (c *Catalog) Current() (catalog, database string) { return c.catalog, c.database }

// In calls f with another current catalog and database: a view means what its names meant where it was created.
func (c *Catalog) In(catalog, database string, f func()) {
	oldCatalog, oldDatabase := c.catalog, c.database
	c.catalog, c.database = catalog, database
	defer func() { c.catalog, c.database = oldCatalog, oldDatabase }()
	f()
}

// Resolve completes a name of one to three parts by the current catalog and database.
func (c *Catalog) Resolve(parts []string) Path {
	switch len(parts) {
	case 1:
		return Path{c.catalog, c.database, parts[0]}
	case 2:
		return Path{c.catalog, parts[0], parts[1]}
	}
	return Path{parts[0], parts[1], parts[2]}
}

// Lookup returns the object of that name, or nil.
func (c *Catalog) Lookup(p Path) Object {
	if o := c.temporary[p]; o != nil {
		return o
	}
	return c.permanent(p)
}

func (c *Catalog) permanent(p Path) Object {
	if o, ok := c.catalogs[p.Catalog][p.Database][p.Name]; ok {
		return o
	}
	return nil
}

// Check reports why p cannot hold an object: its catalog or its database does not exist.
func (c *Catalog) Check(p Path) error {
	dbs, ok := c.catalogs[p.Catalog]
	if !ok {
		return &NotFound{Kind: "catalog", Name: p.Catalog, Candidates: c.Catalogs()}
	}
	if _, ok := dbs[p.Database]; !ok {
		return &NotFound{Kind: "database", Name: p.Catalog + "." + p.Database, Candidates: c.Databases(p.Catalog)}
	}
	return nil
}

// Refuse remembers why an object was not created, so that its uses can say so.
func (c *Catalog) Refuse(p Path, reason string) { c.refused[p] = reason }

// Refused returns the reason why an object was not created, if that is known.
func (c *Catalog) Refused(p Path) (reason string, ok bool) {
	reason, ok = c.refused[p]
	return reason, ok
}

// NotFound says that a name stands for nothing.
type NotFound struct {
	Kind, Name string
	// Candidates are the names that exist there.
	Candidates []string
}

// Error implements error.
func (e *NotFound) Error() string { return fmt.Sprintf("unknown %s %s", e.Kind, e.Name) }

// Mode says what Create does with a name that is taken.
type Mode uint8

// By default a taken name is an error.
const (
	FailIfExists Mode = iota
	KeepIfExists
	ReplaceIfExists
)

// Create adds an object.
func (c *Catalog) Create(o Object, mode Mode) error {
	p := o.Where()
	if err := c.Check(p); err != nil {
		return err
	}
	old := c.permanent(p)
	if o.IsTemporary() {
		old = c.temporary[p]
	}
	if old != nil {
		switch {
		case mode == KeepIfExists:
			return nil
		case mode == FailIfExists:
			return fmt.Errorf("%s %s exists already", old.What(), p)
		case old.What() != o.What():
			return fmt.Errorf("%s is a %s, which a %s cannot replace", p, old.What(), o.What())
		}
	}
	if o.IsTemporary() {
		c.temporary[p] = o
	} else {
		c.catalogs[p.Catalog][p.Database][p.Name] = o
	}
	return nil
}

// Drop removes the table or view (by what) of that name; temporary selects among the two that may be there.
func (c *Catalog) Drop(p Path, what string, temporary bool) error {
	t, o := c.temporary[p], c.permanent(p)
	switch {
	case temporary:
		o = t
	case t != nil && t.What() == what:
		return fmt.Errorf("a temporary %s %s exists, too: drop it first, by DROP TEMPORARY %s", what, p, strings.ToUpper(what))
	}
	if o == nil {
		kind := what
		if temporary {
			kind = "temporary " + what
		}
		return &NotFound{Kind: kind, Name: p.String(), Candidates: c.Names(p.Catalog, p.Database, what)}
	}
	if o.What() != what {
		return fmt.Errorf("%s is a %s, not a %s; use DROP %s", p, o.What(), what, strings.ToUpper(o.What()))
	}
	if temporary {
		delete(c.temporary, p)
	} else {
		delete(c.catalogs[p.Catalog][p.Database], p.Name)
	}
	return nil
}

// Names returns the sorted names of the objects of a database, temporary ones included; what is "table", "view" or, for
// both, empty.
func (c *Catalog) Names(catalog, database, what string) []string {
	seen := map[string]string{}
	for n, o := range c.catalogs[catalog][database] {
		seen[n] = o.What()
	}
	for p, o := range c.temporary {
		if p.Catalog == catalog && p.Database == database {
			seen[p.Name] = o.What()
		}
	}
	var out []string
	for n, w := range seen {
		if what == "" || w == what {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

// Catalogs returns the sorted names of the catalogs.
func (c *Catalog) Catalogs() []string { return sortedKeys(c.catalogs) }

// Databases returns the sorted names of a catalog's databases.
func (c *Catalog) Databases(catalog string) []string { return sortedKeys(c.catalogs[catalog]) }

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// CreateDatabase adds a database.
func (c *Catalog) CreateDatabase(catalog, name string, ifNotExists bool) error {
	dbs, ok := c.catalogs[catalog]
	if !ok {
		return &NotFound{Kind: "catalog", Name: catalog, Candidates: c.Catalogs()}
	}
	if _, taken := dbs[name]; taken {
		if ifNotExists {
			return nil
		}
		return fmt.Errorf("database %s.%s exists already", catalog, name)
	}
	dbs[name] = map[string]Object{}
	return nil
}

// DropDatabase removes a database; cascade allows that it has objects.
func (c *Catalog) DropDatabase(catalog, name string, cascade bool) error {
	objects, ok := c.catalogs[catalog][name]
	switch {
	case !ok:
		return &NotFound{Kind: "database", Name: catalog + "." + name, Candidates: c.Databases(catalog)}
	case catalog == c.catalog && name == c.database:
		return fmt.Errorf("database %s.%s is the current one and cannot be dropped", catalog, name)
	case len(objects) > 0 && !cascade:
		return fmt.Errorf("database %s.%s is not empty; DROP DATABASE ... CASCADE drops what it holds", catalog, name)
	}
	delete(c.catalogs[catalog], name)
	return nil
}

// CreateCatalog adds an empty catalog.
func (c *Catalog) CreateCatalog(name string, ifNotExists bool) error {
	if _, taken := c.catalogs[name]; taken {
		if ifNotExists {
			return nil
		}
		return fmt.Errorf("catalog %s exists already", name)
	}
	c.catalogs[name] = map[string]map[string]Object{DefaultDatabase: {}}
	return nil
}

// DropCatalog removes a catalog and all that it holds.
func (c *Catalog) DropCatalog(name string) error {
	if _, ok := c.catalogs[name]; !ok {
		return &NotFound{Kind: "catalog", Name: name, Candidates: c.Catalogs()}
	}
	if name == c.catalog {
		return fmt.Errorf("catalog %s is the current one and cannot be dropped", name)
	}
	delete(c.catalogs, name)
	return nil
}

// UseCatalog makes a catalog the current one, with its default database.
func (c *Catalog) UseCatalog(name string) error {
	if _, ok := c.catalogs[name]; !ok {
		return &NotFound{Kind: "catalog", Name: name, Candidates: c.Catalogs()}
	}
	if name != c.catalog {
		c.catalog, c.database = name, DefaultDatabase
	}
	return nil
}

// UseDatabase makes a database the current one.
func (c *Catalog) UseDatabase(catalog, name string) error {
	if err := c.Check(Path{Catalog: catalog, Database: name}); err != nil {
		return err
	}
	c.catalog, c.database = catalog, name
	return nil
}
