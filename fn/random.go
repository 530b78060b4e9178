package fn

import (
	crand "crypto/rand"
	"encoding/hex"
	"errors"
	"math/rand/v2"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

func init() {
	Register(randDef, randIntegerDef, uuidDef)
}

var randDef = &Def{
	Name: "RAND", Family: familyArithmetic, Syntax: "RAND([seed])",
	Doc: "Returns a random number from 0 to below 1, another one for each row. With a seed the sequence of numbers is always the same; " +
		"a seed that is not constant gives each row the first number of its own sequence.",
	Examples: []Example{
		{"RAND(1)", "0.7308781907032909 :: DOUBLE NOT NULL"},
		{"RAND() < 1", "TRUE :: BOOLEAN NOT NULL"},
		{"RAND(CAST(NULL AS INT))", "NULL :: DOUBLE"},
	},
	Volatile: true,
	Bind: typed(func(c *Call) (*Bound, error) {
		params, err := c.Check(0, IntArg)
		if err != nil {
			return nil, err
		}
		t := c.Strict(types.Of(types.Double))
		gen := c.generator(len(c.Args) == 1)
		return &Bound{Params: params, Result: t, Kernel: func(rows Rows, args []batch.Vector) (batch.Vector, error) {
			return Fixed(t, rows, func(i int) (float64, bool, error) { return gen(args, i).float64(), true, nil })
		}}, nil
	}),
}

var errBound = errors.New("the bound of RAND_INTEGER must be positive")

var randIntegerDef = &Def{
	Name: "RAND_INTEGER", Family: familyArithmetic, Syntax: "RAND_INTEGER([seed,] bound)",
	Doc: "Returns a random integer from 0 to below the bound, another one for each row. With a seed the sequence of numbers is always the same; " +
		"a seed that is not constant gives each row the first number of its own sequence. A bound that is not positive is an error.",
	Examples: []Example{
		{"RAND_INTEGER(42, 100)", "30 :: INT NOT NULL"},
		{"RAND_INTEGER(1)", "0 :: INT NOT NULL"},
		{"RAND_INTEGER(-1)", "error"},
	},
	Volatile: true,
	Bind: typed(func(c *Call) (*Bound, error) {
		params, err := c.Check(1, IntArg, IntArg)
		if err != nil {
			return nil, err
		}
		t := c.Strict(types.Of(types.Int))
		gen := c.generator(len(c.Args) == 2)
		return &Bound{Params: params, Result: t, Kernel: func(rows Rows, args []batch.Vector) (batch.Vector, error) {
			bound := args[len(args)-1].(*batch.Fixed[int32])
			return Fixed(t, rows, func(i int) (int32, bool, error) {
				if bound.Values[i] <= 0 {
					return 0, false, errBound
				}
				return gen(args, i).int31n(bound.Values[i]), true, nil
			})
		}}, nil
	}),
}

// generator returns what gives the random numbers of a row: one generator for
// all rows, or, if the first argument is a seed that is not constant, a fresh
// one for each.
func (c *Call) generator(seeded bool) func(args []batch.Vector, i int) *javaRandom {
	var r javaRandom
	seed, constant := c.ConstInt(0)
	if !seeded {
		seed, constant = rand.Int64(), true
	}
	r.seed(seed)
	if constant {
		return func([]batch.Vector, int) *javaRandom { return &r }
	}
	return func(args []batch.Vector, i int) *javaRandom {
		r.seed(int64(args[0].(*batch.Fixed[int32]).Values[i]))
		return &r
	}
}

// javaRandom is the generator of java.util.Random: a linear congruence of 48
// bits, so that a seed gives the numbers that Flink gives.
type javaRandom struct{ state uint64 }

const (
	javaMultiplier = 0x5DEECE66D
	javaMask       = 1<<48 - 1
)

func (r *javaRandom) seed(seed int64) { r.state = (uint64(seed) ^ javaMultiplier) & javaMask }

// next returns the given number of random bits, as a signed number for 32.
func (r *javaRandom) next(bits int) int32 {
	r.state = (r.state*javaMultiplier + 0xB) & javaMask
	return int32(r.state >> (48 - bits))
}

func (r *javaRandom) float64() float64 {
	hi := int64(r.next(26))
	return float64(hi<<27+int64(r.next(27))) * 0x1p-53
}

// int31n returns a number from 0 to below n.
func (r *javaRandom) int31n(n int32) int32 {
	if n&-n == n { // a power of two: the high bits are the better ones
		return int32(int64(n) * int64(r.next(31)) >> 31)
	}
	for {
		bits := r.next(31)
		v := bits % n
		if bits-v+(n-1) >= 0 { // not within the last, incomplete run of n
			return v
		}
	}
}

var uuidDef = &Def{
	Name: "UUID", Family: familyString, Syntax: "UUID()",
	Doc:      "Returns a random UUID (version 4), another one for each row.",
	Examples: []Example{{"CHAR_LENGTH(UUID())", "36 :: INT NOT NULL"}},
	Volatile: true,
	Bind: func(c *Call) (*Bound, error) {
		if err := c.Arity(0, 0); err != nil {
			return nil, err
		}
		var seed [32]byte
		if _, err := crand.Read(seed[:]); err != nil {
			return nil, err
		}
		source := rand.NewChaCha8(seed)
		t := types.CharOf(types.Char, 36).NotNull()
		return &Bound{Result: t, Kernel: func(rows Rows, _ []batch.Vector) (batch.Vector, error) {
			return Bytes(t, rows, 36*rows.Len(), func(dst []byte, _ int) ([]byte, bool, error) {
				return appendUUID(dst, source.Uint64(), source.Uint64()), true, nil
			})
		}}, nil
	},
}

// appendUUID appends a UUID of random bits.
func appendUUID(dst []byte, hi, lo uint64) []byte {
	hi = hi&^0xF000 | 0x4000
	lo = lo&^(3<<62) | 2<<62
	var b [16]byte
	for i := range 8 {
		b[i], b[8+i] = byte(hi>>(56-8*i)), byte(lo>>(56-8*i))
	}
	for i, from := range []int{0, 4, 6, 8, 10} {
		to := []int{4, 6, 8, 10, 16}[i]
		if i > 0 {
			dst = append(dst, '-')
		}
		dst = hex.AppendEncode(dst, b[from:to])
	}
	return dst
}
