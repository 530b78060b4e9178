package fn

import (
	"fmt"
	"math/bits"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// integer is the set of integer forms.
type integer interface{ int8 | int16 | int32 | int64 }

// loop computes a whole operator over dense values, or over those that sel
// lists. It returns a position where the result is wrong, or -1.
type loop[T batch.Value] func(out, a, b []T, sel []int32) (bad int)

// loopKernel runs a loop; explain makes the error of a bad position.
func loopKernel[T batch.Value](t types.Type, run loop[T], explain func(a, b T) string) Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		a, b := args[0].(*batch.Fixed[T]).Values, args[1].(*batch.Fixed[T]).Values
		out := batch.MakeFixed[T](t, rows.N)
		if bad := run(out.Values, a[:rows.N], b[:rows.N], rows.Sel); bad >= 0 {
			return nil, &RowError{Pos: bad, Msg: explain(a[bad], b[bad])}
		}
		return out, nil
	}
}

func addKernel(t types.Type, wrap bool) Kernel {
	switch t.Phys() {
	case types.PhysI8:
		return loopKernel(t, wrapping(wrap, addInts[int8], addWrap[int8]), overflows[int8]("+", t))
	case types.PhysI16:
		return loopKernel(t, wrapping(wrap, addInts[int16], addWrap[int16]), overflows[int16]("+", t))
	case types.PhysI32:
		return loopKernel(t, wrapping(wrap, addInts[int32], addWrap[int32]), overflows[int32]("+", t))
	case types.PhysI64:
		return loopKernel(t, wrapping(wrap, addInts[int64], addWrap[int64]), overflows[int64]("+", t))
	case types.PhysF32:
		return loopKernel[float32](t, addWrap[float32], nil)
	}
	return loopKernel[float64](t, addWrap[float64], nil)
}

func subKernel(t types.Type, wrap bool) Kernel {
	switch t.Phys() {
	case types.PhysI8:
		return loopKernel(t, wrapping(wrap, subInts[int8], subWrap[int8]), overflows[int8]("-", t))
	case types.PhysI16:
		return loopKernel(t, wrapping(wrap, subInts[int16], subWrap[int16]), overflows[int16]("-", t))
	case types.PhysI32:
		return loopKernel(t, wrapping(wrap, subInts[int32], subWrap[int32]), overflows[int32]("-", t))
	case types.PhysI64:
		return loopKernel(t, wrapping(wrap, subInts[int64], subWrap[int64]), overflows[int64]("-", t))
	case types.PhysF32:
		return loopKernel[float32](t, subWrap[float32], nil)
	}
	return loopKernel[float64](t, subWrap[float64], nil)
}

func mulKernel(t types.Type, wrap bool) Kernel {
	switch t.Phys() {
	case types.PhysI8:
		return loopKernel(t, wrapping(wrap, mulSmall[int8], mulWrap[int8]), overflows[int8]("*", t))
	case types.PhysI16:
		return loopKernel(t, wrapping(wrap, mulSmall[int16], mulWrap[int16]), overflows[int16]("*", t))
	case types.PhysI32:
		return loopKernel(t, wrapping(wrap, mulSmall[int32], mulWrap[int32]), overflows[int32]("*", t))
	case types.PhysI64:
		return loopKernel(t, wrapping(wrap, mulInt64, mulWrap[int64]), overflows[int64]("*", t))
	case types.PhysF32:
		return loopKernel[float32](t, mulWrap[float32], nil)
	}
	return loopKernel[float64](t, mulWrap[float64], nil)
}

func divKernel(t types.Type, wrap bool) Kernel {
	switch t.Phys() {
	case types.PhysI8:
		return loopKernel(t, divInts[int8](wrap), divides[int8](t))
	case types.PhysI16:
		return loopKernel(t, divInts[int16](wrap), divides[int16](t))
	case types.PhysI32:
		return loopKernel(t, divInts[int32](wrap), divides[int32](t))
	case types.PhysI64:
		return loopKernel(t, divInts[int64](wrap), divides[int64](t))
	case types.PhysF32:
		return loopKernel[float32](t, divFloats[float32], nil)
	}
	return loopKernel[float64](t, divFloats[float64], nil)
}

// wrapping chooses between the loop that reports overflow and the one that wraps.
func wrapping[T batch.Value](wrap bool, checked, wrapped loop[T]) loop[T] {
	if wrap {
		return wrapped
	}
	return checked
}

