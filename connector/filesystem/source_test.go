package filesystem

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/connector/conformance"
	"github.com/millstream-io/millstream/types"
)

// lines returns n JSON records, some of which are bad.
func lines(n int) string {
	var b strings.Builder
	for i := range n {
		switch {
		case i%97 == 5:
			b.WriteString("not json\n")
		case i%53 == 7:
			fmt.Fprintf(&b, `{"a":"bad %d"}`+"\n", i)
		default:
			fmt.Fprintf(&b, `{"a":%d,"s":"%s"}`+"\n", i, strings.Repeat("x", i%70))
		}
	}
	return b.String()
}

func TestReplay(t *testing.T) {
	content := lines(300)
	zipped := map[string]string{".gz": pack(t, content, ".gz"), ".zst": pack(t, content, ".zst"), ".deflate": pack(t, content, ".deflate")}
	for _, c := range []struct {
		name  string
		files map[string]string
		opts  []string
		want  int
	}{
		{"one file", map[string]string{"a.json": content}, nil, 296},
		{"split", map[string]string{"a.json": content}, []string{"source.split-size=1000"}, 296},
		{"split smaller than a line", map[string]string{"a.json": lines(20)}, []string{"source.split-size=10"}, 19},
		{"no line break at the end", map[string]string{"a.json": strings.TrimSuffix(content, "\n"), "b/c.json": `{"a":1}`}, []string{"source.split-size=1000"}, 297},
		{"gzip", map[string]string{"a.json.gz": zipped[".gz"]}, nil, 296},
		{"zstd", map[string]string{"a.json.zst": zipped[".zst"]}, nil, 296},
		{"zlib", map[string]string{"a.json.deflate": zipped[".deflate"]}, nil, 296},
		{"empty", map[string]string{"a.json": ""}, nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, c.files)
			tb := table{fields: []types.Field{field("a", integer), field("s", str)}, format: "json",
				options: append(c.opts, "path="+dir, "json.ignore-parse-errors=true"), metadata: []string{"file.name"}}
			rows := conformance.Replay(t, func() connector.Source { return tb.source(t) })
			if len(rows) != c.want {
				t.Errorf("%d rows, want %d", len(rows), c.want)
			}
		})
	}
}

// TestReplayCSV reads records with line breaks in quotes, and a header.
func TestReplayCSV(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("s,\"a\"\r\n")
	for i := range 200 {
		fmt.Fprintf(&b, "\"x\n%d\",%d\r\n", i, i)
	}
	write(t, dir, map[string]string{"a.csv": b.String(), "b.csv": "a,s\n7,z\n"})
	tb := table{fields: []types.Field{field("a", integer), field("s", str)}, format: "csv",
		options: []string{"path=" + dir + "/*.csv", "csv.header=true", "source.split-size=100"}}
	rows := conformance.Replay(t, func() connector.Source { return tb.source(t) })
	if len(rows) != 201 || rows[0] != `0 | 'x\n0'` || rows[200] != "7 | z" {
		t.Errorf("%d rows: %q", len(rows), rows)
	}
	// Without quotes the same file can be cut, and each part knows the header.
	write(t, dir, map[string]string{"c.csv": "s,a\n" + strings.Repeat("line,5\n", 100)})
	tb.options = []string{"path=" + dir + "/c.csv", "csv.header=true", "csv.disable-quote-character=true", "source.split-size=100"}
	if rows := conformance.Replay(t, func() connector.Source { return tb.source(t) }); len(rows) != 100 || rows[99] != "5 | line" {
		t.Errorf("%d rows: %q", len(rows), rows)
	}
}

