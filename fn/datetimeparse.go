package fn

import (
	"bytes"
	"fmt"
	"math"
	"time"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/datepattern"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

func init() {
	Register(toDateDef, toTimestampDef, toTimestampLtzDef, unixTimestampDef, convertTzDef)
}

const (
	patternNote = " The pattern is one of Java's DateTimeFormatter, such as yyyy-MM-dd HH:mm:ss.SSS."
	simpleNote  = " The pattern is one of Java's SimpleDateFormat, such as yyyy-MM-dd HH:mm:ss."
	// defaultPattern is that of functions that have a default.
	defaultPattern = "yyyy-MM-dd HH:mm:ss"
)

// timePattern is a pattern of java.time that was compiled.
type timePattern struct {
	text []byte
	f    *datepattern.Formatter
}

// set compiles a pattern, unless it is the one that is already there.
func (p *timePattern) set(pattern []byte) error {
	if p.f != nil && bytes.Equal(p.text, pattern) {
		return nil
	}
	f, err := datepattern.Compile(string(pattern))
	if err != nil {
		return err
	}
	p.text, p.f = append(p.text[:0], pattern...), f
	return nil
}

// simplePattern is a pattern of java.text that was compiled.
type simplePattern struct {
	text []byte
	s    *datepattern.Simple
}

// set compiles a pattern, unless it is the one that is already there.
func (p *simplePattern) set(pattern []byte, env *Env) error {
	if p.s != nil && bytes.Equal(p.text, pattern) {
		return nil
	}
	s, err := datepattern.CompileSimple(string(pattern), env.Now())
	if err != nil {
		return err
	}
	p.text, p.s = append(p.text[:0], pattern...), s
	return nil
}

// simple returns the pattern of argument i, or the default one if there is no
// such argument; a constant one is compiled at once.
func (c *Call) simple(i int) (*simplePattern, error) {
	p := &simplePattern{}
	pattern, ok := c.ConstText(i)
	if i >= len(c.Args) {
		pattern, ok = defaultPattern, true
	}
	if ok {
		if err := p.set([]byte(pattern), c.Env); err != nil {
			return nil, Argf(i, "%s", err.Error())
		}
	}
	return p, nil
}

// patternAt sets p to the pattern of a row, if it is not constant.
func (p *simplePattern) at(args []batch.Vector, arg, i int, env *Env) error {
	if arg >= len(args) {
		return nil
	}
	return p.set(args[arg].(*batch.Bytes).At(i), env)
}

// zoneCache holds the last time zone that was looked up.
type zoneCache struct {
	id    []byte
	loc   *time.Location
	ok    bool
	ready bool
}

func (z *zoneCache) get(id []byte, look func(string) (*time.Location, bool)) (*time.Location, bool) {
	if !z.ready || !bytes.Equal(z.id, id) {
		z.id, z.ready = append(z.id[:0], id...), true
		z.loc, z.ok = look(string(id))
	}
	return z.loc, z.ok
}

var toDateDef = &Def{
	Name: "TO_DATE", Family: familyTime, Syntax: "TO_DATE(string [, pattern])",
	Doc: "Returns the date that the string stands for; as yyyy-MM-dd if there is no pattern. NULL if it is none. " +
		"With a pattern, days beyond the end of their month carry over." + simpleNote,
	Examples: []Example{
		{"TO_DATE('2024-02-29')", "2024-02-29 :: DATE"},
		{"TO_DATE('09.02.2024', 'dd.MM.yyyy')", "2024-02-09 :: DATE"},
		{"TO_DATE('2024/02/31', 'yyyy/MM/dd')", "2024-03-02 :: DATE"},
		{"TO_DATE('x', 'yyyy')", "NULL :: DATE"},
	},
	Bind: typed(func(c *Call) (*Bound, error) {
		params, err := c.Check(1, TextArg, TextArg)
		if err != nil {
			return nil, err
		}
		t := types.Of(types.Date)
		if len(c.Args) == 1 {
			return &Bound{Params: params, Result: t, Kernel: MapNull1(t, text.ParseDate)}, nil
		}
		p, err := c.simple(1)
		if err != nil {
			return nil, err
		}
		env := c.Env
		return &Bound{Params: params, Result: t, Kernel: func(rows Rows, args []batch.Vector) (batch.Vector, error) {
			s := args[0].(*batch.Bytes)
			return Fixed(t, rows, func(i int) (int32, bool, error) {
				if err := p.at(args, 1, i, env); err != nil {
					return 0, false, err
				}
				ms, ok := p.s.Parse(s.At(i), time.UTC)
				days := floorDiv(ms, text.MsPerDay)
				return int32(days), ok && days == int64(int32(days)), nil
			})
		}}, nil
	}),
}

var toTimestampDef = &Def{
	Name: "TO_TIMESTAMP", Family: familyTime, Syntax: "TO_TIMESTAMP(string [, pattern])",
	Doc: "Returns the timestamp that the string stands for; as yyyy-MM-dd HH:mm:ss, with a fraction or without, or a date alone, if there is no pattern. " +
		"Parts that the pattern does not have are those of 1970-01-01 00:00:00. NULL if it is none, or the pattern is wrong." + patternNote,
	Examples: []Example{
		{"TO_TIMESTAMP('2024-02-29 12:34:56.789')", "2024-02-29 12:34:56.789 :: TIMESTAMP(3)"},
		{"TO_TIMESTAMP('09/02/2024', 'dd/MM/yyyy')", "2024-02-09 00:00:00.000 :: TIMESTAMP(3)"},
		{"TO_TIMESTAMP('Feb 9, 2024', 'MMM d, yyyy')", "2024-02-09 00:00:00.000 :: TIMESTAMP(3)"},
		{"TO_TIMESTAMP('x', 'yyyy')", "NULL :: TIMESTAMP(3)"},
	},
	Bind: typed(func(c *Call) (*Bound, error) {
		params, err := c.Check(1, TextArg, TextArg)
		if err != nil {
			return nil, err
		}
		t := types.TimeOf(types.Timestamp, 3)
		if len(c.Args) == 1 {
			return &Bound{Params: params, Result: t, Kernel: MapNull1(t, func(s []byte) (int64, bool) {
				x, ok := text.ParseTimestamp(s, 3)
				return x.Ms, ok
			})}, nil
		}
		p := &timePattern{}
		return &Bound{Params: params, Result: t, Kernel: MapNull2(t, func(s, pattern []byte) (int64, bool) {
			if p.set(pattern) != nil {
				return 0, false
			}
			x, ok := p.parse(s)
			return x.Ms, ok
		})}, nil
	}),
}

// parse reads a timestamp by the pattern, or, where that fails, in the form of
// SQL.
func (p *timePattern) parse(s []byte) (types.TS, bool) {
	if t, ok := p.f.Parse(s); ok {
		return t, true
	}
	return parseSQLTime(s)
}

// parseSQLTime reads yyyy-[m]m-[d]d[ h:m:s[.fraction]], the way that Java's
// java.sql.Timestamp and Date do: what lies beyond its range carries over, except
// that there are no months above 12 and no days above 31.
func parseSQLTime(s []byte) (types.TS, bool) {
	s = bytes.TrimFunc(s, func(r rune) bool { return r <= ' ' })
	date, clock, timed := bytes.Cut(s, []byte(" "))
	y, rest, ok := leadingNumber(date, 4, 4, '-')
	m, rest, okM := leadingNumber(rest, 1, 2, '-')
	d, rest, okD := leadingNumber(rest, 1, 2, 0)
	if !ok || !okM || !okD || len(rest) > 0 || m < 1 || m > 12 || d < 1 || d > 31 {
		return types.TS{}, false
	}
	t := types.TS{Ms: int64(text.DaysFromCivil(y, m, d)) * text.MsPerDay}
	if !timed {
		return t, true
	}
	clock, frac, hasFrac := bytes.Cut(clock, []byte("."))
	h, rest, ok := leadingNumber(clock, 1, 4, ':')
	mi, rest, okM := leadingNumber(rest, 1, 4, ':')
	sec, rest, okD := leadingNumber(rest, 1, 4, 0)
	if !ok || !okM || !okD || len(rest) > 0 {
		return types.TS{}, false
	}
	t.Ms += int64(h)*text.MsPerHour + int64(mi)*text.MsPerMinute + int64(sec)*text.MsPerSecond
	if hasFrac {
		n, rest, ok := leadingNumber(frac, 1, 9, 0)
		if !ok || len(rest) > 0 {
			return types.TS{}, false
		}
		for range 9 - len(frac) {
			n *= 10
		}
		t.Ms += int64(n / 1_000_000)
		t.Ns = int32(n % 1_000_000)
	}
	return t, true
}

// leadingNumber reads least to most digits, and the character behind them if it
// is not 0.
func leadingNumber(s []byte, least, most int, end byte) (n int, rest []byte, ok bool) {
	i := 0
	for i < len(s) && i < most && s[i] >= '0' && s[i] <= '9' {
		n = n*10 + int(s[i]-'0')
		i++
	}
	if i < least || end != 0 && (i == len(s) || s[i] != end) {
		return 0, nil, false
	}
	if end != 0 {
		return n, s[i+1:], true
	}
	return n, s[i:], true
}

var unixTimestampDef = &Def{
	Name: "UNIX_TIMESTAMP", Family: familyTime, Syntax: "UNIX_TIMESTAMP([string [, pattern]])",
	Doc: "Returns the seconds from 1970-01-01 00:00:00 UTC to the time that the string stands for in the session's time zone; as yyyy-MM-dd HH:mm:ss if there is no pattern. " +
		"NULL if it is none, or an error if the result cannot be NULL since the string cannot. Without arguments: to now." + simpleNote,
	Examples: []Example{
		{"UNIX_TIMESTAMP('2024-02-29 12:00:00')", "1709208000 :: BIGINT NOT NULL"},
		{"UNIX_TIMESTAMP('29.02.2024 10:00', 'dd.MM.yyyy HH:mm')", "1709200800 :: BIGINT NOT NULL"},
		{"UNIX_TIMESTAMP(NULLIF('x', ''))", "NULL :: BIGINT"},
		{"UNIX_TIMESTAMP('x')", "error"},
	},
	Volatile: true,
	Bind: typed(func(c *Call) (*Bound, error) {
		params, err := c.Check(0, TextArg, TextArg)
		if err != nil {
			return nil, err
		}
		t, env := c.Strict(types.Of(types.BigInt)), c.Env
		if len(c.Args) == 0 {
			return &Bound{Result: t, Kernel: func(rows Rows, _ []batch.Vector) (batch.Vector, error) {
				now := env.Now().Unix()
				return Fixed(t, rows, func(int) (int64, bool, error) { return now, true, nil })
			}}, nil
		}
		p, err := c.simple(1)
		if err != nil {
			return nil, err
		}
		return &Bound{Params: params, Result: t, Kernel: func(rows Rows, args []batch.Vector) (batch.Vector, error) {
			s := args[0].(*batch.Bytes)
			return Fixed(t, rows, func(i int) (int64, bool, error) {
				if err := p.at(args, 1, i, env); err != nil {
					return 0, false, err
				}
				ms, ok := p.s.Parse(s.At(i), env.Zone)
				if !ok && !t.Nullable {
					return 0, false, fmt.Errorf("UNIX_TIMESTAMP: '%s' is no time of the form %s; the result would be NULL, but its type is NOT NULL, "+
						"as is the argument's: write NULLIF(argument, '')", s.At(i), p.text)
				}
				return ms / text.MsPerSecond, ok, nil
			})
		}}, nil
	}),
}

var toTimestampLtzDef = &Def{
	Name: "TO_TIMESTAMP_LTZ", Family: familyTime,
	Syntax: "TO_TIMESTAMP_LTZ(number [, precision]) or TO_TIMESTAMP_LTZ(string [, pattern [, zone]])",
	Doc: "Returns the instant that many milliseconds after 1970-01-01 00:00:00 UTC, or, with a precision from 0 to 9, that many seconds (0) to nanoseconds (9); " +
		"NULL beyond the years 0 to 9999. Or the instant that the string stands for in a time zone, which is UTC by default; NULL if it is none, " +
		"an error if there is no pattern." + patternNote,
	Examples: []Example{
		{"TO_TIMESTAMP_LTZ(1700000000, 0)", "2023-11-14 22:13:20.000 :: TIMESTAMP_LTZ(3)"},
		{"TO_TIMESTAMP_LTZ(1, 6)", "1970-01-01 00:00:00.000001 :: TIMESTAMP_LTZ(6)"},
		{"TO_TIMESTAMP_LTZ('29/02/2024', 'dd/MM/yyyy')", "2024-02-29 00:00:00.000 :: TIMESTAMP_LTZ(3)"},
		{"TO_TIMESTAMP_LTZ('2024-02-29 12:00', 'yyyy-MM-dd HH:mm', 'Asia/Tokyo')", "2024-02-29 03:00:00.000 :: TIMESTAMP_LTZ(3)"},
		{"TO_TIMESTAMP_LTZ('x')", "error"},
	},
	Bind: func(c *Call) (*Bound, error) {
		if len(c.Args) > 0 && c.Args[0].Type.IsNumeric() {
			return c.bindEpoch()
		}
		return c.bindInstant()
	},
}

// bindEpoch binds TO_TIMESTAMP_LTZ of a number.
func (c *Call) bindEpoch() (*Bound, error) {
	params, err := c.Check(1, NumericArg, IntArg)
	if err != nil {
		return nil, err
	}
	unit, constant := int64(3), len(c.Args) == 1
	if !constant {
		if c.Args[1].Implicit {
			return nil, c.Misfit(1, "an INT")
		}
		if n, ok := c.ConstInt(1); ok {
			unit, constant = n, true
		}
	}
	if unit < 0 || unit > 9 {
		return nil, Argf(1, "argument 2 of TO_TIMESTAMP_LTZ must be from 0 to 9, not %d", unit)
	}
	t := types.TimeOf(types.TimestampLTZ, max(3, int(unit)))
	return &Bound{Params: params, Result: t, Kernel: epochKernel(t, unit, constant)}, nil
}

// epochKernel makes timestamps of numbers in units of 10^-unit seconds.
func epochKernel(t types.Type, unit int64, constant bool) Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		at, err := nanosReader(args[0])
		if err != nil {
			return nil, err
		}
		get := func(i int) (types.TS, bool, error) {
			u := unit
			if !constant {
				u = int64(args[1].(*batch.Fixed[int32]).Values[i])
				if u < 0 || u > 9 {
					return types.TS{}, false, fmt.Errorf("argument 2 of TO_TIMESTAMP_LTZ must be from 0 to 9, not %d", u)
				}
			}
			x, ok := at(i, int(u))
			return text.Truncate(x, int(t.Precision)), ok && x.Ms >= minEpoch && x.Ms <= maxEpoch, nil
		}
		if t.Precision <= 3 {
			return Fixed(t, rows, func(i int) (int64, bool, error) {
				x, ok, err := get(i)
				return x.Ms, ok, err
			})
		}
		return Fixed(t, rows, get)
	}
}

