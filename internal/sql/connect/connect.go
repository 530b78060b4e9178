// Package connect makes the sources and sinks that tables stand for: it finds the connector and the format that a table's
// options name, checks the options, and reports what is wrong at its place in the script.
package connect

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/format"
	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/internal/sql/catalog"
	"github.com/millstream-io/millstream/types"
)

// Host is what connectors get from the process.
type Host struct {
	Env            *fn.Env
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Shared         map[string]any
}

// common are options that any table may have; the engine reads them, not the connector.
var common = []format.Option{
	{Name: "connector", Required: true, Doc: "the name of the connector"},
	{Name: "format", Doc: "the name of the format"},
	{Name: "property-version", Kind: format.Integer, Doc: "has no effect"},
	{Name: "scan.parallelism", Kind: format.Integer, Doc: "how many readers the table has"},
	{Name: "sink.parallelism", Kind: format.Integer, Doc: "how many writers the table has"},
	{Name: "scan.watermark.idle-timeout", Kind: format.Duration, Doc: "a split without rows for so long holds no watermark back"},
	{Name: "scan.watermark.emit.strategy", Doc: "has no effect: each batch brings its watermark"},
	{Name: "scan.watermark.alignment.group", Doc: "has no effect"},
	{Name: "scan.watermark.alignment.max-drift", Kind: format.Duration, Doc: "has no effect"},
	{Name: "scan.watermark.alignment.update-interval", Kind: format.Duration, Doc: "has no effect"},
}

// Table is a table with its connector and its checked options.
type Table struct {
	Def     *connector.Def
	Format  *format.Def
	Options *format.Options
	table   *catalog.Table
}

// Open finds the connector of a table and checks its options, which those in override replace.
func Open(t *catalog.Table, override []catalog.Option) (*Table, *diag.Error) {
	options := slices.Clone(t.Options)
	for _, o := range override {
		i := slices.IndexFunc(options, func(p catalog.Option) bool { return p.Key == o.Key })
		if i >= 0 {
			options[i] = o
		} else {
			options = append(options, o)
		}
	}
	out := &Table{table: t}
	if err := out.find(options); err != nil {
		return nil, err
	}
	defs := out.defs()
	values := map[string]string{}
	for _, o := range options {
		values[o.Key] = o.Value
		if err := out.checkOption(defs, o); err != nil {
			return nil, err
		}
	}
	checked, err := format.NewOptions(defs, values, diag.Suggest)
	if err != nil {
		return nil, diag.Errorf(t.Pos, "table %s: %v", t.Path.Name, err)
	}
	out.Options = checked
	return out, nil
}

// find looks the connector and the format up.
func (t *Table) find(options []catalog.Option) *diag.Error {
	name, format_ := option(options, "connector"), option(options, "format")
	if name == nil {
		return diag.Errorf(t.table.Pos, "table %s has no option 'connector', so it cannot be read or written", t.table.Path.Name).
			WithHint("the connectors are %s", names(connector.All(), func(d *connector.Def) string { return d.Name }))
	}
	if t.Def = connector.Lookup(name.Value); t.Def == nil {
		all := connector.All()
		known := make([]string, len(all))
		for i, d := range all {
			known[i] = d.Name
		}
		e := diag.Errorf(name.ValuePos, "table %s: unknown connector %q", t.table.Path.Name, name.Value)
		if e.Hint = diag.DidYouMean(name.Value, known); e.Hint == "" {
			e.Hint = "the connectors are " + strings.Join(known, ", ")
		}
		return e
	}
	switch {
	case format_ == nil && t.Def.Formats:
		return diag.Errorf(t.table.Pos, "table %s needs the option 'format'", t.table.Path.Name).
			WithHint("the formats are %s", names(format.All(), func(d *format.Def) string { return d.Name }))
	case format_ == nil:
		return nil
	case !t.Def.Formats:
		return diag.Errorf(format_.KeyPos, "table %s: the connector %q has no formats", t.table.Path.Name, name.Value)
	}
	if t.Format = format.Lookup(format_.Value); t.Format == nil {
		all := format.All()
		known := make([]string, len(all))
		for i, d := range all {
			known[i] = d.Name
		}
		e := diag.Errorf(format_.ValuePos, "table %s: unknown format %q", t.table.Path.Name, format_.Value)
		if e.Hint = diag.DidYouMean(format_.Value, known); e.Hint == "" {
			e.Hint = "the formats are " + strings.Join(known, ", ")
		}
		return e
	}
	return nil
}

func names[D any](all []*D, name func(*D) string) string {
	out := make([]string, len(all))
	for i, d := range all {
		out[i] = name(d)
	}
	return strings.Join(out, ", ")
}

func option(options []catalog.Option, key string) *catalog.Option {
	i := slices.IndexFunc(options, func(o catalog.Option) bool { return o.Key == key })
	if i < 0 {
		return nil
	}
	return &options[i]
}

