package bind

import (
	"slices"

	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/internal/sql/catalog"
)

// likeDefaults say what LIKE takes over where nothing is written.
var likeDefaults = map[string]string{
	"CONSTRAINTS": "INCLUDING", "DISTRIBUTION": "INCLUDING", "GENERATED": "INCLUDING", "METADATA": "INCLUDING",
	"OPTIONS": "OVERWRITING", "PARTITIONS": "INCLUDING", "WATERMARKS": "INCLUDING",
}

// like takes over what LIKE t (...) says of another table.
func (d *tableDef) like(l *ast.LikeClause) {
	b := d.b
	path := b.Catalog.Resolve(l.Table.Strings())
	var src *catalog.Table
	switch o := b.Catalog.Lookup(path).(type) {
	case *catalog.Table:
		src = o
	case *catalog.View:
		b.errorf(l.Table.Pos(), "LIKE needs a table, but %s is a view", path.Name)
		return
	default:
		b.unknownTable(&l.Table, path)
		return
	}
	how := d.likeOptions(l)
	if how == nil {
		return
	}
	d.overwrite = map[ast.ColumnKind]bool{
		ast.Computed: how["GENERATED"] == "OVERWRITING", ast.Metadata: how["METADATA"] == "OVERWRITING",
	}
	d.likeColumns(src, how)
	t := d.table
	if how["CONSTRAINTS"] == "INCLUDING" {
		t.PrimaryKey = src.PrimaryKey
	}
	if how["DISTRIBUTION"] == "INCLUDING" && t.Distribution == nil {
		t.Distribution = src.Distribution
	}
	if how["PARTITIONS"] == "INCLUDING" {
		t.PartitionedBy = slices.Clone(src.PartitionedBy)
	}
	if how["WATERMARKS"] != "EXCLUDING" && src.Watermark != nil {
		w := *src.Watermark
		t.Watermark = &w
		d.overwriteWatermark = how["WATERMARKS"] == "OVERWRITING"
	}
	d.likeTableOptions(src, how["OPTIONS"], l)
}

// likeOptions settles what is included: first ALL, then what is named.
func (d *tableDef) likeOptions(l *ast.LikeClause) map[string]string {
	how := map[string]string{}
	for k, v := range likeDefaults {
		how[k] = v
	}
	ok := true
	for _, o := range l.Options {
		if o.What == "ALL" {
			for k := range how {
				how[k] = o.Action
			}
		}
	}
	seen := map[string]bool{}
	for _, o := range l.Options {
		overwritable := o.What == "GENERATED" || o.What == "METADATA" || o.What == "OPTIONS" || o.What == "WATERMARKS"
		switch {
		case seen[o.What]:
			d.b.errorf(o.Pos(), "%s is named twice in LIKE", o.What)
			ok = false
		case o.Action == "OVERWRITING" && !overwritable:
			d.b.errorf(o.Pos(), "OVERWRITING %s is not possible: only GENERATED, METADATA, OPTIONS and WATERMARKS can be overwritten", o.What)
			ok = false
		case o.What != "ALL":
			how[o.What] = o.Action
		}
		seen[o.What] = true
	}
	if !ok {
		return nil
	}
	return how
}

func (d *tableDef) likeColumns(src *catalog.Table, how map[string]string) {
	for _, c := range src.Columns {
		switch {
		case c.Kind == ast.Computed && how["GENERATED"] == "EXCLUDING", c.Kind == ast.Metadata && how["METADATA"] == "EXCLUDING":
			continue
		}
		c.Type = c.Type.Plain()
		d.table.Columns = append(d.table.Columns, c)
	}
	d.inherited = len(d.table.Columns)
}

// likeTableOptions merges the options of WITH with those of the other table.
func (d *tableDef) likeTableOptions(src *catalog.Table, how string, l *ast.LikeClause) {
	if how == "EXCLUDING" {
		return
	}
	own := d.table.Options
	merged := slices.Clone(src.Options)
	for _, o := range own {
		i := slices.IndexFunc(merged, func(p catalog.Option) bool { return p.Key == o.Key })
		switch {
		case i < 0:
			merged = append(merged, o)
		case how == "INCLUDING":
			d.b.errorf(o.KeyPos, "the option %q is in the table of LIKE already", o.Key).WithHint("OVERWRITING OPTIONS allows another value")
		default:
			merged[i] = o
		}
	}
	d.table.Options = merged
}
