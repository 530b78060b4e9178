package vfs

import (
	"errors"
	"math/rand/v2"
	"strings"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// CrashFS is a file system in memory that remembers what was synced.
type CrashFS struct{ *vfs.MemFS }

// NewCrashFS returns an empty one.
func NewCrashFS() CrashFS { return CrashFS{vfs.NewCrashableMem()} }

// Crash returns the file system as it may be after a power failure at this
// moment: everything synced is there, and each block and directory entry that
// was not is there with a chance of keep percent. What is done to the old file
// system later does not show.
func (c CrashFS) Crash(keep int, rng *rand.Rand) CrashFS {
	return CrashFS{c.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: keep, RNG: rng})}
}

// ErrInjected is the error that a FaultFS gives.
var ErrInjected = errors.New("injected I/O error")

// FaultFS counts the calls that change the file system (creating, writing,
// syncing, renaming …), and fails some of them.
type FaultFS struct {
	FS
	calls, from, until atomic.Int64
	pattern            atomic.Pointer[string]
}

// NewFaultFS wraps a file system; no call fails before FailFrom or FailOn.
func NewFaultFS(inner FS) *FaultFS {
	f := &FaultFS{}
	f.FS = errorfs.Wrap(inner, errorfs.InjectorFunc(f.check))
	return f
}

// Calls is the number of changing calls so far.
func (f *FaultFS) Calls() int64 { return f.calls.Load() }

// FailFrom makes count changing calls fail, the n-th from now first; a count
// below 0 makes all fail from there on, as a dead disk does.
func (f *FaultFS) FailFrom(n, count int64) {
	from := f.calls.Load() + n
	f.until.Store(from + count)
	if count < 0 {
		f.until.Store(1<<63 - 1)
	}
	f.from.Store(from)
}

// FailOn makes the changing calls fail on files whose path contains pattern;
// an empty one ends that.
func (f *FaultFS) FailOn(pattern string) { f.pattern.Store(&pattern) }

func (f *FaultFS) check(op errorfs.Op) error {
	if op.Kind.ReadOrWrite() == errorfs.OpIsRead || op.Kind == errorfs.OpFileClose {
		return nil
	}
	n := f.calls.Add(1)
	if from := f.from.Load(); from > 0 && n >= from && n < f.until.Load() {
		return ErrInjected
	}
	if p := f.pattern.Load(); p != nil && *p != "" && strings.Contains(op.Path, *p) {
		return ErrInjected
	}
	return nil
}
