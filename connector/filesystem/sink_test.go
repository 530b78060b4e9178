package filesystem

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/connector/conformance"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/internal/vfs"
	"github.com/millstream-io/millstream/types"
)

// sinkOn makes a sink over a file system.
func (tb table) sinkOn(t testing.TB, fsys vfs.FS) *sink {
	t.Helper()
	s, err := newSink(tb.make(t))
	if err != nil {
		t.Fatal(err)
	}
	out := s.(*sink)
	if fsys != nil {
		out.fs = fsys
	}
	return out
}

// rows makes rows of the columns k INT and s STRING, i and a word.
func rows(schema *types.Schema, from, to int) *batch.Batch {
	b := batch.NewBatch(schema, to-from)
	for i := from; i < to; i++ {
		b.Cols[0].(*batch.Fixed[int32]).Append(int32(i))
		b.Cols[1].(*batch.Bytes).AppendString(word(i))
	}
	b.SetSize(to - from)
	return b
}

func word(i int) string { return [...]string{"", "red", "a/b", "blue: 1"}[i%4] }

// tree returns the lines of all visible files below a directory, each with its
// directory in front, and the paths of the hidden ones.
func tree(fsys vfs.FS, root string) (lines, hiddenFiles []string, err error) {
	var walk func(dir string) error
	walk = func(dir string) error {
		names, err := fsys.List(dir)
		if err != nil {
			return err
		}
		slices.Sort(names)
		for _, n := range names {
			path := fsys.PathJoin(dir, n)
			info, err := fsys.Stat(path)
			if err != nil {
				return err
			}
			if info.IsDir() {
				if err := walk(path); err != nil {
					return err
				}
				continue
			}
			if hidden(n) {
				hiddenFiles = append(hiddenFiles, path)
				continue
			}
			data, err := vfs.ReadFile(fsys, path)
			if err != nil {
				return err
			}
			for _, l := range strings.SplitAfter(string(data), "\n") {
				if l != "" {
					lines = append(lines, strings.TrimPrefix(dir, root)+" "+strings.TrimSuffix(l, "\n"))
				}
			}
		}
		return nil
	}
	if _, statErr := fsys.Stat(root); vfs.IsNotExist(statErr) {
		return nil, nil, nil
	}
	err = walk(root)
	return lines, hiddenFiles, err
}

func TestExactlyOnce(t *testing.T) {
	fields := []types.Field{field("k", integer), field("s", str)}
	schema := types.NewSchema(fields...)
	for _, c := range []struct {
		name      string
		partition []string
		opts      string
		row       func(i int) string
		keep      int
	}{
		{"one directory", nil, "sink.rolling-policy.file-size=128 mb", func(i int) string { return fmt.Sprintf(" %d,%s", i, csvWord(i)) }, 0},
		{"rolling", nil, "sink.rolling-policy.file-size=20", func(i int) string { return fmt.Sprintf(" %d,%s", i, csvWord(i)) }, 50},
		{"partitions", []string{"s"}, "sink.rolling-policy.file-size=12", func(i int) string {
			return fmt.Sprintf("/s=%s %d", [...]string{"__DEFAULT_PARTITION__", "red", "a%2Fb", "blue%3A 1"}[i%4], i)
		}, 0},
		{"success files", []string{"s"}, "sink.partition-commit.policy.kind=success-file", func(i int) string {
			return fmt.Sprintf("/s=%s %d", [...]string{"__DEFAULT_PARTITION__", "red", "a%2Fb", "blue%3A 1"}[i%4], i)
		}, 100},
	} {
		t.Run(c.name, func(t *testing.T) {
			var fsys vfs.CrashFS
			rng := rand.New(rand.NewPCG(1, 2))
			tb := table{fields: fields, partition: c.partition, format: "csv", options: []string{"path=/data/out", c.opts}}
			kit := &conformance.Sink{
				New:   func() connector.Sink { return tb.sinkOn(t, fsys) },
				Reset: func() { fsys = vfs.NewCrashFS() },
				Crash: func() { fsys = fsys.Crash(c.keep, rng) },
				Batch: func(from, to int) *batch.Batch { return rows(schema, from, to) },
				Row:   c.row,
				Published: func() ([]string, error) {
					lines, _, err := tree(fsys, "/data/out")
					return lines, err
				},
				Leftovers: func() ([]string, error) {
					_, left, err := tree(fsys, "/data/out")
					return slices.DeleteFunc(left, func(p string) bool { return strings.HasSuffix(p, "_SUCCESS") }), err
				},
			}
			kit.ExactlyOnce(t)
		})
	}
}

func csvWord(i int) string { return [...]string{"", "red", "a/b", `"blue: 1"`}[i%4] }