func pack(t *testing.T, content, ext string) string {
	var buf bytes.Buffer
	var w io.WriteCloser
	switch ext {
	case ".gz":
		w = gzip.NewWriter(&buf)
	case ".deflate":
		w = zlib.NewWriter(&buf)
	case ".zst":
		z, err := zstd.NewWriter(&buf)
		if err != nil {
			t.Fatal(err)
		}
		w = z
	}
	if _, err := w.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

// TestBzip2 reads a file that another program made.
func TestBzip2(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.json.bz2": "\x42\x5a\x68\x39\x31\x41\x59\x26\x53\x59\x22\x9d\xe2\xe9\x00\x00\x06\x59\x80\x00\x10\x10\x00\x30\x10\x20\x00\x00\x0a\x20\x00\x31\x0c\x08\x12\x80\x7a\x89\xc2\x26\x86\x8b\xe2\xee\x48\xa7\x0a\x12\x04\x53\xbc\x5d\x20"})
	tb := table{fields: []types.Field{field("a", integer)}, format: "json", options: []string{"path=" + dir}}
	if rows := conformance.Replay(t, func() connector.Source { return tb.source(t) }); strings.Join(rows, ";") != "1;2" {
		t.Errorf("%q", rows)
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"one.json": `{"a":1}`, "two.txt": `{"a":2}`, "_SUCCESS": `{"a":3}`, ".hidden": `{"a":4}`, "sub/three.json": `{"a":5}`,
		"_tmp/x.json": `{"a":6}`, "sub/.x/y.json": `{"a":7}`,
	})
	if err := os.Symlink(filepath.Join(dir, "one.json"), filepath.Join(dir, "link.json")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		opts []string
		want string
	}{
		{[]string{"path=" + dir}, "1 | link.json;1 | one.json;5 | three.json;2 | two.txt"},
		{[]string{"path=" + dir + "/one.json"}, "1 | one.json"},
		{[]string{"path=file://" + dir + "/one.json"}, "1 | one.json"},
		{[]string{"path=file:" + dir + "/one.json"}, "1 | one.json"},
		{[]string{"path=" + dir + "/_SUCCESS"}, "3 | _SUCCESS"},
		{[]string{"path=" + dir + "/*.json"}, "1 | link.json;1 | one.json"},
		{[]string{"path=" + dir + "/s*"}, "5 | three.json"},
		{[]string{"path=" + dir + "/.h*"}, "4 | .hidden"},
		{[]string{"path=" + dir, "source.path.regex-pattern=.*t[hw].*"}, "5 | three.json;2 | two.txt"},
		{[]string{"path=" + dir, "source.path.regex-pattern=one.json"}, ""},
	} {
		tb := table{fields: []types.Field{field("a", integer)}, format: "json", metadata: []string{"file.name"}, options: c.opts}
		h := conformance.NewHost()
		rows, err := conformance.ReadAll(h, tb.source(t), 10)
		if got := strings.Join(rows, ";"); got != c.want || err != nil {
			t.Errorf("%v: %s (%v), want %s", c.opts, got, err, c.want)
		}
		h.Close()
	}
}

func TestMetadata(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"x.json": "{\"a\":1}\n{\"a\":2}\n"})
	path := filepath.Join(dir, "x.json")
	at := time.Date(2024, 1, 2, 3, 4, 5, 678_000_000, time.UTC)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
	tb := table{fields: []types.Field{field("a", integer)}, format: "json", options: []string{"path=" + dir},
		metadata: []string{"file.path", "file.size", "file.modification-time"}, wanted: []string{}}
	h := conformance.NewHost()
	defer h.Close()
	rows, err := conformance.ReadAll(h, tb.source(t), 1)
	want := path + " | 16 | 2024-01-02 03:04:05.678"
	if err != nil || !slices.Equal(rows, []string{want, want}) {
		t.Errorf("%q %v", rows, err)
	}
}

