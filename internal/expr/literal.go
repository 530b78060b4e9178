package expr

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

// Null returns NULL of a type; the type NULL itself stands for a bare NULL.
func Null(t types.Type) *Lit {
	if t.Kind == types.Null {
		return NewLit(&batch.Null{N: 1})
	}
	return NewLit(batch.Nulls(t.WithNull(true), 1))
}

// Bool returns TRUE or FALSE.
func Bool(b bool) *Lit { return fixed(types.Boolean, b) }

// Int returns an INT.
func Int(i int32) *Lit { return fixed(types.Int, i) }

// BigInt returns a BIGINT.
func BigInt(i int64) *Lit { return fixed(types.BigInt, i) }

// Double returns a DOUBLE.
func Double(f float64) *Lit { return fixed(types.Double, f) }

func fixed[T batch.Value](k types.Kind, v T) *Lit {
	return NewLit(&batch.Fixed[T]{Typ: types.Of(k).NotNull(), Values: []T{v}})
}

// Integer returns the literal that digits make, with a minus before them or
// not: an INT, or a BIGINT where INT is too small.
func Integer(digits string) (*Lit, error) {
	i, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("%s is out of the range of BIGINT; write CAST('%s' AS DECIMAL(38, 0))", digits, digits)
	}
	if i == int64(int32(i)) {
		return Int(int32(i)), nil
	}
	return BigInt(i), nil
}

// Decimal returns the DECIMAL that a number with a point makes, such as 1.50 or
// -.5; an INT or a BIGINT where nothing stands behind the point.
func Decimal(number string) (*Lit, error) { return nil, errors.ErrUnsupported }

// Approximate returns the DOUBLE that a number with an exponent makes.
func Approximate(number string) (*Lit, error) {
	f, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return nil, fmt.Errorf("%s is out of the range of DOUBLE", number)
	}
	return Double(f), nil
}

// Text returns a character literal: CHAR(n) NOT NULL, n being its length in
// UTF-16 units as Flink counts it.
func Text(s string) *Lit { return bytesLit(types.Char, text.UTF16Len([]byte(s)), []byte(s)) }

// Binary returns a BINARY(n) NOT NULL.
func Binary(b []byte) *Lit { return bytesLit(types.Binary, len(b), b) }

func bytesLit(k types.Kind, n int, b []byte) *Lit {
	v := batch.NewBytes(types.CharOf(k, n).NotNull(), 1, len(b))
	v.Append(b)
	return NewLit(v)
}

// Date returns DATE 'text'.
func Date(s string) (*Lit, error) { return nil, errors.ErrUnsupported }

// Time returns TIME 'text', with the precision that the text has.
func Time(s string) (*Lit, error) { return nil, errors.ErrUnsupported }

// Timestamp returns TIMESTAMP 'text', with the precision that the text has.
func Timestamp(s string) (*Lit, error) { return nil, errors.ErrUnsupported }

// TimestampLTZ returns TIMESTAMP WITH LOCAL TIME ZONE 'text' in the session's
// zone.
func TimestampLTZ(s string, env *fn.Env) (*Lit, error) { return nil, errors.ErrUnsupported }

// Interval returns INTERVAL 'text' from TO to; to is empty for a single unit. A
// precision (of the leading field, and of the fraction of a second) below 0 was
// not written. from and to are the upper-case names YEAR to SECOND, WEEK and
// QUARTER.
func Interval(s string, negative bool, from, to string, precision, frac int) (*Lit, error) {
	return nil, errors.ErrUnsupported
}

// NewNegate returns -arg. A number that is a literal becomes its negative, whose
// type is that of the negative number.
func NewNegate(arg Expr, env *fn.Env) (Expr, error) {
	return NewCall(fn.Lookup("NEGATE"), []Expr{arg}, nil, env)
}
