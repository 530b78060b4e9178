package checkpoint

import (
	"strings"
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/types"
)

// holder is an operator with one table.
type holder struct{ spec state.Spec }

func (h *holder) Open(c *op.Context) error {
	_, err := c.State.Table(h.spec)
	return err
}

func (h *holder) OnBatch(int, *batch.Batch, op.Output) error { return nil }

func nodeOf(id string, spec state.Spec, keeps ...string) *graph.Node {
	return &graph.Node{ID: id, Name: "Rank", Keeps: keeps, New: func() (op.Operator, error) { return &holder{spec}, nil }}
}

func rowsSpec(cols ...types.Field) state.Spec {
	s := state.Spec{Name: "rows", Key: []types.Type{types.Of(types.Int)}, Columns: []string{"k"}, ByName: true}
	for _, c := range cols {
		s.Value, s.Columns = append(s.Value, c.Type), append(s.Columns, c.Name)
	}
	return s
}

// TestCompareTables: what becomes of state goes by what it means, and then by
// the rows of its tables.
func TestCompareTables(t *testing.T) {
	a := types.Field{Name: "a", Type: types.Of(types.Int)}
	wide := types.Field{Name: "a", Type: types.Of(types.BigInt)}
	b := types.Field{Name: "b", Type: types.StringType()}
	old := &graph.Graph{Nodes: []*graph.Node{
		nodeOf("one", rowsSpec(a), "keys=k of t INT"), nodeOf("two", rowsSpec(a), "keys=k of t INT"),
		nodeOf("three", rowsSpec(a, b), "keys=k of t INT"), nodeOf("four", rowsSpec(b), "keys=k of t INT"), nodeOf("five", rowsSpec(b), "keys=k of t INT"),
	}}
	other := rowsSpec(a)
	other.Name = "others"
	now := &graph.Graph{Nodes: []*graph.Node{
		nodeOf("one", rowsSpec(a), "keys=k of t INT"), nodeOf("two", rowsSpec(b, wide), "keys=k of t INT"),
		nodeOf("three", rowsSpec(types.Field{Name: "b", Type: types.Of(types.Int)}), "keys=k of t INT"), nodeOf("four", rowsSpec(b), "keys=l of t INT"), nodeOf("five", other, "keys=k of t INT"),
		nodeOf("six", rowsSpec(b), "keys=k of t INT"),
	}}
	held, err := PlanHeld(old)
	if err != nil {
		t.Fatal(err)
	}
	changes, err := Compare(held, now)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range changes {
		got = append(got, c.Fate.String()+" "+c.String())
	}
	want := []string{
		"kept one (Rank): state",
		"migrated two (Rank): state; column b is new, and NULL in rows that are there; column a goes from INT to BIGINT",
		"lost three (Rank): state; table rows: column b was STRING, and is INT now",
		"lost four (Rank): state; it had keys=k of t INT, and has keys=l of t INT now",
		"lost five (Rank): state; it has no table rows any more",
		"rebuilt six (Rank): state",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestWidened(t *testing.T) {
	for _, c := range []struct {
		old, now string
		want     bool
	}{
		{"keys=k of t INT, l + 1 of t DECIMAL(10, 2) NOT NULL", "keys=k of t BIGINT, l + 1 of t DECIMAL(12, 2)", true},
		{"keys=k of t BIGINT", "keys=k of t INT", false},
		{"keys=k of t INT", "keys=l of t BIGINT", false},
		{"keys=CAST(k AS INT) of t INT", "keys=CAST(k AS BIGINT) of t BIGINT", false},
		{"keys=k = 'x of t INT' of t BOOLEAN", "keys=k = 'x of t BIGINT' of t BOOLEAN", false},
		{"aggregate=SUM(v of t INT) FILTER w > 1 of t BOOLEAN", "aggregate=SUM(v of t BIGINT) FILTER w > 1 of t BOOLEAN", true},
		{"aggregate=MAX(DISTINCT v of t FLOAT)", "aggregate=MAX(DISTINCT v of t DOUBLE)", true},
		{"aggregate=ARRAY_AGG(v of t INT)", "aggregate=ARRAY_AGG(v of t BIGINT)", false},
		{"aggregate=SUM(v of t INT)", "aggregate=AVG(v of t BIGINT)", false},
		{"window=TUMBLE of 1 ms on ts of t TIMESTAMP(3)", "window=TUMBLE of 1 ms on ts of t TIMESTAMP(6)", false},
		{"order=NULL first, ascending, k of t VARCHAR(3) NOT NULL", "order=NULL first, ascending, k of t VARCHAR(5)", true},
		{"order=NULL first, ascending, k of t INT", "order=NULL first, ascending, k of t BIGINT", false},
		{"order=NULL first, ascending, k of t INT", "order=NULL first, descending, k of t INT", false},
		{"connector=INT", "connector=BIGINT", false},
	} {
		if got := widened(c.old, c.now); got != c.want {
			t.Errorf("%s to %s: %v", c.old, c.now, got)
		}
	}
}
