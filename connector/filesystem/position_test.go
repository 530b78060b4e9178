package filesystem

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/connector/conformance"
	"github.com/millstream-io/millstream/types"
)

// TestPosition reads where records stand: in whole files, in parts of files, behind records that are skipped, over several
// lines, and after a restart at each chunk.
func TestPosition(t *testing.T) {
	records := ""
	for i := range 40 {
		if i%7 == 3 {
			records += "no record\n\n"
		}
		records += fmt.Sprintf("{\"a\":%d}\n", i)
	}
	want := func(content, path string) []string {
		var out []string
		for i, line := range strings.Split(content, "\n") {
			if strings.HasPrefix(line, "{") {
				out = append(out, fmt.Sprintf("%s | %s:%d", strings.Trim(line, `{"a:}`), path, i+1))
			}
		}
		slices.Sort(out)
		return out
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte(records)); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, dir, map[string]string{"plain/x.json": records, "packed/x.json.gz": packed.String(), "csv/x.csv": "a,s\n1,\"two\nlines\"\n3,x\n"})
	for _, c := range []struct {
		name, format string
		options      []string
		want         []string
	}{
		{"plain", "json", []string{"path=" + dir + "/plain"}, want(records, dir+"/plain/x.json")},
		{"parts", "json", []string{"path=" + dir + "/plain", "source.split-size=50"}, want(records, dir+"/plain/x.json")},
		{"packed", "json", []string{"path=" + dir + "/packed"}, want(records, dir+"/packed/x.json.gz")},
		{"csv", "csv", []string{"path=" + dir + "/csv", "csv.header=true"}, []string{"1 | " + dir + "/csv/x.csv:3", "3 | " + dir + "/csv/x.csv:4"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.format == "json" {
				c.options = append(c.options, "json.ignore-parse-errors=true")
			}
			tb := table{fields: []types.Field{field("a", integer), field("s", str)}, format: c.format, options: c.options,
				metadata: []string{metaPosition}, wanted: []string{"a"}}
			rows := conformance.Replay(t, func() connector.Source { return tb.source(t) })
			slices.Sort(rows)
			if !slices.Equal(rows, c.want) {
				t.Errorf("got %q\nwant %q", rows, c.want)
			}
		})
	}
	t.Run("standard input", func(t *testing.T) {
		tb := table{fields: []types.Field{field("a", integer)}, format: "json", stdin: strings.NewReader(records),
			options: []string{"path=-", "json.ignore-parse-errors=true"}, metadata: []string{metaPosition}}
		h := conformance.NewHost()
		defer h.Close()
		rows, err := conformance.ReadAll(h, tb.source(t), 10)
		slices.Sort(rows)
		if err != nil || !slices.Equal(rows, want(records, "standard input")) {
			t.Errorf("%q %v", rows, err)
		}
	})
}