// defs returns the options that the table may have. Those of the format begin with its name.
func (t *Table) defs() []format.Option {
	defs := slices.Clone(t.Def.Options)
	if t.Format != nil {
		for _, o := range t.Format.Options {
			o.Name = t.Format.Name + "." + o.Name
			defs = append(defs, o)
		}
	}
	for _, o := range common {
		if !slices.ContainsFunc(defs, func(p format.Option) bool { return p.Name == o.Name }) {
			defs = append(defs, o)
		}
	}
	return defs
}

// checkOption checks one option alone, so that the error stands where the option does.
func (t *Table) checkOption(defs []format.Option, o catalog.Option) *diag.Error {
	lax := slices.Clone(defs)
	for i := range lax {
		lax[i].Required = false
	}
	_, err := format.NewOptions(lax, map[string]string{o.Key: o.Value}, diag.Suggest)
	if err == nil {
		return nil
	}
	pos := o.ValuePos
	if strings.HasPrefix(err.Error(), "unknown option") {
		pos = o.KeyPos
	}
	return diag.Errorf(pos, "table %s: %v", t.table.Path.Name, err)
}

// Metadata returns the metadata of that key that the connector offers, or nil.
func (t *Table) Metadata(key string) *connector.Metadata {
	i := slices.IndexFunc(t.Def.Metadata, func(m connector.Metadata) bool { return m.Key == key })
	if i < 0 {
		return nil
	}
	return &t.Def.Metadata[i]
}

// connectorTable describes the table to its connector.
func (t *Table) connectorTable(h *Host, parallelism int) *connector.Table {
	c := &connector.Table{
		Name: t.table.Path.Name, Physical: t.table.Physical(), PartitionKeys: t.table.PartitionedBy, Options: t.Options,
		Format: t.Format, Env: h.Env, Parallelism: parallelism, Stdin: h.Stdin, Stdout: h.Stdout, Stderr: h.Stderr, Shared: h.Shared,
	}
	if k := t.table.PrimaryKey; k != nil {
		for _, name := range k.Columns {
			c.PrimaryKey = append(c.PrimaryKey, c.Physical.Index(name))
		}
	}
	return c
}

// Source makes the source of some columns of the table: positions in catalog.Table.Columns, physical ones first. fields are
// the columns as they are wanted, which for a ROW may be less than the table has.
func (t *Table) Source(h *Host, columns []int, fields *types.Schema, parallelism int) (connector.Source, *diag.Error) {
	if t.Def.NewSource == nil {
		return nil, diag.Errorf(t.table.Pos, "table %s cannot be read: the connector %q only writes", t.table.Path.Name, t.Def.Name)
	}
	c := t.connectorTable(h, parallelism)
	c.Schema = &types.Schema{}
	for i, pos := range columns {
		col := &t.table.Columns[pos]
		if col.Kind == ast.Metadata {
			c.Metadata = append(c.Metadata, *t.Metadata(col.Key))
			continue
		}
		c.Schema.Fields = append(c.Schema.Fields, fields.Fields[i])
		c.Wanted = append(c.Wanted, c.Physical.Index(col.Name))
	}
	s, err := t.Def.NewSource(c)
	if err != nil {
		return nil, t.fault(err)
	}
	return s, nil
}

// Sink makes the table's sink.
func (t *Table) Sink(h *Host, parallelism int) (connector.Sink, *diag.Error) {
	if t.Def.NewSink == nil {
		return nil, diag.Errorf(t.table.Pos, "table %s cannot be written: the connector %q only reads", t.table.Path.Name, t.Def.Name)
	}
	c := t.connectorTable(h, parallelism)
	c.Schema = c.Physical
	for i := range c.Physical.Fields {
		c.Wanted = append(c.Wanted, i)
	}
	s, err := t.Def.NewSink(c)
	if err != nil {
		return nil, t.fault(err)
	}
	return s, nil
}

// fault places an error of the connector: at the option that it names in quotes, or else at the table.
func (t *Table) fault(err error) *diag.Error {
	pos := t.table.Pos
	for _, o := range t.table.Options {
		if strings.Contains(err.Error(), `"`+o.Key+`"`) || strings.Contains(err.Error(), "'"+o.Key+"'") {
			pos = o.ValuePos
		}
	}
	return diag.Errorf(pos, "table %s: %s", t.table.Path.Name, strings.TrimPrefix(fmt.Sprint(err), "table "+t.table.Path.Name+": "))
}

// PartialRows reports whether the source can leave out fields of ROW columns.
func (t *Table) PartialRows() bool {
	return t.Def.PartialRows && (t.Format == nil || t.Format.PartialRows)
}

// Parallelism returns the value of scan.parallelism or sink.parallelism, or otherwise.
func (t *Table) Parallelism(key string, otherwise int) int {
	if t.Options.Has(key) {
		if n := t.Options.Int(key); n > 0 {
			return int(n)
		}
	}
	return otherwise
}
