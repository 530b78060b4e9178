package catalog

import (
	"errors"
	"slices"
	"testing"

	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/types"
)

func table(name string, temporary bool) *Table {
	return &Table{Path: Path{DefaultCatalog, DefaultDatabase, name}, Temporary: temporary}
}

func TestCreateAndDrop(t *testing.T) {
	c := New()
	path := c.Resolve([]string{"t"})
	if err := c.Create(table("t", false), FailIfExists); err != nil {
		t.Fatal(err)
	}
	if err := c.Create(table("t", false), FailIfExists); err == nil {
		t.Error("a second table of the name was created")
	}
	old := c.Lookup(path)
	if err := c.Create(table("t", false), KeepIfExists); err != nil || c.Lookup(path) != old {
		t.Error("IF NOT EXISTS did not keep the table", err)
	}
	if err := c.Create(table("t", false), ReplaceIfExists); err != nil || c.Lookup(path) == old {
		t.Error("OR REPLACE did not replace the table", err)
	}
	view := &View{Path: path}
	if err := c.Create(view, ReplaceIfExists); err == nil {
		t.Error("a view replaced a table")
	}
	if err := c.Drop(path, "view", false); err == nil {
		t.Error("DROP VIEW dropped a table")
	}
	if err := c.Drop(path, "table", false); err != nil || c.Lookup(path) != nil {
		t.Error("the table is still there", err)
	}
	var missing *NotFound
	if err := c.Drop(path, "table", false); !errors.As(err, &missing) {
		t.Errorf("dropping what is not there gave %v", err)
	}
}

func TestTemporaryHidesPermanent(t *testing.T) {
	c := New()
	path := c.Resolve([]string{"t"})
	permanent, temporary := table("t", false), table("t", true)
	for _, o := range []*Table{permanent, temporary} {
		if err := c.Create(o, FailIfExists); err != nil {
			t.Fatal(err)
		}
	}
	if c.Lookup(path) != Object(temporary) {
		t.Error("the permanent table was found")
	}
	if err := c.Drop(path, "table", false); err == nil {
		t.Error("the hidden table was dropped")
	}
	if err := c.Drop(path, "table", true); err != nil || c.Lookup(path) != Object(permanent) {
		t.Error("the permanent table did not come back", err)
	}
}

func TestDatabases(t *testing.T) {
	c := New()
	if err := c.CreateDatabase(DefaultCatalog, "other", false); err != nil {
		t.Fatal(err)
	}
	if err := c.UseDatabase(DefaultCatalog, "other"); err != nil {
		t.Fatal(err)
	}
	if got := c.Resolve([]string{"t"}).String(); got != "default_catalog.other.t" {
		t.Errorf("t is %s", got)
	}
	if err := c.DropDatabase(DefaultCatalog, "other", true); err == nil {
		t.Error("the current database was dropped")
	}
	if err := c.Create(&Table{Path: c.Resolve([]string{"nosuch", "t"})}, FailIfExists); err == nil {
		t.Error("a table was created in a database that does not exist")
	}
	c.In(DefaultCatalog, DefaultDatabase, func() {
		if got := c.Resolve([]string{"t"}).Database; got != DefaultDatabase {
			t.Errorf("within In, t is in %s", got)
		}
	})
	if _, db := c.Current(); db != "other" {
		t.Errorf("after In, the database is %s", db)
	}
	if err := c.UseDatabase(DefaultCatalog, DefaultDatabase); err != nil {
		t.Fatal(err)
	}
	if err := c.DropDatabase(DefaultCatalog, "other", false); err != nil {
		t.Fatal(err)
	}
	if got := c.Databases(DefaultCatalog); !slices.Equal(got, []string{DefaultDatabase}) {
		t.Errorf("the databases are %v", got)
	}
}

func TestTableColumns(t *testing.T) {
	tab := &Table{Columns: []Column{
		{Name: "a", Type: types.Of(types.Int)},
		{Name: "b", Kind: ast.Computed, Type: types.Of(types.Int)},
		{Name: "c", Kind: ast.Metadata, Type: types.StringType()},
		{Name: "d", Kind: ast.Metadata, Virtual: true, Type: types.StringType()},
	}}
	if got := tab.Physical().Names(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("the physical columns are %v", got)
	}
	var persisted []string
	for i := range tab.Columns {
		if tab.Columns[i].Persisted() {
			persisted = append(persisted, tab.Columns[i].Name)
		}
	}
	if !slices.Equal(persisted, []string{"a", "c"}) {
		t.Errorf("the persisted columns are %v", persisted)
	}
}
