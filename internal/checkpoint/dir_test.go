package checkpoint

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/internal/blob"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/internal/vfs"
)

// write makes a synced file.
func write(t testing.TB, fs vfs.FS, name, text string) {
	t.Helper()
	if err := vfs.WriteFile(fs, name, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// manifestOf is a manifest of one node with the given files.
func manifestOf(id int64, files ...state.FileInfo) *Manifest {
	return &Manifest{Job: "j", JobID: "f00", ID: id, Incarnation: 2, Plan: "p", Nodes: []Node{{
		ID: "agg", Name: "Aggregate",
		Subtasks: []Subtask{{Watermark: 5, State: info(files), Sink: []byte("s\x00")}},
		Splits: []Split{{ID: "a.csv", Done: true, Seq: 0},
			{ID: "b.csv", Seq: 1, Position: []byte{1, 255}, Opened: true, Watermark: 77, Idle: true}},
		Counters: []Counter{{"late_rows", 3}},
	}}}
}

func info(files []state.FileInfo) *state.Info {
	return &state.Info{
		Version: 1, Backend: "disk", Parallelism: 1,
		Tables: []state.TableInfo{{ID: 1, Name: "t", Key: []string{"INT"}, Value: []string{"BIGINT"}}}, Files: files,
	}
}

// put adds files with the given contents and commits a checkpoint of them.
func put(d *Dir, fs vfs.FS, id int64, contents ...string) error {
	var files []state.FileInfo
	for i, c := range contents {
		src := fmt.Sprintf("/src-%d-%d", id, i)
		if err := vfs.WriteFile(fs, src, []byte(c)); err != nil {
			return err
		}
		length, sum, err := vfs.Checksum(fs, src)
		if err != nil {
			return err
		}
		f := state.FileInfo{Name: fmt.Sprintf("%d.sst", i), Length: length, Sum: fmt.Sprintf("%016x", sum)}
		if _, err := d.Add(bg, f, fs, src); err != nil {
			return err
		}
		files = append(files, f)
	}
	return d.Put(manifestOf(id, files...))
}

func TestManifestText(t *testing.T) {
	m := manifestOf(9, state.FileInfo{Name: "1.sst", Sum: "abc", Length: 12})
	want := `checkpoint 9 of job j, incarnation 2
agg Aggregate
  split 0 "a.csv" done
  split 1 "b.csv" at 01ff, watermark 77 idle
  [0] watermark 5, sink "s\x00"
    table t (INT) -> (BIGINT)
    file 1.sst 12 bytes abc
  late_rows 3
`
	if got := m.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	data, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := Decode("f", data)
	if err != nil {
		t.Fatal(err)
	}
	if got := back.String(); got != want {
		t.Errorf("after a round trip:\n%s", got)
	}
}

func TestManifestDamage(t *testing.T) {
	data, err := manifestOf(9, state.FileInfo{Name: "1.sst", Sum: "abc", Length: 12}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		for _, bit := range []byte{1, 0x20, 0x80} {
			bad := bytes.Clone(data)
			bad[i] ^= bit
			if _, err := Decode("x/chk-9", bad); err == nil {
				t.Fatalf("bit %d of byte %d was changed, and nobody noticed", bit, i)
			} else if !strings.Contains(err.Error(), "x/chk-9") {
				t.Fatalf("error does not name the file: %v", err)
			}
		}
		if _, err := Decode("x/chk-9", data[:i]); err == nil {
			t.Fatalf("cut at byte %d, and nobody noticed", i)
		}
	}
	if _, err := Decode("f", append(data, '\n')); err == nil {
		t.Fatal("a byte was added, and nobody noticed")
	}
}

func FuzzManifest(f *testing.F) {
	data, err := manifestOf(3, state.FileInfo{Name: "1.sst", Sum: "abc", Length: 12}).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Decode("f", data)
		if err != nil {
			return
		}
		again, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if n, err := Decode("f", again); err != nil || n.String() != m.String() {
			t.Fatalf("%v\n%s\n%s", err, n, m)
		}
	})
}

func TestDirKeepsAndShares(t *testing.T) {
	fs := vfs.NewMem()
	d, err := Open(blob.NewDir(fs, "/c"))
	if err != nil {
		t.Fatal(err)
	}
	for id, contents := range [][]string{1: {"one", "shared"}, 2: {"two", "shared"}, 3: {"three"}} {
		if id == 0 {
			continue
		}
		if err := put(d, fs, int64(id), contents...); err != nil {
			t.Fatal(err)
		}
		if id > 1 {
			if err := d.Discard(int64(id - 1)); err != nil {
				t.Fatal(err)
			}
		}
		names, _ := fs.List("/c/data")
		if len(names) != len(contents) {
			t.Errorf("after checkpoint %d there are %d files, want %d", id, len(names), len(contents))
		}
	}
	d, err = Open(blob.NewDir(fs, "/c"))
	if err != nil {
		t.Fatal(err)
	}
	m := d.Latest()
	if m.ID != 3 || len(d.Retained()) != 1 {
		t.Fatalf("latest is %d of %v", m.ID, d.Retained())
	}
	got, err := vfs.ReadFile(fs, d.Where(m.Nodes[0].Subtasks[0].State.Files[0]))
	if string(got) != "three" {
		t.Errorf("read %q: %v", got, err)
	}
}

