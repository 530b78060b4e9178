// Package oldtree reads the files of checkpoints with format versions 1 and 2 of the
// state store, which are those of Pebble. Nothing writes them any more.
package oldtree

import (
	"fmt"
	"io"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"github.com/millstream-io/millstream/internal/state/lsm"
	"github.com/millstream-io/millstream/internal/vfs"
)

// Each calls f with all entries below end of the map in dir, in order. The bytes are
// good during the call only. Damage is an *lsm.CorruptError. The directory must be
// the caller's own.
func Each(fsys vfs.FS, dir string, end []byte, f func(key, value []byte) error) (err error) {
	// An error of the background need not be one of a call.
	var background quiet
	defer func() {
		if failed := background.failed.Load(); err == nil && failed != nil {
			err = explain(dir, *failed)
		}
	}()
	p, err := pebble.Open(dir, &pebble.Options{
		FS:                 fsys,
		ReadOnly:           true,
		DisableWAL:         true,
		FormatMajorVersion: pebble.FormatTableFormatV6,
		Merger:             counts,
		Logger:             &background,
		// Unless it is told of damage, Pebble wants to end the process for it.
		EventListener: &pebble.EventListener{DataCorruption: func(pebble.DataCorruptionInfo) {}},
	})
	if err != nil {
		return explain(dir, err)
	}
	defer func() {
		if cerr := p.Close(); err == nil && cerr != nil {
			err = explain(dir, cerr)
		}
	}()
	it, err := p.NewIter(&pebble.IterOptions{UpperBound: end})
	if err != nil {
		return explain(dir, err)
	}
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		var value []byte
		if value, err = it.ValueAndErr(); err != nil {
			err = explain(dir, err)
			break
		}
		err = f(it.Key(), value)
	}
	if cerr := it.Close(); err == nil && cerr != nil {
		err = explain(dir, cerr)
	}
	return err
}

// explain names the file that an error is about where it is known, and the directory
// otherwise.
func explain(dir string, err error) error {
	if info := pebble.ExtractDataCorruptionInfo(err); info != nil {
		return &lsm.CorruptError{File: info.Path, Err: err}
	}
	return fmt.Errorf("state in %s: %w", dir, err)
}

// quiet drops what Pebble says, except that it cannot go on.
type quiet struct{ failed atomic.Pointer[error] }

// Infof implements pebble.Logger.
func (*quiet) Infof(string, ...any) {}

// Errorf implements pebble.Logger. Errors that matter are those of calls.
func (*quiet) Errorf(string, ...any) {}

// Fatalf implements pebble.Logger.
func (q *quiet) Fatalf(format string, args ...any) {
	err := fmt.Errorf(format, args...)
	q.failed.CompareAndSwap(nil, &err)
}

// counts merges values by adding them up. Its name is in the files.
var counts = &pebble.Merger{
	Name: "millstream.count.1",
	Merge: func(_, value []byte) (pebble.ValueMerger, error) {
		n, err := lsm.Count(value)
		return &countMerger{n}, err
	},
}

type countMerger struct{ n int64 }

// MergeNewer implements pebble.ValueMerger.
func (m *countMerger) MergeNewer(value []byte) error { return m.add(value) }

// MergeOlder implements pebble.ValueMerger.
func (m *countMerger) MergeOlder(value []byte) error { return m.add(value) }

func (m *countMerger) add(value []byte) error {
	n, err := lsm.Count(value)
	m.n += n
	return err
}

// Finish implements pebble.ValueMerger.
func (m *countMerger) Finish(bool) ([]byte, io.Closer, error) {
	return lsm.AppendCount(nil, m.n), nil, nil
}
