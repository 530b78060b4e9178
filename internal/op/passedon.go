package op

import (
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/types"
)

// PassedOn adds columns of an input to the values of a table, which are found
// again by their names when the query has changed. spec.Columns has the names of
// the columns before them; none of these may be the name of a column of an input.
//
// Where two of the columns have the same name, the table has no names: values
// would be mixed up, and so there must be as many as before.
func PassedOn(spec state.Spec, in *types.Schema, cols []int) state.Spec {
	spec.ByName = true
	seen := map[string]bool{}
	for _, c := range cols {
		f := in.Fields[c]
		if seen[f.Name] {
			spec.ByName = false
		}
		seen[f.Name] = true
		spec.Value, spec.Columns = append(spec.Value, f.Type), append(spec.Columns, f.Name)
	}
	if !spec.ByName {
		spec.Columns = nil
	}
	return spec
}