// The first and the last millisecond of the years 0 to 9999.
const (
	minEpoch = -62167219200000
	maxEpoch = 253402300799999
)

// nanosReader returns what makes a point in time of value i of a number, in
// units of 10^-unit seconds; false where that is far out of range. The fraction
// of a DECIMAL is cut off, that of a float counts.
func nanosReader(v batch.Vector) (func(i, unit int) (types.TS, bool), error) {
	whole := func(n int64, unit int) (types.TS, bool) {
		if unit <= 3 {
			p := types.Pow10(3 - unit).Int64()
			return types.TS{Ms: n * p}, n >= minEpoch/p-1 && n <= maxEpoch/p+1
		}
		p := types.Pow10(unit - 3).Int64()
		ms := floorDiv(n, p)
		return types.TS{Ms: ms, Ns: int32((n - ms*p) * (1_000_000 / p))}, true
	}
	float := func(x float64, unit int) (types.TS, bool) {
		ms := x * math.Pow10(3-unit)
		if math.IsNaN(ms) {
			ms = 0
		}
		cut := math.Floor(ms)
		return types.TS{Ms: int64(cut), Ns: int32((ms - cut) * 1e6)}, math.Abs(ms) < 1e18
	}
	if t := v.Type(); t.Kind == types.Decimal {
		at, p := decimalReader(v), types.Pow10(int(t.Scale))
		return func(i, unit int) (types.TS, bool) {
			q, _ := at(i).QuoRem(p)
			x, ok := whole(q.Int64(), unit)
			return x, ok && q.IsInt64()
		}, nil
	}
	switch v := v.(type) {
	case *batch.Fixed[int8]:
		return func(i, unit int) (types.TS, bool) { return whole(int64(v.Values[i]), unit) }, nil
	case *batch.Fixed[int16]:
		return func(i, unit int) (types.TS, bool) { return whole(int64(v.Values[i]), unit) }, nil
	case *batch.Fixed[int32]:
		return func(i, unit int) (types.TS, bool) { return whole(int64(v.Values[i]), unit) }, nil
	case *batch.Fixed[int64]:
		return func(i, unit int) (types.TS, bool) { return whole(v.Values[i], unit) }, nil
	case *batch.Fixed[float32]:
		return func(i, unit int) (types.TS, bool) { return float(float64(v.Values[i]), unit) }, nil
	case *batch.Fixed[float64]:
		return func(i, unit int) (types.TS, bool) { return float(v.Values[i], unit) }, nil
	}
	return nil, fmt.Errorf("fn: TO_TIMESTAMP_LTZ of %s", v.Type())
}

