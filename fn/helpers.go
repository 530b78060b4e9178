package fn

import (
	"errors"
	"math"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// In is the set of Go forms of an argument's values: the fixed-width forms, and
// []byte for text and binaries (not to be changed or kept).
type In interface{ batch.Value | []byte }

// reader returns the accessor of an argument's values.
func reader[A In](v batch.Vector) func(i int) A {
	switch v := v.(type) {
	case *batch.Bytes:
		return any(v.At).(func(int) A)
	case *batch.Fixed[bool]:
		return at[bool, A](v)
	case *batch.Fixed[int8]:
		return at[int8, A](v)
	case *batch.Fixed[int16]:
		return at[int16, A](v)
	case *batch.Fixed[int32]:
		return at[int32, A](v)
	case *batch.Fixed[int64]:
		return at[int64, A](v)
	case *batch.Fixed[float32]:
		return at[float32, A](v)
	case *batch.Fixed[float64]:
		return at[float64, A](v)
	case *batch.Fixed[types.Int128]:
		return at[types.Int128, A](v)
	case *batch.Fixed[types.TS]:
		return at[types.TS, A](v)
	}
	panic("fn: argument of type " + v.Type().String() + " has no values to map")
}

func at[T batch.Value, A In](v *batch.Fixed[T]) func(int) A {
	return any(func(i int) T { return v.Values[i] }).(func(int) A)
}

// Fixed makes the values of a fixed-width result: f gives the value at a
// position, false for a null, or an error, which is wrapped as the row's.
func Fixed[R batch.Value](t types.Type, rows Rows, f func(i int) (R, bool, error)) (batch.Vector, error) {
	out := batch.MakeFixed[R](t, rows.N)
	for k, n := 0, rows.Len(); k < n; k++ {
		i := rows.At(k)
		v, ok, err := f(i)
		if err != nil {
			return nil, rowError(i, err)
		}
		out.Values[i] = v
		if !ok {
			if !t.Nullable {
				return nil, rowError(i, errNotNull)
			}
			out.Valid = MarkNull(out.Valid, rows.N, i)
		}
	}
	return out, nil
}

// errNotNull is the error of a null where there can be none: by their types,
// NULLs were planned away behind it.
var errNotNull = errors.New("the result is NULL here, which its type NOT NULL does not allow; " +
	"make an argument nullable, as in NULLIF(argument, '')")

// Bytes makes the values of a text or binary result: f appends the value at a
// position to dst and returns it, with false for a null, or an error, which is
// wrapped as the row's. size is a guess of the bytes in all.
func Bytes(t types.Type, rows Rows, size int, f func(dst []byte, i int) ([]byte, bool, error)) (batch.Vector, error) {
	var valid batch.Bitmap
	offsets, data := make([]int32, rows.N+1), make([]byte, 0, size)
	next := 0
	for k, n := 0, rows.Len(); k < n; k++ {
		i := rows.At(k)
		for ; next < i; next++ {
			offsets[next+1] = int32(len(data))
		}
		longer, ok, err := f(data, i)
		if err != nil {
			return nil, rowError(i, err)
		}
		switch {
		case ok && len(longer) > math.MaxInt32:
			return nil, Failf(i, "the texts of one batch of rows exceed 2 GiB; make them shorter")
		case ok:
			data = longer
		case !t.Nullable:
			return nil, rowError(i, errNotNull)
		default:
			valid = MarkNull(valid, rows.N, i)
		}
		offsets[i+1] = int32(len(data))
		next = i + 1
	}
	for ; next < rows.N; next++ {
		offsets[next+1] = int32(len(data))
	}
	return &batch.Bytes{Typ: t, Offsets: offsets, Data: data, Valid: valid}, nil
}

// MarkNull marks position i of n values as null, making the bitmap if need be.
func MarkNull(valid batch.Bitmap, n, i int) batch.Bitmap {
	if valid == nil {
		valid = batch.NewBitmap(n)
	}
	valid.Clear(i)
	return valid
}

func rowError(pos int, err error) error {
	if e, ok := err.(*RowError); ok {
		return e
	}
	return &RowError{Pos: pos, Msg: err.Error()}
}

// Map1 is a kernel of one argument that cannot fail and makes no nulls.
func Map1[A In, R batch.Value](t types.Type, f func(A) R) Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		out, a := batch.MakeFixed[R](t, rows.N), reader[A](args[0])
		if rows.Sel == nil {
			for i := range out.Values {
				out.Values[i] = f(a(i))
			}
			return out, nil
		}
		for _, i := range rows.Sel {
			out.Values[i] = f(a(int(i)))
		}
		return out, nil
	}
}

