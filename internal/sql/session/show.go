package session

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/format"
	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/internal/sql/bind"
	"github.com/millstream-io/millstream/internal/sql/catalog"
	"github.com/millstream-io/millstream/types"
)

func (s *Session) show(sh *ast.Show) (*Result, error) {
	keep, err := likeFilter(sh)
	if err != nil {
		return nil, err
	}
	filtered := func(name string, values []string) (*Result, error) {
		return list(name, slices.DeleteFunc(values, func(v string) bool { return !keep(v) })), nil
	}
	cat, db := s.catalog.Current()
	switch sh.What {
	case "TABLES", "VIEWS":
		return s.showObjects(sh, filtered)
	case "DATABASES":
		if sh.Name != nil {
			cat = sh.Name.Last()
		}
		return filtered("database name", s.catalog.Databases(cat))
	case "CATALOGS":
		return filtered("catalog name", s.catalog.Catalogs())
	case "CURRENT CATALOG":
		return list("current catalog name", []string{cat}), nil
	case "CURRENT DATABASE":
		return list("current database name", []string{db}), nil
	case "FUNCTIONS":
		names := fn.Names()
		for i, n := range names {
			names[i] = strings.ToLower(n)
		}
		return filtered("function name", names)
	case "USER FUNCTIONS":
		return list("function name", nil), nil
	case "COLUMNS":
		return s.columns(sh.Name, keep)
	case "CREATE TABLE", "CREATE VIEW":
		return s.showCreate(sh)
	}
	return nil, unsupported(sh.Pos(), "SHOW "+sh.What)
}

func (s *Session) showObjects(sh *ast.Show, filtered func(string, []string) (*Result, error)) (*Result, error) {
	cat, db := s.catalog.Current()
	if sh.Name != nil {
		p := s.databasePath(sh.Name)
		if err := s.catalog.Check(p); err != nil {
			return nil, at(sh.Name.Pos(), err)
		}
		cat, db = p.Catalog, p.Database
	}
	if sh.What == "VIEWS" {
		return filtered("view name", s.catalog.Names(cat, db, "view"))
	}
	return filtered("table name", s.catalog.Names(cat, db, ""))
}