// bindInstant binds TO_TIMESTAMP_LTZ of a string. The precision is that of the
// fraction in a constant pattern, but 3 at the least.
func (c *Call) bindInstant() (*Bound, error) {
	params, err := c.Check(1, TextArg, TextArg, TextArg)
	if err != nil {
		return nil, err
	}
	if len(c.Args) == 1 && c.Args[0].Implicit {
		return nil, c.Misfit(0, "a string or a number")
	}
	precision := 3
	p := &timePattern{}
	if pattern, ok := c.ConstText(1); ok {
		if err := p.set([]byte(pattern)); err != nil {
			return nil, Argf(1, "%s", err.Error())
		}
		precision = max(3, p.f.FractionDigits())
	}
	var zone instantZone
	if id, ok := c.ConstText(2); ok {
		if err := zone.set([]byte(id)); err != nil {
			return nil, Argf(2, "%s", err.Error())
		}
	}
	t := types.TimeOf(types.TimestampLTZ, precision)
	get := func(args []batch.Vector, i int) (types.TS, bool, error) {
		s := args[0].(*batch.Bytes).At(i)
		if len(args) == 1 {
			x, ok := text.ParseTimestamp(s, precision)
			if !ok {
				return x, false, fmt.Errorf("TO_TIMESTAMP_LTZ: '%s' is no time of the form yyyy-MM-dd HH:mm:ss; give a pattern, with which such texts are NULL", s)
			}
			return x, true, nil
		}
		if err := p.set(args[1].(*batch.Bytes).At(i)); err != nil {
			return types.TS{}, false, err
		}
		x, ok := p.parse(s)
		if len(args) == 3 {
			if err := zone.set(args[2].(*batch.Bytes).At(i)); err != nil {
				return x, false, err
			}
			x.Ms = zone.zone.ToUTC(x.Ms)
		}
		return text.Truncate(x, precision), ok, nil
	}
	return &Bound{Params: params, Result: t, Kernel: func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		if precision > 3 {
			return Fixed(t, rows, func(i int) (types.TS, bool, error) { return get(args, i) })
		}
		return Fixed(t, rows, func(i int) (int64, bool, error) {
			x, ok, err := get(args, i)
			return x.Ms, ok, err
		})
	}}, nil
}

