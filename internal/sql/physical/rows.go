package physical

import (
	"slices"

	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

// use is what is needed of a value: all of it, or some fields of a ROW.
type use struct {
	all    bool
	fields map[int]*use
}

func (u *use) field(i int) *use {
	if u.fields == nil {
		u.fields = map[int]*use{}
	}
	if u.fields[i] == nil {
		u.fields[i] = &use{}
	}
	return u.fields[i]
}

// newUses returns uses of columns of which nothing is needed yet.
func newUses(in *types.Schema) []*use {
	out := make([]*use, len(in.Fields))
	for i := range out {
		out[i] = &use{}
	}
	return out
}

// allUsed returns uses of columns that are needed as a whole.
func allUsed(in *types.Schema) []*use {
	out := newUses(in)
	for _, u := range out {
		u.all = true
	}
	return out
}

// collectUses enters what the stage reads.
func (s *stage) collectUses(uses []*use) {
	if s.cond != nil {
		collectUses(s.cond, uses)
	}
	for _, e := range s.exprs {
		collectUses(e, uses)
	}
}

// rebase rewrites the stage to read columns of which only the used fields are left.
func (s *stage) rebase(uses []*use, in *types.Schema) {
	if s.cond != nil {
		s.cond = rebase(s.cond, uses, in)
	}
	exprs := make([]expr.Expr, len(s.exprs))
	for i, e := range s.exprs {
		exprs[i] = rebase(e, uses, in)
	}
	s.exprs = exprs
}

// narrowFields leaves out the fields of ROW columns that are not used, so that a source need not make them.
func narrowFields(in *types.Schema, uses []*use) *types.Schema {
	out := &types.Schema{Fields: slices.Clone(in.Fields)}
	for i := range out.Fields {
		out.Fields[i].Type = narrow(in.Fields[i].Type, uses[i])
	}
	return out
}

// collectUses enters what e reads.
func collectUses(e expr.Expr, uses []*use) {
	if u := useOf(e, uses); u != nil {
		u.all = true
		return
	}
	for _, c := range expr.Children(e) {
		collectUses(c, uses)
	}
}

// useOf returns the entry of a column, or of a field in it; nil for other expressions.
func useOf(e expr.Expr, uses []*use) *use {
	switch e := e.(type) {
	case *expr.Col:
		return uses[e.Index]
	case *expr.FieldOf:
		if u := useOf(e.Arg, uses); u != nil {
			return u.field(e.Index)
		}
	}
	return nil
}

// narrow returns a type with the used fields only; a ROW of which nothing is used keeps one.
func narrow(t types.Type, u *use) types.Type {
	if t.Kind != types.Row || u.all || len(u.fields) == 0 {
		return t
	}
	out := t
	out.Fields = nil
	for i, f := range t.Fields {
		if u.fields[i] != nil {
			f.Type = narrow(f.Type, u.fields[i])
			out.Fields = append(out.Fields, f)
		}
	}
	return out
}

// rebase rewrites columns and fields to their places in the narrowed columns.
func rebase(e expr.Expr, uses []*use, in *types.Schema) expr.Expr {
	switch x := e.(type) {
	case *expr.Col:
		f := in.Fields[x.Index]
		t := f.Type
		t.Attr = x.Typ.Attr
		return expr.NewCol(x.Index, x.Name, t)
	case *expr.FieldOf:
		u := useOf(x.Arg, uses)
		if u == nil || u.all {
			break
		}
		at := 0
		for i := range x.Index {
			if u.fields[i] != nil {
				at++
			}
		}
		return expr.NewField(rebase(x.Arg, uses, in), at)
	}
	return plan.MapOperands(e, func(o expr.Expr) expr.Expr { return rebase(o, uses, in) })
}
