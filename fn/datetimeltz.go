package fn

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

func init() { Register(toTimestampLtzDef) }

var toTimestampLtzDef = &Def{
	Name: "TO_TIMESTAMP_LTZ", Family: familyTime, Syntax: "TO_TIMESTAMP_LTZ(number [, precision]), TO_TIMESTAMP_LTZ(string [, pattern [, zone]])",
	Doc: "Makes a TIMESTAMP_LTZ. A number counts from 1970-01-01 00:00:00 UTC, in seconds (precision 0), milliseconds (3, the default), and so " +
		"on to nanoseconds (9); one before year 0 or behind 9999 gives NULL. A string is wall time in the zone, UTC by default. Without a pattern, " +
		"text that is no time is an error; with one, as for TO_TIMESTAMP, it gives NULL.",
	Examples: []Example{
		{"TO_TIMESTAMP_LTZ(1700000000, 0)", "2023-11-14 22:13:20.000 :: TIMESTAMP_LTZ(3)"},
		{"TO_TIMESTAMP_LTZ(-1)", "1969-12-31 23:59:59.999 :: TIMESTAMP_LTZ(3)"},
		{"TO_TIMESTAMP_LTZ(1, 9)", "1970-01-01 00:00:00.000000001 :: TIMESTAMP_LTZ(9)"},
		{"TO_TIMESTAMP_LTZ(1.5e0, 0)", "1970-01-01 00:00:01.500 :: TIMESTAMP_LTZ(3)"},
		{"TO_TIMESTAMP_LTZ(253402300800, 0)", "NULL :: TIMESTAMP_LTZ(3)"},
		{"TO_TIMESTAMP_LTZ('2024-02-29 12:00', 'yyyy-MM-dd HH:mm', 'Asia/Tokyo')", "2024-02-29 03:00:00.000 :: TIMESTAMP_LTZ(3)"},
		{"TO_TIMESTAMP_LTZ('2024-02-29 12:00:00.123456', 'yyyy-MM-dd HH:mm:ss.SSSSSS')", "2024-02-29 12:00:00.123456 :: TIMESTAMP_LTZ(6)"},
		{"TO_TIMESTAMP_LTZ(NULL)", "NULL :: TIMESTAMP_LTZ(3)"},
		{"TO_TIMESTAMP_LTZ('x')", "error"},
	},
	Bind: func(c *Call) (*Bound, error) {
		if err := c.Arity(1, 3); err != nil {
			return nil, err
		}
		for i := 1; i < len(c.Args); i++ {
			if c.Args[i].Type.Kind == types.Null {
				return nil, untyped(c, i)
			}
		}
		switch t := c.Args[0].Type; {
		case t.IsNumeric():
			return bindEpoch(c)
		case t.IsChar(), t.Kind == types.Null:
			return bindInstant(c)
		}
		return nil, c.Misfit(0, "a number or a string")
	},
}

// bindEpoch binds TO_TIMESTAMP_LTZ of a number.
func bindEpoch(c *Call) (*Bound, error) {
	params, err := c.Check(1, NumericArg, IntArg)
	if err != nil {
		return nil, err
	}
	if params[0] = types.Of(types.BigInt); c.Args[0].Type.IsApprox() {
		params[0] = types.Of(types.Double)
	}
	precision := int64(3)
	if p, ok := c.ConstInt(1); ok {
		precision = p
	}
	if precision < 0 || precision > 9 {
		return nil, Argf(1, "%s", badPrecision(precision))
	}
	t := types.TimeOf(types.TimestampLTZ, max(3, int(precision)))
	scale := func(args []batch.Vector, i int) (int32, error) {
		if len(args) < 2 {
			return 3, nil
		}
		p := args[1].(*batch.Fixed[int32]).Values[i]
		if p < 0 || p > 9 {
			return 0, badPrecision(int64(p))
		}
		return p, nil
	}
	return &Bound{Params: params, Result: t, Kernel: func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		return instants(t, rows, func(i int) (types.TS, bool, error) {
			p, err := scale(args, i)
			if err != nil {
				return types.TS{}, false, err
			}
			at, ok := types.TS{}, true
			switch v := args[0].(type) {
			case *batch.Fixed[int64]:
				at, ok = sinceEpoch(v.Values[i], p)
			case *batch.Fixed[float64]:
				at, ok = sinceEpochFloat(v.Values[i], p)
			}
			return at, ok && at.Ms >= minInstant && at.Ms <= maxInstant, nil
		})
	}}, nil
}

