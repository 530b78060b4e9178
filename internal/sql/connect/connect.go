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

// Fault is what is wrong with a table's options.
type Fault struct {
	*diag.Error
	// Missing tells that the options are right, but name a connector or a format of Flink that is not supported yet.
	Missing bool
}

func faultf(pos diag.Pos, format string, args ...any) *Fault {
	return &Fault{Error: diag.Errorf(pos, format, args...)}
}

// withHint sets the hint and returns f.
func (f *Fault) withHint(format string, args ...any) *Fault {
	f.Error.WithHint(format, args...)
	return f
}

// laterConnectors and laterFormats are those of Flink that are not supported yet.
var (
	laterConnectors = []string{
		"kafka", "upsert-kafka", "jdbc", "elasticsearch-6", "elasticsearch-7", "opensearch", "kinesis", "firehose", "dynamodb",
		"mongodb", "hbase-1.4", "hbase-2.2", "hive", "mysql-cdc", "postgres-cdc", "mongodb-cdc",
	}
	laterFormats = []string{
		"avro", "avro-confluent", "canal-json", "debezium-json", "debezium-avro-confluent", "maxwell-json", "ogg-json",
		"parquet", "orc", "protobuf",
	}
)

// unknown reports a name that is not in the registry, which is either not supported yet or a mistake.
func (t *Table) unknown(what string, o *catalog.Option, known, later []string) *Fault {
	if slices.Contains(later, o.Value) {
		f := faultf(o.ValuePos, "the %s %q is not supported yet", what, o.Value)
		f.Missing = true
		return f
	}
	f := faultf(o.ValuePos, "table %s: unknown %s %q", t.table.Path.Name, what, o.Value)
	if f.Hint = diag.DidYouMean(o.Value, slices.Concat(known, later)); f.Hint == "" {
		f.Hint = "the " + what + "s are " + strings.Join(known, ", ")
	}
	return f
}

// The names of the options of tables that say how their watermarks move.
const (
	IdleTimeout    = "scan.watermark.idle-timeout"
	EmitStrategy   = "scan.watermark.emit.strategy"
	AlignGroup     = "scan.watermark.alignment.group"
	AlignMaxDrift  = "scan.watermark.alignment.max-drift"
	AlignInterval  = "scan.watermark.alignment.update-interval"
	FlushAfterIdle = "millstream.watermark.flush-after-idle"
)

// The names of the options of tables that say what becomes of late rows.
const (
	LateRows        = "late-rows"
	AllowedLateness = "allowed-lateness"
)

// common are options that any table may have; the engine reads them, not the connector.
var common = []format.Option{
	{Name: "connector", Required: true, Doc: "the name of the connector"},
	{Name: "format", Doc: "the name of the format"},
	{Name: "property-version", Kind: format.Integer, Doc: "has no effect"},
	{Name: "scan.parallelism", Kind: format.Integer, Doc: "how many readers the table has"},
	{Name: "sink.parallelism", Kind: format.Integer, Doc: "how many writers the table has"},
	{Name: LateRows, Kind: format.Enum, Default: "drop", Values: []string{"drop", "emit"}, Own: true,
		Doc: "what windows do with rows that come behind the watermark: they drop them, or show their results again"},
	{Name: AllowedLateness, Kind: format.Duration, Own: true, Doc: "for how long after its end a window takes such rows"},
	{Name: IdleTimeout, Kind: format.Duration, Doc: "a split without rows for so long holds no watermark back; 0 is never"},
	{Name: EmitStrategy, Kind: format.Enum, Default: "on-periodic", Values: []string{"on-event", "on-periodic"},
		Doc: "on-event sends a watermark behind each row that raises it, on-periodic behind each batch, or by the clock where pipeline.auto-watermark-interval is set"},
	{Name: AlignGroup, Doc: "tables of one group are read at the same pace by event time; needs " + AlignMaxDrift},
	{Name: AlignMaxDrift, Kind: format.Duration, Doc: "how far a split may be ahead of the slowest one of its group; needs " + AlignGroup},
	{Name: AlignInterval, Kind: format.Duration, Default: "1 s", Doc: "how often a split that waits for its group looks again at the latest"},
	{Name: FlushAfterIdle, Kind: format.Duration, Own: true, Doc: "closes open windows once there was nothing to read for so long; 0 is never"},
}

