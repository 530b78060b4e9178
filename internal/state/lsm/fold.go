package lsm

import (
	"encoding/binary"
	"errors"
)

// AppendCount appends the encoding of a count.
func AppendCount(buf []byte, n int64) []byte { return binary.AppendVarint(buf, n) }

// Count decodes a count.
func Count(value []byte) (int64, error) {
	n, used := binary.Varint(value)
	if used != len(value) || used <= 0 {
		return 0, errors.New("lsm: not a count")
	}
	return n, nil
}

// fold is what the entries of one key, newest first, come to.
type fold struct {
	value []byte
	kind  kind
	// sum is what newer entries have added; adding is set if there are any.
	sum    int64
	adding bool
}

// take takes the next older entry, and reports whether even older ones matter. The
// fold has the entry's value then, or one of its own.
func (f *fold) take(value []byte, k kind) (more bool, err error) {
	if k == add {
		n, err := Count(value)
		f.sum, f.adding = f.sum+n, true
		return true, err
	}
	if !f.adding {
		f.value, f.kind = value, k
		return false, nil
	}
	if k == set {
		n, err := Count(value)
		if err != nil {
			return false, err
		}
		f.sum += n
	}
	f.end(true)
	return false, nil
}

// end is called if take wanted more and there is none: if known, nowhere.
func (f *fold) end(known bool) {
	f.value, f.kind = AppendCount(nil, f.sum), add
	if known {
		f.kind = set
	}
}
