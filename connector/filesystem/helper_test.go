package filesystem

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/format"
	_ "github.com/millstream-io/millstream/format/csv"
	_ "github.com/millstream-io/millstream/format/json"
	_ "github.com/millstream-io/millstream/format/raw"
	"github.com/millstream-io/millstream/types"
)

var (
	integer = types.Of(types.Int)
	str     = types.StringType()
)

func field(name string, t types.Type) types.Field { return types.Field{Name: name, Type: t} }

// table describes a table for tests.
type table struct {
	fields    []types.Field
	partition []string
	wanted    []string
	metadata  []string
	options   []string // key=value
	format    string
	stdin     io.Reader
	stdout    io.Writer
}

func (tb table) make(t testing.TB) *connector.Table {
	t.Helper()
	c, err := tb.build()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (tb table) build() (*connector.Table, error) {
	f := format.Lookup(tb.format)
	defs := append([]format.Option(nil), Def.Options...)
	for _, o := range f.Options {
		o.Name = f.Name + "." + o.Name
		defs = append(defs, o)
	}
	values := map[string]string{}
	for _, o := range tb.options {
		k, v, _ := strings.Cut(o, "=")
		values[k] = v
	}
	options, err := format.NewOptions(defs, values, nil)
	if err != nil {
		return nil, err
	}
	c := &connector.Table{Name: "t", Physical: types.NewSchema(tb.fields...), Schema: types.NewSchema(), PartitionKeys: tb.partition,
		Options: options, Format: f, Parallelism: 1, Stdin: tb.stdin, Stdout: tb.stdout}
	wanted := tb.wanted
	if wanted == nil {
		wanted = c.Physical.Names()
	}
	for _, n := range wanted {
		i := c.Physical.Index(n)
		c.Wanted = append(c.Wanted, i)
		c.Schema.Fields = append(c.Schema.Fields, tb.fields[i])
	}
	for _, k := range tb.metadata {
		for _, m := range Def.Metadata {
			if m.Key == k {
				c.Metadata = append(c.Metadata, m)
			}
		}
	}
	return c, nil
}

func (tb table) source(t testing.TB) connector.Source {
	t.Helper()
	s, err := newSource(tb.make(t))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// write makes files below a directory.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
