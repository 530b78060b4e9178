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

// TestWatermark computes the watermark of each row, for one that is as far behind the event time for all rows and for one that
// is not. A row without event time allows none.
func TestWatermark(t *testing.T) {
	typ := types.TimeOf(types.Timestamp, 3)
	schema := types.NewSchema(types.Field{Name: "ts", Type: typ})
	ts := expr.NewCol(0, "ts", typ)
	constant := func(t types.Type, ms int64) expr.Expr {
		v := batch.NewFixed[int64](t.NotNull(), 1)
		v.Append(ms)
		return expr.NewLit(v)
	}
	second := constant(types.Type{Kind: types.IntervalDS, Unit: types.UnitSecond, Precision: 2, Scale: 3}, 1000)
	minus, err := expr.NewCall(fn.Lookup("-"), []expr.Expr{ts, second}, nil, env)
	if err != nil {
		t.Fatal(err)
	}
	or0, err := expr.NewCoalesce([]expr.Expr{ts, constant(typ, 0)}, env)
	if err != nil {
		t.Fatal(err)
	}
	v := batch.NewFixed[int64](typ, 3)
	v.Append(5000)
	v.AppendNull()
	v.Append(-7000)
	b := batch.Of(schema, []batch.Vector{v}, 3)
	for _, tt := range []struct {
		wm    expr.Expr
		want  [3]int64
		delay int64
		known bool
	}{
		{ts, [3]int64{5000, 0, -7000}, 0, true},
		{minus, [3]int64{4000, 0, -8000}, 1000, true},
		{or0, [3]int64{5000, 0, -7000}, 0, false},
	} {
		if d, known := delay(tt.wm, ts); d != tt.delay || known != tt.known {
			t.Errorf("%s is behind by %d, %t; want %d, %t", tt.wm, d, known, tt.delay, tt.known)
		}
		f, err := watermarkFn(tt.wm, ts, env)
		if err != nil {
			t.Fatal(err)
		}
		m, err := f(b)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range tt.want {
			if null := i == 1; m.Valid.IsNull(i) != null || m.HasTime.IsNull(i) != null || !null && m.Times[i]-m.Behind != want {
				t.Errorf("%s of row %d: %d, %t, %t; want %d", tt.wm, i, m.Times[i]-m.Behind, m.Valid.IsNull(i), m.HasTime.IsNull(i), want)
			}
		}
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
