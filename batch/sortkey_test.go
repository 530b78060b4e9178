package batch

import (
	"bytes"
	"cmp"
	"testing"

	"github.com/millstream-io/millstream/types"
)

func TestSortKeys(t *testing.T) {
	// The values are in ascending order; a null stands for itself.
	texts := NewBytes(types.StringType(), 0, 0)
	for _, s := range []string{"", "\x00", "\x00a", "a", "a\x00", "a\x00b", "ab", "b", "\xff"} {
		texts.AppendString(s)
	}
	texts.AppendNull()
	longs := NewFixed[int64](types.Of(types.BigInt), 0)
	for _, x := range []int64{-1 << 63, -5, 0, 7, 1<<63 - 1} {
		longs.Append(x)
	}
	longs.AppendNull()
	for _, v := range []Vector{texts, longs} {
		null := v.Len() - 1
		for _, d := range []Direction{{}, {Descending: true}, {NullsLast: true}, {true, true}} {
			rank := func(i int) int {
				switch {
				case i == null && d.NullsLast:
					return v.Len()
				case i == null:
					return -v.Len()
				case d.Descending:
					return -i
				}
				return i
			}
			for a := range v.Len() {
				for b := range v.Len() {
					// What follows decides between equal values only.
					x := append(AppendSortKey(nil, v, a, d), 2)
					y := append(AppendSortKey(nil, v, b, d), 1)
					want := cmp.Compare(rank(a), rank(b))
					if a == b {
						want = 1
					}
					if got := bytes.Compare(x, y); got != want {
						t.Errorf("%s %+v: values %d and %d compare as %d, want %d", v.Type(), d, a, b, got, want)
					}
				}
			}
		}
	}
}
