package physical

import (
	"context"
	"testing"
	"time"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/types"
)

var env = &fn.Env{Zone: time.UTC, Now: time.Now}

// TestValuesSource reads constants in chunks, and goes on from each position.
func TestValuesSource(t *testing.T) {
	out := types.NewSchema(types.Field{Name: "n", Type: types.Of(types.Int)}, types.Field{Name: "s", Type: types.StringType()})
	src := &valuesSource{out: out, env: env}
	for i := range int32(5) {
		src.rows = append(src.rows, []expr.Expr{expr.Int(i), expr.Null(types.StringType())})
	}
	splits, err := src.Discover(context.Background(), nil)
	if err != nil || len(splits) != 1 || !src.Bounded() || src.Modes() != connector.InsertOnly {
		t.Fatal(splits, err)
	}
	if again, _ := src.Discover(context.Background(), map[string]bool{splits[0].ID: true}); len(again) != 0 {
		t.Errorf("the split was discovered twice: %v", again)
	}
	for start := range 6 {
		var position []byte
		if start > 0 {
			position = []byte{byte(start)}
		}
		r, err := src.Open(nil, splits[0], position)
		if err != nil {
			t.Fatal(err)
		}
		var got []int32
		for done := false; !done; {
			c, err := r.Read(2)
			if err != nil {
				t.Fatal(err)
			}
			for i := range c.Batch.Rows() {
				got = append(got, c.Batch.Cols[0].(*batch.Fixed[int32]).Values[i])
				if !c.Batch.Cols[1].Validity().IsNull(i) {
					t.Errorf("row %d has a text", i)
				}
			}
			if want := byte(start + len(got)); c.Position[0] != want {
				t.Errorf("position %v, want %d", c.Position, want)
			}
			done = c.Status == connector.End
		}
		if len(got) != 5-start || len(got) > 0 && got[0] != int32(start) {
			t.Errorf("from %d: read %v", start, got)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := src.Open(nil, splits[0], []byte{9}); err == nil {
		t.Error("a position behind the end was taken")
	}
}

// TestWatermark takes the largest time of a chunk's rows; NULLs and rows that do not count are passed over.
func TestWatermark(t *testing.T) {
	typ := types.TimeOf(types.Timestamp, 3)
	schema := types.NewSchema(types.Field{Name: "ts", Type: typ})
	f, err := watermarkFn(expr.NewCol(0, "ts", typ), env)
	if err != nil {
		t.Fatal(err)
	}
	null := int64(-1)
	tests := []struct {
		times []int64
		sel   []int32
		want  int64
		ok    bool
	}{
		{nil, nil, 0, false},
		{[]int64{3, 7, 5}, nil, 7, true},
		{[]int64{3, null, 5}, nil, 5, true},
		{[]int64{null, null}, nil, 0, false},
		{[]int64{3, 9, 5}, []int32{0, 2}, 5, true},
		{[]int64{-20, -10}, nil, -10, true},
	}
	for _, tt := range tests {
		v := batch.NewFixed[int64](typ, len(tt.times))
		for _, ms := range tt.times {
			if ms == null {
				v.AppendNull()
			} else {
				v.Append(ms)
			}
		}
		b := batch.Of(schema, []batch.Vector{v}, len(tt.times)).WithSel(tt.sel)
		wm, ok, err := f(connector.Chunk{Batch: b})
		if err != nil || ok != tt.ok || ok && wm != tt.want {
			t.Errorf("%v (%v): got %d, %t, %v; want %d, %t", tt.times, tt.sel, wm, ok, err, tt.want, tt.ok)
		}
	}
	if _, ok, err := f(connector.Chunk{}); ok || err != nil {
		t.Errorf("an empty chunk gave a watermark: %v", err)
	}
}

// TestNarrowRows leaves out fields that nobody reads, at any depth, and keeps the meaning of the expressions.
func TestNarrowRows(t *testing.T) {
	i := types.Of(types.Int)
	inner := types.RowOf(types.Field{Name: "p", Type: i}, types.Field{Name: "q", Type: i}, types.Field{Name: "s", Type: i})
	row := types.RowOf(types.Field{Name: "a", Type: i}, types.Field{Name: "b", Type: inner}, types.Field{Name: "c", Type: i})
	in := types.NewSchema(types.Field{Name: "r", Type: row}, types.Field{Name: "whole", Type: row}, types.Field{Name: "n", Type: i})
	r := expr.NewCol(0, "r", row)
	s := &stage{
		exprs: []expr.Expr{expr.NewField(expr.NewField(r, 1), 2), expr.NewCol(1, "whole", row), expr.NewField(expr.NewCol(1, "whole", row), 0)},
		out:   types.NewSchema(types.Field{Name: "s", Type: i}, types.Field{Name: "whole", Type: row}, types.Field{Name: "wa", Type: i}),
	}
	uses := newUses(in)
	s.collectUses(uses)
	mark := expr.NewField(r, 2)
	collectUses(mark, uses)
	out := narrowFields(in, uses)
	s.rebase(uses, out)
	wm := rebase(mark, uses, out)
	if got, want := out.Fields[0].Type.String(), "ROW<`b` ROW<`s` INT>, `c` INT>"; got != want {
		t.Errorf("r is %s, want %s", got, want)
	}
	if !out.Fields[1].Type.Equal(row) {
		t.Errorf("whole is %s", out.Fields[1].Type)
	}
	for k, want := range []string{"r.b.s", "whole", "whole.a"} {
		if got := s.exprs[k].String(); got != want {
			t.Errorf("column %d is %s, want %s", k, got, want)
		}
	}
	if wm.String() != "r.c" || wm.(*expr.FieldOf).Index != 1 {
		t.Errorf("the watermark is %s", wm)
	}
}
