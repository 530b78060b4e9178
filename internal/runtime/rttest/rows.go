// Package rttest holds small sources, operators and sinks with which the
// runtime is tested, and by which it can be seen what the contracts ask of real
// ones.
package rttest

import (
	"fmt"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// Row is a row of a key, a value and a time in ms.
type Row struct{ Key, Value, Time int64 }

// String prints key, value and time.
func (r Row) String() string { return fmt.Sprintf("%d %d %d", r.Key, r.Value, r.Time) }

// Schema is that of Rows.
var Schema = types.NewSchema(
	types.Field{Name: "k", Type: types.Of(types.BigInt).NotNull()},
	types.Field{Name: "v", Type: types.Of(types.BigInt).NotNull()},
	types.Field{Name: "t", Type: types.Of(types.BigInt).NotNull()},
)

// Batch makes a batch of rows.
func Batch(rows ...Row) *batch.Batch {
	b := batch.NewBatch(Schema, len(rows))
	for _, r := range rows {
		b.Cols[0].(*batch.Fixed[int64]).Append(r.Key)
		b.Cols[1].(*batch.Fixed[int64]).Append(r.Value)
		b.Cols[2].(*batch.Fixed[int64]).Append(r.Time)
	}
	b.SetSize(len(rows))
	return b
}

// Column returns the values of a column of a batch of Rows.
func Column(b *batch.Batch, i int) []int64 { return b.Cols[i].(*batch.Fixed[int64]).Values }

// Rows returns the rows of a batch that count.
func Rows(b *batch.Batch) []Row {
	k, v, t := Column(b, 0), Column(b, 1), Column(b, 2)
	out := make([]Row, b.Rows())
	for i := range out {
		p := b.At(i)
		out[i] = Row{k[p], v[p], t[p]}
	}
	return out
}
