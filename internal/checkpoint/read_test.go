package checkpoint

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/internal/blob"
	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/internal/vfs"
)

// putState makes a checkpoint with one state file in d.
func putState(t *testing.T, fs vfs.FS, tmp string, d *Dir, id int64, content string, savepoint bool) *Manifest {
	t.Helper()
	if err := vfs.WriteFile(fs, tmp, []byte(content)); err != nil {
		t.Fatal(err)
	}
	n, sum, err := vfs.Checksum(fs, tmp)
	if err != nil {
		t.Fatal(err)
	}
	f := state.FileInfo{Name: "1.sst", Length: n, Sum: hexSum(sum)}
	if _, err := d.Add(bg, f, fs, tmp); err != nil {
		t.Fatal(err)
	}
	m := &Manifest{Job: "j", JobID: "f00", ID: id, Savepoint: savepoint, Nodes: []Node{{ID: "agg", Name: "Agg",
		Keeps:    []string{"keys=k"},
		Subtasks: []Subtask{{State: &state.Info{Tables: []state.TableInfo{{Name: "sums"}}, Files: []state.FileInfo{f}}}}}}}
	if err := d.Put(m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestFind(t *testing.T) {
	fs, root := vfs.OS(), t.TempDir()
	d, err := Open(blob.NewDir(fs, root+"/job"))
	if err != nil {
		t.Fatal(err)
	}
	if err := fs.MkdirAll(root+"/empty", 0o755); err != nil {
		t.Fatal(err)
	}
	putState(t, fs, root+"/src", d, 3, "three", true)
	putState(t, fs, root+"/src", d, 4, "four", false)
	for path, want := range map[string]string{
		"/job": "4", "/job/": "4", "/job/chk-00000003.manifest": "3", "/job/chk-00000004.manifest": "4",
		"/job/chk-00000005.manifest": "holds no checkpoint 5; it holds 3, 4", "/job/chk-x.manifest": "is no savepoint", "/job/latest": "is no savepoint",
		"/empty": "no savepoint and no checkpoint", "/none": "no savepoint and no checkpoint",
	} {
		src, err := FindAt(root+path, blob.Options{})
		if err != nil && !strings.Contains(err.Error(), want) || err == nil && fmt.Sprint(src.Manifest.ID) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestExportAndImport copies a savepoint out of a job, and begins with the copy,
// between stores of each kind.
func TestExportAndImport(t *testing.T) {
	for name, store := range map[string]func() blob.Store{
		"dir": func() blob.Store { return blob.NewDir(vfs.NewMem(), "/x") },
		"mem": func() blob.Store { return blob.NewMem() },
	} {
		for other, to := range map[string]blob.Store{"dir": blob.NewDir(vfs.NewMem(), "/y"), "mem": blob.NewMem()} {
			t.Run(name+" "+other, func(t *testing.T) { exportAndImport(t, store(), to) })
		}
	}
}

func exportAndImport(t *testing.T, store, to blob.Store) {
	fs := vfs.NewMem()
	d, err := Open(store.Sub("job"))
	if err != nil {
		t.Fatal(err)
	}
	putState(t, fs, "/src", d, 3, "three", true)
	putState(t, fs, "/src", d, 4, "four", false)
	src, err := Find(store.Sub("job"), 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(src.Verify(), src.Export(to.Sub("copy"))); err != nil {
		t.Fatal(err)
	}
	if err := src.Export(to.Sub("copy")); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("exported twice: %v", err)
	}
	// The copy stands alone.
	if err := d.store.Remove(bg, dataName(src.Manifest.Nodes[0].Subtasks[0].State.Files[0])); err != nil {
		t.Fatal(err)
	}
	if src, err = Find(to.Sub("copy"), 0); err != nil {
		t.Fatal(err)
	}
	if !src.Manifest.Published || !src.Manifest.Savepoint {
		t.Errorf("the copy is %s", src.Manifest)
	}
	if err := errors.Join(src.Verify(), src.Import(store.Sub("new"), "bar")); err != nil {
		t.Fatal(err)
	}
	if d, err = Open(store.Sub("new")); err != nil {
		t.Fatal(err)
	}
	if m := d.Latest(); m.ID != 3 || m.Savepoint || !m.Published || m.JobID != "bar" {
		t.Errorf("imported was %s of %s", m, m.JobID)
	}
}

// TestPublished: sinks have nothing to finish only where that is certain.
func TestPublished(t *testing.T) {
	fs := vfs.NewMem()
	d, err := Open(blob.NewDir(fs, "/job"))
	if err != nil {
		t.Fatal(err)
	}
	putState(t, fs, "/src", d, 1, "a", true)
	putState(t, fs, "/src", d, 2, "b", false)
	putState(t, fs, "/src", d, 3, "c", true)
	for id, want := range map[int64]bool{1: true, 2: false, 3: false} {
		src, err := Find(blob.NewDir(fs, "/job"), id)
		if err != nil || src.published() != want {
			t.Errorf("%d: published %v, %v", id, src.published(), err)
		}
	}
}

// TestDamagedSource changes, cuts and removes the state file: no copy is made.
func TestDamagedSource(t *testing.T) {
	for what, data := range map[string]string{"expected hash": "thrEe", "expected 5 bytes": "thre", "is missing": ""} {
		fs := vfs.NewMem()
		d, err := Open(blob.NewDir(fs, "/job"))
		if err != nil {
			t.Fatal(err)
		}
		m := putState(t, fs, "/src", d, 3, "three", true)
		name := d.Where(m.Nodes[0].Subtasks[0].State.Files[0])
		if err := fs.Remove(name); err != nil {
			t.Fatal(err)
		}
		if data != "" {
			if err := vfs.WriteFile(fs, name, []byte(data)); err != nil {
				t.Fatal(err)
			}
		}
		src, err := Find(blob.NewDir(fs, "/job"), 3)
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{src.Verify(), src.Import(blob.NewDir(fs, "/new"), "x"), src.Export(blob.NewDir(fs, "/copy"))} {
			if err == nil || !strings.Contains(err.Error(), what) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if list, err := List(blob.NewDir(fs, "/new")); err != nil || len(list) != 0 {
			t.Errorf("%s: there is a copy: %v %v", what, list, err)
		}
	}
}

func TestRetain(t *testing.T) {
	fs := vfs.NewMem()
	d, err := Open(blob.NewDir(fs, "/job"))
	if err != nil {
		t.Fatal(err)
	}
	putState(t, fs, "/src", d, 1, "a", true)
	putState(t, fs, "/src", d, 2, "b", false)
	if got := d.Ordinary(); len(got) != 1 || got[0] != 2 {
		t.Errorf("ordinary are %v", got)
	}
	if err := errors.Join(d.Retain(1), d.Retain(7)); err != nil {
		t.Fatal(err)
	}
	if d, err = Open(blob.NewDir(fs, "/job")); err != nil || len(d.Ordinary()) != 2 {
		t.Errorf("ordinary are %v, %v", d.Ordinary(), err)
	}
}

func TestAdapt(t *testing.T) {
	m := &Manifest{Job: "j", ID: 7, Nodes: []Node{
		{ID: "a", Name: "A", Keeps: []string{"connector=x", "path#1"}, Splits: []Split{{ID: "s"}}},
		{ID: "b", Name: "B", Keeps: []string{"keys=k", "aggregate=SUM(v)"}, Subtasks: []Subtask{{State: &state.Info{Tables: []state.TableInfo{{Name: "t"}, {Name: "u"}}}}}},
		{ID: "c", Name: "C", Subtasks: []Subtask{{}}},
	}}
	for _, c := range []struct {
		name string
		a, b []string
		want string
	}{
		{"same", m.Nodes[0].Keeps, m.Nodes[1].Keeps, ""},
		{"unknown", nil, nil, ""},
		{"option", []string{"connector=x", "path#2"}, nil, "a (A): positions in 1 splits; the option path has another value"},
		{"new option", []string{"connector=x", "path#1", "z#1"}, nil, "the option z is new"},
		{"no option", []string{"connector=x"}, nil, "the option path is gone"},
		{"other", nil, []string{"keys=k", "aggregate=MAX(v)"}, "b (B): tables t, u; it had aggregate=SUM(v), and has aggregate=MAX(v) now"},
	} {
		g := &graph.Graph{Nodes: []*graph.Node{{ID: "a", Keeps: c.a}, {ID: "b", Keeps: c.b}, {ID: "d", Keeps: []string{"x"}}}}
		got, lost, err := m.Adapt(g, false)
		if c.want == "" {
			if err != nil || got != m || len(lost) != 0 {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if got, lost, err = m.Adapt(g, true); err != nil || len(lost) != 1 || got.Node(lost[0].Node) != nil || len(got.Nodes) != 2 {
			t.Errorf("%s: allowed: %v %v", c.name, lost, err)
		}
	}
}
