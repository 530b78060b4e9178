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

// narrowRows leaves out the fields of ROW columns that neither the stage nor the watermark reads, so that the source need not
// make them. It returns the columns that are left, and the watermark over them, and rewrites the stage.
func narrowRows(in *types.Schema, s *stage, wm expr.Expr) (*types.Schema, expr.Expr) {
	uses := make([]*use, len(in.Fields))
	for i := range uses {
		uses[i] = &use{}
	}
	collect := func(e expr.Expr) {
		if e != nil {
			collectUses(e, uses)
		}
	}
	collect(s.cond)
	collect(wm)
	for _, e := range s.exprs {
		collect(e)
	}
	out := &types.Schema{Fields: slices.Clone(in.Fields)}
	changed := false
	for i := range out.Fields {
		t := narrow(in.Fields[i].Type, uses[i])
		changed = changed || !t.Equal(in.Fields[i].Type)
		out.Fields[i].Type = t
	}
	if !changed {
		return in, wm
	}
	rewrite := func(e expr.Expr) expr.Expr {
		if e == nil {
			return nil
		}
		return rebase(e, uses, out)
	}
	s.cond = rewrite(s.cond)
	exprs := make([]expr.Expr, len(s.exprs))
	for i, e := range s.exprs {
		exprs[i] = rewrite(e)
	}
	s.exprs = exprs
	return out, rewrite(wm)
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
