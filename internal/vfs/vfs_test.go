package vfs

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// content returns a file's content, "-" if there is no file.
func content(t *testing.T, fsys FS, name string) string {
	t.Helper()
	data, err := ReadFile(fsys, name)
	if IsNotExist(err) {
		return "-"
	}
	must(t, err)
	return string(data)
}

func TestWriteFileIsAtomic(t *testing.T) {
	for n := int64(1); ; n++ {
		mem := NewCrashFS()
		must(t, MkdirAll(mem, "a/b"))
		must(t, WriteFile(mem, "a/b/f", []byte("old")))
		fsys := NewFaultFS(mem)
		fsys.FailFrom(n, 1)
		err := WriteFile(fsys, "a/b/f", []byte("new"))
		if err != nil && !errors.Is(err, ErrInjected) {
			t.Fatal(err)
		}
		for _, keep := range []int{0, 50, 100} {
			after := mem.Crash(keep, rand.New(rand.NewPCG(uint64(n), 1)))
			got := content(t, after, "a/b/f")
			if got != "new" && (err == nil || got != "old") {
				t.Errorf("call %d failed with %v, %d%% kept: the file holds %q", n, err, keep, got)
			}
		}
		if err != nil && content(t, mem, "a/b/f.tmp") != "-" {
			t.Errorf("call %d: the temporary file is left", n)
		}
		if fsys.Calls() < n {
			break
		}
	}
}

// TestMkdirAllAgain makes a directory again after a call of the first attempt has
// failed: then it is durable.
func TestMkdirAllAgain(t *testing.T) {
	for n := int64(1); ; n++ {
		mem := NewCrashFS()
		fsys := NewFaultFSOf(mem, AllCalls)
		fsys.FailFrom(n, 1)
		if err := MkdirAll(fsys, "a/b"); err != nil && !errors.Is(err, ErrInjected) {
			t.Fatal(err)
		}
		if fsys.Failed() == 0 {
			break
		}
		must(t, MkdirAll(fsys, "a/b"))
		must(t, WriteFile(fsys, "a/b/f", []byte("x")))
		if got := content(t, mem.Crash(0, nil), "a/b/f"); got != "x" {
			t.Errorf("call %d failed: the file holds %q after a crash", n, got)
		}
	}
}

func TestFaultsByKind(t *testing.T) {
	fsys := NewFaultFSOf(NewMem(), Syncs)
	fsys.FailFrom(1, 1)
	f, err := Create(fsys, "f")
	must(t, err)
	if err := f.Sync(); !errors.Is(err, ErrInjected) || !strings.Contains(err.Error(), "sync f") {
		t.Errorf("got %v", err)
	}
	must(t, f.Sync())
	must(t, f.Close())
	if again := fsys.SyncedAgain(); len(again) != 1 || again[0] != "f" {
		t.Errorf("synced again: %q", again)
	}
	if s := (Syncs | Reads).String(); s != "read|sync" {
		t.Error(s)
	}
}

func TestUnsyncedIsLost(t *testing.T) {
	fsys := NewCrashFS()
	must(t, MkdirAll(fsys, "d"))
	f, err := Create(fsys, "d/f")
	must(t, err)
	_, err = f.Write([]byte("x"))
	must(t, err)
	must(t, f.Close())
	if got := content(t, fsys.Crash(0, nil), "d/f"); got != "-" {
		t.Errorf("a file that was not synced holds %q after a crash", got)
	}
}

func TestFailOn(t *testing.T) {
	fsys := NewFaultFS(NewMem())
	fsys.FailOn("secret")
	if err := WriteFile(fsys, "secret.txt", nil); !errors.Is(err, ErrInjected) {
		t.Errorf("got %v", err)
	}
	must(t, WriteFile(fsys, "other.txt", nil))
	fsys.FailOn("")
	must(t, WriteFile(fsys, "secret.txt", nil))
	fsys.FailFrom(2, -1)
	if err := WriteFile(fsys, "x", nil); !errors.Is(err, ErrInjected) {
		t.Errorf("got %v", err)
	}
	if err := WriteFile(fsys, "x", nil); !errors.Is(err, ErrInjected) {
		t.Errorf("got %v", err)
	}
}

func TestRealFiles(t *testing.T) {
	fsys, dir := OS(), t.TempDir()
	sub := filepath.Join(dir, "a", "b")
	must(t, MkdirAll(fsys, sub))
	must(t, MkdirAll(fsys, sub))
	f := filepath.Join(sub, "f")
	must(t, WriteFile(fsys, f, []byte("hello")))
	must(t, LinkOrCopy(fsys, f, filepath.Join(dir, "linked")))
	mem := NewMem()
	must(t, Copy(fsys, f, mem, "copied"))
	if a, b := content(t, fsys, filepath.Join(dir, "linked")), content(t, mem, "copied"); a != "hello" || b != "hello" {
		t.Errorf("copies hold %q and %q", a, b)
	}
	n, sum, err := Checksum(fsys, f)
	must(t, err)
	if n != 5 || sum != 0x9555e8555c62dcfd {
		t.Errorf("length %d, checksum %#x", n, sum)
	}
	if _, _, err := Checksum(fsys, f+"x"); !IsNotExist(err) {
		t.Errorf("the checksum of a missing file: %v", err)
	}
	l, err := Lock(fsys, filepath.Join(dir, "lock"))
	must(t, err)
	if _, err := Lock(fsys, filepath.Join(dir, "lock")); err == nil || !strings.Contains(err.Error(), "is locked by another process") {
		t.Errorf("a second lock: %v", err)
	}
	must(t, l.Close())
}
