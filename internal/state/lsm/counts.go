package lsm

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/cockroachdb/pebble/v2"
)

// AppendCount appends the encoding of a count.
func AppendCount(buf []byte, n int64) []byte { return binary.AppendVarint(buf, n) }

// Count decodes a count.
func Count(value []byte) (int64, error) {
	n, used := binary.Varint(value)
	if used != len(value) {
		return 0, errors.New("lsm: not a count")
	}
	return n, nil
}

// counts merges values by adding them up. Its name is in the files.
var counts = &pebble.Merger{
	Name: "millstream.count.1",
	Merge: func(_, value []byte) (pebble.ValueMerger, error) {
		n, err := Count(value)
		return &countMerger{n}, err
	},
}

type countMerger struct{ n int64 }

// MergeNewer implements pebble.ValueMerger.
func (m *countMerger) MergeNewer(value []byte) error { return m.add(value) }

// MergeOlder implements pebble.ValueMerger.
func (m *countMerger) MergeOlder(value []byte) error { return m.add(value) }

func (m *countMerger) add(value []byte) error {
	n, err := Count(value)
	m.n += n
	return err
}

// Finish implements pebble.ValueMerger.
func (m *countMerger) Finish(bool) ([]byte, io.Closer, error) {
	return AppendCount(nil, m.n), nil, nil
}