// instantZone is the time zone of a TO_TIMESTAMP_LTZ.
type instantZone struct {
	cache zoneCache
	loc   *time.Location
	zone  *text.Zone
}

func (z *instantZone) set(id []byte) error {
	loc, ok := z.cache.get(id, datepattern.Zone)
	if !ok {
		return fmt.Errorf("TO_TIMESTAMP_LTZ: there is no time zone '%s'; write a name such as Europe/Paris or an offset such as +02:00", id)
	}
	if loc != z.loc {
		z.loc, z.zone = loc, text.NewZone(loc)
	}
	return nil
}

var convertTzDef = &Def{
	Name: "CONVERT_TZ", Family: familyTime, Syntax: "CONVERT_TZ(string, from, to)",
	Doc: "Reads the string as yyyy-MM-dd HH:mm:ss in the time zone from, and returns it as that in the time zone to. Time zones are names such as Europe/Paris, " +
		"offsets such as GMT+05:30, or abbreviations such as PST. NULL if the string is no such time or a time zone is unknown.",
	Examples: []Example{
		{"CONVERT_TZ('1970-01-01 00:00:00', 'UTC', 'America/Los_Angeles')", "1969-12-31 16:00:00 :: STRING"},
		{"CONVERT_TZ('2024-07-01 12:00:00', 'GMT+05:30', 'UTC')", "2024-07-01 06:30:00 :: STRING"},
		{"CONVERT_TZ('x', 'UTC', 'Asia/Tokyo')", "NULL :: STRING"},
		{"CONVERT_TZ('2024-07-01 12:00:00', 'Nope', 'UTC')", "NULL :: STRING"},
	},
	Bind: typed(func(c *Call) (*Bound, error) {
		params, err := c.Check(3, TextArg, TextArg, TextArg)
		if err != nil {
			return nil, err
		}
		p, err := c.simple(len(c.Args))
		if err != nil {
			return nil, err
		}
		var from, to zoneCache
		t := types.StringType()
		return &Bound{Params: params, Result: t, Kernel: TextErr3(t, func(dst, s, a, b []byte) ([]byte, bool, error) {
			locA, okA := from.get(a, datepattern.LooseZone)
			locB, okB := to.get(b, datepattern.LooseZone)
			if !okA || !okB {
				return dst, false, nil
			}
			ms, ok := p.s.Parse(s, locA)
			if !ok {
				return dst, false, nil
			}
			return p.s.Append(dst, ms, locB), true, nil
		})}, nil
	}),
}
