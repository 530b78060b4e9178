package nexmark

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/connector/nexmark/gen"
	"github.com/millstream-io/millstream/types"
)

const typeColumn = "event_type"

// column is a column of the table: event_type, or a ROW of the fields of one kind of event.
type column struct {
	typ    types.Type
	kind   gen.Kind // of a ROW
	fields []gen.Column
}

// columnsOf finds the columns of a schema, which may have any of the table's columns and of their fields.
func columnsOf(s *types.Schema) ([]column, error) {
	out := make([]column, len(s.Fields))
	for i, f := range s.Fields {
		c := &out[i]
		c.typ = f.Type
		k := kindOf(f.Name)
		switch {
		case f.Name == typeColumn:
			if f.Type.Kind != types.Int {
				return nil, fmt.Errorf("column %q must be INT, not %s", f.Name, f.Type)
			}
			continue
		case k < 0:
			return nil, fmt.Errorf("column %q is none of the connector nexmark, which has %s, person, auction and bid", f.Name, typeColumn)
		case f.Type.Kind != types.Row || !f.Type.Nullable:
			return nil, fmt.Errorf("column %q must be a nullable ROW, as each event is of one kind, not %s", f.Name, f.Type)
		}
		c.kind = k
		for _, field := range f.Type.Fields {
			g, err := fieldOf(k, field)
			if err != nil {
				return nil, err
			}
			c.fields = append(c.fields, g)
		}
	}
	return out, nil
}

func kindOf(name string) gen.Kind {
	for k := range gen.Kind(gen.Kinds) {
		if k.Name() == name {
			return k
		}
	}
	return -1
}

func fieldOf(k gen.Kind, f types.Field) (gen.Column, error) {
	var names []string
	for _, c := range gen.Columns(k) {
		if c.Name() != f.Name {
			names = append(names, c.Name())
			continue
		}
		if want := typeOf(c); !f.Type.Same(want) {
			return 0, fmt.Errorf("field %s of column %q must be %s, not %s", f.Name, k.Name(), want, f.Type)
		}
		return c, nil
	}
	return 0, fmt.Errorf("column %q has no field %q in the connector nexmark; its fields are %s", k.Name(), f.Name, strings.Join(names, ", "))
}

func typeOf(c gen.Column) types.Type {
	switch c.Type() {
	case gen.String:
		return types.StringType()
	case gen.Time:
		return types.TimeOf(types.Timestamp, 3)
	default:
		return types.Of(types.BigInt)
	}
}

// textSizes are the bytes that the strings of each column take in a batch of full size, as the last batch has it, so
// that the next one gets room for as many at once.
type textSizes map[gen.Column]int

// generate makes n rows of the split, with the columns that are wanted and no others.
func (r *reader) generate(from int64, n int) *batch.Batch {
	b := r.block
	b.Read(r.split, from, n)
	f := filler{block: b, sizes: r.sizes}
	cols := make([]batch.Vector, len(r.source.columns))
	for i := range cols {
		cols[i] = f.column(&r.source.columns[i])
	}
	return batch.Of(r.source.table.Schema, cols, n)
}

// filler makes the vectors of one batch.
type filler struct {
	block *gen.Block
	sizes textSizes
	times []int64 // shared by all dateTime fields; nil if none was asked for
}

func (f *filler) column(c *column) batch.Vector {
	if c.typ.Kind == types.Int {
		v := batch.MakeFixed[int32](c.typ, f.block.Len())
		f.block.Types(v.Values)
		return v
	}
	row := &batch.Row{Typ: c.typ, Cols: make([]batch.Vector, len(c.fields)), N: f.block.Len(), Valid: f.validity(c.kind)}
	for i, g := range c.fields {
		row.Cols[i] = f.field(g, c.typ.Fields[i].Type, row.Valid)
	}
	return row
}

// validity marks the rows of one kind.
func (f *filler) validity(k gen.Kind) batch.Bitmap {
	if k != gen.Bid {
		valid := make(batch.Bitmap, (f.block.Len()+63)/64)
		for _, i := range f.block.Rows(k) {
			valid.Set(int(i))
		}
		return valid
	}
	valid := batch.NewBitmap(f.block.Len()) // nearly all rows are bids
	for _, other := range []gen.Kind{gen.Person, gen.Auction} {
		for _, i := range f.block.Rows(other) {
			valid.Clear(int(i))
		}
	}
	return valid
}

func (f *filler) field(c gen.Column, t types.Type, valid batch.Bitmap) batch.Vector {
	n := f.block.Len()
	switch c {
	case gen.PersonTime, gen.AuctionTime, gen.BidTime:
		if f.times == nil {
			f.times = slices.Clone(f.block.Times())
		}
		return &batch.Fixed[int64]{Typ: t, Values: f.times, Valid: valid}
	}
	if c.Type() != gen.String {
		v := &batch.Fixed[int64]{Typ: t, Values: make([]int64, n), Valid: valid}
		f.block.Ints(c, v.Values)
		return v
	}
	size := f.sizes[c] * n / batch.DefaultSize
	v := &batch.Bytes{Typ: t, Offsets: make([]int32, n+1), Data: make([]byte, 0, size), Valid: valid}
	v.Data = f.block.Strings(c, v.Offsets, v.Data)
	f.sizes[c] = (len(v.Data) + len(v.Data)/32) * batch.DefaultSize / n
	return v
}
