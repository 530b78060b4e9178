package sim

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/internal/blob"
	"github.com/millstream-io/millstream/internal/checkpoint"
	"github.com/millstream-io/millstream/internal/runtime"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/internal/vfs"
)

// TestShapesDamage damages a file of a checkpoint, or of an exported savepoint,
// and starts the job from it. The damage is found, at the start or before what
// it has damaged is used, and the error names the file; or it does no harm, and
// the job commits what it should. When the file is whole again, the job goes
// on. There are MILLSTREAM_MUTATIONS mutations.
func TestShapesDamage(t *testing.T) {
	each := 1 + trials(t, "MILLSTREAM_MUTATIONS", 300)/(2*len(Shapes()))
	eachShape(t, func(t *testing.T, i int, x *tried) {
		where := backends[i%3]
		for _, saved := range []bool{false, true} {
			rnd := rand.New(rand.NewPCG(uint64(i), 9))
			var v *victim
			for n := range each {
				if n%20 == 0 {
					v = x.victim(t, rnd, where.state, saved)
				}
				v.try(t, rnd, n)
			}
		}
	})
}

// victim is a disk with a checkpoint from which a job can go on.
type victim struct {
	*tried
	disk   vfs.CrashFS
	config Config
	// files are those to damage, by kind.
	files map[string][]string
}

// victim runs the shape half way. With saved set, it exports a savepoint there.
func (x *tried) victim(t *testing.T, rnd *rand.Rand, where runtime.StateConfig, saved bool) *victim {
	t.Helper()
	for range 20 {
		v := &victim{tried: x, config: Config{Seed: rnd.Uint64(), Parallelisms: []int{1, 2, 3}, Job: runtime.Config{State: where}}}
		c := v.config
		c.CheckpointEvery, c.Keep = 10, 100
		at := x.steps/4 + rnd.IntN(x.steps/2)
		if saved {
			c.SaveAt = at
		} else {
			c.StopAt = at
		}
		c.Done = func(disk vfs.CrashFS) error { v.disk = disk; return nil }
		r, _, err := x.run(c)
		if saved && err != nil && strings.Contains(err.Error(), "about to end") {
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", x.Name, err)
		}
		dir := Dir
		if saved {
			dir, v.config.From = "/savepoint", "/savepoint"
			if err := v.export(r.Savepoint); err != nil {
				t.Fatalf("%s: export: %v", x.Name, err)
			}
		}
		v.files = map[string][]string{}
		if err := v.find(dir); err != nil {
			t.Fatal(err)
		}
		// Without a manifest there is nothing to lose yet.
		if len(v.files["manifest"]) > 0 {
			return v
		}
	}
	t.Fatalf("%s: no checkpoint", x.Name)
	return nil
}

func (v *victim) export(id int64) error {
	src, err := checkpoint.Find(blob.NewDir(v.disk, Dir+"/checkpoints"), id)
	if err != nil {
		return err
	}
	return src.Export(blob.NewDir(v.disk, v.config.From))
}

// find notes the files of checkpoints below a directory.
func (v *victim) find(dir string) error {
	names, err := v.disk.List(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		path := v.disk.PathJoin(dir, name)
		info, err := v.disk.Stat(path)
		if err != nil {
			return err
		}
		switch {
		case info.IsDir() && !strings.HasPrefix(name, "state-"):
			if err := v.find(path); err != nil {
				return err
			}
		case !info.IsDir() && info.Size() > 0 && name != "pid":
			kind := kindOf(name)
			v.files[kind] = append(v.files[kind], path)
		}
	}
	return nil
}

// kindOf names the kind of a file in the directory of a job.
func kindOf(name string) string {
	for part, kind := range map[string]string{
		".manifest": "manifest", ".sst": "table of the tree", "-LIST": "list of the tree",
		".run": "rows in a file", "latest": "number of the newest", "job": "identity of the job",
	} {
		if strings.Contains(name, part) {
			return kind
		}
	}
	return name
}