func addInts[T integer](out, a, b []T, sel []int32) int {
	var over T
	if sel == nil {
		a, b := a[:len(out)], b[:len(out)]
		for i := range out {
			r := a[i] + b[i]
			over |= (a[i] ^ r) & (b[i] ^ r)
			out[i] = r
		}
	}
	for _, i := range sel {
		r := a[i] + b[i]
		over |= (a[i] ^ r) & (b[i] ^ r)
		out[i] = r
	}
	return firstBad(over < 0, len(out), sel, func(i int) bool { return (a[i]^out[i])&(b[i]^out[i]) < 0 })
}

func subInts[T integer](out, a, b []T, sel []int32) int {
	var over T
	if sel == nil {
		a, b := a[:len(out)], b[:len(out)]
		for i := range out {
			r := a[i] - b[i]
			over |= (a[i] ^ b[i]) & (a[i] ^ r)
			out[i] = r
		}
	}
	for _, i := range sel {
		r := a[i] - b[i]
		over |= (a[i] ^ b[i]) & (a[i] ^ r)
		out[i] = r
	}
	return firstBad(over < 0, len(out), sel, func(i int) bool { return (a[i]^b[i])&(a[i]^out[i]) < 0 })
}

func mulSmall[T int8 | int16 | int32](out, a, b []T, sel []int32) int {
	bad := false
	if sel == nil {
		a, b := a[:len(out)], b[:len(out)]
		for i := range out {
			r := int64(a[i]) * int64(b[i])
			out[i] = T(r)
			bad = bad || int64(T(r)) != r
		}
	}
	for _, i := range sel {
		r := int64(a[i]) * int64(b[i])
		out[i] = T(r)
		bad = bad || int64(T(r)) != r
	}
	return firstBad(bad, len(out), sel, func(i int) bool { return int64(a[i])*int64(b[i]) != int64(out[i]) })
}

func mulInt64(out, a, b []int64, sel []int32) int {
	var over uint64
	if sel == nil {
		a, b := a[:len(out)], b[:len(out)]
		for i := range out {
			hi, lo := bits.Mul64(uint64(a[i]), uint64(b[i]))
			hi -= uint64(a[i]>>63&b[i]) + uint64(b[i]>>63&a[i])
			over |= hi ^ uint64(int64(lo)>>63)
			out[i] = int64(lo)
		}
	}
	for _, i := range sel {
		hi, lo := bits.Mul64(uint64(a[i]), uint64(b[i]))
		hi -= uint64(a[i]>>63&b[i]) + uint64(b[i]>>63&a[i])
		over |= hi ^ uint64(int64(lo)>>63)
		out[i] = int64(lo)
	}
	return firstBad(over != 0, len(out), sel, func(i int) bool { return !types.MulInt64(a[i], b[i]).IsInt64() })
}

// firstBad finds the first position that is bad, if there is one.
func firstBad(any bool, n int, sel []int32, bad func(i int) bool) int {
	if !any {
		return -1
	}
	rows := Rows{N: n, Sel: sel}
	for k := range rows.Len() {
		if i := rows.At(k); bad(i) {
			return i
		}
	}
	return -1
}

// number is the set of forms that + - * and / are made for.
type number interface{ integer | float32 | float64 }

func addWrap[T number](out, a, b []T, sel []int32) int {
	if sel == nil {
		a, b := a[:len(out)], b[:len(out)]
		for i := range out {
			out[i] = a[i] + b[i]
		}
	}
	for _, i := range sel {
		out[i] = a[i] + b[i]
	}
	return -1
}

func subWrap[T number](out, a, b []T, sel []int32) int {
	if sel == nil {
		a, b := a[:len(out)], b[:len(out)]
		for i := range out {
			out[i] = a[i] - b[i]
		}
	}
	for _, i := range sel {
		out[i] = a[i] - b[i]
	}
	return -1
}

func mulWrap[T number](out, a, b []T, sel []int32) int {
	if sel == nil {
		a, b := a[:len(out)], b[:len(out)]
		for i := range out {
			out[i] = a[i] * b[i]
		}
	}
	for _, i := range sel {
		out[i] = a[i] * b[i]
	}
	return -1
}

func divFloats[T float32 | float64](out, a, b []T, sel []int32) int {
	if sel == nil {
		a, b := a[:len(out)], b[:len(out)]
		for i := range out {
			out[i] = a[i] / b[i]
		}
	}
	for _, i := range sel {
		out[i] = a[i] / b[i]
	}
	return -1
}

