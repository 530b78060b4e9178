package vfs

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
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

// Calls is a set of kinds of calls of a file system.
type Calls uint16

// The kinds of calls. Closing never fails, since nothing hangs on it.
const (
	Creates Calls = 1 << iota
	Opens
	Reads
	Writes
	Syncs
	Renames
	Links
	Removes
	Lists
	Stats
	Mkdirs
	Locks

	// Changes are the calls that change the file system or make it durable.
	Changes = Creates | Writes | Syncs | Renames | Links | Removes | Mkdirs | Locks
	// AllCalls are all of them.
	AllCalls = Changes | Opens | Reads | Lists | Stats
)

var callNames = [...]string{"create", "open", "read", "write", "sync", "rename", "link", "remove", "list", "stat", "mkdir", "lock"}

// EachCall returns the kinds of a set one by one.
func (c Calls) EachCall() []Calls {
	var out []Calls
	for i := range callNames {
		if k := Calls(1) << i; c&k != 0 {
			out = append(out, k)
		}
	}
	return out
}

// String lists the names of the kinds.
func (c Calls) String() string {
	var out []string
	for i, name := range callNames {
		if c&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return strings.Join(out, "|")
}

// callOf says of which kind a call is; 0 for those that never fail.
func callOf(k errorfs.OpKind) Calls {
	switch k {
	case errorfs.OpCreate, errorfs.OpReuseForWrite:
		return Creates
	case errorfs.OpOpen, errorfs.OpOpenDir:
		return Opens
	case errorfs.OpFileRead, errorfs.OpFileReadAt:
		return Reads
	case errorfs.OpFileWrite, errorfs.OpFileWriteAt, errorfs.OpFilePreallocate, errorfs.OpFileFlush:
		return Writes
	case errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo:
		return Syncs
	case errorfs.OpRename:
		return Renames
	case errorfs.OpLink:
		return Links
	case errorfs.OpRemove, errorfs.OpRemoveAll:
		return Removes
	case errorfs.OpList:
		return Lists
	case errorfs.OpStat, errorfs.OpFileStat, errorfs.OpGetDiskUsage:
		return Stats
	case errorfs.OpMkdirAll:
		return Mkdirs
	case errorfs.OpLock:
		return Locks
	}
	return 0
}

// FaultFS counts calls of the file system, and fails some of them. What fails
// has no effect.
type FaultFS struct {
	FS
	kinds              Calls
	calls, from, until atomic.Int64
	failed             atomic.Int64
	pattern            atomic.Pointer[string]

	mu    sync.Mutex
	watch func(kind Calls, path string)
	// unsynced are the files of which a sync has failed, retried the names of
	// those that were synced again afterwards.
	unsynced map[string]bool
	retried  []string
}

// NewFaultFS wraps a file system; it counts the calls that change something.
// No call fails before FailFrom or FailOn.
func NewFaultFS(inner FS) *FaultFS { return NewFaultFSOf(inner, Changes) }

// NewFaultFSOf is NewFaultFS for calls of certain kinds; others are not counted
// and do not fail.
func NewFaultFSOf(inner FS, kinds Calls) *FaultFS {
	f := &FaultFS{kinds: kinds, unsynced: map[string]bool{}}
	f.FS = errorfs.Wrap(inner, errorfs.InjectorFunc(f.check))
	return f
}

// Calls is the number of calls so far.
func (f *FaultFS) Calls() int64 { return f.calls.Load() }

// Failed is the number of those that have failed.
func (f *FaultFS) Failed() int64 { return f.failed.Load() }

// FailFrom makes count calls fail, the n-th from now first; a count below 0
// makes all fail from there on, as a dead disk does.
func (f *FaultFS) FailFrom(n, count int64) {
	from := f.calls.Load() + n
	f.until.Store(from + count)
	if count < 0 {
		f.until.Store(1<<63 - 1)
	}
	f.from.Store(from)
}

// FailOn makes calls fail on files whose path contains pattern; an empty one
// ends that.
func (f *FaultFS) FailOn(pattern string) { f.pattern.Store(&pattern) }

// SyncedAgain returns the files that were synced once more after a sync of them
// had failed: what that has lost, no second one brings back.
func (f *FaultFS) SyncedAgain() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.retried
}

// ForgetSyncs says that what follows opens its files anew, and writes again all
// that was not durable in them; then they may be synced again.
func (f *FaultFS) ForgetSyncs() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.unsynced)
}

// Watch makes watch be told of each call that is counted, one at a time and in
// the goroutine that makes it, whether or not it fails. It is called before all else.
func (f *FaultFS) Watch(watch func(kind Calls, path string)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watch = watch
}

func (f *FaultFS) check(op errorfs.Op) error {
	kind := callOf(op.Kind)
	if kind&f.kinds == 0 {
		f.note(kind, op.Path, nil)
		return nil
	}
	f.watched(kind, op.Path)
	n := f.calls.Add(1)
	var err error
	if from := f.from.Load(); from > 0 && n >= from && n < f.until.Load() {
		err = f.fail(op.Path, kind)
	} else if p := f.pattern.Load(); p != nil && *p != "" && strings.Contains(op.Path, *p) {
		err = f.fail(op.Path, kind)
	}
	f.note(kind, op.Path, err)
	return err
}

func (f *FaultFS) watched(kind Calls, path string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.watch != nil {
		f.watch(kind, path)
	}
}

func (f *FaultFS) fail(path string, kind Calls) error {
	f.failed.Add(1)
	return fmt.Errorf("%s %s: %w", kind, path, ErrInjected)
}

// note watches over what happens to a file of which a sync has failed: it may
// be given up, or be made anew, but not be synced again.
func (f *FaultFS) note(kind Calls, path string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case kind == Syncs && err != nil:
		f.unsynced[path] = true
	case kind == Syncs && f.unsynced[path]:
		f.retried = append(f.retried, path)
	case kind&(Creates|Removes) != 0 && err == nil:
		delete(f.unsynced, path)
	}
}