// TestExactlyOnceOnDisk is the same on the file system of the machine.
func TestExactlyOnceOnDisk(t *testing.T) {
	fields := []types.Field{field("k", integer), field("s", str)}
	schema := types.NewSchema(fields...)
	dir := filepath.Join(t.TempDir(), "x", "out")
	tb := table{fields: fields, format: "json", options: []string{"path=" + dir, "sink.rolling-policy.file-size=300"}}
	kit := &conformance.Sink{
		New: func() connector.Sink { return tb.sinkOn(t, nil) },
		Reset: func() {
			if err := os.RemoveAll(filepath.Dir(dir)); err != nil {
				t.Fatal(err)
			}
		},
		Batch: func(from, to int) *batch.Batch { return rows(schema, from, to) },
		Row:   func(i int) string { return fmt.Sprintf(` {"k":%d,"s":"%s"}`, i, word(i)) },
		Published: func() ([]string, error) {
			lines, _, err := tree(vfs.OS(), dir)
			return lines, err
		},
		Leftovers: func() ([]string, error) {
			_, left, err := tree(vfs.OS(), dir)
			return left, err
		},
	}
	kit.ExactlyOnce(t)
}

// open opens the only writer of a sink.
func open(t *testing.T, s *sink, id string, now *int64, restored [][]byte) *writer {
	t.Helper()
	w, err := s.Open(&connector.WriterContext{Context: context.Background(), Parallelism: 1, Job: "job", ID: id,
		Now: func() int64 { return *now }, Count: func(string, int64) {}}, restored)
	if err != nil {
		t.Fatal(err)
	}
	return w.(*writer)
}

