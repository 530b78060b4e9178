package blob_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/millstream-io/millstream/internal/blob"
	"github.com/millstream-io/millstream/internal/vfs"
)

// TestLazy reads parts of files before all of them is here, under several names,
// and finds the whole in the end.
func TestLazy(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{0, 1, 100, 256 << 10, 256<<10 + 1, 5 << 20} {
		store, inner := blob.NewMem(), vfs.NewMem()
		gets := 0
		want := make([]byte, size)
		for i := range want {
			want[i] = byte(rng.Uint32())
		}
		if err := store.Put(ctx, "o", want); err != nil {
			t.Fatal(err)
		}
		store.FailWith(func(op, _ string) error { gets++; return nil })
		fs := blob.NewLazy(ctx, inner)
		if err := fs.Place("/a", store, "o", int64(size)); err != nil {
			t.Fatal(err)
		}
		if info, err := fs.Stat("/a"); err != nil || info.Size() != int64(size) || gets > 0 {
			t.Fatalf("size %d: %v, %v, %d fetched", size, info, err, gets)
		}
		if err := fs.Link("/a", "/b"); err != nil {
			t.Fatal(err)
		}
		f, err := fs.Open("/b", vfs.RandomReads)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				off := (i * 7919 * 31) % max(size, 1)
				p := make([]byte, min(10_000, size-off))
				if n, err := f.ReadAt(p, int64(off)); n != len(p) || err != nil && err != io.EOF || !bytes.Equal(p, want[off:off+n]) {
					t.Errorf("size %d, at %d: %d bytes, %v", size, off, n, err)
				}
			})
		}
		wg.Wait()
		if err := fs.Rename("/a", "/c"); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got, err := vfs.ReadFile(fs, "/c"); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("size %d: other bytes, %v", size, err)
			}
		}
		if !fs.Whole("/c") || !fs.Whole("/b") || gets > 21+5 {
			t.Errorf("size %d: not whole, or %d fetched", size, gets)
		}
		if got, err := vfs.ReadFile(inner, "/c"); err != nil || !bytes.Equal(got, want) {
			t.Errorf("size %d: there are holes left, %v", size, err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestLazyLosesItsStore: what cannot be fetched is an error, and comes later.
func TestLazyLosesItsStore(t *testing.T) {
	ctx := context.Background()
	store, inner := blob.NewMem(), vfs.NewMem()
	if err := store.Put(ctx, "o", bytes.Repeat([]byte("x"), 1<<20)); err != nil {
		t.Fatal(err)
	}
	fs := blob.NewLazy(ctx, inner)
	if err := fs.Place("/d/a", store, "o", 1<<20); err == nil {
		t.Error("a file without a directory")
	}
	if err := fs.Place("/a", store, "o", 1<<20); err != nil {
		t.Fatal(err)
	}
	down := io.ErrClosedPipe
	store.FailWith(func(string, string) error { return down })
	if _, err := vfs.ReadFile(fs, "/a"); !errors.Is(err, down) {
		t.Errorf("got %v", err)
	}
	store.FailWith(nil)
	if data, err := vfs.ReadFile(fs, "/a"); err != nil || data[1<<20-1] != 'x' {
		t.Errorf("it does not come: %v", err)
	}
	if err := store.Remove(ctx, "o"); err != nil {
		t.Fatal(err)
	}
	if err := fs.Place("/b", store, "o", 5); err != nil {
		t.Fatal(err)
	}
	if _, err := vfs.ReadFile(fs, "/b"); !vfs.IsNotExist(err) {
		t.Errorf("a missing object: %v", err)
	}
	if err := fs.RemoveAll("/b"); err != nil {
		t.Error(err)
	}
}