func TestPartitions(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"day=2024-01-01/hr=5/x.json": `{"a":1}`, "day=a%2Fb%3A c/hr=-1/x.json": `{"a":2}`,
		"day=__DEFAULT_PARTITION__/hr=__DEFAULT_PARTITION__/more/y.json": "{\"a\":3}\n{\"a\":4}",
	})
	tb := table{fields: []types.Field{field("day", str), field("a", integer), field("hr", integer)}, partition: []string{"day", "hr"},
		format: "json", options: []string{"path=" + dir}, metadata: []string{"file.name"}}
	h := conformance.NewHost()
	defer h.Close()
	rows, err := conformance.ReadAll(h, tb.source(t), 10)
	want := "2024-01-01 | 1 | 5 | x.json;NULL | 3 | NULL | y.json;NULL | 4 | NULL | y.json;a/b: c | 2 | -1 | x.json"
	if got := strings.Join(rows, ";"); got != want || err != nil {
		t.Errorf("%s %v", got, err)
	}
	tb.wanted = []string{"hr"}
	tb.metadata = nil
	if rows, err = conformance.ReadAll(h, tb.source(t), 10); strings.Join(rows, ";") != "5;NULL;NULL;-1" || err != nil {
		t.Errorf("%q %v", rows, err)
	}
	for _, c := range []struct {
		name string
		typ  types.Type
		want string
	}{
		{"d=2024-01-02", types.Of(types.Date), "2024-01-02"},
		{"d=2024-01-02T03%3A04%3A05.100", types.TimeOf(types.Timestamp, 3), "2024-01-02 03:04:05.100"},
		{"d=true", types.Of(types.Boolean), "TRUE"},
		{"d=1.0E10", types.Of(types.Double), "1.0E10"},
		{"d=1.50", types.DecimalOf(5, 2), "1.50"},
		{"d=x", types.Of(types.BigInt), "error"},
		{"d=NULL", types.Of(types.BigInt), "error"},
		{"d=NULL", str, "'NULL'"},
		{"e=x", str, "error"},
	} {
		dir := t.TempDir()
		write(t, dir, map[string]string{c.name + "/x.csv": "1\n"})
		tb := table{fields: []types.Field{field("a", integer), field("d", c.typ)}, partition: []string{"d"}, wanted: []string{"d"}, format: "csv", options: []string{"path=" + dir}}
		rows, err := conformance.ReadAll(h, tb.source(t), 10)
		got := strings.Join(rows, ";")
		if err != nil {
			got = "error"
		}
		if got != c.want {
			t.Errorf("%s: %s (%v), want %s", c.name, got, err, c.want)
		}
	}
}

// TestMonitor finds files that appear later, each once.
func TestMonitor(t *testing.T) {
	dir := t.TempDir()
	tb := table{fields: []types.Field{field("a", integer)}, format: "json", options: []string{"path=" + dir + "/in", "source.monitor-interval=50 ms"}}
	s := tb.source(t)
	if s.Bounded() || s.Interval() != 50 {
		t.Errorf("bounded %v, interval %d", s.Bounded(), s.Interval())
	}
	seen := map[string]bool{}
	discover := func() (ids []string) {
		splits, err := s.Discover(context.Background(), seen)
		if err != nil {
			t.Fatal(err)
		}
		for _, sp := range splits {
			seen[sp.ID] = true
			ids = append(ids, filepath.Base(sp.ID))
			if !sp.Ends {
				t.Errorf("%s does not end", sp.ID)
			}
		}
		return ids
	}
	if ids := discover(); len(ids) > 0 {
		t.Errorf("%q", ids)
	}
	write(t, dir, map[string]string{"in/b.json": `{"a":1}`, "in/a.json": `{"a":2}`})
	if ids := discover(); !slices.Equal(ids, []string{"a.json@0", "b.json@0"}) {
		t.Errorf("%q", ids)
	}
	write(t, dir, map[string]string{"in/c.json": `{"a":1}`, "in/a.json": `{"a":2}` + "\n" + `{"a":3}`})
	if ids := discover(); !slices.Equal(ids, []string{"c.json@0"}) {
		t.Errorf("%q", ids)
	}
}

func TestSplits(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.json": strings.Repeat("{\"a\":1}\n", 100)})
	for _, c := range []struct {
		format, opts string
		want         int
	}{
		{"json", "source.split-size=100", 8}, {"json", "source.split-size=0", 1}, {"csv", "source.split-size=100", 1},
		{"csv", "source.split-size=100;csv.disable-quote-character=true", 8}, {"raw", "source.split-size=799", 2},
	} {
		tb := table{fields: []types.Field{field("a", str)}, format: c.format, options: append(strings.Split(c.opts, ";"), "path="+dir)}
		splits, err := tb.source(t).Discover(context.Background(), nil)
		if len(splits) != c.want || err != nil {
			t.Errorf("%s %s: %d splits, %v", c.format, c.opts, len(splits), err)
		}
		for i, sp := range splits {
			if sp.Sequel != (i > 0) {
				t.Errorf("split %d: sequel %v", i, sp.Sequel)
			}
		}
	}
}