// names returns the names in a directory.
func names(t *testing.T, fsys vfs.FS, dir string) string {
	t.Helper()
	list, err := fsys.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

func must(t *testing.T) func(_ any, err error) {
	return func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestRolling(t *testing.T) {
	fsys := vfs.NewMem()
	fields := []types.Field{field("k", integer), field("s", str)}
	tb := table{fields: fields, format: "csv", options: []string{"path=out", "sink.rolling-policy.rollover-interval=10 s", "csv.header=true"}}
	var now int64
	w := open(t, tb.sinkOn(t, fsys), "a", &now, nil)
	schema := types.NewSchema(fields...)
	must := must(t)
	must(nil, w.Write(rows(schema, 0, 1)))
	must(w.Barrier(1, false))
	must(nil, w.Committed(1))
	if got := names(t, fsys, "out"); got != ".part-0-0.csv."+w.tag+".tmp" {
		t.Error(got)
	}
	now = 10_000
	must(w.Barrier(2, false)) // too old by now
	must(nil, w.Write(rows(schema, 1, 2)))
	must(w.Barrier(3, false))
	must(nil, w.Committed(2))
	if got := names(t, fsys, "out"); got != ".part-0-1.csv."+w.tag+".tmp part-0-0.csv" {
		t.Error(got)
	}
	now = 25_000
	must(nil, w.Write(rows(schema, 2, 3))) // too old after it
	must(w.Barrier(4, true))
	must(nil, w.Committed(4))
	lines, left, err := tree(fsys, "out")
	if got, want := strings.Join(lines, ";"), " k,s; 0,; k,s; 1,red; 2,a/b"; got != want || len(left) > 0 || err != nil {
		t.Errorf("%s, %q %v", got, left, err)
	}
	must(nil, w.Close())
}

// TestNeighbours lets two sinks of a job, and a later job, write to the same
// directory.
func TestNeighbours(t *testing.T) {
	fsys := vfs.NewMem()
	fields := []types.Field{field("k", integer), field("s", str)}
	schema := types.NewSchema(fields...)
	tb := table{fields: fields, format: "csv", options: []string{"path=out"}}
	var now int64
	must := must(t)
	a := open(t, tb.sinkOn(t, fsys), "a", &now, nil)
	must(nil, a.Write(rows(schema, 0, 1)))
	b := open(t, tb.sinkOn(t, fsys), "b", &now, nil)
	must(nil, b.Write(rows(schema, 1, 2)))
	for _, w := range []*writer{a, b} {
		must(w.Barrier(1, true))
	}
	for _, w := range []*writer{a, b} {
		must(nil, w.Committed(1))
	}
	// The job runs again, and adds its files.
	a = open(t, tb.sinkOn(t, fsys), "a", &now, nil)
	must(nil, a.Write(rows(schema, 2, 3)))
	must(a.Barrier(1, true))
	must(nil, a.Committed(1))
	if got := names(t, fsys, "out"); got != "part-0-0.csv part-0-1.csv part-0-2.csv" {
		t.Error(got)
	}
	if lines, _, _ := tree(fsys, "out"); len(lines) != 3 {
		t.Errorf("%q", lines)
	}
}

// TestTooOldCheckpoint refuses to go on from a checkpoint whose file is
// complete by now.
func TestTooOldCheckpoint(t *testing.T) {
	fsys := vfs.NewMem()
	fields := []types.Field{field("k", integer), field("s", str)}
	tb := table{fields: fields, format: "csv", options: []string{"path=out"}}
	var now int64
	must := must(t)
	s := tb.sinkOn(t, fsys)
	w := open(t, s, "a", &now, nil)
	must(nil, w.Write(rows(types.NewSchema(fields...), 0, 1)))
	state, err := w.Barrier(1, false)
	must(nil, err)
	must(w.Barrier(2, true))
	must(nil, w.Committed(2))
	ctx := &connector.WriterContext{Context: context.Background(), Parallelism: 1, Job: "job", ID: "a", Now: func() int64 { return 0 }}
	if _, err := s.Open(ctx, [][]byte{state}); err == nil || !strings.Contains(err.Error(), "complete because the job has run on") {
		t.Error(err)
	}
	if _, err := s.Open(ctx, [][]byte{[]byte("x")}); err == nil || !strings.Contains(err.Error(), "state of the sink cannot be read") {
		t.Error(err)
	}
	if _, err := s.Open(ctx, [][]byte{[]byte(`{"v":9}`)}); err == nil || !strings.Contains(err.Error(), "version 9") {
		t.Error(err)
	}
}

// TestDiskErrors fails each call of the file system in turn: the error is
// reported and sticks, and a new run from the last checkpoint is right.
func TestDiskErrors(t *testing.T) {
	fields := []types.Field{field("k", integer), field("s", str)}
	schema := types.NewSchema(fields...)
	tb := table{fields: fields, partition: []string{"s"}, format: "csv", options: []string{"path=/data/out"}}
	for n := int64(1); ; n++ {
		mem := vfs.NewCrashFS()
		fault := vfs.NewFaultFS(mem)
		fault.FailFrom(n, 1)
		var state []byte
		durable := 0
		run := func() error {
			s := tb.sinkOn(t, fault)
			wr, err := s.Open(&connector.WriterContext{Context: context.Background(), Parallelism: 1, Job: "job", ID: "a",
				Now: func() int64 { return 0 }}, nil)
			if err != nil {
				return err
			}
			w := wr.(*writer)
			defer func() { _ = w.Close() }()
			for e := range 2 {
				err := w.Write(rows(schema, e*8, e*8+8))
				if err == nil {
					var st []byte
					if st, err = w.Barrier(int64(e), e == 1); err == nil {
						state, durable = st, e+1
						err = w.Committed(int64(e))
					}
				}
				if err != nil {
					if again := w.Write(rows(schema, 0, 1)); !errors.Is(again, vfs.ErrInjected) {
						t.Errorf("call %d: after an error, the next call gave %v", n, again)
					}
					return err
				}
			}
			return nil
		}
		err := run()
		if err == nil {
			if fault.Calls() >= n {
				t.Errorf("call %d failed, and nobody noticed", n)
			}
			break
		}
		if !errors.Is(err, vfs.ErrInjected) {
			t.Fatalf("call %d: %v", n, err)
		}
		after := mem.Crash(0, rand.New(rand.NewPCG(uint64(n), 0)))
		var restored [][]byte
		if durable > 0 {
			restored = [][]byte{state}
		}
		var now int64
		w := open(t, tb.sinkOn(t, after), "a", &now, restored)
		for e := durable; e < 2; e++ {
			must(t)(nil, w.Write(rows(schema, e*8, e*8+8)))
			must(t)(w.Barrier(int64(e), e == 1))
			must(t)(nil, w.Committed(int64(e)))
		}
		lines, left, err := tree(after, "/data/out")
		if len(lines) != 16 || len(left) > 0 || err != nil {
			t.Errorf("call %d: %d lines, left over %q, %v", n, len(lines), left, err)
		}
	}
}

func TestPartitionNames(t *testing.T) {
	fsys := vfs.NewMem()
	fields := []types.Field{field("d", types.Of(types.Date)), field("t", types.TimeOf(types.Timestamp, 3)), field("b", types.Of(types.Boolean)), field("a", integer), field("s", str)}
	tb := table{fields: fields, partition: []string{"s", "d", "t", "b"}, format: "csv", options: []string{"path=out"}}
	b := batch.NewBatch(types.NewSchema(fields...), 1)
	for i, cell := range []string{"2024-01-02", "2024-01-02 03:04:05.1", "TRUE", "1", `'a"#%''*/:=?\\{}[]^é. x'`} {
		if err := text.ParseCell(b.Cols[i], cell); err != nil {
			t.Fatal(err)
		}
	}
	b.SetSize(1)
	var now int64
	w := open(t, tb.sinkOn(t, fsys), "a", &now, nil)
	must := must(t)
	must(nil, w.Write(b))
	must(w.Barrier(1, true))
	must(nil, w.Committed(1))
	lines, _, _ := tree(fsys, "out")
	want := "/s=a%22%23%25%27%2A%2F%3A%3D%3F%5C%7B%7D%5B%5D%5Eé. x/d=2024-01-02/t=2024-01-02T03%3A04%3A05.100/b=true 1"
	if len(lines) != 1 || lines[0] != want {
		t.Errorf("%q", lines)
	}
}

// TestManyPartitions keeps a bounded number of files open.
func TestManyPartitions(t *testing.T) {
	fsys := vfs.NewMem()
	fields := []types.Field{field("k", integer), field("p", integer)}
	tb := table{fields: fields, partition: []string{"p"}, format: "csv", options: []string{"path=out"}}
	var now int64
	w := open(t, tb.sinkOn(t, fsys), "a", &now, nil)
	must := must(t)
	const n = maxOpen + 100
	for from := 0; from < n; from += 50 {
		b := batch.NewBatch(types.NewSchema(fields...), 50)
		for i := from; i < from+50; i++ {
			b.Cols[0].(*batch.Fixed[int32]).Append(int32(i))
			b.Cols[1].(*batch.Fixed[int32]).Append(int32(i))
		}
		b.SetSize(50)
		must(nil, w.Write(b))
		if len(w.open) > maxOpen {
			t.Fatalf("%d files are open", len(w.open))
		}
	}
	must(w.Barrier(1, true))
	must(nil, w.Committed(1))
	if lines, left, _ := tree(fsys, "out"); len(lines) != n || len(left) > 0 {
		t.Errorf("%d lines, %q", len(lines), left)
	}
}

func TestStdout(t *testing.T) {
	var out bytes.Buffer
	fields := []types.Field{field("k", integer), field("s", str)}
	tb := table{fields: fields, format: "csv", options: []string{"path=-", "csv.header=true"}, stdout: &out}
	s := tb.sinkOn(t, nil)
	for i := range 2 {
		w, err := s.Open(&connector.WriterContext{Context: context.Background(), Subtask: i, Parallelism: 2}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(rows(types.NewSchema(fields...), i, i+2).WithSel([]int32{1})); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := out.String(), "k,s\n1,red\n2,a/b\n"; got != want {
		t.Errorf("%q", got)
	}
}

func TestSinkRefused(t *testing.T) {
	a := []types.Field{field("a", integer), field("b", str)}
	for _, c := range []struct {
		tb   table
		want string
	}{
		{table{fields: a, format: "raw", options: []string{"path=x"}}, "holds a single column"},
		{table{fields: a, format: "csv", options: []string{"path=x", "sink.partition-commit.policy.kind=success-file"}}, "PARTITIONED BY"},
		{table{fields: a, format: "csv", options: []string{"path=x", "sink.partition-commit.delay=1 h"}}, "must be 0"},
	} {
		if _, err := newSink(c.tb.make(t)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	dir := t.TempDir()
	write(t, dir, map[string]string{"file": "x"})
	s := table{fields: a, format: "csv", options: []string{"path=" + dir + "/file/out"}}.sinkOn(t, nil)
	if _, err := s.Open(&connector.WriterContext{Context: context.Background(), Parallelism: 1}, nil); err == nil || !strings.Contains(err.Error(), "cannot be made") {
		t.Error(err)
	}
}

func BenchmarkWrite(b *testing.B) {
	fields := []types.Field{field("k", integer), field("s", str)}
	for _, c := range []struct {
		name      string
		partition []string
	}{{"plain", nil}, {"partitions", []string{"s"}}} {
		b.Run(c.name, func(b *testing.B) {
			tb := table{fields: fields, partition: c.partition, format: "csv", options: []string{"path=" + b.TempDir()}}
			w, err := tb.sinkOn(b, nil).Open(&connector.WriterContext{Context: context.Background(), Parallelism: 1, Now: func() int64 { return 0 }}, nil)
			if err != nil {
				b.Fatal(err)
			}
			in := rows(types.NewSchema(fields...), 0, 4096)
			n := 0
			for b.Loop() {
				if err := w.Write(in); err != nil {
					b.Fatal(err)
				}
				n += in.Rows()
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "rows/s")
			if err := w.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}