func badPrecision(p int64) error {
	return fmt.Errorf("the precision of TO_TIMESTAMP_LTZ is 0 (seconds) to 9 (nanoseconds), not %d", p)
}

// The times that a number can stand for are those of the years 0 to 9999.
const (
	minInstant = -62167219200000
	maxInstant = 253402300799999
)

var pow10 = [...]int64{1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000}

// sinceEpoch returns the moment that is n units of 10^-precision s behind 1970.
func sinceEpoch(n int64, precision int32) (types.TS, bool) {
	if precision <= 3 {
		unit := pow10[3-precision]
		return types.TS{Ms: n * unit}, n <= maxInstant && n >= minInstant
	}
	perMs := pow10[precision-3]
	return types.TS{Ms: floorDiv(n, perMs), Ns: int32(floorMod(n, perMs) * pow10[9-precision])}, true
}

// sinceEpochFloat is sinceEpoch for a number with a fraction.
func sinceEpochFloat(x float64, precision int32) (types.TS, bool) {
	if precision <= 3 {
		ms := math.Floor(x * float64(pow10[3-precision]))
		return types.TS{Ms: int64(ms)}, ms >= minInstant && ms <= maxInstant
	}
	n := math.Floor(x)
	if !(math.Abs(n) < 1<<63) {
		return types.TS{}, false
	}
	return sinceEpoch(int64(n), precision)
}

// instants makes a column of TIMESTAMP_LTZ.
func instants(t types.Type, rows Rows, f func(i int) (types.TS, bool, error)) (batch.Vector, error) {
	if t.Phys() == types.PhysTS {
		return Fixed(t, rows, f)
	}
	return Fixed(t, rows, func(i int) (int64, bool, error) {
		at, ok, err := f(i)
		return at.Ms, ok, err
	})
}

// bindInstant binds TO_TIMESTAMP_LTZ of a string.
func bindInstant(c *Call) (*Bound, error) {
	params, err := c.Check(1, TextArg, TextArg, TextArg)
	if err != nil {
		return nil, err
	}
	p, z := patterns(), zones(text.ParseZone)
	if err := p.check(c, 1); err != nil {
		return nil, err
	}
	if err := z.check(c, 2); err != nil {
		return nil, err
	}
	t := types.TimeOf(types.TimestampLTZ, 3)
	if s, ok := c.ConstText(1); ok {
		t.Precision = fractionDigits(s)
	}
	if len(c.Args) == 1 {
		return &Bound{Params: params, Result: t, Kernel: func(rows Rows, args []batch.Vector) (batch.Vector, error) {
			s := args[0].(*batch.Bytes)
			return instants(t, rows, func(i int) (types.TS, bool, error) {
				at, ok := text.ParseTimestamp(s.At(i), 3)
				if !ok {
					return at, false, Failf(i, "%s is no time such as 2024-02-29 12:00:00", strconv.Quote(string(s.At(i))))
				}
				return at, true, nil
			})
		}}, nil
	}
	return &Bound{Params: params, Result: t, Kernel: func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		s, zone := args[0].(*batch.Bytes), text.NewZone(nil)
		var last *time.Location
		return instants(t, rows, func(i int) (types.TS, bool, error) {
			if len(args) > 2 {
				loc, err := z.get(args[2].(*batch.Bytes).At(i))
				if err != nil {
					return types.TS{}, false, err
				}
				if loc != last {
					last, zone = loc, text.NewZone(loc)
				}
			}
			f, err := p.get(args[1].(*batch.Bytes).At(i))
			if err != nil {
				return types.TS{}, false, err
			}
			at, ok := parseByPattern(f, s.At(i))
			at.Ms = zone.ToUTC(at.Ms)
			return text.Truncate(at, int(t.Precision)), ok, nil
		})
	}}, nil
}

// zones finds time zones by name.
func zones(parse func(string) (*time.Location, error)) *compiled[*time.Location] {
	return &compiled[*time.Location]{compile: parse}
}

// fractionDigits is the precision of what a pattern reads: the most S in a row,
// but 3 at the least.
func fractionDigits(pattern string) uint8 {
	most, n := 3, 0
	for _, c := range pattern {
		if n++; c != 'S' {
			n = 0
		}
		most = max(most, n)
	}
	return uint8(min(most, 9))
}