// TestErrors checks what users read when input is wrong.
func TestErrors(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"flights.csv": "1,2\n\"a\nb\",5\n7,abc\n", "x.json": "{\"a\":1}\n{\"a\":", "long.json": `{"s":"` + strings.Repeat("x", 5000) + `"}`,
		"bad.json.gz": "this is no gzip file", "y.json.xz": "x", "h.csv": "a,b\n1,2\n",
	})
	ab := []types.Field{field("a", str), field("b", integer)}
	for _, c := range []struct {
		tb   table
		want string
	}{
		{table{fields: ab, format: "csv", options: []string{"path=" + dir + "/flights.csv"}},
			dir + `/flights.csv:4: column "b": "abc" is not an INT (set 'csv.ignore-parse-errors' = 'true' to read NULL instead)`},
		{table{fields: ab, format: "csv", options: []string{"path=" + dir + "/h.csv", "csv.header=skip", "csv.field-delimiter=;"}},
			dir + `/h.csv:2: the line has too few fields: 1, not 2 (`},
		{table{fields: ab[1:], format: "json", options: []string{"path=" + dir + "/x.json"}},
			dir + `/x.json:2: the record is not valid JSON: the record ends at character 6 instead of a value (`},
		{table{fields: ab, format: "json", options: []string{"path=" + dir + "/nothing.json"}}, "table t: there is no file or directory " + dir + "/nothing.json"},
		{table{fields: ab, format: "json", options: []string{"path=" + dir + "/*.nope"}}, "table t: no file matches " + dir + "/*.nope"},
		{table{fields: ab, format: "json", options: []string{"path=" + dir + "/bad.json.gz"}}, "table t: file " + dir + "/bad.json.gz: gzip: invalid header"},
		{table{fields: ab, format: "json", options: []string{"path=" + dir + "/y.json.xz"}}, "table t: file " + dir + "/y.json.xz: files that end in .xz cannot be read"},
		{table{fields: ab, format: "json", options: []string{"path=" + dir + "/long.json", "source.max-record-size=1 kb"}}, ""},
		{table{fields: ab, format: "csv", options: []string{"path=" + dir + "/h.csv", "csv.header=true"}}, ""},
		{table{fields: []types.Field{field("c", str)}, format: "csv", options: []string{"path=" + dir + "/h.csv", "csv.header=true"}},
			"table t: file " + dir + `/h.csv: column "c" is not in the header line (a, b)`},
	} {
		h := conformance.NewHost()
		_, err := conformance.ReadAll(h, c.tb.source(t), 10)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%v\nwant %s", err, c.want)
		}
		h.Close()
	}
}

// TestRecordSize refuses a record that is larger than what is read at a time.
func TestRecordSize(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.json": "{\"a\":1}\n" + `{"s":"` + strings.Repeat("x", 3<<20) + "\"}\n{\"a\":3}\n"})
	tb := table{fields: []types.Field{field("a", integer)}, format: "json", options: []string{"path=" + dir}}
	h := conformance.NewHost()
	defer h.Close()
	rows, err := conformance.ReadAll(h, tb.source(t), 10)
	if err != nil || strings.Join(rows, ";") != "1;NULL;3" {
		t.Errorf("%q %v", rows, err)
	}
	tb.options = append(tb.options, "source.max-record-size=2 mb")
	_, err = conformance.ReadAll(h, tb.source(t), 10)
	if err == nil || !strings.Contains(err.Error(), `the record at byte 8 is longer than 2097152 bytes; if that is right, set "source.max-record-size"`) {
		t.Error(err)
	}
}

// TestSamples checks that skipped records are shown with their place.
func TestSamples(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.json": "{\"a\":1}\nnope\n{\"a\":2}\n[]\n7\n"})
	tb := table{fields: []types.Field{field("a", integer)}, format: "json", options: []string{"path=" + dir, "json.ignore-parse-errors=true"}}
	h := conformance.NewHost()
	defer h.Close()
	if _, err := conformance.ReadAll(h, tb.source(t), 1); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"skipped_records: " + dir + `/a.json:2: the record is not valid JSON: unexpected nope at character 1 instead of a value`,
		"skipped_records: " + dir + `/a.json:5: 7 is no JSON object`,
	}
	if got := h.Samples(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if n := h.Counts()["skipped_records"]; n != 2 {
		t.Errorf("%d records were skipped", n)
	}
}