// Map2 is a kernel of two arguments that cannot fail and makes no nulls.
func Map2[A, B In, R batch.Value](t types.Type, f func(A, B) R) Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		out, a, b := batch.MakeFixed[R](t, rows.N), reader[A](args[0]), reader[B](args[1])
		if rows.Sel == nil {
			for i := range out.Values {
				out.Values[i] = f(a(i), b(i))
			}
			return out, nil
		}
		for _, i := range rows.Sel {
			out.Values[i] = f(a(int(i)), b(int(i)))
		}
		return out, nil
	}
}

// Map3 is a kernel of three arguments that cannot fail and makes no nulls.
func Map3[A, B, C In, R batch.Value](t types.Type, f func(A, B, C) R) Kernel {
	return MapNull3(t, func(a A, b B, c C) (R, bool) { return f(a, b, c), true })
}

// MapErr1 is a kernel of one argument that can fail.
func MapErr1[A In, R batch.Value](t types.Type, f func(A) (R, error)) Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		a := reader[A](args[0])
		return Fixed(t, rows, func(i int) (R, bool, error) { v, err := f(a(i)); return v, true, err })
	}
}

// MapNull1 is a kernel of one argument that gives NULL where f returns false.
func MapNull1[A In, R batch.Value](t types.Type, f func(A) (R, bool)) Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		a := reader[A](args[0])
		return Fixed(t, rows, func(i int) (R, bool, error) { v, ok := f(a(i)); return v, ok, nil })
	}
}

// MapNull3 is a kernel of three arguments that gives NULL where f returns false.
func MapNull3[A, B, C In, R batch.Value](t types.Type, f func(A, B, C) (R, bool)) Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		a, b, c := reader[A](args[0]), reader[B](args[1]), reader[C](args[2])
		return Fixed(t, rows, func(i int) (R, bool, error) { v, ok := f(a(i), b(i), c(i)); return v, ok, nil })
	}
}

// Text1 is a kernel of one argument with a text or binary result: f appends it
// to dst and returns dst.
func Text1[A In](t types.Type, f func(dst []byte, a A) []byte) Kernel {
	return TextErr1(t, func(dst []byte, a A) ([]byte, bool, error) { return f(dst, a), true, nil })
}

// Text2 is Text1 with two arguments.
func Text2[A, B In](t types.Type, f func(dst []byte, a A, b B) []byte) Kernel {
	return TextErr2(t, func(dst []byte, a A, b B) ([]byte, bool, error) { return f(dst, a, b), true, nil })
}

// Text3 is Text1 with three arguments.
func Text3[A, B, C In](t types.Type, f func(dst []byte, a A, b B, c C) []byte) Kernel {
	return TextErr3(t, func(dst []byte, a A, b B, c C) ([]byte, bool, error) { return f(dst, a, b, c), true, nil })
}

// TextErr1 is a kernel of one argument with a text or binary result: f appends
// it to dst and returns dst, with false for NULL, or an error.
func TextErr1[A In](t types.Type, f func(dst []byte, a A) ([]byte, bool, error)) Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		a := reader[A](args[0])
		return Bytes(t, rows, sizeOf(args), func(dst []byte, i int) ([]byte, bool, error) { return f(dst, a(i)) })
	}
}

// TextErr2 is TextErr1 with two arguments.
func TextErr2[A, B In](t types.Type, f func(dst []byte, a A, b B) ([]byte, bool, error)) Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		a, b := reader[A](args[0]), reader[B](args[1])
		return Bytes(t, rows, sizeOf(args), func(dst []byte, i int) ([]byte, bool, error) { return f(dst, a(i), b(i)) })
	}
}

// TextErr3 is TextErr1 with three arguments.
func TextErr3[A, B, C In](t types.Type, f func(dst []byte, a A, b B, c C) ([]byte, bool, error)) Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		a, b, c := reader[A](args[0]), reader[B](args[1]), reader[C](args[2])
		return Bytes(t, rows, sizeOf(args), func(dst []byte, i int) ([]byte, bool, error) { return f(dst, a(i), b(i), c(i)) })
	}
}

// sizeOf guesses the size of a text result from the arguments.
func sizeOf(args []batch.Vector) int {
	n := 0
	for _, a := range args {
		if b, ok := a.(*batch.Bytes); ok && b.Len() > 0 {
			n += int(b.Offsets[b.Len()] - b.Offsets[0])
		} else {
			n += 8 * a.Len()
		}
	}
	return n
}