// TableOptions returns the options that any table may have.
func TableOptions() []format.Option { return slices.Clone(common) }

// Table is a table with its connector and its checked options.
type Table struct {
	Def     *connector.Def
	Format  *format.Def
	Options *format.Options
	table   *catalog.Table
}

// Open finds the connector of a table and checks its options, which those in override replace.
func Open(t *catalog.Table, override []catalog.Option) (*Table, *Fault) {
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
		return nil, faultf(t.Pos, "table %s: %v", t.Path.Name, err)
	}
	out.Options = checked
	return out, nil
}

// find looks the connector and the format up.
func (t *Table) find(options []catalog.Option) *Fault {
	connectors := names(connector.All(), func(d *connector.Def) string { return d.Name })
	formats := names(format.All(), func(d *format.Def) string { return d.Name })
	name, form := option(options, "connector"), option(options, "format")
	if name == nil {
		if f := t.misspelt(options, "connector"); f != nil {
			return f
		}
		return faultf(t.table.Pos, "table %s has no option 'connector', so it cannot be read or written", t.table.Path.Name).
			withHint("the connectors are %s", strings.Join(connectors, ", "))
	}
	if t.Def = connector.Lookup(name.Value); t.Def == nil {
		return t.unknown("connector", name, connectors, laterConnectors)
	}
	switch {
	case form == nil && t.Def.Formats:
		if f := t.misspelt(options, "format"); f != nil {
			return f
		}
		return faultf(t.table.Pos, "table %s needs the option 'format'", t.table.Path.Name).
			withHint("the formats are %s", strings.Join(formats, ", "))
	case form == nil:
		return nil
	case !t.Def.Formats:
		return faultf(form.KeyPos, "table %s: the connector %q has no formats", t.table.Path.Name, name.Value)
	}
	if t.Format = format.Lookup(form.Value); t.Format == nil {
		return t.unknown("format", form, formats, laterFormats)
	}
	return nil
}

func names[D any](all []*D, name func(*D) string) []string {
	out := make([]string, len(all))
	for i, d := range all {
		out[i] = name(d)
	}
	return out
}

// misspelt finds an option that was probably meant to have the given name; nil if there is none.
func (t *Table) misspelt(options []catalog.Option, name string) *Fault {
	for _, o := range options {
		if hint := diag.DidYouMean(o.Key, []string{name}); hint != "" {
			return faultf(o.KeyPos, "table %s: unknown option %q", t.table.Path.Name, o.Key).withHint("%s", hint)
		}
	}
	return nil
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
func (t *Table) checkOption(defs []format.Option, o catalog.Option) *Fault {
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
	return faultf(pos, "table %s: %v", t.table.Path.Name, err)
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
func (t *Table) Source(h *Host, columns []int, fields *types.Schema, parallelism int) (connector.Source, *Fault) {
	if t.Def.NewSource == nil {
		return nil, faultf(t.table.Pos, "table %s cannot be read: the connector %q only writes", t.table.Path.Name, t.Def.Name)
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
func (t *Table) Sink(h *Host, parallelism int) (connector.Sink, *Fault) {
	if t.Def.NewSink == nil {
		return nil, faultf(t.table.Pos, "table %s cannot be written: the connector %q only reads", t.table.Path.Name, t.Def.Name)
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
func (t *Table) fault(err error) *Fault {
	pos := t.table.Pos
	for _, o := range t.table.Options {
		if strings.Contains(err.Error(), `"`+o.Key+`"`) || strings.Contains(err.Error(), "'"+o.Key+"'") {
			pos = o.ValuePos
		}
	}
	return faultf(pos, "table %s: %s", t.table.Path.Name, strings.TrimPrefix(fmt.Sprint(err), "table "+t.table.Path.Name+": "))
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
