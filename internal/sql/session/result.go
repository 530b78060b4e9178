package session

import (
	"fmt"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// Result is what a statement without a job answers: rows, or nothing.
type Result struct {
	// Rows is nil for a statement that only says OK.
	Rows *batch.Batch
	// Text tells that Rows is one text of several lines, which is to be printed as it is.
	Text bool
}

func done(err error) (*Result, error) {
	if err != nil {
		return nil, err
	}
	return &Result{}, nil
}

// table makes a result of cells that are strings, booleans or nil for NULL. A column's type is that of its first value.
func table(names []string, rows [][]any) *Result {
	schema := &types.Schema{}
	for c, name := range names {
		t := types.StringType()
		for _, r := range rows {
			if _, is := r[c].(bool); is {
				t = types.Of(types.Boolean)
			}
		}
		schema.Fields = append(schema.Fields, types.Field{Name: name, Type: t})
	}
	out := batch.NewBatch(schema, len(rows))
	for _, r := range rows {
		for c, cell := range r {
			switch v := cell.(type) {
			case nil:
				out.Cols[c].AppendNull()
			case bool:
				out.Cols[c].(*batch.Fixed[bool]).Append(v)
			case string:
				out.Cols[c].(*batch.Bytes).Append([]byte(v))
			default:
				panic(fmt.Sprintf("session: a cell of type %T", cell))
			}
		}
	}
	out.SetSize(len(rows))
	return &Result{Rows: out}
}

// text makes a result of one text.
func text(s string) *Result {
	r := table([]string{"result"}, [][]any{{s}})
	r.Text = true
	return r
}

// list makes a result of one column.
func list(name string, values []string) *Result {
	rows := make([][]any, len(values))
	for i, v := range values {
		rows[i] = []any{v}
	}
	return table([]string{name}, rows)
}
