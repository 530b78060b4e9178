// Package cast holds the conversions between types: CAST and TRY_CAST for every
// pair of types, and the rules by which types are converted without being
// asked.
package cast

import (
	"fmt"
	"time"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/types"
)

// Bind returns the code of CAST(from AS to). With try set it is TRY_CAST: a
// value that cannot be converted becomes NULL, otherwise it is an error of its
// row. The one exception is a number that is too large for a DECIMAL, which
// becomes NULL in both where the type allows it, as in Flink. With legacy casts
// that is so for a text that cannot be read, too, and texts are neither cut nor
// padded. The error of Bind says that no value of the one type can become one of
// the other.
func Bind(from, to types.Type, try bool, env *fn.Env) (fn.Kernel, error) {
	c := conversion{from: from, to: to, try: try}
	if env != nil {
		c.zone, c.wrap, c.legacy = env.Zone, env.WrapIntegers, env.LegacyCast
	}
	if k := c.kernel(); k != nil {
		return k, nil
	}
	return nil, fmt.Errorf("cannot cast %s to %s", from.WithNull(true), to.WithNull(true))
}

// Implicit reports whether a value of type from becomes one of type to without
// a CAST, as where a query writes into a column.
func Implicit(from, to types.Type) bool { return fn.Implicit(from, to) }

// CommonType returns the least type to which values of all given types are
// converted without a CAST: the type of CASE, VALUES and UNION. It is nullable
// if one of them is.
func CommonType(ts []types.Type) (types.Type, bool) { return fn.CommonType(ts) }

// conversion is one pair of types with the session's settings.
type conversion struct {
	from, to types.Type
	try      bool
	wrap     bool
	legacy   bool
	zone     *time.Location
}

// kernel returns the code, or nil if there is no such conversion.
func (c *conversion) kernel() fn.Kernel {
	from, to := c.from, c.to
	switch {
	case from.Kind == types.Null:
		return func(rows fn.Rows, _ []batch.Vector) (batch.Vector, error) {
			return batch.Nulls(to.WithNull(true), rows.N).WithType(to), nil
		}
	case from.Same(to), from.Kind == to.Kind && (from.IsInterval() || from.Kind == types.Objects):
		return c.same
	case to.IsChar():
		return c.toText()
	case from.IsChar() && to.IsBinary(), from.IsBinary() && to.IsBinary():
		return c.fitted()
	case from.IsChar():
		return c.fromText()
	case from.IsNumeric() || from.Kind == types.Boolean:
		return c.fromNumber()
	case from.IsDatetime() && to.IsDatetime():
		return c.fromTime()
	case from.IsNested() && from.Kind == to.Kind:
		return c.nested()
	}
	return nil
}

// same keeps the values.
func (c *conversion) same(_ fn.Rows, args []batch.Vector) (batch.Vector, error) {
	if args[0].Type().Equal(c.to) {
		return args[0], nil
	}
	return args[0].WithType(c.to), nil
}

// outcome is how a conversion reports the values that it cannot convert.
type outcome struct {
	*conversion
	n     int
	valid batch.Bitmap
	err   error
}

// fail notes that the value at a position cannot be converted, and reports
// whether to go on.
func (o *outcome) fail(pos int, format string, args ...any) bool {
	if o.try {
		o.valid = fn.MarkNull(o.valid, o.n, pos)
		return true
	}
	o.err = fn.Failf(pos, format, args...)
	return false
}

// overflow notes that a number does not fit in a DECIMAL.
func (o *outcome) overflow(pos int, value string) bool {
	if o.to.Nullable {
		o.valid = fn.MarkNull(o.valid, o.n, pos)
		return true
	}
	return o.fail(pos, "%s is out of the range of %s", value, o.to.WithNull(true))
}

// convert makes a fixed-width result from a function of each position; the
// function returns false to stop because of an error.
func convert[T batch.Value](c *conversion, rows fn.Rows, f func(o *outcome, i int, to *T) bool) (batch.Vector, error) {
	out := batch.MakeFixed[T](c.to, rows.N)
	o := &outcome{conversion: c, n: rows.N}
	for k, n := 0, rows.Len(); k < n; k++ {
		i := rows.At(k)
		if !f(o, i, &out.Values[i]) {
			return nil, o.err
		}
	}
	out.Valid = o.valid
	return out, nil
}
