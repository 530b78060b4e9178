package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
	_ "github.com/millstream-io/millstream/format/csv"
	_ "github.com/millstream-io/millstream/format/json"
	"github.com/millstream-io/millstream/types"
)

// changes is a batch of a row that is added, updated and removed.
func changes(kinds ...types.RowKind) *batch.Batch {
	schema := types.NewSchema(
		types.Field{Name: "name", Type: types.StringType()},
		types.Field{Name: "n", Type: types.Of(types.Int)},
	)
	b := batch.NewBatch(schema, 4)
	for i := range kinds {
		b.Cols[0].(*batch.Bytes).AppendString("tea, hot"[:3+5*(i%2)])
		if i == 3 {
			b.Cols[1].AppendNull()
		} else {
			b.Cols[1].(*batch.Fixed[int32]).Append(int32(i))
		}
	}
	b.SetSize(len(kinds))
	b.Kinds = kinds
	return b
}

func TestResultForms(t *testing.T) {
	all := changes(types.Insert, types.UpdateBefore, types.UpdateAfter, types.Delete)
	adds := changes(types.Insert, types.Insert, types.UpdateAfter)
	for _, c := range []struct {
		form     string
		updating bool
		b        *batch.Batch
		want     string
	}{
		{"changelog", true, all, "+I | tea | 0\n-U | tea, hot | 1\n+U | tea | 2\n-D | tea, hot | NULL\n"},
		{"table", true, all, "op | name     |    n\n---+----------+-----\n+I | tea      |    0\n-U | tea, hot |    1\n+U | tea      |    2\n-D | tea, hot | NULL\n"},
		{"table", false, adds, "name     | n\n---------+--\ntea      | 0\ntea, hot | 1\ntea      | 2\n"},
		{"json", true, adds, "{\"name\":\"tea\",\"n\":0}\n{\"name\":\"tea, hot\",\"n\":1}\n{\"name\":\"tea\",\"n\":2}\n"},
		{"csv", true, adds, "name,n\ntea,0\n\"tea, hot\",1\ntea,2\n"},
	} {
		var out bytes.Buffer
		r := &result{w: &out}
		if err := r.start(c.form, c.b.Schema, c.updating, &fn.Env{Zone: time.UTC, Now: time.Now}); err != nil {
			t.Fatal(err)
		}
		if err := (&resultWriter{r}).Write(c.b); err != nil {
			t.Fatal(err)
		}
		if err := r.finish(); err != nil {
			t.Fatal(err)
		}
		if out.String() != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.form, out.String(), c.want)
		}
	}
}

// TestResultCannotTakeBack: CSV and JSON have no form for a row that is taken
// back.
func TestResultCannotTakeBack(t *testing.T) {
	for _, form := range []string{"json", "csv"} {
		b := changes(types.Insert, types.Delete)
		r := &result{w: &bytes.Buffer{}}
		if err := r.start(form, b.Schema, true, &fn.Env{Zone: time.UTC, Now: time.Now}); err != nil {
			t.Fatal(err)
		}
		if err := (&resultWriter{r}).Write(b); err == nil || !strings.Contains(err.Error(), "takes rows back (-D), which --output "+form+" cannot show") {
			t.Errorf("%s: %v", form, err)
		}
	}
}