// likeFilter returns the test of a LIKE or ILIKE clause.
func likeFilter(sh *ast.Show) (func(string) bool, error) {
	if sh.Like == nil {
		return func(string) bool { return true }, nil
	}
	var b strings.Builder
	b.WriteString("(?s)^")
	if sh.Op == "ILIKE" {
		b.WriteString("(?i)")
	}
	for _, r := range sh.Like.Value {
		switch r {
		case '%':
			b.WriteString(".*")
		case '_':
			b.WriteString(".")
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	re, err := regexp.Compile(b.String() + "$")
	if err != nil {
		return nil, diag.Errorf(sh.Like.Pos(), "%v", err)
	}
	return func(name string) bool { return re.MatchString(name) != sh.Not }, nil
}

// object finds a table or a view, or says that there is none.
func (s *Session) object(n *ast.Name) (catalog.Object, error) {
	path := s.catalog.Resolve(n.Strings())
	if o := s.catalog.Lookup(path); o != nil {
		return o, nil
	}
	if err := s.catalog.Check(path); err != nil {
		return nil, at(n.Pos(), err)
	}
	if reason, ok := s.catalog.Refused(path); ok {
		return nil, &bind.Unsupported{List: diag.List{diag.Errorf(n.Pos(), "%s was not created: %s", path.Name, reason)}}
	}
	d := diag.Errorf(n.Pos(), "unknown table %s", path.Name)
	d.Hint = diag.DidYouMean(path.Name, s.catalog.Names(path.Catalog, path.Database, ""))
	return nil, d
}

func (s *Session) describe(d *ast.Describe) (*Result, error) {
	if d.Kind != ast.TableObject {
		return nil, unsupported(d.Pos(), "DESCRIBE "+string(d.Kind))
	}
	return s.columns(&d.Name, func(string) bool { return true })
}

// columns answers DESCRIBE and SHOW COLUMNS. The column for comments is there only if one is.
func (s *Session) columns(n *ast.Name, keep func(string) bool) (*Result, error) {
	o, err := s.object(n)
	if err != nil {
		return nil, err
	}
	names := []string{"name", "type", "null", "key", "extras", "watermark"}
	var rows [][]any
	switch o := o.(type) {
	case *catalog.Table:
		commented := slices.ContainsFunc(o.Columns, func(c catalog.Column) bool { return c.Comment != "" })
		if commented {
			names = append(names, "comment")
		}
		for i := range o.Columns {
			if !keep(o.Columns[i].Name) {
				continue
			}
			row := describeColumn(o, &o.Columns[i])
			if commented {
				row = append(row, orNull(o.Columns[i].Comment))
			}
			rows = append(rows, row)
		}
	case *catalog.View:
		for _, f := range o.Schema.Fields {
			if keep(f.Name) {
				rows = append(rows, []any{f.Name, f.Type.WithNull(true).Describe(), f.Type.Nullable, nil, nil, nil})
			}
		}
	}
	return table(names, rows), nil
}

func describeColumn(t *catalog.Table, c *catalog.Column) []any {
	row := []any{c.Name, c.Type.WithNull(true).Describe(), c.Type.Nullable, nil, nil, nil}
	if k := t.PrimaryKey; k != nil && slices.Contains(k.Columns, c.Name) {
		row[3] = "PRI(" + strings.Join(k.Columns, ", ") + ")"
	}
	switch c.Kind {
	case ast.Computed:
		row[4] = "AS " + ast.String(c.Expr)
	case ast.Metadata:
		row[4] = metadataText(c)
	}
	if w := t.Watermark; w != nil && w.Column == c.Name {
		row[5] = ast.String(w.Expr)
	}
	return row
}

func metadataText(c *catalog.Column) string {
	s := "METADATA"
	if c.Key != c.Name {
		s += " FROM " + ast.QuoteString(c.Key)
	}
	if c.Virtual {
		s += " VIRTUAL"
	}
	return s
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func (s *Session) showCreate(sh *ast.Show) (*Result, error) {
	o, err := s.object(sh.Name)
	if err != nil {
		return nil, err
	}
	switch o := o.(type) {
	case *catalog.Table:
		if sh.What == "CREATE TABLE" {
			return text(createTableText(o)), nil
		}
	case *catalog.View:
		if sh.What == "CREATE VIEW" {
			return text(createViewText(o)), nil
		}
	}
	return nil, diag.Errorf(sh.Name.Pos(), "%s is a %s", sh.Name.Last(), o.What()).WithHint("use SHOW CREATE %s", strings.ToUpper(o.What()))
}

func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

func quoteAll(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = quote(n)
	}
	return strings.Join(out, ", ")
}

// createTableText prints the statement that makes a table, as Flink does.
func createTableText(t *catalog.Table) string {
	var lines []string
	for i := range t.Columns {
		lines = append(lines, columnText(&t.Columns[i]))
	}
	if w := t.Watermark; w != nil {
		lines = append(lines, fmt.Sprintf("WATERMARK FOR %s AS %s", quote(w.Column), ast.String(w.Expr)))
	}
	if k := t.PrimaryKey; k != nil {
		lines = append(lines, fmt.Sprintf("CONSTRAINT %s PRIMARY KEY (%s) NOT ENFORCED", quote(k.Name), quoteAll(k.Columns)))
	}
	var b strings.Builder
	b.WriteString("CREATE ")
	if t.Temporary {
		b.WriteString("TEMPORARY ")
	}
	fmt.Fprintf(&b, "TABLE %s (\n  %s\n)\n", t.Path.Quoted(), strings.Join(lines, ",\n  "))
	if t.Comment != "" {
		b.WriteString("COMMENT " + ast.QuoteString(t.Comment) + "\n")
	}
	if len(t.PartitionedBy) > 0 {
		b.WriteString("PARTITIONED BY (" + quoteAll(t.PartitionedBy) + ")\n")
	}
	options := make([]string, len(t.Options))
	for i, o := range t.Options {
		value := diag.Redact(o.Value)
		if secret(t, o.Key) {
			value = hidden
		}
		options[i] = ast.QuoteString(o.Key) + " = " + ast.QuoteString(value)
	}
	slices.Sort(options)
	if len(options) > 0 {
		b.WriteString("WITH (\n  " + strings.Join(options, ",\n  ") + "\n)\n")
	}
	return b.String()
}

func columnText(c *catalog.Column) string {
	s := quote(c.Name) + " "
	switch c.Kind {
	case ast.Computed:
		s += "AS " + ast.String(c.Expr)
	case ast.Metadata:
		s += typeText(c.Type) + " " + metadataText(c)
	default:
		s += typeText(c.Type)
	}
	if c.Comment != "" {
		s += " COMMENT " + ast.QuoteString(c.Comment)
	}
	return s
}

// typeText prints a type with STRING and BYTES written out, as SHOW CREATE TABLE does.
func typeText(t types.Type) string {
	s := strings.ReplaceAll(t.String(), "STRING", "VARCHAR(2147483647)")
	return strings.ReplaceAll(s, "BYTES", "VARBINARY(2147483647)")
}

func createViewText(v *catalog.View) string {
	names := make([]string, len(v.Schema.Fields))
	for i, f := range v.Schema.Fields {
		names[i] = quote(f.Name)
	}
	create := "CREATE VIEW"
	if v.Temporary {
		create = "CREATE TEMPORARY VIEW"
	}
	s := fmt.Sprintf("%s %s (\n  %s\n)\n", create, v.Path.Quoted(), strings.Join(names, ",\n  "))
	if v.Comment != "" {
		s += "COMMENT " + ast.QuoteString(v.Comment) + "\n"
	}
	return s + "AS " + ast.String(v.Query) + "\n"
}

// hidden stands for a value that must not be shown.
const hidden = "******"

// secretWords are what options with passwords and the like have in their names. Those of connectors that do not exist yet
// are hidden, too.
var secretWords = []string{"password", "secret", "token", "jaas.config", "apikey", "api-key", "access-key", "account.key", "credential"}

func soundsSecret(key string) bool {
	key = strings.ToLower(key)
	return slices.ContainsFunc(secretWords, func(w string) bool { return strings.Contains(key, w) })
}

// secret reports whether the value of a table's option must not be shown.
func secret(t *catalog.Table, key string) bool {
	if soundsSecret(key) {
		return true
	}
	name, _ := t.Option("connector")
	if d := connector.Lookup(name); d != nil && isSecret(d.Options, key) {
		return true
	}
	name, _ = t.Option("format")
	f := format.Lookup(name)
	return f != nil && isSecret(f.Options, strings.TrimPrefix(key, name+"."))
}

func isSecret(options []format.Option, key string) bool {
	return slices.ContainsFunc(options, func(o format.Option) bool { return o.Secret && o.Name == key })
}
