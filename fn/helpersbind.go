package fn

import (
	"fmt"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// Class is a family of argument types: which types an argument may have, and to
// which it is cast. The type of a bare NULL fits every class.
type Class struct {
	// Name is the family in words, for errors: "a string".
	Name string
	// Has reports whether a type belongs to the family.
	Has func(types.Type) bool
	// To is the type to which an argument of the family is cast; a zero Type
	// leaves it as it is (a bare NULL then becomes Null).
	To types.Type
	// Null is the type that a bare NULL takes where To is zero.
	Null types.Type
}

// Classes of arguments that many functions share.
var (
	AnyArg       = Class{Name: "a value", Has: func(types.Type) bool { return true }, Null: types.Of(types.Null)}
	TextArg      = Class{Name: "a string", Has: types.Type.IsChar, Null: types.StringType()}
	BinaryArg    = Class{Name: "a binary string", Has: types.Type.IsBinary, Null: types.BytesType()}
	BoolArg      = Class{Name: "a BOOLEAN", Has: isKind(types.Boolean), To: types.Of(types.Boolean)}
	IntArg       = Class{Name: "an INT", Has: isKind(types.TinyInt, types.SmallInt, types.Int), To: types.Of(types.Int)}
	IntegerArg   = Class{Name: "an integer", Has: types.Type.IsInteger, To: types.Of(types.BigInt)}
	NumericArg   = Class{Name: "a number", Has: types.Type.IsNumeric, Null: types.Of(types.Double)}
	DoubleArg    = Class{Name: "a number", Has: types.Type.IsNumeric, To: types.Of(types.Double)}
	DateArg      = Class{Name: "a DATE", Has: isKind(types.Date), To: types.Of(types.Date)}
	TimestampArg = Class{Name: "a timestamp", Has: types.Type.IsTimestamp, Null: types.TimeOf(types.Timestamp, 3)}
	DatetimeArg  = Class{Name: "a date or time", Has: types.Type.IsDatetime, Null: types.TimeOf(types.Timestamp, 3)}
	ArrayArg     = Class{Name: "an ARRAY", Has: isKind(types.Array)}
	MapArg       = Class{Name: "a MAP", Has: isKind(types.Map)}
)

func isKind(kinds ...types.Kind) func(types.Type) bool {
	return func(t types.Type) bool {
		for _, k := range kinds {
			if t.Kind == k {
				return true
			}
		}
		return false
	}
}

// Signature is a Bind for functions with fixed classes of arguments, all of
// them required: it checks them, and gives a result of type result that is
// nullable if an argument is.
func Signature(result types.Type, kernel func(result types.Type) Kernel, params ...Class) func(*Call) (*Bound, error) {
	return func(c *Call) (*Bound, error) {
		p, err := c.Check(len(params), params...)
		if err != nil {
			return nil, err
		}
		t := c.Strict(result)
		return &Bound{Params: p, Result: t, Kernel: kernel(t)}, nil
	}
}

// Check checks the arguments against classes, of which the first required ones
// must be there, and returns Params. The last class also holds for all
// arguments behind it only if it is repeated by the caller.
func (c *Call) Check(required int, classes ...Class) ([]types.Type, error) {
	if err := c.Arity(required, len(classes)); err != nil {
		return nil, err
	}
	params := make([]types.Type, len(c.Args))
	for i := range c.Args {
		p, err := c.Want(i, classes[i])
		if err != nil {
			return nil, err
		}
		params[i] = p
	}
	return params, nil
}

// Arity checks the number of arguments; max < 0 means that there is no most.
func (c *Call) Arity(min, max int) error {
	n := len(c.Args)
	if n >= min && (max < 0 || n <= max) {
		return nil
	}
	want := fmt.Sprint(min)
	switch {
	case max < 0:
		want = fmt.Sprintf("at least %d", min)
	case max == min+1:
		want = fmt.Sprintf("%d or %d", min, max)
	case max > min:
		want = fmt.Sprintf("%d to %d", min, max)
	}
	noun := "arguments"
	if want == "1" || want == "at least 1" {
		noun = "argument"
	}
	return &ArgError{Arg: -1, Msg: fmt.Sprintf("%s takes %s %s, not %d", c.Def.Name, want, noun, n)}
}

// Want checks that argument i belongs to a class and returns the type to which
// it is cast, or the zero Type if it stays as it is.
func (c *Call) Want(i int, class Class) (types.Type, error) {
	t := c.Args[i].Type
	switch {
	case t.Kind == types.Null && class.To.IsValid():
		return class.To.WithNull(true), nil
	case t.Kind == types.Null:
		return class.Null, nil
	case c.Args[i].Symbol != "" || !class.Has(t):
		return types.Type{}, c.Misfit(i, class.Name)
	case class.To.IsValid():
		return class.To.WithNull(t.Nullable), nil
	}
	return types.Type{}, nil
}

// WantSymbol checks that argument i is one of the given words, and returns it.
func (c *Call) WantSymbol(i int, words ...string) (string, error) {
	for _, w := range words {
		if c.Args[i].Symbol == w {
			return w, nil
		}
	}
	what := c.Args[i].Symbol
	if what == "" {
		what = "a value of type " + c.Args[i].Type.String()
	}
	return "", Argf(i, "argument %d of %s must be one of %v, not %s", i+1, c.Def.Name, words, what)
}

// Misfit is the error that argument i is not what the function wants.
func (c *Call) Misfit(i int, want string) error {
	what := c.Args[i].Type.NotNull()
	got := what.Kind.String()
	if c.Args[i].Symbol != "" {
		got = c.Args[i].Symbol
	} else if what.Kind != types.Null {
		got = what.WithNull(true).String()
	}
	return Argf(i, "argument %d of %s must be %s, not %s", i+1, c.Def.Name, want, got)
}

// Argf returns an *ArgError for argument i (-1: the whole call).
func Argf(i int, format string, args ...any) error {
	return &ArgError{Arg: i, Msg: fmt.Sprintf(format, args...)}
}

// Nullable reports whether an argument can be null.
func (c *Call) Nullable() bool {
	for _, a := range c.Args {
		if a.Symbol == "" && (a.Type.Nullable || a.Type.Kind == types.Null) {
			return true
		}
	}
	return false
}

// Strict returns t, nullable if an argument can be null and NOT NULL otherwise:
// the result type of functions that make no nulls of their own.
func (c *Call) Strict(t types.Type) types.Type { return t.WithNull(c.Nullable()) }

// ConstText returns the value of argument i if it is a constant string.
func (c *Call) ConstText(i int) (s string, ok bool) {
	if b, is := c.constant(i).(*batch.Bytes); is {
		return string(b.At(0)), true
	}
	return "", false
}

// ConstInt returns the value of argument i if it is a constant integer.
func (c *Call) ConstInt(i int) (n int64, ok bool) {
	switch v := c.constant(i).(type) {
	case *batch.Fixed[int8]:
		return int64(v.Values[0]), true
	case *batch.Fixed[int16]:
		return int64(v.Values[0]), true
	case *batch.Fixed[int32]:
		return int64(v.Values[0]), true
	case *batch.Fixed[int64]:
		return v.Values[0], c.Args[i].Type.IsInteger()
	}
	return 0, false
}

// constant returns the constant of argument i unless it is missing or null.
func (c *Call) constant(i int) batch.Vector {
	if i >= len(c.Args) || c.Args[i].Const == nil || c.Args[i].Const.Validity().IsNull(0) {
		return nil
	}
	return c.Args[i].Const
}