// divInts divides; the smallest number by -1 overflows.
func divInts[T integer](wrap bool) loop[T] {
	return func(out, a, b []T, sel []int32) int {
		for k, n := 0, (Rows{N: len(out), Sel: sel}).Len(); k < n; k++ {
			i := k
			if sel != nil {
				i = int(sel[k])
			}
			switch {
			case b[i] == 0:
				return i
			case b[i] == -1:
				out[i] = -a[i]
				if !wrap && out[i] == a[i] && a[i] != 0 {
					return i
				}
			default:
				out[i] = a[i] / b[i]
			}
		}
		return -1
	}
}

// remInts computes remainders in T.
func remInts[T integer](out, a, b []T, sel []int32) int {
	for k, n := 0, (Rows{N: len(out), Sel: sel}).Len(); k < n; k++ {
		i := k
		if sel != nil {
			i = int(sel[k])
		}
		switch b[i] {
		case 0:
			return i
		case -1:
			out[i] = 0
		default:
			out[i] = a[i] % b[i]
		}
	}
	return -1
}

// remIntKernel computes a remainder in the wider type of the operands and gives
// it the type of the divisor, in which it always fits.
func remIntKernel(wide, t types.Type) Kernel {
	var k Kernel
	switch wide.Phys() {
	case types.PhysI8:
		k = loopKernel(wide, remInts[int8], divides[int8](wide))
	case types.PhysI16:
		k = loopKernel(wide, remInts[int16], divides[int16](wide))
	case types.PhysI32:
		k = loopKernel(wide, remInts[int32], divides[int32](wide))
	default:
		k = loopKernel(wide, remInts[int64], divides[int64](wide))
	}
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		v, err := k(rows, []batch.Vector{intsAs(args[0], wide), intsAs(args[1], wide)})
		if err != nil {
			return nil, err
		}
		return intsAs(v, t), nil
	}
}

// intsAs returns integers as another integer type in which they fit.
func intsAs(v batch.Vector, t types.Type) batch.Vector {
	if v.Type().Phys() == t.Phys() {
		return v.WithType(t)
	}
	switch t.Phys() {
	case types.PhysI8:
		return converted[int8](v, t)
	case types.PhysI16:
		return converted[int16](v, t)
	case types.PhysI32:
		return converted[int32](v, t)
	}
	return converted[int64](v, t)
}

func converted[T integer](v batch.Vector, t types.Type) batch.Vector {
	out := batch.MakeFixed[T](t, v.Len())
	switch v := v.(type) {
	case *batch.Fixed[int8]:
		convert(out.Values, v.Values)
	case *batch.Fixed[int16]:
		convert(out.Values, v.Values)
	case *batch.Fixed[int32]:
		convert(out.Values, v.Values)
	case *batch.Fixed[int64]:
		convert(out.Values, v.Values)
	}
	return out
}

func convert[T, F integer](out []T, in []F) {
	for i, x := range in {
		out[i] = T(x)
	}
}

// overflows explains a result that does not fit.
func overflows[T integer](op string, t types.Type) func(a, b T) string {
	return func(a, b T) string {
		return fmt.Sprintf("%d %s %d is out of the range of %s; cast an operand to a wider type", a, op, b, t.Kind)
	}
}

// divides explains a division that has no result.
func divides[T integer](t types.Type) func(a, b T) string {
	return func(a, b T) string {
		if b == 0 {
			return fmt.Sprintf("division of %d by zero; guard it, as in NULLIF(divisor, 0)", a)
		}
		return overflows[T]("/", t)(a, b)
	}
}

func negKernel(t types.Type, wrap bool) Kernel {
	switch t.Phys() {
	case types.PhysI8:
		return negInts[int8](t, wrap)
	case types.PhysI16:
		return negInts[int16](t, wrap)
	case types.PhysI32:
		return negInts[int32](t, wrap)
	case types.PhysI64:
		return negInts[int64](t, wrap)
	case types.PhysF32:
		return Map1(t, func(x float32) float32 { return -x })
	case types.PhysF64:
		return Map1(t, func(x float64) float64 { return -x })
	}
	return Map1(t, types.Int128.Neg)
}

func negInts[T integer](t types.Type, wrap bool) Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		in, out := args[0].(*batch.Fixed[T]).Values[:rows.N], batch.MakeFixed[T](t, rows.N)
		var over T
		if rows.Sel == nil {
			for i, x := range in {
				out.Values[i] = -x
				over |= x & -x
			}
		}
		for _, i := range rows.Sel {
			out.Values[i] = -in[i]
			over |= in[i] & -in[i]
		}
		bad := firstBad(over < 0 && !wrap, rows.N, rows.Sel, func(i int) bool { return in[i]&-in[i] < 0 })
		if bad >= 0 {
			return nil, Failf(bad, "-(%d) is out of the range of %s; cast it to a wider type", in[bad], t.Kind)
		}
		return out, nil
	}
}