// harms are the ways to damage a file; some need another file of its kind.
var harms = []struct {
	name string
	harm func(rnd *rand.Rand, data, other []byte) []byte
}{
	{"a flipped bit", func(rnd *rand.Rand, data, _ []byte) []byte {
		data[rnd.IntN(len(data))] ^= 1 << rnd.IntN(8)
		return data
	}},
	{"a truncation", func(rnd *rand.Rand, data, _ []byte) []byte { return data[:rnd.IntN(len(data))] }},
	{"a block of zeros", func(rnd *rand.Rand, data, _ []byte) []byte {
		at := rnd.IntN(len(data))
		clear(data[at:min(len(data), at+1+rnd.IntN(512))])
		return data
	}},
	{"the content of another file", func(rnd *rand.Rand, data, other []byte) []byte { return other }},
	{"more at its end", func(rnd *rand.Rand, data, _ []byte) []byte { return append(data, data[:1+rnd.IntN(len(data))]...) }},
	{"its removal", func(*rand.Rand, []byte, []byte) []byte { return nil }},
}

// try damages one file of a copy of the disk and runs the job there.
func (v *victim) try(t *testing.T, rnd *rand.Rand, n int) {
	t.Helper()
	var kinds []string
	for kind := range v.files {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	kind, h := kinds[n%len(kinds)], harms[n/len(kinds)%len(harms)]
	path := v.files[kind][rnd.IntN(len(v.files[kind]))]
	all := slices.Concat(v.files[kind], v.files["manifest"])
	disk := v.disk.Crash(100, rnd)
	whole := read(t, disk, path)
	write(t, disk, path, h.harm(rnd, slices.Clone(whole), read(t, disk, all[rnd.IntN(len(all))])))

	what := fmt.Sprintf("%s: %s of %s", v.Name, h.name, path)
	c := v.config
	c.Disk = &disk
	_, got, err := v.run(c)
	outcome := "found, with an error that names the file"
	switch {
	case err == nil && slices.Equal(got, v.want):
		outcome = "harmless, with the right output"
	case err == nil:
		t.Fatalf("%s: A WRONG ANSWER\n%s", what, differs(got, v.want))
	case !isDamage(err):
		t.Fatalf("%s: not an error of damage: %v", what, err)
	case !says(err, disk.PathBase(path)):
		t.Fatalf("%s: the error does not say what is wrong with the file: %v", what, err)
	default:
		write(t, disk, path, whole)
		if _, got, err := v.run(c); err != nil || !slices.Equal(got, v.want) {
			t.Fatalf("%s: after the file was mended: %v\n%s", what, err, differs(got, v.want))
		}
	}
	outcomes.add("damage: "+kind+", "+h.name, outcome, 1)
}

// says reports whether an error names the file, and what was expected and found.
func says(err error, file string) bool {
	text := err.Error()
	return strings.Contains(text, file) &&
		(strings.Contains(text, "expected") && strings.Contains(text, "found") || strings.Contains(text, "this program reads format"))
}

// isDamage reports whether an error says that what is kept cannot be used.
func isDamage(err error) bool {
	var refused *checkpoint.RefusedError
	var failed *runtime.Error
	if errors.As(err, &failed) && failed.Stack != nil {
		return false
	}
	return errors.As(err, &refused) || state.IsDamage(err)
}

func read(t *testing.T, fsys vfs.FS, path string) []byte {
	t.Helper()
	data, err := vfs.ReadFile(fsys, path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// write replaces a file durably; nil removes it.
func write(t *testing.T, fsys vfs.FS, path string, data []byte) {
	t.Helper()
	err := fsys.Remove(path)
	if vfs.IsNotExist(err) {
		err = nil
	}
	if data != nil {
		err = errors.Join(err, vfs.WriteFile(fsys, path, data))
	}
	if err = errors.Join(err, vfs.SyncDir(fsys, fsys.PathDir(path))); err != nil {
		t.Fatal(err)
	}
}
