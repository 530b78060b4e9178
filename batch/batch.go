package batch

import "github.com/millstream-io/millstream/types"

// DefaultSize is the number of rows that a batch has at the most under load.
const DefaultSize = 4096

// Batch is a run of rows of one schema, in columns. It is immutable once it
// was emitted: the receiver may keep it and share its vectors, but changes
// nothing in it.
type Batch struct {
	Schema *types.Schema
	Cols   []Vector
	// Kinds holds the row kinds by position; nil means that all are +I.
	Kinds []types.RowKind
	// Sel lists the positions of the rows that count, ascending; nil means
	// all. Operators that filter set it instead of copying columns. Positions
	// that Sel leaves out hold values nobody may look at.
	Sel []int32
	n   int
}

// Of returns a batch of n rows over the given columns.
func Of(schema *types.Schema, cols []Vector, n int) *Batch {
	return &Batch{Schema: schema, Cols: cols, n: n}
}

// NewBatch returns an empty batch to append to, with room for n rows.
func NewBatch(schema *types.Schema, n int) *Batch {
	cols := make([]Vector, len(schema.Fields))
	for i, f := range schema.Fields {
		cols[i] = New(f.Type, n)
	}
	return &Batch{Schema: schema, Cols: cols}
}

// Size is the number of physical positions in the columns, selected or not.
func (b *Batch) Size() int { return b.n }

// Rows is the number of rows that count.
func (b *Batch) Rows() int {
	if b.Sel != nil {
		return len(b.Sel)
	}
	return b.n
}

// SetSize says how many rows were appended to the columns.
func (b *Batch) SetSize(n int) { b.n = n }

// Kind returns the kind of the row at a physical position.
func (b *Batch) Kind(i int) types.RowKind {
	if b.Kinds == nil {
		return types.Insert
	}
	return b.Kinds[i]
}

// At returns the physical position of the i-th row that counts.
func (b *Batch) At(i int) int {
	if b.Sel != nil {
		return int(b.Sel[i])
	}
	return i
}

// WithSel returns the same batch with another selection (positions, not
// indexes into the old selection).
func (b *Batch) WithSel(sel []int32) *Batch { c := *b; c.Sel = sel; return &c }

// WithCols returns a batch of other columns at the same positions, with the
// same kinds and selection.
func (b *Batch) WithCols(schema *types.Schema, cols []Vector) *Batch {
	return &Batch{Schema: schema, Cols: cols, Kinds: b.Kinds, Sel: b.Sel, n: b.n}
}

// Slice returns the physical rows [i, j) of a batch without selection.
func (b *Batch) Slice(i, j int) *Batch {
	if b.Sel != nil {
		panic("batch: Slice of a batch with a selection")
	}
	out := &Batch{Schema: b.Schema, Cols: make([]Vector, len(b.Cols)), n: j - i}
	for c, v := range b.Cols {
		out.Cols[c] = v.Slice(i, j)
	}
	if b.Kinds != nil {
		out.Kinds = b.Kinds[i:j:j]
	}
	return out
}

// Compact returns the batch without a selection: b itself if it has none,
// otherwise a copy of the rows that count.
func (b *Batch) Compact() *Batch {
	if b.Sel == nil {
		return b
	}
	return b.Take(b.Sel)
}

// Take returns a copy of the rows at the given physical positions, in that
// order; positions may repeat.
func (b *Batch) Take(pos []int32) *Batch {
	out := &Batch{Schema: b.Schema, Cols: make([]Vector, len(b.Cols)), n: len(pos)}
	for c, v := range b.Cols {
		out.Cols[c] = Take(v, pos)
	}
	if b.Kinds != nil {
		out.Kinds = make([]types.RowKind, len(pos))
		for i, p := range pos {
			out.Kinds[i] = b.Kinds[p]
		}
	}
	return out
}

// AppendRows appends to dst (an appendable batch) the rows of src at the given
// physical positions; nil means all of them.
func (dst *Batch) AppendRows(src *Batch, pos []int32) {
	n := src.n
	if pos != nil {
		n = len(pos)
	}
	if src.Kinds != nil && dst.Kinds == nil {
		dst.Kinds = make([]types.RowKind, dst.n, dst.n+n)
	}
	for c := range dst.Cols {
		AppendTake(dst.Cols[c], src.Cols[c], pos)
	}
	if dst.Kinds != nil {
		for i := range n {
			p := i
			if pos != nil {
				p = int(pos[i])
			}
			dst.Kinds = append(dst.Kinds, src.Kind(p))
		}
	}
	dst.n += n
}

// Bytes estimates the memory of the rows, for budgets and queue bounds.
func (b *Batch) Bytes() int {
	total := len(b.Kinds)
	for _, v := range b.Cols {
		total += MemSize(v)
	}
	return total
}
