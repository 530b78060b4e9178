package state

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"github.com/millstream-io/millstream/internal/state/lsm"
	"github.com/millstream-io/millstream/internal/vfs"
)

// aged returns a snapshot as versions before the tree of our own have made it: with the
// same rows in files of Pebble, and the version of the format that these had. Those of
// the memory backend are as they were.
func aged(t *testing.T, p Part) Part {
	t.Helper()
	if p.Info.Backend != Disk.String() || len(p.Info.Files) == 0 {
		return p
	}
	from, to := p.Path(FileInfo{Name: "as-it-is"}), p.Path(FileInfo{Name: "aged"})
	if err := errors.Join(p.FS.RemoveAll(from), p.FS.RemoveAll(to), p.FS.MkdirAll(from, 0o755)); err != nil {
		t.Fatal(err)
	}
	for _, f := range p.Info.Files {
		if err := vfs.LinkOrCopy(p.FS, p.Path(f), p.FS.PathJoin(from, f.Name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := toPebble(p.FS, from, to); err != nil {
		t.Fatal(err)
	}
	info := *p.Info
	info.Version, info.Files = infoVersion, nil
	for _, table := range info.Tables {
		if table.Parts > 0 || table.TTL {
			info.Version = partsVersion
		}
	}
	names, err := p.FS.List(to)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		f, err := (&sums{known: make(map[string]FileInfo)}).file(p.FS, to, name)
		if err != nil {
			t.Fatal(err)
		}
		info.Files = append(info.Files, f)
	}
	return partIn(p.FS, to, &info)
}

// toPebble copies a tree. The counts of the directory come in two parts, as they may.
func toPebble(fsys vfs.FS, from, to string) (err error) {
	tree, err := lsm.Open(fsys, from, lsm.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tree.Close()) }()
	r, err := tree.NewReader()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	p, err := pebble.Open(to, &pebble.Options{
		FS: fsys, DisableWAL: true, FormatMajorVersion: pebble.FormatTableFormatV6, Logger: silent{},
		Merger: &pebble.Merger{Name: "millstream.count.1", Merge: func(_, value []byte) (pebble.ValueMerger, error) {
			n, _ := binary.Varint(value)
			return &adder{n}, nil
		}},
	})
	if err != nil {
		return err
	}
	err = r.Range(nil, []byte{0xff}, func(key, value []byte) (bool, error) {
		if tableOf(key) != 0 {
			return true, p.Set(key, value, pebble.NoSync)
		}
		n, err := lsm.Count(value)
		return true, errors.Join(err, p.Merge(key, lsm.AppendCount(nil, n-1), pebble.NoSync), p.Merge(key, lsm.AppendCount(nil, 1), pebble.NoSync))
	})
	return errors.Join(err, p.Flush(), p.Close())
}

type silent struct{}

func (silent) Infof(string, ...any)              {}
func (silent) Errorf(string, ...any)             {}
func (silent) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

type adder struct{ n int64 }

func (a *adder) MergeNewer(value []byte) error {
	n, _ := binary.Varint(value)
	a.n += n
	return nil
}

func (a *adder) MergeOlder(value []byte) error { return a.MergeNewer(value) }

func (a *adder) Finish(bool) ([]byte, io.Closer, error) {
	return binary.AppendVarint(nil, a.n), nil, nil
}

// TestAgedIsDamaged: damage in files of an older version is an error that names the
// file.
func TestAgedIsDamaged(t *testing.T) {
	fsys := vfs.NewMem()
	db := mustOpen(t, Config{Name: "test", Parallelism: 1, Backend: Disk, FS: fsys, Dir: "state"})
	table := mustTable(t, db, pairSpec)
	put(t, db, table, 0, numbers(0, 5000), 0)
	part := aged(t, keep(t, fsys, snapshot(t, db, 1), "one"))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if v := part.Info.Version; v != infoVersion {
		t.Fatalf("the snapshot has version %d", v)
	}
	for _, f := range part.Info.Files {
		if !shared(f.Name) {
			continue
		}
		data, err := vfs.ReadFile(fsys, part.Path(f))
		if err != nil {
			t.Fatal(err)
		}
		data[len(data)/3] ^= 1
		if err := vfs.WriteFile(fsys, part.Path(f), data); err != nil {
			t.Fatal(err)
		}
	}
	_, err := Restore(Config{Name: "test", Parallelism: 1, Backend: Disk, FS: fsys, Dir: "again"}, []Part{part})
	if damage := (*DamageError)(nil); !errors.As(err, &damage) {
		t.Errorf("got %v, want damage", err)
	}
}