func TestReleaseRemovesWhatNoManifestTook(t *testing.T) {
	fs := vfs.NewMem()
	d, err := Open(blob.NewDir(fs, "/c"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, fs, "/src", "x")
	f := state.FileInfo{Name: "1.sst", Length: 1, Sum: "0"}
	for range 2 {
		if _, err := d.Add(bg, f, fs, "/src"); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []int{1, 0} {
		if err := d.Release(f); err != nil {
			t.Fatal(err)
		}
		if names, _ := fs.List("/c/data"); len(names) != want {
			t.Errorf("%d files, want %d", len(names), want)
		}
	}
}

// TestDirDamage damages each file of a directory with a checkpoint in each way.
func TestDirDamage(t *testing.T) {
	// That the bytes of a state file are right is verified by whoever reads it.
	for file, ways := range map[string][]string{"manifest": {"flip", "cut", "delete"}, "data": {"cut", "delete"}} {
		for _, how := range ways {
			t.Run(file+" "+how, func(t *testing.T) {
				fs := vfs.NewMem()
				d, err := Open(blob.NewDir(fs, "/c"))
				if err != nil {
					t.Fatal(err)
				}
				if err := put(d, fs, 1, "some state"); err != nil {
					t.Fatal(err)
				}
				name := d.store.Where(manifestName(1))
				if file == "data" {
					name = d.Where(d.Latest().Nodes[0].Subtasks[0].State.Files[0])
				}
				damage(t, fs, name, how)
				_, err = Open(blob.NewDir(fs, "/c"))
				if err == nil {
					t.Fatal("nobody noticed")
				}
				for _, want := range []string{name, "expected", "found"} {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("error lacks %q: %v", want, err)
					}
				}
				if _, ok := err.(*RefusedError); !ok {
					t.Errorf("error is a %T", err)
				}
			})
		}
	}
}

func damage(t *testing.T, fs vfs.FS, name, how string) {
	t.Helper()
	data, err := vfs.ReadFile(fs, name)
	if err != nil {
		t.Fatal(err)
	}
	switch how {
	case "flip":
		data[len(data)-3] ^= 4
	case "cut":
		data = data[:len(data)-1]
	case "delete":
		if err := fs.Remove(name); err != nil {
			t.Fatal(err)
		}
		return
	}
	write(t, fs, name, string(data))
}

// TestDirCrash takes three checkpoints and crashes after each changing call of
// the file system: the newest checkpoint whose Put has returned, or one after
// it, is there and whole.
func TestDirCrash(t *testing.T) {
	for n := int64(1); ; n++ {
		mem := vfs.NewCrashFS()
		fault := vfs.NewFaultFS(mem)
		fault.FailFrom(n, -1)
		var done int64
		err := func() error {
			d, err := Open(blob.NewDir(fault, "/c"))
			if err != nil {
				return err
			}
			for id := int64(1); id <= 3; id++ {
				if err := put(d, fault, id, fmt.Sprint("own ", id), "shared"); err != nil {
					return err
				}
				done = id
				if err := d.Discard(id - 1); err != nil {
					return err
				}
			}
			return nil
		}()
		for _, keep := range []int{0, 50, 100} {
			crashed := mem.Crash(keep, rand.New(rand.NewPCG(uint64(n), uint64(keep))))
			d, openErr := Open(blob.NewDir(crashed, "/c"))
			if openErr != nil {
				t.Fatalf("crash at call %d keeping %d%%: %v", n, keep, openErr)
			}
			m := d.Latest()
			if m == nil && done > 0 || m != nil && (m.ID < done || m.ID > done+1) {
				t.Fatalf("crash at call %d keeping %d%%: checkpoint %d was done, found %v", n, keep, done, m)
			}
			if m == nil {
				continue
			}
			m.files(func(f state.FileInfo) {
				length, sum, err := vfs.Checksum(crashed, d.Where(f))
				if err != nil || length != f.Length || fmt.Sprintf("%016x", sum) != f.Sum {
					t.Fatalf("crash at call %d keeping %d%%: state file %v: %d %x %v", n, keep, f, length, sum, err)
				}
			})
		}
		if err == nil {
			if n < 20 {
				t.Fatalf("only %d changing calls", n)
			}
			return
		}
	}
}