// TestChangedFile refuses a file that has become shorter.
func TestChangedFile(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.json": lines(10)})
	tb := table{fields: []types.Field{field("a", str)}, format: "raw", options: []string{"path=" + dir}}
	s := tb.source(t)
	splits, err := s.Discover(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"a.json": lines(10) + "more\n"})
	h := conformance.NewHost()
	defer h.Close()
	r, err := s.Open(h.Context(), splits[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.Read(100)
	if err != nil || c.Batch.Size() != 10 || c.Status != connector.End {
		t.Errorf("%v %v", c, err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	write(t, dir, map[string]string{"a.json": "x\n"})
	if _, err := s.Open(h.Context(), splits[0], nil); !errors.Is(err, errShrunk) {
		t.Error(err)
	}
}

func TestStdin(t *testing.T) {
	in, out := io.Pipe()
	tb := table{fields: []types.Field{field("a", integer), field("s", str)}, format: "csv", stdin: in,
		options: []string{"path=-", "csv.header=true", "csv.ignore-parse-errors=true"}}
	go func() {
		for _, s := range []string{"s,", "a\n\"x\n", "y\",1\n", "z,2\nw,bad\n\"q\"z\n", "last,3"} {
			_, _ = out.Write([]byte(s))
		}
		_ = out.Close()
	}()
	h := conformance.NewHost()
	defer h.Close()
	s := tb.source(t)
	rows, err := conformance.ReadAll(h, s, 10)
	if got := strings.Join(rows, ";"); got != `1 | 'x\ny';2 | z;NULL | w;3 | last` || err != nil {
		t.Errorf("%s %v", got, err)
	}
	if got := h.Samples(); len(got) != 1 || !strings.HasPrefix(got[0], "skipped_records: standard input:6: ") {
		t.Errorf("%q", got)
	}
	splits, _ := s.Discover(context.Background(), nil)
	if _, err := s.Open(h.Context(), splits[0], []byte{1}); err == nil || !strings.Contains(err.Error(), "cannot be read again") {
		t.Error(err)
	}
}

func TestStdinFaults(t *testing.T) {
	for _, c := range []struct{ in, opt, want string }{
		{"1\n2\nx\n", "csv.null-literal=n", `standard input:3: column "a": "x" is not an INT (`},
		{strings.Repeat("1", 5000), "source.max-record-size=1 kb", `standard input:1: `},
	} {
		tb := table{fields: []types.Field{field("a", integer)}, format: "csv", stdin: strings.NewReader(c.in), options: []string{"path=-", c.opt}}
		h := conformance.NewHost()
		if _, err := conformance.ReadAll(h, tb.source(t), 10); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
		h.Close()
	}
}

func TestRefused(t *testing.T) {
	a := []types.Field{field("a", integer)}
	for _, c := range []struct {
		tb   table
		want string
	}{
		{table{fields: a, format: "json", options: []string{"path=s3://b/x"}}, "only files of this machine"},
		{table{fields: a, format: "json", options: []string{"path="}}, `"path" is empty`},
		{table{fields: a, format: "json", options: []string{"path=x", "source.path.regex-pattern=("}}, "source.path.regex-pattern"},
		{table{fields: a, format: "json", options: []string{"path=x", "source.monitor-interval=0 s"}}, "must be above 0"},
		{table{fields: a, format: "json", options: []string{"path=-", "source.monitor-interval=1 s"}}, "no meaning for standard input"},
		{table{fields: a, format: "json", options: []string{"path=x"}, partition: []string{"a"}}, "all columns are partition columns"},
		{table{fields: append(a, field("m", types.BytesType())), format: "json", options: []string{"path=x"}, partition: []string{"m"}}, "cannot hold type BYTES"},
		{table{fields: append(a, field("m", str)), format: "json", options: []string{"path=-"}, partition: []string{"m"}}, "have no partitions"},
		{table{fields: []types.Field{field("m", types.MapOf(integer, str))}, format: "json", options: []string{"path=x"}}, "maps whose keys are strings"},
	} {
		if _, err := newSource(c.tb.make(t)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	// No format can be asked for changes or a commit policy that is not there.
	if _, err := (table{fields: a, format: "json", options: []string{"path=x", "sink.partition-commit.policy.kind=metastore"}}).build(); err == nil {
		t.Error("a commit policy that is not there was taken")
	}
}
