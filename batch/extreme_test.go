package batch_test

import (
	"slices"
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

func TestExtreme(t *testing.T) {
	v := batch.NewFixed[int64](types.Of(types.BigInt), 0)
	for _, x := range []int64{3, -1, 7, 7, 0, -1} {
		v.Append(x)
	}
	v.AppendNull()
	tests := []struct {
		rows, least, greatest []int32
	}{
		{rows: []int32{0, 1, 2, 3, 4, 5, 6}, least: []int32{1, 5}, greatest: []int32{2, 3}},
		{rows: []int32{6, 0, 4}, least: []int32{4}, greatest: []int32{0}},
		{rows: []int32{6}},
		{},
	}
	for _, c := range tests {
		least, ok := batch.Extreme(v, c.rows, false)
		greatest, ok2 := batch.Extreme(v, c.rows, true)
		if !ok || !ok2 || !slices.Equal(least, c.least) || !slices.Equal(greatest, c.greatest) {
			t.Errorf("rows %v: got %v and %v, want %v and %v", c.rows, least, greatest, c.least, c.greatest)
		}
	}
	if _, ok := batch.Extreme(batch.NewBytes(types.StringType(), 0, 0), nil, true); ok {
		t.Error("strings are not compared")
	}
}
